"""Frame of docs/tasks/frameworks.md: a shop on Django, asked as its clients ask."""
import django
import routes
from django.conf import settings

routes.prepare()
DATABASE = {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.db"}
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["testserver"], SECRET_KEY="of a test",
                   DATABASES={"default": DATABASE})
django.setup()
# SNIPPET
from django.test import Client

client = Client(enforce_csrf_checks=True)


def post(path, body, headers):
    answer = client.post(path, body, content_type="application/json", headers=headers)
    found = answer.json() if answer["Content-Type"] == "application/json" else None
    return answer.status_code, found, answer.headers


routes.ask(post, bad_body=400)

# What the page says of the ORM: under a lease, on Django's own connection.
from django.db import models


class Booking(models.Model):
    id = models.TextField(primary_key=True)
    account = models.TextField()
    units = models.IntegerField()

    class Meta:
        app_label, db_table = "shop", "booking"


def book(id, account, units):
    Booking.objects.get_or_create(id=id, defaults={"account": account, "units": units})


def by_orm(path, body):
    ledger = shop.ledger
    pay_out = lambda grant: book(grant.grant_id, grant.account, grant.units)
    if path == "/v1/purchases":
        bought = ledger.verifier.verify_transaction(body["jws"])
        return ledger.claim(bought, "ann", grant=pay_out).http_status
    note = ledger.verifier.verify_notification(body["signedPayload"])
    return ledger.apply_event(
        note, grant=pay_out,
        take_back=lambda take: book(take.take_id, take.account, -take.units)).http_status


routes.ask_in_every_order(by_orm, routes.told_later("REFUND", "REFUND_REVERSED"), left=1, every=3)
