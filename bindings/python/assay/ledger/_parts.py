"""What the answers of a `Ledger` have in common, in results.py."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeVar

    from ..documents import Document

    R = TypeVar("R", bound="Result")
    P = TypeVar("P", bound="Part")


class Part:
    """A dataclass that is read from the JSON of a document.

    It compares, hashes and shows all of them: methods that `dataclass` would make for each
    of thirty classes are a third of the time of this import.
    """

    @classmethod
    def read(cls: type[P], found: Mapping[str, Any], **known: Any) -> P:
        for each in fields(cls):  # type: ignore[arg-type]
            if each.name in known:
                continue
            value = found.get(_camel(each.name))
            kind = each.metadata.get("kind")
            if kind and value is not None:
                value = kind(value)
            known[each.name] = each.metadata["none"] if value is None else value
        return cls(**known)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        shown = [each.name for each in fields(self) if each.repr]  # type: ignore[arg-type]
        members = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__name__}({members})"


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def plain(none: Any = None, kind: Any = None) -> Any:
    return field(metadata={"none": none, "kind": kind})


def one(part: type[Part]) -> Any:
    return plain(None, part.read)


def many(part: type[Part]) -> Any:
    return plain((), lambda found: tuple(part.read(each) for each in found))


@dataclass(frozen=True, eq=False, repr=False)
class Result(Part):
    """What every answer has.

    ok        go ahead; False: refused, or the store gave no answer
    status    "ok", "rejected.purchase.other-account", "unavailable.database.contention" …
    outcome   what became of it, in the words of docs/spec/ledger.md; None: it is unknown
    changed   whether this call changed what the account has; repetitions do not
    document  the whole answer
    """

    document: Document = field(repr=False)
    ok: bool
    status: str
    outcome: str | None = plain()
    changed: bool = plain(False)

    @classmethod
    def of(cls: type[R], document: Document, **known: Any) -> R:
        """From the last document of an exchange."""
        found = document.json.get("exchange") or {}
        return cls.read(found, document=document, ok=document.ok, status=document.status, **known)

    @property
    def raw(self) -> Mapping[str, Any]:
        """The members of the answer, read-only JSON."""
        found: Mapping[str, Any] = self.document.json.get("exchange") or {}
        return found

    @property
    def http_status(self) -> int:
        """What a back end would answer its own client: 200, 202, 409, 429, 503 …"""
        from ..errors import refusal

        if self.status.startswith("pending."):
            return 503  # the wait was longer than `max_wait`
        return 200 if self.ok else refusal(self.document).http_status

    def raise_for_status(self) -> None:
        """Raise the AssayError of its family unless it is ok."""
        self.document.raise_for_status()
