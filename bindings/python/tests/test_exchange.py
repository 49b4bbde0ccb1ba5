"""Exchanges without steps, and with steps.

test_http.py tests them over the network.
"""
import json
import threading
import unittest

import assay
from assay import _prototypes as c
from assay import documents, exchange
from case_table import called, table
from transcripts import Door, answers, begun, transcript, watched

RISK = {"operation": "assess-risk", "observations": {"request": "paid", "attestation": "verified"}}


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
        text = json.dumps(RISK)
        for form in (RISK, text, text.encode()):
            with self.subTest(form=type(form).__name__):
                self.assertTrue(self.verifier.exchange(form).document.ok)
        for wrong in (None, 5, ["a"]):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                self.verifier.exchange(wrong)

    def test_misuse_raises(self):
        for request, now in (({}, None), ("", None), ("\ud800", None), (RISK, 5)):
            with self.subTest(request=request), self.assertRaises(assay.MisuseError):
                self.verifier.exchange(request, now=now)

    def test_evidence(self):
        case = table().accepted("transaction")
        owner = table().verifier(case["verifier"])
        transaction = called(case)
        for evidence in (transaction, [transaction.document]):
            with self.assertRaises(assay.MisuseError):  # this operation takes no evidence
                owner.exchange(RISK, evidence, case["now"])
        with self.assertRaises(TypeError):
            owner.exchange(RISK, ["text"])

    def test_closed_verifier(self):
        self.verifier.close()
        for call in (lambda: self.verifier.exchange(RISK),
                     lambda: self.verifier.assess_risk(RISK["observations"])):
            with self.assertRaisesRegex(ValueError, "closed"):
                call()


class StepTest(unittest.TestCase):
    """The library's own exchanges, with the replies of the case table's transcripts."""

    def test_until_the_end(self):
        case = transcript("a Sandbox receipt at production")
        one, two = answers(case)
        with watched() as freed:
            found = begun(case)
            first = found.document
            self.assertFalse(found.done)
            second = found.step(one, case["now"])
            self.assertIs(found.document, second)
            self.assertIsNot(first, second)
            self.assertFalse(found.done)
            self.assertEqual(freed, [])
            third = found.step(json.dumps(two), case["now"])
            self.assertTrue(found.done)
            self.assertIs(found.document, third)
            self.assertTrue(third.ok, third.text)
            self.assertEqual(len(freed), 1)
            with self.assertRaisesRegex(ValueError, "over"):
                found.step({})
        self.assertEqual(first.json["exchange"]["http"]["id"], 1)
        self.assertEqual(second.json["exchange"]["http"]["id"], 2)

    def test_the_time_of_a_step(self):
        case = transcript("Retry-After with HTTP status 503")
        for later in (0, 2500):
            with begun(case) as found:
                found.step(answers(case)[0], case["now"] + later)
                self.assertEqual(found.payload["notBeforeMs"], case["now"] + later + 7000)

    def test_misuse_leaves_the_step_open(self):
        case = transcript("a good answer")
        (good,) = answers(case)
        found = begun(case)
        first = found.document
        for wrong in ({}, {**good, "id": 2}, "[]"):
            with self.subTest(wrong=wrong), self.assertRaises(assay.MisuseError):
                found.step(wrong, case["now"])
            self.assertFalse(found.done)
            self.assertIs(found.document, first)
        self.assertTrue(found.step(good, case["now"]).ok)
        self.assertTrue(found.done)

    def test_a_refusal_ends_it(self):
        for name, family in (
            ("HTTP status 400", c.ASSAY_REJECTED), ("21008 of production", c.ASSAY_UNAVAILABLE),
            ("an answer without a status", c.ASSAY_MALFORMED),
            ("a version 1 notification", c.ASSAY_UNSUPPORTED),
            ("an answer that was cut", c.ASSAY_TOO_LARGE),
        ):
            case = transcript(name)
            with self.subTest(name=name), watched() as freed:
                found = begun(case)
                self.assertEqual(found.step(*answers(case), case["now"]).code & 0xFF, family)
                self.assertTrue(found.done)
                self.assertEqual(len(freed), 1)

    def test_a_bug_raises_and_ends_it(self):
        # The library never returns this status here, so the test makes a document with it.
        made = documents.Document(begun(transcript("a good answer")).document._handle,
                                  c.ASSAY_INTERNAL)
        with watched() as freed:
            found = begun(transcript("a good answer"))
            with self.assertRaises(assay.InternalError):
                found._took(made)
            self.assertTrue(found.done)
            self.assertEqual(len(freed), 1)

    def test_given_up(self):
        case = transcript("a good answer")
        with watched() as freed:
            with begun(case) as found:
                self.assertFalse(found.done)
            self.assertTrue(found.done)
            self.assertEqual(len(freed), 1)
            found = begun(case)
            del found
            self.assertEqual(len(freed), 2)

    def test_wrong_answers_never_reach_the_library(self):
        found = begun(transcript("a good answer"))
        with Door() as door:
            for wrong in (None, 5, ["a"], {1: 2}, {"a": object()}):
                with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                    found.step(wrong)
            self.assertFalse(door.inside.is_set())
        self.assertFalse(found.done)

    def test_one_thread_at_a_time(self):
        case = transcript("a Sandbox receipt at production")
        one, two = answers(case)
        found = begun(case)
        with Door() as door:
            thread = threading.Thread(target=found.step, args=(one, case["now"]))
            thread.start()
            self.assertTrue(door.inside.wait(30))
            with self.assertRaisesRegex(RuntimeError, "another thread"):
                found.step(two, case["now"])
            door.open.set()
            thread.join(30)
        self.assertFalse(found.done)
        self.assertTrue(found.step(two, case["now"]).ok)

    def test_close_while_a_step_runs(self):
        case = transcript("a good answer")
        with watched() as freed:
            found = begun(case)
            with Door() as door:
                thread = threading.Thread(target=found.step, args=(*answers(case), case["now"]))
                thread.start()
                self.assertTrue(door.inside.wait(30))
                # The handle is freed only when the call has ended.
                found.close()
                self.assertEqual(freed, [])
                door.open.set()
                thread.join(30)
            self.assertEqual(len(freed), 1)
        self.assertTrue(found.done)
        self.assertTrue(found.document.ok)

    def test_it_is_made_by_a_verifier(self):
        document = verifier().exchange(RISK).document
        with self.assertRaises(TypeError):
            exchange.Exchange(None, document)
        with self.assertRaises(TypeError):
            __import__("pickle").dumps(verifier().exchange(RISK))
        self.assertIsInstance(document, documents.Document)


if __name__ == "__main__":
    unittest.main()
