"""The template: rights, routes, pool and table."""
import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import unittest.mock

import assay
from freemium.backend import OPEN, ROUTES
from freemium.bedrock import MEMBERS
from freemium.settings import Settings
from running import EXAMPLE, shipped

try:
    import rights
except ImportError:
    rights = None  # PyYAML is not installed

TEMPLATE = EXAMPLE / "template.yaml"
TIMED = ("Due", "Reconcile", "Refunds")
ACCOUNT_MAKERS = {"AdminCreateUser", "AdminSetUserPassword", "AdminGetUser"}


class PlainTest(unittest.TestCase):
    """Checks that need no reader for YAML."""

    def test_bck21_public_sign_up_is_closed(self):
        text = TEMPLATE.read_text()
        found = re.findall(r"AdminCreateUserConfig:\s+AllowAdminCreateUserOnly: (\w+)", text)
        self.assertEqual(found, ["true"])
        self.assertEqual(text.count("AWS::Cognito::UserPool\n"), 1)

    def test_no_secret_stands_in_what_is_deployed(self):
        self.assertNotRegex(TEMPLATE.read_text(), r"[A-Za-z0-9+/]{40}")
        self.assertIn("put 32 random bytes here", shipped()["accountKey"])


@unittest.skipUnless(rights, "PyYAML is not installed")
class TemplateTest(unittest.TestCase):
    # The secrets with keys that each function reads.
    secrets = {"Calls": {"CallsSecret", "CustomersSecret"}, "SignUp": set(),
               "Accounts": {"AccountsSecret", "CustomersSecret"},
               "Notifications": {"CustomersSecret"}, "Promotions": {"AppleSecret", "CallsSecret"},
               "Due": {"AppleSecret"}, "Reconcile": {"AppleSecret"},
               "Refunds": {"AppleSecret", "CustomersSecret"}}

    @classmethod
    def setUpClass(cls):
        cls.resources = rights.resources()
        cls.functions = rights.functions(cls.resources)

    def allowed(self, name, service):
        """Return actions and resources of a function in one service."""
        return [(each["Action"], each["Resource"], each.get("Condition"))
                for each in rights.statements(self.resources, name)
                if rights.listed(each["Action"])[0].startswith(f"{service}:")]

    def secret(self, resource):
        """Return the name of a secret that a function reads, always or where there is one."""
        kind, value = resource
        if kind == "If":
            condition, (_, value), otherwise = value
            self.assertEqual((condition, otherwise), (f"Has{value}", ("Ref", "AWS::NoValue")))
        return value

    def rights(self, name):
        """Return the actions that a function may use on the pool."""
        found = set()
        for actions, resource, _ in self.allowed(name, "cognito-idp"):
            self.assertEqual(resource, ("GetAtt", "Pool.Arn"))
            found |= {action.partition(":")[2] for action in rights.listed(actions)}
        return found

    def test_bck21_public_sign_up_is_closed(self):
        pool = self.resources["Pool"]["Properties"]
        self.assertEqual(pool["AdminCreateUserConfig"], {"AllowAdminCreateUserOnly": True})

    def test_bck15_rights_of_each_function(self):
        self.assertEqual(self.rights("SignUp"), ACCOUNT_MAKERS)
        self.assertEqual(self.rights("Accounts"),
                         ACCOUNT_MAKERS | {"AdminDisableUser", "AdminDeleteUser"})
        self.assertEqual(self.rights("Calls"), {"ListUsers"})
        for name in ("Notifications", "Promotions", "Due", "Reconcile", "Refunds"):
            self.assertEqual(self.rights(name), set())

    def test_bck15_only_calls_ask_a_model_and_only_what_is_named(self):
        for name in self.functions:
            found = self.allowed(name, "bedrock")
            wanted = [("bedrock:InvokeModel", ("Ref", "Models"), None)] if name == "Calls" else []
            self.assertEqual(found, wanted)

    def test_bck15_a_message_goes_to_the_topic_and_nowhere_else(self):
        for name in self.functions:
            found = self.allowed(name, "sns")
            wanted = [] if name in ("SignUp", "Promotions", "Reconcile", "Refunds") else [
                ("sns:Publish", ("Ref", "Topic"), None)]
            self.assertEqual(found, wanted)

    def test_sto49_each_schedule_has_a_handler_of_its_own(self):
        handlers = {name: each["Handler"] for name, each in self.functions.items()
                    if "Handler" in each}
        self.assertEqual(handlers, {name: f"freemium.function.{name.lower()}" for name in TIMED})
        for name in TIMED:
            events = self.functions[name]["Events"].values()
            self.assertEqual([each["Type"] for each in events], ["Schedule"])

    def test_bck15_each_function_reads_its_own_secrets(self):
        """Check that the secret that all functions read contains no key."""
        read = {}
        for name in self.functions:
            [(action, resource, _)] = self.allowed(name, "secretsmanager")
            self.assertEqual(action, "secretsmanager:GetSecretValue")
            read[name] = {self.secret(each) for each in rights.listed(resource)} - {"ConfigSecret"}
        self.assertEqual(read, self.secrets)

    def test_bck15_a_function_is_given_the_secrets_that_it_may_read(self):
        given = TEMPLATE.read_text().split("\nResources:")[1]
        for name in self.functions:
            block = given.split(f"\n  {name}:\n")[1].split("\n      Policies:")[0]
            named = {f"{word}Secret" for word in ("Calls", "Accounts", "Apple", "Customers")
                     if f"${{{word}Secret}}" in block}
            self.assertEqual(named, self.secrets[name], name)

    def test_bck15_each_function_has_its_own_items(self):
        """Check that every right on the table names the keys for which it is granted."""
        keys = {}
        for name in self.functions:
            keys[name] = set()
            for actions, resource, condition in self.allowed(name, "dynamodb"):
                self.assertNotRegex(str(actions), r"\*|Scan|Batch")
                if actions == "dynamodb:DescribeTable":  # the right concerns no item
                    self.assertIsNone(condition)
                    continue
                [(operator, wanted)] = condition.items()
                self.assertEqual(operator, "ForAllValues:StringLike")
                keys[name] |= set(wanted["dynamodb:LeadingKeys"])
                if "index/" in str(resource):
                    self.assertIn(name, ("Accounts", "Notifications", *TIMED))
                    self.assertEqual(actions, "dynamodb:Query")
                    self.assertNotIn("index/*", str(resource))
                if "Delete" in str(actions) and name not in ("Calls", "Accounts"):
                    self.assertIn(wanted["dynamodb:LeadingKeys"], (["PUSH#*"], ["SWEEP#*"]))
        self.assertEqual(keys["SignUp"], {"SIGNUP_IP#*", "CHAL#*", "DEVICE_KEY#*", "SCHEMA#*"})
        for key in ("APPLETOKEN#*", "MERGED_ACCOUNT#*"):
            self.assertEqual([name for name in keys if key in keys[name]], ["Accounts"])
        self.assertTrue(all(key.endswith("#*") for found in keys.values() for key in found))

    def test_bck15_what_the_policies_refuse(self):
        """Check the comparison that the tests with DynamoDB use for each call."""
        for function, action, resource, key, allowed in (
                ("Accounts", "GetItem", "Table", "APPLETOKEN#a", True),
                ("Calls", "GetItem", "Table", "APPLETOKEN#a", False),
                ("Calls", "Query", "Table", "USER#a", True),
                ("Calls", "Query", "Table/assay-owner", "USER#a", False),
                ("Accounts", "Query", "Table/assay-due", "SUBSCRIPTION#1", False),
                ("SignUp", "UpdateItem", "Table", "SIGNUP_IP#x", True),
                ("SignUp", "UpdateItem", "Table", "USER#a", False),
                ("Notifications", "DeleteItem", "Table", "USER#a", False),
                ("Notifications", "DeleteItem", "Table", "PUSH#a", True),
                ("Due", "Query", "Table/assay-due", "SUBSCRIPTION#1", True),
                ("Due", "Query", "Table/assay-due", "CLAIM#1", False),
                ("Due", "DeleteItem", "Table", "SUBSCRIPTION#Production#1", False),
                ("Promotions", "PutItem", "Table", "EVENT#PROMO", True),
                ("Promotions", "PutItem", "Table", "SUBSCRIPTION#Production#1", False),
                ("Calls", "DeleteItem", "Table", "SUBSCRIPTION#Production#1", False)):
            with self.subTest(function=function, action=action, resource=resource, key=key):
                found = any(rights.allows(each, f"dynamodb:{action}", resource, key)
                            for each in rights.statements(self.resources, function))
                self.assertIs(found, allowed)

    def test_routes_and_their_authorizers(self):
        with_one, without = set(), set()
        for function in self.functions.values():
            for event in function["Events"].values():
                if event["Type"] == "Schedule":
                    continue
                self.assertEqual(event["Properties"]["Method"], "POST")
                is_open = event["Properties"].get("Auth") == {"Authorizer": "NONE"}
                (without if is_open else with_one).add(event["Properties"]["Path"])
        self.assertEqual(without, set(OPEN))
        self.assertEqual(with_one, set(ROUTES))

    def test_the_table_is_the_librarys(self):
        verifier = assay.Verifier({
            "apps": [{"bundleId": "com.example.app", "appAppleId": 1}],
            "ledger": {"engine": "dynamodb", "table": "T"}})
        with verifier.exchange({"operation": "describe-schema"}) as exchange:
            wanted, life = (call["input"] for call in exchange.payload["statements"])
        table = self.resources["Table"]["Properties"]
        for name in ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes",
                     "BillingMode"):
            self.assertEqual(table[name], wanted[name])
        self.assertEqual(table["TimeToLiveSpecification"], life["TimeToLiveSpecification"])

    def test_cfn_lint_finds_nothing(self):
        beside = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        program = shutil.which("cfn-lint", path=beside)
        if program is None:
            self.skipTest("cfn-lint is not installed")
        done = subprocess.run([program, str(TEMPLATE)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


class ConfigurationTest(unittest.TestCase):
    """config.json, with what a stack fills in."""

    def test_it_is_a_configuration(self):
        found = shipped()
        found["assay"]["ledger"].pop("forgetKey")
        found["accountKey"] = base64.b64encode(bytes(range(32))).decode()
        text = {"TABLE": "t", "AWS_REGION": "eu-west-1", "POOL": "eu-west-1_X", "CLIENT": "c"}
        with unittest.mock.patch.dict("os.environ", text):
            settings = Settings.of(found)
        self.assertEqual(settings.engine, "dynamodb://t?region=eu-west-1")
        verifier = assay.Verifier({**settings.assay, "ledger": {
            **settings.assay["ledger"], "engine": "dynamodb", "table": "t"}})
        tokens = verifier.configuration["tokens"][0]
        self.assertEqual(tokens["issuers"][0],
                         "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_X")
        self.assertEqual(tokens["clients"][0], "c")

    def test_a_misspelt_member_is_refused(self):
        with self.assertRaises(TypeError):
            Settings.of({**shipped(), "engin": "x", "assay": {}, "engine": "x", "provider": {}})

    def test_a_member_that_cannot_be_used_is_refused_by_name(self):
        given = {"engine": "x", "provider": {}, "assay": {}}
        short, shipped_key = base64.b64encode(bytes(31)).decode(), shipped()["accountKey"]
        for name, values in (("caller", ("anybody", "", None)),
                             ("accountKey", ("", "x", short, shipped_key, 5, ["x"], "é" * 64)),
                             ("accountNameKey", ("", "x", short, 5)),
                             ("push", ("", "x", 5, {}, {"kind": "sns"}, ["x:y"],
                                       {"kind": "sqs", "topic": "x"}, {"kind": "sns", "topic": 5})),
                             ("testers", ("me", [""], [5], {"me": 1}, 5, None)),
                             ("ceiling", ({"premium": 0}, {"premium": True}, {"premium": "5"},
                                          {"premium": 2**53}, [], 5)),
                             ("refunds", ({"usage": "x"}, {"spent": "a:b"}, "a:b", {"usage": 5})),
                             ("basePath", ("/", "api", "/api/", "//api", 5))):
            for value in values:
                with self.subTest(name=name, value=value), \
                        self.assertRaisesRegex(ValueError, name):
                    Settings.of({**given, name: value})
        good = base64.b64encode(bytes(32)).decode()
        Settings.of({**given, "accountKey": good, "testers": ["me"], "ceiling": {"premium": 1},
                     "basePath": "/api/v2"})
        Settings.of({**given, "accountKey": None})

    def test_what_the_guide_shows_is_a_configuration(self):
        """Check the guide's members of the configuration, with those of config.json."""
        guide = (EXAMPLE.parents[1] / "docs/tasks/freemium-lambda.md").read_text()
        blocks = [json.loads(text) for text in re.findall(r"```json [^\n]*\n(.*?)```", guide, re.S)]
        given = {"engine": "x", "provider": {}, "assay": {}}
        members = {name: value for block in blocks for name, value in block.items()}
        settings = Settings.of({**given, **members})
        tiers = {tier for plan in shipped()["assay"]["quotas"].values() for tier in plan}
        self.assertEqual(set(settings.model["models"]), tiers)
        self.assertLessEqual(set(settings.model), set(MEMBERS))
        for offer in settings.promotions.values():
            self.assertIn(offer["product"], shipped()["assay"]["products"])
        self.assertTrue(settings.assay["deviceCheck"]["bits"]["bit0"]["name"].startswith("promo"))

    def test_the_reference_limits(self):
        self.assertEqual(shipped()["assay"]["quotas"], {
            "free": {"free": 99999, "premium": 0}, "standard": {"free": 99999, "premium": 20},
            "premium": {"free": 99999, "premium": 50}})


if __name__ == "__main__":
    unittest.main()
