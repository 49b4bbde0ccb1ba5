"""Write the ledger of the Node.js binding: its operations, what they return, and their types.

  bindings/node/generated/ledger.cjs   rows, of which lib/ledger.cjs makes the methods
  bindings/node/generated/results.cjs  classes of results
  bindings/node/generated/ledger.d.cts requests, results, and the methods
  bindings/node/ledger.mjs, .d.mts     the module for `import`

A method takes evidence, if it needs some; then its required member, if there is one alone; then an
object with what else there is, functions of the host among it.
"""
import re

from ..reader import find_reached
from ..text import camel, fit_parts, list_parts, pack, quote
from .calls import MARK, PACKAGE, WIDTH, Method, fit, pascal
from .facts import Classes, fold_union, import_types, write_comment

# By hand: a new database gets its lineage, and a ledger keeps the first one that it saw.
BY_HAND = {"create-schema", "check-schema"}
# Members that every host is to name: who forgot one would count all sign-ups as one.
NEEDED = {("begin-signup", "address"): " | null", ("begin-signup", "passwordBytes"): ""}
# What `bindings/node/ledger.cjs` has beside the results.
EXPORTS = ["DynamoDB", "Grant", "Ledger", "MariaDB", "Postgres", "Redis", "Result", "SQLite",
           "TakeBack"]
FUNCTIONS = {"grant": ("grant", "Grant"), "take": ("takeBack", "TakeBack")}
TYPES = {"GetPlanResult": 'Pick<GetPlanResult, "plan" | "expiresAtMs" | "readAtMs">',
         "RefundAnswer": "RefundAnswer"}
# Members by hand, in lib/granting.cjs.
CLAIM = [("claim", "Claim | null", "The claim that `outcome` is about.")]
MORE = {
    "Claim": [("needsGrant", "boolean", "Whether it is claimed for this call and not granted yet."),
              ("grant", "() => Grant", "Returns what to grant, if `needsGrant`.")],
    "ClaimResult": CLAIM, "ResumeResult": CLAIM,
    "IssueChallengeResult": [("challenge", "string", "For the client: only its digest is kept.")],
    "Take": [("takeBack", "() => TakeBack", "Returns what to take back.")],
}


class Results(Classes):
    """The classes of results, and of the objects in them."""

    def __init__(self, contract):
        names = {kind.answers for kind in contract.ledger_kinds}
        super().__init__(contract, find_reached(contract.results, names))

    def find_base(self, one):
        return "Result" if one.path == "exchange" or one.name == "StoreResult" else "Members"

    find_type_base = find_base

    def find_more(self, one):
        return MORE.get(one.name, ())


class LedgerMethod(Method):
    """An operation of a ledger as Node.js has it."""

    def __init__(self, kind):
        super().__init__(kind)
        given = [member for member in kind.members if member.given in ("argument", "made")]
        given.sort(key=lambda member: member.operation != kind.name)
        self.members = [member for member in given if member.is_sent]
        self.functions = [FUNCTIONS[member.name] for member in given if not member.is_sent]
        self.made = [member.name for member in given if member.given == "made"]
        required = [member for member in self.members if self.needs(member)]
        self.first = required[0] if len(required) == 1 else None
        self.rest = [member for member in self.members if member is not self.first]
        if kind.evidence == (1, 1):
            self.evidence = kind.classes[0].rpartition("-")[2]

    def needs(self, member):
        return member.given == "argument" and (
            member.is_required or (self.kind.name, member.name) in NEEDED)

    def write_row(self):
        members = [f"name: {quote(self.name)}", f"operation: {quote(self.kind.name)}"]
        if self.has_evidence:
            first = "true" if self.needs_evidence else "false"
            members.append(f"evidence: {{ name: {quote(self.evidence)}, first: {first} }}")
        if self.first:
            members.append(f"first: {quote(self.first.name)}")
        lists = {"made": self.made, "functions": [name for name, _ in self.functions],
                 "wrapped": []}
        members += [f"{name}: [{', '.join(map(quote, found))}]" for name, found in lists.items()]
        members += [f"result: {quote(self.result)}",
                    f"isAnswer: {'true' if self.kind.refused == 'answer' else 'false'}"]
        return list_parts("  {", fit(members), "  },", "    ")[:-1] + ["  },"]

    def find_type(self, member):
        return TYPES.get(member.type) or super().find_type(member) + \
            NEEDED.get((self.kind.name, member.name), "")

    def is_optional(self):
        return not any(self.needs(member) for member in self.rest)

    def write_request(self):
        out = [f"export interface {pascal(self.kind.name)}Request extends LedgerCallOptions {{"]
        for name, given in self.functions:
            member = next(each for each in self.kind.members if FUNCTIONS.get(each.name, "")
                          and FUNCTIONS[each.name][0] == name)
            out += [*write_comment(self.tell(member.does), "  "),
                    f"  {name}?: (given: {given}) => unknown;"]
        for member in self.rest:
            mark = "" if self.needs(member) else "?"
            out += [*write_comment(self.tell(member.does), "  "),
                    f"  {member.name}{mark}: {self.find_type(member)};"]
        if self.has_evidence and not self.needs_evidence:
            several = "SeveralEvidence" if self.kind.evidence[1] > 1 else "Evidence"
            out += ["  /** What a Verifier verified. */", f"  {self.evidence}?: {several};"]
        return ["", *out, "}"] if len(out) > 1 else []

    def write_method(self):
        parts = []
        if self.needs_evidence:
            many = self.kind.evidence[1] > 1
            parts.append(f"{self.evidence}: {'string | SeveralEvidence' if many else 'Evidence'}")
        if self.first:
            parts.append(f"{self.first.name}: {self.find_type(self.first)}")
        request = f"{pascal(self.kind.name)}Request" if self.write_request() else \
            "LedgerCallOptions"
        parts.append(f"{'options?' if self.is_optional() else 'request'}: {request}")
        return [*write_comment(self.tell(self.kind.does), "  "),
                *fit_parts(f"  {self.name}(", parts, f"): Promise<{self.result}>;", WIDTH, "    ")]


def find_methods(contract):
    return [LedgerMethod(kind) for kind in contract.ledger_kinds if kind.name not in BY_HAND]


def write_rows(contract):
    rows = [line for method in find_methods(contract) for line in method.write_row()]
    return "\n".join([MARK, '"use strict";', "", "exports.OPERATIONS = [", *rows, "];", ""])


def write_classes(contract):
    writer = Results(contract)
    body = [line for one in writer.types.values() for line in writer.write_class(one)]
    names = ["Members", "documentOf", "here", "text", "number", "boolean", "date", "octets", "json",
             "list", "nested"]
    return "\n".join([
        "// Generated by tools/generate.py from contract/facts.tsv. Do not edit.", '"use strict";',
        "", *pack(names, "  ", WIDTH, ' } = require("../lib/document.cjs");', "const { "),
        'const { Result } = require("../lib/results.cjs");', *body,
        "", "module.exports = {", *pack(list(writer.types), "  ", WIDTH), "};", ""])


def write_types(contract):
    writer, methods = Results(contract), find_methods(contract)
    out = [MARK, "",
           *import_types(["Document", "Environment", "Evidence", "Json", "Members", "Ms",
                           "SeveralEvidence", "SignedText"], "../index.cjs"),
           'import type { AttestEnvironment, RefundAnswer } from "./facts.cjs";',
           'import type { Grant, LedgerCallOptions, Result, TakeBack } from "../ledger.cjs";', "",
           "// Sets of values: a value that this version does not know passes through."]
    used = {row.kind for one in writer.types.values() for row in one.own}
    for each in contract.result_sets:
        if each.name in used:
            values = [quote(value) for _, value in each.values]
            out += ["", *write_comment(each.text),
                    *fold_union(f"export type {each.name} =", [*values, "(string & {})"])]
    for one in writer.types.values():
        out += writer.write_type(one)
    for method in methods:
        out += method.write_request()
    out += ["", "export interface LedgerCalls {",
            *(line for method in methods for line in method.write_method()), "}"]
    names = {kind.name for kind in contract.ledger_kinds}
    return re.sub(r"`([a-z]+(?:-[a-z]+)+)`", lambda found: f"`{camel(found[1])}`"
                  if found[1] in names else found[0], "\n".join([*out, ""]))


def write_module(contract):
    names = sorted([*EXPORTS, *(name for name in Results(contract).types)])
    return "\n".join([MARK, 'import ledger from "./ledger.cjs";', "",
                      "export const {", *pack(names, "  ", WIDTH), "} = ledger;",
                      "export default ledger;", ""])


def files(contract):
    folder = PACKAGE.rpartition("/")[0]
    return {f"{PACKAGE}/ledger.cjs": write_rows(contract),
            f"{PACKAGE}/results.cjs": write_classes(contract),
            f"{PACKAGE}/ledger.d.cts": write_types(contract),
            f"{folder}/ledger.mjs": write_module(contract),
            f"{folder}/ledger.d.mts": MARK + '\n\nexport * from "./ledger.cjs";\n'}
