"""The exceptions of refusals: the class of the family, and rule, location and hint."""
import pickle
import unittest

import assay
from assay import _library, _prototypes, errors
from assay.documents import status_named, status_text, statuses
from case_table import jws_of, table

RETRY_CLASSES = {"never", "later", "same-once", "other-environment", "after-config"}


class FamilyTest(unittest.TestCase):
    def test_every_family_has_its_class(self):
        codes = {value for name, value in vars(_prototypes).items()
                 if name.startswith("ASSAY_")
                 and not name.startswith(("ASSAY_JWS", "ASSAY_RECEIPT", "ASSAY_STATUS"))
                 and name not in ("ASSAY_OK", "ASSAY_ABI", "ASSAY_VERSION",
                                  "ASSAY_VERSION_NUMBER", "ASSAY_NO_DATE")}
        self.assertEqual(set(errors.FAMILIES), codes)
        self.assertEqual(len(set(errors.FAMILIES.values())), len(codes))

    def test_every_status_of_the_library(self):
        codes = list(statuses())
        self.assertEqual({code & 0xFF for code in codes}, set(errors.FAMILIES))
        self.assertGreater(len(codes), 300)
        for code in codes:
            refusal = errors.refusal_of_status(code)
            with self.subTest(status=refusal.status):
                self.assertEqual(status_named(refusal.status), code)
                self.assertIs(type(refusal), errors.FAMILIES[code & 0xFF])
                self.assertTrue(refusal.message and refusal.hint)
                self.assertIn(refusal.retry_class, RETRY_CLASSES)
                self.assertIn(refusal.http_status // 100, (2, 4, 5))

    def test_unknown_detail_keeps_its_family(self):
        refusal = errors.refusal_of_status(_prototypes.ASSAY_TOO_LARGE | 0x7FFF00)
        self.assertIs(type(refusal), assay.TooLargeError)
        self.assertEqual(refusal.http_status, 413)
        self.assertIs(type(errors.refusal_of_status(0xFF)), assay.InternalError)


class RefusalTest(unittest.TestCase):
    def refusal(self, family):
        case = table().first("verify_jws", family)
        verifier = table().verifier(case["verifier"])
        with self.assertRaises(assay.AssayError) as caught:
            verifier.verify(case["kind"], jws_of(case), case["now"]).raise_for_status()
        return caught.exception

    def test_attributes_are_those_of_the_document(self):
        for family, kind in (("rejected", assay.RejectedError),
                             ("malformed", assay.MalformedError),
                             ("unsupported", assay.UnsupportedError),
                             ("too-large", assay.TooLargeError)):
            with self.subTest(family=family):
                refusal = self.refusal(family)
                self.assertIs(type(refusal), kind)
                error = refusal.document.json["error"]
                self.assertEqual(refusal.code, refusal.document.code)
                self.assertEqual(refusal.message, error["message"])
                self.assertEqual(refusal.check, error["check"])
                self.assertEqual(refusal.rule, error["rule"])
                self.assertEqual(refusal.at, error["at"])
                self.assertEqual(refusal.hint, error["hint"])
                self.assertEqual(refusal.retry_class, error["retryClass"])
                self.assertIn(refusal.http_status, (200, 400, 401, 403, 409, 413))
                self.assertIsNone(refusal.document.facts)
                for part in (refusal.status, refusal.message, refusal.rule, refusal.hint):
                    self.assertIn(part, str(refusal))

    def test_the_hint_is_that_of_the_kind_of_evidence(self):
        apps = [{"bundleId": "com.example.app", "appAppleId": 1}]
        with (
            assay.Verifier({"apps": apps}) as verifier,
            self.assertRaises(assay.AssayError) as caught,
        ):
            verifier.verify_attestation(b"object", key_id="id", client_data=b"data")
        refusal = caught.exception
        self.assertEqual(refusal.status, "config.attest.app-ids")
        self.assertIn("this verifier knows no App ID", refusal.hint)
        self.assertNotEqual(refusal.hint, status_text(refusal.code, _prototypes.ASSAY_STATUS_HINT))

    def test_checks_say_which_one_failed(self):
        refusal = self.refusal("rejected")
        failed = [check for check in refusal.document.checks if check.ok is False]
        self.assertEqual([check.id for check in failed], [refusal.check])
        unmade = [check for check in refusal.document.checks if check.ok is None]
        self.assertTrue(all(check.reason for check in unmade))

    def test_pickled_refusal_keeps_its_words(self):
        refusal = self.refusal("rejected")
        again = pickle.loads(pickle.dumps(refusal))
        self.assertEqual(str(again), str(refusal))
        self.assertIs(type(again), type(refusal))
        self.assertIsNone(again.document)

    def test_no_document_of_a_call(self):
        """Check that the library returns a status for a missing handle."""
        status = _library.functions.assay_doc_status(None)
        self.assertEqual(status & 0xFF, _prototypes.ASSAY_MISUSE)


class ConfigurationTextTest(unittest.TestCase):
    def test_same_as_json(self):
        import json

        from assay._json_text import json_text

        for value in ({}, [], {"a": [1, -2, 1.5, True, False, None, (1, 2)]},
                      {"ü\"\\\n\x00\x1f\x7f\u2028😀": {"b": "c"}}, 2**70, 1e300):
            with self.subTest(value=value):
                text = json_text(value)
                self.assertEqual(json.loads(text), json.loads(json.dumps(value)))


if __name__ == "__main__":
    unittest.main()
