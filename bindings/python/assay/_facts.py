"""Members of facts that follow from the status of the document."""

from __future__ import annotations

from . import _prototypes as _c
from .documents import Members, OwnFacts, status_http

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .documents import Document


class Ruling(OwnFacts):
    """What follows from the status of a decision."""

    __slots__ = ()

    @property
    def entitled(self) -> bool:
        """Whether a plan above the default one is in force; False in any doubt."""
        return self._document.ok


class Advice(OwnFacts):
    """What follows from the status of a risk assessment."""

    __slots__ = ()

    @property
    def allowed(self) -> bool:
        """Whether the verdict is "allow"."""
        return self._document.ok

    @property
    def status(self) -> str:
        """Name of the status: "ok", "rejected.risk.limited" …"""
        return self._document.status

    @property
    def http_status(self) -> int:
        """The HTTP status for the client: 200, 401 step-up, 403 deny, 429 limited."""
        return status_http(self._document.code)


class Finding(OwnFacts):
    """What follows from the document of a triage beside the finding."""

    __slots__ = ()

    @property
    def worth_verifying(self) -> bool:
        """Whether to look the purchase up, verify the blob, and only then decide."""
        return self._document.code & 0xFF == _c.ASSAY_PENDING

    @property
    def status(self) -> str:
        """Name of the status: "pending.triage.verify-next", "rejected.triage.cracking-tool" …"""
        return self._document.status

    @property
    def http_status(self) -> int | None:
        """The HTTP status for the client if the request ends here; None if it continues."""
        return None if self.worth_verifying else status_http(self._document.code)


class Unverified(Members):
    """The member `unverified` of a document, of which nothing is verified."""

    __slots__ = ("_document", "_path")

    def __init__(self, document: Document) -> None:
        self._document = document
        self._path = b"unverified."
        self._values = None

    def _members(self) -> Mapping[str, Any]:
        if self._values is None:
            self._values = self._document.json.get("unverified") or {}
        return self._values

    @property
    def payload(self) -> Mapping[str, Any]:
        """Every claim as JSON, read-only, including those that this version does not know."""
        return self._members()
