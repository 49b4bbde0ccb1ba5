"""Generate the tables of docs/documents.md from the table of facts.

Only the text between `<!-- members TYPE ... -->` and `<!-- end -->` is generated: the members of
one type, or of several types with a heading each.
"""
import re
import sys

import members
from status_rows import ROOT

PAGE = "docs/documents.md"
BLOCK = re.compile(r"(<!-- members ([\w ]+) -->\n).*?(<!-- end -->\n)", re.S)
# Base types whose members the page lists once, not again in each derived type.
TOLD_ONCE = {"Signed"}
KINDS = {"octets": "base64 text", "duration": "integer", "json": "object", "texts": "object"}


def kind(row, types, sets):
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


def table(one, types, sets):
    told_here = [row for row in one.members
                 if not any(row in base.members for base in one.bases if base.name in TOLD_ONCE)]
    out = ["| member | type | meaning | from |", "|---|---|---|---|"]
    for row in told_here:
        name = f"payload.{row.key}" if row.place == "signed" else row.key
        text = members.told(row.text, one, lambda each: each.key, "null")
        out.append(f"| `{name}` | {kind(row, types, sets)} | {escaped(text)} | {row.source} |")
    return out


def escaped(text):
    """Escape the bars of a table cell and put quoted values into code marks."""
    return re.sub(r'"([^"]+)"', r"`\1`", text).replace("|", "\\|")


def section(names, types, sets):
    out = []
    for name in names:
        if name not in types:
            sys.exit(f"{PAGE}: there is no type {name}")
        one = types[name]
        if len(names) > 1:
            text = members.told(one.text, one, lambda each: each.key, "null")
            out += [f"### {name}", escaped(text.replace("\\n\\n", " ")), ""]
        out += [*table(one, types, sets), ""]
    return "\n".join(out[:-1]) + "\n"


def outputs(rows, contract):
    types = {one.name: one for one in members.types()}
    sets = {each.name for each in members.value_sets()}
    page = (ROOT / PAGE).read_text()
    return {PAGE: BLOCK.sub(
        lambda found: found[1] + section(found[2].split(), types, sets) + found[3], page)}
