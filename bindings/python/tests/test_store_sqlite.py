"""The executor of SQLite with steps made by hand: order, transactions, failures, forks."""
import asyncio
import contextlib
import copy
import dataclasses
import inspect
import logging
import multiprocessing
import os
import pickle
import sqlite3
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

from steps import GRANT, Exchange, grant, sql, step, store

import assay
from assay._run import run
from assay.ledger import Grant, SQLite
from assay.ledger._pool import Pool
from assay.ledger.results import StoredEvidence

KEPT = {"sha256": "ab", "text": "text", "stored_at_ms": 5, "bundle_id": None}
ADD = "INSERT INTO t (k, n) VALUES (?, ?)"


class SQLiteTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "a b?.db"
        self.store = self.opened()
        self.store.make()
        with self.store.session() as execute:
            execute(step(sql("CREATE TABLE t (k TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID")))

    def opened(self, **options):
        found = SQLite(self.path, **options)
        self.addCleanup(found.close)
        return found

    def rows(self):
        """Return the rows that another connection reads."""
        other = sqlite3.connect(self.path)
        try:
            return other.execute("SELECT k, n FROM t ORDER BY k").fetchall()
        finally:
            other.close()


class StepTest(SQLiteTest):
    def test_in_order(self):
        asked = step(sql(ADD, "a", 1), sql("UPDATE t SET n = n + $1 WHERE k = $2", 4, "a"),
                     sql("SELECT k, n, NULL FROM t", rows=True))
        with self.store.session() as execute:
            answer = execute(asked)
        self.assertEqual(answer, {"id": asked["id"], "code": 200,
                                  "results": [{}, {}, {"rows": [["a", 5, None]]}]})

    def test_a_failure_ends_the_step(self):
        with self.store.session() as execute, self.assertLogs("assay.ledger", "WARNING") as logs:
            answer = execute(step(sql(ADD, "a", 1), sql(ADD, "a", 2), sql(ADD, "b", 3)))
        self.assertEqual((answer["code"], answer["error"]["code"]), (500, "19"))
        self.assertEqual(answer["error"]["executed"], "unknown", "the first statement stands")
        self.assertEqual(self.rows(), [("a", 1)])
        self.assertNotIn("'a'", str(logs.output))

    def test_the_first_statement_fails(self):
        with self.store.session() as execute:
            self.quietly()
            answer = execute(step(sql("SELECT nothing FROM nowhere", rows=True)))
        self.assertEqual((answer["error"]["code"], answer["error"]["executed"]), ("1", "no"))

    def quietly(self):
        logging.disable(logging.WARNING)
        self.addCleanup(logging.disable, logging.NOTSET)

    def test_settings(self):
        with self.store.session() as execute:
            found = execute(step(*(sql(f"PRAGMA {name}", rows=True) for name in
                                   ("journal_mode", "synchronous", "secure_delete",
                                    "busy_timeout"))))
        self.assertEqual([each["rows"][0][0] for each in found["results"]], ["wal", 2, 2, 2000])

    def test_limits(self):
        """Check the limits that a step has for a lock and for a statement (STO-76)."""
        self.quietly()
        limits = {"statementMs": 100, "lockMs": 150}
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) " \
                  "SELECT COUNT(*) FROM n"
        with self.store.session() as execute:
            for mark in (None, "begin"):
                asked = {**step(sql(endless, rows=True), transaction=mark), "limits": limits}
                answer = execute(asked)
                self.assertEqual((answer["error"]["code"], answer["error"]["executed"]),
                                 ("9", "no"))
            asked = {**step(sql("PRAGMA busy_timeout", rows=True)), "limits": limits}
            self.assertEqual(execute(asked)["results"][0]["rows"], [[150]])

    def test_no_creation_in_passing(self):
        """Check that only `make` creates the file, and that a relative path is refused (STO-78)."""
        self.quietly()
        other = SQLite(self.path.with_name("other.db"))
        self.addCleanup(other.close)
        with self.assertLogs("assay.ledger", "ERROR") as logs:
            logging.disable(logging.NOTSET)
            answer = other.session()(step(sql("SELECT 1", rows=True)))
        self.assertEqual((answer["error"]["code"], answer["error"]["executed"]), ("14", "no"))
        self.assertIn(str(self.path.with_name("other.db")), logs.output[0])
        self.assertNotIn("other.db", str(answer))
        self.assertFalse(self.path.with_name("other.db").exists())
        other.make()
        self.assertEqual(other.session()(step(sql("SELECT 1", rows=True)))["code"], 200)
        for path in ("shop.db", "data/shop.db", Path("shop.db")):
            with self.assertRaisesRegex(ValueError, "relative"):
                SQLite(path)
        SQLite("./shop.db").close()

    def test_a_writer_that_takes_too_long(self):
        self.quietly()
        brief = self.opened(timeout=0.05)
        with self.store.session() as first, brief.session() as second:
            second(step(sql("SELECT 1", rows=True)))
            first(step(sql(ADD, "a", 1), transaction="begin"))
            for mark in (None, "begin"):
                answer = second(step(sql(ADD, "b", 1), transaction=mark))
                self.assertEqual((answer["error"]["code"], answer["error"]["executed"]),
                                 ("5", "no"))

    def test_the_code_before_python_3_11(self):
        for said, code in (("database is locked", "5"), ("disk I/O error", "10"),
                           ("database or disk is full", "13"), ("no such table: t", "1")):
            error = mock.Mock(spec=["__str__"], __str__=lambda _, said=said: said)
            self.assertEqual(self.store.fault(error).code, code)

    def test_a_file_that_cannot_be_written(self):
        self.quietly()
        self.store.close()
        with mock.patch.object(SQLite, "connect", autospec=True) as connect:
            connect.side_effect = lambda one: self.read_only(one)
            answer = self.opened().session()(step(sql(ADD, "a", 1)))
        self.assertEqual((answer["error"]["code"], answer["error"]["executed"]),
                         ("standby", "no"))

    def read_only(self, one):
        """Make the file read-only by opening it so, because root may write any file."""
        real = sqlite3.connect

        def connect(path, *arguments, **named):
            return real(path.replace("mode=rw", "mode=ro"), *arguments, **named)

        with mock.patch.object(sqlite3, "connect", connect):
            return CONNECT(one)

    def test_a_file_that_cannot_be_opened(self):
        self.quietly()
        answer = SQLite(self.path / "below").session()(step(sql("SELECT 1", rows=True)))
        self.assertEqual((answer["error"]["code"], answer["error"]["executed"]), ("14", "no"))

    def test_no_memory(self):
        for path in ("", ":memory:"):
            with self.assertRaises(ValueError):
                SQLite(path)

    def test_an_interrupt_costs_the_connection(self):
        with self.store.session() as execute:
            execute(step(sql(ADD, "a", 1), transaction="begin"))
            used = execute.connection
            with mock.patch.object(SQLite, "run", side_effect=KeyboardInterrupt), \
                    self.assertRaises(KeyboardInterrupt):
                execute(step(sql(ADD, "b", 1), transaction="within"))
            self.assertIsNone(execute.connection)
        with self.assertRaises(sqlite3.ProgrammingError):
            used.execute("SELECT 1")
        self.assertEqual(self.rows(), [])


CONNECT = SQLite.connect


class TransactionTest(SQLiteTest):
    def setUp(self):
        super().setUp()
        logging.disable(logging.WARNING)
        self.addCleanup(logging.disable, logging.NOTSET)

    def test_commit(self):
        with self.store.session() as execute:
            execute(step(sql(ADD, "a", 1), transaction="begin"))
            execute(step(sql(ADD, "b", 2), transaction="within"))
            self.assertEqual(self.rows(), [])
            self.assertEqual(execute(step(transaction="commit"))["results"], [])
            self.assertEqual(self.rows(), [("a", 1), ("b", 2)])

    def test_a_whole_one(self):
        """Check a step that is a whole transaction (EXC-24)."""
        with self.store.session() as execute:
            answer = execute(step(sql(ADD, "a", 1), sql(ADD, "b", 2), transaction="single"))
            self.assertEqual(answer["results"], [{}, {}])
            self.assertEqual(self.rows(), [("a", 1), ("b", 2)])
            answer = execute(step(sql(ADD, "c", 1), sql(ADD, "a", 2), transaction="single"))
            self.assertEqual((answer["error"]["code"], answer["error"]["executed"]), ("19", "no"))
            self.assertFalse(execute.connection.in_transaction)
            self.assertEqual(self.rows(), [("a", 1), ("b", 2)])
            with mock.patch.object(SQLite, "commit", side_effect=sqlite3.OperationalError(
                    "disk I/O error")):
                answer = execute(step(sql(ADD, "c", 1), transaction="single"))
            self.assertEqual(answer["error"]["code"], "10")
            answer = execute(step(sql(ADD, "d", 1), transaction="commit"))
            self.assertEqual(answer["error"]["code"], "transaction")
            self.assertEqual(self.rows(), [("a", 1), ("b", 2)])

    def test_a_session_that_ends_early_undoes(self):
        with self.store.session() as execute:
            execute(step(sql(ADD, "a", 1), transaction="begin"))
        self.assertEqual(self.rows(), [])
        with self.store.session() as execute:
            self.assertEqual(execute.grant({"id": 1}, self.fail), {"id": 1, "code": 0})
            execute(step(sql(ADD, "a", 1)))
            self.assertFalse(execute.connection.in_transaction)

    def test_a_failure_undoes_all(self):
        with self.store.session() as execute:
            execute(step(sql(ADD, "a", 1), transaction="begin"))
            answer = execute(step(sql(ADD, "b", 1), sql(ADD, "a", 2), transaction="within"))
            self.assertEqual(answer["error"], {"code": "19", "executed": "no",
                                               "text": answer["error"]["text"]})
            self.assertEqual(self.rows(), [])
            answer = execute(step(sql(ADD, "c", 1), transaction="commit"))
            self.assertEqual(answer["error"]["code"], "transaction")
            self.assertEqual(self.rows(), [])

    def test_begun_again(self):
        with self.store.session() as execute:
            execute(step(sql(ADD, "a", 1), transaction="begin"))
            execute(step(sql(ADD, "b", 1), transaction="begin"))
            execute(step(transaction="commit"))
        self.assertEqual(self.rows(), [("b", 1)])

    def claim(self):
        return Exchange(store(step(sql(ADD, "claim", 1), transaction="begin")), grant(),
                        store(step(sql("UPDATE t SET n = 2 WHERE k = 'claim'"),
                                   transaction="commit")))

    def test_the_grant_goes_along(self):
        seen = []

        def pay(given):
            seen.append(given)
            given.connection.execute(ADD, ("coins", given.quantity))

        exchange = self.claim()
        self.assertEqual(run(exchange, self.store, pay), "the end")
        self.assertEqual(exchange.answers[1], {"id": 90, "code": 200})
        self.assertEqual(self.rows(), [("claim", 2), ("coins", 2)])
        self.assertEqual((seen[0].grant_id, seen[0].fencing_token, seen[0].account,
                          seen[0].product),
                         (GRANT["grantId"], 1, "ann", "coins"))

    def test_a_grant_that_raises(self):
        def pay(given):
            given.connection.execute(ADD, ("coins", 1))
            raise LookupError("no such account")

        exchange = self.claim()
        with self.assertRaisesRegex(LookupError, "no such account"):
            run(exchange, self.store, pay)
        self.assertTrue(exchange.is_closed)
        self.assertEqual(self.rows(), [])

    def test_a_grant_that_ends_the_transaction(self):
        """Check that a grant that ends the transaction gets an error, and nothing of the claim
        remains (STO-38)."""
        def unheard(end):
            def grant(given):
                with contextlib.suppress(assay.MisuseError):
                    end(given.connection)
            return grant

        for end in (lambda one: one.rollback(), lambda one: one.commit(), lambda one: one.close(),
                    lambda one: one.execute("COMMIT"), lambda one: one.execute(" /* x */ end"),
                    lambda one: one.cursor().execute("ROLLBACK;"), lambda one: one.__enter__(),
                    lambda one: one.executescript("SELECT 1"), lambda one: one.cursor().connection
                    .commit(), lambda one: setattr(one, "isolation_level", "DEFERRED")):
            for pay in (lambda given, end=end: end(given.connection), unheard(end)):
                exchange = self.claim()
                run(exchange, self.store, pay)
                self.assertEqual(exchange.answers[1], {
                    "id": 90, "code": 500,
                    "error": {"code": "transaction", "executed": "unknown"}})
                self.assertEqual(self.rows(), [])

    def test_what_the_guard_cannot_see(self):
        """Check a transaction that was ended behind the guard, and another that was begun
        (STO-38)."""
        def end(given):
            real = vars(given.connection)["_real"]
            real.execute(ADD, ("coins", 1))
            real.execute("COMMIT")
            real.execute("BEGIN")

        exchange = self.claim()
        run(exchange, self.store, end)
        self.assertEqual(exchange.answers[1]["error"]["code"], "transaction")
        self.assertEqual(self.rows(), [("claim", 1), ("coins", 1)])

    def test_what_passes_the_guard(self):
        """Check statements, savepoints of the host's own, and all forms of cursors."""
        def pay(given):
            one = given.connection
            self.assertIsInstance(one, sqlite3.Connection)
            one.execute("SAVEPOINT mine")
            one.execute(ADD, ("never", 1))
            one.execute("ROLLBACK TO mine")
            one.execute("RELEASE mine")
            cursor = one.cursor()
            self.assertIs(cursor.execute(ADD, ("coins", 1)), cursor)
            self.assertIs(cursor.connection, one)
            one.executemany(ADD, [("more", 2), ("most", 3)])
            self.assertEqual([row[0] for row in one.execute("SELECT n FROM t WHERE k = 'more'")],
                             [2])
            self.assertEqual(next(one.execute("SELECT 7"))[0], 7)
            kept.append(one)

        kept = []
        run(self.claim(), self.store, pay)
        self.assertEqual(self.rows(), [("claim", 2), ("coins", 1), ("more", 2), ("most", 3)])
        with self.assertRaises(assay.MisuseError) as caught:
            kept[0].execute("SELECT 1")
        self.assertEqual(caught.exception.rule, "STO-38")

    def test_a_layer_that_commits(self):
        """Check that the nested connection commits with the claim, or not at all (STO-38)."""
        def pay(given):
            one = given.connection.nested()
            one.cursor().execute(ADD, ("coins", 1))
            one.commit()
            one.execute("SELECT * FROM t")
            one.rollback()
            one.close()

        def undo(given):
            one = given.connection.nested()
            one.execute(ADD, ("coins", 1))
            one.rollback()

        def fail(given):
            pay(given)
            raise LookupError

        for wrong in (undo, fail):
            with contextlib.suppress(LookupError):
                run(self.claim(), self.store, wrong)
            self.assertEqual(self.rows(), [])
        run(self.claim(), self.store, pay)
        self.assertEqual(self.rows(), [("claim", 2), ("coins", 1)])

    def test_no_grant(self):
        with self.assertRaisesRegex(TypeError, "needs a grant"):
            run(self.claim(), self.store)
        self.assertEqual(self.rows(), [])

    def test_waits(self):
        now, slept = [100.0], []

        def sleep(seconds):
            slept.append(seconds)
            now[0] += seconds

        wait = {"step": "wait", "notBeforeMs": 100_250}
        exchange = Exchange(wait, wait, {"step": "wait", "notBeforeMs": 200_000})
        run(exchange, self.store, clock=lambda: now[0], sleep=sleep, max_wait=60)
        self.assertEqual((slept, exchange.answers), ([0.25, 0.0], [{}, {}]))

    def test_requests_go_to_the_sender(self):
        exchange, sent = Exchange({"step": "http", "http": {"id": 7}}), []

        def send(request):
            sent.append(request)
            return {"id": 7, "status": 200}

        run(exchange, self.store, sender=send)
        self.assertEqual((sent, exchange.answers), ([{"id": 7}], [{"id": 7, "status": 200}]))


class PoolTest(SQLiteTest):
    def test_connections_are_used_again(self):
        with self.store.session() as execute:
            execute(step(sql("SELECT 1", rows=True)))
            first = execute.connection
        with self.store.session() as execute, self.store.session() as other:
            execute(step(sql("SELECT 1", rows=True)))
            other(step(sql("SELECT 1", rows=True)))
            self.assertIs(execute.connection, first)
            self.assertIsNot(other.connection, first)

    def test_no_more_than_its_size(self):
        few = self.opened(size=2)
        most, now, lock = [0], [0], threading.Lock()

        def work():
            with few.session() as execute:
                execute(step(sql("SELECT 1", rows=True)))
                with lock:
                    now[0] += 1
                    most[0] = max(most[0], now[0])
                execute(step(sql("UPDATE t SET n = n + 1")))
                with lock:
                    now[0] -= 1

        with self.store.session() as execute:
            execute(step(sql(ADD, "a", 0)))
        threads = [threading.Thread(target=work) for _ in range(12)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual((most[0] <= 2, self.rows()), (True, [("a", 12)]))

    def test_none_is_free(self):
        one = self.opened(size=1)
        with one.session() as execute, mock.patch("assay.ledger._pool.PATIENCE", 0.01):
            execute(step(sql("SELECT 1", rows=True)))
            with self.assertLogs("assay.ledger", "WARNING"):
                asked = step(sql("SELECT 1", rows=True))
                answer = one.session()(asked)
            self.assertEqual((answer["error"]["code"], answer["error"]["executed"]),
                             ("connect", "no"))
        for size in (0, -1, "2"):
            with self.assertRaises(ValueError):
                Pool(int, int, size)

    def forked(self, work, meanwhile=lambda: None):
        """Return the result of `work` in a child, with what the parent does before the child
        ends."""
        theirs, ours = multiprocessing.Pipe(False)
        child = os.fork()
        if child == 0:
            try:
                ours.send(work())
            finally:
                os._exit(0)
        ours.close()
        meanwhile()
        self.assertTrue(theirs.poll(20))
        found = theirs.recv()
        os.waitpid(child, 0)
        return found

    def add(self, key):
        with self.store.session() as execute:
            return execute(step(sql(ADD, key, 1)))

    def test_a_child_of_a_fork(self):
        self.add("a")
        self.assertEqual(self.forked(lambda: self.add("b")["code"], lambda: self.add("c")), 200)
        self.add("d")
        self.assertEqual([key for key, _ in self.rows()], ["a", "b", "c", "d"])

    def test_a_fork_in_a_transaction(self):
        """Check that the child does not touch the connection, and gets an error for it."""
        def in_child():
            logging.disable(logging.WARNING)
            execute.close()
            return self.add("child")["error"]["code"]

        with self.store.session() as execute:
            execute(step(sql(ADD, "parent", 1), transaction="begin"))
            self.assertEqual(self.forked(in_child), "fork")
            execute(step(sql(ADD, "parent too", 1), transaction="commit"))
        self.assertEqual([key for key, _ in self.rows()], ["parent", "parent too"])

    def test_connections_that_survive_a_fork(self):
        """Check that a child opens its own connections, and neither uses nor closes the
        parent's."""
        closed, made = [], iter("abcdef")
        pool = Pool(lambda: next(made), closed.append, 3)
        first, pid = pool.take(), pool.pid
        pool.give(pool.take(), pid)

        def in_child():
            pool.give(first, pid)
            return pool.take(), closed

        self.assertEqual(self.forked(in_child), ("c", []))
        self.assertEqual(pool.take(), "b")
        pool.drop(first, pid)
        self.assertEqual(closed, ["a"])


WITHOUT_CLIENTS = """
import sys
for name in ("psycopg", "pymysql", "boto3", "botocore", "botocore.exceptions", "redis"):
    sys.modules[name] = None
from assay.ledger._urls import opened
try:
    opened(sys.argv[1], False)
except ModuleNotFoundError as error:
    print(error)
"""


class ResultTest(unittest.TestCase):
    """The types of results are dataclasses in all but the code that `dataclass` would generate."""

    def test_a_constructor(self):
        one = StoredEvidence(**KEPT)
        self.assertEqual(one, StoredEvidence("ab", "text", stored_at_ms=5, bundle_id=None))
        self.assertEqual(dataclasses.asdict(one), KEPT)
        self.assertEqual(hash(one), hash(StoredEvidence("ab", "text", 5, None)))
        self.assertEqual(dataclasses.replace(one, text="other").text, "other")
        self.assertEqual(list(inspect.signature(StoredEvidence).parameters), list(KEPT))
        self.assertEqual(pickle.loads(pickle.dumps(one)), one)
        self.assertEqual(copy.copy(one), one)
        for first, more in ((("ab", "text"), {}), (("ab", "text", 5, None, 6), {}),
                            (("ab",), KEPT), ((), {**KEPT, "other": 1})):
            with self.subTest(first=first, more=more), self.assertRaises(TypeError):
                StoredEvidence(*first, **more)

    def test_nothing_can_be_changed(self):
        one = StoredEvidence(**KEPT)
        for name in ("text", "other"):
            with self.assertRaises(dataclasses.FrozenInstanceError):
                setattr(one, name, "x")
        with self.assertRaises(dataclasses.FrozenInstanceError):
            del one.text
        self.assertEqual(vars(one), KEPT)


class LoadingTest(unittest.TestCase):
    def test_names(self):
        import assay.ledger

        self.assertLessEqual(set(assay.ledger.__all__), set(dir(assay.ledger)))
        with self.assertRaises(AttributeError):
            assay.ledger.nothing
        self.assertEqual(assay.ledger.Grant, Grant)
        self.assertTrue(asyncio.iscoroutinefunction(assay.Exchange.run_async))

    def test_a_client_that_is_not_installed_is_named(self):
        for url, client in (("postgresql://u@127.0.0.1:1/x", "psycopg[binary]"),
                            ("mysql://u@127.0.0.1:1/x", "pymysql"),
                            ("dynamodb://T?region=eu-west-1", "boto3"),
                            ("redis://127.0.0.1:1/0", "redis")):
            with self.subTest(client=client):
                done = subprocess.run([sys.executable, "-c", WITHOUT_CLIENTS, url], text=True,
                                      capture_output=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"pip install '{client}'", done.stdout)


if __name__ == "__main__":
    unittest.main()
