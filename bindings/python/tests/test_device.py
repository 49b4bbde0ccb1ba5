"""DeviceCheck and risk: the calls, and their typed results."""
import base64
import unittest

import assay
from case_table import table

BITS = {
    "bit0": {"name": "promo-used", "resetAfterMonths": 12},
    "bit1": {"name": "abuse", "resetAfterMonths": 24},
}
NOW = 1_793_000_000_000  # October 2026
BODY = '{"bit0":true,"bit1":false,"last_update_time":"2026-05"}'


def risk_verifier(**blocks):
    return assay.Verifier({
        "apps": [{"bundleId": "com.example.app", "teamId": "ABCDE12345"}],
        "environments": ["Sandbox"], **blocks,
    })


class DeviceCheckTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        configuration = next(
            found for case in table().cases if case["call"] == "exchange"
            for found in [table().configuration(case["verifier"])] if "deviceCheck" in found)
        block = {**configuration["deviceCheck"], "bits": BITS}
        cls.verifier = assay.Verifier({**configuration, "deviceCheck": block})

    def read(self, *arguments, **more):
        return self.verifier.read_device_check_response(*arguments, now=NOW, **more)

    def test_answers(self):
        for form in (BODY, BODY.encode(), bytearray(BODY.encode())):
            found = self.read("query", 200, form)
            self.assertEqual((found.outcome, found.month, found.age_months, found.offer),
                             ("bits", "2026-05", 5, None))
            self.assertEqual((found.bits.bit0.name, found.bits.bit0.set, found.bits.bit1.set),
                             ("promo-used", True, False))
        self.assertEqual(self.read("update", 200, None).outcome, "updated")
        self.assertEqual(self.read("validate", 200, b"").outcome, "valid")
        self.assertEqual(self.read("query", 200, BODY.replace("2026", "2025"), offer=True).offer,
                         "free")

    def test_refusals_have_facts(self):
        for arguments, offer, error, outcome in (
            (("query", 200, BODY), True, assay.RejectedError, "bits"),
            (("query", 0, None), False, assay.UnavailableError, "unavailable"),
            (("query", 200, b"\xff"), False, assay.UnavailableError, "unavailable"),
            (("query", 400, "Bad Device Token"), False, assay.RejectedError, "token-refused"),
        ):
            with self.subTest(arguments=arguments), self.assertRaises(error) as caught:
                self.read(*arguments, offer=offer)
            self.assertEqual(caught.exception.document.facts.outcome, outcome)

    def test_wrong_arguments(self):
        for call, status in (("ask", 200), ("query", 600), ("query", -1)):
            with self.subTest(call=call, status=status), self.assertRaises(assay.MisuseError):
                self.read(call, status, "")
        with self.assertRaises(assay.MisuseError):
            self.read("update", 200, "", offer=True)
        for status, body in (("200", ""), (True, ""), (None, ""), (200, {})):
            with self.subTest(status=status, body=body), self.assertRaises(TypeError):
                self.read("query", status, body)
        with self.assertRaises(assay.ConfigError):
            risk_verifier().read_device_check_response("query", 200, "")

    def test_texts_of_the_client(self):
        """Check a device token and a key id in the library's form."""
        octets = bytes((251 - 7 * place) % 256 for place in range(32))
        normal = base64.b64encode(octets).decode()
        url = base64.urlsafe_b64encode(octets).decode().rstrip("=")
        self.assertNotEqual(normal[:43], url)
        for call, forms, wrong, family in (
            (self.verifier.normalize_device_token, (octets, bytearray(octets), normal),
             ("", b"", "AAE", "no base64", "\ud800"), assay.MalformedError),
            (self.verifier.normalize_device_token, (), (bytes(8193),), assay.TooLargeError),
            (self.verifier.normalize_key_id,
             (normal, url, octets.hex(), octets.hex().upper(), url.encode()),
             ("", normal[:-1], url + "=", normal + "\n", octets.hex()[:32], "\ud800"),
             assay.MalformedError),
        ):
            for form in forms:
                with self.subTest(call=call.__name__, form=form):
                    self.assertEqual(call(form), normal)
            for each in wrong:
                with self.subTest(call=call.__name__, wrong=each), self.assertRaises(family):
                    call(each)
            for each in (None, 5):
                with self.subTest(call=call.__name__, wrong=each), self.assertRaises(TypeError):
                    call(each)

    def test_a_reading_is_an_observation(self):
        found = self.read("query", 200, BODY)
        asked = {"request": "promo", "attestation": "verified", "deviceCheck": found}
        risk = self.verifier.assess_risk(asked, now=NOW)
        self.assertEqual(risk.verdict, "deny")
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
                self.assertIs(risk.as_dict()["allowed"], risk.allowed)
                self.assertEqual(risk.http_status, http)
                self.assertEqual(risk.reasons, tuple(rule.id for rule in risk.rules))
                self.assertEqual(
                    risk.status, "ok" if risk.allowed else f"rejected.risk.{verdict}")

    def test_malformed_observations_raise(self):
        for wrong, error in (({"request": "paid", "rats": {}}, assay.MalformedError),
                             ({"request": object()}, TypeError),
                             ({"rates": {"unsupportedNow": float("nan")}}, ValueError)):
            with self.subTest(wrong=wrong), self.assertRaises(error) as caught:
                risk_verifier().assess_risk(wrong)
            if error is assay.MalformedError:
                self.assertIsNone(caught.exception.document.facts)
                self.assertTrue(caught.exception.at)


if __name__ == "__main__":
    unittest.main()
