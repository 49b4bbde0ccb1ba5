"""A local substitute for a user pool.

The back end creates users by calling it. Apps use it over HTTP as they use Cognito:
`InitiateAuth` signs in, `SignUp` is closed unless the pool allows it, and its key set has
Cognito's path.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..providers import Made
from .rsa import Key

HOST = "cognito-idp.local.invalid"
ISSUER = f"https://{HOST}/local_freemium"
CLIENT = "localclient"
LIFE_SECONDS = 3600
# As in Cognito, every further wrong password after five doubles the wait.
FREE_GUESSES = 5
LONGEST_WAIT_SECONDS = 900
_TABLES = """
CREATE TABLE IF NOT EXISTS user (name TEXT PRIMARY KEY, account TEXT, status TEXT,
  enabled INTEGER, salt BLOB, hash BLOB, guesses INTEGER, closed_until REAL);
CREATE TABLE IF NOT EXISTS secret (name TEXT PRIMARY KEY, value TEXT);
"""


class PoolError(Exception):
    """A refusal with Cognito's error type."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass
class _User:
    name: str
    account: str
    status: str
    enabled: int
    salt: bytes
    hash: bytes
    guesses: int
    closed_until: float


class Pool:
    """Users in one SQLite file.

    admin_only  whether public SignUp is closed (AllowAdminCreateUserOnly)
    """

    def __init__(
        self,
        file: str | Path,
        *,
        admin_only: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._file, self._clock, self.admin_only = str(file), clock, admin_only
        self._lock = threading.Lock()
        with closing(self._open()) as database:
            database.executescript(_TABLES)
        self._key = self._kept_key()

    # ---- for the back end: freemium.providers.Provider

    def create(self, username: str, password: str) -> Made:
        with self._lock:
            user = self._user(username)
            if user is not None and user.status != "FORCE_CHANGE_PASSWORD":
                return Made("exists")
            if user is None:
                self.admin_create_user(username)
            self.admin_set_user_password(username, password)
            return Made("created", self._must(username).account)

    def admin_create_user(self, username: str) -> None:
        """Make the first of the two calls only, as a crash in between would."""
        row = (username, str(uuid.uuid4()), "FORCE_CHANGE_PASSWORD", 1, b"", b"", 0, 0)
        self._run("INSERT INTO user VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *row)

    def admin_set_user_password(self, username: str, password: str) -> None:
        salt = secrets.token_bytes(16)
        self._run(
            "UPDATE user SET status = 'CONFIRMED', salt = ?, hash = ? WHERE name = ?",
            salt,
            _hash(password, salt),
            username,
        )

    def account(self, username: str) -> str | None:
        user = self._user(username)
        return user.account if user else None

    def can_sign_in(self, account: str) -> bool:
        sql = "SELECT 1 FROM user WHERE account = ? AND enabled AND status = 'CONFIRMED'"
        return bool(self._run(sql, account))

    def set_password(self, username: str, password: str) -> None:
        self.admin_set_user_password(username, password)

    def disable(self, username: str) -> None:
        self._run("UPDATE user SET enabled = 0 WHERE name = ?", username)

    def delete(self, username: str) -> None:
        self._run("DELETE FROM user WHERE name = ?", username)

    # ---- for apps, over HTTP

    @property
    def key_set(self) -> str:
        return json.dumps({"keys": [self._key.jwk]})

    def called(self, target: str, body: bytes) -> tuple[int, dict[str, Any]]:
        """Handle one request of Cognito's public API; return HTTP status and JSON."""
        calls = {"InitiateAuth": self._initiate_auth, "SignUp": self._sign_up}
        try:
            given = json.loads(body)
            call = calls.get(target.rpartition(".")[2])
            if call is None or not isinstance(given, dict):
                raise PoolError("InvalidParameterException", "not played here")
            return 200, call(given)
        except PoolError as error:
            return 400, {"__type": error.kind, "message": str(error)}
        except (ValueError, KeyError, TypeError, AttributeError):
            return 400, {"__type": "InvalidParameterException", "message": "malformed"}

    def _initiate_auth(self, given: dict[str, Any]) -> dict[str, Any]:
        if given["AuthFlow"] != "USER_PASSWORD_AUTH":
            raise PoolError("InvalidParameterException", "unknown flow")
        if given["ClientId"] != CLIENT:
            raise PoolError("ResourceNotFoundException", "no such client")
        name = str(given["AuthParameters"]["USERNAME"])
        password = str(given["AuthParameters"]["PASSWORD"])
        with self._lock:
            return self._signed_in(name, password)

    def _signed_in(self, name: str, password: str) -> dict[str, Any]:
        user, now = self._user(name), self._clock()
        wrong = PoolError("NotAuthorizedException", "Incorrect username or password.")
        if user is None:
            raise wrong
        if now < user.closed_until:
            raise PoolError("NotAuthorizedException", "Password attempts exceeded")
        if not hmac.compare_digest(_hash(password, user.salt), user.hash):
            self._guessed(user, now)
            raise wrong
        if not user.enabled:
            raise PoolError("NotAuthorizedException", "User is disabled.")
        self._run("UPDATE user SET guesses = 0, closed_until = 0 WHERE name = ?", name)
        return {"AuthenticationResult": self.tokens(user.account, name), "ChallengeParameters": {}}

    def _guessed(self, user: _User, now: float) -> None:
        guesses = user.guesses + 1
        wait = 2 ** (guesses - FREE_GUESSES) if guesses >= FREE_GUESSES else 0
        self._run(
            "UPDATE user SET guesses = ?, closed_until = ? WHERE name = ?",
            guesses,
            now + min(wait, LONGEST_WAIT_SECONDS),
            user.name,
        )

    def _sign_up(self, given: dict[str, Any]) -> dict[str, Any]:
        """Sign up publicly, which only a test allows, to prove what that would admit."""
        if self.admin_only:
            raise PoolError("NotAuthorizedException", "SignUp is not permitted for this user pool")
        made = self.create(str(given["Username"]), str(given["Password"]))
        if made.exists:
            raise PoolError("UsernameExistsException", "User already exists")
        return {"UserConfirmed": True, "UserSub": made.account}

    def tokens(self, account: str, name: str, **claims: Any) -> dict[str, Any]:
        """Return an access token and an ID token as Cognito makes them."""
        now = int(self._clock())
        common = {
            "sub": account,
            "iss": ISSUER,
            "origin_jti": str(uuid.uuid4()),
            "event_id": str(uuid.uuid4()),
            "auth_time": now,
            "iat": now,
            "exp": now + LIFE_SECONDS,
            "jti": str(uuid.uuid4()),
        }
        access = {"client_id": CLIENT, "token_use": "access", "username": name, **common}
        access["scope"] = "aws.cognito.signin.user.admin"
        identity = {"aud": CLIENT, "token_use": "id", "cognito:username": name, **common}
        return {
            "AccessToken": self._key.signed({**access, **claims}),
            "IdToken": self._key.signed({**identity, **claims}),
            "ExpiresIn": LIFE_SECONDS,
            "TokenType": "Bearer",
        }

    # ---- the file

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._file, timeout=10, isolation_level=None)

    def _run(self, sql: str, *args: Any) -> list[Any]:
        with closing(self._open()) as database:
            return database.execute(sql, args).fetchall()

    def _user(self, name: str) -> _User | None:
        found = self._run("SELECT * FROM user WHERE name = ?", name)
        return _User(*found[0]) if found else None

    def _must(self, name: str) -> _User:
        user = self._user(name)
        if user is None:
            raise PoolError("UserNotFoundException", "User does not exist.")
        return user

    def _kept_key(self) -> Key:
        found = self._run("SELECT value FROM secret WHERE name = 'key'")
        if found:
            p, q = json.loads(found[0][0])
            return Key(int(p), int(q))
        key = Key.make()
        self._run("INSERT INTO secret VALUES ('key', ?)", json.dumps([str(key.p), str(key.q)]))
        return key


def _hash(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=2**12, r=8, p=1)
