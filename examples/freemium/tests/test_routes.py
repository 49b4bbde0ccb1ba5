"""The routes of docs/spec/ledger.md §1: bodies, codes, messages, headers."""
import base64
import datetime
import json
import unittest
from unittest import mock

from running import (
    DAY,
    HOUR,
    LIFETIME,
    PREMIUM,
    STANDARD,
    App,
    BackendCase,
    new_password,
    new_username,
    post,
)

UNAUTHORIZED = {"error": "Unauthorized"}
INVALID = {"error": "Invalid request"}
CALLERS = ["/v1/update-subscription", "/v1/analyze", "/v1/challenge", "/v1/account/link",
           "/v1/account/delete"]


class RoutesCase:
    """Tests that run for both forms of events."""

    # ---- BCK-1, 18: who calls

    def test_bck1_no_token(self):
        for path in CALLERS:
            with self.subTest(path=path):
                self.assertAnswer(post(self.url, path, {}), 401, UNAUTHORIZED)

    def test_bck18_a_bad_token_is_401_before_the_body_is_looked_at(self):
        app = self.app()
        forged = app.token[:-6] + ("AAAAAA" if not app.token.endswith("AAAAAA") else "BBBBBB")
        for path in CALLERS:
            for token in (forged, "nonsense", app.token + "x", app.token.rpartition(".")[0] + "."):
                with self.subTest(path=path, token=token[-8:]):
                    said = post(self.url, path, raw=b"{broken", token=token)
                    self.assertAnswer(said, 401, UNAUTHORIZED)

    def test_bck18_the_end_of_a_token(self):
        app = self.app()
        self.clock.ahead = 2 * HOUR
        self.assertAnswer(app.analyze("free"), 401, UNAUTHORIZED)

    # ---- BCK-2 … 4: update-subscription

    def test_bck4_a_purchase_is_the_plan(self):
        app = self.app()
        self.assertEqual(app.plan(), "free")
        self.assertAnswer(app.update(self.bought(STANDARD)), 200, {"plan": "standard"})
        self.assertEqual(app.plan(), "standard")
        self.assertAnswer(app.update(self.bought(PREMIUM)), 200, {"plan": "premium"})
        self.assertEqual(app.plan(), "premium")

    def test_bck4_an_expired_purchase_is_stored_and_free(self):
        app = self.app()
        self.assertAnswer(app.update(self.bought(expired=True)), 200, {"plan": "free"})

    def test_bck2_a_device_without_purchases_takes_nothing_away(self):
        phone = self.app()
        tablet = App(self, phone.username, phone.password).sign_in()
        self.assertAnswer(phone.update(self.bought(PREMIUM)), 200, {"plan": "premium"})
        for body in NO_PURCHASE:
            with self.subTest(body=body):
                said = tablet.post("/v1/update-subscription", body)
                self.assertAnswer(said, 200, {"plan": "premium"})
                self.assertEqual(phone.analyze("premium").status, 200)

    def test_bck3_one_text_for_all_refusals(self):
        app, refused = self.app(), {"error": "Invalid subscription data"}
        good = self.bought()
        for jws in (good[:-8] + "AAAAAAAA", "x", "a.b.c", good + "=", good.replace(".", "..", 1),
                    self.bought("com.example.unknown"), self.bought(bundle_id="com.example.other"),
                    self.bought(forge="JWS-20"), self.authority.notification("TEST"), "é" * 9):
            with self.subTest(jws=jws[:40]), self.assertLogs("freemium", "WARNING") as logged:
                self.assertAnswer(app.update(jws), 400, refused)
                self.assertIn(f"[WARN] JWS verification failed for user {app.account}: ",
                              logged.output[0])
        self.assertAnswer(app.update(5), 400, INVALID)

    # ---- BCK-6 … 11: metered calls

    def test_bck6_the_tier_is_one_of_the_configured(self):
        app = self.app()
        for tier in ("best", "", None, 5, ["free"], {"free": 1}, "FREE", "free ", "count_free"):
            with self.subTest(tier=tier):
                said = app.post("/v1/analyze", {"tier": tier})
                self.assertAnswer(said, 400, INVALID)

    def test_bck8_what_the_plan_does_not_include(self):
        said = self.app().analyze("premium")
        self.assertEqual(said.status, 403)
        self.assertEqual(said.json["error"], "Sonnet requires Standard or Premium plan")
        self.assertEqual(said.json["fallback"], "free")

    def test_bck9_10_20_the_limit_of_a_day(self):
        app = self.app()
        app.update(self.bought(STANDARD))
        limit = self.limits["standard"]["premium"]
        for left in range(limit - 1, -1, -1):
            said = app.analyze("premium")
            self.assertEqual(said.status, 200, said)
            self.assertEqual(said.headers["RateLimit-Policy"], f'"premium";q={limit};w=86400')
            self.assertTrue(said.headers["RateLimit"].startswith(f'"premium";r={left};t='))
        said = app.analyze("premium")
        self.assertEqual(said.status, 429)
        self.assertEqual(said.json["error"], "Daily limit reached")
        self.assertEqual(said.json["fallback"], "free")
        seconds = int(said.headers["Retry-After"])
        wanted = -(-(said.json["resetAtMs"] - self.clock.ms) // 1000)
        self.assertAlmostEqual(seconds, wanted, delta=2)
        self.assertGreaterEqual(seconds, 1)
        # The client uses the fallback by itself (BCK-35).
        self.assertEqual(app.analyze(said.json["fallback"]).status, 200)

    def test_bck9_a_new_day(self):
        app = self.app()
        app.update(self.bought(STANDARD))
        for _ in range(self.limits["standard"]["premium"]):
            app.analyze("premium")
        said = app.analyze("premium")
        self.assertEqual(said.status, 429)
        self.clock.ahead = (said.json["resetAtMs"] - self.clock.ms) / 1000 + 1
        app.sign_in()
        self.assertEqual(app.analyze("premium").status, 200)

    def test_bck7_demotion_happens_on_the_read(self):
        app = self.app()
        moment = datetime.datetime.fromtimestamp(self.clock() + 600, datetime.timezone.utc)
        app.update(self.bought(STANDARD, expires=moment))
        self.assertEqual(app.plan(), "standard")
        self.clock.ahead = 601
        self.assertEqual(app.plan(), "free")

    def test_bck11_failed_work_is_returned(self):
        app = self.app()
        app.update(self.bought(STANDARD))
        first = app.analyze("premium").headers["RateLimit"]
        fails = RuntimeError("the secret of a customer")
        with mock.patch.object(self.backend, "model", side_effect=fails), \
                self.assertLogs("freemium", "ERROR") as logged:
            said = app.analyze("premium")
        self.assertAnswer(said, 503, {"error": "Try again later"})
        self.assertGreaterEqual(int(said.headers["Retry-After"]), 1)
        self.assertNotIn("secret of a customer", "".join(logged.output))
        left = self.limits["standard"]["premium"] - 2
        self.assertIn(f"r={left + 1}", first)
        self.assertIn(f"r={left}", app.analyze("premium").headers["RateLimit"])

    # ---- BCK-12 … 15: sign-up

    def test_bck14_created_and_signed_in(self):
        app = App(self)
        self.assertAnswer(app.sign_up(), 200, {"status": "created"})
        self.assertAnswer(app.sign_up(), 409, {"status": "already_exists"})
        self.assertEqual(app.sign_in().plan(), "free")

    def test_bck12_both_are_required(self):
        required = {"error": "username and password required"}
        for body in ({}, {"username": new_username()}, {"password": new_password()}, [], None, 5,
                     {"username": "", "password": new_password()},
                     {"username": new_username(), "password": ""},
                     {"username": None, "password": new_password()},
                     {"username": ["u"], "password": new_password()},
                     {"username": new_username() + "\0", "password": new_password()}):
            with self.subTest(body=body):
                self.assertAnswer(post(self.url, "/v1/signup", body), 400, required)
        for raw in (b"", b"{", b"null", b"\xff", b'{"username":"a","username":"b"}'):
            with self.subTest(raw=raw):
                self.assertAnswer(post(self.url, "/v1/signup", raw=raw), 400, required)

    def test_bck12_shapes(self):
        invalid = {"error": "Invalid credentials"}
        good, secret = new_username(), new_password()
        names = ("admin", "u_", good + "0", good.upper(), "u_" + "x" * 16, " " + good,
                 "u_" + "a" * 60, good[:-1] + "é", good + "\n")
        for name in names:
            with self.subTest(name=name):
                said = App(self, name, secret).sign_up()
                self.assertAnswer(said, 400, invalid)
        for password in ("Rp1!", "x" * 101, secret[:-1], secret + "é", secret.lower(),
                         "é" * 60, secret[:-2] + "!1"):
            with self.subTest(password=password):
                self.assertAnswer(App(self, good, password).sign_up(), 400, invalid)

    # ---- BCK-19, 23: bodies and errors

    def test_bck19_bodies_that_are_none(self):
        app = self.app()
        jws = self.bought()
        self.assertAnswer(app.update(jws), 200, {"plan": "standard"})
        long = json.dumps({"signedTransactionData": "x" * (1024 * 1024)}).encode()
        for raw in (b"", b"null", b"[]", b"5", b'"text"', b"{", b'{"a":1,"a":1}', b"\xff\xfe",
                    b"\xef\xbb\xbf{}", b'{"a":NaN}', b'{"a":1e999}', b'{"a":[-1e999]}',
                    b'{"a":"\\ud800"}', b"{}{}", long, b"[" * 100_000):
            for path in ("/v1/update-subscription", "/v1/analyze", "/v1/challenge",
                         "/v1/account/link"):
                with self.subTest(raw=raw[:20], path=path):
                    self.assertAnswer(app.post(path, raw=raw), 400, INVALID)
        # None of the bad bodies deactivated a subscription.
        self.assertEqual(app.plan(), "standard")

    def test_bck19_base64(self):
        app = self.app()
        binary = {"Content-Type": "application/octet-stream"}
        body = json.dumps({"signedTransactionData": self.bought()}).encode()
        said = app.post("/v1/update-subscription", raw=body, headers=binary)
        self.assertAnswer(said, 200, {"plan": "standard"})

    def test_bck19_bad_base64(self):
        app = self.app()
        event = self.stack.gateway.event("POST", "/v1/analyze",
                                         {"authorization": f"Bearer {app.token}"}, b"", "::1")
        for text in ("!!!", "e30", "e30=\n", base64.b64encode(b"null").decode()):
            with self.subTest(text=text):
                answer = self.backend.answer({**event, "body": text, "isBase64Encoded": True})
                self.assertEqual(answer["statusCode"], 400)
                self.assertEqual(json.loads(answer["body"]), INVALID)

    def test_bck23_unknown_routes_and_methods(self):
        app = self.app()
        for path in ("/", "/v1", "/v1/Analyze", "/v2/analyze", "/v1/analyze/", "/v1/session"):
            with self.subTest(path=path):
                self.assertEqual(app.post(path, {}).status, 404)
        for method in ("GET", "PUT", "DELETE"):
            for path in (*CALLERS, "/v1/signup", "/v1/notifications"):
                with self.subTest(method=method, path=path):
                    said = post(self.url, path, method=method, token=app.token)
                    self.assertEqual(said.status, 405)
                    self.assertIn("error", said.json)

    def test_bck23_json_and_its_type(self):
        app = self.app()
        for said in (app.analyze("free"), app.analyze("premium"), post(self.url, "/v1/signup"),
                     post(self.url, "/nowhere"), post(self.url, "/v1/analyze")):
            self.assertEqual(said.headers["Content-Type"], "application/json")
            self.assertIsInstance(said.json, dict)

    # ---- BCK-16: notifications

    def test_bck16_notifications_change_plans(self):
        app = self.app()
        line = {"transaction_id": "777000111", "product": STANDARD}
        self.assertAnswer(app.update(self.bought(**line)), 200, {"plan": "standard"})
        said = self.told("REFUND", refunded=True, **line)
        self.assertEqual((said.status, said.text), (200, ""))
        self.assertEqual(app.plan(), "free")
        self.assertEqual(self.told("REFUND_REVERSED", **line).status, 200)
        self.assertEqual(app.plan(), "standard")

    def test_bck16_kinds_without_a_purchase(self):
        for kind in ("TEST", "EXTERNAL_PURCHASE_TOKEN", "RESCIND_CONSENT"):
            with self.subTest(kind=kind):
                self.assertEqual(self.told(kind).status, 200)

    def test_bck16_refusals_have_one_text(self):
        invalid = {"error": "Invalid notification"}
        good = self.authority.notification("DID_RENEW", product=STANDARD)
        for signed in (good[:-6] + "AAAAAA", "x", "", None, 5, self.bought(),
                       self.authority.notification("DID_RENEW", forge="JWS-20")):
            with self.subTest(signed=str(signed)[:20]):
                said = post(self.url, "/v1/notifications", {"signedPayload": signed})
                self.assertAnswer(said, 400, invalid)
        long = json.dumps({"signedPayload": "x" * 256 * 1024}).encode()
        for raw in (b"", b"null", b"{", b"[]", long):
            self.assertAnswer(post(self.url, "/v1/notifications", raw=raw), 400, invalid)

    # ---- BCK-38: challenges

    def test_bck38_challenges(self):
        app = self.app()
        for purpose in ("apple-id", "attest", "assert"):
            said = app.post("/v1/challenge", {"purpose": purpose})
            self.assertEqual(said.status, 200)
            self.assertRegex(said.json["challenge"], "^[A-Za-z0-9_-]{43}$")
            self.assertGreater(said.json["expiresAtMs"], self.clock.ms)
        for purpose in ("signup", "", None, 5):
            said = app.post("/v1/challenge", {"purpose": purpose})
            self.assertAnswer(said, 400, INVALID)

    # ---- BCK-25: changes are distinguished from repetitions

    def test_a_lifetime_unlock_has_no_end(self):
        app = self.app()
        self.assertAnswer(app.update(self.bought(LIFETIME)), 200, {"plan": "premium"})
        self.clock.ahead = 800 * DAY
        app.sign_in()
        self.assertEqual(app.plan(), "premium")


NO_PURCHASE = ({}, {"signedTransactionData": None}, {"signedTransactionData": ""})
LIMITS = {"free": {"free": 99999, "premium": 0}, "standard": {"free": 99999, "premium": 3},
          "premium": {"free": 99999, "premium": 5}}


class ClearTest(BackendCase):
    """BCK-2 for accounts of one device, on which the absence of purchases ends the plan."""

    verifier_members = {"ledger": {"transfer": "allow", "onNoPurchases": "deactivate"}}

    def test_bck2_no_purchase_is_a_soft_clear(self):
        for body in NO_PURCHASE:
            with self.subTest(body=body):
                app, jws = self.app(), self.bought()
                self.assertAnswer(app.update(jws), 200, {"plan": "standard"})
                self.assertAnswer(app.post("/v1/update-subscription", body), 200, {"plan": "free"})
                self.assertEqual(app.plan(), "free")
                self.assertAnswer(app.update(jws), 200, {"plan": "standard"})


class HttpApiTest(RoutesCase, BackendCase):
    """Events of HTTP APIs, payload 2.0."""

    form, limits = "http", LIMITS
    verifier_members = {"clockSkewMs": 60000}


class RestApiTest(RoutesCase, BackendCase):
    """Events of REST APIs."""

    form, limits = "rest", LIMITS


class TokenTest(BackendCase):
    """A function without a gateway, which verifies the bearer token itself (BCK-18)."""

    settings = {"caller": "token"}

    def test_bck18_the_function_verifies(self):
        app = self.app()
        self.assertEqual(app.plan(), "free")
        for token in (app.token[:-4] + "AAAA", app.identity_token, "x", ""):
            said = post(self.url, "/v1/analyze", {"tier": "free"}, token=token)
            self.assertAnswer(said, 401, UNAUTHORIZED)

    def test_bck18_claims_of_a_gateway_are_not_believed(self):
        event = self.stack.gateway.event("POST", "/v1/analyze", {}, b'{"tier":"free"}', "::1")
        event["requestContext"]["authorizer"] = {"jwt": {"claims": {
            "sub": "someone", "token_use": "access", "client_id": self.client}}}
        self.assertEqual(self.backend.answer(event)["statusCode"], 401)


class SwitchesTest(BackendCase):
    """The operator's options."""

    settings = {"rate_limits": False, "texts": {"plan": "Ask for more"}}

    def test_bck8_the_operators_words(self):
        self.assertEqual(self.app().analyze("premium").json["error"], "Ask for more")

    def test_bck20_without_the_draft_headers(self):
        said = self.app().analyze("free")
        self.assertEqual(said.status, 200)
        self.assertFalse([name for name in said.headers if "ratelimit" in name.lower()])


if __name__ == "__main__":
    unittest.main()
