"""Test each fault of docs/spec/mock-apple.md §3, on the wire and in the library."""
import gzip
import http.client
import json
import socket
import ssl
import time
import urllib.parse
import zlib

import faults
import play_host as play
from player import DAY, NOW, encoded, jws_payload, trusting

BUY, SANDBOX, DEVICES = play.BUY, play.SANDBOX, play.DEVICES
STORE, STORE_SANDBOX, OCSP = play.STORE, play.STORE_SANDBOX, "ocsp.apple.com"


def check(bench):
    (bench.folder / "script.json").write_text(json.dumps(
        [{"host": SANDBOX, "nth": [2], "fault": {"status": 503}}]))
    with bench.player("--script", "script.json", "--state", "state.json") as player:
        check_counting(bench, player)
        check_wire(bench, player)
        check_content(bench, player)
        check_exchanges_with_faults(bench, player)
        check_signed(bench, player)
        check_log(bench, player)
        first = transcript(bench, player)
    with bench.player("--state", "state.json") as player:
        bench.expect(player.ask("GET", "play", "/play/state").json["purchases"]
                     == first["kept"], "PLY-5: the state is kept")
    with bench.player() as player:
        second = transcript(bench, player)
    with bench.player() as player:
        bench.expect(transcript(bench, player) == second, "PLY-5: the same answers again")
    check_tls(bench)


def transcript(bench, player):
    """Return the responses to a few requests without signatures; the clock is stopped."""
    jwt = {"Authorization": "Bearer " + play.Host(player).token("sign-api-token")}
    player.script({"host": DEVICES, "nth": 1, "fault": {"status": 500}})
    player.play("refund", {"transactionId": "2000000900000002"})
    kept = player.ask("GET", "play", "/play/state").json["purchases"]
    history = player.ask("GET", STORE_SANDBOX, "/inApps/v2/history/2000000900000001",
                         headers=jwt).json
    history["signedTransactions"] = [jws_payload(text) for text in history["signedTransactions"]]
    made = player.play("sign-in", {"nonce": "n"})
    made["identityToken"] = jws_payload(made["identityToken"])
    keys = player.ask("GET", play.APPLE_ID, "/auth/keys")
    return {"kept": kept, "history": history, "sign-in": made, "keys": keys.json,
            "tag": keys.headers["etag"],
            "devices": [player.ask("POST", DEVICES, "/v1/query_two_bits", {}).status
                        for _ in range(2)]}


def keys(player, path="/auth/keys", timeout=20):
    return player.ask("GET", play.APPLE_ID, path, timeout=timeout)


def check_counting(bench, player):
    def statuses(count, host=SANDBOX, path="/verifyReceipt"):
        return [player.ask("POST", host, path, {}).status for _ in range(count)]

    bench.expect(statuses(3) == [200, 503, 200], "rules: the second request")
    player.script({"host": SANDBOX, "nth": 2, "fault": {"status": 500}},
                  {"path": "/verify", "nth": [1, 3], "fault": {"status": 501}},
                  {"host": BUY, "nth": "every", "fault": {"status": 502}})
    bench.expect(statuses(4) == [501, 500, 501, 200], "rules: the first that takes it")
    bench.expect(statuses(2, BUY) == [502, 502], "rules: every")
    bench.expect(statuses(1, DEVICES, "/v1/query_two_bits") == [400], "rules: another host")
    for wrong in ({}, [1], [{"fault": {}}], [{"fault": {"cut": -1}}], "x"):
        answer = player.ask("POST", "play", "/play/script", wrong)
        bench.expect(answer.status == 400, f"a script that is none: {wrong}", answer)


def check_wire(bench, player):
    def fault(timeout=20, **members):
        player.script({"host": play.APPLE_ID, "nth": 1, "fault": members})
        began = time.monotonic()
        return keys(player, timeout=timeout), time.monotonic() - began

    whole = keys(player).body
    answer, took = fault(slowMs=300)
    bench.expect(answer.body == whole and took >= 0.3, "fault: slowMs", took)
    answer, took = fault(status=200, body="0123456789", dripMs=20)
    bench.expect(answer.body == b"0123456789" and took >= 0.2, "fault: dripMs", took)
    answer, took = fault(status=200, body="0123456789", dripHeadMs=5)
    bench.expect(answer.body == b"0123456789" and took >= 0.3, "fault: dripHeadMs", took)
    answer, _ = fault(slowMs=2000, timeout=0.3)
    bench.expect(answer.status == 0, "fault: slower than the host waits", answer)
    answer, _ = fault(cut=7)
    bench.expect(answer.fault == "IncompleteRead", "fault: cut", answer)
    answer, _ = fault(reset=True)
    bench.expect(answer.fault == "ConnectionResetError", "fault: reset", answer)
    answer, _ = fault(refuse=True)
    bench.expect(answer.fault in ("ConnectionResetError", "RemoteDisconnected"), "fault: refuse",
                 answer)
    answer, _ = fault(chunks=1)
    bench.expect(answer.body == whole and answer.headers["transfer-encoding"] == "chunked"
                 and answer.headers["content-length"] is None, "fault: chunks", answer)
    answer, _ = fault(chunks=7, cut=30)
    bench.expect(answer.fault == "IncompleteRead", "fault: cut between chunks", answer)
    bench.expect(keys(player).body == whole, "after every fault all is well")


def check_content(bench, player):
    def fault(**members):
        player.script({"host": play.APPLE_ID, "nth": 1, "fault": members})
        return keys(player)

    whole = keys(player).body
    for status in (100 + 1, 204, 299, 304, 404, 418, 500, 599):
        answer = fault(status=status) if status > 199 else None
        bench.expect(answer is None or answer.status == status, f"fault: status {status}", answer)
    answer = fault(status=400, body={"a": [1]}, headers=[["X-One", "1"], ["X-One", "2"]])
    bench.expect(answer.status == 400 and answer.json == {"a": [1]}
                 and answer.headers.get_all("x-one") == ["1", "2"], "fault: body, headers", answer)
    answer = fault(body={"base64": encoded(b"\x00\xff")})
    bench.expect(answer.body == b"\x00\xff", "fault: octets", answer)
    answer = fault(contentType="text/html")
    bench.expect(answer.headers["content-type"] == "text/html", "fault: contentType", answer)
    answer = fault(contentType=None)
    bench.expect(answer.headers["content-type"] is None, "fault: no content type", answer)
    answer = fault(oversize=300_000)
    bench.expect(len(answer.body) == 300_000 and answer.json["status"] == 0, "fault: oversize",
                 len(answer.body))
    answer = fault(redirect="http://127.0.0.1:9/")
    bench.expect(answer.status == 302 and answer.headers["location"] == "http://127.0.0.1:9/",
                 "fault: redirect", answer)
    answer = fault(redirect="http://127.0.0.1:9/", status=308)
    bench.expect(answer.status == 308, "fault: redirect with a status", answer)
    answer = fault(gzip=True)
    bench.expect(answer.headers["content-encoding"] == "gzip"
                 and gzip.decompress(answer.body) == whole, "fault: gzip", answer)
    answer = fault(bom=True)
    bench.expect(answer.body == b"\xef\xbb\xbf" + whole, "fault: bom", answer)
    answer = fault(utf16=True)
    bench.expect(answer.body.decode("utf-16") == whole.decode(), "fault: utf16", answer)
    answer = fault(duplicate="keys")
    pairs = json.loads(answer.body, object_pairs_hook=list)
    bench.expect([name for name, _ in pairs] == ["keys", "keys"], "fault: duplicate", answer)
    answer = fault(duplicate="new")
    pairs = json.loads(answer.body, object_pairs_hook=list)
    bench.expect([name for name, _ in pairs] == ["keys", "new", "new"], "fault: duplicate", answer)
    answer = fault(trailing=" {}")
    bench.expect(answer.body == whole + b" {}", "fault: trailing", answer)
    answer = fault(retryAfter=7)
    bench.expect(answer.status == 429 and answer.headers["retry-after"] == "7",
                 "fault: retryAfter", answer)
    player.script({"host": STORE, "nth": 1, "fault": {"retryAfter": "soon"}},
                  {"host": STORE, "fault": {"errorCode": 4040006}})
    answer = player.ask("GET", STORE, "/inApps/v1/transactions/1")
    bench.expect(answer.status == 429 and answer.json["errorCode"] == 4290000
                 and answer.headers["retry-after"] == "soon", "fault: retryAfter as text", answer)
    answer = player.ask("GET", STORE, "/inApps/v1/transactions/1")
    bench.expect(answer.status == 404 and answer.json["errorCode"] == 4040006,
                 "fault: errorCode", answer)
    answer = fault(gzip="bomb")
    stream, count = zlib.decompressobj(31), 0
    stuff = answer.body
    while stuff:
        count += len(stream.decompress(stuff, 1 << 24))
        stuff = stream.unconsumed_tail
    bench.expect(count == 1 << 30 and stream.eof and len(answer.body) < 1_100_000,
                 "fault: a bomb, whole and with its checksum", (count, len(answer.body)))


def check_exchanges_with_faults(bench, player):
    """Check that in the library every fault ends as its file states, within its steps."""
    host = play.Host(player, environments=["Production", "Sandbox"])
    receipt = bench.mint("app-receipt", "--environment", "Production")
    for test in faults.exchanges(receipt):
        player.script(*test["rules"])
        before = len(player.log())
        document = host.ask(test["request"])
        requests = len(player.log()) - before
        bench.expect((document.status, requests) == (test["status"], test["requests"]),
                     f"PLY-7: {test['name']}", f"{document.status} after {requests}")
        if test["name"] == "verifyReceipt, a bad signature":
            found = document.json["exchange"]["verifyReceipt"]["latestReceipt"]
            bench.expect(found["verified"] is False, "PLY-7: the receipt in it", found)
    player.script({"host": BUY, "fault": {"redirect": player.url + "/followed"}})
    host.ask({"operation": "call-verify-receipt", "receipt": receipt})
    bench.expect("/followed" not in [entry["path"] for entry in player.log()],
                 "PLY-7: the driver follows no redirect")
    player.script()


def check_signed(bench, player):
    """Check responses of the API that must be refused, and one that only Production gives."""
    host = play.Host(player)
    jwt = {"Authorization": "Bearer " + host.token("sign-api-token")}

    def refused(fault, base=STORE_SANDBOX):
        player.script({"host": base, "fault": fault})
        answer = player.ask("GET", base, "/inApps/v1/transactions/2000000900000001", headers=jwt)
        if answer.status != 200:
            return answer.status
        try:
            host.verifier.verify_transaction(answer.json["signedTransactionInfo"], now=NOW)
            return "ok"
        except play.assay.AssayError as error:
            return error.status

    for fault, wanted in [({"badSignature": True}, "rejected.jws.signature"),
                          ({"otherApp": True}, "rejected.app.bundle-id"),
                          ({"otherEnvironment": True}, "rejected.environment.not-accepted"),
                          ({"unreleased": True}, "ok")]:
        found = refused(fault)
        bench.expect(found == wanted, f"fault: {fault}", found)
    bench.expect(refused({"unreleased": True}, STORE) == 401, "fault: unreleased in Production")
    player.script()


def check_log(bench, player):
    player.play("log", {})
    player.ask("GET", play.APPLE_ID, "/auth/keys?secret=1", headers={"Authorization": "secret"})
    player.ask("POST", BUY, "/verifyReceipt", {"password": "secret"})
    log = player.log()
    bench.expect(log == [
        {"method": "GET", "host": play.APPLE_ID, "path": "/auth/keys", "status": 200,
         "atMs": NOW},
        {"method": "POST", "host": BUY, "path": "/verifyReceipt", "status": 200, "atMs": NOW}],
        "PLY-6: the log has no secrets", log)


def check_tls(bench):
    with bench.player("--tls") as player:
        ca = bench.folder / player.first["ca"]
        bench.expect(player.url.startswith("https://"), "PLY-4: TLS", player.first)

        def ask(url, context):
            place = urllib.parse.urlsplit(url)
            connection = http.client.HTTPSConnection(
                place.hostname, place.port, context=context, timeout=20)
            try:
                connection.request("GET", "/auth/keys", headers={"Host": play.APPLE_ID})
                return connection.getresponse().read()
            except ssl.SSLError as error:
                return type(error).__name__ + " " + str(error)
            finally:
                connection.close()

        found = ask(player.url, trusting(ca))
        bench.expect(isinstance(found, bytes) and json.loads(found)["keys"],
                     "PLY-4: a client that trusts it", found)
        found = ask(player.url, ssl.create_default_context())
        bench.expect("CERTIFICATE_VERIFY_FAILED" in str(found), "PLY-4: a client that does not",
                     found)
        found = ask(player.first["expiredUrl"], trusting(ca))
        bench.expect("expired" in str(found), "PLY-4: an expired certificate", found)
        for octets in (b"GET / HTTP/1.1\r\n\r\n", b""):
            with socket.create_connection(
                    (urllib.parse.urlsplit(player.url).hostname,
                     urllib.parse.urlsplit(player.url).port), timeout=20) as raw:
                raw.sendall(octets)
        bench.expect(json.loads(ask(player.url, trusting(ca)))["keys"],
                     "PLY-4: a client without TLS ends nothing")
        play.assay.Verifier(player.config)
        bench.expect(player.config["appStoreServerApi"]["apiBaseUrl"] == player.url,
                     "PLY-2: the API's address under TLS")
