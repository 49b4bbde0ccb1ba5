"""Evidence that Apple would sign, minted for tests by your own test authority.

    from assay_testing import Authority

    authority = Authority()                          # keys and roots in a folder of its own
    jws = authority.transaction(product="com.example.app.lifetime", type="non-consumable")
    transaction = authority.verifier.verify_transaction(jws)

    verifier = authority.trusting(production_config)     # your configuration, these roots

With pytest the fixture `assay_authority` is such an authority, one for the whole run.
This module opens no network connection and needs no device.
"""

from __future__ import annotations

import datetime
import json
import os
import pathlib
import subprocess
import tempfile
import weakref
from collections.abc import Mapping
from typing import Any, NamedTuple, Union

import assay

__all__ = ["Assertion", "Attestation", "Authority", "MintError", "program"]

#: The values of an option: dates are `datetime` with a zone, or milliseconds since 1970 UTC.
Option = Union[str, int, bool, None, datetime.datetime, Mapping[str, Any], "list[str]"]

_TIMEOUT_SECONDS = 120
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


class MintError(ValueError):
    """Raised if the options are invalid or do not fit together; the message names the fix."""


class Attestation(NamedTuple):
    """What a device sends once for its key."""

    #: The attestation object, CBOR.
    object: bytes
    #: The key's id, standard base64, as iOS gives it to the app.
    key_id: str
    #: What the app signed.
    client_data: bytes


class Assertion(NamedTuple):
    """What a device sends with a request."""

    #: The assertion object, CBOR.
    object: bytes
    #: The point of the key that signed it, standard base64.
    public_key: str
    #: What the app signed.
    client_data: bytes
    counter: int


def program() -> pathlib.Path:
    """Return the command line `assay`: the one in this package, or that of ASSAY_PROGRAM."""
    named = os.environ.get("ASSAY_PROGRAM")
    return pathlib.Path(named) if named else pathlib.Path(__file__).with_name("assay")


class Authority:
    """A test authority: keys, roots, and what they sign.

    `folder` stores the authority, so that evidence of several runs has one root; without it
    the authority lasts as long as this object. `bundle_id`, `app_id` and `team` are those of
    the app for which evidence is minted; `now` is the current time of everything that is
    minted; without it, the real time.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        bundle_id: str = "com.example.app",
        app_id: int = 1234567890,
        team: str = "ABCDE12345",
        now: datetime.datetime | int | None = None,
    ) -> None:
        if folder is None:
            kept = tempfile.TemporaryDirectory(prefix="assay-testing-")
            self._finalizer = weakref.finalize(self, kept.cleanup)
            folder = kept.name
        self.folder = pathlib.Path(folder)
        self.now = now
        self._app: dict[str, Option] = {"bundle_id": bundle_id, "app_id": app_id, "team": team}
        self.transaction()  # the first evidence creates the folder
        self._verifier: assay.Verifier | None = None

    # ---- verifiers that trust it --------------------------------------------------

    @property
    def config(self) -> dict[str, Any]:
        """A configuration that accepts what this authority mints, with a small catalogue."""
        found: dict[str, Any] = json.loads((self.folder / "config.json").read_text())
        found["apps"][0]["teamId"] = self._app["team"]
        return found

    @property
    def verifier(self) -> assay.Verifier:
        """A verifier of `config`."""
        if self._verifier is None:
            self._verifier = assay.Verifier(self.config)
        return self._verifier

    def trusting(self, config: Mapping[str, Any] | str) -> assay.Verifier:
        """Return a verifier of your own configuration with only the roots of this authority.

        App Attest needs an App ID: without one in the configuration it stays unavailable.
        """
        found = json.loads(config) if isinstance(config, str) else json.loads(json.dumps(config))
        attests = "attest" in found or any("teamId" in app for app in found.get("apps", []))
        mine = self.config
        for block, names in (
            ("storekit", ("anchors",)),
            ("receipts", ("anchors", "intermediates")),
            ("attest", ("anchors", "receiptAnchors")),
        ):
            for name in names if attests or block != "attest" else ():
                if name in mine.get(block, {}):
                    found.setdefault(block, {})[name] = mine[block][name]
        return assay.Verifier(found)

    # ---- minting ----------------------------------------------------------------

    def mint(self, kind: str, **options: Option) -> bytes:
        """Mint evidence of a kind, as bytes; the options are those of `assay mint`.

        `expired=True` is --expired, `purchased=` takes a date, `set={"price": 1990}` and
        `remove=["currency"]` change members of the payload, `forge="JWS-29"` breaks a rule.
        Raises MintError for what Apple could not have signed.
        """
        given = {"now": self.now, **self._app, **options}
        words = [str(program()), "mint", kind, "--authority", str(self.folder)]
        for name, value in given.items():
            words += _words(name.replace("_", "-"), value)
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise MintError(done.stderr.decode(errors="replace").strip())
        return done.stdout

    def transaction(self, **options: Option) -> str:
        """Mint a signed transaction, as StoreKit passes it to the app."""
        return self._text("transaction", options)

    def renewal_info(self, **options: Option) -> str:
        """Mint a signed renewal info."""
        return self._text("renewal-info", options)

    def notification(self, type: str = "SUBSCRIBED", **options: Option) -> str:
        """Mint the `signedPayload` of a server notification, with its nested JWS."""
        return self._text("notification", {"notification_type": type, **options})

    def app_transaction(self, **options: Option) -> str:
        """Mint a signed app transaction."""
        return self._text("app-transaction", options)

    def realtime_request(self, **options: Option) -> str:
        """Mint a signed realtime request."""
        return self._text("realtime-request", options)

    def transaction_receipt(self, **options: Option) -> str:
        """Mint a transaction receipt of iOS 3 to 6, base64 as clients send it."""
        return self._text("transaction-receipt", options)

    def app_receipt(self, **options: Option) -> str:
        """Mint an app receipt, base64 as clients send it."""
        return self._text("app-receipt", options)

    def verify_receipt_response(self, **options: Option) -> str:
        """Mint a response from Apple's verifyReceipt endpoint, as JSON."""
        return self._text("verify-receipt-response", options)

    def attestation(self, client_data: str = "hello", **options: Option) -> Attestation:
        """Mint what attestKey returns to the app, for the one device of this authority."""
        found = self.mint("attestation", transport="raw", client_data=client_data, **options)
        return Attestation(found, self._device("keyId"), client_data.encode())

    def assertion(
        self, client_data: str = "hello", counter: int = 1, **options: Option
    ) -> Assertion:
        """Mint what generateAssertion returns to the app, by the key of the same device."""
        found = self.mint(
            "assertion", transport="raw", client_data=client_data, counter=counter, **options
        )
        return Assertion(found, self._device("publicKey"), client_data.encode(), counter)

    def attest_receipt(self, **options: Option) -> str:
        """Mint a receipt of App Attest, base64; `refreshed=True, risk=3` for one with a metric."""
        return self._text("attest-receipt", options)

    def _text(self, kind: str, options: Mapping[str, Option]) -> str:
        return self.mint(kind, **options).decode().strip()

    def _device(self, member: str) -> str:
        found: dict[str, str] = json.loads((self.folder / "device.json").read_text())
        return found[member]


def _words(name: str, value: Option) -> list[str]:
    """Return `--name=value` for each value; nothing for None and False."""
    if value is None or value is False:
        return []
    if value is True:
        return [f"--{name}"]
    if isinstance(value, Mapping):
        return [f"--{name}={member}={json.dumps(inner)}" for member, inner in value.items()]
    if isinstance(value, list):
        return [f"--{name}={inner}" for inner in value]
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise MintError(f"{name}: a date needs a time zone, like datetime.timezone.utc")
        return [f"--{name}={(value - _EPOCH) // datetime.timedelta(milliseconds=1)}"]
    return [f"--{name}={value}"]
