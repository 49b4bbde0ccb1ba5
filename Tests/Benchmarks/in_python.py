"""Compare Assay's Python package with Apple's, pyattest and PyJWT, in one process.

  in_python.py FOLDER [--quick]

FOLDER is the output of `mint`. Prints lines like `bench`: name, nanoseconds of CPU time per call
for Assay and for the baseline, the ratio, and the middle half of the rounds' ratios, separated by
tabs.
"""

import pathlib
import sys
from time import process_time_ns, time_ns

import compared

import assay
from assay._library import functions


def compare(name, ours, our_calls, baseline, baseline_calls, rounds):
    """Compare by CPU time; the ratio is how many calls of Assay fit into one of the baseline."""
    compared.compare(
        name, ours, baseline, rounds=rounds, calls=(our_calls, baseline_calls),
        clock=process_time_ns, ratio=lambda mine, theirs: theirs / mine)


def compare_attestations(folder, rounds):
    """Compare one attestation; pyattest checks neither the receipt nor the COSE key."""
    try:
        from pyattest.attestation import Attestation
        from pyattest.configs.apple import AppleConfig
    except ImportError as missing:
        print(f"# pyattest is not installed: {missing}")
        return
    import asyncio
    from importlib.metadata import version as version_of

    print(f"# pyattest {version_of('pyattest')}")
    attestation = (folder / "attestation.cbor").read_bytes()
    key_id = (folder / "key-id.bin").read_bytes()
    client_data = (folder / "client-data.bin").read_bytes()
    verifier = assay.Verifier((folder / "attest.json").read_text())
    config = AppleConfig(
        key_id=key_id, app_id="ABCDE12345.com.example.bench", production=True,
        root_ca=(folder / "attest-root.pem").read_bytes())
    loop = asyncio.new_event_loop()

    def ours():
        key = verifier.verify_attestation(
            attestation, key_id=key_id, client_data=client_data)
        return key.key_id, key.public_key

    def theirs():
        other = Attestation(attestation, client_data, config)
        loop.run_until_complete(other.verify())
        return other.data["data"]["credential_id"]

    ours()
    if theirs() != key_id:
        raise SystemExit("pyattest reads another key")
    compare("python-attest", ours, 50, theirs, 5, rounds)
    loop.close()


ISSUER = "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_EXAMPLE"
# More tokens than a key set remembers, so that each token in turn counts as unseen.
TOKENS = 1100


def minted_tokens():
    """Return access tokens in the form of Cognito's, and the key set for them."""
    import json

    import jwt
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    public.pop("key_ops", None)
    now = time_ns() // 1_000_000_000
    claims = {
        "sub": "a1b2c3d4-0000-4000-8000-00000000c0de", "cognito:groups": ["players", "testers"],
        "iss": ISSUER, "client_id": "bench", "token_use": "access",
        "origin_jti": "6a4f0f4e-0000-4000-8000-000000000001",
        "event_id": "c6f3e1b2-0000-4000-8000-000000000002",
        "scope": "openid shop/read shop/write", "auth_time": now - 600, "exp": now + 86400,
        "iat": now - 60, "username": "player-one",
    }
    texts = [jwt.encode({**claims, "jti": f"f00dfeed-0000-4000-8000-{number:012d}"}, key,
                        algorithm="RS256", headers={"kid": "bench", "typ": None})
             for number in range(TOKENS)]
    return texts, {**public, "kid": "bench", "alg": "RS256"}


def compare_tokens(rounds):
    """Compare access tokens; PyJWT has its key parsed before and makes the same checks."""
    try:
        import jwt
        from itertools import cycle

        texts, key = minted_tokens()
    except ImportError as missing:
        print(f"# PyJWT is not installed: {missing}")
        return
    print(f"# PyJWT {jwt.__version__}")
    verifier = assay.Verifier({
        "apps": [{"bundleId": "com.example.bench", "appAppleId": 1}],
        "tokens": [{"profile": "cognito-access", "issuers": [ISSUER], "clients": ["bench"]}]})
    keys = assay.Keyset({"issuer": ISSUER, "keys": [key]})
    parsed = {key["kid"]: jwt.PyJWK(key)}
    required = {"require": ["exp", "iat", "iss", "sub", "client_id", "token_use"]}

    def theirs(texts):
        text = next(texts)
        chosen = parsed[jwt.get_unverified_header(text)["kid"]]
        claims = jwt.decode(text, chosen, algorithms=["RS256"], issuer=ISSUER, leeway=60,
                            options=required)
        if claims["token_use"] != "access" or claims["client_id"] not in ("bench",):
            raise SystemExit("PyJWT refuses a good token")
        return claims

    def ours(texts):
        return verifier.verify_token(next(texts), keys)

    token, claims = ours(iter(texts)), theirs(iter(texts))
    if dict(token.payload) != claims or token.subject != claims["sub"]:
        raise SystemExit("the two libraries read different tokens")
    for name, some in [("python-token", texts), ("python-token-seen", texts[:64])]:
        mine, other = cycle(some), cycle(some)
        for _ in some:
            ours(mine)
        # Reads the subject, the member for which a host verifies a token.
        compare(name, lambda: ours(mine).subject, 100, lambda: theirs(other)["sub"], 50, rounds)


def main(folder, quick):
    rounds = 7 if quick else 25
    jws = (folder / "transaction.jws").read_text()
    verifier = assay.Verifier((folder / "config.json").read_text())

    def ours():
        transaction = verifier.verify_transaction(jws)
        return transaction.product_id, transaction.expires_date, transaction.environment

    # The baseline for the cost of the package is the same call through ctypes only.
    from assay import _prototypes as c

    text = jws.encode()
    handle = verifier._handle
    now = time_ns() // 1_000_000

    def bare_ctypes():
        document = c.DocHandle()
        functions.assay_verify_jws(
            handle, c.ASSAY_JWS_TRANSACTION, text, len(text), now, document
        )
        functions.assay_doc_free(document)

    compare("python-package", bare_ctypes, 60, ours, 60, rounds)
    version = functions.assay_version_number
    empty = compared.timed(version, 20000, process_time_ns)
    print(f"# one empty call through ctypes: {empty:.0f} ns")
    compare_attestations(folder, rounds)
    compare_tokens(rounds)

    try:
        from appstoreserverlibrary.models.Environment import Environment
        from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier
    except ImportError as missing:
        print(f"# app-store-server-library is not installed: {missing}")
        return
    from importlib.metadata import version as version_of

    print(f"# app-store-server-library {version_of('app-store-server-library')}")
    apple = SignedDataVerifier(
        [(folder / "root.der").read_bytes()],
        enable_online_checks=False,
        environment=Environment.SANDBOX,
        bundle_id="com.example.bench",
        app_apple_id=1234567890,
    )

    def theirs():
        transaction = apple.verify_and_decode_signed_transaction(jws)
        return transaction.productId, transaction.expiresDate, transaction.environment

    mine = ours()
    other = theirs()
    if (mine[0], mine[1], mine[2]) != (other[0], other[1], other[2].value):
        raise SystemExit(f"the two libraries read different facts: {mine}, {other}")
    compare("python", ours, 100, theirs, 10, rounds)


main(pathlib.Path(sys.argv[1]), "--quick" in sys.argv)
