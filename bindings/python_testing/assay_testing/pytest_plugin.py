"""The fixtures that pytest finds by the entry point `pytest11`."""

from __future__ import annotations

import pytest

from . import Authority


@pytest.fixture(scope="session")
def assay_authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A test authority for the whole run; its `verifier` trusts it and nothing else."""
    return Authority(tmp_path_factory.mktemp("assay") / "authority")
