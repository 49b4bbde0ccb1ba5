"""Generate the texts of `assay explain` and `assay init` from the tables of contract/ (statuses,
configuration, rules, operations, facts, sets of values, error numbers) and from tables of docs/:
decisions.md, risk.md, and Apple's numbers and types in docs/spec.

  Sources/assay-cli/Explain/ExplanationText.swift
"""
import re
import sys

from endpoints import errors
from generate_configuration import default, members as configured, shown, values
from kinds import kinds
from members import all_types, all_value_sets
from status_rows import ANSWERS, FAMILIES, RETRY, ROOT, for_whom

TARGET = "Sources/assay-cli/Explain/ExplanationText.swift"
RULE = re.compile(r"[A-Z]{3}-\d+")


def plain(text):
    """Return Markdown as plain text, without code marks, stars and link targets."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<(.*?)>", r"<\1>", text).replace("\\n\\n", " ")
    return text.replace("`", "").replace("**", "").replace("\\|", "|").strip()


def cells(line):
    return [plain(cell) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def tables(name):
    """Yield (heading, header, row) of every row of every table of a page."""
    heading, header = "", None
    for line in (ROOT / "docs" / name).read_text().splitlines():
        if line.startswith("#"):
            heading, header = line.lstrip("# ").replace("`", ""), None
        elif not line.startswith("|"):
            header = None
        elif header is None:
            header = cells(line)
        elif set(line) - set("|-: "):
            yield heading, header, cells(line)


def rules(name, columns):
    """Yield (rule, {column: text}) of the tables whose rows begin with a rule."""
    for _, header, row in tables(name):
        if header[1:] == columns and RULE.fullmatch(row[0]):
            yield row[0], dict(zip(columns, row[1:]))


def members():
    """Yield (path, values, default, meaning) of every member of the configuration."""
    for _, _, member in shown(configured()):
        yield (member.path, *map(plain, (values(member), default(member), member.meaning)))


# MARK: things, each with facts that have names

RULE_KINDS = {
    "check": "a check: it refuses something", "part": "a part of a check",
    "fact": "what an answer says, or is made of", "row": "a row of a table of decisions",
    "design": "how the library is built, or what it costs", "duty": "the duty of your server",
}
RULE_STATES = {"planned": "not built yet", "part": "built in part"}
RUNS = {"call": "answered at once", "http": "an exchange over the network",
        "store": "an exchange with your database"}
# HTTP status, the first digits of an error number -> what its refusal is called (API-50, API-52).
API_STATUSES = {
    400: "rejected.app-store.bad-request", 403: "rejected.app-store.forbidden",
    404: "rejected.app-store.not-found", 409: "rejected.app-store.conflict",
}
RETRIES = {"later": "later, with back-off", "never": "no: the same request is refused again"}
RETRYABLE = {4040002, 4040004, 4040006, 4290000, 5000001}
VERIFY_RECEIPT = (
    "Apple's endpoint that decodes a receipt: POST https://buy.itunes.apple.com/verifyReceipt, of "
    "the Sandbox https://sandbox.itunes.apple.com/verifyReceipt")


def rule_things():
    for text in (ROOT / "contract/rules.tsv").read_text().splitlines():
        if text and not text.startswith("#"):
            rule, page, kind, state, title, *reason = text.split("\t")
            sort = [RULE_KINDS[kind], *filter(None, [RULE_STATES.get(state, "")]), *reason]
            yield rule, [("rule", title), ("what it is", "; ".join(sort)),
                         ("page", "docs/spec/" + page)]


def block_things():
    """Yield the members of a configuration that have no line of their own: blocks, and what the
    block says of its members."""
    listed = {member.path for _, _, member in shown(configured())}
    for member in configured():
        if member.path not in listed:
            inner = ", ".join(each.path for each in member.inner)
            yield member.path, [("meaning", member.meaning), ("members", inner)]


def operation_things():
    for kind in kinds():
        facts = [("does", kind.does), ("what it is", f"an operation: {RUNS[kind.runs]}"),
                 ("members", ", ".join(kind.sent)), ("page", "docs/exchanges.md; " + kind.source)]
        yield kind.name, facts


def kind_things(known):
    for one in all_types():
        if one.path and one.is_top and one.document_kind not in {"exchange", *known}:
            yield one.document_kind, [
                ("what it is", "a kind of document"), ("meaning", one.text),
                ("facts", ", ".join(dict.fromkeys(member.key for member in one.members)))]


def type_things():
    for one in all_types():
        yield one.name, [
            ("what it is", "a type of facts"), ("meaning", one.text),
            ("members", ", ".join(dict.fromkeys(member.key for member in one.members)))]


def notification_things():
    """Yield what a notification of each type says, by its subtype."""
    told = {}
    for _, header, row in tables("spec/storekit-payloads.md"):
        if header == ["type", "subtype", "what happened", "effect"]:
            for name in re.findall(r"[A-Z_]{4,}", row[0]):
                told.setdefault(name, []).append(
                    (row[1].replace("–", "") or "without subtype", f"{row[2]}: {row[3]}"))
    yield from told.items()


def value_things():
    for each in all_value_sets():
        yield each.name, [("what it is", "a set of values"), ("meaning", each.text),
                          ("values", ", ".join(value for _, value in each.values))]
    told = dict(notification_things())
    for each in all_value_sets():
        for _, value in each.values:
            more = told.get(value, []) if each.name == "NotificationType" else []
            yield value, [("value of", f"{each.name}: {each.text}"), *more]


def enum_things():
    """Yield Apple's numbered values, by the names that Apple gives them."""
    for _, header, row in tables("spec/storekit-payloads.md"):
        if header == ["enum", "values"] and re.match(r"\d", row[1]):
            yield row[0], [("what it is", "numbers of Apple's"), ("values", row[1])]
    page = (ROOT / "docs/spec/app-store-server-api.md").read_text()
    for found in re.findall(r"\*\*(\w+)\*\*: (\d.*?)(?=\. \*\*|$)", page, re.M):
        yield found[0], [("what it is", "numbers of Apple's, in the App Store Server API"),
                         ("values", plain(found[1]))]


def number_things():
    """Yield the statuses of verifyReceipt, and the error numbers of the App Store Server API."""
    numbers = []
    for _, header, row in tables("spec/receipts-triage.md"):
        if header == ["status", "meaning", "retry class", "result"] and row[0][0].isdigit():
            numbers.append(row[0])
            yield row[0], [("what it is", "a status of Apple's verifyReceipt"), ("meaning", row[1]),
                           ("again?", row[2].replace("–", "")),
                           ("result", row[3].replace("hop,", "the other endpoint is asked,"))]
    yield "verifyReceipt", [
        ("what it is", VERIFY_RECEIPT), ("operation", "call-verify-receipt asks it"),
        ("kind", "verify-receipt-response is its answer"), ("its statuses", ", ".join(numbers))]
    for number, name in errors():
        http = int(number) // 10_000
        again = "later" if int(number) in RETRYABLE else "never"
        facts = [("what it is", "an error number of the App Store Server API"), ("name", name),
                 ("number", str(number)), ("HTTP", str(http)),
                 ("again?", RETRIES[again])]
        if http in API_STATUSES and again == "never":
            facts.append(("result", API_STATUSES[http]))
        yield str(number), facts


def things():
    """Yield (kind, name, facts) of everything else that has a name."""
    operations = list(operation_things())
    for kind, found in [
            ("rule", rule_things()), ("member", block_things()), ("operation", operations),
            ("kind", kind_things({name for name, _ in operations})), ("number", number_things()),
            ("value", value_things()), ("enum", enum_things()), ("type", type_things())]:
        for name, facts in found:
            yield kind, name, [(label, plain(text)) for label, text in facts if text]


def line(*fields):
    for field in fields:
        if "\t" in field or "\n" in field or '"""' in field:
            sys.exit(f"generate_command_line.py: {field!r} cannot be in a line")
    return "    " + "\t".join(fields)


def outputs(table, _):
    out = ["// Generated by tools/generate.py. Do not edit.",
           "// swift-format-ignore-file", "",
           "/// What is explained, one line each: what it is, and its fields after tabs.",
           "enum ExplanationText {", '  static let lines: StaticString = #"""']
    for number, family, meaning in FAMILIES:
        out.append(line("family", str(number), family, meaning, ANSWERS.get(family, "")))
    out += [line("retry", name, text) for name, text in RETRY.items()]
    for row in table:
        out.append(line("status", str(row.code), row.name, row.message, row.hint, row.retry,
                        row.http, row.rules))
        out += [line("hint", row.name, for_whom(kinds), hint) for kinds, hint in row.hints]
    found = list(rules("decisions.md", ["when", "state", "entitled"]))
    out += [line("decision", rule, row["when"], row["state"], row["entitled"])
            for rule, row in found]
    risks = list(rules("risk.md", ["when", "verdict"]))
    out += [line("risk", rule, row["when"], row["verdict"]) for rule, row in risks]
    known = list(members())
    out += [line("member", *member) for member in known]
    others = list(things())
    out += [line("thing", kind, name, *(field for fact in facts for field in fact))
            for kind, name, facts in others]
    # Of each page of docs/ that is read here, one name.
    wanted = {"21007", "4040010", "ExpirationIntent", "ConsumptionStatus", "RESCIND_CONSENT"}
    if not (found and risks and known) or wanted - {name for _, name, _ in others} or not any(
            name == "RESCIND_CONSENT" and len(facts) > 1 for _, name, facts in others):
        sys.exit("generate_command_line.py: a table of docs/ is not where it was")
    return {TARGET: "\n".join([*out, '    """#', "}", ""])}
