"""Everything on one loopback port: gateway, function and pool, on SQLite."""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assay.http import Sender

from ..backend import Backend
from ..settings import Settings
from .gateway import Authorizer, Gateway
from .pool import CLIENT, HOST, ISSUER, Pool


class Stack:
    """A back end that runs, from `Stack(…).start()` to `close`.

    settings   those of the back end. With the provider `local` the stack includes the pool,
               whose file is `provider.file`
    hosts      replacement addresses of hosts, such as those of `assay mock-apple`
    tokens_at  the gateway's clock if tokens are issued by another one; None: `clock`
    """

    def __init__(
        self,
        settings: Settings,
        *,
        port: int = 0,
        form: str = "http",
        hosts: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.time,
        tokens_at: Callable[[], float] | None = None,
        context: object = None,
    ) -> None:
        is_local = settings.provider["kind"] == "local"
        self.pool = Pool(settings.provider["file"], clock=clock) if is_local else None
        # Filled later: the port is known only after the server has started.
        self._places: dict[str, str] = dict(hosts or {})
        self.backend = Backend(settings, provider=self.pool, send=self._send, clock=clock)
        if settings.engine.startswith("sqlite:"):
            self.backend.ledger.create_schema()
        tokens = settings.assay["tokens"]
        mine = next(each for each in tokens if each["profile"] == "cognito-access")
        issuer, client = mine["issuers"][0], mine["clients"][0]
        authorizer = Authorizer(issuer, client, self._send, tokens_at or clock)
        self.gateway = Gateway(
            self.backend.answer, authorizer, pool=self.pool, port=port, form=form, context=context
        )
        if is_local:
            self._places[HOST] = self.url
        self._sender = Sender(hosts=self._places)

    @property
    def url(self) -> str:
        return self.gateway.url

    def start(self) -> Stack:
        self.gateway.start()
        return self

    def close(self) -> None:
        self.gateway.close()
        self.backend.ledger.close()

    def _send(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._sender(request)


def local(policy: Mapping[str, Any], folder: str | Path, **members: Any) -> Settings:
    """Return settings for this machine: SQLite in a folder, the local pool, new keys.

    policy   that of the verifier, as in production; `tokens` and `ledger` are filled in
    members  further members of Settings
    """
    tokens = [{"profile": "cognito-access", "issuers": [ISSUER], "clients": [CLIENT]}]
    others = [each for each in policy.get("tokens", ()) if each["profile"] == "apple-id"]
    stores = {"forgetKey": _random(), "transfer": "allow", **policy.get("ledger", {})}
    session = policy.get("session") or {"secrets": [{"id": "s1", "secret": _random()}]}
    given = {
        "engine": f"sqlite:///{Path(folder).absolute()}/freemium.db",
        "provider": {"kind": "local", "file": f"{Path(folder).absolute()}/pool.db"},
        "account_key": _random(),
        **members,
    }
    verifier = {**policy, "tokens": tokens + others, "ledger": stores, "session": session}
    return Settings(assay=verifier, **given)


def _random() -> str:
    return base64.b64encode(secrets.token_bytes(32)).decode()
