"""Exchanges with responses from a script. test_senders.py tests every sender on the network."""
import json
import pprint
import unittest

import assay
from case_table import given, table
from transcripts import begun, bodies, transcript

ADDRESSES = ["https://buy.itunes.apple.com/verifyReceipt",
             "https://sandbox.itunes.apple.com/verifyReceipt"]


class Clock:
    """A clock that only sleeping advances."""

    def __init__(self, case):
        self.now = case["now"] / 1000
        self.slept = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(round(seconds, 3))
        self.now += seconds


class HttpTest(unittest.TestCase):
    def play(self, case, *script, **named):
        """Run an exchange of a case's request, whose responses are the lines of a script: (status,
        headers, body), or 0 for no response."""
        verifier = table().verifier(case["verifier"])
        self.clock, self.asked, lines = Clock(case), [], iter(script)

        def send(request):
            self.asked.append(request)
            status, headers, body = next(lines)
            return {"id": request["id"], "status": status, "headers": headers,
                    "body": {"text": body.decode()} if status else None}

        with verifier.exchange(given(case, "request"), now=case["now"]) as exchange:
            return exchange.run(send, clock=self.clock, sleep=self.clock.sleep, **named)

    def test_a_hop(self):
        case = transcript("a Sandbox receipt at production")
        document = self.play(case, *((200, [], body) for body in bodies(case)))
        self.assertTrue(document.ok, document.text)
        self.assertEqual([request["url"] for request in self.asked], ADDRESSES)
        self.assertEqual(document.json["exchange"]["hops"], 1)
        self.assertIs(type(document.facts), assay.VerifyReceiptResponse)
        self.assertEqual(document.facts.environment, "Sandbox")
        # The result of a finished exchange is evidence.
        verifier = table().verifier(case["verifier"])
        self.assertTrue(verifier.decide(document, now=case["now"]).document.ok)

    def test_waits(self):
        case = transcript("a good answer")
        (good,) = bodies(case)
        document = self.play(
            case, (503, [["retry-after", "3"]], b""), (0, [], b""), (200, [], good))
        self.assertTrue(document.ok, document.text)
        self.assertEqual(self.clock.slept, [3.0, 4.0])
        document = self.play(case, *[(500, [], b"")] * 3)
        self.assertEqual(document.status, "unavailable.verify-receipt.no-response")
        self.assertEqual(list(document.json["exchange"]["retry"]["omitted"]), ["receipt"])
        self.assertIsNone(document.facts)

    def test_no_patience(self):
        case = transcript("a good answer")
        document = self.play(case, (429, [["retry-after", "60"]], b""), max_wait=10)
        self.assertEqual(document.status, "pending.exchange.wait")
        self.assertEqual(document.json["exchange"]["reason"], "rate-limited")
        self.assertEqual(self.clock.slept, [])

    def test_what_a_sender_may_not_do(self):
        case = transcript("a good answer")
        for send, error in ((lambda request: {"id": 0, "status": 200, "body": None},
                             assay.MisuseError), (lambda request: 1 / 0, ZeroDivisionError)):
            with begun(case) as exchange, self.assertRaises(error):
                exchange.run(send)

    def test_nothing_secret_is_printed(self):
        """Check that no printed form of a step contains what the library marks as secret
        (EXC-22)."""
        seen = set()
        for case in table().cases:
            if case["call"] != "transcript":
                continue
            request = json.loads(given(case, "request"))
            verifier = table().verifier(case["verifier"])
            try:
                exchange = verifier.exchange(request, now=case["now"])
            except assay.AssayError:
                continue
            if exchange.done:
                continue
            block = table().configuration(case["verifier"]).get("receipts", {})
            secrets = [*block.get("sharedSecrets", {}).values(), request.get("deviceToken"),
                       request.get("receipt"), "Bearer ", "client_secret", "-----BEGIN"]
            step = exchange.payload
            if "http" not in step:
                continue
            shown = "".join([
                repr(exchange), repr(exchange.document), str(exchange.document), repr(step),
                str(step["http"]), pprint.pformat(exchange.document.json),
                f"{exchange.document.json} {step['http']!r}"])
            self.assertIn("timeoutMs", shown)
            for secret in filter(None, secrets):
                self.assertNotIn(secret, shown)
                if secret in exchange.document.text:
                    seen.add((request["operation"], secret == "Bearer "))
        self.assertIn(("query-device-bits", True), seen)
        self.assertIn(("call-verify-receipt", False), seen)


if __name__ == "__main__":
    unittest.main()
