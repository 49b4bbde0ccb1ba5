#!/usr/bin/env python3
"""Check that every build of the library returns the same documents, byte for byte.

  documents.py DUMP CASES LIBRARY-FOLDER... [--other COMMAND] [--suite NAME]

Runs the program DUMP over the case table with the library of each folder and compares the output
with that of the first. COMMAND is the same program for another machine, with its emulator and its
library.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys

from report import Suite


def lines(command, cases, folder=None):
    """Return the exit code and the lines of one run."""
    environment = dict(os.environ)
    if folder:
        environment["LD_LIBRARY_PATH"] = os.path.abspath(folder)
    result = subprocess.run([*command, cases], env=environment, capture_output=True)
    if result.returncode != 0:
        sys.stdout.write(result.stderr.decode(errors="replace")[:2000])
    return result.returncode, result.stdout.split(b"\n")


def read(program, cases, folder):
    """Yield the documents that the library in a folder returns, case by case."""
    code, answered = lines([program], cases, folder)
    if code:
        sys.exit(f"{program} does not come to its end")
    text = b"\n".join(answered).decode(errors="replace")
    decoder, head, at = json.JSONDecoder(), re.compile(r"[^\t\n]+\t-?\d+\t(?=\{)"), 0
    # A signed payload may contain a line end, so a document does not end with its line.
    while found := head.search(text, at):
        value, at = decoder.raw_decode(text, found.end())
        yield value


def compare(suite, name, answer, wanted):
    code, got = answer
    suite.expect(code == 0, f"{name} answers", f"exit code {code}")
    suite.expect(len(got) == len(wanted), f"{name} gives as many lines",
                 f"{len(got)}, not {len(wanted)}")
    for number, (one, other) in enumerate(zip(wanted, got), 1):
        suite.expect(one == other, f"{name}, line {number}",
                     f"\n  {one[:600]!r}\n  {other[:600]!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("cases")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--other", metavar="COMMAND", type=shlex.split)
    parser.add_argument("--suite", default="documents")
    options = parser.parse_args()
    first, *others = options.folders
    suite = Suite(options.suite)
    code, wanted = lines([options.program], options.cases, first)
    suite.expect(code == 0, f"{first} answers", f"exit code {code}")
    if options.other:
        compare(suite, "the other machine", lines(options.other, options.cases), wanted)
    # With several builds, the first one runs again too: it must return the same documents twice.
    for folder in options.folders if others else ():
        compare(suite, folder, lines([options.program], options.cases, folder), wanted)
    suite.finish()


if __name__ == "__main__":
    main()
