"""Every sender against a server of faults (PLY-7), and what senders print."""
import asyncio
import base64
import contextlib
import functools
import importlib.util
import io
import logging
import os
import time
import tracemalloc
import unittest
from unittest import mock

from assay import http, senders
from assay.aio import Network
from fault_server import GOOD, FaultServer

NAME = "api.storekit.apple.com"
PROXY = dict.fromkeys(
    ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
    "http://127.0.0.1:1")
SECRETS = ("Bearer ", "client_secret", "-----BEGIN", "shared-secret", "ZGV2aWNlLXRva2Vu")


def asked(fault, **changes):
    return {
        "id": 7, "method": "POST", "url": f"https://{NAME}/{fault}/v1?sort=a%20b&c",
        "headers": [["Authorization", "Bearer shared-secret"], ["X-Own", "1"]],
        "body": {"text": '{"password":"shared-secret","device_token":"ZGV2aWNlLXRva2Vu"}'},
        "timeoutMs": 5000, "maxResponseBytes": 4096, "wantHeaders": ["etag"],
        "secret": ["headers.authorization", "body"], **changes,
    }


class SenderTest(unittest.TestCase):
    """The sender of the standard library; below, the same of others."""

    @classmethod
    def setUpClass(cls):
        cls.faults = cls.enterClassContext(FaultServer())

    def sender(self, url):
        return http.Sender(hosts={NAME: url})

    def send(self, fault, url=None, **changes):
        return self.sender(url or self.faults.url)(asked(fault, **changes))

    def assert_none(self, answer):
        self.assertEqual(answer, {"id": 7, "status": 0, "body": None})

    def assert_good(self, answer):
        self.assertEqual((answer["status"], answer["body"], answer["cut"]),
                         (200, {"text": GOOD.decode()}, False))

    def test_a_good_answer(self):
        answer = self.send("good")
        self.assertEqual(answer, {"id": 7, "status": 200, "headers": [["etag", '"1"']],
                                  "body": {"text": GOOD.decode()}, "cut": False})
        last = self.faults.last
        headers = {name.lower(): value for name, value in last["headers"]}
        self.assertEqual((last["method"], last["path"]), ("POST", "/good/v1?sort=a%20b&c"))
        self.assertEqual((headers["host"], headers["x-own"]), (NAME, "1"))
        self.assertEqual(last["body"], asked("good")["body"]["text"])

    def test_other_requests(self):
        self.send("good", method="GET", body=None)
        self.assertEqual((self.faults.last["method"], self.faults.last["body"]), ("GET", ""))
        self.send("good", body={"base64": "AP8="})
        self.assertEqual(self.faults.last["body"], "\0\xff")

    def test_no_cookie_is_kept(self):
        sender = self.sender(self.faults.url)
        sender(asked("good"))
        sender(asked("good"))
        self.assertNotIn("cookie", [name.lower() for name, _ in self.faults.last["headers"]])

    def test_the_time_is_that_of_the_whole(self):
        for fault in ("slow", "drip", "drip-head"):
            begin = time.monotonic()
            with self.subTest(fault=fault):
                self.assert_none(self.send(fault, timeoutMs=300))
                self.assertLess(time.monotonic() - begin, 2)

    def test_half_an_answer_is_none(self):
        for fault in ("cut", "reset", "half-gzip", "half-chunked", "brotli"):
            with self.subTest(fault=fault):
                self.assert_none(self.send(fault))

    def test_nobody_listens(self):
        with FaultServer() as gone:
            url = gone.url
        self.assert_none(self.send("good", url))

    def test_a_certificate_that_nobody_trusts(self):
        with FaultServer(tls=True) as untrusted, contextlib.redirect_stderr(io.StringIO()):
            self.assert_none(self.send("good", untrusted.url))
            self.assertEqual(untrusted.hits["good"], 0)

    def test_what_is_too_long_is_cut(self):
        for fault in ("oversize", "bomb"):
            with self.subTest(fault=fault):
                answer = self.send(fault)
                self.assertEqual((answer["status"], answer["body"], answer["cut"]),
                                 (200, None, True))
        self.assertFalse(self.send("good", maxResponseBytes=len(GOOD))["cut"])
        self.assertTrue(self.send("good", maxResponseBytes=len(GOOD) - 1)["cut"])

    def test_a_bomb_takes_no_memory(self):
        self.send("bomb")
        tracemalloc.start()
        self.send("bomb", maxResponseBytes=1 << 20)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        self.assertLess(most, 8 << 20)

    def test_redirects_are_not_followed(self):
        self.assertEqual(self.send("redirect")["status"], 302)
        self.assertEqual(self.faults.hits["target"], 0)

    def test_codings_and_kinds(self):
        for fault in ("gzip", "chunked", "type"):
            with self.subTest(fault=fault):
                self.assert_good(self.send(fault))
        self.assertEqual(self.send("octets")["body"], {"base64": "/wA="})
        answer = self.send("long", maxResponseBytes=2 << 20)
        self.assertEqual(len(base64.b64decode(answer["body"]["base64"])), (1 << 20) + 2)

    def test_no_body(self):
        self.assertEqual((self.send("empty")["status"], self.send("empty")["body"]),
                         (204, {"text": ""}))
        unchanged = self.send("unchanged")
        self.assertEqual((unchanged["status"], unchanged["headers"]), (304, [["etag", '"1"']]))

    def test_proxies_of_the_environment_are_not_used(self):
        with mock.patch.dict(os.environ, {**PROXY, "no_proxy": "", "NO_PROXY": ""}):
            self.assert_good(self.send("good"))

    def test_hosts_are_of_this_machine(self):
        for url in ("http://example.com", "https://10.0.0.1", "ftp://127.0.0.1",
                    "http://127.0.0.1/path", "127.0.0.1", "http://127.0.0.1.example.com"):
            with self.subTest(url=url), self.assertRaisesRegex(ValueError, "this machine"):
                self.sender(url)

    def test_the_log_has_no_secret(self):
        with self.assertLogs("assay.http", logging.INFO) as logs:
            for fault in ("good", "cut"):
                self.send(fault)
            self.send("good", secret=["url"])
        for line, wanted in zip(logs.output, (rf"POST {NAME}/good/v1 200 \d+ ms",
                                              rf"POST {NAME}/cut/v1 0 \d+ ms",
                                              rf"POST {NAME} 200 \d+ ms")):
            self.assertRegex(line, wanted + "$")
        text = "\n".join([*logs.output, repr(self.sender(self.faults.url))])
        for secret in SECRETS:
            self.assertNotIn(secret, text)


def needs(module):
    """The tests of a class, or in their place one that is skipped: module is missing."""

    def chosen(case):
        if importlib.util.find_spec(module) is not None:
            return case

        class Missing(unittest.TestCase):
            def test_what_is_not_installed(self):
                self.skipTest(f"{module} is not installed")

        Missing.__qualname__ = case.__qualname__
        return Missing

    return chosen


@needs("httpx")
class HttpxTest(SenderTest):
    def sender(self, url):
        return senders.HttpxSender(hosts={NAME: url})

    def test_an_own_client(self):
        import httpx

        with httpx.Client(follow_redirects=True, cookies={"a": "b"}, auth=("a", "b"),
                          trust_env=False) as client:
            sender = senders.HttpxSender(client, {NAME: self.faults.url})
            self.assertEqual(sender(asked("redirect"))["status"], 302)
            self.assertFalse(client.is_closed)
        self.assertEqual(self.faults.hits["target"], 0)
        headers = {name.lower(): value for name, value in self.faults.last["headers"]}
        self.assertEqual(headers["authorization"], "Bearer shared-secret")
        self.assertNotIn("cookie", headers)


@needs("requests")
class RequestsTest(SenderTest):
    def sender(self, url):
        return senders.RequestsSender(hosts={NAME: url})

    def test_an_own_session(self):
        import requests

        with requests.Session() as session:
            session.cookies["a"], session.auth = "b", ("a", "b")
            sender = senders.RequestsSender(session, {NAME: self.faults.url})
            self.assertEqual(sender(asked("redirect"))["status"], 302)
        self.assertEqual(self.faults.hits["target"], 0)
        headers = {name.lower(): value for name, value in self.faults.last["headers"]}
        self.assertEqual(headers["authorization"], "Bearer shared-secret")
        self.assertNotIn("cookie", headers)


@needs("httpx")
class AsyncHttpxTest(SenderTest):
    def sender(self, url):
        sender = senders.AsyncHttpxSender(hosts={NAME: url})

        def send(request):
            async def all_of_it():
                try:
                    return await sender(request)
                finally:
                    await sender._client.aclose()
                    sender._client = None

            return asyncio.run(all_of_it())

        return functools.wraps(sender, ())(send)


class NetworkTest(unittest.TestCase):
    """Waiting in an asyncio program."""

    def carry(self, step, send=None, **named):
        return asyncio.run(Network(send, **named)(step))

    def test_a_request(self):
        async def send(request):
            return {"id": request["id"]}

        self.assertEqual(self.carry({"state": "request", "request": {"id": 3}}, send), {"id": 3})

    def test_the_sender_of_the_standard_library(self):
        with FaultServer() as faults:
            sender = http.Sender(hosts={NAME: faults.url})
            with mock.patch("assay.http.Sender", lambda: sender):
                network = Network()
            answer = asyncio.run(network({"state": "request", "request": asked("good")}))
            self.assertEqual(answer["body"], {"text": GOOD.decode()})

    def test_the_loop_goes_on_during_a_request_and_a_wait(self):
        counted = []

        async def count():
            while True:
                counted.append(1)
                await asyncio.sleep(0.01)

        async def both(network, step):
            counting = asyncio.ensure_future(count())
            found = await network(step)
            counting.cancel()
            return found

        with FaultServer() as faults:
            sender = http.Sender(hosts={NAME: faults.url})
            with mock.patch("assay.http.Sender", lambda: sender):
                network = Network()
            for step in ({"state": "request", "request": asked("slow", timeoutMs=300)},
                         {"state": "wait", "notBeforeMs": int(time.time() * 1000) + 500}):
                counted.clear()
                asyncio.run(both(network, step))
                self.assertGreater(len(counted), 8)

    def test_waits(self):
        slept = []

        async def sleep(seconds):
            slept.append(seconds)

        def clock():
            return 100

        named = {"clock": clock, "sleep": sleep, "patience": 10}
        for until, answer in ((109_000, {}), (50_000, {}), (111_000, None)):
            step = {"state": "wait", "notBeforeMs": until}
            self.assertEqual(self.carry(step, **named), answer)
        self.assertEqual(slept, [9, 0])

    def test_other_steps(self):
        with self.assertRaises(NotImplementedError):
            self.carry({"state": "store", "store": {}})


if __name__ == "__main__":
    unittest.main()
