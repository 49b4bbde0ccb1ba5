"""Bookings by Django's ORM, as the guide says: under a lease, on Django's own connection."""
import json
import os
import pathlib
import tempfile
import unittest

import django

from asked import ORDERS, PURCHASES, Asked, Bench

folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
bench = Bench(folder.name)
pathlib.Path("config.json").write_text(bench.config)
pathlib.Path("keys.json").write_text(bench.keys)
os.environ.update(DJANGO_SETTINGS_MODULE="settings", DJANGO_SECRET_KEY="of a test")
django.setup()

from django.db import models

import shop


class Booking(models.Model):
    id = models.TextField(primary_key=True)
    account = models.TextField()
    units = models.IntegerField()

    class Meta:
        app_label, db_table = "shop", "booking"


def book(id, account, units):
    Booking.objects.get_or_create(id=id, defaults={"account": account, "units": units})


def pay_out(grant):
    book(grant.grant_id, grant.account, grant.units)


def take_back(take):
    book(take.take_id, take.account, -take.units)


def ask(path, body, headers):
    sent = json.loads(body)
    if path == PURCHASES:
        bought = shop.ledger.verifier.verify_transaction(sent["jws"])
        return shop.ledger.claim(bought, "ann", grant=pay_out).http_status, None, {}
    note = shop.ledger.verifier.verify_notification(sent["signedPayload"])
    event = shop.ledger.apply_event(note, grant=pay_out, take_back=take_back)
    return event.http_status, None, {}


class Counted:
    """A suite of Tests/Gates/report.py, of which each expectation is a subtest."""

    def __init__(self, test):
        self.test = test

    def expect(self, met, what, detail=""):
        with self.test.subTest(what):
            self.test.assertTrue(met, detail)


class OrmTest(unittest.TestCase):
    def test_bookings_by_the_orm(self):
        shop.setup()
        asked = Asked(Counted(self), bench, ask, "shop.db")
        self.addCleanup(asked.close)
        asked.check_orders(ORDERS[::9])


if __name__ == "__main__":
    unittest.main()
