#!/usr/bin/env python3
"""Check that the manual pages are complete and well-formed.

  manual.py PROGRAM [--suite NAME]

The pages are those of `make manual`, PROGRAM is the command line. mandoc reads each page without a
warning; everything that the program, the header and the table of statuses list is in the pages; the
example in assay(3) compiles.
"""
import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile

from project import HEADER, ROOT, declared_functions
from report import Suite

sys.path.insert(0, str(ROOT))

from tools.contract.reader import Contract

PAGES = [f"build/man/{name}" for name in ("assay.1", "assay.3", "assay-statuses.7")]
# A warning that depends on the manual pages installed on this machine.
NOT_OURS = "referenced manual not found"


def run(*command, **more):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True,
                          cwd=ROOT, **more)


def lint(page):
    found = run("mandoc", "-T", "lint", page).stdout.splitlines()
    return [line for line in found if NOT_OURS not in line]


def rendered(page):
    """Return the words of a page as a reader sees them."""
    text = run("mandoc", "-T", "utf8", "-O", "width=200", page).stdout
    return re.sub(r"\s+", " ", re.sub(".\b", "", text))


def check_lint(suite):
    for page in PAGES:
        lines = lint(page)
        suite.expect(not lines, f"mandoc reads {page} without a word", "; ".join(lines[:10]))
    with tempfile.NamedTemporaryFile("w", suffix=".3") as bad:
        bad.write((ROOT / PAGES[1]).read_text().replace(".El", ".Le", 1))
        bad.flush()
        suite.expect(lint(bad.name), "mandoc sees a page that is not well formed")


def leaves(command, words=()):
    """Return [(words after `assay`, command)] of every command without subcommands."""
    found = []
    for inner in command["subcommands"]:
        path = (*words, inner["commandName"])
        found += leaves(inner, path) if inner["subcommands"] else [(path, inner)]
    return found


def check_program(suite, program):
    page = rendered(PAGES[0])
    dump = json.loads(run(program, "--describe").stdout)
    for words, command in leaves(dump):
        name = " ".join(words)
        suite.expect(f"assay {name}" in page, f"assay(1) has {name}")
        for item in command["arguments"]:
            if item["kind"] != "positional":
                suite.expect(f"--{item['name']}" in page, f"assay(1) has --{item['name']} of {name}")


def check_functions(suite):
    page = rendered(PAGES[1])
    for name in sorted(declared_functions()):
        suite.expect(f"{name}(" in page, f"assay(3) declares {name}")
    for name in re.findall(r"^  (ASSAY_\w+) = ", HEADER.read_text(), re.M):
        suite.expect(name in page, f"assay(3) has {name}")


def check_statuses(suite):
    page = rendered(PAGES[2])
    for row in Contract().statuses:
        place = page.find(f" {row.name} ")
        suite.expect(place >= 0 and f"Code {row.code}," in page[place:place + 1500],
                     f"assay-statuses(7) has {row.name}")


def check_example(suite):
    """Check that the last display of assay(3) compiles unchanged."""
    text = (ROOT / PAGES[1]).read_text()
    display = text.rpartition(".Bd -literal -offset indent\n")[2].partition("\n.Ed")[0]
    with tempfile.NamedTemporaryFile("w", suffix=".3") as page:
        page.write(".Dd November 21, 2026\n.Dt X 3\n.Os\n.Sh NAME\n.Nm x\n.Nd x\n.Sh EXAMPLES\n"
                   f".Bd -literal\n{display}\n.Ed\n")
        page.flush()
        shown = run("mandoc", "-T", "ascii", "-O", "width=200,indent=0", page.name).stdout
    shown = re.sub(".\b", "", shown)
    code = shown[shown.index("/*"):shown.rindex("}") + 1]
    result = run("gcc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                 "-Iinclude", "-x", "c", "-", input=code)
    suite.expect(result.returncode == 0, "the example of assay(3) compiles",
                 result.stderr[:1500])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--suite", default="man")
    options = parser.parse_args()
    suite = Suite(options.suite)
    if shutil.which("mandoc") is None:
        suite.skip("the manual pages", "mandoc is not installed")
        print(f"suite {suite.name}: 0 passed, 0 failed, 1 skipped")
        return
    check_lint(suite)
    check_program(suite, options.program)
    check_functions(suite)
    check_statuses(suite)
    check_example(suite)
    suite.finish()


if __name__ == "__main__":
    main()
