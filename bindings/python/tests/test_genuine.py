"""Evidence that Apple signed, when ../shared/vectors lies beside the repository.

Nothing of it is copied here; without the folder the tests skip by name and say so.
"""
import base64
import hashlib
import json
import sys
import unittest

import assay
from case_table import ROOT

FOLDER = ROOT.parent / "shared" / "vectors" / "jws"
# Names of the manifest's facts -> properties.
PROPERTIES = {
    "signed_date_ms": "signed_date",
    "environment": "environment",
    "type": "type",
    "product_id": "product_id",
    "bundle_id": "bundle_id",
    "transaction_id": "transaction_id",
    "original_transaction_id": "original_transaction_id",
    "purchase_date_ms": "purchase_date",
    "expires_date_ms": "expires_date",
    "revocation_date_ms": "revocation_date",
    "auto_renew_product_id": "auto_renew_product_id",
    "auto_renew_status": "auto_renew_status",
    "notification_type": "notification_type",
    "subtype": "subtype",
}
# Facts that no property repeats.
OTHER_FACTS = {"leaf_generation", "nested", "signing_date_ms"}


def configuration(config):
    """The verifier's configuration for one case of the manifest."""
    app = {"appAppleId": config["app_apple_id"]} if config["app_apple_id"] else {}
    built = {
        "apps": [{"bundleId": bundle, **app} for bundle in config["bundle_ids"]],
        "environments": config["environments"],
    }
    storekit = {}
    roots = [(FOLDER / root).read_bytes() for root in config["roots"]]
    if roots:
        storekit["anchors"] = [base64.b64encode(root).decode() for root in roots]
    if "pinned_certificate" in config:
        pinned = (FOLDER / config["pinned_certificate"]).read_bytes()
        storekit["xcodeCertificates"] = [hashlib.sha256(pinned).hexdigest()]
    if storekit:
        built["storekit"] = storekit
    return built


class GenuineTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (FOLDER / "manifest.json").exists():
            print(f"SKIPPED GenuineTest: {FOLDER} does not exist", file=sys.stderr)
            raise unittest.SkipTest(f"{FOLDER} does not exist")
        cls.cases = json.loads((FOLDER / "manifest.json").read_text())
        cls.by_name = {case["name"]: case for case in cls.cases}

    def text(self, case):
        return (FOLDER / case["file"]).read_text()

    def document(self, case, **changes):
        verifier = assay.Verifier({**configuration(case["config"]), **changes})
        return verifier.verify(case["kind"], self.text(case), case["config"]["now_ms"])

    def test_families_and_facts(self):
        self.assertGreater(len(self.cases), 30)
        for case in self.cases:
            with self.subTest(case=case["name"]):
                document = self.document(case)
                family = document.status.split(".")[0]
                self.assertIn(family, case["expect"]["families"], document.error)
                if document.ok:
                    self.check_facts(case, document.facts)

    def check_facts(self, case, found):
        for name, value in (case["facts"] or {}).items():
            if name in PROPERTIES:
                # A fact that the manifest calls null may have no property at all.
                absent = (None,) if value is None else ()
                self.assertEqual(getattr(found, PROPERTIES[name], *absent), value, name)
            else:
                self.assertIn(name, OTHER_FACTS)
        self.assertEqual(found.effective_date.ms, case["config"]["effective_ms"])
        self.check_nested(found, (case["facts"] or {}).get("nested", {}))

    def check_nested(self, found, nested):
        for member, name in nested.items():
            alone = self.document(self.by_name[name]).facts
            inside = getattr(found, member)
            self.assertEqual(inside.payload, alone.payload)
            self.assertEqual(inside.keys, alone.keys)
            self.assertEqual(inside.product_id, alone.product_id)

    def test_apples_root_is_compiled_in(self):
        for case in self.cases:
            if case["genuine"] and case["expect"]["families"] == ["ok"]:
                with self.subTest(case=case["name"]):
                    config = dict(case["config"], roots=[])
                    verifier = assay.Verifier(configuration(config))
                    document = verifier.verify(
                        case["kind"], self.text(case), config["now_ms"]
                    )
                    self.assertTrue(document.ok, document.error)

    def test_another_app_is_refused(self):
        for case in self.cases:
            if case["genuine"] and case["kind"] == "transaction":
                with self.subTest(case=case["name"]), self.assertRaises(assay.RejectedError):
                    self.document(
                        case, apps=[{"bundleId": "com.example.another"}]
                    ).raise_for_refusal()

    def test_xcode_needs_its_pin(self):
        for case in self.cases:
            if "pinned_certificate" in case["config"]:
                with self.subTest(case=case["name"]):
                    document = self.document(
                        case, storekit={"xcodeCertificates": ["00" * 32]}
                    )
                    self.assertEqual(document.status, "rejected.chain.unpinned")


if __name__ == "__main__":
    unittest.main()
