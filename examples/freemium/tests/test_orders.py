"""Apple's notifications, which come twice, late and in every order, and the app's requests. The
plan is that of the newest signed state each time, on a database of its own (BCK-16, RFD-2)."""
import dataclasses
import itertools
import json
import unittest

from assay.ledger import Ledger
from freemium.backend import Backend
from running import ENGINE, LIFETIME, PREMIUM, STANDARD, BackendCase

ACCOUNT = "6d1f0c1e-30d3-4d52-93a6-0d3bd2f1a2b4"
MINUTE_MS, DAY_MS = 60_000, 86_400_000
FIRST, RENEWED = "930001", "930002"
APP = "app"
# What is signed in sequence: the kind, the transaction and the resulting plan.
STORIES = {
    "reversed": ((APP, FIRST, "standard"), ("REFUND", FIRST, "free"),
                 ("REFUND_REVERSED", FIRST, "standard")),
    "refunded again": ((APP, FIRST, "standard"), ("REFUND_REVERSED", FIRST, "standard"),
                       ("REFUND", FIRST, "free")),
    "renewed and refunded": ((APP, FIRST, "standard"), ("DID_RENEW", RENEWED, "premium"),
                             ("REFUND", RENEWED, "free")),
    "renewed after a refund": ((APP, FIRST, "standard"), ("REFUND", FIRST, "free"),
                               ("DID_RENEW", RENEWED, "premium")),
}
# Three notifications, each delivered twice, have 90 orders. All run where that is fast.
ORDERS = sorted(set(itertools.permutations((0, 0, 1, 1, 2, 2))))
EVERY = {"sqlite": (1, 4, 9, 9), "moto": (30, 30, 45, 45)}[ENGINE]


class OrdersTest(BackendCase):
    def test_bck16_in_every_order(self):
        for story, every in zip(STORIES, EVERY):
            texts, plans = self.written(STORIES[story])
            for number, order in enumerate(ORDERS[::every]):
                with self.subTest(story=story, order=order):
                    self.play(self.opened(f"{story}-{number}"), texts, plans, order)

    def test_bck16_of_an_unlock_for_ever(self):
        texts, plans = self.written(((APP, FIRST, "premium"), ("REFUND", FIRST, "free"),
                                     ("REFUND_REVERSED", FIRST, "premium")), LIFETIME)
        for number, order in enumerate(ORDERS[::EVERY[-1]]):
            with self.subTest(order=order):
                self.play(self.opened(f"lifetime-{number}"), texts, plans, order)

    def test_sto33_of_a_purchase_that_a_person_claimed(self):
        """Check that a row that support claimed by hand follows the newest state, too, for every
        kind of notification, and that no completion is expected."""
        texts, _ = self.written((*STORIES["reversed"][:2],
                                 ("DID_CHANGE_RENEWAL_STATUS", FIRST, "standard")))
        for number, order in enumerate(sorted(set(itertools.permutations((1, 1, 2, 2))))):
            backend = self.opened(f"hand-{number}")
            bought = backend.verifier.verify_transaction(texts[0][1], self.clock.ms)
            backend.ledger.claim(bought, ACCOUNT, grant=lambda given: True, note="ticket 5")
            for at, told in enumerate(order):
                self.assertEqual(self.tell(backend, *texts[told])["statusCode"], 200)
                row, = backend.ledger.find(evidence=bought).rows
                wanted = "granted" if 2 in order[:at + 1] else "revoked"
                self.assertEqual(row.state, wanted, (order, at))

    def test_bck42_what_is_refused_for_good_is_logged(self):
        """Check that a product that left the catalogue is taken back all the same."""
        backend = self.opened("gone")
        told = {"environment": "Production", "product": "com.example.app.gone",
                "type": "consumable", "transaction_id": FIRST, "original_transaction_id": FIRST}
        bought = self.authority.transaction(signed=self.clock.ms - 50 * MINUTE_MS, **told)
        policy = {**backend.settings.assay, "products": {"com.example.app.gone": {
            "type": "consumable"}}}
        shop = Ledger(backend.settings.engine, policy, clock=self.clock)
        bought = shop.verifier.verify_transaction(bought, self.clock.ms)
        self.addCleanup(shop.close)
        shop.claim(bought, ACCOUNT, grant=lambda given: True, note="ticket 6")
        for minutes, kind, state in ((40, "REFUND", "revoked"), (30, "REFUND_REVERSED", "revoked")):
            text = self.authority.mint(
                "notification", notification_type=kind, refunded=kind == "REFUND",
                signed=self.clock.ms - minutes * MINUTE_MS, **told).decode().strip()
            with self.assertLogs("freemium", "WARNING") as logged:
                answer = self.tell(backend, kind, text)
            self.assertEqual((answer["statusCode"], answer["body"]), (200, ""))
            self.assertIn("rejected.product.unknown", " ".join(logged.output))
            self.assertEqual(shop.find(evidence=bought).rows[0].state, state)

    def test_bck42_what_is_pending_comes_again(self):
        """Check 503 with Retry-After: Apple delivers again when the take-back is done."""
        backend = self.opened("pending")
        texts, _ = self.written(STORIES["reversed"])
        verified = [backend.verifier.verify_transaction(texts[0][1], self.clock.ms),
                    backend.verifier.verify_notification(texts[1][1], self.clock.ms)]
        backend.ledger.claim(verified[0], ACCOUNT, grant=lambda given: True, note="ticket 7")
        take, = backend.ledger.revoke(verified[1], take_back=lambda take: False).take
        answer = self.tell(backend, *texts[2])
        self.assertEqual((answer["statusCode"], json.loads(answer["body"])),
                         (503, {"error": "Try again later"}))
        self.assertGreaterEqual(int(answer["headers"]["Retry-After"]), 1)
        self.assertEqual(backend.ledger.get_plan(ACCOUNT).plan, "standard", "no part stops another")
        backend.ledger.complete_revocation(take.purchase_key, take.take_id, take.fencing_token)
        self.assertEqual(self.tell(backend, *texts[2])["statusCode"], 200)
        self.assertEqual(backend.ledger.find(evidence=verified[0]).rows[0].state, "granted")

    def play(self, backend, texts, plans, order):
        """Deliver each state as it comes, then all of them once more."""
        newest, shown = -1, False
        for told in (*order, *range(len(texts))):
            answer = self.tell(backend, *texts[told])
            self.assertEqual(answer["statusCode"], 200)
            newest, shown = max(newest, told), shown or texts[told][0] == APP
            plan = backend.ledger.get_plan(ACCOUNT).plan
            self.assertEqual(plan, plans[newest] if shown else "free")
            if texts[told][0] == APP:
                self.assertEqual(json.loads(answer["body"]), {"plan": plan})
        self.assertEqual(backend.ledger.resume_expired().claims, ())

    def written(self, story, product=None):
        """Return kind and text of each, signed ten minutes apart, and its plan."""
        now, texts, plans = self.clock.ms, [], []
        for number, (kind, transaction, plan) in enumerate(story, 1):
            bought = product or (PREMIUM if transaction == RENEWED else STANDARD)
            given = {"environment": "Production", "product": bought, "transaction_id": transaction,
                     "original_transaction_id": FIRST,
                     "signed": now - (60 - 10 * number) * MINUTE_MS}
            if product:
                given["type"] = "non-consumable"
            else:
                given["purchased"] = now - DAY_MS
                given["expires"] = now + (2 if transaction == RENEWED else 1) * DAY_MS
            if kind == APP:
                texts.append((APP, self.authority.transaction(**given)))
            else:
                given |= {"notification_type": kind, "refunded": kind == "REFUND"}
                texts.append((kind, self.authority.mint("notification", **given).decode().strip()))
            plans.append(plan)
        return texts, plans

    def opened(self, name):
        """Return a back end on an empty database."""
        name = name.replace(" ", "-")
        settings = self.backend.settings
        place, _, options = settings.engine.partition("?")
        place = place.replace("freemium.db", f"{name}.db") if ENGINE == "sqlite" \
            else f"{place}-{name}?{options}"
        made = Backend(dataclasses.replace(settings, engine=place), clock=self.clock)
        self.addCleanup(made.ledger.close)
        made.ledger.create_schema()
        if ENGINE == "moto":
            self.watch.of(made)
        return made

    def tell(self, backend, kind, text):
        """Call the function with an event of the gateway."""
        path, member = "/v1/notifications", "signedPayload"
        if kind == APP:
            path, member = "/v1/update-subscription", "signedTransactionData"
        claims = {"sub": ACCOUNT, "token_use": "access", "client_id": self.client}
        return backend.answer({
            "path": path, "httpMethod": "POST", "body": json.dumps({member: text}),
            "requestContext": {"authorizer": {"claims": claims}}})


if __name__ == "__main__":
    unittest.main()
