#!/usr/bin/env python3
"""Check that a status keeps its number and its name, and that no number is used again.

  statuses.py            check contract/statuses.tsv
  statuses.py --write    freeze what is new there

Programs store the numbers and branch on the names. contract/frozen.tsv has for each family its last
detail, and the SHA-256 of the lines "detail, tab, name" up to that detail: changing, moving or
removing one of them, or leaving a gap, changes the digest.
"""
import hashlib
import sys

from project import ROOT
from report import Suite

sys.path.insert(0, str(ROOT))

from tools.contract.reader import Contract

FROZEN = ROOT / "contract/frozen.tsv"
HEAD = "# Written by Tests/Gates/statuses.py --write: family, through, sha256.\n"


def tables():
    """Return {family: {detail: name}} of the statuses and of reserved names."""
    contract = Contract()
    found = {family.name: {} for family in contract.words.families[1:]}
    for row in contract.all_statuses:
        found[row.name.partition(".")[0]][row.detail] = row.name
    return found


def digest(names, through):
    """Return the digest of the names up to a detail; None if a detail has no name."""
    lines = [f"{detail}\t{names[detail]}\n" for detail in range(1, through + 1) if detail in names]
    return hashlib.sha256("".join(lines).encode()).hexdigest() if len(lines) == through else None


def frozen():
    """Return {family: (last detail, SHA-256)}."""
    lines = [line.split("\t") for line in FROZEN.read_text().splitlines()
             if not line.startswith("#")]
    return {family: (int(through), kept) for family, through, kept in lines}


def faults(found, kept):
    """Yield changes to frozen names and numbers, and statuses that are not frozen yet."""
    for family, names in found.items():
        through, wanted = kept.get(family, (0, digest({}, 0)))
        if digest(names, through) != wanted:
            yield f"{family}: a status up to detail {through} has another number or name, or is gone"
        elif set(names) != set(range(1, len(names) + 1)):
            yield f"{family}: its details have a hole"
        elif through < len(names):
            yield f"{family}: {names[len(names)]} is new: Tests/Gates/statuses.py --write freezes it"


def written(found):
    return {family: (len(names), digest(names, len(names))) for family, names in found.items()}


def check_itself(suite, found):
    """Check that tables with one change each are refused."""
    kept, names = written(found), found["rejected"]
    last = len(names)
    for what, changed in [
        ("a status is taken away", {k: v for k, v in names.items() if k != 7}),
        ("the last status is taken away", {k: v for k, v in names.items() if k != last}),
        ("a status has another name", {**names, 7: names[7] + "-x"}),
        ("two statuses change places", {**names, 7: names[8], 8: names[7]}),
        ("a detail is left out", {**names, last + 2: "rejected.other.thing"}),
        ("a new status is not frozen", {**names, last + 1: "rejected.other.thing"}),
    ]:
        suite.expect(len(list(faults({**found, "rejected": changed}, kept))) == 1,
                     f"refused: {what}")


def main():
    found, kept = tables(), frozen()
    wrong = list(faults(found, kept))
    if sys.argv[1:] == ["--write"]:
        wrong = [fault for fault in wrong if not fault.endswith("freezes it")]
        if wrong:
            sys.exit("\n".join(wrong))
        FROZEN.write_text(HEAD + "".join(f"{family}\t{through}\t{sha256}\n" for
                                         family, (through, sha256) in written(found).items()))
        return
    suite = Suite("statuses")
    for fault in wrong:
        suite.expect(False, "the statuses are what they were", fault)
    for _ in range(sum(map(len, found.values())) - len(wrong)):
        suite.expect(True, "a status is what it was")
    check_itself(suite, found)
    suite.finish()


if __name__ == "__main__":
    main()
