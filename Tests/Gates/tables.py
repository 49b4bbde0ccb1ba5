#!/usr/bin/env python3
"""Check that the reader of the contract refuses a faulty table, with its file and its line.

  tables.py
"""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from project import ROOT
from report import Suite

# (table, text of its first row that is changed, what stands there instead, what is said of it).
# A row that is to stand twice is given as None.
PLANTED = [
    ("statuses.tsv", "\tnever\t", "\tnevr\t", "'nevr' is none of"),
    ("statuses.tsv", "rejected.", "refused.", "'refused' is none of"),
    ("statuses.tsv", "\tnever\t", "\t", "6 columns"),
    ("statuses.tsv", "rejected.", None, "stands twice"),
    ("status-words.tsv", "\t3\t", "\t4\t", "'4' is none of"),
    ("configuration.tsv", "decision\t", "decision.inner\t", "'decision' is none of"),
    ("configuration.tsv", "decision\t", None, "decision stands twice"),
    ("facts.tsv", "\talways\t", "\toften\t", "'often' is none of"),
    ("facts.tsv", "\ttext\talways\t", "\ttxt\talways\t", "'txt' is none of"),
    ("facts.tsv", "\t@\tobject\t", "\t@\tthing\t", "'thing' is none of"),
    ("facts.tsv", "Check\tid\t", None, "id stands twice"),
    ("names.tsv", "Environment\t", None, "Environment stands twice"),
    ("request-classes.tsv", "candidate\t", "candidates\t", "'candidates' is none of"),
    ("kinds.tsv", "\tverifier\tcall\t", "\tverifier\tcalled\t", "'called' is none of"),
    ("kinds.tsv", "claim\t", None, "claim stands twice"),
    ("kinds.tsv", "1…32 purchase", "1…32 purchases", "'purchases' is none of"),
    ("kind-members.tsv", "assess-risk\t", "assess\t", "'assess' is none of"),
    ("kind-members.tsv", "assess-risk\t", None, "observations stands twice"),
    ("appstore/endpoints.tsv", "\tonce\t", "\ttwice\t", "'twice' is none of"),
    ("appstore/endpoints.tsv", "{transactionId}", "{id}", "path of"),
    ("store/tables.tsv", "\ttext\t", "\tstring\t", "'string' is none of"),
    ("store/indexes.tsv", "purchase", "purchases", "is none of"),
    ("store/statements.tsv", "{columns ", "{colums ", "'colums' is none of"),
]


def said(tree):
    """Return what the reader of a tree ends with."""
    return subprocess.run(
        [sys.executable, "-B", "-c", "from contract.reader import Contract; Contract()"],
        cwd=tree / "tools", text=True, capture_output=True).stderr.strip()


def main():
    suite = Suite("tables")
    with tempfile.TemporaryDirectory(prefix="assay-tables-") as folder:
        tree = Path(folder)
        for name in ("contract", "include", "tools/contract"):
            shutil.copytree(ROOT / name, tree / name)
        suite.expect(said(tree) == "", "the tables are read", said(tree))
        for name, before, after, wanted in PLANTED:
            path = tree / "contract" / name
            text = path.read_text()
            lines = text.splitlines()
            at = next(at for at, line in enumerate(lines)
                      if before in line and not line.startswith("#"))
            if after is None:
                lines.insert(at, lines[at])
                at += 1
            else:
                lines[at] = lines[at].replace(before, after, 1)
            path.write_text("\n".join(lines) + "\n")
            found = said(tree)
            suite.expect(found.startswith(f"contract/{name}:{at + 1}: ") and wanted in found,
                         f"{name}: {after or 'a row twice'}", found)
            path.write_text(text)
    suite.finish()


if __name__ == "__main__":
    main()
