"""The executors of psycopg, PyMySQL, boto3 and redis-py with mock clients: the calls that they
make, and the faults that errors become. Tests/Stores tests the engines themselves."""
import asyncio
import contextlib
import datetime
import importlib.util
import logging
import os
import socket
import unittest
from types import MappingProxyType
from unittest import mock

from steps import Exchange, grant, sql, step, store

import assay
from assay._run import run_async

for needed in ("psycopg", "pymysql", "redis", "boto3"):
    if importlib.util.find_spec(needed) is None:
        raise unittest.SkipTest(f"{needed} is not here")

READ = sql("SELECT n FROM t WHERE k = $1", "a", rows=True)
WRITE = sql("UPDATE t SET n = $1 WHERE k = $2", 1, "a")


class ClientTest(unittest.TestCase):
    def setUp(self):
        logging.disable(logging.WARNING)
        self.addCleanup(logging.disable, logging.NOTSET)

    def assert_refused(self, answer, code, executed):
        self.assertEqual(answer["code"], 500, answer)
        self.assertEqual((answer["error"]["code"], answer["error"]["executed"]),
                         (code, executed))

    def assert_lost(self, answer):
        self.assertEqual(set(answer), {"id", "code"})
        self.assertEqual(answer["code"], 0)


class Pretended:
    """A mock connection of psycopg or PyMySQL, which records statements and raises set errors."""

    def __init__(self, fails=None, standby=False, isolation="read committed", found=((7,),)):
        self.said, self.fails, self.closed, self.begun = [], dict(fails or {}), False, False
        self.standby, self.isolation, self.found = standby, isolation, found
        self.gone = False
        self.pid = 4711

    def take(self, text, args):
        _, host_s, text = text.rpartition(" FOR ") if text.startswith("SET STATEMENT") else \
            ("", "", text)
        self.has_host_s_limits = bool(host_s)
        self.said.append((text, args) if args else text)
        for word, error in self.fails.items():
            if text.startswith(word):
                raise error
        if text.startswith(("BEGIN", "START")):
            self.begun = True
            for setting in text.split("; ")[1:]:
                assert setting.startswith("SET LOCAL "), setting
        if text in ("COMMIT", "ROLLBACK"):
            self.begun = False

    def close(self):
        self.closed = True

    def fileno(self):
        """Return the end of a pipe without data, or one whose other end is closed."""
        if not hasattr(self, "ends"):
            self.ends = socket.socketpair()
        if self.gone:
            self.ends[1].close()
        return self.ends[0].fileno()

    def __del__(self):
        for end in getattr(self, "ends", ()):
            end.close()


class Rows:
    def __init__(self, rows):
        self.rows = list(rows)

    def fetchall(self):
        return self.rows

    def fetchone(self):
        return self.rows[0]


class PretendedPsycopg(Pretended):
    def execute(self, text, args=None, prepare=None):
        self.take(text, args)
        asked = text.startswith("SELECT pg_is_in_recovery")
        return Rows([(self.standby, self.isolation, 4711)] if asked else self.found)

    def cursor(self):
        return mock.Mock(execute=self.execute)

    @property
    def info(self):
        from psycopg import pq

        status = pq.TransactionStatus.INTRANS if self.begun else pq.TransactionStatus.IDLE
        return mock.Mock(transaction_status=status, backend_pid=self.pid)


LIMITS = "SET SESSION statement_timeout = 5000; SET SESSION lock_timeout = 2000; " \
         "SET SESSION idle_in_transaction_session_timeout = 15000"
BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"


class PostgresTest(ClientTest):
    def session(self, *connections):
        from assay.ledger import Postgres

        made = iter(connections)
        self.store = Postgres("postgresql:///shop")
        self.store._open = lambda: next(made)
        return self.store.session()

    def error(self, name, **named):
        import psycopg

        found = getattr(psycopg.errors, name, None) or getattr(psycopg, name)
        return found("quotes 'a value'", **named)

    def test_a_step(self):
        connection = PretendedPsycopg(found=[("a", 5, None)])
        with self.session(connection) as execute:
            answer = execute(step(WRITE, READ, engine="postgres"))
        self.assertEqual(answer["results"], [{}, {"rows": [["a", 5, None]]}])
        self.assertTrue(connection.autocommit)
        self.assertEqual(connection.said[1:], [LIMITS,
                                               ("UPDATE t SET n = %s WHERE k = %s", [1, "a"]),
                                               ("SELECT n FROM t WHERE k = %s", ["a"])])

    def test_a_transaction(self):
        connection = PretendedPsycopg()
        with self.session(connection) as execute:
            execute(step(WRITE, transaction="begin"))
            execute(step(WRITE, transaction="commit"))
            execute(step(WRITE, transaction="single"))
            execute(step(WRITE, transaction="begin"))
        self.assertEqual([each for each in connection.said if isinstance(each, str)][1:],
                         [LIMITS, BEGIN, "COMMIT", BEGIN, "COMMIT", BEGIN, "ROLLBACK"])

    def test_limits(self):
        """Check that limits are set once for a session of its own, and again if they change
        (STO-76)."""
        connection = PretendedPsycopg()
        with self.session(connection) as execute:
            for limits in ({"statementMs": 900, "lockMs": 300},) * 2 + (None,):
                execute({**step(READ), **({"limits": limits} if limits else {})})
        said = [each for each in connection.said[1:] if isinstance(each, str)]
        self.assertEqual(said, [
            "SET SESSION statement_timeout = 900; SET SESSION lock_timeout = 300; "
            "SET SESSION idle_in_transaction_session_timeout = 2700", LIMITS])

    def test_limits_of_a_session_that_is_not_ours(self):
        """Check limits for a host's session, or one that a pool changes for each transaction
        (STO-76)."""
        from assay.ledger import Postgres

        pooled, host_s = PretendedPsycopg(), PretendedPsycopg()
        pooled.pid = 1
        with self.session(pooled) as execute:
            execute(step(READ, WRITE))
        with Postgres(lambda: host_s).session() as execute:
            execute(step(READ, WRITE))
        local = LIMITS.replace("SESSION", "LOCAL")
        for connection in (pooled, host_s):
            said = [each if isinstance(each, str) else each[0][:6] for each in connection.said]
            self.assertEqual(said[1:], [f"{BEGIN}; {local}", "SELECT", "COMMIT",
                                        f"{BEGIN}; {local}", "UPDATE", "COMMIT"])
        bad = PretendedPsycopg({"UPDATE": self.error("QueryCanceled")})
        with Postgres(lambda: bad).session() as execute:
            self.assert_refused(execute(step(WRITE)), "57014", "no")
            self.assert_refused(execute(step(READ, WRITE)), "57014", "unknown")
        self.assertFalse(bad.begun)

    def test_a_transaction_of_the_host_s(self):
        """Check that it is refused before anything runs, and the connection is unchanged
        (STO-38)."""
        from assay.ledger import Postgres

        mine = PretendedPsycopg()
        mine.begun = True
        store = Postgres(lambda: mine)
        with self.assertRaises(assay.MisuseError) as caught:
            store.session()(step(READ))
        self.assertIn("open transaction", caught.exception.message)
        self.assertEqual((mine.said, mine.closed, mine.begun), ([], False, True))
        mine.begun = False
        with store.session() as execute:
            execute(step(READ))
        said, mine.begun = list(mine.said), True
        with self.assertRaises(assay.MisuseError):
            store.session()(step(READ))
        self.assertEqual((mine.said, mine.closed), (said, False))

    def test_isolation_of_single_statements(self):
        connection = PretendedPsycopg(isolation="repeatable read")
        with self.session(connection) as execute:
            execute(step(READ))
        self.assertEqual(connection.said[1], "SET SESSION CHARACTERISTICS AS TRANSACTION "
                                             "ISOLATION LEVEL READ COMMITTED")

    def test_a_standby(self):
        connection = PretendedPsycopg(standby=True)
        with self.session(connection) as execute:
            self.assert_refused(execute(step(READ)), "standby", "no")
        self.assertTrue(connection.closed)

    def test_codes_of_the_engine(self):
        for name, code, executed in (("SerializationFailure", "40001", "no"),
                                     ("DeadlockDetected", "40P01", "no"),
                                     ("UndefinedTable", "42P01", "no"),
                                     ("QueryCanceled", "57014", "unknown")):
            with self.subTest(name), \
                    self.session(PretendedPsycopg({"UPDATE": self.error(name)})) as execute:
                answer = execute(step(WRITE))
                self.assert_refused(answer, code, executed)
                self.assertNotIn("value", str(answer))
                self.assert_refused(execute(step(READ, WRITE)), code, "unknown")
                self.assert_refused(execute(step(READ, WRITE, transaction="begin")), code, "no")

    def test_a_lost_connection(self):
        for error in (self.error("OperationalError"), self.error("AdminShutdown"),
                      self.error("ConnectionFailure")):
            bad, good = PretendedPsycopg({"UPDATE": error}), PretendedPsycopg()
            with self.session(bad, good) as execute:
                self.assert_lost(execute(step(WRITE, transaction="begin")))
                self.assertTrue(bad.closed)
                self.assertEqual(execute(step(WRITE))["code"], 200)
            self.assertNotIn("ROLLBACK", bad.said)

    def test_lost_when_it_commits(self):
        bad = PretendedPsycopg({"COMMIT": self.error("OperationalError")})
        with self.session(bad) as execute:
            self.assert_lost(execute(step(WRITE, transaction="begin")) and
                             execute(step(transaction="commit")))
        with self.session(PretendedPsycopg(bad.fails)) as execute:
            self.assert_lost(execute(step(WRITE, transaction="single")))

    def test_idle_ones_whose_server_has_gone(self):
        first, second, third = PretendedPsycopg(), PretendedPsycopg(), PretendedPsycopg()
        with self.session(first, second, third) as execute, self.store.session() as other:
            execute(step(READ))
            other(step(READ))
        with self.store.session() as execute:
            execute(step(READ))
            self.assertIs(execute.connection, first)
        first.gone = True
        with self.store.session() as execute:
            execute(step(READ))
            self.assertIs(execute.connection, second)
            self.assertTrue(first.closed)
        self.store.close()
        self.assertTrue(second.closed)

    def test_a_lost_one_costs_the_idle_ones(self):
        first, second, third = PretendedPsycopg(), PretendedPsycopg(), PretendedPsycopg()
        with self.session(first, second, third) as execute, self.store.session() as other:
            execute(step(READ))
            other(step(READ))
        first.fails["UPDATE"] = self.error("OperationalError")
        with self.store.session() as execute:
            self.assert_lost(execute(step(WRITE)))
            self.assertTrue(first.closed and second.closed)
            self.assertEqual(execute(step(WRITE))["code"], 200)
            self.assertIs(execute.connection, third)

    def test_a_rollback_that_fails(self):
        bad = PretendedPsycopg({"UPDATE": self.error("UniqueViolation"),
                                "ROLLBACK": self.error("OperationalError")})
        with self.session(bad) as execute:
            self.assert_refused(execute(step(WRITE, transaction="begin")), "23505", "no")
        self.assertTrue(bad.closed)

    def test_no_connection(self):
        import psycopg

        from assay.ledger import Postgres

        for said, code in (
                ('connection to server at "db", port 5432 failed: Connection refused', "connect"),
                ('could not translate host name "db" to address', "connect"),
                ("session is read-only", "standby"),
                ('FATAL:  password authentication failed for user "ann"', "28P01"),
                ("fe_sendauth: no password supplied", "28P01"),
                ('FATAL:  database "shop" does not exist', "3D000"),
                ('FATAL:  role "ann" does not exist', "28000"),
                ('FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "ann"', "28000"),
                ("FATAL:  sorry, too many clients already", "53300"),
                ("FATAL:  the database system is starting up", "57P03")):
            refuse = mock.Mock(side_effect=psycopg.OperationalError(said))
            with mock.patch.object(psycopg, "connect", refuse):
                session = Postgres("postgresql://ann:secret@db/shop?connect_timeout=1").session()
                answer = session(step(READ))
            self.assert_refused(answer, code, "no")
            for name in ("ann", 'db"', "shop", "10.0.0.1"):
                self.assertNotIn(name, str(answer), "STO-77: the document has no host or user")
        self.assertEqual(
            {name: refuse.call_args.kwargs.get(name) for name in
             ("autocommit", "target_session_attrs", "connect_timeout", "password")},
            {"autocommit": True, "target_session_attrs": "read-write", "connect_timeout": "1",
             "password": "secret"})


class PretendedAsync(PretendedPsycopg):
    def cursor(self):
        return mock.Mock(execute=self.execute)

    async def set_autocommit(self, value):
        self.autocommit = value

    async def execute(self, text, args=None, prepare=None):
        if text.startswith("HANG"):
            await asyncio.sleep(60)
        found = super().execute(text, args)
        return mock.Mock(fetchone=mock.AsyncMock(return_value=found.rows[:1] and found.rows[0]),
                         fetchall=mock.AsyncMock(return_value=found.rows))

    async def close(self):
        self.closed = True


class AsyncPostgresTest(unittest.IsolatedAsyncioTestCase, ClientTest):
    def store(self, *connections, **options):
        from assay.ledger import AsyncPostgres

        made = iter(connections)

        async def connect():
            return next(made)

        found = AsyncPostgres("postgresql:///shop", **options)
        found._where = connect
        return found

    async def test_a_grant(self):
        connection, seen = PretendedAsync(), []

        async def pay(given):
            seen.append(given.connection)

        exchange = Exchange(store(step(WRITE, transaction="begin")), grant(),
                            store(step(READ, transaction="commit")))
        await run_async(exchange, self.store(connection), pay)
        self.assertEqual(exchange.answers[2]["results"], [{"rows": [[7]]}])
        self.assertEqual(connection.said[-1], "COMMIT")
        self.assertIsInstance(seen[0], PretendedAsync)
        self.assertFalse(connection.closed)

    async def test_a_grant_that_raises_or_says_no(self):
        async def fail(given):
            raise LookupError

        async def refuse(given):
            return False

        async def end(given):
            await given.connection.execute("COMMIT")

        async def unheard(given):
            with contextlib.suppress(assay.MisuseError):
                await given.connection.commit()

        for pay, error in ((fail, LookupError), (refuse, None), (end, None), (unheard, None),
                           (None, TypeError)):
            connection = PretendedAsync()
            exchange = Exchange(store(step(WRITE, transaction="begin")), grant())
            coming = run_async(exchange, self.store(connection), pay)
            if error is None:
                await coming
                self.assertEqual(exchange.answers[1]["code"], 500)
                self.assertEqual("error" in exchange.answers[1], pay is not refuse)
            else:
                with self.assertRaises(error):
                    await coming
            self.assertTrue(connection.closed or not connection.begun)

    async def test_a_session_lost_in_the_grant(self):
        """Check a session that is lost during the grant (STO-39)."""
        import psycopg

        async def lose(given):
            connection.closed = True
            raise psycopg.OperationalError("the connection is closed")

        async def unseen(given):
            connection.fails["RELEASE"] = psycopg.errors.AdminShutdown()

        async def late(given):
            connection.fails["RELEASE"] = psycopg.errors.IdleInTransactionSessionTimeout()

        for pay in (lose, unseen, late):
            connection = PretendedAsync()
            exchange = Exchange(store(step(WRITE, transaction="begin")), grant())
            await run_async(exchange, self.store(connection), pay)
            self.assert_lost(exchange.answers[1])

    async def test_too_long(self):
        connection = PretendedAsync()
        async with self.store(connection, timeout=0.02).session() as execute:
            self.assert_lost(await execute(step(sql("HANG"))))
        self.assertTrue(connection.closed)

    async def test_cancelled(self):
        connection, other = PretendedAsync(), PretendedAsync()
        one = self.store(connection, other, size=1)
        session = one.session()
        task = asyncio.ensure_future(session(step(sql("HANG"))))
        await asyncio.sleep(0.02)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertTrue(connection.closed)
        async with one.session() as execute:
            self.assertEqual((await execute(step(READ)))["code"], 200)
        await one.close()
        self.assertTrue(other.closed)

    async def test_faults(self):
        import psycopg

        bad = PretendedAsync({"UPDATE": psycopg.errors.DeadlockDetected()})
        async with self.store(bad, PretendedAsync(standby=True)).session() as execute:
            for mark in ("begin", "single"):
                self.assert_refused(await execute(step(WRITE, transaction=mark)), "40P01", "no")
            self.assert_refused(await execute(step(READ, WRITE)), "40P01", "unknown")
            bad.fails["UPDATE"] = psycopg.OperationalError()
            self.assert_lost(await execute(step(WRITE)))
            self.assert_refused(await execute(step(WRITE)), "standby", "no")


class PretendedMySQL(Pretended):
    def __init__(self, *arguments, read_only=0, **named):
        super().__init__(*arguments, **named)
        self.read_only, self.server_status = read_only, 0
        self._force_close, self._sock = self.close, self

    def cursor(self, kind=None):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def autocommit(self, on):
        self.is_autocommit = on

    def execute(self, text, args=None):
        self.take(text, args)
        self.server_status = int(self.begun)
        self.rows = [(self.read_only,)] if "read_only" in text else self.found

    def fetchall(self):
        return self.rows


class MariaDBTest(ClientTest):
    def session(self, *connections):
        from assay.ledger import MariaDB

        made = iter(connections)
        self.store = MariaDB(lambda: next(made))
        return self.store.session()

    def connection(self, fails=None, **named):
        return PretendedMySQL(fails, **named)

    def test_a_transaction(self):
        import decimal

        connection = self.connection(found=((decimal.Decimal(5), b"x", True),))
        with self.session(connection) as execute:
            answer = execute(step(READ, transaction="begin"))
            execute(step(WRITE, transaction="commit"))
        self.assertEqual(answer["results"], [{"rows": [[5, "x", 1]]}])
        self.assertTrue(connection.is_autocommit)
        self.assertEqual(connection.said, [
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "SELECT @@global.read_only",
            "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION",
            ("SELECT n FROM t WHERE k = %s", ["a"]),
            ("UPDATE t SET n = %s WHERE k = %s", [1, "a"]), "COMMIT"])

    def test_limits(self):
        """Check limits of the ledger's own session, else of each statement (STO-76)."""
        import pymysql

        from assay.ledger import MariaDB

        connection = self.connection()
        with self.session(connection) as execute:
            execute(step(WRITE))
            self.assertTrue(connection.has_host_s_limits)
        own = self.connection()
        with mock.patch.object(pymysql, "connect", return_value=own), \
                MariaDB({"host": "db"}).session() as execute:
            for limits in ({"statementMs": 900, "lockMs": 300},) * 2 + (None,):
                execute({**step(WRITE), **({"limits": limits} if limits else {})})
            self.assertFalse(own.has_host_s_limits)
        self.assertEqual([each for each in own.said if "max_statement_time" in each], [
            "SET SESSION max_statement_time=0.9, innodb_lock_wait_timeout=1, lock_wait_timeout=1",
            "SET SESSION max_statement_time=5, innodb_lock_wait_timeout=2, lock_wait_timeout=2"])

    def test_a_transaction_of_the_host_s(self):
        """Check that the ledger refuses a transaction of the host (STO-38)."""
        mine = self.connection()
        mine.server_status = 1
        with self.assertRaises(assay.MisuseError):
            self.session(mine)(step(READ))
        self.assertEqual((mine.said, mine.closed), ([], False))

    def test_codes(self):
        from pymysql import err

        for code, executed in ((1205, "no"), (1213, "no"), (1146, "no")):
            connection = self.connection({"UPDATE": err.OperationalError(code, "'a value'")})
            with self.session(connection) as execute:
                answer = execute(step(WRITE, transaction="begin"))
            self.assert_refused(answer, str(code), executed)
            self.assertNotIn("value", str(answer))
            self.assertEqual((connection.said[-1], connection.closed), ("ROLLBACK", False))
        for error in (err.OperationalError(2013, "lost"), err.InterfaceError(0, "")):
            connection = self.connection({"UPDATE": error})
            with self.session(connection) as execute:
                self.assert_lost(execute(step(WRITE)))
            self.assertTrue(connection.closed)

    def test_a_standby_and_no_connection(self):
        import pymysql

        from assay.ledger import MariaDB

        connection = self.connection(read_only=1)
        with self.session(connection) as execute:
            self.assert_refused(execute(step(WRITE)), "standby", "no")
        self.assertTrue(connection.closed)
        for given, code in ((2003, "connect"), (2005, "connect"), (2013, "connect"),
                            (1044, "1044"), (1045, "1045"), (1049, "1049"), (1040, "1040")):
            refuse = mock.Mock(side_effect=pymysql.err.OperationalError(given, "'ann'@'db'"))
            with mock.patch.object(pymysql, "connect", refuse):
                answer = MariaDB({"host": "db"}).session()(step(READ))
            self.assert_refused(answer, code, "no")
            self.assertNotIn("ann", str(answer), "STO-77: the document has no host or user")
        self.assertEqual(refuse.call_args.kwargs["charset"], "utf8mb4")


class DynamoDBTest(ClientTest):
    CALL = MappingProxyType({"api": "UpdateItem", "input": {"TableName": "T"}})

    def session(self, *said):
        from assay.ledger import DynamoDB

        self.client = mock.Mock()
        self.client._make_api_call.side_effect = said
        self.store = DynamoDB(self.client)
        return self.store.session()

    def error(self, code, **named):
        from botocore.exceptions import ClientError

        return ClientError({"Error": {"Code": code, "Message": "'a value'"}, **named}, "X")

    def step(self, *calls, **named):
        return step(*(calls or (self.CALL,)), engine="dynamodb", **named)

    def test_outputs_and_conditions(self):
        with self.session(
                {"Attributes": {"n": {"N": "1"}}, "ResponseMetadata": {}},
                self.error("ConditionalCheckFailedException", Item={"n": {"N": "5"}}),
                self.error("ConditionalCheckFailedException"),
                self.error("TransactionCanceledException", CancellationReasons=[
                    {"Code": "ConditionalCheckFailed", "Item": {"n": {"N": "5"}},
                     "Message": "'a value'"}, {"Code": "None"}])) as execute:
            answer = execute(self.step(*[self.CALL] * 4))
        failed = {"type": "ConditionalCheckFailedException"}
        self.assertEqual(answer["results"], [
            {"output": {"Attributes": {"n": {"N": "1"}}}},
            {"error": {**failed, "item": {"n": {"N": "5"}}}}, {"error": failed},
            {"error": {"type": "TransactionCanceledException", "reasons": [
                {"code": "ConditionalCheckFailed", "item": {"n": {"N": "5"}}},
                {"code": "None"}]}}])

    def test_a_date(self):
        made = datetime.datetime(2026, 1, 1)
        with self.session({"Table": {"CreationDateTime": made}}) as execute:
            answer = execute(self.step({"api": "DescribeTable", "input": {}}))
        self.assertEqual(answer["results"],
                         [{"output": {"Table": {"CreationDateTime": str(made)}}}])

    def test_codes(self):
        from botocore import exceptions

        for error, code, executed in (
                (self.error("ThrottlingException"), "ThrottlingException", "no"),
                (self.error("InternalServerError"), "InternalServerError", "unknown"),
                (exceptions.EndpointConnectionError(endpoint_url="http://x"), "connect", "no"),
                (exceptions.ConnectTimeoutError(endpoint_url="http://x"), "connect", "no"),
                (exceptions.NoCredentialsError(), "UnrecognizedClientException", "no")):
            with self.session(error, {}, error) as execute:
                answer = execute(self.step())
                self.assert_refused(answer, code, executed)
                self.assertNotIn("value", str(answer))
                self.assert_refused(execute(self.step(self.CALL, self.CALL)), code, "unknown")
        with self.session(exceptions.ReadTimeoutError(endpoint_url="http://x")) as execute:
            self.assert_lost(execute(self.step()))

    def test_the_host_s_items_go_along(self):
        asked = {"id": 7, "item": {"Put": 1}}
        failed = self.error("TransactionCanceledException", CancellationReasons=[
            {"Code": "ConditionalCheckFailed"}])
        with self.session({}, failed, self.error("ThrottlingException")) as execute:
            self.assertEqual(execute.grant(asked, lambda items: items.append({"Put": 2})),
                             {"id": 7, "code": 200})
            self.assertEqual(execute.grant(asked, len), {"id": 7, "code": 200, "results": [
                {"error": {"type": "TransactionCanceledException",
                           "reasons": [{"code": "ConditionalCheckFailed"}]}}]})
            self.assertEqual(execute.grant(asked, len), {"id": 7, "code": 500})
        self.assertEqual([call.args for call in self.client._make_api_call.call_args_list][:2],
                         [("TransactWriteItems", {"TransactItems": [{"Put": 1}, {"Put": 2}]}),
                          ("TransactWriteItems", {"TransactItems": [{"Put": 1}]})])

    def test_its_own_client_repeats_nothing(self):
        from assay.ledger import DynamoDB

        keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
        with mock.patch.dict(os.environ, keys):
            made = DynamoDB(region="eu-central-1", endpoint="http://127.0.0.1:9").client
            other = DynamoDB(region="eu-central-1", endpoint="http://127.0.0.1:9")
            with other.session() as execute:
                call = {"api": "DescribeTable", "input": {"TableName": "assay"}}
                self.assert_refused(execute({**self.step(call), "limits": {
                    "statementMs": 900, "lockMs": 300}}), "connect", "no")
        self.assertEqual(made.meta.config.retries["total_max_attempts"], 1)
        self.assertEqual(made.meta.endpoint_url, "http://127.0.0.1:9")
        self.assertEqual([(each.meta.config.connect_timeout, each.meta.config.read_timeout)
                          for each in (made, other.client)], [(1, 5.0), (1, 0.9)], "STO-76")


SCRIPT = {"script": "return 1", "sha1": "ab", "keys": ["k"], "args": ["1", "2"]}


class RedisTest(ClientTest):
    def session(self, *said, role="master", memory=()):
        from assay.ledger import Redis

        self.client = mock.Mock()
        found = {"maxmemory": 0, "maxmemory_policy": "noeviction", **dict(memory)}
        asked = [[role, 0, []], found] if role == "master" else [[role, 0, []]]
        self.client.execute_command.side_effect = [*asked, *said]
        self.store = Redis(self.client)
        return self.store.session()

    @property
    def asked(self):
        return [call.args for call in self.client.execute_command.call_args_list]

    def test_scripts_and_commands(self):
        from redis.exceptions import NoScriptError

        with self.session([b"2", "n", "5"], NoScriptError(), ["1", None], 3, {"a": "b"}) as run:
            command = {"command": ["SADD", "k", "v"]}
            answer = run(step(SCRIPT, SCRIPT, command, {"command": ["HGETALL", "k"]}))
        self.assertEqual([each["reply"] for each in answer["results"]],
                         [["2", "n", "5"], ["1", None], [3], ["a", "b"]])
        rest = (1, "k", "1", "2")
        self.assertEqual(self.asked, [
            ("ROLE",), ("INFO", "memory"), ("EVALSHA", "ab", *rest), ("EVALSHA", "ab", *rest),
            ("EVAL", "return 1", *rest), ("SADD", "k", "v"), ("HGETALL", "k")])

    def test_errors(self):
        from redis import exceptions

        for error, code in (
                (exceptions.ResponseError("WRONGTYPE 'a value'"), "WRONGTYPE"),
                (exceptions.BusyLoadingError("Redis is loading"), "LOADING"),
                (exceptions.ClusterDownError("CLUSTERDOWN x"), "CLUSTERDOWN"),
                (exceptions.ReadOnlyError("You can't write"), "standby")):
            with self.session(error) as execute:
                answer = execute(step(SCRIPT))
                self.assert_refused(answer, code, "no")
                self.assertNotIn("value", str(answer))
        for error in (exceptions.TimeoutError(), exceptions.ConnectionError()):
            with self.session(error) as execute:
                self.assert_lost(execute(step(SCRIPT)))

    def test_not_reached(self):
        """Check faults of connections: nothing was sent, or the server's error that the client
        keeps (STO-77)."""
        from redis import exceptions

        for error, code in (
                (exceptions.ConnectionError("Error 111 connecting to db:6379. Refused."),
                 "connect"), (exceptions.TimeoutError("Timeout connecting to server"), "connect"),
                (exceptions.AuthenticationError("Authentication required."), "NOAUTH"),
                (exceptions.AuthenticationError("invalid username-password pair"), "WRONGPASS")):
            with self.session() as execute:
                self.client.execute_command.side_effect = error
                answer = execute(step(SCRIPT))
                self.assert_refused(answer, code, "no")
                self.assertNotIn("db", str(answer))

    def test_one_that_evicts(self):
        """Check the eviction policy on a new connection, at most once a minute (STO-83)."""
        from redis.exceptions import ConnectionError as Lost
        from redis.exceptions import NoPermissionError

        most = {"maxmemory": 3 << 20, "maxmemory_policy": "allkeys-lru"}
        text = "# Memory\r\nmaxmemory:3145728\r\nmaxmemory_policy:allkeys-lru\r\n"
        for memory in (most, {**most, "maxmemory": "1"}):
            with self.session(memory=memory) as execute:
                self.assert_refused(execute(step(SCRIPT)), "evicting", "no")
        for said, code in ((text, 500), (text.replace("allkeys-lru", "noeviction"), 200),
                           ({**most, "maxmemory": 0}, 200), (NoPermissionError(), 200)):
            with self.session() as execute:
                self.client.execute_command.side_effect = [["master"], said, [1]]
                self.assertEqual(execute(step(SCRIPT))["code"], code)
        with self.session([1], Lost(), ["master"], [1], Lost(), ["master"], most) as execute, \
                mock.patch("assay.ledger.redis.time.monotonic") as clock:
            clock.return_value = 1000.0
            self.assertEqual([execute(step(SCRIPT))["code"] for _ in range(3)], [200, 0, 200])
            clock.return_value = 1060.0
            self.assertEqual([execute(step(SCRIPT))["code"] for _ in range(2)], [0, 500])

    def test_one_that_evicts_and_is_asked_about_it(self):
        """Check that `check-schema` reads the policy itself, so that the library decides
        (STO-83)."""
        with self.session() as execute:
            self.client.execute_command.side_effect = [
                ["master"], ["master"], {"maxmemory": 1, "maxmemory_policy": "allkeys-lru"}, 1]
            asked = step({"command": ["ROLE"]}, {"command": ["INFO", "memory"]})
            self.assertEqual(execute(asked)["results"][1]["reply"],
                             ["maxmemory", 1, "maxmemory_policy", "allkeys-lru"])
            self.assertEqual(execute(step(SCRIPT))["code"], 200)

    def test_a_replica(self):
        from redis.exceptions import ConnectionError as Lost

        with self.session(role="slave") as execute:
            self.assert_refused(execute(step(SCRIPT)), "standby", "no")
        with self.session(Lost(), [b"slave"]) as execute:
            self.assert_lost(execute(step(SCRIPT)))
            self.assert_refused(execute(step(SCRIPT)), "standby", "no")

    def test_its_own_client_repeats_nothing(self):
        from assay.ledger import AsyncRedis, Redis

        for kind in (Redis, AsyncRedis):
            made = kind("redis://127.0.0.1:9/1").client.connection_pool.make_connection()
            self.assertEqual((made.retry._retries, made.db), (0, 1))
            self.assertEqual((made.socket_connect_timeout, made.socket_timeout), (1, 5.0))

    def test_async(self):
        from assay.ledger import AsyncRedis

        said = [["master"], {}, [1], self.lost()]
        client = mock.Mock(execute_command=mock.AsyncMock(side_effect=said))

        async def run():
            async with AsyncRedis(client).session() as execute:
                return await execute(step(SCRIPT)), await execute(step(SCRIPT))

        first, second = asyncio.run(run())
        self.assertEqual(first["results"], [{"reply": [1]}])
        self.assert_lost(second)

    def lost(self):
        from redis.exceptions import ConnectionError as Lost

        return Lost()


if __name__ == "__main__":
    unittest.main()
