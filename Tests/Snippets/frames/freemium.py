"""Frame of docs/tasks/freemium-lambda.md: the back end runs, an app is signed in."""
import json
import pathlib
import shutil
import sys
import urllib.error
import urllib.request
from typing import Any

import minted

EXAMPLE = pathlib.Path(minted.__file__).resolve().parents[3] / "examples/freemium"
sys.path.insert(0, str(EXAMPLE))

from freemium.local.pool import CLIENT
from freemium.local.stack import Stack, local

shutil.rmtree("freemium-run", ignore_errors=True)
pathlib.Path("freemium-run").mkdir()
policy = minted.with_test_roots(json.loads((EXAMPLE / "config.json").read_text())["assay"])
del policy["ledger"]["forgetKey"]
stack = Stack(local(policy, "freemium-run", model="my_model:analyze")).start()
headers = {"Content-Type": "application/json"}


def post(path: str, body: Any, **more: str) -> tuple[int, Any]:
    """Send one request of the app."""
    request = urllib.request.Request(stack.url + path, json.dumps(body).encode(),
                                     {**headers, **more})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as refused:
        return refused.code, json.loads(refused.read())


username, password = "u_0123456789abcdef", "Rp" + "AbCdEfGhIjKlMnOpQrSt" + "1!"
assert post("/v1/signup", {"username": username, "password": password})[0] == 200
_, signed_in = post("/", {"AuthFlow": "USER_PASSWORD_AUTH", "ClientId": CLIENT,
                          "AuthParameters": {"USERNAME": username, "PASSWORD": password}},
                    **{"X-Amz-Target": "AWSCognitoIdentityProviderService.InitiateAuth"})
headers["Authorization"] = f"Bearer {signed_in['AuthenticationResult']['AccessToken']}"
line = ("--product", "com.example.app.premium.monthly", "--transaction-id", "2000000900000001")
purchase = minted.mint("transaction", *line)
refund = minted.mint("notification", "--notification-type", "REFUND", "--refunded", *line)
# SNIPPET
stack.close()
