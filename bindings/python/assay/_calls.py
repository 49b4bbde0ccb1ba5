"""Conversions of the arguments and results of library calls."""

from __future__ import annotations

from time import time_ns

from . import _prototypes as _c
from ._library import functions as _functions
from .documents import Document, Facts, OwnedDocument
from .errors import refusal, refusal_of_status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from typing import Any, Literal, Union
    from uuid import UUID

    Evidence = Union[Document, Facts]
    Time = Union[int, datetime]
    SignedText = Union[str, bytes, bytearray, memoryview]
    Octets = Union[bytes, bytearray, memoryview]
    Device = Union[UUID, bytes, bytearray, memoryview]
    Kind = Literal[
        "transaction",
        "renewal-info",
        "notification",
        "app-transaction",
        "realtime-request",
        "transaction-receipt",
        "app-receipt",
        "attest-receipt",
        "verify-receipt-response",
    ]


class OwnedVerifier(_c.VerifierHandle):
    """The address of a verifier, freed when no call uses it any more."""

    def __del__(self, free: Callable[..., Any] = _functions.assay_verifier_free) -> None:
        free(self)


def milliseconds(moment: Time | None, name: str = "now") -> int:
    """Return a time in milliseconds since 1970 UTC, or that of the system's clock for None.

    An int beyond 64 bits is clamped to the nearest that fits, which the library refuses.
    """
    if moment is None:
        return time_ns() // 1_000_000
    if isinstance(moment, int) and not isinstance(moment, bool):
        return max(-(2**63), min(moment, 2**63 - 1))
    import datetime

    if not isinstance(moment, datetime.datetime):
        raise TypeError(
            f"{name} must be an int (milliseconds since 1970 UTC) or an aware datetime, "
            f"not {type(moment).__name__}"
        )
    if moment.utcoffset() is None:
        raise ValueError(f"{name} is a datetime without a time zone")
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (moment - epoch) // datetime.timedelta(milliseconds=1)


def json_octets(value: Mapping[str, Any] | str | bytes, name: str) -> bytes:
    """Return the JSON text of a mapping; a str or bytes is taken as JSON text already."""
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        if not hasattr(value, "keys"):
            raise TypeError(
                f"{name} must be a mapping, str or bytes, not {type(value).__name__}"
            )
        from ._json_text import json_text

        value = json_text(value)
    return value.encode("utf-8", "surrogatepass")


def documents_of(evidence: Evidence | Iterable[Evidence]) -> list[Document]:
    """Return the documents behind the evidence, each once."""
    items = [evidence] if isinstance(evidence, (Document, Facts)) else evidence
    found: dict[int, Document] = {}
    for item in items:
        document = item.document if isinstance(item, Facts) else item
        if not isinstance(document, Document):
            raise TypeError(
                f"evidence is facts or documents of a Verifier, not {type(item).__name__}"
            )
        found[id(document)] = document
    return list(found.values())


def handles_of(documents: list[Document]) -> tuple[Any, int]:
    """Return the handles as a C array, and their count. The documents must outlive the call."""
    handles = [document._handle for document in documents]
    return (_c.DocHandle * len(handles))(*handles) if handles else None, len(handles)


def answered(answer: OwnedDocument, code: int) -> Document:
    if not answer:
        raise refusal_of_status(code)
    return Document(answer, code)


def accepted(document: Document) -> Document:
    if document.code:
        raise refusal(document)
    return document


def given(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request without the members whose value is None."""
    return {name: value for name, value in request.items() if value is not None}


def text_or_none(value: str | UUID | None) -> str | None:
    return None if value is None else str(value)


def octets_of(evidence: SignedText) -> bytes:
    if isinstance(evidence, str):
        return evidence.encode("utf-8", "surrogatepass")
    if isinstance(evidence, bytes):
        return evidence
    if isinstance(evidence, (bytearray, memoryview)):
        return bytes(evidence)
    raise TypeError(f"evidence is a str or bytes, not {type(evidence).__name__}")


def base64_text(octets: bytes) -> str:
    from binascii import b2a_base64

    return b2a_base64(octets, newline=False).decode("ascii")
