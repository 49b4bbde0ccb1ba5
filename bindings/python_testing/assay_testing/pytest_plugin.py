"""The fixtures that pytest finds by the entry point `pytest11`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from . import Authority
from .apple import MockApple


@pytest.fixture(scope="session")
def assay_authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Return a test authority for the whole run; its `verifier` trusts only this authority."""
    return Authority(tmp_path_factory.mktemp("assay") / "authority")


@pytest.fixture(scope="session")
def assay_apple(assay_authority: Authority) -> Iterator[MockApple]:
    """Yield mock Apple with the keys of that authority, for the whole run."""
    with MockApple(assay_authority) as apple:
        yield apple
