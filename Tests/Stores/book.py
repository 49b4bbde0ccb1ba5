"""Translate between the ledger under test and models.py; no other file here knows the ledger's
interface.

`opened(url, …)` returns a book with perform(operation, arguments) → (outcome, result). The outcome
is ok, refused or unclear; the result has "outcome" and, if the ledger's document contains them,
gen, fence, used, left, lines, claims and ticket. The host's own grants are rows of a file beside
the database, and for claims of mode "transaction" rows of the database itself.
"""

import base64
import hashlib
import json
import sqlite3
import subprocess
from typing import NamedTuple

import engines
import pretended
from stage import BEGIN

# Refusals after which the state of the row is known; the others of the area "unavailable.database"
# leave open whether the statement ran.
DEFINITE = {"unavailable.database.row-missing", "unavailable.database.unexpected-reply",
            "unavailable.claim.attempt-id", "unavailable.challenge.collision"}
SAID = {"unavailable.claim.attempt-id": "attempt-misused"}
# A bound that no test reaches: revocations of one purchase in a run.
MOST_GENS = 100
# A bound that no test reaches: calls until a merge of accounts has moved all rows.
MOST_PARTS = 50
PAID = "CREATE TABLE assay_paid (id VARCHAR(80) NOT NULL PRIMARY KEY, purchase VARCHAR(16))"


KINDS = ("purchases", "lines", "keys", "sweptPurchases", "sweptLines", "periods", "refunded")


class Linked(NamedTuple):
    """The first result of a merge of accounts, and whether the merge moved all rows in the end."""

    status: str
    outcome: str
    swept: bool


class PaymentError(RuntimeError):
    """Raised for a grant that could not be written; its arguments are outcome and result."""


class Surprise(RuntimeError):
    """Raised for a result that no run may get: a fault of the ledger or of these tests."""


def opened(url, stage, seed):
    """Return a book over the database at a URL."""
    if stage.get("host"):
        return HostBook(url, stage)
    if url.startswith("pretended:"):
        return pretended.Book(url, seed)
    return LedgerBook(url, stage)


def prepare(url, stage):
    """Create the tables before many processes start at once."""
    if not url.startswith(("pretended:", "redis:")):
        book = LedgerBook(url, stage)
        book.ledger.create_schema()
        if not book.is_items:
            book.ask({"sql": PAID, "args": [], "returnsRows": False})
        book.ledger.close()


class LedgerBook:
    """A book over assay.ledger.Ledger."""

    def __init__(self, url, stage):
        from assay.ledger import Ledger

        self.ledger = Ledger(url, stage["config"], create=False)
        self.verifier = self.ledger.verifier
        self.is_items = url.startswith("dynamodb:")
        self.rows = {row["key"]: row for kind in KINDS for row in stage[kind]}
        self.line_of = {row["transactionId"]: row["key"] for row in self.rows.values()
                        if "transactionId" in row}
        self.purchase_of = {name: row["key"] for row in self.rows.values()
                            for name in row.get("purchaseKeys", [row.get("purchaseKey")])}
        self.documents, self.stage, self.grants = {}, stage, None

    def perform(self, op, args):
        """Run one operation; after a connection error the next one opens a new connection."""
        if op in ("grant", "paid"):
            return getattr(self, op)(args)
        import assay

        try:
            answer = getattr(self, op)(args, now=args.get("now", BEGIN))
        except assay.MisuseError as error:
            return self.told(op, error.status, None)
        except PaymentError as error:
            return error.args
        if op == "pay" and answer.status == "unavailable.claim.in-progress":
            # The grant's transaction ended, but its reply was lost (STO-32).
            return "unclear", {"status": answer.status}
        # The deadline of an exchange may pass between two of its steps (STO-76).
        is_away = answer.status.startswith(("unavailable.database.", "unavailable.exchange."))
        if is_away and answer.status not in DEFINITE:
            self.ledger.close()
            return "unclear", {"status": answer.status}
        return self.told(op, answer.status, answer)

    def told(self, op, status, answer):
        """Translate a status and a result into the outcome and result of the models."""
        if op == "lookup" and status.startswith(("ok", "rejected.")):
            return "ok", {"outcome": answer.rows[0].state if answer.rows else "absent"}
        if status == "ok":
            return "ok", self.passed(op, answer)
        if status.startswith(("rejected.", "unavailable.claim.")) or status in DEFINITE:
            return "refused", {"outcome": SAID.get(status, status.rpartition(".")[2])}
        raise Surprise(f"{op}: {status}")

    def passed(self, op, answer):
        """Return the members of a result that the models check."""
        found = {"outcome": answer.outcome}
        if op in ("claim", "pay"):
            found |= {"gen": gen_of(answer.claim)}
            found |= {"fence": answer.claim.fencing_token} if op == "claim" else {"fresh": True}
        elif op == "due":
            found = {"claims": {self.purchase_of[claim.purchase_key]: {
                "outcome": claim.outcome, "gen": gen_of(claim), "fence": claim.fencing_token,
                "account": claim.account} for claim in answer.claims}}
        elif op == "dueLines":
            found = {"keys": [self.line_of[line.original_transaction_id]
                              for line in answer.subscriptions
                              if line.original_transaction_id in self.line_of]}
        elif op == "link":
            found |= {"swept": answer.swept}
        elif op == "revoke":
            revoked = answer.revocations[0]
            found = {"outcome": revoked.outcome,
                     "take": revoked.take is not None}
        elif op == "apply":
            found["outcome"] = answer.subscriptions[0].outcome
        elif op == "take":
            found |= {"used": answer.used, "left": answer.left, "ticket": answer.ticket}
        elif op == "admit":
            found |= {"left": answer.left, "ticket": answer.ticket}
        elif op == "read":
            found["lines"] = {self.line_of[line.original_transaction_id]: line.as_of_ms
                              for line in answer.subscriptions if line.is_active}
        return found

    def grant(self, args):
        """Record the host's own grant, as a row that can be inserted only once."""
        if self.grants is None:
            self.grants = sqlite3.connect(self.stage["grants"], timeout=60, isolation_level=None)
            self.grants.execute("CREATE TABLE IF NOT EXISTS granted (id TEXT PRIMARY KEY)")
        done = self.grants.execute("INSERT OR IGNORE INTO granted (id) VALUES (?)",
                                   (f"{args['key']}#{args['gen']}",))
        return "ok", {"fresh": done.rowcount == 1}

    def document(self, args):
        """Verify the transaction of a version; return its document."""
        name = (args["key"], args["version"])
        if name not in self.documents:
            text = self.rows[args["key"]]["versions"][args["version"]]["text"]
            self.documents[name] = self.verifier.verify_transaction(text, BEGIN)
        return self.documents[name]

    # ---- operations ------------------------------------------------------------

    def claim(self, args, now):
        return self.ledger.claim(self.document(args), args["account"], attempt_id=args["attempt"],
                                 lease_ms=args["lease"], now=now)

    def complete(self, args, now):
        key = self.rows[args["key"]]["purchaseKey"]
        return self.ledger.complete(key, args["account"], grant_id(key, args["gen"]),
                                    fencing_token=args.get("fence"), now=now)

    def revoke(self, args, now):
        return self.ledger.revoke(self.document(args), now=now)

    def lookup(self, args, now):
        return self.ledger.find(args["account"], evidence=self.document(args), now=now)

    def take(self, args, now):
        return self.ledger.consume_quota(args["account"], args["meter"], args["plan"],
                                         args["units"],
                                now=now)

    def refund(self, args, now):
        return self.ledger.release_quota(args["ticket"], now=now)

    def admit(self, args, now):
        return self.ledger.begin_signup(args["address"], "u_0123456789abcdef", 24, now=now)

    def settle(self, args, now):
        return self.ledger.finish_signup(args["ticket"], "exists", now=now)

    def apply(self, args, now):
        return self.ledger.update_subscriptions(self.document(args), args["account"] or None,
                                                now=now)

    def read(self, args, now):
        return self.ledger.get_plan(args["account"], now=now)

    def clear(self, args, now):
        return self.ledger.deactivate_subscriptions(args["account"], now=now)

    def issue(self, args, now):
        return self.ledger.issue_challenge(args["purpose"], args["subject"],
                                     challenge=challenge_of(args["key"]), now=now)

    def consume(self, args, now):
        return self.ledger.consume_challenge(args["purpose"], args["subject"], used_by=args["by"],
                                   challenge=challenge_of(args["key"]), now=now)

    def bind(self, args, now):
        row = self.rows[args["key"]]
        return self.ledger.register_device_key(self.verifier.verify_attestation(
            row["attestation"], key_id=row["keyId"], client_data=row["clientData"], now=BEGIN),
            args["account"], now=now)

    def advance(self, args, now):
        row = self.rows[args["key"]]
        assertion = row["assertions"][row["counters"].index(args["counter"])]
        return self.ledger.advance_device_key_counter(self.verifier.verify_assertion(
            assertion, public_key=row["public"], counter=args["counter"] - 1,
            client_data=row["clientData"], now=BEGIN), args["account"], now=now)

    def once(self, args, now):
        return self.ledger.record_event(args["key"], attempt_id=args["attempt"], now=now)

    def link(self, args, now):
        """Repeat a merge until no row is left to move; return the first result, and whether the end
        was reached."""
        names = (args["from"], args["to"])
        first = answer = self.ledger.merge_accounts(*names, attempt_id=args["attempt"], now=now)
        for _ in range(MOST_PARTS):
            if not (answer.status == "ok" and answer.has_more):
                break
            answer = self.ledger.merge_accounts(*names, attempt_id=args["attempt"], now=now)
        if answer.status.startswith("unavailable."):
            return answer
        return Linked(first.status, first.outcome, answer.status == "ok" and not answer.has_more)

    def due(self, args, now):
        return self.ledger.resume_expired(attempt_id=args["attempt"], lease_ms=args["lease"],
                                          now=now)

    def dueLines(self, args, now):
        return self.ledger.lease_due_subscriptions(attempt_id=args["attempt"], now=now)

    # ---- grants in the transaction of the claim ----------------------------------

    def pay(self, args, now):
        return self.ledger.claim(self.document(args), args["account"], attempt_id=args["attempt"],
                                 grant_mode="transaction",
                                 grant=lambda grant: self.write(args, grant),
                                 lease_ms=args["lease"], now=now)

    def write(self, args, grant):
        """Insert the grant's row, which is possible only once."""
        gen = gen_of(grant)
        if self.is_items:
            key = {"PK": {"S": f"PAID#{args['key']}"}, "SK": {"S": str(gen)}}
            grant.connection.append({"Put": {"TableName": "assay", "Item": key,
                                             "ConditionExpression": "attribute_not_exists(PK)"}})
            return
        try:
            grant.connection.cursor().execute(
                f"INSERT INTO assay_paid (id, purchase) VALUES ('{args['key']}#{gen}',"
                f" '{args['key']}')")
        except Exception as error:
            if any(kind.__name__ == "IntegrityError" for kind in type(error).__mro__):
                raise PaymentError("ok", {"outcome": "paid-twice", "gen": gen, "fresh": False}) \
                    from error
            # The connection to the engine was lost in the transaction.
            raise PaymentError("unclear", {"status": type(error).__name__}) from error

    def paid(self, args):
        """Return the grants stored in the database."""
        if self.is_items:
            found = self.ask({"api": "Query", "input": {
                "TableName": "assay", "ConsistentRead": True,
                "KeyConditionExpression": "PK = :key",
                "ExpressionAttributeValues": {":key": {"S": f"PAID#{args['key']}"}}}})
            gens = None if found is None else [row["SK"]["S"] for row in found["output"]["Items"]]
        else:
            found = self.ask({"sql": f"SELECT id FROM assay_paid WHERE purchase = '{args['key']}'",
                              "args": [], "returnsRows": True})
            gens = None if found is None else [row[0].partition("#")[2] for row in found["rows"]]
        if gens is None:
            return "unclear", {}
        return "ok", {"outcome": "paid", "gens": sorted(map(int, gens))}

    def ask(self, call):
        """Run one statement of the host itself; return None if the database is unavailable."""
        with self.ledger.executor.session() as execute:
            answer = execute({"id": 1, "engine": self.ledger.executor.engine, "repeatable": True,
                              "connection": "any", "transaction": None, "calls": [call]})
        return answer["results"][0] if answer["code"] == 200 else None


class HostBook:
    """A book over the ledger of another language, in a process that ends with this one."""

    def __init__(self, url, stage):
        self.process = subprocess.Popen([*stage["host"], stage["file"], url], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        preexec_fn=engines.die_with_parent)

    def perform(self, op, args):
        """Have one operation run there; return its outcome and result."""
        self.process.stdin.write(json.dumps({"op": op, "args": args}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Surprise(f"{op}: the host ended with {self.process.wait()}")
        outcome, result = json.loads(line)
        return outcome, result


def challenge_of(key):
    """Derive the text of a challenge from its name."""
    digest = hashlib.sha256(key.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def grant_id(purchase_key, gen):
    """Compute the grant id of a purchase after `gen` revocations (STO-12)."""
    text = f"{purchase_key}#{gen}" if gen else purchase_key
    return hashlib.sha256(text.encode()).hexdigest()


def gen_of(claim):
    """Return the number of revocations that leads to this grant id."""
    for gen in range(MOST_GENS):
        if grant_id(claim.purchase_key, gen) == claim.grant_id:
            return gen
    raise Surprise(f"{claim.grant_id} is no grant id of {claim.purchase_key}")
