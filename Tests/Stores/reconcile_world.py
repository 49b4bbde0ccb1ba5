#!/usr/bin/env python3
"""Reconcile a month of purchases whose notifications were partly lost (docs/spec/reconcile.md).

  reconcile_world.py [--engines sqlite,postgres,mariadb,dynamodb] [--purchases 10000] [--seed 1]

A fifth of Apple's notifications is dropped, half of these after the host answered 200; a twentieth
of the grants and of the take-backs is killed before its completion. The run is killed twenty times,
and for a third of it two threads want it at once. What it reports is compared with what an oracle
knows; then the sweeps run, the customers come, and nothing may differ any more.
"""

import argparse
import collections
import contextlib
import os
import pathlib
import sqlite3
import sys
import tempfile
import threading
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "bindings/python"), str(ROOT / "bindings/python_testing")]

import engines  # noqa: E402
from assay_testing import Authority  # noqa: E402
from assay_testing.apple import MockApple  # noqa: E402
from reconcile_apple import BEGIN, MINUTE, USUAL, Apple  # noqa: E402
from reconcile_host import Host  # noqa: E402

KILLS = 20
#: The most requests to Apple of one run over 10,000 purchases.
MOST_REQUESTS = 1200
#: What Apple's test texts cost, and the kinds whose rows say so.
PRICE, PRICED = 9990, ("paid-not-granted", "unknown-product", "subscription-unowned")
WRITTEN = "updated_at_ms"
#: The tables that a run may change, besides its own row and the permits for its requests.
TABLES = ("purchase_key", "purchase", "subscription", "event", "audit", "difference", "refund")


class World:
    """The whole of it: what is found, what is paid, and what is left."""

    def __init__(self, apple, host, kills, say):
        self.apple, self.host, self.kills, self.say = apple, host, kills, say
        self.complaints = []

    def expect(self, is_good, complaint):
        if not is_good:
            self.complaints.append(complaint)

    def play(self):
        apple, host, begun = self.apple, self.host, time.monotonic()
        host.live()
        lived = time.monotonic()
        killed = host.reconcile("first run", (host.ledger, host.other), self.kills)
        ran = time.monotonic()
        self.compare({(kind, each.known) for each in apple.purchases if (kind := host.kind(each))})
        waiting = {("reversal-not-given-back", each.known) for each in apple.purchases
                   if host.waits(each)}
        found = collections.Counter(one.kind for one in host.open())
        host.come()
        host.sweep()
        host.clock.add(20 * MINUTE)
        requests = host.reconcile("second run", (host.later,))
        self.compare(waiting)
        if waiting:
            # A reversal that was read before its refund was taken back is read again now.
            host.sweep()
            host.clock.add(20 * MINUTE)
            host.reconcile("third run", (host.later,))
            self.compare(set())
        before = rows_of(host.url)
        host.race((host.later, host.other))
        self.expect(rows_of(host.url) == before, "two runs in order changed a row")
        left = len(host.open())
        wrong = {each.known: (host.wallet[each.known], host.target(each))
                 for each in apple.purchases if each.type == "consumable"
                 and host.wallet[each.known] != host.target(each)}
        self.expect(not wrong, f"wallets (are, should be): {wrong}")
        plans = host.plans()
        self.expect(not plans, f"plans: {plans}")
        self.expect(requests <= MOST_REQUESTS, f"{requests:,} requests")
        self.expect(host.stopped == self.kills, f"{host.stopped} kills")
        self.expect(not left, f"{left} differences are left")
        dropped = collections.Counter(note.drawn for note in apple.notes)
        killings = sum(note.dropped == "killed" for note in apple.notes)
        return [
            f"{apple.count:,} purchases, {len(apple.notes):,} notifications: "
            f"{dropped['failed']:,} failed, {dropped['lost']:,} lost after a 200",
            f"grants killed {list(host.fates.values()).count('killed')}, "
            f"take-backs killed {killings}",
            f"run killed {host.stopped} times, turned away {host.turned_away} times, superseded "
            f"{host.superseded} times, {apple.faults} faulty answers",
            f"requests {requests:,} without faults, {killed:,} with them",
            f"found {dict(sorted(found.items()))}",
            f"left {left}, after {3 if waiting else 2} runs",
            f"grants paid {len(host.granted):,}, take-backs {len(host.taken):,}",
            f"seconds: {lived - begun:.0f} for the month, {ran - lived:.0f} for the run that was "
            f"killed, {time.monotonic() - ran:.0f} for what follows"]

    def compare(self, expected):
        """Compare the list of differences with the oracle's, row by row."""
        listed = self.host.open()
        self.expect(all(one.price == PRICE for one in listed if one.kind in PRICED),
                    "a price is missing")
        found = {(one.kind, self.host.known(one).known) for one in listed}
        self.expect(len(found) == len(listed), "a difference is listed twice")
        self.expect(found == expected, f"reported and not so: {sorted(found - expected)[:20]}; "
                    f"not reported: {sorted(expected - found)[:20]}")


# ---- the rows -----------------------------------------------------------------------------


def rows_of(url):
    """Return the rows of a database, except those of runs and of permits for requests, and except
    when a row was written last: a subscription is written again by the same evidence."""
    place = urllib.parse.urlsplit(url)
    options = dict(urllib.parse.parse_qsl(place.query))
    if place.scheme == "dynamodb":
        import boto3

        client = boto3.client(
            "dynamodb", endpoint_url=options["endpoint"], region_name=options["region"])
        pages = client.get_paginator("scan").paginate(TableName=place.netloc)
        return sorted(
            repr(sorted((name, repr(value)) for name, value in item.items() if name != WRITTEN))
            for page in pages for item in page["Items"]
            if not item["PK"]["S"].startswith(("RUN#", "APPLE#")))
    if place.scheme == "sqlite":
        connection = sqlite3.connect(place.path[1:])
    elif place.scheme == "postgresql":
        import psycopg

        connection = psycopg.connect(url)
    else:
        import pymysql

        connection = pymysql.connect(
            host=place.hostname, port=place.port, user=place.username, database=place.path[1:])
    with contextlib.closing(connection):
        cursor = connection.cursor()
        found = []
        for table in TABLES:
            cursor.execute(f"SELECT * FROM assay_{table}")
            names = [column[0] for column in cursor.description]
            found += sorted(
                f"{table} {values_of(names, row)}" for row in cursor.fetchall())
        return found


def values_of(names, row):
    return [value for name, value in zip(names, row, strict=True) if name != WRITTEN]


# ---- the command --------------------------------------------------------------------------


class Progress:
    """Prints every ten seconds what is done."""

    def __init__(self):
        self.text, self.begun = "", time.monotonic()
        threading.Thread(target=self.run, daemon=True).start()

    def __call__(self, text):
        self.text = text

    def run(self):
        while True:
            time.sleep(10)
            print(f"{time.monotonic() - self.begun:6.0f} s  {self.text}", flush=True)


@contextlib.contextmanager
def apple_of(count, seed, chances=USUAL, say=lambda text: None):
    """Yield the Apple of a month, with so many purchases."""
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(folder=pathlib.Path(folder))
        with MockApple(authority, clock=BEGIN) as mock:
            yield Apple(authority, mock, seed, count, chances, say)


def play(apple, url, seed, kills=KILLS, say=lambda text: None):
    """Play the month on one engine; return lines about it, and complaints."""
    host = Host(apple, url, seed, say)
    with contextlib.closing(host):
        world = World(apple, host, kills, say)
        return world.play(), world.complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engines", default="sqlite,postgres,mariadb,dynamodb")
    parser.add_argument("--purchases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    say, is_good = Progress(), True
    with (engines.scratch(pathlib.Path(sys.prefix) / "bin") as place,
          apple_of(options.purchases, options.seed, say=say) as apple):
        for name in options.engines.split(","):
            engine = place.engine(name)
            if engine.missing:
                print(f"{name}: skipped, {engine.missing}")
                continue
            os.environ.update(engine.environment)
            engine.start()
            apple.reset()
            lines, complaints = play(apple, engine.url, options.seed, say=say)
            engine.stop()
            for line in lines + [f"MISSED: {one}" for one in complaints]:
                print(f"{name}: {line}", flush=True)
            is_good = is_good and not complaints
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
