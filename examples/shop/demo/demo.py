#!/usr/bin/env python3
"""A shop for receipts on this machine: PHP, SQLite, and a test authority instead of Apple.

    make demo-shop                 serves until Ctrl-C, and prints three requests to try
    DEMO_ONCE=1 make demo-shop     plays them itself, and ends

Exits with 1 when any outcome is not the expected one.
"""
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import threading

import shop_server
from shop_server import ROOT, ShopServer

FOLDER = ROOT / "build/demo-shop"
DAY = 240
CUSTOMERS = 5
SWEEP_SECONDS = 60


class Demo:
    def __init__(self, program):
        shutil.rmtree(FOLDER, ignore_errors=True)
        # A minted day has Sandbox purchases, which count only for testers.
        self.shop = ShopServer(FOLDER, program, settings={
            "testers": [f"customer-{number}" for number in range(CUSTOMERS)],
            "prices": {shop_server.COINS: {"currency": "EUR", "minor": 99}}})
        self.passed = self.failed = 0

    def expect(self, what, wanted, got):
        if wanted == got:
            self.passed += 1
        else:
            self.failed += 1
            print(f"   NOT AS EXPECTED: {what} is {got!r}, it should be {wanted!r}")

    def a_morning(self):
        """Send a minted day of requests, so that the dashboard has content."""
        self.shop.minted("mint", "--day", str(DAY), "--out", str(FOLDER / "day.ndjson"))
        for number, line in enumerate((FOLDER / "day.ndjson").read_text().splitlines()):
            self.shop.send(json.loads(line)["blob"], f"customer-{number % CUSTOMERS}")

    def requests(self):
        """Return three requests to try: title, files of body and bearer, expected outcome."""
        bought = self.shop.coins(700_000_000_000_001)
        bodies = {"purchase": bought, "forged": bought[:-8] + "AAAAAAAA"}
        for name, evidence in bodies.items():
            (FOLDER / f"{name}.json").write_text(json.dumps({"evidence": evidence}))
        for account in ("ann", "bob"):
            self.file(f"{account}.header", f"Authorization: Bearer {self.shop.token(account)}\n")
        return [
            ("ann bought 100 coins. Send it twice: it is paid out once", "purchase", "ann",
             [(200, "granted"), (200, "already-granted")]),
            ("bob sends ann's purchase", "purchase", "bob", [(409, "refused-final")]),
            ("a forger changes the signature", "forged", "bob", [(400, "refused-final")]),
        ]

    def file(self, name, text):
        file = FOLDER / name
        file.touch(mode=0o600)
        file.write_text(text)

    def show(self, requests):
        print(f"The shop is at {self.shop.url}\n"
              f"   everything of it is in {FOLDER.relative_to(ROOT)}: the configuration\n"
              "   shop.json, the database shop.db, the log; its tokens come from\n"
              f"   {shop_server.ISSUER}, an issuer that exists in that folder alone\n")
        place = shlex.quote(str(FOLDER.relative_to(ROOT)))
        for number, (title, body, account, _) in enumerate(requests, 1):
            print(f"{number}. {title}:\n"
                  f"   curl -i -H @{place}/{account}.header"
                  " -H 'Content-Type: application/json' \\\n"
                  f"     -d @{place}/{body}.json {self.shop.url}/v1/receipts\n")
        print(f"What ann has now:\n   curl -H @{place}/ann.header {self.shop.url}/v1/account\n"
              f"   curl -H @{place}/ann.header {self.shop.url}/v1/orders\n")
        print(f"Support and dashboard, for the operator: {self.shop.url}/dashboard\n"
              f"   user operator, password {self.shop.password}\n", flush=True)

    def play(self, requests):
        for title, body, account, answers in requests:
            print(title)
            for status, word in answers:
                sent = json.loads((FOLDER / f"{body}.json").read_text())
                got, found, _ = self.shop.post("/v1/receipts", sent, self.shop.token(account))
                print(f"   {got} {json.dumps(found)}")
                self.expect("the answer", (status, word), (got, found.get("answer")))
        owned = self.shop.read("/v1/account", "ann")
        print(f"ann has {json.dumps(owned)}")
        self.expect("ann's coins", 100, (owned or {}).get("coins"))
        orders = (self.shop.read("/v1/orders", "ann") or {}).get("orders", [])
        self.expect("ann's orders", ["granted"], [one["state"] for one in orders])
        print("sweep: " + self.shop.run("sweep").strip())
        found = subprocess.run(
            ["curl", "-s", "-o", str(FOLDER / "dashboard.html"), "-w", "%{http_code}",
             "--config", "-", f"{self.shop.url}/dashboard"], check=False, text=True,
            input=f'user = "operator:{self.shop.password}"\n', capture_output=True) \
            if shutil.which("curl") else None
        if found is not None:
            self.expect("the dashboard", "200", found.stdout)
            page = (FOLDER / "dashboard.html").read_text()
            self.expect("its charts", 2, page.count("0 0 672 160"))

    def serve(self, ended):
        print("Ctrl-C ends it.", flush=True)
        while not ended.wait(SWEEP_SECONDS):
            self.shop.run("sweep")


def main():
    ended = threading.Event()
    demo = Demo(pathlib.Path(sys.argv[1]).resolve())
    with demo.shop:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: ended.set())
        demo.a_morning()
        requests = demo.requests()
        demo.show(requests)
        if os.environ.get("DEMO_ONCE"):
            demo.play(requests)
        else:
            demo.serve(ended)
    if os.environ.get("DEMO_ONCE"):
        demo.expect("what still listens", False, demo.shop.answers())
        print(f"\nsuite demo-shop: {demo.passed} passed, {demo.failed} failed, 0 skipped")
    sys.exit(1 if demo.failed else 0)


if __name__ == "__main__":
    main()
