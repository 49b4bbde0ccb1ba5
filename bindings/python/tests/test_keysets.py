"""Key sets that are fetched when needed, by one request for all callers (KST-10).

The verifier here is a mock, which runs the exchange `fetch-keyset` as
docs/spec/access-tokens.md §5.1 specifies it.
"""
import asyncio
import base64
import json
import threading
import types
import unittest
from concurrent.futures import ThreadPoolExecutor

import assay
import played_faults as faults
from assay import http
from assay.documents import status_named
from assay.keysets import STATE, AsyncKeysetCache, KeysetCache

ISSUER = "https://issuer.example.com"
# The base point of P-256 is a valid public key.
KEY = {"kty": "EC", "crv": "P-256",
       "x": "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY",
       "y": "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"}


def jwks(*kids):
    return json.dumps({"keys": [{"kid": kid, **KEY} for kid in kids]})


def token(kid):
    head = base64.urlsafe_b64encode(json.dumps({"alg": "ES256", "kid": kid}).encode())
    return head.decode().rstrip("=") + ".e30.AA"


class Document:
    def __init__(self, status, exchange):
        self.status, self.ok = status, status == "ok"
        self.json = {"exchange": exchange}
        self.error = None

    def raise_for_status(self):
        if not self.ok:
            raise assay.UnavailableError(status_named(self.status), {}, self)


class Exchange:
    """A mock of `fetch-keyset`: at most one wait, one request, done."""

    def __init__(self, request, now):
        self.request, self.state = request, dict(request.get("state") or {})
        self.done = False
        cooldown = min(30_000 << self.state.get("failures", 0), 600_000)
        until = self.state.get("triedAtMs", -cooldown) + cooldown
        if now < until:
            self.say("pending.exchange.wait", step="wait", notBeforeMs=until)
        else:
            self.say("pending.exchange.http", step="http", http={"id": 1})

    def say(self, status, **members):
        self.payload = members
        self.document = Document(status, members)

    def step(self, answer, now):
        self.done = True
        failed = answer["status"] != 200
        state = {"fetchedAtMs": self.state.get("fetchedAtMs", 0) if failed else now,
                 "triedAtMs": now,
                 "failures": self.state.get("failures", 0) + 1 if failed else 0}
        if failed:
            self.say("unavailable.device-check.no-response",
                     step="done", keyset=None, changed=False, **{STATE: state})
            return
        text = json.dumps({**json.loads(answer["body"]["text"]), "issuer": ISSUER,
                           "fetchedAtMs": now})
        self.say("ok", step="done", keyset=text, changed=True, **{STATE: state})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Verifier:
    """A mock that verifies by the key id only."""

    def __init__(self):
        self.requests, self.stale_after, self.now = [], 10**9, 10**12

    def clock(self):
        return self.now / 1000

    def exchange(self, request, now):
        self.requests.append(request)
        return Exchange(request, now)

    def verify_token(self, text, keys, now=None):
        head = text.split(".")[0]
        kid = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))["kid"]
        if kid not in [key.kid for key in keys.facts.keys]:
            document = Document("rejected.token.unknown-key", None)
            document.error = {"keyset": "refresh"}
            raise assay.RejectedError(status_named("rejected.token.unknown-key"), {}, document)
        if kid == "expired":
            raise assay.RejectedError(status_named("rejected.token.expired"), {})
        stale = self.now - keys.facts.fetched_at_ms > self.stale_after
        return types.SimpleNamespace(keyset=types.SimpleNamespace(stale=stale), kid=kid)


class Issuer:
    """A mock issuer, which holds requests back while its gate is closed."""

    def __init__(self, *kids):
        self.kids, self.asked, self.status = kids, 0, 200
        self.gate, self.reached = threading.Event(), threading.Event()
        self.gate.set()

    def __call__(self, request):
        self.asked += 1
        self.reached.set()
        self.gate.wait(10)
        return {"id": 1, "status": self.status, "body": {"text": jwks(*self.kids)}}


class KeysetCacheTest(unittest.TestCase):
    def setUp(self):
        self.issuer, self.verifier = Issuer("a"), Verifier()
        self.kept = {}
        self.keys = self.made()

    def made(self):
        return KeysetCache(self.verifier, self.issuer, clock=self.verifier.clock,
                       load=self.kept.get, save=self.kept.__setitem__)

    def verify(self, kid):
        return self.keys.verify_token(token(kid), ISSUER)

    def refused(self, kid):
        with self.assertRaises(assay.RejectedError):
            self.verify(kid)

    def test_one_fetch_serves_all_tokens(self):
        for _ in range(5):
            self.assertEqual(self.verify("a").kid, "a")
        self.assertEqual(self.issuer.asked, 1)
        self.assertEqual(self.verifier.requests, [{"operation": "fetch-keyset", "issuer": ISSUER}])

    def test_an_unknown_key_is_one_fetch_and_then_a_cooldown(self):
        self.verify("a")
        self.issuer.kids = ("a", "b")
        self.refused("b")  # the cooldown after the first fetch
        self.assertEqual(self.issuer.asked, 1)
        self.verifier.now += 31_000
        self.assertEqual(self.verify("b").kid, "b")
        self.assertEqual(self.verifier.requests[-1]["wantKid"], "b")
        self.assertEqual(self.verifier.requests[-1]["state"]["fetchedAtMs"], 10**12)
        for kid in ("c", "d", "e"):
            self.refused(kid)
        self.assertEqual(self.issuer.asked, 2)

    def test_only_an_unknown_key_is_a_reason_to_fetch(self):
        self.issuer.kids = ("expired",)
        self.refused("expired")
        self.verifier.now += 31_000
        self.refused("expired")
        self.assertEqual(self.issuer.asked, 1)

    def test_an_old_set_goes_on_while_the_issuer_is_away(self):
        self.verify("a")
        self.verifier.stale_after, self.issuer.status = 1000, 500
        self.verifier.now += 60_000
        for _ in range(3):
            self.assertEqual(self.verify("a").kid, "a")
        self.assertEqual(self.issuer.asked, 2)
        self.issuer.status = 200
        self.verifier.now += 61_000
        self.verify("a")
        self.verify("a")
        self.assertEqual(self.issuer.asked, 3)

    def test_no_set_and_no_answer(self):
        self.issuer.status = 0
        for _ in range(2):  # the second call is in the cooldown
            with self.assertRaises(assay.AssayError):
                self.verify("a")
        self.assertEqual(self.issuer.asked, 1)

    def test_a_cold_start_with_what_was_kept(self):
        self.verify("a")
        self.keys = self.made()
        self.assertEqual(self.verify("a").kid, "a")
        self.assertEqual(self.issuer.asked, 1)
        self.assertEqual(list(self.kept), [ISSUER])

    def test_threads_that_ask_at_once_send_one_request(self):
        self.issuer.gate.clear()
        with ThreadPoolExecutor(8) as threads:
            found = [threads.submit(self.verify, "a") for _ in range(8)]
            self.assertTrue(self.issuer.reached.wait(10))
            self.issuer.gate.set()
            self.assertEqual([each.result(10).kid for each in found], ["a"] * 8)
        self.assertEqual(self.issuer.asked, 1)

    def test_known_keys_do_not_wait_for_a_fetch_under_way(self):
        self.verify("a")
        self.verifier.now += 31_000
        self.issuer.kids = ("a", "b")
        self.issuer.gate.clear()
        self.issuer.reached.clear()
        with ThreadPoolExecutor(2) as threads:
            waiting = threads.submit(self.verify, "b")
            self.assertTrue(self.issuer.reached.wait(10))
            self.assertEqual(self.verify("a").kid, "a")
            self.assertFalse(waiting.done())
            self.issuer.gate.set()
            self.assertEqual(waiting.result(10).kid, "b")

    def test_an_error_of_the_sender_reaches_all_who_wait_and_is_not_kept(self):
        issuer = self.issuer

        def fail(request):
            issuer(request)
            raise ZeroDivisionError

        self.keys = KeysetCache(self.verifier, fail, clock=self.verifier.clock)
        for _ in range(2):
            with self.assertRaises(ZeroDivisionError):
                self.verify("a")
        self.assertEqual(issuer.asked, 2)


class LibraryTest(unittest.TestCase):
    """The library's own exchange, over the network with an issuer on loopback."""

    ISSUER = "https://es256.example.com"

    def setUp(self):
        self.bench = self.enterContext(faults.started())
        self.play = self.bench.player.play
        self.token = self.play("token", {"issuer": self.ISSUER})["token"]
        self.now, self.kept = faults.NOW / 1000, {}
        self.keys = KeysetCache(assay.Verifier(self.bench.config),
                                http.Sender(hosts=self.bench.hosts),
                            clock=lambda: self.now, save=self.kept.__setitem__)

    def verify(self):
        return self.keys.verify_token(self.token, self.ISSUER, faults.NOW)

    def statuses(self):
        return [entry["status"] for entry in self.bench.player.log()]

    def test_fetched_unchanged_and_refused(self):
        self.assertEqual(self.verify().keyset.issuer, self.ISSUER)
        first = self.keys.keyset(self.ISSUER)
        self.assertIs(self.keys.refresh(self.ISSUER, first), first)  # the cooldown
        self.now += 31
        second = self.keys.refresh(self.ISSUER, first)  # 304: the same keys, fetched now
        self.assertEqual(second.facts.fetched_at_ms - first.facts.fetched_at_ms, 31_000)
        self.assertEqual(self.statuses(), [200, 304])
        for failures, fault in ((1, {"oversize": 300_000}), (2, {"body": "{}"})):
            self.play("script", [{"fault": {"status": 200, **fault}}])
            self.now += 601
            self.assertIs(self.keys.refresh(self.ISSUER, second), second)
            state = json.loads(self.kept[self.ISSUER])["state"]
            self.assertEqual(state["failures"], failures)

    def test_a_set_that_is_too_old_is_a_reason_to_fetch(self):
        self.now -= 8 * 86_400
        self.keys.keyset(self.ISSUER)
        self.now += 8 * 86_400
        self.play("script", [{"fault": {"status": 503}}])
        with self.assertRaises(assay.UnavailableError):  # the set is too old (KST-5)
            self.verify()
        self.play("script", [])
        self.now += 61
        self.assertFalse(self.verify().keyset.stale)
        self.assertEqual(self.statuses(), [200, 503, 304])


class AsyncKeysetCacheTest(unittest.TestCase):
    def setUp(self):
        self.verifier, self.asked = Verifier(), 0
        self.kids = ("a",)

    def run_with(self, work):
        async def all_of_it():
            gate = asyncio.Event()

            async def send(request):
                self.asked += 1
                await gate.wait()
                return {"id": 1, "status": 200, "body": {"text": jwks(*self.kids)}}

            keys = AsyncKeysetCache(self.verifier, send, clock=self.verifier.clock)
            await work(keys, gate)

        asyncio.run(all_of_it())

    def test_tasks_that_ask_at_once_send_one_request(self):
        async def work(keys, gate):
            tasks = [asyncio.ensure_future(keys.verify_token(token("a"), ISSUER))
                     for _ in range(8)]
            await asyncio.sleep(0.01)
            tasks[0].cancel()  # the task that began the request
            gate.set()
            found = await asyncio.gather(*tasks, return_exceptions=True)
            self.assertIsInstance(found[0], asyncio.CancelledError)
            self.assertEqual([each.kid for each in found[1:]], ["a"] * 7)

        self.run_with(work)
        self.assertEqual(self.asked, 1)

    def test_an_unknown_key_and_a_stale_set(self):
        async def work(keys, gate):
            gate.set()
            await keys.verify_token(token("a"), ISSUER)
            with self.assertRaises(assay.RejectedError):
                await keys.verify_token(token("b"), ISSUER)
            self.kids = ("a", "b")
            self.verifier.now += 31_000
            self.assertEqual((await keys.verify_token(token("b"), ISSUER)).kid, "b")
            self.verifier.now += 31_000
            self.verifier.stale_after = 1000
            await keys.verify_token(token("a"), ISSUER)

        self.run_with(work)
        self.assertEqual(self.asked, 3)


if __name__ == "__main__":
    unittest.main()
