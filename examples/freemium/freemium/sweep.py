"""The schedule: Apple is asked about each subscription that is due (STO-48, 49).

What was leased and not yet asked is kept beside the ledger, so that the next run continues
where one was killed, ran out of time, or got no answer. Two runs at once lease different
subscriptions, and the newest signed state wins whatever either stores.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections import Counter
from typing import TYPE_CHECKING, Any

import assay

from .changes import Change
from .families import REFUSALS
from .records import Unreachable
from .services import Left

if TYPE_CHECKING:
    from .services import Services

log = logging.getLogger("freemium")

# The most subscriptions of one run, and what stops it before: the time of the function, of which
# one question may take ASK_SECONDS, and an Apple that does not answer.
MOST = 2000
ASK_SECONDS = 12.0
REQUEST_MS = 10_000
UNANSWERED = 3
WAIT_SECONDS = 1.0
# What a run that may still be at work has leased is not touched; what is older than a day is due
# again by its own schedule.
AT_WORK_MS = 15 * 60_000
OLDEST_MS = 24 * 3600_000
# Our own key is refused, which says nothing about a subscription.
UNAUTHORIZED = "rejected.app-store.unauthorized"
Line = tuple[str, str]  # environment, original transaction id


class Sweep:
    """One run, bounded by the time that is left of the function."""

    def __init__(self, backend: Services, context: Any) -> None:
        self._backend, self._left = backend, Left(context)
        self.counts: Counter[str] = Counter(asked=0, changed=0, unanswered=0, refused=0)

    def run(self) -> dict[str, int]:
        """Ask Apple about what is due, and return how many were `asked`, `changed`, `refused`
        (finally: Apple does not know them, say) and `unanswered`."""
        for batch, lines in self._left_over():
            self._asked_all(batch, lines)
        has_more = True
        while has_more and self._may_continue():
            has_more = self._leased()
        log.info("due subscriptions: %s", dict(self.counts))
        if self.counts["unanswered"]:
            log.error("Apple did not answer about %d subscriptions", self.counts["unanswered"])
        return dict(self.counts)

    def _left_over(self) -> list[tuple[str, list[Line]]]:
        """Return what earlier runs leased and did not ask."""
        found: list[tuple[str, list[Line]]] = []
        for batch, text in self._backend.records.batches():
            age = self._backend.now - int(batch.partition("-")[0])
            if age > OLDEST_MS:
                self._backend.records.drop_batch(batch)
            elif age > AT_WORK_MS:
                found.append((batch, [(line[0], line[1]) for line in json.loads(text)]))
        return found

    def _leased(self) -> bool:
        """Lease up to 25 subscriptions and ask about them; return whether there are more."""
        backend = self._backend
        found = backend.stored(backend.ledger.lease_due_subscriptions())
        lines = [(each.environment, each.original_transaction_id) for each in found.subscriptions]
        if lines:
            batch = f"{backend.now}-{secrets.token_hex(8)}"
            backend.records.keep_batch(batch, json.dumps(lines))
            self._asked_all(batch, lines)
        return found.has_more

    def _asked_all(self, batch: str, lines: list[Line]) -> None:
        """Ask about each of a batch; what got no answer stays for the next run."""
        waiting = list(lines)
        for line in lines:
            if not self._may_continue():
                break
            if self._is_settled(line):
                waiting.remove(line)
        if not waiting:
            self._backend.records.drop_batch(batch)
        elif len(waiting) < len(lines):
            self._backend.records.keep_batch(batch, json.dumps(waiting))

    def _may_continue(self) -> bool:
        counts = self.counts
        return (counts["asked"] < MOST and counts["unanswered"] < UNANSWERED
                and self._left() > ASK_SECONDS)

    def _is_settled(self, line: Line) -> bool:
        """Ask about one subscription; return whether nothing is left to ask. No answer changes
        nothing (FLW-8)."""
        environment, original = line
        self.counts["asked"] += 1
        try:
            document = self._statuses(environment, original)
            document.raise_for_status()
            self._apply(line, document)
        except (assay.AssayError, Unreachable) as error:
            status = error.status if isinstance(error, assay.AssayError) else "unreachable"
            log.warning("due subscription %s: %s", original, status)
            is_final = isinstance(error, REFUSALS) and status != UNAUTHORIZED
            self.counts["refused" if is_final else "unanswered"] += 1
            return is_final
        return True

    def _statuses(self, environment: str, original: str) -> assay.Document:
        backend = self._backend
        store = backend.verifier.app_store(environment, attempts=1)
        with store.get_all_subscription_statuses(original, now=backend.now) as exchange:
            return exchange.run(
                backend.send_within(REQUEST_MS), max_wait=WAIT_SECONDS, clock=backend.clock)

    def _apply(self, line: Line, document: assay.Document) -> None:
        """Store what Apple signed, of all subscriptions of the customer."""
        backend = self._backend
        change = Change(backend, f"due {line[0]} {line[1]}")
        applied = backend.stored(backend.ledger.update_subscriptions(document))
        self.counts["changed"] += sum(each.changed for each in applied.subscriptions)
        change.made(applied.changed, updates=applied.subscriptions)
        if not applied.ok:
            log.warning("due subscription %s: %s", line[1], applied.status)
