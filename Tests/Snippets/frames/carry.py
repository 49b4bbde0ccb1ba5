"""Frame of docs/tasks/run-exchange.md: Apple is a function that returns what was minted."""
# REPLACES HttpxSender() WITH apple
from collections.abc import Mapping
from typing import Any

import minted

import assay

verifier = assay.Verifier((minted.AUTHORITY / "config.json").read_text())
request = {"operation": "call-verify-receipt", "receipt": minted.mint("app-receipt")}
said = minted.mint("verify-receipt-response")


def apple(request: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"id": request["id"], "status": 200, "body": {"text": said}}


def queue(retry: Mapping[str, Any]) -> None:
    raise AssertionError("nothing is to be queued")


# SNIPPET
assert verifier.decide(document).plan == "premium"
