#!/usr/bin/env python3
"""Record exchanges with real engines as cases of the case table.

  record.py [--only ENGINE...]

Every ledger operation runs on SQLite, on moto's DynamoDB and on Redis. The replies given to the
library and the documents that it returned become a case `transcript` of
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
import dataclasses
import functools
import json
import os
import pathlib
import sqlite3
import sys
import uuid
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
SECOND, MINUTE, HOUR = 1000, 60_000, 3_600_000
FORGET_KEY = "k" * 43 + "="
CUSTOMER_KEY = "c" * 43 + "="
LINEAGE = "lineage-of-the-recordings-000001"
CHALLENGE = base64.urlsafe_b64encode(bytes(32)).decode().rstrip("=")


class Recorder:
    """Writes the rows of each exchange of a ledger."""

    def __init__(self, name, url, authority):
        self.name, self.url, self.authority, self.now = name, url, authority, BEGIN
        self.rows, self.given, self.ledgers = [], {}, {}

    def row(self, *cells):
        assert not any("\t" in cell or "\n" in cell for cell in map(str, cells)), cells
        self.rows.append("\t".join(map(str, cells)))

    def open(self, name="", url=None, **more):
        """Return a ledger of this database, or of another, whose configuration has these further
        members."""
        from assay.ledger import Ledger

        name = f"recorded-{self.name}-{name}".rstrip("-")
        configured = configuration(self.authority, self.name, **more)
        self.row("verifier", name, json.dumps(configured))
        ledger = Ledger(url or self.url, configured)
        ledger._clock = lambda: self.now / 1000
        self.ledgers[ledger.verifier] = name, ledger
        return ledger

    @property
    def verifier(self):
        """The verifier of the first ledger."""
        return next(iter(self.ledgers))

    def close(self):
        for _, ledger in self.ledgers.values():
            ledger.close()

    def asks(self, rule, name, call):
        """Record one exchange as a case of this name."""
        from assay import Exchange, MisuseError, Verifier

        begin, step = Verifier.exchange, Exchange.step
        begun = []

        def began(verifier, request, about=(), now=None):
            about = about if isinstance(about, (list, tuple)) else [about]
            # A call that grants makes further exchanges.
            label = f"{name}: {request['operation']}" if begun else name
            begun.append(label)
            self.row("case", rule, f"{self.name}: {label}", self.ledgers[verifier][0], now,
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
            try:
                document = step(exchange, answer, now)
            except MisuseError as error:
                self.document(error.document)
                raise
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

    def refunded(self, at, signed=MINUTE, percentage=None, **options):
        """Mint a refund; `percentage` of a partial one is in thousandths of a percent."""
        part = {} if percentage is None else {"revocationPercentage": percentage}
        return self.bought(at, signed=signed, **options,
                           set={"revocationDate": BEGIN - DAY, "revocationReason": 0, **part})

    def told(self, at, type, ago=HOUR, number=0, product=COINS, kind="consumable", members=None,
             remove=None, **options):
        """Mint a notification about the transaction with number `at`, signed `ago`, which has these
        further `members` and lacks those of `remove`; `number` distinguishes notifications of one
        type."""
        known, signed = str(2_000_000_100_000_000 + at), self.now - ago
        common = {"product": product, "type": kind, "transaction_id": known, "signed": signed,
                  "original_transaction_id": known, "purchased": BEGIN - 2 * DAY,
                  "now": self.now, **options}
        nested = {}
        if members or remove:
            nested["data.signedTransactionInfo"] = self.authority.transaction(
                **common, set=members or {}, remove=remove)
        jws = self.authority.mint("notification", notification_type=type, **common, set={
            "notificationUUID": str(uuid.UUID(int=at * 1000 + number)), **nested}).decode().strip()
        return self.keep(
            self.verifier.verify_notification(jws, now=self.now), "notification", jws)

    def attested(self, key):
        return self.keep(
            self.verifier.verify_attestation(
                key["attestation"], key_id=key["keyId"], client_data=key["clientData"], now=BEGIN),
            "attestation", key["attestation"], key["keyId"], key["clientData"])

    def app(self, download):
        """Mint an app transaction of this download."""
        jws = self.authority.app_transaction(
            signed=BEGIN - DAY, set={"appTransactionId": download})
        return self.keep(
            self.verifier.verify_app_transaction(jws, BEGIN), "app-transaction", jws)

    def notified(self, type, at):
        jws = self.authority.notification(type, signed=at)
        return self.keep(self.verifier.verify_notification(jws, self.now), "notification", jws)

    def asserted(self, key, counter):
        text = key["assertions"][key["counters"].index(counter)]
        return self.keep(
            self.verifier.verify_assertion(
                text, public_key=key["public"], counter=counter - 1,
                client_data=key["clientData"], now=BEGIN),
            "assertion", text, key["public"], key["clientData"], counter - 1)

    def risk(self, at=BEGIN):
        text = self.authority.attest_receipt(refreshed=True, risk=3, now=at)
        found = self.verifier.verify_attest_receipt(text, now=at)
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


def configuration(authority, engine, ledger=(), **more):
    block = {"engine": engine, "challengeTtlMs": stages.CHALLENGE_TTL, "forgetKey": FORGET_KEY,
             "keepEvidence": engine != "redis", "signup": {"limit": 2},
             **({"table": "assay"} if engine == "dynamodb" else {}), **dict(ledger)}
    return {**authority.config, "quotas": {"free": {"text": 2}, "premium": {"text": 9, "image": 1}},
            "ledger": block, **more}


def attempt(name):
    return f"attempt-{name}".ljust(24, "-")


# ---- recorded operations --------------------------------------------------------


def purchases(tape, ledger):
    """Record claims under a lease and in the host's transaction, and their ends."""
    coins = tape.bought(1)
    claim = {"account": "ann", "attempt_id": attempt("claim")}
    first = tape.asks("STO-22", "a claim", lambda: ledger.claim(coins, **claim, note="by hand"))
    tape.asks("STO-28", "the claim again by the same attempt", lambda: ledger.claim(
        coins, **claim))
    tape.asks("STO-28", "the claim by another attempt", lambda: ledger.claim(
        coins, "ann", attempt_id=attempt("other")))
    tape.asks("STO-22", "the claim of another account", lambda: ledger.claim(
        coins, "bob", attempt_id=attempt("bob")))
    key, grant_id = first.claim.purchase_key, first.claim.grant_id
    tape.asks("STO-26", "complete with an old fence", lambda: ledger.complete(
        key, "bob", grant_id, fencing_token=1))
    for name, is_first in (("complete", True), ("complete, in the same moment", False)):
        done = tape.asks("STO-31", name, lambda: ledger.complete(
            key, "ann", grant_id, fencing_token=1))
        assert done.changed is is_first, name
    tape.now += SECOND
    tape.asks("STO-26", "complete without a row", lambda: ledger.complete(
        "Sandbox/1", "ann", grant_id))
    tape.asks("STO-22", "a claim of what was granted", lambda: ledger.claim(
        coins, "ann", attempt_id=attempt("late")))

    both = [tape.bought(2, quantity=3), tape.line(3)]
    tape.asks("STO-23", "a claim of two", lambda: ledger.claim(
        both, "ann", attempt_id=attempt("both"), lease_ms=5 * SECOND, max_purchases=2))
    tape.asks("STO-30", "resume under a lease", lambda: ledger.resume(
        "Sandbox/2000000100000002", "ann", attempt_id=attempt("soon")))
    tape.now += MINUTE
    tape.asks("STO-27", "what is held for a person", lambda: ledger.resume_expired(
        attempt_id=attempt("held"), on_expired_lease="hold"))
    tape.asks("STO-30", "resume", lambda: ledger.resume(
        "Sandbox/2000000100000002", "ann", attempt_id=attempt("resume"), resolution="not-granted",
        note="was not there"))
    tape.now += MINUTE
    tape.asks("STO-30", "due claims", lambda: ledger.resume_expired(
        attempt_id=attempt("due"), min_expired_ms=SECOND))
    tape.asks("STO-30", "no due claims", lambda: ledger.resume_expired(attempt_id=attempt("none")))

    paid = tape.bought(4)
    for name, account in (("a claim", "ann"), ("the claim again", "ann"), ("a stranger", "bob")):
        tape.asks("STO-21", f"in the transaction: {name}", lambda who=account: ledger.claim(
            paid, who, attempt_id=attempt(who), grant_mode="transaction", grant=lambda _: None))
    lost = tape.bought(5)
    tape.asks("STO-32", "in the transaction: a grant that is refused", lambda: ledger.claim(
        lost, "ann", attempt_id=attempt("refused"), grant_mode="transaction",
        grant=lambda _: False))
    wrong = {"on_expired_lease": "maybe", "resolution": "not-granted"}
    tape.refused("EXC-1", "a claim with a wrong word beside another", lambda: ledger.claim(
        lost, "ann", attempt_id=attempt("word"), **wrong))
    tape.refused("EXC-1", "resume with a wrong word beside another", lambda: ledger.resume(
        key, "ann", attempt_id=attempt("word"), **wrong))
    tape.asks("STO-24", "a claim of an unknown product", lambda: ledger.claim(
        tape.bought(6, "com.example.app.gone"), "ann", attempt_id=attempt("gone")))


def refunds(tape, ledger):
    """Record refunds that are reported, taken back under a lease, and reversed, and queries of
    them."""
    for at, name in ((1, "of what was granted"), (2, "of what was claimed"), (7, "of nothing")):
        told = tape.refunded(at)
        for again in ("", ", again"):
            tape.asks("STO-34", f"a refund {name}{again}", lambda text=told: ledger.revoke(text))
    takes = tape.asks("STO-35", "a refund that is taken back", lambda: ledger.revoke(
        tape.refunded(4), grant_mode="lease", attempt_id=attempt("take"))).take
    tape.now += 2 * MINUTE
    due = tape.asks("STO-35", "due takes",
                    lambda: ledger.resume_expired_revocations(attempt_id=attempt("takes")))
    assert [take.take_id for take in due.take] == [take.take_id for take in takes]
    taken = due.take[0]
    newest = taken.fencing_token
    for name, fence in (("an old fence", 1), ("the fence", newest), ("it again", newest)):
        tape.asks("STO-35", f"a take is complete, with {name}", lambda said=fence:
                  ledger.complete_revocation(taken.purchase_key, taken.take_id, said, taken=1))
        tape.now += SECOND
    tape.asks("STO-33", "an event: of a text before the refund", lambda: ledger.apply_event(
        tape.bought(1), attempt_id=attempt("old")))
    back = tape.bought(4, signed=3 * MINUTE)
    tape.asks("STO-34", "an event: a refund is reversed", lambda: ledger.apply_event(
        back, grant_mode="lease", attempt_id=attempt("event")))
    tape.asks("STO-34", "an event: of a line", lambda: ledger.apply_event(
        tape.line(3, signed=MINUTE), attempt_id=attempt("renewed")))
    tape.asks("STO-11", "lookup by evidence", lambda: ledger.find(
        "ann", evidence=tape.bought(1)))
    tape.asks("STO-11", "lookup by transaction, for an operator", lambda: ledger.find(
        environment="Sandbox", transaction_id="2000000100000004", operator_view=True))
    tape.asks("STO-11", "lookup of nothing", lambda: ledger.find(
        environment="Sandbox", transaction_id="1"))
    tape.asks("STO-11", "lookup by account", lambda: ledger.find("ann"))
    tape.refused("EXC-1", "lookup by evidence and by transaction", lambda: ledger.find(
        evidence=tape.bought(1), environment="Sandbox", transaction_id="1"))
    tape.refused("EXC-1", "lookup in an environment, of nothing", lambda: ledger.find(
        "ann", environment="Sandbox"))


def subscriptions(tape, ledger):
    """Record subscriptions: updated, transferred, read, deactivated, due."""
    month = tape.line(10)
    tape.asks("STO-42", "apply", lambda: ledger.update_subscriptions(month, "ann"))
    tape.asks("STO-42", "apply again", lambda: ledger.update_subscriptions(month, "ann"))
    tape.asks("STO-42", "apply for another account",
              lambda: ledger.update_subscriptions(month, "bob"))
    tape.asks("STO-42", "apply, confirmed by another account", lambda: ledger.update_subscriptions(
        tape.line(10, signed=MINUTE), "bob", confirm_transfer=True))
    tape.asks("STO-41", "apply a refund of Apple's", lambda: ledger.update_subscriptions(
        tape.line(10, signed=2 * MINUTE, set={"revocationDate": BEGIN - DAY})))
    tape.asks("STO-40", "apply an unlock", lambda: ledger.update_subscriptions(
        tape.bought(11, "com.example.app.lifetime", "non-consumable"), "ann"))
    read = tape.asks("STO-45", "read", lambda: ledger.get_plan("ann"))
    tape.asks("STO-45", "read of nobody, with a last answer", lambda: ledger.get_plan(
        "eve", cached_plan=read))
    tape.asks("STO-46", "clear", lambda: ledger.deactivate_subscriptions("ann"))
    tape.now += 40 * DAY
    for name in ("due lines", "no due lines"):
        tape.asks("STO-48", name, lambda word=name: ledger.lease_due_subscriptions(
            attempt_id=attempt(word.replace(" ", "-"))))


def meters(tape, ledger):
    """Record quotas, rate permits for calls to Apple, and sign-ups."""
    take = tape.asks("STO-52", "take", lambda: ledger.consume_quota("ann", "text", "free", 2))
    tape.asks("STO-51", "take of nothing left", lambda: ledger.consume_quota("ann", "text", "free"))
    tape.asks("STO-51", "take of what the plan has not", lambda: ledger.consume_quota(
        "ann", "image", "free"))
    tape.asks("STO-50", "take of no meter", lambda: ledger.consume_quota("ann", "gold", "free"))
    for name in ("refund", "refund again"):
        tape.asks("STO-53", name, lambda: ledger.release_quota(take.ticket))
    for name in ("a permit", "another permit"):
        tape.asks("STO-66", name,
                  lambda: ledger.acquire_rate_permit("look-up-order-id", "Production"))
    client = ("192.0.2.1", "u_0123456789abcdef", 24)
    admitted = [tape.asks("STO-56", name, lambda: ledger.begin_signup(*client))
                for name in ("a sign-up", "a second sign-up", "no third sign-up")]
    for name in ("settle", "settle again"):
        tape.asks("STO-57", name, lambda: ledger.finish_signup(admitted[1].ticket, "exists"))


def challenges(tape, ledger):
    issue = {"purpose": "attest", "subject": "ann", "challenge": CHALLENGE}
    for name in ("issue a challenge", "issue it again"):
        tape.asks("STO-60", name, lambda: ledger.issue_challenge(**issue))
    tape.asks("STO-61", "a challenge for another purpose", lambda: ledger.consume_challenge(
        "assert", "ann", challenge=CHALLENGE, used_by="phone"))
    for name, who in (("a challenge", "phone"), ("it again", "phone"), ("by another", "tablet")):
        tape.asks("STO-61", f"use: {name}", lambda by=who: ledger.consume_challenge(
            "attest", "ann", challenge=CHALLENGE, used_by=by))
    tape.asks("STO-61", "use: what nobody issued", lambda: ledger.consume_challenge(
        "attest", "ann", challenge=CHALLENGE[::-1], used_by="phone"))
    for name, who in (("once", "first"), ("once again", "first"), ("a second time", "second")):
        tape.asks("STO-65", name,
                  lambda by=who: ledger.record_event("NOTE#1", attempt_id=attempt(by)))


def keys(tape, ledger):
    """Record device keys, from their attestation to their retirement."""
    key = evidence.device(tape.authority, 1)
    attestation = tape.attested(key)
    tape.asks("STO-64", "a key that nobody bound", lambda: ledger.get_device_key(key["keyId"]))
    for name, outcome in (("bind a key", "registered"), ("bind it in the same moment", "already")):
        bound = tape.asks("STO-31", name, lambda: ledger.register_device_key(attestation, "ann"))
        assert bound.outcome == outcome, name
    tape.now += SECOND
    tape.asks("STO-62", "bind it for another account",
              lambda: ledger.register_device_key(attestation, "bob"))
    tape.asks("STO-61", "use: an attestation that signed no challenge",
              lambda: ledger.consume_challenge(
        "attest", "ann", evidence=attestation))
    for name in ("an assertion", "the assertion again"):
        tape.asks("STO-63", name,
                  lambda: ledger.advance_device_key_counter(tape.asserted(key, 1), "ann"))
    tape.asks("STO-63", "an assertion for another account",
              lambda: ledger.advance_device_key_counter(
        tape.asserted(key, 2), "bob"))
    receipt = tape.risk()
    for name in ("a receipt of a key", "the receipt again"):
        tape.asks("STO-64", name, lambda: ledger.update_device_key_receipt(receipt))
    tape.asks("STO-64", "a key", lambda: ledger.get_device_key(key["keyId"], "ann"))
    for name, outcome in (("retire a key", "retired"), ("retire it in the same moment", "already")):
        gone = tape.asks("STO-31", name, lambda: ledger.retire_device_key(key["keyId"], "ann"))
        assert gone.outcome == outcome, name
    tape.asks("STO-63", "an assertion of a retired key", lambda: ledger.advance_device_key_counter(
        tape.asserted(key, 3), "ann"))


def accounts(tape, ledger):
    """Record accounts that are merged and forgotten, and stored evidence."""
    ledger.claim(tape.bought(20), "guest", attempt_id=attempt("guest"))
    ledger.consume_quota("guest", "text", "free")
    for name, into in (("link", "ann"), ("link again", "ann"), ("link to another", "bob")):
        joined = tape.asks("STO-91", name, lambda to=into: ledger.merge_accounts(
            "guest", to, attempt_id=attempt(f"link-{to}"), reason="signed in"))
    assert joined.outcome == "other-account"
    tape.asks("STO-68", "kept texts of a purchase", lambda: ledger.get_evidence(
        purchase_key="Sandbox/2000000100000020"))
    tape.asks("STO-68", "kept texts of a line", lambda: ledger.get_evidence(
        environment="Sandbox", original_transaction_id="2000000100000010"))
    tape.refused("EXC-1", "kept texts of a purchase and of a line", lambda: ledger.get_evidence(
        purchase_key="Sandbox/1", environment="Sandbox", original_transaction_id="1"))
    tape.refused("EXC-1", "kept texts of a digest and of a purchase", lambda: ledger.get_evidence(
        ["0" * 64], purchase_key="Sandbox/1"))
    tape.asks("STO-68", "a text that was not kept", lambda: ledger.get_evidence(["0" * 64]))
    for name in ("forget", "forget again"):
        tape.asks("STO-93", name,
                  lambda: ledger.forget_account("ann", attempt_id=attempt("forget")))


def customers(tape, keyless):
    """Record the index of customers: what is joined, found, restricted, lifted and forgotten."""
    told = tape.notified("RESCIND_CONSENT", tape.now)
    for name, call in (
            ("record", lambda: keyless.record_customer(tape.app("7001"), "sam")),
            ("find", lambda: keyless.find_customer(account="sam")),
            ("restrict", lambda: keyless.restrict_customer(
                account="sam", reason="fraud", attempt_id=attempt("keyless"))),
            ("lift", lambda: keyless.lift_restriction(
                "sam", "fraud", "a note", attempt_id=attempt("keyless"))),
            ("signals", lambda: keyless.get_customer_signals("sam")),
            ("forget", lambda: keyless.forget_customer(told, attempt_id=attempt("keyless")))):
        found = tape.asks("CUS-1", f"{name} without a key", call)
        assert found.status == "config.ledger.customer-key", found
    tape.asks("CUS-1", "an event without a key", lambda: keyless.apply_event(
        told, attempt_id=attempt("keyless")))
    ledger = tape.open("customers", ledger={"customerKey": CUSTOMER_KEY})
    child, token = "704000000000000001", "6a2a3bd5-6ad4-4b6f-9c8b-2c4f2f6c7d10"
    bought = tape.bought(140, set={"appAccountToken": token})
    for name in ("a claim joins", "a claim is fresh"):
        tape.asks("CUS-4", name, lambda: ledger.claim(
            bought, "kim", attempt_id=attempt("customer")))
    tape.asks("CUS-4", "apply joins", lambda: ledger.update_subscriptions(tape.line(141), "kim"))
    tape.now += 2 * HOUR
    for name, shown in (("a download", tape.app(child)), ("another download", tape.app("7001"))):
        tape.asks("CUS-7", name, lambda text=shown: ledger.record_customer(text, "sam"))
    tape.refused("CUS-7", "a transaction", lambda: ledger.record_customer(bought, "sam"))
    other = tape.notified("SUBSCRIBED", tape.now)
    sandbox = {"environment": "Sandbox"}
    for name, question in (
            ("by an account", {"account": "kim"}), ("by evidence", {"evidence": bought}),
            ("by a subscription", {"evidence": tape.line(141), "account": "kim"}),
            ("by a notification", {"evidence": told}),
            ("by a download", {**sandbox, "app_transaction_id": "7001", "account": "kim"}),
            ("by a token", {"app_account_token": token}),
            ("by a transaction", {**sandbox, "transaction_id": bought.transaction_id})):
        tape.asks("CUS-30", f"find {name}", lambda by=question: ledger.find_customer(
            **by, operator_view=True))
    tape.asks("CUS-30", "find for no operator", lambda: ledger.find_customer(
        evidence=bought, account="eve"))
    for name, question in (
            ("nothing", {}), ("an environment", sandbox),
            ("a download without environment", {"app_transaction_id": child}),
            ("a token in an environment", {**sandbox, "app_account_token": token}),
            ("evidence and a transaction", {"evidence": bought, "transaction_id": "1"})):
        tape.refused("EXC-1", f"find by {name}", lambda by=question: ledger.find_customer(**by))
    tape.asks("CUS-22", "a plan", lambda: ledger.get_plan("kim"))
    tape.asks("CUS-40", "signals", lambda: ledger.get_customer_signals("kim"))

    for name in ("consent is withdrawn", "consent is withdrawn, again"):
        tape.asks("CUS-20", name, lambda: ledger.apply_event(told, attempt_id=attempt("consent")))
    plan = tape.asks("CUS-22", "a plan of a restricted account", lambda: ledger.get_plan("kim"))
    assert (plan.status, plan.plan) == ("rejected.account.restricted", "free")
    tape.asks("CUS-21", "a claim at a rescinded download", lambda: ledger.claim(
        tape.bought(142), "kim-2", attempt_id=attempt("late")))
    tape.asks("CUS-22", "apply for a restricted account", lambda: ledger.update_subscriptions(
        tape.line(141, signed=MINUTE), "kim"))
    tape.asks("CUS-22", "clear of a restricted account",
              lambda: ledger.deactivate_subscriptions("kim-2"))
    for name in ("a person restricts", "a person restricts, again"):
        tape.asks("CUS-23", name, lambda: ledger.restrict_customer(
            account="kim", reason="fraud", note="chargeback", attempt_id=attempt("fraud")))
        tape.now += SECOND
    tape.asks("CUS-20", "restrict by a notification", lambda: ledger.restrict_customer(
        evidence=told, attempt_id=attempt("restrict")))
    tape.refused("CUS-20", "restrict by another notification", lambda: ledger.restrict_customer(
        evidence=other, attempt_id=attempt("restrict")))
    tape.refused("EXC-1", "restrict by a notification and an account",
                 lambda: ledger.restrict_customer(
                     evidence=told, account="kim", attempt_id=attempt("restrict")))
    for name, reason in (("what is not there", "legal"), ("consent", "consent"),
                         ("the other reason", "fraud")):
        tape.asks("CUS-23", f"lift {name}", lambda why=reason: ledger.lift_restriction(
            "kim", why, "asked the parent", attempt_id=attempt(why)))
    tape.asks("CUS-20", "consent was given again since", lambda: ledger.apply_event(
        told, attempt_id=attempt("old")))

    tape.asks("CUS-22", "link with customers", lambda: ledger.merge_accounts(
        "kim-2", "sam", attempt_id=attempt("link-kim")))
    tape.now += HOUR
    newer = tape.notified("RESCIND_CONSENT", tape.now)
    tape.refused("CUS-20", "forget by another notification", lambda: ledger.forget_customer(
        other, attempt_id=attempt("gone")))
    for name in ("forget a customer", "forget a customer, again"):
        tape.asks("CUS-24", name, lambda: ledger.forget_customer(
            newer, attempt_id=attempt("gone")))
    tape.asks("CUS-30", "find nobody", lambda: ledger.find_customer(
        **sandbox, app_transaction_id=child, operator_view=True))


def differences(tape, ledger):
    tape.asks("RCN-42", "no differences", ledger.list_differences)
    tape.asks("RCN-42", "no differences of a kind", lambda: ledger.list_differences(
        environment="Sandbox", kind="paid-not-granted", state="closed",
        after="1760000000000-" + "0" * 64))
    tape.asks("RCN-42", "close what is no difference", lambda: ledger.close_difference(
        "0" * 64, "asked the customer"))


def refund_answers(tape, ledger):
    """Record Apple's questions about refunds: asked, answered, decided, reported."""

    ledger = tape.open("answers", refunds={"mode": "answer"})
    verifier, who = ledger.verifier, "gus"
    for at in (60, 61):
        ledger.claim(tape.bought(at, quantity=4), who, attempt_id=attempt(f"{at}"),
                     grant=lambda _: None)
    ledger.update_subscriptions(tape.line(62), who)
    begun, many = tape.now, {"quantity": 4}
    month = {"product": PREMIUM, "kind": "auto-renewable", "expires": BEGIN + 30 * DAY}

    def asks(rule, name, call):
        return tape.asks(rule, f"refund answers: {name}", call)

    def opens(name, at, number=0, **options):
        told = tape.told(at, "CONSUMPTION_REQUEST", number=number, **options)
        return asks("RFA-1", name, lambda: ledger.open_refund(told)).refund

    def assess(case, percentage=None, consent=True, now=None):
        given = {"consent": {"isGiven": True, "answeredAtMs": begun}} if consent else {}
        if percentage is not None:
            given["usage"] = {"percentage": percentage}
        return verifier.assess_refund(case.purchase, given, now=now or tape.now)

    def settle(name, case, answer, status=None):
        return asks("RFA-6", name, lambda: ledger.settle_refund(
            case.environment, case.transaction_id, answer, status=status))

    first = opens("a question", 60, ago=2 * HOUR, **many)
    opens("the same question", 60, ago=2 * HOUR, **many)
    old = assess(first, 0)
    opens("a newer question", 60, 1, **many)
    settle("an answer to the older question", first, old, "ok")
    opens("about what was granted, too", 61, **many)
    opens("about a line", 62, **month)
    nobody = opens("about what nobody has", 63)
    due = asks("RFA-4", "open cases", lambda: ledger.lease_due_refunds(
        attempt_id=attempt("due"), lease_ms=MINUTE))
    asks("RFA-4", "no more open cases", lambda: ledger.lease_due_refunds(
        attempt_id=attempt("none")))
    cases = {case.transaction_id[-2:]: case for case in due.refunds}
    assert sorted(cases) == ["60", "61", "62", "63"], cases
    partly = assess(cases["60"], 30_000)
    for name in ("an answer that Apple took", "it again"):
        settle(name, cases["60"], partly, "ok")
    settle("no consent", cases["61"], assess(cases["61"], consent=False))
    line = assess(cases["62"], 100_000)
    settle("Apple is away", cases["62"], line, "unavailable.app-store.no-response")
    settle("Apple refuses", cases["62"], line, "rejected.app-store.unauthorized")
    waits = verifier.assess_refund(
        {**cases["63"].purchase, "purchasedAtMs": tape.now}, {"consent": {
            "isGiven": True, "answeredAtMs": begun}}, now=tape.now)
    assert waits.answer == "wait", waits
    settle("it may still be delivered", nobody, waits)
    settle("about no case", replaced(nobody, transaction_id="1"), waits)
    soon = opens("another question", 64)
    settle("too late", soon, assess(soon, now=tape.now + 12 * HOUR))
    opens("a question that nobody answers", 65)

    def refuses(rule, name, at, **options):
        told = tape.told(at, "CONSUMPTION_REQUEST", **options)
        found = asks(rule, f"a question {name}", lambda: ledger.open_refund(told))
        assert found.status.startswith("rejected."), found

    refuses("RPL-3", "about an id of other characters", 67,
            members={"transactionId": "a-1"})
    refuses("PAY-7", "without ownership", 67, remove=["inAppOwnershipType"])
    refuses("PAY-7", "without a type that the catalogue knows", 67, remove=["type"],
            product="com.example.app.gone")

    tape.now += HOUR
    gone = tape.told(60, "REFUND", MINUTE, members={
        "revocationDate": tape.now - MINUTE, "revocationReason": 0,
        "revocationPercentage": 25_000}, **many)
    asks("RFA-47", "Apple refunds", lambda: ledger.apply_event(
        gone, attempt_id=attempt("refund")))
    asks("RFA-47", "Apple declines", lambda: ledger.apply_event(
        tape.told(65, "REFUND_DECLINED", MINUTE), attempt_id=attempt("decline")))
    asks("RFA-47", "Apple declines before it has asked", lambda: ledger.apply_event(
        tape.told(66, "REFUND_DECLINED", MINUTE), attempt_id=attempt("early")))
    opens("a question that comes after the decision", 66)
    times = {"from_ms": begun - DAY, "until_ms": tape.now + DAY}
    report = asks("RFA-60", "report", lambda: ledger.report_refunds(
        environment="Sandbox", **times))
    assert (report.asked, report.answered, report.late, report.failed) == (6, 1, 1, 1), report
    assert report.taken_units == 1, report
    asks("RFA-60", "report of open cases", lambda: ledger.report_refunds(
        state="open", **times))
    asks("RFA-60", "report after a place", lambda: ledger.report_refunds(
        after=f"{tape.now}-Sandbox/2000000100000060", **times))
    tape.now += HOUR
    asks("RFA-47", "Apple reverses its refund", lambda: ledger.apply_event(
        tape.told(60, "REFUND_REVERSED", MINUTE, **many), attempt_id=attempt("reverse"),
        grant=lambda _: None))
    asks("RFA-47", "the refund comes once more", lambda: ledger.apply_event(
        gone, attempt_id=attempt("refund")))
    asks("RFA-60", "report of a reversal", lambda: ledger.report_refunds(**times))
    asks("RFA-50", "the customer is forgotten", lambda: ledger.forget_account(
        who, attempt_id=attempt("forget-gus")))
    last = opens("a question about a forgotten customer", 61, 1, **many)
    assert assess(last, 0).request is None, "an answer without consent"
    tape.refused("RFA-60", "a report of too long a time", lambda: ledger.report_refunds(
        from_ms=begun - 93 * DAY, until_ms=begun))


def replaced(case, **members):
    return dataclasses.replace(case, **members)


def reconciling(tape, ledger):
    """Record runs against the mock Apple: what was lost, what is refused, what Apple answers."""
    from assay_testing.apple import MockApple

    tape.now = BEGIN + 60 * DAY
    with MockApple(tape.authority, clock=tape.now) as apple:
        World(tape, apple).record(tape.name == "sqlite")


class World:
    """Purchases of the mock Apple whose notifications do not arrive, and a ledger."""

    HISTORY, STATUSES = "/inApps/v1/notifications/history", "/inApps/v1/subscriptions/"

    def __init__(self, tape, apple):
        self.tape, self.apple, self.number = tape, apple, 0
        self.api = apple.config["appStoreServerApi"]
        self.pace = dict.fromkeys(
            ("get-notification-history", "get-all-subscription-statuses",
             "get-transaction-history", "get-refund-history"), 1000)
        self.ledger = tape.open(
            "apple", environments=["Production", "Sandbox"], appStoreServerApi=self.api,
            ledger={"rateLimits": self.pace, "keepEvidence": False})
        self.ledger._sender = apple.sender
        self.begun = tape.now

    def record(self, is_whole):
        coins = self.buy(COINS, "consumable")
        self.tell(coins, "ONE_TIME_CHARGE")
        self.tell(self.buy(PREMIUM, "auto-renewable"), "SUBSCRIBED", "INITIAL_BUY")
        self.tell(self.buy("com.example.app.gone", "consumable"), "ONE_TIME_CHARGE")
        paid = self.buy(COINS, "consumable")
        told = self.ledger.verifier.verify_notification(
            self.tell(paid, "ONE_TIME_CHARGE")["signedPayload"], now=self.tape.now)
        self.ledger.claim(told, "ann", attempt_id=attempt("paid"), grant=lambda _: None)
        self.later(HOUR)
        for name in ("what was lost", "the same again"):
            self.run("RCN-20", name, "first")
        found = self.asks("RCN-42", "differences", self.ledger.list_differences)
        note = "the customer was called"
        for name in ("a difference", "it again"):
            self.asks("RCN-42", f"close {name}", lambda: self.ledger.close_difference(
                found.differences[0].id, note))
        self.asks("RCN-42", "differences that are closed", lambda: self.ledger.list_differences(
            state="closed", environment="Sandbox"))
        for known in (coins, paid):
            self.apple.play("refund", {"transactionId": known})
            self.tell(known, "REFUND")
        self.later(HOUR)
        self.run("RCN-20", "refunds of what was granted and of what nobody has claimed", "refund")
        self.record_customers()
        if is_whole:
            self.record_refusals()

    def record_customers(self):
        """Record the parts that need an index of customers, and claims for a known owner."""
        history = "/inApps/v2/history/"
        for name, more in (("customers", {"parts": ["customers"]}),
                           ("refunds", {"parts": ["refunds"]}), ("claims", {"claim": "owned"})):
            found = self.run("CUS-1", f"{name} without a key", "keyless", **more)
            assert found.status == "config.ledger.customer-key", found
        keyless, self.ledger = self.ledger, self.tape.open(
            "known", environments=["Production", "Sandbox"], appStoreServerApi=self.api,
            ledger={"rateLimits": self.pace, "keepEvidence": False, "customerKey": CUSTOMER_KEY})
        self.ledger._sender = self.apple.sender
        who = {"appTransactionId": "705000000000000001",
               "account": "6a2a3bd5-6ad4-4b6f-9c8b-2c4f2f6c7d11"}
        paid, refunded = (self.buy(COINS, "consumable", **who) for _ in range(2))
        for known in (paid, refunded):
            told = self.ledger.verifier.verify_notification(
                self.tell(known, "ONE_TIME_CHARGE")["signedPayload"], now=self.tape.now)
            self.ledger.claim(told, "may", attempt_id=attempt(known), grant=lambda _: None)
        for _ in range(21):
            self.buy(COINS, "consumable", **who)
        self.apple.play("refund", {"transactionId": refunded})
        self.later(HOUR)
        for name, word in (("what customers have bought", "every"), ("the same again", "again")):
            self.run("RCN-3", name, word, parts=["customers"], claim="owned")
            self.later(MINUTE)
        self.answer(history, {"errorCode": 4_000_005})
        self.run("RCN-30", "a revision is refused", "revision", parts=["customers"])
        self.later(MINUTE)
        self.answer(history, {"errorCode": 4_040_010})
        self.run("RCN-30", "a customer whom Apple does not know", "nobody", parts=["customers"])
        self.answer()
        self.later(MINUTE)
        self.run("RCN-3", "the refunds of customers", "returned", parts=["refunds"])
        self.tell(paid, "RESCIND_CONSENT")
        self.later(HOUR)
        self.run("RCN-32", "withdrawn consent", "consent", parts=["events"])
        self.ledger = keyless

    def record_refusals(self):
        self.later(HOUR)
        self.answer(self.HISTORY, {"retryAfter": self.tape.now + 30 * MINUTE})
        self.run("RCN-30", "Apple takes requests later", "later")
        self.answer()
        self.run("RCN-2", "what was left for later", "resumed")
        self.answer(self.HISTORY, {"errorCode": 4_000_012})
        self.run("RCN-30", "the start is too far in the past", "far",
                 from_ms=self.tape.now - 8 * DAY, parts=["events"])
        page = {"status": 200, "contentType": "application/json", "body": {
            "notificationHistory": [], "hasMore": True, "paginationToken": "t1"}}
        forged = {**page, "body": {
            "notificationHistory": [{"signedPayload": "e30.e30.e30"}] * 2, "hasMore": False}}
        dead = {"errorCode": 4_000_014}
        self.answer(self.HISTORY, page, dead, page, dead)
        self.later(HOUR)
        self.run("RCN-30", "a page token dies twice", "token")
        self.answer(self.HISTORY, {**page, "body": {**page["body"], "paginationToken": "t" * 256}})
        self.run("RCN-6", "a page token that is too long", "long")
        self.answer()
        self.run("RCN-2", "what was left", "left")
        for _ in range(2):
            self.tell(self.buy(COINS, "consumable"), "ONE_TIME_CHARGE")
        self.later(HOUR)
        self.answer(self.HISTORY, forged)
        self.run("RCN-30", "no text verifies", "none")
        self.answer()
        self.run("RCN-30", "the texts verify", "good")
        self.later(4 * HOUR)
        forged["body"]["notificationHistory"].pop()
        self.answer(self.HISTORY, forged)
        self.run("RCN-30", "one text does not verify", "one")
        other = self.tell(self.buy(COINS, "consumable", "Production"), "ONE_TIME_CHARGE")
        forged["body"]["notificationHistory"] = [{"signedPayload": other["signedPayload"]}]
        self.later(4 * HOUR)
        self.answer(self.HISTORY, forged)
        self.run("RCN-30", "one text is of another environment", "other")
        self.answer()
        for name, call in (
                ("a part twice", lambda: self.ledger.reconcile(
                    "Sandbox", parts=["open", "open"], attempt_id=attempt("twice"))),
                ("a place that no row has", lambda: self.ledger.list_differences(
                    after="9007199254740992-" + "0" * 64))):
            self.tape.refused("EXC-1", f"reconcile: {name}", call)
        self.later(40 * DAY)
        self.answer(self.STATUSES, {"errorCode": 4_040_010})
        self.run("RCN-30", "a subscription that Apple does not know", "unknown", parts=["open"])
        self.asks("RCN-42", "differences of all kinds", self.ledger.list_differences)
        self.answer()
        self.record_test_server()
        self.record_leases()

    def record_test_server(self):
        """Record a run against a test server, which has no rate limits."""
        config, page = self.tape.authority.config, {"notificationHistory": [], "hasMore": False}
        local = self.tape.open(
            "local", environments=["LocalTesting"],
            attest={**config["attest"], "environments": ["development"]},
            storekit={**config["storekit"], "xcodeCertificates": ["0" * 64]},
            appStoreServerApi={**self.api, "apiBaseUrl": "https://localhost:1"})
        local._sender = lambda request: {
            "id": request["id"], "status": 200, "headers": [["content-type", "application/json"]],
            "body": {"text": json.dumps(page)}, "truncated": False}
        self.asks("RCN-5", "a test server", lambda: local.reconcile(
            "LocalTesting", parts=["failures"], from_ms=self.tape.now - HOUR,
            attempt_id=attempt("local")))

    def record_leases(self):
        """Record runs of two processes: one has the lease, and one has lost it."""
        class Gone(BaseException):
            pass

        def stop(request):
            raise Gone

        self.ledger._sender = stop
        with contextlib.suppress(Gone):
            self.ledger.reconcile("Sandbox", parts=["events"], attempt_id=attempt("gone"))
        self.run("RCN-2", "another process has the run", "second")
        self.tape.now += 10 * MINUTE
        self.later(0)

        def lose(request):
            file = self.tape.url.removeprefix("sqlite:///")
            with contextlib.closing(sqlite3.connect(file)) as db:
                db.execute("UPDATE assay_run SET fencing_token = fencing_token + 1")
                db.commit()
            return self.apple.sender(request)

        self.ledger._sender = lose
        self.run("RCN-11", "another process has the run by now", "slow")

    def asks(self, rule, name, call):
        return self.tape.asks(rule, f"reconcile: {name}", call)

    def run(self, rule, name, word, **more):
        """Record one exchange."""
        more = {"parts": ["failures"],
                "from_ms": max(self.begun - HOUR, self.tape.now - 2 * DAY), **more}
        return self.asks(rule, name, lambda: self.ledger.reconcile(
            "Sandbox", attempt_id=attempt(word), **more))

    def answer(self, path=None, *faults):
        """Let Apple's next answers to this path be these."""
        self.apple.play("script", [
            {"path": path, "nth": place, "fault": fault} for place, fault in enumerate(faults, 1)])

    def later(self, ms):
        self.tape.now += ms
        self.apple.play("clock", {"now": self.tape.now})

    def buy(self, product, type, environment="Sandbox", **more):
        self.number += 1
        known = str(2_000_000_900_000_100 + self.number)
        self.apple.play("purchase", {
            "environment": environment, "type": type, "product": product, "transactionId": known,
            **more})
        return known

    def tell(self, known, type, subtype=None):
        """Let a notification be lost: nobody listens."""
        more = {"subtype": subtype} if subtype else {}
        return self.apple.play("notify", {
            "url": "http://127.0.0.1:1/", "type": type, "transactionId": known, **more})


def schema(tape, ledger):
    from assay.ledger import ledger as opened

    with mock.patch.object(opened, "new_lineage", lambda: LINEAGE):
        for name in ("no tables", "tables that are there"):
            tape.asks("STO-78", f"create: {name}", ledger.create_schema)
    tape.asks("STM-8", "check", ledger.check_schema)


# ---- rare outcomes ---------------------------------------------------------------
# They are recorded on one engine only, because the library writes them by the same functions on
# every engine.


def rare_claims(tape, ledger):
    """Record purchases that are not granted, or were granted before."""
    def claim(rule, name, text, who="ann", by=ledger, **options):
        options = {"attempt_id": attempt(name[:14].replace(" ", "-")), **options}
        return tape.asks(rule, f"a claim {name}", lambda: by.claim(text, who, **options))

    claim("STO-25", "of what was upgraded", tape.bought(30, set={"isUpgraded": True}))
    claim("STO-25", "of nothing, for none is named", tape.bought(31), transaction_ids=["1"])
    claim("STO-34", "of an event, which nobody has claimed", tape.bought(31), None)
    claim("STO-43", "for another account token", tape.bought(
        31, set={"appAccountToken": "6a2a3bd5-6ad4-4b6f-9c8b-2c4f2f6c7d10"}),
        account_token="11111111-6ad4-4b6f-9c8b-2c4f2f6c7d10")
    shared = tape.open("family", decision={"familySharing": "deny"})
    claim("STO-25", "of what a family shares", tape.bought(
        32, "com.example.app.lifetime", "non-consumable",
        set={"inAppOwnershipType": "FAMILY_SHARED"}), by=shared)

    first = claim("STO-28", "with an attempt", tape.bought(33), attempt_id=attempt("33")).claim
    claim("STO-28", "with the attempt of another text", tape.bought(33, signed=MINUTE),
          attempt_id=attempt("33"))
    tape.now += 2 * MINUTE
    claim("STO-37", "in a transaction, of what was handed out", tape.bought(33),
          grant_mode="transaction", grant=lambda _: None)
    tape.asks("RFD-4", "a refund of a part", lambda: ledger.revoke(tape.refunded(
        33, signed=2 * MINUTE, percentage=50_000)))
    claim("RFD-3", "of what was revoked", tape.bought(33))
    tape.asks("STO-26", "complete what was revoked", lambda: ledger.complete(
        first.purchase_key, "ann", first.grant_id))
    paid = tape.bought(34)
    ledger.claim(paid, "ann", attempt_id=attempt("34"), note="by hand", grant=lambda _: None)
    for name, who in (("to its account", "ann"), ("to another", "bob")):
        tape.asks("STO-11", f"lookup of what was granted, {name}", lambda by=who: ledger.find(
            by, evidence=paid))
    tape.asks("STO-11", "lookup, for an operator, of what was granted", lambda: ledger.find(
        environment="Sandbox", transaction_id="2000000100000034", operator_view=True))

    def ends(given):
        with contextlib.suppress(Exception):
            given.connection.commit()

    claim("STO-38", "whose grant ends the transaction", tape.bought(35), grant_mode="transaction",
          grant=ends)
    again = tape.refunded(34, signed=MINUTE)
    tape.asks("STO-38", "a take that ends the transaction", lambda: ledger.revoke(
        again, grant_mode="transaction", attempt_id=attempt("ends"), take_back=ends))
    tape.asks("STO-38", "an event whose take ends the transaction", lambda: ledger.apply_event(
        again, grant_mode="transaction", attempt_id=attempt("ends"), take_back=ends, grant=ends))


def rare_refunds(tape, ledger):
    """Record refunds that come late, twice, or during another take-back."""
    tape.asks("STO-34", "a refund, and what is none", lambda: ledger.revoke(
        [tape.refunded(40), tape.bought(41)]))
    two = [tape.refunded(46), tape.refunded(47)]
    for name, one in (("one of two refunds", "2000000100000047"), ("a refund of none", "1")):
        tape.asks("STO-25", f"{name}, by its id", lambda ids=(one,): ledger.revoke(
            two, transaction_ids=ids))
    freed = tape.bought(40, signed=2 * MINUTE)
    tape.asks("STO-34", "an event: of what nobody has", lambda: ledger.apply_event(freed))
    tape.asks("STO-11", "lookup of what nobody has", lambda: ledger.find(evidence=freed))
    tape.asks("STO-11", "lookup of what was never seen", lambda: ledger.find(
        evidence=tape.bought(41)))
    tape.asks("STO-33", "a refund that comes late", lambda: ledger.revoke(tape.refunded(40)))

    many = {"quantity": 4}
    ledger.claim(tape.bought(42, **many), "ann", attempt_id=attempt("42"), grant=lambda _: None)
    half = tape.refunded(42, percentage=50_000, **many)
    tape.asks("STO-35", "half is taken back", lambda: ledger.revoke(
        half, grant_mode="lease", attempt_id=attempt("half")))
    more = tape.refunded(42, signed=2 * MINUTE, percentage=75_000, **many)
    for name, call in (("a larger refund", ledger.revoke), ("an event", ledger.apply_event)):
        tape.asks("STO-35", f"{name} before it is complete", lambda ask=call: ask(
            more, grant_mode="lease", attempt_id=attempt("more")))
    tape.asks("STO-35", "a claim before it is complete", lambda: ledger.claim(
        tape.bought(42, signed=3 * MINUTE, **many), "ann", attempt_id=attempt("soon")))

    ledger.claim(tape.bought(43), "ann", attempt_id=attempt("43"), grant=lambda _: None)
    ledger.revoke(tape.refunded(43))
    empty = tape.open("bare", products={})
    tape.asks("STO-34", "an event: reversed, of an unknown product", lambda: empty.apply_event(
        tape.bought(43, signed=2 * MINUTE), attempt_id=attempt("bare")))


def rare_lines(tape, ledger):
    """Record subscriptions that are transferred or unchanged, and a missing database."""
    month = tape.line(50, signed=MINUTE)
    tape.asks("STO-42", "apply a month", lambda: ledger.update_subscriptions(month, "ann"))
    tape.asks("STO-40", "apply what is older",
              lambda: ledger.update_subscriptions(tape.line(50), "ann"))
    two = [tape.line(56), tape.line(57)]
    for name, one in (("one of two lines", "2000000100000057"), ("a line of none", "1")):
        tape.asks("STO-25", f"apply {name}, by its id",
                  lambda ids=(one,): ledger.update_subscriptions(two, "ann", transaction_ids=ids))
    tape.asks("STO-43", "apply for another account token", lambda: ledger.update_subscriptions(
        tape.line(51, set={"appAccountToken": "6a2a3bd5-6ad4-4b6f-9c8b-2c4f2f6c7d10"}), "ann",
        account_token="11111111-6ad4-4b6f-9c8b-2c4f2f6c7d10"))
    gone = tape.bought(52, "com.example.app.gone", "auto-renewable", expires=BEGIN + 30 * DAY)
    tape.asks("STO-24", "apply an unknown product",
              lambda: ledger.update_subscriptions(gone, "ann"))
    asks = tape.open("asks", ledger={"transfer": "confirm"})
    tape.asks("STO-42", "apply for another account, which is asked",
              lambda: asks.update_subscriptions(
        tape.line(50, signed=2 * MINUTE), "bob"))
    moves = tape.open("moves", ledger={"transfer": "allow", "onNoPurchases": "keep"})
    for name, at, who in (("moves", 3, "bob"), ("moves again, too soon", 4, "eve")):
        tape.asks("STO-42", f"apply, and the line {name}",
                  lambda signed=at, to=who: moves.update_subscriptions(
            tape.line(50, signed=signed * MINUTE), to))
    tape.asks("STO-46", "clear, where lines are kept",
              lambda: moves.deactivate_subscriptions("bob"))
    last = tape.asks("STO-45", "read a month", lambda: ledger.get_plan("bob"))

    away = tape.open("away", url="sqlite:////nonexistent/assay.db", ledger={
        "failOpen": {"meters": ["text"], "planMaxAgeMs": MINUTE}})
    for name, call in (
            ("read, with a last answer", lambda: away.get_plan("bob", cached_plan=last)),
            ("read", lambda: away.get_plan("bob")),
            ("take", lambda: away.consume_quota("ann", "text", "free")),
            ("a permit", lambda: away.acquire_rate_permit("look-up-order-id", "Production")),
            ("a claim", lambda: away.claim(tape.bought(53), "ann", attempt_id=attempt("away")))):
        tape.asks("STO-71", f"no store: {name}", call)


def rare_meters(tape, ledger):
    """Record exhausted rate permits, and the other ends of sign-ups and challenges."""
    from assay.ledger import ledger as carried

    full = ("look-up-order-id", "Production")
    paced = tape.open("paced", ledger={"rateLimits": {full[0]: 1}})
    for second in range(8):
        paced.acquire_rate_permit(*full, now=tape.now + second * SECOND)

    def sleep(seconds):
        tape.now += int(seconds * SECOND) + 1

    run = functools.partial(carried.run, sleep=sleep)
    with mock.patch.object(carried, "run", run):
        tape.asks("STO-66", "no permit in six seconds", lambda: paced.acquire_rate_permit(*full))

    client = ("192.0.2.2", "u_0123456789abcdef")
    tape.asks("STO-56", "a sign-up without a password", lambda: ledger.begin_signup(*client, 0))
    admitted = ledger.begin_signup(*client, 24)
    for result in ("created", "provider-busy", "provider-error"):
        tape.asks("STO-57", f"settle: {result}", lambda said=result: ledger.finish_signup(
            admitted.ticket, said))
    late = CHALLENGE[::-1]
    use = {"challenge": late, "used_by": "phone"}
    tape.asks("STO-61", "use: before it is issued",
              lambda: ledger.consume_challenge("attest", "eve", **use))
    ledger.issue_challenge("attest", "eve", challenge=late)
    tape.now += MINUTE
    tape.asks("STO-61", "use: too late", lambda: ledger.consume_challenge("attest", "eve", **use))


def rare_keys(tape, ledger):
    """Record an unknown device key, one of another account, and a retired one."""
    key = evidence.device(tape.authority, 2)
    attestation, known = tape.attested(key), key["keyId"]
    tape.asks("STO-63", "an assertion of a key that nobody bound",
              lambda: ledger.advance_device_key_counter(
        tape.asserted(key, 1), "eve"))
    newer = tape.risk(BEGIN + MINUTE)
    tape.asks("STO-64", "a receipt of a key that nobody bound",
              lambda: ledger.update_device_key_receipt(newer))
    tape.asks("STO-64", "retire a key that nobody bound",
              lambda: ledger.retire_device_key(known, "eve"))
    ledger.register_device_key(attestation, "eve")
    tape.asks("STO-64", "a newer receipt", lambda: ledger.update_device_key_receipt(newer))
    tape.asks("STO-64", "a key with a newer receipt", lambda: ledger.get_device_key(known))
    tape.asks("STO-64", "a key of another account", lambda: ledger.get_device_key(known, "bob"))
    tape.asks("STO-64", "retire a key of another account",
              lambda: ledger.retire_device_key(known, "bob"))
    ledger.retire_device_key(known, "eve")
    tape.now += SECOND
    tape.asks("STO-64", "a receipt of a retired key",
              lambda: ledger.update_device_key_receipt(newer))
    tape.asks("STO-64", "a retired key", lambda: ledger.get_device_key(known))
    tape.asks("STO-62", "bind a retired key",
              lambda: ledger.register_device_key(attestation, "eve"))
    ledger.merge_accounts("visitor", "bob", attempt_id=attempt("visitor"))
    joined = {"operation": "merge-accounts", "from": "visitor", "to": "eve", "operatorView": True,
              "attemptId": attempt("operator")}
    tape.asks("STO-91", "link to another, for an operator", lambda: carried_out(
        tape, ledger, joined))


def carried_out(tape, ledger, request):
    """Run a request for which a ledger has no method."""
    with ledger.verifier.exchange(request, (), tape.now) as exchange:
        return exchange.run(ledger.executor, clock=ledger._clock)


KINDS = {
    "sqlite": (schema, keys, challenges, meters, purchases, refunds, subscriptions, accounts,
               differences, refund_answers, customers, reconciling),
    "redis": (schema, challenges, meters),
}
KINDS["dynamodb"] = KINDS["sqlite"]
RARE = {"sqlite": (rare_claims, rare_refunds, rare_lines, rare_meters, rare_keys)}


def record(name, url, authority):
    """Return the rows of every exchange with this engine."""
    tape = Recorder(name, url, authority)
    ledger = tape.open()
    for ask in KINDS[name]:
        ask(tape, ledger)
    if name in RARE:
        ledger, tape.now = tape.open("rare"), BEGIN
        for ask in RARE[name]:
            ask(tape, ledger)
    tape.close()
    return tape.rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=ENGINES, default=ENGINES)
    options = parser.parse_args()
    without = races.tools_or_reason()
    from assay_testing import Authority

    authority = Authority(now=BEGIN)
    with engines.scratch(races.python_tools.TOOLS / "bin") as place:
        for name in options.only:
            engine = place.engine(name)
            if why := races.unavailable(engine, without):
                print(f"skipped: {name}: {why}")
                continue
            engine.start()
            os.environ.update(engine.environment)
            rows = record(name, engine.url, authority)
            (RECORDED / f"{name}.tsv").write_text("\n".join(rows) + "\n")
            print(f"{name}: {sum(row.startswith('case') for row in rows)} exchanges, "
                  f"{len(rows):,} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
