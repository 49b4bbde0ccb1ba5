"""Sign in with Apple by an anonymous account, and deletion, with mock Apple."""
import base64
import dataclasses
import hashlib
import hmac
import secrets
import sqlite3
import unittest
from unittest import mock

from assay_testing.apple import MockApple
from freemium.backend import Backend
from freemium.records import Unreachable
from running import ENGINE, PREMIUM, STANDARD, App, BackendCase, at_once, post

UNAUTHORIZED = {"error": "Unauthorized"}
CONFLICT = {"status": "conflict"}


class AppleCase(BackendCase):
    """A base class with mock Apple on this machine."""

    @classmethod
    def start(cls, wanted):
        cls.apple = MockApple(cls.authority)
        cls.addClassCleanup(cls.apple.close)
        cls.hosts = cls.apple.hosts
        wanted["appleId"] = cls.apple.config["appleId"]
        super().start(wanted)

    def setUp(self):
        super().setUp()
        self.subject = f"00{secrets.randbelow(10000)}.{secrets.token_hex(16)}.0001"

    def signed_in_at_apple(self, app, subject=None, **claims):
        """Return what the system's sign-in gives the app, for a nonce of the back end."""
        said = app.post("/v1/challenge", {"purpose": "apple-id"})
        return self.signed_in_for(said.json["challenge"], subject, **claims)

    def signed_in_for(self, nonce, subject=None, **claims):
        """Return what the system's sign-in gives the app, for a nonce of any origin."""
        made = self.apple.play("sign-in", {
            "nonce": nonce, "subject": subject or self.subject, **claims})
        return {"identityToken": made["identityToken"], "authorizationCode": made["code"],
                "nonce": nonce}

    def linked(self, app, subject=None):
        """Return the app after the upgrade, signed in as the merged account."""
        said = app.post("/v1/account/link", self.signed_in_at_apple(app, subject))
        self.assertEqual(said.status, 200, said)
        self.assertEqual(said.json["status"], "linked")
        return App(self, said.json["username"], said.json["password"]).sign_in()

    def asked(self, path):
        return sum(1 for entry in self.apple.log if entry["path"].startswith(path))


class LinkTest(AppleCase):
    def test_bck36_38_the_purchases_go_along(self):
        app = self.app()
        app.update(self.bought(PREMIUM))
        used = app.analyze("premium").headers["RateLimit"]
        joined = self.linked(app)
        self.assertNotEqual(joined.account, app.account)
        self.assertEqual(joined.plan(), "premium")
        self.assertIn("r=49", used)
        self.assertIn("r=48", joined.analyze("premium").headers["RateLimit"])
        self.assertEqual(app.plan(), "free")

    def test_bck38_the_anonymous_user_is_closed(self):
        app = self.app()
        self.linked(app)
        said = app.initiate_auth()
        self.assertEqual(said.status, 400)
        self.assertIn("NotAuthorizedException", said.json["__type"])

    def test_bck38_repeated_the_same(self):
        app = self.app()
        body = self.signed_in_at_apple(app)
        said = [app.post("/v1/account/link", body) for _ in range(3)]
        self.assertEqual([each.status for each in said], [200, 200, 200])
        self.assertEqual(said[0].json, said[2].json)

    def test_aid31_another_device_of_the_customer(self):
        one, two = self.app(), self.app()
        one.update(self.bought(STANDARD))
        two.update(self.bought(PREMIUM))
        first, second = self.linked(one), self.linked(two)
        self.assertEqual((first.account, first.password), (second.account, second.password))
        self.assertEqual(second.plan(), "premium")

    def test_aid4_a_nonce_is_for_one_sign_in(self):
        one, two = self.app(), self.app()
        body = self.signed_in_at_apple(one)
        # The token was stolen from another session of the same app.
        self.assertAnswer(two.post("/v1/account/link", body), 401, UNAUTHORIZED)
        nonce = two.post("/v1/challenge", {"purpose": "apple-id"}).json["challenge"]
        said = two.post("/v1/account/link", {**body, "nonce": nonce})
        self.assertAnswer(said, 401, UNAUTHORIZED)
        self.assertEqual(one.post("/v1/account/link", body).status, 200)
        # The nonce is consumed: another token under it is refused.
        again = self.apple.play("sign-in", {"nonce": body["nonce"], "subject": "other"})
        said = one.post("/v1/account/link", {**body, "identityToken": again["identityToken"]})
        self.assertAnswer(said, 401, UNAUTHORIZED)

    def test_aid4_a_nonce_that_nobody_issued(self):
        body = self.signed_in_for(secrets.token_urlsafe(32))
        said = self.app().post("/v1/account/link", body)
        self.assertAnswer(said, 401, UNAUTHORIZED)

    def test_bck38_of_another_purpose(self):
        app = self.app()
        nonce = app.post("/v1/challenge", {"purpose": "assert"}).json["challenge"]
        said = app.post("/v1/account/link", self.signed_in_for(nonce))
        self.assertAnswer(said, 401, UNAUTHORIZED)

    def test_bck38_bodies(self):
        app = self.app()
        good = self.signed_in_at_apple(app)
        for name in good:
            for value in (None, "", 5, ["x"], "x\0"):
                with self.subTest(name=name, value=value):
                    said = app.post("/v1/account/link", {**good, name: value})
                    self.assertAnswer(said, 400, {"error": "Invalid request"})
        for name, value in (("identityToken", "x"), ("identityToken", "a.b.c"),
                            ("nonce", "x"), ("nonce", "x\ny" * 9), ("nonce", "x" * 5000),
                            ("identityToken", good["identityToken"][:-9] + "AAAAAAAAA"),
                            ("identityToken", app.token)):
            with self.subTest(name=name, value=value[:20]):
                said = app.post("/v1/account/link", {**good, name: value})
                self.assertAnswer(said, 401, UNAUTHORIZED)
        for code in ("a b", "é", "\u0000", "x" * 3000):
            with self.subTest(code=code[:5]):
                said = app.post("/v1/account/link", {**good, "authorizationCode": code})
                self.assertAnswer(said, 400, {"error": "Invalid request"})

    def test_w41_links_in_opposite_directions(self):
        """Check two customers, each of whom tries to be merged into the other."""
        one, two = self.app(), self.app()
        subjects = self.subject, self.subject[:-1] + "2"
        a, b = self.linked(one, subjects[0]), self.linked(two, subjects[1])
        a.update(self.bought(PREMIUM))
        tries = [(a, self.signed_in_at_apple(a, subjects[1])),
                 (b, self.signed_in_at_apple(b, subjects[0]))]
        said = at_once([lambda app=app, body=body: app.post("/v1/account/link", body)
                        for app, body in tries])
        self.assertEqual([(each.status, each.json) for each in said], [(409, CONFLICT)] * 2)
        self.assertEqual((a.plan(), b.plan()), ("premium", "free"))

    def test_sto91_an_anonymous_account_is_joined_once(self):
        app = self.app()
        self.linked(app)
        body = self.signed_in_at_apple(app, self.subject[:-1] + "3")
        self.assertAnswer(app.post("/v1/account/link", body), 409, CONFLICT)

    def test_a_code_that_apple_refuses_joins_all_the_same(self):
        app = self.app()
        body = {**self.signed_in_at_apple(app), "authorizationCode": "nobodys-code"}
        self.assertEqual(app.post("/v1/account/link", body).status, 200)


class DeleteTest(AppleCase):
    def test_bck37_deleted_and_repeated(self):
        app = self.app()
        app.update(self.bought(PREMIUM))
        for _ in range(3):
            said = app.post("/v1/account/delete")
            self.assertAnswer(said, 200, {"status": "deleted"})
        self.assertEqual(app.initiate_auth().status, 400)

    def test_bck37_the_access_token_of_a_deleted_account_is_401(self):
        app, jws = self.app(), self.bought(PREMIUM)
        app.post("/v1/account/delete")
        for path, body in (("/v1/update-subscription", {"signedTransactionData": jws}),
                           ("/v1/analyze", {"tier": "free"}), ("/v1/session", {}),
                           ("/v1/challenge", {"purpose": "assert"}), ("/v1/account/link", {})):
            with self.subTest(path=path):
                self.assertAnswer(app.post(path, body), 401, UNAUTHORIZED)
        # The purchase was not bound to the account that no longer exists.
        self.assertAnswer(self.app().update(jws), 200, {"plan": "premium"})

    def test_bck37_a_late_repetition_spares_the_customers_next_account(self):
        first = self.linked(self.app())
        self.assertEqual(first.post("/v1/account/delete").status, 200)
        again = self.linked(self.app())
        self.assertEqual(again.username, first.username)
        self.assertNotEqual(again.account, first.account)
        self.assertAnswer(first.post("/v1/account/delete"), 200, {"status": "deleted"})
        self.assertEqual(again.initiate_auth().status, 200)
        self.assertEqual(again.plan(), "free")

    def test_bck37_a_deletion_that_did_not_reach_the_provider(self):
        first = self.linked(self.app())
        with mock.patch.object(self.backend.provider, "delete", side_effect=Unreachable):
            self.assertEqual(first.post("/v1/account/delete").status, 503)
        again = self.linked(self.app())
        self.assertNotEqual(again.account, first.account)
        self.assertEqual(again.plan(), "free")

    def test_bck37_the_token_of_apple_is_revoked(self):
        joined = self.linked(self.app())
        before = self.asked("/auth/revoke")
        self.assertEqual(joined.post("/v1/account/delete").status, 200)
        self.assertEqual(self.asked("/auth/revoke"), before + 1)
        self.assertEqual(joined.post("/v1/account/delete").status, 200)
        self.assertEqual(self.asked("/auth/revoke"), before + 1)

    def test_bck37_apple_is_away(self):
        joined = self.linked(self.app())
        joined.update(self.bought(PREMIUM))
        self.apple.play("script", [
            {"host": "appleid.apple.com", "path": "/auth/revoke", "nth": "every",
             "fault": {"status": 503}}])
        try:
            said = joined.post("/v1/account/delete")
        finally:
            self.apple.play("script", [])
        self.assertAnswer(said, 503, {"error": "Try again later"})
        self.assertEqual(joined.plan(), "premium")
        self.assertEqual(joined.post("/v1/account/delete").status, 200)

    def test_w36_the_ledger_outlives_the_account(self):
        one, two, jws = self.app(), self.app(), self.bought(PREMIUM)
        one.update(jws)
        account = one.account
        self.assertEqual(one.post("/v1/account/delete").status, 200)
        # The subscription is stored without an owner; only newer evidence moves it (STO-94).
        said = two.update(jws)
        self.assertEqual((said.status, said.json["error"]), (409, "Invalid subscription data"))
        if ENGINE == "sqlite":
            kept = "".join(sqlite3.connect(f"{self.folder.name}/freemium.db").iterdump())
            self.assertNotIn(account, kept)
            key = base64.b64decode(self.backend.settings.assay["ledger"]["forgetKey"])
            digest = hmac.new(key, account.encode(), hashlib.sha256).hexdigest()
            self.assertIn(f"forgotten:{digest}", kept)


class NotificationTest(AppleCase):
    def send(self, kind, **more):
        made = self.apple.play("apple-event", {"type": kind, "subject": self.subject, **more})
        return post(self.url, "/v1/apple-id/notifications", {"payload": made["payload"]})

    def test_bck17_the_apple_account_is_deleted(self):
        joined = self.linked(self.app())
        joined.update(self.bought(PREMIUM))
        said = self.send("account-deleted")
        self.assertEqual((said.status, said.text), (200, ""))
        self.assertEqual(joined.initiate_auth().status, 400)
        self.assertAnswer(joined.analyze("free"), 401, UNAUTHORIZED)
        self.assertEqual(self.send("account-deleted").status, 200)

    def test_bck17_consent_revoked_keeps_the_account(self):
        joined = self.linked(self.app())
        joined.update(self.bought(PREMIUM))
        self.assertEqual(self.send("consent-revoked").status, 200)
        self.assertIsNone(self.backend.records.token(joined.account))
        self.assertEqual(joined.plan(), "premium")

    def test_bck17_other_kinds_and_nobodys(self):
        for kind in ("email-disabled", "email-enabled", "account-deleted", "something-new"):
            self.assertEqual(self.send(kind).status, 200)

    def test_bck17_refusals(self):
        invalid = {"error": "Invalid notification"}
        body = self.signed_in_at_apple(self.app())
        for payload in (body["identityToken"], "x", "", None, 5, "a.b.c"):
            with self.subTest(payload=str(payload)[:10]):
                said = post(self.url, "/v1/apple-id/notifications", {"payload": payload})
                self.assertAnswer(said, 400, invalid)
        for raw in (b"", b"null", b"[]", b"{"):
            said = post(self.url, "/v1/apple-id/notifications", raw=raw)
            self.assertAnswer(said, 400, invalid)


class RotationTest(AppleCase):
    def test_apple_rotates_its_keys(self):
        self.linked(self.app())
        self.apple.play("keys", {"issuer": "https://appleid.apple.com", "keys": "rotate"})
        # Passes the library's cooldown between two fetches.
        self.clock.ahead = 400
        app = self.app()
        self.assertEqual(self.linked(app, self.subject + "9").plan(), "free")


def new_key():
    return base64.b64encode(secrets.token_bytes(32)).decode()


class KeysTest(AppleCase):
    """The back end's own keys are replaced, while functions with the old ones still run."""

    def other(self, **changes):
        """Return a back end with other settings on the same store and pool."""
        settings = dataclasses.replace(self.backend.settings, **changes)
        made = Backend(settings, provider=self.stack.pool, send=self.stack._send, clock=self.clock)
        self.addCleanup(made.ledger.close)
        if ENGINE == "moto":
            self.watch.of(made)
        return made

    def rotated(self):
        first = self.backend.settings.account_name_key or self.backend.settings.account_key
        return self.other(account_key=new_key(), account_name_key=first)

    def at(self, backend):
        """Return a patch with which the gateway calls this back end."""
        return mock.patch.object(self.stack.gateway, "handler", backend.answer)

    def test_an_account_key_is_replaced(self):
        """Check that the old password is valid until its account links again, on any device."""
        first = self.linked(self.app())
        first.update(self.bought(PREMIUM))
        new = self.rotated()
        with self.at(new):
            first.sign_in()
            self.assertEqual(first.plan(), "premium")
            second = self.linked(self.app())
            self.assertEqual((second.username, second.account), (first.username, first.account))
            self.assertNotEqual(second.password, first.password)
            self.assertEqual(first.initiate_auth().status, 400)
            # A sign-in that is open goes on, and its device links again where it is not.
            self.assertEqual(first.plan(), "premium")
            third = self.linked(self.app())
            self.assertEqual(third.password, second.password)
            self.assertEqual(third.plan(), "premium")
        with self.at(self.other(account_key=new_key(),
                                account_name_key=new.settings.account_name_key)):
            fourth = self.linked(self.app())
            self.assertEqual(fourth.account, first.account)
            self.assertEqual(second.initiate_auth().status, 400)

    def test_an_account_key_is_replaced_twice_at_once_and_late(self):
        first, new = self.linked(self.app()), self.rotated()
        apps = [self.app() for _ in range(3)]
        bodies = [self.signed_in_at_apple(app) for app in apps]
        with self.at(new):
            said = at_once([lambda app=app, body=body: app.post("/v1/account/link", body)
                            for app, body in zip(apps, bodies)])
            self.assertEqual({each.status for each in said}, {200})
            self.assertEqual(len({each.json["password"] for each in said}), 1)
        # A function that still has the old key changes no password.
        old = App(self, first.username, said[0].json["password"]).sign_in()
        app = self.app()
        self.assertEqual(app.post("/v1/account/link", self.signed_in_at_apple(app)).status, 200)
        self.assertEqual(old.sign_in().account, first.account)

    def test_a_password_that_could_not_be_set(self):
        first, new = self.linked(self.app()), self.rotated()
        app = self.app()
        with self.at(new):
            with mock.patch.object(new.provider, "set_password", side_effect=Unreachable):
                said = app.post("/v1/account/link", self.signed_in_at_apple(app))
                self.assertAnswer(said, 503, {"error": "Try again later"})
            self.assertEqual(first.initiate_auth().status, 200)
            self.assertEqual(self.linked(app).account, first.account)

    def test_what_apple_says_of_an_account_of_the_old_key(self):
        first, new = self.linked(self.app()), self.rotated()
        made = self.apple.play("apple-event", {"type": "account-deleted",
                                               "subject": self.subject})
        with self.at(new):
            said = post(self.url, "/v1/apple-id/notifications", {"payload": made["payload"]})
            self.assertEqual(said.status, 200)
            self.assertEqual(first.initiate_auth().status, 400)

    def test_a_forget_key_is_replaced(self):
        """Check that deletions by the old and the new key, and one by both, end alike: nothing
        names the account, and its purchase is treated in the same way afterwards."""
        ledger = {**self.backend.settings.assay["ledger"], "forgetKey": new_key()}
        new = self.other(assay={**self.backend.settings.assay, "ledger": ledger})
        answers = []
        for title in ("old", "new", "both"):
            app, jws = self.app(), self.bought(PREMIUM, transaction_id=f"77{len(answers)}")
            self.assertEqual(app.update(jws).status, 200)
            account = app.account
            if title == "both":
                with mock.patch.object(self.backend.records, "drop_token",
                                       side_effect=Unreachable):
                    self.assertEqual(app.post("/v1/account/delete").status, 503)
            with self.at(self.backend if title == "old" else new):
                self.assertAnswer(app.post("/v1/account/delete"), 200, {"status": "deleted"})
                answers.append(self.app().update(jws).status)
            if ENGINE == "sqlite":
                kept = "".join(self.backend.ledger.executor.connect().iterdump())
                self.assertNotIn(account, kept)
        self.assertEqual(len(set(answers)), 1, answers)



if __name__ == "__main__":
    unittest.main()
