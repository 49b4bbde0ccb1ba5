"""Frame of BCK-26: a ledger whose configuration is replaced while it serves."""
import json
import logging
import pathlib

import minted

import assay
from assay.ledger import Ledger, SQLite

logging.disable()
log = logging.getLogger("shop")
for left in pathlib.Path(".").glob("swap.db*"):
    left.unlink()
store = SQLite("./swap.db")
config = json.loads((minted.AUTHORITY / "config.json").read_text())
config["ledger"] = {"engine": "sqlite"}
ledger = Ledger(store, assay.Verifier(config), create=True)
# SNIPPET
jws = minted.mint("transaction", "--product", "coins.christmas", "--type", "consumable")
bought = ledger.verifier.verify_transaction(jws)
assert ledger.claim(bought, "ann").outcome == "unknown-product"
old = ledger
assert not reconfigure('{"apps": []}') and ledger is old
config["products"]["coins.christmas"] = {"type": "consumable"}
assert reconfigure(json.dumps(config)) and ledger is not old
# Evidence of the old ledger is accepted: both trust the same roots.
assert ledger.claim(bought, "ann", grant=lambda grant: None).client_result == "granted"
assert old.verifier.verify_transaction(jws).product_id == "coins.christmas"
