"""Models of Amazon Bedrock by the operation Converse: one for each tier.

One call of a client is at most one answer of a model: boto3 repeats nothing, and what is
repeated here is only what Bedrock refused before a model ran. Whatever comes late is dropped.
"""

from __future__ import annotations

import logging
import queue
import random
import threading
import time
from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Any

from .model import BadInput, Misconfigured, NoAnswer

log = logging.getLogger("freemium")

MEMBERS = ("kind", "models", "system", "maxTokens", "longestInput", "seconds", "region", "endpoint")
# The refusals of Bedrock by what helps. After all others, and after a connection that ended, the
# model may have run: those are not repeated, since the operator pays for each run.
BEFORE_THE_MODEL = ("ThrottlingException", "ModelNotReadyException", "ServiceUnavailableException")
OPERATORS = ("AccessDeniedException", "ResourceNotFoundException", "ValidationException")
REPETITIONS = 1
PAUSE_SECONDS = 0.5
CONNECT_SECONDS = 2.0
# A call that would have less time than this is not begun.
FEWEST_SECONDS = 1.0
# Ends of an answer without text that is delivered and counted all the same: who sends such input
# would otherwise use the model without a limit.
WITHHELD = ("content_filtered", "guardrail_intervened")
MALFORMED = ("malformed_model_output", "malformed_tool_use")


def bedrock_of(found: Mapping[str, Any], tiers: Collection[str]) -> Bedrock:
    """Return the models of the settings.

    tiers  those of the limits; `models` must name a model for each, and for no other
    """
    for name in found:
        if name not in MEMBERS:
            raise TypeError(f"model.{name} is unknown")
    models = found.get("models")
    if not isinstance(models, Mapping) or set(models) != set(tiers):
        raise ValueError(f"model.models names a model for each tier: {', '.join(sorted(tiers))}")
    for tier, model in models.items():
        if not isinstance(model, str) or not model:
            raise ValueError(f"model.models.{tier} is the id or ARN of a model")
    return Bedrock(
        models,
        system=found.get("system"),
        max_tokens=_number(found, "maxTokens", 1024),
        longest_input=_number(found, "longestInput", 20_000),
        seconds=float(_number(found, "seconds", 20)),
        region=found.get("region"),
        endpoint=found.get("endpoint"),
    )


class Bedrock:
    """A model that is called as `model.echo` is; safe for any number of threads.

    models         tier: id or ARN of a model, or of an inference profile
    system         the operator's text before the customer's; None: none
    max_tokens     the most tokens of an answer, which bounds what one call costs
    longest_input  the most characters of `input`, which must be text
    seconds        the most seconds of one call, whatever is left of the function's
    """

    def __init__(
        self,
        models: Mapping[str, str],
        *,
        system: str | None = None,
        max_tokens: int = 1024,
        longest_input: int = 20_000,
        seconds: float = 20.0,
        region: str | None = None,
        endpoint: str | None = None,
    ) -> None:
        self._models, self._system, self._max_tokens = models, system, max_tokens
        self._longest, self._seconds = longest_input, seconds
        self._errors = import_module("botocore.exceptions")
        self._place = {"region_name": region, "endpoint_url": endpoint}
        self._making = threading.Lock()
        self._idle: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._idle.put(self._client())

    def __call__(self, tier: str, given: Any, seconds: float) -> dict[str, Any]:
        """Return {"text": …, "stopReason": …}.

        Raises BadInput, Misconfigured, or NoAnswer; then nothing was delivered.
        """
        if not isinstance(given, str) or not given.strip() or len(given) > self._longest:
            raise BadInput
        ends = time.monotonic() + min(seconds, self._seconds)
        for left in range(REPETITIONS, -1, -1):
            try:
                return _delivered(self._asked(self._request(tier, given), ends), tier)
            except self._errors.ClientError as error:
                self._judge(error, left > 0)
            except self._errors.BotoCoreError as error:
                raise NoAnswer(type(error).__name__) from error
            time.sleep(PAUSE_SECONDS * (1 + random.random()))
        raise NoAnswer

    def _request(self, tier: str, given: str) -> dict[str, Any]:
        request: dict[str, Any] = {
            "modelId": self._models[tier],
            "messages": [{"role": "user", "content": [{"text": given}]}],
            "inferenceConfig": {"maxTokens": self._max_tokens},
        }
        return {**request, "system": [{"text": self._system}]} if self._system else request

    def _judge(self, error: Any, may_repeat: bool) -> None:
        """Raise what a refusal of Bedrock is, unless the call may be repeated."""
        code = str(error.response["Error"]["Code"])
        if code in OPERATORS:
            raise Misconfigured(code) from error
        if code not in BEFORE_THE_MODEL or not may_repeat:
            raise NoAnswer(code) from error

    def _asked(self, request: Mapping[str, Any], ends: float) -> Mapping[str, Any]:
        """Return Bedrock's answer, or raise NoAnswer at the end of the time: a time-out of boto3
        bounds one read, and not a whole answer that comes in drops. The thread ends later."""
        seconds = ends - time.monotonic()
        if seconds < FEWEST_SECONDS:
            raise NoAnswer("no time is left")
        found: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

        def ask() -> None:
            try:
                found.put((self._conversed(request), None))
            except BaseException as fault:
                found.put((None, fault))

        threading.Thread(target=ask, daemon=True).start()
        try:
            answer, fault = found.get(timeout=seconds)
        except queue.Empty:
            raise NoAnswer("the answer is late") from None
        if fault is not None:
            raise fault
        return answer if isinstance(answer, Mapping) else {}

    def _conversed(self, request: Mapping[str, Any]) -> Any:
        """Call Bedrock over a connection of this call alone: on one that is kept, a second answer
        to this call would be taken for the answer to the next customer's."""
        try:
            client = self._idle.get_nowait()
        except queue.Empty:
            client = self._client()
        try:
            return client.converse(**request)
        finally:
            client.close()
            self._idle.put(client)

    def _client(self) -> Any:
        """Return a client that repeats nothing. Only one at a time can be made by boto3."""
        config = import_module("botocore.config").Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=self._seconds,
            retries={"total_max_attempts": 1},
        )
        with self._making:
            return import_module("boto3").client("bedrock-runtime", config=config, **self._place)


def _delivered(answer: Mapping[str, Any], tier: str) -> dict[str, Any]:
    """Return what the client gets of an answer. Raises NoAnswer if it has nothing to deliver."""
    usage, reason = answer.get("usage") or {}, str(answer.get("stopReason"))
    log.info("bedrock %s: %s tokens in, %s out, %s", tier, usage.get("inputTokens"),
             usage.get("outputTokens"), reason)
    message = (answer.get("output") or {}).get("message") or {}
    parts = (part.get("text") for part in message.get("content") or ())
    text = "".join(part for part in parts if isinstance(part, str))
    if reason in MALFORMED or (not text and reason not in WITHHELD):
        raise NoAnswer(reason)
    return {"text": text, "stopReason": reason}


def _number(found: Mapping[str, Any], name: str, default: int) -> int:
    value = found.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"model.{name} is a number, 1 or more")
    return value
