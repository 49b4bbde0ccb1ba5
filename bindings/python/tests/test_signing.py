"""Tokens, offers and session texts: made by the library, verified by openssl."""
import base64
import json
import pathlib
import pprint
import shutil
import subprocess
import tempfile
import unittest
import uuid

import assay
from case_table import called, table

NOW = 1_795_219_200_000
APPS = [{"bundleId": "com.example.app", "appAppleId": 1234567890, "teamId": "ABCDE12345"}]
SECRET = {"secrets": [{"id": "s1", "secret": base64.b64encode(bytes(range(32))).decode()}]}


def integer(number):
    octets = number.to_bytes(number.bit_length() // 8 + 1, "big")
    return bytes([2, len(octets)]) + octets


def der(signature):
    """ECDSA-Sig-Value of r and s, 32 octets each."""
    body = b"".join(integer(int.from_bytes(half, "big"))
                    for half in (signature[:32], signature[32:]))
    return bytes([0x30, len(body)]) + body


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@unittest.skipUnless(shutil.which("openssl"), "openssl makes the key and verifies")
class SigningTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-out", "key.p8")
        cls.openssl("pkey", "-in", "key.p8", "-pubout", "-out", "public.pem")
        key = {"keyId": "KEYID12345", "privateKey": (cls.folder / "key.p8").read_text()}
        issuer = {"issuerId": "57246542-96fe-1a63-e053-0824d011072a"}
        cls.verifier = assay.Verifier({
            "apps": APPS, "appStoreServerApi": {**issuer, **key}, "deviceCheck": key,
            "appleId": key, "session": SECRET})

    @classmethod
    def openssl(cls, *arguments):
        done = subprocess.run(["openssl", *arguments], cwd=cls.folder, capture_output=True)
        return done.returncode == 0

    def is_signed(self, message, signature):
        (self.folder / "message").write_bytes(message)
        (self.folder / "signature").write_bytes(signature)
        return self.openssl("dgst", "-sha256", "-verify", "public.pem", "-signature",
                            "signature", "message")

    def claims(self, token):
        """Header and claims of a token whose signature is good."""
        header, payload, signature = token.split(".")
        message = f"{header}.{payload}".encode()
        self.assertEqual(len(decoded(signature)), 64)
        self.assertTrue(self.is_signed(message, der(decoded(signature))))
        self.assertFalse(self.is_signed(message + b"x", der(decoded(signature))))
        return json.loads(decoded(header)), json.loads(decoded(payload))

    def test_tokens(self):
        token = self.verifier.sign_api_token(now=NOW)
        header, claims = self.claims(token.token)
        self.assertEqual(header, {"alg": "ES256", "kid": "KEYID12345", "typ": "JWT"})
        self.assertEqual(claims["bid"], "com.example.app")
        self.assertEqual(claims["exp"] * 1000, token.expires_ms)
        token = self.verifier.sign_device_check_token(now=NOW)
        header, claims = self.claims(token.token)
        self.assertEqual(claims, {"iss": "ABCDE12345", "iat": NOW // 1000,
                                  "exp": NOW // 1000 + 1200})
        secret = self.verifier.sign_apple_id_secret(ttl_ms=60_000, now=NOW)
        _, claims = self.claims(secret.client_secret)
        self.assertEqual(claims["sub"], "com.example.app")
        self.assertEqual(claims["exp"], NOW // 1000 + 60)

    def test_offers(self):
        nonce = uuid.uuid4()
        offer = self.verifier.sign_promotional_offer("p1", "o1", "7", nonce=nonce, now=NOW)
        _, claims = self.claims(offer.jws)
        self.assertEqual((claims["productId"], claims["offerIdentifier"]), ("p1", "o1"))
        self.assertEqual((claims["nonce"], offer.nonce), (str(nonce), str(nonce)))
        offer = self.verifier.sign_introductory_offer("p1", False, "7", now=NOW)
        _, claims = self.claims(offer.jws)
        self.assertIs(claims["allowIntroductoryOffer"], False)
        self.assertEqual((claims["nonce"], offer.iat), (offer.nonce, NOW // 1000))

    def test_offer_v1(self):
        offer = self.verifier.sign_promotional_offer_v1("p1", "o1", "User", timestamp=NOW - 5)
        fields = ["com.example.app", "KEYID12345", "p1", "o1", "user", offer.nonce, str(NOW - 5)]
        signature = base64.b64decode(offer.signature)
        self.assertTrue(self.is_signed("\u2063".join(fields).encode(), signature))
        self.assertFalse(self.is_signed("".join(fields).encode(), signature))

    def test_nothing_secret_is_shown(self):
        token = self.verifier.sign_api_token()
        secret = self.verifier.sign_apple_id_secret()
        shown = repr(token) + repr(secret) + repr(self.verifier)
        for text in (token.token, secret.client_secret, "Bearer ", "PRIVATE KEY"):
            self.assertNotIn(text, shown)

    def test_no_secret_result_is_printed(self):
        for kind, names in ((assay.AppleTokens, ("accessToken", "refreshToken")),
                            (assay.SignedToken, ("token",)), (assay.IssuedSession, ("text",)),
                            (assay.ClientSecret, ("clientSecret",))):
            found = kind({"expiresMs": 1, "keyId": "k", **dict.fromkeys(names, "eyJh")})
            for text in (repr(found), str(found), f"{found}", f"{[found]!r}", f"{found!a}",
                         pprint.pformat({"found": found})):
                self.assertIn("expires_ms=1", text)
                self.assertNotIn("eyJh", text)

    def test_refusals(self):
        with self.assertRaises(assay.MisuseError) as caught:
            self.verifier.sign_promotional_offer("", "o1")
        self.assertEqual(caught.exception.at, "productId")
        with self.assertRaises(assay.ConfigError) as caught:
            assay.Verifier({"apps": APPS}).sign_api_token()
        self.assertEqual(caught.exception.at, "appStoreServerApi")

    def test_a_conversation_about_a_device(self):
        request = {"kind": "deviceCheck.query", "deviceToken": "AQID", "transactionId": "t"}
        with self.verifier.exchange(request, now=NOW) as exchange:
            name, value = exchange.payload["request"]["headers"][0]
            self.assertEqual(name, "Authorization")
            self.claims(value.removeprefix("Bearer "))
            self.assertNotIn(value, repr(exchange) + repr(exchange.document))
            exchange.step({"id": 1, "status": 200, "body": {"text": "Bit State Not Found"}}, NOW)
            self.assertEqual(exchange.document.facts.outcome, "no-bits")


class SessionTest(unittest.TestCase):
    def test_round_trip(self):
        case, verifier = table().first("verify_assertion"), table().verifier("signing")
        proven = called(case, verifier)
        issued = verifier.issue_session(
            proven, "account-1", "limited", 3, "jti", 60_000, now=case["now"])
        self.assertEqual(issued.expires_ms - issued.issued_ms, 60_000)
        self.assertNotIn(issued.text, repr(issued))
        session = verifier.check_session(
            issued.text, "metered", "account-1", "jti", now=case["now"])
        self.assertEqual(session.account, "account-1")
        self.assertEqual((session.verdict, session.limited, session.risk), ("limited", True, 3))
        self.assertEqual(session.key_id, issued.key_id)
        self.assertIsNone(session.environment)
        for arguments in [("paid", "account-1", "jti"), ("read", "account-2", "jti"),
                          ("read", "account-1", None)]:
            with self.assertRaises(assay.RejectedError):
                verifier.check_session(issued.text, *arguments, now=case["now"])
        with self.assertRaises(assay.MisuseError):
            verifier.issue_session((), "account-1", now=case["now"])


if __name__ == "__main__":
    unittest.main()
