"""Frame of a refusal: a forged transaction, and the response to it."""
import logging
import typing

import minted

import assay

log = logging.getLogger("purchases")
verifier = assay.Verifier((minted.AUTHORITY / "config.json").read_text())


def endpoint(jws: str) -> typing.Any:
    # SNIPPET
    return 200, transaction.product_id


assert endpoint(minted.mint("transaction"))[0] == 200
assert endpoint(minted.mint("transaction", "--forge", "JWS-20")) == (400, "not accepted")
