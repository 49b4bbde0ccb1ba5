"""Frame of docs/tasks/run-exchange.md: an issuer whose key set the cache has."""
import json
import time

import minted

import assay

text = minted.mint("token", "--subject", "account-1")
keyset = json.loads(minted.mint("keyset"))
issuer, now = keyset["issuer"], int(time.time()) * 1000
config = json.loads((minted.AUTHORITY / "config.json").read_text())
config["tokens"] = json.loads((minted.AUTHORITY / "tokens.json").read_text())
verifier = assay.Verifier(config)
cache = {issuer: json.dumps(
    {"keyset": json.dumps({**keyset, "fetchedAtMs": now}), "state": {"fetchedAtMs": now}})}
# SNIPPET
assert token.subject == "account-1"
