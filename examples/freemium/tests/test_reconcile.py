"""The schedule that compares the ledger with Apple, and the commands beside it."""
import io
import json
import types
import unittest
import uuid
from contextlib import redirect_stdout
from unittest import mock

from test_sweep import SweepCase

from freemium import operate
from freemium.reconcile import reconcile
from running import PREMIUM, at_once

PACE = {"get-notification-history": 1000, "get-all-subscription-statuses": 1000}
NOWHERE = "http://127.0.0.1:1/"


class ReconcileCase(SweepCase):
    """A back end, and an Apple whose notifications are lost."""

    verifier_members = {"ledger": {"transfer": "allow", "rateLimits": PACE}}

    def setUp(self):
        """Let a run have ended a moment ago: the first one reaches half a year back."""
        super().setUp()
        self.assertTrue(self.backend.ledger.reconcile(
            "Production", from_ms=self.clock.ms - 60_000).ok)

    def paid(self):
        """Let a customer subscribe, of which nothing arrives here; return the transaction id."""
        number = str(uuid.uuid4().int)[:15]
        self.apple.play("purchase", {
            "product": PREMIUM, "transactionId": number, "originalTransactionId": number,
            "environment": "Production", "type": "auto-renewable",
            "purchased": self.clock.ms - 3_600_000, "expires": self.clock.ms + 86_400_000})
        self.lost("SUBSCRIBED", number)
        return number

    def shown(self, app, number):
        said = app.update(self.bought(
            PREMIUM, transaction_id=number, signed=self.clock.ms - 1000,
            purchased=self.clock.ms - 3_600_000, expires=self.clock.ms + 86_400_000))
        self.assertAnswer(said, 200, {"plan": "premium"})

    def lost(self, kind, number):
        self.apple.play("notify", {"url": NOWHERE, "type": kind, "transactionId": number})

    def command(self, name, *words):
        said = io.StringIO()
        with redirect_stdout(said):
            code = operate.COMMANDS[name][0](self.backend, words)
        return code, [json.loads(line) for line in said.getvalue().splitlines()]


class ReconcileTest(ReconcileCase):
    def test_rcn20_what_was_missed_is_found_and_settled_by_the_app(self):
        number = self.paid()
        with self.assertLogs("freemium", "WARNING") as logged:
            found = self.backend.reconcile()
        self.assertEqual((found["found"], found["closed"]), (1, 0))
        self.assertIn("1 subscription-unowned", "".join(logged.output))
        code, [line] = self.command("differences")
        self.assertEqual((code, line["kind"], line["transactionId"], line["settledBy"]),
                         (3, "subscription-unowned", number, "update-subscriptions"))
        self.shown(self.app(), number)
        self.assertEqual(self.backend.reconcile()["closed"], 1)
        self.assertEqual(self.command("differences"), (0, []))

    def test_rcn20_a_refund_that_was_missed_ends_the_plan(self):
        number, app = self.paid(), self.app()
        self.shown(app, number)
        self.apple.play("refund", {"transactionId": number})
        self.lost("REFUND", number)
        self.assertEqual(self.plans([app]), ["premium"])
        self.backend.reconcile()
        self.assertEqual(self.plans([app]), ["free"])

    def test_rcn60_closed_by_hand(self):
        self.paid()
        code, said = self.command("reconcile", "Production", "failures", "open")
        self.assertEqual(code, 0)
        self.assertEqual([each["found"] for each in said if each["found"]],
                         [{"subscription-unowned": 1}])
        self.assertLessEqual(max(each["requests"] for each in said), 20)
        _, [line] = self.command("differences")
        self.assertEqual(self.command("close", line["id"], "called"),
                         (0, [{"id": line["id"], "outcome": "closed"}]))
        self.assertEqual(self.command("close", line["id"], "called")[1][0]["outcome"], "already")
        self.assertEqual(self.command("close", "0" * 64, "called")[0], 1)
        self.assertEqual(self.command("differences"), (0, []))

    def test_flw8_apple_does_not_answer(self):
        """Check that silence is no difference, that the command says "later", and that the next run
        goes on."""
        self.paid()
        self.apple.play("script", [{"host": "api.storekit.apple.com", "nth": "every",
                                    "fault": {"status": 503}}])
        with self.assertLogs("freemium", "ERROR"):
            code, found = self.command("reconcile")
        self.assertEqual(code, 75)
        self.assertRegex(found[-1]["status"], r"^unavailable\.app-store\.")
        self.assertEqual(self.command("differences"), (0, []))
        self.apple.play("script", [])
        self.assertEqual(self.backend.reconcile()["found"], 1)

    def test_rcn13_two_runs_at_once(self):
        self.paid()
        found = at_once([self.backend.reconcile] * 3)
        found.append(self.backend.reconcile())
        self.assertEqual(sum(each["found"] for each in found), 1)

    def test_rcn61_a_run_is_bounded_by_the_time_that_is_left(self):
        self.paid()
        asked = []
        ask = self.backend.ledger.reconcile

        def noted(environment, **more):
            asked.append(more["max_requests"])
            return ask(environment, **more)

        for seconds, most in ((300, 20), (95, 6), (39, None)):
            asked.clear()
            left = types.SimpleNamespace(
                get_remaining_time_in_millis=lambda seconds=seconds: seconds * 1000)
            with mock.patch.object(self.backend.ledger, "reconcile", noted):
                list(reconcile(self.backend, left))
            self.assertEqual(asked[:1], [] if most is None else [most])

    def test_rcn12_a_run_that_is_killed(self):
        self.paid()
        with mock.patch.object(self.backend, "send", side_effect=SystemExit), \
                self.assertRaises(SystemExit):
            self.backend.reconcile()
        self.later(301)  # its lease is over
        self.assertEqual(self.backend.reconcile()["found"], 1)

    def test_no_request_reaches_the_schedules(self):
        for path in ("/v1/reconcile", "/v1/refunds", "/reconcile", "/refunds"):
            self.assertEqual(self.app().post(path, {}).status, 404)


if __name__ == "__main__":
    unittest.main()
