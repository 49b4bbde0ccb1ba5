"""Receipts, triage and answers from verifyReceipt: typed, and as the document says."""
import base64
import pickle
import unittest
import uuid

import assay
from assay import errors, facts, receipts
from case_table import given, table
from members import check_members, descriptors

# What `verify` and the methods call a case's evidence, by the case's call.
EVIDENCE = {"verify_receipt": "receipt", "triage": "blob", "read_verify_receipt": "body"}
# Members that are passed on unchanged, without properties.
OPAQUE = {"unknown", "unknownInReceipt"}


def cases(call, kind=None, family=None):
    """The cases of a call; of a kind of receipt and a family of statuses alone."""
    for case in table().cases:
        if case["call"] != call or kind not in (None, case.get("kind")):
            continue
        if family in (None, case["expect"]["status"].split(".")[0]):
            yield case


def first(call, kind=None, family="ok", with_subject=None):
    for case in cases(call, kind, family):
        if with_subject in (None, "subjectBase64" in case):
            return case
    raise AssertionError(f"the case table has no {family} {call} of {kind}")


def evidence_of(case):
    return given(case, EVIDENCE[case["call"]])


def subject_of(case):
    text = case.get("subjectBase64")
    return None if text is None else base64.b64decode(text)


def document_of(case):
    verifier = table().verifier(case["verifier"])
    if case["call"] == "triage":
        return verifier.triage(evidence_of(case), case["now"]).document
    kind = case.get("kind", "verify-receipt")
    return verifier.verify(kind, evidence_of(case), case["now"], subject_of(case))


# The class of the facts, by call and kind of a case.
CLASSES = {
    ("verify_receipt", "transaction-receipt"): assay.TransactionReceipt,
    ("verify_receipt", "app-receipt"): assay.AppReceipt,
    ("read_verify_receipt", None): assay.VerifyReceiptAnswer,
}


class PropertiesTest(unittest.TestCase):
    """What the library writes has a property, and the property gives just that."""

    def check(self, found, where):
        check_members(self, found, where, OPAQUE)

    def test_every_accepted_case(self):
        for (call, kind), expected in CLASSES.items():
            seen = 0
            for case in cases(call, kind, "ok"):
                with self.subTest(case=case["name"]):
                    document = document_of(case)
                    self.assertIs(type(document.facts), expected)
                    fresh = {name: getattr(document.facts, name)
                             for name in descriptors(expected)}
                    self.check(document.facts, expected.__name__)
                    for name, value in fresh.items():
                        self.assertEqual(getattr(document.facts, name), value)
                    seen += 1
            self.assertGreater(seen, 0, (call, kind))

    def test_every_triage(self):
        seen = 0
        for case in cases("triage"):
            with self.subTest(case=case["name"]):
                if case["expect"]["status"].startswith(("misuse", "internal")):
                    continue
                finding = document_of(case).facts
                self.assertIs(type(finding), assay.Triage)
                self.check(finding, "Triage")
                self.check(finding.claimed, "Claims")
                seen += 1
        self.assertGreater(seen, 0)


class TransactionReceiptTest(unittest.TestCase):
    def setUp(self):
        self.case = first("verify_receipt", "transaction-receipt")
        self.verifier = table().verifier(self.case["verifier"])
        self.text = evidence_of(self.case)

    def test_facts(self):
        receipt = self.verifier.verify_transaction_receipt(self.text, self.case["now"])
        values = receipt.document.json["transactionReceipt"]
        self.assertEqual(receipt.transaction_id, values["transactionId"])
        self.assertIsInstance(receipt.transaction_id, str)
        self.assertEqual(receipt.purchase_date, values["purchaseDate"])
        self.assertEqual(receipt.purchase_at.timestamp() * 1000, receipt.purchase_date)
        self.assertIn(receipt.version, (2, 3))
        self.assertEqual(receipt.weak_key, receipt.version == 2)
        self.assertIn(receipt.chain.intermediate.source, ("configured", "embedded", "shipped"))
        self.assertEqual(
            receipt.keys.transaction, f"{receipt.environment}/{receipt.transaction_id}"
        )
        self.assertIn(receipt.transport.form, ("raw", "base64", "base64-twice"))
        self.assertIn(receipt.product_id, repr(receipt))
        self.assertEqual(receipt.payload, values)
        self.assertEqual(receipt.as_dict()["product_id"], receipt.product_id)
        with self.assertRaises(TypeError):
            pickle.dumps(receipt)

    def test_forms_of_text(self):
        text = self.text if isinstance(self.text, str) else None
        octets = text.encode() if text else bytes(self.text)
        for form in (octets, bytearray(octets), memoryview(octets)):
            with self.subTest(form=type(form).__name__):
                found = self.verifier.verify_transaction_receipt(form, self.case["now"])
                self.assertTrue(found.document.ok)

    def test_refusals_raise_the_class_of_their_family(self):
        for family in ("rejected", "malformed", "too-large", "unsupported"):
            case = first("verify_receipt", "transaction-receipt", family)
            with self.subTest(family=family), self.assertRaises(assay.AssayError) as caught:
                table().verifier(case["verifier"]).verify_transaction_receipt(
                    evidence_of(case), case["now"]
                )
            self.assertEqual(caught.exception.status, case["expect"]["status"])
            self.assertIs(
                type(caught.exception), errors.FAMILIES[caught.exception.code & 0xFF]
            )
            self.assertIsNone(caught.exception.document.facts)

    def test_it_has_no_subject(self):
        document = self.verifier.verify(
            "transaction-receipt", self.text, self.case["now"], b"\0" * 16
        )
        self.assertEqual(document.status, "misuse.receipt.subject")

    def test_wrong_arguments(self):
        for wrong in (None, 5, ["a"]):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                self.verifier.verify_transaction_receipt(wrong)
        with self.assertRaises(assay.MisuseError):
            self.verifier.verify_transaction_receipt(self.text, 5)
        closed = assay.Verifier(table().configuration(self.case["verifier"]))
        closed.close()
        with self.assertRaises(ValueError):
            closed.verify_transaction_receipt(self.text)


class AppReceiptTest(unittest.TestCase):
    def verify(self, case, subject):
        verifier = table().verifier(case["verifier"])
        return verifier.verify_app_receipt(evidence_of(case), subject, case["now"])

    def test_facts(self):
        case = first("verify_receipt", "app-receipt", with_subject=False)
        receipt = self.verify(case, None)
        values = receipt.document.json["appReceipt"]
        self.assertIs(receipt.device_bound, False)
        self.assertEqual(receipt.creation_date, values["creationDate"])
        self.assertIsInstance(receipt.creation_date, int)
        self.assertEqual(len(receipt.purchases), len(values["purchases"]))
        self.assertIs(type(receipt.purchases), tuple)
        for entry, member in zip(receipt.purchases, values["purchases"]):
            self.assertIsInstance(entry.transaction_id, str)
            self.assertEqual(entry.product_id, member["productId"])
            self.assertEqual(entry.keys.payload, member["keys"])
            self.assertIs(entry.known, member["known"])
        device = [check for check in receipt.document.checks if check.id == "device"]
        self.assertIsNone(device[0].ok)
        self.assertTrue(device[0].why)

    def test_device(self):
        case = first("verify_receipt", "app-receipt", with_subject=True)
        subject = subject_of(case)
        self.assertTrue(self.verify(case, subject).device_bound)
        self.assertTrue(self.verify(case, bytearray(subject)).device_bound)
        if len(subject) == 16:
            self.assertTrue(self.verify(case, uuid.UUID(bytes=subject)).device_bound)
        other = bytes([subject[0] ^ 1]) + subject[1:]
        with self.assertRaises(assay.RejectedError) as caught:
            self.verify(case, other)
        self.assertEqual(caught.exception.status, "rejected.account.device")
        for length in (1, 5, 7, 15, 17, 36):
            with self.subTest(length=length), self.assertRaises(assay.MisuseError):
                self.verify(case, b"\0" * length)

    def test_subject_of_another_type(self):
        case = first("verify_receipt", "app-receipt")
        for wrong in ("ABCDEF01-2345-6789-ABCD-EF0123456789", 5, object()):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                self.verify(case, wrong)


class DecisionTest(unittest.TestCase):
    """`decide` takes receipts and answers, as facts or as documents, in any mixture."""

    def evidence(self, call, kind=None):
        case = first(call, kind)
        return table().verifier(case["verifier"]), document_of(case), case["now"]

    def test_each_kind(self):
        for call, kind, name in (
            ("verify_receipt", "transaction-receipt", "transaction-receipt"),
            ("verify_receipt", "app-receipt", "app-receipt"),
            ("read_verify_receipt", None, "verify-receipt"),
        ):
            with self.subTest(kind=name):
                verifier, document, now = self.evidence(call, kind)
                decision = verifier.decide(document.facts, now=now)
                self.assertEqual(
                    decision.payload, verifier.decide(document, now=now).payload
                )
                self.assertIn(name, decision.evidence.kinds)
                answered = name == "verify-receipt"
                self.assertEqual(
                    decision.evidence.class_, "apple-answer" if answered else "signed"
                )
                # A transaction receipt can show no refund.
                if name == "transaction-receipt":
                    self.assertIn("revocation", decision.evidence.missing)

    def test_a_mixture(self):
        verifier, receipt, now = self.evidence("verify_receipt", "transaction-receipt")
        others = [
            document_of(case)
            for call, kind in (("verify_receipt", "app-receipt"), ("read_verify_receipt", None))
            for case in cases(call, kind, "ok")
            if table().verifier(case["verifier"]) is verifier
        ]
        self.assertTrue(others)
        mixed = verifier.decide([receipt.facts, others[0], others[-1].facts], now=now)
        again = verifier.decide([others[-1], receipt, others[0].facts], now=now)
        self.assertEqual(mixed.payload, again.payload)
        # Of several about one purchase the newest counts as a whole.
        newest = max(
            (document.facts for document in (receipt, others[0], others[-1])),
            key=lambda found: getattr(found, "as_of", None) or found.purchase_date,
        )
        kinds = {kind for group in mixed.groups for kind in group.evidence.kinds}
        self.assertIn(newest.document.kind, kinds)

    def test_a_refused_receipt_is_no_evidence(self):
        case = first("verify_receipt", "app-receipt", "rejected")
        verifier = table().verifier(case["verifier"])
        with self.assertRaises(assay.MisuseError) as caught:
            verifier.decide(document_of(case), now=case["now"])
        self.assertEqual(caught.exception.status, "misuse.decide.evidence")


class TriageTest(unittest.TestCase):
    def test_never_raises_for_what_a_blob_is(self):
        families = set()
        for case in cases("triage"):
            if case["expect"]["status"].startswith(("misuse", "internal")):
                continue
            with self.subTest(case=case["name"]):
                finding = table().verifier(case["verifier"]).triage(
                    evidence_of(case), case["now"]
                )
                self.assertEqual(finding.status, case["expect"]["status"])
                self.assertFalse(finding.document.ok)
                self.assertIn(finding.disposition, ("drop", "keep", "resend"))
                self.assertTrue(finding.category and finding.form and finding.next)
                pending = finding.status == "pending.triage.unverified"
                self.assertEqual(finding.worth_verifying, pending)
                self.assertIs(finding.as_dict()["worth_verifying"], finding.worth_verifying)
                self.assertEqual(finding.http_status is None, pending)
                families.add(finding.document.status.split(".")[0])
        self.assertLessEqual({"pending", "rejected", "malformed", "unsupported"}, families)

    def test_claims_are_no_facts(self):
        case = next(case for case in cases("triage", family="pending"))
        finding = table().verifier(case["verifier"]).triage(evidence_of(case), case["now"])
        self.assertNotIsInstance(finding.claimed, facts.Facts)
        self.assertEqual(finding.claimed.payload, finding.document.json["claimed"])
        self.assertIn(finding.category, repr(finding))
        with self.assertRaises(AttributeError):
            finding.claimed.product_id = "other"
        verifier = table().verifier(case["verifier"])
        with self.assertRaises(assay.MisuseError) as caught:
            verifier.decide(finding, now=case["now"])
        self.assertEqual(caught.exception.status, "misuse.decide.evidence")
        with self.assertRaises(TypeError):
            verifier.decide(finding.claimed, now=case["now"])

    def test_hostile_arguments(self):
        case = next(case for case in cases("triage", family="pending"))
        verifier = table().verifier(case["verifier"])
        for blob in ("", b"", "\ud800", "\0", b"\xff" * 9, "\U0001f600", "{" * 5000, b"0\x80" * 99):
            with self.subTest(blob=blob[:9]):
                finding = verifier.triage(blob, case["now"])
                self.assertFalse(finding.worth_verifying)
                self.assertIsNone(finding.claimed.bundle_id)
                self.assertEqual(finding.claimed.keys, ())
        with self.assertRaises(assay.MisuseError) as caught:
            verifier.triage("x", 5)
        self.assertEqual(caught.exception.status, "misuse.call.now")
        for wrong in (None, 5, ["a"]):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                verifier.triage(wrong)


class AnswerTest(unittest.TestCase):
    def answer(self, case):
        verifier = table().verifier(case["verifier"])
        return verifier.read_verify_receipt(evidence_of(case), case["now"])

    def test_facts(self):
        answer = self.answer(first("read_verify_receipt"))
        values = answer.document.json["verifyReceipt"]
        self.assertEqual(answer.evidence, "apple-answer")
        self.assertIn(answer.apple_status, (0, 21006))
        self.assertIn(answer.style, ("ios6", "ios7"))
        self.assertEqual([entry.transaction_id for entry in answer.transactions],
                         [entry["transactionId"] for entry in values["transactions"]])
        self.assertEqual(answer.bundle_id, values["bundleId"])

    def test_refusals_say_when_to_ask_again(self):
        classes = set()
        for case in cases("read_verify_receipt"):
            if case["expect"]["status"] == "ok":
                continue
            with self.subTest(case=case["name"]):
                with self.assertRaises(assay.AssayError) as caught:
                    self.answer(case)
                refusal = caught.exception
                self.assertEqual(refusal.status, case["expect"]["status"])
                self.assertEqual(
                    refusal.retry_class, refusal.document.json["error"]["retryClass"]
                )
                if isinstance(refusal, assay.UnavailableError):
                    self.assertNotEqual(refusal.retry_class, "never")
                classes.add(refusal.retry_class)
        self.assertLessEqual(
            {"never", "later", "same-once", "other-environment", "after-config"}, classes
        )


class CallTest(unittest.TestCase):
    def test_kinds(self):
        case = first("verify_receipt", "app-receipt")
        verifier = table().verifier(case["verifier"])
        for wrong in ("receipt", "triage", "", None, 1):
            with self.subTest(wrong=wrong), self.assertRaises(ValueError):
                verifier.verify(wrong, evidence_of(case))
        for kind in ("transaction", "verify-receipt"):
            with self.subTest(kind=kind), self.assertRaises(ValueError):
                verifier.verify(kind, "x", case["now"], b"\0" * 16)

    def test_lazy_names(self):
        for name in receipts.__dict__:
            if name in assay.__all__:
                self.assertIs(getattr(assay, name), getattr(receipts, name))
        self.assertIs(assay.TransactionReceipt, receipts.TransactionReceipt)
        self.assertLessEqual(set(assay.__all__), set(dir(assay)))
        with self.assertRaises(AttributeError):
            getattr(assay, "Nothing")


if __name__ == "__main__":
    unittest.main()
