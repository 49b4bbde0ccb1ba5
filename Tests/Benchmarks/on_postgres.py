"""Measure three operations on PostgreSQL: `Ledger.consume_quota` of one unit against only its SQL
statement, `Ledger.claim` of a purchase of coins against an INSERT … ON CONFLICT of one row, and the
same claim again against an INSERT that conflicts with the row.

  on_postgres.py [--quick]

Starts PostgreSQL of its own on loopback. Prints lines like `bench`: name, nanoseconds of wall-clock
time per call for Assay and for the baseline, their ratio and the middle half of the rounds' ratios;
then how often a call waited for the server, as counted by a relay between both.
"""

from __future__ import annotations

import os
import pathlib
import select
import socket
import sys
import threading
from contextlib import closing
from itertools import count
from time import perf_counter_ns
from urllib.parse import urlparse, urlunparse

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "Tests/Stores"), str(ROOT / "bindings/python_testing")]
os.environ.setdefault("ASSAY_PROGRAM", str(ROOT / ".build/release/assay-cli"))

import compared
from engines import scratch
from stage import BEGIN, COINS

LIMITS = {"free": {"bench": 1_000_000_000}}
BARE = "INSERT INTO bare (id, owner) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING"


class Relay:
    """A relay between a client and the server that counts round trips: how often the client sent
    after the server had."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.trips = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.relay, args=(client,), daemon=True).start()

    def relay(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self.port))
        has_answered = True
        with client, server:
            while True:
                for ready in select.select([client, server], [], [])[0]:
                    data = ready.recv(65536)
                    if not data:
                        return
                    if ready is client:
                        self.trips += has_answered
                        has_answered = False
                        server.sendall(data)
                    else:
                        has_answered = True
                        client.sendall(data)


def statement_of_take(verifier):
    """Return the library's statement of one take, with its values, for an account that only the
    baseline uses."""
    exchange = verifier.exchange(
        {"operation": "consume-quota", "account": "bare", "meter": "bench", "plan": "free"})
    call, = exchange.payload["database"]["calls"]
    return call["sql"], call["args"]


def main() -> None:
    try:
        import psycopg
    except ImportError as missing:
        print(f"# no allowance on PostgreSQL: {missing}")
        return
    from assay.ledger import Ledger
    from assay_testing import Authority

    authority = Authority(now=BEGIN)
    config = {**authority.config, "quotas": LIMITS}
    with scratch() as place:
        engine = place.engine("postgres")
        if engine.missing:
            print(f"# no allowance on PostgreSQL: {engine.missing}")
            return
        engine.start()
        url = urlparse(engine.url)
        relay = Relay(url.port)
        through = urlunparse(
            url._replace(netloc=f"assay@127.0.0.1:{relay.listener.getsockname()[1]}"))
        rounds, calls = (5, 40) if "--quick" in sys.argv else (31, 100)

        numbers = count(410_000_000_000_001)

        def purchase(of):
            jws = authority.transaction(product=COINS, type="consumable", signed=BEGIN,
                                        set={"transactionId": str(next(numbers))})
            return of.verifier.verify_transaction(jws, BEGIN)

        def claim(of, evidence):
            return of.claim(evidence, "ours", attempt_id="a" * 32, now=BEGIN)

        with (closing(Ledger(engine.url, config, create=True)) as ledger,
              closing(Ledger(through, config)) as counted):
            ledger.consume_quota("ours", "bench", "free")  # creates the tables
            sql, args = statement_of_take(ledger.verifier)
            with psycopg.connect(engine.url, autocommit=True,
                                 cursor_factory=psycopg.RawCursor) as connection:
                compared.compare(
                    "quota-postgres", lambda: ledger.consume_quota("ours", "bench", "free"),
                    lambda: connection.execute(sql, args).fetchall(), rounds=rounds,
                    calls=(calls, calls), clock=perf_counter_ns,
                    ratio=lambda mine, other: mine / other)
                connection.execute("CREATE TABLE bare (id TEXT PRIMARY KEY, owner TEXT)")
                # compare() calls each function before the rounds as well.
                few = calls // 5
                purchases = [purchase(ledger) for _ in range((rounds + 2) * few)]
                unclaimed, ids = iter(purchases), count()
                compared.compare(
                    "claim-postgres", lambda: claim(ledger, next(unclaimed)),
                    lambda: connection.execute(BARE, [str(next(ids)), "ours"]), rounds=rounds,
                    calls=(few, few), clock=perf_counter_ns,
                    ratio=lambda mine, other: mine / other)
                compared.compare(
                    "claim-again-postgres", lambda: claim(ledger, purchases[0]),
                    lambda: connection.execute(BARE, ["0", "ours"]), rounds=rounds,
                    calls=(calls, calls), clock=perf_counter_ns,
                    ratio=lambda mine, other: mine / other)
            counted.consume_quota("counted", "bench", "free")
            # psycopg prepares what is repeated by one more round trip, which is not counted.
            first = 10
            unclaimed = iter([purchase(counted) for _ in range(first + calls)])
            for name, call in (("quota-trips",
                                lambda: counted.consume_quota("counted", "bench", "free")),
                               ("claim-trips", lambda: claim(counted, next(unclaimed)))):
                for _ in range(first):
                    call()
                before = relay.trips
                for _ in range(calls):
                    call()
                print(name, (relay.trips - before) / calls, sep="\t")


if __name__ == "__main__":
    main()
