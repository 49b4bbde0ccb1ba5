"""The metered work. Replace it with your own function: `model` in the configuration.

A model takes the tier that was granted, the `input` of the request, and how many seconds it
may take; it returns JSON. If it raises, nothing was delivered: the unit is released, and the
client gets 503, or what an error below says. After a result that is not JSON the unit is
released too, with 500.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Model = Callable[[str, Any, float], Any]


class BadInput(Exception):
    """Raised if the model does not take this input: the client gets 400."""


class Misconfigured(Exception):
    """Raised if no repetition helps before an operator has changed something: the client gets 500.
    The text is logged, so it must not quote the input."""


class NoAnswer(Exception):
    """Raised if there is no answer that can be delivered: the client gets 503. The text is logged,
    so it must not quote the input."""


def echo(tier: str, given: Any, seconds: float) -> Any:
    """Return the input and the tier."""
    return {"model": tier, "echo": given}
