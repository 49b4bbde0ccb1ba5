#!/usr/bin/env python3
"""Measure a cold start: imports and the first call, compared with what is there without it.

  cold_start.py [RUNS]

Each run is an interpreter of its own. The times are printed and never asserted. The call is a
purchase, verified and stored. On SQLite the comparison is a bare handler, which imports json and
responds. As deployed, where boto3 and moto are installed, the function reads its configuration
from Secrets Manager and its table from DynamoDB over HTTP, and the comparison is boto3 with one
client alone; moto answers both, so the processor's time counts there, which is the function's
own: the times on the clock contain moto's work.
"""
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from assay.ledger import Ledger
from freemium.local.stack import local
from running import authority, policy

BARE = "import json\ndef handler(event, context):\n    return {'statusCode': 200, 'body': '{}'}\n"
ONE_CLIENT = """
import boto3
client = boto3.client("dynamodb")
def handler(event, context):
    return {"statusCode": 200, "body": "{}"}
"""
# The modules that Lambda's own runtime has loaded before any handler.
RUNTIME = "import http.client, importlib, json, logging, os, sys, time, traceback, types"
TIMED = """
{runtime}
import sys, time
event = open(sys.argv[1]).read()
begin, busy = time.perf_counter(), time.process_time()
from {module} import handler
loaded, loading = time.perf_counter(), time.process_time()
import json
answer = handler(json.loads(event), None)
ended, ending = time.perf_counter(), time.process_time()
assert answer["statusCode"] == 200, answer
print(*(1000 * each for each in (loaded - begin, ended - begin, loading - busy, ending - busy)))
"""


def prepared(folder):
    """Write a configuration and an event, and return what a function's environment has of them."""
    settings = local(policy(), folder)
    with_tables(settings)
    (folder / "config.json").write_text(written(settings))
    (folder / "bare.py").write_text(BARE)
    (folder / "event.json").write_text(event("localclient"))
    return {"FREEMIUM_CONFIG": str(folder / "config.json"), "EVENT": str(folder / "event.json")}


def deployed(folder):
    """Do the same on moto's DynamoDB and Secrets Manager."""
    import moto_stage

    settings, _ = moto_stage.settings(local(policy(), folder), {})
    with_tables(settings)
    moto_stage.client("secretsmanager").create_secret(
        Name="freemium-config", SecretString=written(settings))
    (folder / "one_client.py").write_text(ONE_CLIENT)
    (folder / "deployed.json").write_text(event(settings.assay["tokens"][0]["clients"][0]))
    return {"FREEMIUM_CONFIG": "secretsmanager:freemium-config",
            "AWS_ENDPOINT_URL": moto_stage.url(), "EVENT": str(folder / "deployed.json")}


def with_tables(settings):
    ledger = Ledger(settings.engine, settings.assay)
    ledger.create_schema()
    ledger.close()


def written(settings):
    return json.dumps({"engine": settings.engine, "provider": settings.provider,
                       "assay": settings.assay})


def event(client):
    claims = {"sub": "account-1", "token_use": "access", "client_id": client}
    return json.dumps({
        "rawPath": "/v1/update-subscription", "headers": {},
        "requestContext": {"http": {"method": "POST"}, "authorizer": {"jwt": {"claims": claims}}},
        "body": json.dumps({"signedTransactionData": authority().transaction(
            product="com.example.app.premium.monthly")})})


def milliseconds(module, runtime, folder, given):
    """Measure one interpreter: imports; imports with the first call; both as CPU time."""
    environment = {**os.environ, **given}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # Lambda's packages are compiled
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    environment["PYTHONPATH"] += f"{os.pathsep}{folder}"
    code = TIMED.format(module=module, runtime=runtime)
    done = subprocess.run(
        [sys.executable, "-c", code, given["EVENT"]],
        capture_output=True, text=True, env=environment, check=True)
    return [float(word) for word in done.stdout.split()]


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory(prefix="freemium-cold-") as name:
        folder = pathlib.Path(name)
        given = prepared(folder)
        for title, runtime in (("a plain interpreter", ""), ("Lambda's runtime", RUNTIME)):
            measured(title, runtime, folder, runs, given, "bare")
        if all(importlib.util.find_spec(each) for each in ("boto3", "moto")):
            measured("Lambda's runtime, as deployed", RUNTIME, folder, runs, deployed(folder),
                     "one_client")
        else:
            print("skipped as deployed: boto3 and moto are not installed (make bench-lambda)")


def measured(title, runtime, folder, runs, given, other):
    """Print how much more the function takes than the other module."""
    found = {other: [], "freemium.function": []}
    for module in found:
        milliseconds(module, runtime, folder, given)  # compiles
    for _ in range(runs):
        for module, times in found.items():
            times.append(milliseconds(module, runtime, folder, given))
    print(f"In {title}, {runs} interpreters each:")
    for word, of in (("median", statistics.median), ("fastest", min)):
        base, ours = ([of(column) for column in zip(*times)] for times in found.values())
        print(f"  {word:<8} {other} {base[1]:5.1f} ms ({base[3]:5.1f} of a processor)")
        print(f"           freemium.function: imports {ours[0]:5.1f} ms, with the first call "
              f"{ours[1]:5.1f} ({ours[3]:5.1f} of a processor)")
        print(f"           above {other}: {ours[1] - base[1]:5.1f} ms; of a processor "
              f"{ours[2] - base[2]:5.1f}, with the first call {ours[3] - base[3]:5.1f}")
    print(f"  the bar of freemium.function is 60 ms above {other}")


if __name__ == "__main__":
    main()
