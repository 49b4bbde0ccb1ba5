#!/usr/bin/env python3
"""Compare the C interface in include/assay.h with the stored baseline.

  tools/abi.py                     exit 1 when the header breaks the baseline
  tools/abi.py --write             make the current header the baseline
  tools/abi.py --header FILE       check another header

The baseline, packaging/abi/assay.abi, is abidw's description of a stub. While ASSAY_ABI keeps its
number, only additions to the header pass.

abidiff compares libraries by their debug information, and libassay.so, written in Swift, has none
that describes C. The stub includes the header and defines each declared function with the header's
own types. For each constant it defines a variable of an enum type whose only enumerator has the
constant's value, so that the compiler evaluates the constant, not this program. Version constants
are left out because they change with each release.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from contract import header
from contract.reader import ROOT

BASELINE = ROOT / "packaging/abi/assay.abi"
MAP = ROOT / "Sources/AssayABI/Link/assay.map"
# Leaves out paths and line numbers and identifies types by their content, so that the baseline
# changes only with the interface.
QUIET = ["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed",
         "--type-id-style", "hash"]
STRICT = ["--harmless", "--redundant", "--no-show-locs"]
REFRESH = ("When that is meant: tools/abi.py --write, commit packaging/abi/assay.abi and say "
           "so in CHANGELOG.md.")


def function(one):
    """Return the definition of a function that does nothing."""
    inside = ", ".join(f"{each.type} {each.name}" for each in one.parameters) or "void"
    used = "".join(f" (void){each.name};" for each in one.parameters)
    result = "" if one.result == "void" else " return 0;"
    return f"{one.result} {one.name}({inside}) {{{used}{result} }}"


def constant(name):
    short = name.removeprefix("ASSAY_")
    return (f"enum assay_constant_{short} {{ value_of_{name} = {name} }};\n"
            f"ASSAY_API enum assay_constant_{short} assay_has_{name};\n"
            f"enum assay_constant_{short} assay_has_{name} = value_of_{name};")


def stub(text):
    """Return C whose debug information contains the whole interface of a header."""
    found = header.read(text)
    return "\n".join([
        "/* Written by tools/abi.py: what assay.h promises. */", "#include <assay.h>", "",
        *(constant(each.name) for each in found.constants
          if not each.name.startswith("ASSAY_VERSION")),
        *map(function, found.functions), ""])


def described(text, folder):
    """Return abidw's description of a header, given as text."""
    (folder / "assay.h").write_text(text)
    (folder / "stub.c").write_text(stub(text))
    library = folder / "libassay.so"
    # The stub also exports a variable for each constant; the symbol version is the library's.
    node = re.search(r"^(ASSAY_\d+) {", MAP.read_text(), re.M)[1]
    (folder / "stub.map").write_text(f"{node} {{ global: assay_*; local: *; }};\n")
    # gnu99 accepts enumerators beyond the range of int, which some constants need.
    subprocess.run(["gcc", "-std=gnu99", "-g", "-O0", "-shared", "-fPIC", "-w",
                    "-fno-eliminate-unused-debug-types", "-I", ".", "stub.c",
                    "-o", library.name, "-Wl,--version-script=stub.map"], check=True, cwd=folder)
    found = subprocess.run(["abidw", *QUIET, library.name], check=True, text=True,
                           capture_output=True, cwd=folder)
    return found.stdout


def difference(before, after, *flags):
    """Return whether abidiff reports a difference, and its report."""
    result = subprocess.run(["abidiff", *STRICT, *flags, before, after], text=True,
                            capture_output=True)
    if result.returncode & 3:  # abidiff itself failed
        sys.exit(f"abidiff: {result.stderr or result.stdout}")
    return result.returncode != 0, result.stdout


def judged(text):
    """Return (exit code, message) of comparing a header with the baseline."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        now = folder / "now.abi"
        now.write_text(described(text, folder))
        broken, report = difference(BASELINE, now, "--no-added-syms")
        if broken:
            return 1, (f"{report}\nassay.h breaks programs that were built with the baseline. "
                       f"A change like this needs a new ASSAY_ABI. {REFRESH}")
        added, report = difference(BASELINE, now)
        if added:
            return 0, f"{report}\nassay.h only adds to the baseline. {REFRESH}"
        return 0, "assay.h is what the baseline says"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--header", type=pathlib.Path, default=ROOT / "include/assay.h")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    for program in ("gcc", "abidw", "abidiff"):
        if shutil.which(program) is None:
            sys.exit(f"abi: {program} is not installed (Debian: abigail-tools)")
    text = options.header.read_text()
    if options.write:
        with tempfile.TemporaryDirectory() as name:
            BASELINE.write_text(described(text, pathlib.Path(name)))
        print(f"wrote {BASELINE}")
        return 0
    code, said = judged(text)
    print(said)
    return code


if __name__ == "__main__":
    sys.exit(main())
