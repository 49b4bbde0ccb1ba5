"""What an operator does by hand, and may let a timer do (RCN-60, RFA-61).

  python3 -m freemium.operate CONFIGURATION differences
  python3 -m freemium.operate CONFIGURATION close ID NOTE
  python3 -m freemium.operate CONFIGURATION reconcile [ENVIRONMENT [PART ...]]
  python3 -m freemium.operate CONFIGURATION refunds

differences lists what ledger and Apple do not agree on; close settles one of them by hand;
reconcile looks for them, by the parts of docs/spec/reconcile.md (failures and open); refunds
answers what Apple asks about refunds. No route leads here, and it is not packed for Lambda. Each
prints one JSON line for each of what it found.
Exits with 0; 1 after an error; 2 if the words are wrong; 3 where a person is needed; 75 where the
same may succeed later.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import assay

from .backend import Backend
from .families import status_of
from .reconcile import PARTS, differences, reconcile
from .records import Unreachable
from .refunds import AGAIN, PERSON, Answers
from .services import PAID_FOR
from .settings import Settings

FAILED, USAGE, PERSON_NEEDED, LATER = 1, 2, 3, 75


def list_differences(backend: Backend, words: Sequence[str]) -> int:
    count = 0
    for each in differences(backend):
        print(json.dumps({
            "id": each.id, "kind": each.kind, "environment": each.environment,
            "transactionId": each.transaction_id, "productId": each.product_id,
            "price": each.price, "currency": each.currency, "foundAtMs": each.found_at_ms,
            "detail": each.detail, "settledBy": each.settled_by,
        }))
        count += 1
    return PERSON_NEEDED if count else 0


def close(backend: Backend, words: Sequence[str]) -> int:
    found = backend.stored(backend.ledger.close_difference(words[0], words[1]))
    found.raise_for_status()
    print(json.dumps({"id": words[0], "outcome": found.outcome}))
    return FAILED if found.outcome == "none" else 0


def run_reconcile(backend: Backend, words: Sequence[str]) -> int:
    environment = words[0] if words else PAID_FOR
    ends = 0
    for found in reconcile(backend, None, environment, words[1:] or PARTS):
        print(json.dumps({
            "status": found.status, "requests": found.requests, "missed": found.lost_count,
            "found": {each.kind: each.count for each in found.found},
            "closed": {each.kind: each.count for each in found.closed},
        }))
        if not found.ok:
            ends = LATER if found.status.startswith(("unavailable.", "pending.")) else FAILED
    return ends


def refunds(backend: Backend, words: Sequence[str]) -> int:
    answers = Answers(backend)
    for each in answers.run():
        print(json.dumps(each))
    if answers.counts[PERSON]:
        return PERSON_NEEDED
    return LATER if answers.counts[AGAIN] else 0


# Name: the command, and how many words it takes.
COMMANDS: Mapping[str, tuple[Callable[[Backend, Sequence[str]], int], int, int]] = {
    "differences": (list_differences, 0, 0),
    "close": (close, 2, 2),
    "reconcile": (run_reconcile, 0, 8),
    "refunds": (refunds, 0, 0),
}


def main(words: list[str]) -> int:
    """Run one command and return the exit status."""
    if words in (["--help"], ["-h"]):
        print(__doc__)
        return 0
    command, fewest, most = COMMANDS.get(words[1] if len(words) > 1 else "", (None, 0, 0))
    if command is None or not fewest <= len(words) - 2 <= most:
        print(__doc__, file=sys.stderr)
        return USAGE
    backend = Backend(Settings.load(words[0]))
    try:
        return command(backend, words[2:])
    except assay.AssayError as error:
        told: Mapping[str, Any] = (error.document.error if error.document else None) or {}
        print(f"{error.status}: {told.get('hint', '')}", file=sys.stderr)
        return LATER if status_of(error) == 503 else FAILED
    except Unreachable as away:
        print(f"the database is away: {type(away.__cause__).__name__}", file=sys.stderr)
        return LATER
    finally:
        backend.ledger.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
