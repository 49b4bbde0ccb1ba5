"""Generate the configuration's members from contract/configuration.tsv.

  Sources/Assay/Configuration/ConfigurationTable.swift  names, bounds and plain values
  docs/config.schema.json                               the JSON Schema, for editors
  docs/config.md                                        its tables; the other text stays
"""
import json
import re
import sys

from status_rows import ROOT, quoted

FOLDER = "Sources/Assay/Configuration"
TABLE = "contract/configuration.tsv"
PAGE, SCHEMA = "docs/config.md", "docs/config.schema.json"
# 2^53 - 1, the largest integer that every JSON reader keeps; as a bound it means none.
EXACT = 9007199254740991
HEADER = "| member | values | default | meaning |"
SHARED = "Shared members"
WIDTH = 100


class Member:
    """One line of configuration.tsv."""

    def __init__(self, line):
        fields = line.split("\t")
        if len(fields) != 7:
            sys.exit(f"configuration.tsv: {len(fields)} fields in {line!r}")
        self.path, schema, default, self.values, self.shown, self.swift, self.meaning = fields
        self.schema = json.loads(schema)
        self.is_required = default == "!"
        self.has_default = default not in ("", "!")
        self.default = json.loads(default) if self.has_default else None
        self.outer, _, self.name = self.path.replace("[].", ".[].").rpartition(".")
        self.outer = self.outer.replace(".[]", "[]")
        self.inner = []

    @property
    def is_block(self):
        """Whether the member is a block with a Swift type of its own."""
        return bool(self.inner) and self.swift[:1].isupper()

    @property
    def choices(self):
        return self.schema.get("enum")

    def bounds(self):
        """Return the least and the greatest length, count or value, as Swift; `nil` for none."""
        for low, high in (("minItems", "maxItems"), ("minLength", "maxLength"),
                          ("minimum", "maximum"), ("minProperties", "maxProperties")):
            if low in self.schema or high in self.schema:
                return self.schema.get(low, 0), self.schema.get(high, EXACT)
        return None


def members():
    """Return every member in the order of the table, each with the members inside it."""
    found = [Member(line) for line in (ROOT / TABLE).read_text().splitlines()
             if line and not line.startswith("#")]
    by_path = {member.path: member for member in found}
    if len(by_path) != len(found):
        sys.exit("configuration.tsv: a path stands twice")
    for member in found:
        if not member.outer:
            continue
        outer = member.outer.removesuffix("[]").removesuffix(".*")
        if outer not in by_path:
            sys.exit(f"configuration.tsv: {member.path} has no line of {outer}")
        by_path[outer].inner.append(member)
    return found


def plain(text):
    """Return Markdown as plain text, without code marks and link targets."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "")


# MARK: the schema


def object_schema(inner):
    schema = {"additionalProperties": False}
    required = [member.name for member in inner if member.is_required]
    if required:
        schema["required"] = required
    schema["properties"] = {member.name: member_schema(member) for member in inner}
    return schema


def member_schema(member):
    schema = {"description": described(member), **member.schema}
    if member.inner and schema["type"] == "array":
        schema["items"] = {"type": "object", **object_schema(member.inner)}
    elif member.inner and member.inner[0].outer.endswith(".*"):
        schema["additionalProperties"] = {"type": "object", **object_schema(member.inner)}
    elif member.inner:
        schema.update(object_schema(member.inner))
    if member.has_default:
        schema["default"] = member.default
    return schema


def described(member):
    """Return the meaning, with the default if the default is described in words."""
    told = [member.meaning]
    if member.shown:
        told.append(member.shown if member.shown.startswith("required") else
                    f"default: {member.shown}")
    return " ".join(text[:1].upper() + text[1:] + "." for text in map(plain, told))


def json_text(value, indent=""):
    """Return indented JSON like json.dumps, but with short objects and lists on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or len(indent + line) <= WIDTH - 20:
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{json.dumps(name)}: {json_text(entry, inner)}" for name, entry in value.items()]
        return "{\n" + ",\n".join(inner + part for part in parts) + "\n" + indent + "}"
    parts = [inner + json_text(entry, inner) for entry in value]
    return "[\n" + ",\n".join(parts) + "\n" + indent + "]"


def schema_text(found):
    top = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of an Assay verifier",
        "description": "What assay_verifier_new accepts. Members that are not named here are "
                       "refused. See config.md.",
        "type": "object", **object_schema([member for member in found if not member.outer]),
    }
    return json_text(top) + "\n"


# MARK: the page


def values(member):
    """Return the values that the member accepts, as the page describes them."""
    if member.values:
        return member.values
    if member.choices:
        return ", ".join(f"`{choice}`" for choice in member.choices)
    if member.schema.get("type") == "boolean":
        return "boolean"
    low, high = member.bounds() or (None, None)
    if low is None:
        sys.exit(f"configuration.tsv: {member.path} needs words in the column values")
    return f"{low} … {'' if high == EXACT else high}".strip()


def default(member):
    if member.shown:
        return member.shown
    if not member.has_default:
        return "required" if member.is_required else "none"
    if isinstance(member.default, (bool, int)):
        return json.dumps(member.default)
    text = member.default
    if not isinstance(text, str):
        text = json.dumps(text, separators=(",", ":"))
    return f"`{text}`"


def shown(found):
    """Yield (block, path inside it, member) of every member that the page lists."""
    blocks = {member.path for member in found if member.is_block}
    for member in found:
        if member.values == "-" or member.inner and not member.values:
            continue
        block, _, rest = member.path.partition(".")
        block = block.removesuffix("[]")
        yield (block, rest, member) if block in blocks else ("", member.path, member)


def page_text(found):
    """Return the page with the rows of its tables rewritten."""
    out, heading, told, skipping = [], "", set(), False
    for line in (ROOT / PAGE).read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ").replace("`", "")
        skipping = skipping and line.startswith("|")
        if skipping:
            continue
        out.append(line)
        if line == HEADER:
            skipping = True
            out.append("|---|---|---|---|")
            wanted = "" if heading == SHARED else heading
            for block, path, member in shown(found):
                if block == wanted:
                    told.add(member.path)
                    out.append(f"| `{path}` | {values(member)} | {default(member)} | "
                               f"{member.meaning} |")
    missing = {member.path for _, _, member in shown(found)} - told
    if missing:
        sys.exit(f"{PAGE} has no table of {sorted(missing)}")
    return "\n".join(out) + "\n"


def outputs(*_):
    found = members()
    return {SCHEMA: schema_text(found), PAGE: page_text(found)}
