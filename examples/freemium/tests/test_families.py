"""The response to a family of errors, the same for every route (BCK-23)."""
import decimal
import unittest
from unittest import mock

import assay
from freemium.families import REFUSALS, STATUS, status_of
from running import STANDARD, BackendCase, post

ATTESTED = {"attestation": "AAAA", "keyId": "AAAA", "clientData": "x"}
ASSERTED = {"assertion": "AAAA", "keyId": "AAAA", "clientData": "x"}


class Failing:
    """A verifier, one of whose methods raises."""

    def __init__(self, verifier, method, error):
        self._verifier, self._method, self._error = verifier, method, error

    def __getattr__(self, name):
        if name == "sessions":
            return Failing(self._verifier.sessions, self._method, self._error)
        if name != self._method:
            return getattr(self._verifier, name)

        def call(*unused, **unused_too):
            raise self._error

        return call


class FamiliesTest(BackendCase):
    settings = {"attest_calls": True}

    def test_the_table_has_every_family(self):
        self.assertEqual(set(STATUS), set(assay.errors.FAMILIES.values()))
        self.assertEqual(set(REFUSALS), {assay.RejectedError, assay.MalformedError,
                                         assay.UnsupportedError, assay.TooLargeError})

    def test_bck23_a_family_has_one_answer(self):
        app = self.app()
        nonce = app.post("/v1/challenge", {"purpose": "apple-id"}).json["challenge"]
        linked = {"identityToken": "x.y.z", "authorizationCode": "x", "nonce": nonce}
        routes = {
            "verify_transaction": (lambda: app.update("x.y.z"), 400),
            "verify_notification": (lambda: self.note("/v1/notifications", "signedPayload"), 400),
            "verify_sign_in_notification": (
                lambda: self.note("/v1/apple-id/notifications", "payload"), 400),
            "verify_apple_identity_token": (lambda: app.post("/v1/account/link", linked), 401),
            "verify_session": (lambda: app.analyze("free"), 401),
            "verify_attestation": (lambda: app.post("/v1/session", ATTESTED), 401),
            "normalize_key_id": (lambda: app.post("/v1/session", ASSERTED), 401),
        }
        keys = mock.Mock(keyset=lambda issuer: None)
        for method, (call, refused) in routes.items():
            for family, status in STATUS.items():
                with self.subTest(method=method, family=family.__name__):
                    failing = Failing(self.backend.verifier, method, family(1, {"message": "x"}))
                    with mock.patch.object(self.backend, "verifier", failing), \
                            mock.patch.dict(self.backend.__dict__, keys=keys):
                        said = call()
                    self.assertEqual(said.status, refused if status == 400 else status)
                    if status == 503:
                        self.assertGreaterEqual(int(said.headers["Retry-After"]), 1)
                    self.assertIn("error", said.json)

    def test_bck23_a_store_that_answers_otherwise(self):
        """Check that the result of an exchange has the families of raised errors."""
        app = self.app()
        for name, code, status in (("misuse", 5, 500), ("config", 6, 500), ("internal", 8, 500),
                                   ("unavailable", 7, 503), ("pending", 9, 503)):
            with self.subTest(name=name):
                document = mock.Mock(spec=assay.Document, ok=False, code=code, error={}, json={})
                result = mock.Mock(document=document, ok=False, status=f"{name}.x")
                with mock.patch.object(self.backend.ledger, "issue_challenge",
                                       return_value=result):
                    said = app.post("/v1/challenge", {"purpose": "assert"})
                self.assertEqual(said.status, status)

    def test_an_unknown_family_is_a_fault(self):
        self.assertEqual(status_of(assay.AssayError(1, {})), 500)

    def note(self, path, member):
        return post(self.url, path, {member: "x.y.z"})


class ModelTest(BackendCase):
    """A model's result that cannot be read is not delivered and costs nothing (BCK-11)."""

    limits = {"free": {"free": 99999, "premium": 0}, "standard": {"free": 99999, "premium": 3},
              "premium": {"free": 99999, "premium": 5}}

    def test_bck11_a_result_that_is_no_json_costs_no_unit(self):
        app = self.app()
        app.update(self.bought(STANDARD))
        circle = []
        circle.append(circle)
        results = [decimal.Decimal("0.5"), {1, 2}, b"x", float("nan"), [float("-inf")], object(),
                   circle, "\ud800", {("a",): 1}, "x" * 6_000_000, iter([1])]
        for result in results:
            with self.subTest(result=repr(result)[:30]), \
                    mock.patch.object(self.backend, "model", lambda *unused, it=result: it), \
                    self.assertLogs("freemium", "ERROR"):
                said = app.analyze("premium")
                self.assertAnswer(said, 500, {"error": "Try again later"})
        self.assertEqual([app.analyze("premium").status for _ in range(4)], [200] * 3 + [429])

    def test_bck11_a_model_that_ends_the_process(self):
        app = self.app()
        app.update(self.bought(STANDARD))
        for error in (SystemExit(1), KeyboardInterrupt(), RecursionError()):
            with mock.patch.object(self.backend, "model", side_effect=error):
                for _ in range(4):
                    self.assertEqual(app.analyze("premium").status, 503)
        self.assertEqual([app.analyze("premium").status for _ in range(4)], [200] * 3 + [429])


if __name__ == "__main__":
    unittest.main()
