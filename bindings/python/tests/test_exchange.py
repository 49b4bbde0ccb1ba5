"""Conversations: the frame that network and store kinds run in.

The steps are played by functions in place of the library's, with documents of the
library's own: what a host may meet in any order. test_http.py has a real conversation.
"""
import threading
import unittest
from unittest import mock

import assay
from assay import _prototypes as c
from assay import documents, exchange
from case_table import jws_of, table

RISK = {"kind": "risk.assess", "observations": {"request": "paid", "attestation": "verified"}}
WAIT = c.ASSAY_PENDING
NOW = 1_793_000_000_000
real = exchange._exchange_new


def verifier():
    return assay.Verifier({"apps": [{"bundleId": "com.example.app", "appAppleId": 1}]})


class AtOnceTest(unittest.TestCase):
    def setUp(self):
        self.verifier = verifier()

    def test_done_at_once(self):
        with self.verifier.exchange(RISK) as found:
            self.assertTrue(found.done)
            self.assertTrue(found.document.ok)
            self.assertEqual(found.document.kind, "risk")
            self.assertEqual(found.payload, found.document.json["risk"])
            self.assertIs(type(found.facts), assay.Risk)
            with self.assertRaisesRegex(ValueError, "over"):
                found.step({})
        self.assertIs(assay.Exchange, exchange.Exchange)

    def test_forms_of_a_request(self):
        import json

        text = json.dumps(RISK)
        for form in (RISK, text, text.encode()):
            with self.subTest(form=type(form).__name__):
                self.assertTrue(self.verifier.exchange(form).document.ok)
        for wrong in (None, 5, ["a"]):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                self.verifier.exchange(wrong)

    def test_a_verdict_is_an_answer(self):
        asked = {"request": "paid", "attestation": "refused"}
        found = self.verifier.exchange({"kind": "risk.assess", "observations": asked})
        self.assertTrue(found.done)
        self.assertEqual(found.document.status, "rejected.risk.deny")
        self.assertEqual(found.facts.verdict, "deny")
        with self.assertRaises(assay.RejectedError):
            found.document.raise_for_refusal()

    def test_misuse_raises(self):
        for request, status in (
            ({"kind": "nothing"}, "misuse.exchange.kind"), ({}, "misuse.exchange.request"),
            ("{", "misuse.exchange.request"), ("", "misuse.exchange.request"),
            ({**RISK, "more": 1}, "misuse.exchange.request"),
            ("\ud800", "misuse.exchange.request"),
        ):
            with self.subTest(request=request), self.assertRaises(assay.MisuseError) as caught:
                self.verifier.exchange(request)
            self.assertEqual(caught.exception.status, status)
        with self.assertRaises(assay.MisuseError) as caught:
            self.verifier.exchange(RISK, now=5)
        self.assertEqual(caught.exception.status, "misuse.call.now")

    def test_evidence(self):
        case = table().accepted("transaction")
        owner = table().verifier(case["verifier"])
        transaction = owner.verify_transaction(jws_of(case), case["now"])
        for evidence in (transaction, [transaction.document]):
            with self.assertRaises(assay.MisuseError) as caught:
                owner.exchange(RISK, evidence, case["now"])
            self.assertEqual(caught.exception.status, "misuse.exchange.evidence")
        with self.assertRaises(TypeError):
            owner.exchange(RISK, ["text"])

    def test_closed_verifier(self):
        self.verifier.close()
        for call in (lambda: self.verifier.exchange(RISK),
                     lambda: self.verifier.assess_risk(RISK["observations"])):
            with self.assertRaisesRegex(ValueError, "closed"):
                call()


class Host:
    """Plays assay_exchange_new and …_step with a list of codes."""

    def __init__(self, *codes):
        self.codes = list(codes)
        self.answers = []
        self.freed = 0
        self.inside = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()

    def answer(self, code, found):
        document = exchange.OwnedDocument()
        with verifier() as owner:
            real(owner._open(), b"{}", 2, None, 0, NOW, c.ExchangeHandle(), document)
        # The address moves to the document that the binding owns.
        found.value, document.value = document.value, None
        return code

    def new(self, handle, text, length, array, count, now, out, found):
        out.value = id(self)
        return self.answer(self.codes.pop(0), found)

    def step(self, handle, text, length, now, found):
        self.answers.append((handle.value, text[:length], now))
        self.inside.set()
        self.go_on.wait(30)
        return self.answer(self.codes.pop(0), found)

    def free(self, handle):
        if handle:
            self.freed += 1


class StepTest(unittest.TestCase):
    def play(self, *codes):
        """An exchange whose first document and steps have these codes."""
        host = Host(*codes)

        class Owned(c.ExchangeHandle):
            def __del__(self):
                host.free(self)

        for name, value in (("_exchange_new", host.new), ("_exchange_step", host.step),
                            ("OwnedExchange", Owned)):
            patch = mock.patch.object(exchange, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        return host, verifier().exchange(RISK)

    def test_until_the_end(self):
        host, found = self.play(WAIT, WAIT, c.ASSAY_OK)
        first = found.document
        self.assertFalse(found.done)
        second = found.step({"id": 1, "status": 200}, NOW)
        self.assertIs(found.document, second)
        self.assertIsNot(first, second)
        self.assertFalse(found.done)
        third = found.step('{"id":2}')
        self.assertTrue(found.done)
        self.assertIs(found.document, third)
        self.assertEqual([text for _, text, _ in host.answers],
                         [b'{"id":1,"status":200}', b'{"id":2}'])
        self.assertEqual({handle for handle, _, _ in host.answers}, {id(host)})
        self.assertEqual(host.answers[0][2], NOW)
        self.assertEqual(host.freed, 1)
        with self.assertRaisesRegex(ValueError, "over"):
            found.step({})

    def test_misuse_leaves_the_step_open(self):
        _, found = self.play(WAIT, c.ASSAY_MISUSE, c.ASSAY_OK)
        first = found.document
        with self.assertRaises(assay.MisuseError):
            found.step({})
        self.assertFalse(found.done)
        self.assertIs(found.document, first)
        found.step({})
        self.assertTrue(found.done)

    def test_a_refusal_ends_it(self):
        for code in (c.ASSAY_REJECTED, c.ASSAY_UNAVAILABLE, c.ASSAY_CONFIG):
            with self.subTest(code=code):
                host, found = self.play(WAIT, code)
                self.assertEqual(found.step({}).code, code)
                self.assertTrue(found.done)
                self.assertEqual(host.freed, 1)

    def test_a_bug_raises_and_ends_it(self):
        _, found = self.play(WAIT, c.ASSAY_INTERNAL)
        with self.assertRaises(assay.InternalError):
            found.step({})
        self.assertTrue(found.done)

    def test_given_up(self):
        host, found = self.play(WAIT)
        with found:
            pass
        self.assertTrue(found.done)
        self.assertEqual(host.freed, 1)
        host, found = self.play(WAIT)
        del found
        self.assertEqual(host.freed, 1)

    def test_wrong_answers_never_reach_the_library(self):
        host, found = self.play(WAIT)
        for wrong in (None, 5, ["a"], {1: 2}, {"a": object()}):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                found.step(wrong)
        self.assertEqual(host.answers, [])
        self.assertFalse(found.done)

    def test_one_thread_at_a_time(self):
        host, found = self.play(WAIT, WAIT, c.ASSAY_OK)
        host.go_on.clear()
        thread = threading.Thread(target=found.step, args=({},))
        thread.start()
        self.assertTrue(host.inside.wait(30))
        with self.assertRaisesRegex(RuntimeError, "another thread"):
            found.step({})
        # Closing meanwhile frees the handle only when the call has ended.
        self.assertEqual(host.freed, 0)
        host.go_on.set()
        thread.join(30)
        self.assertFalse(found.done)
        found.step({})
        self.assertTrue(found.done)

    def test_close_while_a_step_runs(self):
        host, found = self.play(WAIT, c.ASSAY_OK)
        host.go_on.clear()
        thread = threading.Thread(target=found.step, args=({},))
        thread.start()
        self.assertTrue(host.inside.wait(30))
        found.close()
        self.assertEqual(host.freed, 0)
        host.go_on.set()
        thread.join(30)
        self.assertEqual(host.freed, 1)
        self.assertTrue(found.done)

    def test_it_is_made_by_a_verifier(self):
        document = verifier().exchange(RISK).document
        with self.assertRaises(TypeError):
            exchange.Exchange(None, document)
        with self.assertRaises(TypeError):
            __import__("pickle").dumps(verifier().exchange(RISK))
        self.assertIsInstance(document, documents.Document)


if __name__ == "__main__":
    unittest.main()
