#!/usr/bin/env python3
"""Gate: every build of the library gives the same documents, byte for byte.

  documents.py DUMP CASES LIBRARY-FOLDER LIBRARY-FOLDER...

Runs the program DUMP over the case table with the library of each folder and
compares its lines with those of the first.
"""
import os
import subprocess
import sys

from report import Suite


def lines(program, cases, folder):
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.abspath(folder))
    result = subprocess.run([program, cases], env=environment, capture_output=True)
    if result.returncode != 0:
        sys.stdout.write(result.stderr.decode(errors="replace")[:2000])
    return result.returncode, result.stdout.split(b"\n")


def main():
    program, cases, first, *others = sys.argv[1:]
    suite = Suite("documents")
    code, wanted = lines(program, cases, first)
    suite.expect(code == 0, f"{first} answers", f"exit code {code}")
    again = lines(program, cases, first)[1]
    suite.expect(again == wanted, f"{first} answers the same twice")
    for folder in others:
        code, got = lines(program, cases, folder)
        suite.expect(code == 0, f"{folder} answers", f"exit code {code}")
        suite.expect(len(got) == len(wanted), f"{folder} gives as many lines",
                     f"{len(got)}, not {len(wanted)}")
        for number, (one, other) in enumerate(zip(wanted, got), 1):
            suite.expect(one == other, f"{folder}, line {number}",
                         f"\n  {one[:600]!r}\n  {other[:600]!r}")
    suite.finish()


if __name__ == "__main__":
    main()
