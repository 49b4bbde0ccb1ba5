"""Choose the operations of a process: flows, selected by a seeded generator.

A flow yields (operation, arguments) in the terms of models.py and is sent the outcome and the
result. A flow that stops anywhere is a host that was killed there.
"""

import random

from stage import CHALLENGE_TTL, LEASE, LIMITS, SIGNUP_LIMIT

#: Flows and their relative frequencies.
WEIGHTS = {"purchase": 6, "sweep": 0.5, "refund_notice": 1, "support": 1, "metered": 8, "signup": 1,
           "plan": 4, "look": 2, "clear": 0.2, "challenge": 3, "attest": 3, "once": 2, "join": 1}
#: Flows for an engine that may lose data.
VOLATILE = ("metered", "signup", "challenge", "once")


class Workload:
    """The choices of one process."""

    def __init__(self, stage, name, seed, clock, volatile=False, progress=lambda: 0.5):
        self.stage, self.name, self.clock, self.progress = stage, name, clock, progress
        self.random = random.Random(f"{seed} {name}")
        weights = {flow: weight for flow, weight in WEIGHTS.items()
                   if not volatile or flow in VOLATILE}
        self.flows, self.weights = list(weights), list(weights.values())
        self.levels, self.number = {}, 0

    def flow(self):
        """Return the next flow."""
        return getattr(self, self.random.choices(self.flows, self.weights)[0])()

    def row(self, kind):
        """Return a row that all processes use at this moment, or an earlier one."""
        rows = self.stage[kind]
        at = int(self.progress() * len(rows))
        low = max(0, at - 2) if self.random.random() < 0.7 else 0
        return rows[min(self.random.randint(low, at + 1), len(rows) - 1)]

    def attempt(self):
        """Return a new attempt id of 32 characters."""
        self.number += 1
        return f"{self.name}-{self.number}-".ljust(32, "x")

    def version(self, row, revoking=None):
        """Return a version of a row's evidence, close to the newest one seen."""
        level = self.levels.get(row["key"], 0) + self.random.choice([-2, -1, 0, 0, 0, 1])
        chosen = [at for at, one in enumerate(row["versions"])
                  if revoking in (None, one["revoking"])]
        at = min(chosen, key=lambda at: abs(at - level))
        version = row["versions"][at]
        return at, {"key": row["key"], "asof": version["asof"], "evidence": version["evidence"],
                    "version": at}

    def seen(self, row, level):
        self.levels[row["key"]] = max(level, self.levels.get(row["key"], 0))

    # ---- purchases -----------------------------------------------------------

    def purchase(self):
        """Claim, grant, complete; sometimes the same request twice, sometimes only half of it."""
        row = self.row("purchases")
        if row["pays"]:
            yield from self.payment(row)
            return
        at, evidence = self.version(row, revoking=False)
        args = {**evidence, "account": self.random.choice(row["accounts"]),
                "attempt": self.attempt(), "lease": LEASE}
        for _ in range(self.random.choice([1, 1, 1, 1, 2])):
            outcome, result = yield "claim", {**args, "now": self.clock()}
            if outcome == "unclear":
                outcome, result = yield "claim", {**args, "now": self.clock()}
        if result.get("outcome") == "revoked":
            self.seen(row, at + 2)
        if outcome != "ok" or self.random.random() < 0.15:
            return
        self.seen(row, at)
        mine = {"key": row["key"], "account": args["account"], "gen": result["gen"]}
        if "fence" in result:
            mine |= {"fence": result["fence"], "attempt": args["attempt"]}
        yield "grant", {"key": row["key"], "gen": result["gen"]}
        for _ in range(self.random.choice([0, 1, 1, 1, 1, 2])):
            yield "complete", mine

    def payment(self, row):
        """Claim and grant in one transaction; sometimes read the grants."""
        at, evidence = self.version(row, revoking=False)
        args = {**evidence, "account": self.random.choice(row["accounts"]),
                "attempt": self.attempt(), "lease": LEASE}
        outcome, result = yield "pay", {**args, "now": self.clock()}
        if outcome == "unclear":
            outcome, result = yield "pay", {**args, "now": self.clock()}
        self.seen(row, at + 2 if result.get("outcome") == "revoked" else at)
        if self.random.random() < 0.3:
            yield "paid", {"key": row["key"]}

    def sweep(self):
        """Take over expired claims; the sweeper may stop half-way, too."""
        attempt = self.attempt()
        _, result = yield "due", {"attempt": attempt, "lease": LEASE, "now": self.clock()}
        for key, claim in result.get("claims", {}).items():
            if self.random.random() < 0.2:
                continue
            yield "grant", {"key": key, "gen": claim["gen"]}
            mine = {"key": key, "account": claim["account"], "gen": claim["gen"]}
            if "fence" in claim:
                mine |= {"fence": claim["fence"], "attempt": attempt}
            yield "complete", mine

    def refund_notice(self):
        row = self.row("purchases")
        at, evidence = self.version(row, revoking=True)
        yield "revoke", evidence
        self.seen(row, at)

    def support(self):
        row = self.row("purchases")
        yield "lookup", {"key": row["key"], "version": 0,
                         "account": self.random.choice(row["accounts"])}

    # ---- counters ------------------------------------------------------------

    def metered(self):
        """Consume a unit of a meter, released if the work fails."""
        number = self.random.randrange(30)
        plan = "free" if number < 3 else "standard" if number < 15 else "premium"
        account = f"{plan}-{number}"
        meter, now = "premium", self.clock()
        args = {"key": f"{account} {meter} {now // 86_400_000}", "account": account, "plan": plan,
                "meter": meter, "units": self.random.choice([1, 1, 1, 2]), "now": now,
                "limit": LIMITS[plan][meter]}
        outcome, result = yield "take", args
        if outcome == "ok" and self.random.random() < 0.2:
            yield "refund", {"key": args["key"], "units": args["units"],
                             "ticket": result.get("ticket"), "now": self.clock()}

    def signup(self):
        address, now = self.random.choice(self.stage["addresses"]), self.clock()
        args = {"key": f"{address} {now // 86_400_000}", "address": address, "now": now,
                "limit": SIGNUP_LIMIT}
        outcome, result = yield "admit", args
        if outcome == "ok" and self.random.random() < 0.3:
            yield "settle", {"key": args["key"], "ticket": result.get("ticket"),
                             "now": self.clock()}

    # ---- subscriptions ---------------------------------------------------------

    def plan(self):
        """Update a subscription by the customer's evidence, or by a notification without an
        account."""
        row = self.row("lines")
        at, evidence = self.version(row)
        account = self.random.choice([*row["accounts"], *row["accounts"], ""])
        yield "apply", {**evidence, "account": account, "now": self.clock(),
                        "revoking": row["versions"][at]["revoking"]}
        self.seen(row, at + 1)

    def look(self):
        row = self.row("lines")
        yield "read", {"account": self.random.choice(row["accounts"]), "now": self.clock()}

    def clear(self):
        row = self.row("lines")
        yield "clear", {"account": self.random.choice(row["accounts"]), "now": self.clock()}

    # ---- challenges, keys and events --------------------------------------------

    def challenge(self):
        """Issue and consume a challenge that several processes share for some seconds."""
        now = self.clock()
        name = f"c{now // 4000}-{self.random.randrange(3)}"
        args = {"key": name, "purpose": "attest", "subject": "user-01"}
        yield "issue", {**args, "now": now, "expires": now + CHALLENGE_TTL}
        for _ in range(self.random.choice([1, 1, 2])):
            subject = self.random.choice(["user-01"] * 9 + ["user-02"])
            yield "consume", {**args, "subject": subject, "now": self.clock(),
                              "by": f"key-{self.random.randrange(4)}"}

    def attest(self):
        """Register a device key, then advance its counter a few times."""
        row = self.random.choice(self.stage["keys"])
        account = self.random.choice([row["accounts"][0]] * 4 + row["accounts"][1:])
        mine = {"key": row["key"], "account": account}
        yield "bind", {**mine, "public": row["public"], "now": self.clock()}
        for _ in range(self.random.choice([0, 1, 2, 3])):
            level = self.levels.get(row["key"], 0) + self.random.choice([-1, 0, 0, 1])
            counter = row["counters"][min(max(level, 0), len(row["counters"]) - 1)]
            outcome, _ = yield "advance", {**mine, "counter": counter, "now": self.clock()}
            self.levels[row["key"]] = level + 1 if outcome == "ok" else max(level + 1, 1)

    def once(self):
        name = f"NOTE#{self.clock() // 2000}-{self.random.randrange(4)}"
        args = {"key": name, "attempt": self.attempt(), "now": self.clock()}
        for _ in range(self.random.choice([1, 1, 2])):
            yield "once", args

    def join(self):
        """Merge accounts without rows, or accounts that compete for a row at this moment."""
        group = self.random.choice(self.stage["groups"])
        row = self.row(self.random.choice(["purchases", "lines"]))
        if row["joins"]:
            group = row["accounts"]
        origin, target = self.random.sample(group, 2)
        yield "link", {"from": origin, "to": target, "attempt": self.attempt(),
                       "now": self.clock()}
