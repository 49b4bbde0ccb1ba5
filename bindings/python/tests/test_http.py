"""Conversations over the network, against a scripted server on loopback. What becomes of each
single request, test_senders.py asks of every sender."""
import json
import logging
import pprint
import socket
import unittest
from http.server import BaseHTTPRequestHandler

import assay
from assay import http
from case_table import given, table
from conversations import bodies, transcript
from echo_server import Loopback

NAMES = {"buy.itunes.apple.com": "Production", "sandbox.itunes.apple.com": "Sandbox"}


class Apple(Loopback):
    """Answers each request with the next line of a script: a function of the handler,
    or (status, headers, body)."""

    def __init__(self, *script):
        self.script = list(script)
        self.seen = []
        apple = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                apple.seen.append((self.headers["host"], self.path, dict(self.headers), body))
                line = apple.script.pop(0)
                if callable(line):
                    line(self)
                    return
                status, headers, body = line
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        super().__init__(Handler)

    @property
    def sender(self):
        return http.Sender(hosts=dict.fromkeys(NAMES, self.url))


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self, case):
        self.now = case["now"] / 1000
        self.slept = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(round(seconds, 3))
        self.now += seconds


class HttpTest(unittest.TestCase):
    def play(self, case, *script, send=None, **named):
        """A conversation of a case's request with a server that says the script."""
        verifier = table().verifier(case["verifier"])
        clock = Clock(case)
        exchange = verifier.exchange(given(case, "request"), now=case["now"])
        with Apple(*script) as apple, exchange:
            document = http.carry_out(
                exchange, send or apple.sender, clock=clock, sleep=clock.sleep, **named)
        self.clock, self.apple = clock, apple
        return document

    def test_a_hop(self):
        case = transcript("a Sandbox receipt at production")
        document = self.play(case, *((200, {}, body) for body in bodies(case)))
        self.assertTrue(document.ok, document.text)
        self.assertEqual([seen[0] for seen in self.apple.seen], list(NAMES))
        for _, path, headers, body in self.apple.seen:
            self.assertEqual(path, "/verifyReceipt")
            self.assertEqual(headers["Content-Type"], "application/json")
            self.assertEqual(
                json.loads(body)["receipt-data"], json.loads(given(case, "request"))["receipt"])
        self.assertEqual(document.json["exchange"]["hops"], 1)
        self.assertIs(type(document.facts), assay.VerifyReceiptAnswer)
        self.assertEqual(document.facts.environment, "Sandbox")
        # A finished conversation is evidence.
        verifier = table().verifier(case["verifier"])
        self.assertTrue(verifier.decide(document, now=case["now"]).document.ok)

    def test_waits(self):
        case = transcript("a good answer")
        (good,) = bodies(case)

        def hang_up(handler):
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)

        document = self.play(case, (503, {"Retry-After": "3"}, b""), hang_up, (200, {}, good))
        self.assertTrue(document.ok, document.text)
        self.assertEqual(self.clock.slept, [3.0, 4.0])
        document = self.play(case, *[(500, {}, b"")] * 3)
        self.assertEqual(document.status, "unavailable.verify-receipt.no-answer")
        self.assertEqual(list(document.json["exchange"]["retry"]["without"]), ["receipt"])
        self.assertIsNone(document.facts)

    def test_no_patience(self):
        case = transcript("a good answer")
        document = self.play(case, (429, {"Retry-After": "60"}, b""), patience=10)
        self.assertEqual(document.status, "pending.exchange.wait")
        self.assertEqual(document.json["exchange"]["reason"], "rate-limited")
        self.assertEqual(self.clock.slept, [])

    def test_an_own_client(self):
        case = transcript("a good answer")
        (good,) = bodies(case)
        sent = []

        def send(request):
            sent.append(request["url"])
            return {"id": request["id"], "status": 200, "body": {"text": good.decode()}}

        self.assertTrue(self.play(case, send=send).ok)
        self.assertEqual(sent, ["https://buy.itunes.apple.com/verifyReceipt"])
        with self.assertRaises(assay.MisuseError):
            self.play(case, send=lambda request: {"id": 0, "status": 200, "body": None})
        with self.assertRaises(ZeroDivisionError):
            self.play(case, send=lambda request: 1 / 0)

    def test_nothing_secret_is_printed(self):
        """EXC-22: no way of printing a step shows what the library marks as a secret."""
        seen = set()
        for case in table().cases:
            if case["call"] != "conversation":
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
            if "request" not in step:
                continue
            shown = "".join([
                repr(exchange), repr(exchange.document), str(exchange.document), repr(step),
                str(step["request"]), pprint.pformat(exchange.document.json),
                f"{exchange.document.json} {step['request']!r}"])
            self.assertIn("timeoutMs", shown)
            for secret in filter(None, secrets):
                self.assertNotIn(secret, shown)
                if secret in exchange.document.text:
                    seen.add((request["kind"], secret == "Bearer "))
        self.assertIn(("deviceCheck.query", True), seen)
        self.assertIn(("verifyReceipt", False), seen)

    def test_nothing_secret_is_logged(self):
        case = transcript("a good answer")
        secret = table().configuration(case["verifier"])["receipts"]["sharedSecrets"]
        with self.assertLogs(level=logging.DEBUG) as logs:
            logging.getLogger().debug("begin")
            document = self.play(case, *((200, {}, body) for body in bodies(case)))
            logging.getLogger().debug("%r %s", document, document)
        for line in logs.output:
            for value in secret.values():
                self.assertNotIn(value, line)


if __name__ == "__main__":
    unittest.main()
