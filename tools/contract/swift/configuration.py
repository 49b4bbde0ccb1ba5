"""Write names, bounds and plain values of the configuration's members, from configuration.tsv.

  Sources/Assay/Configuration/ConfigurationTable.swift
"""
from ..reader import EXACT, fail
from ..text import camel, pack, quote, strip_marks

WIDTH = 100
# What a line of `values` ends with.
SECRET = "\\t"


def write_texts(name, values, how="static let"):
    """Return a constant that is a list of texts."""
    head, parts = f"  {how} {name}: [StaticString] = [", list(map(quote, values))
    line = f"{head}{', '.join(parts)}]"
    return [line] if len(line) <= WIDTH else [head, *pack(parts, "    ", WIDTH, ","), "  ]"]


def write_range(setting):
    low, high = (f"{value:_}" if value > 99999 else str(value) for value in setting.bounds())
    return f"{low}...{'MemberNode.exactInteger' if setting.bounds()[1] == EXACT else high}"


def write_constants(settings):
    """Return the lines with each object's member names and the bounds that other code needs."""
    out = ["/// Names, choices and bounds of the members of a configuration.",
           "enum ConfigurationTable {"]
    out += write_texts("members", [each.name for each in settings if not each.outer])
    for each in settings:
        name = camel(each.path)
        if each.inner:
            out += write_texts(f"{name}Members", [inner.name for inner in each.inner])
        if each.swift != "@" and not (each.is_block and each.schema["type"] == "array"):
            continue
        if each.choices:
            out += write_texts(name, each.choices)
        else:
            kind = "Int64" if each.schema.get("type") == "integer" else "Int"
            out.append(f"  static let {name}: ClosedRange<{kind}> = {write_range(each)}")
    # One text instead of a table: it is searched only when a value is refused.
    return [*out, "  /// What each member takes, in words: path, tab, values, and of a secret a tab at the end.",
            '  static let values: StaticString = """',
            *(f"    {each.path}\\t{describe_taken(each)}{SECRET * each.is_secret}" for each in settings),
            '    """', "}", ""]


def describe_taken(setting):
    """Return the accepted values as an error message lists them, in ASCII."""
    if setting.values == "-":
        return "an array of objects" if setting.inner else ""
    if setting.inner and not setting.values:
        return "an object"
    is_boolean = setting.schema.get("type") == "boolean"
    words = "true or false" if is_boolean else strip_marks(setting.taken)
    if setting.schema.get("additionalProperties") is False:
        # The names of an object whose members have no lines of their own, in place of a word.
        words = words.replace(words.split(" ")[0], ", ".join(setting.schema["properties"]), 1)
    for sign, word in (("\u2026", "to"), ("\u2192", ":"), ("\u2212", "-"), ("\u2013", "-"),
                       ("{", ""), ("}", "")):
        words = words.replace(sign, word)
    words = words.removesuffix(" to") + (" or more" if words.endswith(" to") else "")
    return words if words.isascii() else fail(setting.at, f"{words!r} in a message")


class Plain:
    """A member with a plain value, which generated code reads and writes."""

    def __init__(self, setting):
        self.setting, self.name = setting, quote(setting.name)
        # `target`, `target: type` or `target = choice that means true`
        self.target, _, self.choice = setting.swift.partition(" = ")
        self.target, _, self.type = self.target.partition(": ")
        self.choices = setting.path.split(".")[-1] + "Choices"

    def write_value(self):
        """Return the Swift expression that reads the node `entry`."""
        if self.setting.choices:
            place = f"try entry.choice(Self.{self.choices})"
            if self.choice:
                return f"{place} == {self.setting.choices.index(self.choice)}"
            return f"{self.type}(rawValue: {place}) ?? {self.target}"
        if self.setting.schema["type"] == "boolean":
            return "try entry.boolean()"
        value = f"try entry.integer({write_range(self.setting)})"
        return f"Int({value})" if self.type == "Int" else value

    def write_read(self, indent, block):
        head, value = f"{indent}if let entry = {block}[{self.name}] {{", self.write_value()
        line = f"{head} {self.target} = {value} }}"
        return [line] if len(line) <= WIDTH else [
            head, f"{indent}  {self.target} = {value}", indent + "}"]

    def write_member(self):
        if self.setting.choices:
            place = self.target + ".rawValue"
            if self.choice:
                chosen = self.setting.choices.index(self.choice)
                place = f"{self.target} ? {chosen} : {1 - chosen}"
            line = f"    writer.member({self.name}, Self.{self.choices}[{place}])"
            return line if len(line) <= WIDTH else line.replace("(", "(\n      ", 1)
        if self.setting.schema["type"] == "boolean":
            return f"    writer.member({self.name}, boolean: {self.target})"
        value = f"Int64({self.target})" if self.type == "Int" else self.target
        return f"    writer.member({self.name}, integer: {value})"


class Block:
    """The generated reader and writer of one block."""

    def __init__(self, block):
        self.block, self.inner = block, block.inner
        flat = [setting for outer in block.inner for setting in [outer, *outer.inner]]
        self.plains = {each.path: Plain(each) for each in flat if each.swift not in ("", "@")}
        # Nested objects that have only plain values.
        self.groups = {outer.path for outer in block.inner
                       if outer.inner and all(inner.path in self.plains for inner in outer.inner)}
        self.others = [outer.name for outer in block.inner
                       if outer.path not in self.plains and outer.path not in self.groups]

    def write(self):
        out = [f"extension {self.block.swift} {{"]
        for each in self.plains.values():
            if each.setting.choices:
                out += write_texts(each.choices, each.setting.choices, "private static let")
        if self.others:
            out += ["", "  /// Members that other code writes, with their names.",
                    "  enum Other {", *write_cases(self.others), "  }"]
        return [*out, "", *self.write_reader(), "", *self.write_writer(), "}", ""]

    def write_reader(self):
        path = self.block.path
        out = [f"  /// Reads the plain values of `{path}`; a member that is absent keeps its",
               "  /// default.", "  ///",
               "  /// - Returns: the block, which has no unknown member.", "  @discardableResult",
               "  mutating func readPlain(_ node: MemberNode) throws(Refusal) -> MemberNode {",
               f"    let block = try node.object(ConfigurationTable.{camel(path)}Members)"]
        for outer in self.inner:
            if outer.path in self.plains:
                out += self.plains[outer.path].write_read("    ", "block")
            elif outer.path in self.groups:
                names = f"ConfigurationTable.{camel(outer.path)}Members"
                out += [f"    if let node = block[{quote(outer.name)}] {{",
                        f"      let inner = try node.object({names})",
                        *(line for inner in outer.inner
                          for line in self.plains[inner.path].write_read("      ", "inner")),
                        "    }"]
        return [*out, "    return block", "  }"]

    def write_writer(self):
        other = ", other: (Other, inout JSONWriter) -> Void" if self.others else ""
        out = [f"  /// The value of `{self.block.path}` in the effective configuration.",
               f"  func write(_ writer: inout JSONWriter{other}) {{", "    writer.beginObject()"]
        for outer in self.inner:
            if outer.path in self.plains:
                out.append(self.plains[outer.path].write_member())
            elif outer.path in self.groups:
                out += [f"    writer.name({quote(outer.name)})", "    writer.beginObject()",
                        *(self.plains[inner.path].write_member() for inner in outer.inner),
                        "    writer.endObject()"]
            else:
                out.append(f"    other(.{outer.name}, &writer)")
        return [*out, "    writer.endObject()", "  }"]


def write_cases(names):
    """Return the lines of an enum's cases, as many on each as fit."""
    out = []
    for name in names:
        if out and len(f"{out[-1]}, {name}") <= WIDTH:
            out[-1] += f", {name}"
        else:
            out.append(f"    case {name}")
    return out


def files(contract):
    out = ["// Generated by tools/generate.py from configuration.tsv. Do not edit.",
           "// swift-format-ignore-file", "", *write_constants(contract.configuration)]
    for setting in contract.configuration:
        if setting.is_block and (block := Block(setting)).plains:
            out += block.write()
    return {"Sources/Assay/Configuration/ConfigurationTable.swift": "\n".join(out)}
