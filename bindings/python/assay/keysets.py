"""The key sets of token issuers, fetched when needed.

    from assay.keysets import KeysetCache

    keys = KeysetCache(verifier)                   # one for the process
    token = keys.verify_token(text, issuer)        # any thread

A set is fetched at the first token, after a token with an unknown key, and when it is older
than `keysetMaxAgeMs`, while the old one remains in use. However many threads need it, one
request at a time runs for an issuer, and the library defines how soon the next may follow
(docs/spec/access-tokens.md, KST-1 … 13). `AsyncKeysetCache` does this for asyncio tasks.

Loaded on first use.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from json import dumps, loads
from threading import Lock

from ._run import run, run_steps
from .errors import AssayError
from .http import Sender
from .keyset import Keyset
from .tokens import Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ._calls import SignedText, Time
    from .documents import Document
    from .http import Send
    from .verifier import Verifier

    Load = Callable[[str], "str | None"]
    Save = Callable[[str, str], object]

__all__ = ["AsyncKeysetCache", "KeysetCache"]

# The member of a result that has the state of KST-13; `exchange.step` names the step.
STATE = "keysetState"


class KeysetCache:
    """The key sets of the issuers of a verifier's configuration.

    send   takes a request and returns its reply; None: an `assay.http.Sender`
    load   takes an issuer and returns the text that `save` got for it, so that a cold start
           needs no fetch, or None
    save   takes an issuer and a text to keep: public keys and times, nothing secret
    clock  returns the time in seconds since 1970 UTC
    """

    def __init__(
        self,
        verifier: Verifier,
        send: Send | None = None,
        *,
        load: Load | None = None,
        save: Save | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._verifier = verifier
        self._send = Sender() if send is None else send
        self._load, self._save, self._clock = load, save, clock
        self._lock = Lock()
        self._known: dict[str, _Known] = {}
        self._flights: dict[str, Future[Keyset]] = {}

    def __repr__(self) -> str:
        return f"<assay.KeysetCache: {len(self._known)}>"

    def verify_token(self, token: SignedText, issuer: str, now: Time | None = None) -> Token:
        """Run `Verifier.verify_token` with the keys of an issuer, fetched as needed.

        Raises what that method raises, and UnavailableError or another AssayError if there
        is no key set and none could be fetched.
        """
        keys = self.keyset(issuer)
        try:
            found = self._verifier.verify_token(token, keys, now)
        except AssayError as refusal:
            if not _wants_keys(refusal):
                raise
            fresh = self.refresh(issuer, keys, kid_of(token))
            if fresh is keys:
                raise
            return self._verifier.verify_token(token, fresh, now)
        if found.keyset.stale:
            self.refresh(issuer, keys)
        return found

    def keyset(self, issuer: str) -> Keyset:
        """Return the stored key set, fetched if there is none."""
        known = self._known.get(issuer) or self._loaded(issuer)
        return known.keys or self.refresh(issuer, None)

    def refresh(self, issuer: str, old: Keyset | None, want_kid: str | None = None) -> Keyset:
        """Return a key set newer than the old one, or the old one if there is none.

        One caller fetches; concurrent callers wait for its result.
        """
        with self._lock:
            known = self._known.setdefault(issuer, _Known())
            if known.keys is not None and known.keys is not old:
                return known.keys
            flight = self._flights.get(issuer)
            mine = flight is None
            if flight is None:
                flight = self._flights[issuer] = Future()
        if mine:
            try:
                flight.set_result(self._fetched(issuer, known, want_kid))
            except BaseException as error:
                flight.set_exception(error)
            finally:
                with self._lock:
                    del self._flights[issuer]
        return flight.result()

    def _fetched(self, issuer: str, known: _Known, want_kid: str | None) -> Keyset:
        request, now = known.request(issuer, want_kid), int(self._clock() * 1000)
        with self._verifier.exchange(request, now=now) as exchange:
            # No waiting: the only wait is the cooldown, during which the old set remains in use.
            document = run(exchange, self._send, max_wait=0, clock=self._clock)
        keys = known.took(document)
        if self._save is not None:
            self._save(issuer, known.kept())
        return keys

    def _loaded(self, issuer: str) -> _Known:
        text = self._load(issuer) if self._load else None
        with self._lock:
            return self._known.setdefault(issuer, _Known(text))


class AsyncKeysetCache:
    """`KeysetCache` for the tasks of one event loop, which it never blocks.

    send  a coroutine function, such as `assay.senders.AsyncHttpxSender`; None:
          `assay.http.Sender` in the loop's own executor
    """

    def __init__(
        self,
        verifier: Verifier,
        send: Any = None,
        *,
        load: Load | None = None,
        save: Save | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        from .aio import AsyncRunner

        self._verifier = verifier
        self._runner = AsyncRunner(send, max_wait=0, clock=clock)
        self._load, self._save, self._clock = load, save, clock
        self._known: dict[str, _Known] = {}
        self._flights: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<assay.AsyncKeysetCache: {len(self._known)}>"

    async def verify_token(
        self, token: SignedText, issuer: str, now: Time | None = None
    ) -> Token:
        """Verify a token as `KeysetCache.verify_token` does."""
        keys = await self.keyset(issuer)
        try:
            found = self._verifier.verify_token(token, keys, now)
        except AssayError as refusal:
            if not _wants_keys(refusal):
                raise
            fresh = await self.refresh(issuer, keys, kid_of(token))
            if fresh is keys:
                raise
            return self._verifier.verify_token(token, fresh, now)
        if found.keyset.stale:
            await self.refresh(issuer, keys)
        return found

    async def keyset(self, issuer: str) -> Keyset:
        """Return the stored key set as `KeysetCache.keyset` does."""
        if issuer not in self._known:
            self._known[issuer] = _Known(self._load(issuer) if self._load else None)
        return self._known[issuer].keys or await self.refresh(issuer, None)

    async def refresh(
        self, issuer: str, old: Keyset | None, want_kid: str | None = None
    ) -> Keyset:
        """Refresh as `KeysetCache.refresh` does. A cancelled task leaves the request to the
        others."""
        import asyncio

        known = self._known.setdefault(issuer, _Known())
        if known.keys is not None and known.keys is not old:
            return known.keys
        if issuer not in self._flights:
            flight = asyncio.ensure_future(self._fetched(issuer, known, want_kid))
            flight.add_done_callback(lambda _: self._flights.pop(issuer))
            self._flights[issuer] = flight
        keys: Keyset = await asyncio.shield(self._flights[issuer])
        return keys

    async def _fetched(self, issuer: str, known: _Known, want_kid: str | None) -> Keyset:
        def now() -> int:
            return int(self._clock() * 1000)

        with self._verifier.exchange(known.request(issuer, want_kid), now=now()) as exchange:
            document = await run_steps(exchange, self._runner, now)
        keys = known.took(document)
        if self._save is not None:
            self._save(issuer, known.kept())
        return keys


class _Known:
    """The state of one issuer: its key set, the set's text, and the state that the library needs
    back."""

    def __init__(self, kept: str | None = None) -> None:
        self.keys: Keyset | None = None
        self.text: str | None = None
        self.state: Mapping[str, Any] | None = None
        if kept is not None:
            found = loads(kept)
            self.text, self.state = found["keyset"], found["state"]
            self.keys = None if self.text is None else Keyset(self.text)

    def request(self, issuer: str, want_kid: str | None) -> dict[str, Any]:
        members = {
            "operation": "fetch-keyset",
            "issuer": issuer,
            "state": self.state,
            "wantKid": want_kid,
            "keyset": self.text,
        }
        return {name: value for name, value in members.items() if value is not None}

    def took(self, document: Document) -> Keyset:
        """Store the result of an exchange, and return the new key set or the stored one. Its state
        is kept after a refusal, too, because the state contains the cooldown."""
        found = document.json["exchange"] or {}
        self.state = found.get(STATE, self.state)
        if document.ok:
            # A set with the same keys and a later time needs a new handle, which knows its age.
            if self.keys is None or found["keyset"] != self.text:
                self.keys = Keyset(found["keyset"])
            self.text = found["keyset"]
            return self.keys
        if self.keys is None:
            document.raise_for_status()
        assert self.keys is not None
        return self.keys

    def kept(self) -> str:
        return dumps({"keyset": self.text, "state": self.state})


def _wants_keys(refusal: AssayError) -> bool:
    """Return whether a refresh may bring the unknown key of a token, or a set that is not too
    old."""
    if refusal.status == "unavailable.token.keyset-too-old":
        return True
    if refusal.status != "rejected.token.unknown-key" or refusal.document is None:
        return False
    return (refusal.document.error or {}).get("keyset") == "refresh"


def kid_of(token: SignedText) -> str | None:
    """Return the key id of a token: a hint for the library, not verified."""
    from base64 import urlsafe_b64decode

    head = (token if isinstance(token, str) else bytes(token).decode()).partition(".")[0]
    kid = loads(urlsafe_b64decode(head + "=" * (-len(head) % 4))).get("kid")
    return kid if isinstance(kid, str) else None
