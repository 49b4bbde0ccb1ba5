"""The configuration: engine, provider, options, keys, and the verifier's policy.

FREEMIUM_CONFIG names it: a path, or `secretsmanager:` and the id of a secret that contains it.
Several, separated by spaces, are merged: a later one adds to the objects of an earlier one, or
replaces its values. So each function gets the keys that its routes need and no others.
`${NAME}` in a text is the environment's NAME: for what a stack names when it is built (the
table, the pool), never for a secret.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

SECRET = "secretsmanager:"
_FUNCTION = re.compile(r"[\w.]+:\w+")
_NAME = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")
_TEXTS = {
    "plan": "Sonnet requires Standard or Premium plan",
    "restricted": "This account is restricted",
}
FEWEST_KEY_BYTES = 32
HIGHEST_CEILING = 2**53 - 1


@dataclass(frozen=True)
class Settings:
    """The configuration. A value of the wrong form raises ValueError with its name.

    engine         the database's URL: sqlite:///./freemium.db, dynamodb://TABLE?region=…
    assay          configuration of the verifier (docs/config.md)
    caller         "gateway": its authorizer has verified the token and passes the claims;
                   "token": the function verifies the bearer token itself
    provider       {"kind": "cognito", "pool": …, "region": …} or {"kind": "local", "file": …}
    model          the metered work, "package.module:function", or {"kind": "bedrock", "models":
                   {tier: id}, …} (bedrock.py)
    effects        the function to call once for each of Apple's notifications, or None
    attest_signup  whether a sign-up needs an attested device (BCK-29)
    attest_calls   whether metered calls need a session token
    account_key    the key for names and passwords of Sign in with Apple accounts: base64 of at
                   least 32 bytes; None disables Sign in with Apple
    account_name_key  the first account_key of this pool, once another one has replaced it: names
                   are made of it for good, passwords are not
    testers        accounts, by `sub`, for which purchases of Sandbox count as paid
    ceiling        tier: how many calls a day all accounts together may make
    base_path      "/api": the prefix of the routes if the gateway does not remove it
    rate_limits    whether metered responses have RateLimit headers
    push           where it is published that what an account has has changed:
                   "package.module:function", or {"kind": "sns", "topic": ARN}; None: nowhere
    promotions     name: {"product": …, "offer": …, "grant": "package.module:function"}, what is
                   granted once a device (promotions.py)
    refunds        `usage` and `consent`: "package.module:function", what is known when Apple asks
                   about a refund (refunds.py); nothing is sent without consent
    texts          the operator's texts: `plan` for what a plan does not include, `restricted` for
                   an account that is restricted
    """

    engine: str
    assay: dict[str, Any] = field(repr=False)
    provider: dict[str, Any]
    caller: str = "gateway"
    model: str | Mapping[str, Any] = "freemium.model:echo"
    effects: str | None = None
    attest_signup: bool = False
    attest_calls: bool = False
    account_key: str | None = field(default=None, repr=False)
    account_name_key: str | None = field(default=None, repr=False)
    push: str | Mapping[str, Any] | None = None
    promotions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    refunds: Mapping[str, str] = field(default_factory=dict)
    rate_limits: bool = True
    texts: Mapping[str, str] = field(default_factory=dict)
    testers: Sequence[str] = ()
    ceiling: Mapping[str, int] = field(default_factory=dict)
    base_path: str = ""

    def __post_init__(self) -> None:
        if self.caller not in ("gateway", "token"):
            raise ValueError("caller is gateway or token")
        if self.account_key is not None:
            _key("accountKey", self.account_key)
        if self.account_name_key is not None:
            _key("accountNameKey", self.account_name_key)
        if not _are_texts(self.testers):
            raise ValueError("testers is a list of accounts")
        if not isinstance(self.ceiling, Mapping):
            raise ValueError("ceiling is an object of tiers")
        for tier, most in self.ceiling.items():
            if isinstance(most, bool) or not isinstance(most, int) or most < 1:
                raise ValueError(f"ceiling.{tier} is a number of calls, 1 or more")
            if most > HIGHEST_CEILING:
                raise ValueError(f"ceiling.{tier} is larger than 2^53 - 1")
        if self.push is not None and not _is_push(self.push):
            raise ValueError("push is package.module:function, or push.kind is sns with push.topic")
        if not isinstance(self.promotions, Mapping):
            raise ValueError("promotions is an object of offers")
        for name, found in self.promotions.items():
            if not _is_promotion(found):
                raise ValueError(f"promotions.{name} has product and offer, or grant")
        if not _are_hooks(self.refunds):
            raise ValueError("refunds is an object of usage and consent, package.module:function")
        if self.base_path != "" and not _is_base_path(self.base_path):
            raise ValueError("basePath begins with / and does not end with one")

    @property
    def account_key_bytes(self) -> bytes:
        """The bytes of `account_key`. Raises ValueError if there is none."""
        return _key("accountKey", self.account_key)

    @property
    def account_name_key_bytes(self) -> bytes:
        """The bytes of the key of names: `account_key`, if it is the first one of the pool."""
        if self.account_name_key is None:
            return self.account_key_bytes
        return _key("accountNameKey", self.account_name_key)

    def text(self, name: str) -> str:
        """Return a text for clients that the operator may choose."""
        return self.texts.get(name, _TEXTS[name])

    @classmethod
    def load(cls, where: str | None = None) -> Settings:
        """Load the settings from the sources in FREEMIUM_CONFIG. A misspelt member raises
        TypeError."""
        found: Any = {}
        for place in [where] if where else os.environ["FREEMIUM_CONFIG"].split():
            text = _secret(place[len(SECRET) :]) if place.startswith(SECRET) else _read(place)
            found = _added(found, json.loads(text))
        return cls.of(found)

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Settings:
        members = {_snake(name): value for name, value in _placed(found).items()}
        return cls(**members)


def imported(name: str) -> Any:
    """Return the object that "package.module:function" names."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def _key(name: str, text: object) -> bytes:
    """Return the bytes of a key. No message contains the key's text."""
    try:
        octets = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        octets = b""
    if len(octets) < FEWEST_KEY_BYTES:
        raise ValueError(f"{name} is base64 of {FEWEST_KEY_BYTES} random bytes or more")
    return octets


def _are_texts(found: object) -> bool:
    if isinstance(found, str) or not isinstance(found, Sequence):
        return False
    return all(isinstance(each, str) and each for each in found)


def _is_base_path(found: object) -> bool:
    return isinstance(found, str) and re.fullmatch("(/[^/]+)+", found) is not None


def _is_push(found: object) -> bool:
    if isinstance(found, Mapping):
        return found.get("kind") == "sns" and _are_texts([found.get("topic")])
    return isinstance(found, str) and _FUNCTION.fullmatch(found) is not None


def _are_hooks(found: object) -> bool:
    if not isinstance(found, Mapping) or not set(found) <= {"usage", "consent"}:
        return False
    return all(isinstance(each, str) and _FUNCTION.fullmatch(each) for each in found.values())


def _is_promotion(found: object) -> bool:
    """Return whether something can be granted: an offer of the App Store, or by a function."""
    if not isinstance(found, Mapping) or not _are_texts(list(found.values())):
        return False
    return set(found) in ({"product", "offer"}, {"grant"}, {"product", "offer", "grant"})


def _added(first: Any, second: Any) -> Any:
    """Merge two objects; of two other values return the second."""
    if not (isinstance(first, Mapping) and isinstance(second, Mapping)):
        return second
    both = {name: _added(first[name], second[name]) for name in first if name in second}
    return {**first, **second, **both}


def _read(path: str) -> str:
    return Path(path).read_text("utf-8")


def _secret(name: str) -> str:
    client = import_module("boto3").client("secretsmanager")
    text: str = client.get_secret_value(SecretId=name)["SecretString"]
    return text


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: "_" + found.group().lower(), name)


def _placed(found: Any) -> Any:
    """Replace the names of environment variables by their values."""
    if isinstance(found, str):
        return _NAME.sub(lambda name: os.environ[name.group(1)], found)
    if isinstance(found, Mapping):
        return {name: _placed(value) for name, value in found.items()}
    if isinstance(found, list):
        return [_placed(value) for value in found]
    return found
