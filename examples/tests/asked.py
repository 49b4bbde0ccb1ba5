"""What a shop is asked by apps and by Apple, whatever its framework, and what must come of it.

A shop is a function `ask(path, body, headers)` that returns the status, the JSON (None if it is
none) and the headers of an answer. The rest is read from its database.
"""
import contextlib
import http.client
import itertools
import json
import pathlib
import sqlite3
import threading
import time

from assay_testing import Authority

COINS = {"environment": "Production", "type": "consumable", "product": "com.example.app.coins100"}
PURCHASES, NOTIFICATIONS = "/v1/purchases", "/v1/notifications"
MEMBERS = {PURCHASES: "jws", NOTIFICATIONS: "signedPayload"}
REFUSED, STORED = {"error": "refused"}, {}
GRANTED, AGAIN = {"answer": "granted"}, {"answer": "already-granted"}
FINAL, KEEP = {"answer": "refused-final"}, {"answer": "refused-keep"}
DEFERRED = {"answer": "deferred"}
AT_ONCE = 8
# Faults, each with its cure.
LOCKED = "BEGIN EXCLUSIVE", "ROLLBACK"
AWAY = "ALTER TABLE booking RENAME TO away", "ALTER TABLE away RENAME TO booking"
# Each of a purchase and two events twice, in every order.
ORDERS = sorted(set(itertools.permutations((0, 0, 1, 1, 2, 2))))


class Bench:
    """A test authority, the files that a shop reads at its start, and what its clients send."""

    def __init__(self, folder):
        self.authority = Authority(pathlib.Path(folder) / "authority")
        self.keys = self.authority.mint("keyset").decode()
        tokens = json.loads((self.authority.folder / "tokens.json").read_text())
        # Nobody waits for a lock longer than this.
        self.config = json.dumps(
            {**self.authority.config, "tokens": tokens, "ledger": {"lockMs": 100}})
        self.ann, self.bob = (self.mint("token", subject=name) for name in ("ann", "bob"))
        self.bought = self.coins(1)
        self.forged = self.bought[:-8] + "AAAAAAAA"

    def mint(self, kind, **options):
        return self.authority.mint(kind, **options).decode().strip()

    def coins(self, number, kind="transaction", **options):
        """Mint the purchase of a number, or what Apple tells of it."""
        own = {"transaction_id": str(940000 + number),
               "original_transaction_id": str(940000 + number)}
        return self.mint(kind, **{**COINS, **own, **options})

    def told(self, number, kind, **options):
        return self.coins(number, "notification", notification_type=kind,
                          refunded=kind == "REFUND", **options)

    def rows(self):
        """What is asked in this order: what it is, path, text, token, status, answer."""
        refund = self.told(1, "REFUND")
        unsold = {"product": "com.example.app.nothing"}
        newer = self.mint("notification", set={"version": "3.0"}, **COINS)
        return [
            ("no token", PURCHASES, self.bought, None, 401, REFUSED),
            ("a forged token", PURCHASES, self.bought, self.ann[:-8] + "AAAAAAAA", 401, REFUSED),
            ("a forgery", PURCHASES, self.forged, self.ann, 400, REFUSED),
            ("another app", PURCHASES, self.coins(1, bundle_id="com.example.wrong"), self.ann, 403,
             REFUSED),
            ("a file's name", PURCHASES, "purchase.jws", self.ann, 400, REFUSED),
            ("a long text", PURCHASES, "a" * 70_000, self.ann, 413, REFUSED),
            ("a product that is not sold", PURCHASES, self.coins(2, **unsold), self.ann, 409, KEEP),
            ("a purchase", PURCHASES, self.bought, self.ann, 200, GRANTED),
            ("it again", PURCHASES, self.bought, self.ann, 200, AGAIN),
            ("it from another account", PURCHASES, self.bought, self.bob, 409, FINAL),
            ("a second purchase", PURCHASES, self.coins(3), self.ann, 200, GRANTED),
            ("no notification", NOTIFICATIONS, self.bought, None, 400, REFUSED),
            ("Apple's test", NOTIFICATIONS,
             self.mint("notification", notification_type="TEST", environment="Production"), None,
             200, STORED),
            ("a later version", NOTIFICATIONS, newer, None, 200, STORED),
            ("a refund of what is not sold", NOTIFICATIONS, self.told(4, "REFUND", **unsold), None,
             200, STORED),
            ("a refund", NOTIFICATIONS, refund, None, 200, STORED),
            ("it again", NOTIFICATIONS, refund, None, 200, STORED),
            ("a purchase that was refunded", PURCHASES, self.bought, self.ann, 409, FINAL),
        ]


class Asked:
    """The checks of one shop, counted by a suite."""

    def __init__(self, suite, bench, ask, database):
        self.suite, self.bench, self.ask = suite, bench, ask
        self.database = sqlite3.connect(database, isolation_level=None, timeout=10,
                                        check_same_thread=False)

    def close(self):
        self.database.close()

    def clear(self):
        """Delete all rows but that of the schema: a new store would take longer."""
        for table, in self.database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND (name = 'booking'"
                " OR name LIKE 'assay%' AND name <> 'assay_schema')").fetchall():
            self.database.execute(f"DELETE FROM {table}")

    def booked(self):
        return [units for units, in self.database.execute(
            "SELECT units FROM booking ORDER BY rowid")]

    def send(self, path, text, token="", **more):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self.ask(path, json.dumps({MEMBERS[path]: text, **more}), headers)

    def expect(self, what, found, status, answer):
        """Count an answer: status, JSON, and Retry-After exactly if the client must come again."""
        code, said, headers = found
        self.suite.expect((code, said) == (status, answer), what,
                          f"{code} {str(said)[:200]}")
        self.suite.expect(("Retry-After" in headers) == (answer == DEFERRED), f"{what}, again?")

    def check_rows(self):
        self.clear()
        for what, path, text, token, status, answer in self.bench.rows():
            self.expect(what, self.send(path, text, token), status, answer)
        self.suite.expect(self.booked() == [1, 1, -1], "the bookings of the rows", self.booked())

    def check_bodies(self):
        """Check that what is no such body is refused, in the words of the framework."""
        for path, member in MEMBERS.items():
            for body in ("", "{", "[]", "null", '"text"', '{"receipt":"a"}', f'{{"{member}":1}}',
                         f'{{"{member}":null}}', "[" * 50_000):
                status = self.ask(path, body, {})[0]
                self.suite.expect(status in (400, 422), f"{path} {body[:20]}", status)
            status = self.ask(path, json.dumps({member: "a" * 600_000}), {})[0]
            self.suite.expect(400 <= status < 500, f"{path} with 600 kB", status)
            self.suite.expect(self.ask(path, None, {})[0] in (404, 405), f"GET {path}")

    def at_once(self, *sent):
        """Send all at the same moment, each until its answer is definite; return the answers."""
        barrier, answers = threading.Barrier(len(sent)), []

        def client(path, text, token):
            barrier.wait()
            for _ in range(20):
                code, said, _ = self.send(path, text, token)
                if code != 503:
                    break
                time.sleep(0.1)
            answers.append((code, (said or {}).get("answer")))

        threads = [threading.Thread(target=client, args=each) for each in sent]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sorted(answers, key=str)

    def check_at_once(self):
        """Check that a purchase that arrives many times at once is paid once, and its refund
        taken back once."""
        self.clear()
        found = self.at_once(*[(PURCHASES, self.bench.bought, self.bench.ann)] * AT_ONCE)
        self.suite.expect(
            found == [(200, "already-granted")] * (AT_ONCE - 1) + [(200, "granted")]
            and self.booked() == [1], "a purchase many times at once", (found, self.booked()))
        refund = self.bench.told(1, "REFUND")
        found = self.at_once(*[(NOTIFICATIONS, refund, None)] * AT_ONCE)
        self.suite.expect(found == [(200, None)] * AT_ONCE and self.booked() == [1, -1],
                          "its refund many times at once", (found, self.booked()))
        self.clear()
        found = self.at_once(*[(PURCHASES, self.bench.bought, each)
                               for each in (self.bench.ann, self.bench.bob) * 2])
        self.suite.expect(
            [each for _, each in found] == ["already-granted", "granted", "refused-final",
                                            "refused-final"] and self.booked() == [1],
            "a purchase of two accounts at once", (found, self.booked()))
        self.clear()
        self.at_once((PURCHASES, self.bench.bought, self.bench.ann), (NOTIFICATIONS, refund, None))
        self.expect("after both at once", self.send(PURCHASES, self.bench.bought, self.bench.ann),
                    409, FINAL)
        self.suite.expect(sum(self.booked()) == 0, "a purchase and its refund at once",
                          self.booked())

    def check_faults(self):
        """Check that nothing is lost or paid twice while the database or the grant fails."""
        self.clear()
        refund, ann = self.bench.told(1, "REFUND"), self.bench.ann
        with self.broken(*LOCKED):
            self.expect("a purchase, the database locked",
                        self.send(PURCHASES, self.bench.bought, ann), 503, DEFERRED)
        with self.broken(*AWAY):
            self.suite.expect(self.send(PURCHASES, self.bench.bought, ann)[0] == 500,
                              "a purchase whose grant fails")
        self.expect("it again", self.send(PURCHASES, self.bench.bought, ann), 200, GRANTED)
        with self.broken(*LOCKED):
            self.expect("a refund, the database locked",
                        self.send(NOTIFICATIONS, refund), 503, DEFERRED)
        with self.broken(*AWAY):
            status = self.send(NOTIFICATIONS, refund)[0]
            self.suite.expect(status >= 500, "a refund whose take-back fails", status)
        self.suite.expect(self.booked() == [1], "the failed refund took nothing", self.booked())
        self.expect("it again", self.send(NOTIFICATIONS, refund), 200, STORED)
        self.suite.expect(self.booked() == [1, -1], "after all faults", self.booked())

    @contextlib.contextmanager
    def broken(self, fault, cure):
        self.database.execute(fault)
        try:
            yield
        finally:
            self.database.execute(cure)

    def check_killed(self, kill, start):
        """Check that what came when the shop was killed is paid once, and taken back once, after
        it came again."""
        self.clear()
        numbers = range(10, 10 + AT_ONCE)
        for path, texts in ((PURCHASES, [self.bench.coins(number) for number in numbers]),
                            (NOTIFICATIONS, [self.bench.told(number, "REFUND")
                                             for number in numbers])):
            before = len(self.booked())
            threads = [threading.Thread(target=self.attempt, args=(path, text)) for text in texts]
            for thread in threads:
                thread.start()
            until = time.monotonic() + 10
            while len(self.booked()) == before and time.monotonic() < until:
                time.sleep(0.001)
            kill()
            for thread in threads:
                thread.join()
            start()
            for text in texts:
                code, said, _ = self.send(path, text, self.bench.ann)
                self.suite.expect(code == 200, f"{path} after a kill", f"{code} {said}")
        self.suite.expect(self.booked() == [1] * AT_ONCE + [-1] * AT_ONCE,
                          "bookings after two kills", self.booked())

    def attempt(self, path, text):
        """Send a request that may get no answer."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            self.send(path, text, self.bench.ann)

    def check_orders(self, orders):
        """BCK-16, BCK-41: a refund and its reversal, signed in either order."""
        for kinds, left in ((("REFUND", "REFUND_REVERSED"), 1), (("REFUND_REVERSED", "REFUND"), 0)):
            self.in_orders(kinds, left, orders[::1 if left else 3])

    def in_orders(self, kinds, left, orders):
        """Check that at each moment the wallet is what the ledger says, given and taken back in
        turn, and at the end what was signed last."""
        start = int(time.time() * 1000) - 3_600_000
        told = [(PURCHASES, self.bench.coins(1, signed=start))] + [
            (NOTIFICATIONS, self.bench.told(1, kind, signed=start + number * 600_000))
            for number, kind in enumerate(kinds, 1)]
        for order in orders:
            self.clear()
            faults = []
            # Who was refused in between shows the purchase again.
            for at in (*order, 0, 1, 2, 0):
                status = self.send(*told[at], self.bench.ann)[0]
                booked = self.booked()
                out, = self.database.execute(
                    "SELECT total(granted_units) FROM assay_purchase").fetchone()
                in_turn = booked == [1, -1, 1, -1, 1, -1][:len(booked)]
                said = status == 200 or (at, status) == (0, 409)
                if not (said and in_turn and sum(booked) == out):
                    faults.append((at, status, booked, out))
            self.suite.expect(not faults and sum(self.booked()) == left,
                              f"{kinds} in the order {order}", faults or self.booked())

    def check_part(self):
        """STO-33 … 35: a refund of a part and its reversal: the newest state is valid."""
        hour = int(time.time() * 1000) - 3_600_000

        def signed(minutes, **more):
            return self.bench.coins(1, quantity=5, purchased=hour,
                                    signed=hour + 60_000 * minutes, **more)

        def told(kind, text):
            return NOTIFICATIONS, self.bench.coins(
                1, "notification", notification_type=kind, set={"data.signedTransactionInfo": text})

        def refunded(share):
            return told("REFUND", signed(20, refunded=True, set={"revocationPercentage": share}))

        events = {"bought": (PURCHASES, signed(10)), "a part": refunded(40_000),
                  "all": refunded(100_000), "reversed": told("REFUND_REVERSED", signed(30))}
        for order in (
                "bought 5, a part 3, a part 3, bought 3, reversed 5, a part 5, reversed 5",
                "all 0, bought 0, reversed 0, bought 5",
                "bought 5, all 0, bought 0, reversed 5",
                "reversed 0, all 0, bought 5"):
            self.clear()
            found = []
            for event in order.split(", "):
                name = event.rpartition(" ")[0]
                self.send(*events[name], self.bench.ann)
                found.append(f"{name} {sum(self.booked())}")
            self.suite.expect(", ".join(found) == order, order, found)
