"""The ledger under test in the words of models.py: the one file that knows its interface.

`opened(url, …)` gives a book with perform(operation, arguments) → (outcome, result). outcome
is ok, refused or unclear; result has "outcome" and, where the answer says so, gen, fence, used,
left, lines and ticket.
"""

import base64
import hashlib
import itertools
import sqlite3

import pretended

# Refusals of the store that say something definite about a row; the rest of the family
# "unavailable.store" leaves open whether anything happened.
DEFINITE = {"unavailable.store.row-missing", "unavailable.store.reply-shape",
            "misuse.store.attempt", "misuse.challenge.collision"}
SAID = {"misuse.store.attempt": "attempt-misused"}
REVOKED = {"wasGranted": "was-granted", "wasClaimed": "was-claimed"}
# Reversals of one purchase in a run: far fewer.
MOST_GENS = 100


class Surprise(RuntimeError):
    """An answer that no run may get: a fault of the ledger or of these tests."""


def opened(url, stage, seed):
    """A book at this url."""
    if url.startswith("pretended:"):
        return pretended.Book(url, seed)
    return LedgerBook(url, stage)


class LedgerBook:
    """assay.store.Ledger."""

    def __init__(self, url, stage):
        import assay
        from assay.store import Ledger

        self.url, self.ledger_class = url, Ledger
        self.verifier = assay.Verifier(stage["config"])
        self.ledger = Ledger(url, verifier=self.verifier)
        self.rows = {row["key"]: row for kind in ("purchases", "lines", "keys")
                     for row in stage[kind]}
        self.line_of = {row["transactionId"]: row for row in stage["lines"]}
        self.documents = {}
        self.grants = sqlite3.connect(stage["grants"], timeout=60, isolation_level=None)

    def perform(self, op, args):
        """One operation; a store that cannot be reached is asked anew next time."""
        if op == "grant":
            return self.grant(args)
        answer = getattr(self, op)(args)
        status = answer.status
        if status.startswith("unavailable.store.") and status not in DEFINITE:
            self.ledger.close()
            self.ledger = self.ledger_class(self.url, verifier=self.verifier)
            return "unclear", {"status": status}
        return self.told(op, status, answer.outcome, answer.facts)

    def told(self, op, status, outcome, facts):
        """Outcome and result in the words of the models."""
        if status == "ok":
            found = {"outcome": REVOKED.get(outcome, outcome)}
            found |= {name: facts[name] for name in ("fence", "used", "left", "ticket")
                      if name in facts}
            if "grantId" in facts:
                found["gen"] = gen_of(facts["grantId"], facts["purchaseKey"])
            if op == "read":
                found["lines"] = dict(map(self.line, facts["lines"]))
            return "ok", found
        if status.startswith(("rejected.", "unavailable.ledger.")) or status in DEFINITE:
            return "refused", {"outcome": SAID.get(status, status.rpartition(".")[2])}
        raise Surprise(f"{op}: {status}")

    def line(self, shown):
        """A line's key and the version that is shown, told by its end."""
        row = self.line_of[shown["originalTransactionId"]]
        at = row["ends"].index(shown["expiresMs"])
        return row["key"], row["versions"][at]["asof"]

    def grant(self, args):
        """The host's own grant: a row that can be inserted once."""
        self.grants.execute("CREATE TABLE IF NOT EXISTS granted (id TEXT PRIMARY KEY)")
        done = self.grants.execute("INSERT OR IGNORE INTO granted (id) VALUES (?)",
                                   (f"{args['key']}#{args['gen']}",))
        return "ok", {"fresh": done.rowcount == 1}

    def document(self, args):
        """The verified transaction of a version."""
        name = (args["key"], args["version"])
        if name not in self.documents:
            text = self.rows[args["key"]]["versions"][args["version"]]["text"]
            self.documents[name] = self.verifier.verify_transaction(text)
        return self.documents[name]

    # ---- operations ------------------------------------------------------------

    def claim(self, args):
        return self.ledger.claim(self.document(args), account=args["account"], now=args["now"],
                                 attempt=args["attempt"], lease_ms=args["lease"])

    def complete(self, args):
        key = self.rows[args["key"]]["purchaseKey"]
        return self.ledger.complete(key, account=args["account"], fence=args.get("fence"),
                                    grant_id=grant_id(key, args["gen"]))

    def revoke(self, args):
        return self.ledger.revoke(self.document(args))

    def lookup(self, args):
        return self.ledger.lookup(self.document(args), account=args["account"])

    def take(self, args):
        return self.ledger.take(account=args["account"], plan=args["plan"], meter=args["meter"],
                                units=args["units"], now=args["now"])

    def refund(self, args):
        return self.ledger.refund(args["ticket"], now=args["now"])

    def admit(self, args):
        return self.ledger.admit(args["address"], username="u_0123456789abcdef",
                                 password_bytes=24, now=args["now"])

    def settle(self, args):
        return self.ledger.settle(args["ticket"], result="exists", now=args["now"])

    def apply(self, args):
        return self.ledger.apply(self.document(args), account=args["account"] or None,
                                 now=args["now"])

    def read(self, args):
        return self.ledger.read(account=args["account"], now=args["now"])

    def clear(self, args):
        return self.ledger.clear(account=args["account"], now=args["now"])

    def issue(self, args):
        return self.ledger.challenge(challenge_of(args["key"]), purpose=args["purpose"],
                                     subject=args["subject"], now=args["now"])

    def consume(self, args):
        return self.ledger.consume(challenge_of(args["key"]), purpose=args["purpose"],
                                   subject=args["subject"], by=args["by"], now=args["now"])

    def bind(self, args):
        return self.ledger.bind(self.attested(args), account=args["account"], now=args["now"])

    def advance(self, args):
        return self.ledger.advance(self.asserted(args), account=args["account"], now=args["now"])

    def once(self, args):
        return self.ledger.once(args["key"], attempt=args["attempt"], now=args["now"])

    def link(self, args):
        return self.ledger.link(args["from"], args["to"], attempt=args["attempt"],
                                now=args["now"])

    def attested(self, args):
        row = self.rows[args["key"]]
        return self.verifier.verify_attestation(
            base64.b64decode(row["attestation"]), key_id=row["key"],
            client_data=row["clientData"].encode())

    def asserted(self, args):
        row = self.rows[args["key"]]
        at = row["counters"].index(args["counter"])
        return self.verifier.verify_assertion(
            base64.b64decode(row["assertions"][at]), public_key=row["public"],
            counter=args["counter"] - 1, client_data=row["clientData"].encode())


def challenge_of(key):
    """The bytes behind a challenge's name."""
    return hashlib.sha256(key.encode()).digest()


def grant_id(purchase_key, gen):
    """STO-12: the id of the grant of a purchase after so many reversals."""
    text = f"{purchase_key}#{gen}" if gen else purchase_key
    return hashlib.sha256(text.encode()).hexdigest()


def gen_of(found, purchase_key):
    """After how many reversals this is the grant's id."""
    for gen in itertools.count():
        if grant_id(purchase_key, gen) == found:
            return gen
        if gen == MOST_GENS:
            raise Surprise(f"{found} is no grant id of {purchase_key}")
    return None
