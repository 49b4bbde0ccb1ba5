"""Limits, owners and Sandbox: nothing is granted twice or for free."""
import dataclasses
import sqlite3
import unittest
from unittest import mock

import assay
from freemium.backend import Backend
from running import DAY, ENGINE, HOUR, LIFETIME, PREMIUM, STANDARD, BackendCase, at_once, post

INVALID = "Invalid subscription data"
LIMIT = 4
LIMITS = {"free": {"free": LIMIT, "premium": 0}, "standard": {"free": 99999, "premium": 3},
          "premium": {"free": 99999, "premium": 5}}


class DeletionTest(BackendCase):
    """Deleting an account resets no limit (BCK-37)."""

    limits = LIMITS

    def test_bck37_a_deletion_resets_no_limit(self):
        app = self.app()
        said = []
        for _ in range(4):
            said += [app.analyze("free").status for _ in range(LIMIT + 1)]
            self.assertAnswer(app.post("/v1/account/delete"), 200, {"status": "deleted"})
        self.assertEqual(said, [200] * LIMIT + [429] + [401] * (3 * (LIMIT + 1)))

    def test_bck37_calls_and_deletions_at_once(self):
        app = self.app()
        call, delete = lambda: app.analyze("free"), lambda: app.post("/v1/account/delete")
        said = at_once([call, call, delete, call, call, call, delete, call, call, call, call])
        answered = [each for each in said if each.status == 200 and "tier" in each.json]
        self.assertLessEqual(len(answered), LIMIT)
        self.assertEqual({app.analyze("free").status for _ in range(3)}, {401})

    def test_bck37_a_deletion_that_fails_leaves_the_account(self):
        app = self.app()
        app.update(self.bought(PREMIUM))
        with mock.patch.object(self.backend.ledger, "forget_account", side_effect=RuntimeError):
            self.assertEqual(app.post("/v1/account/delete").status, 500)
        self.assertEqual(app.plan(), "premium")
        self.assertEqual(app.post("/v1/account/delete").status, 200)
        # A failed repetition does not reopen an account that was deleted before.
        with mock.patch.object(self.backend.ledger, "forget_account", side_effect=RuntimeError):
            self.assertEqual(app.post("/v1/account/delete").status, 500)
        self.assertEqual(app.analyze("free").status, 401)

    def test_bck37_the_race_of_a_call_and_a_deletion(self):
        """Check an account that is deleted between the read of its plan and the count."""
        app = self.app()
        said = []
        for _ in range(2):
            with mock.patch.object(self.backend.records, "is_closed", side_effect=[False, True]):
                said.append(app.analyze("free"))
        self.assertEqual([each.status for each in said], [401, 401])
        self.assertEqual([app.analyze("free").status for _ in range(LIMIT + 1)],
                         [200] * LIMIT + [429])

    def test_w36_nothing_is_kept_of_an_account_that_goes_on_calling(self):
        if ENGINE != "sqlite":
            self.skipTest("looks into the SQLite file")
        app = self.app()
        app.update(self.bought(PREMIUM))
        app.post("/v1/account/delete")
        app.analyze("free")
        app.update(self.bought(PREMIUM))
        kept = "".join(sqlite3.connect(f"{self.folder.name}/freemium.db").iterdump())
        self.assertNotIn(app.account, kept)

    def test_the_mark_of_a_deleted_account_names_nobody(self):
        if ENGINE != "sqlite":
            self.skipTest("the file is SQLite's")
        app = self.app()
        app.post("/v1/account/delete")
        rows = self.backend.records._run("SELECT digest, until_s FROM closed_account")
        self.assertNotIn(app.account, str(rows))
        self.backend.records.close("another", self.clock.ms + 3 * int(DAY) * 1000)
        self.assertEqual(len(self.backend.records._run("SELECT 1 FROM closed_account")), 1)


class CeilingTest(BackendCase):
    """A ceiling for all accounts together, whatever the quota of each."""

    limits = LIMITS
    settings = {"ceiling": {"premium": 4}}

    def setUp(self):
        super().setUp()
        type(self).days = getattr(type(self), "days", 0) + 2
        self.clock.ahead = self.days * DAY

    def paying(self, product=PREMIUM):
        app = self.app()
        self.assertEqual(app.update(self.bought(product)).status, 200)
        return app

    def left(self, app):
        """Return the rest of the account's own quota."""
        return self.backend.ledger.consume_quota(app.account, "premium", "premium").left + 1

    def test_a_ceiling_for_all_accounts_together(self):
        one, two = self.paying(), self.paying(STANDARD)
        said = [app.analyze("premium").status for app in (one, two) * 3]
        self.assertEqual(said, [200] * 4 + [429] * 2)
        refused = one.analyze("premium")
        self.assertEqual(refused.json["error"], "Daily limit reached")
        self.assertEqual(refused.json["fallback"], "free")
        self.assertGreaterEqual(int(refused.headers["Retry-After"]), 1)
        self.assertNotIn("RateLimit", refused.headers)
        self.assertEqual(one.analyze("free").status, 200)
        self.clock.ahead += DAY
        self.assertEqual(one.sign_in().analyze("premium").status, 200)

    def test_a_ceiling_of_no_tier_is_refused_at_the_start(self):
        wanted = dataclasses.replace(self.backend.settings, ceiling={"premum": 5})
        with self.assertRaisesRegex(ValueError, "ceiling.premum"):
            Backend(wanted)

    def test_a_unit_that_the_ceiling_refuses_is_given_back(self):
        one, two = self.paying(), self.paying()
        self.assertEqual([two.analyze("premium").status for _ in range(5)], [200] * 4 + [429])
        self.assertEqual({one.analyze("premium").status for _ in range(9)}, {429})
        self.assertEqual(self.left(one), 5)

    def test_what_is_not_delivered_is_given_back_to_both(self):
        one, two = self.paying(), self.paying(STANDARD)
        with mock.patch.object(self.backend, "model", side_effect=TimeoutError):
            self.assertEqual({one.analyze("premium").status for _ in range(9)}, {503})
        with mock.patch.object(self.backend, "model", return_value={1}):
            self.assertEqual({one.analyze("premium").status for _ in range(9)}, {500})
        said = [two.analyze("premium").status for _ in range(4)]
        self.assertEqual(said, [200] * 3 + [429])
        self.assertEqual([one.analyze("premium").status for _ in range(2)], [200, 429])

    def test_the_ceiling_is_exact_under_many_at_once(self):
        apps = [self.paying() for _ in range(3)]
        said = at_once([lambda app=app: app.analyze("premium") for app in apps * 4])
        self.assertEqual(sorted(each.status for each in said), [200] * 4 + [429] * 8)

    def test_nothing_passes_while_the_ceiling_is_away(self):
        app = self.paying()
        away = mock.Mock()
        away.consume_quota.side_effect = lambda *unused: self.backend.stored(unavailable())
        with mock.patch.dict(self.backend.__dict__, ceiling=away):
            self.assertEqual({app.analyze("premium").status for _ in range(9)}, {503})
        self.assertEqual(self.left(app), 5)


def unavailable():
    document = mock.Mock(spec=assay.Document, ok=False, code=7, error={}, json={})
    return mock.Mock(document=document, ok=False, status="unavailable.database.statement-failed")


class OwnerTest(BackendCase):
    """A purchase that names an account of the pool belongs to that account only (STO-43)."""

    def test_sto43_a_purchase_that_names_another_account(self):
        buyer, thief = self.app(), self.app()
        for spelt in (str.lower, str.upper):
            for confirm in ({}, {"confirm": True}):
                jws = self.bought(PREMIUM, account=spelt(buyer.account))
                said = thief.update(jws, **confirm)
                self.assertAnswer(said, 403, {"error": INVALID, "canTransfer": False})
                self.assertEqual(thief.plan(), "free")
                self.assertAnswer(buyer.update(jws), 200, {"plan": "premium"})

    def test_sto43_apples_own_notification_first(self):
        buyer, thief = self.app(), self.app()
        line = {"product": PREMIUM, "transaction_id": "919", "account": buyer.account}
        self.assertEqual(self.told("SUBSCRIBED", **line).status, 200)
        self.assertEqual(thief.update(self.bought(**line)).status, 403)
        self.assertAnswer(buyer.update(self.bought(**line)), 200, {"plan": "premium"})

    def test_sto43_a_purchase_without_a_name_is_bound(self):
        owner, other, jws = self.app(), self.app(), self.bought(LIFETIME)
        self.assertAnswer(owner.update(jws), 200, {"plan": "premium"})
        self.assertEqual(other.update(jws).status, 409)

    def test_sto43_a_name_that_is_nobodys_here(self):
        gone = self.app()
        account = gone.account
        self.assertEqual(gone.post("/v1/account/delete").status, 200)
        for named in (account, "0f8fad5b-d9cb-469f-a165-70867728950e"):
            with self.subTest(named=named):
                said = self.app().update(self.bought(PREMIUM, account=named))
                self.assertAnswer(said, 200, {"plan": "premium"})

    def test_sto43_an_account_that_was_closed_by_joining(self):
        anonymous, joined = self.app(), self.app()
        self.backend.provider.disable(anonymous.username)
        said = joined.update(self.bought(PREMIUM, account=anonymous.account))
        self.assertAnswer(said, 200, {"plan": "premium"})

    def test_sto43_the_pool_is_away(self):
        app, other = self.app(), self.app()
        named = self.bought(PREMIUM, account=other.account)
        away = mock.Mock(can_sign_in=mock.Mock(side_effect=TimeoutError))
        with mock.patch.dict(self.backend.__dict__, provider=away):
            self.assertEqual(app.update(named).status, 500)
            # The provider is not called for the caller's own account, nor if none is named.
            mine = self.bought(PREMIUM, account=app.account)
            self.assertAnswer(app.update(mine), 200, {"plan": "premium"})
            self.assertEqual(other.update(self.bought(PREMIUM)).status, 200)

    def test_sto42_a_move_too_soon_is_not_for_good(self):
        now, apps = self.clock.ms, [self.app() for _ in range(3)]
        said = [app.update(self.bought(PREMIUM, transaction_id="920", signed=now - ago))
                for app, ago in zip(apps, (50_000, 40_000, 30_000))]
        self.assertEqual([each.status for each in said], [200, 200, 429])
        self.assertGreaterEqual(int(said[2].headers["Retry-After"]), 1)
        self.assertIs(said[2].json["canTransfer"], False)
        self.clock.ahead = DAY + HOUR
        later = self.bought(PREMIUM, transaction_id="920", signed=self.clock.ms - 1000)
        self.assertAnswer(apps[2].sign_in().update(later), 200, {"plan": "premium"})


class SandboxTest(BackendCase):
    """Purchases of Sandbox unlock nothing paid, except for testers (FLW-6)."""

    def sandbox(self, product=PREMIUM, **options):
        return self.bought(product, environment="Sandbox", **options)

    def test_flw6_a_sandbox_purchase_unlocks_nothing(self):
        for product in (STANDARD, PREMIUM, LIFETIME):
            with self.subTest(product=product):
                app = self.app()
                self.assertAnswer(app.update(self.sandbox(product)), 200, {"plan": "free"})
                self.assertEqual(app.analyze("premium").status, 403)
                self.assertEqual(app.plan(), "free")
                # A Sandbox purchase takes nothing away either.
                self.assertAnswer(app.update(self.bought(STANDARD)), 200, {"plan": "standard"})
                self.assertAnswer(app.update(self.sandbox(product)), 200, {"plan": "standard"})

    def test_flw6_for_a_tester_it_does(self):
        app, jws = self.app(), self.sandbox()
        settings = self.backend.settings
        with mock.patch.object(self.backend, "settings", replaced(settings, [app.account])):
            self.assertAnswer(app.update(jws), 200, {"plan": "premium"})
            self.assertEqual(app.analyze("premium").status, 200)
        # An account that is no tester any more has only what was paid for.
        self.assertEqual(app.analyze("premium").status, 403)
        self.assertAnswer(app.update(self.bought(STANDARD)), 200, {"plan": "standard"})
        self.assertEqual(app.plan(), "standard")
        self.assertAnswer(app.update(None), 200, {"plan": "standard"})

    def test_flw6_a_notification_of_sandbox(self):
        app, line = self.app(), {"product": PREMIUM, "transaction_id": "921"}
        signed = self.authority.notification("SUBSCRIBED", environment="Sandbox", **line)
        self.assertEqual(post(self.url, "/v1/notifications",
                              {"signedPayload": signed}).status, 200)
        self.assertAnswer(app.update(self.sandbox(**line)), 200, {"plan": "free"})
        self.assertEqual(app.plan(), "free")


def replaced(settings, testers):
    return dataclasses.replace(settings, testers=testers)


if __name__ == "__main__":
    unittest.main()
