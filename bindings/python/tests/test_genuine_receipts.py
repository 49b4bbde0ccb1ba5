"""Receipts that Apple signed, when ../shared/vectors lies beside the repository.

Nothing of it is copied here; without the folder the tests skip by name and say so.
"""
import base64
import hashlib
import json
import sys
import unittest

import assay
from case_table import ROOT

FOLDER = ROOT.parent / "shared" / "vectors" / "receipts"
# Names of the manifest's facts -> properties.
PROPERTIES = {
    "version": "version",
    "bundle_id": "bundle_id",
    "product_id": "product_id",
    "transaction_id": "transaction_id",
    "environment": "environment",
    "receipt_type": "type",
    "application_version": "application_version",
    "creation_date_ms": "creation_date",
    "digest": "digest",
    "status": "apple_status",
    "style": "style",
}
KINDS = {
    "transaction-receipt": "transaction-receipt",
    "app-receipt": "app-receipt",
    "verify-receipt-response": "verify-receipt",
}
# Any number: the manifest has none, and no case holds a production app's.
APP_APPLE_ID = 1


def certificates(names):
    return [base64.b64encode((FOLDER / name).read_bytes()).decode() for name in names]


def configuration(config):
    """The verifier's configuration for one case of the manifest."""
    app = {"appAppleId": APP_APPLE_ID} if "Production" in config["environments"] else {}
    built = {
        "apps": [{"bundleId": bundle, **app} for bundle in config["bundle_ids"]],
        "environments": config["environments"],
        "products": {name: {"type": "consumable"} for name in config.get("product_ids", ())},
    }
    block = {}
    if config.get("roots"):
        block["anchors"] = certificates(config["roots"])
    if config.get("intermediates"):
        block["intermediates"] = certificates(config["intermediates"])
    if block:
        built["receipts"] = block
    if "pinned_certificate" in config:
        pinned = (FOLDER / config["pinned_certificate"]).read_bytes()
        built["storekit"] = {"xcodeCertificates": [hashlib.sha256(pinned).hexdigest()]}
    return built


class GenuineReceiptsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (FOLDER / "manifest.json").exists():
            print(f"SKIPPED GenuineReceiptsTest: {FOLDER} does not exist", file=sys.stderr)
            raise unittest.SkipTest(f"{FOLDER} does not exist")
        cls.cases = json.loads((FOLDER / "manifest.json").read_text())

    def blob(self, case):
        return (FOLDER / case["file"]).read_bytes()

    def document(self, case, subject=None, **changes):
        verifier = assay.Verifier({**configuration(case["config"]), **changes})
        return verifier.verify(
            KINDS[case["kind"]], self.blob(case), case["config"]["now_ms"], subject
        )

    def genuine(self):
        return [case for case in self.cases if case["genuine"]]

    def test_families_and_facts(self):
        self.assertGreater(len(self.cases), 20)
        for case in self.cases:
            with self.subTest(case=case["name"]):
                document = self.document(case)
                family = document.status.split(".")[0]
                allowed = set(case["expect"]["families"])
                if case["kind"] == "verify-receipt-response":
                    allowed |= {"unavailable"} if "rejected" in allowed else set()
                self.assertIn(family, allowed, document.error)
                if document.ok:
                    self.check_facts(case, document.facts)

    def check_facts(self, case, found):
        for name, value in (case.get("facts") or {}).items():
            if name == "purchases":
                self.assertEqual(len(found.purchases), value)
            elif name == "leaf_serial":
                self.assertEqual(int(found.chain.leaf.serial, 16), int(value, 16))
            elif name == "purchase_date_ms":  # the manifest has whole seconds
                self.assertEqual(found.purchase_date // 1000 * 1000, value)
            else:
                self.assertEqual(getattr(found, PROPERTIES[name]), value, name)

    def test_apples_root_and_intermediates_are_compiled_in(self):
        for case in self.genuine():
            with self.subTest(case=case["name"]):
                document = self.document(case, receipts={})
                self.assertTrue(document.ok, document.error)
                chain = document.facts.chain
                self.assertIn(chain.intermediate.source, ("shipped", "embedded"))

    def test_another_app_is_refused(self):
        for case in self.genuine():
            with self.subTest(case=case["name"]):
                document = self.document(case, apps=[{"bundleId": "com.example.another"}])
                self.assertEqual(document.status, "rejected.identity.bundle")

    def test_a_production_verifier_refuses_sandbox(self):
        for case in self.genuine():
            bundle = case["config"]["bundle_ids"][0]
            with self.subTest(case=case["name"]):
                document = self.document(
                    case, environments=["Production"],
                    apps=[{"bundleId": bundle, "appAppleId": APP_APPLE_ID}],
                )
                self.assertEqual(document.status, "rejected.identity.environment")

    def test_device(self):
        seen = 0
        for case in self.cases:
            device = case["config"].get("device_guid_hex")
            if device and case["genuine"]:
                with self.subTest(case=case["name"]):
                    subject = bytes.fromhex(device)
                    self.assertTrue(self.document(case, subject).facts.device_bound)
                    other = subject[:-1] + bytes([subject[-1] ^ 1])
                    self.assertEqual(
                        self.document(case, other).status, "rejected.account.device"
                    )
                    seen += 1
        self.assertGreater(seen, 0)

    def test_xcode_needs_its_pin(self):
        seen = 0
        for case in self.cases:
            if "pinned_certificate" in case["config"]:
                with self.subTest(case=case["name"]):
                    document = self.document(
                        case, storekit={"xcodeCertificates": ["00" * 32]}
                    )
                    self.assertEqual(document.status, "rejected.chain.unpinned")
                    seen += 1
        self.assertGreater(seen, 0)

    def test_triage(self):
        """Ours is worth verifying, another's and a cracker's is not."""
        for case in self.cases:
            if case["kind"] == "verify-receipt-response":
                continue
            with self.subTest(case=case["name"]):
                config, now = configuration(case["config"]), case["config"]["now_ms"]
                finding = assay.Verifier(config).triage(self.blob(case), now)
                self.assertEqual(
                    finding.worth_verifying, not case["name"].startswith("cracker"),
                    finding.document.text,
                )
                if case["genuine"]:
                    self.assertEqual(finding.form, case["kind"])
                    self.assertEqual(finding.claimed.bundle_id, case["config"]["bundle_ids"][0])
                    foreign = {**config, "apps": [{"bundleId": "com.example.another"}]}
                    finding = assay.Verifier(foreign).triage(self.blob(case), now)
                    self.assertEqual(finding.status, "rejected.triage.foreign-bundle")


if __name__ == "__main__":
    unittest.main()
