"""Frame of README.md: a purchase, a receipt and an attested request of one app."""
import contextlib
import io
import types

import minted

jws = minted.mint("transaction", "--product", "premium.monthly")
blob = minted.mint("app-receipt", "--product", "premium.monthly", "--purchases", "3")
challenge = body = b"hello"
attestation = minted.mint("attestation", "--client-data", "hello")
signature = minted.mint("assertion", "--client-data", "hello", "--counter", "8")
key_id = minted.device()["keyId"]
record = types.SimpleNamespace(counter=7)
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    # SNIPPET
lines = printed.getvalue().splitlines()
assert lines[0].startswith("premium active "), lines
assert len(lines) == 4
assert all(line.startswith("premium.monthly Production/") for line in lines[1:]), lines
assert finding.format == "app-receipt" and key.key_id == key_id
assert assertion.counter == 8 and risk.verdict in ("limited", "step-up", "deny")
