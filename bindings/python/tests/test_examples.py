"""The examples, run as their first lines describe."""
import base64
import hashlib
import importlib.util
import io
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import threading
import unittest
from contextlib import closing
from unittest import mock

import assay
from case_table import given, jws_of, octets_of, table

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


def load(name):
    """Import an example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class ExampleCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def given(self, **variables):
        """Set variables of the environment for this test."""
        self.enterContext(mock.patch.dict(os.environ, variables))

    def sql(self, database, *statements):
        """Run statements on a file in one transaction, and return the last one's rows."""
        with closing(sqlite3.connect(database)) as connection, connection:
            return [connection.execute(*each).fetchall() for each in statements][-1]

    def check_claims(self, handler, body, accepted, refused):
        """Check that the account comes only from where API Gateway puts it."""
        for context in ({"authorizer": CLAIMED[0]}, {"authorizer": CLAIMED[1]}, *UNCLAIMED, None):
            with self.subTest(context=context):
                answer = handler({"requestContext": context, "body": body}, None)
                known = context and context.get("authorizer") in CLAIMED
                self.assertEqual(answer["statusCode"], accepted if known else 401)
                if not known:
                    self.assertEqual(json.loads(answer["body"]), refused)
        self.assertEqual(handler({}, None)["statusCode"], 401)

    def evidence(self, kind):
        """Return the text of an accepted case, and a file with its configuration."""
        case = table().accepted(kind)
        path = self.folder / f"{kind}.json"
        path.write_text(json.dumps(table().configuration(case["verifier"])))
        return case, path


ACCOUNT = "0f8fad5b-d9cb-469f-a165-70867728950e"
# Where API Gateway puts verified claims: REST APIs, HTTP APIs.
CLAIMED = [{"claims": {"sub": ACCOUNT}}, {"jwt": {"claims": {"sub": ACCOUNT}, "scopes": None}}]
UNCLAIMED = [{}, {"authorizer": None}, {"authorizer": {}}, {"authorizer": {"claims": None}},
             {"authorizer": {"jwt": {"claims": {}}}}, {"authorizer": {"claims": {"sub": ""}}},
             {"authorizer": {"jwt": {"claims": {"sub": None}}}}]


class LambdaTest(ExampleCase):
    def test_runs(self):
        case, config = self.evidence("transaction")
        jws = self.folder / "transaction.jws"
        jws.write_text(jws_of(case))
        packages = str(pathlib.Path(assay.__file__).parent.parent)
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / "lambda_handler.py"), str(jws)],
            capture_output=True, text=True, timeout=60,
            env={**os.environ, "ASSAY_CONFIG": str(config), "PYTHONPATH": packages},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["statusCode"], 200, done.stderr)
        self.assertIn("plan", json.loads(answer["body"]))

    def test_refusals(self):
        case, config = self.evidence("transaction")
        self.given(ASSAY_CONFIG=str(config))
        handler = load("lambda_handler").handler
        caller = {"authorizer": {"claims": {"sub": ACCOUNT}}}
        forged = json.dumps({"transaction": jws_of(case)[:-4] + "AAAA"})
        with self.assertLogs("purchases", "WARNING") as logged:
            answer = handler({"requestContext": caller, "body": forged}, None)
        self.assertEqual(answer["statusCode"], 400)
        self.assertNotIn("signature", answer["body"])
        self.assertIn("rejected.jws.signature", logged.output[0])
        for body in ("{", "{}", "[]", '{"transaction":5}', None):
            with self.subTest(body=body):
                answer = handler({"requestContext": caller, "body": body}, None)
                self.assertEqual(answer["statusCode"], 400)

    def test_both_places_of_the_claims(self):
        _, config = self.evidence("transaction")
        self.given(ASSAY_CONFIG=str(config))
        self.check_claims(load("lambda_handler").handler, "{}", 400,
                          {"error": "not signed in"})


class ReceiptEndpointTest(ExampleCase):
    """receipt_endpoint.py, compared with docs/receipts.md."""

    VERIFIER = "standard"

    def setUp(self):
        super().setUp()
        config = self.folder / "config.json"
        config.write_text(json.dumps(table().configuration(self.VERIFIER)))
        self.environment = {
            "ASSAY_CONFIG": str(config), "LEDGER": str(self.folder / "ledger.db"),
        }
        self.given(**self.environment)
        self.example = load("receipt_endpoint")

    def receipt(self, call, status, kind=None):
        """Return the text of the standard verifier's first case with a status."""
        for case in table().cases:
            if (case["call"], case.get("kind"), case["expect"]["status"]) == (call, kind, status):
                text = given(case, "receipt" if call == "verify_receipt" else "blob")
                if (case["verifier"] == self.VERIFIER and isinstance(text, str)
                        and "subjectBase64" not in case):
                    return text
        raise AssertionError(f"the case table has no {call} of {kind} with {status}")

    def ledger(self, *statements):
        return self.sql(self.environment["LEDGER"], *((each,) for each in statements))

    def post(self, receipt, account="u-17"):
        event = {
            "requestContext": {"authorizer": {"claims": {"sub": account}}},
            "body": receipt if receipt is None else json.dumps({"receipt": receipt}),
        }
        answer = self.example.handler(event, None)
        return json.loads(answer["body"])["answer"], answer["statusCode"]

    def test_words_around_the_signature(self):
        """Check that a purchase is granted once, whatever surrounds the signed part (RCP-28)."""
        name = "RCP-28 environment Sandbox on an id of Production, verifier standard"
        [case] = [case for case in table().cases if case["name"] == name]
        lowered = base64.b64decode(given(case, "receipt"))
        word = b'\t"environment" = "Sandbox";\n'
        self.assertIn(word, lowered)
        genuine = lowered.replace(word, b"")
        other_pod = lowered.replace(word, b'\t"environment" = "Production";\n')
        answers = [
            self.post(base64.b64encode(text).decode())[0]
            for text in (genuine, lowered, other_pod, genuine)
        ]
        self.assertEqual(answers, ["granted"] + ["already-granted"] * 3)
        rows = self.ledger("select transaction_key, environment, until_ms from claim")
        self.assertEqual([(key.split("/")[0], *rest) for key, *rest in rows],
                         [("Production", "Production", None)])

    def test_placeholders(self):
        """Check that a text without a signature is not stored and retried (LST-2)."""
        case = next(
            case for case in table().cases
            if case["name"] == "RCP-18 words for a signature")
        self.assertEqual(self.post(given(case, "receipt")), ("refused-final", 400))

    def test_runs(self):
        receipt = self.folder / "receipt.b64"
        receipt.write_text(self.receipt("verify_receipt", "ok", "transaction-receipt") + "\n")
        packages = str(pathlib.Path(assay.__file__).parent.parent)
        for wanted in ("granted", "already-granted"):
            done = subprocess.run(
                [sys.executable, str(EXAMPLES / "receipt_endpoint.py"), str(receipt), "u-17"],
                capture_output=True, text=True, timeout=60,
                env={**os.environ, **self.environment, "PYTHONPATH": packages},
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            answer = json.loads(done.stdout)
            self.assertEqual(json.loads(answer["body"]), {"answer": wanted}, done.stderr)
            self.assertEqual(answer["statusCode"], 200)

    def test_each_kind_is_granted_once_and_to_one_account(self):
        for kind in ("transaction-receipt", "app-receipt"):
            with self.subTest(kind=kind):
                text = self.receipt("verify_receipt", "ok", kind)
                self.assertEqual(self.post(text), ("granted", 200))
                self.assertEqual(self.post(text), ("already-granted", 200))
                with self.assertLogs("receipts", "WARNING"):
                    self.assertEqual(self.post(text, "u-18"), ("refused-final", 409))
                self.ledger("delete from claim", "delete from line")

    def test_refunded_stays_refunded(self):
        text = self.receipt("verify_receipt", "ok", "transaction-receipt")
        self.assertEqual(self.post(text), ("granted", 200))
        self.ledger("update claim set revoked = 1")
        with self.assertLogs("receipts", "WARNING") as logged:
            self.assertEqual(self.post(text), ("refused-final", 409))
        self.assertIn("revoked", logged.output[0])

    def test_simultaneous_requests_are_granted_once(self):
        text = self.receipt("verify_receipt", "ok", "transaction-receipt")
        answers = []
        threads = [
            threading.Thread(target=lambda: answers.append(self.post(text)[0]))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(answers), ["already-granted"] * 7 + ["granted"])

    def test_refusals(self):
        for call, status, kind, wanted, logs in (
            ("triage", "rejected.triage.cracking-tool", None, ("refused-final", 400), "INFO"),
            ("triage", "rejected.triage.foreign-bundle", None, ("refused-final", 400), "INFO"),
            ("triage", "rejected.triage.foreign-product", None, ("refused-keep", 409), "INFO"),
            ("triage", "malformed.plist.syntax", None, ("resend", 400), "INFO"),
            ("verify_receipt", "rejected.transaction-receipt.signature", "transaction-receipt",
             ("refused-final", 400), "WARNING"),
            ("verify_receipt", "rejected.app-receipt.signature", "app-receipt",
             ("refused-final", 400), "WARNING"),
        ):
            with self.subTest(status=status), self.assertLogs("receipts", logs) as logged:
                self.assertEqual(self.post(self.receipt(call, status, kind)), wanted)
                self.assertIn(status, " ".join(logged.output))
        for body in ("{", "{}", "[]", '{"receipt":5}', None):
            with self.subTest(body=body):
                event = {"requestContext": {"authorizer": {"claims": {"sub": "u"}}}, "body": body}
                self.assertEqual(self.example.handler(event, None)["statusCode"], 400)

    def test_both_places_of_the_claims(self):
        text = json.dumps({"receipt": self.receipt("verify_receipt", "ok", "transaction-receipt")})
        self.check_claims(self.example.handler, text, 200, {"answer": "deferred"})

    def test_a_ledger_that_is_away_defers(self):
        text = self.receipt("verify_receipt", "ok", "transaction-receipt")
        self.example.ledger.path = str(self.folder / "no" / "such" / "ledger.db")
        with self.assertLogs("receipts", "ERROR"):
            self.assertEqual(self.post(text), ("deferred", 503))


class AttestEndpointTest(ExampleCase):
    """attest_endpoint.py, compared with the order in docs/app-attest.md."""

    CHALLENGE = b"open sesame now!"  # the client data of the cases, in hex

    def setUp(self):
        super().setUp()
        configuration = dict(table().configuration("standard"))
        configuration["attest"] = {
            **configuration["attest"],
            "challenge": {"mode": "json", "path": "proof.challenge", "encoding": "hex"},
        }
        self.example = load("attest_endpoint")
        self.database = str(self.folder / "keys.db")
        self.verifier = assay.Verifier(configuration)
        self.keys = self.example.Keys(self.verifier, self.database)
        self.attested = self.case("verify_attestation")
        found = self.verifier.verify_attestation(
            octets_of(self.attested, "attestation"), key_id=octets_of(self.attested, "keyId"),
            client_data=octets_of(self.attested, "clientData"), now=self.attested["now"])
        self.key_id, self.public_key = found.key_id, found.public_key
        self.asserted = self.case("verify_assertion", publicKey=found.public_key)

    def case(self, call, **octets):
        for case in table().cases:
            if (case["call"], case["expect"]["status"]) != (call, "ok"):
                continue
            if (case["verifier"], case["clientDataKind"]) != ("standard", 1):
                continue
            if self.CHALLENGE.hex().encode() not in octets_of(case, "clientData"):
                continue
            if all(octets_of(case, name) == value for name, value in octets.items()):
                return case
        raise AssertionError(f"the case table has no {call} for the example")

    def challenge(self, purpose, account="u-17", ends_ms=None):
        """Store the challenge of the cases as if it had just been issued."""
        ends_ms = self.attested["now"] + 1000 if ends_ms is None else ends_ms
        self.sql(self.database, ("delete from challenge",), (
            "insert into challenge values (?,?,?,?,null)",
            (hashlib.sha256(self.CHALLENGE).hexdigest(), account, purpose, ends_ms)))

    def post(self, path, body, account="u-17", **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        environ = {
            "REQUEST_METHOD": "POST", "PATH_INFO": path, "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": io.BytesIO(body), **headers,
            **({"REMOTE_USER": account} if account else {}),
        }
        status, answer = self.example.respond(self.keys, environ, self.attested["now"])
        return status, answer.get("answer", "OK")

    def register(self, account="u-17"):
        def text(name):
            return base64.b64encode(octets_of(self.attested, name)).decode()

        return self.post("/key", {
            "keyId": self.key_id, "attestation": text("attestation"),
            "clientData": text("clientData")}, account)

    def request(self, account="u-17", body=None, key_id=None):
        return self.post(
            "/request", octets_of(self.asserted, "clientData") if body is None else body,
            account, HTTP_X_KEY_ID=key_id or self.key_id,
            HTTP_X_ASSERTION=base64.b64encode(octets_of(self.asserted, "assertion")).decode())

    def refused(self, wanted, call, said):
        with self.assertLogs("attest", "WARNING") as logged:
            self.assertEqual(call(), wanted)
        self.assertIn(said, logged.output[0])

    def counter(self):
        return self.sql(self.database, ("select counter from attest_key",))

    def test_key_id_in_every_form(self):
        octets = base64.b64decode(self.key_id)
        url = base64.urlsafe_b64encode(octets).decode().rstrip("=")
        for form in (self.key_id, url, octets.hex(), octets.hex().upper()):
            with self.subTest(form=form):
                self.sql(self.database, ("delete from attest_key",))
                self.challenge("key")
                self.assertEqual(self.register(), (200, "registered"))
                self.challenge("request")
                self.assertEqual(self.request(key_id=form), (200, "done"))
                self.challenge("request")  # one key, one counter, whatever form the key id has
                self.refused(
                    (409, "sign-again"), lambda: self.request(key_id=url), "counter")
        self.refused(
            (400, "refused"), lambda: self.request(key_id=self.key_id + "x"), "key-id")

    def test_register_and_request(self):
        self.challenge("key")
        self.assertEqual(self.register(), (200, "registered"))
        self.assertEqual(self.register(), (200, "registered"), "the same request once more")
        self.assertEqual(self.counter(), [(0,)])
        self.challenge("request")
        self.assertEqual(self.request(), (200, "done"))
        self.assertGreater(self.counter()[0][0], 0)
        self.challenge("request")
        self.refused((409, "sign-again"), self.request, "rejected.assertion.counter")

    def test_challenges(self):
        self.refused((409, "sign-again"), self.register, "challenge")
        self.challenge("request")
        self.refused((409, "sign-again"), self.register, "challenge")
        self.challenge("key", account="u-18")
        self.refused((409, "sign-again"), self.register, "challenge")
        self.challenge("key", ends_ms=self.attested["now"])
        self.refused((409, "sign-again"), self.register, "challenge")
        self.assertEqual(self.counter(), [])
        self.challenge("key")
        self.register()
        self.challenge("key")
        self.refused((409, "sign-again"), self.request, "challenge")
        self.assertEqual(self.counter(), [(0,)], "nothing of a refused request stays")

    def test_another_account(self):
        self.challenge("key")
        self.register()
        self.challenge("key", account="u-18")
        self.refused((403, "refused"), lambda: self.register("u-18"), "another account")
        self.challenge("request", account="u-18")
        self.refused((401, "attest-again"), lambda: self.request("u-18"), "no such key")

    def test_a_retired_key(self):
        self.challenge("key")
        self.register()
        self.sql(self.database, ("update attest_key set state = 'retired'",))
        self.refused((401, "attest-again"), self.register, "retired")
        self.refused((401, "attest-again"), self.request, "no such key")

    def test_an_altered_body(self):
        self.challenge("key")
        self.register()
        self.challenge("request")
        body = octets_of(self.asserted, "clientData") + b" "
        self.refused((401, "refused"), lambda: self.request(body=body),
                     "rejected.assertion.signature")

    def test_simultaneous_requests_pass_once(self):
        self.challenge("key")
        self.register()
        self.challenge("request")
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.request()))
                   for _ in range(8)]
        logging_level = self.example.log.level
        self.example.log.setLevel("CRITICAL")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.example.log.setLevel(logging_level)
        self.assertEqual(sorted(answers), [(200, "done")] + [(409, "sign-again")] * 7)

    def test_without_an_assertion(self):
        for headers, wanted in (
            ({"HTTP_X_ATTEST": "unsupported", "HTTP_X_ATTEST_ERROR": "1"}, (429, "limited")),
            ({"HTTP_X_ATTEST": "temporarily-unavailable"}, (429, "limited")),
            ({}, (429, "limited")), ({"HTTP_X_ATTEST": "verified"}, (400, "refused")),
            ({"HTTP_X_ATTEST_ERROR": "x"}, (400, "refused")),
        ):
            with self.subTest(headers=headers):
                self.assertEqual(self.post("/request", b"{}", **headers), wanted)
        self.challenge("key")
        self.register()
        self.assertEqual(self.post("/request", b"{}", HTTP_X_ATTEST="unsupported"),
                         (401, "step-up"), "an account with a key cannot go without")

    def test_http(self):
        for body in (b"{", b"{}", b"[]", b'{"keyId":5}'):
            with self.subTest(body=body):
                self.assertEqual(self.post("/key", body), (400, "refused"))
        self.refused((401, "refused"), lambda: self.post("/key", {}, account=None), "nobody")
        self.refused((404, "refused"), lambda: self.post("/other", {}), "path")
        self.refused((413, "refused"), lambda: self.post("/key", b" " * 70_000), "long")
        seen = []
        environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/challenge", "REMOTE_USER": "u",
                   "CONTENT_LENGTH": "17", "wsgi.input": io.BytesIO(b'{"purpose":"key"}')}
        text = b"".join(self.example.make_application(self.keys)(
            environ, lambda status, headers: seen.append((status, dict(headers)))))
        self.assertEqual(seen[0][0], "200 OK")
        self.assertEqual(seen[0][1]["content-length"], str(len(text)))
        challenge = base64.urlsafe_b64decode(json.loads(text)["challenge"] + "=")
        self.assertEqual(len(challenge), 32)
        self.assertEqual(
            self.sql(self.database, ("select sha256, account, purpose from challenge",)),
            [(hashlib.sha256(challenge).hexdigest(), "u", "key")])


if __name__ == "__main__":
    unittest.main()
