"""The client libraries of the engines, which are not part of this package."""

from __future__ import annotations

from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Maps each module to the package to install.
PACKAGES = {
    "boto3": "boto3",
    "psycopg": "psycopg[binary]",
    "pymysql": "pymysql",
    "redis": "redis",
}


@contextmanager
def installed(module: str) -> Iterator[None]:
    """Make an ImportError of a client library name the package to install."""
    try:
        yield
    except ImportError as error:
        # The class of the error is kept: ModuleNotFoundError if the module is absent.
        raise type(error)(
            f"{error}; install the client of this store: pip install '{PACKAGES[module]}'",
            name=error.name,
            path=error.path,
        ) from error
