"""What the pages' shops on a framework are asked, whichever it is (docs/tasks/frameworks.md)."""
import json
import pathlib

import minted

from assay.store import Ledger

COINS = ("--product", "com.example.app.coins100", "--type", "consumable")


def prepare():
    """The two files that a shop reads at its start."""
    for left in pathlib.Path(".").glob("shop.db*"):
        left.unlink()
    pathlib.Path("keys.json").write_text(minted.mint("keyset"))
    config = json.loads((minted.AUTHORITY / "config.json").read_text())
    config["tokens"] = json.loads((minted.AUTHORITY / "tokens.json").read_text())
    pathlib.Path("config.json").write_text(json.dumps(config))
    Ledger("sqlite:///./shop.db", config).create_schema()


def ask(post, bad_body):
    """post(path, body, headers) gives the status, the JSON and the headers of an answer;
    bad_body is the framework's own status for a body without the member."""
    import shop

    bearer = {"Authorization": "Bearer " + minted.mint("token")}
    bought = {"jws": minted.mint("transaction", *COINS)}
    refund = {"signedPayload": minted.mint(
        "notification", "--notification-type", "REFUND", "--refunded", *COINS)}

    def expect(path, body, headers, status, answer=None):
        found, text, more = post(path, body, headers)
        assert found == status, (path, found, text)
        assert answer is None or text == answer, (path, text)
        assert ("Retry-After" in more) == (status == 503), (path, more)

    expect("/v1/purchases", bought, {}, 401, {"error": "refused"})
    expect("/v1/purchases", {"jws": bought["jws"][:-8] + "AAAAAAAA"}, bearer, 400)
    expect("/v1/purchases", {"receipt": 1}, bearer, bad_body)
    expect("/v1/purchases", bought, bearer, 200, {"answer": "granted"})
    expect("/v1/purchases", bought, bearer, 200, {"answer": "already-granted"})
    expect("/v1/notifications", {"signedPayload": bought["jws"]}, {}, 400, {"error": "refused"})
    for _ in range(2):
        expect("/v1/notifications", refund, {}, 200)
    expect("/v1/purchases", bought, bearer, 409, {"answer": "refused-final"})
    assert shop.ledger.lookup(evidence=shop.ledger.verifier.verify_transaction(
        bought["jws"])).rows[0].state == "revoked"
