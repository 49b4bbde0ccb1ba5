#!/usr/bin/env python3
"""Write the list of functions that a first verification runs.

  order.py --programs FOLDER --out FILE LIBRARY...

FOLDER holds the benchmarks' `mint` and `fresh`; each LIBRARY is an unstripped
libassay.so. valgrind counts what `fresh` calls inside each of them; FILE gets
the union of the names, sorted, one per line, as `ld.lld
--symbol-ordering-file` reads it. A name that a later link does not have is
skipped there, so that an old list costs memory and nothing else.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

# callgrind's "fn=(12) name": the name is at the number's first mention.
MENTION = re.compile(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?$")


def functions(profile, library):
    """The names of the library's functions in a callgrind profile."""
    known = {"ob": {}, "fn": {}}
    where, found = None, set()
    for line in profile.splitlines():
        mention = MENTION.match(line)
        if not mention:
            continue
        called, kind, number, name = mention.groups()
        if name is not None:
            known[kind][number] = name
        if called:
            continue
        if kind == "ob":
            where = known["ob"].get(number)
        elif where == library:
            # A recursion level follows a quote; an unnamed address is not a symbol.
            found.add(known["fn"].get(number, "").split("'")[0])
    return {name for name in found if name and not name.startswith("0x")}


def traced(library, programs, evidence, folder):
    """What loading the library and verifying once runs of it."""
    out = folder / "profile"
    subprocess.run(
        [
            "valgrind",
            "--quiet",
            "--tool=callgrind",
            "--demangle=no",
            f"--callgrind-out-file={out}",
            programs / "fresh",
            library,
            evidence,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return functions(out.read_text(), str(library))


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--programs", type=pathlib.Path, required=True)
    options.add_argument("--out", type=pathlib.Path, required=True)
    options.add_argument("libraries", type=pathlib.Path, nargs="+")
    given = options.parse_args()
    names = set()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        evidence = folder / "evidence"
        evidence.mkdir()
        subprocess.run([given.programs / "mint", evidence], check=True)
        for library in given.libraries:
            found = traced(library.resolve(), given.programs, evidence, folder)
            if not found:
                sys.exit(f"order: no function of {library} was seen: is it stripped?")
            print(f"{library}: {len(found)} functions")
            names |= found
    given.out.write_text("".join(f"{name}\n" for name in sorted(names)))
    print(f"{given.out}: {len(names)} functions")


main()
