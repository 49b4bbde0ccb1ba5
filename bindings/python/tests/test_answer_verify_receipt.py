"""Answers to requests for Apple's verifyReceipt endpoint: what they contain.

The case table has their numbers and refusals. Here every body is read back, by the reader of
Apple's own answers, and compared with the facts of the receipt; its dates are compared with a
time-zone database; and answers about genuine receipts with those that Apple gave
(docs/spec/verify-receipt-endpoint.md).
"""
import base64
import datetime
import json
import random
import sys
import unittest
import zoneinfo

from test_genuine import FOLDER, configuration

import assay
from case_table import evidence_of, given, table, verified

PACIFIC = zoneinfo.ZoneInfo("America/Los_Angeles")
# The purchase of a receipt, and of an answer that is read back.
SAME = ("product_id", "transaction_id", "original_transaction_id", "web_order_line_item_id",
        "quantity", "purchase_date", "original_purchase_date", "expires_date",
        "cancellation_date", "is_trial_period", "promotional_offer_id")
# The member that Apple's answers do not have.
OURS = {"assay"}


def octets(receipt):
    return receipt.encode() if isinstance(receipt, str) else receipt


def body_of(receipt, **members):
    """Return a request's body for a receipt as the case table has it: raw, or base64 of it."""
    found = octets(receipt)
    if found[:1] in (b"{", b"\x30"):
        found = base64.b64encode(found)
    return json.dumps({"receipt-data": found.decode(), **members})


def check_dates(test, found, path=""):
    """Check that each date is written three times, as the same instant."""
    if isinstance(found, list):
        for each in found:
            check_dates(test, each, path)
        return
    for name, value in found.items() if isinstance(found, dict) else ():
        if isinstance(value, (dict, list)):
            check_dates(test, value, name)
        elif name.endswith("_date_ms"):
            plain = name.removesuffix("_ms")
            moment = datetime.datetime.fromtimestamp(int(value) // 1000, datetime.timezone.utc)
            test.assertEqual(found[plain], f"{moment:%Y-%m-%d %H:%M:%S} Etc/GMT", (path, plain))
            local = moment.astimezone(PACIFIC)
            test.assertEqual(found[plain + "_pst"],
                             f"{local:%Y-%m-%d %H:%M:%S} America/Los_Angeles", (path, plain))


class AnswerTest(unittest.TestCase):
    def receipts(self, kind):
        """Yield verifier, case and verified facts of the receipts that Apple's endpoint takes."""
        for case in table().cases:
            if case["call"] != "verify_receipt" or case["kind"] != kind or \
                    case["expect"]["status"] != "ok" or "Xcode" in case["name"]:
                continue
            verifier = table().verifier(case["verifier"])
            facts = verifier.verify(kind, evidence_of(case), case["now"]).facts
            if facts.environment in ("Production", "Sandbox"):
                yield verifier, case, facts

    def answered(self, verifier, case, facts, receipt=None, **options):
        found = verifier.answer_verify_receipt(
            body_of(evidence_of(case) if receipt is None else receipt), facts.environment,
            base64="tolerant", now=case["now"], **options)
        self.assertIn(found.apple_status, (0, 21006), (case["name"], found.body[:300]))
        return found

    def test_app_receipts_read_back(self):
        count = 0
        for verifier, case, facts in self.receipts("app-receipt"):
            with self.subTest(case=case["name"]):
                found = self.answered(verifier, case, facts, mark=False)
                answer = json.loads(found.body)
                self.assertEqual(next(iter(answer)), "status")
                self.assertEqual(answer["environment"], facts.environment)
                check_dates(self, answer)
                receipt = answer["receipt"]
                self.assertEqual(receipt["receipt_type"], facts.type)
                self.assertEqual(receipt["bundle_id"], facts.bundle_id)
                self.assertEqual(receipt.get("app_item_id"), facts.app_apple_id)
                download = receipt.get("download_id")
                self.assertEqual(download, facts.download_id and int(facts.download_id))
                self.assertEqual(int(receipt["request_date_ms"]), case["now"])
                self.assertEqual([each["transaction_id"] for each in receipt["in_app"]],
                                 [each.transaction_id for each in facts.purchases])
                count += 1
                ids = {each.transaction_id for each in facts.purchases}
                if len(ids) < len(facts.purchases) or any(
                        each.original_transaction_id is None or each.id_conflict
                        for each in facts.purchases):
                    continue  # the reader of Apple's answers takes no such purchase
                back = verifier.read_verify_receipt_response(found.body, now=case["now"])
                self.assertEqual(back.bundle_id, facts.bundle_id)
                self.assertEqual(back.environment, facts.environment)
                self.assertEqual(back.receipt_creation_date, facts.creation_date)
                known = {each.transaction_id: each for each in back.transactions}
                for each in facts.purchases:
                    for name in SAME:
                        self.assertEqual(getattr(known[each.transaction_id], name, None),
                                         getattr(each, name), (each.transaction_id, name))
                if "latest_receipt" in answer:
                    self.assertTrue(back.latest_receipt.verified)
        self.assertGreater(count, 20)

    def test_transaction_receipts_read_back(self):
        count = 0
        for verifier, case, facts in self.receipts("transaction-receipt"):
            with self.subTest(case=case["name"]):
                found = self.answered(verifier, case, facts, mark=False)
                answer = json.loads(found.body)
                self.assertEqual(list(answer)[-1], "status")
                self.assertNotIn("environment", answer)
                has_ids = "unique_identifier" in answer["receipt"]
                self.assertEqual(has_ids, case["verifier"] == "device-ids", answer["receipt"])
                ended = facts.expires_date is not None and facts.expires_date <= case["now"]
                self.assertEqual(found.apple_status, 21006 if ended else 0)
                self.assertEqual("latest_receipt" in answer,
                                 facts.expires_date is not None and not ended)
                back = verifier.read_verify_receipt_response(found.body, now=case["now"])
                known = back.transactions[0]
                for name in SAME[:8]:
                    # `receipt` is the signed list, in which a web order line item may be 0.
                    same = [getattr(facts, name), *["0"] * (name == "web_order_line_item_id")]
                    self.assertIn(getattr(known, name), same, name)
                count += 1
        self.assertGreater(count, 20)

    def test_what_is_not_known_is_named(self):
        verifier, case, facts = next(self.receipts("app-receipt"))
        answer = json.loads(self.answered(verifier, case, facts).body)
        self.assertEqual(list(answer)[-1], "assay")
        mark = answer["assay"]
        self.assertEqual((mark["version"], mark["source"], mark["complete"], mark["password"]),
                         (1, "receipt", False, "not-checked"))
        self.assertEqual(mark["asOf"], facts.creation_date)
        self.assertNotIn("pending_renewal_info", answer)
        with self.assertRaises(assay.UnsupportedError) as refused:
            verifier.read_verify_receipt_response(json.dumps(answer), now=case["now"])
        self.assertEqual(refused.exception.status, "unsupported.verify-receipt.ours")

    def test_newer_evidence(self):
        """The cases with evidence: what it states is in the answer, and in Apple's places."""
        cases = {case["name"]: case for case in table().cases
                 if "verifyReceipt of an app receipt and" in case["name"]}
        named = next(case for name, case in cases.items() if "and a renewal info" in name)
        found = table().verifier(named["verifier"]).answer_verify_receipt(
            json.loads(given(named, "request"))["body"]["text"], "Sandbox",
            [verified(piece, named) for piece in named["evidence"]], now=named["now"])
        answer = json.loads(found.body)
        check_dates(self, answer)
        latest, sent = answer["latest_receipt_info"], answer["receipt"]["in_app"]
        self.assertEqual([each["transaction_id"][-1] for each in latest], ["2", "1"])
        self.assertEqual(latest[0]["in_app_ownership_type"], "PURCHASED")
        self.assertEqual(latest[0]["subscription_group_identifier"], "21400001")
        self.assertEqual(len(sent), 1)
        self.assertNotIn("subscription_group_identifier", sent[0])
        pending = answer["pending_renewal_info"]
        self.assertEqual([(each["auto_renew_status"], each["original_transaction_id"])
                          for each in pending], [("1", latest[0]["original_transaction_id"])])
        self.assertEqual(answer["assay"]["source"], "merged")

    def test_pacific_time(self):
        """Each date of an answer is the time of a time-zone database (VRE-26)."""
        verifier, case, facts = next(self.receipts("app-receipt"))
        body, generator = body_of(evidence_of(case)), random.Random(26)
        limits = 1_199_145_600_000, 4_102_444_800_000 - 1
        edges = [1205056799000, 1205056800000, 1225616399000, 1225616400000, 1772963999000,
                 1772964000000, 1793523599000, 1793523600000, 1825577999000, 1825578000000,
                 4076647199000, 4076647200000]
        later = [each for each in edges if each >= case["now"]]
        for moment in later + [generator.randrange(case["now"], limits[1]) for _ in range(300)]:
            answer = json.loads(verifier.answer_verify_receipt(
                body, facts.environment, base64="tolerant", now=moment).body)
            self.assertEqual(answer["receipt"]["request_date_ms"], str(moment))
            check_dates(self, answer["receipt"])

    def test_secrets_are_not_told(self):
        secret = "0123456789abcdef0123456789abcdef"
        case = next(case for case in table().cases if "a transaction receipt, another secret"
                    in case["name"])
        request = json.loads(given(case, "request"))
        verifier = table().verifier(case["verifier"])
        found = verifier.answer_verify_receipt(request["body"]["text"], "Sandbox", now=case["now"])
        document = found.document.text
        self.assertNotIn(secret[::-1], document)
        self.assertNotIn(secret, document)
        for text in (repr(found), str(found), repr(found.document)):
            self.assertNotIn("receipt-data", text)
        good = json.loads(request["body"]["text"])
        good["password"] = secret
        found = verifier.answer_verify_receipt(json.dumps(good), "Sandbox", now=case["now"])
        self.assertEqual(found.apple_status, 0)
        self.assertNotIn(secret, found.document.text)
        self.assertNotIn(json.loads(found.body)["latest_receipt"], repr(found))


class GenuineAnswerTest(unittest.TestCase):
    """Receipts that Apple signed, and answers that it gave."""

    def manifest(self, *kinds):
        path = FOLDER / "receipts" / "manifest.json"
        if not path.exists():
            print(f"SKIPPED {self.id()}: {path} does not exist", file=sys.stderr)
            self.skipTest(f"{path} does not exist")
        return [(case, (path.parent / case["file"]).read_bytes())
                for case in json.loads(path.read_text()) if case["kind"] in kinds]

    def answers(self):
        return [json.loads(text) for _, text in self.manifest("verify-receipt-response")]

    def answered(self, case, octets, **options):
        verifier = assay.Verifier(configuration(case["config"]))
        return verifier.answer_verify_receipt(
            json.dumps({"receipt-data": b"".join(octets.split()).decode()}), "Sandbox",
            now=case["config"]["now_ms"], **options)

    def test_genuine_receipts(self):
        for case, octets in self.manifest("app-receipt", "transaction-receipt"):
            if not case["genuine"]:
                continue
            with self.subTest(case=case["name"]):
                found = self.answered(case, octets)
                self.assertIn(found.apple_status, (0, 21006))
                answer = json.loads(found.body)
                check_dates(self, answer)
                if "purchases" in case["facts"]:
                    self.assertEqual(len(answer["receipt"]["in_app"]), case["facts"]["purchases"])

    def test_what_is_not_genuine(self):
        """Neither forged nor derived evidence, nor Xcode's, is answered with 0."""
        for case, octets in self.manifest("app-receipt", "transaction-receipt"):
            if case["genuine"] or case["expect"]["families"] == ["ok"]:
                continue
            with self.subTest(case=case["name"]):
                found = self.answered(case, octets)
                self.assertIn(found.apple_status, (21002, 21003))
                self.assertEqual(set(json.loads(found.body)), {"status", "assay"})
                self.assertEqual(self.answered(case, octets, refusals="measured").apple_status,
                                 21002)

    def test_member_by_member(self):
        """One receipt whose answer Apple has given: `receipt` is equal, but for the time of the
        request and what Apple has learnt since."""
        told = next(answer for answer in self.answers()
                    if answer.get("receipt", {}).get("bundle_id") == "com.revenuecat.sampleapp")
        case, octets = next((case, octets) for case, octets in self.manifest("app-receipt")
                            if case["config"]["bundle_ids"] == ["com.revenuecat.sampleapp"])
        ours = json.loads(self.answered(case, octets).body)
        apples, mine = dict(told["receipt"]), dict(ours["receipt"])
        for found in (apples, mine):
            for name in [name for name in found if name.startswith("request_date")]:
                del found[name]
        theirs, own = ({each["transaction_id"]: each for each in found.pop("in_app")}
                       for found in (apples, mine))
        self.assertEqual(apples, mine)
        self.assertEqual(theirs, own)
        entries = {each["transaction_id"]: each for each in told["latest_receipt_info"]}
        for each in ours["latest_receipt_info"]:
            same = entries[each["transaction_id"]]
            self.assertEqual({name: same[name] for name in same
                              if name != "subscription_group_identifier"}, each)
        self.assertEqual(set(told) - set(ours), {"pending_renewal_info"})
        self.assertEqual(set(ours) - set(told), OURS)

    def test_names_and_types(self):
        """Every member that we write has the name and JSON type of one that Apple has written
        in the same place."""
        shapes = set()

        def walk(found, path, take):
            for name, value in found.items():
                take((path, name, type(value).__name__))
                for each in value if isinstance(value, list) else [value]:
                    if isinstance(each, dict):
                        walk(each, path + "/" + name, take)

        for answer in self.answers():
            walk(answer, "", shapes.add)
        strange = set()
        for case, octets in self.manifest("app-receipt", "transaction-receipt"):
            if case["genuine"]:
                answer = json.loads(self.answered(case, octets, mark=False).body)
                walk(answer, "", lambda shape: shape in shapes or strange.add(shape[:2]))
        self.assertLessEqual(strange, {
            # Of offers, which none of the published answers has.
            ("/receipt/in_app", "promotional_offer_id"),
            ("/latest_receipt_info", "promotional_offer_id"),
        })


if __name__ == "__main__":
    unittest.main()
