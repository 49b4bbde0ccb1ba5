"""Ledger and Apple compared: what was missed is entered, the rest is for a person (RCN-60, 61).

A run goes on where the one before stopped, was killed, or had no time left: its place is in the
ledger. Plans are all that is granted here, so that what it finds is settled by the customer's app
or by a person, and there is nothing to hand out or to take back.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .services import PAID_FOR, Left

if TYPE_CHECKING:
    from assay.ledger.results import Difference, ReconcileResult

    from .services import Services

log = logging.getLogger("freemium")

PARTS = ("failures", "open")
# The most requests of one exchange, the time of one of them, and what is kept to store what it
# found: an exchange that begins ends before the function does.
MOST = 20
REQUEST_SECONDS = 10
MARGIN_SECONDS = 30
RUNNING = "unavailable.reconcile.running"


def reconcile(
    backend: Services,
    context: object = None,
    environment: str = PAID_FOR,
    parts: Sequence[str] = PARTS,
) -> Iterator[ReconcileResult]:
    """Compare until nothing or no time is left; yield each exchange. The last one is not ok if
    Apple did not answer, or if another run is at work: call again later."""
    left = Left(context)
    _sweep(backend)
    has_more = True
    while has_more:
        most = min(MOST, int((left() - MARGIN_SECONDS) // REQUEST_SECONDS))
        if most < 1:
            return
        found = backend.ledger.reconcile(
            environment, parts=parts, max_requests=most, attempts=1)
        for each in found.found:
            log.warning("reconcile: %d %s", each.count, each.kind)
        if not found.ok and found.status != RUNNING:
            log.error("reconcile: %s", found.status)
        yield found
        has_more = found.ok and found.has_more


def differences(backend: Services) -> Iterator[Difference]:
    """Yield what is left for a person, the oldest first."""
    after, has_more = None, True
    while has_more:
        page = backend.stored(backend.ledger.list_differences(after=after))
        page.raise_for_status()
        yield from page.differences
        after, has_more = page.after, page.has_more


def _sweep(backend: Services) -> None:
    """Complete what a process has begun with purchases that support claimed by hand."""
    has_more = True
    while has_more:
        taken = backend.stored(
            backend.ledger.resume_expired_revocations(take_back=lambda take: True))
        given = backend.stored(backend.ledger.resume_expired(grant=lambda given: True))
        has_more = taken.has_more or given.has_more
