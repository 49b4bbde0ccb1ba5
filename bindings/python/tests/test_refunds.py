"""Answers when Apple asks about a refund, and what a refund takes back."""
import unittest

import assay
from case_table import table

NOW = 1_795_219_200_000
CASE = {"environment": "Sandbox", "bundleId": "com.example.app", "transactionId": "1",
        "product": "p.1", "type": "Consumable", "ownership": "PURCHASED", "purchasedAtMs": NOW,
        "askedAtMs": NOW, "isGranted": True}
CONSENT = {"isGiven": True, "answeredAtMs": NOW}


class RefundTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.verifier = table().verifier("refunds")

    def test_an_answer_has_its_rules(self):
        answer = self.verifier.assess_refund(CASE, {"consent": CONSENT}, now=NOW)
        self.assertEqual((answer.answer, answer.would), ("send", None))
        self.assertEqual(answer.request["operation"], "send-consumption-information")
        self.assertEqual(answer.fields[0].rule, "RFA-13")
        self.assertEqual(answer.fields[3].value, "DELIVERED")
        self.assertEqual(answer.due_at_ms, NOW + 43_200_000)
        self.assertEqual(answer.document.facts.answer, "send")

    def test_what_is_not_sent_is_a_result(self):
        answer = self.verifier.assess_refund(CASE, {}, now=NOW)
        self.assertEqual(answer.answer, "silent")
        self.assertIsNone(answer.request)
        self.assertEqual(answer.document.status, "rejected.refund.silent")
        waiting = self.verifier.assess_refund(
            {**CASE, "isGranted": False}, {"consent": CONSENT}, now=NOW)
        self.assertEqual((waiting.answer, waiting.not_before_ms), ("wait", NOW + 3_600_000))
        recorded = table().verifier("standard").assess_refund(
            CASE, {"consent": CONSENT}, now=NOW)
        self.assertEqual((recorded.answer, recorded.would), ("silent", "send"))

    def test_a_misspelt_member_raises(self):
        for case, observations, at in (
            ({**CASE, "isGrant": True}, {}, "case.isGrant"),
            (CASE, {"consented": True}, "observations.consented"),
        ):
            with self.subTest(at=at), self.assertRaises(assay.MalformedError) as caught:
                self.verifier.assess_refund(case, observations, now=NOW)
            self.assertEqual(caught.exception.at, at)
            self.assertIsNone(caught.exception.document.facts)

    def test_units(self):
        units = self.verifier.compute_refund_units(100, percentage=30_000, granted_units=80)
        self.assertEqual((units.share, units.refunded, units.remaining, units.take),
                         (30_000, 30, 70, 10))
        unknown = self.verifier.compute_refund_units(100, revocation_type="REFUND_PRORATED")
        self.assertEqual((unknown.share, unknown.take), (None, 0))
        whole = self.verifier.compute_refund_units(
            1, percentage=1, product_type="Non-Consumable")
        self.assertEqual(whole.take, 1)
        with self.assertRaises(assay.MisuseError):
            self.verifier.compute_refund_units(-1)
