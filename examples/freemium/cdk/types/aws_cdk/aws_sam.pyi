from constructs import Construct

class CfnFunction(Construct):
    class S3LocationProperty:
        def __init__(self, *, bucket: str, key: str) -> None: ...

    code_uri: str | S3LocationProperty
