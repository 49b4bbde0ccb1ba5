"""A WSGI endpoint for an app that proves itself with App Attest.

    POST /challenge   returns {"challenge": "..."}: 32 random bytes, for five minutes, once
    POST /key         {"keyId", "attestation", "clientData"}, the last two in base64:
                      verified, and the key registered for the account
    POST /request     any body, with the headers X-Key-Id and X-Assertion: the body,
                      byte for byte as received, is what the key signed. Without them,
                      X-Attest is the reason ("unsupported", "temporarily-unavailable") and
                      X-Attest-Error the error code: the rules for risk decide

Client data and bodies are JSON with a member "challenge". The account is the one that your
own sign-in names (REMOTE_USER here). Put the routes behind your framework; keep the
order of the steps: docs/app-attest.md has the reasons.

The response is one word, which defines what the client does next:

    registered, done    it worked
    sign-again          request a challenge and sign again (409)
    attest-again        forget the key, make and attest a new one (401)
    limited, step-up    without an assertion: less, or something stronger first
    refused             final; the log has the reason

To try it here:

    python3 attest_endpoint.py config.json keys.db 8080
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import pathlib
import secrets
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any
from wsgiref.simple_server import make_server

import assay

log = logging.getLogger("attest")

LONGEST_BODY = 64 * 1024
CHALLENGE_MS = 5 * 60 * 1000
WHERE_THE_CHALLENGE_IS = {"mode": "json", "path": "challenge", "encoding": "base64url"}
# Refusals that an honest client may get: out of order, or delayed in transit.
WORDS = {
    "rejected.assertion.counter": "sign-again",
    "rejected.freshness.stale": "attest-again",
}
TABLES = """
create table if not exists attest_key (
  key_id text primary key, account text not null, app_id text not null,
  environment text not null, public_key blob not null, counter integer not null,
  state text not null, created_ms integer not null, used_ms integer,
  receipt blob, refresh_at_ms integer, risk integer);
create index if not exists attest_key_account on attest_key (account);
create table if not exists challenge (
  sha256 text primary key, account text not null, purpose text not null,
  ends_ms integer not null, used_by text);
"""

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class Refused(Exception):
    """The word for the client, and the HTTP status; the reason is for the log."""

    def __init__(self, status: int, word: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.word = word


class Keys:
    """Device keys and challenges in one SQLite file, which processes may share."""

    def __init__(self, verifier: assay.Verifier, database: str) -> None:
        self.verifier = verifier
        self.database = database
        with self.changes() as connection:
            connection.executescript(TABLES)

    @contextmanager
    def changes(self) -> Iterator[sqlite3.Connection]:
        """Open one transaction: everything in it is committed, or nothing."""
        with closing(sqlite3.connect(self.database, timeout=10)) as connection, connection:
            yield connection

    def issue(self, account: str, purpose: str, now: int) -> str:
        """Issue a new challenge, as text for the app."""
        challenge = secrets.token_bytes(32)
        digest = hashlib.sha256(challenge).hexdigest()
        with self.changes() as connection:
            connection.execute(
                "insert into challenge values (?,?,?,?,null)",
                (digest, account, purpose, now + CHALLENGE_MS),
            )
        return base64.urlsafe_b64encode(challenge).decode().rstrip("=")

    def register(
        self, account: str, key_id: str, attestation: str, client_data: bytes, now: int
    ) -> None:
        """Verify, consume the challenge, register the key. The same request again succeeds, because
        an app cannot attest a key twice, and a response may be lost."""
        found = self.verifier.verify_attestation(
            attestation, key_id=key_id, client_data=client_data, now=now
        )
        receipt = found.receipt
        with self.changes() as connection:
            consume(connection, found.challenge_sha256, account, "key", found.key_id, now)
            connection.execute(
                "insert into attest_key values (?,?,?,?,?,0,'active',?,null,?,?,null) "
                "on conflict (key_id) do nothing",
                (
                    found.key_id,
                    account,
                    found.app_id,
                    found.environment,
                    found.public_key,
                    now,
                    receipt.raw if receipt else None,
                    receipt.refresh_at_ms if receipt else None,
                ),
            )
            owner, state = connection.execute(
                "select account, state from attest_key where key_id = ?", (found.key_id,)
            ).fetchone()
            if owner != account:
                raise Refused(403, "refused", "the key is bound to another account")
            if state != "active":
                raise Refused(401, "attest-again", "the key was retired")

    def admit(
        self, account: str, key_id: str, assertion: str, body: bytes, now: int
    ) -> None:
        """Read the key, verify, consume the challenge, advance the counter."""
        key_id = self.verifier.normalize_key_id(key_id)  # apps send the key id in several forms
        with self.changes() as connection:
            row = connection.execute(
                "select public_key, counter from attest_key "
                "where key_id = ? and account = ? and state = 'active'",
                (key_id, account),
            ).fetchone()
        if row is None:
            raise Refused(401, "attest-again", "the account has no such key")
        found = self.verifier.verify_assertion(
            assertion, public_key=row[0], counter=row[1], client_data=body, now=now
        )
        with self.changes() as connection:
            use = f"{key_id} {found.counter}"
            consume(connection, found.challenge_sha256, account, "request", use, now)
            advanced = connection.execute(
                "update attest_key set counter = ?, used_ms = ? "
                "where key_id = ? and state = 'active' and counter < ?",
                (found.counter, now, key_id, found.counter),
            )
            if advanced.rowcount != 1:
                raise Refused(409, "sign-again", "another request had this counter")

    def judge(self, account: str, claim: str, code: str | None, now: int) -> assay.Risk:
        """Assess a request without an assertion, whose reason is only the client's claim."""
        with self.changes() as connection:
            keys, last = connection.execute(
                "select count(*), max(coalesce(used_ms, created_ms)) "
                "from attest_key where account = ?",
                (account,),
            ).fetchone()
        return self.verifier.assess_risk(
            {
                "request": "metered",
                "attestation": claim,
                "errorCode": int(code) if code else None,
                "history": {"accountHadKey": keys > 0, "lastAttestedMs": last},
            },
            now,
        )


def consume(
    connection: sqlite3.Connection,
    digest: str | None,
    account: str,
    purpose: str,
    use: str | None,
    now: int,
) -> None:
    """Consume a challenge. A repetition of the same use counts as the same."""
    used = connection.execute(
        "update challenge set used_by = ? where sha256 = ? and account = ? and purpose = ? "
        "and ends_ms > ? and (used_by is null or used_by = ?)",
        (use, digest, account, purpose, now, use),
    )
    if used.rowcount != 1:
        raise Refused(409, "sign-again", "the challenge is unknown, used or too old")


# ---- HTTP --------------------------------------------------------------------


def make_application(keys: Keys) -> Application:
    """Return the WSGI application over one database of keys."""

    def application(
        environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        status, answer = respond(keys, environ, time.time_ns() // 1_000_000)
        text = json.dumps(answer).encode()
        headers = [("content-type", "application/json"), ("content-length", str(len(text)))]
        start_response(f"{status} {answer.get('answer', 'OK')}", headers)
        return [text]

    return application


def respond(keys: Keys, environ: dict[str, Any], now: int) -> tuple[int, dict[str, str]]:
    """Return the HTTP status and the JSON of the response."""
    try:
        return route(keys, environ, now)
    except Refused as refusal:
        log.warning("%s", refusal)
        return refusal.status, {"answer": refusal.word}
    except assay.AssayError as refusal:
        log.warning("%s", refusal)
        return refusal.http_status, {"answer": WORDS.get(refusal.status, "refused")}
    except (KeyError, TypeError, ValueError):
        return 400, {"answer": "refused"}


def route(keys: Keys, environ: dict[str, Any], now: int) -> tuple[int, dict[str, str]]:
    account = environ.get("REMOTE_USER")
    if not account or environ.get("REQUEST_METHOD") != "POST":
        raise Refused(401, "refused", "nobody is signed in, or no POST")
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if not 0 <= length <= LONGEST_BODY:
        raise Refused(413, "refused", "the body is too long")
    body, path = environ["wsgi.input"].read(length), environ["PATH_INFO"]
    if path == "/challenge":
        purpose = json.loads(body)["purpose"]
        if purpose not in ("key", "request"):
            raise ValueError(purpose)
        return 200, {"challenge": keys.issue(account, purpose, now)}
    if path == "/key":
        sent = json.loads(body)
        data = base64.b64decode(sent["clientData"], validate=True)
        keys.register(account, sent["keyId"], sent["attestation"], data, now)
        return 200, {"answer": "registered"}
    if path != "/request":
        raise Refused(404, "refused", "no such path")
    key_id, assertion = environ.get("HTTP_X_KEY_ID"), environ.get("HTTP_X_ASSERTION")
    if key_id is not None and assertion is not None:
        keys.admit(account, key_id, assertion, body, now)
        return 200, {"answer": "done"}
    claim = environ.get("HTTP_X_ATTEST", "absent")
    if claim not in ("absent", "unsupported", "temporarily-unavailable"):
        raise ValueError(claim)  # a client must not claim "verified"
    risk = keys.judge(account, claim, environ.get("HTTP_X_ATTEST_ERROR"), now)
    log.info("%s: %s", risk.verdict, ", ".join(risk.reasons))
    words = {"allow": "done", "deny": "refused"}
    return risk.http_status, {"answer": words.get(risk.verdict or "deny", risk.verdict or "")}


def main(config: str, database: str, port: str) -> None:
    configuration = json.loads(pathlib.Path(config).read_text())
    configuration.setdefault("attest", {})["challenge"] = WHERE_THE_CHALLENGE_IS
    keys = Keys(assay.Verifier(configuration), database)
    with make_server("127.0.0.1", int(port), make_application(keys)) as server:
        print(f"listening on 127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    main(*sys.argv[1:4])
