"""The operator's command that verifies the last evidence of an account again (BCK-27)."""
import dataclasses
import io
import json
import os
import pathlib
import subprocess
import sys
import unittest
from contextlib import redirect_stderr, redirect_stdout

import assay
from freemium.backend import OPEN, ROUTES, Backend
from freemium.reverify import printed, reverify
from running import DAY, ENGINE, PREMIUM, STANDARD, BackendCase


class ReverifyTest(BackendCase):
    verifier_members = {"ledger": {"transfer": "allow", "keepEvidence": True}}

    def setUp(self):
        super().setUp()
        self.customer = self.app()
        self.jws = self.bought(PREMIUM, signed=self.clock.ms - 60_000)
        self.assertEqual(self.customer.update(self.jws).status, 200)

    def today(self, **changes):
        """Return a back end of today's configuration, on the same store."""
        assay_members = {**self.backend.settings.assay, **changes}
        made = Backend(dataclasses.replace(self.backend.settings, assay=assay_members),
                       provider=self.stack.pool, clock=self.clock)
        self.addCleanup(made.ledger.close)
        return made

    def reports(self, backend=None, store=False):
        return list(reverify(backend or self.backend, self.customer.account, store))

    def lines(self):
        return self.backend.ledger.get_plan(self.customer.account).raw

    def test_bck27_nothing_differs(self):
        self.customer.update(self.bought(STANDARD))
        found = self.reports()
        self.assertEqual([each["differs"] for each in found], [[], []])
        self.assertEqual(sorted(each["today"]["plan"] for each in found),
                         ["premium", "standard"])
        self.assertEqual([each["today"]["status"] for each in found], [["ok"]] * 2)

    def test_bck27_another_catalogue(self):
        products = dict(self.backend.settings.assay["products"])
        products[PREMIUM] = {**products[PREMIUM], "plan": "standard"}
        before = self.lines()["subscriptions"]
        [found] = self.reports(self.today(products=products))
        self.assertEqual(found["differs"], ["plan"])
        self.assertEqual((found["stored"]["plan"], found["today"]["plan"]),
                         ("premium", "standard"))
        self.assertEqual(self.lines()["subscriptions"], before)

    def test_bck27_a_stricter_policy_takes_nothing_away(self):
        before = self.lines()["subscriptions"]
        today = self.today(environments=["Sandbox"])
        for store in (False, True):
            [found] = self.reports(today, store)
            self.assertIn("rejected.", found["today"]["status"][0])
            self.assertIn("plan", found["differs"])
            self.assertNotIn("outcome", found)
        self.assertEqual(self.lines()["subscriptions"], before)
        self.assertEqual(self.customer.plan(), "premium")

    def test_bck27_stored_only_if_told(self):
        """Check a row that was spoilt by hand: only --store makes it what Apple signed."""
        self.backend.ledger.deactivate_subscriptions(self.customer.account)
        [found] = self.reports()
        self.assertEqual(found["differs"], ["entitled", "plan"])
        self.assertEqual(self.customer.plan(), "free")
        [found] = self.reports(store=True)
        self.assertEqual(len(found["outcome"]), 1)
        self.assertEqual(self.customer.plan(), "premium")
        self.assertEqual(self.reports()[0]["differs"], [])

    def test_bck27_after_its_end(self):
        self.clock.ahead = 60 * DAY
        [found] = self.reports()
        self.assertEqual((found["differs"], found["today"]["state"]), ([], "expired"))

    def test_bck27_the_command(self):
        found = io.StringIO()
        with redirect_stdout(found):
            self.assertEqual(printed(iter(self.reports())), 0)
        self.assertEqual(json.loads(found.getvalue())["differs"], [])
        with redirect_stdout(found):
            self.assertEqual(printed(iter([{"differs": ["plan"]}])), 1)
        with redirect_stderr(io.StringIO()):
            self.assertEqual(printed(iter([])), 2)
        self.assertFalse([path for path in (*OPEN, *ROUTES) if "verify" in path])

    @unittest.skipUnless(ENGINE == "sqlite", "a process of its own, on the file")
    def test_bck27_the_command_as_a_process(self):
        settings = self.backend.settings
        place = pathlib.Path(self.folder.name, "today.json")
        place.write_text(json.dumps({"engine": settings.engine, "provider": settings.provider,
                                     "assay": settings.assay}))
        for words, status in (([str(place), self.customer.account], 0),
                              ([str(place), "nobody"], 2), ([str(place)], 2)):
            done = subprocess.run([sys.executable, "-m", "freemium.reverify", *words],
                                  capture_output=True, text=True, env=dict(os.environ))
            self.assertEqual(done.returncode, status, done.stderr)
        place.write_text(place.read_text().replace('"keepEvidence": true',
                                                   '"keepEvidence": false'))
        done = subprocess.run(
            [sys.executable, "-m", "freemium.reverify", str(place), self.customer.account],
            capture_output=True, text=True, env=dict(os.environ))
        self.assertEqual(done.returncode, 2)
        self.assertIn("config.ledger.evidence", done.stderr)

    def test_bck27_forgotten_with_the_account(self):
        account = self.customer.account
        self.assertEqual(self.customer.post("/v1/account/delete").status, 200)
        self.assertEqual(list(reverify(self.backend, account)), [])


class NotKeptTest(BackendCase):
    def test_sto68_no_evidence_is_kept(self):
        app = self.app()
        app.update(self.bought(PREMIUM))
        with self.assertRaises(assay.ConfigError):
            list(reverify(self.backend, app.account))


if __name__ == "__main__":
    unittest.main()
