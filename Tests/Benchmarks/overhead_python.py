"""Measure a call through the Python package; overhead.py describes the protocol.

overhead_python.py CONFIG_FILE JWS_FILE NOW_MS COUNT
"""

import json
import pathlib
import sys
from time import process_time_ns

import assay

ROUNDS = 7
WARM_UP = 200


def main(config, jws_file, now, count):
    verifier = assay.Verifier(pathlib.Path(config).read_text())
    jws = pathlib.Path(jws_file).read_text()

    def calls(number):
        for _ in range(number):
            transaction = verifier.verify_transaction(jws, now)
            transaction.transaction_id
            transaction.original_transaction_id
            transaction.product_id
            transaction.bundle_id
            transaction.environment
            transaction.type
            transaction.purchase_date
            transaction.expires_date
            transaction.quantity
            transaction.in_app_ownership_type
            del transaction

    calls(WARM_UP)
    rounds = []
    for _ in range(ROUNDS):
        begin = process_time_ns()
        calls(count)
        rounds.append((process_time_ns() - begin) / count)
    print(json.dumps({"language": "python", "ns": rounds}))


main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
