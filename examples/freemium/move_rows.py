#!/usr/bin/env python3
"""Move purchases from a table of one row for each account (docs/tasks/freemium-lambda.md).

  move_rows.py CONFIGURATION OLD_TABLE

A row `USER#<sub>` / `SUBSCRIPTION` has a text of Apple's, `rawJWS`. It is verified anew and stored
for its account. The old table is only read. The newest state of a purchase stays, whoever writes
it, so a repetition, or a run beside requests, changes nothing that is newer. Exits with 1 if a row
was not stored.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import assay
from assay.ledger import Ledger
from freemium.services import PAID_FOR
from freemium.settings import Settings

PARTITION, SORT = "USER#", "SUBSCRIPTION"


def rows(client: Any, table: str) -> Iterator[tuple[int, str, str]]:
    """Yield `updatedAt` in seconds, account and text of each row."""
    pages = client.get_paginator("scan").paginate(
        TableName=table,
        FilterExpression="SK = :sort",
        ExpressionAttributeValues={":sort": {"S": SORT}},
    )
    for page in pages:
        for row in page["Items"]:
            account = row["PK"]["S"].removeprefix(PARTITION)
            text = row.get("rawJWS", {}).get("S", "")
            yield int(row.get("updatedAt", {}).get("N", 0)), account, text


def moved(ledger: Ledger, account: str, text: str) -> str:
    """Store the purchase of a row, and return its status or outcome."""
    try:
        transaction = ledger.verifier.verify_transaction(text)
    except assay.AssayError as refusal:
        return refusal.status
    if transaction.environment != PAID_FOR:
        return f"a purchase of {transaction.environment}"
    found = ledger.update_subscriptions(transaction, account)
    return found.status


def main(config: str, table: str) -> int:
    settings = Settings.load(config)
    # Of two accounts with one purchase the first that is stored keeps it: the last that showed it.
    policy = {**settings.assay, "ledger": {**settings.assay["ledger"], "transfer": "deny"}}
    ledger = Ledger(settings.engine, policy)
    client = import_module("boto3").client("dynamodb")
    stored = left = 0
    for _, account, text in sorted(rows(client, table), reverse=True):
        status = moved(ledger, account, text)
        if status == "ok":
            stored += 1
        else:
            left += 1
            print(f"{account}: {status}")
    print(f"{stored} stored, {left} not")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
