"""The App Store Server API: a call for every operation, and the facts of Apple's responses."""
import datetime
import json
import unittest

import assay
from assay.app_store import AppStore
from case_table import given, table
from transcripts import played, transcript

MARK = " App Store: "


def transcripts():
    return [case for case in table().cases
            if case["call"] == "transcript" and MARK in case["name"]]


class Noting:
    """A substitute for a verifier that records the requests."""

    def exchange(self, request, evidence, now):
        return request, evidence, now


class CallsTest(unittest.TestCase):
    def test_every_operation_has_a_call(self):
        operations = {json.loads(given(case, "request"))["operation"] for case in transcripts()}
        calls = {name.replace("_", "-") for name in vars(AppStore)
                 if not name.startswith("_")}
        self.assertEqual(len(calls), 39)
        self.assertEqual(calls, operations - {"get-images"})  # there is none

    def test_a_request(self):
        store = AppStore(Noting().exchange, {"environment": "auto"}, {"partial": True})
        start = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
        request, evidence, now = store.get_transaction_history(
            "1", start_date=start, product_id=("a", "b"), revoked=False, pages=3, now=7)
        self.assertEqual(request, {
            "operation": "get-transaction-history", "environment": "auto",
            "transactionId": "1", "startDate": 1767225600000, "productId": ["a", "b"],
            "revoked": False, "options": {"partial": True, "pages": 3}})
        self.assertEqual((evidence, now), ((), 7))
        request, evidence, _ = store.send_consumption_information(
            "1", True, False, "DELIVERED", consumption_percentage=0, transaction="facts")
        self.assertEqual(request["consumptionPercentage"], 0)
        self.assertNotIn("refundPreference", request)
        self.assertEqual(evidence, "facts")
        self.assertIn("auto", repr(store))

    def test_in_common(self):
        verifier = table().verifier("signing")
        with self.assertRaises(assay.MisuseError) as caught:
            verifier.app_store().get_transaction_info("1")
        self.assertEqual(caught.exception.at, "bundleId")
        store = verifier.app_store("Sandbox", bundle_id="com.example.second", attempts=1)
        with store.get_transaction_info("1") as exchange:
            request = exchange.payload["http"]
            self.assertEqual(request["method"], "GET")
            self.assertEqual(
                request["url"],
                "https://api.storekit-sandbox.apple.com/inApps/v1/transactions/1")


class FactsTest(unittest.TestCase):
    """Facts of one response; test_case_table.py compares each property of the others."""

    def test_pages(self):
        case = transcript("two pages")
        facts = played(case).facts
        self.assertIs(type(facts), assay.AppStoreResponse)
        first, second = facts.transactions
        self.assertIs(type(first), assay.Transaction)
        self.assertEqual(second.transaction_id, "180000900000002")
        self.assertEqual(second.payload["transactionId"], "180000900000002")
        self.assertGreater(second.effective_date.ms, first.effective_date.ms)
        self.assertEqual(facts.unsigned.revision, "r2")
        self.assertIsNone(facts.next)
        self.assertEqual((facts.renewals, facts.refused), ((), ()))
        self.assertEqual(len(facts.as_dict()["transactions"]), 2)
        decision = table().verifier(case["verifier"]).decide(facts, now=case["now"])
        self.assertTrue(decision.entitled)


class UnverifiedIdTest(unittest.TestCase):
    def test_every_form(self):
        seen = {}
        for case in table().cases:
            if case["call"] == "triage" \
                    and case["expect"]["status"] == "pending.triage.verify-next":
                verifier = table().verifier(case["verifier"])
                blob = given(case, "blob")
                form = verifier.triage(blob, case["now"]).format
                found = verifier.extract_unverified_transaction_id(blob, case["now"])
                seen[form] = seen.get(form) or found
        for form in ("transaction-receipt", "app-receipt", "jws"):
            self.assertRegex(seen[form], r"^\d{13,}$", form)
        self.assertIsNone(seen.get("attest-receipt"))

    def test_none(self):
        self.assertIsNone(table().verifier("standard").extract_unverified_transaction_id("hello"))


if __name__ == "__main__":
    unittest.main()
