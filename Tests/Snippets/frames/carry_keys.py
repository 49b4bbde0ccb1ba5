"""Frame of docs/tasks/carrying-out.md: an issuer whose key set the cache has."""
import base64
import json
import subprocess
import tempfile
import time

import minted

import assay

issuer = "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_EXAMPLE"
config = json.loads((minted.AUTHORITY / "config.json").read_text())
config["tokens"] = [{"profile": "cognito-access", "issuers": [issuer], "clients": ["app"]}]
verifier = assay.Verifier(config)


def base64url(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")


def openssl(*arguments: str, text: bytes = b"") -> bytes:
    return subprocess.run(["openssl", *arguments], input=text, check=True,
                          capture_output=True).stdout


with tempfile.NamedTemporaryFile() as key:
    openssl("genrsa", "-out", key.name, "2048")
    modulus = openssl("rsa", "-in", key.name, "-noout", "-modulus").split(b"=")[1].strip()
    now = int(time.time())
    claims = {"iss": issuer, "sub": "account-1", "client_id": "app", "token_use": "access",
              "iat": now, "exp": now + 300}
    signed = ".".join(base64url(json.dumps(part).encode()) for part in (
        {"alg": "RS256", "kid": "k1"}, claims))
    text = signed + "." + base64url(
        openssl("dgst", "-sha256", "-sign", key.name, text=signed.encode()))
keyset = {"issuer": issuer, "fetchedMs": now * 1000, "keys": [
    {"kty": "RSA", "kid": "k1", "e": "AQAB", "n": base64url(bytes.fromhex(modulus.decode()))}]}
cache = {issuer: json.dumps({"keyset": json.dumps(keyset), "state": {"fetchedMs": now * 1000}})}
# SNIPPET
assert token.subject == "account-1"
