"""The public keys of a token issuer."""

from __future__ import annotations

from . import _prototypes as _c
from ._calls import answered, json_octets
from ._library import functions as _functions
from .documents import OwnedDocument
from .errors import refusal
from .tokens import IssuerKeys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn


class OwnedKeyset(_c.KeysetHandle):
    """The address of a key set, freed when no call uses it any more."""

    def __del__(self, free: Callable[..., Any] = _functions.assay_keyset_free) -> None:
        free(self)


class Keyset:
    """A JSON Web Key Set, read once and shared: by threads, by verifiers, and by a child
    after fork. A key set remembers which texts it has verified, so keep it; a refreshed set
    is a new object, which replaces the old one in one assignment.

    jwks: what the issuer publishes, as a str or bytes, or as a mapping. A member `issuer`
    beside `keys` names the issuer if the configuration has several:

        Keyset({"issuer": issuer, "keys": json.loads(body)["keys"]})

    Raises MalformedError or TooLargeError if it is no key set; RejectedError if it has a key
    that must not be in it, such as a private one: keep the old set, and raise an alarm.
    Raises TypeError or ValueError for a mapping that is not JSON.
    """

    __slots__ = ("_handle", "_facts", "__weakref__")

    def __init__(self, jwks: Mapping[str, Any] | str | bytes) -> None:
        self._handle: OwnedKeyset | None = None
        text = json_octets(jwks, "jwks")
        handle, answer = OwnedKeyset(), OwnedDocument()
        code = _functions.assay_keyset_new(text, len(text), handle, answer)
        document = answered(answer, code)
        if code:
            raise refusal(document)
        self._facts = IssuerKeys(document, "keyset")
        self._handle = handle

    @property
    def facts(self) -> IssuerKeys:
        """The keys of the set, and the skipped ones with the reason."""
        return self._facts

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._handle is None

    def close(self) -> None:
        """Free the key set. Calls in progress finish first; later ones raise ValueError. Closing
        twice is allowed."""
        self._handle = None

    def __repr__(self) -> str:
        return f"<assay.Keyset{' (closed)' if self.closed else ''}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Keyset cannot be pickled: make one in each process")


def handle_of(keys: Keyset) -> OwnedKeyset:
    """Return the handle; holding it keeps the key set alive."""
    if not isinstance(keys, Keyset):
        raise TypeError(f"keys must be an assay.Keyset, not {type(keys).__name__}")
    handle = keys._handle
    if handle is None:
        raise ValueError("the key set is closed")
    return handle
