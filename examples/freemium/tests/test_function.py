"""The handler as Lambda loads it, the deployer's extensions, and the sources of the settings."""
import base64
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
import uuid

import assay
from assay.ledger import Ledger
from freemium import settings as settings_of
from freemium.backend import Backend
from freemium.local.stack import local
from freemium.settings import Settings
from running import PREMIUM, STANDARD, BackendCase, policy, post

CLAIMS = {"sub": "account-1", "token_use": "access", "client_id": "localclient"}
CALLED = """
import json, sys
from freemium.function import due, handler, refunds
for event in json.load(sys.stdin):
    print(json.dumps(handler(event, None)))
print(json.dumps([due({}, None), refunds({}, None)]))
"""


class HandlerTest(BackendCase):
    def test_the_handler_of_the_template(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            made = local(policy(), folder)
            Ledger(made.engine, made.assay).create_schema()
            (folder / "config.json").write_text(json.dumps({
                "engine": made.engine, "provider": made.provider, "assay": made.assay}))
            event = {"path": "/v1/analyze", "httpMethod": "POST", "body": '{"tier":"free"}',
                     "requestContext": {"authorizer": {"claims": CLAIMS}}}
            done = subprocess.run(
                [sys.executable, "-c", CALLED], capture_output=True, text=True, check=True,
                input=json.dumps([event, {**event, "requestContext": {}}, {}]),
                env={**os.environ, "FREEMIUM_CONFIG": str(folder / "config.json")})
        *answers, timed = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([set(each.values()) for each in timed], [{0}, {0}])
        self.assertEqual([answer["statusCode"] for answer in answers], [200, 401, 404])
        self.assertEqual(json.loads(answers[0]["body"])["plan"], "free")


class PluggedTest(BackendCase):
    settings = {"model": "plugged:model", "effects": "plugged:effects"}

    @classmethod
    def setUpClass(cls):
        cls.seconds, cls.told_of = [], []

        def model(tier, given, seconds):
            cls.seconds.append(seconds)
            return {"tier": tier, "given": given}

        def effects(note):
            cls.told_of.append(note.notification_type)
            if note.notification_type == "CONSUMPTION_REQUEST":
                raise RuntimeError

        module = types.ModuleType("plugged")
        module.model, module.effects = model, effects
        sys.modules["plugged"] = module
        cls.addClassCleanup(sys.modules.pop, "plugged")
        super().setUpClass()

    def test_the_model_is_told_the_time_that_is_left(self):
        app = self.app()
        said = app.post("/v1/analyze", {"tier": "free", "input": {"deep": [1, "é"]}})
        self.assertEqual(said.json["result"], {"tier": "free", "given": {"deep": [1, "é"]}})
        self.assertEqual(self.seconds[-1], 25.0)
        context = types.SimpleNamespace(get_remaining_time_in_millis=lambda: 10_000)
        event = {"path": "/v1/analyze", "httpMethod": "POST", "body": '{"tier":"free"}',
                 "requestContext": {"authorizer": {"claims": {
                     **CLAIMS, "client_id": self.client}}}}
        self.assertEqual(self.backend.answer(event, context)["statusCode"], 200)
        self.assertEqual(self.seconds[-1], 7.0)

    def test_bck16_side_effects_happen_once(self):
        for kind in ("DID_RENEW", "CONSUMPTION_REQUEST", "TEST"):
            signed = self.authority.notification(
                kind, product=STANDARD, set={"notificationUUID": str(uuid.uuid4())})
            self.told_of.clear()
            for _ in range(3):
                said = post(self.url, "/v1/notifications", {"signedPayload": signed})
                self.assertEqual(said.status, 200)
            self.assertEqual(self.told_of, [kind])

    def test_bck16_a_product_that_is_not_in_the_catalogue(self):
        self.assertEqual(self.told("DID_RENEW", product="com.example.unknown").status, 200)


class StartTest(BackendCase):
    """A function checks its table when it starts (STM-8, STO-78)."""

    def opened(self, name):
        place, _, options = self.backend.settings.engine.partition("?")
        place = place.replace("freemium.db", name) if "sqlite" in place \
            else f"{place}-{name}?{options}"
        made = Backend(dataclasses.replace(self.backend.settings, engine=place))
        self.addCleanup(made.ledger.close)
        return made

    def test_sto78_a_store_that_lacks_a_part_stops_the_start(self):
        made = self.opened("part.db")
        if made.ledger.executor.engine == "sqlite":
            made.ledger.create_schema()
            with made.ledger.executor.connect() as connection:
                connection.execute("DROP TABLE assay_subscription")
            made.ledger.close()
        with self.assertRaises(assay.ConfigError):
            made.check()

    def test_sto78_a_table_that_a_template_made(self):
        """Check that the table has no lineage yet, and that create_schema gives it one, on
        DynamoDB."""
        made = self.opened("made")
        store = made.ledger.executor
        if store.engine != "dynamodb":
            self.skipTest("no template makes SQLite's")
        with made.verifier.exchange({"operation": "describe-schema"}) as exchange:
            call, _ = exchange.payload["statements"]
        store.client.create_table(**call["input"])
        with self.assertLogs("freemium", "WARNING") as logged:
            made.check()
        self.assertIn("no-lineage", logged.output[0])
        self.assertEqual([made.ledger.create_schema().outcome for _ in range(2)],
                         ["migrated", "exists"])
        made.check()


class WithoutAppleTest(BackendCase):
    settings = {"account_key": None}

    def test_without_sign_in_with_apple(self):
        app = self.app()
        app.update(self.bought(PREMIUM))
        self.assertEqual(app.post("/v1/account/link", {}).status, 404)
        self.assertEqual(post(self.url, "/v1/apple-id/notifications", {}).status, 404)
        self.assertAnswer(app.post("/v1/account/delete"), 200, {"status": "deleted"})


class SecretTest(unittest.TestCase):
    """Settings from a file, or from a secret with its text (BCK-40)."""

    def test_the_text_of_a_secret(self):
        asked = []

        class Client:
            def get_secret_value(self, **given):
                asked.append(given)
                return {"SecretString": json.dumps({
                    "engine": "dynamodb://${TABLE}", "provider": {}, "assay": {}})}

        boto3 = types.SimpleNamespace(client=lambda name: Client())
        with unittest.mock.patch.object(settings_of, "import_module", lambda name: boto3), \
                unittest.mock.patch.dict("os.environ", {"TABLE": "t"}):
            found = Settings.load("secretsmanager:arn:aws:secretsmanager:x")
        self.assertEqual(found.engine, "dynamodb://t")
        self.assertEqual(asked, [{"SecretId": "arn:aws:secretsmanager:x"}])

    def test_keys_are_not_shown(self):
        key = base64.b64encode(b"sesame" * 6).decode()
        found = Settings.of({"engine": "x", "provider": {}, "accountKey": key,
                             "assay": {"ledger": {"forgetKey": key}}})
        self.assertNotIn(key, repr(found))
        with self.assertRaises(ValueError) as refused:
            Settings.of({"engine": "x", "provider": {}, "assay": {}, "accountKey": "sesame"})
        self.assertNotIn("sesame", str(refused.exception))

    def test_bck40_each_function_reads_the_keys_of_its_own_routes(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            key = base64.b64encode(bytes(range(32))).decode()
            for title, found in (
                    ("all", {"engine": "x", "provider": {}, "ceiling": {"premium": 5},
                             "assay": {"ledger": {"transfer": "allow"}, "apps": [1]}}),
                    ("keys", {"accountKey": key, "assay": {"ledger": {"forgetKey": key},
                              "apps": [2]}})):
                (folder / title).write_text(json.dumps(found))
            places = {"FREEMIUM_CONFIG": f"{folder}/all {folder}/keys"}
            with unittest.mock.patch.dict("os.environ", places):
                both = Settings.load()
            one = Settings.load(f"{folder}/all")
        self.assertEqual((both.account_key, both.ceiling), (key, {"premium": 5}))
        stores = {"transfer": "allow", "forgetKey": key}
        self.assertEqual(both.assay, {"ledger": stores, "apps": [2]})
        self.assertIsNone(one.account_key)


if __name__ == "__main__":
    unittest.main()
