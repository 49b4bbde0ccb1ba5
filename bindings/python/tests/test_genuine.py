"""Evidence that Apple signed, if ../shared/vectors exists beside the repository: its bytes reach
the library, and its content comes back typed. The Swift tests check the expected result of each
case and of its mutations (Tests/AssayTests/Genuine*Tests.swift).

Nothing of it is copied here; without the folder the tests are skipped with a message.
"""
import base64
import json
import sys
import unittest

import assay
from case_table import ROOT
from members import check_members

FOLDER = ROOT.parent / "shared" / "vectors"
# Facts of the manifests whose property has another name than theirs without `_ms`.
PROPERTIES = {"receipt_type": "type", "status": "apple_status"}
# Facts of the manifests that no property repeats, and nested ones.
OTHER_FACTS = {"leaf_generation", "nested", "signing_date", "leaf_serial"}


def decoded(text):
    return None if text is None else base64.b64decode(text)


def configuration(config):
    """Return the verifier's configuration for a manifest's case; Apple's roots are built in."""
    bundles = config.get("bundle_ids") or [config["bundle_id"]]
    team = {"teamId": config["team_id"]} if "team_id" in config else {}
    named = "Production" if config.get("environment") == "production" else "Sandbox"
    return {
        "apps": [{"bundleId": bundle, "appAppleId": config.get("app_apple_id") or 1, **team}
                 for bundle in bundles],
        "environments": config.get("environments") or [named],
        "products": {name: {"type": "consumable"} for name in config.get("product_ids", ())},
        **({"attest": {"time": "stored"}} if team else {}),
    }


class GenuineTest(unittest.TestCase):
    def genuine(self, folder, *kinds):
        """Yield verifier, evidence and case of accepted evidence."""
        manifest = FOLDER / folder / "manifest.json"
        if not manifest.exists():
            print(f"SKIPPED {self.id()}: {manifest} does not exist", file=sys.stderr)
            self.skipTest(f"{manifest} does not exist")
        found = [case for case in json.loads(manifest.read_text())
                 if case["genuine"] and case["expect"]["families"] == ["ok"]
                 and case["kind"] in kinds]
        self.assertLessEqual(set(kinds), {case["kind"] for case in found})
        for case in found:
            yield (assay.Verifier(configuration(case["config"])),
                   (FOLDER / folder / case["file"]).read_bytes(), case)

    def check(self, found, wanted):
        check_members(self, found, type(found).__name__)
        for name, value in wanted.items():
            plain = name.removesuffix("_ms")
            if plain == "purchases":
                self.assertEqual(len(found.purchases), value)
            elif plain == "purchase_date":  # a manifest has whole seconds here
                self.assertIn(value, (found.purchase_date, found.purchase_date // 1000 * 1000))
            elif plain not in OTHER_FACTS:
                # A fact that is null in the manifest may have no property at all.
                absent = (None,) if value is None else ()
                name = PROPERTIES.get(plain, plain)
                self.assertEqual(getattr(found, name, *absent), value, name)

    def test_jws(self):
        kinds = "transaction", "renewal", "notification"
        for verifier, text, case in self.genuine("jws", *kinds):
            with self.subTest(case=case["name"]):
                kind = {"renewal": "renewal-info"}.get(case["kind"], case["kind"])
                found = verifier.verify(kind, text.decode(), case["config"]["now_ms"])
                found.raise_for_status()
                self.check(found.facts, case["facts"])

    def test_receipts(self):
        kinds = "transaction-receipt", "app-receipt"
        for verifier, octets, case in self.genuine("receipts", *kinds):
            device = case["config"].get("device_guid_hex")
            with self.subTest(case=case["name"]):
                found = verifier.verify(case["kind"], octets, case["config"]["now_ms"],
                                        device and bytes.fromhex(device))
                found.raise_for_status()
                self.check(found.facts, case["facts"])
                if device:
                    self.assertTrue(found.facts.device_bound)

    def test_app_attest(self):
        kinds = "attestation", "assertion", "app-attest-receipt"
        for verifier, octets, case in self.genuine("attest", *kinds):
            with self.subTest(case=case["name"]):
                self.check_app_attest(verifier, octets, case)

    def check_app_attest(self, verifier, octets, case):
        config, wanted = case["config"], case["facts"]
        now, key = config["now_ms"], config.get("public_key_x963_b64")
        named = {"client_data": decoded(config.get("client_data_b64")), "now": now}
        if named["client_data"] is None:
            named["client_data_hash"] = decoded(config.get("client_data_hash_b64"))
        if case["kind"] == "attestation":
            found = verifier.verify_attestation(octets, key_id=config["key_id_b64"], **named)
            self.assertEqual(found.public_key, decoded(wanted["public_key_x963_b64"]))
            self.assertEqual(found.environment, wanted["environment"])
        elif case["kind"] == "assertion":
            found = verifier.verify_assertion(octets, public_key=key, counter=0, **named)
            self.assertEqual(found.counter, wanted["counter"])
        else:
            found = verifier.verify_attest_receipt(octets, key, now)
            self.assertEqual((found.type, found.bound), (wanted["type"], True))
        check_members(self, found, type(found).__name__)


if __name__ == "__main__":
    unittest.main()
