#!/usr/bin/env python3
"""The freemium back end on this machine: gateway, function, pool and table in one process.

    make demo-lambda              until Ctrl-C
    make demo-lambda DEMO_ONCE=1  run the requests that it prints, and end

Evidence is minted by a test authority; nothing leaves the machine. Exits with 1 if a response
is not the expected one.
"""
import base64
import json
import os
import pathlib
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request

EXAMPLE = pathlib.Path(__file__).resolve().parent
ROOT = EXAMPLE.parents[1]
sys.path[:0] = [str(ROOT / "bindings/python"), str(ROOT / "bindings/python_testing"),
                str(EXAMPLE)]
os.environ["ASSAY_PROGRAM"] = str(pathlib.Path(sys.argv[1]).resolve())

from assay_testing import Authority  # noqa: E402
from freemium.local.pool import CLIENT  # noqa: E402
from freemium.local.stack import Stack, local  # noqa: E402

FOLDER = ROOT / "build/demo-lambda"
SHOWN = FOLDER.relative_to(ROOT)
PRODUCT = {"product": "com.example.app.premium.monthly", "transaction_id": "2000000900000001",
           "environment": "Production"}
TARGET = "AWSCognitoIdentityProviderService.InitiateAuth"


def policy(authority):
    """Return the deployed policy under the roots of the authority."""
    found = json.loads((EXAMPLE / "config.json").read_text())["assay"]
    found["ledger"].pop("forgetKey")
    return {**found, "storekit": authority.config["storekit"]}


def credentials():
    """Return a user name and a password as an app makes them on its device."""
    secret = base64.b64encode(secrets.token_bytes(24)).decode()[:20]
    return f"u_{secrets.token_hex(8)}", f"Rp{secret}1!"


def request(url, path, body, headers=()):
    """Send one POST; return status and JSON."""
    given = urllib.request.Request(url + path, json.dumps(body).encode(), {
        "Content-Type": "application/json", **dict(headers)})
    try:
        with urllib.request.urlopen(given, timeout=60) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as refused:
        return refused.code, json.loads(refused.read())


def token(url):
    """Return an access token of an anonymous account, made and signed in as an app does it."""
    name, password = credentials()
    status, said = request(url, "/v1/signup", {"username": name, "password": password})
    if status != 200:
        sys.exit(f"sign-up: {status} {said}")
    given = {"AuthFlow": "USER_PASSWORD_AUTH", "ClientId": CLIENT,
             "AuthParameters": {"USERNAME": name, "PASSWORD": password}}
    _, said = request(url, "/", given, {"X-Amz-Target": TARGET})
    return said["AuthenticationResult"]["AccessToken"]


def written(url, authority):
    """Return the requests to try: title, command, and the expected response."""
    name, password = credentials()
    (FOLDER / "caller").write_text(f"Authorization: Bearer {token(url)}\n")
    (FOLDER / "purchase.json").write_text(json.dumps({
        "signedTransactionData": authority.transaction(**PRODUCT)}))
    (FOLDER / "refund.json").write_text(json.dumps({
        "signedPayload": authority.notification("REFUND", refunded=True, **PRODUCT)}))
    sign_up = json.dumps({"username": name, "password": password})
    ask = json.dumps({"tier": "premium", "input": "Is this genuine?"})
    caller, kind = f"-H @{SHOWN}/caller", "-H 'Content-Type: application/json'"

    def curl(path, data, *more):
        return " \\\n       ".join([f"curl -s {url}/v1/{path}", *more, kind, f"-d {data}"])

    asked = curl("analyze", shlex.quote(ask), caller)
    refund = curl("notifications", f"@{SHOWN}/refund.json")
    return [
        ("An anonymous account", curl("signup", shlex.quote(sign_up)), '"created"'),
        ("A purchase, as the app shows it; the answer is the plan",
         curl("update-subscription", f"@{SHOWN}/purchase.json", caller), '"premium"'),
        ("A paid call, by that plan", asked, '"echo"'),
    ], [("Apple says that the purchase was refunded", refund, ""),
        ("The same call again", asked, "Sonnet requires")]


def play(requests):
    """Run the commands as printed; return how many got the expected response."""
    passed = failed = 0
    for title, command, wanted in requests:
        done = subprocess.run(["sh", "-c", command], cwd=ROOT, text=True, capture_output=True,
                              timeout=60)
        good = done.returncode == 0 and (wanted in done.stdout if wanted else not done.stdout)
        passed, failed = passed + good, failed + (not good)
        print(f"   {title}: {done.stdout.strip() or 'an empty 200'}"
              + ("" if good else f"\n   NOT AS EXPECTED: {wanted} {done.stderr}"))
    return passed, failed


def show(requests, first=1):
    for number, (title, command, _) in enumerate(requests, first):
        print(f"\n  {number}. {title}\n     {command}")


def once(requests):
    if shutil.which("curl") is None:
        print("skipped demo-lambda: there is no curl to play the requests with")
        print("suite demo-lambda: 0 passed, 0 failed, 1 skipped")
        return True
    passed, failed = play(requests)
    print(f"\nsuite demo-lambda: {passed} passed, {failed} failed, 0 skipped")
    return not failed and passed > 0


def main():
    # Blocked before any thread starts, so that the signal is waited for below.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    authority = Authority(FOLDER / "authority")
    stack = Stack(local(policy(authority), FOLDER), port=int(os.environ.get("PORT", "0"))).start()
    try:
        requests, then = written(stack.url, authority)
        print(f"The freemium back end listens on {stack.url}\n"
              f"(gateway, function, pool and table; SQLite in {SHOWN}).\n\nThree requests to try:")
        show(requests)
        print("\nAnd then:")
        show(then, first=len(requests) + 1)
        print(flush=True)
        if os.environ.get("DEMO_ONCE"):
            good = once([*requests, *then])
        else:
            print("It runs until Ctrl-C.", flush=True)
            signal.sigwait({signal.SIGINT, signal.SIGTERM})
            good = True
    finally:
        stack.close()
        shutil.rmtree(FOLDER, ignore_errors=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
