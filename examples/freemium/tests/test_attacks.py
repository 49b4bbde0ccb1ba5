"""Every weakness of docs/spec/ledger.md §2 that a freemium back end can have, attacked.

Each test has the number of its weakness in its name; the three attacks of the client and the
six on the sign-up (§10, 26) have classes of their own. The weaknesses of granted purchases
(W27, W34, W38, W39) concern the shop: here only plans are granted, and REFUND_REVERSED, whose
claim is completed at once. W28 and the keychain of W29 concern the app:
docs/tasks/app-side.md.
"""
import base64
import datetime
import json
import os
import sqlite3
import unittest
from unittest import mock

import load

from freemium.providers import Made
from freemium.records import Unreachable
from running import (
    DAY,
    ENGINE,
    HOUR,
    PREMIUM,
    STANDARD,
    App,
    BackendCase,
    at_once,
    new_password,
    new_username,
    post,
    provider_call,
)

REFUSED = {"error": "Invalid subscription data"}
UNAUTHORIZED = {"error": "Unauthorized"}
AGAIN = {"error": "Try again later"}
ON_SQLITE = unittest.skipUnless(ENGINE == "sqlite", "looks into the SQLite file")


class EvidenceTest(BackendCase):
    """Evidence that must not count (W1 … W10, W13, W15)."""

    def refused(self, jws):
        app = self.app()
        self.assertAnswer(app.update(jws), 400, REFUSED)
        self.assertEqual(app.plan(), "free")

    def test_w1_a_root_with_apples_name(self):
        self.refused(self.bought(PREMIUM, forge="JWS-20"))

    def test_w2_signed_outside_the_certificates_dates(self):
        self.refused(self.bought(PREMIUM, signed="2009-01-01T00:00:00Z",
                                 purchased="2008-12-31T00:00:00Z",
                                 expires="2030-01-01T00:00:00Z"))

    def test_w3_a_certificate_that_may_not_issue(self):
        for rule in ("JWS-27", "JWS-28", "JWS-30", "JWS-31"):
            with self.subTest(rule=rule):
                self.refused(self.bought(PREMIUM, forge=rule))

    def test_w4_a_certificate_for_another_purpose(self):
        self.refused(self.bought(PREMIUM, forge="JWS-29"))

    def test_w5_a_chain_of_another_length(self):
        head, payload, signature = self.bought(PREMIUM).split(".")
        header = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
        for chain in (header["x5c"][:2], header["x5c"] + header["x5c"][-1:],
                      header["x5c"] * 30, header["x5c"][::-1], []):
            with self.subTest(length=len(chain)):
                text = json.dumps({**header, "x5c": chain}).encode()
                other = base64.urlsafe_b64encode(text).decode().rstrip("=")
                self.refused(f"{other}.{payload}.{signature}")

    def test_w6_the_algorithm_of_the_header(self):
        for rule in ("JWS-10", "JWS-25", "JWS-5", "JWS-11"):
            with self.subTest(rule=rule):
                self.refused(self.bought(PREMIUM, forge=rule))

    def test_w7_a_refunded_purchase(self):
        app = self.app()
        self.assertAnswer(app.update(self.bought(PREMIUM, refunded=True)), 200, {"plan": "free"})
        self.assertEqual(app.plan(), "free")

    def test_w8_no_end_is_not_for_ever(self):
        app = self.app()
        said = app.update(self.bought(PREMIUM, remove=["expiresDate"]))
        self.assertNotEqual(said.json.get("plan"), "premium")
        self.assertEqual(app.plan(), "free")
        said = app.update(self.bought("com.example.app.coins100", type="consumable"))
        self.assertAnswer(said, 400, REFUSED)

    def test_w10_family_upgraded_and_other_apps(self):
        app = self.app()
        app.update(self.bought(PREMIUM, upgraded=True))
        self.assertEqual(app.plan(), "free")
        self.refused(self.bought(PREMIUM, bundle_id="com.example.other"))

    def test_w15_a_tampered_text_is_400_and_nothing_else(self):
        app, good = self.app(), self.bought(PREMIUM)
        for place in range(0, len(good), len(good) // 40):
            other = "A" if good[place] != "A" else "B"
            said = app.update(good[:place] + other + good[place + 1:])
            self.assertAnswer(said, 400, REFUSED)
        self.assertAnswer(app.update(f" {good}"), 400, REFUSED)
        for rule in ("JWS-3", "JWS-4", "JWS-6", "JWS-13", "JWS-14", "JWS-21", "JWS-22",
                     "JWS-26", "JWS-32", "JWS-40", "JWS-41", "JWS-44", "JWS-70",
                     "JWS-71", "JWS-73", "JWS-75", "JWS-100", "JWS-101"):
            with self.subTest(rule=rule):
                self.assertAnswer(app.update(self.bought(PREMIUM, forge=rule)), 400, REFUSED)
        self.assertEqual(app.plan(), "free")

    def test_w24_nothing_leaks(self):
        app = self.app()
        said = [app.update(self.bought(forge="JWS-29")), app.update("x"), app.analyze("best"),
                post(self.url, "/v1/notifications", {"signedPayload": "x"}),
                post(self.url, "/v1/signup", {"username": "x", "password": "y"})]
        for each in said:
            for word in ("rejected", "malformed", "JWS-", "Error", "Traceback", "/", "assay"):
                self.assertNotIn(word, each.text)


class ProductionTest(BackendCase):
    """Requirements of another policy (W9, W10)."""

    verifier_members = {"environments": ["Production"], "decision": {"familySharing": "deny"}}

    def test_w9_a_sandbox_purchase_in_production(self):
        app = self.app()
        self.assertAnswer(app.update(self.bought(PREMIUM, environment="Sandbox")), 400, REFUSED)
        said = app.update(self.bought(PREMIUM, environment="Production"))
        self.assertAnswer(said, 200, {"plan": "premium"})

    def test_w10_family_sharing_by_policy(self):
        app = self.app()
        app.update(self.bought(PREMIUM, environment="Production", family=True))
        self.assertEqual(app.plan(), "free")


class LineTest(BackendCase):
    """What is stored of a purchase (W11 … W14, W25, W26, W33, W35)."""

    verifier_members = {"ledger": {"transfer": "deny"}}

    def test_w11_one_purchase_for_many_accounts(self):
        owner, jws = self.app(), self.bought(PREMIUM)
        self.assertAnswer(owner.update(jws), 200, {"plan": "premium"})
        for _ in range(3):
            thief = self.app()
            said = thief.update(jws)
            self.assertEqual((said.status, said.json["error"]), (409, REFUSED["error"]))
            self.assertEqual(thief.plan(), "free")
        self.assertEqual(owner.plan(), "premium")

    def test_w11_many_accounts_at_once(self):
        apps, jws = [self.app() for _ in range(6)], self.bought(PREMIUM)
        said = at_once([lambda app=app: app.update(jws) for app in apps])
        self.assertEqual(sorted(each.status for each in said), [200] + [409] * 5)
        self.assertEqual(sorted(app.plan() for app in apps), ["free"] * 5 + ["premium"])

    def test_w11_a_purchase_that_names_another_account(self):
        app = self.app()
        said = app.update(self.bought(PREMIUM, account="0f8fad5b-d9cb-469f-a165-70867728950e"))
        # The account of the token is no appAccountToken: the subscription's owner is the binding.
        self.assertEqual(said.status, 200)
        self.assertEqual(self.app().update(self.bought(PREMIUM)).status, 200)

    def test_w12_an_older_purchase_after_a_downgrade(self):
        app, now = self.app(), self.clock.ms
        line = {"transaction_id": "881", "original_transaction_id": "880"}
        older = self.bought(PREMIUM, signed=now - 120_000, **line)
        newer = self.bought(STANDARD, signed=now - 60_000, **line)
        app.update(older)
        self.assertAnswer(app.update(newer), 200, {"plan": "standard"})
        self.assertAnswer(app.update(older), 200, {"plan": "standard"})
        self.assertEqual(app.plan(), "standard")

    def test_w13_a_purchase_captured_before_its_refund(self):
        app, now = self.app(), self.clock.ms
        line = {"product": PREMIUM, "transaction_id": "882"}
        before = self.bought(signed=now - 300_000, **line)
        app.update(before)
        self.assertEqual(self.told("REFUND", refunded=True, **line).status, 200)
        self.assertAnswer(app.update(before), 200, {"plan": "free"})
        self.assertEqual(app.plan(), "free")
        fresh = self.app()
        fresh.update(before)
        self.assertEqual(fresh.plan(), "free")

    def test_w14_no_purchase_keeps_the_owner(self):
        owner, thief, jws = self.app(), self.app(), self.bought(PREMIUM)
        owner.update(jws)
        self.assertAnswer(owner.update(None), 200, {"plan": "free"})
        self.assertEqual(thief.update(jws).status, 409)
        self.assertAnswer(owner.update(jws), 200, {"plan": "premium"})

    def test_w14_long_after_its_end(self):
        owner, thief, jws = self.app(), self.app(), self.bought(PREMIUM)
        owner.update(jws)
        self.clock.ahead = 60 * DAY
        self.backend.ledger.delete_expired_rows()
        thief.sign_in()
        self.assertEqual(thief.update(jws).status, 409)

    @ON_SQLITE
    def test_w25_no_signed_text_is_kept(self):
        app, jws = self.app(), self.bought(PREMIUM)
        app.update(jws)
        self.told("DID_RENEW", product=PREMIUM, transaction_id="883")
        kept = "".join(sqlite3.connect(f"{self.folder.name}/freemium.db").iterdump())
        for segment in jws.split("."):
            self.assertNotIn(segment[:60], kept)
        self.assertNotIn("eyJ", kept)
        self.assertNotIn(app.username, kept)

    def test_w26_the_end_is_exact(self):
        ends = self.clock.ms + 600_000
        app = self.app()
        moment = datetime.datetime.fromtimestamp(ends / 1000, datetime.timezone.utc)
        app.update(self.bought(PREMIUM, expires=moment))
        clock, ledger = self.clock, self.backend.ledger
        self.assertEqual(ledger.get_plan(app.account, now=ends - 1).plan, "premium")
        self.assertEqual(ledger.get_plan(app.account, now=ends).plan, "free")
        clock.ahead = 601
        self.assertEqual(app.plan(), "free")

    def test_w33_without_the_client(self):
        app, line = self.app(), {"product": PREMIUM, "transaction_id": "884"}
        app.update(self.bought(**line))
        for kind in ("REFUND", "REVOKE"):
            self.assertEqual(self.told(kind, refunded=True, **line).status, 200)
            self.assertEqual(app.plan(), "free")

    def test_w33_repeated_and_out_of_order(self):
        app, line = self.app(), {"product": PREMIUM, "transaction_id": "885"}
        signed = self.authority.notification("SUBSCRIBED", signed=self.clock.ms - 200_000, **line)
        refund = self.authority.notification("REFUND", refunded=True, **line)
        app.update(self.bought(signed=self.clock.ms - 200_000, **line))
        for text in (refund, signed, refund, signed):
            said = post(self.url, "/v1/notifications", {"signedPayload": text})
            self.assertEqual(said.status, 200)
        self.assertEqual(app.plan(), "free")

    def test_w35_a_renewal_that_the_client_never_shows(self):
        app, now = self.app(), self.clock.ms
        first = {"product": PREMIUM, "transaction_id": "886", "original_transaction_id": "886"}
        app.update(self.bought(purchased=now - 1_000_000, expires=now + 600_000, **first))
        self.told("DID_RENEW", product=PREMIUM, transaction_id="887",
                  original_transaction_id="886", purchased=now + 600_000 - 86_400_000,
                  expires=now + 2_000_000_000)
        self.clock.ahead = DAY
        app.sign_in()
        self.assertEqual(app.plan(), "premium")


class CounterTest(BackendCase):
    """Counters (W16 … W18, W40)."""

    limits = {"free": {"free": 99999, "premium": 0}, "standard": {"free": 99999, "premium": 5},
              "premium": {"free": 99999, "premium": 50}}

    def test_w16_names_of_counters_come_from_a_list(self):
        app = self.app()
        for tier in ("admin", "free'; DROP TABLE assay_quota; --", "free#", "__proto__", "x" * 9999,
                     "premium\u0000", {"$ne": 1}):
            said = app.analyze(tier)
            self.assertAnswer(said, 400, {"error": "Invalid request"})

    def test_w17_limit_0_lets_nobody_through(self):
        app = self.app()
        said = at_once([lambda: app.analyze("premium")] * 8)
        self.assertEqual({each.status for each in said}, {403})

    def test_w17_a_limit_is_exact_under_many_at_once(self):
        app = self.app()
        app.update(self.bought(STANDARD))
        said = at_once([lambda: app.analyze("premium")] * 16)
        self.assertEqual(sorted(each.status for each in said), [200] * 5 + [429] * 11)

    def test_w18_failed_work_costs_nothing(self):
        app = self.app()
        app.update(self.bought(STANDARD))
        with mock.patch.object(self.backend, "model", side_effect=TimeoutError):
            for _ in range(20):
                self.assertAnswer(app.analyze("premium"), 503, AGAIN)
        self.assertEqual([app.analyze("premium").status for _ in range(6)], [200] * 5 + [429])


class Away:
    """A database that does not reply: every step times out."""

    def __init__(self, store, answer=None):
        self.engine, self._answer = store.engine, answer or {"code": 0}

    def session(self):
        return self

    connection = None

    def __call__(self, step):
        return {"id": step["id"], **self._answer}

    def grant(self, step, call):
        return {"id": step["id"], "code": 500}

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        pass


class AwayTest(BackendCase):
    """A database that is slow, gone, or not the primary (W37, W40)."""

    def away(self, answer=None):
        """Give every database step this reply inside the block."""
        ledger = self.backend.ledger
        return mock.patch.object(ledger, "executor", Away(ledger.executor, answer))

    def test_w40_nothing_passes_while_the_store_is_away(self):
        app = self.app()
        app.update(self.bought(PREMIUM))
        self.assertIsNone(self.backend.records.token(app.account))
        jws, unknown = self.bought(PREMIUM), App(self)
        note = {"signedPayload": self.authority.notification("DID_RENEW", product=PREMIUM)}
        with self.away():
            said = [app.analyze("premium"), app.analyze("free"), app.update(jws),
                    app.update(None), unknown.sign_up(), app.post("/v1/account/delete"),
                    app.post("/v1/challenge", {"purpose": "assert"}),
                    post(self.url, "/v1/notifications", note)]
        for each in said:
            self.assertAnswer(each, 503, AGAIN)
            self.assertGreaterEqual(int(each.headers["Retry-After"]), 1)
        # The user was not created, so the client's next attempt creates it.
        self.assertEqual(unknown.sign_up().status, 200)
        self.assertEqual(app.plan(), "premium")

    def test_a_store_that_is_away_at_the_start(self):
        """Check that an unreachable database does not stop the start: responses are 503 until it is
        back."""
        with self.away(), self.assertLogs("freemium", "ERROR") as logged:
            self.backend.check()
        self.assertIn("unavailable.database.", logged.output[0])
        self.backend.check()

    def test_w37_a_store_that_is_a_standby(self):
        app = self.app()
        standby = {"code": "standby", "text": "", "executed": "no"}
        with self.away({"code": 500, "error": standby}):
            said = [app.analyze("free"), app.update(self.bought(PREMIUM))]
        for each in said:
            self.assertAnswer(each, 503, AGAIN)

    def test_the_own_records_and_the_provider_are_away(self):
        app = self.app()

        class Gone:
            def __getattr__(self, name):
                return mock.Mock(side_effect=Unreachable)

        for name in ("records", "provider"):
            with mock.patch.dict(self.backend.__dict__, {name: Gone()}):
                self.assertAnswer(app.post("/v1/account/delete"), 503, AGAIN)
        self.assertAnswer(app.post("/v1/account/delete"), 200, {"status": "deleted"})


class CallerTest(BackendCase):
    """The caller and its credentials (W23, W31, W32)."""

    def test_w23_an_id_token(self):
        app = self.app()
        for path in ("/v1/analyze", "/v1/update-subscription", "/v1/account/delete"):
            said = post(self.url, path, {"tier": "free"}, token=app.identity_token)
            self.assertAnswer(said, 401, UNAUTHORIZED)

    def test_w31_events_without_claims(self):
        body = json.dumps({"tier": "free"})
        claims = {"sub": "x", "token_use": "access", "client_id": self.client}
        contexts = [None, {}, {"authorizer": None}, {"authorizer": {}}, {"authorizer": "x"},
                    {"authorizer": {"jwt": None}}, {"authorizer": {"jwt": {"claims": None}}},
                    {"authorizer": {"claims": []}}, {"authorizer": {"lambda": claims}},
                    {"authorizer": claims}, {"authorizer": {"principalId": "x"}}]
        for name, values in (("sub", (None, "", 5)), ("token_use", (None, "id", "")),
                             ("client_id", (None, "", "another"))):
            contexts += [{"authorizer": {"claims": {**claims, name: value}}} for value in values]
        for context in contexts:
            with self.subTest(context=context):
                event = {"rawPath": "/v1/analyze", "body": body, "requestContext": {
                    **(context or {}), "http": {"method": "POST"}}}
                self.assertEqual(self.backend.answer(event)["statusCode"], 401)
                event = {"path": "/v1/analyze", "httpMethod": "POST", "body": body,
                         "requestContext": context}
                self.assertEqual(self.backend.answer(event)["statusCode"], 401)
        for event in ({}, {"requestContext": 5, "headers": 5, "path": 5, "body": 5}):
            self.assertEqual(self.backend.answer(event)["statusCode"], 404)

    def test_w32_a_body_that_a_proxy_lost_clears_nothing(self):
        app = self.app()
        app.update(self.bought(PREMIUM))
        for raw in (b"", b"null", b"[]"):
            said = app.post("/v1/update-subscription", raw=raw)
            self.assertAnswer(said, 400, {"error": "Invalid request"})
        self.assertEqual(app.plan(), "premium")


class ClientAttacksTest(BackendCase):
    """The three attacks on a metered API (§10, 26)."""

    def test_client_attack_1_a_man_in_the_middle_sends_another_tier(self):
        app = self.app()
        for more in ({}, {"plan": "premium"}, {"tier": "premium", "entitled": True}):
            said = app.post("/v1/analyze", {"input": "text", **more, "tier": "premium"})
            self.assertEqual(said.status, 403)

    def test_client_attack_2_a_resigned_app_claims_a_plan(self):
        app = self.app()
        head, payload, signature = self.bought(STANDARD).split(".")
        found = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        found["productId"] = PREMIUM
        other = base64.urlsafe_b64encode(json.dumps(found).encode()).decode().rstrip("=")
        for jws in (f"{head}.{other}.{signature}", f"{head}.{other}.", PREMIUM,
                    base64.b64encode(b'{"alg":"none"}').decode() + f".{other}."):
            self.assertAnswer(app.update(jws), 400, REFUSED)
        for body in ({"plan": "premium"}, {"signedTransactionData": "", "plan": "premium"}):
            said = app.post("/v1/update-subscription", body)
            self.assertAnswer(said, 200, {"plan": "free"})
        self.assertEqual(app.analyze("premium").status, 403)

    def test_client_attack_3_a_stale_client_after_a_refund(self):
        app, line = self.app(), {"product": PREMIUM, "transaction_id": "991"}
        jws = self.bought(signed=self.clock.ms - 300_000, **line)
        app.update(jws)
        self.assertEqual(app.analyze("premium").status, 200)
        self.told("REFUND", refunded=True, **line)
        self.assertEqual(app.analyze("premium").status, 403)
        self.assertAnswer(app.update(jws), 200, {"plan": "free"})
        self.assertEqual(app.analyze("premium").status, 403)


class SignUpAttacksTest(BackendCase):
    """The six attacks on the sign-up (§10, 26), and W19 … W22, W29, W30."""

    verifier_members = {"ledger": {"transfer": "allow", "signup": {
        "limit": 12, "attemptLimit": 40, "unknownLimit": 3}}}
    limits = CounterTest.limits

    def sign_up_from(self, address, username=None, password=None):
        body = {"username": username or new_username(), "password": password or new_password()}
        return self.events("POST", "/v1/signup", body, address)["statusCode"]

    # ---- the six

    def test_signup_attack_1_an_address_that_was_scraped(self):
        for path in ("/v1/analyze", "/v1/update-subscription", "/v1/account/link"):
            self.assertAnswer(post(self.url, path, {"tier": "free"}), 401, UNAUTHORIZED)

    def test_signup_attack_2_w30_sign_up_at_the_provider_itself(self):
        given = {"ClientId": self.client, "Username": new_username(), "Password": new_password()}
        said = provider_call(self, "SignUp", given)
        self.assertEqual(said.status, 400)
        self.assertIn("NotAuthorizedException", said.json["__type"])
        self.assertEqual(App(self, given["Username"], given["Password"])
                         .initiate_auth().status, 400)

    @ON_SQLITE
    def test_signup_attack_2_would_work_in_an_open_pool(self):
        given = {"ClientId": self.client, "Username": new_username(), "Password": new_password()}
        self.stack.pool.admin_only = False
        try:
            self.assertEqual(provider_call(self, "SignUp", given).status, 200)
        finally:
            self.stack.pool.admin_only = True

    def test_signup_attack_3_a_bot(self):
        address = "198.51.100.7"
        said = [self.sign_up_from(address) for _ in range(14)]
        self.assertEqual(said, [200] * 12 + [429] * 2)
        self.assertEqual(self.sign_up_from("198.51.100.8"), 200)
        self.clock.ahead = DAY
        self.assertEqual(self.sign_up_from(address), 200)

    def test_signup_attack_3_the_words(self):
        self.backend.ledger.delete_expired_rows()
        said = [self.events("POST", "/v1/signup", {
            "username": new_username(), "password": new_password()}, "198.51.100.9")
            for _ in range(13)][-1]
        self.assertEqual(json.loads(said["body"]), {
            "error": "Too many signup attempts. Try again tomorrow."})
        self.assertGreaterEqual(int(said["headers"]["Retry-After"]), 1)

    def test_signup_attack_4_a_stolen_token_ends(self):
        app = self.stranger()
        self.assertEqual(app.plan(), "free")
        self.clock.ahead = 1.1 * HOUR
        self.assertAnswer(app.analyze("free"), 401, UNAUTHORIZED)

    def test_signup_attack_5_one_account_on_many_devices(self):
        app = self.stranger()
        app.update(self.bought(STANDARD))
        devices = [App(self, app.username, app.password).sign_in() for _ in range(3)]
        said = [device.analyze("premium").status for device in devices * 3]
        self.assertEqual(said, [200] * 5 + [429] * 4)

    def test_signup_attack_6_a_guessed_password(self):
        if ENGINE != "sqlite":
            self.skipTest("moto does not throttle wrong passwords, as Cognito does")
        app = self.stranger()
        for _ in range(5):
            said = app.initiate_auth(new_password())
            self.assertEqual(said.json["message"], "Incorrect username or password.")
        said = app.initiate_auth()
        self.assertEqual((said.status, said.json["message"]), (400, "Password attempts exceeded"))
        self.clock.ahead = 20
        self.assertEqual(app.initiate_auth().status, 200)

    # ---- the weaknesses

    def test_w19_shapes_are_checked_before_any_counter(self):
        address = "198.51.100.20"
        for _ in range(50):
            self.assertEqual(self.sign_up_from(address, "x"), 400)
        self.assertEqual(self.sign_up_from(address), 200)

    def test_w19_who_exists_costs_an_attempt_and_no_account(self):
        address, name = "198.51.100.21", new_username()
        said = [self.sign_up_from(address, name) for _ in range(25)]
        self.assertEqual(said, [200] + [409] * 24)
        self.assertEqual(self.sign_up_from(address), 200)

    def test_w19_rotation_inside_a_64(self):
        said = [self.sign_up_from(f"2001:db8:5:6::{n:x}") for n in range(1, 14)]
        self.assertEqual(said, [200] * 12 + [429])
        self.assertEqual(self.sign_up_from("2001:db8:5:7::1"), 200)
        self.assertEqual(self.sign_up_from("::ffff:198.51.100.22"), 200)

    def test_w19_no_address_has_a_bucket_of_its_own(self):
        self.assertEqual([self.sign_up_from("") for _ in range(4)], [200] * 3 + [429])
        self.assertEqual(self.sign_up_from("198.51.100.23"), 200)

    def test_w19_the_address_is_the_gateways(self):
        body = {"username": new_username(), "password": new_password()}
        headers = {"x-forwarded-for": "203.0.113.1", "x-real-ip": "203.0.113.1"}
        said = []
        for _ in range(13):
            body["username"] = new_username()
            event = self.stack.gateway.event(
                "POST", "/v1/signup", headers, json.dumps(body).encode(), "198.51.100.24")
            said.append(self.backend.answer(event)["statusCode"])
        self.assertEqual(said, [200] * 12 + [429])

    def test_w20_a_crash_between_create_and_set_password(self):
        app = App(self)
        self.half_made(app.username)
        self.assertEqual(app.initiate_auth().status, 400)
        self.assertEqual(self.sign_up_from("198.51.100.25", app.username, app.password), 200)
        self.assertEqual(app.sign_in().plan(), "free")

    def test_w20_a_finished_account_never_gets_another_password(self):
        app, address = self.stranger(), "198.51.100.26"
        self.assertEqual(self.sign_up_from(address, app.username, new_password()), 409)
        self.assertEqual(app.initiate_auth().status, 200)

    def test_w21_22_names_are_of_one_shape_and_cannot_be_tried_out(self):
        for name in ("admin", "u_0123", "u_" + "g" * 16, "U_0123456789abcdef",
                     "a_0123456789abcdef0123456789abcdef", "a_0123456789abcdef"):
            self.assertEqual(self.sign_up_from("198.51.100.27", name), 400)

    def test_w29_bck22_names_and_passwords_without_entropy(self):
        for name in ("u_0000000000000000", "u_0101010101010101", "u_0123012301230123"):
            self.assertEqual(self.sign_up_from("198.51.100.28", name), 400)
        for middle in ("A" * 20, "AB" * 10, "ABCD" * 5):
            said = self.sign_up_from("198.51.100.28", password=f"Rp{middle}1!")
            self.assertEqual(said, 400)

    def test_sto57_a_provider_that_fails_costs_no_account(self):
        provider, address = self.backend.provider, "198.51.100.29"

        class Failing:
            outcome = "provider-busy"

            def create(self, username, password):
                return Made(self.outcome)

        self.backend.__dict__["provider"] = failing = Failing()
        try:
            for outcome in ("provider-busy", "provider-error"):
                failing.outcome = outcome
                said = [self.sign_up_from(address) for _ in range(8)]
                self.assertEqual(said, [503] * 8)
        finally:
            self.backend.__dict__["provider"] = provider
        self.assertEqual([self.sign_up_from(address) for _ in range(13)], [200] * 12 + [429])

    def test_sto59_no_password_is_kept_or_logged(self):
        password = new_password()
        with self.assertLogs("freemium", "DEBUG") as logged:
            self.assertEqual(self.sign_up_from("198.51.100.30", password=password), 200)
            self.assertEqual(self.sign_up_from("198.51.100.30", "x", password), 400)
            self.backend.answer({"path": "/v1/analyze", "httpMethod": "POST",
                                 "headers": 5, "requestContext": {"authorizer": {"claims": {
                                     "sub": "x", "token_use": "access",
                                     "client_id": self.client}}}, "body": password})
        self.assertNotIn(password, "".join(logged.output))
        if ENGINE == "sqlite":
            kept = "".join(sqlite3.connect(f"{self.folder.name}/freemium.db").iterdump())
            self.assertNotIn(password, kept)

    # ---- what these tests begin with

    def stranger(self):
        """Return a signed-in app from an address of its own."""
        app = App(self)
        address = f"203.0.113.{1 + len(STRANGERS)}"
        STRANGERS.append(app)
        self.assertEqual(self.sign_up_from(address, app.username, app.password), 200)
        return app.sign_in()

    def half_made(self, username):
        """Create a user as it is between the two calls that create one."""
        if ENGINE == "sqlite":
            self.stack.pool.admin_create_user(username)
        else:
            provider = self.backend.provider
            provider._ask("admin_create_user", username, MessageAction="SUPPRESS",
                          TemporaryPassword=new_password())


STRANGERS = []


class ServerTest(BackendCase):
    """Properties of every response."""

    def test_no_request_ends_the_server(self):
        for raw in (b"\0" * 100, os.urandom(5000), b"9" * 10_000, b"[" * 50_000):
            for path in ("/v1/signup", "/v1/notifications", "/v1/apple-id/notifications",
                         "/v1/analyze", "/v1/update-subscription", "/v1/promotion", "/nowhere"):
                said = post(self.url, path, raw=raw)
                self.assertIn(said.status, (400, 401, 404))
        self.assertEqual(self.app().plan(), "free")

    def test_under_load_every_request_is_answered(self):
        requests = load.requests_of([self.app() for _ in range(3)], self)
        said, times = load.loaded(self.url, requests, 2.0, 6)
        self.assertEqual(load.wrong(said), {})
        self.assertEqual({name for name, _ in said}, set(load.WANTED))
        self.assertGreater(len(times), 6)


if __name__ == "__main__":
    unittest.main()
