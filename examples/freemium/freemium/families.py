"""What an error of the library is for a client, decided once for every route (BCK-23)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import assay
from assay import errors

if TYPE_CHECKING:
    from assay.ledger.results import Result

# The HTTP status of a family. A route may answer a refusal in its own words; the others are
# answered by `Backend.answer` alone.
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
# The evidence is at fault: for `except` in a route.
REFUSALS = tuple(family for family, status in STATUS.items() if status == 400)


def status_of(error: assay.AssayError) -> int:
    """400, 503 or 500."""
    return next((status for family, status in STATUS.items() if isinstance(error, family)), 500)


def raise_for_fault(answer: assay.Document | Result) -> None:
    """Raise the error of an answer that is neither good nor a refusal."""
    document = answer if isinstance(answer, assay.Document) else answer.document
    if not document.ok:
        error = errors.refusal(document)
        if not isinstance(error, REFUSALS):
            raise error
