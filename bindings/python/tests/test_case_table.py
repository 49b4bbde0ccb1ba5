"""Every case of the shared table, with the expected document and typed facts."""
import contextlib
import unittest
from unittest import mock

import assay
from assay import verifier as binding
from assay.errors import FAMILIES
from case_table import (
    called,
    configuration_of,
    evidence_of,
    given,
    member,
    octets_of,
    subject_of,
    table,
    verified,
)
from members import check_members

# The class of the facts, by the kind of a document; an exchange has several.
CLASSES = {
    "transaction": assay.Transaction,
    "renewal-info": assay.RenewalInfo,
    "notification": assay.Notification,
    "app-transaction": assay.AppTransaction,
    "realtime-request": assay.RealtimeRequest,
    "transaction-receipt": assay.TransactionReceipt,
    "app-receipt": assay.AppReceipt,
    "verify-receipt-response": assay.VerifyReceiptResponse,
    "triage": assay.Triage,
    "attestation": assay.Attestation,
    "assertion": assay.Assertion,
    "attest-receipt": assay.AttestReceipt,
    "risk": assay.Risk,
    "decision": assay.Decision,
}
# The kinds that have facts with every status.
RULINGS = {"triage", "risk", "decision", "exchange"}


class CaseTableTest(unittest.TestCase):
    def run_calls(self, call, check):
        cases = [case for case in table().cases if case["call"] == call]
        self.assertTrue(cases, f"the table has no {call} case")
        names = [case["name"] for case in cases]
        self.assertEqual(len(names), len(set(names)), "a case name stands twice")
        for case in cases:
            with self.subTest(case=case["name"], rule=case["rule"]):
                check(case)

    def test_verify_jws(self):
        self.run_calls("verify_jws", self.check_kind)

    def test_verify_receipt(self):
        self.run_calls("verify_receipt", self.check_kind)

    def test_read_verify_receipt_response(self):
        self.run_calls("read_verify_receipt_response", self.check_kind)

    def test_triage(self):
        self.run_calls("triage", self.check_triage)

    def test_verify_attestation(self):
        self.run_calls("verify_attestation", self.check_signed_data)

    def test_verify_assertion(self):
        self.run_calls("verify_assertion", self.check_signed_data)

    def test_verify_token(self):
        self.run_calls("verify_token", self.check_token)

    def test_keyset_new(self):
        self.run_calls("keyset_new", self.check_keyset)

    def test_exchange(self):
        self.run_calls("exchange", self.check_exchange)

    def test_transcript(self):
        self.run_calls("transcript", self.check_transcript)

    def test_decide(self):
        self.run_calls("decide", self.check_decision)

    def test_check_expiry(self):
        self.run_calls("check_expiry", self.check_expiry)

    def test_verifier_new(self):
        self.run_calls("verifier_new", self.check_configuration)

    def check_kind(self, case):
        """Check that `verify` returns the document and that the kind's method returns or raises
        it."""
        verifier = table().verifier(case["verifier"])
        kind = case.get("kind", "verify-receipt-response")
        subject = subject_of(case)
        evidence = evidence_of({**case, "kind": kind})
        self.check_document(verifier.verify(kind, evidence, case["now"], subject), case["expect"])
        if subject is None or kind != "transaction-receipt":  # the other calls have no subject
            self.check_document(self.document_of(lambda: called(case)), case["expect"])

    def check_triage(self, case):
        finding = called(case)
        self.check_document(finding.document, case["expect"])
        pending = case["expect"]["status"] == "pending.triage.verify-next"
        self.assertEqual(finding.worth_verifying, pending)
        self.assertEqual(finding.status, case["expect"]["status"])
        self.assertEqual(finding.http_status is None, pending)
        check_members(self, finding.unverified, "Claims")

    def check_signed_data(self, case):
        """Check a verification with client data: the document, raised or returned."""
        unsaid = contextlib.nullcontext()
        if case["clientDataKind"] not in (1, 2):  # the binding cannot express the others
            given_data = case["clientDataKind"], octets_of(case, "clientData")
            unsaid = mock.patch.object(binding, "_client_data", lambda *_: given_data)
        with unsaid:
            document = self.document_of(lambda: called(case))
        self.check_document(document, case["expect"])

    def check_token(self, case):
        verifier = table().verifier(case["verifier"])
        keys = assay.Keyset(given(case, "jwks"))
        for seen in case["earlier"]:
            with contextlib.suppress(assay.AssayError):
                verifier.verify_token(given(seen, "token"), keys, seen["now"])
        document = self.document_of(
            lambda: verifier.verify_token(given(case, "token"), keys, case["now"])
        )
        self.check_document(document, case["expect"])

    def check_keyset(self, case):
        document = self.document_of(lambda: assay.Keyset(given(case, "jwks")).facts)
        self.check_document(document, case["expect"])

    def document_of(self, call):
        """Return the document that a method returned, or raised with the class of its family."""
        try:
            found = call()
        except assay.AssayError as refusal:
            self.assertIs(type(refusal), FAMILIES[refusal.code & 0xFF])
            return refusal.document
        self.assertTrue(found.document.ok)
        return found.document

    def check_exchange(self, case):
        verifier, request = table().verifier(case["verifier"]), given(case, "request")
        evidence = [verified(entry, case) for entry in case["evidence"]]
        try:
            with verifier.exchange(request, evidence, case["now"]) as exchange:
                document = exchange.document
                pending = case["expect"]["status"].startswith("pending.")
                self.assertEqual(exchange.done, not pending)
        except assay.AssayError as refusal:
            self.assertIn(type(refusal), (assay.MisuseError, assay.InternalError))
            document = refusal.document
        self.check_document(document, case["expect"])

    def check_transcript(self, case):
        """Check a transcript: the document before each reply, and the one after the last."""
        verifier, request = table().verifier(case["verifier"]), given(case, "request")
        evidence = [verified(entry, case) for entry in case["evidence"]]
        try:
            exchange = verifier.exchange(request, evidence, case["now"])
        except assay.MisuseError as refusal:
            self.assertEqual(case["steps"], [])
            self.check_document(refusal.document, case["expect"])
            return
        document = exchange.document
        for step in case["steps"]:
            self.check_document(document, step["expect"])
            if exchange.done:  # the binding itself refuses a further reply
                with self.assertRaises(ValueError):
                    exchange.step(given(step, "answer"), step["now"])
                self.assertEqual(case["expect"]["status"], "misuse.exchange.order")
                return
            try:
                document = exchange.step(given(step, "answer"), step["now"])
            except assay.MisuseError as refusal:
                document = refusal.document
        self.check_document(document, case["expect"])
        misused = case["expect"]["status"].startswith("misuse.")
        self.assertEqual(exchange.done, not misused)

    def check_decision(self, case):
        verifier = table().verifier(case["verifier"])
        evidence = [verified(entry, case) for entry in case["evidence"]]
        try:
            document = verifier.decide(evidence, case["account"], case["now"]).document
        except assay.AssayError as refusal:
            document = refusal.document
            self.assertNotEqual(refusal.status, "rejected.decision.not-entitled")
        self.check_document(document, case["expect"])

    def check_expiry(self, case):
        try:
            expiry = assay.check_expiry(
                case["expires"], case["grace"], case["revoked"], case["now"]
            )
        except assay.MisuseError as refusal:
            self.assertEqual(refusal.status, case["expect"]["status"])
            return
        self.assertEqual(expiry.status, case["expect"]["status"])
        self.assertEqual(bool(expiry), case["expect"]["status"] == "ok")

    def check_configuration(self, case):
        try:
            with assay.Verifier(configuration_of(case)) as verifier:
                document = verifier.document
        except assay.AssayError as refusal:
            document = refusal.document
        self.check_document(document, case["expect"])

    def check_document(self, document, expect):
        facts = document.facts
        if facts is None:
            self.assertFalse(document.ok and document.kind in CLASSES)
        else:
            self.assertTrue(document.ok or document.kind in RULINGS)
            self.assertIs(type(facts), CLASSES.get(document.kind, type(facts)))
            check_members(self, facts, type(facts).__name__)
        self.assertEqual(document.status, expect["status"], document.text[:2000])
        self.assertEqual(document.json["status"]["name"], expect["status"])
        self.assertEqual(document.json["status"]["code"], document.code)
        self.assertEqual(document.json["ok"], document.ok)
        if "check" in expect:
            self.assertEqual(document.error["check"], expect["check"])
        if "at" in expect:
            self.assertEqual(document.error["at"], expect["at"])
        if "hint" in expect:
            self.assertEqual(document.error["hint"][:len(expect["hint"])], expect["hint"])
        for path, value in expect.get("facts", {}).items():
            found = member(document.json, path)
            self.assertEqual(found, value, path)
            self.assertIs(type(found), type(value), path)
            # The getters of the C contract agree with the JSON.
            if isinstance(value, str):
                self.assertEqual(document._text(path.encode()), value, path)
            elif isinstance(value, int) and not isinstance(value, bool):
                self.assertEqual(document._integer(path.encode()), value, path)


if __name__ == "__main__":
    unittest.main()
