#!/usr/bin/env python3
"""Record exchanges with real engines as cases of the case table.

  record.py [--tools FOLDER] [--only ENGINE...]

Every ledger operation runs on SQLite, on moto's DynamoDB and on Redis. The replies given to the
library and the documents that it returned become a case `conversation` of
Tests/AssayCases/Recorded/. A replay needs neither engine nor clock, so that every language replays
all cases, and a changed statement, argument or result is visible in the diff of these files.

A file is tab-separated (RecordedCases.swift reads it). The first word is the kind of a row:

  verifier  name, configuration
  case      rule, name, verifier, milliseconds since 1970, request
  evidence  kind, text (base64 of the bytes); of App Attest also the key and the client data, and
            of an assertion the counter that was stored
  document  status, and of each fact its path in the member `exchange` and its value after a
            letter: t (text), i (integer), b (boolean), n (null)
  step      milliseconds since 1970, the reply to the document above
"""

import argparse
import base64
import contextlib
import json
import os
import pathlib
import sys
from unittest import mock

import engines
import evidence
import races
import stage as stages
from stage import BEGIN, COINS, DAY, PREMIUM

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = HERE.parent / "AssayCases/Recorded"
ENGINES = ("sqlite", "dynamodb", "redis")
# Longer texts are no facts: they are statements and evidence, which other tests compare.
TEXT_CAP = 100
SECOND, MINUTE = 1000, 60_000
FORGET_KEY = "k" * 43 + "="
LINEAGE = "lineage-of-the-recordings-000001"
CHALLENGE = base64.urlsafe_b64encode(bytes(32)).decode().rstrip("=")


class Recorder:
    """Writes the rows of each exchange of a ledger."""

    def __init__(self, name, authority):
        self.name, self.authority = name, authority
        self.rows, self.given, self.title = [], {}, None
        self.row("verifier", "recorded-" + name, json.dumps(configuration(authority, name)))

    def row(self, *cells):
        assert not any("\t" in cell or "\n" in cell for cell in map(str, cells)), cells
        self.rows.append("\t".join(map(str, cells)))

    def open(self, url):
        from assay.store import Ledger

        self.ledger = Ledger(url, configuration(self.authority, self.name))
        self.verifier = self.ledger.verifier
        return self.ledger

    def asks(self, rule, name, call):
        """Record one exchange as a case of this name."""
        from assay import Exchange, MisuseError, Verifier

        begin, step = Verifier.exchange, Exchange.step

        def began(verifier, request, about=(), now=None):
            about = about if isinstance(about, (list, tuple)) else [about]
            self.row("case", rule, f"{self.name}: {name}", "recorded-" + self.name, now,
                     json.dumps(request))
            for one in about:
                self.row("evidence", *self.given[id(one)][1])
            try:
                exchange = begin(verifier, request, about, now)
            except MisuseError as error:
                self.document(error.document)
                raise
            self.document(exchange.document)
            return exchange

        def stepped(exchange, answer, now=None):
            self.row("step", now, json.dumps(answer))
            document = step(exchange, answer, now)
            self.document(document)
            return document

        with mock.patch.object(Verifier, "exchange", began), \
                mock.patch.object(Exchange, "step", stepped), \
                contextlib.suppress(MisuseError):
            return call()

    def refused(self, rule, name, call):
        """Record one request that the library refuses as misuse."""
        assert self.asks(rule, name, call) is None, name

    def document(self, document):
        cells = []
        for path, value in leaves("", document.json.get("exchange", {})):
            if value is None:
                cells += [path, "n"]
            elif isinstance(value, bool):
                cells += [path, "b" + str(value).lower()]
            elif isinstance(value, int):
                cells += [path, f"i{value}"]
            elif len(value) <= TEXT_CAP:
                cells += [path, "t" + value]
        self.row("document", document.status, *cells)

    # ---- evidence -----------------------------------------------------------------

    def keep(self, found, *cells):
        self.given[id(found)] = found, cells
        return found

    def bought(self, at, product=COINS, type="consumable", signed=0, period=None, **options):
        """Mint the transaction with number `at`; `signed` delays its signing date."""
        known = str(2_000_000_100_000_000 + at)
        options = {"purchased": BEGIN - 2 * DAY, **options}
        jws = self.authority.transaction(
            product=product, type=type, transaction_id=known, original_transaction_id=known,
            signed=BEGIN - DAY + signed, **options)
        return self.keep(self.verifier.verify_transaction(jws, BEGIN), "transaction", jws)

    def line(self, at, **options):
        return self.bought(at, PREMIUM, "auto-renewable", expires=BEGIN + 30 * DAY, **options)

    def refunded(self, at, signed=MINUTE, **options):
        return self.bought(at, signed=signed, **options,
                           set={"revocationDate": BEGIN - DAY, "revocationReason": 0})

    def attested(self, key):
        return self.keep(
            self.verifier.verify_attestation(
                key["attestation"], key_id=key["keyId"], client_data=key["clientData"], now=BEGIN),
            "attestation", key["attestation"], key["keyId"], key["clientData"])

    def asserted(self, key, counter):
        text = key["assertions"][key["counters"].index(counter)]
        return self.keep(
            self.verifier.verify_assertion(
                text, public_key=key["public"], counter=counter - 1,
                client_data=key["clientData"], now=BEGIN),
            "assertion", text, key["public"], key["clientData"], counter - 1)

    def risk(self, key):
        text = self.authority.attest_receipt(refreshed=True, risk=3)
        found = self.verifier.verify_attest_receipt(text, now=BEGIN)
        return self.keep(found, "attest-receipt", text)


def leaves(path, value):
    """Yield every text, number, boolean and null below, with its dotted path."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if "." not in name:
                yield from leaves(f"{path}.{name}".removeprefix("."), inner)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from leaves(f"{path}.{place}", inner)
    else:
        yield path, value


def configuration(authority, dialect):
    stores = {"dialect": dialect, "challengeTtlMs": stages.CHALLENGE_TTL, "forgetKey": FORGET_KEY,
              "keepEvidence": dialect != "redis", "signup": {"limit": 2},
              **({"table": "assay"} if dialect == "dynamodb" else {})}
    return {**authority.config, "limits": {"free": {"text": 2}, "premium": {"text": 9, "image": 1}},
            "stores": stores}


def attempt(name):
    return f"attempt-{name}".ljust(24, "-")


# ---- recorded operations --------------------------------------------------------


def purchases(tape, ledger):
    """Record claims under a lease and in the host's transaction, and their ends."""
    coins = tape.bought(1)
    claim = {"account": "ann", "attempt": attempt("claim")}
    first = tape.asks("STO-22", "a claim", lambda: ledger.claim(coins, **claim, note="by hand"))
    tape.asks("STO-28", "the claim again by the same attempt", lambda: ledger.claim(
        coins, **claim))
    tape.asks("STO-28", "the claim by another attempt", lambda: ledger.claim(
        coins, "ann", attempt=attempt("other")))
    tape.asks("STO-22", "the claim of another account", lambda: ledger.claim(
        coins, "bob", attempt=attempt("bob")))
    key, grant_id = first.claim.purchase_key, first.claim.grant_id
    tape.asks("STO-26", "complete with an old fence", lambda: ledger.complete(
        key, "bob", grant_id, fence=1))
    for name, is_first in (("complete", True), ("complete, in the same moment", False)):
        done = tape.asks("STO-31", name, lambda: ledger.complete(key, "ann", grant_id, fence=1))
        assert done.changed is is_first, name
    tape.now += SECOND
    tape.asks("STO-26", "complete without a row", lambda: ledger.complete(
        "Sandbox/1", "ann", grant_id))
    tape.asks("STO-22", "a claim of what was granted", lambda: ledger.claim(
        coins, "ann", attempt=attempt("late")))

    both = [tape.bought(2, quantity=3), tape.line(3)]
    tape.asks("STO-23", "a claim of two", lambda: ledger.claim(
        both, "ann", attempt=attempt("both"), lease_ms=5 * SECOND, limit=2))
    tape.asks("STO-30", "resume under a lease", lambda: ledger.resume(
        "Sandbox/2000000100000002", "ann", attempt=attempt("soon")))
    tape.now += MINUTE
    tape.asks("STO-27", "what is held for a person", lambda: ledger.due(
        attempt=attempt("held"), on_unclear="hold"))
    tape.asks("STO-30", "resume", lambda: ledger.resume(
        "Sandbox/2000000100000002", "ann", attempt=attempt("resume"), resolve="again",
        note="was not there"))
    tape.now += MINUTE
    tape.asks("STO-30", "due claims", lambda: ledger.due(attempt=attempt("due"), older_ms=SECOND))
    tape.asks("STO-30", "no due claims", lambda: ledger.due(attempt=attempt("none")))

    paid = tape.bought(4)
    for name, account in (("a claim", "ann"), ("the claim again", "ann"), ("a stranger", "bob")):
        tape.asks("STO-21", f"in the transaction: {name}", lambda who=account: ledger.claim(
            paid, who, attempt=attempt(who), mode="transaction", grant=lambda _: None))
    lost = tape.bought(5)
    tape.asks("STO-32", "in the transaction: a grant that is refused", lambda: ledger.claim(
        lost, "ann", attempt=attempt("refused"), mode="transaction", grant=lambda _: False))
    wrong = {"on_unclear": "maybe", "resolve": "again"}
    tape.refused("EXC-1", "a claim with a wrong word beside another", lambda: ledger.claim(
        lost, "ann", attempt=attempt("word"), **wrong))
    tape.refused("EXC-1", "resume with a wrong word beside another", lambda: ledger.resume(
        key, "ann", attempt=attempt("word"), **wrong))
    tape.asks("STO-24", "a claim of an unknown product", lambda: ledger.claim(
        tape.bought(6, "com.example.app.gone"), "ann", attempt=attempt("gone")))


def refunds(tape, ledger):
    """Record refunds that are reported, taken back under a lease, and reversed, and queries of
    them."""
    for at, name in ((1, "of what was granted"), (2, "of what was claimed"), (7, "of nothing")):
        told = tape.refunded(at)
        for again in ("", ", again"):
            tape.asks("STO-34", f"a refund {name}{again}", lambda text=told: ledger.revoke(text))
    takes = tape.asks("STO-35", "a refund that is taken back", lambda: ledger.revoke(
        tape.refunded(4), mode="lease", attempt=attempt("take"))).take
    tape.now += 2 * MINUTE
    due = tape.asks("STO-35", "due takes", lambda: ledger.due_takes(attempt=attempt("takes")))
    assert [take.take_id for take in due.take] == [take.take_id for take in takes]
    taken = due.take[0]
    for name, fence in (("an old fence", 1), ("the fence", taken.fence), ("it again", taken.fence)):
        tape.asks("STO-35", f"a take is complete, with {name}", lambda said=fence:
                  ledger.complete_revoke(taken.purchase_key, taken.take_id, said, taken=1))
        tape.now += SECOND
    tape.asks("STO-33", "an event: of a text before the refund", lambda: ledger.apply_event(
        tape.bought(1), attempt=attempt("old")))
    back = tape.bought(4, signed=3 * MINUTE)
    tape.asks("STO-34", "an event: a refund is reversed", lambda: ledger.apply_event(
        back, mode="lease", attempt=attempt("event")))
    tape.asks("STO-34", "an event: of a line", lambda: ledger.apply_event(
        tape.line(3, signed=MINUTE), attempt=attempt("renewed")))
    tape.asks("STO-11", "lookup by evidence", lambda: ledger.lookup(
        "ann", evidence=tape.bought(1)))
    tape.asks("STO-11", "lookup by transaction, for an operator", lambda: ledger.lookup(
        environment="Sandbox", transaction_id="2000000100000004", operator=True))
    tape.asks("STO-11", "lookup of nothing", lambda: ledger.lookup(
        environment="Sandbox", transaction_id="1"))
    tape.asks("STO-11", "lookup by account", lambda: ledger.lookup("ann"))
    tape.refused("EXC-1", "lookup by evidence and by transaction", lambda: ledger.lookup(
        evidence=tape.bought(1), environment="Sandbox", transaction_id="1"))
    tape.refused("EXC-1", "lookup in an environment, of nothing", lambda: ledger.lookup(
        "ann", environment="Sandbox"))


def subscriptions(tape, ledger):
    """Record subscriptions: updated, transferred, read, deactivated, due."""
    month = tape.line(10)
    tape.asks("STO-42", "apply", lambda: ledger.apply(month, "ann"))
    tape.asks("STO-42", "apply again", lambda: ledger.apply(month, "ann"))
    tape.asks("STO-42", "apply for another account", lambda: ledger.apply(month, "bob"))
    tape.asks("STO-42", "apply, confirmed by another account", lambda: ledger.apply(
        tape.line(10, signed=MINUTE), "bob", confirm=True))
    tape.asks("STO-41", "apply a refund of Apple's", lambda: ledger.apply(
        tape.line(10, signed=2 * MINUTE, set={"revocationDate": BEGIN - DAY})))
    tape.asks("STO-40", "apply an unlock", lambda: ledger.apply(
        tape.bought(11, "com.example.app.lifetime", "non-consumable"), "ann"))
    read = tape.asks("STO-45", "read", lambda: ledger.read("ann"))
    tape.asks("STO-45", "read of nobody, with a last answer", lambda: ledger.read(
        "eve", last=read))
    tape.asks("STO-46", "clear", lambda: ledger.clear("ann"))
    tape.now += 40 * DAY
    for name in ("due lines", "no due lines"):
        tape.asks("STO-48", name, lambda word=name: ledger.due_lines(
            attempt=attempt(word.replace(" ", "-"))))


def meters(tape, ledger):
    """Record quotas, rate permits for calls to Apple, and sign-ups."""
    take = tape.asks("STO-52", "take", lambda: ledger.take("ann", "text", "free", 2))
    tape.asks("STO-51", "take of nothing left", lambda: ledger.take("ann", "text", "free"))
    tape.asks("STO-51", "take of what the plan has not", lambda: ledger.take(
        "ann", "image", "free"))
    tape.asks("STO-50", "take of no meter", lambda: ledger.take("ann", "gold", "free"))
    for name in ("refund", "refund again"):
        tape.asks("STO-53", name, lambda: ledger.refund(take.ticket))
    for name in ("a permit", "another permit"):
        tape.asks("STO-66", name, lambda: ledger.pace("appstore.order-lookup", "Production"))
    client = ("192.0.2.1", "u_0123456789abcdef", 24)
    admitted = [tape.asks("STO-56", name, lambda: ledger.admit(*client))
                for name in ("a sign-up", "a second sign-up", "no third sign-up")]
    for name in ("settle", "settle again"):
        tape.asks("STO-57", name, lambda: ledger.settle(admitted[1].ticket, "exists"))


def challenges(tape, ledger):
    issue = {"purpose": "attest", "subject": "ann", "challenge": CHALLENGE}
    for name in ("issue a challenge", "issue it again"):
        tape.asks("STO-60", name, lambda: ledger.challenge(**issue))
    tape.asks("STO-61", "a challenge for another purpose", lambda: ledger.consume(
        "assert", "ann", challenge=CHALLENGE, by="phone"))
    for name, who in (("a challenge", "phone"), ("it again", "phone"), ("by another", "tablet")):
        tape.asks("STO-61", f"use: {name}", lambda by=who: ledger.consume(
            "attest", "ann", challenge=CHALLENGE, by=by))
    tape.asks("STO-61", "use: what nobody issued", lambda: ledger.consume(
        "attest", "ann", challenge=CHALLENGE[::-1], by="phone"))
    for name, who in (("once", "first"), ("once again", "first"), ("a second time", "second")):
        tape.asks("STO-65", name, lambda by=who: ledger.once("NOTE#1", attempt=attempt(by)))


def keys(tape, ledger):
    """Record device keys, from their attestation to their retirement."""
    key = evidence.device(tape.authority, 1)
    attestation = tape.attested(key)
    tape.asks("STO-64", "a key that nobody bound", lambda: ledger.key(key["keyId"]))
    for name, outcome in (("bind a key", "bound"), ("bind it in the same moment", "already")):
        bound = tape.asks("STO-31", name, lambda: ledger.bind(attestation, "ann"))
        assert bound.outcome == outcome, name
    tape.now += SECOND
    tape.asks("STO-62", "bind it for another account", lambda: ledger.bind(attestation, "bob"))
    tape.asks("STO-61", "use: an attestation that signed no challenge", lambda: ledger.consume(
        "attest", "ann", evidence=attestation))
    for name in ("an assertion", "the assertion again"):
        tape.asks("STO-63", name, lambda: ledger.advance(tape.asserted(key, 1), "ann"))
    tape.asks("STO-63", "an assertion for another account", lambda: ledger.advance(
        tape.asserted(key, 2), "bob"))
    receipt = tape.risk(key)
    for name in ("a receipt of a key", "the receipt again"):
        tape.asks("STO-64", name, lambda: ledger.keep_receipt(receipt))
    tape.asks("STO-64", "a key", lambda: ledger.key(key["keyId"], "ann"))
    for name, outcome in (("retire a key", "retired"), ("retire it in the same moment", "already")):
        gone = tape.asks("STO-31", name, lambda: ledger.retire(key["keyId"], "ann"))
        assert gone.outcome == outcome, name
    tape.asks("STO-63", "an assertion of a retired key", lambda: ledger.advance(
        tape.asserted(key, 3), "ann"))


def accounts(tape, ledger):
    """Record accounts that are merged and forgotten, and stored evidence."""
    ledger.claim(tape.bought(20), "guest", attempt=attempt("guest"))
    ledger.take("guest", "text", "free")
    for name, into in (("link", "ann"), ("link again", "ann"), ("link to another", "bob")):
        joined = tape.asks("STO-91", name, lambda to=into: ledger.link(
            "guest", to, attempt=attempt(f"link-{to}"), reason="signed in"))
    assert joined.outcome == "other-account"
    tape.asks("STO-68", "kept texts of a purchase", lambda: ledger.evidence(
        purchase_key="Sandbox/2000000100000020"))
    tape.asks("STO-68", "kept texts of a line", lambda: ledger.evidence(
        environment="Sandbox", original_transaction_id="2000000100000010"))
    tape.refused("EXC-1", "kept texts of a purchase and of a line", lambda: ledger.evidence(
        purchase_key="Sandbox/1", environment="Sandbox", original_transaction_id="1"))
    tape.refused("EXC-1", "kept texts of a digest and of a purchase", lambda: ledger.evidence(
        ["0" * 64], purchase_key="Sandbox/1"))
    tape.asks("STO-68", "a text that was not kept", lambda: ledger.evidence(["0" * 64]))
    for name in ("forget", "forget again"):
        tape.asks("STO-93", name, lambda: ledger.forget("ann", attempt=attempt("forget")))


def schema(tape, ledger):
    from assay.store import ledger as opened

    with mock.patch.object(opened, "new_lineage", lambda: LINEAGE):
        for name in ("no tables", "tables that are there"):
            tape.asks("STO-78", f"create: {name}", ledger.create_schema)
    tape.asks("STM-8", "check", ledger.check_schema)


KINDS = {
    "sqlite": (schema, keys, challenges, meters, purchases, refunds, subscriptions, accounts),
    "redis": (schema, challenges, meters),
}
KINDS["dynamodb"] = KINDS["sqlite"]


def record(name, url, authority):
    """Return the rows of every exchange with this engine."""
    tape = Recorder(name, authority)
    tape.now = BEGIN
    ledger = tape.open(url)
    ledger._clock = lambda: tape.now / 1000

    for ask in KINDS[name]:
        ask(tape, ledger)
    ledger.close()
    return tape.rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--tools", type=pathlib.Path, default=races.python_tools.TOOLS)
    options = parser.parse_args()
    without = races.tools_or_reason(options.tools)
    from assay_testing import Authority

    authority = Authority(now=BEGIN)
    with engines.scratch(options.tools.resolve() / "bin") as place:
        for name in options.only:
            engine = place.engine(name)
            if why := races.unavailable(engine, without):
                print(f"skipped: {name}: {why}")
                continue
            engine.start()
            os.environ.update(engine.environment)
            rows = record(name, engine.url, authority)
            (RECORDED / f"{name}.tsv").write_text("\n".join(rows) + "\n")
            print(f"{name}: {sum(row.startswith('case') for row in rows)} conversations, "
                  f"{len(rows):,} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
