"""Frame of docs/tasks/ledger-python.md: purchases of one app, a shop with two tables."""
import json
import pathlib
import sqlite3

import minted

import assay
from assay.ledger import Ledger, SQLite


def bought(*arguments: str) -> str:
    return str(minted.mint(*arguments, "--product", "com.example.app.coins100",
                           "--type", "consumable"))


for left in pathlib.Path(".").glob("shop.db*"):
    left.unlink()
account = "account-1"
config = json.loads((minted.AUTHORITY / "config.json").read_text())
config["quotas"] = {"premium": {"answers": 50}}
verifier = assay.Verifier({**config, "ledger": {"engine": "sqlite"}})
Ledger("sqlite:///./shop.db", verifier).create_schema()
jws = bought("transaction")
second_jws = bought("transaction", "--transaction-id", "180000900000012")
signed_payload = bought("notification", "--notification-type", "REFUND", "--refunded")
subscription_jws = minted.mint("transaction", "--product", "com.example.app.premium.monthly")
shop = sqlite3.connect("shop.db")
shop.execute("CREATE TABLE coins (grant_id TEXT PRIMARY KEY, account TEXT, n INTEGER)")
shop.commit()
# SNIPPET
paid = shop.execute("SELECT count(*) FROM coins").fetchone()[0]
assert paid in (0, 1, 2), paid
assert SQLite("./shop.db").engine == "sqlite"
