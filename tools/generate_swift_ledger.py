"""The ledger of Swift hosts: what each kind of a store answers, and a method for each kind.

By hand beside them, in Sources/AssaySwift/Ledger.swift: conversing, paying out and taking back.
"""
import textwrap

import generate_swift as swift
import kinds
import members

RESULTS = f"{swift.PACKAGE}/LedgerResults.swift"
CALLS = f"{swift.PACKAGE}/LedgerCalls.swift"
LINE = 98
# Types of members of requests; a choice and every other form is a text.
TYPES = {"integer": "Int64", "boolean": "Bool", "GetPlanResult": "GetPlanResult"}
# The classes of evidence of which a kind takes one.
EVIDENCE = {"attestation": "Attestation", "assertion": "Assertion",
            "attest-receipt": "AttestReceipt"}
# Bytes of what is made at each call: text of base64url.
MADE = {"attemptId": 18, "challenge": 32, "lineage": 24}
FUNCTIONS = {"grant": ("grant", "Granting"), "take": ("takeBack", "Taking")}
# Kinds with something around their exchange.
AROUND = {"create-schema": "creating", "check-schema": "checking",
          "forget-account": "forgetting"}


def stored():
    return [kind for kind in kinds.kinds() if kind.runs == "store"]


def result_of(kind):
    return kind.result.partition("@")[0]


def told(kind):
    """Members that the host made and the store keeps no text of: the result has them as well."""
    return [member for member in kind.members
            if member.given == "made" and member.name in kind.hidden]


# ---- results

def reached():
    """The types of what stores answer, with those of their parts."""
    known = {one.name: one for one in members.results()}
    found, open_ends = set(), [result_of(kind) for kind in stored()]
    while open_ends:
        name = open_ends.pop()
        if name in known and name not in found:
            found.add(name)
            open_ends += [*known[name].base_names, *(row.kind for row in known[name].own)]
    return [one for one in known.values() if one.name in found]


def lines_of(one, names, made):
    """A struct. What a completion changes is set by the ledger alone."""
    is_top = one.is_top
    bases = [base.name for base in one.bases]
    parents = [*(bases or ["LedgerResult"]), "AnswerOfStore"] if is_top else \
        ["FactsObject", "Hashable", "Sendable"]
    out = [*swift.comment(one.text, "", one),
           f"public struct {one.name}: {', '.join(parents)} {{"]
    if is_top:
        out += ["  /// The whole answer.", "  public internal(set) var document: Document"]
    rows = [swift.Member(row, names) for row in one.members]
    for row in rows:
        out += [*swift.comment(row.row.text, "  ", one),
                f"  public internal(set) var {row.declared}"]
    for member in made:
        out += [f"  /// The {member.name} itself, for the client; empty where it is not known.",
                f"  public internal(set) var {member.name} = \"\""]
    out += ["", "  init(_ facts: Members) throws(AssayError) {"]
    out += ["    document = facts.document"] if is_top else []
    return [*out, *(line for row in rows for line in row.lines), "  }", "}", ""]


def results():
    sets = {each.name for each in members.all_value_sets()}
    made = {result_of(kind): told(kind) for kind in stored()}
    out = [swift.MARK.format(f"{members.TABLE} and {members.NAMES}"),
           "@_spi(AssaySwift) import Assay", ""]
    types = reached()
    for one in types:
        if one.shape == "shared":
            text = swift.protocol(one, sets)
            text = [line.replace(": Sendable {", ": LedgerResult {") for line in text]
            out += text
        else:
            out += lines_of(one, sets, made.get(one.name, []))
    used = {row.kind for one in types for row in one.own}
    out += [line for each in members.result_sets() if each.name in used
            for line in swift.value_set(each)]
    return "\n".join(out)


# ---- methods

class Argument:
    """A member of a request as a parameter."""

    def __init__(self, member):
        self.member, self.is_function = member, member.place == "host"
        name, self.is_made = member.argument, member.given == "made"
        self.is_duration = member.type == "integer" and name.endswith("Ms")
        self.name = name.removesuffix("Ms") if self.is_duration else name
        self.is_required = member.is_required and not self.is_made
        if self.is_function:
            self.name, self.type = FUNCTIONS[member.name]
        elif member.is_list:
            self.type = "[String]"
        else:
            self.type = "Duration" if self.is_duration else TYPES.get(member.type, "String")

    @property
    def declared(self):
        name = swift.escaped(self.name)
        return f"{name}: {self.type}" if self.is_required else f"{name}: {self.type}? = nil"

    @property
    def said(self):
        text = self.member.does.rstrip(".").replace("absent", "nil")
        if text[1:2].islower() or text[1:2] == " ":
            text = text[0].lower() + text[1:]
        bound = self.member.bound.split("|")
        if self.member.type == "choice" and len(bound) > 1:
            text += ": " + ", ".join(f"`{each}`" for each in bound)
        return text + ("; nil: a new one." if self.is_made else ".")

    def sent(self, has_take):
        """The pair for a request: its name and its JSON."""
        name, key = swift.escaped(self.name), swift.quoted(self.member.name)
        if self.is_made:
            return f"({key}, JSON({name}))"
        made = {"[String]": "JSON($0.map { JSON($0) })", "Duration": "JSON(milliseconds: $0)",
                "GetPlanResult": "$0.kept"}.get(self.type, "JSON($0)")
        if self.member.name == "grantMode" and has_take:
            name = "grantMode"
        if self.is_required:
            return f"({key}, {made.replace('$0', name, 1)})"
        return f"({key}, {name}.map {{ {made} }})"


def filled(parts, indent):
    """Parts of a list, as many on a line as fit."""
    out = [indent]
    for number, part in enumerate(parts):
        part += "," if number + 1 < len(parts) else ""
        if out[-1].strip() and len(out[-1]) + 1 + len(part) > LINE:
            out.append(indent)
        out[-1] += part if not out[-1].strip() else " " + part
    return out


def evidence_of(kind):
    """Parameter and value of the evidence; None where a kind has none."""
    low, high = kind.evidence
    if high == 0:
        return None
    if high > 1:
        listed = "[any PurchaseEvidence]"
        return (f"_ evidence: {listed}", "evidence") if low else \
            (f"evidence: {listed} = []", "evidence")
    if len(kind.classes) == 1:
        name = kind.classes[0].replace("attest-", "")
        return f"_ {name}: {EVIDENCE[kind.classes[0]]}", f"[{name}]"
    return "evidence: (any Facts)? = nil", "evidence.map { [$0] } ?? []"


def proven(kind):
    """What is said of the evidence."""
    found = evidence_of(kind)
    if found is None:
        return []
    name = found[0].partition(":")[0].removeprefix("_ ")
    when = "verified by the ledger's verifier" + (", now" if kind.is_live else "")
    what = "facts" if name == "evidence" else "what was"
    return [f"{name}: {what} {when}{'' if kind.evidence[0] else '; may be left out'}."]


def method(kind):
    arguments = [Argument(member) for member in kind.members
                 if member.given in ("argument", "made")]
    functions = [each for each in arguments if each.is_function]
    sent = [each for each in arguments if not each.is_function]
    order = [each for each in sent if each.is_required]
    order += [each for each in sent if not each.is_required] + functions
    evidence, result = evidence_of(kind), result_of(kind)
    parts = [each.declared for each in order]
    parts = ([evidence[0]] if evidence else []) + parts + ["at now: Timestamp = .now"]
    name = members.camel(kind.name)
    out = ["", *swift.comment(kind.does, "  ")]
    said = [f"{each.name}: {each.said}" for each in order]
    said = proven(kind) + said + ["now: the time of the call; the exchange goes on from it."]
    if len(said) > 1:
        out += ["  ///", "  /// - Parameters:"]
        for each in said:
            text = textwrap.wrap(each, LINE - 12)
            out += [f"  ///   - {text[0]}", *(f"  ///     {line}" for line in text[1:])]
    out += [f"  public func {name}(", *filled(parts, "    "),
            f"  ) async throws -> {result} {{"]
    names = [function.name for function in functions]
    has_take = "takeBack" in names
    has_mode = any(each.name == "grantMode" for each in sent)
    for each in sent:
        if each.is_made:
            out.append(f"    let {each.name} = {each.name} ?? Ledger.made({MADE[each.name]})")
    if has_mode and has_take:
        out.append('    let grantMode = grantMode ?? (takeBack == nil ? nil : "lease")')
    pairs = [each.sent(has_take) for each in sent]
    fields = [swift.quoted(kind.name)]
    fields += [f"evidence: {evidence[1]}"] if evidence else []
    fields += ["isAnswer: true"] if kind.refused == "answer" else []
    fields += ["at: now"]
    made = ", ".join(fields)
    if pairs:
        only = pairs[0] if len(pairs) == 1 else None
        listed = [f"      [{only}])"] if only else \
            ["      [", *(f"        {pair}," for pair in pairs), "      ])"]
        out += ["    let request = LedgerRequest(", f"      {made},", *listed]
    else:
        out += [f"    let request = LedgerRequest({made})"]
    around = AROUND.get(kind.name, "asking")
    given = ", ".join(["request", *(f"{name}: {name}" for name in names)])
    hidden = told(kind)
    if hidden:
        out += [f"    var found: {result} = try await {around}({given})",
                *(f"    found.{member.name} = {member.name}" for member in hidden),
                "    return found", "  }"]
    else:
        out += [f"    return try await {around}({given})", "  }"]
    return out


def calls():
    out = [swift.MARK.format("kinds.tsv and kind-members.tsv"), "extension Ledger {"]
    body = [line for kind in stored() for line in method(kind)]
    return "\n".join([*out, *body[1:], "}", ""])


def outputs(table, contract):
    """Path below the repository -> text, of every generated file."""
    return {RESULTS: results(), CALLS: calls()}
