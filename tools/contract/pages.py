"""Write tables of the pages, texts of the command line, the configuration's schema and the picture
of the ledger's tables.

  docs/documents.md                                 from facts.tsv: what stands between its marks
  docs/config.md, docs/config.schema.json           from configuration.tsv
  docs/tasks/app-store-server-api.md                from kinds.tsv and kind-members.tsv: its table
  docs/exchanges.md                                 the same for all other operations
  docs/pictures/schema.svg                          from store/tables.tsv
  Sources/assay-cli/Explain/ExplanationText.swift   `assay explain` and `assay init`: explanations

`statuses_page` makes docs/statuses.md of the site and of a release, which is not in git.
"""
import json
import re

from . import explanations
from .explanations import find_shown, read_page
from .reader import fail
from .text import strip_marks, translate


# ---- docs/documents.md -------------------------------------------------------------------------

DOCUMENTS = "docs/documents.md"
BLOCK = re.compile(r"(<!-- members ([\w ]+) -->\n).*?(<!-- end -->\n)", re.S)
# Base types whose members the page lists once, not again in each derived type.
TOLD_ONCE = {"Signed"}
KINDS = {"octets": "base64 text", "duration": "integer", "json": "object", "texts": "object",
         "value": "text, integer or boolean"}


def describe_kind(row, types, sets):
    name = "text" if row.kind in sets else KINDS.get(row.kind, row.kind)
    if row.kind in types:
        name = "facts" if types[row.kind].is_top else f"[{row.kind}](#{row.kind.lower()})"
    if row.is_list:
        return f"array of {name}"
    if row.kind in ("texts", "json"):
        return f"{name}, if there are any"
    if row.is_always:
        return name
    return f"{name} or absent" if row.place == "signed" else f"{name} or null"


def write_cell(text, one):
    """Return a text of facts.tsv as a cell, with quoted values between code marks."""
    text = translate(text, one, lambda row: row.key, "null")
    return re.sub(r'"([^"]+)"', r"`\1`", text).replace("|", "\\|")


def write_member_table(one, types, sets):
    out = ["| member | type | meaning | from |", "|---|---|---|---|"]
    for row in one.members:
        if not any(row in base.members for base in one.bases if base.name in TOLD_ONCE):
            name = f"payload.{row.key}" if row.place == "signed" else row.key
            cells = (f"`{name}`", describe_kind(row, types, sets), write_cell(row.text, one),
                     row.source)
            out.append(f"| {' | '.join(cells)} |")
    return out


def write_documents(contract):
    """Return the page with the members of the types that its marks name; of several types each has
    a heading."""
    types = {one.name: one for one in contract.types}
    sets = {each.name for each in contract.value_sets}

    def block(found):
        names, out = found[2].split(), []
        for name in names:
            one = types[name] if name in types else fail(DOCUMENTS, f"there is no type {name}")
            if len(names) > 1:
                out += [f"### {name}", write_cell(one.text, one).replace("\\n\\n", " "), ""]
            out += [*write_member_table(one, types, sets), ""]
        return found[1] + "\n".join(out[:-1]) + "\n" + found[3]

    return BLOCK.sub(block, read_page(DOCUMENTS))


# ---- the configuration -------------------------------------------------------------------------

CONFIG = "docs/config.md"
CONFIG_HEAD = "| member | values | default | meaning |"
SHARED = "Shared members"


def make_object_schema(inner):
    required = [each.name for each in inner if each.is_required]
    return {"additionalProperties": False, **({"required": required} if required else {}),
            "properties": {each.name: make_setting_schema(each) for each in inner}}


def make_setting_schema(setting):
    schema = {"description": describe(setting), **setting.schema}
    if setting.inner:
        inside = make_object_schema(setting.inner)
        if schema["type"] == "array":
            schema["items"] = {"type": "object", **inside}
        elif setting.inner[0].outer.endswith(".*"):
            schema["additionalProperties"] = {"type": "object", **inside}
        else:
            schema.update(inside)
    if setting.has_default:
        schema["default"] = setting.default
    return schema


def describe(setting):
    """Return the meaning, with the default if the default is described in words."""
    texts = [setting.meaning]
    if setting.shown:
        texts.append(("" if setting.shown.startswith("required") else "default: ") + setting.shown)
    return " ".join(text[:1].upper() + text[1:] + "." for text in map(strip_marks, texts))


def write_json(value, indent=""):
    """Return indented JSON like json.dumps, but with short objects and lists on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or len(indent + line) <= 80:
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        begin, end = "{}"
        parts = [f"{json.dumps(name)}: {write_json(entry, inner)}" for name, entry in value.items()]
    else:
        begin, end = "[]"
        parts = [write_json(entry, inner) for entry in value]
    return f"{begin}\n" + ",\n".join(inner + part for part in parts) + f"\n{indent}{end}"


def write_config_schema(settings):
    return write_json({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of an Assay verifier",
        "description": "What assay_verifier_new accepts. Members that are not named here are "
                       "refused. See config.md.",
        "type": "object", **make_object_schema([each for each in settings if not each.outer]),
    }) + "\n"


def describe_default(setting):
    if setting.shown:
        return setting.shown
    if not setting.has_default:
        return "required" if setting.is_required else "none"
    if isinstance(setting.default, (bool, int)):
        return json.dumps(setting.default)
    if isinstance(setting.default, str):
        return f"`{setting.default}`"
    return f"`{json.dumps(setting.default, separators=(',', ':'))}`"


def write_config(settings):
    """Return the page with the rows of its tables rewritten."""
    out, heading, listed, skipping = [], "", set(), False
    for line in read_page(CONFIG).splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ").replace("`", "")
        skipping = skipping and line.startswith("|")
        if skipping:
            continue
        out.append(line)
        if line == CONFIG_HEAD:
            skipping = True
            out.append("|---|---|---|---|")
            for block, path, each in find_shown(settings):
                if block == ("" if heading == SHARED else heading):
                    listed.add(each.path)
                    cells = f"`{path}`", each.taken, describe_default(each), each.meaning
                    out.append(f"| {' | '.join(cells)} |")
    missing = {each.path for _, _, each in find_shown(settings)} - listed
    return fail(CONFIG, f"no table of {sorted(missing)}") if missing else "\n".join(out) + "\n"


# ---- the App Store Server API ------------------------------------------------------------------

API = "docs/tasks/app-store-server-api.md"
API_HEAD = "| operation | members | gives |\n"
GIVES = {
    "signedTransactionInfo": "`transactions`", "signedAppTransactionInfo": "`appTransaction`",
    "data": "`statuses`, `transactions`, `renewals`", "status": "`transactions`, `unsigned`",
    "signedPayload": "`notifications`, `unsigned`",
}


def describe_answer(kind):
    if not kind.answer:
        return "nothing: Apple took it"
    if kind.paging == "revision":
        return "`transactions`, `next`"
    if kind.paging != "-":
        return "`notifications`, `next`"
    return GIVES.get(kind.answer[0], "`unsigned`")


def write_app_store(contract):
    head, found, rest = read_page(API).partition(API_HEAD)
    if not found:
        fail(API, "no table of the operations")
    lines = ["|---|---|---|"]
    for each in contract.app_store_kinds:
        does = each.does[:1].lower() + each.does[1:].rstrip(".")
        lines.append(f"| `{each.name}`: {does} | {list_members(each.parameters)} "
                     f"| {describe_answer(each)} |")
    after = re.sub(r"\A(\|.*\n)*", "", rest)
    return head + found + "\n".join([*lines, after])


def list_members(members):
    return ", ".join(f"`{member.name}`{'' if member.is_required else '?'}"
                     for member in members) or "–"


# ---- the other operations ----------------------------------------------------------------------

EXCHANGES = "docs/exchanges.md"
EXCHANGES_HEAD = "| operation | steps | members | facts in the document |\n"
STEPS = {"call": "–", "http": "`http`", "store": "`database`"}
HEADING = re.compile(r"^#{2,4} (.*)$", re.M)


def describe_result(kind, types):
    """Return where a document has what an operation answers: the path of its type, or in `exchange`
    itself the members of the type."""
    if kind.result == "document":
        return "the document itself"
    path = kind.result.partition("@")[2]
    if path != "exchange":
        return f"`{path}`"
    first, *more = [row.key for row in types[kind.answers].members]
    return ", ".join([f"`exchange.{first}`", *(f"`{key}`" for key in more)])


def write_operations(contract):
    """Return the page with the row of each operation; those with a heading of their own are links
    to it."""
    page = read_page(EXCHANGES)
    head, found, rest = page.partition(EXCHANGES_HEAD)
    if not found:
        fail(EXCHANGES, "no table of the operations")
    types = {one.name: one for one in contract.all_types}
    links = {name: re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")
             for heading in HEADING.findall(page) for name in re.findall(r"`([\w-]+)`", heading)}
    lines = ["|---|---|---|---|"]
    for each in contract.kinds:
        if each.is_app_store:
            continue
        name = f"`{each.name}`"
        name = f"[{name}](#{links[each.name]})" if each.name in links else name
        own = [member for member in each.members
               if member.operation == each.name and member.is_sent]
        does = each.does.partition(". ")[0].rstrip(".")
        lines.append(f"| {name}: {does[:1].lower() + does[1:]} | {STEPS[each.runs]} "
                     f"| {list_members(own)} | {describe_result(each, types)} |")
    after = re.sub(r"\A(\|.*\n)*", "", rest)
    return head + found + "\n".join([*lines, after])


# ---- the picture of the ledger's tables --------------------------------------------------------

# Left and top of each box; all boxes have the same width.
PLACES = {"purchase_key": (20, 50), "purchase": (240, 50), "evidence": (460, 50),
          "subscription": (680, 50), "quota": (20, 150), "challenge": (20, 300),
          "event": (20, 466), "audit": (460, 160), "merged_account": (460, 312),
          "schema": (460, 428), "device_key": (680, 432),
          "run": (900, 50), "difference": (900, 352), "refund": (1120, 50),
          "customer": (240, 482), "download": (240, 608), "restriction": (460, 540)}
ARROWS = [("purchase_key", "target", "purchase"), ("purchase", "evidence", "evidence"),
          ("subscription", "evidence", "evidence")]
WIDTH, LINE, HEAD = 180, 16, 26
STYLE = """\
svg{--back:#fbfbf9;--box:#ffffff;--text:#1d2125;--quiet:#6b7280;--line:#9aa4ad}
@media (prefers-color-scheme:dark){svg{--back:#1d2125;--box:#262b30;--text:#e2e5e8;--quiet:#9aa4ad;--line:#5b636b}}
text{font:12px ui-monospace,"DejaVu Sans Mono",monospace;fill:var(--text)}
.name{font-weight:700}.key{text-decoration:underline}.none{fill:var(--quiet)}
rect.box{fill:var(--box);stroke:var(--line)}path{stroke:var(--line);fill:none}.head{fill:var(--line);stroke:none}"""
LABEL = ("The tables of the ledger: the keys of a purchase lead to its row; purchases and "
         "subscriptions name their evidence; counters, challenges, device keys, events, "
         "merged accounts, audit rows, runs of reconcile, differences, refunds, customers, "
         "downloads and restrictions are on their own")


def draw_box(table):
    left, top = PLACES[table.name]
    height = HEAD + LINE * len(table.columns) + 6
    out = [f'<rect class="box" x="{left}" y="{top}" width="{WIDTH}" height="{height}" rx="4"/>',
           f'<text class="name" x="{left + 10}" y="{top + 17}">assay_{table.name}</text>',
           f'<path d="M{left} {top + HEAD - 2}h{WIDTH}"/>']
    for place, column in enumerate(table.columns):
        style = "key" if column.is_key else "none" if column.is_null else ""
        out.append(f'<text class="{style}" x="{left + 10}" y="{top + HEAD + 13 + LINE * place}">'
                   f"{column.name}</text>")
    return out


def draw_arrow(tables, source, column, target):
    """Return an arrow from a column to the table whose key the column holds."""
    left, top = PLACES[source]
    names = [each.name for each in tables[source].columns]
    y = top + HEAD + 9 + LINE * names.index(column)
    goal_x, goal_y = PLACES[target]
    goal_y += 13
    start, end, back = (left + WIDTH, goal_x, -8) if goal_x > left else (left, goal_x + WIDTH, 8)
    return [f'<path d="M{start} {y}H{(start + end) / 2:g}V{goal_y}H{end}"/>',
            f'<path class="head" d="M{end} {goal_y}l{back} -4v8z"/>']


def draw_tables(tables):
    return "\n".join([
        '<svg xmlns="http://www.w3.org/2000/svg" width="1320" height="720" viewBox="0 0 1320 720" '
        f'role="img" aria-label="{LABEL}">', f"<style>\n{STYLE}\n</style>",
        '<rect width="1320" height="720" rx="8" fill="var(--back)"/>',
        '<text class="none" x="20" y="28">underlined: the key; grey: may be null</text>',
        *(line for each in ARROWS for line in draw_arrow(tables, *each)),
        *(line for table in tables.values() for line in draw_box(table)), "</svg>", ""])


# ---- docs/statuses.md --------------------------------------------------------------------------


def escape(words):
    """Escape Markdown in a text, except inside code marks."""
    return "".join(part if part.startswith("`") else re.sub(r"([*_<\[\\])", r"\\\1", part)
                   for part in re.split(r"(`[^`]*`)", words))


def write_statuses_page(contract):
    words = contract.words
    out = ["# Every refusal", "A call answers with a status. `status & 0xff` is the family, and "
           "all that code should branch on; the rest is detail. Cause and remedy are the sentences "
           "in `error.message` and `error.hint` of a document. *Answer* is what a back end would "
           "tell its own client; the six answers that a client needs are in "
           "[Receipts](receipts.md#5-answer-the-client), the rest in "
           "[errors.md](tasks/errors.md)."]
    for family in words.families:
        out.append(f"## {family.number} {family.name}\n\n{escape(family.meaning)} "
                   f"{escape(family.remedy)}")
        area = None
        for row in sorted((row for row in contract.statuses if row.family == family.number),
                          key=lambda row: row.name.split(".")):
            if row.name.split(".")[1] != area:
                area = row.name.split(".")[1]
                out.append(f"### {family.name}.{area}")
            facts = [("cause", row.message), ("remedy", row.hint),
                     *((words.for_whom(kinds), hint) for kinds, hint in row.hints),
                     ("again?", f"{words.retry[row.retry]} ({row.retry})"),
                     ("answer", f"HTTP {row.http}" if row.http.isdigit() else row.http),
                     ("rule", row.rules.replace(",", ", ") or "–"),
                     ("code", f"{row.code} = {row.family} + 256 × {row.detail}")]
            out.append(f"#### `{row.name}`\n\n" + "\n".join(
                f"- *{name}:* {escape(said)}" for name, said in facts))
    return "\n\n".join(out)


def files(contract):
    return {
        DOCUMENTS: write_documents(contract),
        CONFIG: write_config(contract.configuration),
        "docs/config.schema.json": write_config_schema(contract.configuration),
        API: write_app_store(contract),
        EXCHANGES: write_operations(contract),
        "docs/pictures/schema.svg": draw_tables(contract.tables),
        "Sources/assay-cli/Explain/ExplanationText.swift": explanations.write(contract, describe_default),
    }
