"""What a refusal raises: one class for each family of statuses.

    AssayError
    ├── RejectedError      well formed, but not authentic, not for us, not allowed
    ├── MalformedError     not the format it claims to be
    ├── UnsupportedError   algorithm, version or kind not handled
    ├── TooLargeError      a size, depth or count limit was exceeded
    ├── MisuseError        the calling program broke a rule
    ├── ConfigError        the configuration is not usable
    ├── UnavailableError   the other side gave no usable answer: retry
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
    """A refusal. Nothing that the call was given may be trusted.

    status       str: the name of the status, "rejected.chain.untrusted-root"
    code         int: its number, family | detail << 8
    message      str: what is wrong; holds no secret and no personal identifier
    check        str or None: the check that failed, "chain.root"
    rule         str or None: the rule of the specification, "JWS-20"
    at           str or None: the place: a member path, "x5c[2]", a byte offset
    hint         str or None: what the operator should do
    retry_class  str: "never", "later", "same-once", "other-environment",
                 "after-config"
    document     Document or None: the whole answer, with every check made; None
                 where a call has none, and after pickling
    http_status  int: what a back end would answer its own client

    `str(error)` has status, message, rule, place and hint on one line.
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
        """What a back end would answer its own client, 400, 403, 409, 413, 500 …

        The library says it; the configuration's own faults count as 500.
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
    """Well formed, but not authentic, not for us, or not allowed."""


class MalformedError(AssayError):
    """Not the format it claims to be."""


class UnsupportedError(AssayError):
    """Algorithm, version or kind not handled."""


class TooLargeError(AssayError):
    """A size, depth or count limit was exceeded."""


class MisuseError(AssayError):
    """The calling program broke a rule of the library."""


class ConfigError(AssayError):
    """The configuration is not usable; `at` has the path of the member."""


class UnavailableError(AssayError):
    """The other side gave no usable answer: retry."""


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
    """The exception for a refused document."""
    family = FAMILIES.get(document.code & 0xFF, InternalError)
    return family(document.code, document.error or {}, document)


def refusal_of_status(code: int) -> AssayError:
    """The exception for a status that came without a document."""
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
