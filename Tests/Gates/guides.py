#!/usr/bin/env python3
"""Check statements in the guides that no code block tests.

  guides.py

Finds promises that have been kept, tables that lack a row, names of statuses that there are not,
and examples that grant nothing to a customer without a row. Checks that README.md has what a reader
looks for in the first minute.
"""
import re
import sys

from project import ROOT
from report import Suite

sys.path.insert(0, str(ROOT))

from tools.contract.reader import Contract  # noqa: E402

GUIDES = [ROOT / "README.md", *sorted(page for page in (ROOT / "docs").rglob("*.md")
                                      if not page.is_relative_to(ROOT / "docs/spec")),
          *sorted((ROOT / "bindings").glob("*/README.md")), ROOT / "examples/README.md"]
# Phrases that promise what the library has had for long.
PROMISES = re.compile(r"(?:in|by) a later version|no call uses (?:it|them) yet|not (?:yet )?built")
# If the customer has no row, such a statement changes nothing and raises no error, but the purchase
# is granted.
PAYS_NOBODY = re.compile(r"UPDATE \w+ SET (\w+) = \1 \+|->increment\(")
# Sources whose comments contain the first example of a ledger, and the shops on frameworks.
EXAMPLES = [ROOT / "bindings/go/ledger/doc.go", ROOT / "bindings/php/src/Ledger/Ledger.php",
            ROOT / "examples/fastapi/shop.py", ROOT / "examples/nethttp/shop.go",
            ROOT / "examples/node-http/shop.mjs",
            ROOT / "examples/laravel/app/Http/Controllers/PurchaseController.php",
            ROOT / "examples/symfony/src/Controller/PurchaseController.php"]


# A status in code, by its family; a file's name is none.
STATUS = re.compile(r"`((?:rejected|malformed|unsupported|too-large|misuse|config|unavailable|internal"
                    r"|pending)\.[a-z-]+\.(?!json`)[a-z0-9-]+)`")


def lines(page, pattern):
    """Return "FILE:LINE: text" of each line that matches."""
    return [f"{page.relative_to(ROOT)}:{number}: {line.strip()}"
            for number, line in enumerate(page.read_text().splitlines(), 1)
            if pattern.search(line)]


def check_statuses_of_verify_receipt(suite):
    """Check that docs/receipts.md has a row for every Apple status that the library knows."""
    source = ROOT / "Sources/Assay/Evidence/VerifyReceipt/AppleReceiptStatus.swift"
    known = {int(number) for number in re.findall(r"\b21\d{3}\b", source.read_text())}
    rows = set()
    for first, last in re.findall(r"^\| (?:0, )?(21\d{3})(?: … (21\d{3})|)[ ,|]",
                                  (ROOT / "docs/receipts.md").read_text(), re.M):
        rows |= set(range(int(first), int(last or first) + 1))
    rows |= {int(number) for row in re.findall(r"^\| ([0-9, ]+) \|",
                                               (ROOT / "docs/receipts.md").read_text(), re.M)
             for number in re.findall(r"21\d{3}", row)}
    suite.expect(known, "statuses of verifyReceipt in the source")
    suite.expect(known <= rows, "VRR-1: docs/receipts.md has each status of Apple's",
                 sorted(known - rows))


def check_names_of_statuses(suite):
    """Check that each status that a guide names is in the table."""
    known = {row.name for row in Contract().statuses}
    for page in GUIDES:
        named = set(STATUS.findall(page.read_text()))
        suite.expect(named <= known, f"{page.relative_to(ROOT)} names statuses that there are",
                     sorted(named - known))


def check_readme(suite):
    """Check the first 60 lines of README.md, the rows of its comparison and its links."""
    text = (ROOT / "README.md").read_text()
    first = "\n".join(text.splitlines()[:60])
    for words in ("| state |", "| systems |", "| size |", "| licence |", "**For**", "**Not for**",
                  "```text output", "| why not |", "| install |", "make demo", "make check"):
        suite.expect(words in first, f"the first 60 lines of README.md have {words}")
    bullets = re.findall(r"^ *[-*] ", text.partition("```")[0], re.M)
    suite.expect(len(bullets) <= 5, "at most five points before the first code", len(bullets))
    rows = text.partition("| why not |")[2].partition("\n\n")[0].count("\n") - 1
    suite.expect(1 <= rows <= 8, "the comparison has at most eight rows", rows)
    links = re.findall(r"(?<!!)\[[^]]+\]\(([^)#]+)[^)]*\)", text)
    suite.expect(len(links) <= 12, "at most twelve links", len(links))
    for link in links:
        suite.expect((ROOT / link).exists(), "a link of README.md leads to a file", link)


def main():
    suite = Suite("guides")
    check_names_of_statuses(suite)
    check_readme(suite)
    for page in GUIDES:
        found = lines(page, PROMISES)
        suite.expect(not found, f"{page.relative_to(ROOT)} promises nothing that is there", found)
    for page in [*GUIDES, *EXAMPLES]:
        found = lines(page, PAYS_NOBODY)
        suite.expect(not found, f"LST-2: {page.relative_to(ROOT)} pays a customer without a row",
                     found)
    check_statuses_of_verify_receipt(suite)
    suite.finish()


if __name__ == "__main__":
    main()
