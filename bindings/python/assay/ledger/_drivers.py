"""The client libraries of the engines, which are not part of this package."""

from __future__ import annotations

from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# module: what to install
PACKAGES = {
    "boto3": "boto3",
    "psycopg": "psycopg[binary]",
    "pymysql": "pymysql",
    "redis": "redis",
}


@contextmanager
def installed(module: str) -> Iterator[None]:
    """Around the import of a client library: an ImportError names the package to install."""
    try:
        yield
    except ImportError as error:
        # Its class stays: ModuleNotFoundError where it is absent.
        raise type(error)(
            f"{error}; install the client of this store: pip install '{PACKAGES[module]}'",
            name=error.name,
            path=error.path,
        ) from error
