"""Prepare a stage with evidence, minted once by a test authority and kept in build/."""

import base64
import hashlib
import json
import pathlib
import subprocess
import time

import stage as stages
from stage import BEGIN, LIMITS, SIGNUP_LIMIT

KEPT = pathlib.Path(__file__).resolve().parent.parent.parent / "build/store-evidence"
COUNTERS = 40
CLIENT_DATA = "a request"


def stage(purchases, lines, swept=0, periods=0, refunded=0, keys=6):
    """Return purchases, subscriptions and device keys with minted evidence."""
    sizes = (purchases, lines, swept, periods, refunded)
    path = KEPT / "-".join(map(str, (*sizes, keys, f"{hash_of_sources()}.json")))
    if path.exists():
        made = json.loads(path.read_text())
        made["origin"] = time.monotonic_ns()
        return made
    from assay_testing import Authority

    authority = Authority(now=BEGIN)
    made = stages.stage(
        *sizes,
        mint=lambda kind, **options: authority.transaction(**options),
        config=configuration(authority), keys=[device(authority, at) for at in range(keys)])
    KEPT.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".new")
    part.write_text(json.dumps(made))
    part.rename(path)
    made["origin"] = time.monotonic_ns()
    return made


def hash_of_sources():
    """Return a digest that changes if the minted evidence may change."""
    here = pathlib.Path(__file__).resolve().parent
    texts = [(here / name).read_bytes() for name in ("evidence.py", "stage.py")]
    return hashlib.sha256(b"".join(texts)).hexdigest()[:12]


def configuration(authority):
    """Return the configuration of all processes; the URL adds the engine. Time limits are long,
    because on a busy machine the double of DynamoDB needs seconds for one exchange."""
    return {**authority.config, "quotas": LIMITS, "ledger": {
        "challengeTtlMs": stages.CHALLENGE_TTL, "signup": {"limit": SIGNUP_LIMIT},
        "statementMs": 20000, "requestMs": 60000}}


def device(authority, at):
    """Make a new device key: its attestation, and an assertion for each counter."""
    private = subprocess.run(
        "openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt",
        shell=True, check=True, capture_output=True).stdout
    (authority.folder / "attest-device-key.pem").write_bytes(private)
    der = subprocess.run(["openssl", "pkey", "-pubout", "-outform", "DER"], input=private,
                         check=True, capture_output=True).stdout
    point = der[-65:]
    found = {
        "key": f"k{at}", "accounts": stages.accounts(at, 2), "clientData": CLIENT_DATA,
        "keyId": base64.b64encode(hashlib.sha256(point).digest()).decode(),
        "public": base64.b64encode(point).decode(), "counters": list(range(1, COUNTERS + 1)),
        "attestation": text(authority.attestation(CLIENT_DATA).object)}
    found["assertions"] = [text(authority.assertion(CLIENT_DATA, counter).object)
                           for counter in found["counters"]]
    return found


def text(octets):
    return base64.b64encode(octets).decode()
