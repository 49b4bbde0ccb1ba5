"""Withdrawn consent: the accounts at a download are restricted (CUS-20, 22)."""
import base64
import secrets
import unittest

from test_accounts import AppleCase
from test_refunds import KEPT, RefundsCase

from running import PREMIUM, BackendCase, authority

DOWNLOAD = "704000000000000301"
KEY = base64.b64encode(secrets.token_bytes(32)).decode()


def about(download):
    """Return the option of `mint` for a notification about a download."""
    signed = authority().app_transaction(set={"appTransactionId": download})
    return {"set": {"appData.signedAppTransactionInfo": signed}}


class RestrictedTest(RefundsCase):
    verifier_members = {"refunds": {"mode": "answer"},
                        "ledger": {"transfer": "allow", "customerKey": KEY}}

    def subscriber(self):
        app = self.app()
        self.assertAnswer(app.update(self.purchase()), 200, {"plan": "premium"})
        return app

    def purchase(self):
        return self.bought(PREMIUM, set={"appTransactionId": DOWNLOAD})

    def withdrawn(self, **more):
        return self.told("RESCIND_CONSENT", **about(DOWNLOAD), **more)

    def test_cus22_the_default_plan_and_403_for_metered_calls(self):
        kim, other = self.subscriber(), self.app()
        self.assertAnswer(other.update(self.bought(PREMIUM, set={
            "appTransactionId": "704000000000000002"})), 200, {"plan": "premium"})
        self.messages.clear()
        for _ in range(2):
            self.assertEqual(self.withdrawn().status, 200)
        self.assertEqual(set(self.told_of()), {kim.account})
        for tier in ("free", "premium"):
            self.assertAnswer(kim.analyze(tier), 403, {"error": "This account is restricted"})
        self.assertAnswer(kim.update(self.purchase()), 200, {"plan": "free"})
        self.assertEqual(other.plan(), "premium")
        late = self.app()
        self.assertAnswer(late.update(self.purchase()), 200, {"plan": "free"})
        self.assertEqual(late.analyze("free").status, 403)
        self.backend.ledger.lift_restriction(kim.account, "consent", "a parent called")
        self.assertEqual(kim.plan(), "premium")
        self.assertEqual(self.withdrawn(signed=self.clock.ms - 60_000).status, 200)
        self.assertEqual(kim.plan(), "premium")

    def test_cus24_a_restricted_account_is_deleted_and_the_download_is_not_forgotten(self):
        kim = self.subscriber()
        self.withdrawn()
        self.assertEqual(kim.post("/v1/account/delete").status, 200)
        again = self.app()
        self.assertAnswer(again.update(self.purchase()), 200, {"plan": "free"})

    def test_rfa61_a_restricted_account_has_no_consent(self):
        account = self.asked()
        self.backend.ledger.restrict_customer(account=account, reason="operator", note="asked")
        self.assertEqual(self.backend.refunds(), {**KEPT, "settled": 1})
        self.assertEqual(self.case().rules[0], "RFA-21")
        self.assertEqual(self.answered(), [])


class LinkTest(AppleCase):
    verifier_members = {"ledger": {"transfer": "allow", "customerKey": KEY}}

    def test_cus22_a_restriction_goes_along(self):
        for is_late in (False, True):
            with self.subTest(is_late=is_late):
                self.subject = f"001.{secrets.token_hex(16)}.0001"
                app, download = self.app(), str(704 * 10**15 + secrets.randbelow(10**12))
                app.update(self.bought(PREMIUM, set={"appTransactionId": download}))
                app = self.linked(app) if is_late else app
                self.told("RESCIND_CONSENT", **about(download))
                app = app if is_late else self.linked(app)
                self.assertEqual(app.analyze("free").status, 403)


class OffTest(BackendCase):
    def test_cus1_without_the_key_nothing_is_restricted(self):
        app = self.app()
        app.update(self.bought(PREMIUM, set={"appTransactionId": DOWNLOAD}))
        said = self.told("RESCIND_CONSENT", **about(DOWNLOAD))
        self.assertEqual(said.status, 200)
        self.assertEqual(app.plan(), "premium")


if __name__ == "__main__":
    unittest.main()
