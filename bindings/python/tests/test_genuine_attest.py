"""App Attest objects of real devices, when ../shared/vectors lies beside the repository.

Nothing of it is copied here; without the folder the tests skip by name and say so.
"""
import base64
import json
import sys
import unittest

import assay
from case_table import ROOT
from members import check_members

FOLDER = ROOT.parent / "shared" / "vectors" / "attest"


def decoded(text):
    return None if text is None else base64.b64decode(text)


class GenuineAttestTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (FOLDER / "manifest.json").exists():
            print(f"SKIPPED GenuineAttestTest: {FOLDER} does not exist", file=sys.stderr)
            raise unittest.SkipTest(f"{FOLDER} does not exist")
        cls.cases = json.loads((FOLDER / "manifest.json").read_text())

    def genuine(self, kind):
        found = [case for case in self.cases if case["kind"] == kind and case["genuine"]]
        self.assertTrue(found, f"the manifest has no {kind}")
        return found

    def verifier(self, config, **attest):
        production = config.get("environment") == "production"
        return assay.Verifier({
            "apps": [{"bundleId": config["bundle_id"], "teamId": config["team_id"],
                      "appAppleId": 1}],
            "environments": ["Production" if production else "Sandbox"],
            **({"attest": attest} if attest else {}),
        })

    def octets(self, case):
        return (FOLDER / case["file"]).read_bytes()

    def client_data(self, config):
        data = decoded(config["client_data_b64"])
        if data is not None:
            return {"client_data": data}
        return {"client_data_hash": decoded(config["client_data_hash_b64"])}

    def attest(self, case, verifier=None, octets=None, **changes):
        config = case["config"]
        arguments = {"key_id": config["key_id_b64"], "now": config["now_ms"],
                     **self.client_data(config), **changes}
        return (verifier or self.verifier(config)).verify_attestation(
            octets or self.octets(case), **arguments)

    def signed(self, case, **changes):
        config = case["config"]
        arguments = {"public_key": config["public_key_x963_b64"], "counter": 0,
                     "now": config["now_ms"], **self.client_data(config), **changes}
        return self.verifier(config).verify_assertion(self.octets(case), **arguments)

    def test_attestations(self):
        for case in self.genuine("attestation"):
            with self.subTest(case=case["name"]):
                if case["expect"]["families"] != ["ok"]:
                    with self.assertRaises(assay.AssayError):
                        self.attest(case)
                    continue
                found, wanted = self.attest(case), case["facts"]
                self.assertEqual(found.environment, wanted["environment"])
                self.assertEqual(found.public_key, decoded(wanted["public_key_x963_b64"]))
                self.assertEqual(found.key_id, case["config"]["key_id_b64"])
                self.assertEqual(found.app_id, case["config"]["app_id"])
                self.assertEqual(found.flags, int(wanted["flags"], 16))
                self.assertEqual(found.receipt.type, wanted["receipt"]["type"])
                self.assertEqual(
                    found.bundle_version,
                    wanted.get("extensions", {}).get("apple_bundle_version_01"))
                check_members(self, found, "Attestation")

    def test_one_altered_byte_is_refused(self):
        """Anywhere but in the receipt, whose copy of Apple's root is not looked at."""
        for case in self.genuine("attestation"):
            if case["expect"]["families"] != ["ok"]:
                continue
            octets = bytearray(self.octets(case))
            verifier = self.verifier(case["config"])
            receipt = self.attest(case, verifier).receipt.raw
            start = octets.index(receipt)
            outside = [at for at in range(0, len(octets), 41)
                       if not start <= at < start + len(receipt)]
            for at in outside:
                altered = octets[:]
                altered[at] ^= 1
                with self.subTest(case=case["name"], at=at):
                    with self.assertRaises(assay.AssayError) as caught:
                        self.attest(case, verifier, altered)
                    self.assertNotIsInstance(
                        caught.exception, (assay.InternalError, assay.MisuseError))

    def test_development_is_refused_in_production(self):
        cases = [case for case in self.genuine("attestation")
                 if case["config"]["environment"] == "development"
                 and case["expect"]["families"] == ["ok"]]
        self.assertTrue(cases)
        for case in cases:
            verifier = self.verifier({**case["config"], "environment": "production"})
            with self.subTest(case=case["name"]):
                with self.assertRaises(assay.RejectedError) as caught:
                    self.attest(case, verifier)
                self.assertEqual(caught.exception.status, "rejected.attest.environment")
                self.assertEqual(caught.exception.http_status, 403)

    def test_assertions(self):
        for case in self.genuine("assertion"):
            with self.subTest(case=case["name"]):
                found = self.signed(case)
                self.assertEqual(found.counter, case["facts"]["counter"])
                check_members(self, found, "Assertion")
                with self.assertRaises(assay.RejectedError) as caught:
                    self.signed(case, counter=found.counter)
                self.assertEqual(caught.exception.status, "rejected.assertion.counter")

    def test_receipts(self):
        families = set()
        for case in self.genuine("app-attest-receipt"):
            config = case["config"]
            verifier = self.verifier(config, time="stored")
            key = config.get("public_key_x963_b64")
            with self.subTest(case=case["name"]):
                try:
                    found = verifier.verify_attest_receipt(
                        self.octets(case), key, config["now_ms"])
                except assay.AssayError as refusal:
                    family = refusal.status.split(".")[0]
                else:
                    family = "ok"
                    check_members(self, found, "AttestReceipt")
                    self.assertEqual(found.bound, key is not None)
                    self.assertEqual(found.risk is None, found.type == "ATTEST")
                self.assertIn(family, case["expect"]["families"])
                families.add(family)
        self.assertIn("ok", families)


if __name__ == "__main__":
    unittest.main()
