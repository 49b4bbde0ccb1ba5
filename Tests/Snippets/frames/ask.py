"""Frame of docs/tasks/verify-receipt.md: Apple is a function that returns what was minted."""
import minted

import assay
from assay import http

verifier = assay.Verifier((minted.AUTHORITY / "config.json").read_text())
text = minted.mint("app-receipt")
said = [minted.mint("verify-receipt-response", "--apple-status", "21007"),
        minted.mint("verify-receipt-response")]
asked = []


def send(request):
    asked.append(request["url"])
    return {"id": request["id"], "status": 200, "body": {"text": said[len(asked) - 1]}}


http.Sender = lambda: send
# SNIPPET
assert decision.plan == "premium" and decision.evidence.class_ == "apple-answer"
assert [url.split("/")[2] for url in asked] == ["buy.itunes.apple.com", "sandbox.itunes.apple.com"]
