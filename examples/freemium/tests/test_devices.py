"""App Attest on sign-up, and session tokens before metered calls (BCK-29, session.md)."""
import base64
import json
import unittest

from running import PREMIUM, App, BackendCase, new_username, post

REQUIRED = {"error": "Attestation required"}


class Device(App):
    """An app on a device that can attest: that of the test authority."""

    def attested(self, challenge, **options):
        """Return what the app sends for its key."""
        client_data = json.dumps({"challenge": challenge})
        made = self.case.authority.attestation(client_data, environment="Production", **options)
        return {"attestation": base64.b64encode(made.object).decode(), "keyId": made.key_id,
                "clientData": client_data}

    def asserted(self, challenge, counter, key_id):
        client_data = json.dumps({"challenge": challenge})
        made = self.case.authority.assertion(client_data, counter=counter)
        return {"assertion": base64.b64encode(made.object).decode(), "keyId": key_id,
                "clientData": client_data}

    def signup_challenge(self):
        said = post(self.case.url, "/v1/signup/challenge", {"username": self.username})
        self.case.assertEqual(said.status, 200, said)
        return said.json["challenge"]

    def challenge(self, purpose):
        return self.post("/v1/challenge", {"purpose": purpose}).json["challenge"]


class SignUpTest(BackendCase):
    settings = {"attest_signup": True}

    def test_bck29_an_attested_device(self):
        app = Device(self)
        proof = app.attested(app.signup_challenge())
        self.assertAnswer(app.sign_up(**proof), 200, {"status": "created"})
        self.assertEqual(app.sign_in().plan(), "free")
        bound = self.backend.ledger.get_device_key(
            self.backend.verifier.normalize_key_id(proof["keyId"]), app.account)
        self.assertTrue(bound.ok)
        # The response was lost, so the same request is sent again.
        self.assertAnswer(app.sign_up(**proof), 409, {"status": "already_exists"})

    def test_bck29_without_a_proof(self):
        for more in ({}, {"attestation": None}, {"attestation": "x", "keyId": "y"},
                     {"attestation": "AAAA", "keyId": "AAAA", "clientData": "{}"},
                     {"unsupported": 99}):
            with self.subTest(more=more):
                self.assertAnswer(App(self).sign_up(**more), 401, REQUIRED)

    def test_bck29_another_devices_challenge(self):
        one, two = Device(self), Device(self)
        proof = one.attested(one.signup_challenge())
        self.assertAnswer(two.sign_up(**proof), 401, REQUIRED)
        self.assertAnswer(one.sign_up(**proof), 200, {"status": "created"})

    def test_bck29_a_challenge_that_is_over_or_nobodys(self):
        app = Device(self)
        proof = app.attested(app.signup_challenge())
        self.clock.ahead = 400
        self.assertAnswer(app.sign_up(**proof), 401, REQUIRED)
        self.clock.ahead = 0
        proof = app.attested("bm9ib2R5cyBjaGFsbGVuZ2UsIG5ldmVyIGlzc3VlZCE")
        self.assertAnswer(app.sign_up(**proof), 401, REQUIRED)

    def test_bck29_a_forged_device(self):
        app = Device(self)
        proof = app.attested(app.signup_challenge(), forge="ATT-21")
        self.assertAnswer(app.sign_up(**proof), 401, REQUIRED)

    def test_bck29_before_any_counter(self):
        for _ in range(15):
            App(self).sign_up()
        admitted = self.backend.ledger.begin_signup("127.0.0.1", new_username(), 24)
        self.assertGreaterEqual(admitted.left, 90)

    def test_bck29_a_device_that_cannot_attest(self):
        self.assertAnswer(App(self).sign_up(unsupported=1), 200, {"status": "created"})

    def test_bck29_challenges_are_for_names_of_the_shape(self):
        for name in ("x", "u_0000000000000000", "", None, 5):
            said = post(self.url, "/v1/signup/challenge", {"username": name})
            self.assertEqual(said.status, 400)


class SessionTest(BackendCase):
    settings = {"attest_calls": True}

    def test_session_a_proof_then_cheap_calls(self):
        app = Device(self)
        app.sign_up()
        app.sign_in()
        self.assertAnswer(app.analyze("free"), 401, REQUIRED)
        proof = app.attested(app.challenge("attest"))
        said = app.post("/v1/session", proof)
        self.assertEqual(said.status, 200, said)
        for _ in range(3):
            self.assertEqual(self.analyze(app, said.json["session"]).status, 200)
        # Later requests have an assertion by the same key.
        later = app.asserted(app.challenge("assert"), 1, proof["keyId"])
        again = app.post("/v1/session", later)
        self.assertEqual(again.status, 200, again)
        self.assertEqual(self.analyze(app, again.json["session"]).status, 200)
        # A replayed assertion is refused, and so is a stored counter.
        self.assertAnswer(app.post("/v1/session", later), 401, REQUIRED)
        old = app.asserted(app.challenge("assert"), 1, proof["keyId"])
        self.assertAnswer(app.post("/v1/session", old), 401, REQUIRED)
        self.others(app, said.json["session"], proof)

    def others(self, app, session, proof):
        """Check that a session is valid only for its account, its sign-in and its time."""
        other = App(self)
        other.sign_up()
        other.sign_in()
        self.assertAnswer(self.analyze(other, session), 401, REQUIRED)
        asserted = app.asserted(other.post("/v1/challenge", {"purpose": "assert"})
                                .json["challenge"], 9, proof["keyId"])
        self.assertAnswer(other.post("/v1/session", asserted), 401, REQUIRED)
        for text in (session[:-3] + "AAA", "as1~x~y", "", "x" * 5000):
            self.assertAnswer(self.analyze(app, text), 401, REQUIRED)
        self.clock.ahead = 901
        self.assertAnswer(self.analyze(app, session), 401, REQUIRED)
        self.clock.ahead = 0
        app.sign_in()
        self.assertAnswer(self.analyze(app, session), 401, REQUIRED)

    def analyze(self, app, session):
        return app.post("/v1/analyze", {"tier": "free"}, headers={"X-Session": session})

    def test_session_bodies(self):
        app = App(self)
        app.sign_up()
        app.sign_in()
        for body in ({}, {"assertion": "x"}, {"keyId": "x"}, {"attestation": 5},
                     {"keyId": "AAAA", "assertion": "AAAA", "clientData": "{}"},
                     {"keyId": "\0", "assertion": "AAAA", "clientData": "é"}):
            with self.subTest(body=body):
                self.assertAnswer(app.post("/v1/session", body), 401, REQUIRED)


class OffTest(BackendCase):
    def test_options_are_off(self):
        app = self.app()
        app.update(self.bought(PREMIUM))
        self.assertEqual(app.post("/v1/session", {}).status, 404)
        said = post(self.url, "/v1/signup/challenge", {"username": new_username()})
        self.assertEqual(said.status, 404)
        self.assertEqual(app.analyze("premium").status, 200)


if __name__ == "__main__":
    unittest.main()
