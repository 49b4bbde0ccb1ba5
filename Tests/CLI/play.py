#!/usr/bin/env python3
"""Test mock Apple with the requests of a host.

  play.py BINARY [--suite NAME]

If the library has an operation, it runs the exchange through the Python binding; all other
requests are made by hand.
"""
import argparse
import base64
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests/Gates"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from report import Suite  # noqa: E402
import play_exchanges  # noqa: E402
import play_faults  # noqa: E402
from play_host import (  # noqa: E402
    APPLE_ID, ATTEST, ATTEST_DEVELOPMENT, BUY, DEVELOPMENT, DEVICES, ELLIPTIC, KEYS, POOL,
    SANDBOX, STORE, STORE_SANDBOX, Host, assay)
from player import DAY, NOW, Player, encoded, jws_payload  # noqa: E402


class Bench:
    """The binary, its folder, and what the tests of one mock share."""

    def __init__(self, suite, binary, folder):
        self.suite, self.binary, self.folder = suite, binary, folder

    def expect(self, met, what, detail=""):
        self.suite.expect(met, what, str(detail)[:400])

    def mint(self, kind, *options, authority="ca"):
        done = subprocess.run(
            [self.binary, "mint", kind, "--authority", authority, "--now", str(NOW), *options],
            cwd=self.folder, capture_output=True, timeout=120, check=True)
        return done.stdout.decode().strip()

    def run(self, *options):
        """Run a mock that must not start; return exit code and standard error."""
        done = subprocess.run(
            [self.binary, "mock-apple", "--authority", "ca", *options], cwd=self.folder,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
        return done.returncode, done.stdout, done.stderr.decode(errors="replace")

    def player(self, *options, **more):
        return Player(self.binary, self.folder, *options, **more)


# ---- starting and ending ---------------------------------------------------------


def check_start(bench):
    for listen in ["0.0.0.0:0", "192.0.2.1:0", "[::]:0", "example.com:80", "nonsense",
                   "127.0.0.1", "127.0.0.1:99999"]:
        code, out, err = bench.run("--listen", listen)
        bench.expect((code, out) == (2, b"") and "this machine" in err,
                     f"PLY-1: --listen {listen} is refused", f"{code} {err}")
    with bench.player() as player:
        bench.expect(player.first["play"] == 1 and player.first["ca"] is None
                     and player.url.startswith("http://127.0.0.1:"), "PLY-1: the first line",
                     player.first)
        bench.expect(player.end() == 0, "PLY-1: the end of standard input ends it")
    for number in (signal.SIGINT, signal.SIGTERM):
        with bench.player("--listen", "127.0.0.2:0") as player:
            player.process.send_signal(number)
            bench.expect(player.process.wait(timeout=20) == 0, f"PLY-1: {number.name} ends it")
            bench.expect("127.0.0.2" in player.url, "PLY-1: another loopback address", player.url)
    # Whoever starts it without an input has it until a signal.
    (bench.folder / "input").write_text("a file")
    for name, more in [("/dev/null", {"stdin": subprocess.DEVNULL}),
                       ("closed", {"stdin": None, "preexec_fn": lambda: os.close(0)}),
                       ("a file", {"stdin": (bench.folder / "input").open()})]:
        with bench.player(**more) as player:
            time.sleep(0.3)
            answer = player.ask("GET", "play", "/play/log")
            bench.expect(player.process.poll() is None and answer.status == 200,
                         f"PLY-1: it lives with an input that is {name}", answer)
            player.process.terminate()
            bench.expect(player.process.wait(timeout=20) == 0, f"PLY-1: and ends; {name}")
    with bench.player() as player:
        listening = listeners(player.process.pid)
        bench.expect(listening == {f"0100007F:{player.place[1]:04X}"},
                     "PLY-1: one loopback port is open and no other", listening)
    code, _, err = bench.run("--clock", "yesterday")
    bench.expect(code == 2 and "--clock" in err, "a clock that is none", err)
    for name, text in [("not JSON", "["), ("no list", "{}"), ("no fault", '[{"host":"a"}]'),
                       ("unknown fault", '[{"fault":{"explode":true}}]'),
                       ("bad status", '[{"fault":{"status":99}}]'),
                       ("bad count", '[{"nth":0,"fault":{"status":500}}]'),
                       ("unknown member", '[{"hots":"a","fault":{"status":500}}]')]:
        (bench.folder / "script.json").write_text(text)
        code, _, err = bench.run("--script", "script.json")
        bench.expect(code == 2 and "script" in err, f"a script with {name} is refused", err)
    (bench.folder / "state.json").write_text('{"purchases":[{"prodct":"a"}]}')
    code, _, err = bench.run("--state", "state.json")
    bench.expect(code == 2 and "prodct" in err, "a state with a misspelt member is refused", err)
    (bench.folder / "state.json").unlink()


def listeners(pid):
    """Return the addresses on which the process listens, from /proc."""
    inodes = set()
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            inodes.add(str(link.readlink()))
        except OSError:
            continue
    found = set()
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A" and f"socket:[{cells[9]}]" in inodes:
                found.add(cells[1])
    return found


def check_configuration(bench, player):
    config = player.config
    bench.expect(config["environments"] == ["LocalTesting", "Sandbox"]
                 and len(config["tokens"]) == 3, "PLY-2: the configuration", config["environments"])
    mode = (bench.folder / player.first["config"]).stat().st_mode & 0o777
    bench.expect(mode == 0o600, "PLY-2: it has keys, so only its owner reads it", oct(mode))
    assay.Verifier(config)


def check_wire(bench, player):
    """Check the behaviour of every server, and requests of a hostile client."""
    unknown = [("GET", BUY, "/"), ("GET", "example.com", "/verifyReceipt"),
               ("GET", POOL[8:].split("/")[0], KEYS), ("POST", DEVICES, "/v1/query"),
               ("GET", "play", "/play/nothing"), ("GET", "example.com", "/play/log"),
               ("GET", STORE, "/other"), ("GET", APPLE_ID, "/auth")]
    for method, host, path in unknown:
        answer = player.ask(method, host, path, b"" if method == "POST" else None)
        bench.expect((answer.status, answer.body) == (404, b""), f"PLY-6: {host}{path}", answer)
    connection = player.connect()
    for _ in range(3):
        connection.request("GET", "/auth/keys", headers={"Host": APPLE_ID})
        found = connection.getresponse()
        bench.expect(found.status == 200 and json.loads(found.read())["keys"],
                     "a connection serves several requests")
    connection.close()
    hostile = [(b"\r\n\r\n", b" 400 "), (b"GET / HTTP/2\r\n\r\n", b" 400 "),
               (b"GET  / HTTP/1.1\r\n\r\n", b" 400 "),
               (b"GET / HTTP/1.1\r\nNo colon\r\n\r\n", b" 400 "),
               (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b" 400 "),
               (b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", b" 400 "),
               (b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", b" 413 "),
               (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b" 411 "),
               (b"GET / HTTP/1.1\r\nA: " + b"a" * 200_000, b" 431 "),
               (b"GET /%zz%4 HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n", b" 404 "),
               (b"GET /?%=&==&a HTTP/1.1\r\n\r\n", b" 404 "),
               (b"GET /inApps/v1/history/%2e%2e/ HTTP/1.1\r\nHost: " + STORE.encode()
                + b"\r\n\r\n", b" 401 ")]
    for octets, wanted in hostile:
        with socket.create_connection(player.place, timeout=20) as raw:
            raw.sendall(octets)
            got = raw.recv(4096)
            bench.expect(wanted in got[:32], f"hostile: {octets[:40]!r}", got[:60])
    bench.expect(player.process.poll() is None, "hostile requests end nothing")


def check_noise(bench, player):
    """Check that senseless requests with a valid token get a response, and end nothing."""
    host, random = Host(player), Random(20261123)
    bearer = {"Authorization": "Bearer " + host.token("sign-api-token")}
    devices = host.token("sign-device-check-token")
    secret = host.token("sign-apple-client-secret")
    texts = ["", "x", "0", "-1", "9" * 19, "9" * 40, "2000000900000001", "ASCENDING", "null",
             encoded(b"0\x80" * 500), encoded(b"$\x84\x00\xff\xff\xff" * 9000), encoded("{}"),
             encoded('{"signature"="AAAA";"purchase-info"="' + encoded(
                 '{"product-id"="a";"transaction-id"="1";"purchase-date-ms"="-9223372036854775808";}')
                 + '";}')]
    numbers = [0, -1, 1, 90, 1.5, NOW, -(1 << 63), (1 << 63) - 1, 1 << 64, 1e300]

    def value(depth=0):
        kind = random.randrange(6 if depth < 3 else 4)
        return (random.choice(texts), random.choice(numbers), random.choice([True, False]), None,
                [value(depth + 1) for _ in range(random.randrange(3))] if kind == 4 else [],
                {random.choice(names): value(depth + 1) for _ in range(2)} if kind == 5 else {},
                )[kind]

    names = ["receipt-data", "password", "device_token", "transaction_id", "timestamp", "bit0",
             "extendByDays", "extendReasonCode", "requestIdentifier", "productId", "startDate",
             "endDate", "notificationType", "transactionId", "appAccountToken", "issuer",
             "customerConsented", "deliveryStatus", "originalTransactionId", "advanceMs", "days",
             "type", "claims", "nonce", "refunded", "purchased", "expires", "product", "x"]
    targets = [
        ("POST", BUY, "/verifyReceipt", {}),
        ("POST", DEVICES, "/v1/query_two_bits", {"Authorization": f"Bearer {devices}"}),
        ("POST", DEVICES, "/v1/update_two_bits", {"Authorization": f"Bearer {devices}"}),
        ("POST", ATTEST, "/v1/attestationData", {"Authorization": devices}),
        ("POST", "ocsp.apple.com", "/ocsp03-x", {}), ("GET", APPLE_ID, "/auth/keys", {}),
        ("PUT", STORE_SANDBOX, "/inApps/v1/subscriptions/extend/2000000900000001", bearer),
        ("POST", STORE_SANDBOX, "/inApps/v1/subscriptions/extend/mass", bearer),
        ("POST", STORE_SANDBOX, "/inApps/v1/notifications/history", bearer),
        ("PUT", STORE_SANDBOX, "/inApps/v2/transactions/consumption/2000000900000001", bearer),
        ("PUT", STORE_SANDBOX, "/inApps/v1/transactions/2000000900000001/appAccountToken", bearer)]
    targets += [("POST", "play", f"/play/{name}", {}) for name in (
        "refund", "renew", "expire", "grace", "purchase", "notify", "clock", "script", "keys",
        "token", "sign-in", "apple-event", "risk")]
    for number in range(600):
        method, base, path, headers = random.choice(targets)
        body = json.dumps({random.choice(names): value() for _ in range(random.randrange(5))})
        if number % 7 == 0:
            body = random.choice(texts)
        answer = player.ask(method, base, path, None if method == "GET" else body.encode(),
                            headers)
        if not bench.suite.expect(200 <= answer.status < 600, f"noise at {path}: {body[:200]}",
                                  str(answer)[:300]):
            break
    for _ in range(300):
        query = "&".join(f"{random.choice(names + ['sort', 'revision', 'revoked'])}="
                         f"{random.choice(texts)[:40]}" for _ in range(3))
        answer = player.ask("GET", STORE_SANDBOX, "/inApps/v2/history/2000000900000001?" + query,
                            headers=bearer)
        bench.expect(answer.status in (200, 400, 401), f"noise: {query}", answer)
    for _ in range(80):
        player.play("renew", {"originalTransactionId": "2000000900000001"})
    form = f"client_id=com.example.app&client_secret={secret}&grant_type=&code=%&token"
    answer = player.ask("POST", APPLE_ID, "/auth/token", form.encode())
    bench.expect(answer.status == 400, "noise: a form", answer)
    bench.expect(player.end() == 0, "noise ends nothing")


# ---- Apple's services ---------------------------------------------------------------


def changed(receipt, name, change):
    """Return a transaction receipt with one of its base64 texts changed."""
    text = base64.b64decode(receipt).decode()
    old = re.search(rf'"{name}" = "([^"]+)"', text)[1]
    new = base64.b64encode(change(base64.b64decode(old))).decode()
    return base64.b64encode(text.replace(old, new).encode()).decode()


def flipped(octets, place):
    octets = bytearray(octets)
    octets[place] ^= 1
    return bytes(octets)


def check_receipts(bench, player):
    secret = player.config["receipts"]["sharedSecrets"]["*"]

    def ask(receipt, host=SANDBOX, **more):
        body = {"receipt-data": receipt, "password": secret, **more}
        return player.ask("POST", host, "/verifyReceipt", body)

    app = bench.mint("app-receipt")
    old = bench.mint("transaction-receipt")
    production = bench.mint("app-receipt", "--environment", "Production")
    found = ask(app).json
    bench.expect(found["status"] == 0 and found["receipt"]["bundle_id"] == "com.example.app"
                 and found["latest_receipt_info"] and found["environment"] == "Sandbox",
                 "PLY-2.receipts: iOS 7", found)
    found = ask(old).json
    bench.expect(found["status"] == 0 and found["receipt"]["bid"] == "com.example.app"
                 and "environment" not in found, "receipts: iOS 6", found)
    expired = bench.mint("transaction-receipt", "--expired", "--transaction-id", "2000000900000777")
    found = ask(expired).json
    bench.expect(found["status"] == 21006 and found["latest_expired_receipt_info"],
                 "receipts: 21006", found)
    for name, answer, status in [
            ("sandbox at production", ask(app, BUY), 21007),
            ("production at sandbox", ask(production), 21008),
            ("production", ask(production, BUY), 0),
            ("a wrong secret", ask(app, password="0" * 32), 21004),
            ("no secret", player.ask("POST", SANDBOX, "/verifyReceipt",
                                     {"receipt-data": app}), 21004),
            ("no receipt", player.ask("POST", SANDBOX, "/verifyReceipt", {}), 21002),
            ("one bit of a signature", ask(changed(
                old, "signature", lambda octets: flipped(octets, 40))), 21002),
            ("one bit of an app receipt", ask(base64.b64encode(
                flipped(base64.b64decode(app), -9)).decode()), 21002),
            ("another product", ask(changed(
                old, "purchase-info", lambda text: text.replace(b"monthly", b"forever"))), 21002),
            ("another authority's", ask(bench.mint("app-receipt", authority="other")), 21003),
            ("rubbish", ask("AAAA"), 21002), ("a number", ask(7), 21002),
            ("not JSON", player.ask("POST", SANDBOX, "/verifyReceipt", b"{"), 21000),
            ("GET", player.ask("GET", SANDBOX, "/verifyReceipt"), 21000)]:
        bench.expect(answer.status == 200 and answer.json["status"] == status,
                     f"receipts: {name}", answer)
    host = Host(player, environments=["Production", "Sandbox"])
    document = host.ask({"operation": "call-verify-receipt", "receipt": app})
    found = document.json["exchange"]
    bench.expect(document.status == "ok" and (found["hops"], found["attempts"]) == (1, 2)
                 and found["verifyReceipt"]["latestReceipt"]["verified"],
                 "receipts: the library's hop", document.json)
    document = host.ask({"operation": "call-verify-receipt", "receipt": old})
    bench.expect(document.status == "ok", "receipts: iOS 6 by the library", document.json)
    document = host.ask({"operation": "call-verify-receipt", "receipt": expired})
    bench.expect(document.status == "ok"
                 and document.json["exchange"]["verifyReceipt"]["appleStatus"] == 21006,
                 "receipts: 21006 by the library", document.json)


def check_devices(bench, player):
    host = Host(player)
    device = {"deviceToken": encoded("phone-1#a"), "transactionId": "t-1"}
    document = host.ask({"operation": "query-device-bits", **device, "offer": True})
    bench.expect(document.json["exchange"]["deviceCheck"]["outcome"] == "no-bits",
                 "devices: no bits", document.json)
    document = host.ask({"operation": "update-device-bits", **device, "bit0": True})
    bench.expect(document.json["exchange"]["deviceCheck"]["outcome"] == "updated",
                 "devices: update", document.json)
    device["deviceToken"] = encoded("phone-1#b")
    document = host.ask({"operation": "query-device-bits", **device, "offer": True})
    found = document.json["exchange"]["deviceCheck"]
    bench.expect(document.status == "rejected.promo.device-used" and found["month"] == "2026-11"
                 and found["bits"]["bit0"]["set"] and not found["bits"]["bit1"]["set"],
                 "devices: bits of another token of the device", document.json)
    document = host.ask({"operation": "validate-device-token", **device})
    bench.expect(document.status == "ok", "devices: validate", document.json)
    for token in ["bad phone", "development:phone"]:
        document = host.ask({"operation": "query-device-bits", "deviceToken": encoded(token),
                             "transactionId": "t-2"})
        bench.expect(document.status == "rejected.device-check.token", f"devices: {token}",
                     document.json)
    jwt = host.token("sign-device-check-token")
    good = {"device_token": encoded("phone-2"), "transaction_id": "t", "timestamp": NOW}

    def ask(path="query_two_bits", authorization=f"Bearer {jwt}", base=DEVICES, **members):
        return player.ask("POST", base, f"/v1/{path}", {**good, **members},
                          {"Authorization": authorization})

    for name, answer, status, text in [
            ("good", ask(), 200, b"Failed to find bit state"),
            ("seconds", ask(timestamp=NOW // 1000), 400, b"time stamp"),
            ("a misspelt bit", ask("update_two_bits", bit_0=True), 400, b"Bad Payload"),
            ("a bit with query", ask(bit0=True), 400, b"Bad Payload"),
            ("a bit that is none", ask("update_two_bits", bit0=1), 400, b"bits"),
            ("no Bearer", ask(authorization=jwt), 400, b"authorization token"),
            ("another key", ask(authorization="Bearer " + host.token("sign-api-token")), 401,
             b"Unable to verify"),
            ("development", ask(base=DEVELOPMENT, device_token=encoded("development:x")), 200,
             b"Failed")]:
        bench.expect(answer.status == status and text in answer.body, f"devices: {name}", answer)


def check_attest_receipts(bench, player):
    jwt = Host(player).token("sign-device-check-token")
    receipt = bench.mint("attest-receipt", "--environment", "Production")
    development = bench.mint("attest-receipt", "--environment", "Sandbox")
    refreshed = bench.mint("attest-receipt", "--refreshed", "--environment", "Production")
    old = subprocess.run(
        [bench.binary, "mint", "attest-receipt", "--authority", "ca", "--environment",
         "Production", "--now", str(NOW - 31 * DAY)],
        cwd=bench.folder, capture_output=True, timeout=120, check=True).stdout.decode().strip()

    def ask(body, host=ATTEST, authorization=jwt):
        return player.ask("POST", host, "/v1/attestationData", body.encode(),
                          {"Authorization": authorization})

    player.play("risk", {"risk": 7})
    answer = ask(receipt)
    verifier = Host(player).verifier
    document = verifier.verify_attest_receipt(answer.body, now=NOW)
    bench.expect(answer.status == 200 and document.document.json["attestReceipt"]["risk"] == 7
                 and document.document.json["attestReceipt"]["type"] == "RECEIPT",
                 "refresh: a new receipt that the library verifies", answer)
    for name, found, status, text in [
            ("development", ask(development, ATTEST_DEVELOPMENT), 200, b""),
            ("wrong host", ask(development), 400, b"Incorrect Environment"),
            ("too early", ask(refreshed), 304, b""),
            ("too old", ask(old), 404, b"No Data Found"),
            ("rubbish", ask("AAAA"), 400, b"Bad Payload"),
            ("Bearer", ask(receipt, authorization=f"Bearer {jwt}"), 401, b"")]:
        bench.expect(found.status == status and text in found.body, f"refresh: {name}", found)


def check_key_sets(bench, player):
    for issuer, kind in [(POOL, "RSA"), (ELLIPTIC, "EC")]:
        host, path = issuer[8:].split("/")[0], "/" + "/".join(issuer[8:].split("/")[1:])
        path = path.rstrip("/") + KEYS

        def ask(tag=None):
            return player.ask("GET", host, path, headers={"If-None-Match": tag} if tag else {})

        first = ask()
        tag = first.headers["etag"]
        bench.expect(first.status == 200 and first.json["keys"][0]["kty"] == kind,
                     f"keys of {issuer}", first)
        again = ask(tag)
        bench.expect((again.status, again.body, again.headers["etag"]) == (304, b"", tag),
                     f"keys of {issuer}: 304", again)
        token = player.play("token", {"issuer": issuer})["token"]
        verifier = Host(player).verifier
        keys = assay.Keyset(json.dumps({"issuer": issuer, **first.json}))
        document = verifier.verify_token(token, keys, now=NOW)
        bench.expect(document.document.json["token"]["issuer"] == issuer, "a token by them", document)
        player.play("keys", {"issuer": issuer, "keys": "rotate"})
        both = ask(tag)
        bench.expect(both.status == 200 and len(both.json["keys"]) == 2,
                     f"keys of {issuer} after a rotation", both)
        player.play("keys", {"issuer": issuer, "keys": "remove"})
        one = ask().json["keys"]
        bench.expect([key["kid"] for key in one] == [both.json["keys"][1]["kid"]],
                     f"keys of {issuer} after a removal", one)
        late = player.play("token", {"issuer": issuer})["token"]
        try:
            verifier.verify_token(late, keys, now=NOW)
            bench.expect(False, "a token by a key that the set lacks")
        except assay.RejectedError as refused:
            bench.expect(refused.status == "rejected.token.unknown-key", "an unknown key", refused)
    answer = player.ask("POST", "play", "/play/token", {"issuer": "https://example.com"})
    bench.expect(answer.status == 400, "a token of another issuer", answer)


def check_apple_id(bench, player):
    host = Host(player)
    secret = host.token("sign-apple-client-secret")
    made = player.play("sign-in", {"nonce": "n" * 22})
    claims = jws_payload(made["identityToken"])
    bench.expect(claims["nonce"] == "n" * 22 and claims["aud"] == "com.example.app"
                 and claims["iss"] == "https://appleid.apple.com", "sign-in: the token", claims)

    def ask(path="/auth/token", **members):
        form = {"client_id": "com.example.app", "client_secret": secret,
                "grant_type": "authorization_code", "code": made["code"], **members}
        text = "&".join(f"{name}={value}" for name, value in form.items())
        return player.ask("POST", APPLE_ID, path, text.encode(),
                          {"Content-Type": "application/x-www-form-urlencoded"})

    for name, answer, error in [
            ("another client", ask(client_id="com.example.other"), "invalid_client"),
            ("a wrong secret", ask(client_secret=secret[:-4] + "AAAA"), "invalid_client"),
            ("another grant", ask(grant_type="password"), "unsupported_grant_type"),
            ("another code", ask(code="c0"), "invalid_grant")]:
        bench.expect(answer.status == 400 and answer.json == {"error": error},
                     f"sign-in: {name}", answer)
    answer = ask()
    bench.expect(answer.status == 200 and answer.json["refresh_token"]
                 and jws_payload(answer.json["id_token"])["sub"] == made["subject"],
                 "sign-in: the code", answer)
    answer = ask()
    bench.expect(answer.json == {"error": "invalid_grant"}, "sign-in: a code is for one use",
                 answer)
    answer = ask("/auth/revoke", token="r1")
    bench.expect((answer.status, answer.body) == (200, b""), "sign-in: revoked", answer)
    old = player.play("sign-in", {})
    player.play("clock", {"advanceMs": 301_000})
    answer = ask(code=old["code"])
    bench.expect(answer.json["error"] in ("invalid_grant", "invalid_client"),
                 "sign-in: a code ends after five minutes", answer)
    player.play("clock", {"now": NOW})


def check_store(bench, player):
    jwt = Host(player).token("sign-api-token")

    def ask(method, path, body=None, host=STORE_SANDBOX, authorization=f"Bearer {jwt}"):
        return player.ask(method, host, path, body, {"Authorization": authorization})

    def error(answer, code, name):
        bench.expect(answer.status == code // 10000 and answer.json["errorCode"] == code,
                     f"store: {name}", answer)

    verifier = Host(player).verifier
    first, everything = "2000000900000001", "2000000900000002"
    for name, authorization in [("no token", ""), ("no Bearer", jwt),
                                ("another key", "Bearer " + Host(player).token(
                                    "sign-device-check-token"))]:
        answer = ask("GET", f"/inApps/v1/transactions/{first}", authorization=authorization)
        bench.expect(answer.status == 401 and not answer.body.startswith(b"{"),
                     f"store: {name}", answer)
    answer = ask("GET", f"/inApps/v1/transactions/{first}")
    document = verifier.verify_transaction(answer.json["signedTransactionInfo"], now=NOW)
    bench.expect(document.document.json["transaction"]["transactionId"] == first, "store: a transaction",
                 document)
    error(ask("GET", "/inApps/v1/transactions/999"), 4040010, "an unknown transaction")
    error(ask("GET", "/inApps/v1/transactions/x"), 4000006, "an id that is none")
    error(ask("GET", "/inApps/v1/transactions/704000000000000001"), 4000048, "an app transaction")
    error(ask("GET", f"/inApps/v1/transactions/{first}", host=STORE), 4040010,
          "a Sandbox transaction in Production")
    answer = ask("GET", f"/inApps/v1/transactions/appTransactions/{first}")
    verifier.verify_app_transaction(answer.json["signedAppTransactionInfo"], now=NOW)
    production = "180000900000001"
    order = ask("GET", "/inApps/v1/lookup/M" + production[-9:], host=STORE).json
    bench.expect(order["status"] == 0 and jws_payload(order["signedTransactions"][0])[
        "transactionId"] == production, "store: an order", order)
    none = ask("GET", "/inApps/v1/lookup/MNONE", host=STORE).json
    bench.expect(none == {"status": 1, "signedTransactions": []}, "store: no order", none)
    check_history(bench, player, ask, error, first)
    check_subscriptions(bench, player, ask, error, first, everything)
    check_updates(bench, player, ask, error, first)


def check_history(bench, player, ask, error, first):
    path = f"/inApps/v2/history/{first}"
    for number in range(40):
        player.play("purchase", {
            "product": "com.example.app.coins100", "type": "consumable",
            "transactionId": str(2000000900001000 + number), "purchased": NOW - DAY + number})
    answer, ids, revision, pages = ask("GET", path).json, [], "", 0
    while True:
        pages += 1
        ids += [jws_payload(text)["transactionId"] for text in answer["signedTransactions"]]
        bench.expect(len(answer["signedTransactions"]) <= 20 and answer["revision"] != revision,
                     "history: pages of 20", answer["revision"])
        revision = answer["revision"]
        if not answer["hasMore"]:
            break
        answer = ask("GET", f"{path}?revision={revision}").json
    bench.expect((pages, len(ids), len(set(ids))) == (3, 43, 43), "history: all of it",
                 (pages, len(ids)))
    bench.expect(answer["bundleId"] == "com.example.app" and answer["environment"] == "Sandbox",
                 "history: whose it is")
    player.play("refund", {"transactionId": "2000000900001007"})
    later = ask("GET", f"{path}?revision={revision}").json
    found = [jws_payload(text) for text in later["signedTransactions"]]
    bench.expect([one["transactionId"] for one in found] == ["2000000900001007"]
                 and found[0]["revocationDate"] == NOW, "history: what changed since", found)
    refunds = ask("GET", f"/inApps/v2/refund/lookup/{first}").json
    bench.expect([jws_payload(text)["transactionId"] for text in refunds["signedTransactions"]]
                 == ["2000000900001007"], "history: refunds", refunds)
    down = ask("GET", f"{path}?sort=DESCENDING").json["signedTransactions"]
    bench.expect(jws_payload(down[0])["transactionId"] == "2000000900001007",
                 "history: the last change first")
    for query, count in [("productType=AUTO_RENEWABLE", 1), ("revoked=true", 1),
                         ("productId=com.example.app.lifetime&productId=none", 1),
                         (f"endDate={NOW - 5 * DAY}", 3), (f"startDate={NOW}", 0),
                         ("inAppOwnershipType=FAMILY_SHARED", 0),
                         ("subscriptionGroupIdentifier=21400001", 1)]:
        answer = ask("GET", f"{path}?{query}").json
        bench.expect(len(answer["signedTransactions"]) == count, f"history: {query}",
                     len(answer["signedTransactions"]))
    for query, code in [("productType=X", 4000022), ("sort=UP", 4000021), ("revoked=1", 4000030),
                        ("revision=1_2", 4000005), ("startDate=x", 4000015),
                        (f"revision={revision}&revoked=true", 4000005),
                        (f"startDate={NOW}&endDate={NOW}", 4000013)]:
        error(ask("GET", f"{path}?{query}"), code, f"history: {query}")
    ask("POST", "/inApps/v1/transactions/2000000900001001/finish")
    old = ask("GET", f"/inApps/v1/history/{first}?productId=com.example.app.coins100&sort=DESCENDING")
    bench.expect("2000000900001001" not in [
        jws_payload(text)["transactionId"] for text in old.json["signedTransactions"]],
        "history: version 1 has no finished consumables")


def check_subscriptions(bench, player, ask, error, first, everything):
    def status(query=""):
        data = ask("GET", f"/inApps/v1/subscriptions/{everything}{query}").json["data"]
        return data[0]["lastTransactions"][0] if data else None

    bench.expect(status()["status"] == 1, "subscriptions: active", status())
    renewed = player.play("renew", {"originalTransactionId": first})["purchase"]
    found = status()
    bench.expect(jws_payload(found["signedTransactionInfo"])["transactionId"]
                 == renewed["transactionId"] and renewed["transactionId"] != first,
                 "subscriptions: renewed", found)
    for name, body, wanted in [("grace", {}, 4), ("grace", {"days": 0}, 3), ("expire", {}, 2)]:
        player.play(name, {"originalTransactionId": first, **body})
        bench.expect(status()["status"] == wanted, f"subscriptions: {name} {body}", status())
    bench.expect(status("?status=1") is None and status("?status=1&status=2"),
                 "subscriptions: by status")
    error(ask("GET", f"/inApps/v1/subscriptions/{first}?status=6"), 4000031, "status 6")
    extend = {"extendByDays": 5, "extendReasonCode": 1, "requestIdentifier": "r-1"}
    path = f"/inApps/v1/subscriptions/extend/{first}"
    error(ask("PUT", path, extend), 4030004, "an extension of what has ended")
    player.play("renew", {"originalTransactionId": first})
    answer = ask("PUT", path, extend).json
    bench.expect(answer["success"] and ask("PUT", path, extend).json == answer,
                 "subscriptions: an extension, and the same again", answer)
    ask("PUT", path, {**extend, "requestIdentifier": "r-2"})
    error(ask("PUT", path, {**extend, "requestIdentifier": "r-3"}), 4030005, "a third extension")
    error(ask("PUT", path, {**extend, "extendByDays": 91}), 4000009, "91 days")
    error(ask("PUT", path, {**extend, "extendReasonCode": 9}), 4000010, "another reason")
    error(ask("PUT", "/inApps/v1/subscriptions/extend/1", extend), 4040005, "an unknown line")
    mass = {**extend, "productId": "com.example.app.premium.monthly"}
    bench.expect(ask("POST", "/inApps/v1/subscriptions/extend/mass", mass).json
                 == {"requestIdentifier": "r-1"}, "subscriptions: all of them")
    done = ask("GET", f"/inApps/v1/subscriptions/extend/mass/{mass['productId']}/r-1").json
    bench.expect((done["complete"], done["succeededCount"], done["failedCount"]) == (True, 1, 0),
                 "subscriptions: all of them, later", done)
    error(ask("POST", "/inApps/v1/subscriptions/extend/mass",
              {**mass, "storefrontCountryCodes": []}), 4000027, "no countries")
    error(ask("GET", "/inApps/v1/subscriptions/extend/mass/a/b"), 4040009, "an unknown request")


def check_updates(bench, player, ask, error, first):
    account = "0f8fad5b-d9cb-469f-a165-70867728950e"
    path = f"/inApps/v1/transactions/{first}/appAccountToken"
    answer = ask("PUT", path, {"appAccountToken": account})
    found = jws_payload(ask("GET", f"/inApps/v1/transactions/{first}").json[
        "signedTransactionInfo"])
    bench.expect((answer.status, answer.body) == (200, b"") and found["appAccountToken"] == account,
                 "updates: an account", answer)
    error(ask("PUT", path, {"appAccountToken": "x"}), 4000183, "an account that is none")
    consumption = {"customerConsented": True, "sampleContentProvided": False,
                   "deliveryStatus": "DELIVERED"}
    path = "/inApps/v2/transactions/consumption/2000000900001000"
    answer = ask("PUT", path, consumption)
    bench.expect((answer.status, answer.body) == (202, b""), "updates: consumption", answer)
    error(ask("PUT", path, {**consumption, "customerConsented": False}), 4000035, "no consent")
    error(ask("PUT", path, {**consumption, "deliveryStatus": "X"}), 4000036, "no delivery")


class Taker(BaseHTTPRequestHandler):
    """A host that accepts notifications, and refuses the first ones."""

    seen, refuse = [], 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        Taker.seen.append(json.loads(body))
        status = 500 if len(Taker.seen) <= Taker.refuse else 200
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def check_notifications(bench, player):
    jwt = {"Authorization": "Bearer " + Host(player).token("sign-api-token")}

    def ask(method, path, body=None):
        return player.ask(method, STORE_SANDBOX, "/inApps/v1/notifications" + path, body, jwt)

    answer = ask("POST", "/test")
    bench.expect(answer.json["errorCode"] == 4040007, "notifications: nowhere to send", answer)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Taker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/apple"
    try:
        for bad in ["http://192.0.2.1/", "https://127.0.0.1:1/", "http://example.com:80/", "x"]:
            answer = player.ask("POST", "play", "/play/notify", {"type": "TEST", "url": bad})
            bench.expect(answer.status == 400, f"notifications: not to {bad}", answer)
        Taker.seen, Taker.refuse = [], 2
        made = player.play("notify", {
            "type": "REFUND", "transactionId": "2000000900001007", "url": url, "repeat": True})
        bench.expect([one["status"] for one in made["attempts"]] == [500, 500, 200]
                     and made["attempts"][1]["attemptDate"] == NOW + 3_600_000,
                     "notifications: repeated after 500", made["attempts"])
        found = Host(player).verifier.verify_notification(Taker.seen[0]["signedPayload"], now=NOW)
        bench.expect(found.document.json["notification"]["type"] == "REFUND"
                     and len({one["signedPayload"] for one in Taker.seen}) == 1,
                     "notifications: the library takes it", found)
        Taker.seen, Taker.refuse = [], 0
        token = ask("POST", "/test").json["testNotificationToken"]
        status = ask("GET", "/test/" + token).json
        bench.expect(len(Taker.seen) == 1
                     and status["sendAttempts"][0]["sendAttemptResult"] == "SUCCESS",
                     "notifications: a test", status)
    finally:
        server.shutdown()
        server.server_close()
    bench.expect(ask("GET", "/test/x").json["errorCode"] == 4040008, "notifications: no test")
    window = {"startDate": NOW - DAY, "endDate": NOW + DAY}
    history = ask("POST", "/history", window).json
    bench.expect(len(history["notificationHistory"]) == 2 and not history["hasMore"],
                 "notifications: history", history)
    for more, count in [({"notificationType": "REFUND"}, 1), ({"onlyFailures": True}, 0),
                        ({"transactionId": "2000000900001007"}, 1)]:
        found = ask("POST", "/history", {**window, **more}).json["notificationHistory"]
        bench.expect(len(found) == count, f"notifications: {more}", len(found))
    for more, code in [({"startDate": NOW - 200 * DAY}, 4000012), ({"endDate": 1}, 4000013),
                       ({"transactionId": "1", "notificationType": "REFUND"}, 4000019),
                       ({"notificationSubtype": "X"}, 4000018)]:
        answer = ask("POST", "/history", {**window, **more})
        bench.expect(answer.json["errorCode"] == code, f"notifications: {more}", answer)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--suite", default="play")
    options = parser.parse_args()
    suite = Suite(options.suite)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(suite, options.binary.resolve(), pathlib.Path(folder))
        bench.mint("transaction")
        check_start(bench)
        with bench.player() as player:
            check_configuration(bench, player)
            check_wire(bench, player)
            check_receipts(bench, player)
            check_devices(bench, player)
            check_attest_receipts(bench, player)
            check_key_sets(bench, player)
            check_apple_id(bench, player)
            check_store(bench, player)
            check_notifications(bench, player)
        with bench.player() as player:
            check_noise(bench, player)
        play_faults.check(bench)
        play_exchanges.check(bench)
    suite.finish()


if __name__ == "__main__":
    main()
