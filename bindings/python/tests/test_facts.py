"""The typed facts, compared with the document under Python's names and types. Tests/Gates/facts.py
checks that they have every member of contract/facts.tsv."""
import copy
import datetime
import json
import pickle
import unittest

import assay
from assay import _members, facts, names
from case_table import called, table


def verified(kind):
    return called(table().accepted(kind))


class TypedFactsTest(unittest.TestCase):
    """Values under Python's names; test_case_table.py checks that each is the document's."""

    def test_transaction(self):
        transaction = verified("transaction")
        signed = transaction.payload
        self.assertEqual(transaction.product_id, signed["productId"])
        self.assertEqual(transaction.signed_date, signed["signedDate"])
        self.assertIsInstance(transaction.signed_date, int)
        self.assertEqual(transaction.signed_at, moment(signed["signedDate"]))
        self.assertEqual(transaction.signed_at.utcoffset(), datetime.timedelta(0))
        self.assertEqual(transaction.effective_date.ms, signed["signedDate"])
        self.assertEqual(
            transaction.keys.transaction,
            f"{signed['environment']}/{signed['transactionId']}",
        )
        self.assertLess(transaction.chain.leaf.not_before_at, transaction.chain.leaf.not_after_at)
        self.assertEqual(transaction.as_dict()["product_id"], signed["productId"])
        self.assertIn(signed["productId"], repr(transaction))

    def test_receipt(self):
        receipt = called(table().first("verify_receipt", kind="app-receipt"))
        members = receipt.payload["purchases"]
        self.assertIs(type(receipt.purchases), tuple)
        self.assertEqual([(entry.product_id, entry.keys.payload, entry.known)
                          for entry in receipt.purchases],
                         [(entry["productId"], entry["keys"], entry["known"])
                          for entry in members])

    def test_notification_has_what_is_nested(self):
        notification = next(
            found for case in table().cases
            if (case["call"], case.get("kind"), case["expect"]["status"])
            == ("verify_jws", "notification", "ok")
            for found in [called(case)] if found.transaction is not None)
        self.assertEqual(
            notification.notification_uuid, notification.payload["notificationUUID"]
        )
        self.assertIs(type(notification.transaction), facts.Transaction)
        self.assertIs(notification.transaction.document, notification.document)

    def test_decision(self):
        case = table().accepted("transaction")
        transaction = called(case)
        decision = table().verifier(case["verifier"]).decide(transaction, now=case["now"])
        self.assertEqual(decision.entitled, decision.payload["entitled"])
        self.assertIs(decision.as_dict()["entitled"], True)
        self.assertEqual(decision.as_dict()["would_expire_at_ms"], decision.would_expire_at_ms)
        self.assertEqual((decision.excluded, decision.evidence.kinds), ((), ("transaction",)))

    def test_claims_are_no_facts(self):
        finding = called(table().first("triage", "pending"))
        self.assertNotIsInstance(finding.unverified, facts.Facts)
        self.assertEqual(finding.unverified.payload, finding.document.json["unverified"])
        self.assertIn(finding.category, repr(finding))
        self.assertIs(finding.as_dict()["worth_verifying"], True)
        with self.assertRaises(AttributeError):
            finding.unverified.product_id = "other"

    def test_decision_shows_what_the_catalogue_lacks(self):
        case = table().accepted("transaction")
        settings = {**table().configuration(case["verifier"]), "products": {}}
        verifier = assay.Verifier(settings)
        transaction = called(case, verifier)
        shown = repr(verifier.decide(transaction, now=case["now"]))
        self.assertIn("unknown-product", shown)
        self.assertIn(transaction.product_id, shown)

    def test_details_convert(self):
        info = facts.AdvancedCommerceTransactionInfo(
            {
                "items": [{"SKU": "a", "refunds": [{"refundDate": 1000}]}, "no object"],
                "estimatedTax": "12",
                "taxCode": 7,
                "later": {"member": 1},
            }
        )
        self.assertEqual([item.sku for item in info.items], ["a"])
        self.assertEqual(info.items[0].refunds[0].refund_at, moment(1000))
        self.assertIsNone(info.tax_code)
        self.assertIsNone(info.descriptors)
        self.assertEqual(info.payload["later"], {"member": 1})

    def test_read_only(self):
        transaction = verified("transaction")
        for name in ("product_id", "payload", "document", "anything"):
            with self.subTest(name=name), self.assertRaises(AttributeError):
                setattr(transaction, name, "other")
        with self.assertRaises(TypeError):
            transaction.payload["productId"] = "other"
        with self.assertRaises(TypeError):
            transaction.document.json["ok"] = True

    def test_proof_is_not_copied_out(self):
        transaction = verified("transaction")
        for proof in (transaction, transaction.document):
            with self.assertRaises(TypeError):
                pickle.dumps(proof)
            self.assertIs(copy.copy(proof), proof)
            self.assertIs(copy.deepcopy(proof), proof)
        with self.assertRaises(TypeError):
            assay.Document(None, 0)


class WrongNameTest(unittest.TestCase):
    """An unknown name, whose error suggests the right one."""

    def check(self, found, wrong, right):
        with self.assertRaises(AttributeError) as raised:
            getattr(found, wrong)
        self.assertEqual(
            str(raised.exception),
            f"'{type(found).__name__}' object has no attribute {wrong!r}: use {right}",
        )
        getattr(found, right)

    def test_names_of_the_json(self):
        transaction, notification = verified("transaction"), verified("notification")
        for found, wrong, right in (
            (transaction, "expiresDate", "expires_date"),
            (transaction, "expiresAt", "expires_at"),
            (transaction, "inAppOwnershipType", "in_app_ownership_type"),
            (notification, "type", "notification_type"),
            (notification, "notificationUUID", "notification_uuid"),
            (notification, "appTransaction", "app_transaction"),
            (notification.data, "signedTransactionInfo", "signed_transaction_info"),
            (transaction.keys, "Purchase", "purchase"),
        ):
            with self.subTest(wrong=wrong):
                self.check(found, wrong, right)

    def test_misspelt(self):
        self.check(verified("transaction"), "expire_date", "expires_date")
        self.check(verified("transaction"), "produtc_id", "product_id")

    def test_nothing_like_it(self):
        for name in ("zzz", "__array__", "_private"):
            with self.subTest(name=name), self.assertRaises(AttributeError) as raised:
                getattr(verified("transaction"), name)
            self.assertNotIn(": use", str(raised.exception))
        self.assertFalse(hasattr(verified("transaction"), "expiresDate"))


class JSONTest(unittest.TestCase):
    """The JSON of a document, which is a dict for json but read-only."""

    def test_dumps(self):
        transaction = verified("transaction")
        for found in (transaction.payload, transaction.document.json, transaction.as_dict()):
            self.assertEqual(json.loads(json.dumps(found)), found)
        self.assertEqual(json.loads(transaction.document.text), transaction.document.json)

    def test_read_only(self):
        payload = verified("transaction").payload
        for change in (
            lambda: payload.update(productId="other"),
            lambda: payload.pop("productId"),
            lambda: payload.popitem(),
            lambda: payload.clear(),
            lambda: payload.setdefault("other", 1),
            lambda: payload.__delitem__("productId"),
            lambda: payload.__ior__({"productId": "other"}),
        ):
            with self.assertRaises(TypeError):
                change()
        self.assertIn("productId", payload)

    def test_a_copy_is_a_dict(self):
        document = verified("notification").document
        for made in (copy.deepcopy(document.json), pickle.loads(pickle.dumps(document.json))):
            self.assertIs(type(made), dict)
            self.assertEqual(made, document.json)
            self.assertIs(type(made["notification"]), dict)


class NamesTest(unittest.TestCase):
    """Values of a set, which compare with Apple's text and with new values."""

    def test_known(self):
        transaction = verified("transaction")
        self.assertEqual(transaction.type, transaction._members()["type"])
        self.assertIs(type(transaction.type), names.ProductType)
        self.assertIn(transaction.environment, (names.Environment.PRODUCTION, "Sandbox"))
        self.assertEqual(names.Environment.SANDBOX, "Sandbox")
        self.assertIn("Sandbox", names.Environment.values())
        self.assertIsInstance(names.NotificationType.DID_RENEW, names.NotificationType)

    def test_new(self):
        found = facts.NotificationData({"environment": "Moon", "status": 1})
        self.assertEqual(found.environment, "Moon")
        self.assertNotIn(found.environment, names.Environment.values())
        self.assertNotEqual(found.environment, names.Environment.SANDBOX)
        self.assertIsNone(facts.NotificationData({"environment": 7}).environment)

    def test_plain_text(self):
        environment = verified("transaction").environment
        self.assertEqual(json.dumps(environment), json.dumps(str(environment)))
        self.assertEqual({environment: 1}[str(environment)], 1)
        self.assertIs(assay.names, names)


class ConversionTest(unittest.TestCase):
    """Members that are not of their declared type, which read as None."""

    def test_integers(self):
        for value, wanted in (
            (7, 7), (True, None), (7.5, None), ("9007199254740993", 9007199254740993),
            ("-5", -5), ("--5", None), ("5x", None), ("", None), ("9" * 5000, None),
            (None, None), ([], None),
        ):
            with self.subTest(value=value):
                self.assertEqual(_members.as_integer(value), wanted)
        self.assertIsNone(_members.as_signed_integer("5"))

    def test_times(self):
        self.assertEqual(_members.as_time(1697679936056.485), 1697679936056)
        self.assertIsNone(_members.as_time(1e300))
        self.assertIsNone(_members.as_time(True))
        self.assertIsNone(_members.as_moment(10**18))
        self.assertEqual(_members.as_moment(0), moment(0))

    def test_others(self):
        self.assertIsNone(_members.as_text(5))
        self.assertIsNone(_members.as_boolean(1))
        self.assertEqual(_members.as_texts(["a", 1]), ("a",))
        self.assertEqual(_members.as_texts("a"), ())


def moment(milliseconds):
    return datetime.datetime.fromtimestamp(
        milliseconds // 1000, datetime.timezone.utc
    ) + datetime.timedelta(milliseconds=milliseconds % 1000)


if __name__ == "__main__":
    unittest.main()
