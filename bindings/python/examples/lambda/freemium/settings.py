"""The one configuration file: engine, provider, options, keys, and the verifier's policy.

FREEMIUM_CONFIG names it: a path, or `secretsmanager:` and the id of a secret whose text it
is. `${NAME}` in a text of it is the environment's NAME: for what a stack
names when it is built (the table, the pool), never for a secret.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

SECRET = "secretsmanager:"
_NAME = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")
_TEXTS = {"plan": "Sonnet requires Standard or Premium plan"}


@dataclass(frozen=True)
class Settings:
    """What the file says.

    engine         the store's URL: sqlite:///./freemium.db, dynamodb://TABLE?region=…
    assay          configuration of the verifier (docs/config.md)
    caller         "gateway": its authorizer has verified the token, and says the claims;
                   "token": the function verifies the bearer token itself
    provider       {"kind": "cognito", "pool": …, "region": …} or {"kind": "local", "file": …}
    model          the metered work, "package.module:function"
    effects        what to do about a notification of Apple's, once; None: nothing
    attest_signup  whether a sign-up needs an attested device (BCK-29)
    attest_calls   whether metered calls need a session text
    account_key    names and opens the accounts of Sign in with Apple; None: without it
    rate_limits    whether metered answers carry RateLimit headers
    texts          `plan`: what a plan does not include, in the operator's words
    """

    engine: str
    assay: dict[str, Any] = field(repr=False)
    provider: dict[str, Any]
    caller: str = "gateway"
    model: str = "freemium.model:echo"
    effects: str | None = None
    attest_signup: bool = False
    attest_calls: bool = False
    account_key: str | None = field(default=None, repr=False)
    rate_limits: bool = True
    texts: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """A text for clients that is the operator's to choose."""
        return self.texts.get(name, _TEXTS[name])

    @classmethod
    def load(cls, where: str | None = None) -> Settings:
        """Of the place that FREEMIUM_CONFIG names. A misspelt member raises TypeError."""
        place = where or os.environ["FREEMIUM_CONFIG"]
        text = _secret(place[len(SECRET) :]) if place.startswith(SECRET) else _read(place)
        return cls.of(json.loads(text))

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Settings:
        members = {_snake(name): value for name, value in _placed(found).items()}
        settings = cls(**members)
        if settings.caller not in ("gateway", "token"):
            raise ValueError("caller is gateway or token")
        return settings


def imported(name: str) -> Any:
    """What "package.module:function" names."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def _read(path: str) -> str:
    return Path(path).read_text("utf-8")


def _secret(name: str) -> str:
    client = import_module("boto3").client("secretsmanager")
    text: str = client.get_secret_value(SecretId=name)["SecretString"]
    return text


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: "_" + found.group().lower(), name)


def _placed(found: Any) -> Any:
    """With the names of the environment in place."""
    if isinstance(found, str):
        return _NAME.sub(lambda name: os.environ[name.group(1)], found)
    if isinstance(found, Mapping):
        return {name: _placed(value) for name, value in found.items()}
    if isinstance(found, list):
        return [_placed(value) for value in found]
    return found
