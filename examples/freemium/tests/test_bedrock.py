"""Models of Bedrock: what is asked, what an answer becomes, and what is counted.

The client is boto3's own, over HTTP to a stub of the protocol (bedrock_stub.py).
"""
import dataclasses
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

from assay.ledger import Ledger
from freemium.backend import Backend
from freemium.local.stack import local
from running import DAY, BackendCase, at_once, policy

HAS_BOTO3 = importlib.util.find_spec("boto3") is not None
if HAS_BOTO3:
    import bedrock_stub
    from bedrock_stub import cut, garbled, in_drops, late, twice, twice_later

LIMIT = 5
LIMITS = {"free": {"free": LIMIT, "premium": 0}, "standard": {"free": 99999, "premium": 20},
          "premium": {"free": 99999, "premium": 50}}
MODELS = {"free": "eu.amazon.nova-lite-v1:0",
          "premium": "arn:aws:bedrock:eu-west-1:000000000000:inference-profile/"
                     "eu.anthropic.claude-sonnet-4-20250514-v1:0"}
KILLED = """
import json, os, sys
import freemium.bedrock
freemium.bedrock.Bedrock._asked = lambda *unused: os._exit(9)
from freemium.function import handler
handler(json.load(sys.stdin), None)
"""


@unittest.skipUnless(HAS_BOTO3, "boto3 is not installed")
class BedrockCase(BackendCase):
    limits = LIMITS

    @classmethod
    def setUpClass(cls):
        credentials = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local",
                       "AWS_EC2_METADATA_DISABLED": "true"}
        patched = mock.patch.dict(os.environ, credentials)
        patched.start()
        cls.addClassCleanup(patched.stop)
        cls.bedrock = bedrock_stub.Bedrock()
        cls.addClassCleanup(cls.bedrock.close)
        cls.model = {"kind": "bedrock", "models": MODELS, "region": "eu-west-1", "seconds": 2,
                     "system": "Be brief.", "maxTokens": 300, "endpoint": cls.bedrock.url}
        cls.settings = {"model": cls.model}
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.bedrock.plan[:], self.bedrock.asked[:] = [], []
        self.customer = self.app()

    def tearDown(self):
        self.assertEqual(self.bedrock.faults, [])

    def used(self):
        """Return how many units of the day are consumed."""
        taken = self.backend.ledger.consume_quota(self.customer.account, "free", "free")
        if not taken.ok:
            return LIMIT
        self.backend.ledger.release_quota(taken.ticket)
        return taken.used - 1


class AnswerTest(BedrockCase):
    def test_the_model_of_the_tier_is_asked(self):
        said = self.customer.analyze("free")
        result = {"text": "answer to text", "stopReason": "end_turn"}
        self.assertAnswer(said, 200, {"tier": "free", "plan": "free", "result": result})
        self.assertEqual(self.customer.update(self.bought()).status, 200)
        self.assertEqual(self.customer.analyze("premium").json["result"], result)
        asked = {"messages": [{"role": "user", "content": [{"text": "text"}]}],
                 "system": [{"text": "Be brief."}], "inferenceConfig": {"maxTokens": 300}}
        self.assertEqual(self.bedrock.asked, [
            (MODELS["free"], asked), (MODELS["premium"], asked)])
        self.assertEqual(self.used(), 1)

    def test_an_answer_is_counted_whatever_ended_it(self):
        """Check that input which a filter withholds uses the quota up."""
        none = {"message": {"role": "assistant", "content": []}}
        for reason, status, output in (
                ("max_tokens", 200, None), ("stop_sequence", 200, None),
                ("content_filtered", 200, none), ("guardrail_intervened", 200, none),
                ("end_turn", 503, none), ("malformed_model_output", 503, None)):
            with self.subTest(reason=reason):
                before = self.used()
                members = {"stopReason": reason, **({"output": output} if output else {})}
                self.bedrock.plan.append(
                    lambda sent, request, members=members: sent.answer(request, **members))
                self.assertEqual(self.customer.analyze("free").status, status)
                self.assertEqual(self.used() - before, int(status == 200))

    def test_input_that_is_none(self):
        for given in (None, "", "  ", 5, {"text": "x"}, ["x"], "x" * 20_001):
            said = self.customer.post("/v1/analyze", {"tier": "free", "input": given})
            self.assertAnswer(said, 400, {"error": "Invalid request"})
        self.assertEqual((self.bedrock.asked, self.used()), ([], 0))


class FaultTest(BedrockCase):
    """A failed answer is not counted (BCK-11)."""

    def failed(self, plan, status=503, asked=1):
        self.bedrock.plan[:], self.bedrock.asked[:] = [plan] * 9, []
        said = self.customer.analyze("free")
        self.assertAnswer(said, status, {"error": "Try again later"})
        self.assertEqual("Retry-After" in said.headers, status == 503)
        self.assertEqual((len(self.bedrock.asked), self.used()), (asked, 0))

    def test_bck11_refused_before_a_model_ran(self):
        for name in ("ThrottlingException", "ModelNotReadyException",
                     "ServiceUnavailableException"):
            with self.subTest(error=name), mock.patch("freemium.bedrock.PAUSE_SECONDS", 0.01):
                self.failed(name, asked=2)
                self.bedrock.plan[:] = [name]
                self.assertEqual(self.customer.analyze("free").status, 200)
                self.assertEqual(self.used(), 1)
                self.clock.ahead += DAY
                self.customer.sign_in()

    def test_bck11_a_model_that_may_have_run_is_asked_once(self):
        for name in ("ModelTimeoutException", "ModelErrorException", "InternalServerException"):
            with self.subTest(error=name):
                self.failed(name)

    def test_bck11_an_operators_fault(self):
        for name in ("AccessDeniedException", "ResourceNotFoundException", "ValidationException"):
            with self.subTest(error=name), self.assertLogs("freemium", "ERROR") as logged:
                self.failed(name, status=500)
            self.assertIn(name, "".join(logged.output))
            self.assertNotIn("text", "".join(logged.output))

    def test_bck11_no_answer(self):
        for plan in (cut, garbled):
            with self.subTest(plan=plan.__name__):
                self.failed(plan)

    def test_bck11_late(self):
        """Check that a late answer is neither counted nor the next customer's."""
        with mock.patch.object(self.backend.model, "_seconds", 1.1):
            for plan in (late(1.5), in_drops):
                self.failed(plan)
                self.bedrock.plan[:] = []
                said = self.customer.post("/v1/analyze", {"tier": "free", "input": "mine"})
                self.assertEqual(said.json["result"]["text"], "answer to mine")
                self.clock.ahead += DAY
                self.customer.sign_in()

    def test_bck11_a_call_without_time_is_not_begun(self):
        left = types.SimpleNamespace(get_remaining_time_in_millis=lambda: 3_500)
        with mock.patch.object(self.stack.gateway, "context", left):
            self.failed(None, asked=0)

    def test_answered_twice(self):
        """Check that a second answer on a connection is nobody's."""
        self.bedrock.plan[:] = [twice, twice_later, twice]
        for number in range(4):
            given = {"tier": "free", "input": f"call {number}"}
            said = self.customer.post("/v1/analyze", given)
            self.assertEqual(said.json["result"]["text"], f"answer to call {number}")
        self.assertEqual(self.used(), 4)

    def test_many_at_once_with_faults(self):
        """Check that what is counted is what was delivered."""
        self.bedrock.plan[:] = ["ModelTimeoutException", None, cut] * 4
        said = at_once([lambda: self.customer.analyze("free")] * 12)
        delivered = [each for each in said if each.status == 200]
        self.assertEqual({each.status for each in said} - {200, 429, 503}, set())
        self.assertEqual(self.used(), len(delivered))
        self.assertLessEqual(len(delivered), LIMIT)


class KilledTest(BedrockCase):
    def test_bck11_a_killed_function_loses_one_unit_until_the_day_ends(self):
        """Check a function that ends while Bedrock works: the unit stays consumed, and expires with
        the counter of its day."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            made = local({**policy(), "quotas": LIMITS}, folder)
            ledger = Ledger(made.engine, made.assay)
            self.addCleanup(ledger.close)
            ledger.create_schema()
            (folder / "config.json").write_text(json.dumps({
                "engine": made.engine, "provider": made.provider, "assay": made.assay,
                "model": self.model}))
            event = {"path": "/v1/analyze", "httpMethod": "POST", "requestContext": {
                "authorizer": {"claims": {"sub": "account-1", "token_use": "access",
                                          "client_id": "localclient"}}},
                "body": '{"tier":"free","input":"text"}'}
            done = subprocess.run(
                [sys.executable, "-c", KILLED], input=json.dumps(event), text=True,
                env={**os.environ, "FREEMIUM_CONFIG": str(folder / "config.json")})
            self.assertEqual(done.returncode, 9)
            for ahead, used in ((0, 2), (DAY, 1)):
                now = self.clock.ms + int(ahead * 1000)
                taken = ledger.consume_quota("account-1", "free", "free", now=now)
                self.assertEqual(taken.used, used)


class StartTest(BedrockCase):
    def test_a_model_for_each_tier(self):
        for change in ({"models": {"free": "x"}}, {"models": {**MODELS, "best": "x"}},
                       {"models": {**MODELS, "free": ""}}, {"models": None}, {"kind": "rock"},
                       {"seconds": 0}, {"maxTokens": True}, {"longestInput": "5"}):
            with self.subTest(change=change), self.assertRaisesRegex(ValueError, "model"):
                Backend(dataclasses.replace(
                    self.backend.settings, model={**self.model, **change}))
        with self.assertRaisesRegex(TypeError, "model.maxToken "):
            Backend(dataclasses.replace(
                self.backend.settings, model={**self.model, "maxToken": 5}))


if __name__ == "__main__":
    unittest.main()
