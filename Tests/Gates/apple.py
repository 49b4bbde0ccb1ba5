#!/usr/bin/env python3
"""Compare the contract with Apple's own library for servers, whose sources are read and not run.

  apple.py [--library FOLDER] [--show]

What Apple has and the contract lacks is a finding: an endpoint, an error number, a signature, a
set of values or a value of one, a member of a request, of an answer or of signed JSON. apple.tsv
has those that are planned; any other fails, and so does a row of it that matches none. `--show`
prints all of them. The library is the one that `make tools` installs.
"""
import argparse
import ast
import fnmatch
import pathlib
import re

import python_tools
from project import ROOT
from report import Suite
from tools.contract.reader import Contract

PLANNED = pathlib.Path(__file__).with_suffix(".tsv")
SOURCES = ROOT / "Sources/Assay"
# Apple's name of a set of values and the contract's, where they differ.
SETS = {"Type": "ProductType", "InAppOwnershipType": "OwnershipType", "Order": "SortOrder",
        "NotificationTypeV2": "NotificationType", "PurchasePlatform": "Platform",
        "Platform": "ConsumptionPlatform", "Status": "SubscriptionStatus",
        "AdvancedCommercePriceIncreaseInfoStatus": "AdvancedCommercePriceIncreaseStatus",
        "RenewalBillingPlanType": "BillingPlanType", "ProductType": "ProductTypeFilter",
        "LifetimeDollarsPurchased": "LifetimeDollars", "LifetimeDollarsRefunded": "LifetimeDollars"}
# The classes of signed JSON; all others are requests and answers.
SIGNED = re.compile(
    r"DecodedPayload$|^(App(Transaction|Data)|Data|Summary|ExternalPurchaseToken|Decoded\w+|\w+"
    r"CommitmentInfo)$|^AdvancedCommerce(Transaction|Renewal|Refund$|Descr|Offer$|PriceIncrease)")


def read(path):
    return path.read_text(encoding="utf-8")


def find_library():
    """Return the folder of Apple's package among the tools; None if it is not installed."""
    bin_, _ = python_tools.installed()
    found = list(bin_.parent.glob("lib/python*/site-packages/appstoreserverlibrary")) if bin_ else []
    return found[0] if found else None


def read_classes(text):
    """Yield name, whether it is a set of values, constants and annotated members of each class."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            values = {each.targets[0].id: each.value.value for each in node.body
                      if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant)
                      and isinstance(each.targets[0], ast.Name)}
            members = [each.target.id for each in node.body if isinstance(each, ast.AnnAssign)]
            yield node.name, any("Enum" in ast.unparse(base) for base in node.bases), values, members


def read_text(node):
    """Return the text of an expression, with {} for each part that is not a constant."""
    if isinstance(node, ast.BinOp):
        return read_text(node.left) + read_text(node.right)
    node = getattr(getattr(node, "func", None), "value", node)  # "…".format(…)
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}"
                   for part in getattr(node, "values", [node]))


def read_endpoints(text):
    """Yield method and path of each call; a path whose version is a parameter, in each version."""
    for call in ast.walk(ast.parse(text)):
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "_make_request":
            path = read_text(call.args[0])
            for version in re.findall(r'= "(v\d)"', text) if "/inApps/{}/" in path else [""]:
                yield read_text(call.args[1]), path.replace("/inApps/{}/", f"/inApps/{version}/")


class Ours:
    """What the contract and the library have."""

    def __init__(self, contract):
        self.endpoints = {(kind.method, re.sub(r"\{\w+\}", "{}", kind.path))
                          for kind in contract.app_store_kinds}
        self.errors = dict(contract.app_store_errors)
        self.sets = {each.name: {value for _, value in each.values}
                     for each in contract.all_value_sets}
        near = [read(path) for folder in ("AppStore", "Sign")
                for path in (SOURCES / "Exchange" / folder).glob("*.swift")]
        self.unsigned = {word for text in near for word in re.findall(r'"(\w+)"', text)}
        self.unsigned |= {part for kind in contract.app_store_kinds for each in kind.members
                          for part in each.name.split(".")}
        self.signed = set(re.findall(
            r'"(\w+)"', read(SOURCES / "Evidence/StoreKit/StoreKitMembers.swift")))
        self.texts = {text for path in SOURCES.rglob("*.swift")
                      for text in re.findall(r'"([^"\\\n]+)"', read(path))}


def squeeze(name):
    return re.sub(r"error$", "", name.replace("_", "").lower())


def compare(ours, apple):
    client = read(apple / "api_client.py")
    for method, path in set(read_endpoints(client)) - ours.endpoints:
        yield f"endpoint {method} {path}"
    errors = next(values for name, _, values, _ in read_classes(client) if name == "APIError")
    for label, number in errors.items():
        if squeeze(ours.errors.get(str(number), "")) != squeeze(label):
            yield f"error {number} {label}"
    for audience in re.findall(r'audience="([\w-]+)"', read(apple / "jws_signature_creator.py")):
        if audience not in ours.texts:
            yield f"signature {audience}"
    for path in (apple / "models").glob("*.py"):
        for name, is_set, values, members in read_classes(read(path)):
            if not is_set:
                yield from compare_members(ours, name, members)
            elif values:
                yield from compare_set(ours, name, values)


def compare_set(ours, name, values):
    known = ours.sets.get(SETS.get(name, name))
    if known is None:
        yield f"set {name}"
    else:
        yield from (f"value {name}.{value}" for value in map(str, values.values())
                    if value not in known)


def compare_members(ours, name, members):
    known = ours.signed | (set() if SIGNED.search(name) else ours.unsigned)
    for member in members:
        if not member.startswith("raw") and not {member, member.removesuffix("s")} & known:
            yield f"member {name}.{member}"


def read_planned():
    """Return the patterns of apple.tsv."""
    return [line.split("\t")[0] for line in read(PLANNED).splitlines() if line[:1] not in "#"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=pathlib.Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    suite = Suite("apple")
    apple = options.library or find_library()
    if apple is None:
        suite.skip("Apple's library", "it is not installed (make tools)")
        suite.finish()
        return
    contract = Contract()
    found, planned = set(compare(Ours(contract), apple)), read_planned()
    if options.show:
        print(*sorted(found), sep="\n")
    strange = [each for each in sorted(found)
               if not any(fnmatch.fnmatchcase(each, row) for row in planned)]
    suite.expect(not strange, "the contract has what Apple's library has", "; ".join(strange))
    built = [row for row in planned if not fnmatch.filter(found, row)]
    suite.expect(not built, "apple.tsv lists nothing that the contract has", "; ".join(built))
    for what, change in [
            ("an endpoint",
             lambda ours: ours.endpoints.discard(("POST", "/inApps/v1/notifications/test"))),
            ("an error number", lambda ours: ours.errors.pop("4040010")),
            ("a signature", lambda ours: ours.texts.discard("promotional-offer")),
            ("a set of values", lambda ours: ours.sets.pop("OfferType")),
            ("a value of a set", lambda ours: ours.sets["NotificationType"].discard("TEST")),
            ("a signed member", lambda ours: ours.signed.discard("webOrderLineItemId")),
            ("a member of an answer", lambda ours: ours.unsigned.discard("testNotificationToken"))]:
        faulty = Ours(contract)
        change(faulty)
        more = set(compare(faulty, apple)) - found
        suite.expect(more, f"{what} less is seen")
    suite.finish()


if __name__ == "__main__":
    main()
