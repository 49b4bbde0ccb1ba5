"""What all typed facts have in common, and what a document's status says about them."""

from __future__ import annotations

from . import _prototypes as _c
from ._members import Member

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar, NoReturn, TypeVar

    from .documents import Document
    from .receipts import Claims

    _Nested = TypeVar("_Nested", bound="Facts")


class Members:
    """What facts and the objects inside them have in common. Read-only."""

    __slots__ = ("_values",)

    _values: Mapping[str, Any] | None
    _path: bytes
    _document: Document
    _shown: ClassVar[tuple[str, ...]] = ()

    def _members(self) -> Mapping[str, Any]:
        raise NotImplementedError

    @property
    def payload(self) -> Mapping[str, Any]:
        """The JSON that the facts come from, read-only, unknown members included."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """Every typed member by its Python name; objects as dict, times as int."""
        found: dict[str, Any] = {}
        for kind in reversed(type(self).__mro__):
            for name, member in vars(kind).items():
                if name.endswith("_at") or name in ("document", "payload"):
                    continue
                # Properties are what this version concludes: `Decision.entitled`.
                if isinstance(member, (Member, property)):
                    found[name] = _plain(getattr(self, name))
        return found

    if not TYPE_CHECKING:  # which would believe that every attribute is there

        def __getattr__(self, name: str) -> NoReturn:
            kind = type(self)
            message = f"{kind.__name__!r} object has no attribute {name!r}"
            right = None if name.startswith("_") else _right_name(kind, name)
            raise AttributeError(f"{message}: use {right}" if right else message)

    def __repr__(self) -> str:
        shown = ((name, getattr(self, name)) for name in self._shown)
        inside = ", ".join(f"{name}={value!r}" for name, value in shown if value not in (None, ()))
        return f"{type(self).__name__}({inside})"


def _right_name(kind: type[Members], name: str) -> str | None:
    """The attribute meant by a name in the JSON, or by a misspelt one."""
    names: dict[str, str] = {}
    for base in kind.__mro__:
        for known, member in vars(base).items():
            if isinstance(member, (Member, property)):
                names.setdefault(known.replace("_", ""), known)
                # `publicKey` has several attributes, and a time two: the first is meant.
                if isinstance(member, Member):
                    names.setdefault(member.name.lower(), known)
    plain = name.replace("_", "").lower()
    if plain in names:
        return names[plain]
    from difflib import get_close_matches

    close = get_close_matches(plain, names, 1, 0.75)
    return names[close[0]] if close else None


def _plain(value: Any) -> Any:
    if isinstance(value, Members):
        return value.as_dict()
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    return dict(value) if hasattr(value, "keys") else value


class Details(Members):
    """An object inside the facts."""

    __slots__ = ()

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def _members(self) -> Mapping[str, Any]:
        return self._values or {}

    @property
    def payload(self) -> Mapping[str, Any]:
        """This object's JSON, read-only, unknown members included."""
        return self._values or {}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.payload == other.payload

    __hash__ = None  # type: ignore[assignment]


class Facts(Members):
    """The facts of one document, or of evidence nested in it.

    Made by a Verifier only; `Verifier.decide` takes them as evidence. Like the
    document they cannot be pickled: keep the signed text and verify it again.
    """

    __slots__ = ("_document", "_path")

    def __init__(self, document: Document, path: str) -> None:
        self._document = document
        self._path = path.encode() + b"."
        self._values = None

    @property
    def document(self) -> Document:
        """The whole answer: checks, warnings, JSON. Nested facts have the outer one."""
        return self._document

    @property
    def payload(self) -> Mapping[str, Any]:
        """The signed JSON, read-only, with members that this version does not know."""
        payload: Mapping[str, Any] = self._members().get("payload") or {}
        return payload

    def _members(self) -> Mapping[str, Any]:
        if self._values is None:
            self._values = self._document._object(self._path)
        return self._values

    def _nested(self, kind: type[_Nested], member: str) -> _Nested | None:
        """Facts inside these, or None."""
        if self._members().get(member) is None:
            return None
        return kind(self._document, f"{self._path.decode()}{member}")

    def _nested_list(self, kind: type[_Nested], member: str) -> tuple[_Nested, ...]:
        """A list of facts inside these."""
        count = len(self._members().get(member) or ())
        path = f"{self._path.decode()}{member}."
        return tuple(kind(self._document, f"{path}{place}") for place in range(count))

    def __copy__(self) -> Facts:
        return self

    def __deepcopy__(self, memo: object) -> Facts:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} is proof in this process only: keep the signed text"
        )


class OwnFacts(Facts):
    """Facts whose JSON is the library's own: none of it is signed as JSON."""

    __slots__ = ()

    @property
    def payload(self) -> Mapping[str, Any]:
        """The facts' own JSON, read-only, with members that this version does not know."""
        return self._members()


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
        from .errors import refusal

        return 200 if self.allowed else refusal(self._document).http_status


class Finding(OwnFacts):
    """What the document of a triage says beside the finding."""

    __slots__ = ()

    @property
    def claimed(self) -> Claims:
        """What the blob says about itself. Never act on it: verify first."""
        from .receipts import Claims

        return Claims(self._document)

    @property
    def worth_verifying(self) -> bool:
        """Whether to look it up, verify it, and only then decide."""
        return self._document.code & 0xFF == _c.ASSAY_PENDING

    @property
    def status(self) -> str:
        """Name of the status: "pending.triage.unverified", "rejected.triage.cracker" …"""
        return self._document.status

    @property
    def http_status(self) -> int | None:
        """What to answer the client when it ends here; None where it goes on."""
        from .errors import refusal

        return None if self.worth_verifying else refusal(self._document).http_status


class Unverified(Members):
    """What is in `claimed` of a document: unverified."""

    __slots__ = ("_document", "_path")

    def __init__(self, document: Document) -> None:
        self._document = document
        self._path = b"claimed."
        self._values = None

    def _members(self) -> Mapping[str, Any]:
        if self._values is None:
            self._values = self._document.json.get("claimed") or {}
        return self._values

    @property
    def payload(self) -> Mapping[str, Any]:
        """Every claim as JSON, read-only, with those that this version does not know."""
        return self._members()


def facts_of(document: Document) -> Facts | None:
    """The typed facts of a document; None when it has none."""
    known = _known(document)
    if known is None:
        return None
    value: Any = document.json
    for step in known[1].split("."):
        value = value.get(step) if hasattr(value, "keys") else None
    return None if value is None else known[0](document, known[1])


def _known(document: Document) -> tuple[type[Facts], str] | None:
    """The facts of its kind; most of their classes are loaded on first use."""
    from . import facts

    kind = document.kind
    if kind == "exchange" and document._text(b"exchange.kind") == "verifyReceipt":
        # In a refusal there is only Apple's status.
        from .receipts import VerifyReceiptAnswer

        return (VerifyReceiptAnswer, "exchange.verifyReceipt") if document.ok else None
    if kind == "exchange":
        talk = document._text(b"exchange.kind")
        if talk == "ocsp":
            return facts.Revocation, "exchange.revocation"
        if talk == "attest.refresh":
            from .attest import RefreshedReceipt

            return RefreshedReceipt, "exchange.attestReceipt"
        if (talk or "").startswith("appstore."):
            from .store_answers import AppStoreAnswer

            return AppStoreAnswer, "exchange.result"
    known = facts.KINDS.get(kind)
    if known is None:
        from . import receipts

        known = receipts.KINDS.get(kind)
    if known is None:
        from . import attest

        known = attest.KINDS.get(kind)
    if known is None:
        from . import tokens

        known = tokens.KINDS.get(kind)
    return known
