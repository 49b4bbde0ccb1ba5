"""What a document's status says about its facts."""

from __future__ import annotations

from . import _prototypes as _c
from .documents import Members, OwnFacts, status_http

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .documents import Document


class Ruling(OwnFacts):
    """What the status of a decision says."""

    __slots__ = ()

    @property
    def entitled(self) -> bool:
        """Whether a plan above the default one is in force. False if in any doubt."""
        return self._document.ok


class Advice(OwnFacts):
    """What the status of a risk says."""

    __slots__ = ()

    @property
    def allowed(self) -> bool:
        """Whether the verdict is allow. False for any other."""
        return self._document.ok

    @property
    def status(self) -> str:
        """Name of the status: "ok", "rejected.risk.limited" …"""
        return self._document.status

    @property
    def http_status(self) -> int:
        """What to answer the client: 200, 401 step-up, 403 deny, 429 limited."""
        return status_http(self._document.code)


class Finding(OwnFacts):
    """What the document of a triage says beside the finding."""

    __slots__ = ()

    @property
    def worth_verifying(self) -> bool:
        """Whether to look it up, verify it, and only then decide."""
        return self._document.code & 0xFF == _c.ASSAY_PENDING

    @property
    def status(self) -> str:
        """Name of the status: "pending.triage.verify-next", "rejected.triage.cracking-tool" …"""
        return self._document.status

    @property
    def http_status(self) -> int | None:
        """What to answer the client when it ends here; None where it goes on."""
        return None if self.worth_verifying else status_http(self._document.code)


class Unverified(Members):
    """What is in `unverified` of a document: unverified."""

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
        """Every claim as JSON, read-only, with those that this version does not know."""
        return self._members()
