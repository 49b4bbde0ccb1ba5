"""Measure `assay migrate`: rows read and verified, purchases written to SQLite, memory and disk.

  migrations.py FOLDER NANOSECONDS [--quick]

NANOSECONDS is the time of a verification whose chain is known, as `bench` measured it. FOLDER is on
a disk. Prints lines of cells: name, ours, baseline, result.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "Tests/CLI"), str(ROOT / "Tests/Gates")]

from migrate import Stage
from migrate_load import Migration
from report import Suite

# : What a row may take beside the verification (MIG-50).
OWN = 30_000


def mint(stage, path, count):
    """Write rows with a JWS each, a fifth of them twice, and a few with a receipt of 40 purchases;
    return the number of rows."""
    receipts = [stage.mint.run("app-receipt", "--environment", "Production", "--purchases", 40,
                               "--transaction-id", 650_000_000_000_000 + at * 100)
                for at in range(count // 2000)]
    world = stage.world(1, 0, receipts=0)
    lines = [world.row(account=world.account(), evidence=text, granted=True)
             for text in receipts]
    while len(lines) < count:
        lines += world.random.choice([world.consumable, world.subscription])()
    path.write_bytes(b"".join(lines))
    return len(lines)


def main():
    folder, verification = pathlib.Path(sys.argv[1]), float(sys.argv[2])
    count = 4_000 if "--quick" in sys.argv else 40_000
    with tempfile.TemporaryDirectory(prefix="migrate-", dir=folder) as place:
        stage = Stage(Suite("migrate"), ROOT / ".build/release/assay-cli", place)
        rows = mint(stage, stage.folder / "rows.ndjson", count)
        read = {jobs: Migration(stage, f"read{jobs}", ("--dry-run", "--jobs", jobs))
                for jobs in (1, 2)}
        write = Migration(stage, "write", ("--ledger", f"sqlite:{stage.ledger()}", "--jobs", 2))
        if any(run.code != 0 for run in (*read.values(), write)):
            sys.exit(f"assay migrate: {write.log.read_text()}")
        each = read[1].cpu * 1e9 / rows
        print("migrate-read", each, verification, (each - OWN) / verification, sep="\t")
        rates = [rows / read[jobs].phases["read"] for jobs in (2, 1)]
        print("migrate-jobs", rates[0] / rates[1], "", rates[0] / rates[1], sep="\t")
        distinct = stage.report("write")["purchases"]["distinct"]
        seconds = write.phases["write"]
        print("migrate-write", seconds * 1e9 / distinct, "", distinct / seconds, sep="\t")
        print("migrate-memory", write.peak, "", write.peak, sep="\t")
        print("migrate-work", write.work / distinct, "", write.work / distinct, sep="\t")


if __name__ == "__main__":
    main()
