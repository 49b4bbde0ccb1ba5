"""Apple's questions about refunds: kept by the handler, answered by the schedule."""
import dataclasses
import io
import json
import pathlib
import subprocess
import sys
import types
import unittest
import uuid
from contextlib import redirect_stdout
from unittest import mock

from test_sweep import SweepCase

from freemium import operate
from freemium.backend import Backend
from freemium.records import Unreachable
from freemium.refunds import LEASE_MS
from running import ENGINE, LIFETIME, post

KEPT = {"settled": 0, "again": 0, "person": 0}
ASKED = "/inApps/v2/transactions/consumption/"


class RefundsCase(SweepCase):
    """A back end that answers, and knows that each customer has consented."""

    settings = {"push": "pushed:publish",
                "refunds": {"usage": "observed:usage", "consent": "observed:consent"}}
    verifier_members = {"refunds": {"mode": "answer"}}

    @classmethod
    def start(cls, wanted):
        cls.observed = sys.modules["observed"] = types.ModuleType("observed")
        cls.addClassCleanup(sys.modules.pop, "observed")
        super().start(wanted)

    def setUp(self):
        super().setUp()
        self.observed.usage = lambda case: {"consumed": 30, "granted": 100}
        self.observed.consent = lambda case: {
            "isGiven": True, "answeredAtMs": case.purchase["purchasedAtMs"]}

    def question(self):
        """Let a customer buy, and return Apple's question about it, and the customer's account."""
        app, number = self.app(), str(uuid.uuid4().int)[:15]
        then = self.clock.ms - 7_200_000
        self.apple.play("purchase", {
            "product": LIFETIME, "transactionId": number, "originalTransactionId": number,
            "environment": "Production", "type": "non-consumable", "purchased": then})
        bought = {"product": LIFETIME, "type": "non-consumable", "transaction_id": number,
                  "purchased": then}
        self.assertEqual(app.update(self.bought(signed=then, **bought)).status, 200)
        signed = self.authority.mint(
            "notification", notification_type="CONSUMPTION_REQUEST", environment="Production",
            signed=self.clock.ms,
            set={"data.consumptionRequestReason": "UNINTENDED_PURCHASE"}, **bought)
        return signed.decode().strip(), app.account

    def asked(self):
        """Let Apple ask about a purchase; return the account."""
        signed, account = self.question()
        self.assertEqual(self.tell(signed).status, 200)
        return account

    def tell(self, signed):
        return post(self.url, "/v1/notifications", {"signedPayload": signed})

    def answered(self):
        return [each["path"] for each in self.apple.log if ASKED in each["path"]]

    def case(self, state="closed"):
        [found] = self.backend.ledger.report_refunds(state=state).refunds
        return found

    def using(self, **changes):
        """Use a back end with other settings, on the same store."""
        made = Backend(dataclasses.replace(self.backend.settings, **changes),
                       provider=self.stack.pool, send=self.apple.sender, clock=self.clock)
        self.addCleanup(made.ledger.close)
        return made

    def fails(self, fault):
        self.apple.play("script", [{"host": "api.storekit.apple.com", "nth": "every",
                                    "fault": fault}] if fault else [])


class AnswerTest(RefundsCase):
    def test_rfa3_kept_before_apple_hears_200_and_answered_later(self):
        signed, account = self.question()
        with mock.patch("freemium.refunds.keep", side_effect=Unreachable):
            self.assertEqual(self.tell(signed).status, 503)
        self.assertEqual([self.tell(signed).status for _ in range(2)], [200, 200])
        case = self.case("open")
        self.assertEqual((case.account, case.due_at_ms - case.asked_at_ms), (account, 43_200_000))
        self.assertEqual(self.backend.refunds(), {**KEPT, "settled": 1})
        case = self.case()
        self.assertEqual((case.state, case.delivery_status, case.consumption_percentage),
                         ("sent", "DELIVERED", 30_000))
        self.assertEqual(self.answered(), [ASKED + case.transaction_id])
        self.assertEqual(self.tell(signed).status, 200)
        self.assertEqual(self.backend.refunds(), KEPT)

    def test_rfa61_a_host_that_is_not_set_up_sends_nothing(self):
        self.asked()
        self.assertEqual(self.using(refunds={}).refunds(), {**KEPT, "settled": 1})
        self.assertEqual((self.case().state, self.case().rules[0]), ("silent", "RFA-20"))
        self.assertEqual(self.answered(), [])

    def test_rfa14_record_mode_sends_nothing(self):
        self.asked()
        settings = {**self.backend.settings.assay, "refunds": {"mode": "record"}}
        self.assertEqual(self.using(assay=settings).refunds(), {**KEPT, "settled": 1})
        self.assertEqual((self.case().state, self.case().rules[0]), ("silent", "RFA-14"))
        self.assertEqual(self.answered(), [])

    def test_rfa61_a_hook_that_fails_leaves_the_case_open(self):
        def broken(case):
            raise RuntimeError("secret")

        self.asked()
        good = self.observed.consent
        for hook in (broken, lambda case: {"isGiven": "yes"}, lambda case: 5):
            self.observed.consent = hook
            with self.assertLogs("freemium", "ERROR") as logged:
                self.assertEqual(self.backend.refunds(), {**KEPT, "person": 1})
            self.assertNotIn("secret", "".join(logged.output))
            self.assertEqual(self.case("open").state, "open")
            self.assertEqual(self.backend.refunds(), KEPT)  # another run may be at work
            self.later(LEASE_MS / 1000 + 1)
        self.observed.consent = good
        self.assertEqual(self.backend.refunds(), {**KEPT, "settled": 1})
        self.assertEqual(len(self.answered()), 1)

    def test_rfa6_what_apple_does_not_take(self):
        """Check that no answer, and a key that is refused, settle nothing, and that a refusal
        does."""
        self.asked()
        for fault, ends in (({"status": 503}, "again"), ({"status": 401}, "person")):
            self.fails(fault)
            self.assertEqual(self.backend.refunds(), {**KEPT, ends: 1})
            self.assertEqual(self.case("open").state, "open")
            self.later(LEASE_MS / 1000 + 1)
        self.fails({"errorCode": 4000006})
        self.assertEqual(self.backend.refunds(), {**KEPT, "person": 1})
        self.assertEqual(self.case().state, "failed")

    def test_a_run_is_bounded(self):
        for _ in range(4):
            self.asked()
        left = types.SimpleNamespace(get_remaining_time_in_millis=lambda: 11_000)
        self.assertEqual(self.backend.refunds(left), KEPT)
        self.fails({"status": 503})
        self.assertEqual(self.backend.refunds()["again"], 3)
        self.fails(None)
        self.later(LEASE_MS / 1000 + 1)
        self.assertEqual(self.backend.refunds(), {**KEPT, "settled": 4})
        self.assertEqual(len(set(self.answered())), 4)


class CommandTest(RefundsCase):
    def run_it(self, backend=None):
        said = io.StringIO()
        with redirect_stdout(said):
            code = operate.refunds(backend or self.backend, [])
        return code, [json.loads(line) for line in said.getvalue().splitlines()]

    def test_rfa61_the_command(self):
        self.assertEqual(self.run_it(), (0, []))
        self.asked()
        self.fails({"status": 503})
        code, [found] = self.run_it()
        self.assertEqual((code, found["ends"], found["answer"]), (75, "again", "send"))
        self.fails(None)
        self.later(LEASE_MS / 1000 + 1)
        self.observed.usage = lambda case: {"consumed": -1}
        code, [found] = self.run_it()
        self.assertEqual((code, found["status"]), (3, "malformed.refund.input"))
        self.later(LEASE_MS / 1000 + 1)
        code, [found] = self.run_it(self.using(refunds={}))
        self.assertEqual((code, found["answer"], found["rule"]), (0, "silent", "RFA-20"))

    def test_rfa61_without_a_key_the_case_stays_open(self):
        self.asked()
        settings = dict(self.backend.settings.assay)
        settings.pop("appStoreServerApi")
        code, [found] = self.run_it(self.using(assay=settings))
        self.assertEqual((code, self.case("open").state), (3, "open"))
        self.assertRegex(found["status"], r"^config\.")

    @unittest.skipUnless(ENGINE == "sqlite", "a process of its own, on the file")
    def test_rcn60_the_words_of_the_commands(self):
        settings = self.backend.settings
        place = pathlib.Path(self.folder.name, "operate.json")
        place.write_text(json.dumps({"engine": settings.engine, "provider": settings.provider,
                                     "assay": {**settings.assay, "refunds": {}}}))
        mine, none = str(place), "0" * 64
        for words, code, said in (
                (["--help"], 0, "python3 -m freemium.operate"), ([], 2, ""), ([mine], 2, ""),
                ([mine, "sweep"], 2, ""), ([mine, "close", none], 2, ""),
                ([mine, "differences"], 0, ""), ([mine, "refunds"], 0, ""),
                ([mine, "close", none, "looked"], 1, '"none"')):
            with self.subTest(words=words):
                done = subprocess.run([sys.executable, "-m", "freemium.operate", *words],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(said, done.stdout)
        place.write_text(place.read_text().replace(".db", "-away.db"))
        done = subprocess.run([sys.executable, "-m", "freemium.operate", mine, "differences"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 75, done.stderr)


if __name__ == "__main__":
    unittest.main()
