"""An AWS Lambda function that decides what the caller has bought.

The app posts {"transaction": "<JWS>", "renewal": "<JWS or absent>"}; the response is
the plan. Behind an API Gateway with a Cognito or JWT authorizer `sub` is the caller's
account, the same UUID that the app passes to StoreKit as appAccountToken. The response to a
request without verified claims is 401.

The function needs one wheel and one environment variable, ASSAY_CONFIG: the path
of the configuration (docs/config.md) inside the deployment package.

To try it here, with a signed transaction in a file:

    ASSAY_CONFIG=config.json python3 lambda_handler.py transaction.jws
"""

from __future__ import annotations

import json
import logging
import os
import pathlib
import sys
from typing import Any

import assay

log = logging.getLogger("purchases")

# Made once per execution environment: later invocations find proven chains.
verifier = assay.Verifier(pathlib.Path(os.environ["ASSAY_CONFIG"]).read_text())


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Handle one request of the API Gateway."""
    account = account_of(event)
    if account is None:
        return answer(401, {"error": "not signed in"})
    return decided(event.get("body"), account)


def account_of(event: dict[str, Any]) -> str | None:
    """Return the `sub` of the claims that the gateway has verified; None if there are none.

    HTTP APIs have the claims at authorizer.jwt.claims, REST APIs at authorizer.claims.
    """
    authorizer = (event.get("requestContext") or {}).get("authorizer") or {}
    claims = (authorizer.get("jwt") or authorizer).get("claims") or {}
    return claims.get("sub") or None


def decided(text: Any, account: str | None) -> dict[str, Any]:
    """Return the response to one body."""
    try:
        body = json.loads(text)
        evidence = verified(body["transaction"], body.get("renewal"))
        decision = verifier.decide(evidence, account=account)
    except (KeyError, TypeError, ValueError):
        return answer(400, {"error": "transaction is missing"})
    except assay.AssayError as refusal:
        # The log has rule, location and hint; the response contains nothing to learn from.
        log.warning("purchase refused: %s", refusal)
        return answer(refusal.http_status, {"error": "not accepted"})
    return answer(
        200,
        {
            "plan": decision.plan,
            "entitled": decision.entitled,
            "state": decision.state,
            "until": decision.expires_at_ms,
            "askAgain": decision.next_check_at_ms,
        },
    )


def verified(transaction: str, renewal: str | None) -> list[assay.Facts]:
    """Verify every text, and return the evidence; store the texts for the next decision."""
    evidence: list[assay.Facts] = [verifier.verify_transaction(transaction)]
    if renewal:
        evidence.append(verifier.verify_renewal_info(renewal))
    return evidence


def answer(status: int, body: dict[str, Any]) -> dict[str, Any]:
    return {
        "statusCode": status,
        "headers": {"content-type": "application/json"},
        "body": json.dumps(body),
    }


if __name__ == "__main__":
    jws = pathlib.Path(sys.argv[1]).read_text().strip()
    account = sys.argv[2] if len(sys.argv) > 2 else None
    print(json.dumps(decided(json.dumps({"transaction": jws}), account)))
