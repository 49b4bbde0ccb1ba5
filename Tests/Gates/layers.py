#!/usr/bin/env python3
"""Check that each layer, a folder of Sources/Assay, type-checks with only the layers below.

  layers.py [--suite NAME] [--sources DIRECTORY --table FILE --types FILE] [FLOOR …]

The order of the layers is that of the table in docs/architecture.md, from the bottom up. A file
contains one type, of its own name, not counting private ones; types.tsv lists the exceptions with
reasons. With FLOOR only these layers are type-checked.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess

from project import ROOT
from report import Suite

HERE = pathlib.Path(__file__).resolve().parent
TABLE = ROOT / "docs" / "architecture.md"
REASONS = HERE / "types.tsv"
# The flags of Package.swift and the Makefile. The frontend is called without its driver: it reads
# only declarations of the layers below, so that each body is checked only once.
COMMAND = ["swiftc", "-frontend", "-typecheck", "-swift-version", "6",
           "-strict-memory-safety", "-warnings-as-errors", "-parse-as-library", "-module-name", "Assay",
           "-I", str(ROOT / "Sources" / "CLibCrypto")]
# Matches a type that other files see. The formatter keeps such declarations at the start of a line.
TYPE = re.compile(r"^(?!.*\b(?:file)?private\b)(?:[@\w()]+ )*(?:struct|enum|class|protocol|typealias|actor) (\w+)",
                  re.M)
ERROR = re.compile(r"^(\S+\.swift):\d+:\d+: error: .*", re.M)
SHOWN = 20


def floors(text):
    """Return the layers in the order of the table; a nested folder comes before its parent."""
    return re.findall(r"^\| `Sources/Assay/([\w/]+)` \|", text, re.M)


def sources(folder):
    return sorted(folder.rglob("*.swift"))


def errors_of(folder, names):
    """Return the compiler's errors in the last layer on top of the others; empty if it compiles."""
    below = dict.fromkeys(path for name in names[:-1] for path in sources(folder / name))
    files = [str(path) for path in below]
    for path in sources(folder / names[-1]):
        files += ["-primary-file", str(path)] if path not in below else []
    result = subprocess.run([*COMMAND, *files], text=True, capture_output=True)
    if result.returncode == 0:
        return []
    said = [found[0] for found in ERROR.finditer(result.stderr)]
    return list(dict.fromkeys(said)) or [result.stderr[-1000:] or "no message"]


def check_floors(suite, folder, order, chosen):
    stacks = [order[:place + 1] for place, name in enumerate(order)
              if not chosen or name in chosen]
    # Starts with the highest layers, which take longest.
    stacks.reverse()
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = pool.map(lambda names: errors_of(folder, names), stacks)
        for names, said in zip(stacks, found):
            shown = [line.replace(str(folder) + "/", "") for line in said[:SHOWN]]
            more = [f"and {len(said) - SHOWN} more"] if len(said) > SHOWN else []
            suite.expect(not said, f"{names[-1]} uses only the floors below it",
                         "\n  ".join(["", *shown, *more]))


def reasons(text):
    """Return {file without .swift: reason}; exit if a file is listed twice."""
    known = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        why, files = line.split("\t")
        for file in files.split():
            if file in known:
                raise SystemExit(f"types.tsv names {file} twice")
            known[file] = why
    return known


def check_types(suite, folder, known):
    seen = set()
    for path in sources(folder):
        name = str(path.relative_to(folder).with_suffix(""))
        found = TYPE.findall(path.read_text())
        is_single = not found or found == [path.stem]
        seen.add(name)
        if name in known:
            suite.expect(not is_single, f"{name}.swift needs its line in types.tsv")
        else:
            suite.expect(is_single, f"{name}.swift holds one type, of its name",
                         " ".join(found))
    gone = sorted(set(known) - seen)
    suite.expect(not gone, "types.tsv names files that are there", " ".join(gone))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="layers")
    parser.add_argument("--sources", type=pathlib.Path, default=ROOT / "Sources" / "Assay")
    parser.add_argument("--table", type=pathlib.Path, default=TABLE)
    parser.add_argument("--types", type=pathlib.Path, default=REASONS)
    parser.add_argument("floors", nargs="*", metavar="FLOOR")
    options = parser.parse_args()
    suite = Suite(options.suite)
    folder = options.sources.resolve()
    order = floors(options.table.read_text())
    there = sorted({path.relative_to(folder).parts[0] for path in sources(folder)})
    suite.expect(there == sorted(name for name in order if "/" not in name),
                 "the table of docs/architecture.md names every folder once",
                 " ".join(sorted(set(there) ^ {name for name in order if "/" not in name})))
    unknown = set(options.floors) - set(order)
    if unknown:
        parser.error(f"no floor {' '.join(sorted(unknown))}")
    check_types(suite, folder, reasons(options.types.read_text()))
    check_floors(suite, folder, order, options.floors)
    suite.finish()


if __name__ == "__main__":
    main()
