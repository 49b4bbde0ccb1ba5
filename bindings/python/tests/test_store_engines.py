"""The ledger on the engines that can be started here (Tests/Stores/engines.py): grants in the open
transaction, lost sessions and engines, connections of the host's own."""
import asyncio
import contextlib
import hashlib
import importlib.util
import itertools
import logging
import os
import pathlib
import random
import sys
import threading
import time
import unittest
import urllib.parse

from steps import sql, step

import assay
from assay.ledger import AsyncLedger, Ledger

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "Tests/Stores"
# The folder of moto's server, which make check-python-stores installs.
TOOLS = FOLDER.parents[1] / "build/python-tools/bin"
if not (FOLDER / "engines.py").exists() or importlib.util.find_spec("assay_testing") is None:
    raise unittest.SkipTest("Tests/Stores/engines.py or assay_testing is not here")

INSERT = "INSERT INTO orders (id) VALUES ('mine')"
COINS, MONTHLY = "com.example.app.coins100", "com.example.app.premium.monthly"


def at_once(call, count):
    """Return how often each outcome resulted from so many concurrent calls."""
    found, lock = [], threading.Lock()

    def run(number):
        try:
            outcome = call(number).outcome
        except Exception as error:  # an outcome that no test expects
            outcome = repr(error)
        with lock:
            found.append(outcome)

    threads = [threading.Thread(target=run, args=(each,)) for each in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return {outcome: found.count(outcome) for outcome in set(found)}


class EngineTest(unittest.TestCase):
    """A base class with one engine for the tests of a class."""

    engine_name = None
    module = None
    numbers = iter(range(600_000_000_000_000, 700_000_000_000_000))

    @classmethod
    def setUpClass(cls):
        if cls.engine_name is None or (cls.module and not importlib.util.find_spec(cls.module)):
            raise unittest.SkipTest(f"{cls.module or 'an engine'} is not here")
        sys.path.insert(0, str(FOLDER))
        cls.addClassCleanup(sys.path.remove, str(FOLDER))
        import engines

        from assay_testing import Authority

        place = cls.enterClassContext(engines.scratch(TOOLS))
        cls.engine = place.engine(cls.engine_name)
        if cls.engine.missing:
            raise unittest.SkipTest(cls.engine.missing)
        cls.engine.start()
        os.environ.update(cls.engine.environment)
        cls.authority = Authority()
        cls.config = {**cls.authority.config, "quotas": {"premium": {"text": 20}}}
        cls.ledger = Ledger(cls.engine.url, cls.config, create=True)
        cls.addClassCleanup(cls.ledger.close)
        logging.disable(logging.WARNING)
        cls.addClassCleanup(logging.disable, logging.NOTSET)

    def bought(self):
        id = str(next(self.numbers))
        return self.ledger.verifier.verify_transaction(self.authority.transaction(
            product=COINS, type="consumable", environment="Production", transaction_id=id,
            original_transaction_id=id))

    def killed(self, call):
        """Return the results of a call while the engine is down, and when it is back."""
        self.engine.kill()
        try:
            away = call()
        finally:
            self.engine.restart()
        self.assertTrue(away.status.startswith("unavailable.database."), away)
        self.assertEqual((away.http_status, away.changed), (503, False))
        return call()


class CounterTests:
    """Tests for all engines. Tests/Stores/scenes.py tests concurrency of every kind."""

    def test_counters(self):
        self.assertEqual(at_once(lambda _: self.ledger.record_event("NOTE#1"), 16),
                         {"first": 1, "duplicate": 15})
        self.ledger.delete_expired_rows()


class LedgerTests(CounterTests):
    """Tests for engines that store purchases."""

    def test_a_line_has_one_owner(self):
        """Check accounts that claim periods of a new subscription at once, by lease and in the
        transaction of the grant (RPL-2)."""
        for options in ({}, {"grant_mode": "transaction", "grant": lambda given: None}):
            self.periods_at_once(8, options)

    def periods_at_once(self, count, options):
        line, now = str(next(self.numbers)), int(time.time() * 1000)
        periods = [self.ledger.verifier.verify_transaction(self.authority.transaction(
            product=MONTHLY, type="auto-renewable", environment="Production",
            transaction_id=str(id), original_transaction_id=line, signed=now - 1000 * at,
            purchased=now - 9_000_000 + at, expires=now + 9_000_000,
            set={"webOrderLineItemId": str(id)}))
            for at, id in enumerate(itertools.islice(self.numbers, count))]
        found = at_once(
            lambda each: self.ledger.claim(periods[each], f"a{each % 2}", **options), count)
        self.assertEqual(found, {"new": count // 2, "other-account": count // 2})
        lines = [held.original_transaction_id for account in ("a0", "a1")
                 for held in self.ledger.get_plan(account).subscriptions]
        self.assertEqual(lines.count(line), 1)

    def paid_at_once(self, pay):
        bought, paid = self.bought(), []

        def grant(given):
            pay(given)
            paid.append(given)
            time.sleep(0.01)

        found = at_once(lambda each: self.ledger.claim(
            bought, f"a{each % 2}", grant_mode="transaction", grant=grant), 16)
        return found, paid

    def test_a_grant_that_raises(self):
        def fail(given):
            raise LookupError

        bought = self.bought()
        with self.assertRaises(LookupError):
            self.ledger.claim(bought, "ann", grant_mode="transaction", grant=fail)
        self.assertEqual(self.ledger.claim(bought, "bob", grant=lambda given: None).client_result,
                         "granted")

    def test_kept_texts(self):
        """Check that only evidence that a row names is kept, and that a newer text of the same
        purchase is named, whichever account sends it (STM-2, STO-33)."""
        ledger = Ledger(self.engine.url, {**self.config, "ledger": {"keepEvidence": True}},
                        create=True)
        self.addCleanup(ledger.close)
        id, now = str(next(self.numbers)), int(time.time() * 1000)
        texts = [self.authority.transaction(
            product=COINS, type="consumable", environment="Production", transaction_id=id,
            original_transaction_id=id, signed=now - age) for age in (2000, 3000, 1000)]
        own, older, newer = (ledger.verifier.verify_transaction(text) for text in texts)
        digests = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        self.assertEqual(ledger.claim(own, "kim", grant=lambda given: None).client_result,
                         "granted")
        for shown, kept in ((older, texts[:1]), (newer, [texts[0], texts[2]])):
            self.assertEqual(ledger.claim(shown, "lou").outcome, "other-account")
            ledger.delete_expired_rows()
            found = ledger.get_evidence(digests)
            self.assertEqual(sorted(each.text for each in found.evidence), sorted(kept))
            self.assertIn(digests[1], found.missing)

    # ---- refunds

    def signed(self, id, ago, **options):
        """Return the transaction as Apple signed it so many minutes ago."""
        now = int(time.time() * 1000)
        return self.ledger.verifier.verify_transaction(self.authority.transaction(
            product=COINS, type="consumable", environment="Production", transaction_id=id,
            original_transaction_id=id, purchased=now - 86_400_000, signed=now - ago * 60_000,
            **options))

    def test_a_refund_and_its_reversal_in_every_order(self):
        """Check that the newest signed state decides what is granted, and that each is granted and
        taken back once (STO-33 to 35)."""
        orders = sorted(set(itertools.permutations("crv" * 2)))
        for order in random.Random(7).sample(orders, 8):
            id, given, taken = str(next(self.numbers)), {}, {}
            told = {"c": self.signed(id, 50), "r": self.signed(id, 40, refunded=True),
                    "v": self.signed(id, 30)}

            def give(grant, given=given):
                given.setdefault(grant.grant_id, grant.units)

            def take(take, taken=taken):
                taken.setdefault(take.take_id, take.units)

            def event(evidence, give=give, take=take):
                found = self.ledger.apply_event(evidence, grant=give, take_back=take)
                self.assertEqual(found.http_status, 200)

            for each in order:
                if each == "c":
                    self.ledger.claim(told["c"], "ann", grant=give)
                else:
                    event(told[each])
                self.assertIn(sum(given.values()) - sum(taken.values()), (0, 1), order)
            self.ledger.claim(self.signed(id, 20), "ann", grant=give)
            for each in order:
                event(told[each])
            row, = self.ledger.find(environment="Production", transaction_id=id).rows
            self.assertEqual((row.state, sum(given.values()) - sum(taken.values())),
                             ("granted", 1), order)


class SQLTests(LedgerTests):
    # SQLAlchemy's name of the client, the executor's class, and the codes of a lock time-out and of
    # a missing database.
    scheme = store = lock_code = missing_code = None

    def admin(self, **options):
        """Return a connection of the host's own."""
        raise NotImplementedError

    @staticmethod
    def count(connection, table="goods"):
        cursor = connection.cursor()
        cursor.execute(f"SELECT COUNT(*) FROM {table}")
        return cursor.fetchone()[0]

    def table(self, name):
        with self.ledger.executor.session() as execute:
            execute(step(sql(f"CREATE TABLE IF NOT EXISTS {name} (id VARCHAR(64) PRIMARY KEY)")))
            execute(step(sql(f"DELETE FROM {name}")))

    def test_a_key_that_leads_elsewhere(self):
        """Check that a claim has the row to which its transaction key leads, also where that key is
        stored while the claim waits for it (STO-11)."""
        for waits in (False, True):
            for target in (None, "Production/elsewhere"):
                self.claimed_by_key(target, waits)

    def claimed_by_key(self, target, waits):
        bought, found = self.bought(), []
        own = f"Production/{bought.transaction_id}"
        key = target or own
        thread = threading.Thread(target=lambda: found.append(self.ledger.claim(bought, "ann")))
        with contextlib.closing(self.admin(autocommit=not waits)) as store:
            store.cursor().execute("INSERT INTO assay_purchase_key VALUES (%s, %s)", (own, key))
            thread.start()
            if waits:
                thread.join(0.2)
                self.assertTrue(thread.is_alive(), "the claim does not wait for the key")
                store.commit()
            thread.join()
        claim, = found
        self.assertEqual((claim.outcome, claim.claim.purchase_key), ("new", key))
        again = self.ledger.claim(bought, "bob")
        self.assertEqual((again.outcome, again.claim.purchase_key), ("other-account", key))
        with contextlib.closing(self.admin()) as store:
            store.cursor().execute("DELETE FROM assay_purchase WHERE purchase_key = %s", (key,))

    def test_a_transaction_of_the_host_s(self):
        """Check that a transaction of SQLAlchemy, Django or the plain client is refused by name,
        with the connection and the transaction unchanged (STO-38)."""
        self.table("orders")
        for name, begin in self.hosts():
            with self.subTest(name), begin() as (connection, insert, commit):
                insert()
                ledger = Ledger(self.store(lambda connection=connection: connection),
                                self.ledger.verifier)
                with self.assertRaises(assay.MisuseError) as caught:
                    ledger.claim(self.bought(), "ann", grant_mode="transaction", grant=self.fail)
                self.assertEqual(caught.exception.status, "misuse.ledger.transaction")
                self.assertIn("open transaction", caught.exception.message)
                commit()
            other = self.admin()
            self.assertEqual(self.count(other, "orders"), 1)
            other.close()
            self.table("orders")

    def hosts(self):
        """Yield the ways in which a host begins transactions."""
        @contextlib.contextmanager
        def plain():
            connection = self.admin(autocommit=False)
            yield (connection, lambda: connection.cursor().execute(INSERT), connection.commit)
            connection.close()

        @contextlib.contextmanager
        def sqlalchemy():
            import sqlalchemy
            from sqlalchemy.orm import Session

            engine = sqlalchemy.create_engine(
                self.scheme, creator=lambda: self.admin(autocommit=False))
            with Session(engine) as session:
                yield (session.connection().connection.driver_connection,
                       lambda: session.execute(sqlalchemy.text(INSERT)), session.commit)
            engine.dispose()

        yield "plain", plain
        if importlib.util.find_spec("sqlalchemy"):
            yield "sqlalchemy", sqlalchemy

    @unittest.skipUnless(importlib.util.find_spec("sqlalchemy"), "SQLAlchemy is not here")
    def test_an_orm_in_the_grant(self):
        """Check that an ORM is refused over the guarded connection, and that over the nested one
        its writes are committed with the claim or not at all (STO-38)."""
        import sqlalchemy
        from sqlalchemy.orm import Session

        self.table("goods")

        def session(connection):
            return Session(sqlalchemy.create_engine(
                self.scheme, creator=lambda: connection, poolclass=sqlalchemy.pool.StaticPool))

        def pay(connection, given):
            with session(connection) as one:
                one.execute(sqlalchemy.text("INSERT INTO goods (id) VALUES (:id)"),
                            {"id": given.grant_id})
                one.commit()

        def left_open(given):
            with session(given.connection.nested()) as one:
                one.execute(sqlalchemy.text("INSERT INTO goods (id) VALUES ('x')"))

        def fails(given):
            pay(given.connection.nested(), given)
            raise LookupError

        bought, admin = self.bought(), self.admin()
        self.addCleanup(admin.close)
        for wrong, raised in ((lambda given: pay(given.connection, given), assay.MisuseError),
                              (left_open, assay.MisuseError), (fails, LookupError)):
            with self.assertRaises(raised) as caught:
                self.ledger.claim(bought, "ann", grant_mode="transaction", grant=wrong)
            if raised is assay.MisuseError:
                self.assertEqual(caught.exception.status, "misuse.ledger.transaction")
            self.assertEqual((self.count(admin), self.ledger.find(evidence=bought).rows),
                             (0, ()))
        found = self.ledger.claim(bought, "ann", grant_mode="transaction",
                                  grant=lambda given: pay(given.connection.nested(), given))
        self.assertEqual((found.client_result, self.count(admin)), ("granted", 1))

    def test_what_the_guard_cannot_see(self):
        """Check that a commit behind the guard is reported, with what was committed (STO-38)."""
        def end(given):
            real = vars(given.connection)["_real"]
            for each in ("COMMIT", "BEGIN"):
                real.cursor().execute(each)

        bought = self.bought()
        with self.assertRaises(assay.MisuseError) as caught:
            self.ledger.claim(bought, "ann", grant_mode="transaction", grant=end)
        self.assertEqual(caught.exception.status, "misuse.ledger.transaction")
        self.assertIs(caught.exception.document.json["exchange"]["committed"], True)

    def test_a_session_lost_in_the_grant(self):
        """Check that the operation is repeated from its beginning, twice at most, and is then 503
        without a grant (STO-39)."""
        self.table("goods")
        admin = self.admin()
        self.addCleanup(admin.close)
        for losses, wanted in ((1, "granted"), (2, "granted"), (9, "deferred")):
            bought, calls = self.bought(), []

            def pay(given, calls=calls, losses=losses):
                calls.append(given)
                given.connection.cursor().execute(
                    f"INSERT INTO goods (id) VALUES ('{given.grant_id}')")
                if len(calls) <= losses:
                    self.end(admin, given.connection)

            before = self.count(admin)
            found = self.ledger.claim(bought, "ann", grant_mode="transaction", grant=pay)
            self.assertEqual(found.client_result, wanted)
            self.assertEqual(len(calls), min(losses, 2) + 1)
            self.assertEqual(self.count(admin) - before, int(wanted == "granted"))
            if wanted == "deferred":
                self.assertEqual((found.status, found.http_status),
                                 ("unavailable.database.outcome-unknown", 503))

    def test_limits(self):
        """Check that a statement that waits for another session's lock ends, and that nothing runs
        on (STO-76)."""
        self.table("locked")
        admin = self.admin(autocommit=False)
        self.addCleanup(admin.close)
        self.lock(admin)
        stores = [self.ledger.executor, self.store(self.admin)]
        for store in stores:
            with store.session() as execute:
                for mark in (None, "begin"):
                    answer = execute({
                        **step(sql("INSERT INTO locked (id) VALUES ('a')"), transaction=mark),
                        "limits": {"statementMs": 5000, "lockMs": 300}})
                    self.assertEqual((answer["error"]["code"], answer["error"]["executed"]),
                                     (self.lock_code, "no"))
                answer = execute({**step(sql(self.sleeps, rows=True)), "limits": {
                    "statementMs": 200, "lockMs": 200}})
                self.assertIn(answer.get("error", {}).get("code"), self.late_codes)
        admin.rollback()
        self.assertEqual(self.count(admin, "locked"), 0)

    def test_connections_of_the_host_s(self):
        """Check limits on the host's connections: they apply to each statement or transaction, and
        no setting remains (STO-76)."""
        ledger = Ledger(self.store(self.admin), self.ledger.verifier)
        self.addCleanup(ledger.close)
        self.assertEqual(ledger.create_schema().outcome, "exists")
        ledger.check_schema().raise_for_status()
        before = self.settings(self.admin())
        self.assertEqual(ledger.consume_quota("ivy", "text", "premium").outcome, "consumed")
        bought = self.bought()
        self.assertEqual(ledger.claim(bought, "ivy", grant_mode="transaction",
                                      grant=lambda given: None).client_result, "granted")
        self.assertEqual(ledger.claim(self.bought(), "ivy", grant=lambda given: None).client_result,
                         "granted")
        self.assertEqual(ledger.merge_accounts("ivy", "joe").outcome, "merged")
        self.assertEqual(len(ledger.find("joe").rows), 2)
        with ledger.executor.session() as execute:
            execute(step(sql("SELECT 1", rows=True)))
            self.assertEqual(self.settings(execute.connection), before)

    def settings(self, connection):
        cursor = connection.cursor()
        found = []
        for name in self.limits:
            cursor.execute(f"SHOW {name}" if self.engine_name == "postgres"
                           else f"SELECT @@session.{name}")
            found.append(cursor.fetchone())
        return found

    def test_engine_down(self):
        """Check unreachable engines, and engines that refuse (STO-77)."""
        parts = urllib.parse.urlsplit(self.engine.url)
        at = f"{parts.scheme}://{parts.username}@"
        for url, status, code in (
                (f"{at}127.0.0.1:1{parts.path}", "unreachable", "connect"),
                (f"{at}nohost.invalid:{parts.port}{parts.path}", "unreachable", "connect"),
                (f"{at}127.0.0.1:{parts.port}/nothere", "statement-failed", self.missing_code)):
            found = Ledger(url, self.config).consume_quota("ann", "text", "premium")
            self.assertEqual((found.status, found.http_status),
                             (f"unavailable.database.{status}", 503), url)
            text = str(found.document.json)
            self.assertIn(code, text)
            for name in ("nohost", "nothere", parts.username + "@"):
                self.assertNotIn(name, text)

    def test_grants_at_once(self):
        with self.ledger.executor.session() as execute:
            execute(step(sql("CREATE TABLE coins (id VARCHAR(64) PRIMARY KEY, n INTEGER)")))

        def pay(given):
            given.connection.cursor().execute("INSERT INTO coins VALUES (%s, 1)",
                                              (given.grant_id,))

        found, paid = self.paid_at_once(pay)
        self.assertEqual((found, len(paid)),
                         ({"new": 1, "already-granted": 7, "other-account": 8}, 1))

    def test_killed(self):
        bought = self.bought()
        self.assertEqual(self.killed(lambda: self.ledger.claim(bought, "ann")).outcome, "new")
        self.assertEqual(self.killed(
            lambda: self.ledger.consume_quota("gil", "text", "premium")).outcome, "consumed")


class PostgresTest(SQLTests, EngineTest):
    engine_name, module = "postgres", "psycopg"
    scheme, lock_code, missing_code = "postgresql+psycopg://", "55P03", "3D000"
    sleeps, late_codes = "SELECT 1 FROM pg_sleep(9)", ("57014",)
    limits = "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"

    @staticmethod
    def store(connect):
        from assay.ledger import Postgres

        return Postgres(connect)

    def admin(self, autocommit=True):
        import psycopg

        return psycopg.connect(self.engine.url, autocommit=autocommit)

    def end(self, admin, connection):
        admin.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))
        while admin.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s",
                            (connection.info.backend_pid,)).fetchone():
            time.sleep(0.01)

    def lock(self, admin):
        admin.execute("LOCK TABLE locked IN ACCESS EXCLUSIVE MODE")

    def hosts(self):
        yield from super().hosts()

        @contextlib.contextmanager
        def django():
            from django.db import connections, transaction

            one = connections["default"]
            with transaction.atomic():
                yield (one.connection, lambda: one.cursor().execute(INSERT), lambda: None)
            one.close()

        if importlib.util.find_spec("django"):
            from django.conf import settings

            parts = urllib.parse.urlsplit(self.engine.url)
            if not settings.configured:
                settings.configure(DATABASES={"default": {
                    "ENGINE": "django.db.backends.postgresql", "NAME": parts.path[1:],
                    "USER": parts.username, "HOST": parts.hostname, "PORT": parts.port}})
                yield "django", django

    def test_async(self):
        bought = self.bought()

        async def pay(given):
            await given.connection.execute("SELECT 1")
            async with given.connection.cursor() as cursor:
                await cursor.execute("SELECT 7")
                assert [row async for row in cursor] == [(7,)]
                assert cursor.connection is given.connection

        async def run():
            ledger = AsyncLedger(self.engine.url, self.ledger.verifier)
            claims = [ledger.claim(bought, f"a{each % 2}", grant_mode="transaction", grant=pay)
                      for each in range(16)]
            found = [each.outcome for each in await asyncio.gather(*claims)]
            await ledger.close()
            return {each: found.count(each) for each in set(found)}

        self.assertEqual(asyncio.run(run()),
                         {"new": 1, "already-granted": 7, "other-account": 8})

    def test_a_grant_that_ends_the_transaction(self):
        """Check a grant that ends the transaction (STO-38)."""
        for end in (lambda given: given.connection.commit(),
                    lambda given: given.connection.execute("ROLLBACK")):
            with self.assertRaises(assay.MisuseError) as caught:
                self.ledger.claim(self.bought(), "ann", grant_mode="transaction", grant=end)
            self.assertEqual(caught.exception.status, "misuse.ledger.transaction")
            self.assertIs(caught.exception.document.json["exchange"]["committed"], False)


class MariaDBTest(SQLTests, EngineTest):
    engine_name, module = "mariadb", "pymysql"
    scheme, lock_code, missing_code = "mysql+pymysql://", "1205", "1049"
    # MariaDB reports no error for a sleep that is ended, so the statement counts rows.
    sleeps = "SELECT COUNT(*) FROM {0} a, {0} b, {0} c".format("information_schema.columns")
    late_codes = ("1969",)
    limits = "max_statement_time", "innodb_lock_wait_timeout", "lock_wait_timeout"

    @staticmethod
    def store(connect):
        from assay.ledger import MariaDB

        return MariaDB(connect)

    def admin(self, autocommit=True):
        import pymysql

        parts = urllib.parse.urlsplit(self.engine.url)
        return pymysql.connect(host=parts.hostname, port=parts.port, user=parts.username,
                               database=parts.path[1:], autocommit=autocommit)

    def end(self, admin, connection):
        admin.cursor().execute(f"KILL {connection.thread_id()}")

    def lock(self, admin):
        admin.cursor().execute("INSERT INTO locked (id) VALUES ('a')")


class DynamoDBTest(LedgerTests, EngineTest):
    engine_name, module = "dynamodb", "boto3"

    def test_grants_at_once(self):
        def pay(given):
            given.connection.append({"Put": {
                "TableName": "assay", "Item": {"PK": {"S": f"COINS#{given.grant_id}"},
                                               "SK": {"S": "COINS"}},
                "ConditionExpression": "attribute_not_exists(PK)"}})

        found, _ = self.paid_at_once(pay)
        self.assertEqual(found.get("new"), 1)
        left = sum(count for outcome, count in found.items()
                   if outcome in ("already-granted", "in-progress", "other-account"))
        self.assertEqual(left, 15, found)


class RedisTest(CounterTests, EngineTest):
    engine_name, module = "redis", "redis"

    def test_no_ledger(self):
        with self.assertRaises(assay.ConfigError):
            self.ledger.claim(self.bought(), "ann").raise_for_status()

    def test_killed(self):
        self.assertEqual(self.killed(
            lambda: self.ledger.consume_quota("gil", "text", "premium")).outcome, "consumed")

    def test_async(self):
        async def run():
            ledger = AsyncLedger(self.engine.url, self.ledger.verifier)
            found = await asyncio.gather(*(ledger.consume_quota("hal", "text", "premium")
                                           for _ in range(30)))
            await ledger.close()
            return sorted(each.used or 0 for each in found)

        self.assertEqual(asyncio.run(run()), [0] * 10 + list(range(1, 21)))


if __name__ == "__main__":
    unittest.main()
