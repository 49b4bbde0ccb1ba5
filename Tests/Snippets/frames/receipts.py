"""Frame of the receipts in the Python README: inside of an endpoint that returns."""
import json
import typing
import uuid

import minted

import assay

verifier = assay.Verifier((minted.AUTHORITY / "config.json").read_text())
vendor_id = "8F1A2B3C-4D5E-4F60-8A7B-9C0D1E2F3A4B"
account = minted.ACCOUNT


class Ledger:
    """The claims by purchase key."""

    def __init__(self) -> None:
        self.claimed: dict[str | None, str] = {}

    def has(self, keys: typing.Iterable[str], account: str) -> bool:
        return any(self.claimed.get(key) == account for key in keys)

    def claim(self, purchase: str | None, transaction: str | None, account: str) -> None:
        assert purchase not in self.claimed
        self.claimed[purchase] = self.claimed[transaction] = account


ledger = Ledger()


def endpoint(blob: str) -> tuple[int | None, str | None]:
    # SNIPPET
    return 200, "granted"


device = uuid.UUID(vendor_id).hex
app_receipt = minted.mint("app-receipt", "--device", device, "--purchases", "2")
assert endpoint(app_receipt) == (200, "granted")
assert endpoint(app_receipt) == (200, "already granted")
assert endpoint(minted.mint("transaction-receipt", "--transaction-id", "570000900000001")) == \
    (200, "granted")
assert endpoint("Y29tLnVydXMuaWFwLjcyNTE5NjA0")[1] == "drop"
