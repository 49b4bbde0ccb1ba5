"""A message when what an account has has changed (BCK-25), for its other devices.

At least once: whoever caused the change (the app, Apple, the schedule) repeats what got no
answer, and a mark that is made before the change makes the repetition publish as well. All
messages of one change have one id, so that a receiver can drop the second. A message says that
something changed, and not what: the receiver asks, so that no order matters.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .records import Unreachable
from .settings import imported

if TYPE_CHECKING:
    from assay.ledger.results import SubscriptionUpdate

    from .services import Services

log = logging.getLogger("freemium")

Publish = Callable[[Mapping[str, Any]], object]
# An answer waits for the message, so it is given up soon.
SECONDS = 2.0


def publisher_of(found: str | Mapping[str, Any]) -> Publish:
    """Return what publishes a message: a function of the operator's, or {"kind": "sns", "topic":
    ARN, …}. Raises ValueError for other settings."""
    if isinstance(found, str):
        function: Publish = imported(found)
        return function
    if found.get("kind") != "sns" or not isinstance(found.get("topic"), str):
        raise ValueError("push is package.module:function, or push.kind is sns with push.topic")
    return SNS(found["topic"], region=found.get("region"), endpoint=found.get("endpoint"))


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


class SNS:
    """A topic of Amazon SNS. The message is JSON: `id`, `account`, `atMs`."""

    def __init__(
        self, topic: str, *, region: str | None = None, endpoint: str | None = None
    ) -> None:
        config = import_module("botocore.config").Config(
            connect_timeout=SECONDS, read_timeout=SECONDS, retries={"total_max_attempts": 1}
        )
        self._topic = topic
        self._client = import_module("boto3").client(
            "sns", region_name=region, endpoint_url=endpoint, config=config
        )

    def __call__(self, message: Mapping[str, Any]) -> None:
        # A FIFO topic drops repetitions within five minutes by itself.
        fifo = {
            "MessageGroupId": message["account"],
            "MessageDeduplicationId": f"{message['id']}-{message['account']}"[:128],
        }
        more = fifo if self._topic.endswith(".fifo") else {}
        self._client.publish(TopicArn=self._topic, Message=json.dumps(message), **more)
