"""What Lambda calls: `freemium.function.handler`.

The back end is made once, when the execution environment starts: later calls find the
chains proven and the connections open. Without its table, or with one of another version, it
does not start.
"""

from __future__ import annotations

import logging
from typing import Any

from .backend import Backend
from .settings import Settings

logging.getLogger("freemium").setLevel(logging.INFO)
backend = Backend(Settings.load())
backend.check()


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """One request, of any of the forms in `events`."""
    return backend.answer(event, context)
