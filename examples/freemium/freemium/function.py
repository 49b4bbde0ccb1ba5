"""The functions that Lambda calls: `handler` for requests, the others for schedules.

The back end is made once, when the execution environment starts, so that later calls find
proven chains and open connections. It does not start without its table, or with one of
another version.
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
    """Handle one event, of any of the forms in `events`."""
    return backend.answer(event, context)


def due(event: dict[str, Any], context: object) -> dict[str, int]:
    """Ask Apple about the subscriptions that are due. Nothing is read of the event, and no request
    arrives here: a handler of its own decides what is called, not what an event looks like."""
    return backend.due(context)


def reconcile(event: dict[str, Any], context: object) -> dict[str, int]:
    """Compare the ledger with Apple. Nothing is read of the event, as in `due`."""
    return backend.reconcile(context)


def refunds(event: dict[str, Any], context: object) -> dict[str, int]:
    """Answer what Apple asks about refunds. Nothing is read of the event, as in `due`."""
    return backend.refunds(context)
