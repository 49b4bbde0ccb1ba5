#!/usr/bin/env python3
"""Gate: the typed facts of all languages have the same members.

  facts.py [--suite NAME]

The tables of the Swift layer (Sources/AssaySwift/Tables) are compared with the structs of
Go, the classes of Python and those of PHP: for each type that a language has, the names of
the members in the JSON. A table with a member less must be seen.
"""
import argparse
import re
import sys

from contract import ROOT
from report import Suite

sys.path.append(str(ROOT / "tools"))

import generate_swift

# What two languages leave to the document and to the JSON of the facts.
UNTYPED = {"warnings", "unknown", "unknownInReceipt"}
PYTHON = r"(?:text|integer|time|boolean|texts|details|details_list|mapping|octets|_numbers|_named)"


def of_swift():
    """{type: its members, those that it takes over included}."""
    types = {one.name: one for one in generate_swift.read_facts()}
    return {name: {member.key for base in [*one.bases, name] for member in types[base].own
                   if member.place != "beside"} for name, one in types.items()}


def whole(own, bases):
    """The members of each type with those of its bases."""
    def members(name):
        return own.get(name, set()).union(*(members(base) for base in bases.get(name, [])))
    return {name: members(name) for name in own}


def of_go():
    own, bases = {}, {}
    for path in sorted((ROOT / "bindings/go").glob("*.go")):
        if path.name.endswith("_test.go"):
            continue
        for name, body in re.findall(r"type (\w+) struct \{\n(.*?)\n\}", path.read_text(), re.S):
            own[name] = set(re.findall(r'`(?:json|signed):"(\w+)"`', body))
            bases[name] = re.findall(r"^\t([A-Z]\w+)$", body, re.M)
    return whole(own, bases)


def of_python():
    own, bases = {}, {}
    for name in ("facts", "receipts", "attest", "documents"):
        text = (ROOT / f"bindings/python/assay/{name}.py").read_text()
        for found in re.finditer(r"^class (\w+)(?:\((.*?)\))?:\n(.*?)(?=^\S|\Z)", text, re.M | re.S):
            own[found[1]] = set(re.findall(rf'= {PYTHON}\(\s*"(\w+)"', found[3]))
            own[found[1]] |= set(re.findall(r'inner_(?:text|octets)\("(\w+)"', found[3]))
            own[found[1]] |= {"publicKey"} if "= _key(" in found[3] else set()
            own[found[1]] |= {"challenge"} if "= _challenge(" in found[3] else set()
            # Facts nested in others, and what the status says, are properties.
            own[found[1]] |= {camel(word) for word in re.findall(
                r"@property\n    def (entitled|transaction|renewal|app_transaction)\(", found[3])}
            bases[found[1]] = re.findall(r"\w+", found[2] or "")
    return whole(own, bases)


def of_php():
    own, bases = {}, {}
    for path in sorted((ROOT / "bindings/php/src/Facts").glob("*.php")):
        text = path.read_text()
        own[path.stem] = set(re.findall(r"=> \[\s*Member::\w+(?: \| Member::SIGNED)?,\s*'(\w+)'", text))
        bases[path.stem] = re.findall(r"class \w+ extends (\w+)", text)
    return whole(own, bases)


def camel(words):
    first, *more = words.split("_")
    return first + "".join(word.capitalize() for word in more)


def differences(table, other, untyped):
    """"Type.member" that one of them has alone, in the types that both have."""
    return sorted(f"{name}.{member}" for name in table.keys() & other.keys()
                  if other[name] for member in (table[name] ^ other[name]) - untyped)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="facts")
    options = parser.parse_args()
    suite = Suite(options.suite)
    table = of_swift()
    for language, other, few, untyped in [
            ("Go", of_go(), 40, set()), ("Python", of_python(), 30, UNTYPED),
            ("PHP", of_php(), 30, UNTYPED | {"claimed"})]:
        shared = [name for name in table.keys() & other.keys() if other[name]]
        suite.expect(len(shared) >= few, f"the types of {language} are found",
                     f"{len(shared)}: {' '.join(sorted(shared))}")
        found = differences(table, other, untyped)
        suite.expect(not found, f"Swift and {language} have the same members", " ".join(found))
        less = {**table, "Transaction": table["Transaction"] - {"productId"}}
        suite.expect("Transaction.productId" in differences(less, other, untyped),
                     f"a member less than {language} has is seen")
    suite.finish()


if __name__ == "__main__":
    main()
