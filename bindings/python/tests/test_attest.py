"""App Attest, DeviceCheck and risk: typed, and as the document says."""
import base64
import pickle
import unittest

import assay
from assay import attest, facts
from case_table import client_data_of, octets_of, subject_of, table
from members import check_members, descriptors


def cases(call, status=None, **members):
    """The cases of a call, of one status or the family of one, with these members."""
    for case in table().cases:
        expected = case["expect"]["status"]
        if case["call"] != call or any(case.get(name) != members[name] for name in members):
            continue
        if status in (None, expected, expected.split(".")[0]):
            yield case


def first(call, status="ok", **members):
    for case in cases(call, status, **members):
        return case
    raise AssertionError(f"the case table has no {status} {call} with {members}")


def verifier_of(case):
    return table().verifier(case["verifier"])


def verify_attestation(case, **changes):
    arguments = {
        "key_id": octets_of(case, "keyId"), "now": case["now"], **client_data_of(case)
    }
    octets = changes.pop("attestation", octets_of(case, "attestation"))
    return verifier_of(case).verify_attestation(octets, **{**arguments, **changes})


def verify_assertion(case, **changes):
    arguments = {
        "public_key": octets_of(case, "publicKey"), "counter": case["counter"],
        "now": case["now"], **client_data_of(case),
    }
    octets = changes.pop("assertion", octets_of(case, "assertion"))
    return verifier_of(case).verify_assertion(octets, **{**arguments, **changes})


def risk_verifier(**blocks):
    return assay.Verifier({
        "apps": [{"bundleId": "com.example.app", "teamId": "ABCDE12345"}],
        "environments": ["Sandbox"], **blocks,
    })


class PropertiesTest(unittest.TestCase):
    """What the library writes has a property, and the property gives just that."""

    def check_all(self, call, expected, verify, **members):
        seen = 0
        for case in cases(call, "ok", **members):
            with self.subTest(case=case["name"]):
                document = verify(case).document
                fresh = {name: getattr(document.facts, name) for name in descriptors(expected)}
                self.assertIs(type(document.facts), expected)
                check_members(self, document.facts, expected.__name__)
                for name, value in fresh.items():
                    self.assertEqual(getattr(document.facts, name), value, name)
                seen += 1
        self.assertGreater(seen, 0)

    def test_attestations(self):
        self.check_all("verify_attestation", assay.Attestation, verify_attestation)

    def test_assertions(self):
        self.check_all("verify_assertion", assay.Assertion, verify_assertion)

    def test_receipts(self):
        self.check_all(
            "verify_receipt", assay.AttestReceipt,
            lambda case: verifier_of(case).verify_attest_receipt(
                octets_of(case, "receipt"), subject_of(case), case["now"]),
            kind="attest-receipt")

    def test_exchanges(self):
        """Risk and DeviceCheck have facts whatever the verdict."""
        seen = set()
        for case in cases("exchange"):
            with self.subTest(case=case["name"]):
                if case["expect"]["status"].startswith(("misuse", "internal")):
                    continue
                if case["evidence"]:  # which have facts of their own
                    continue
                document = verifier_of(case).exchange(
                    octets_of(case, "request"), now=case["now"]).document
                found = document.facts
                if found is not None:
                    check_members(self, found, type(found).__name__)
                    seen.add((type(found), document.ok))
        self.assertEqual(
            seen, {(kind, ok) for kind in (assay.Risk, assay.DeviceCheck)
                   for ok in (True, False)})


class AttestationTest(unittest.TestCase):
    def setUp(self):
        self.case = first("verify_attestation")
        self.found = verify_attestation(self.case)

    def test_facts(self):
        values = self.found.document.json["attestation"]
        self.assertEqual(len(self.found.public_key), 65)
        self.assertEqual(self.found.public_key[:1], b"\x04")
        self.assertEqual(self.found.public_key_spki[-65:], self.found.public_key)
        self.assertEqual(
            base64.b64encode(self.found.public_key).decode(), values["publicKey"]["x963"])
        self.assertEqual(self.found.counter, 0)
        self.assertEqual(self.found.key_id, values["keyId"])
        self.assertEqual(self.found.payload, values)
        self.assertEqual(self.found.receipt.type, "ATTEST")
        self.assertIs(self.found.receipt.bound, True)
        self.assertEqual(self.found.receipt.key_id, self.found.key_id)
        self.assertEqual(
            self.found.receipt.created_at.timestamp() * 1000, self.found.receipt.created_ms)
        self.assertIn(self.found.app_id, repr(self.found))
        self.assertEqual(self.found.as_dict()["receipt"]["type"], "ATTEST")
        with self.assertRaises(AttributeError):
            self.found.key_id = "other"
        with self.assertRaises(TypeError):
            pickle.dumps(self.found)

    def test_forms_of_the_object(self):
        octets = octets_of(self.case, "attestation")
        text = base64.b64encode(octets).decode()
        url = base64.urlsafe_b64encode(octets).decode().rstrip("=")
        for form in (octets, bytearray(octets), memoryview(octets), text, url):
            with self.subTest(form=type(form).__name__, begins=bytes(octets)[:0]):
                found = verify_attestation(self.case, attestation=form)
                self.assertEqual(found.key_id, self.found.key_id)

    def test_forms_of_the_key_id(self):
        octets = base64.b64decode(self.found.key_id)
        for form in (octets, self.found.key_id, octets.hex(),
                     base64.urlsafe_b64encode(octets).decode().rstrip("=")):
            with self.subTest(form=form):
                self.assertTrue(verify_attestation(self.case, key_id=form).document.ok)
        with self.assertRaises(assay.MalformedError) as caught:
            verify_attestation(self.case, key_id=self.found.key_id[:-2])
        self.assertEqual(caught.exception.status, "malformed.attest.key-id")
        with self.assertRaises(assay.RejectedError) as caught:
            verify_attestation(self.case, key_id=bytes(32))
        self.assertEqual(caught.exception.status, "rejected.attest.key-id")

    def test_text_that_is_no_base64_is_refused_by_the_library(self):
        for text in ("not base64!", "ä", "AAAAA", "\ud800", "AA=A"):
            with self.subTest(text=text), self.assertRaises(assay.MalformedError) as caught:
                verify_attestation(self.case, attestation=text)
            self.assertIsInstance(caught.exception.document, assay.Document)
        with self.assertRaises(assay.MalformedError) as caught:
            verify_attestation(self.case, attestation="")
        self.assertEqual(caught.exception.status, "malformed.attest.empty")

    def test_client_data(self):
        data = {"client_data": None, "client_data_hash": None}
        for wrong in ({}, {"client_data": b"x", "client_data_hash": bytes(32)}):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                verify_attestation(self.case, **{**data, **wrong})
        for wrong in ("00" * 32, 5, ["x"]):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                verify_attestation(self.case, **{**data, "client_data_hash": wrong})
        for length in (0, 15, 65):
            with self.subTest(length=length), self.assertRaises(assay.MisuseError):
                verify_attestation(self.case, **{**data, "client_data_hash": bytes(length)})

    def test_a_mistake_is_explained_and_refused(self):
        """DIA-1: the hash passed as the data."""
        import hashlib

        case = first("verify_attestation", clientDataKind=1)
        digest = hashlib.sha256(octets_of(case, "clientData")).digest()
        with self.assertRaises(assay.RejectedError) as caught:
            verify_attestation(case, client_data=digest, client_data_hash=None)
        self.assertEqual(caught.exception.status, "rejected.attest.nonce")
        self.assertTrue(caught.exception.hint.startswith("data-is-hash"))
        self.assertTrue(verify_attestation(
            case, client_data=None, client_data_hash=digest).document.ok)

    def test_wrong_arguments(self):
        for wrong in (None, 5, ["a"]):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                verify_attestation(self.case, attestation=wrong)
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                verify_attestation(self.case, key_id=wrong)
        with self.assertRaises(assay.MisuseError) as caught:
            verify_attestation(self.case, now=5)
        self.assertEqual(caught.exception.status, "misuse.call.now")
        closed = assay.Verifier(table().configuration(self.case["verifier"]))
        closed.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            closed.verify_attestation(b"x", key_id=b"x", client_data=b"x")

    def test_it_is_no_evidence_of_a_purchase(self):
        with self.assertRaises(assay.MisuseError) as caught:
            verifier_of(self.case).decide(self.found, now=self.case["now"])
        self.assertEqual(caught.exception.status, "misuse.decide.evidence")

    def test_without_an_app_id(self):
        verifier = assay.Verifier(
            {"apps": [{"bundleId": "com.example.app"}], "environments": ["Sandbox"]})
        with self.assertRaises(assay.ConfigError) as caught:
            verifier.verify_attestation(b"x", key_id=bytes(32), client_data=b"x")
        self.assertEqual(caught.exception.status, "config.attest.app-ids")


class AssertionTest(unittest.TestCase):
    def setUp(self):
        self.case = first("verify_assertion")
        self.found = verify_assertion(self.case)

    def test_facts(self):
        values = self.found.document.json["assertion"]
        self.assertEqual(self.found.counter, values["counter"])
        self.assertGreater(self.found.counter, self.found.previous_counter)
        self.assertEqual(self.found.previous_counter, self.case["counter"])
        self.assertEqual(self.found.payload, values)
        with self.assertRaises(TypeError):
            pickle.dumps(self.found)

    def test_replay_is_refused(self):
        for counter in (self.found.counter, self.found.counter + 1, 2**32 - 1):
            with self.subTest(counter=counter):
                with self.assertRaises(assay.RejectedError) as caught:
                    verify_assertion(self.case, counter=counter)
                self.assertEqual(caught.exception.status, "rejected.assertion.counter")
                self.assertEqual(caught.exception.http_status, 409)

    def test_counters_that_ctypes_would_cut(self):
        for wrong in (-1, 2**32, 2**64 + self.case["counter"]):
            with self.subTest(wrong=wrong), self.assertRaises(ValueError):
                verify_assertion(self.case, counter=wrong)
        for wrong in (None, "1", 1.0, True):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                verify_assertion(self.case, counter=wrong)

    def test_forms_of_the_key(self):
        octets = octets_of(self.case, "publicKey")
        for form in (octets, bytearray(octets), base64.b64encode(octets).decode()):
            with self.subTest(form=type(form).__name__):
                self.assertTrue(verify_assertion(self.case, public_key=form).document.ok)
        for wrong in (octets[:-1], b"", "zz", b"\x04" + bytes(64)):
            with self.subTest(wrong=wrong), self.assertRaises(assay.MisuseError):
                verify_assertion(self.case, public_key=wrong)
        for wrong in (None, 5):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                verify_assertion(self.case, public_key=wrong)

    def test_text_is_base64(self):
        text = base64.b64encode(octets_of(self.case, "assertion")).decode()
        self.assertEqual(
            verify_assertion(self.case, assertion=text).counter, self.found.counter)


# A key that is never attested: the base point of P-256.
GENERATOR = bytes.fromhex(
    "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")


class ReceiptTest(unittest.TestCase):
    """The receipt of an attestation, stored and verified again."""

    def setUp(self):
        self.case = first("verify_attestation")
        self.attestation = verify_attestation(self.case)
        self.raw = self.attestation.receipt.raw

    def verify(self, receipt, key=None):
        verifier = verifier_of(self.case)
        return verifier.verify_attest_receipt(receipt, key, self.case["now"])

    def test_stored_and_verified_again(self):
        text = base64.b64encode(self.raw).decode()
        for form in (self.raw, bytearray(self.raw), text):
            with self.subTest(form=type(form).__name__):
                found = self.verify(form, self.attestation.public_key)
                self.assertIs(found.bound, True)
                self.assertEqual(found.key_id, self.attestation.key_id)
        self.assertIs(self.verify(self.raw, self.attestation.public_key_spki).bound, True)
        self.assertIs(self.verify(self.raw).bound, False)
        document = verifier_of(self.case).verify(
            "attest-receipt", self.raw, self.case["now"], self.attestation.public_key)
        self.assertIs(type(document.facts), assay.AttestReceipt)
        self.assertIs(document.facts.bound, True)

    def test_another_key(self):
        with self.assertRaises(assay.RejectedError) as caught:
            self.verify(self.raw, GENERATOR)
        self.assertEqual(caught.exception.status, "rejected.attest-receipt.key")
        with self.assertRaises(assay.MisuseError):
            self.verify(self.raw, b"\x04")
        with self.assertRaises(TypeError):
            self.verify(self.raw, 5)


BITS = {
    "bit0": {"name": "promo-used", "resetAfterMonths": 12},
    "bit1": {"name": "abuse", "resetAfterMonths": 24},
}
NOW = 1_793_000_000_000  # October 2026


class DeviceCheckTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for case in cases("exchange"):
            configuration = table().configuration(case["verifier"])
            if "deviceCheck" in configuration:
                block = {**configuration["deviceCheck"], "bits": BITS}
                cls.verifier = assay.Verifier({**configuration, "deviceCheck": block})
                return
        raise AssertionError("the table has no verifier with a DeviceCheck key")

    def read(self, *arguments, **more):
        return self.verifier.read_device_check(*arguments, now=NOW, **more)

    def test_bits(self):
        body = '{"bit0":true,"bit1":false,"last_update_time":"2026-05"}'
        for form in (body, body.encode(), bytearray(body.encode())):
            found = self.read("query", 200, form)
            self.assertEqual((found.outcome, found.month, found.age_months),
                             ("bits", "2026-05", 5))
            self.assertEqual((found.bits.bit0.name, found.bits.bit0.set), ("promo-used", True))
            self.assertIs(found.bits.bit1.set, False)
            self.assertIsNone(found.offer)
        self.assertEqual(self.read("query", 200, "Failed to find bit state").outcome, "no-bits")
        self.assertEqual(self.read("update", 200, None).outcome, "updated")
        self.assertEqual(self.read("validate", 200, b"").outcome, "valid")

    def test_the_offer(self):
        with self.assertRaises(assay.RejectedError) as caught:
            self.read("query", 200, '{"bit0":true,"bit1":false,"last_update_time":"2026-05"}',
                      offer=True)
        self.assertEqual(caught.exception.status, "rejected.promo.device-used")
        self.assertEqual(caught.exception.document.facts.offer, "device-used")
        aged = self.read(
            "query", 200, '{"bit0":true,"bit1":false,"last_update_time":"2025-01"}', offer=True)
        self.assertEqual((aged.offer, aged.bits.bit0.aged), ("free", True))
        with self.assertRaises(assay.MisuseError):
            self.read("update", 200, "", offer=True)

    def test_an_answer_that_says_nothing(self):
        for status, body, outcome, fault in (
            (0, None, "unavailable", "transient"), (503, "x", "unavailable", "transient"),
            (200, "{}", "unavailable", "unknown"), (200, b"\xff", "unavailable", "unknown"),
        ):
            with self.subTest(status=status, body=body):
                with self.assertRaises(assay.UnavailableError) as caught:
                    self.read("query", status, body)
                found = caught.exception.document.facts
                self.assertEqual((found.outcome, found.fault), (outcome, fault))
        with self.assertRaises(assay.RejectedError) as caught:
            self.read("query", 400, "Bad Device Token")
        self.assertEqual(caught.exception.status, "rejected.devicecheck.token")
        self.assertEqual(caught.exception.document.facts.outcome, "token-refused")

    def test_wrong_arguments(self):
        for call, status in (("ask", 200), ("query", 600), ("query", -1)):
            with self.subTest(call=call, status=status), self.assertRaises(assay.MisuseError):
                self.read(call, status, "")
        for status in ("200", True, None):
            with self.subTest(status=status), self.assertRaises(TypeError):
                self.read("query", status, "")
        with self.assertRaises(TypeError):
            self.read("query", 200, {})
        with self.assertRaises(assay.ConfigError):
            risk_verifier().read_device_check("query", 200, "")

    def test_token(self):
        self.assertEqual(self.verifier.check_device_token(b"\x00\x01\x02"), "AAEC")
        self.assertEqual(self.verifier.check_device_token("AAEC"), "AAEC")
        self.assertEqual(self.verifier.check_device_token(bytearray(b"\x00\x01\x02")), "AAEC")
        for wrong in ("", b"", "AAE", "no base64", "\ud800"):
            with self.subTest(wrong=wrong), self.assertRaises(assay.MalformedError):
                self.verifier.check_device_token(wrong)
        with self.assertRaises(assay.TooLargeError):
            self.verifier.check_device_token(bytes(8193))
        for wrong in (None, 5):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                self.verifier.check_device_token(wrong)

    def test_key_id(self):
        octets = bytes((251 - 7 * place) % 256 for place in range(32))
        normal = base64.b64encode(octets).decode()
        url = base64.urlsafe_b64encode(octets).decode().rstrip("=")
        self.assertNotEqual(normal[:43], url)
        for form in (normal, url, octets.hex(), octets.hex().upper(), url.encode()):
            with self.subTest(form=form):
                self.assertEqual(self.verifier.normal_key_id(form), normal)
        for wrong in ("", normal[:-1], url + "=", normal + "\n", octets.hex()[:32], "\ud800"):
            with self.subTest(wrong=wrong), self.assertRaises(assay.MalformedError) as raised:
                self.verifier.normal_key_id(wrong)
            self.assertEqual(raised.exception.status, "malformed.attest.key-id")
        for wrong in (None, 5):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                self.verifier.normal_key_id(wrong)

    def test_a_reading_is_an_observation(self):
        found = self.read(
            "query", 200, '{"bit0":true,"bit1":false,"last_update_time":"2026-05"}')
        asked = {"request": "promo", "attestation": "verified", "deviceCheck": found}
        risk = self.verifier.assess_risk(asked, now=NOW)
        self.assertEqual(risk.verdict, "deny")
        self.assertIn("RSK-19", risk.reasons)
        again = self.verifier.assess_risk({**asked, "deviceCheck": found.payload}, now=NOW)
        self.assertEqual(again.payload, risk.payload)


class RiskTest(unittest.TestCase):
    def test_verdicts_never_raise(self):
        verifier = risk_verifier()
        for observations, verdict, http in (
            ({"request": "paid", "attestation": "verified"}, "allow", 200),
            ({"request": "free", "attestation": "unsupported", "platform": "macos"},
             "limited", 429),
            ({"request": "read", "attestation": "unsupported", "platform": "ios",
              "osMajor": 26, "history": {"deviceHadKey": True}}, "step-up", 401),
            ({"request": "read", "attestation": "refused"}, "deny", 403),
        ):
            with self.subTest(verdict=verdict):
                risk = verifier.assess_risk(observations)
                self.assertEqual(risk.verdict, verdict)
                self.assertEqual(risk.allowed, verdict == "allow")
                self.assertEqual(bool(risk.document.ok), risk.allowed)
                self.assertIs(risk.as_dict()["allowed"], risk.allowed)
                self.assertEqual(risk.http_status, http)
                self.assertEqual(risk.reasons, tuple(rule.id for rule in risk.rules))
                self.assertEqual(risk.allowance is None, verdict != "limited")
                self.assertEqual(
                    risk.status, "ok" if risk.allowed else f"rejected.risk.{verdict}")
                self.assertIs(type(risk.document.facts), assay.Risk)

    def test_the_client_error(self):
        risk = risk_verifier().assess_risk(
            {"request": "free", "attestation": "temporarily-unavailable", "errorCode": 4})
        self.assertEqual((risk.client.code, risk.client.name), (4, "serverUnavailable"))
        self.assertTrue(risk.client.text and risk.client.action and risk.client.app)
        self.assertGreater(risk.retry_after_ms, 0)

    def test_record_mode(self):
        risk = risk_verifier(risk={"mode": "record"}).assess_risk(
            {"request": "paid", "attestation": "refused"})
        self.assertTrue(risk.allowed)
        self.assertEqual((risk.verdict, risk.would), ("allow", "deny"))

    def test_malformed_observations_raise(self):
        for wrong, place in (
            ({"request": "paid", "attestation": "unsuported"}, "observations.attestation"),
            ({"request": "paid", "attestation": "verified", "rats": {}}, "observations.rats"),
            ({"attestation": "verified"}, "observations.request"), ({}, None),
            ({"request": "paid", "attestation": True}, "observations.attestation"),
        ):
            with self.subTest(wrong=wrong), self.assertRaises(assay.MalformedError) as caught:
                risk_verifier().assess_risk(wrong)
            self.assertEqual(caught.exception.status, "malformed.risk.input")
            self.assertIsNone(caught.exception.document.facts)
            if place:
                self.assertEqual(caught.exception.at, place)
        with self.assertRaises(TypeError):
            risk_verifier().assess_risk({"request": object()})
        with self.assertRaises(ValueError):
            risk_verifier().assess_risk({"rates": {"unsupportedNow": float("nan")}})


class ModuleTest(unittest.TestCase):
    def test_lazy_names(self):
        for name in ("Attestation", "Assertion", "AttestReceipt", "DeviceCheck", "Risk"):
            self.assertIs(getattr(assay, name), getattr(attest, name))
            self.assertTrue(issubclass(getattr(assay, name), facts.Facts))


if __name__ == "__main__":
    unittest.main()
