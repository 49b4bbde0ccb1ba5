"""Generate the SQL statements of the ledger from statements.tsv, tables.tsv and indexes.tsv in
contract/store.

  Sources/Assay/Ledger/Engines/SQLStatement.swift  every text, by engine
  Sources/Assay/Ledger/Engines/SchemaTable.swift   the tables and their indexes
"""
import re
import sys

from status_rows import ROOT, quoted

FOLDER = "Sources/Assay/Ledger/Engines"
ENGINES = ("sqlite", "postgres", "mariadb")
MARK = re.compile(r"\{(\w+) ([\w.]+)(?: (\w+))?\}")
KINDS = {
    "sqlite": {"text": "TEXT", "long": "TEXT", "integer": "INTEGER"},
    "postgres": {"text": "TEXT", "long": "TEXT", "integer": "BIGINT"},
    "mariadb": {"text": "VARCHAR({})", "long": "MEDIUMTEXT", "integer": "BIGINT"},
}
# The end of CREATE TABLE, after the columns.
ENDS = {"sqlite": " STRICT, WITHOUT ROWID", "postgres": "",
        "mariadb": " ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"}
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

    def declared(self, engine):
        kind = KINDS[engine][self.kind].format(self.length)
        return f"{self.name} {kind}" + ("" if self.is_null else " NOT NULL")

    @property
    def octets(self):
        """The most bytes that the column takes in a key of MariaDB."""
        return self.length * CHARACTER + 2 if self.kind == "text" else 8


class Table:
    def __init__(self, name):
        self.name, self.columns, self.indexes = name, [], []

    @property
    def case(self):
        """The name as a case of Swift."""
        first, *others = self.name.split("_")
        return first + "".join(map(str.capitalize, others))

    def column(self, name):
        for column in self.columns:
            if column.name == name:
                return column
        return sys.exit(f"indexes.tsv: {self.name} has no column {name}")

    def create(self, engine):
        keys = [column.name for column in self.columns if column.is_key]
        parts = [column.declared(engine) for column in self.columns]
        parts.append(f"PRIMARY KEY ({', '.join(keys)})")
        return (f"CREATE TABLE IF NOT EXISTS assay_{self.name} ({', '.join(parts)})"
                + ENDS[engine])

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
    """One row of statements.tsv; `texts` has the SQL of each engine that has the statement."""

    def __init__(self, fields, known):
        self.name, rows_of, *texts = fields
        self.texts = {}
        for engine, text in zip(ENGINES, texts):
            if text == "*":
                text = texts[0]
            if text:
                self.texts[engine] = resolved(text, engine, known)
        self.rows = set(ENGINES if rows_of == "all" else rows_of.replace("-", "").split(","))
        self.rows &= set(self.texts)
        if self.rows != {engine for engine, text in self.texts.items() if gives_rows(text)}:
            sys.exit(f"statements.tsv: where {self.name} gives rows")


def gives_rows(text):
    # Ignores RETURNING inside parentheses: a CTE (`WITH … AS (DELETE … RETURNING …)`) returns no
    # row.
    return text.startswith(("SELECT ", "PRAGMA ")) or " RETURNING " in text.rpartition(")")[2]


def resolved(text, engine, known):
    def replaced(mark):
        word, name, alias = mark.groups()
        if word == "skip":
            return (f"ON DUPLICATE KEY UPDATE {name} = {name}" if engine == "mariadb"
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
