#!/usr/bin/env python3
"""Check that the library accepts of each operation what kinds.tsv and kind-members.tsv state.

  asked_kinds.py [--suite NAME]        with ASSAY_LIBRARY and ASSAY_CASES

The accepted requests of each kind in the case table are sent again, each time with one change: a
member more, a member less, a value of another type, each bound at both ends and one beyond, each
choice, evidence of each class, another engine, the configuration without a block. The documents of
all cases are checked too. Planted faults in the tables must be found.
"""
import argparse
import collections
import copy
import functools
import json
import re
import sys

from project import ROOT
from report import Suite

sys.path[:0] = [str(ROOT), str(ROOT / "bindings/python/tests")]

import assay
import case_table
from kind_values import CONTRACT, NAMED, values

UNKNOWN, EVIDENCE = "misuse.exchange.request EXC-1", "misuse.exchange.evidence EXC-2"
STORED, BLOCK = "misuse.exchange.evidence EXC-13", "config.exchange.block-missing EXC-8"
NOT_DURABLE = "config.ledger.not-durable STO-13"
BEGUN = {"call": "ok", "http": "pending.exchange.http", "store": "pending.exchange.database"}
# Members of every exchange with steps, which the common code of exchanges reads.
COMMON = {("operation", "operation"), ("deadlineMs", "time"), ("attempt", "integer")}
# The blocks of the configuration that a verification depends on (EXC-11).
TRUST = ("apps", "environments", "clockSkewMs", "storekit", "receipts", "attest")
# (classes of evidence, name of a case with it, verifier to use instead of the case's own).
SAMPLES = [
    ("purchase transaction jws", "JWS-1 a good transaction", None),
    ("purchase transaction jws device-jws", "PAY-2 a transaction with every member", None),
    ("purchase transaction device-jws", "JWS-81 a transaction of Xcode", None),
    ("purchase jws", "JWS-1 a good renewal info", None),
    ("purchase jws device-jws", "PAY-2 a renewal info with every member", None),
    ("purchase jws", "NTF-3 SUBSCRIBED / INITIAL_BUY of Sandbox", None),
    ("purchase jws refund-notification", "NTF-3 CONSUMPTION_REQUEST of Sandbox", None),
    ("jws device-jws", "JWS-1 a good app transaction of Sandbox", None),
    ("jws realtime-request", "JWS-1 a good realtime request of Sandbox", None),
    ("purchase transaction-receipt", "RCP-1 a transaction receipt, raw", None),
    ("purchase app-receipt", "RCP-1 an app receipt, raw", None),
    ("purchase", "VRR-19 a good answer, ios6", None),
    ("attest-receipt", "FRC-6 App Attest receipt: ATTEST", None),
    ("attestation receipted-attestation", "ATT-10 attestation: iOS 27, production", None),
    ("attestation", "ATT-12 attestation: receipt ignored, and empty", None),
    ("stored attestation receipted-attestation", "ATT-40 attestation: stored, a week later", None),
    ("assertion", "ASR-3 assertion: iOS 27", None),
    ("stored assertion", "ASR-3 assertion: iOS 27", "attest-stored"),
    ("keyset", None, None),
]
# (kind, member, column of its row, value that contradicts the library).
PLANTED = [
    ("claim", "leaseMs", "bound", "4,999…3,600,000 ms"),
    ("claim", "leaseMs", "bound", "5,001…3,600,000 ms"),
    ("claim", "leaseMs", "bound", "5,000…3,600,001 ms"),
    ("claim", "leaseMs", "bound", "5,000…3,599,999 ms"),
    ("claim", "leaseMs", "wrong", "misuse.exchange.request EXC-1"),
    ("claim", "leaseMs", "wrong", "misuse.ledger.lease STO-28"),
    ("claim", "leaseMs", "absent", "misuse.exchange.request EXC-1"),
    ("claim", "attemptId", "absent", "-"), ("claim", "transactionIds", "bound", "1…65"),
    ("claim", "grantMode", "bound", "lease"),
    ("claim", "grantMode", "bound", "none|lease|transaction"),
    ("claim", None, "runs", "http"), ("claim", None, "blocks", ["session"]),
    ("claim", None, "engines", "all"), ("record-event", None, "engines", "sql dynamodb"),
    ("claim", None, "evidence", (0, 32)), ("claim", None, "evidence", (1, 31)),
    ("claim", None, "classes", ["jws"]), ("register-device-key", None, "is_live", False),
    ("check-revocation", None, "again", "same"), ("acquire-rate-permit", None, "again", "never"),
    ("call-verify-receipt", None, "hints", "jws"), ("fetch-keyset", None, "hidden", []),
    ("sign-api-token", None, "secret", []), ("describe-schema", None, "result", "Schema@schema"),
]
STATUSES = {row.name: row for row in CONTRACT.statuses}


@functools.lru_cache(None)
def verifier(name, trust=None, without=None):
    """Return the verifier of a case, with the trust settings of another one, or without a block or
    member."""
    configuration = copy.deepcopy(case_table.table().configuration(name))
    if trust:
        other = case_table.table().configuration(trust)
        for block in TRUST:
            configuration.pop(block, None)
        configuration.update({block: other[block] for block in TRUST if block in other})
    if without:
        block, _, member = without.partition(".")
        place = configuration.get(block, {}) if member else configuration
        place.pop(member or block, None)
    return assay.Verifier(configuration)


@functools.lru_cache(None)
def proven(base, count):
    """Verify `count` documents for a request, of its case's evidence or else key sets. Each is a
    new one because the binding passes the same document to the library only once."""
    keyset = {**case_table.table().first("keyset_new"), "kind": "keyset"}
    pieces = (base.pieces or [keyset]) * count
    return [case_table.verified(piece, base.case) for piece in pieces[:count]]


# A result of the library: status and rule, location, document, exchange.
Answer = collections.namedtuple("Answer", "refusal at document exchange")


class Base:
    """A request of a case, with the evidence of the case."""

    def __init__(self, case, request):
        self.case, self.request = case, request
        self.now, self.pieces = case["now"], case["evidence"]
        first = case["steps"][0] if case.get("steps") else case
        self.is_accepted = first["expect"]["status"].split(".")[0] in ("ok", "pending")

    @property
    def settings(self):
        return verifier(self.case["verifier"]).document.json["configuration"]

    def has(self, name):
        outer, _, inner = name.partition(".")
        return outer in self.request and (not inner or inner in self.request[outer])

    def ask(self, change=(), without=(), evidence=None, by=None):
        """Send the request with changed, missing or other parts; return the Answer."""
        request = copy.deepcopy(self.request)
        for name, value in dict(change).items():
            outer, _, inner = name.partition(".")
            request[outer] = {**request.get(outer, {}), inner: value} if inner else value
        for name in without:
            request.pop(name.partition(".")[0], None)
        evidence = proven(self, len(self.pieces)) if evidence is None else evidence
        by, exchange = by or verifier(self.case["verifier"]), None
        try:
            exchange = by.exchange(request, evidence, self.now)
            document = exchange.document
        except assay.AssayError as refusal:
            document = refusal.document
        error = document.error or {}
        rule = "" if document.status.startswith("pending") else error.get("rule", "")
        return Answer(f"{document.status} {rule}".strip(), error.get("at"), document, exchange)

    def documents(self):
        """Yield the documents of all steps of the case."""
        answer = self.ask()
        yield answer.document
        for step in self.case.get("steps", ()) if answer.exchange else ():
            if not answer.exchange.done:
                try:
                    yield answer.exchange.step(case_table.given(step, "answer"), step["now"])
                except assay.MisuseError as refusal:
                    yield refusal.document


@functools.lru_cache(None)
def requests():
    """Return {kind: the requests of that kind in the case table}."""
    found = collections.defaultdict(list)
    for case in case_table.table().cases:
        if case["call"] in ("exchange", "transcript"):
            try:
                request = json.loads(case_table.given(case, "request"))
                found[request["operation"]].append(Base(case, request))
            except (ValueError, TypeError, KeyError, RecursionError):
                continue  # the case is not a valid request
    # The case table has no accepted request of these kinds with evidence of a device.
    case = case_table.table().first("verify_attestation", verifier="standard")
    case = {**case, "verifier": "signing", "evidence": [{**case, "kind": "attestation"}]}
    found["issue-session"].append(Base(case, {"operation": "issue-session", "account": "ann"}))
    found["consume-challenge"].append(Base(found["register-device-key"][0].case, {
        "operation": "consume-challenge", "purpose": "attest", "subject": "ann"}))
    return found


def accepted(kind, name=None):
    """Return the accepted requests of a kind; with a name, the first that has that member."""
    found = [base for base in requests()[kind.name] if base.is_accepted]
    return found if name is None else next((base for base in found if base.has(name)), found[0])


@functools.lru_cache(None)
def words():
    """Return {(member, type): a value that some kind accepts}, and the words of all choices."""
    rows = [(kind, row) for kind in CONTRACT.kinds if accepted(kind)
            for row in kind.members if row.is_sent]
    choices = {word for _, row in rows if row.type == "choice" for word in row.choices}
    found = {("another", "text"): "a"}
    for kind, row in rows:
        base = accepted(kind, row.name)
        good = [value for value, what in values(row, base, choices) if what is None]
        found[row.name, row.type] = base.request.get(row.name, good[0] if good else 1)
    return found, {"another"} | choices


@functools.lru_cache(None)
def sample(base, name, trust):
    """Return a verifier for the request and the named case's document, verified with that case's
    trust settings."""
    case = next((case for case in case_table.table().cases if case["name"] == name), None)
    by = verifier(base.case["verifier"], case and (trust or case["verifier"]))
    keyset = Base({**base.case, "evidence": []}, {})
    return by, case_table.called(case, by) if case else proven(keyset, 1)[0]


def is_at(answer, name):
    return re.match(re.escape(name) + r"($|[\[.])", answer.at or "")


def refused(answer, name, *wanted):
    """Return why an answer is not the wanted refusal at that member; None if it is."""
    is_meant = answer.refusal in wanted and is_at(answer, name)
    return None if is_meant else \
        f"{answer.refusal} at {answer.at} instead of {' or '.join(map(str, wanted))} at {name}"


def taken(answer, name, *wrong):
    """Return why a member is refused; None if it is accepted, even if another part is refused."""
    is_fault = answer.refusal in wrong or answer.refusal.split(".")[0] in ("misuse", "malformed")
    return f"{answer.refusal} at {answer.at}" if is_fault and is_at(answer, name) else None


def of_kind(kind):
    """Check the steps of a valid request, and that members of other kinds are unknown to it."""
    base = accepted(kind)[0]
    answer = base.ask()
    yield f"runs {kind.runs}", None if answer.refusal == BEGUN[kind.runs] else answer.refusal
    strange = {name for each in accepted(kind) for name in each.request} - set(kind.sent)
    yield "the members of its cases", " ".join(sorted(strange))
    own = {member.name for member in kind.members}
    for (name, _), value in words()[0].items():
        if name not in own and name != "options":
            outer = name.partition(".")[0]
            fault = refused(base.ask({name: value}), name if outer in kind.sent else outer, UNKNOWN)
            if fault:
                yield f"without {name}", fault


def of_evidence(kind):
    """Check the counts of documents at and beyond both bounds, and a document of each class."""
    least, most = kind.evidence
    base = next((base for base in accepted(kind) if base.pieces), accepted(kind)[0])
    for count in {least - 1, least, most, most + 1} - {-1}:
        answer = base.ask(evidence=proven(base, count))
        is_meant = taken(answer, "evidence") is None if least <= count <= most \
            else answer.refusal == EVIDENCE and (answer.at == "evidence" or not base.pieces)
        yield f"{count} documents", None if is_meant else f"{answer.refusal} at {answer.at}"
    for classes, *case in SAMPLES if most else ():
        by, document = sample(base, *case)
        answer = base.ask(evidence=[document], by=by)
        if not set(kind.classes) & set(classes.split()):
            fault = refused(answer, "evidence[0]", EVIDENCE)
        elif kind.is_live and "stored" in classes:
            fault = refused(answer, "evidence[0]", STORED)
        else:  # refusals by a rule of the kind itself are allowed
            is_fault = answer.at == "evidence[0]" and answer.refusal in (EVIDENCE, STORED)
            fault = answer.refusal if is_fault else None
        yield f"evidence: {classes}", fault


def with_outer(blocks):
    """Return the paths of blocks, and those of the blocks around them."""
    return {part for block in blocks for part in (block, block.partition(".")[0])}


def of_configuration(kind):
    """Check the request without each block of the configuration, and with an engine that may lose
    data."""
    base, own = accepted(kind)[0], with_outer(kind.blocks)
    for block in with_outer(block for each in CONTRACT.kinds for block in each.blocks):
        answer = base.ask(without=["engine"], by=verifier(base.case["verifier"], None, block))
        fault = refused(answer, block, BLOCK)
        yield f"without {block}", fault if block in own else None if fault else BLOCK
    if kind.engines != "-":
        fault = refused(base.ask({"engine": "redis"}), "engine", NOT_DURABLE)
        yield "redis", fault if kind.engines != "all" else None if fault else NOT_DURABLE


def of_members(kind):
    """Check each value of each member; the member absent, null, and beside evidence."""
    for member in filter(lambda member: member.is_sent, kind.members):
        name, refusals, asked = member.name, member.refusals, set()
        base = accepted(kind, name)
        for value, what in values(member, base, words()[1]):
            answer, shown = base.ask({name: value}), json.dumps(value)
            word = what if what in refusals else ""
            asked.add(word)
            fault = taken(answer, name, *refusals.values()) if what is None \
                else refused(answer, name, refusals.get(word))
            yield f"{name}: {shown[:50]} ({len(shown)})", fault
        yield f"{name}: refusals that nothing gets", " ".join(refusals.keys() - asked)
        absent = [member.absent] if member.absent != "-" else []
        if member.present.startswith("=the only") and len(NAMED[member.bound](base)) > 1:
            absent = [refusals[""]]
        # A ledger operation treats null like an absent member.
        null = [] if member.present == "=null" else refusals.values()
        if kind.runs == "store" and (name, member.type) not in COMMON:
            null = absent
        change = {"grantMode": "lease"} if "unless grantMode is none" in member.present else {}
        evidence = [] if "without evidence" in member.present else None
        for what, answer, wanted in [
                (f"no {name}", base.ask(change, [name], evidence), absent),
                (f"{name}: null", base.ask({**change, name: None}, (), evidence), null)]:
            yield what, refused(answer, name, *wanted) if wanted else taken(answer, name)
        if "refused with it" in member.present:
            other = next(each for each in accepted(kind) if each.pieces)
            answer = other.ask({name: base.request[name]})
            yield f"{name} beside evidence", refused(answer, name, refusals[""])


def too_late(kind):
    """Return the document after a reply past the deadline, and the members `retry` must omit."""
    base = max(accepted(kind), key=lambda base: len(base.request))
    if kind.runs == "call":
        return base.ask().document, None
    answer = base.ask({"deadlineMs": base.now + 1000})
    given = {"code": 0} if "database" in answer.exchange.payload else {"status": 0, "body": None}
    if kind.name == "acquire-rate-permit":
        # It permits requests on failures, but not beyond Apple's limit.
        given = {"code": 200, "results": [{"rows": []}]}
    document = answer.exchange.step({"id": 1, **given}, base.now + 86_400_000)
    return document, {"deadlineMs", *(name for name in kind.hidden if base.has(name))}


def of_documents(kind):
    """Check the documents of all cases of a kind, and that of a late reply."""
    (last, left), path = too_late(kind), kind.result.partition("@")[2]
    for document in [*(each for base in requests()[kind.name] for each in base.documents()), last]:
        shown, error = document.json.get("exchange") or {}, document.error or {}
        if document.ok:
            is_there = not path or case_table.member(document.json, path) is not None
            yield f"has {path}", None if is_there else document.text[:300]
            secret = shown.get("sensitivePaths", [])
            yield "names what is secret", None if secret == kind.secret else str(secret)
        row = STATUSES.get(document.status)
        if row and row.hints:
            whose = "exchange" if kind.hints == "-" else kind.hints
            hint = next((hint for names, hint in row.hints if whose in names), row.hint)
            yield f"hint of {row.name}", None if error["hint"] == hint else error["hint"]
        if shown.get("step") == "wait" or error.get("retryClass") == "later":
            retry = shown.get("retry")
            yield "retry", None if bool(retry) == (kind.again == "retry") else str(retry)
            if retry and document is last:
                is_left = set(retry["omitted"]) == left and not left & retry["request"].keys()
                yield "what retry leaves out", None if is_left else str(retry)


def answers(kind):
    """Yield (what is checked of a kind, what is wrong or None)."""
    yield "the case table has a good request", None if accepted(kind) else "add a case"
    for question in [of_kind, of_evidence, of_configuration, of_members, of_documents]:
        yield from question(kind) if accepted(kind) else ()


def plant(suite, kinds):
    """Check that a changed cell and a removed row are noticed."""
    for name, member, column, value in PLANTED:
        kind = copy.deepcopy(kinds[name])
        setattr(next((row for row in kind.members if row.name == member), kind), column, value)
        seen = any(fault for _, fault in answers(kind))
        suite.expect(seen, f"sees {column} {value!r} of {name} {member or ''}")
    for name, member in [("claim", "note"), ("claim", "accountToken"),
                         ("complete", "fencingToken")]:
        kind = copy.deepcopy(kinds[name])
        kind.members = [row for row in kind.members if row.name != member]
        suite.expect(any(fault for _, fault in answers(kind)), f"sees {name} without {member}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="kinds")
    suite = Suite(parser.parse_args().suite)
    kinds = {kind.name: kind for kind in CONTRACT.kinds}
    for kind in kinds.values():
        for what, fault in answers(kind):
            suite.expect(not fault, f"{kind.name}: {what}", fault)
    strange = [name for name, bases in requests().items()
               if name not in kinds and any(base.is_accepted for base in bases)]
    suite.expect(not strange, "the table has every kind of the cases", " ".join(strange))
    plant(suite, kinds)
    suite.finish()


if __name__ == "__main__":
    main()
