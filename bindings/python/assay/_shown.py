"""The printed form of a step, without its secrets (EXC-22)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_HIDDEN = "not shown"
# The members of a database call that contain rows and their keys.
_STORE = ("args", "input", "keys")
_CALLS = ("sql", "api", "script")


def shown(step: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a step without its `sensitivePaths`, and of a database call without its
    values."""
    found = dict(step)
    for path in found.get("sensitivePaths") or ():
        _hide(found, *str(path).partition(".")[::2])
    if any(name in found for name in _CALLS):
        found.update({name: _HIDDEN for name in _STORE if name in found})
    return found


def _hide(found: dict[str, Any], name: str, rest: str) -> None:
    """Hide one member or a part of it: a header by its name, a member of an object. A body is text
    and is hidden as a whole."""
    value = found.get(name)
    if name == "headers" and isinstance(value, list):
        found[name] = [
            [header, _HIDDEN if header.lower() == rest else text] for header, text in value
        ]
    elif rest and name != "body" and isinstance(value, dict):
        found[name] = inner = dict(value)
        _hide(inner, *rest.partition(".")[::2])
    elif name in found:
        found[name] = _HIDDEN
