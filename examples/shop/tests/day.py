#!/usr/bin/env python3
"""A day of minted requests through the running shop, which is killed at random.

The requests have the mix that servers of receipts see. At the end the ledger equals the purchases.

  day.py PROGRAM [--requests N] [--kills N] [--grants transaction|lease] [--seed N]

The expected result is computed beside the shop: the library verifies each text once, with its
purchases; ledger and wallet are read from the database. A client repeats a request until its result
is definite, as apps do (LST-1).
"""
import argparse
import collections
import csv
import http.client
import json
import pathlib
import random
import shutil
import sqlite3
import sys
import threading
import time
import urllib.parse
import zlib

import assay
from shop_server import COINS, ROOT, ShopServer

FOLDER = ROOT / "build/shop-day"
ACCOUNTS = 40
CLIENTS = 3
PATIENCE = 600
READ_EVERY = 10  # requests
DEFINITE = {"granted", "already-granted", "refused-final", "refused-keep", "resend"}
LASTING = {"auto-renewable", "non-renewing", "non-consumable"}


class Truth:
    """What the texts of the day prove, and which accounts sent them."""

    def __init__(self, config):
        self.verifier = assay.Verifier(config)
        self.types = {name: one["type"] for name, one in config["products"].items()}
        self.purchases = {}  # purchase key: (product, quantity, line)
        self.senders = collections.defaultdict(set)  # purchase key: accounts
        self.known = {}

    def of(self, text):
        """Return the purchase keys that a text proves; none if the text is refused."""
        if text not in self.known:
            self.known[text] = self.verified(text)
        return self.known[text]

    def verified(self, text):
        form = self.verifier.triage(text).format
        try:
            if form == "app-receipt":
                found = self.verifier.verify_app_receipt(text).purchases
            elif form == "transaction-receipt":
                found = [self.verifier.verify_transaction_receipt(text)]
            else:
                return []
        except assay.AssayError:
            return []
        keys = []
        for one in found:
            if one.product_id in self.types:
                self.purchases[one.keys.purchase] = (
                    one.product_id, one.quantity or 1, one.keys.subscription)
                keys.append(one.keys.purchase)
        return keys


class Day:
    def __init__(self, options):
        shutil.rmtree(FOLDER, ignore_errors=True)
        self.options = options
        self.random = random.Random(options.seed)
        self.shop = ShopServer(FOLDER, pathlib.Path(options.program).resolve(), workers=CLIENTS)
        config = self.shop.config
        config["ledger"] = {"leaseMs": 5000}
        self.shop.configure({"grants": options.grants, "verifier": config, "testers": [
            f"customer-{number}" for number in range(ACCOUNTS)]}, f"sqlite:{self.shop.database}")
        self.truth = Truth(self.shop.config)
        self.requests = self.minted()
        self.answers = [None] * len(self.requests)
        self.next = iter(range(len(self.requests)))
        self.lock = threading.Lock()
        self.seen = collections.Counter()  # account: coins that it has read
        self.done = self.repeated = self.killed = self.reads = 0
        self.faults = []

    def minted(self):
        """Return (text, account) pairs; every second repetition of a text is by another account."""
        file = FOLDER / "day.ndjson"
        self.shop.minted("mint", "--day", str(self.options.requests), "--seed",
                         str(self.options.seed), "--out", str(file))
        seen = collections.Counter()
        requests = []
        for number, line in enumerate(file.read_text().splitlines()):
            text = json.loads(line)["blob"]
            keys = self.truth.of(text)
            number = zlib.crc32(keys[0].encode()) if keys else number
            if keys:
                number += seen[keys[0]] % 2
                seen[keys[0]] += 1
            account = f"customer-{number % ACCOUNTS}"
            for key in keys:
                self.truth.senders[key].add(account)
            requests.append((text, account))
        return requests

    # ---- the day

    def run(self):
        for number in range(ACCOUNTS):
            self.shop.token(f"customer-{number}")
        begin = time.monotonic()
        with self.shop:
            clients = [threading.Thread(target=self.client) for _ in range(CLIENTS)]
            for client in clients:
                client.start()
            self.kill_at_random(clients)
            for client in clients:
                client.join()
            self.seconds = time.monotonic() - begin
            self.sweep()
            self.check_the_reads()

    def kill_at_random(self, clients):
        places = sorted(self.random.sample(range(len(self.requests)), self.options.kills))
        for place in places:
            while self.done < place and any(client.is_alive() for client in clients):
                time.sleep(0.001)
            time.sleep(self.random.random() * 0.02)
            self.shop.kill()
            self.killed += 1
            self.shop.start()

    def client(self):
        while True:
            with self.lock:
                number = next(self.next, None)
            if number is None:
                return
            self.answers[number] = self.definite(*self.requests[number])
            number % READ_EVERY or self.read_while_it_runs(self.requests[number][1])
            with self.lock:
                self.done += 1

    def definite(self, text, account):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                status, found, _ = self.shop.send(text, account, timeout=30)
            except (OSError, http.client.HTTPException, ValueError):
                status, found = None, {}
            if found.get("answer") in DEFINITE:
                return found["answer"]
            if status not in (None, 202, 503):
                self.faults.append(f"a request was answered {status} {found}")
                return None
            with self.lock:
                self.repeated += 1
            time.sleep(min((found.get("retryAfterMs") or 50) / 1000, 0.5))
        self.faults.append("a request had no definite answer")
        return None

    def own(self, account):
        """Return the coins and all orders that an account reads; None if it cannot now."""
        found = self.shop.read("/v1/account", account)
        orders, after = {}, ""
        while found is not None and after is not None:
            page = self.shop.read(f"/v1/orders?after={after}", account)
            if page is None:
                return None
            for one in page["orders"]:
                key = (one["environment"], one["transactionId"])
                if key in orders:
                    self.faults.append(f"{account} reads {key} twice")
                orders[key] = one
            after = urllib.parse.quote(page["next"], safe="") if page["next"] else None
        return None if found is None else (found["coins"], orders)

    def read_while_it_runs(self, account):
        """Read an account between kills: coins are those of whole purchases, and never lost."""
        before = self.seen[account]  # nothing is refunded on this day
        found = self.own(account)
        if found is not None:
            coins, _ = found
            with self.lock:
                self.reads += 1
                if coins % 100 or coins < before:
                    self.faults.append(f"{account} read {coins} coins after {before}")
                self.seen[account] = max(coins, self.seen[account])

    def check_the_reads(self):
        """Check that accounts and books read what the ledger and the wallet have."""
        for number in range(ACCOUNTS):
            account = f"customer-{number}"
            found = self.own(account)
            expected = {(environment, one): (state, product, quantity)
                        for environment, one, state, product, quantity in self.read(
                            "SELECT environment, transaction_id, state, product, quantity"
                            f" FROM assay_purchase WHERE owner = '{account}'")}
            coins = sum(100 * quantity for _, product, quantity in expected.values()
                        if product == COINS)
            if found is None or found[0] != coins or {
                    key: (one["state"], one["product"], one["quantity"])
                    for key, one in found[1].items()} != expected:
                self.faults.append(f"{account} reads {found and found[0]} coins of {coins}")
        days = self.read("SELECT DISTINCT date(purchased_at_ms / 1000, 'unixepoch') FROM"
                         " assay_purchase WHERE environment = 'Production' ORDER BY 1")
        for (day,) in days[-3:]:
            on = f"date(purchased_at_ms / 1000, 'unixepoch') = '{day}'"
            [(orders,)] = self.read(f"SELECT COUNT(*) FROM assay_purchase WHERE {on}")
            [(items,)] = self.read("SELECT SUM(quantity) FROM assay_purchase"
                                   f" WHERE {on} AND environment = 'Production'")
            found = (len(self.exported("orders", day)), sum(
                int(count) for _, what, _, count, _, _ in self.exported("money", day)
                if what == "bought"))
            if found != (orders, items):
                self.faults.append(f"the exports of {day} have {found} of {orders}, {items}")

    def exported(self, table, day):
        text = self.shop.read(f"/export?table={table}&day={day}", None)
        return list(csv.reader((text or "").splitlines()))[1:]

    def sweep(self):
        """Sweep until no claim is left; the longest lease is five seconds."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            self.shop.run("sweep")
            if not self.read("SELECT 1 FROM assay_purchase WHERE state = 'claimed'"):
                return
            time.sleep(0.5)
        self.faults.append("claims are left behind")

    # ---- the ledger equals the purchases

    def read(self, query):
        connection = sqlite3.connect(self.shop.database, timeout=10)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    def check(self):
        ledger = {key: (state, account, grant) for key, state, account, grant in self.read(
            "SELECT purchase_key, state, owner, grant_id FROM assay_purchase")}
        owners = {f"{environment}/{line}": account for environment, line, account in self.read(
            "SELECT environment, original_transaction_id, owner FROM assay_subscription")}
        wallet = [tuple(row) for row in self.read(
            "SELECT grant_id, account, product, coins FROM shop_wallet")]
        self.faults += self.judged(ledger, owners, wallet)
        self.check_the_judge(ledger, owners, wallet)

    def judged(self, ledger, owners, wallet):
        """Return the differences between ledger, wallet and purchases."""
        expected = {key for key in self.truth.purchases if self.is_due(key, owners)}
        faults = [f"{key}: in the ledger, and no purchase" for key in set(ledger) - expected]
        faults += [f"{key}: bought, and not in the ledger" for key in expected - set(ledger)]
        paid = collections.defaultdict(list)
        for grant, *payment in wallet:
            paid[grant].append(tuple(payment))
        faults += [f"{grant}: paid, and nobody's grant" for grant in
                   set(paid) - {grant for _, _, grant in ledger.values()}]
        for key in expected & set(ledger):
            state, account, grant = ledger[key]
            product, quantity, _ = self.truth.purchases[key]
            coins = 100 * quantity if product == COINS else 0
            if state != "granted" or account not in self.truth.senders[key]:
                faults.append(f"{key} is {state} for {account}")
            if paid[grant] != [(account, product, coins)]:
                faults.append(f"{key} was paid as {paid[grant]}")
        return faults + self.lies(ledger)

    def is_due(self, key, owners):
        """Whether the owner of a subscription has sent this period, and so must have it."""
        product, _, line = self.truth.purchases[key]
        return self.truth.types[product] not in LASTING \
            or owners.get(line) in self.truth.senders[key]

    def lies(self, ledger):
        """Return the client results that are wrong."""
        faults = []
        for (text, account), answer in zip(self.requests, self.answers):
            mine = [key for key in self.truth.of(text) if ledger.get(key, [None] * 2)[1] == account]
            if (answer in ("granted", "already-granted")) != bool(mine):
                faults.append(f"{account} has {mine} and was told {answer}")
        return faults

    def check_the_judge(self, ledger, owners, wallet):
        """Check that the test detects lost, made up and wrongly paid purchases."""
        key = next(iter(ledger))
        lost = {one: row for one, row in ledger.items() if one != key}
        planted = {
            "lost": (lost, wallet), "made up": ({**ledger, "Production/1": ledger[key]}, wallet),
            "unpaid": (ledger, wallet[1:]), "paid twice": (ledger, [*wallet, wallet[0]]),
            "another's": ({**ledger, key: ("granted", "nobody", ledger[key][2])}, wallet),
            "left behind": ({**ledger, key: ("claimed", *ledger[key][1:])}, wallet),
        }
        for what, (rows, payments) in planted.items():
            if not self.judged(rows, owners, payments):
                self.faults.append(f"a purchase that is {what} is not seen")

    def report(self):
        counts = collections.Counter(self.answers)
        granted = len(self.read("SELECT 1 FROM assay_purchase WHERE state = 'granted'"))
        print(f"a day of {len(self.requests)} requests, grants {self.options.grants}, killed"
              f" {self.killed} times; {self.repeated} repeated, {self.reads} reads between;"
              f" {granted} purchases, each paid out once;"
              f" {len(self.requests) / self.seconds:.0f} requests a second")
        print("   " + ", ".join(f"{count} {answer}" for answer, count in counts.most_common()))
        for fault in self.faults[:20]:
            print(f"FAILED day: {fault}")
        print(f"suite shop-day: {0 if self.faults else 1} passed, {1 if self.faults else 0} failed,"
              " 0 skipped")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--grants", choices=["transaction", "lease"], default="lease")
    parser.add_argument("--seed", type=int, default=16)
    day = Day(parser.parse_args())
    day.run()
    day.check()
    day.report()
    sys.exit(1 if day.faults else 0)


if __name__ == "__main__":
    main()
