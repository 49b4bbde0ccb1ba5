#!/usr/bin/env python3
"""Demonstrate exchanges with Apple's servers against a local mock Apple.

    make demo-apple

The library decides every step of an exchange; the HTTP requests go to `assay mock-apple` instead of
Apple. Exits with 1 when an outcome is not the expected one.
"""
import base64
import hashlib
import os
import pathlib
import shutil
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bindings/python"), str(ROOT / "bindings/python_testing")]
os.environ["ASSAY_PROGRAM"] = str(pathlib.Path(sys.argv[1]).resolve())

import assay  # noqa: E402
from assay_testing import Authority  # noqa: E402
from assay_testing.apple import MockApple  # noqa: E402

FOLDER = ROOT / "build/demo-apple"
LINE = "2000000900000001"
POOL = "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_EXAMPLE01"
APPLE = "https://appleid.apple.com"


class Stage:
    """The mock Apple, a verifier configured for it, and the counts of outcomes."""

    def __init__(self, apple):
        self.apple, self.seen = apple, 0
        self.passed = self.failed = 0
        # App Review makes Sandbox purchases, which arrive at the production server.
        self.config = {**apple.config, "environments": ["Production", "Sandbox"],
                       "storekit": {"anchors": apple.config["storekit"]["anchors"]}}
        self.verifier = assay.Verifier(self.config)

    def scene(self, number, title):
        print(f"\n{number}. {title}")

    def say(self, word, text):
        print(f"   {word + ':':<10}{text}")

    def expect(self, what, wanted, got):
        if wanted == got:
            self.passed += 1
        else:
            self.failed += 1
            print(f"   NOT AS EXPECTED: {what} is {got!r}, it should be {wanted!r}")

    def ask(self, request, evidence=()):
        """Run an exchange to its end and return its document."""
        with self.verifier.exchange(request, evidence) as exchange:
            document = exchange.run(self.apple.sender)
        self.tell()
        return document

    def tell(self):
        """Print the requests that the mock Apple has received since the last call."""
        log = self.apple.log
        for entry in log[self.seen:]:
            self.say("asked", f"{entry['method']} {entry['host']}{entry['path']}"
                              f" -> {entry['status']}")
        self.seen = len(log)

    def found(self, document, status="ok"):
        """Check the status of a finished exchange and return its members."""
        self.expect("the status", status, document.status)
        return document.json["exchange"] or {}


def receipt(stage):
    stage.scene(1, "A Sandbox receipt at the production server: App Review buys like that")
    document = stage.ask({"operation": "call-verify-receipt",
                          "receipt": stage.apple.authority.app_receipt()})
    found = stage.found(document)
    answer = found["verifyReceipt"]
    stage.say("judged", f"{document.status}, {found['hops']} hop, {answer['environment']},"
                        f" {len(answer['transactions'])} transactions; the receipt in the"
                        f" answer is verified: {answer['latestReceipt']['verified']}")
    stage.expect("the hop", 1, found["hops"])
    decision = stage.verifier.decide(document)
    stage.say("decided", f"{decision.plan}, {decision.state}")
    stage.expect("the plan", "premium", decision.plan)


def refund(stage):
    stage.scene(2, "A refund that nobody was told about, found in the history")
    jws = stage.apple.authority.transaction(transaction_id=LINE)
    decision = stage.verifier.decide(stage.verifier.verify_transaction(jws))
    stage.say("before", f"{decision.plan}, {decision.state}, by what the app handed in")
    stage.expect("the plan before", "premium", decision.plan)
    stage.apple.play("refund", {"transactionId": LINE})
    document = stage.ask({"operation": "get-refund-history", "environment": "Sandbox",
                          "transactionId": LINE})
    result = stage.found(document)["result"]
    for one in result["transactions"]:
        stage.say("found", f"{one['transactionId']}, revoked at {one['revocationDate']}")
    decision = stage.verifier.decide(document)
    stage.say("decided", f"{decision.plan}, {decision.state}")
    stage.expect("the plan after", "free", decision.plan)


def offer(stage):
    stage.scene(3, "An offer for that customer, signed")
    document = stage.ask({
        "operation": "sign-promotional-offer", "productId": "com.example.app.premium.monthly",
        "offerIdentifier": "welcome-back", "transactionId": LINE})
    found = stage.found(document)
    stage.say("signed", f"{len(found['jws'])} characters, nonce {found['nonce']}")
    stage.expect("the form", 3, len(found["jws"].split(".")))


def device(stage):
    stage.scene(4, "Two bits of a device: an offer that it gets once")
    for token, expected in [("phone#1", "ok"), ("phone#2", "rejected.promo.device-used")]:
        asked = {"deviceToken": base64.b64encode(token.encode()).decode(),
                 "transactionId": f"demo-{token}"}
        document = stage.ask({"operation": "query-device-bits", **asked, "offer": True})
        found = stage.found(document, expected)["deviceCheck"]
        stage.say("judged", f"{document.status}: {found['outcome']}, offer {found['offer']}")
        if expected == "ok":
            document = stage.ask({"operation": "update-device-bits", **asked, "bit0": True})
            stage.say("judged", stage.found(document)["deviceCheck"]["outcome"])


def refresh(stage):
    stage.scene(5, "A receipt of App Attest, exchanged for one with a risk metric")
    stage.apple.play("risk", {"risk": 3})
    kept = stage.verifier.verify_attest_receipt(
        stage.apple.authority.attest_receipt(environment="Production"))
    document = stage.ask({"operation": "refresh-attest-receipt"}, kept)
    found = stage.found(document)["attestReceipt"]
    stage.say("judged", f"{found['type']}, {found['risk']} keys on that device in 30 days")
    stage.expect("the metric", 3, found["risk"])


def key_sets(stage):
    stage.scene(6, "A key set, fetched twice; then its keys are rotated under load")
    document = stage.ask({"operation": "fetch-keyset", "issuer": POOL})
    first = stage.found(document)
    # An old attempt, so that the cooldown has passed.
    old = {**first["keysetState"], "triedAtMs": 0}
    document = stage.ask({"operation": "fetch-keyset", "issuer": POOL, "state": old,
                          "keyset": first["keyset"]})
    second = stage.found(document)
    stage.say("judged", f"changed: {second['changed']}")
    stage.expect("304 leaves the keys", False, second["changed"])
    rotate(stage, assay.Keyset(second["keyset"]))


def rotate(stage, keys):
    """Verify tokens in four threads while the issuer rotates its keys.

    The first thread that meets an unknown key fetches the key set; the others wait for that fetch.
    """
    held, lock, counts = [keys], threading.Lock(), {"verified": 0, "fetched": 0, "refused": 0}

    def verify(text):
        for _ in range(3):
            known = held[0]
            try:
                stage.verifier.verify_token(text, known)
                with lock:
                    counts["verified"] += 1
                return
            except assay.RejectedError as error:
                if error.status != "rejected.token.unknown-key":
                    break
            with lock:
                if held[0] is known:
                    request = {"operation": "fetch-keyset", "issuer": POOL}
                    with stage.verifier.exchange(request) as exchange:
                        found = exchange.run(stage.apple.sender)
                    held[0] = assay.Keyset(found.json["exchange"]["keyset"])
                    counts["fetched"] += 1
        with lock:
            counts["refused"] += 1

    def work():
        for number in range(20):
            if number == 10:
                stage.apple.play("keys", {"issuer": POOL, "keys": "rotate"})
            verify(stage.apple.play("token", {"issuer": POOL})["token"])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stage.tell()
    stage.say("judged", f"{counts['verified']} tokens verified, {counts['refused']} refused,"
                        f" {counts['fetched']} fetches")
    stage.expect("tokens that were refused", 0, counts["refused"])
    stage.expect("fetches: one a rotation", True, 1 <= counts["fetched"] <= 4)


def sign_in(stage):
    stage.scene(7, "Sign in with Apple")
    nonce = base64.urlsafe_b64encode(hashlib.sha256(b"demo").digest()).decode().rstrip("=")
    made = stage.apple.play("sign-in", {"nonce": nonce})
    document = stage.ask({"operation": "fetch-keyset", "issuer": APPLE})
    keys = assay.Keyset(stage.found(document)["keyset"])
    document = stage.ask({"operation": "verify-apple-identity-token",
                          "token": made["identityToken"],
                          "nonce": nonce}, keys.facts)
    found = stage.found(document)["token"]
    stage.say("judged", f"subject {found['subject']}, nonce {found['nonce']}")
    stage.expect("the nonce", "checked", found["nonce"])
    document = stage.ask({"operation": "exchange-authorization-code", "code": made["code"],
                          "nonce": nonce}, keys.facts)
    tokens = stage.found(document)["tokens"]
    stage.say("judged", "the code is a refresh token now")
    document = stage.ask({"operation": "exchange-authorization-code", "code": made["code"]})
    stage.found(document, "rejected.apple-id.grant")
    stage.say("refused", f"{document.status}: a code is for one use")
    document = stage.ask({"operation": "revoke-apple-token", "token": tokens["refreshToken"],
                          "hint": "refresh_token"})
    stage.say("judged", f"revoked: {stage.found(document)['revoked']}")


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    with MockApple(Authority(FOLDER / "authority")) as apple:
        print(f"Apple is played at {apple.url}, signed by the test authority of"
              f" {(FOLDER / 'authority').relative_to(ROOT)}.")
        stage = Stage(apple)
        for scene in (receipt, refund, offer, device, refresh, key_sets, sign_in):
            scene(stage)
    print(f"\nsuite demo-apple: {stage.passed} passed, {stage.failed} failed, 0 skipped")
    sys.exit(1 if stage.failed or not stage.passed else 0)


if __name__ == "__main__":
    main()
