"""The shop on Django, asked as its clients ask; and with bookings by its ORM."""
import os
import unittest

os.environ.update(DJANGO_SETTINGS_MODULE="settings", DJANGO_SECRET_KEY="of a test")

import django
from django.test import Client

from asked import PURCHASES, Asked, shop

django.setup()

from django.db import models  # noqa: E402


class DjangoTest(Asked, unittest.TestCase):
    BAD_BODY = 400
    client = Client(enforce_csrf_checks=True)

    def post(self, path, body, headers):
        answer = self.client.post(path, body, content_type="application/json", headers=headers)
        found = answer.json() if answer["Content-Type"] == "application/json" else None
        return answer.status_code, found, answer.headers

    def test_bookings_by_the_orm(self):
        """What the guide says of the ORM: under a lease, on Django's own connection."""
        self.in_every_order(by_orm, ("REFUND", "REFUND_REVERSED"), left=1, every=3)


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


def by_orm(path, body):
    if path == PURCHASES:
        bought = shop.ledger.verifier.verify_transaction(body["jws"])
        return shop.ledger.claim(bought, "ann", grant=pay_out).http_status
    note = shop.ledger.verifier.verify_notification(body["signedPayload"])
    return shop.ledger.apply_event(note, grant=pay_out, take_back=take_back).http_status


if __name__ == "__main__":
    unittest.main()
