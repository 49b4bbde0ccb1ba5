"""Frame of bindings/python/README.md: a purchase of one app, a shop with a table."""
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
verifier = assay.Verifier({**config, "ledger": {"engine": "sqlite"}})
Ledger("sqlite:///./shop.db", verifier).create_schema()
jws = bought("transaction")
shop = sqlite3.connect("shop.db")
shop.execute("CREATE TABLE coins (grant_id TEXT PRIMARY KEY, account TEXT, n INTEGER)")
shop.commit()
# SNIPPET
paid = shop.execute("SELECT count(*) FROM coins").fetchone()[0]
assert paid == 1, paid
assert SQLite("./shop.db").engine == "sqlite"
