"""A shared engine for the tests: moto's server, started once, ended with the process."""
import atexit
import dataclasses
import os
import pathlib
import secrets
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import boto3
from botocore.config import Config

REGION = "eu-west-1"
FRONT = pathlib.Path(__file__).with_name("moto_front.py")
_STARTED = {}
# Credentials of no account, because boto3 requires some.
os.environ.update(AWS_ACCESS_KEY_ID="local", AWS_SECRET_ACCESS_KEY="local",
                  AWS_DEFAULT_REGION=REGION, AWS_EC2_METADATA_DISABLED="true")


def url():
    """Return the server's URL."""
    if not _STARTED:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen([sys.executable, str(FRONT), str(port)],
                                   stderr=subprocess.DEVNULL)
        atexit.register(_end, process)
        _STARTED["url"] = f"http://127.0.0.1:{port}"
        _wait(port, process)
    return _STARTED["url"]


def _wait(port, process):
    for _ in range(300):
        if process.poll() is not None:
            raise RuntimeError("moto's server did not start")
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("moto's server did not answer")


def _end(process):
    process.terminate()
    process.wait(timeout=30)


def client(name):
    """Return a client of boto3 that repeats nothing."""
    config = Config(retries={"total_max_attempts": 1}, max_pool_connections=32)
    return boto3.client(name, region_name=REGION, endpoint_url=url(), config=config)


def made_pool(admin_only=True):
    """Make a pool as the template does; return its id and its app client."""
    cognito = client("cognito-idp")
    pool = cognito.create_user_pool(
        PoolName=f"freemium-{secrets.token_hex(4)}",
        AdminCreateUserConfig={"AllowAdminCreateUserOnly": admin_only},
        UsernameConfiguration={"CaseSensitive": True})["UserPool"]["Id"]
    made = cognito.create_user_pool_client(
        UserPoolId=pool, ClientName="app",
        ExplicitAuthFlows=["ALLOW_USER_PASSWORD_AUTH", "ALLOW_REFRESH_TOKEN_AUTH"])
    return pool, made["UserPoolClient"]["ClientId"]


def settings(given, hosts):
    """Return the settings changed to DynamoDB and Cognito, and set the address of their key set."""
    pool, app = made_pool()
    issuer = f"https://cognito-idp.{REGION}.amazonaws.com/{pool}"
    tokens = [{"profile": "cognito-access", "issuers": [issuer], "clients": [app]},
              *given.assay["tokens"][1:]]
    table = f"freemium-{secrets.token_hex(4)}"
    found = dataclasses.replace(
        given, assay={**given.assay, "tokens": tokens},
        engine=f"dynamodb://{table}?region={REGION}&endpoint={url()}",
        provider={"kind": "cognito", "pool": pool, "region": REGION, "endpoint": url()})
    return found, {**hosts, urlsplit(issuer).hostname: url()}


