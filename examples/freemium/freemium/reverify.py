"""Verify the last evidence of an account again, by today's configuration (BCK-27).

  python3 -m freemium.reverify CONFIGURATION ACCOUNT [--store]

For an operator; no route leads here, and it is not packed for Lambda. The ledger must keep
evidence (`assay.ledger.keepEvidence`). One JSON line for each subscription says what is stored,
what the kept text is worth today, and what differs. Nothing is changed, unless --store says that
what verifies is to be stored; a text that is refused today takes nothing away even then.
Exits with 0 if nothing differs, 1 if something does, 2 if nothing could be read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import assay

from .backend import Backend
from .families import REFUSALS
from .settings import Settings

if TYPE_CHECKING:
    from assay.ledger.results import Subscription

KINDS: tuple[
    Literal["transaction", "notification", "transaction-receipt", "app-receipt",
            "verify-receipt-response"], ...
] = ("transaction", "notification", "transaction-receipt", "app-receipt",
     "verify-receipt-response")


def reverify(backend: Backend, account: str, store: bool = False) -> Iterator[dict[str, Any]]:
    """Yield, for each subscription of an account, `stored`, `today`, `differs` (the names of the
    members that do), and with `store` the `outcome` of storing it.

    Raises ConfigError if no evidence is kept, UnavailableError if the database is away.
    """
    for line in backend.stored(backend.ledger.get_plan(account)).subscriptions:
        found = backend.stored(backend.ledger.get_evidence(
            environment=line.environment, original_transaction_id=line.original_transaction_id))
        found.raise_for_status()
        stored = _stored(backend, line)
        report: dict[str, Any] = {
            "originalTransactionId": line.original_transaction_id,
            "environment": line.environment,
            "stored": stored,
            "missing": list(found.missing),
        }
        documents = [_document(backend, each.text) for each in found.evidence]
        good = [each for each in documents if each.ok]
        today = _today(backend, good, documents)
        differs = sorted(name for name in stored if stored[name] != today.get(name))
        report.update(today=today, differs=differs)
        if store and good:
            applied = backend.stored(backend.ledger.update_subscriptions(good))
            report["outcome"] = [each.outcome for each in applied.subscriptions]
        yield report


def _document(backend: Backend, text: str) -> assay.Document:
    """Verify a text as the kind that it is; of one that is none return the first refusal."""
    found = [backend.verifier.verify(KINDS[0], text, backend.now)]
    while found[-1].status.startswith("malformed.") and len(found) < len(KINDS):
        found.append(backend.verifier.verify(KINDS[len(found)], text, backend.now))
    return found[0] if found[-1].status.startswith("malformed.") else found[-1]


def _stored(backend: Backend, line: Subscription) -> dict[str, Any]:
    """Return what the ledger has; a subscription that does not entitle has the default plan."""
    plans = backend.verifier.configuration["plans"]
    return {
        "entitled": line.is_active,
        "plan": line.plan if line.is_active else plans[0],
        "productId": line.product_id,
        "transactionId": line.transaction_id,
    }


def _today(
    backend: Backend, good: list[assay.Document], documents: list[assay.Document]
) -> dict[str, Any]:
    """Return the decision of today about the texts that verify, and the status of the others."""
    today: dict[str, Any] = {"status": [each.status for each in documents]}
    if not good:
        return today
    try:
        decision = backend.verifier.decide(good, now=backend.now)
    except REFUSALS as refusal:
        return {**today, "decision": refusal.status}
    return {
        **today,
        "entitled": decision.entitled,
        "plan": decision.plan,
        "productId": decision.product_id,
        "transactionId": decision.transaction_id,
        "state": decision.state,
        "rule": decision.rule,
        "expiresAtMs": decision.expires_at_ms or decision.would_expire_at_ms,
    }


def main(words: list[str]) -> int:
    """Print the lines and return the exit status."""
    given = [word for word in words if word != "--store"]
    if len(given) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    backend = Backend(Settings.load(given[0]))
    try:
        return printed(reverify(backend, given[1], "--store" in words))
    except assay.AssayError as error:
        told: Mapping[str, Any] = (error.document.error if error.document else None) or {}
        print(f"{error.status}: {told.get('hint', '')}", file=sys.stderr)
        return 2
    finally:
        backend.ledger.close()


def printed(reports: Iterator[Mapping[str, Any]]) -> int:
    count = differing = 0
    for report in reports:
        print(json.dumps(report))
        count, differing = count + 1, differing + bool(report["differs"])
    if count == 0:
        print("the account has no subscription", file=sys.stderr)
        return 2
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
