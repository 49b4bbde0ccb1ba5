"""The metered work. Put your own function in its place: `model` in the configuration.

A model takes the tier that was granted, the `input` of the request, and how many seconds it
may take; it returns JSON. Whatever it raises counts as "nothing was delivered": the unit is
given back and the client hears 503. So does a result that is no JSON: 500.
"""

from __future__ import annotations

from typing import Any


def echo(tier: str, given: Any, seconds: float) -> Any:
    """Answers with what it was given."""
    return {"model": tier, "echo": given}
