"""Test exchanges of the library with the mock, by operation, with and without faults."""
import base64
import hashlib

import faults
import play_host as play
from player import NOW

OCSP, STORE, SANDBOX = "ocsp.apple.com", play.STORE, play.STORE_SANDBOX
FIRST = "2000000900000001"
NONCE = "n0" * 16


class Talk:
    """A host of its own mock; `ask` runs one exchange."""

    def __init__(self, bench, player):
        self.bench, self.player = bench, player
        self.host = play.Host(player, environments=["Production", "Sandbox"])
        self.verifier = self.host.verifier

    def each(self, operation, members, evidence, rows):
        """Check each (name, fault or rules, status; None: any refusal, most requests) of an
        operation."""
        for name, fault, wanted, most in rows:
            rules = fault if isinstance(fault, list) else [{"fault": fault}] if fault else []
            self.player.play("script", rules)
            before = len(self.player.log())
            document = self.host.ask({"operation": operation, **members}, evidence)
            requests = len(self.player.log()) - before
            good = document.status == wanted if wanted else document.status != "ok"
            self.bench.expect(good and requests <= most, f"PLY-7: {operation}, {name}",
                              f"{document.status} after {requests}: {document.json.get('error')}")
        self.player.play("script", [])


def check(bench):
    with bench.player() as player:
        by_hand(bench, player)
        talk = Talk(bench, player)
        revocation(talk)
        key_sets(talk)
        sign_in(talk)
        account_events(talk)
        refresh(talk)
        store(talk)
        messaging(talk)
        commerce(talk)
        external(talk)
        paging(talk)


# ---- OCSP --------------------------------------------------------------------------


def values(der):
    """Return (tag, whole, content) of each value in a sequence of DER."""
    at = 0
    while at < len(der):
        start, tag, length, at = at, der[at], der[at + 1], at + 2
        if length > 0x80:
            count = length - 0x80
            length, at = int.from_bytes(der[at:at + count], "big"), at + count
        yield tag, der[start:at + length], der[at:at + length]
        at += length


def value(tag, *parts):
    content = b"".join(parts)
    size = len(content)
    if size < 128:
        return bytes([tag, size]) + content
    count = (size.bit_length() + 7) // 8
    return bytes([tag, 0x80 + count]) + size.to_bytes(count, "big") + content


def fields(certificate):
    """Return the fields in the signed part of a certificate."""
    signed = next(values(next(values(certificate))[2]))[2]
    return list(values(signed))


def asked(certificate, issuer, serial=None):
    """Return a request about a certificate by docs/spec/storekit-ocsp.md §2."""
    above = fields(issuer)
    key = list(values(above[6][2]))[1][2][1:]
    sha256 = bytes.fromhex("300d06096086480165030402010500")
    identifier = value(
        0x30, sha256, value(4, hashlib.sha256(above[5][1]).digest()),
        value(4, hashlib.sha256(key).digest()), serial or fields(certificate)[1][1])
    return value(0x30, value(0x30, value(0x30, value(0x30, identifier))))


def by_hand(bench, player):
    """Check the responder's statuses, read without the library."""
    root, intermediate, leaf = (
        (bench.folder / "ca" / name).read_bytes()
        for name in ("root.der", "intermediate.der", "leaf.der"))

    def ask(body):
        answer = player.ask("POST", OCSP, "/ocsp03-assaytest602", body,
                            {"Content-Type": "application/ocsp-request"})
        parts = list(values(next(values(answer.body))[2]))
        if len(parts) < 2:
            return parts[0][2][0]
        basic = list(values(list(values(next(values(parts[1][2]))[2]))[1][2]))
        data = list(values(next(values(basic[0][2]))[2]))
        single = list(values(next(values(data[2][2]))[2]))
        return single[1][0]

    good, unknown = 0x80, 0x82
    for name, body, wanted in [
            ("leaf", asked(leaf, intermediate), good),
            ("intermediate", asked(intermediate, root), good),
            ("another serial number", asked(leaf, intermediate, value(2, b"\x01")), unknown),
            ("another issuer", asked(leaf, leaf), 6), ("rubbish", b"0\x03\x02\x01", 1)]:
        got = ask(body)
        bench.expect(got == wanted, f"OCSP: {name}", got)
    player.script({"host": OCSP, "fault": {"ocsp": "revoked"}})
    bench.expect(ask(asked(leaf, intermediate)) == 0xa1, "OCSP: revoked by script")
    player.script()


def revocation(talk):
    verified = talk.verifier.verify_transaction(
        talk.bench.mint("transaction", "--transaction-id", FIRST), now=NOW)
    talk.each("check-revocation", {"mode": "required"}, verified, [
        ("good", None, "ok", 2),
        ("revoked", {"ocsp": "revoked"}, "rejected.ocsp.certificate-revoked", 2),
        ("unknown", {"ocsp": "unknown"}, "rejected.ocsp.unknown", 2),
        ("stale", {"ocsp": "stale"}, "rejected.ocsp.stale", 2),
        ("wrongly signed", {"ocsp": "wrongSigner"}, "rejected.ocsp.signature", 2),
        ("an error page", {"status": 200, "body": "<html>"}, "malformed.ocsp.response", 2),
        ("65 KiB", {"oversize": 70_000}, "too-large.ocsp.response", 2),
        ("cut", {"cut": 10}, "unavailable.ocsp.undetermined", 2),
        ("503", {"status": 503}, "unavailable.ocsp.undetermined", 2)])


# ---- keys and sign-in ---------------------------------------------------------------


def key_sets(talk):
    for issuer in (play.POOL, "https://appleid.apple.com"):
        talk.each("fetch-keyset", {"issuer": issuer}, (), faults.key_sets())


def sign_in(talk):
    made = talk.player.play("sign-in", {"nonce": NONCE})
    published = talk.player.ask("GET", play.APPLE_ID, "/auth/keys").json
    keys = play.assay.Keyset({"issuer": "https://appleid.apple.com", **published}).facts
    talk.each("verify-apple-identity-token", {"token": made["identityToken"], "nonce": NONCE}, keys,
              [("as it is", None, "ok", 0)])
    talk.each("verify-apple-identity-token",
              {"token": made["identityToken"], "nonce": "m0" * 16}, keys,
              [("another nonce", None, "rejected.token.nonce", 0)])
    for name, fault, wanted in [
            ("as it is", None, "ok"), ("another app", {"otherApp": True}, "rejected.token.audience"),
            ("a bad signature", {"badSignature": True}, "rejected.token.signature"),
            ("500", {"status": 500}, "unavailable.apple-id.no-response"),
            ("reset", {"reset": True}, "unavailable.apple-id.no-response"),
            ("an unknown error", {"status": 400, "body": {"error": "odd"}},
             "unavailable.apple-id.response"),
            ("66 KiB", {"oversize": 70_000}, "too-large.apple-id.response")]:
        code = talk.player.play("sign-in", {"nonce": NONCE})["code"]
        talk.each("exchange-authorization-code", {"code": code, "nonce": NONCE}, keys,
                  [(name, fault, wanted, 1)])
    talk.each("exchange-authorization-code", {"code": "c0", "nonce": NONCE}, keys,
              [("a code that is none", None, "rejected.apple-id.grant", 1)])
    talk.each("revoke-apple-token", {"token": "r1", "hint": "refresh_token"}, (), [
        ("as it is", None, "ok", 1),
        ("one 503", [{"nth": 1, "fault": {"status": 503}}], "ok", 2),
        ("503 for ever", {"status": 503}, "unavailable.apple-id.no-response", 3)])


def account_events(talk):
    player, expect = talk.player, talk.bench.expect

    def published():
        keys = player.ask("GET", play.APPLE_ID, "/auth/keys").json
        return play.assay.Keyset({"issuer": "https://appleid.apple.com", **keys}).facts

    keys, seen = published(), set()
    for kind in ("email-disabled", "email-enabled", "consent-revoked", "account-deleted",
                 "account-delete", "newer-than-this"):
        told = player.play("apple-event", {"type": kind, "subject": f"001.{kind}"})
        document = talk.host.ask({"operation": "verify-sign-in-notification", **told}, keys)
        event = document.json["exchange"].get("appleIdEvent") or {}
        known = kind.startswith("account-delete") and "account-deleted" or kind
        expect(document.status == "ok" and event["type"] == known
               and event["subject"] == f"001.{kind}" and event["audience"] == ["com.example.app"]
               and (event["email"] is not None) == kind.startswith("email-"),
               f"verify-sign-in-notification: {kind}", document.json)
        seen.add(event.get("tokenId"))
    expect(len(seen) == 6, "verify-sign-in-notification: each has an id of its own", seen)
    for name, members, wanted in [
            ("another client", {"clientId": "com.example.web"}, "rejected.token.audience"),
            ("another app", {"fault": {"otherApp": True}}, "rejected.token.audience"),
            ("a bad signature", {"fault": {"badSignature": True}}, "rejected.token.signature")]:
        told = player.play("apple-event", {"type": "consent-revoked", **members})
        talk.each("verify-sign-in-notification", told, keys, [(name, None, wanted, 0)])
    player.play("keys", {"issuer": "https://appleid.apple.com", "keys": "rotate"})
    told = player.play("apple-event", {"type": "consent-revoked"})
    talk.each("verify-sign-in-notification", told, keys,
              [("a newer key", None, "rejected.token.unknown-key", 0)])
    talk.each("verify-sign-in-notification", told, published(),
              [("the set fetched again", None, "ok", 0)])


# ---- App Attest -----------------------------------------------------------------------


def refresh(talk):
    kept = talk.verifier.verify_attest_receipt(
        talk.bench.mint("attest-receipt", "--environment", "Production"), now=NOW)
    talk.each("refresh-attest-receipt", {}, kept, [
        ("as it is", None, "ok", 1),
        ("401", {"status": 401}, "rejected.attest-refresh.unauthorized", 2),
        ("304", {"status": 304}, "unavailable.attest-refresh.too-early", 1),
        ("the wrong host", {"status": 400, "body": "Incorrect Environment"},
         "rejected.attest-refresh.environment", 1),
        ("a bad payload", {"status": 400, "body": "Bad Payload"},
         "rejected.attest-refresh.payload", 1),
        ("404", {"status": 404, "body": "No Data Found"}, "rejected.attest-refresh.no-data", 1),
        ("one reset", [{"nth": 1, "fault": {"reset": True}}], "ok", 2),
        ("a bad signature", {"badSignature": True}, "rejected.attest-receipt.signature", 1),
        ("another app", {"otherApp": True}, "rejected.attest-receipt.app-id", 1),
        ("another environment", {"otherEnvironment": True},
         "rejected.attest-receipt.environment", 1),
        ("rubbish", {"status": 200, "body": "AAAA"}, None, 1),
        ("66 KiB", {"oversize": 70_000}, "unavailable.attest-refresh.response", 1)])


# ---- the App Store Server API -----------------------------------------------------------


def store(talk):
    members = {"environment": "Sandbox", "transactionId": FIRST}
    for kind, more in [
            ("get-app-transaction-info", {}), ("get-transaction-history", {}),
            ("get-transaction-history-v1", {}), ("get-all-subscription-statuses", {}),
            ("get-refund-history", {}), ("finish-transaction", {}),
            ("send-consumption-information", {
                "customerConsented": True, "sampleContentProvided": False,
                "deliveryStatus": "DELIVERED"})]:
        talk.each(kind, {**members, **more}, (), [("as it is", None, "ok", 1)])
    line = {"environment": "Sandbox", "originalTransactionId": FIRST}
    extend = {"extendByDays": 3, "extendReasonCode": 1, "requestIdentifier": "r-1"}
    product = {"productId": "com.example.app.premium.monthly"}
    for kind, more in [
            ("set-app-account-token",
             {**line, "appAccountToken": "0f8fad5b-d9cb-469f-a165-70867728950e"}),
            ("extend-subscription-renewal-date", {**line, **extend}),
            ("extend-renewal-date-for-all-active-subscribers",
             {"environment": "Sandbox", **product, **extend}),
            ("get-status-of-subscription-renewal-date-extensions",
             {"environment": "Sandbox", **product, "requestIdentifier": "r-1"}),
            ("get-notification-history",
             {"environment": "Sandbox", "startDate": NOW - 1000, "endDate": NOW})]:
        talk.each(kind, more, (), [("as it is", None, "ok", 1)])
    talk.each("look-up-order-id", {"environment": "Production", "orderId": "M900000001"}, (),
              [("as it is", None, "ok", 1)])
    talk.each("request-test-notification", {"environment": "Sandbox"}, (),
              [("nowhere to send", None, "rejected.app-store.not-found", 1)])


def png(width, height):
    """Return the start of a PNG file, in base64."""
    chunks = ((b"IHDR", width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"),
              (b"IDAT", b""))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(
        len(data).to_bytes(4, "big") + name + data + bytes(4) for name, data in chunks)).decode()


def messaging(talk):
    """All that an app does for retention messaging, in this order (PLY-9)."""
    text, image = "0f8fad5b-d9cb-469f-a165-70867728950e", "7c9e6679-7425-40de-944b-e07fc1f90ae7"
    shown = {"productId": "com.example.app.premium.monthly", "locale": "en-US"}
    gone, there = "rejected.app-store.not-found", "rejected.app-store.conflict"

    def row(operation, members, *rows, environment="Sandbox"):
        talk.each(operation, {"environment": environment, **members}, (),
                  [(name, fault, wanted, 2) for name, fault, wanted in rows])

    good = ("as it is", None, "ok")
    row("upload-image", {"imageIdentifier": image, "image": png(3840, 160)}, good,
        ("a second time", None, there))
    row("upload-image", {"imageIdentifier": image, "image": png(3840, 160), "attempt": 2},
        ("done before", None, "ok"))
    row("get-image-list", {}, good)
    row("upload-message", {"messageIdentifier": text, "header": "Stay", "body": "It is cheap.",
                           "image": {"imageIdentifier": image, "altText": "A tree"}}, good,
        ("a second time", None, there))
    row("delete-image", {"imageIdentifier": image},
        ("while a message shows it", None, "rejected.app-store.forbidden"))
    row("get-message-list", {}, good)
    row("configure-default-message", {**shown, "messageIdentifier": text}, good)
    row("get-default-message", shown, good)
    url = {"realtimeURL": "https://a.example/ask"}
    row("configure-realtime-url", url, ("before a test", None, "rejected.app-store.forbidden"),
        environment="Production")
    row("configure-realtime-url", url, good)
    row("get-realtime-url", {}, good)
    asked = {"operation": "initiate-performance-test", "environment": "Sandbox",
             "originalTransactionId": FIRST}
    begun = talk.host.ask(asked).json["exchange"]["result"]["unsigned"]
    row("get-performance-test-results", {"requestId": begun["requestId"]}, good)
    row("configure-realtime-url", url, ("after a test", None, "ok"), environment="Production")
    for operation, members in [("delete-realtime-url", {}), ("delete-default-message", shown),
                               ("delete-message", {"messageIdentifier": text}),
                               ("delete-image", {"imageIdentifier": image})]:
        row(operation, members, good, ("a second time", None, gone))
        row(operation, {**members, "attempt": 2}, ("done before", None, "ok"))


def commerce(talk):
    """The calls of Advanced Commerce, each request id executed once (PLY-10)."""
    common = {"environment": "Sandbox", "transactionId": FIRST}
    texts = {"description": "All", "displayName": "All"}
    item = {"SKU": "a", **texts}
    forbidden = "rejected.app-store.forbidden"
    taken = {"refundRiskingPreference": False}
    for number, (operation, more, again) in enumerate([
            ("change-subscription-metadata",
             {"descriptors": {"effective": "IMMEDIATELY", "displayName": "More"}}, "ok"),
            ("change-subscription-price", {"items": [{"SKU": "a", "price": 990}]}, "ok"),
            ("migrate-subscription",
             {"descriptors": texts, "items": [item], "targetProductId": "p", "taxCode": "C"}, "ok"),
            ("cancel-subscription", {}, "ok"),
            ("request-transaction-refund",
             {"items": [{"SKU": "a", "revoke": True, "refundReason": "LEGAL",
                         "refundType": "FULL"}], **taken}, forbidden),
            ("revoke-subscription",
             {"refundReason": "LEGAL", "refundType": "FULL", **taken}, forbidden)]):
        def asked(reference):
            return {**common, **more, "requestInfo": {
                "requestReferenceId": f"0f8fad5b-d9cb-469f-a165-{reference:012}"}}
        first = forbidden if operation == "revoke-subscription" else "ok"
        talk.each(operation, asked(number), (), [("as it is", None, first, 1)])
        if first == "ok":
            talk.each(operation, asked(number), (), [
                ("the same request", None, "rejected.app-store.repeated-reference", 1)])
            talk.each(operation, asked(100 + number), (), [("another request", None, again, 1)])


def external(talk):
    """Reports about external purchases, each taken once (PLY-11)."""
    report = "0f8fad5b-d9cb-469f-a165-70867728950e"
    item = {"lineItemId": "l-1", "creationDate": NOW - 1000, "eventType": "BUY",
            "productType": "ONE_TIME_BUY", "pricingCurrency": "EUR", "reportingCurrency": "EUR",
            "amountTaxExclusive": 1000, "amountTaxInclusive": 1190, "netAmountTaxExclusive": 1000,
            "taxAmount": 190, "taxCountry": "DEU", "productIdentifier": "p", "quantity": 1}
    sent = {"environment": "auto", "requestIdentifier": report, "externalPurchaseId": "SANDBOX_1",
            "status": "LINE_ITEM", "lineItems": [item]}
    send, refused = "send-external-purchase-report", "rejected.external-purchase.report"
    asked = {"environment": "Sandbox", "requestIdentifier": report}
    talk.each("get-external-purchase-report", asked, (),
              [("before it is sent", None, "rejected.app-store.not-found", 1)])
    talk.each(send, sent, (), [("as it is", None, "ok", 1), ("a second time", None, refused, 1)])
    talk.each(send, {**sent, "attempt": 2}, (), [("done before", None, "ok", 1)])
    talk.each(send, {**sent, "attempt": 2, "lineItems": [{**item, "lineItemId": "l-2"}]}, (),
              [("another one", None, "rejected.external-purchase.disagree", 1)])
    other = {**sent, "requestIdentifier": report.replace("e", "f"), "attempt": 2}
    talk.each(send, other, (), [("the same line item", None, refused, 2)])
    talk.each(send, {**other, "lineItems": [{**item, "restatement": True}]}, (),
              [("a restatement", None, "ok", 2)])
    talk.each("get-external-purchase-report", asked, (), [("as it is", None, "ok", 1)])


def paging(talk):
    operation = "get-transaction-history"
    asked = {"environment": "Sandbox", "transactionId": FIRST}
    for number in range(45):
        talk.player.play("purchase", {
            "product": "com.example.app.coins100", "type": "consumable",
            "transactionId": str(2000000900002000 + number)})
    document = talk.host.ask({"operation": operation, **asked, "options": {"pages": 5}})
    found = document.json["exchange"]["result"]["transactions"]
    talk.bench.expect(document.status == "ok" and len(found) == 48
                      and document.json["exchange"].get("next") is None,
                      "history: every page in one exchange", document.json.get("error"))
