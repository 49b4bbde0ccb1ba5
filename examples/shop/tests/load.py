#!/usr/bin/env python3
"""The shop under a bounded load on loopback, beside the same server answering a constant.

  load.py PROGRAM [--seconds N] [--workers N]

  load.py PROGRAM --scene cost|silence   only that one

Asserts that each request is answered, or gets 503 or 202 with Retry-After. Times and throughput are
reported, with two limits. A foreign or cracked request costs at most half a millisecond of
processor time more than the constant (FLW-1). And while Apple accepts connections and does not
respond for a minute, and subscribers near their end send old receipts, 99 of 100 other requests are
answered within a second (BCK-43).
"""
import argparse
import base64
import http.client
import itertools
import json
import pathlib
import shutil
import socket
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
BAR_MS = 1000
COST_MS = 0.5
COST_ROUNDS, COST_REQUESTS = 100, 10
SUBSCRIBERS = 8
OTHERS = 8
HOUR_MS = 3_600_000


class Load:
    """The requests that were sent, and their responses."""

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
        in_parallel([client] * at_once)
        rate = len(times) / (time.monotonic() - begin)
        at = [within(times, part) for part in (50, 99)]
        print(f"{name:<12} {at_once:>7} {rate:>13.0f} {at[0]:>6.1f} {at[1]:>6.1f}"
              f" {later[503]:>5} {later[202]:>5}", flush=True)

    # ---- what a hostile request costs

    def cost(self):
        """Return the server's processor time beyond that of the constant: the least of some."""
        texts = {"foreign": next(self.kinds["foreign"]),
                 "cracked": base64.b64encode(b"com.urus.iap.72519604").decode()}
        self.shop.workers = 1
        self.shop.start(FOLDER / "constant.php")
        constant = {name: self.processor_ms(text) for name, text in texts.items()}
        self.shop.stop()
        with self.shop:
            costs = {name: self.processor_ms(text) - constant[name] for name, text in texts.items()}
        print("processor time of a request: " + "; ".join(
            f"{name} {cost:.2f} ms more than the constant's {constant[name]:.2f} (bar {COST_MS})"
            for name, cost in costs.items()), flush=True)
        self.wrong += [f"a {name} request costs {cost:.2f} ms more than a constant"
                       for name, cost in costs.items() if cost > COST_MS]

    def processor_ms(self, text):
        found = []
        for _ in range(COST_ROUNDS):
            begin = self.processor_seconds()
            for _ in range(COST_REQUESTS):
                self.shop.post("/v1/receipts", {"evidence": text}, self.shop.token("ann"))
            found.append(1000 * (self.processor_seconds() - begin) / COST_REQUESTS)
        return min(found)

    def processor_seconds(self):
        """Return the server's time on a processor so far, in seconds (proc(5))."""
        stat = pathlib.Path(f"/proc/{self.shop.process.pid}/schedstat").read_text()
        return int(stat.split()[0]) / 1e9

    # ---- Apple does not respond

    def silence(self):
        """Send requests of others beside subscribers whose call Apple does not answer (BCK-43)."""
        config = self.shop.config
        config["receipts"]["sharedSecrets"] = {"*": "0" * 32}
        with socket.create_server(("127.0.0.1", 0), backlog=1024) as silent:
            place = f"http://127.0.0.1:{silent.getsockname()[1]}"
            self.shop.configure({"verifier": config, "appleHosts": {
                "buy.itunes.apple.com": place}}, f"sqlite:{self.shop.database}")
            with self.shop:
                self.beside_silence()

    def beside_silence(self):
        receipts = [self.near_its_end(800_000_000_000_000 + number)
                    for number in range(SUBSCRIBERS)]
        tokens = [self.shop.token(f"subscriber-{number}") for number in range(SUBSCRIBERS)]
        token = self.shop.token("ann")
        end = time.monotonic() + self.options.silence
        others, subscribers, answers = [], [], set()
        kinds = itertools.cycle(self.kinds.values())

        def subscriber(number):
            while time.monotonic() < end:
                answers.add(self.timed(receipts[number], tokens[number], subscribers))
                time.sleep(0.5)

        def other():
            while time.monotonic() < end:
                with self.lock:
                    text = next(next(kinds))
                if self.timed(text, token, others) == "deferred":
                    self.wrong.append("silence: somebody else is deferred")

        in_parallel([lambda number=number: subscriber(number) for number in range(SUBSCRIBERS)]
                    + [other] * OTHERS)
        at = [within(others, part) for part in (50, 99, 100)]
        print(f"Apple silent for {self.options.silence:.0f} s:"
              f" {len(others)} requests of everybody else:"
              f" p50 {at[0]:.0f}, p99 {at[1]:.0f} (bar {BAR_MS}), longest {at[2]:.0f} ms;"
              f" {len(subscribers)} of subscribers: p99 {within(subscribers, 99):.0f} ms, answers"
              f" {', '.join(sorted(map(str, answers)))}", flush=True)
        if at[1] > BAR_MS:
            self.wrong.append(f"silence: p99 of everybody else is {at[1]:.0f} ms")
        if answers != {"deferred"}:
            self.wrong.append(f"silence: subscribers were told {answers}")

    def near_its_end(self, number):
        now = int(time.time() * 1000)
        return self.shop.mint(
            "transaction-receipt", "--environment", "Production", "--type", "auto-renewable",
            "--product", "com.example.app.premium.monthly", "--transaction-id", str(number),
            "--original-transaction-id", str(number), "--purchased", str(now - 700 * HOUR_MS),
            "--expires", str(now + HOUR_MS))

    def timed(self, text, token, times):
        begin = time.monotonic()
        try:
            _, found, _ = self.shop.post("/v1/receipts", {"evidence": text}, token)
        except (OSError, http.client.HTTPException, json.JSONDecodeError) as fault:
            self.wrong.append(f"silence: {fault!r}")
            return None
        times.append(time.monotonic() - begin)
        return found.get("answer")


def in_parallel(calls):
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def within(times, part):
    """Return the milliseconds within which so many of 100 requests were answered."""
    ordered = sorted(times)
    return 1000 * ordered[min(len(ordered) - 1, len(ordered) * part // 100)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--silence", type=float, default=60)
    parser.add_argument("--scene", choices=["all", "cost", "silence"],
                        default="all")
    options = parser.parse_args()
    load = Load(options)
    if options.scene == "all":
        load.run()
    if options.scene in ("all", "cost"):
        load.cost()
        load.shop.workers = options.workers
    if options.scene in ("all", "silence"):
        load.silence()
    for fault in load.wrong[:20]:
        print(f"FAILED load: {fault}")
    print(f"suite shop-load: {0 if load.wrong else 1} passed, {1 if load.wrong else 0} failed,"
          " 0 skipped")
    sys.exit(1 if load.wrong else 0)


if __name__ == "__main__":
    main()
