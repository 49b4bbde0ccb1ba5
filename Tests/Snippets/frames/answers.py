"""Frame of verifyReceipt in the Python README."""
import types
import typing

import minted

import assay

verifier = assay.Verifier((minted.AUTHORITY / "config.json").read_text())
receipt = verifier.verify_app_receipt(minted.mint("app-receipt"))


def exchange(text: str, hopped: bool = False) -> typing.Any:
    response = types.SimpleNamespace(content=text.encode())
    answer: assay.Facts = receipt
    # SNIPPET
    return hopped, decision


hopped, decision = exchange(minted.mint("verify-receipt-response"))
assert not hopped and decision.plan == "premium" and decision.evidence.class_ == "apple-answer"
assert exchange(minted.mint("verify-receipt-response", "--apple-status", "21007"))[0]
assert not exchange(minted.mint("verify-receipt-response", "--apple-status", "21005"))[0]
