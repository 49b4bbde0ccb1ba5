from collections.abc import Sequence

from constructs import Construct

class Architecture:
    ARM_64: Architecture
    X86_64: Architecture

class Code:
    @classmethod
    def from_asset(cls, path: str) -> Code: ...

class LayerVersion(Construct):
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        code: Code,
        compatible_architectures: Sequence[Architecture] | None = ...,
    ) -> None: ...
    @property
    def layer_version_arn(self) -> str: ...
