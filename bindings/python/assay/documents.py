"""Documents, the results of every call, and the base classes of all typed facts, which are in
`facts` and the other modules.

A document needs modules that import this one, to raise its refusal and to find its facts:
`__init__` sets them.
"""

from __future__ import annotations

from ctypes import c_size_t, string_at

from . import _prototypes as _c
from ._library import functions as _functions
from ._members import Member
from ._prototypes import DocHandle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, ClassVar, NoReturn, TypeVar

    _Nested = TypeVar("_Nested", bound="Facts")

_doc_json = _functions.assay_doc_json
_doc_text = _functions.assay_doc_text
_doc_integer = _functions.assay_doc_integer

# A value that no integer of a document has: times and counts are never this small.
_ABSENT = -(2**63)


# Members of objects that must not be printed whole: a step, and a call of a database step.
_MARKS = ("sensitivePaths", "sql", "api", "script")


class Object(dict):  # type: ignore[type-arg]
    """An object in the JSON of a document: read-only, and a dict for json.dumps."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("the JSON of a document is read-only")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        """Make a copy an ordinary, writable dict."""
        return dict, (dict(self),)

    def __repr__(self) -> str:
        """Print as a dict does, without what the library marks as a secret (EXC-22)."""
        if not any(name in self for name in _MARKS):
            return dict.__repr__(self)
        from ._shown import shown

        return repr(shown(self))


_decode: Any = None  # made, and its module loaded, at the first use


def _value_at(text: str, start: int) -> Any:
    """Return the JSON value at an offset of a text, whatever follows it."""
    global _decode
    if _decode is None:
        from json import JSONDecoder

        _decode = JSONDecoder(object_hook=Object).raw_decode
    return _decode(text, start)[0]


def status_name(code: int) -> str:
    """Return the name of a status by its number: "ok" for 0."""
    name: bytes = _functions.assay_status_name(code)
    return name.decode("ascii", "replace")


def status_text(code: int, what: int) -> str:
    """Return a text of the library about a status, such as ASSAY_STATUS_MESSAGE; "" if it has
    none."""
    text: bytes = _functions.assay_status_text(code, what)
    return text.decode("utf-8", "replace")


def status_http(code: int) -> int:
    """Return the HTTP status of a back end's response to its own client."""
    http: int = _functions.assay_status_http(code)
    return http


def statuses() -> Iterator[int]:
    """Yield the codes of all statuses of the library except "ok"."""
    code: int = _functions.assay_status_next(0)
    while code:
        yield code
        code = _functions.assay_status_next(code)


def status_named(name: str) -> int:
    """Return the code of a status; that of the family "internal" if the library has none."""
    return next((code for code in statuses() if status_name(code) == name), _c.ASSAY_INTERNAL)


class OwnedDocument(DocHandle):
    """The address of a document, freed when nothing refers to it."""

    def __del__(self, free: Callable[..., Any] = _functions.assay_doc_free) -> None:
        free(self)


class Check:
    """One check of a document.

    id      str: "chain.root"; docs/documents.md lists them
    ok      True: passed; False: the reason why the document was refused; None: skipped
    reason  str or None: why the check was skipped
    """

    __slots__ = ("id", "ok", "reason")

    id: str
    ok: bool | None
    reason: str | None

    def __init__(self, member: Mapping[str, Any]) -> None:
        self.id = member["id"]
        self.ok = member["ok"]
        self.reason = member.get("reason")

    def __repr__(self) -> str:
        reason = f", reason={self.reason!r}" if self.reason else ""
        return f"Check({self.id!r}, ok={self.ok}{reason})"


class DocumentWarning:
    """A finding that caused no refusal, but deserves attention.

    id  str: "unknown-value"
    at  str or None: the location, a member path
    """

    __slots__ = ("id", "at")

    id: str
    at: str | None

    def __init__(self, member: Mapping[str, Any]) -> None:
        self.id = member["id"]
        self.at = member.get("at")

    def __repr__(self) -> str:
        return f"DocumentWarning({self.id!r}, at={self.at!r})"


class Document:
    """The result of one call of the library: immutable, made by a Verifier only.

    A document proves its content: `Verifier.decide` takes documents (or the facts
    made from them) and never JSON. For the same reason it cannot be pickled: keep
    the signed text and verify it again. A document is valid after its verifier was
    closed.
    """

    __slots__ = ("_asked", "_handle", "_parsed", "code", "__weakref__")

    code: int
    """The status as a number, family | detail << 8; 0: every check passed."""

    _refusal: ClassVar[Callable[[Document], Exception]]  # errors.refusal
    _facts: ClassVar[Callable[[Document], Facts | None]]  # _kinds.facts_of

    def __init__(self, handle: OwnedDocument, code: int) -> None:
        if not isinstance(handle, OwnedDocument) or not handle:
            raise TypeError("documents are made by a Verifier")
        self._handle = handle
        self._asked = 0  # how many members of the facts were read singly
        self._parsed: Mapping[str, Any] | None = None
        self.code = code

    @property
    def ok(self) -> bool:
        """Whether the evidence was verified and every check passed. If not, do not trust it."""
        return self.code == 0

    @property
    def status(self) -> str:
        """The name of the status: "ok", "rejected.chain.untrusted-root"."""
        return status_name(self.code)

    @property
    def kind(self) -> str:
        """The kind of the document: "transaction", "decision", "configuration" …"""
        return self._text(b"kind") or ""

    @property
    def text(self) -> str:
        """The whole document as JSON text, as the library wrote it."""
        length = c_size_t()
        return string_at(_doc_json(self._handle, length), length.value).decode()

    @property
    def json(self) -> Mapping[str, Any]:
        """The whole document, read-only, parsed at the first use."""
        if self._parsed is None:
            from json import loads

            self._parsed = loads(self.text, object_hook=Object)
        return self._parsed

    @property
    def checks(self) -> tuple[Check, ...]:
        """Every check of this kind of evidence, in the order in which they run."""
        return tuple(Check(member) for member in self.json["checks"])

    @property
    def warnings(self) -> tuple[DocumentWarning, ...]:
        """Findings that caused no refusal, but deserve attention."""
        return tuple(DocumentWarning(member) for member in self.json.get("warnings", ()))

    @property
    def error(self) -> Mapping[str, Any] | None:
        """The members message, check, rule, at, hint and retryClass; None if nothing was
        refused."""
        error: Mapping[str, Any] | None = self.json.get("error")
        return error

    @property
    def facts(self) -> Facts | None:
        """The typed facts (Transaction, AppReceipt, Decision, Triage …).

        None after a refusal, except for a negative decision and a triage; None for
        kinds that have no typed facts.
        """
        return self._facts()

    def raise_for_status(self) -> None:
        """Raise the AssayError of the status's family unless the status is 0."""
        if self.code:
            raise self._refusal()

    def __repr__(self) -> str:
        return f"<assay.Document {self.kind}: {self.status}>"

    def __copy__(self) -> Document:
        return self

    def __deepcopy__(self, memo: object) -> Document:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Document is proof in this process only: keep the signed text")

    def _object(self, path: bytes) -> Any:
        """Return the object at a path that ends in a dot. It is parsed by itself if it is the facts
        and nothing was parsed before."""
        steps = path[:-1].decode()
        if self._parsed is None:
            length = c_size_t()
            octets = string_at(_doc_json(self._handle, length), length.value)
            name = b',"%b":' % path[:-1]
            start = octets.find(name + b"{")
            if start >= 0:
                return _value_at(octets[start + len(name) :].decode(), 0)
        value: Any = self.json
        for step in steps.split("."):
            value = value[step if hasattr(value, "keys") else int(step)]
        return value

    def _text(self, path: bytes) -> str | None:
        """Return one member by its dotted path, without parsing the rest."""
        length = c_size_t()
        address = _doc_text(self._handle, path, len(path), length)
        return string_at(address, length.value).decode() if address else None

    def _integer(self, path: bytes) -> int | None:
        value: int = _doc_integer(self._handle, path, len(path), _ABSENT)
        return None if value == _ABSENT else value


class Members:
    """The base of facts and of the objects inside them. Read-only."""

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
        """Return every typed member by its Python name; objects as dict, times as int."""
        found: dict[str, Any] = {}
        for kind in reversed(type(self).__mro__):
            for name, member in vars(kind).items():
                if name.endswith("_at") or name in ("document", "payload"):
                    continue
                # A property is a conclusion of this version, such as `Decision.entitled`.
                if isinstance(member, (Member, property)):
                    found[name] = _plain(getattr(self, name))
        return found

    if not TYPE_CHECKING:  # a type checker would take every attribute for existing

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
    """Return the attribute that is meant by a name of the JSON, or by a misspelt one."""
    names: dict[str, str] = {}
    for base in kind.__mro__:
        for known, member in vars(base).items():
            if isinstance(member, (Member, property)):
                names.setdefault(known.replace("_", ""), known)
                # `publicKey` has several attributes and a time has two: the first one is meant.
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
        """The JSON of this object, read-only, unknown members included."""
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
        """The whole document: checks, warnings, JSON. Nested facts have that of the outer ones."""
        return self._document

    @property
    def payload(self) -> Mapping[str, Any]:
        """The signed JSON, read-only, including members that this version does not know."""
        payload: Mapping[str, Any] = self._members().get("payload") or {}
        return payload

    def _members(self) -> Mapping[str, Any]:
        if self._values is None:
            self._values = self._document._object(self._path)
        return self._values

    def _nested(self, kind: type[_Nested], member: str) -> _Nested | None:
        """Return facts nested in these, or None."""
        if self._members().get(member) is None:
            return None
        return kind(self._document, f"{self._path.decode()}{member}")

    def _nested_list(self, kind: type[_Nested], member: str) -> tuple[_Nested, ...]:
        """Return a list of facts nested in these."""
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
    """Facts whose JSON is the library's own: Apple signs none of it as JSON."""

    __slots__ = ()

    @property
    def payload(self) -> Mapping[str, Any]:
        """The JSON of the facts, read-only, including members that this version does not know."""
        return self._members()
