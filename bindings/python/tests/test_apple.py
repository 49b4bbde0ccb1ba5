"""Sign in with Apple, and the keys of token issuers: the methods and typed results."""
import json
import unittest

import assay
from case_table import given, table
from transcripts import played, transcript


def first(operation, *members):
    """Return the first accepted request with one key set, and the members that the method takes."""
    for case in table().cases:
        if case["call"] != "exchange" or case["expect"]["status"] != "ok":
            continue
        request = json.loads(given(case, "request"))
        if request.get("operation") == operation and set(request) == {"operation", *members} \
                and [piece["kind"] for piece in case["evidence"]] == ["keyset"]:
            keys = assay.Keyset(case["evidence"][0]["jwks"])
            return table().verifier(case["verifier"]), request, keys, case["now"]
    raise AssertionError(f"the case table has no accepted {operation}")


class AppleTest(unittest.TestCase):
    """Exchanges without steps; test_case_table.py checks the result of each."""

    def test_identity(self):
        verifier, request, keys, now = first("verify-apple-identity-token", "token", "nonce")
        for form in (request["token"], request["token"].encode()):
            token = verifier.verify_apple_identity_token(form, keys, request["nonce"], now)
            self.assertEqual((token.profile, token.nonce), ("apple-id", "checked"))
            self.assertTrue(token.document.ok)
        with self.assertRaises(assay.RejectedError) as caught:
            verifier.verify_apple_identity_token(request["token"], keys, "another", now)
        self.assertEqual(caught.exception.status, "rejected.token.nonce")

    def test_notification(self):
        verifier, request, keys, now = first("verify-sign-in-notification", "payload")
        event = verifier.verify_sign_in_notification(request["payload"], keys, now)
        self.assertTrue(event.token_id)
        self.assertTrue(event.subject.startswith("001234."))
        with self.assertRaises(assay.AssayError):
            verifier.verify_sign_in_notification(request["payload"][:-4] + "AAAA", keys, now)


class FinishedTest(unittest.TestCase):
    """Typed results of exchanges with steps."""

    def finished(self, name):
        return played(transcript(name)).document.json["exchange"]

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
