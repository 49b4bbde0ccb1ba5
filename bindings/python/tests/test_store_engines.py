"""The ledger on the engines that can be started here (Tests/Stores/engines.py): many at once,
grants in the open transaction, an engine that is killed and comes back."""
import asyncio
import hashlib
import importlib.util
import itertools
import logging
import os
import pathlib
import sys
import threading
import time
import unittest

from steps import sql, step

import assay
from assay.store import AsyncLedger, Ledger

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "Tests/Stores"
# Where moto's server is: make check-engines installs it.
TOOLS = FOLDER.parents[1] / "build/store-tools/bin"
if not (FOLDER / "engines.py").exists() or importlib.util.find_spec("assay_testing") is None:
    raise unittest.SkipTest("Tests/Stores/engines.py or assay_testing is not here")

COINS, MONTHLY = "com.example.app.coins100", "com.example.app.premium.monthly"


def at_once(call, count):
    """How often each outcome came of so many calls at once."""
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
    """One engine for the tests of a class."""

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
        cls.config = {**cls.authority.config, "limits": {"premium": {"text": 20}}}
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
        """What a call answers while the engine is away, and when it is back."""
        self.engine.kill()
        try:
            away = call()
        finally:
            self.engine.restart()
        self.assertTrue(away.status.startswith("unavailable.store."), away)
        self.assertEqual((away.http_status, away.changed), (503, False))
        return call()


class CounterTests:
    """What is for all engines."""

    def test_counters(self):
        self.assertEqual(at_once(lambda _: self.ledger.take("ann", "text", "premium"), 40),
                         {"taken": 20, "exhausted": 20})
        taken = self.ledger.take("bob", "text", "premium", 2)
        self.assertEqual(self.ledger.refund(taken.ticket).used, 0)
        self.assertEqual(at_once(lambda _: self.ledger.once("NOTE#1"), 16),
                         {"first": 1, "seen": 15})
        made = self.ledger.challenge("apple-id", "ann").challenge
        self.assertEqual(
            at_once(lambda each: self.ledger.consume("apple-id", "ann", challenge=made,
                                                     by=str(each % 4)), 32),
            {"consumed": 8, "used": 24})
        self.ledger.delete_expired()


class LedgerTests(CounterTests):
    """What is for engines that keep purchases."""

    def test_claims(self):
        bought = self.bought()
        self.assertEqual(at_once(lambda each: self.ledger.claim(bought, f"a{each % 2}"), 32),
                         {"new": 1, "in-progress": 15, "other-account": 16})

    def test_a_line_has_one_owner(self):
        """RPL-2: accounts that claim periods of a new line at once, by lease and in the
        transaction of the grant."""
        for options in ({}, {"mode": "transaction", "grant": lambda given: None}):
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
                 for held in self.ledger.read(account).lines]
        self.assertEqual(lines.count(line), 1)

    def paid_at_once(self, pay):
        bought, paid = self.bought(), []

        def grant(given):
            pay(given)
            paid.append(given)
            time.sleep(0.01)

        found = at_once(lambda each: self.ledger.claim(
            bought, f"a{each % 2}", mode="transaction", grant=grant), 16)
        return found, paid

    def test_a_grant_that_raises(self):
        def fail(given):
            raise LookupError

        bought = self.bought()
        with self.assertRaises(LookupError):
            self.ledger.claim(bought, "ann", mode="transaction", grant=fail)
        self.assertEqual(self.ledger.claim(bought, "bob", grant=lambda given: None).answer,
                         "granted")

    def test_plans_and_accounts(self):
        monthly = self.ledger.verifier.verify_transaction(self.authority.transaction(
            product=MONTHLY, environment="Production"))
        self.assertEqual(self.ledger.apply(monthly, "eve").plan, "premium")
        self.assertEqual(self.ledger.link("eve", "fay").moved.lines, 1)
        self.assertEqual([self.ledger.read(each).plan for each in ("eve", "fay")],
                         ["free", "premium"])
        self.assertEqual((self.ledger.due_lines().lines, self.ledger.due().more), ((), False))
        self.ledger.create_schema()

    def test_kept_texts(self):
        """STM-2: the text that a row names is kept, and no stranger's; none of it is garbage."""
        ledger = Ledger(self.engine.url, {**self.config, "stores": {"keepEvidence": True}},
                        create=True)
        self.addCleanup(ledger.close)
        id, now = str(next(self.numbers)), int(time.time() * 1000)
        texts = [self.authority.transaction(
            product=COINS, type="consumable", environment="Production", transaction_id=id,
            original_transaction_id=id, signed=now - age) for age in (2000, 1000)]
        own, others = (ledger.verifier.verify_transaction(text) for text in texts)
        self.assertEqual(ledger.claim(own, "kim", grant=lambda given: None).answer, "granted")
        self.assertEqual(ledger.claim(others, "lou").outcome, "other-account")
        digests = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        found = ledger.evidence(digests)
        self.assertEqual([kept.text for kept in found.evidence], texts[:1])
        self.assertEqual(found.missing, (digests[1],))
        ledger.delete_expired()
        self.assertEqual(ledger.evidence(digests).evidence, found.evidence)


class SQLTests(LedgerTests):
    def test_grants_at_once(self):
        with self.ledger.store.session() as execute:
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
            lambda: self.ledger.take("gil", "text", "premium")).outcome, "taken")


class PostgresTest(SQLTests, EngineTest):
    engine_name, module = "postgres", "psycopg"

    def test_async(self):
        bought = self.bought()

        async def pay(given):
            await given.connection.execute("SELECT 1")

        async def run():
            ledger = AsyncLedger(self.engine.url, self.ledger.verifier)
            claims = [ledger.claim(bought, f"a{each % 2}", mode="transaction", grant=pay)
                      for each in range(16)]
            found = [each.outcome for each in await asyncio.gather(*claims)]
            await ledger.close()
            return {each: found.count(each) for each in set(found)}

        self.assertEqual(asyncio.run(run()),
                         {"new": 1, "already-granted": 7, "other-account": 8})

    def test_a_grant_that_ends_the_transaction(self):
        for end in (lambda given: given.connection.commit(),
                    lambda given: given.connection.execute("ROLLBACK")):
            with self.assertRaisesRegex(RuntimeError, "neither commit"):
                self.ledger.claim(self.bought(), "ann", mode="transaction", grant=end)


class MariaDBTest(SQLTests, EngineTest):
    engine_name, module = "mariadb", "pymysql"


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
            self.ledger.claim(self.bought(), "ann").raise_for_refusal()

    def test_killed(self):
        self.assertEqual(self.killed(
            lambda: self.ledger.take("gil", "text", "premium")).outcome, "taken")

    def test_async(self):
        async def run():
            ledger = AsyncLedger(self.engine.url, self.ledger.verifier)
            found = await asyncio.gather(*(ledger.take("hal", "text", "premium")
                                           for _ in range(30)))
            await ledger.close()
            return sorted(each.used or 0 for each in found)

        self.assertEqual(asyncio.run(run()), [0] * 10 + list(range(1, 21)))


if __name__ == "__main__":
    unittest.main()
