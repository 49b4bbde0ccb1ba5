"""Write a configuration, a request or a reply as JSON.

The json module would cost a third of the time that `import assay` and the first
verification take together, and this needs only the simplest part of it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ESCAPES = {code: f"\\u{code:04x}" for code in range(0x20)}
_ESCAPES.update({0x22: '\\"', 0x5C: "\\\\"})


def json_text(value: Any) -> str:
    """Return the JSON text of mappings, lists, tuples, texts, numbers, booleans and None.

    Raises TypeError for anything else, and for names that are not str; ValueError
    for NaN and infinities.
    """
    if isinstance(value, str):
        return f'"{value.translate(_ESCAPES)}"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        if value - value != 0:
            raise ValueError(f"JSON cannot hold {value!r}")
        return float.__repr__(value)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(json_text, value))}]"
    if hasattr(value, "keys"):  # a mapping, by the same test as in dict()
        return f"{{{','.join(_member(name, value[name]) for name in value)}}}"
    raise TypeError(f"JSON cannot hold {type(value).__name__}")


def _member(name: Any, value: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a JSON member is named by a str, not {type(name).__name__}")
    return f"{json_text(name)}:{json_text(value)}"
