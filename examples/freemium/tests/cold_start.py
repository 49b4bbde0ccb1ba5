#!/usr/bin/env python3
"""Measure a cold start: imports and the first call, compared with a bare handler.

  cold_start.py [RUNS]

Each run is an interpreter of its own. The times are printed and never asserted. The bare
handler imports json and responds. The call is a purchase, verified and stored on SQLite.
`deployed` adds what a function loads besides: boto3 and its clients of DynamoDB and Secrets
Manager, but not their round trips over the network.
"""
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from freemium.local.stack import local
from running import authority, policy

BARE = "import json\ndef handler(event, context):\n    return {'statusCode': 200, 'body': '{}'}\n"
DEPLOYED = """
import boto3
for name in ("secretsmanager", "dynamodb"):
    boto3.client(name, region_name="eu-west-1", aws_access_key_id="x", aws_secret_access_key="x")
from freemium.function import handler
"""
# The modules that Lambda's own runtime has loaded before any handler.
RUNTIME = "import http.client, importlib, json, logging, os, sys, time, traceback, types"
TIMED = """
{runtime}
import sys, time
event = open(sys.argv[1]).read()
begin, busy = time.perf_counter(), time.process_time()
from {module} import handler
loaded = time.perf_counter()
import json
answer = handler(json.loads(event), None)
ended = time.perf_counter()
assert answer["statusCode"] == 200, answer
print((loaded - begin) * 1000, (ended - begin) * 1000, (time.process_time() - busy) * 1000)
"""
CLAIMS = {"sub": "account-1", "token_use": "access", "client_id": "localclient"}


def prepared(folder):
    """Return a configuration, an event, and a database with its tables."""
    settings = local(policy(), folder)
    (folder / "config.json").write_text(json.dumps({
        "engine": settings.engine, "provider": settings.provider, "assay": settings.assay}))
    (folder / "bare.py").write_text(BARE)
    (folder / "deployed.py").write_text(DEPLOYED)
    (folder / "event.json").write_text(json.dumps({
        "rawPath": "/v1/update-subscription", "headers": {},
        "requestContext": {"http": {"method": "POST"},
                           "authorizer": {"jwt": {"claims": CLAIMS}}},
        "body": json.dumps({"signedTransactionData": authority().transaction(
            product="com.example.app.premium.monthly")})}))


def milliseconds(module, runtime, folder):
    """Measure one interpreter: imports; imports with the first call; the same as CPU time."""
    environment = {**os.environ, "FREEMIUM_CONFIG": str(folder / "config.json")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # Lambda's packages are compiled
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    environment["PYTHONPATH"] += f"{os.pathsep}{folder}"
    code = TIMED.format(module=module, runtime=runtime)
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder / "event.json")],
        capture_output=True, text=True, env=environment, check=True)
    return [float(word) for word in done.stdout.split()]


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory(prefix="freemium-cold-") as name:
        folder = pathlib.Path(name)
        prepared(folder)
        for title, runtime in (("a plain interpreter", ""), ("Lambda's runtime", RUNTIME)):
            measured(title, runtime, folder, runs)


def measured(title, runtime, folder, runs):
    found = {"bare": [], "freemium.function": []}
    if importlib.util.find_spec("boto3"):
        found["deployed"] = []
    for module in found:
        milliseconds(module, runtime, folder)  # compiles, creates tables
    for _ in range(runs):
        for module, times in found.items():
            times.append(milliseconds(module, runtime, folder))
    print(f"In {title}, {runs} interpreters each:")
    for word, of in (("median", statistics.median), ("fastest", min)):
        bare, *others = ([of(column) for column in zip(*times)] for times in found.values())
        print(f"  {word:<8} bare {bare[1]:5.1f} ms")
        for name, ours in zip(list(found)[1:], others):
            print(f"  {name:<18} imports {ours[0]:5.1f} ms, with the first call {ours[1]:5.1f} "
                  f"({ours[2]:5.1f} of a processor), above bare {ours[1] - bare[1]:5.1f}")
    print("  the bar of freemium.function is 60 ms above bare")


if __name__ == "__main__":
    main()
