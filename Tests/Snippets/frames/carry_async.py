"""Frame of docs/tasks/run-exchange.md: Apple is a coroutine that returns what was minted."""
# REPLACES AsyncHttpxSender() WITH apple
import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import minted

import assay

verifier = assay.Verifier((minted.AUTHORITY / "config.json").read_text())
request = {"operation": "call-verify-receipt", "receipt": minted.mint("app-receipt")}
said = minted.mint("verify-receipt-response")


async def apple(request: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"id": request["id"], "status": 200, "body": {"text": said}}


async def main(executor: ThreadPoolExecutor) -> None:
    # SNIPPET
    assert verifier.decide(document).plan == "premium"


with ThreadPoolExecutor(1) as threads:
    asyncio.run(main(threads))
