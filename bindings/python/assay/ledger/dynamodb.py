"""The executor for DynamoDB, with a low-level client of boto3."""

from __future__ import annotations

import json
from importlib import import_module

from ._answers import (
    CONNECT,
    LIMITS,
    Fault,
    done,
    granted,
    limits_of,
    refused,
    seconds,
)
from ._drivers import installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import Any

    from ._answers import Answer, Step

__all__ = ["DynamoDB"]

_CONDITION = "ConditionalCheckFailedException"
_CANCELLED = "TransactionCanceledException"


class DynamoDB:
    """A table of DynamoDB, which the library's requests name.

    client  `boto3.client("dynamodb")`, used by any number of threads; None: one of its
            own, which repeats nothing by itself
    region, endpoint  those of its own client; None: as boto3 finds them
    """

    engine = "dynamodb"

    def __init__(
        self, client: Any = None, *, region: str | None = None, endpoint: str | None = None
    ) -> None:
        self.client = client or _client(region, endpoint, LIMITS)
        self._where = None if client else (region, endpoint)
        self._limits: Mapping[str, int] = LIMITS
        with installed("boto3"):
            self._botocore = import_module("botocore.exceptions")

    def __repr__(self) -> str:
        return "<assay.ledger.DynamoDB>"

    def session(self) -> DynamoDBSession:
        """Return the session that performs the steps of one exchange."""
        return DynamoDBSession(self)

    def close(self) -> None:
        """Close the client's connections."""
        self.client.close()

    def limit(self, limits: Mapping[str, int]) -> None:
        """Set the limits of a step (STO-76) by a new client, if the executor has one of its own."""
        if self._where is not None and self._limits != limits:
            self.client, self._limits = _client(*self._where, limits), dict(limits)

    def run(self, name: str, given: Any) -> Answer:
        """Send one request, and return its result, which may be a failed condition (STO-3)."""
        try:
            # The client adds members of its own to the mapping that it receives.
            output = self.client._make_api_call(name, {**given})
        except self._botocore.ClientError as error:
            return _refused(error.response)
        except (self._botocore.NoCredentialsError, self._botocore.PartialCredentialsError) as error:
            raise Fault.unreached(error, "UnrecognizedClientException") from error
        except self._botocore.ConnectionError as error:
            raise Fault.unreached(error, CONNECT) from error
        except self._botocore.HTTPClientError as error:
            raise Fault.lost() from error
        output.pop("ResponseMetadata", None)
        # Descriptions of tables contain dates.
        plain: Answer = json.loads(json.dumps(output, default=str))
        return {"output": plain}


class DynamoDBSession:
    """Performs the steps of one exchange. There is no open transaction: what the host's grant
    appends to `connection` is written by one request, together with the claim."""

    def __init__(self, store: DynamoDB) -> None:
        self._store = store
        self.connection: list[Any] = []
        """Further elements of TransactWriteItems, for the host's grant."""

    def __call__(self, step: Step) -> Answer:
        """Perform one step, and return its reply."""
        results: list[Answer] = []
        self._store.limit(limits_of(step))
        try:
            for call in step["calls"]:
                results.append(self._store.run(call["api"], call["input"]))
        except Fault as fault:
            fault.is_certain = fault.is_certain and not results
            return fault.answer(step)
        return done(step, results)

    def grant(self, step: Step, call: Callable[[Any], object]) -> Answer:
        """Have the host's `call` append what it grants, and write that and the claim, both or
        neither (STO-21)."""
        if call(self.connection) is False:
            self.rollback()
            return refused(step)
        items = [step["item"], *self.connection]
        self.rollback()
        try:
            found = self._store.run("TransactWriteItems", {"TransactItems": items})
        except Fault as fault:
            fault.note(self._store.engine, "grant")
            return refused(step)
        return {**granted(step), "results": [found]} if "error" in found else granted(step)

    def rollback(self) -> None:
        """Discard what the host's grant would have written."""
        self.connection.clear()

    close = rollback

    def __enter__(self) -> DynamoDBSession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _refused(response: Any) -> Answer:
    """Return the result of a condition that failed; raises `Fault` for every other error."""
    code = response.get("Error", {}).get("Code", "")
    if code == _CONDITION:
        return {"error": {"type": code, **_item(response)}}
    if code == _CANCELLED:
        reasons = [
            {"code": each.get("Code") or "None", **_item(each)}
            for each in response.get("CancellationReasons", ())
        ]
        return {"error": {"type": code, "reasons": reasons}}
    # The message is left out, because it may quote values.
    raise Fault(code, is_certain=code not in ("InternalServerError", "ServiceUnavailable"))


def _item(found: Any) -> Answer:
    return {"item": found["Item"]} if found.get("Item") else {}


def _client(region: str | None, endpoint: str | None, limits: Mapping[str, int]) -> Any:
    """Return a client that repeats nothing: the library repeats what may be repeated."""
    with installed("boto3"):
        boto3, botocore = import_module("boto3"), import_module("botocore.config")
    config = botocore.Config(
        connect_timeout=1,
        read_timeout=seconds(limits, "statementMs"),
        retries={"total_max_attempts": 1},
    )
    return boto3.client(
        "dynamodb", region_name=region, endpoint_url=endpoint, config=config
    )
