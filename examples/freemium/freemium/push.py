"""Where it is published that what an account has has changed: a topic of SNS, or a function of
the operator's. What a message is, and when there is one, is in changes.py."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from .settings import imported

Publish = Callable[[Mapping[str, Any]], object]
# An answer waits for the message, so it is given up soon.
SECONDS = 2.0


def publisher_of(found: str | Mapping[str, Any]) -> Publish:
    """Return what publishes a message: a function of the operator's, or {"kind": "sns", "topic":
    ARN, …}."""
    if isinstance(found, str):
        function: Publish = imported(found)
        return function
    return SNS(found["topic"], region=found.get("region"), endpoint=found.get("endpoint"))


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
