"""Sign in with Apple, and the keys of token issuers: the methods and typed results."""
import json
import unittest

import assay
from case_table import given, table

MEMBERS = {
    "appleid.identity": {"kind", "token", "nonce"},
    "appleid.notification": {"kind", "payload"},
}


def cases(kind):
    """Requests that a method can express, with their one key set."""
    for case in table().cases:
        if case["call"] != "exchange" or '"' + kind + '"' not in str(given(case, "request")):
            continue
        request = json.loads(given(case, "request"))
        pieces = [piece["kind"] for piece in case["evidence"]]
        texts = all(isinstance(value, str) for value in request.values())
        if pieces == ["keyset"] and texts and MEMBERS[kind] >= set(request) >= (
                MEMBERS[kind] - {"nonce"}):
            yield case, request


class AppleTest(unittest.TestCase):
    def outcome(self, case, call):
        """What the method returned; None where it raised what the case expects."""
        keys = case["evidence"][0]["jwks"]
        status = case["expect"]["status"]
        if status == "ok":
            return call(assay.Keyset(keys))
        if status == "misuse.exchange.evidence":  # no Keyset can be made of it
            return None
        with self.assertRaises(assay.AssayError) as caught:
            call(assay.Keyset(keys))
        self.assertEqual(caught.exception.status, status)
        return None

    def test_identity(self):
        count = 0
        for case, request in cases("appleid.identity"):
            verifier = table().verifier(case["verifier"])
            with self.subTest(case["name"]):
                def call(keys, verifier=verifier, request=request, now=case["now"]):
                    return verifier.verify_apple_identity(
                        request["token"], keys, request.get("nonce"), now)

                token = self.outcome(case, call)
                if token is not None:
                    count += 1
                    self.assertEqual(token.profile, "apple-id")
                    self.assertIn(token.nonce, ("checked", "unsupported", "not-demanded"))
                    self.assertTrue(token.document.ok)
        self.assertGreater(count, 10)

    def test_notification(self):
        count = 0
        for case, request in cases("appleid.notification"):
            verifier = table().verifier(case["verifier"])
            with self.subTest(case["name"]):
                def call(keys, verifier=verifier, request=request, now=case["now"]):
                    return verifier.verify_apple_notification(request["payload"], keys, now)

                event = self.outcome(case, call)
                if event is not None:
                    count += 1
                    self.assertTrue(event.token_id)
                    self.assertTrue(event.subject.startswith("001234."))
        self.assertGreater(count, 10)


class FinishedTest(unittest.TestCase):
    """Typed results of conversations with steps."""

    def finished(self, rule):
        for case in table().cases:
            if case["call"] == "conversation" and case["name"] == rule:
                exchange = table().verifier(case["verifier"]).exchange(
                    given(case, "request"), now=case["now"])
                for step in case["steps"]:
                    exchange.step(given(step, "answer"), step["now"])
                return exchange.document.json["exchange"]
        raise AssertionError(f"the table has no case {rule}")

    def test_keys(self):
        found = assay.FetchedKeyset(self.finished("KST-12 keys: for the first time"))
        self.assertIs(found.changed, True)
        self.assertEqual(found.keyset_state.failures, 0)
        self.assertTrue(assay.Keyset(found.keyset).facts.issuer)
        refused = assay.FetchedKeyset(self.finished("KST-13 keys: the first failure"))
        self.assertEqual((refused.keyset, refused.changed), (None, None))
        self.assertEqual(refused.keyset_state.failures, 1)

    def test_tokens(self):
        found = assay.AppleTokens(self.finished("AID-22 Apple: a code")["tokens"])
        self.assertEqual((found.access_token, found.refresh_token), ("a-token", "r-token"))
        self.assertNotIn("-token", repr(found))


if __name__ == "__main__":
    unittest.main()
