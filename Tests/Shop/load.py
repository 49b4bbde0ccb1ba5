#!/usr/bin/env python3
"""The shop under a bounded load on loopback, beside the same server answering a constant.

  load.py PROGRAM [--seconds N] [--workers N]

Each request is answered, or gets 503 or 202 with Retry-After: that is asserted. Times and
throughput are reported.
"""
import argparse
import http.client
import itertools
import json
import pathlib
import shutil
import sys
import threading
import time

from shop_server import ROOT, ShopServer

FOLDER = ROOT / "build/shop-load"
CONSTANT = """<?php
header('Content-Type: application/json');
echo '{"answer":"granted","product":null,"retryAfterMs":null}';
"""
AT_ONCE = (1, 4, 16, 64)
FRESH = 400


class Load:
    """What is sent, and what came back."""

    def __init__(self, options):
        shutil.rmtree(FOLDER, ignore_errors=True)
        self.options = options
        self.shop = ShopServer(FOLDER, options.program.resolve(), workers=options.workers)
        (FOLDER / "constant.php").write_text(CONSTANT)
        self.wrong = []
        foreign = self.shop.mint("transaction-receipt", "--bundle-id", "com.example.other")
        repeated = self.shop.coins(900_000_000_000_000)
        fresh = [self.shop.coins(900_000_000_000_001 + number) for number in range(FRESH)]
        self.kinds = {"foreign": itertools.repeat(foreign), "repeated": itertools.repeat(repeated),
                      "a purchase": itertools.cycle(fresh)}
        self.lock = threading.Lock()

    def run(self):
        print(f"{self.options.workers} workers; milliseconds\n"
              "what         at once    requests/s    p50    p99   503   202")
        for script in (FOLDER / "constant.php", "public/index.php"):
            self.shop.start(script)
            names = ["constant"] if script != "public/index.php" else list(self.kinds)
            for name in names:
                for at_once in AT_ONCE:
                    self.measure(name, at_once)
            self.shop.stop()

    def measure(self, name, at_once):
        texts = self.kinds.get(name, itertools.repeat("x"))
        times, later = [], {503: 0, 202: 0}
        end = time.monotonic() + self.options.seconds
        token = self.shop.token("ann")

        def client():
            while time.monotonic() < end:
                with self.lock:
                    text = next(texts)
                begin = time.monotonic()
                try:
                    status, _, headers = self.shop.post("/v1/receipts", {"evidence": text}, token)
                except (OSError, http.client.HTTPException, json.JSONDecodeError) as fault:
                    self.wrong.append(f"{name}, {at_once} at once: {fault!r}")
                    continue
                times.append(time.monotonic() - begin)
                if status in later:
                    later[status] += 1
                    if "Retry-After" not in headers:
                        self.wrong.append(f"{name}: {status} without Retry-After")
                elif status >= 500:
                    self.wrong.append(f"{name}: {status}")

        begin = time.monotonic()
        threads = [threading.Thread(target=client) for _ in range(at_once)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        times.sort()
        rate = len(times) / (time.monotonic() - begin)
        at = [1000 * times[min(len(times) - 1, len(times) * part // 100)] for part in (50, 99)]
        print(f"{name:<12} {at_once:>7} {rate:>13.0f} {at[0]:>6.1f} {at[1]:>6.1f}"
              f" {later[503]:>5} {later[202]:>5}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--workers", type=int, default=4)
    load = Load(parser.parse_args())
    load.run()
    for fault in load.wrong[:20]:
        print(f"FAILED load: {fault}")
    print(f"suite shop-load: {0 if load.wrong else 1} passed, {1 if load.wrong else 0} failed,"
          " 0 skipped")
    sys.exit(1 if load.wrong else 0)


if __name__ == "__main__":
    main()
