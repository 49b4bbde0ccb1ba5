#!/usr/bin/env python3
"""Gate: a status keeps its number and its name, and no number is used again.

  statuses.py            judge Sources/Assay/Verdict/statuses.tsv
  statuses.py --write    add what is new there to the baseline

The baseline, statuses.baseline.tsv, has family, detail and name of every status that
there has ever been. Programs store the numbers and branch on the names: lines are added to
it, never changed and never removed.
"""
import pathlib
import shutil
import subprocess
import sys

from contract import ROOT
from report import Suite

sys.path.insert(0, str(ROOT / "tools"))

import status_rows

BASELINE = pathlib.Path(__file__).resolve().with_name("statuses.baseline.tsv")
HEAD = "# family, detail, name: added by Tests/Gates/statuses.py --write, never changed.\n"


def read(text):
    """{(family, detail): name}; a line that appears twice is a fault of the baseline."""
    found = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        family, detail, name = line.split("\t")
        number = int(family), int(detail)
        if number in found or name in found.values():
            sys.exit(f"{BASELINE.name}: {line!r} appears twice")
        found[number] = name
    return found


def broken(table, baseline):
    """What the table does to names and numbers already in use."""
    numbers = {name: number for number, name in baseline.items()}
    for number, name in baseline.items():
        there = table.get(number)
        if there is None:
            yield f"{number} {name} is taken away"
        elif there != name:
            yield f"{number} was {name} and is {there}: a detail is never used again"
    for number, name in table.items():
        if numbers.get(name, number) != number:
            yield f"{name} was {numbers[name]} and is {number}"


def new(table, baseline):
    return {number: name for number, name in table.items()
            if number not in baseline and name not in baseline.values()}


def written(baseline):
    return HEAD + "".join(f"{family}\t{detail}\t{name}\n"
                          for (family, detail), name in sorted(baseline.items()))


def taken_away():
    """Lines that some commit, or the work tree, took out of the baseline."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        return None
    path = str(BASELINE.relative_to(ROOT))
    kept = read(BASELINE.read_text())
    gone = []
    for words in (["log", "-p", "--format="], ["diff", "HEAD"]):
        report = subprocess.run(["git", *words, "--", path], cwd=ROOT, text=True,
                                capture_output=True)
        if report.returncode:
            return None
        for line in report.stdout.splitlines():
            if line.startswith("-") and line[1:2].isdigit():
                family, detail, name = line[1:].split("\t")
                if kept.get((int(family), int(detail))) != name:
                    gone.append(line[1:])
    return gone


def check_itself(suite, table):
    """Tables that each change one thing: each must be refused."""
    (first, name), (second, other) = list(table.items())[1:3]
    free = (first[0], 1 + max(detail for family, detail in table if family == first[0]))
    rest = {number: word for number, word in table.items() if number != first}
    for what, changed in [
        ("a status is taken away", rest),
        ("a status has another name", {**table, first: name + "-x"}),
        ("a status has another number", {**rest, free: name}),
        ("two statuses change places", {**table, first: other, second: name}),
        ("a detail is used again", {**rest, first: "rejected.other.thing"}),
    ]:
        suite.expect(list(broken(changed, table)), f"refused: {what}")
    suite.expect(not list(broken({**table, free: "rejected.other.thing"}, table)),
                 "a new status breaks nothing")
    suite.expect(new({**table, free: "rejected.other.thing"}, table)
                 == {free: "rejected.other.thing"}, "a new status is seen")
    suite.expect(read(written(table)) == table, "what is written is read again")


def main():
    table = {(row.family, row.detail): row.name for row in status_rows.rows()}
    baseline = read(BASELINE.read_text()) if BASELINE.exists() else {}
    faults = list(broken(table, baseline))
    if sys.argv[1:] == ["--write"]:
        if faults:
            sys.exit("\n".join(faults))
        BASELINE.write_text(written({**baseline, **new(table, baseline)}))
        return
    suite = Suite("statuses")
    for fault in faults:
        suite.expect(False, "the table keeps the baseline", fault)
    for number, name in new(table, baseline).items():
        suite.expect(False, f"{number} {name} is in the baseline",
                     "Tests/Gates/statuses.py --write adds it")
    for _ in range(len(table) - len(faults)):
        suite.expect(True, "a status is what it was")
    gone = taken_away()
    if gone is None:
        suite.skip("the history of the baseline", "no repository here")
    else:
        suite.expect(not gone, "no commit took a line out of the baseline", "; ".join(gone))
    check_itself(suite, table)
    suite.finish()


if __name__ == "__main__":
    main()
