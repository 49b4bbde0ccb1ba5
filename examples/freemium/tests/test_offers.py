"""What is granted once a device, killed at each point and attacked (device-check.md §2.3)."""
import base64
import dataclasses
import secrets
import sys
import types
import unittest
from unittest import mock

from assay_testing.apple import MockApple
from freemium import promotions
from freemium.backend import Backend
from freemium.settings import Settings
from running import LIFETIME, PREMIUM, STANDARD, BackendCase, at_once, post

NOT_AVAILABLE = {"error": "Not available"}
AGAIN = {"error": "Try again later"}
INVALID = {"error": "Invalid request"}


def without_waiting():
    """Return a patch without which each unusable answer of Apple's costs the test a second."""
    return mock.patch("freemium.promotions.WAIT_SECONDS", 0.0)


class Killed(BaseException):
    """What ends a function in the middle: no `except Exception` of the back end sees it."""


class PromotionCase(BackendCase):
    settings = {"promotions": {"welcome": {"grant": "granting:grant"}}}

    @classmethod
    def start(cls, wanted):
        cls.apple = MockApple(cls.authority)
        cls.addClassCleanup(cls.apple.close)
        cls.hosts = cls.apple.hosts
        wanted["deviceCheck"] = {**cls.apple.config["deviceCheck"], "environment": "production",
                                 "bits": {"bit0": {"name": "abuse"}, "bit1": {"name": "promo"}}}
        wanted["appStoreServerApi"] = cls.apple.config["appStoreServerApi"]
        cls.granted, module = {}, types.ModuleType("granting")

        def grant(backend, account, offer, grant_id):
            cls.granted.setdefault(grant_id, []).append(account)
            return {"coins": 5}

        module.grant = grant
        sys.modules["granting"] = module
        cls.addClassCleanup(sys.modules.pop, "granting")
        super().start(wanted)

    def setUp(self):
        super().setUp()
        self.granted.clear()
        self.apple.play("script", [])
        self.device = secrets.token_hex(8)

    def token(self, device=None):
        """Return a fresh token of a device."""
        text = f"{device or self.device}#{secrets.token_hex(4)}"
        return base64.b64encode(text.encode()).decode()

    def ask(self, app, device=None, **more):
        body = {"offer": "welcome", "deviceToken": self.token(device), **more}
        return app.post("/v1/promotion", body)

    def asked(self, path):
        return sum(1 for each in self.apple.log if each["path"] == f"/v1/{path}")

    def accounts(self):
        """Return the accounts that have a grant; each must have one, however often it was made."""
        owners = [set(each) for each in self.granted.values()]
        self.assertTrue(all(len(each) == 1 for each in owners))
        found = [account for each in owners for account in each]
        self.assertEqual(len(found), len(set(found)))
        return set(found)


class OnceTest(PromotionCase):
    def test_once_a_device_and_once_an_account(self):
        app, other = self.app(), self.app()
        for _ in range(3):
            said = self.ask(app)
            self.assertAnswer(said, 200, {"offer": "welcome", "grant": {"coins": 5}})
        self.assertAnswer(self.ask(other), 409, NOT_AVAILABLE)
        self.assertEqual(self.ask(app, "another-phone").status, 200)
        self.assertEqual(self.accounts(), {app.account})
        # The second phone is used too, so that one account does not pass an offer on.
        self.assertAnswer(self.ask(other, "another-phone"), 409, NOT_AVAILABLE)

    def test_a_new_account_on_the_same_device(self):
        app = self.app()
        self.assertEqual(self.ask(app).status, 200)
        self.assertEqual(app.post("/v1/account/delete").status, 200)
        self.assertAnswer(self.ask(self.app()), 409, NOT_AVAILABLE)

    def test_a_refused_account_is_not_spoilt(self):
        app, other = self.app(), self.app()
        self.assertEqual(self.ask(app).status, 200)
        self.assertEqual(self.ask(other).status, 409)
        self.assertEqual(self.ask(other, secrets.token_hex(8)).status, 200)

    def test_no_clear_answer_grants_nothing(self):
        app = self.app()
        for fault, status in (({"status": 503}, 503), ({"status": 200, "body": "{}"}, 503),
                              ({"status": 200, "body": '{"bit0":"no","bit1":false}'}, 503),
                              ({"status": 401, "body": "Invalid Authorization Token"}, 500),
                              ({"status": 400, "body": "Bad Timestamp"}, 500),
                              ({"reset": True}, 503)):
            self.apple.play("script", [{"host": "api.devicecheck.apple.com", "nth": "every",
                                        "fault": fault}])
            with self.subTest(fault=fault), without_waiting():
                self.assertAnswer(self.ask(app), status, AGAIN)
        self.assertEqual(self.granted, {})
        self.apple.play("script", [])
        self.assertEqual(self.ask(app).status, 200)


class KillTest(PromotionCase):
    """A function that ends at each point, and the app that comes again with a fresh token."""

    def killed(self, target, name, after=False, nth=1):
        """Return a patch that ends the function before or after the nth call."""
        real, calls = getattr(target, name), []

        def call(*given, **named):
            calls.append(1)
            found = real(*given, **named) if after or len(calls) != nth else None
            if len(calls) == nth:
                raise Killed
            return found

        return mock.patch.object(target, name, call)

    def play(self, patch):
        app, other = self.app(), self.app()
        with patch, self.assertRaises(Killed):
            event = self.stack.gateway.event(
                "POST", "/v1/promotion", {"authorization": f"Bearer {app.token}"},
                b'{"offer":"welcome","deviceToken":"%s"}' % self.token().encode(), "127.0.0.1")
            self.backend.answer(event)
        for _ in range(2):
            self.assertAnswer(self.ask(app), 200, {"offer": "welcome", "grant": {"coins": 5}})
        self.assertEqual(self.accounts(), {app.account})
        self.assertAnswer(self.ask(other), 409, NOT_AVAILABLE)

    def test_killed_at_each_point(self):
        ledger = self.backend.ledger
        for title, target, name, after, nth in (
                ("before the query", promotions, "_is_new", False, 1),
                ("after the query", promotions, "_is_new", True, 1),
                ("before the device is reserved", ledger, "record_event", False, 1),
                ("after the device is reserved", ledger, "record_event", True, 1),
                ("before `once`", ledger, "record_event", False, 2),
                ("after `once`", ledger, "record_event", True, 2),
                ("before the grant", promotions, "_granted", False, 1),
                ("after the grant", promotions, "_granted", True, 1),
                ("before the update", promotions, "_set_bit", False, 1),
                ("after the update", promotions, "_set_bit", True, 1)):
            with self.subTest(title):
                self.granted.clear()
                self.device = secrets.token_hex(8)
                self.play(self.killed(target, name, after, nth))

    def test_the_update_fails(self):
        """Check that the grant is made, and that the app is told to come again for the bit."""
        app, other = self.app(), self.app()
        self.apple.play("script", [{"path": "/v1/update_two_bits", "nth": "every",
                                    "fault": {"status": 503}}])
        with without_waiting():
            self.assertAnswer(self.ask(app), 503, AGAIN)
        self.assertEqual(self.accounts(), {app.account})
        self.apple.play("script", [])
        self.assertEqual(self.ask(app).status, 200)
        self.assertEqual(self.accounts(), {app.account})
        self.assertEqual(self.ask(other).status, 409)

    def test_apple_is_late(self):
        """Check an answer that comes after the back end gave up: to the query, to the update."""
        app, other = self.app(), self.app()
        for path, grants in (("/v1/query_two_bits", 0), ("/v1/update_two_bits", 1)):
            self.apple.play("script", [{"path": path, "nth": "every", "fault": {"slowMs": 900}}])
            with without_waiting(), mock.patch("freemium.promotions.REQUEST_MS", 300):
                self.assertAnswer(self.ask(app), 503, AGAIN)
            self.assertEqual(len(self.accounts()), grants)
        self.apple.play("script", [])
        self.assertEqual(self.ask(app).status, 200)
        self.assertEqual(self.ask(other).status, 409)
        self.assertEqual(self.accounts(), {app.account})

    def test_the_grant_fails(self):
        app = self.app()
        with mock.patch.object(sys.modules["granting"], "grant", side_effect=TimeoutError):
            self.assertAnswer(self.ask(app), 503, AGAIN)
        self.assertEqual(self.ask(app).status, 200)
        self.assertEqual(self.accounts(), {app.account})

    def test_the_store_is_away(self):
        app = self.app()
        before = self.asked("update_two_bits")
        with mock.patch.object(self.backend.ledger.executor, "session", side_effect=OSError):
            self.assertIn(self.ask(app).status, (500, 503))
        self.assertEqual((self.granted, self.asked("update_two_bits")), ({}, before))


class AttackTest(PromotionCase):
    def test_one_account_at_once(self):
        app = self.app()
        said = at_once([lambda: self.ask(app) for _ in range(6)])
        self.assertEqual({each.status for each in said}, {200})
        self.assertEqual(self.accounts(), {app.account})

    def test_one_account_whose_other_request_sets_the_bit_in_between(self):
        app, real = self.app(), promotions._is_new

        def after_another(backend, token):
            with mock.patch.object(promotions, "_is_new", real):
                self.assertEqual(self.ask(app).status, 200)
            return real(backend, token)

        with mock.patch.object(promotions, "_is_new", after_another):
            self.assertAnswer(self.ask(app), 200, {"offer": "welcome", "grant": {"coins": 5}})
        self.assertEqual(self.accounts(), {app.account})

    def test_a_token_of_another_account_again(self):
        """Check a token that was used, while Apple still says that the device is new."""
        app, thief = self.app(), self.app()
        token = self.token()
        self.apple.play("script", [{"path": "/v1/update_two_bits", "nth": "every",
                                    "fault": {"status": 503}}])
        with without_waiting():
            self.assertEqual(self.ask(app, deviceToken=token).status, 503)
        self.apple.play("script", [])
        self.assertAnswer(self.ask(thief, deviceToken=token), 409, NOT_AVAILABLE)
        self.assertEqual(self.accounts(), {app.account})

    def test_many_accounts_with_one_token_at_once(self):
        apps, token = [self.app() for _ in range(5)], self.token()
        said = at_once([lambda app=app: self.ask(app, deviceToken=token) for app in apps])
        self.assertEqual(sorted(each.status for each in said), [200] + [409] * 4)
        self.assertEqual(len(self.accounts()), 1)

    def test_bodies(self):
        app = self.app()
        for body in ({}, {"offer": "welcome"}, {"deviceToken": self.token()}, [], None,
                     {"offer": "other", "deviceToken": self.token()},
                     {"offer": ["welcome"], "deviceToken": self.token()},
                     {"offer": "welcome", "deviceToken": 5},
                     {"offer": "welcome", "deviceToken": ""},
                     {"offer": "welcome", "deviceToken": "no base64!"},
                     {"offer": "welcome", "deviceToken": "A" * 12_289},
                     {"offer": "welcome", "deviceToken": base64.b64encode(b"bad#1").decode()},
                     {"offer": "welcome", "deviceToken": base64.b64encode(
                         b"development:1#1").decode()}):
            with self.subTest(body=str(body)[:60]):
                self.assertAnswer(app.post("/v1/promotion", body), 400, INVALID)
        said = app.post("/v1/promotion", raw=b'{"offer":"' + b"x" * 10_000_000 + b'"}')
        self.assertIn(said.status, (400, 413))
        self.assertEqual(self.granted, {})

    def test_callers(self):
        body = {"offer": "welcome", "deviceToken": self.token()}
        self.assertEqual(post(self.url, "/v1/promotion", body).status, 401)
        app = self.app()
        said = post(self.url, "/v1/promotion", body, token=app.identity_token)
        self.assertEqual(said.status, 401)
        app.post("/v1/account/delete")
        self.assertEqual(self.ask(app).status, 401)
        self.assertEqual(self.granted, {})


class AttestedTest(PromotionCase):
    """With session tokens the reservation also names the device's key."""

    settings = {**PromotionCase.settings, "attest_calls": True}

    def test_two_accounts_of_one_key_at_once(self):
        apps = [self.app() for _ in range(3)]
        self.assertEqual(self.ask(apps[0]).status, 401)
        of_key = types.SimpleNamespace(key_id="the key of one device")
        new = [{"path": "/v1/query_two_bits", "nth": "every",
                "fault": {"status": 200, "body": "Failed to find bit state"}}]
        self.apple.play("script", new)
        with mock.patch("freemium.devices.check_session", return_value=of_key):
            said = at_once([lambda app=app: self.ask(app) for app in apps])
        self.assertEqual(sorted(each.status for each in said), [200, 409, 409])
        self.assertEqual(len(self.accounts()), 1)


    def test_killed_after_the_key_is_reserved(self):
        """Check that the key is this account's at the repetition, and nobody else's."""
        app, other = self.app(), self.app()
        of_key = types.SimpleNamespace(key_id="the key of another device")
        real, calls = self.backend.ledger.record_event, []

        def killed(*given, **named):
            calls.append(given)
            if len(calls) == 3:  # token, key, and then the account
                raise RuntimeError
            return real(*given, **named)

        with mock.patch("freemium.devices.check_session", return_value=of_key):
            with mock.patch.object(self.backend.ledger, "record_event", killed):
                self.assertEqual(self.ask(app).status, 500)
            self.assertEqual(self.granted, {})
            self.assertAnswer(self.ask(other), 409, NOT_AVAILABLE)
            self.assertEqual(self.ask(app).status, 200)
        self.assertEqual(self.accounts(), {app.account})


class OfferTest(PromotionCase):
    """The grant that comes with the back end: an offer of the App Store."""

    settings = {"promotions": {"welcome": {"product": PREMIUM, "offer": "welcome-1"}}}

    def claims(self, said):
        payload = said.json["grant"]["jws"].split(".")[1]
        return base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode()

    def test_all_repetitions_are_one_offer(self):
        app = self.app()
        said = [self.ask(app) for _ in range(2)]
        self.assertEqual([each.status for each in said], [200, 200])
        self.assertEqual(*(each.json["grant"]["nonce"] for each in said))
        self.assertIn("welcome-1", self.claims(said[0]))
        other = self.app()
        self.assertEqual(other.update(self.bought(STANDARD, transaction_id="4711")).status, 200)
        bound = self.ask(other, secrets.token_hex(8))
        self.assertIn("4711", self.claims(bound))
        self.assertNotEqual(bound.json["grant"]["nonce"], said[0].json["grant"]["nonce"])


class WithoutTest(BackendCase):
    def test_without_promotions(self):
        said = self.app().post("/v1/promotion", {"offer": "welcome", "deviceToken": "AAAA"})
        self.assertEqual(said.status, 404)

    def test_settings(self):
        given = {"engine": "x", "provider": {}, "assay": {}}
        for wrong in ([], {"a": {}}, {"a": {"product": LIFETIME}}, {"a": {"grant": 5}},
                      {"a": {"grant": ""}}, {"a": {"grant": "x:y", "more": "z"}}, {"a": None}):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(ValueError, "promotions"):
                Settings.of({**given, "promotions": wrong})
        with self.assertRaisesRegex(ValueError, "promo"):
            Backend(dataclasses.replace(
                self.backend.settings, promotions={"a": {"grant": "x:y"}}))


if __name__ == "__main__":
    unittest.main()
