"""The executors of psycopg, PyMySQL, boto3 and redis-py over clients that are pretended: what
they are asked, and what their errors become. The engines themselves: Tests/Stores."""
import asyncio
import datetime
import importlib.util
import logging
import os
import socket
import unittest
from types import MappingProxyType
from unittest import mock

from steps import Exchange, grant, sql, step, store

from assay.store import carry_out_async

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
    """A connection of psycopg or PyMySQL: notes statements, and raises what it is told."""

    def __init__(self, fails=None, standby=False, isolation="read committed", found=((7,),)):
        self.said, self.fails, self.closed, self.begun = [], dict(fails or {}), False, False
        self.standby, self.isolation, self.found = standby, isolation, found
        self.gone = False

    def take(self, text, args):
        self.said.append((text, args) if args else text)
        for word, error in self.fails.items():
            if text.startswith(word):
                raise error
        if text.startswith(("BEGIN", "START")):
            self.begun = True
        if text in ("COMMIT", "ROLLBACK"):
            self.begun = False

    def close(self):
        self.closed = True

    def fileno(self):
        """An end of a pipe on which nothing comes, or, gone, its other end hung up."""
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
        return Rows([(self.standby, self.isolation)] if asked else self.found)

    @property
    def info(self):
        from psycopg import pq

        status = pq.TransactionStatus.INTRANS if self.begun else pq.TransactionStatus.IDLE
        return mock.Mock(transaction_status=status)


class PostgresTest(ClientTest):
    def session(self, *connections):
        from assay.store import Postgres

        made = iter(connections)
        self.store = Postgres(lambda: next(made))
        return self.store.session()

    def error(self, name, **named):
        import psycopg

        found = getattr(psycopg.errors, name, None) or getattr(psycopg, name)
        return found("quotes 'a value'", **named)

    def test_a_step(self):
        connection = PretendedPsycopg(found=[("a", 5, None)])
        with self.session(connection) as execute:
            answer = execute(step(WRITE, READ, dialect="postgres"))
        self.assertEqual(answer["results"], [{}, {"rows": [["a", 5, None]]}])
        self.assertTrue(connection.autocommit)
        self.assertEqual(connection.said[1:], [("UPDATE t SET n = %s WHERE k = %s", [1, "a"]),
                                               ("SELECT n FROM t WHERE k = %s", ["a"])])

    def test_a_transaction(self):
        connection = PretendedPsycopg()
        with self.session(connection) as execute:
            execute(step(WRITE, transaction="begin"))
            execute(step(WRITE, transaction="commit"))
            execute(step(WRITE, transaction="whole"))
            execute(step(WRITE, transaction="begin"))
        self.assertEqual([each for each in connection.said if isinstance(each, str)][1:],
                         ["BEGIN ISOLATION LEVEL READ COMMITTED", "COMMIT"] * 2 +
                         ["BEGIN ISOLATION LEVEL READ COMMITTED", "ROLLBACK"])

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
            self.assert_lost(execute(step(WRITE, transaction="whole")))

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

        from assay.store import Postgres

        for said, code in (("connection refused", "08001"), ("session is read-only", "standby")):
            refuse = mock.Mock(side_effect=psycopg.OperationalError(said))
            with mock.patch.object(psycopg, "connect", refuse):
                session = Postgres("postgresql://ann:secret@db/shop?connect_timeout=1").session()
                self.assert_refused(session(step(READ)), code, "no")
        self.assertEqual(
            {name: refuse.call_args.kwargs.get(name) for name in
             ("autocommit", "target_session_attrs", "connect_timeout", "password")},
            {"autocommit": True, "target_session_attrs": "read-write", "connect_timeout": "1",
             "password": "secret"})


class PretendedAsync(PretendedPsycopg):
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
        from assay.store import AsyncPostgres

        made = iter(connections)

        async def connect():
            return next(made)

        return AsyncPostgres(connect, **options)

    async def test_a_grant(self):
        connection, seen = PretendedAsync(), []

        async def pay(given):
            seen.append(given.connection)

        exchange = Exchange(store(step(WRITE, transaction="begin")), grant(),
                            store(step(READ, transaction="commit")))
        await carry_out_async(exchange, self.store(connection), pay)
        self.assertEqual(exchange.answers[2]["results"], [{"rows": [[7]]}])
        self.assertEqual((seen, connection.said[-1]), ([connection], "COMMIT"))
        self.assertFalse(connection.closed)

    async def test_a_grant_that_raises_or_says_no(self):
        async def fail(given):
            raise LookupError

        async def refuse(given):
            return False

        async def end(given):
            await given.connection.execute("COMMIT")

        for pay, error in ((fail, LookupError), (refuse, None), (end, RuntimeError),
                           (None, TypeError)):
            connection = PretendedAsync()
            exchange = Exchange(store(step(WRITE, transaction="begin")), grant())
            coming = carry_out_async(exchange, self.store(connection), pay)
            if error is None:
                await coming
                self.assertEqual(exchange.answers[1]["code"], 500)
            else:
                with self.assertRaises(error):
                    await coming
            self.assertFalse(connection.begun)

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
            for mark in ("begin", "whole"):
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

    def cursor(self, kind):
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
        from assay.store import MariaDB

        made = iter(connections)
        return MariaDB(lambda: next(made)).session()

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
            "SET SESSION innodb_lock_wait_timeout = 5",
            "SELECT @@global.read_only",
            "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION",
            ("SELECT n FROM t WHERE k = %s", ["a"]),
            ("UPDATE t SET n = %s WHERE k = %s", [1, "a"]), "COMMIT"])

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

        from assay.store import MariaDB

        connection = self.connection(read_only=1)
        with self.session(connection) as execute:
            self.assert_refused(execute(step(WRITE)), "standby", "no")
        self.assertTrue(connection.closed)
        refuse = mock.Mock(side_effect=pymysql.err.OperationalError(2003, "refused"))
        with mock.patch.object(pymysql, "connect", refuse):
            self.assert_refused(MariaDB({"host": "db"}).session()(step(READ)), "2003", "no")
        self.assertEqual(refuse.call_args.kwargs["charset"], "utf8mb4")


class DynamoDBTest(ClientTest):
    CALL = MappingProxyType({"api": "UpdateItem", "input": {"TableName": "T"}})

    def session(self, *said):
        from assay.store import DynamoDB

        self.client = mock.Mock()
        self.client._make_api_call.side_effect = said
        self.store = DynamoDB(self.client)
        return self.store.session()

    def error(self, code, **named):
        from botocore.exceptions import ClientError

        return ClientError({"Error": {"Code": code, "Message": "'a value'"}, **named}, "X")

    def step(self, *calls, **named):
        return step(*(calls or (self.CALL,)), dialect="dynamodb", **named)

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
                (exceptions.EndpointConnectionError(endpoint_url="http://x"),
                 "ServiceUnavailable", "no")):
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
            execute.connection.append({"Put": 2})
            self.assertEqual(execute.confirm(asked), {"id": 7, "code": 200})
            self.assertEqual(execute.confirm(asked), {"id": 7, "code": 200, "results": [
                {"error": {"type": "TransactionCanceledException",
                           "reasons": [{"code": "ConditionalCheckFailed"}]}}]})
            self.assertEqual(execute.confirm(asked), {"id": 7, "code": 500})
        self.assertEqual([call.args for call in self.client._make_api_call.call_args_list][:2],
                         [("TransactWriteItems", {"TransactItems": [{"Put": 1}, {"Put": 2}]}),
                          ("TransactWriteItems", {"TransactItems": [{"Put": 1}]})])

    def test_making_the_table(self):
        from botocore.exceptions import EndpointConnectionError

        from assay.store import SchemaError

        calls = [{"api": "CreateTable", "input": {"TableName": "T"}},
                 {"api": "UpdateTimeToLive", "input": {"TableName": "T"}}]
        self.session({}, {}, self.error("ResourceInUseException"),
                     self.error("ValidationException"), self.error("AccessDeniedException"),
                     EndpointConnectionError(endpoint_url="http://x"))
        for times in (1, 2):
            self.store.define(calls)
            self.assertEqual(self.client.get_waiter.return_value.wait.call_count, times)
        for _ in range(2):
            with self.assertRaises(SchemaError):
                self.store.define(calls)

    def test_its_own_client_repeats_nothing(self):
        from assay.store import DynamoDB

        keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
        with mock.patch.dict(os.environ, keys):
            made = DynamoDB(region="eu-central-1", endpoint="http://127.0.0.1:9").client
        self.assertEqual(made.meta.config.retries["total_max_attempts"], 1)
        self.assertEqual(made.meta.endpoint_url, "http://127.0.0.1:9")


SCRIPT = {"script": "return 1", "sha1": "ab", "keys": ["k"], "args": ["1", "2"]}


class RedisTest(ClientTest):
    def session(self, *said, role="master"):
        from assay.store import Redis

        self.client = mock.Mock()
        self.client.execute_command.side_effect = [[role, 0, []], *said]
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
            ("ROLE",), ("EVALSHA", "ab", *rest), ("EVALSHA", "ab", *rest),
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

    def test_a_replica(self):
        from redis.exceptions import ConnectionError as Lost

        with self.session(role="slave") as execute:
            self.assert_refused(execute(step(SCRIPT)), "standby", "no")
        with self.session(Lost(), [b"slave"]) as execute:
            self.assert_lost(execute(step(SCRIPT)))
            self.assert_refused(execute(step(SCRIPT)), "standby", "no")

    def test_its_own_client_repeats_nothing(self):
        from assay.store import AsyncRedis, Redis

        for kind in (Redis, AsyncRedis):
            made = kind("redis://127.0.0.1:9/1").client.connection_pool.make_connection()
            self.assertEqual((made.retry._retries, made.db), (0, 1))

    def test_async(self):
        from assay.store import AsyncRedis

        said = [["master"], [1], self.lost()]
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
