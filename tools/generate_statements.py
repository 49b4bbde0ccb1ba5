"""Generate the SQL statements of the ledger from statements.tsv, tables.tsv and indexes.tsv in
contract/store.

  Sources/Assay/Stores/Dialects/SQLStatement.swift  every text, by dialect
  Sources/Assay/Stores/Dialects/SchemaTable.swift   the tables and their indexes
"""
import re
import sys

from status_rows import ROOT, quoted

FOLDER = "Sources/Assay/Stores/Dialects"
DIALECTS = ("sqlite", "postgres", "mysql")
MARK = re.compile(r"\{(\w+) ([\w.]+)(?: (\w+))?\}")
KINDS = {
    "sqlite": {"text": "TEXT", "long": "TEXT", "integer": "INTEGER"},
    "postgres": {"text": "TEXT", "long": "TEXT", "integer": "BIGINT"},
    "mysql": {"text": "VARCHAR({})", "long": "MEDIUMTEXT", "integer": "BIGINT"},
}
# The end of CREATE TABLE, after the columns.
ENDS = {"sqlite": " STRICT, WITHOUT ROWID", "postgres": "",
        "mysql": " ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"}
# InnoDB's limits in bytes: of a key, and of a character in utf8mb4.
KEY, CHARACTER = 3072, 4


def rows(name, count):
    """Return the rows of a table that has `count` columns, without its head and headings."""
    found = []
    for line in (ROOT / "contract/store" / name).read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != count:
            sys.exit(f"{name}: {len(fields)} fields in {line!r}")
        found.append(fields)
    return found


class Column:
    def __init__(self, name, kind, null, key, length):
        self.name, self.kind, self.length = name, kind, int(length or 0)
        self.is_null, self.is_key = null == "null", key == "key"
        if kind not in KINDS["sqlite"] or (kind == "text") != bool(self.length):
            sys.exit(f"tables.tsv: kind and length of {name}")

    def declared(self, dialect):
        kind = KINDS[dialect][self.kind].format(self.length)
        return f"{self.name} {kind}" + ("" if self.is_null else " NOT NULL")

    @property
    def octets(self):
        """The most bytes that the column takes in a key of MariaDB."""
        return self.length * CHARACTER + 2 if self.kind == "text" else 8


class Table:
    def __init__(self, name):
        self.name, self.columns, self.indexes = name, [], []

    def column(self, name):
        for column in self.columns:
            if column.name == name:
                return column
        return sys.exit(f"indexes.tsv: {self.name} has no column {name}")

    def create(self, dialect):
        keys = [column.name for column in self.columns if column.is_key]
        parts = [column.declared(dialect) for column in self.columns]
        parts.append(f"PRIMARY KEY ({', '.join(keys)})")
        return (f"CREATE TABLE IF NOT EXISTS assay_{self.name} ({', '.join(parts)})"
                + ENDS[dialect])

    def create_index(self, name, columns):
        return (f"CREATE INDEX IF NOT EXISTS assay_{self.name}_{name} ON assay_{self.name} "
                f"({', '.join(columns)})")

    def check(self):
        keys = [[column.name for column in self.columns if column.is_key],
                *(columns for _, columns in self.indexes)]
        for names in keys:
            if sum(self.column(name).octets for name in names) > KEY:
                sys.exit(f"tables.tsv: MariaDB has no key of {self.name} ({', '.join(names)})")


def tables():
    """Return {name: Table} in the order of tables.tsv."""
    found = {}
    for name, *column in rows("tables.tsv", 6):
        found.setdefault(name, Table(name)).columns.append(Column(*column))
    for name, index, columns in rows("indexes.tsv", 3):
        found[name].indexes.append((index, columns.split(", ")))
    for table in found.values():
        table.check()
    return found


class Statement:
    """One row of statements.tsv; `texts` has the SQL of each dialect that has the statement."""

    def __init__(self, fields, known):
        self.name, rows_of, *texts = fields
        self.texts = {}
        for dialect, text in zip(DIALECTS, texts):
            if text == "*":
                text = texts[0]
            if text:
                self.texts[dialect] = resolved(text, dialect, known)
        self.rows = set(DIALECTS if rows_of == "all" else rows_of.replace("-", "").split(","))
        self.rows &= set(self.texts)
        if self.rows != {dialect for dialect, text in self.texts.items() if gives_rows(text)}:
            sys.exit(f"statements.tsv: where {self.name} gives rows")


def gives_rows(text):
    # Ignores RETURNING inside parentheses: a CTE (`WITH … AS (DELETE … RETURNING …)`) returns no
    # row.
    return text.startswith(("SELECT ", "PRAGMA ")) or " RETURNING " in text.rpartition(")")[2]


def resolved(text, dialect, known):
    def replaced(mark):
        word, name, alias = mark.groups()
        if word == "skip":
            return (f"ON DUPLICATE KEY UPDATE {name} = {name}" if dialect == "mysql"
                    else "ON CONFLICT DO NOTHING")
        if word == "tables" and name == "all":
            return ",".join(f"'assay_{table}'" for table in known)
        if word not in ("columns", "values") or name not in known:
            return sys.exit(f"statements.tsv: {mark[0]}")
        before = ":" if word == "values" else f"{alias}." if alias else ""
        return ",".join(before + column.name for column in known[name].columns)

    text = MARK.sub(replaced, text)
    literals = re.findall(r"'([^']*)'", text)
    if re.search(r'[{}"\\%?$]|::', text) or ":" in "".join(literals):
        sys.exit(f"statements.tsv: {text!r} is not plain")
    return text


def statements():
    known = tables()
    found = [Statement(fields, known) for fields in rows("statements.tsv", 5)]
    if len({statement.name for statement in found}) != len(found):
        sys.exit("statements.tsv: a name appears twice")
    return found


# MARK: Swift

HEAD = ["// Generated by tools/generate.py from {}. Do not edit.", "// swift-format-ignore-file", ""]


def head(source):
    return [HEAD[0].format(source), *HEAD[1:]]


def by_dialect(indent):
    return [f"{indent}switch dialect {{", *(f"{indent}case .{name}: return {name}"
                                            for name in DIALECTS),
            f"{indent}case .dynamodb, .redis: return nil", f"{indent}}}"]


def texts_of(dialect, found):
    """Return the Swift property with the texts of one dialect; texts equal to sqlite's are left
    out."""
    out = ["", f"  private var {dialect}: StaticString? {{", "    switch self {"]
    none = [statement for statement in found if dialect not in statement.texts]
    same = False
    for statement in found:
        text = statement.texts.get(dialect)
        if text is None:
            continue
        if dialect != "sqlite" and text == statement.texts.get("sqlite"):
            same = True
            continue
        out += [f"    case .{statement.name}:", f"      return {quoted(text)}"]
    if none:
        out.append(f"    case {', '.join('.' + statement.name for statement in none)}: return nil")
    if same:
        out.append("    default: return sqlite")
    return [*out, "    }", "  }"]


def statement_file():
    found = statements()
    out = head("statements.tsv and tables.tsv")
    out += ["/// The statements of a store with SQL (docs/spec/store-statements.md §2).",
            "enum SQLStatement: Int, CaseIterable, Sendable {"]
    out += [f"  case {statement.name}" for statement in found]
    out += ["", "  /// With `:name` parameters and tables that begin with `assay_`; nil: the dialect does",
            "  /// it in another way.", "  func text(_ dialect: StoreDialect) -> StaticString? {",
            *by_dialect("    "), "  }", "",
            "  func givesRows(_ dialect: StoreDialect) -> Bool {", "    switch self {"]
    everywhere = [statement for statement in found if statement.rows == set(statement.texts) != set()]
    out.append(f"    case {', '.join('.' + statement.name for statement in everywhere)}:")
    out.append("      return true")
    for statement in found:
        if statement.rows and statement not in everywhere:
            some = " || ".join(f"dialect == .{name}" for name in DIALECTS if name in statement.rows)
            out.append(f"    case .{statement.name}: return {some}")
    out += ["    default: return false", "    }", "  }"]
    for dialect in DIALECTS:
        out += texts_of(dialect, found)
    return "\n".join([*out, "}", ""])


def table_file():
    found = tables()
    out = head("tables.tsv and indexes.tsv")
    out += ["/// The tables of a store with SQL (docs/spec/store-statements.md §1).",
            "enum SchemaTable: Int, CaseIterable, Sendable {",
            f"  case {', '.join(found)}", "",
            "  /// Its name, after the prefix.", "  var word: StaticString {", "    switch self {",
            *(f"    case .{name}: return {quoted(name)}" for name in found), "    }", "  }", "",
            "  /// `CREATE TABLE IF NOT EXISTS`; nil: the dialect has no SQL.",
            "  func create(_ dialect: StoreDialect) -> StaticString? {",
            *by_dialect("    "), "  }", "",
            "  /// `CREATE INDEX IF NOT EXISTS`, the same in every dialect.",
            "  var indexes: [StaticString] {", "    switch self {"]
    for table in found.values():
        if table.indexes:
            out += [f"    case .{table.name}:", "      return ["]
            out += [f"        {quoted(table.create_index(*index))},"
                    for index in table.indexes]
            out.append("      ]")
    out += ["    default: return []", "    }", "  }"]
    for dialect in DIALECTS:
        out += ["", f"  private var {dialect}: StaticString {{", "    switch self {"]
        for table in found.values():
            out += [f"    case .{table.name}:", f"      return {quoted(table.create(dialect))}"]
        out += ["    }", "  }"]
    return "\n".join([*out, "}", ""])


def outputs(*_):
    return {FOLDER + "/SQLStatement.swift": statement_file(),
            FOLDER + "/SchemaTable.swift": table_file()}
