"""Load what `assay migrate --out` wrote into a ledger: each line is one of its operations.

    python3 load.py ledger.ndjson config.json "dynamodb://shop?region=eu-central-1"

The ledger verifies the evidence of a line again. What it refuses, because an account has the
purchase already, stands with its status in ledger.ndjson.refused. Killed, or the database is away:
the same command goes on where it was. A line that is run twice, late, or by two of these programs
at once changes nothing that the first has written.
"""

import hashlib
import itertools
import json
import pathlib
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import assay
from ask import Outcome
from assay.ledger import Ledger

# The lines at once, and those after which the place is noted.
THREADS, CHUNK = 8, 64
# What the ledger has already is no refusal.
PRESENT = ("rejected.purchase.already-granted", "rejected.purchase.revoked")
# The seconds before a line is run again.
WAITS = (0.1, 1, 5)


def configuration(path):
    """Return the configuration as a migration needs it: evidence is old, whose a purchase is
    follows from the rows, and no owner of the ledger loses it."""
    config = json.loads(path.read_text())
    for name, block in config.items():
        if isinstance(block, dict) and name != "attest":
            block.pop("maxAgeMs", None)
    config.setdefault("decision", {})["accountToken"] = "ignored"
    config.setdefault("ledger", {})["transfer"] = "deny"
    return config


def run(ledger, number, line):
    """Run a line. Return what is to be said of it if the ledger refuses it. Raises AssayError if
    the database is away, or the configuration is another than that of the migration."""
    operation, now = line.pop("operation"), line.pop("nowMs")
    evidence = [
        getattr(ledger.verifier, "verify_" + each["kind"].replace("-", "_"))(each["text"], now=now)
        for each in line.pop("evidence")
    ]
    members = {re.sub("[A-Z]", lambda at: "_" + at[0].lower(), name): line[name] for name in line}
    if line.get("grantMode") == "transaction":
        members["grant"] = lambda grant: None  # the shop has delivered
    for wait in (*WAITS, None):
        result = getattr(ledger, operation.replace("-", "_"))(evidence, **members, now=now)
        if result.ok or result.status in PRESENT:
            return []
        try:
            result.raise_for_status()
        except assay.RejectedError:
            break
        except assay.UnavailableError:
            # Another attempt has the purchase and may be at work on it for long.
            if wait is None and not result.status.startswith("unavailable.claim."):
                raise
        time.sleep(wait or 0)
    said = {name: line.get(name) for name in ("account", "transactionIds")}
    return [{"line": number, "operation": operation, **said, "status": result.status}]


def run_all(ledger, chunk, pool):
    """Run some lines, those of one account in their order: of a subscription, the claims of its
    periods come first, then its state. Return what is to be said."""
    of_account = {}
    for number, text in chunk:
        line = json.loads(text)
        of_account.setdefault(line.get("account") or number, []).append((number, line))
    said = pool.map(
        lambda lines: [refused for each in lines for refused in run(ledger, *each)],
        of_account.values(),
    )
    return sorted(itertools.chain.from_iterable(said), key=lambda refused: refused["line"])


def load(path, ledger):
    """Run every line of a file. Return how many have been run."""
    with open(path, "rb") as lines, ThreadPoolExecutor(THREADS) as pool:
        # Another file under the same name has another place.
        first, size = lines.readline().rstrip(b"\n"), path.stat().st_size
        digest = hashlib.sha256(b"%b\n%d" % (first, size)).hexdigest()
        lines.seek(0)
        place = path.with_name(f"{path.name}.loaded-{digest[:16]}")
        with closing(Outcome(place, path.with_name(path.name + ".refused"))) as outcome:
            numbered = itertools.islice(enumerate(lines, 1), outcome.done, None)
            while chunk := list(itertools.islice(numbered, CHUNK)):
                outcome.write(run_all(ledger, chunk, pool), count=len(chunk))
                outcome.note()
            return outcome.done


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    path, config, url = sys.argv[1:]
    with closing(Ledger(url, configuration(pathlib.Path(config)))) as ledger:
        try:
            print(f"loaded {load(pathlib.Path(path), ledger)}")
        except assay.AssayError as refusal:
            sys.exit(f"{refusal}\nthe same command goes on from here")


if __name__ == "__main__":
    main()
