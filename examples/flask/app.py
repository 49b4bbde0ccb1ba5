"""The shop on Flask. `flask run` answers each request in a thread of its own."""
from flask import Flask, abort, request

import shop

app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 512 << 10
app.cli.command("setup")(shop.setup)


def member(name: str) -> str:
    try:
        body = request.get_json()
    except RecursionError:  # of brackets; Flask would answer 500
        abort(400)
    text = body.get(name) if isinstance(body, dict) else None
    if not isinstance(text, str):
        abort(400)
    return text


@app.post("/v1/purchases")
def purchases() -> shop.Answer:
    return shop.purchase(request.headers.get("Authorization", ""), member("jws"))


@app.post("/v1/notifications")
def notifications() -> shop.Answer:
    return shop.notify(member("signedPayload"))
