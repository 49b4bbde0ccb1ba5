"""Apple's questions about refunds: kept, and answered each five minutes (RFA-3, RFA-61).

`refunds` of the settings names two functions, `usage(case)` and `consent(case)`, which return
what is observed (docs/tasks/refund-answers.md), or None. Without them no consent is known, and
nothing is sent. Whatever they raise leaves the case open: it comes again.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import assay

from .services import Left
from .settings import imported

if TYPE_CHECKING:
    from assay.ledger.results import RefundCase

    from .services import Services

log = logging.getLogger("freemium")

# A case is this run's for so long; a run that is killed delays it as much.
LEASE_MS = 600_000
# The time of one answer, and the answers in sequence that Apple does not take before the others
# wait for the next run.
ANSWER_SECONDS = 12.0
REQUEST_MS = 10_000
WAIT_SECONDS = 1.0
UNANSWERED = 3
# Faults of ours, which settle nothing: once the key is mended the answer is sent.
OURS = re.compile(r"(config|misuse|internal)\.|rejected\.app-store\.(unauthorized|forbidden)$")
# What becomes of a case: it is settled, it comes again, or a person is needed.
SETTLED, AGAIN, PERSON = "settled", "again", "person"


def keep(backend: Services, note: assay.Notification) -> None:
    """Store a question, before Apple hears 200. What no answer could be about is only logged."""
    opened = backend.stored(backend.ledger.open_refund(note))
    if not opened.ok:
        log.warning("question %s: %s", note.notification_uuid, opened.status)


class Answers:
    """One run, bounded by the time that is left of the function."""

    def __init__(self, backend: Services, context: object = None) -> None:
        self._backend, self._left = backend, Left(context)
        self.counts: Counter[str] = Counter({SETTLED: 0, AGAIN: 0, PERSON: 0})
        self._unanswered = 0

    def run(self) -> Iterator[dict[str, Any]]:
        """Answer what is open, those with less time first; yield what was done with each case:
        `ends` is "settled", "again" or "person"."""
        has_more = True
        while has_more and self._may_continue():
            backend = self._backend
            due = backend.stored(backend.ledger.lease_due_refunds(lease_ms=LEASE_MS))
            for case in due.refunds:
                if not self._may_continue():
                    return
                found = self._answered(case)
                self.counts[found["ends"]] += 1
                if found["ends"] == PERSON:
                    log.error("refund %s: %s", case.transaction_id, found["status"])
                yield {"environment": case.environment, "transactionId": case.transaction_id,
                       "productId": case.product_id, "dueAtMs": case.due_at_ms, **found}
            has_more = due.has_more

    def _may_continue(self) -> bool:
        return self._left() > ANSWER_SECONDS and self._unanswered < UNANSWERED

    def _answered(self, case: RefundCase) -> dict[str, Any]:
        backend, purchase = self._backend, self._purchase(case)
        try:
            answer = backend.verifier.assess_refund(purchase, self._observed(case), backend.now)
        except Exception as fault:  # of a hook, or what it has observed
            reason = fault.status if isinstance(fault, assay.AssayError) else type(fault).__name__
            return {"ends": PERSON, "answer": None, "status": reason}
        status = None if answer.request is None else self._sent(answer.request)
        found = {"answer": answer.answer, "would": answer.would, "rule": answer.fields[0].rule,
                 "status": status}
        if status is not None and OURS.match(status):
            return {"ends": PERSON, **found}
        settled = backend.stored(backend.ledger.settle_refund(
            case.environment, case.transaction_id, answer, status=status))
        if settled.outcome == "open":
            self._unanswered += status is not None
            return {"ends": AGAIN, **found}
        self._unanswered = 0
        return {"ends": SETTLED if status in (None, "ok") else PERSON, **found}

    def _purchase(self, case: RefundCase) -> dict[str, Any]:
        """Return the purchase of a case. An account that is restricted has no consent (CUS-22)."""
        backend, purchase = self._backend, dict(case.purchase or {})
        if case.account is not None:
            plan = backend.stored(backend.ledger.get_plan(case.account))
            if plan.restriction is not None:
                purchase["isRestricted"] = True
        return purchase

    def _observed(self, case: RefundCase) -> dict[str, Any]:
        hooks = self._backend.settings.refunds
        found = {name: imported(place)(case) for name, place in hooks.items()}
        return {name: value for name, value in found.items() if value is not None}

    def _sent(self, request: Any) -> str:
        """Send an answer, and return the status with which that ended."""
        backend = self._backend
        try:
            with backend.verifier.exchange(request, now=backend.now) as exchange:
                return exchange.run(backend.send_within(REQUEST_MS), max_wait=WAIT_SECONDS,
                                    clock=backend.clock).status
        except assay.AssayError as fault:
            return fault.status
