"""The typed facts of a document, by its kind; most classes are loaded on first use."""

from __future__ import annotations

from . import facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .documents import Document, Facts


def facts_of(document: Document) -> Facts | None:
    """Return the typed facts of a document; None if it has none."""
    known = _known(document)
    if known is None:
        return None
    value: Any = document.json
    for step in known[1].split("."):
        value = value.get(step) if hasattr(value, "keys") else None
    return None if value is None else known[0](document, known[1])


def _known(document: Document) -> tuple[type[Facts], str] | None:
    """Return the class and the member of a kind's facts; most classes are loaded on first use."""
    kind = document.kind
    if kind == "exchange" and document._text(b"exchange.operation") == "call-verify-receipt":
        # A refused response contains nothing but Apple's status.
        from .receipts import VerifyReceiptResponse

        return (VerifyReceiptResponse, "exchange.verifyReceipt") if document.ok else None
    if kind == "exchange":
        operation = document._text(b"exchange.operation")
        if operation == "check-revocation":
            return facts.Revocation, "exchange.revocation"
        if operation == "refresh-attest-receipt":
            from .attest import RefreshedReceipt

            return RefreshedReceipt, "exchange.attestReceipt"
        if operation == "answer-verify-receipt":
            from .receipts import VerifyReceiptAnswer

            return VerifyReceiptAnswer, "exchange.answer"
        if operation == "assess-refund":
            from .refunds import RefundAnswer

            return RefundAnswer, "exchange.refund"
        if isinstance((document.json.get("exchange") or {}).get("result"), dict):
            from .store_answers import AppStoreResponse

            return AppStoreResponse, "exchange.result"
    known = facts.KINDS.get(kind)
    if known is None:
        from . import receipts

        known = receipts.KINDS.get(kind)
    if known is None:
        from . import attest

        known = attest.KINDS.get(kind)
    if known is None:
        from . import tokens

        known = tokens.KINDS.get(kind)
    return known
