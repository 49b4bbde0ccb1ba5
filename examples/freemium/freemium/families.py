"""The HTTP status for each family of the library's errors, the same for every route (BCK-23)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import assay
from assay import errors

if TYPE_CHECKING:
    from assay.ledger.results import Result

# The HTTP status of a family. A route may respond to a refusal itself; `Backend.answer` responds to
# all others.
STATUS: dict[type[assay.AssayError], int] = {
    assay.RejectedError: 400,
    assay.MalformedError: 400,
    assay.UnsupportedError: 400,
    assay.TooLargeError: 400,
    assay.UnavailableError: 503,
    assay.PendingError: 503,
    assay.MisuseError: 500,
    assay.ConfigError: 500,
    assay.InternalError: 500,
}
# Families whose cause is the evidence, for `except` in a route.
REFUSALS = tuple(family for family, status in STATUS.items() if status == 400)


def status_of(error: assay.AssayError) -> int:
    """Return the HTTP status of an error: 400, 503 or 500."""
    return next((status for family, status in STATUS.items() if isinstance(error, family)), 500)


def raise_for_fault(answer: assay.Document | Result) -> None:
    """Raise the error of a result that is neither ok nor a refusal."""
    document = answer if isinstance(answer, assay.Document) else answer.document
    if not document.ok:
        error = errors.refusal(document)
        if not isinstance(error, REFUSALS):
            raise error
