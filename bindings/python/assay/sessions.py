"""Session tokens: one attestation or assertion for a short while (docs/tasks/sessions.md).

Loaded on first use.
"""

from __future__ import annotations

from ._calls import accepted, given
from .signing import IssuedSession, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from ._calls import Time
    from .attest import Assertion, Attestation
    from .documents import Document


class Sessions:
    """Issues and verifies session tokens. Made by `Verifier.sessions`."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[..., Document]) -> None:
        self._call = call

    def __repr__(self) -> str:
        return "<assay.Sessions>"

    def issue_session(
        self,
        evidence: Assertion | Attestation | Document,
        account: str,
        verdict: Literal["allow", "limited"] = "allow",
        risk: int | None = None,
        binding: str | None = None,
        ttl_ms: int | None = None,
        now: Time | None = None,
    ) -> IssuedSession:
        """Issue a session token: this account proved this key a short while ago. Issue it
        only after challenge and counter were stored, which the library cannot check.

        evidence  facts or document of one attestation or assertion of this verifier
        account   1 to 255 bytes, no space at either end
        verdict   "limited": valid for free calls, and for metered ones that you count
        risk      the metric of the key's receipt, if it is known
        binding   1 to 255 bytes that the caller must present again, preferably
                  `origin_jti` of its access token
        ttl_ms    lifetime in milliseconds, at most an hour; None: `session.ttlMs`

        Needs the block `session` (ConfigError). Raises MisuseError for evidence that was
        refused, is of another kind or was verified with `attest.time` "stored".
        """
        request = {
            "operation": "issue-session",
            "account": account,
            "verdict": verdict,
            "risk": risk,
            "binding": binding,
            "ttlMs": ttl_ms,
        }
        document = accepted(self._call(given(request), now, evidence))
        return IssuedSession(document.json["exchange"]["session"])

    def verify_session(
        self,
        session: str,
        purpose: Literal["read", "free", "metered", "restore", "promo", "paid"],
        account: str | None = None,
        binding: str | None = None,
        now: Time | None = None,
    ) -> Session:
        """Verify a session token, without any database, and return what it proves.

        session  the text that the app sent
        purpose  the purpose of the request; promo and paid need an assertion
                 (rejected.session.assertion-required)
        account  that of the caller's access token: always pass it if there is one
        binding  the binding with which the session was issued

        Raises RejectedError, MalformedError or TooLargeError for a text that is forged,
        expired, or of another account: ask the app for a new assertion.
        """
        request = {
            "operation": "verify-session",
            "session": session,
            "purpose": purpose,
            "account": account,
            "binding": binding,
        }
        document = accepted(self._call(given(request), now))
        return Session(document.json["exchange"]["session"])
