"""Conversations over the network, against a scripted server on loopback."""
import base64
import json
import logging
import os
import pprint
import socket
import threading
import unittest
from http.server import BaseHTTPRequestHandler
from unittest import mock

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
        document = self.play(
            case, (503, {"Retry-After": "3"}, b""), (200, {}, b"<html>"), (200, {}, good))
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

    def test_redirects_are_not_followed(self):
        case = transcript("a good answer")
        document = self.play(case, (302, {"Location": "http://127.0.0.1:1/"}, b""))
        self.assertEqual(document.status, "rejected.verify-receipt.http")
        self.assertEqual(len(self.apple.seen), 1)

    def test_no_answer(self):
        case = transcript("a good answer")
        (good,) = bodies(case)

        def hang_up(handler):
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)

        def half(handler):
            handler.send_response(200)
            handler.send_header("content-length", str(len(good)))
            handler.end_headers()
            handler.wfile.write(good[:100])
            handler.close_connection = True

        document = self.play(case, hang_up, half, (200, {}, good))
        self.assertTrue(document.ok, document.text)
        self.assertEqual(document.json["exchange"]["attempts"], 3)
        with Apple() as gone:
            sender = gone.sender
        self.assertEqual(self.play(case, send=sender).status,
                         "unavailable.verify-receipt.no-answer")

    def test_timeout(self):
        begun = threading.Event()

        def drip(handler):
            begun.set()
            handler.send_response(200)
            handler.send_header("content-length", "1000")
            handler.end_headers()
            try:
                for _ in range(1000):
                    handler.wfile.write(b" ")
                    handler.wfile.flush()
                    if stop.wait(0.02):
                        return
            except OSError:
                pass

        stop = threading.Event()
        with Apple(drip) as apple:
            request = {**self.request(), "timeoutMs": 200}
            self.assertEqual(apple.sender(request)["status"], 0)
            stop.set()
        self.assertTrue(begun.is_set())

    def request(self, **changes):
        return {
            "id": 7, "method": "POST", "url": "https://buy.itunes.apple.com/verifyReceipt",
            "headers": [["Accept", "text/plain"]], "body": {"base64": "AP8="},
            "timeoutMs": 5000, "maxResponseBytes": 10, "wantHeaders": ["etag"],
            "secret": ["body"], **changes,
        }

    def test_answers(self):
        script = [
            (200, {"ETag": "x", "Set-Cookie": "a=b"}, b"0123456789"),
            (200, {}, b"01234567890"), (204, {}, b""), (200, {}, b"\xff"), (200, {}, b"a\0"),
        ]
        with Apple(*script) as apple:
            sender = apple.sender
            found = [sender(self.request()) for _ in script]
            self.assertEqual(apple.seen[0][3], b"\x00\xff")
            self.assertNotIn("Cookie", apple.seen[1][2])
        common = {"id": 7, "headers": [], "cut": False}
        self.assertEqual(found, [
            {**common, "status": 200, "headers": [["etag", "x"]], "body": {"text": "0123456789"}},
            {**common, "status": 200, "body": None, "cut": True},
            {**common, "status": 204, "body": {"text": ""}},
            {**common, "status": 200, "body": {"base64": "/w=="}},
            {**common, "status": 200, "body": {"base64": "YQA="}},
        ])

    def test_long_answers_become_base64(self):
        long = b"[" + b" " * (1 << 20) + b"]"
        with Apple((200, {}, long)) as apple:
            answer = apple.sender(self.request(maxResponseBytes=8 << 20))
        self.assertEqual(base64.b64decode(answer["body"]["base64"]), long)

    def test_proxies_of_the_environment_are_not_used(self):
        case = transcript("a good answer")
        proxy = {"https_proxy": "http://127.0.0.1:1", "http_proxy": "http://127.0.0.1:1"}
        with mock.patch.dict(os.environ, proxy):
            document = self.play(case, *((200, {}, body) for body in bodies(case)))
        self.assertTrue(document.ok)

    def test_hosts_are_of_this_machine(self):
        for url in ("http://example.com", "https://10.0.0.1", "ftp://127.0.0.1",
                    "http://127.0.0.1/path", "127.0.0.1", "http://127.0.0.1.example.com"):
            with self.subTest(url=url), self.assertRaises(ValueError):
                http.Sender(hosts={"buy.itunes.apple.com": url})
        for url in ("http://localhost:80", "https://[::1]:443", "http://127.1.2.3/"):
            http.Sender(hosts={"buy.itunes.apple.com": url})

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
