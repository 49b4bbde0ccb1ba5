#!/usr/bin/env python3
"""The shop's pages in a browser (screens.py), at 1280 and 390 pixels, light and dark.

  pages.py PROGRAM             check them
  pages.py PROGRAM --pictures  and write docs/pictures/shop-….png
"""
import argparse
import datetime
import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import uuid

from shop_server import COINS, ROOT, ShopServer

sys.path.append(str(ROOT / "Tests/Gates"))

import screens
from report import Suite

FOLDER = ROOT / "build/shop-pages"
PICTURES = ROOT / "docs/pictures"
DAY = 700
ACCOUNT = "customer-1"
PRICES = {"com.example.app.coins100": {"currency": "EUR", "minor": 99}}
PAGES = {"dashboard": "/dashboard", "week": "/dashboard?span=week",
         "support": f"/support?account={ACCOUNT}", "events": "/events?span=month",
         "balance": "/balance", "refunds": "/refunds"}
# The pictures that the documentation uses: page -> width and scheme -> name.
PICTURES_OF = {
    "dashboard": {"1280 light": "shop-dashboard", "390 dark": "shop-dashboard-phone"},
    "support": {"1280 dark": "shop-support", "390 dark": "shop-support-phone"},
    "balance": {"1280 light": "shop-balance", "390 dark": "shop-balance-phone"},
    "refunds": {"1280 light": "shop-refunds"}}
HOOKS = """<?php return new class extends Shop\\RefundHooks {
    public function usage(Assay\\Ledger\\RefundCase $case): ?array
    { return ['consumed' => 30, 'granted' => 100]; }
    public function consent(Assay\\Ledger\\RefundCase $case): ?array
    { return ['isGiven' => true, 'answeredAtMs' => $case->purchase['purchasedAtMs']]; }
};"""
# What each page must have besides: true, in the browser, with its tables opened.
EXPECTED = {
    "no script": "document.scripts.length == 0",
    "order of headings": "/^12+$/.test([...document.querySelectorAll('h1, h2, h3')].map("
                         "one => one.tagName[1]).join(''))",
    "size of text": "[...document.querySelectorAll('body *')].every(one => !one.innerText?.trim() "
                    "|| parseFloat(getComputedStyle(one).fontSize) >= 12)",
    "no column is squeezed": "[...document.querySelectorAll('.cards td, dd, input')].every(one => "
                             "one.type == 'hidden' || one.getBoundingClientRect().width >= 90)",
    "tables have captions and heads": "[...document.querySelectorAll('table')].every(one => "
                                      "one.caption && one.querySelector('th[scope=col]') && "
                                      "one.querySelectorAll('th[scope=row]').length >= "
                                      "one.querySelectorAll('tbody tr').length)",
    "dark where dark is asked for": "matchMedia('(prefers-color-scheme: dark)').matches == ("
                                    "getComputedStyle(document.body).backgroundColor.match(/\\d+/g)"
                                    ".slice(0, 3).every(part => part < 128))",
}
CHARTS = {"charts": "[...document.querySelectorAll('svg rect')].map(one => "
                    "one.getBoundingClientRect()).filter(one => one.width > 0.5 && one.height > 0)"
                    ".length > 40"}


def a_day(shop):
    """Send the requests of a day, each counted in the hour of its line."""
    shop.minted("mint", "--day", str(DAY), "--out", str(FOLDER / "day.ndjson"))
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT")
    by_hour = {}
    for line in (FOLDER / "day.ndjson").read_text().splitlines():
        found = json.loads(line)
        by_hour.setdefault(found["timeMs"] // 3_600_000 % 24, []).append(found["blob"])
    number = 800_000_000_000_000
    for hour, blobs in sorted(by_hour.items()):
        for blob in blobs:
            shop.send(blob, ACCOUNT)
        number += 1
        bought = shop.coins(number)
        for account in [ACCOUNT, "customer-2", ACCOUNT][:1 + number % 3]:
            shop.send(bought, account)
        shop.run("sweep")  # writes the counts
        with sqlite3.connect(shop.database, timeout=10) as connection:
            connection.execute("UPDATE shop_tally SET hour = ? WHERE hour NOT LIKE 'd%'",
                               (f"d{hour:02d}",))
    with sqlite3.connect(shop.database, timeout=10) as connection:
        connection.execute("UPDATE shop_tally SET hour = ? || substr(hour, 2)", (now,))


def differences(shop):
    """Let a run have found three differences today, and some on earlier days that are closed."""
    now = int(datetime.datetime.now(datetime.timezone.utc).timestamp() * 1000)
    hour, day = 3_600_000, 86_400_000
    found = [(kind, price, now - 5 * hour, None) for kind, price in (
        ("paid-not-granted", 9990), ("paid-not-granted", 9990), ("refund-not-taken-back", 990))]
    found += [("claim-left-behind", 990, now - at * day, now - (at - at % 3) * day)
              for at in (2, 5, 5, 11, 23, 24, 40, 41, 41, 66)]
    with sqlite3.connect(shop.database, timeout=10) as connection:
        connection.execute(
            "INSERT INTO assay_run VALUES ('x', 'r', 'done', 'events open', ?, ?, 'subscriptions',"
            " 0, '', 0, 0, 'a', 1, 0, ?, ?)", (now - day, now - hour, now - hour, now - hour))
        connection.executemany(
            "INSERT INTO assay_difference VALUES (?, 'Production', ?, ?, ?, ?, ?,"
            " 'com.example.app.coins100', 1, ?, 'EUR', ?, ?, NULL, ?, ?, 'r', ?, ?, NULL)",
            [(f"{number:064x}", f"Production/{number}", kind, "closed" if closed else "open",
              str(500_000_000_000_000 + number), str(500_000_000_000_000 + number), price,
              at - hour, at - hour, at, at, closed, closed and "run")
             for number, (kind, price, at, closed) in enumerate(found)])


def answering(shop, settings):
    """Let the shop answer Apple's questions about refunds."""
    key = subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt",
                          "ec_paramgen_curve:P-256"], check=True, capture_output=True, text=True)
    hooks = FOLDER / "hooks.php"
    hooks.write_text(HOOKS)
    api = {"issuerId": str(uuid.uuid4()), "keyId": "ABCDE12345", "privateKey": key.stdout}
    verifier = {**shop.config, "refunds": {"mode": "answer"}, "appStoreServerApi": api}
    shop.configure({**settings, "refundHooks": str(hooks), "verifier": verifier},
                   f"sqlite:{shop.database}")


def questions(shop):
    """Let Apple ask about a refund now, and let some of this month be closed."""
    now = int(datetime.datetime.now(datetime.timezone.utc).timestamp() * 1000)
    number = 800_000_000_000_901
    shop.send(shop.coins(number), ACCOUNT)
    shop.post("/v1/notifications", {"signedPayload": shop.mint(
        "notification", "--environment", "Production", "--type", "consumable", "--product", COINS,
        "--transaction-id", str(number), "--original-transaction-id", str(number),
        "--notification-type", "CONSUMPTION_REQUEST", "--set",
        'data.consumptionRequestReason="UNINTENDED_PURCHASE"')})
    sent = "RFA-13 RFA-23 RFA-29 RFA-"
    closed = [("sent", sent + "35", 100_000, "DECLINE", "declined", None),
              ("sent", sent + "37", 60_000, "GRANT_PRORATED", "refunded", 40_000),
              ("silent", "RFA-20 RFA-23 RFA-30 RFA-39", None, None, "refunded", 100_000)]
    with sqlite3.connect(shop.database, timeout=10) as connection:
        connection.executemany(
            "INSERT INTO assay_refund VALUES (?, 'Production', 'com.example.app', ?, ?, ?,"
            " 'Consumable', 'PURCHASED', 'UNINTENDED_PURCHASE', 0, 0, 0, ?, ?, ?, '', 0, ?,"
            " 'DELIVERED', ?, ?, NULL, ?, ?, ?, ?, ?)",
            [(f"Production/{order}", order, order, COINS, str(number), asked, state, rules, used,
              wish, asked if state == "sent" else None, asked + 300_000, outcome,
              asked + 7_200_000 if outcome else 0, share)
             for number, (state, rules, used, wish, outcome, share) in enumerate(closed)
             for order in (str(700_000_000_000_000 + number),)
             for asked in (now - (number + 1) * 600_000,)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--pictures", action="store_true")
    options = parser.parse_args()
    suite = Suite("shop-pages")
    shutil.rmtree(FOLDER, ignore_errors=True)
    settings = {"testers": [ACCOUNT], "prices": PRICES}
    shop = ShopServer(FOLDER, options.program.resolve(), settings=settings)
    answering(shop, settings)
    with shop:
        a_day(shop)
        differences(shop)
        questions(shop)
        screens.look(suite, [{
            "name": name, "address": shop.url + path, "login": ["operator", shop.password],
            "tall": name == "refunds",
            "expect": {**EXPECTED, **(CHARTS if name == "dashboard" else {})},
            "pictures": {at: str(PICTURES / f"{picture}.png")
                         for at, picture in PICTURES_OF.get(name, {}).items() if options.pictures},
        } for name, path in PAGES.items()], FOLDER)
    suite.finish(may_be_empty=suite.skipped)


if __name__ == "__main__":
    main()
