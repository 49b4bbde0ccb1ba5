"""The metered work. Replace it with your own function: `model` in the configuration.

A model takes the tier that was granted, the `input` of the request, and how many seconds it
may take; it returns JSON. If it raises, nothing was delivered: the unit is released, and the
client gets 503. After a result that is not JSON the unit is released too, with 500.
"""

from __future__ import annotations

from typing import Any


def echo(tier: str, given: Any, seconds: float) -> Any:
    """Return the input and the tier."""
    return {"model": tier, "echo": given}
