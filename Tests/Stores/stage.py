"""Create the test data that all processes of a run share: accounts, purchases, subscriptions, keys,
evidence.

A purchase has several versions of one transaction as Apple signs it over time: bought, refunded,
the refund reversed, and so on; a subscription has versions of its transactions, some of them
refunded. A period is one purchase under two transaction ids, or one transaction whose two versions
have different purchase keys. A test authority (bindings/python_testing) mints everything once; if
`mint` is None nothing is minted, for a ledger that reads no evidence.
"""

import concurrent.futures
import hashlib
import time

# The start of the run's clock, in milliseconds: 2035-11-20T06:00:00Z, in the future because Redis
# expires keys by its own clock.
BEGIN = 2_079_151_200_000
# The number of threads that mint at once.
THREADS = 4
# The run's clock is this much faster, so that leases and challenges expire during the run.
SPEED = 20
LEASE = 5000
CHALLENGE_TTL = 20_000
SECOND = 1000
DAY = 86_400 * SECOND
LIMITS = {"free": {"free": 99_999, "premium": 0},
          "standard": {"free": 99_999, "premium": 20},
          "premium": {"free": 99_999, "premium": 100}}
SIGNUP_LIMIT = 100
PREMIUM, COINS = "com.example.app.premium.monthly", "com.example.app.coins100"


class Clock:
    """The clock of a run: the same for all of its processes, never going back."""

    def __init__(self, origin, speed=SPEED):
        self.origin, self.speed = origin, speed

    def __call__(self):
        """Return milliseconds since 1970 UTC."""
        return BEGIN + (time.monotonic_ns() - self.origin) * self.speed // 1_000_000


class Maker:
    """Mints the evidence of one run."""

    def __init__(self, mint):
        self.mint = mint

    def version(self, number, revoking, more=None, **options):
        """Mint a version of a transaction; each is signed later than the one before, all before the
        run."""
        asof = BEGIN - DAY + number * 60 * SECOND
        text = None
        if self.mint is not None:
            revoked = {"revocationDate": asof - SECOND} if revoking else {}
            text = self.mint("transaction", signed=asof, now=BEGIN, **options,
                             set={"price": 1000 + number, **revoked, **(more or {})})
        name = hashlib.sha256(repr((sorted(options.items()), more, number)).encode())
        return {"asof": asof, "evidence": name.hexdigest()[:12], "revoking": revoking, "text": text}

    def purchase(self, at, versions):
        known = 2_000_000_100_000_000 + at
        return {"key": f"p{at}", "purchaseKey": f"Sandbox/{known}", "accounts": accounts(at, 3),
                "pays": at % 4 == 1, **joining(f"p{at}", at), "versions": [self.version(
                    number, number % 2 == 1, product=COINS, type="consumable",
                    transaction_id=str(known), original_transaction_id=str(known),
                    purchased=BEGIN - 2 * DAY) for number in range(versions)]}

    def line(self, at, versions):
        known = 2_000_000_500_000_000 + at
        return {"key": f"l{at}", "transactionId": str(known), "accounts": accounts(at, 2),
                **joining(f"l{at}", at),
                "ends": [BEGIN + (30 + number) * DAY for number in range(versions)],
                "versions": [self.version(
                    number, number % 4 == 3, product=PREMIUM, type="auto-renewable",
                    transaction_id=str(known), original_transaction_id=str(known),
                    purchased=BEGIN - 2 * DAY, expires=BEGIN + (30 + number) * DAY)
                    for number in range(versions)]}


    def period(self, at):
        """Return in turn two transactions of one period, and one transaction with two."""
        known = 2_000_000_700_000_000 + at * 2
        ids = [(known, known), (known + 1, known)] if at % 2 == 0 else \
            [(known, known), (known, known + 1)]
        versions = [self.version(
            number, False, product=PREMIUM, type="auto-renewable", transaction_id=str(transaction),
            original_transaction_id=str(known), purchased=BEGIN - 2 * DAY,
            expires=BEGIN + 28 * DAY, more={"webOrderLineItemId": str(period)})
            for number, (transaction, period) in enumerate(ids)]
        return {"key": f"o{at}", "accounts": accounts(at, 2), "versions": versions,
                "purchaseKeys": [f"Sandbox/{known}/{period}" for _, period in ids]}


def joining(name, at):
    """Give every third row accounts of its own, which are merged into each other."""
    return {"joins": True, "accounts": [f"join-{name}-{member}" for member in range(3)]} \
        if at % 3 == 0 else {"joins": False}


def accounts(at, number):
    """Return the accounts that compete for a row; neighbouring rows share some."""
    return [f"user-{(at // 2 + more) % 50:02d}" for more in range(number)]


def stage(purchases, lines, swept=0, periods=0, refunded=0, versions=(4, 8), mint=None,
          config=None, keys=()):
    """Return all test data, ready for JSON; `swept` rows of each kind are for sweepers."""
    made, sweeps = Maker(mint), range(10_000, 10_000 + swept)
    refunds = range(20_000, 20_000 + refunded)
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        rows = {name: list(pool.map(make, *given)) for name, make, *given in (
            ("purchases", made.purchase, range(purchases), [versions[0]] * purchases),
            ("lines", made.line, range(lines), [versions[1]] * lines),
            ("sweptPurchases", made.purchase, sweeps, [1] * swept),
            ("refunded", made.purchase, refunds, [versions[0]] * refunded),
            ("sweptLines", made.line, sweeps, [1] * swept),
            ("periods", made.period, range(periods)))}
    return {
        "origin": time.monotonic_ns(), "speed": SPEED, "config": config, **rows,
        "keys": list(keys) or [pretended_key(at) for at in range(10)],
        "addresses": [f"192.0.2.{at}" for at in range(8)],
        "groups": [[f"join-{at}-{member}" for member in range(4)] for at in range(120)],
    }


def pretended_key(at):
    """Return a device key without evidence."""
    return {"key": f"k{at}", "accounts": accounts(at, 2), "public": f"public {at}",
            "counters": list(range(1, 60)), "attestation": None, "assertions": None}
