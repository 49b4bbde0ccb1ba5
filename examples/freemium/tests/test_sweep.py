"""The schedule that asks Apple about due subscriptions, and the messages about changes."""
import dataclasses
import json
import pathlib
import secrets
import sys
import types
import unittest
import uuid
from unittest import mock

from assay_testing.apple import MockApple
from freemium.backend import Backend
from freemium.records import Unreachable
from freemium.sweep import AT_WORK_MS, Sweep
from running import DAY, ENGINE, PREMIUM, STANDARD, BackendCase, at_once, post

SANDBOX = "Sandbox"


class SweepCase(BackendCase):
    """A back end whose subscriptions mock Apple knows, which says all of them to each question, as
    if they were one customer's."""

    settings = {"push": "pushed:publish"}

    @classmethod
    def start(cls, wanted):
        with MockApple(cls.authority) as apple:
            wanted["appStoreServerApi"] = apple.config["appStoreServerApi"]
        cls.messages, module = [], types.ModuleType("pushed")
        module.publish = cls.messages.append
        sys.modules["pushed"] = module
        cls.addClassCleanup(sys.modules.pop, "pushed")
        super().start(wanted)

    def setUp(self):
        """Give each test a store and an Apple of its own, so that nothing else is due."""
        super().setUp()
        self.messages.clear()
        name = secrets.token_hex(4)
        state = pathlib.Path(self.folder.name, f"{name}.json")
        state.write_text('{"purchases":[]}')
        self.apple = MockApple(self.authority, state=state)
        self.addCleanup(self.apple.close)
        place, _, options = self.stack.backend.settings.engine.partition("?")
        place = place.replace("freemium.db", f"{name}.db") if ENGINE == "sqlite" \
            else f"{place}-{name}?{options}"
        settings = dataclasses.replace(self.stack.backend.settings, engine=place)
        self.backend = Backend(
            settings, provider=self.stack.pool, send=self.apple.sender, clock=self.clock)
        self.addCleanup(self.backend.ledger.close)
        self.backend.ledger.create_schema()
        self.stack.gateway.handler = self.backend.answer
        if ENGINE == "moto":
            self.watch.of(self.backend)

    def subscribers(self, count):
        """Return customers whose subscriptions are due in two hours."""
        found = []
        for _ in range(count):
            app, number = self.app(), str(uuid.uuid4().int)[:15]
            bought = {"product": PREMIUM, "transactionId": number, "originalTransactionId": number,
                      "environment": "Production", "type": "auto-renewable",
                      "purchased": self.clock.ms - 30 * int(DAY) * 1000,
                      "expires": self.clock.ms + 3600_000}
            self.apple.play("purchase", bought)
            said = app.update(self.bought(
                PREMIUM, transaction_id=number, signed=self.clock.ms - 1000,
                purchased=bought["purchased"], expires=bought["expires"]))
            self.assertAnswer(said, 200, {"plan": "premium"})
            app.number = number
            found.append(app)
        self.messages.clear()
        self.later(7200)
        return found

    def later(self, seconds):
        self.clock.ahead += seconds
        self.apple.play("clock", {"now": self.clock.ms})

    def renew(self, apps):
        for app in apps:
            self.apple.play("renew", {"originalTransactionId": app.number})

    def plans(self, apps):
        return [self.backend.ledger.get_plan(app.account).plan for app in apps]

    def asked(self):
        return sum(1 for each in self.apple.log if "/subscriptions/" in each["path"])

    def told_of(self):
        return sorted(message["account"] for message in self.messages)


class DueTest(SweepCase):
    def test_sto48_a_renewal_that_nobody_reported(self):
        apps = self.subscribers(3)
        self.assertEqual(self.plans(apps), ["free"] * 3)
        self.renew(apps[:2])
        found = self.backend.due()
        self.assertEqual(found, {"asked": 3, "changed": 2, "unanswered": 0, "refused": 0})
        self.assertEqual(self.plans(apps), ["premium", "premium", "free"])
        self.assertEqual(self.told_of(), sorted(app.account for app in apps[:2]))
        self.assertEqual(self.backend.due()["asked"], 0)
        self.assertEqual(self.backend.records.batches(), [])

    def test_sto48_two_runs_at_once(self):
        apps = self.subscribers(4)
        self.renew(apps)
        before = self.asked()
        said = at_once([self.backend.due] * 3)
        self.assertEqual(sum(each["changed"] for each in said), 4)
        self.assertEqual(self.asked() - before, 4)
        self.assertEqual(self.plans(apps), ["premium"] * 4)
        self.assertEqual(self.told_of(), sorted(app.account for app in apps))

    def test_flw8_apple_does_not_answer(self):
        """Check that a run stops early, changes nothing, and that the next one continues."""
        apps = self.subscribers(5)
        self.renew(apps)
        self.apple.play("script", [{"host": "api.storekit.apple.com", "nth": "every",
                                    "fault": {"status": 503}}])
        with mock.patch("freemium.sweep.WAIT_SECONDS", 0.0), \
                self.assertLogs("freemium", "ERROR") as logged:
            found = self.backend.due()
        self.assertEqual(found, {"asked": 3, "changed": 0, "unanswered": 3, "refused": 0})
        self.assertIn("did not answer about 3", logged.output[-1])
        self.apple.play("script", [])
        self.assertEqual(self.backend.due()["asked"], 0)  # the first may still be at work
        self.later(AT_WORK_MS / 1000 + 1)
        self.assertEqual(self.backend.due()["changed"], 5)
        self.assertEqual(self.plans(apps), ["premium"] * 5)
        self.assertEqual(self.backend.records.batches(), [])

    def test_sto48_a_run_that_is_killed(self):
        apps = self.subscribers(4)
        self.renew(apps)
        real, calls = Sweep._statuses, []

        def killed(sweep, *line):
            calls.append(line)
            if len(calls) == 1:
                raise SystemExit
            return real(sweep, *line)

        with mock.patch.object(Sweep, "_statuses", killed), self.assertRaises(SystemExit):
            self.backend.due()
        self.later(AT_WORK_MS / 1000 + 1)
        self.backend.due()
        self.assertEqual(self.plans(apps), ["premium"] * 4)
        self.assertEqual(set(self.told_of()), {app.account for app in apps})

    def test_a_run_is_bounded(self):
        apps = self.subscribers(3)
        self.renew(apps)
        with mock.patch("freemium.sweep.MOST", 2):
            self.assertEqual(self.backend.due()["asked"], 2)
        left = types.SimpleNamespace(get_remaining_time_in_millis=lambda: 11_000)
        self.assertEqual(self.backend.due(left)["asked"], 0)
        self.later(AT_WORK_MS / 1000 + 1)
        self.assertEqual(self.backend.due()["asked"], 1)
        self.assertEqual(self.plans(apps), ["premium"] * 3)

    def test_apple_refuses(self):
        """Check that what Apple does not know is settled, and that a refused key of ours, or a late
        answer, is not."""
        self.subscribers(2)
        for fault, refused in (({"status": 401}, 0), ({"slowMs": 500}, 0),
                               ({"errorCode": 4040010}, 2)):
            self.apple.play("script", [{"host": "api.storekit.apple.com", "nth": "every",
                                        "fault": fault}])
            with mock.patch("freemium.sweep.REQUEST_MS", 200 if "slowMs" in fault else 10_000):
                found = self.backend.due()
            self.assertEqual((found["refused"], found["unanswered"]), (refused, 2 - refused))
            self.later(AT_WORK_MS / 1000 + 1)
        self.assertEqual(self.backend.records.batches(), [])

    def test_no_request_reaches_the_schedule(self):
        for event in ({"source": "aws.events", "detail-type": "Scheduled Event"},
                      {"source": "aws.scheduler", "path": "/v1/due", "httpMethod": "POST"}):
            with mock.patch.object(self.backend, "due") as due:
                self.assertIn(self.backend.answer(event)["statusCode"], (404, 405))
            due.assert_not_called()
        for path in ("/v1/due", "/due"):
            self.assertEqual(self.app().post(path, {}).status, 404)


class PushTest(SweepCase):
    """A message on `changed`, at least once (BCK-25)."""

    def setUp(self):
        super().setUp()
        self.customer = self.app()
        self.line = {"product": PREMIUM, "transaction_id": str(uuid.uuid4().int)[:15]}

    def note(self, kind, **more):
        return self.authority.notification(kind, signed=self.clock.ms, **{**self.line, **more})

    def tell(self, signed):
        return post(self.url, "/v1/notifications", {"signedPayload": signed})

    def test_bck25_one_message_for_each_change(self):
        jws = self.bought(signed=self.clock.ms - 60_000, **self.line)
        for _ in range(3):
            self.assertEqual(self.customer.update(jws).status, 200)
        refund = self.note("REFUND", refunded=True)
        for _ in range(3):
            self.assertEqual(self.tell(refund).status, 200)
        self.assertEqual(self.told_of(), [self.customer.account] * 2)
        self.assertEqual(len({message["id"] for message in self.messages}), 2)
        self.assertEqual(set(self.messages[0]), {"id", "account", "atMs"})
        self.customer.analyze("free")
        self.assertEqual(self.tell(self.note("TEST")).status, 200)
        self.assertEqual(len(self.messages), 2)

    def test_bck25_a_message_that_is_lost_is_sent_with_the_same_id(self):
        jws = self.bought(signed=self.clock.ms - 60_000, **self.line)
        refund = self.note("REFUND", refunded=True)
        for request in (lambda: self.customer.update(jws), lambda: self.tell(refund)):
            self.messages.clear()
            sent = []

            def publish(message, sent=sent):
                sent.append(message)
                raise TimeoutError

            with mock.patch.dict(self.backend.__dict__, publish=publish):
                self.assertEqual([request().status for _ in range(2)], [503, 503])
            self.assertEqual([request().status for _ in range(2)], [200, 200])
            self.assertEqual(self.told_of(), [self.customer.account])
            self.assertEqual({message["id"] for message in sent}, {self.messages[0]["id"]})

    def test_bck25_killed_after_the_change(self):
        jws = self.bought(signed=self.clock.ms - 60_000, **self.line)
        refund = self.note("REFUND", refunded=True)
        for request in (lambda: self.customer.update(jws), lambda: self.tell(refund)):
            self.messages.clear()
            with mock.patch("freemium.changes.Change.made", side_effect=RuntimeError):
                self.assertEqual(request().status, 500)
            self.assertEqual(request().status, 200)
            self.assertEqual(self.told_of(), [self.customer.account])

    def test_bck25_both_accounts_of_a_transfer(self):
        jws, other = self.bought(signed=self.clock.ms - 60_000, **self.line), self.app()
        self.customer.update(jws)
        self.clock.ahead += 2 * DAY
        other.sign_in()
        self.messages.clear()
        later = self.bought(signed=self.clock.ms - 1000, **self.line)
        self.assertEqual(other.update(later).status, 200)
        self.assertEqual(self.told_of(), sorted([self.customer.account, other.account]))

    def test_bck25_the_same_purchase_changes_something_twice(self):
        """Check that two changes by one text have two ids."""
        jws = self.bought(signed=self.clock.ms - 60_000, **self.line)
        self.customer.update(jws)
        self.backend.ledger.deactivate_subscriptions(self.customer.account)
        self.customer.update(jws)
        self.assertEqual(len({message["id"] for message in self.messages}),
                         len(self.messages))

    @unittest.skipUnless(ENGINE == "moto", "FREEMIUM_ENGINE is not moto")
    def test_bck25_over_sns(self):
        import moto_stage

        from freemium.push import SNS

        sns, sqs = moto_stage.client("sns"), moto_stage.client("sqs")
        for name, more in (("changes", {}), ("changes.fifo", {"FifoTopic": "true"})):
            topic = sns.create_topic(Name=name, Attributes=more)["TopicArn"]
            fifo = {"FifoQueue": "true"} if more else {}
            queue = sqs.create_queue(QueueName=name, Attributes=fifo)["QueueUrl"]
            arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])[
                "Attributes"]["QueueArn"]
            sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn,
                          Attributes={"RawMessageDelivery": "true"})
            publish = SNS(topic, region=moto_stage.REGION, endpoint=moto_stage.url())
            message = {"id": "x" * 32, "account": self.customer.account, "atMs": 1}
            publish(message)
            got = sqs.receive_message(QueueUrl=queue)["Messages"]
            self.assertEqual([json.loads(each["Body"]) for each in got], [message])


class OffTest(BackendCase):
    def test_without_push_nothing_is_stored_for_it(self):
        app = self.app()
        with mock.patch.object(self.backend.records, "promise", side_effect=Unreachable), \
                mock.patch.object(self.backend.records, "owner", side_effect=Unreachable):
            self.assertEqual(app.update(self.bought(STANDARD)).status, 200)
            self.assertEqual(self.told("REFUND", product=STANDARD, refunded=True).status, 200)


if __name__ == "__main__":
    unittest.main()
