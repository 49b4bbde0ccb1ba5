#!/usr/bin/env python3
"""Write C whose debug information contains the whole interface of include/assay.h.

  tools/abi_stub.py [--header include/assay.h] > stub.c

abidiff compares libraries by their debug information, and libassay.so, written in Swift, has none
that describes C. The stub includes the header and defines each declared function with the header's
own types. For each constant it defines a variable of an enum type whose only enumerator has the
constant's value, so that the compiler evaluates the constant, not this program. Version constants
are left out because they change with each release.
"""
import argparse
import pathlib
import re
import sys

from contract import header
from contract.reader import ROOT


def is_part_of_abi(constant):
    """Whether a constant is part of the ABI; the version constants change with every release."""
    return not constant.name.startswith("ASSAY_VERSION")


def declarator(function):
    """Return the declarator of a function: result type, name and parameters."""
    inside = ", ".join(f"{parameter.type} {parameter.name}"
                       for parameter in function.parameters) or "void"
    return f"{function.result} {function.name}({inside})"


def definition(function):
    used = "".join(f" (void){parameter.name};" for parameter in function.parameters)
    result = "" if function.result == "void" else " return 0;"
    return f"{declarator(function)} {{{used}{result} }}"


def constant(name):
    short = re.sub(r"^ASSAY_", "", name)
    return (f"enum assay_constant_{short} {{ value_of_{name} = {name} }};\n"
            f"ASSAY_API enum assay_constant_{short} assay_has_{name};\n"
            f"enum assay_constant_{short} assay_has_{name} = value_of_{name};")


def stub(text):
    found = header.read(text)
    out = ["/* Written by tools/abi_stub.py: what assay.h promises. */",
           "#include <assay.h>", ""]
    out += [constant(one.name) for one in found.constants if is_part_of_abi(one)]
    out += [definition(function) for function in found.functions]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--header", type=pathlib.Path, default=ROOT / "include/assay.h")
    sys.stdout.write(stub(parser.parse_args().header.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
