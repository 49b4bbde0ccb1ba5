#!/usr/bin/env python3
"""Check that the types of every host, and every document, agree with the table of facts.

  facts.py [--dump PROGRAM --cases FILE --library FOLDER] [--suite NAME]

contract/facts.tsv is compared with the structs of Swift and Go and the classes of Python, PHP
and Node.js, as their files have them: the members, and which may be absent. With PROGRAM
(Tests/ABI/dump.c) it is also compared with the documents of all cases: required members are
present, and every member is in the table with its kind. The same holds for the results of a
ledger: each operation has documents, and each of their members, values and outcomes occurs in
one, or UNSEEN has the reason why not. A fault in the table must be found. Every value in
contract/names.tsv must be in the library; all anomalies of triage occur in the documents.
"""
import argparse
import collections
import copy
import json
import re
import sys

from project import ROOT
from report import Suite

sys.path.append(str(ROOT))

import documents
from tools.contract.reader import Contract

CONTRACT = Contract()

# Members without an attribute in hosts that expose the document and the JSON of the facts.
UNTYPED = {"warnings", "unknown", "unknownInReceipt"}
# Swift readers that return an empty list if the member is absent.
LISTS = ("list", "objects", "integers", "texts")
# Members where a document may have a text with a meaning of its own instead of an object or a time.
TEXTS = {("Attestation", "challenge"), ("Assertion", "challenge"),
         ("AppReceipt", "expirationDate")}
# Members of Node.js's types that follow from the status of the document.
FOLLOWING = {("Risk", "allowed"), ("Risk", "status"), ("Risk", "httpStatus"),
             ("Triage", "worthVerifying"), ("Triage", "status"), ("Triage", "httpStatus")}
# The member with the results, as kinds.tsv names it, and the mark of a member beside them.
RESULT, AT_RESULT = "exchange", "@exchange"
BESIDE_RESULT = {"operation", "step", "retry", "sensitivePaths", "reached"}
# Where operations have an object of their own as a result, and which operations.
RESULTS_AT = {}
for _kind in CONTRACT.kinds:
    RESULTS_AT.setdefault(_kind.result.partition("@")[2], set()).add(_kind.name)
# The families of refused requests, which no operation has performed.
BEFORE = ("misuse.", "config.", "internal.")
# Members, values and outcomes of the table that occur in no document of a case, with the reason.
UNSEEN = {
    "CreateSchemaResult.migrated": "the tables of the recorded stores are of this version",
    "StoredEvidence.bundleId": "the recorded evidence has a bundle id",
    "DueSubscription.graceExpiresAtMs": "no recorded exchange has renewal info as evidence",
    "ReportRefundsResult.after": "the recorded ledgers have less than a page of cases",
    "RecordCustomerResult.none": "the recorded app transactions have an appTransactionId",
    "RecordCustomerResult.restriction": "the recorded customers show themselves before consent is "
                                        "withdrawn",
    "CustomerSignals.deviceRisk": "the recorded device keys have no receipt with a metric",
    "DifferenceKind.refund-share-unknown": "the recorded refunds have their shares",
    "RetryReason.busy": "of `wait` steps: these are the last documents",
    "RevokeOutcome.refused": "the ids of the recorded purchases can all be keys",
    "SchemaWarning.no-lineage": "the recorded DynamoDB was made by create-schema",
    "SchemaWarning.not-persistent": "the recorded Redis has an append-only file",
    "SchemaWarning.unknown": "the recorded Redis answers all of INFO",
    "Subscription.graceExpiresAtMs": "no recorded exchange has renewal info as evidence",
}


def of_table(types):
    """Return {type: {member: whether it is always present, None for lists}}."""
    return {one.name: {row.key: None if row.is_list or row.kind == "texts" else row.is_always
                       for row in one.members if row.place != "beside"} for one in types}


def of_swift():
    """Return the same of the generated Facts.swift: the members that its initializers read."""
    found = {}
    text = (ROOT / "Sources/AssaySwift/Facts.swift").read_text()
    for name, body in re.findall(r"^public struct (\w+)[^{\n]*\{\n(.*?)^\}", text, re.S | re.M):
        made = re.search(r"^  init\(_ facts.*?^  \}", body, re.S | re.M)
        read = re.findall(r'(needed\(\s*)?(?:facts|\w+\.signed)\.(\w+)\(\s*"(\w+)"',
                          made[0] if made else "")
        found[name] = {key: None if reader in LISTS else bool(needed)
                       for needed, reader, key in read if reader != "needed"}
        if made and ".isAccepted" in made[0]:
            found[name]["entitled"] = True
    return found


def of_go():
    """Return the members of Go's structs. An absent text or number is empty there, so that their
    presence is not visible."""
    own, bases = {}, {}
    text = (ROOT / "bindings/go/facts_types.go").read_text()
    for name, body in re.findall(r"^type (\w+) struct \{\n(.*?)^\}", text, re.S | re.M):
        fields = re.findall(r'^\t\w+ (\S+) `(?:json|signed):"(\w+)"`', body, re.M)
        own[name] = {key: False if kind.startswith("*") else None for kind, key in fields}
        bases[name] = re.findall(r"^\t([A-Z]\w+)$", body, re.M)
    return whole(own, bases)


def of_python():
    own, bases = {}, {}
    for module in ("facts", "receipts", "attest", "refunds"):
        text = (ROOT / f"bindings/python/assay/{module}.py").read_text()
        for name, parents, body in re.findall(
                r"^class (\w+)\((.*?)\):\n(.*?)(?=^\S|\Z)", text, re.M | re.S):
            read = re.findall(r'^    \w+: ([^=\n]+?) = (\w+)\(\s*"(\w+)"', body, re.M)
            own[name] = {key: None if reader in ("texts", "details_list", "numbers", "mapping")
                         else not hint.endswith("| None")
                         for hint, reader, key in read if not reader.startswith("inner")}
            own[name].update({key: None for _, reader, key in read
                              if reader.startswith("inner")})
            own[name].update({key: False for key in
                              re.findall(r'self\._nested\(\w+, "(\w+)"\)', body)})
            bases[name] = re.findall(r"\w+", parents)
    own["Decision"]["entitled"] = True
    return whole(own, bases)


def of_php():
    found = {}
    for path in sorted((ROOT / "bindings/php/src/Facts").glob("*.php")):
        text = path.read_text()
        hints = {name: hint for hint, name in re.findall(
            r"public readonly (\S+) \$(\w+);", text)}
        rows = re.findall(r"'(\w+)' => \[\s*Member::(\w+)(?: \| Member::SIGNED)?,\s*'(\w+)'",
                          text)
        if rows:
            found[path.stem] = {
                key: None if kind.startswith("INNER") or hints[name] == "array"
                else not hints[name].startswith(("?", "mixed")) for name, kind, key in rows}
    return found


def of_node():
    """Return the same of the declarations for Node.js, without what follows from the status."""
    own, bases = {}, {}
    text = (ROOT / "bindings/node/generated/facts.d.cts").read_text()
    for name, base, body in re.findall(
            r"^export class (\w+) extends (\w+) \{\n(.*?)^\}", text, re.S | re.M):
        rows = re.findall(r"^  readonly (\w+): (.+);$", body, re.M)
        own[name] = {key: None if kind.startswith(("readonly ", "Readonly<"))
                     else not kind.endswith("| null")
                     for key, kind in rows if kind not in ("Date", "Date | null", "Document")
                     and (name, key) not in FOLLOWING}
        bases[name] = [base]
    return whole(own, bases)


def whole(own, bases):
    """Return the members of each type, including those of its bases."""
    def members_of(name):
        found = {}
        for base in bases.get(name, []):
            found.update(members_of(base))
        return {**found, **own.get(name, {})}
    return {name: members_of(name) for name in own}


def differences(table, other, untyped):
    """Return each "Type.member" that only one side has, or whose presence differs."""
    found = []
    for name in table.keys() & other.keys():
        one, two = table[name], other[name]
        if two:
            found += [f"{name}.{key}" for key in one.keys() ^ two.keys() if key not in untyped]
            found += [f"{name}.{key} (presence)" for key in one.keys() & two.keys()
                      if None not in (one[key], two[key]) and one[key] != two[key]]
    return sorted(found)


def check_hosts(suite, types):
    table = of_table(types)
    for host, other, few, untyped in [
            ("Swift", of_swift(), 50, set()), ("Go", of_go(), 50, set()),
            ("Python", of_python(), 45, UNTYPED),
            ("PHP", of_php(), 45, UNTYPED | {"unverified", "failures", "externalPurchaseReport"}),
            ("Node.js", of_node(), 50, {"unverified"})]:
        shared = [name for name in table.keys() & other.keys() if other[name]]
        suite.expect(len(shared) >= few, f"the types of {host} are found", str(len(shared)))
        found = differences(table, other, untyped)
        suite.expect(not found, f"{host} has the members of the table", " ".join(found))
        faulty = copy.deepcopy(table)
        del faulty["Transaction"]["productId"]
        faulty["Chain"]["leaf"] = False
        seen = differences(faulty, other, untyped)
        suite.expect("Transaction.productId" in seen, f"a member less than {host} has is seen")
        if host != "Go":
            suite.expect("Chain.leaf (presence)" in seen, f"another presence than {host}'s is seen")


def check_values(suite, sets):
    """Check that every value of a set that the library reads or checks occurs in its source: those
    of facts and of members of requests. Other sets are constants of hosts alone."""
    known = {text for path in (ROOT / "Sources/Assay").rglob("*.swift")
             for text in re.findall(r'"((?:\\.|[^"\\\n])*)"',
                                    re.sub(r"^ *//.*", "", path.read_text(), flags=re.M))}
    used = {row.kind for one in CONTRACT.all_types for row in one.own}
    used |= {member.value_set for kind in CONTRACT.kinds for member in kind.members}
    for each in sets:
        if each.name not in used or each.is_numeric:
            continue
        strange = [value for _, value in each.values if value not in known]
        suite.expect(not strange, f"the library knows {each.name}", " ".join(strange))


# Objects whose signed claims are members beside their own (DOC-2).
CLAIMS = {"AppleAccountEvent"}


class Documents:
    """The documents of all cases, compared with the table."""

    def __init__(self, types):
        self.types = {one.name: one for one in types}
        self.kinds = {one.path: one for one in types if one.path not in ("", RESULT)}
        self.faults, self.seen, self.traits = collections.Counter(), set(), set()
        # The values of each closed set; for other sets any text is valid.
        self.sets = {}

    def look(self, document):
        asked = (document.get(RESULT) or {}).get("operation")
        for path, one in self.kinds.items():
            # Another operation has another object under the same name.
            if asked and path in RESULTS_AT and asked not in RESULTS_AT[path]:
                continue
            value = document
            for step in path.split("."):
                value = value.get(step) if isinstance(value, dict) else None
            if isinstance(value, dict):
                self.facts(one, value, document)
        self.traits |= set(document.get("triage", {}).get("anomalies", ()))

    def facts(self, one, found, document, is_whole=True):
        known = {row.key for row in one.members if row.place in ("facts", "status")}
        known |= {"payload"} if one.has_payload or one.name in CLAIMS else set()
        for key in found.keys() - known:
            self.faults[f"{one.name}.{key} is not in the table"] += 1
        for row in one.members:
            place = {"signed": found.get("payload"), "beside": document}.get(row.place, found)
            value = place.get(row.key) if isinstance(place, dict) else None
            if value is None:
                if row.is_always and is_whole:
                    self.faults[f"{one.name}.{row.key} is absent"] += 1
                continue
            self.seen.add((one.name, row.key))
            # Members in Apple's signed JSON may have any type (PAY-4); the library checks them.
            if row.place != "signed" and not self.fits(one, row, value, document):
                self.faults[f"{one.name}.{row.key} is {json.dumps(value)[:60]}"] += 1

    def fits(self, one, row, value, document):
        if row.is_list:
            return isinstance(value, list) and all(
                self.is_one(row, each, document) for each in value)
        return (one.name, row.key) in TEXTS and isinstance(value, str) \
            or self.is_one(row, value, document)

    def is_one(self, row, value, document):
        if row.kind in self.types:
            inside = self.types[row.kind]
            if isinstance(value, dict):
                self.facts(inside, value, document)
            return isinstance(value, dict)
        if row.kind == "value":
            return isinstance(value, (str, int))
        if row.kind in ("json", "texts"):
            return isinstance(value, dict)
        if row.kind == "boolean":
            return isinstance(value, bool)
        if row.kind in ("integer", "time", "duration"):
            # An integer beyond 2^53 is a text (DOC-2).
            return type(value) is int or isinstance(value, str) and value.lstrip("-").isdigit()
        if row.kind in self.sets:
            self.seen.add((row.kind, value))
            return value in self.sets[row.kind]
        return isinstance(value, str)


class Results(Documents):
    """The results of a ledger in `exchange` itself, compared with the table."""

    def __init__(self, types, sets, asked):
        super().__init__(types)
        self.sets = {each.name: {value for _, value in each.values} for each in sets}
        self.of_kind = {kind.name: kind.result.removesuffix(AT_RESULT) for kind in asked}
        self.unasked = set(self.of_kind)

    def look(self, document):
        super().look(document)
        exchange = document.get(RESULT)
        one = self.types.get(self.of_kind.get(exchange["operation"])) if exchange else None
        if one is None or exchange["step"] != "done":
            return
        found = {key: exchange[key] for key in exchange.keys() - BESIDE_RESULT}
        is_whole = is_carried_out(document)
        if is_whole:
            self.unasked.discard(exchange["operation"])
        self.facts(one, found, document, is_whole)
        if "outcome" in found and "StoreResult" in one.base_names:
            self.outcome(one, found["outcome"])

    def outcome(self, one, outcome):
        """Check that an outcome is in the text of the type, or of one of its parts."""
        self.seen.add((one.name, outcome))
        parts = [self.types[row.kind] for row in one.own if row.kind in self.types]
        of_parts = {value for part in parts for row in part.own if row.key == "outcome"
                    for value in self.sets.get(row.kind, ())}
        if outcome not in told_outcomes(one) | of_parts:
            self.faults[f"the outcome {outcome} of {one.name} is not in the table"] += 1

    def unseen(self):
        """Return the members, values and outcomes that occur in no document."""
        types = [one for one in self.types.values() if one.shape != "shared"]
        found = {(one.name, row.key) for one in types for row in one.members}
        found |= {(name, value) for name, values in self.sets.items() for value in values}
        found |= {(one.name, outcome) for one in types if "StoreResult" in one.base_names
                  for outcome in told_outcomes(one)}
        return {".".join(each) for each in found - self.seen}


def told_outcomes(one):
    return set(re.findall(r'"([\w-]+)"', one.text))


def is_carried_out(document):
    """Return whether an operation ended by itself, ok or refused."""
    checks = {check["id"]: check["ok"] for check in document["checks"]}
    return (checks.get("exchange.result") is not None and "reached" not in document[RESULT]
            and not document["status"]["name"].startswith(BEFORE))


def check_traits(suite, sets, shown):
    """Check that the anomalies in documents, except those that name a key, are the values of their
    set."""
    listed = next({value for _, value in each.values} for each in sets
                  if each.name == "TriageAnomaly")
    strange = listed ^ {trait for trait in shown if ":" not in trait}
    suite.expect(not strange, "the traits of triage are those of the table",
                 " ".join(sorted(strange)))


def check_documents(suite, types, sets, documents):
    whole_table = Documents(types)
    for document in documents:
        whole_table.look(document)
    suite.expect(len(documents) > 3000, "the cases have documents", str(len(documents)))
    suite.expect(not whole_table.faults, "the documents are as the table says",
                 "; ".join(map(str, whole_table.faults.most_common(20))))
    check_traits(suite, sets, whole_table.traits)
    rows = {(one.name, row.key) for one in types if one.shape != "shared"
            for row in one.members}
    print(f"{len(whole_table.seen)} of {len(rows)} members occur in a document of a case")
    for what, change in [
            ("a row less", lambda one: one.own.pop(0)),
            ("a member that is not always there",
             lambda one: setattr(one.member("revocationDate"), "is_always", True)),
            ("a member of another kind", lambda one: setattr(one.member("type"), "kind", "time"))]:
        faulty = copy.deepcopy(types)
        change(next(one for one in faulty if one.name == "Transaction"))
        through = Documents(faulty)
        for document in documents:
            if document["kind"] == "transaction":
                through.look(document)
        suite.expect(through.faults, f"{what} is seen")


def check_results(suite, found):
    """Check the results of a ledger with the rows of the table, and with faulty rows."""
    types, sets = CONTRACT.results, CONTRACT.result_sets
    asked = [kind for kind in CONTRACT.kinds if kind.result.endswith(AT_RESULT)
             and (kind.runs == "store" or kind.name == "describe-schema")]
    strange = {kind.result.removesuffix(AT_RESULT) for kind in asked} ^ {
        one.name for one in types if one.path == RESULT}
    suite.expect(not strange, "each kind of a store has a type, and each type a kind",
                 " ".join(sorted(strange)))
    found = [document for document in found if document.get(RESULT)]

    def through(types, sets, found=found):
        seen = Results(types, sets, asked)
        for document in found:
            seen.look(document)
        return seen

    right = through(types, sets)
    suite.expect(not right.faults, "the answers of a ledger are as the table says",
                 "; ".join(map(str, right.faults.most_common(20))))
    suite.expect(not right.unasked, "each kind of a store has documents",
                 " ".join(sorted(right.unasked)))
    strange = right.unseen() ^ UNSEEN.keys()
    suite.expect(not strange, "what no document shows is in UNSEEN", " ".join(sorted(strange)))
    for what, name, change in [
            ("a row less", "Claim", lambda one: one.own.pop()),
            ("a row less of a result", "ClaimResult", lambda one: one.own.pop()),
            ("a member that is not always there", "MergeAccountsResult",
             lambda one: setattr(one.member("moved"), "is_always", True)),
            ("a part that is not always there", "PurchaseRevocation",
             lambda one: setattr(one.member("take"), "is_always", True)),
            ("a member of another kind", "Take",
             lambda one: setattr(one.member("units"), "kind", "text")),
            ("one value where a list is", "GetEvidenceResult",
             lambda one: setattr(one.member("missing"), "is_list", False)),
            ("an outcome less", "ConsumeQuotaResult",
             lambda one: setattr(one, "text", one.text.replace('"not-in-plan"', ""))),
            ("a value less", "ClaimOutcome", lambda one: one.values.pop())]:
        faulty = copy.deepcopy([*types, *sets])
        change(next(one for one in faulty if one.name == name))
        seen = through(faulty[:len(types)], faulty[len(types):])
        suite.expect(seen.faults, f"{what} is seen in answers of a ledger")
    few = through(types, sets, [each for each in found
                                if each[RESULT]["operation"] != "record-event"])
    suite.expect(few.unasked == {"record-event"}, "a kind without documents is seen")
    suite.expect("RecordEventResult.storedAtMs" in few.unseen(), "a member that none shows is seen")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("dump", "cases", "library"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--suite", default="facts")
    options = parser.parse_args()
    suite = Suite(options.suite)
    types = CONTRACT.types
    check_hosts(suite, types)
    check_values(suite, CONTRACT.all_value_sets)
    if options.dump:
        found = list(documents.read(options.dump, options.cases, options.library))
        check_documents(suite, types, CONTRACT.value_sets, found)
        check_results(suite, found)
    suite.finish()


if __name__ == "__main__":
    main()
