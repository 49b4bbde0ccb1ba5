"""Write the ledger of Swift hosts, from kinds.tsv, kind-members.tsv and facts.tsv: what each
operation answers, and a method for each.

  Sources/AssaySwift/LedgerResults.swift
  Sources/AssaySwift/LedgerCalls.swift
  Tests/AssaySwiftTests/LedgerResultTests+Types.swift  the type of each operation's result

By hand beside them, in Sources/AssaySwift/Ledger.swift: conversing, paying out and taking back.
"""
from ..reader import find_reached
from ..text import camel, lower_first, pack, quote, wrap
from .hosts import (MARK, PACKAGE, escape, write_comment, write_protocol, write_structure,
                    write_value_set)

LINE = 98
# Types of members of requests; a choice and every other form is a text.
TYPES = {"integer": "Int64", "boolean": "Bool", "time": "Timestamp",
         "GetPlanResult": "GetPlanResult", "RefundAnswer": "RefundAnswer"}
# The JSON of a value `$0` of a type.
SENT = {"[String]": "JSON($0.map { JSON($0) })", "Duration": "JSON(milliseconds: $0)",
        "Timestamp": "JSON($0.milliseconds)", "GetPlanResult": "$0.kept",
        "RefundAnswer": "JSON(text: $0.raw)"}
# The classes of evidence of which an operation takes one.
EVIDENCE = {"jws": "any Facts", "attestation": "Attestation", "assertion": "Assertion",
            "attest-receipt": "AttestReceipt", "refund-notification": "Notification"}
# Bytes of what is made at each call: text of base64url.
MADE = {"attemptId": 18, "challenge": 32, "lineage": 24}
FUNCTIONS = {"grant": ("grant", "Granting"), "take": ("takeBack", "Taking")}
# Operations with something around their exchange.
AROUND = {"create-schema": "creating", "check-schema": "checking",
          "forget-account": "forgetting", "forget-customer": "forgetting"}


def find_kept(kind):
    """The members that the host made and the store keeps no text of: the result has them too."""
    return [member for member in kind.members
            if member.given == "made" and member.name in kind.hidden]


# ---- results -----------------------------------------------------------------------------------


def write_result(one, sets, made):
    """Return a struct; what a completion changes is set by the ledger alone."""
    if not one.is_top:
        return write_structure(one, sets, ["FactsObject", "Hashable", "Sendable"],
                               "internal(set) var")
    return write_structure(
        one, sets, [*(one.base_names or ["LedgerResult"]), "AnswerOfStore"], "internal(set) var",
        head=["  /// The whole answer.", "  public internal(set) var document: Document"],
        first=["    document = facts.document"],
        made=[line for member in made for line in (
            f"  /// The {member.name} itself, for the client; empty where it is not known.",
            f'  public internal(set) var {member.name} = ""')])


def write_results(contract):
    sets = {each.name for each in contract.all_value_sets}
    made = {kind.answers: find_kept(kind) for kind in contract.ledger_kinds}
    types = find_reached(contract.results, made)
    out = [MARK.format("contract/facts.tsv and contract/names.tsv"),
           "@_spi(AssaySwift) import Assay", ""]
    for one in types:
        out += write_protocol(one, sets, "LedgerResult") if one.shape == "shared" else \
            write_result(one, sets, made.get(one.name, []))
    used = {row.kind for one in types for row in one.own}
    out += [line for each in contract.result_sets if each.name in used
            for line in write_value_set(each)]
    return "\n".join(out)


# ---- methods -----------------------------------------------------------------------------------


class Argument:
    """A member of a request as a parameter."""

    def __init__(self, member):
        self.member, self.is_function = member, not member.is_sent
        self.is_made = member.given == "made"
        has_unit = member.is_duration or member.is_time
        self.name = member.argument.removesuffix("Ms") if has_unit else member.argument
        self.is_required = member.is_required and not self.is_made
        if self.is_function:
            self.name, self.type = FUNCTIONS[member.name]
        elif member.is_list:
            self.type = "[String]"
        else:
            self.type = "Duration" if member.is_duration else TYPES.get(member.type, "String")

    @property
    def declared(self):
        return f"{escape(self.name)}: {self.type}" + ("" if self.is_required else "? = nil")

    @property
    def said(self):
        words = lower_first(self.member.does.rstrip(".").replace("absent", "nil"))
        if len(self.member.choices) > 1:
            words += ": " + ", ".join(f"`{each}`" for each in self.member.choices)
        return f"{self.name}: {words}" + ("; nil: a new one." if self.is_made else ".")

    @property
    def sent(self):
        """The pair for a request: its name and its JSON."""
        name, key = escape(self.name), quote(self.member.name)
        json = SENT.get(self.type, "JSON($0)")
        if self.is_made or self.is_required:
            return f"({key}, {json.replace('$0', name, 1)})"
        return f"({key}, {name}.map {{ {json} }})"


def write_evidence(kind):
    """Return the parameter of the evidence, its value, and what is said of it."""
    low, high = kind.evidence
    when = "verified by the ledger's verifier" + ", now" * kind.is_live
    more = "" if low else "; may be left out"
    said = f"evidence: facts {when}{more}."
    if high > 1:
        each = "Facts" if "jws" in kind.classes else "PurchaseEvidence"
        return (f"_ evidence: [any {each}]" if low else
                f"evidence: [any {each}] = []"), "evidence", said
    if len(kind.classes) == 1:
        name = kind.classes[0].rpartition("-")[2]
        return f"_ {name}: {EVIDENCE[kind.classes[0]]}", f"[{name}]", \
            f"{name}: what was {when}{more}."
    return "evidence: (any Facts)? = nil", "evidence.map { [$0] } ?? []", said


def write_method(kind):
    arguments = [Argument(member) for member in kind.members
                 if member.given in ("argument", "made")]
    functions = [each.name for each in arguments if each.is_function]
    sent = [each for each in arguments if not each.is_function]
    order = sorted(arguments, key=lambda each: (each.is_function, not each.is_required))
    parts, said = [each.declared for each in order], [each.said for each in order]
    fields = [quote(kind.name)]
    if kind.evidence[1]:
        declared, value, words = write_evidence(kind)
        parts, said = [declared, *parts], [words, *said]
        fields.append(f"evidence: {value}")
    said.append("now: the time of the call; the exchange goes on from it.")
    out = ["", *write_comment(kind.does, "  ")]
    if len(said) > 1:
        out += ["  ///", "  /// - Parameters:"]
        out += [line for each in said for line in wrap(each, LINE - 2, "  ///   - ", "  ///     ")]
    out += [f"  public func {camel(kind.name)}(",
            *pack([*parts, "at now: Timestamp = .now"], "    ", LINE),
            f"  ) async throws -> {kind.answers} {{"]
    for each in sent:
        if each.is_made:
            out.append(f"    let {each.name} = {each.name} ?? Ledger.made({MADE[each.name]})")
    if "takeBack" in functions and any(each.name == "grantMode" for each in sent):
        out.append('    let grantMode = grantMode ?? (takeBack == nil ? nil : "lease")')
    fields += ["isAnswer: true"] * (kind.refused == "answer") + ["at: now"]
    made, pairs = ", ".join(fields), [each.sent for each in sent]
    if len(pairs) > 1:
        out += ["    let request = LedgerRequest(", f"      {made},", "      [",
                *(f"        {pair}," for pair in pairs), "      ])"]
    elif pairs:
        out += ["    let request = LedgerRequest(", f"      {made},", f"      [{pairs[0]}])"]
    else:
        out.append(f"    let request = LedgerRequest({made})")
    given = ", ".join(["request", *(f"{name}: {name}" for name in functions)])
    asked = f"try await {AROUND.get(kind.name, 'asking')}({given})"
    if not find_kept(kind):
        return [*out, f"    return {asked}", "  }"]
    return [*out, f"    var found: {kind.answers} = {asked}",
            *(f"    found.{member.name} = {member.name}" for member in find_kept(kind)),
            "    return found", "  }"]


def write_calls(contract):
    lines = [line for kind in contract.ledger_kinds for line in write_method(kind)]
    return "\n".join([MARK.format("kinds.tsv and kind-members.tsv"), "extension Ledger {",
                      *lines[1:], "}", ""])


def write_types(contract):
    lines = [f"    {quote(kind.name)}: {kind.answers}.self," for kind in contract.ledger_kinds]
    return "\n".join([MARK.format("contract/kinds.tsv"), "@testable import AssaySwift", "",
                      "extension LedgerResultTests {",
                      "  static let types: [String: any AnswerOfStore.Type] = [", *lines, "  ]",
                      "}", ""])


def files(contract):
    return {f"{PACKAGE}/LedgerResults.swift": write_results(contract),
            f"{PACKAGE}/LedgerCalls.swift": write_calls(contract),
            "Tests/AssaySwiftTests/LedgerResultTests+Types.swift": write_types(contract)}
