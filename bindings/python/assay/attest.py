"""Typed facts of App Attest, DeviceCheck and the risk decision.

The same rules as in `facts`. Names are those of the document in snake_case, so
times are `created_ms` (integer milliseconds since 1970 UTC) and `created_at` (an
aware datetime in UTC). `payload` is the JSON of the facts themselves.

Loaded at the first use: `import assay` and the verification of JWS do without it.
"""

from __future__ import annotations

from ._members import (
    Member,
    boolean,
    details,
    details_list,
    inner_octets,
    inner_text,
    integer,
    mapping,
    moment,
    octets,
    text,
    texts,
    time,
)
from .facts import Certificate, Details, Facts, Members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any


# ---- members that are taken apart --------------------------------------------


def _key(form: str, doc: str) -> Any:
    """One form of the public key: bytes."""
    return inner_octets("publicKey", form, doc)


def _challenge() -> Any:
    return inner_text(
        "challenge",
        "sha256",
        "SHA-256 of the challenge in the client data, hex. None: it was not looked for, "
        "and comparing it is up to you (`attest.challenge` of the configuration).",
    )


def _numbers(name: str, doc: str) -> Any:
    """A tuple of int, empty where it is absent; str past 2^53."""

    def convert(value: Any) -> tuple[int | str, ...]:
        return tuple(value) if isinstance(value, list) else ()

    return Member(name, doc, convert)


# ---- what the facts have in common -------------------------------------------


class AttestFacts(Facts):
    """Facts whose JSON is the library's own: nothing of it is signed as JSON."""

    __slots__ = ()

    @property
    def payload(self) -> Mapping[str, Any]:
        """The facts' own JSON, read-only, with members that this version does not know."""
        return self._members()


class Extensions(Members):
    """What systems from iOS 27 on say of the running build."""

    __slots__ = ()

    category: int | None = integer(
        "category", "Where the build came from: 2 TestFlight, 4 App Store …; None: not said."
    )
    category_name: str | None = text(
        "categoryName",
        '"operating-system", "testflight", "development", "app-store", "enterprise", '
        '"developer-id", "other"; None for numbers without a meaning.',
    )
    bundle_version: str | None = text(
        "bundleVersion", 'CFBundleVersion, the build number: "1314".'
    )
    other_extensions: Mapping[str, Any] = mapping(
        "otherExtensions", "Further ones by name; each value's encoding (CBOR) in hex."
    )


class ReceiptMembers(Members):
    """What is said of an App Attest receipt, alone or inside an attestation."""

    __slots__ = ()
    _shown = ("type", "app_id", "environment", "bound", "risk", "refresh_due")

    type: str | None = text(
        "type", '"ATTEST", from the app; "RECEIPT", from Apple after a refresh.'
    )
    app_id: str | None = text("appId", "App ID prefix, dot, bundle id.")
    environment: str | None = text("environment", '"production" or "sandbox".')
    key_id: str | None = text("keyId", "The key that it is about, base64.")
    bound: bool | None = boolean(
        "bound", "Whether it was checked to be about the key that was given."
    )
    created_ms: int | None = time("createdMs", "When Apple made it.")
    created_at: datetime | None = moment("createdMs")
    not_before_ms: int | None = time("notBeforeMs", 'Earliest refresh; only "RECEIPT".')
    not_before_at: datetime | None = moment("notBeforeMs")
    expires_ms: int | None = time("expiresMs", "From then on only a new key helps.")
    expires_at: datetime | None = moment("expiresMs")
    expired: bool | None = boolean(
        "expired", "Whether it has ended; True only with `attest.time: stored`."
    )
    risk: int | None = integer(
        "risk",
        "About how many keys this app attested on this device in the last 30 days; "
        'only "RECEIPT". 1 to 3 are everyday.',
    )
    refresh_at_ms: int | None = time(
        "refreshAtMs", "When a refresh is due; None: none can be had any more."
    )
    refresh_at: datetime | None = moment("refreshAtMs")
    refresh_due: bool | None = boolean("refreshDue", "Whether it is due at `now`.")
    token: str | None = text("token", "Apple's token in it, base64.")
    signer: Certificate | None = details("signer", Certificate, "The signing certificate.")
    unknown_fields: tuple[int | str, ...] = _numbers(
        "unknownFields", "Numbers of the fields that this version does not know."
    )


# ---- attestations, assertions, receipts --------------------------------------


class System(Details):
    """The system on the device, as Apple wrote it into the certificate. Undocumented:
    proof of nothing, and absent at times."""

    __slots__ = ()
    _shown = ("platform", "version", "build")

    version: str | None = text("version", '"27.0.1".')
    build: str | None = text("build", '"24A446".')
    platform: str | None = text("platform", '"iphoneos", "macosx" …; None before iOS 16.')


class AttestedReceipt(ReceiptMembers, Details):
    """The receipt inside an attestation: verified with it, about its key."""

    __slots__ = ()

    raw: bytes | None = octets("bytes", "The receipt itself, to be stored and refreshed.")


class Attestation(AttestFacts, Extensions):
    """A key in the Secure Enclave of a genuine Apple device, made by your app.

    Store `key_id`, `public_key`, `app_id`, `environment`, the counter 0 and
    `receipt.raw`, bound to the account; refuse a key that another account has. It
    says neither who the person is nor that the device is free of tampering.
    """

    __slots__ = ()
    _shown = ("key_id", "app_id", "environment", "category_name")

    key_id: str | None = text("keyId", "SHA-256 of the key, standard base64.")
    public_key: bytes | None = _key(
        "x963", "The point 04 || X || Y, 65 bytes: what `verify_assertion` takes."
    )
    public_key_spki: bytes | None = _key("spki", "The same as SubjectPublicKeyInfo, 91 bytes.")
    app_id: str | None = text("appId", "App ID prefix, dot, bundle id: the one that matched.")
    environment: str | None = text("environment", '"production" or "development".')
    aaguid: str | None = text("aaguid", "What the environment was told by, hex.")
    flags: int | None = integer("flags", "Of the authenticator data; reported, not judged.")
    counter: int | None = integer("counter", "0: the first value to store.")
    nonce: str | None = text("nonce", "SHA-256 that the certificate carries, hex.")
    os: System | None = details("os", System, "The system on the device.")
    acl: str | None = text("acl", "Access control octets of the key, hex.")
    challenge_sha256: str | None = _challenge()
    leaf: Certificate | None = details("leaf", Certificate, "The key's certificate.")
    receipt: AttestedReceipt | None = details(
        "receipt", AttestedReceipt, "None only with `attest.receipt: ignore`."
    )
    revocation: str | None = text("revocation", '"not-available": Apple offers none.')


class Assertion(AttestFacts, Extensions):
    """The attested key signed these client data, later than the last time.

    Store `counter` with "only if the stored one is still smaller": of two requests
    with one counter exactly one may pass.
    """

    __slots__ = ()
    _shown = ("app_id", "counter", "previous_counter", "category_name")

    app_id: str | None = text("appId", "App ID prefix, dot, bundle id: the one that matched.")
    counter: int | None = integer("counter", "The new one, to be stored.")
    previous_counter: int | None = integer("previousCounter", "The one that was given.")
    flags: int | None = integer("flags", "Of the authenticator data; reported, not judged.")
    nonce: str | None = text("nonce", "SHA-256 that was signed, hex.")
    challenge_sha256: str | None = _challenge()


class AttestReceipt(AttestFacts, ReceiptMembers):
    """Apple's statement about an attested key; a refreshed one has a risk metric."""

    __slots__ = ()


# ---- DeviceCheck -------------------------------------------------------------


class DeviceBit(Details):
    """One of the two bits that Apple keeps for a device and a developer team."""

    __slots__ = ()
    _shown = ("name", "set")

    name: str | None = text("name", "Its meaning by `deviceCheck.bits`; None: not configured.")
    value: bool | None = boolean("value", "As Apple has it.")
    aged: bool | None = boolean("aged", "Older than its `resetAfterMonths`: counts as clear.")
    set: bool | None = boolean("set", "Whether it counts as set.")


class DeviceBits(Details):
    """The two bits."""

    __slots__ = ()
    _shown = ("bit0", "bit1")

    bit0: DeviceBit | None = details("bit0", DeviceBit, "The first one.")
    bit1: DeviceBit | None = details("bit1", DeviceBit, "The second one.")


class DeviceCheck(AttestFacts):
    """What an answer of Apple's DeviceCheck endpoint means.

    An answer that says nothing is neither a clean device nor a used one. Hand it to
    `assess_risk` as the observation `deviceCheck`; after a refusal it stands in
    `error.document.facts`, with outcome "token-refused" or "unavailable".
    """

    __slots__ = ()
    _shown = ("outcome", "fault", "month", "offer")

    outcome: str | None = text(
        "outcome",
        '"bits", "no-bits" (genuine, never written by this team), "updated", "valid", '
        '"token-refused", "unavailable".',
    )
    fault: str | None = text(
        "fault", 'Whose fault a refusal is: "client", "ours", "transient", "unknown".'
    )
    month: str | None = text("month", 'Last write, "2026-05": no better is to be had.')
    age_months: int | None = integer("ageMonths", "Calendar months since then, never days.")
    bits: DeviceBits | None = details("bits", DeviceBits, 'Only with the outcome "bits".')
    offer: str | None = text(
        "offer", '"free" or "device-used"; None where `offer` was not asked for.'
    )


# ---- risk --------------------------------------------------------------------


class RiskReason(Details):
    """One rule that fired."""

    __slots__ = ()
    _shown = ("id", "verdict", "why")

    id: str | None = text("id", '"RSK-16".')
    verdict: str | None = text("verdict", "What this rule alone comes to.")
    why: str | None = text("why", "For the operator's log.")


class ClientError(Details):
    """What to do about the error code that the app saw. A code is the client's word."""

    __slots__ = ()
    _shown = ("code", "name")

    code: int | None = integer("code", "0 to 4, of com.apple.devicecheck.error.")
    name: str | None = text("name", '"serverUnavailable" …')
    app: str | None = text("app", "What the app does next.")
    action: str | None = text("action", "What the server makes of it.")
    text: str | None = text("text", "What a person may read.")


class Risk(AttestFacts):
    """What to do with a request that comes without an assertion, or with one.

    Advice with reasons, never an entitlement: a paid request still needs its plan.
    """

    __slots__ = ()
    _shown = ("verdict", "would", "reasons", "allowance", "retry_after_ms")

    verdict: str | None = text(
        "verdict", '"allow", "limited", "step-up" (ask for something stronger), "deny".'
    )
    would: str | None = text(
        "would", "The real verdict while `risk.mode` is record, when `verdict` is allow."
    )
    reasons: tuple[str, ...] = texts("reasons", "Ids of all rules that fired.")
    rules: tuple[RiskReason, ...] = details_list("rules", RiskReason, "The same, explained.")
    allowance: int | None = integer("allowance", 'Requests per day; only with "limited".')
    retry_after_ms: int | None = integer(
        "retryAfterMs", "Milliseconds after which asking again may help; None: it will not."
    )
    client: ClientError | None = details(
        "client", ClientError, "About the `errorCode` observed; None without one."
    )

    @property
    def allowed(self) -> bool:
        """Whether the verdict is allow. False for any other."""
        return self._document.ok

    @property
    def status(self) -> str:
        """Name of the status: "ok", "rejected.risk.limited" …"""
        return self._document.status

    @property
    def http_status(self) -> int:
        """What to answer the client: 200, 401 step-up, 403 deny, 429 limited."""
        from .errors import refusal

        return 200 if self.allowed else refusal(self._document).http_status


# Kind of a document -> its facts and the path of the member that holds them.
KINDS: dict[str, tuple[type[Facts], str]] = {
    "attestation": (Attestation, "attestation"),
    "assertion": (Assertion, "assertion"),
    "attest-receipt": (AttestReceipt, "attestReceipt"),
    "risk": (Risk, "risk"),
    "exchange": (DeviceCheck, "exchange.deviceCheck"),
}
