"""Properties that read one member of the facts.

The classes of facts, which are generated, declare them like fields:

    expires_date: int | None = time("expiresDate", "End of the paid period.")

`text`, `named`, `integer`, `time` and `moment` read the first member from the library, which
costs a microsecond or two. A second read, and any other type of member, parses the JSON of
the facts once and keeps it.

A member that is absent, null, or not of the declared type reads as None; the
signed JSON itself is in `payload`.
"""

from __future__ import annotations

from sys import modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn, Protocol

    class Members(Protocol):
        """What the members read from: facts, or an object inside them."""

        _values: Mapping[str, Any] | None
        _document: Any
        _path: bytes

        @property
        def payload(self) -> Mapping[str, Any]: ...

        def _members(self) -> Mapping[str, Any]: ...


class Member:
    """A descriptor for one member of the facts, by its name in the JSON.

    Facts have a `__getattr__`, which makes every attribute lookup slow: a member reads
    `_values` once.
    """

    def __init__(self, name: str, doc: str, convert: Callable[[Any], Any]) -> None:
        self.name = name
        self.path = name.encode()
        self.convert = convert
        self.__doc__ = doc

    def __get__(self, facts: Members | None, owner: type | None = None) -> Any:
        if facts is None:
            return self
        values = facts._values
        if values is None:
            values = facts._members()
        return self.convert(values.get(self.name))

    def __set__(self, facts: Members, value: object) -> NoReturn:
        raise AttributeError(f"{type(facts).__name__} is read-only")


class SignedMember(Member):
    """A member of the signed JSON."""

    def __get__(self, facts: Members | None, owner: type | None = None) -> Any:
        if facts is None:
            return self
        return self.convert(facts.payload.get(self.name))


class AskedMember(Member):
    """A member that the library reads until the JSON is parsed."""

    asks: str  # the method of a Document that reads a member of this type

    def __get__(self, facts: Members | None, owner: type | None = None) -> Any:
        if facts is None:
            return self
        values = facts._values
        if values is None:
            if _seldom(facts):
                ask = getattr(facts._document, self.asks)
                return self.convert(ask(facts._path + self.path))
            values = facts._members()
        return self.convert(values.get(self.name))


class TextMember(AskedMember):
    """A member that is a text."""

    asks = "_text"


class IntegerMember(AskedMember):
    """A member that is an integer."""

    asks = "_integer"


class InnerTextMember(Member):
    """A text of an object inside the facts, read by the library until the JSON is parsed; None if
    there is no such object."""

    def __init__(
        self, name: str, inner: str, doc: str, convert: Callable[[str | None], Any]
    ) -> None:
        def taken(value: Any) -> Any:
            return convert(as_text(value.get(inner)) if hasattr(value, "keys") else None)

        super().__init__(name, doc, taken)
        self.path += b"." + inner.encode()
        self.plain = convert

    def __get__(self, facts: Members | None, owner: type | None = None) -> Any:
        if facts is None:
            return self
        if facts._values is None:
            return self.plain(facts._document._text(facts._path + self.path))
        return self.convert(facts._values.get(self.name))


def _seldom(facts: Members) -> bool:
    """Return whether the library reads a member by itself: the first one, or the first 64 if the
    json module, whose loading costs as much, is not loaded."""
    document = facts._document
    asked: int = document._asked + 1
    document._asked = asked
    return asked <= (1 if "json" in modules else 64)


def text(name: str, doc: str, signed: bool = False) -> Any:
    """Declare a text: str or None."""
    return (SignedMember if signed else TextMember)(name, doc, as_text)


def named(name: str, kind: str, doc: str, signed: bool = False) -> Any:
    """Declare a value of a set in `names`, new values included: a str or None."""

    known: dict[str, str] = {}  # the values of this version, filled as they are used

    def convert(value: Any) -> Any:
        if type(value) is not str:
            return None
        return known.get(value) or _named(kind, value, known)

    return (SignedMember if signed else TextMember)(name, doc, convert)


def _named(kind: str, value: str, known: dict[str, str]) -> str:
    """Return the member of the set for a value, and remember a known one."""
    from . import names

    values: Any = getattr(names, kind)
    if not known:
        known.update({each: each for each in values.values()})
    return known.get(value) or str.__new__(values, value)


def integer(name: str, doc: str, signed: bool = False) -> Any:
    """Declare an integer: int or None."""
    if signed:
        return SignedMember(name, doc, as_signed_integer)
    return IntegerMember(name, doc, as_integer)


def time(name: str, doc: str, signed: bool = False) -> Any:
    """Declare a time in milliseconds since 1970 UTC: int or None."""
    kind = SignedMember if signed else IntegerMember
    return kind(name, f"{doc} Milliseconds since 1970 UTC.", as_time)


def moment(name: str, signed: bool = False) -> Any:
    """Declare the time of a `time` member as an aware datetime in UTC, or None."""
    kind = SignedMember if signed else IntegerMember
    return kind(name, f"{name} as an aware datetime in UTC.", as_moment)


def boolean(name: str, doc: str, signed: bool = False) -> Any:
    """Declare a boolean: True, False, or None if absent."""
    return (SignedMember if signed else Member)(name, doc, as_boolean)


def texts(name: str, doc: str, signed: bool = False) -> Any:
    """Declare a tuple of str, empty if absent."""
    return (SignedMember if signed else Member)(name, doc, as_texts)


def numbers(name: str, doc: str) -> Any:
    """Declare a tuple of int, empty if absent; numbers beyond 2^53 are str."""

    def convert(value: Any) -> tuple[int | str, ...]:
        return tuple(value) if isinstance(value, list) else ()

    return Member(name, doc, convert)


def details(name: str, kind: Callable[[Any], Any], doc: str, signed: bool = False) -> Any:
    """Declare an object inside the facts, or None."""

    def convert(value: Any) -> Any:
        return kind(value) if hasattr(value, "keys") else None

    return (SignedMember if signed else Member)(name, doc, convert)


def details_list(name: str, kind: Callable[[Any], Any], doc: str, signed: bool = False) -> Any:
    """Declare a tuple of objects inside the facts, empty if absent."""

    def convert(value: Any) -> Any:
        if not isinstance(value, list):
            return ()
        return tuple(kind(entry) for entry in value if hasattr(entry, "keys"))

    return (SignedMember if signed else Member)(name, doc, convert)


def mapping(name: str, doc: str) -> Any:
    """Declare a read-only mapping of texts to JSON, empty if absent."""
    return Member(name, doc, as_mapping)


def anything(name: str, doc: str) -> Any:
    """Declare a value of any JSON type, read-only, or None."""
    return Member(name, doc, lambda value: value)


def octets(name: str, doc: str) -> Any:
    """Declare the bytes that a base64 text contains: bytes or None."""
    return Member(name, doc, as_octets)


def inner_text(name: str, inner: str, doc: str) -> Any:
    """Declare a text of an object inside the facts: str or None."""
    return InnerTextMember(name, inner, doc, as_text)


def inner_octets(name: str, inner: str, doc: str) -> Any:
    """Declare the bytes that a base64 text of an inner object contains: bytes or None."""
    return InnerTextMember(name, inner, doc, as_octets)


def as_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def as_integer(value: Any) -> int | None:
    """Return an integer, which the library writes as text beyond 2^53 (DOC-2)."""
    if type(value) is int:
        return value
    if isinstance(value, str) and len(value) <= 20 and value.isascii():
        digits = value[1:] if value.startswith("-") else value
        return int(value) if digits.isdecimal() else None
    return None


def as_signed_integer(value: Any) -> int | None:
    return value if type(value) is int else None


def as_time(value: Any) -> int | None:
    """Return whole milliseconds; Xcode writes fractions of one (JWS-81)."""
    if type(value) is float and abs(value) < 2**53:
        return int(value)
    return value if type(value) is int else None


def as_moment(value: Any) -> Any:
    milliseconds = as_time(value)
    if milliseconds is None:
        return None
    import datetime

    try:
        return datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(
            milliseconds=milliseconds
        )
    except OverflowError:
        return None


def as_boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def as_texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(entry for entry in value if isinstance(entry, str))


def as_mapping(value: Any) -> Mapping[str, Any]:
    return value if hasattr(value, "keys") else {}


def as_octets(value: Any) -> bytes | None:
    if not isinstance(value, str):
        return None
    from binascii import a2b_base64

    return a2b_base64(value)
