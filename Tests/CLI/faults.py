#!/usr/bin/env python3
"""The faults with which every driver is tested (PLY-7): requests and expected results.

  faults.py BINARY [--tls]   mocks Apple; prints one line of JSON, and ends when its input does

The line has `url`, `expiredUrl`, `ca`, `hosts`, `config`, `now` (the time of all exchanges),
and two lists of tests, each with the `rules` to be posted to /play/script before it:
  answers    `request` as a step has it; `status`, `headers`, `body`, `truncated` of the
             sender's expected reply; `late`: whether its time ends before the response
  exchanges  `request` for assay_exchange_new; `status` of its end after so many
             `requests`
"""
import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

from player import NOW, Player, encoded

HOST = "api.storekit.apple.com"
GOOD = '{"good":true}'
ISSUER = "https://es256.example.com"
FIRST = "2000000900000001"
# An address without a server: a client that follows a redirect gets no response.
NOWHERE = "http://127.0.0.1:9/followed"
SECRETS = ["Bearer ", "shared-secret", "ZGV2aWNlLXRva2Vu"]


def asked(**changes):
    """Return a request as a step has it, with secrets."""
    return {"id": 7, "method": "POST", "url": f"https://{HOST}/v1/own?sort=a%20b&c",
            "headers": [["Authorization", "Bearer shared-secret"], ["X-Own", "1"]],
            "body": {"text": '{"password":"shared-secret","device_token":"ZGV2aWNlLXRva2Vu"}'},
            "timeoutMs": 5000, "maxResponseBytes": 4096, "responseHeaders": ["etag", "retry-after"],
            "sensitivePaths": ["headers.authorization", "body"], **changes}


def answer(name, fault, status=200, body=GOOD, headers=(), truncated=False, late=False, **changes):
    if isinstance(body, str):
        body = {"text": body}
    elif isinstance(body, bytes):
        body = {"base64": encoded(body)}
    rule = {"host": HOST, "fault": {"status": 200, "body": GOOD, **fault}}
    return {"name": name, "rules": [rule], "request": asked(**changes), "status": status,
            "headers": list(headers), "body": body, "truncated": truncated, "late": late}


def none(name, fault, **more):
    return answer(name, fault, 0, None, **more)


def answers():
    """Return the expected reply of a sender to each fault."""
    yield answer("good", {"headers": [["ETag", '"1"'], ["X-Other", "1"], ["Set-Cookie", "a=b"]]},
                 headers=[["etag", '"1"']])
    yield answer("a body of as many bytes as are wanted", {}, maxResponseBytes=len(GOOD))
    yield answer("a body of one more", {}, body=None, truncated=True,
                 maxResponseBytes=len(GOOD) - 1)
    for status in (204, 304):
        yield answer(f"status {status}", {"status": status}, status, "")
    for status in (201, 299, 400, 401, 403, 404, 418, 429, 500, 503, 599):
        yield answer(f"status {status}", {"status": status}, status)
    yield answer("429 with a time", {"status": 429, "headers": [["Retry-After", "7"]]}, 429,
                 headers=[["retry-after", "7"]])
    for status in (301, 302, 307, 308):
        yield answer(f"a redirect, {status}",
                     {"status": status, "body": "", "headers": [["Location", NOWHERE]]}, status, "")
    late = {"late": True, "timeoutMs": 300}
    yield none("status 100 and nothing more", {"status": 100, "body": ""}, **late)
    yield none("slow", {"slowMs": 3000}, **late)
    yield none("one byte at a time", {"dripMs": 20, "body": " " * 500}, **late)
    yield none("one byte of the head at a time", {"dripHeadMs": 20}, **late)
    yield none("a chunk of one byte at a time", {"dripMs": 20, "chunks": 1}, **late)
    yield answer("one byte at a time, in time", {"dripMs": 2})
    yield none("cut", {"cut": 5})
    yield none("cut before the body", {"cut": 0})
    yield none("cut between chunks", {"chunks": 4, "cut": 14})
    yield none("reset", {"reset": True})
    yield none("refused", {"refuse": True})
    yield answer("chunks", {"chunks": 1})
    yield answer("another type", {"contentType": "text/html; charset=utf-16"})
    yield answer("no type", {"contentType": None})
    yield answer("gzip", {"gzip": True})
    half = encoded(gzip.compress(GOOD.encode(), mtime=0)[:-12])
    coded = [["Content-Encoding", "gzip"]]
    yield none("half of gzip", {"body": {"base64": half}, "headers": coded})
    yield none("gzip that is none", {"headers": coded})
    yield none("a coding that nobody asked for", {"headers": [["Content-Encoding", "br"]]})
    yield answer("a bomb", {"gzip": "bomb"}, body=None, truncated=True)
    yield answer("oversized", {"oversize": 100_000}, body=None, truncated=True)
    yield answer("oversized, in chunks", {"oversize": 100_000, "chunks": 1000}, body=None,
                 truncated=True)
    yield answer("octets", {"body": {"base64": encoded(b"\xff\x00")}}, body=b"\xff\x00")
    yield answer("a NUL", {"body": {"base64": encoded(b"a\x00")}}, body=b"a\x00")
    yield answer("a mark", {"bom": True}, body="\ufeff" + GOOD)
    yield answer("more behind it", {"trailing": " {}"}, body=GOOD + " {}")
    long = b"[" + b" " * (1 << 20) + b"]"
    yield answer("long", {"body": long.decode()}, body=long, maxResponseBytes=2 << 20)


def verify_receipt():
    last = "unavailable.verify-receipt.no-response"
    yield "as it is", None, "ok", 1
    yield "one 503", [{"nth": 1, "fault": {"status": 503}}], "ok", 2
    yield "two resets", [{"nth": [1, 2], "fault": {"reset": True}}], "ok", 3
    yield "not accepted", {"refuse": True}, last, 3
    yield ("one byte at a time", [{"nth": 1, "fault": {
        "status": 200, "body": '{"status":21003}', "dripMs": 5}}],
        "rejected.verify-receipt.not-authentic", 1)
    yield "429 for ever", {"retryAfter": 1}, last, 3
    yield "cut", {"cut": 20}, last, 3
    yield "another type", {"contentType": "text/html"}, "ok", 1
    yield "a redirect", {"redirect": NOWHERE}, "rejected.verify-receipt.http", 1
    yield "a 404", {"status": 404}, "rejected.verify-receipt.http", 1
    yield "chunks", {"chunks": 1000}, "ok", 1
    yield "a mark", {"bom": True}, last, 3
    yield "utf16", {"utf16": True}, last, 3
    yield "twice a member", {"duplicate": "status"}, "malformed.verify-receipt.body", 1
    yield "more behind it", {"trailing": "{}"}, last, 3
    yield "gzip unasked", {"gzip": True}, "ok", 1
    yield "a bomb", {"gzip": "bomb"}, "too-large.verify-receipt.body", 1
    yield "9 MiB", {"oversize": 9 << 20}, "too-large.verify-receipt.body", 1
    yield "hop always", {"hop": "always"}, "unavailable.verify-receipt.environment-loop", 2
    yield "21002 twice", {"appleStatus": 21002}, "rejected.verify-receipt.malformed", 2
    yield "21003", {"appleStatus": 21003}, "rejected.verify-receipt.not-authentic", 1
    yield ("21150", {"appleStatus": 21150, "retryable": False},
           "rejected.verify-receipt.internal", 1)
    yield ("21150 later", {"appleStatus": 21150, "retryable": True},
           "unavailable.verify-receipt.internal", 3)
    yield "a bad signature", {"badSignature": True}, "ok", 1
    yield "another app", {"otherApp": True}, "rejected.app.bundle-id", 1
    yield ("another environment", {"otherEnvironment": True},
           "rejected.environment.signer-mismatch", 1)


def device_check():
    no_answer = "unavailable.device-check.no-response"
    yield "as it is", None, "ok", 1
    yield "500", {"status": 500}, no_answer, 3
    yield ("401", {"status": 401, "body": "Unable to verify authorization token"},
           "rejected.device-check.unauthorized", 2)
    yield "403", {"status": 403}, "rejected.device-check.request", 1
    yield ("an unknown text", {"status": 200, "body": "Hello"},
           "unavailable.device-check.response", 1)
    yield "cut", {"cut": 3}, no_answer, 3
    yield "4 KiB and more", {"oversize": 5000}, "unavailable.device-check.response", 1


def key_sets():
    no_answer = "unavailable.jwks.no-response"
    yield "as it is", None, "ok", 1
    yield "rotated", {"keys": "rotate"}, "ok", 1
    yield "removed", {"keys": "remove"}, "ok", 1
    yield "chunks", {"chunks": 3}, "ok", 1
    yield "another type", {"contentType": None}, "ok", 1
    yield "500", {"status": 500}, no_answer, 1
    yield "a redirect", {"redirect": NOWHERE}, no_answer, 1
    yield "304 unasked", {"status": 304}, no_answer, 1
    yield "reset", {"reset": True}, no_answer, 1
    yield "refuse", {"refuse": True}, no_answer, 1
    yield "cut", {"cut": 30}, no_answer, 1
    yield "oversize", {"oversize": 300_000}, "too-large.jwks.size", 1
    yield "a bomb", {"gzip": "bomb"}, "too-large.jwks.size", 1
    yield "gzip", {"gzip": True}, "ok", 1
    yield "twice", {"duplicate": "keys"}, "malformed.json.duplicate-name", 1
    yield "a mark", {"bom": True}, "malformed.json.bom", 1
    yield "utf16", {"utf16": True}, "malformed.json.syntax", 1
    yield "trailing", {"trailing": "{}"}, "malformed.json.trailing", 1
    yield "empty", {"status": 200, "body": {"keys": []}}, "malformed.jwks.form", 1


def transaction():
    yield "as it is", None, "ok", 1
    yield "chunks", {"chunks": 100}, "ok", 1
    yield "one 503", [{"nth": 1, "fault": {"status": 503}}], "ok", 2
    yield "one 401", [{"nth": 1, "fault": {"status": 401}}], "ok", 2
    yield "401", {"status": 401}, "rejected.app-store.unauthorized", 2
    yield "404", {"errorCode": 4040010}, "rejected.app-store.not-found", 1
    yield "400", {"errorCode": 4000006}, "rejected.app-store.bad-request", 1
    yield "403", {"errorCode": 4030004}, "rejected.app-store.forbidden", 1
    yield "429 for ever", {"retryAfter": NOW + 5000}, "unavailable.app-store.rate-limited", 3
    yield "5000001 for ever", {"errorCode": 5000001}, "unavailable.app-store.no-response", 3
    yield "another type", {"contentType": "text/html"}, "malformed.app-store.content-type", 1
    yield ("twice a member", {"duplicate": "signedTransactionInfo"},
           "malformed.json.duplicate-name", 1)
    yield "a mark", {"bom": True}, "malformed.json.bom", 1
    yield "trailing", {"trailing": "{}"}, "malformed.json.trailing", 1
    yield "5 MiB", {"oversize": 5 << 20}, "too-large.app-store.response", 1
    yield "a redirect", {"redirect": NOWHERE}, "malformed.app-store.response", 1
    yield "a bad signature", {"badSignature": True}, "rejected.jws.signature", 1
    yield "another app", {"otherApp": True}, "rejected.app.bundle-id", 1
    yield "another environment", {"otherEnvironment": True}, "rejected.app-store.inconsistent", 1


def any_environment():
    yield "Sandbox found", None, "ok", 2
    yield "not released", {"unreleased": True}, "ok", 3
    yield "nowhere", {"errorCode": 4040010}, "rejected.app-store.not-found", 2


def exchanges(receipt):
    """Return the expected end of each exchange."""
    for request, rows in [
            ({"operation": "call-verify-receipt", "receipt": receipt}, verify_receipt()),
            ({"operation": "query-device-bits", "deviceToken": encoded("d"), "transactionId": "t"},
             device_check()),
            ({"operation": "fetch-keyset", "issuer": ISSUER}, key_sets()),
            ({"operation": "get-transaction-info", "environment": "Sandbox",
              "transactionId": FIRST}, transaction()),
            ({"operation": "get-transaction-info", "environment": "auto",
              "transactionId": FIRST}, any_environment())]:
        for name, fault, status, requests in rows:
            rules = fault if isinstance(fault, list) else [{"fault": fault}] if fault else []
            yield {"name": f"{request['operation']}, {name}", "rules": rules, "request": request,
                   "status": status, "requests": requests}


def configuration(player):
    """Return the mock's configuration, for Production too, where Xcode's certificates must not be
    trusted."""
    storekit = {name: value for name, value in player.config["storekit"].items()
                if name != "xcodeCertificates"}
    return {**player.config, "environments": ["Production", "Sandbox"], "storekit": storekit}


class Bench:
    """A mock in a folder of its own, and the tests with it; used in a `with`."""

    def __init__(self, binary, *options):
        self.binary, self.options = pathlib.Path(binary).resolve(), options
        self.kept = tempfile.TemporaryDirectory()

    def __enter__(self):
        folder = pathlib.Path(self.kept.__enter__())
        minted = subprocess.run(
            [self.binary, "mint", "app-receipt", "--authority", "ca", "--now", str(NOW),
             "--environment", "Production"],
            cwd=folder, capture_output=True, timeout=120, check=True)
        self.player = Player(self.binary, folder, *self.options)
        self.url, self.hosts = self.player.url, dict.fromkeys(
            self.player.first["hosts"], self.player.url)
        self.expiredUrl = self.player.first.get("expiredUrl")
        self.ca = self.player.first["ca"] and str(folder / self.player.first["ca"])
        self.config = configuration(self.player)
        self.answers = list(answers())
        self.exchanges = list(exchanges(minted.stdout.decode().strip()))
        return self

    def __exit__(self, *_):
        self.player.__exit__()
        self.kept.__exit__(None, None, None)

    @property
    def line(self):
        """The line that faults.py prints."""
        names = ("url", "expiredUrl", "ca", "hosts", "config", "answers", "exchanges")
        return json.dumps({"now": NOW, **{name: getattr(self, name) for name in names}})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--tls", action="store_true")
    options = parser.parse_args()
    with Bench(options.binary, *["--tls"] * options.tls) as bench:
        print(bench.line, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
