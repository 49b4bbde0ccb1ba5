from collections.abc import Mapping

from constructs import Construct

class CfnInclude(Construct):
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        template_file: str,
        parameters: Mapping[str, str] | None = ...,
    ) -> None: ...
