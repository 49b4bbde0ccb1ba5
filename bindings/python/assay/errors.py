"""Exceptions for refusals: one class for each family of statuses.

    AssayError
    ├── RejectedError      well formed, but not authentic, of another app, or not allowed
    ├── MalformedError     not the format it claims to be
    ├── UnsupportedError   algorithm, version or kind not handled
    ├── TooLargeError      a size, depth or count limit was exceeded
    ├── MisuseError        the calling program broke a rule
    ├── ConfigError        the configuration is not usable
    ├── UnavailableError   a server or database gave no usable reply: retry
    ├── InternalError      a bug or a damaged build; nothing was trusted
    └── PendingError       nothing is decided yet: take the next step

Branch on the class. `status` is detail, for logs and operators.
"""

from __future__ import annotations

from . import _prototypes as _c
from .documents import status_http, status_name, status_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .documents import Document


class AssayError(Exception):
    """A refusal. Trust nothing that was passed to the call.

    status       str: the name of the status, "rejected.chain.untrusted-root"
    code         int: its number, family | detail << 8
    message      str: what is wrong; contains no secret and no personal identifier
    check        str or None: the check that failed, "chain.root"
    rule         str or None: the rule of the specification, "JWS-20"
    at           str or None: the location: a member path, "x5c[2]", a byte offset
    hint         str or None: what the operator should do
    retry_class  str: "never", "later", "same-once", "other-environment",
                 "after-config"
    document     Document or None: the whole document, with every check; None if the call
                 has none, and after pickling
    http_status  int: the HTTP status of a back end's response to its own client

    `str(error)` has status, message, rule, location and hint on one line.
    """

    status: str
    code: int
    message: str
    check: str | None
    rule: str | None
    at: str | None
    hint: str | None
    retry_class: str
    document: Document | None

    def __init__(
        self, code: int, error: Mapping[str, Any], document: Document | None = None
    ) -> None:
        self.code = code
        self.status = status_name(code)
        self.message = error.get("message") or ""
        self.check = error.get("check")
        self.rule = error.get("rule")
        self.at = error.get("at")
        self.hint = error.get("hint")
        self.retry_class = error.get("retryClass") or "never"
        self.document = document
        super().__init__(_sentence(self))

    @property
    def http_status(self) -> int:
        """The HTTP status for a back end's own client: 400, 403, 409, 413, 500 …

        The library defines it; faults of the configuration count as 500.
        """
        return status_http(self.code)

    def __reduce__(self) -> tuple[Any, ...]:
        error = {
            "message": self.message,
            "check": self.check,
            "rule": self.rule,
            "at": self.at,
            "hint": self.hint,
            "retryClass": self.retry_class,
        }
        return type(self), (self.code, error)


class RejectedError(AssayError):
    """Evidence is well formed, but not authentic, of another app, or not allowed."""


class MalformedError(AssayError):
    """Input does not have the format that it claims to have."""


class UnsupportedError(AssayError):
    """An algorithm, version or kind is not handled."""


class TooLargeError(AssayError):
    """A size, depth or count limit was exceeded."""


class MisuseError(AssayError):
    """The calling program broke a rule of the library."""


class ConfigError(AssayError):
    """The configuration is not usable; `at` has the path of the member."""


class UnavailableError(AssayError):
    """A server or database gave no usable reply: retry."""


class InternalError(AssayError):
    """A bug or a damaged build; nothing was trusted."""


class PendingError(AssayError):
    """Nothing is decided yet: take the next step."""


FAMILIES: dict[int, type[AssayError]] = {
    _c.ASSAY_REJECTED: RejectedError,
    _c.ASSAY_MALFORMED: MalformedError,
    _c.ASSAY_UNSUPPORTED: UnsupportedError,
    _c.ASSAY_TOO_LARGE: TooLargeError,
    _c.ASSAY_MISUSE: MisuseError,
    _c.ASSAY_CONFIG: ConfigError,
    _c.ASSAY_UNAVAILABLE: UnavailableError,
    _c.ASSAY_INTERNAL: InternalError,
    _c.ASSAY_PENDING: PendingError,
}


def refusal(document: Document) -> AssayError:
    """Return the exception for a refused document."""
    family = FAMILIES.get(document.code & 0xFF, InternalError)
    return family(document.code, document.error or {}, document)


def refusal_of_status(code: int) -> AssayError:
    """Return the exception for a status that came without a document."""
    error = {
        "message": status_text(code, _c.ASSAY_STATUS_MESSAGE),
        "hint": status_text(code, _c.ASSAY_STATUS_HINT) or None,
        "retryClass": status_text(code, _c.ASSAY_STATUS_RETRY),
    }
    return FAMILIES.get(code & 0xFF, InternalError)(code, error)


def _sentence(error: AssayError) -> str:
    place = ", ".join(
        part for part in (error.rule, f"at {error.at}" if error.at else None) if part
    )
    text = error.status
    if error.message:
        text += f": {error.message}"
    if place:
        text += f" ({place})"
    if error.hint:
        text += f"; hint: {error.hint}"
    return text
