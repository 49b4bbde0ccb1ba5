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


# MARK: Swift


def constant(path):
    """Return a path's Swift constant: attest.category.accept -> attestCategoryAccept."""
    first, *words = re.sub(r"\[\]|\.\*", "", path).split(".")
    return first + "".join(word[:1].upper() + word[1:] for word in words)


def wrapped(head, items, tail):
    """Return head, items with commas, and tail on one line, or with the items on lines below."""
    line = head + ", ".join(items) + tail
    if len(line) <= WIDTH:
        return [line]
    indent = " " * (len(head) - len(head.lstrip()) + 2)
    out, current = [head], indent
    for item in items:
        if len(current) + len(item) + 1 > WIDTH and current.strip():
            out.append(current.rstrip())
            current = indent
        current += item + ", "
    return [*out, current.rstrip(), indent[2:] + tail.strip()]


def number(value):
    return f"{value:_}" if value > 99999 else str(value)


def swift_range(member):
    low, high = member.bounds()
    return f"{number(low)}...{'MemberNode.exactInteger' if high == EXACT else number(high)}"


def constants(found):
    """Return the lines with each object's member names and the bounds that other code needs."""
    out = ["/// Names, choices and bounds of the members of a configuration.",
           "enum ConfigurationTable {"]
    top = [member for member in found if not member.outer]
    out += wrapped("  static let members: [StaticString] = [",
                   [quoted(member.name) for member in top], "]")
    for member in found:
        if member.inner:
            out += wrapped(f"  static let {constant(member.path)}Members: [StaticString] = [",
                           [quoted(inner.name) for inner in member.inner], "]")
        is_list = member.is_block and member.schema["type"] == "array"
        if member.swift != "@" and not is_list:
            continue
        if member.choices:
            out += wrapped(f"  static let {constant(member.path)}: [StaticString] = [",
                           [quoted(choice) for choice in member.choices], "]")
        else:
            kind = "Int64" if member.schema.get("type") == "integer" else "Int"
            out.append(f"  static let {constant(member.path)}: ClosedRange<{kind}> = "
                       f"{swift_range(member)}")
    # One text instead of a table: it is searched only when a value is refused.
    out += ["  /// What each member takes, in words: path, tab, values.",
            '  static let values: StaticString = """',
            *(f"    {member.path}\\t{told(member)}" for member in found), '    """']
    return [*out, "}", ""]


def told(member):
    """Return the accepted values as an error message lists them, in ASCII."""
    if member.values == "-":
        return "an array of objects" if member.inner else ""
    if member.inner and not member.values:
        return "an object"
    words = "true or false" if member.schema.get("type") == "boolean" else plain(values(member))
    if member.schema.get("additionalProperties") is False:
        # The names of an object whose members have no lines of their own, in place of a word.
        words = words.replace(words.split(" ")[0], ", ".join(member.schema["properties"]), 1)
    for sign, word in (("\u2026", "to"), ("\u2192", ":"), ("\u2212", "-"), ("\u2013", "-"),
                       ("{", ""), ("}", "")):
        words = words.replace(sign, word)
    words = words.removesuffix(" to") + (" or more" if words.endswith(" to") else "")
    if not words.isascii():
        sys.exit(f"configuration.tsv: {member.path}: {words!r} in a message")
    return words


def cases(names):
    """Return the lines of an enum's cases, wrapped."""
    out = []
    for name in names:
        if out and len(f"{out[-1]}, {name}") <= WIDTH:
            out[-1] += f", {name}"
        else:
            out.append(f"    case {name}")
    return out


class Plain:
    """A member with a plain value, which generated code reads and writes."""

    def __init__(self, member):
        self.member = member
        self.target, _, self.choice = member.swift.partition(" = ")
        self.target, _, self.type = self.target.partition(": ")
        self.choices = member.path.split(".")[-1] + "Choices"

    def declared(self):
        if not self.member.choices:
            return []
        return wrapped(f"  private static let {self.choices}: [StaticString] = [",
                       [quoted(choice) for choice in self.member.choices], "]")

    def read(self, indent, block):
        """Return the Swift expression that reads the value of the node `entry`."""
        schema = self.member.schema
        if self.member.choices:
            place = f"try entry.choice(Self.{self.choices})"
            value = (f"{place} == {self.member.choices.index(self.choice)}" if self.choice else
                     f"{self.type}(rawValue: {place}) ?? {self.target}")
        elif schema["type"] == "boolean":
            value = "try entry.boolean()"
        else:
            value = f"try entry.integer({swift_range(self.member)})"
            if self.type == "Int":
                value = f"Int({value})"
        line = (f"{indent}if let entry = {block}[{quoted(self.member.name)}] "
                f"{{ {self.target} = {value} }}")
        if len(line) <= WIDTH:
            return [line]
        return [f"{indent}if let entry = {block}[{quoted(self.member.name)}] {{",
                f"{indent}  {self.target} = {value}", indent + "}"]

    def write(self):
        name = quoted(self.member.name)
        if self.member.choices:
            place = self.target + ".rawValue"
            if self.choice:
                chosen = self.member.choices.index(self.choice)
                place = f"{self.target} ? {chosen} : {1 - chosen}"
            line = f"    writer.member({name}, Self.{self.choices}[{place}])"
            if len(line) > WIDTH:
                line = line.replace("(", "(\n      ", 1)
            return line
        if self.member.schema["type"] == "boolean":
            return f"    writer.member({name}, boolean: {self.target})"
        value = f"Int64({self.target})" if self.type == "Int" else self.target
        return f"    writer.member({name}, integer: {value})"


class Block:
    """The generated reader and writer of one block."""

    def __init__(self, block):
        self.block, self.inner = block, block.inner
        flat = [member for outer in block.inner for member in [outer, *outer.inner]]
        self.plains = {member.path: Plain(member) for member in flat
                       if member.swift not in ("", "@")}
        # Nested objects that have only plain values.
        self.groups = {outer.path for outer in block.inner
                       if outer.inner and all(inner.path in self.plains for inner in outer.inner)}
        self.others = [outer.name for outer in block.inner
                       if outer.path not in self.plains and outer.path not in self.groups]

    def swift(self):
        out = [f"extension {self.block.swift} {{"]
        for plain_member in self.plains.values():
            out += plain_member.declared()
        if self.others:
            out += ["", "  /// Members that other code writes, with their names.",
                    "  enum Other {", *cases(self.others), "  }"]
        return [*out, "", *self.reader(), "", *self.writer(), "}", ""]

    def reader(self):
        path = self.block.path
        out = [f"  /// Reads the plain values of `{path}`; a member that is absent keeps its",
               "  /// default.", "  ///", "  /// - Returns: the block, which has no unknown member.",
               "  @discardableResult",
               "  mutating func readPlain(_ node: MemberNode) throws(Refusal) -> MemberNode {",
               f"    let block = try node.object(ConfigurationTable.{constant(path)}Members)"]
        for outer in self.inner:
            if outer.path in self.plains:
                out += self.plains[outer.path].read("    ", "block")
            elif outer.path in self.groups:
                names = f"ConfigurationTable.{constant(outer.path)}Members"
                out += [f"    if let node = block[{quoted(outer.name)}] {{",
                        f"      let inner = try node.object({names})"]
                for inner in outer.inner:
                    out += self.plains[inner.path].read("      ", "inner")
                out.append("    }")
        return [*out, "    return block", "  }"]

    def writer(self):
        out = [f"  /// The value of `{self.block.path}` in the effective configuration."]
        if self.others:
            out.append("  func write(_ writer: inout JSONWriter, "
                       "other: (Other, inout JSONWriter) -> Void) {")
        else:
            out.append("  func write(_ writer: inout JSONWriter) {")
        out.append("    writer.beginObject()")
        for outer in self.inner:
            if outer.path in self.plains:
                out.append(self.plains[outer.path].write())
            elif outer.path in self.groups:
                out += [f"    writer.name({quoted(outer.name)})", "    writer.beginObject()",
                        *(self.plains[inner.path].write() for inner in outer.inner),
                        "    writer.endObject()"]
            else:
                out.append(f"    other(.{outer.name}, &writer)")
        return [*out, "    writer.endObject()", "  }"]


def swift_text(found):
    out = ["// Generated by tools/generate.py from configuration.tsv. Do not edit.",
           "// swift-format-ignore-file", "", *constants(found)]
    for member in found:
        if member.is_block and (block := Block(member)).plains:
            out += block.swift()
    return "\n".join(out)


def outputs(*_):
    found = members()
    return {FOLDER + "/ConfigurationTable.swift": swift_text(found),
            SCHEMA: schema_text(found), PAGE: page_text(found)}
