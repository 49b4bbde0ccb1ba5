"""Every sender with `assay mock-apple` and its faults (PLY-7), and what senders print."""
import asyncio
import contextlib
import functools
import importlib.util
import io
import logging
import os
import ssl
import time
import tracemalloc
import unittest
from unittest import mock

import played_faults
from assay import http, senders
from assay.aio import AsyncRunner
from echo_server import EchoServer
from played_faults import GOOD, SECRETS, asked

NAME = "api.storekit.apple.com"
PROXY = dict.fromkeys(
    ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
    "http://127.0.0.1:1")


class SenderTest(unittest.TestCase):
    """The sender of the standard library; subclasses test the other ones."""

    @classmethod
    def setUpClass(cls):
        cls.bench = cls.enterClassContext(played_faults.started())
        cls.echo = cls.enterClassContext(EchoServer())
        cls.tests = {each["name"]: each for each in cls.bench.answers}

    def sender(self, hosts, roots=None):
        """Return a sender that trusts the certificates in a file; for None the system's."""
        return http.Sender(roots and ssl.create_default_context(cafile=roots), hosts)

    def send(self, name, sender=None, **changes):
        """Return the reply to a request with the fault of this name."""
        test = self.tests[name]
        self.bench.player.script(*test["rules"])
        sender = sender or self.sender(self.bench.hosts)
        return sender({**test["request"], **changes})

    def check_own(self, sender):
        """Check that a client with settings of its own sends the library's request unchanged."""
        self.assertEqual(
            self.send("a redirect, 302", sender(self.bench.hosts))["status"], 302)
        sender({NAME: self.echo.url})(asked())
        headers = {name.lower(): value for name, value in self.echo.last["headers"]}
        self.assertEqual(headers["authorization"], "Bearer shared-secret")
        self.assertNotIn("cookie", headers)

    def echoed(self, **changes):
        """Return what a server receives of a request, header names in lower case."""
        self.sender({NAME: self.echo.url})(asked(**changes))
        last = self.echo.last
        return {**last, "headers": {name.lower(): text for name, text in last["headers"]}}

    def test_the_faults(self):
        for name, test in self.tests.items():
            with self.subTest(fault=name):
                begin = time.monotonic()
                answer = self.send(name)
                took = time.monotonic() - begin
                if test["status"] == 0:
                    self.assertEqual(answer, {"id": 7, "status": 0, "body": None})
                else:
                    self.assertEqual(answer, {"id": 7, **{each: test[each] for each in (
                        "status", "headers", "body", "truncated")}})
                self.assertLess(took, 2 if test["late"] else 20)

    def test_what_is_sent(self):
        seen = self.echoed()
        self.assertEqual((seen["method"], seen["path"]), ("POST", "/v1/own?sort=a%20b&c"))
        self.assertEqual((seen["headers"]["host"], seen["headers"]["x-own"]), (NAME, "1"))
        self.assertEqual(seen["body"], asked()["body"]["text"])
        seen = self.echoed(method="GET", body=None)
        self.assertEqual((seen["method"], seen["body"]), ("GET", ""))
        self.assertEqual(self.echoed(body={"base64": "AP8="})["body"], "\0\xff")

    def test_no_cookie_is_kept(self):
        sender = self.sender({NAME: self.echo.url})
        sender(asked())
        sender(asked())
        self.assertNotIn("cookie", [name.lower() for name, _ in self.echo.last["headers"]])

    def test_nobody_listens(self):
        gone = self.sender({NAME: "http://127.0.0.1:1"})
        self.assertEqual(gone(asked())["status"], 0)

    def test_certificates(self):
        request = asked(method="GET", url="https://appleid.apple.com/auth/keys", body=None,
                        maxResponseBytes=1 << 16)
        with played_faults.started("--tls") as bench, contextlib.redirect_stderr(io.StringIO()):
            for url, roots, status in ((bench.url, bench.ca, 200), (bench.url, None, 0),
                                       (bench.expiredUrl, bench.ca, 0)):
                with self.subTest(url=url, roots=roots):
                    sender = self.sender({"appleid.apple.com": url}, roots)
                    self.assertEqual(sender(request)["status"], status)

    def test_a_bomb_takes_no_memory(self):
        self.send("a bomb")
        tracemalloc.start()
        self.send("a bomb", maxResponseBytes=1 << 20)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        self.assertLess(most, 8 << 20)

    def test_proxies_of_the_environment_are_not_used(self):
        with mock.patch.dict(os.environ, {**PROXY, "no_proxy": "", "NO_PROXY": ""}):
            self.assertEqual(self.send("good")["status"], 200)

    def test_hosts_are_of_this_machine(self):
        for url in ("http://example.com", "https://10.0.0.1", "ftp://127.0.0.1",
                    "http://127.0.0.1/path", "127.0.0.1", "http://127.0.0.1.example.com"):
            with self.subTest(url=url), self.assertRaisesRegex(ValueError, "this machine"):
                self.sender({NAME: url})
        for url in ("http://localhost:80", "https://[::1]:443", "http://127.1.2.3/"):
            self.sender({NAME: url})

    def test_the_log_has_no_secret(self):
        with self.assertLogs(level=logging.DEBUG) as logs:
            for fault in ("good", "cut"):
                self.send(fault)
            self.send("good", sensitivePaths=["url"])
        lines = [line for line in logs.output if line.startswith("INFO:assay.http:")]
        for line, wanted in zip(lines, (rf"POST {NAME}/v1/own 200 \d+ ms",
                                              rf"POST {NAME}/v1/own 0 \d+ ms",
                                              rf"POST {NAME} 200 \d+ ms")):
            self.assertRegex(line, wanted + "$")
        text = "\n".join([*logs.output, repr(self.sender(self.bench.hosts))])
        for secret in (*SECRETS, "client_secret", "-----BEGIN"):
            self.assertNotIn(secret, text)


def needs(module):
    """Decorate a class of tests, which is skipped if a module is missing."""

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
    def sender(self, hosts, roots=None):
        import httpx

        context = roots and ssl.create_default_context(cafile=roots)
        client = context and httpx.Client(verify=context, trust_env=False)
        return senders.HttpxSender(client, hosts)

    def test_an_own_client(self):
        import httpx

        with httpx.Client(follow_redirects=True, cookies={"a": "b"}, auth=("a", "b"),
                          trust_env=False) as client:
            self.check_own(functools.partial(senders.HttpxSender, client))
            self.assertFalse(client.is_closed)


@needs("requests")
class RequestsTest(SenderTest):
    def sender(self, hosts, roots=None):
        import requests

        session = requests.Session() if roots else None
        if session:
            session.verify = roots
        return senders.RequestsSender(session, hosts)

    def test_an_own_session(self):
        import requests

        with requests.Session() as session:
            session.cookies["a"], session.auth = "b", ("a", "b")
            self.check_own(functools.partial(senders.RequestsSender, session))


@needs("httpx")
class AsyncHttpxTest(SenderTest):
    def sender(self, hosts, roots=None):
        import httpx

        context = roots and ssl.create_default_context(cafile=roots)
        sender = senders.AsyncHttpxSender(
            context and httpx.AsyncClient(verify=context, trust_env=False), hosts)

        def send(request):
            async def all_of_it():
                try:
                    return await sender(request)
                finally:
                    await sender._client.aclose()
                    sender._client = None

            return asyncio.run(all_of_it())

        return functools.wraps(sender, ())(send)


class RunnerTest(unittest.TestCase):
    """Waits in an asyncio program."""

    def carry(self, step, send=None, **named):
        return asyncio.run(AsyncRunner(send, **named)(step))

    def test_a_request(self):
        async def send(request):
            return {"id": request["id"]}

        self.assertEqual(self.carry({"step": "http", "http": {"id": 3}}, send), {"id": 3})

    def test_the_sender_of_the_standard_library(self):
        with EchoServer() as echo:
            sender = http.Sender(hosts={NAME: echo.url})
            with mock.patch("assay.http.Sender", lambda: sender):
                network = AsyncRunner()
            answer = asyncio.run(network({"step": "http", "http": asked()}))
            self.assertEqual(answer["body"], {"text": GOOD})

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

        with EchoServer(late=True) as echo:
            sender = http.Sender(hosts={NAME: echo.url})
            with mock.patch("assay.http.Sender", lambda: sender):
                network = AsyncRunner()
            for step in ({"step": "http", "http": asked(timeoutMs=300)},
                         {"step": "wait", "notBeforeMs": int(time.time() * 1000) + 500}):
                counted.clear()
                asyncio.run(both(network, step))
                self.assertGreater(len(counted), 8)

    def test_waits(self):
        slept = []

        async def sleep(seconds):
            slept.append(seconds)

        def clock():
            return 100

        named = {"clock": clock, "sleep": sleep, "max_wait": 10}
        for until, answer in ((109_000, {}), (50_000, {}), (111_000, None)):
            step = {"step": "wait", "notBeforeMs": until}
            self.assertEqual(self.carry(step, **named), answer)
        self.assertEqual(slept, [9, 0])

    def test_other_steps(self):
        with self.assertRaises(NotImplementedError):
            self.carry({"step": "database", "database": {}})


if __name__ == "__main__":
    unittest.main()
