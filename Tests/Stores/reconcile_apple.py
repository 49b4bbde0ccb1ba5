"""The Apple of reconcile_world.py: purchases of a month, and what Apple notifies about them."""

import base64
import collections
import heapq
import json
import random
import threading
import uuid
from typing import NamedTuple

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
NOW = 1_790_000_000_000
# Apple tells of the last 30 days in Sandbox, and a run asks for 29.
DAYS = 28
BEGIN = NOW - DAYS * DAY
PERIOD = 14 * DAY
COINS, GONE = "com.example.app.coins100", "com.example.app.coins500"
PREMIUM, LIFETIME = "com.example.app.premium.monthly", "com.example.app.lifetime"
FULL = 100_000
PAGE = 20
HISTORY = "/inApps/v1/notifications/history"
# Nobody listens there: the mock signs a notification, and this module delivers it.
NOWHERE = "http://127.0.0.1:1/"


class Chances(NamedTuple):
    """How often what is rare happens."""

    dropped: float = 0.2
    gone: float = 0.02
    refunded: float = 0.08
    in_part: float = 0.25
    reversed: float = 0.18
    killed: float = 0.05


USUAL = Chances()
#: Those of a small world, in which otherwise nothing would happen.
DENSE = Chances(dropped=0.4, gone=0.1, refunded=0.5, reversed=0.5, killed=0.3)


class Purchase:
    """A consumable, an unlock, or a subscription with its periods."""

    def __init__(self, number, product, type, bought_at, chance):
        self.number, self.product, self.type, self.bought_at = number, product, type, bought_at
        self.known = str(2_000_000_100_000_000 + number)
        # The newest transaction: that of the last period.
        self.newest = self.known
        self.quantity = chance.choice((1, 3, 10)) if type == "consumable" else 1
        self.expires_at = bought_at + PERIOD if type == "auto-renewable" else None
        self.account = f"user{number % 5000}" if type == "consumable" else f"owner{number}"
        self.download = str(704_000_000_000_000_001 + number % 5000)
        # When the customer's app shows the purchase: at once, after the run, or never.
        self.comes = chance.choices(("at once", "late", "never"), (78, 20, 2))[0]
        # The share that the refund took, and the one that the newest state leaves taken.
        self.refunded, self.share, self.notes = 0, 0, []

    def units(self, share):
        """The units that a share takes: the nearest number, an exact half stays (STO-35)."""
        return (2 * self.quantity * share + FULL - 1) // (2 * FULL)

    @property
    def was_reversed(self):
        return any(note.type == "REFUND_REVERSED" for note in self.notes)

    def note(self, type):
        """The notification of a type; None if Apple has sent none."""
        return next((note for note in self.notes if note.type == type), None)


class Note:
    """A notification: its text, and what became of it: None, "failed", or "lost" after a 200."""

    def __init__(self, purchase, type, at, text, dropped):
        self.purchase, self.type, self.at = purchase, type, at
        self.text, self.drawn, self.dropped = text, dropped, dropped


class Apple:
    """The mock Apple for what it signs and for the state of subscriptions. The history of
    notifications is answered here: the mock keeps 10,000 of them, and it knows neither refunds of
    a part nor reversals, whose texts are minted."""

    def __init__(self, authority, mock, seed, count, chances, say=lambda text: None):
        self.authority, self.mock, self.send_to_mock = authority, mock, mock.sender
        self.chances = chances
        self.random, self.lock = random.Random(seed), threading.Lock()
        self.purchases, self.notes, self.number = [], [], 0
        self.requests, self.pages, self.faults, self.is_faulty = 0, 0, 0, False
        self.queue = []
        self.plan(count)
        self.now = BEGIN
        while self.queue:
            self.now, _, happens = heapq.heappop(self.queue)
            mock.play("clock", {"now": self.now})
            happens()
            say(f"Apple: {len(self.purchases):,} purchases, {len(self.notes):,} notifications")
        self.now += HOUR
        mock.play("clock", {"now": self.now})
        self.count = sum(1 if each.expires_at is None else 2 for each in self.purchases)
        self.known = {each.known: each for each in self.purchases}

    def reset(self):
        """Forget what another host has done."""
        self.requests = self.pages = self.faults = 0
        for note in self.notes:
            note.dropped = note.drawn

    # ---- what happens ---------------------------------------------------------------------

    def plan(self, count):
        """Six of ten purchases are consumables, one is an unlock, and three are periods of
        subscriptions, each of which has two."""
        for _ in range(count * 6 // 10):
            is_gone = self.random.random() < self.chances.gone
            self.sell(GONE if is_gone else COINS, "consumable", 24 * DAY)
        for _ in range(count // 10):
            self.sell(LIFETIME, "non-consumable", 24 * DAY)
        for _ in range(count * 3 // 20):
            self.sell(PREMIUM, "auto-renewable", 12 * DAY)

    def at(self, time, happens):
        self.number += 1
        heapq.heappush(self.queue, (time, self.number, happens))

    def sell(self, product, type, within):
        self.number += 1
        bought_at = BEGIN + int(self.random.random() * within)
        purchase = Purchase(self.number, product, type, bought_at, self.random)
        self.at(bought_at, lambda: self.buy(purchase))
        seen_at = bought_at
        if type == "auto-renewable":
            seen_at += PERIOD - HOUR
            self.at(seen_at, lambda: self.renew(purchase))
        if self.random.random() >= self.chances.refunded:
            return
        refunded_at = seen_at + self.random.randrange(HOUR, 12 * HOUR)
        in_part = type == "consumable" and self.random.random() < self.chances.in_part
        share = self.random.choice((20_000, 33_333, 50_000)) if in_part else FULL
        is_reversed = type != "auto-renewable" and self.random.random() < self.chances.reversed
        self.at(refunded_at, lambda: self.refund(purchase, share))
        if is_reversed:
            # More than a day later: never in the same window, so never on the same page.
            self.at(refunded_at + self.random.randrange(26 * HOUR, 48 * HOUR),
                    lambda: self.reverse(purchase))

    def buy(self, purchase):
        more = {}
        if purchase.expires_at:
            more = {"expires": purchase.expires_at, "periodMs": PERIOD}
        self.mock.play("purchase", {
            "environment": "Sandbox", "type": purchase.type, "product": purchase.product,
            "transactionId": purchase.known, "purchased": self.now,
            "quantity": purchase.quantity, "appTransactionId": purchase.download, **more})
        self.purchases.append(purchase)
        if purchase.expires_at:
            self.notify(purchase, "SUBSCRIBED", "INITIAL_BUY")
        else:
            self.notify(purchase, "ONE_TIME_CHARGE")

    def renew(self, purchase):
        told = self.mock.play("renew", {"originalTransactionId": purchase.known})["purchase"]
        purchase.newest, purchase.expires_at = told["transactionId"], told["expires"]
        self.notify(purchase, "DID_RENEW")

    def refund(self, purchase, share):
        purchase.refunded = purchase.share = share
        if share == FULL:
            self.mock.play("refund", {"transactionId": purchase.newest})
            self.notify(purchase, "REFUND")
        else:
            self.mint(purchase, "REFUND", {
                "revocationDate": self.now, "revocationReason": 0,
                "revocationPercentage": share})

    def reverse(self, purchase):
        purchase.share = 0
        self.mint(purchase, "REFUND_REVERSED", {})

    def notify(self, purchase, type, subtype=None):
        more = {"subtype": subtype} if subtype else {}
        self.keep(purchase, type, self.mock.play("notify", {
            "url": NOWHERE, "type": type, "transactionId": purchase.newest,
            **more})["signedPayload"])

    def mint(self, purchase, type, members):
        """Sign a notification that the mock cannot sign."""
        options = {
            "product": purchase.product, "type": purchase.type, "quantity": purchase.quantity,
            "transaction_id": purchase.known, "original_transaction_id": purchase.known,
            "purchased": purchase.bought_at, "signed": self.now, "now": self.now}
        signed = self.authority.transaction(
            **options, set={"appTransactionId": purchase.download, **members})
        self.keep(purchase, type, self.authority.mint(
            "notification", notification_type=type, **options, set={
                "notificationUUID": str(uuid.UUID(int=self.number * 1000 + len(purchase.notes))),
                "data.signedTransactionInfo": signed}).decode().strip())

    def keep(self, purchase, type, text):
        dropped = None
        if self.random.random() < self.chances.dropped:
            dropped = self.random.choice(("failed", "lost"))
        note = Note(purchase, type, self.now, text, dropped)
        purchase.notes.append(note)
        self.notes.append(note)

    # ---- what it answers ------------------------------------------------------------------

    def send(self, request):
        """Answer a request of the library, one of thirty with a fault where that is switched on."""
        with self.lock:
            self.requests += 1
            fault = self.is_faulty and self.random.random() < 0.03
            if fault:
                self.faults += 1
                return self.fault(request)
        if HISTORY not in request["url"]:
            return self.send_to_mock(request)
        with self.lock:
            self.pages += 1
        return answer(request, 200, self.history(request))

    def fault(self, request):
        kind = self.random.choice(("too many", "broken", "silent"))
        if kind == "too many":
            found = answer(request, 429, {"errorCode": 4_290_000, "errorMessage": "Too many."})
            # A second number: the exchange waits that long.
            found["headers"].append(["retry-after", "1"])
            return found
        if kind == "broken":
            return answer(request, 500, {"errorCode": 5_000_001, "errorMessage": "Try again."})
        return {"id": request["id"], "status": 0, "body": None}

    def history(self, request):
        asked = json.loads(octets(request["body"]))
        _, _, query = request["url"].partition("?paginationToken=p")
        begin, end = asked["startDate"], asked["endDate"]
        found = [note for note in self.notes if begin <= note.at <= end
                 and not (asked.get("onlyFailures") and note.dropped != "failed")]
        place = int(query or 0)
        page = found[place:place + PAGE]
        more = place + PAGE < len(found)
        return {"hasMore": more, **({"paginationToken": f"p{place + PAGE}"} if more else {}),
                "notificationHistory": [
                    {"signedPayload": note.text, "sendAttempts": [{
                        "attemptDate": note.at, "sendAttemptResult":
                        "NO_RESPONSE" if note.dropped == "failed" else "SUCCESS"}]}
                    for note in page]}


    def pages_from(self, begin):
        """The pages of the history, by windows of a day."""
        windows = collections.Counter((note.at - begin) // DAY for note in self.notes)
        return sum(max(1, -(-windows[day] // PAGE)) for day in range(max(windows) + 1))


def octets(body):
    return body["text"].encode() if "text" in body else base64.b64decode(body["base64"])


def answer(request, status, body):
    return {"id": request["id"], "status": status, "truncated": False,
            "headers": [["content-type", "application/json"]],
            "body": {"text": json.dumps(body)}}
