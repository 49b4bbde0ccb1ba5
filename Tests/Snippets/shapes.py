"""Check blocks of JSON with the library: configurations, requests and documents."""
import base64
import functools
import json
import os
import re
import subprocess
import sys

from programs import ROOT

BASE = {"apps": [{"bundleId": "com.example.app", "appAppleId": 1234567890,
                  "teamId": "ABCDE12345"}]}
KEY_ELIDED = re.compile(r"(-----BEGIN PRIVATE KEY-----)\\n…")


@functools.lru_cache(maxsize=None)
def private_key():
    """Return a current P-256 key, of which a page has the first line."""
    made = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
        capture_output=True, text=True, check=True).stdout
    return made.replace("\n", "\\n")


def parsed(text):
    """Return the JSON of a block; a bare member is put into braces, an elided key filled in."""
    text = KEY_ELIDED.sub(lambda found: private_key(), text)
    return json.loads(text if text.lstrip().startswith("{") else "{" + text + "}")


def binding(tools):
    """Import the Python binding with the library under test."""
    os.environ["ASSAY_LIBRARY"] = str(tools.library)
    if str(ROOT / "bindings/python") not in sys.path:
        sys.path.insert(0, str(ROOT / "bindings/python"))
    import assay
    return assay


def check_config(block, tools):
    """Check a configuration with assay_verifier_new."""
    assay = binding(tools)
    try:
        assay.Verifier({**BASE, **parsed(block.text)})
    except (assay.AssayError, ValueError) as problem:
        return str(problem)
    return None


def check_request(block, tools):
    """Check a request with assay_exchange_new."""
    assay = binding(tools)
    bits = {"bit0": {"name": "promo-used", "resetAfterMonths": 12},
            "bit1": {"name": "abuse", "resetAfterMonths": 24}}
    key = {"keyId": "KEYID12345", "privateKey": json.loads(f'"{private_key()}"')}
    verifier = assay.Verifier({
        **BASE, "deviceCheck": {**key, "bits": bits}, "appleId": key,
        "appStoreServerApi": {**key, "issuerId": "57246542-96fe-1a63-e053-0824d011072a"},
        "session": {"secrets": [{"id": "s1", "secret": base64.b64encode(bytes(32)).decode()}]}})
    try:
        document = verifier.exchange(parsed(block.text)).document
    except assay.AssayError as problem:
        document = problem.document
    except ValueError as problem:
        return str(problem)
    name = json.loads(document.text)["status"]["name"]
    # The request is checked before the evidence that it needs.
    if name == "misuse.exchange.evidence":
        return None
    return name if name.split(".")[0] in ("malformed", "misuse", "config") else None


def check_document(block, tools):
    """Check a part of a document that the library returns for some case of the table."""
    wanted = json.loads(without_elisions(block.text))
    kind, status = wanted["kind"], wanted["status"]["name"]
    for document in documents(tools, kind, status):
        if within(wanted, document):
            return None
    return f"no document of the table, {kind} with {status}, holds all of this"


def without_elisions(text):
    return re.sub(r"(?<=[\[{,])\s*…\s*,|,\s*…\s*(?=[\]},])", "", text)


def within(wanted, found):
    """Return whether everything wanted is found: members of objects, elements in their order."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            name in found and within(value, found[name]) for name, value in wanted.items())
    if isinstance(wanted, list):
        rest = iter(found if isinstance(found, list) else [])
        return all(any(within(one, other) for other in rest) for one in wanted)
    return wanted == found or wanted == "…"


@functools.lru_cache(maxsize=None)
def table(path):
    return json.loads(path.read_text())


KIND_CALLS = {"transaction": "verify_jws", "renewal-info": "verify_jws",
              "notification": "verify_jws"}


def documents(tools, kind, status):
    """Return the documents of all cases of the table with this kind and status."""
    assay = binding(tools)
    cases = table(tools.cases)
    for case in cases["cases"]:
        if case["call"] != KIND_CALLS.get(kind) or case.get("kind") != kind \
           or case["expect"]["status"] != status:
            continue
        jws = case["jws"].encode() if "jws" in case else base64.b64decode(case["jwsBase64"])
        verifier = assay.Verifier(cases["verifiers"][case["verifier"]])
        yield json.loads(verifier.verify(kind, jws, now=case["now"]).text)


CHECKS = {"config": check_config, "request": check_request, "document": check_document}
