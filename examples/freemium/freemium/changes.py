"""A message when what an account has has changed (BCK-25), for its other devices.

At least once: whoever caused the change (the app, Apple, the schedule) repeats what got no
answer, and a mark that is made before the change makes the repetition publish as well. All
messages of one change have one id, so that a receiver can drop the second. A message says that
something changed, and not what: the receiver asks, so that no order matters. Only the account
that a subscription moves away from hears nothing if a fault came between the move and its message.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .records import Unreachable

if TYPE_CHECKING:
    from assay.ledger.results import SubscriptionUpdate

    from .services import Services

log = logging.getLogger("freemium")


class Change:
    """One change that is about to be made, from its mark to `made`.

    key  what a repetition of the same request has too
    """

    def __init__(self, backend: Services, key: str) -> None:
        self._backend, self._key, self._id = backend, key, secrets.token_hex(16)
        self._is_owed = False
        if backend.settings.push is not None:
            found = backend.records.promise(key, self._id, backend.now)
            self._is_owed, self._id = found != self._id, found

    def made(
        self,
        changed: bool,
        *,
        accounts: Iterable[str | None] = (),
        updates: Iterable[SubscriptionUpdate] = (),
    ) -> None:
        """Publish if something changed, now or before a fault: for these accounts, and for the
        owners of these subscriptions.

        Raises Unreachable if a message did not get through: the mark stays.
        """
        if self._backend.settings.push is None:
            return
        if changed or self._is_owed:
            owners = (self._owner(each) for each in updates)
            for account in sorted({each for each in (*accounts, *owners) if each}):
                self._published(account)
        self._backend.records.fulfil(self._key)

    def _owner(self, update: SubscriptionUpdate) -> str | None:
        found = update.subscription
        if found is None or not (update.changed or self._is_owed):
            return None
        return self._backend.records.owner(found.environment, found.original_transaction_id)

    def _published(self, account: str) -> None:
        message = {"id": self._id, "account": account, "atMs": self._backend.now}
        try:
            self._backend.publish(message)
        except Exception as fault:
            log.error("push: %s", type(fault).__name__)
            raise Unreachable from fault
