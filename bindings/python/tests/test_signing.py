"""Tokens, offers and session tokens, typed in Python. Tests/AssayTests/SigningTests.swift verifies
the signatures with libcrypto."""
import base64
import json
import pprint
import unittest
import uuid

import assay
from case_table import called, table

NOW = 1_795_219_200_000
APPS = [{"bundleId": "com.example.app", "appAppleId": 1234567890, "teamId": "ABCDE12345"}]
SECRET = {"secrets": [{"id": "s1", "secret": base64.b64encode(bytes(range(32))).decode()}]}
# PKCS#8 of the P-256 key with the private number 1.
PKCS8 = bytes.fromhex(
    "3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420") + bytes(31) + b"\1"
KEY = {"keyId": "KEYID12345", "privateKey": "-----BEGIN PRIVATE KEY-----\n"
       f"{base64.b64encode(PKCS8).decode()}\n-----END PRIVATE KEY-----\n"}


def claims_of(token):
    """Return header and claims of a token."""
    return [json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
            for part in token.split(".")[:2]]


class SigningTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        issuer = {"issuerId": "57246542-96fe-1a63-e053-0824d011072a"}
        cls.verifier = assay.Verifier({
            "apps": APPS, "appStoreServerApi": {**issuer, **KEY}, "deviceCheck": KEY,
            "appleId": KEY, "session": SECRET})

    def test_tokens(self):
        token = self.verifier.signer.sign_api_token(now=NOW)
        header, claims = claims_of(token.token)
        self.assertEqual(header, {"alg": "ES256", "kid": "KEYID12345", "typ": "JWT"})
        self.assertEqual(claims["bid"], "com.example.app")
        self.assertEqual(claims["exp"] * 1000, token.expires_at_ms)
        token = self.verifier.signer.sign_device_check_token(now=NOW)
        header, claims = claims_of(token.token)
        self.assertEqual(claims, {"iss": "ABCDE12345", "iat": NOW // 1000,
                                  "exp": NOW // 1000 + 1200})
        secret = self.verifier.signer.sign_apple_client_secret(ttl_ms=60_000, now=NOW)
        _, claims = claims_of(secret.client_secret)
        self.assertEqual(claims["sub"], "com.example.app")
        self.assertEqual(claims["exp"], NOW // 1000 + 60)

    def test_offers(self):
        nonce = uuid.uuid4()
        offer = self.verifier.signer.sign_promotional_offer("p1", "o1", "7", nonce=nonce, now=NOW)
        _, claims = claims_of(offer.jws)
        self.assertEqual((claims["productId"], claims["offerIdentifier"]), ("p1", "o1"))
        self.assertEqual((claims["nonce"], offer.nonce), (str(nonce), str(nonce)))
        offer = self.verifier.signer.sign_introductory_offer_eligibility("p1", False, "7", now=NOW)
        _, claims = claims_of(offer.jws)
        self.assertIs(claims["allowIntroductoryOffer"], False)
        self.assertEqual((claims["nonce"], offer.iat), (offer.nonce, NOW // 1000))

    def test_offer_v1(self):
        offer = self.verifier.signer.sign_promotional_offer_v1(
            "p1", "o1", "User", timestamp=NOW - 5)
        self.assertEqual((offer.timestamp, offer.key_id), (NOW - 5, "KEYID12345"))
        self.assertEqual(base64.b64decode(offer.signature)[:1], b"\x30")
        self.assertTrue(uuid.UUID(offer.nonce))

    def test_nothing_secret_is_shown(self):
        token = self.verifier.signer.sign_api_token()
        secret = self.verifier.signer.sign_apple_client_secret()
        shown = repr(token) + repr(secret) + repr(self.verifier)
        for text in (token.token, secret.client_secret, "Bearer ", "PRIVATE KEY"):
            self.assertNotIn(text, shown)

    def test_no_secret_result_is_printed(self):
        for kind, names in ((assay.AppleTokens, ("accessToken", "refreshToken")),
                            (assay.SignedToken, ("token",)), (assay.IssuedSession, ("text",)),
                            (assay.ClientSecret, ("clientSecret",))):
            found = kind({"expiresAtMs": 1, "keyId": "k", **dict.fromkeys(names, "eyJh")})
            for text in (repr(found), str(found), f"{found}", f"{[found]!r}", f"{found!a}",
                         pprint.pformat({"found": found})):
                self.assertIn("expires_at_ms=1", text)
                self.assertNotIn("eyJh", text)

    def test_refusals(self):
        with self.assertRaises(assay.MisuseError) as caught:
            self.verifier.signer.sign_promotional_offer("", "o1")
        self.assertEqual(caught.exception.at, "productId")
        with self.assertRaises(assay.ConfigError) as caught:
            assay.Verifier({"apps": APPS}).signer.sign_api_token()
        self.assertEqual(caught.exception.at, "appStoreServerApi")

    def test_an_exchange_about_a_device(self):
        request = {"operation": "query-device-bits", "deviceToken": "AQID", "transactionId": "t"}
        with self.verifier.exchange(request, now=NOW) as exchange:
            name, value = exchange.payload["http"]["headers"][0]
            self.assertEqual(name, "Authorization")
            claims_of(value.removeprefix("Bearer "))
            self.assertNotIn(value, repr(exchange) + repr(exchange.document))
            exchange.step({"id": 1, "status": 200, "body": {"text": "Bit State Not Found"}}, NOW)
            self.assertEqual(exchange.document.facts.outcome, "no-bits")


class SessionTest(unittest.TestCase):
    def test_round_trip(self):
        case, verifier = table().first("verify_assertion"), table().verifier("signing")
        proven = called(case, verifier)
        issued = verifier.sessions.issue_session(
            proven, "account-1", "limited", 3, "jti", 60_000, now=case["now"])
        self.assertEqual(issued.expires_at_ms - issued.issued_at_ms, 60_000)
        self.assertNotIn(issued.text, repr(issued))
        session = verifier.sessions.verify_session(
            issued.text, "metered", "account-1", "jti", now=case["now"])
        self.assertEqual(session.account, "account-1")
        self.assertEqual((session.verdict, session.limited, session.risk), ("limited", True, 3))
        self.assertEqual(session.key_id, issued.key_id)
        self.assertIsNone(session.environment)
        for arguments in [("paid", "account-1", "jti"), ("read", "account-2", "jti"),
                          ("read", "account-1", None)]:
            with self.assertRaises(assay.RejectedError):
                verifier.sessions.verify_session(issued.text, *arguments, now=case["now"])
        with self.assertRaises(assay.MisuseError):
            verifier.sessions.issue_session((), "account-1", now=case["now"])


if __name__ == "__main__":
    unittest.main()
