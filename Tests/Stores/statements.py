#!/usr/bin/env python3
"""Test that every table and statement of Sources/Assay/Ledger/Engines runs on its engine.

  statements.py [ENGINE …]

SQLite runs in a file, PostgreSQL and MariaDB as temporary servers (engines.py). Each text is
prepared and executed with the longest values that its columns take, in an empty database and again
in one that has the row. An engine that is not installed is skipped by name.
"""
import contextlib
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "Tests/Gates"), str(ROOT)]

from report import Suite  # noqa: E402
from tools.contract.reader import Contract  # noqa: E402

import engines  # noqa: E402

CONTRACT = Contract()
PAGE = ROOT / "docs/spec/ledger-statements.md"
PARAMETER = re.compile(r":([a-z_]+)")
# Parameters that are no columns -> the longest length of a text, or 0 for an integer.
OTHERS = {"transaction_key": 160, "by": 255, "from": 255, "to": 255, "hash": 74, "old_owner": 255,
          "from_scope": 288, "to_scope": 288, "units": 0, "room": 0, "before_ms": 0,
          "now_ms": 0, "revoking": 0, "handed": 0, "repeats_cap": 0, "after_ms": 0,
          "after_id": 160, "after_key": 160, "last_run": 64, "since_ms": 0,
          "read_asked_at_ms": 0}
# Statements that the page has once for each of the two accounts of a merge.
ALIASES = {"SELECT id,target,stored_at_ms,attempt_id FROM assay_merged_account WHERE id = :from",
           "SELECT id,target,stored_at_ms,attempt_id FROM assay_merged_account WHERE id = :to"}
WAIT_S = 60


def values(tables):
    """Return a value for each parameter: the longest that its column takes in every table."""
    found = {name: "x" * length if length else 1 for name, length in OTHERS.items()}
    for table in tables.values():
        for column in table.columns:
            value = "x" * (column.length or 40_000) if column.kind != "integer" else 1
            other = found.get(column.name, value)
            # The shorter value fits the columns of both tables.
            found[column.name] = min(value, other, key=len) if isinstance(value, str) else value
    return found


def schema(tables, engine):
    for table in tables.values():
        yield f"table {table.name}", table.create(engine)
        for name, columns in table.indexes:
            yield f"index {table.name}_{name}", table.create_index(name, columns)


def texts(engine):
    """Yield (name, text, parameter names) of everything: tables, statements, then all again."""
    tables = CONTRACT.tables
    for _ in range(2):
        for what, text in schema(tables, engine):
            yield what, text, []
    for again in ("", " again"):
        for statement in CONTRACT.statements:
            if engine in statement.texts:
                text = statement.texts[engine]
                yield statement.name + again, text, PARAMETER.findall(text)
    yield "WRONG", "SELECT nothing FROM assay_purchase_key WHERE name = :name", ["name"]


def judge(suite, engine, what, fault):
    if what == "WRONG":
        suite.expect(fault, f"{engine}: a wrong statement is seen")
    else:
        suite.expect(not fault, f"{engine}: {what}", fault)


# MARK: engines


def sqlite(suite, given):
    """Run all texts on SQLite; also check which statements return rows."""
    with tempfile.TemporaryDirectory(prefix="assay-statements-") as folder:
        store = sqlite3.connect(f"{folder}/store.db", isolation_level=None)
        store.execute("PRAGMA journal_mode=WAL")
        rows = {one.name: "sqlite" in one.rows for one in CONTRACT.statements}
        for what, text, names in texts("sqlite"):
            try:
                cursor = store.execute(PARAMETER.sub("?", text), [given[name] for name in names])
            except sqlite3.Error as error:
                judge(suite, "sqlite", what, str(error))
                continue
            judge(suite, "sqlite", what, "")
            cursor.fetchall()
            name = what.removesuffix(" again")
            if name in rows:
                suite.expect((cursor.description is not None) == rows[name],
                             f"sqlite: whether {what} gives rows")
        store.close()


def literal(value):
    return f"'{value}'" if isinstance(value, str) else str(value)


def played(suite, engine, given, script, command):
    """Run all texts in one session of a client that reports the line of each error."""
    lines, places = [], {}
    for what, text, names in texts(engine):
        for line in script(text, [given[name] for name in names]):
            lines.append(line)
            places[len(lines)] = what
    result = subprocess.run(command, input="\n".join(lines) + "\n", text=True,
                            capture_output=True, timeout=WAIT_S)
    faults = {}
    for line in result.stderr.splitlines():
        found = re.search(r"(?:<stdin>:|at line )(\d+)\b", line)
        if found and "ERROR" in line:
            faults.setdefault(places[int(found[1])], line)
    for what in dict.fromkeys(places.values()):
        judge(suite, engine, what, faults.get(what, ""))


@contextlib.contextmanager
def started(suite, name, program):
    """Yield a running engine of its own; skip and yield None if the engine or its client is
    missing."""
    with engines.scratch() as place:
        engine = place.engine(name)
        missing = engine.missing or (None if shutil.which(program) else f"no {program}")
        if missing:
            suite.skip(name, missing)
            yield None
        else:
            engine.start()
            yield engine


def postgres(suite, given):
    with started(suite, "postgres", "psql") as engine:
        if engine:
            played(suite, "postgres", given, postgres_script,
                   ["psql", "-XqAt", "-d", engine.url, "-f", "-"])


def postgres_script(text, arguments):
    """Yield lines that prepare and execute a statement, as drivers do: $n for a parameter."""
    if not text.startswith("CREATE "):
        places = iter(range(1, len(arguments) + 1))
        yield f"PREPARE s AS {PARAMETER.sub(lambda _: f'${next(places)}', text)};"
        listed = ", ".join(map(literal, arguments))
        yield f"EXECUTE s{f'({listed})' if arguments else ''};"
        yield "DEALLOCATE s;" if "nothing" not in text else ""
    else:
        yield text + ";"


def mariadb(suite, given):
    with started(suite, "mariadb", "mariadb") as engine:
        if engine:
            played(suite, "mariadb", given, mariadb_script,
                   ["mariadb", "--no-defaults", "-h", "127.0.0.1", "-P", str(engine.port), "-u",
                    "assay", "--force", "-B", "assay"])


def mariadb_script(text, arguments):
    """Yield the lines that prepare and execute a statement: ? for each parameter."""
    prepared = PARAMETER.sub("?", text).replace("'", "''")
    yield f"PREPARE s FROM '{prepared}';"
    names = [f"@a{place}" for place in range(len(arguments))]
    if names:
        yield "SET " + ", ".join(f"{name} = {literal(value)}"
                                 for name, value in zip(names, arguments, strict=True)) + ";"
    yield f"EXECUTE s{' USING ' + ', '.join(names) if names else ''};"


# MARK: the page


def check_page(suite):
    """Check that each statement quoted in the specification is in the table."""
    known = {text for one in CONTRACT.statements for text in one.texts.values()}
    known |= ALIASES
    section = PAGE.read_text().partition("## 2. SQL")[2].partition("## 3. ")[0]
    told = 0
    for text in "".join(re.findall("(?s)```sql\n(.*?)```", section)).splitlines():
        if not re.match("(INSERT|UPDATE|SELECT|DELETE|WITH) ", text):
            continue
        text = text.replace("⟨skip⟩", "ON CONFLICT DO NOTHING")
        text = text.replace("⟨lock⟩", "ON CONFLICT (id) DO UPDATE SET id = excluded.id")
        told += 1
        suite.expect(text in known, "the table has a statement of the page", text)
    suite.expect(told > 60, "the page has statements", str(told))


ENGINES = {"sqlite": sqlite, "postgres": postgres, "mariadb": mariadb}


def main():
    suite = Suite("store-statements")
    given = values(CONTRACT.tables)
    check_page(suite)
    for name in sys.argv[1:] or ENGINES:
        ENGINES[name](suite, given)
    suite.finish()


if __name__ == "__main__":
    main()
