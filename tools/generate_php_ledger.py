"""The methods of PHP's ledger, one a kind of a store, from the tables of kinds.

  bindings/php/src/Ledger/LedgerCalls.php

By hand, in Ledger.php, are opening, conversing, paying out and taking back, the schema and
garbage. A method has the evidence first, then what is required, in the order of the table, what
is optional, the grant and the take-back.
"""
import textwrap

import kinds
from generate_app_store_calls import generate_camel

OUT = "bindings/php/src/Ledger/LedgerCalls.php"
WIDTH = 95
BY_HAND = {"create-schema"}
EVIDENCE = "Document|Facts"
TYPES = {"integer": "int", "boolean": "bool", "GetPlanResult": "GetPlanResult",
         "grant": "callable"}
# The method of Ledger that makes the result of a request; without one the document is read as
# that class.
MADE_BY = {
    "claim": "claimed", "resume": "resumed", "resume-expired": "resumedExpired",
    "revoke": "revoked", "resume-expired-revocations": "resumedRevocations",
    "apply-event": "eventApplied", "issue-challenge": "challenged",
    "forget-account": "forgotten", "check-schema": "schemaChecked",
}
RETURNS = {
    "record-event": "`ok`: it is the first time, or the same attempt as the first time",
}
# The arguments of a method that is older than the rule, in their order: `!` has no default,
# `=` has another one than null. Those of the table that are not among them come after them.
ORDER = {
    "claim": "evidence account! grant grantMode attemptId options",
    "resume": "purchaseKey account grant attemptId options",
    "resume-expired": "minExpiredMs=0 attemptId",
    "complete": "grant note",
    "revoke": "evidence takeBack grantMode attemptId options",
    "complete-revocation": "take taken",
    "resume-expired-revocations": "takeBack minExpiredMs=0 attemptId options",
    "apply-event": "evidence grant takeBack grantMode attemptId options",
    "find": "evidence account environment transactionId operatorView=false",
    "update-subscriptions": "evidence account confirmTransfer=false accountToken",
    "consume-quota": "account meter plan units=1",
    "begin-signup": "address! username password",
    "consume-challenge": "purpose subject evidence",
    "merge-accounts": "from to reason",
    "forget-account": "account reason",
}
# Other names than those of the table, which hosts share.
NAMES = {("merge-accounts", "from"): "from", ("merge-accounts", "to"): "to",
         ("begin-signup", "passwordBytes"): "password",
         ("update-device-key-receipt", "evidence"): "receipt"}
# One argument for several members, which it has as properties.
OBJECTS = {
    "complete": ("grant", "Grant", ("purchaseKey", "account", "grantId", "fencingToken"),
                 "that was granted"),
    "complete-revocation": ("take", "Take", ("purchaseKey", "takeId", "fencingToken"),
                            "that was taken back"),
}
# Said of a null `grantMode`, where the default of the table is not what a ledger does.
NULL = {"claim": '"transaction" where there is a grant, else "lease"'}
METHODS = {kind.name: generate_camel(kind.name) for kind in kinds.kinds()
           if kind.on == "ledger" and kind.runs == "store"}
CALLABLES = {
    "grant": "(callable(Grant, \\PDO|object): mixed)",
    "takeBack": "(callable(Take, \\PDO|object): mixed)",
}


class Argument:
    """One argument of a method: its declaration, its comment and the members that it gives."""

    def __init__(self, name, kind, text, given=(), default=None, listed="", is_hidden=False,
                 null=""):
        self.name, self.kind, self.text, self.given = name, kind, text, given
        self.default, self.listed, self.is_hidden = default, listed or kind, is_hidden
        self.null = null

    @property
    def declared(self):
        hidden = "#[SensitiveParameter] " if self.is_hidden else ""
        kind, tail = self.kind, "" if self.default is None else f" = {self.default}"
        if self.default == "null":
            kind = f"{kind}|null" if "|" in kind else f"?{kind}"
        return f"{hidden}{kind} ${self.name}{tail}"

    @property
    def comment(self):
        null = self.default == "null"
        more = "|null" if null and "null" not in self.listed else ""
        text = self.text + (f"; null: {self.null}" if null and self.null else "")
        return f"@param {self.listed}{more} ${self.name} {text}"


def in_php(text):
    """Words of the tables with the names of PHP: of methods, and null for what is absent."""
    for name, method in METHODS.items():
        text = text.replace(f"`{name}`", f"`{method}`")
    return text.replace("absent", "null").replace("Absent", "Null")


def lowered(text):
    """A sentence as what follows a name."""
    text = in_php(text).removesuffix(".")
    is_word = text[1:2].islower() or text.startswith("A ")
    return text[0].lower() + text[1:] if is_word and not text.startswith("Apple") else text


def said(member):
    """What an argument is, and what it may be."""
    text = lowered(member.does)
    if member.type == "choice":
        quoted = {choice: f'"{choice}"' for choice in member.bound.split("|")}
        for choice, value in quoted.items():
            text = text.replace(f"`{choice}`", value)
        if not all(value in text for value in quoted.values()):
            text += f" ({', '.join(quoted.values())})"
    elif member.type == "integer" and "2^53" not in member.bound:
        text += ", " + member.bound
    return text


def null_of(kind, member):
    """What a ledger does without the argument."""
    if member.name == "grantMode":
        return NULL.get(kind.name, "")
    if member.given == "made":
        return "made here" if member.type == "challenge" else "a new one"
    default = member.present.removeprefix("=") if member.present[0] == "=" else ""
    if default == "false" or "2^53" in default:
        return ""
    return f"`{default}`" if default.startswith("ledger.") else default


def of_member(kind, member):
    """The argument of one member."""
    name = NAMES.get((kind.name, member.name), member.argument)
    type_, listed = TYPES.get(member.type, "string"), ""
    if member.is_list:
        type_, listed = "array", "list<string>"
    value, text = f"${name}", said(member)
    if name == "password":
        type_, value, text = "string", "strlen($password)", "only its length leaves this process"
    elif member.type == "challenge":
        value = "$challenge ?? self::text(random_bytes(32))"
    elif member.given == "made":
        value = f"${name} ?? self::attempt()"
    elif type_ == "GetPlanResult":
        value = f"self::kept({value})"
    is_needed = member.is_required and member.given == "argument" or name == "password"
    return Argument(name, type_, text, [(member.name, value)], None if is_needed else "null",
                    listed, name == "password" or member.name in kind.hidden,
                    null_of(kind, member))


def of_evidence(kind):
    """The argument of the evidence; a text is the JWS of a transaction."""
    low, high = kind.evidence
    name = NAMES.get((kind.name, "evidence"), "evidence")
    if high > 1:
        text = "verified, or the JWS of a transaction"
        return Argument(name, f"string|{EVIDENCE}|iterable", text,
                        default=None if low else "[]", is_hidden=True,
                        listed=f"string|{EVIDENCE}|iterable<{EVIDENCE}>")
    text = "verified: " + " or ".join(kind.classes).replace("attest-receipt", "an attest receipt")
    return Argument(name, EVIDENCE, text, default=None if low else "null")


def of_host(member):
    """The grant or the take-back."""
    name = {"take": "takeBack"}.get(member.name, member.name)
    return Argument(name, "callable", lowered(member.does), default="null",
                    listed=CALLABLES[name])


def arguments(kind):
    """All of a method, in order."""
    first, needed, optional, last = [], [], [], []
    covered = ()
    if kind.evidence[1]:
        first.append(of_evidence(kind))
    if kind.name in OBJECTS:
        name, type_, covered, text = OBJECTS[kind.name]
        first.append(Argument(name, type_, text, [(each, f"${name}->{each}") for each in covered]))
    shared = [each for each in kind.members if each.operation.startswith("*")]
    for member in [each for each in kind.members if each not in shared] + shared:
        if member.place == "host":
            last.append(of_host(member))
        elif member.given in ("argument", "made") and member.name not in covered:
            found = of_member(kind, member)
            (needed if found.default is None else optional).append(found)
    return in_order(kind, first + needed + optional + last)


def in_order(kind, found):
    """The same in the order that the method had before, and what is newer after it."""
    by_name, ordered = {each.name: each for each in found}, []
    for word in ORDER.get(kind.name, "").split():
        name, _, default = word.rstrip("!").partition("=")
        one = by_name.pop(name, None) or Argument(
            "options", "array", "the arguments after it, by name; a given one replaces its option",
            default="[]", listed="array<string, mixed>")
        if word.endswith("!"):
            one.kind, one.default, one.listed = "?" + one.kind, None, one.listed + "|null"
        one.default = default or one.default
        ordered.append(one)
    return ordered + [each for each in found if each.name in by_name]


def wrapped(text, head, more):
    return textwrap.wrap(text, WIDTH, initial_indent=head, subsequent_indent=more,
                         break_long_words=False, break_on_hyphens=False)


def result_of(kind):
    """The class of what a method returns."""
    return kind.result.partition("@")[0]


def comment(kind, given):
    told = [each.comment for each in given]
    out = ["    /**", *wrapped(in_php(kind.does), "     * ", "     * ")]
    if told:
        out.append("     *")
    for each in told:
        out += wrapped(each, "     * ", "     *     ")
    if kind.name in RETURNS:
        out += ["     *", *wrapped(f"@return {result_of(kind)} {RETURNS[kind.name]}",
                                   "     * ", "     *     ")]
    return [*out, "     */"]


def request(kind, given, is_short):
    """The request as PHP, in the order of the table."""
    values = {member: value for each in given for member, value in each.given}
    order = [each.name for each in kind.members if each.name in values]
    pairs = [f"'{name}' => {value}"
             for name, value in [("operation", f"'{kind.name}'"), *((each, values[each])
                                                                    for each in order)]]
    if is_short:
        return [f"[{', '.join(pairs)}]"]
    return ["[", *(f"    {pair}," for pair in pairs), "]"]


def body(kind, given, is_short=True):
    """One statement; what is no member of the request is handed on beside it."""
    answer, how = result_of(kind), MADE_BY.get(kind.name)
    lines = request(kind, given, is_short)
    if any(each.name == "options" for each in given):
        lines[0], lines[-1] = "self::given(" + lines[0], lines[-1] + ", $options)"
    more = [f"${each.name}" + (" ?? []" if each.kind == EVIDENCE and each.default else "")
            for each in given if EVIDENCE in each.kind or each.name in CALLABLES
            and each.kind == "callable"]
    tail = "".join(f", {each}" for each in more)
    if how is None:
        asked = "answered" if kind.refused == "answer" else "accepted"
        lines[0] = f"return {answer}::in($this->{asked}({lines[0]}"
        lines[-1] += f"{tail}), '{kind.result.partition('@')[2]}');"
    else:
        lines[0] = f"return $this->{how}({lines[0]}"
        lines[-1] += f"{tail});"
    if len(lines[0]) + 8 > WIDTH:
        return body(kind, given, False)
    return [f"        {line}" for line in lines]


def method(kind):
    given = arguments(kind)
    name, answer = generate_camel(kind.name), result_of(kind)
    line = f"    public function {name}({', '.join(each.declared for each in given)}): {answer}"
    out = ["", *comment(kind, given)]
    if len(line) <= WIDTH:
        out += [line, "    {"]
    else:
        out += [f"    public function {name}(",
                *(f"        {each.declared}," for each in given), f"    ): {answer} {{"]
    return [*out, *body(kind, given), "    }"]


def outputs(_table, _contract):
    out = ["<?php", "",
           "// Generated by tools/generate.py from kinds.tsv and kind-members.tsv. Do not edit.",
           "", "declare(strict_types=1);", "", "namespace Assay\\Ledger;", "",
           "use Assay\\Document;", "use Assay\\Facts\\Facts;", "use SensitiveParameter;", "",
           "/**", " * The methods of a Ledger, one for each operation.", " *",
           " * @internal used by Ledger only", " */", "trait LedgerCalls", "{"]
    methods = [line for kind in kinds.kinds()
               if kind.runs == "store" and kind.on == "ledger" and kind.name not in BY_HAND
               for line in method(kind)]
    return {OUT: "\n".join([*out, *methods[1:], "}", ""])}
