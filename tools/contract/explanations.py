"""Write the texts of `assay explain` and `assay init`, one line for each name that has an
explanation, from the tables of contract/ and from tables of docs/: decisions.md, risk.md, and
Apple's numbers and types in docs/spec.

  Sources/assay-cli/Explain/ExplanationText.swift
"""
import re

from .reader import ROOT, fail, read_rows
from .text import strip_marks

RULE = re.compile(r"[A-Z]{3}-\d+")
# A name from each page of docs/ that is read here.
WANTED = {"21007", "4040010", "ExpirationIntent", "ConsumptionStatus", "RESCIND_CONSENT"}


def read_page(path):
    return (ROOT / path).read_text()


def strip_cell(text):
    """Return a cell of Markdown as plain text, without stars too."""
    text = strip_marks(text).replace("\\n\\n", " ")
    return text.replace("**", "").replace("\\|", "|").strip()


def read_tables(name):
    """Yield (heading, header, row) of every row of every table of a page."""
    heading, header = "", None
    for line in read_page(f"docs/{name}").splitlines():
        cells = [strip_cell(cell) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if line.startswith("#"):
            heading, header = line.lstrip("# ").replace("`", ""), None
        elif not line.startswith("|"):
            header = None
        elif header is None:
            header = cells
        elif set(line) - set("|-: "):
            yield heading, header, cells


def read_rules(name, columns):
    """Yield (rule, {column: text}) of the tables of a page whose rows begin with a rule."""
    for _, header, row in read_tables(name):
        if header[1:] == columns and RULE.fullmatch(row[0]):
            yield row[0], dict(zip(columns, row[1:]))


def find_shown(settings):
    """Yield (block, path inside it, setting) of every member that docs/config.md lists."""
    blocks = {each.path for each in settings if each.is_block}
    for each in settings:
        if each.values != "-" and (each.values or not each.inner):
            block, _, rest = each.path.partition(".")
            block = block.removesuffix("[]")
            yield (block, rest, each) if block in blocks else ("", each.path, each)


# ---- names, each with facts that have names -----------------------------------------------------

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


def find_rules():
    for _, (rule, page, kind, state, title, *reason) in read_rows("rules.tsv", 5, 6):
        sort = [RULE_KINDS[kind], *filter(None, [RULE_STATES.get(state, "")]), *reason]
        yield rule, [("rule", title), ("what it is", "; ".join(sort)),
                     ("page", "docs/spec/" + page)]


def find_blocks(contract):
    """Yield the members of a configuration that have no line of their own: blocks, and what the
    block says of its members."""
    listed = {member.path for _, _, member in find_shown(contract.configuration)}
    for member in contract.configuration:
        if member.path not in listed:
            inner = ", ".join(each.path for each in member.inner)
            yield member.path, [("meaning", member.meaning), ("members", inner)]


def find_operations(contract):
    for kind in contract.kinds:
        facts = [("does", kind.does), ("what it is", f"an operation: {RUNS[kind.runs]}"),
                 ("members", ", ".join(kind.sent)), ("page", "docs/exchanges.md; " + kind.source)]
        yield kind.name, facts


def find_kinds(contract, known):
    for one in contract.all_types:
        if one.path and one.is_top and one.document_kind not in {"exchange", *known}:
            yield one.document_kind, [
                ("what it is", "a kind of document"), ("meaning", one.text),
                ("facts", ", ".join(dict.fromkeys(member.key for member in one.members)))]


def find_types(contract):
    for one in contract.all_types:
        yield one.name, [
            ("what it is", "a type of facts"), ("meaning", one.text),
            ("members", ", ".join(dict.fromkeys(member.key for member in one.members)))]


def find_notifications():
    """Yield what a notification of each type says, by its subtype."""
    told = {}
    for _, header, row in read_tables("spec/storekit-payloads.md"):
        if header == ["type", "subtype", "what happened", "effect"]:
            for name in re.findall(r"[A-Z_]{4,}", row[0]):
                told.setdefault(name, []).append(
                    (row[1].replace("–", "") or "without subtype", f"{row[2]}: {row[3]}"))
    yield from told.items()


def find_values(contract):
    told = {name for name, _ in find_enums()}
    for each in contract.all_value_sets:
        values = [f"{value} {name}" if each.is_numeric else value for name, value in each.values]
        if not (each.is_numeric and each.name in told):
            yield each.name, [("what it is", "a set of values"), ("meaning", each.about()),
                              ("values", ", ".join(values))]
    told = dict(find_notifications())
    classes = {each.name: [("meaning", each.meaning), ("in plain words", each.explanation)]
               for each in contract.request_classes}
    for each in contract.all_value_sets:
        for _, value in each.values if not each.is_numeric else []:
            more = {"NotificationType": told, "Category": classes}.get(each.name, {})
            yield value, [("value of", f"{each.name}: {each.text}"), *more.get(value, [])]
    of_triage = {value for each in contract.all_value_sets if each.name == "Category"
                 for _, value in each.values}
    for name, facts in classes.items():
        if name not in of_triage:
            yield name, [("what it is", "a class of assay report"), *facts]


def find_enums():
    """Yield Apple's numbered values, by the names that Apple gives them."""
    for _, header, row in read_tables("spec/storekit-payloads.md"):
        if header == ["enum", "values"] and re.match(r"\d", row[1]):
            yield row[0], [("what it is", "numbers of Apple's"), ("values", row[1])]
    page = read_page("docs/spec/app-store-server-api.md")
    for found in re.findall(r"\*\*(\w+)\*\*: (\d.*?)(?=\. \*\*|$)", page, re.M):
        yield found[0], [("what it is", "numbers of Apple's, in the App Store Server API"),
                         ("values", strip_cell(found[1]))]


def find_numbers(contract):
    """Yield the statuses of verifyReceipt, and the error numbers of the App Store Server API."""
    numbers = []
    for _, header, row in read_tables("spec/receipts-triage.md"):
        if header == ["status", "meaning", "retry class", "result"] and row[0][0].isdigit():
            numbers.append(row[0])
            yield row[0], [("what it is", "a status of Apple's verifyReceipt"), ("meaning", row[1]),
                           ("again?", row[2].replace("–", "")),
                           ("result", row[3].replace("hop,", "the other endpoint is asked,"))]
    yield "verifyReceipt", [
        ("what it is", VERIFY_RECEIPT), ("operation", "call-verify-receipt asks it"),
        ("kind", "verify-receipt-response is its answer"), ("its statuses", ", ".join(numbers))]
    for number, name in contract.app_store_errors:
        http = int(number) // 10_000
        again = "later" if int(number) in RETRYABLE else "never"
        facts = [("what it is", "an error number of the App Store Server API"), ("name", name),
                 ("number", str(number)), ("HTTP", str(http)),
                 ("again?", RETRIES[again])]
        if http in API_STATUSES and again == "never":
            facts.append(("result", API_STATUSES[http]))
        yield str(number), facts


def find_things(contract):
    """Yield (kind, name, facts) of everything else that has a name."""
    operations = list(find_operations(contract))
    for kind, found in [
            ("rule", find_rules()), ("member", find_blocks(contract)), ("operation", operations),
            ("kind", find_kinds(contract, {name for name, _ in operations})),
            ("number", find_numbers(contract)),
            ("value", find_values(contract)), ("enum", find_enums()), ("type", find_types(contract))]:
        for name, facts in found:
            yield kind, name, [(label, strip_cell(text)) for label, text in facts if text]

# ---- lines -------------------------------------------------------------------------------------

def explain(contract, describe_default):
    """Yield the fields of each line: what it is, and what is said of it."""
    for family in contract.words.families:
        yield "family", *map(str, family)
    for name, text in contract.words.retry.items():
        yield "retry", name, text
    for each in contract.statuses:
        yield ("status", str(each.code), each.name, each.message, each.hint, each.retry, each.http,
               each.rules)
        for kinds, hint in each.hints:
            yield "hint", each.name, contract.words.for_whom(kinds), hint
    for rule, row in read_rules("decisions.md", ["when", "state", "entitled"]):
        yield "decision", rule, row["when"], row["state"], row["entitled"]
    for rule, row in read_rules("risk.md", ["when", "verdict"]):
        yield "risk", rule, row["when"], row["verdict"]
    for _, _, each in find_shown(contract.configuration):
        cells = each.taken, describe_default(each), each.meaning
        yield "member", each.path, *map(strip_cell, cells)
    for each in contract.request_classes:
        yield "class", *each
    for kind, name, facts in find_things(contract):
        yield "thing", kind, name, *(field for fact in facts for field in fact)


def write(contract, describe_default):
    lines = list(explain(contract, describe_default))
    for word, path in [("decision", "docs/decisions.md"), ("risk", "docs/risk.md")]:
        if not any(fields[0] == word for fields in lines):
            fail(path, "its table of rules is not where it was")
    things = {fields[2]: fields for fields in lines if fields[0] == "thing"}
    if missing := WANTED - things.keys():
        fail("docs/spec", f"no table has {sorted(missing)}")
    for field in (field for fields in lines for field in fields):
        if "\t" in field or "\n" in field or '"""' in field:
            fail("ExplanationText.swift", f"{field!r} cannot be in a line")
    return "\n".join([
        "// Generated by tools/generate.py. Do not edit.", "// swift-format-ignore-file", "",
        "/// What is explained, one line each: what it is, and its fields after tabs.",
        "enum ExplanationText {", '  static let lines: StaticString = #"""',
        *("    " + "\t".join(fields) for fields in lines), '    """#', "}", ""])
