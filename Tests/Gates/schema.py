#!/usr/bin/env python3
"""Check that docs/config.schema.json and the library accept the same configurations.

  schema.py LIBRARY

In each object of the schema, an unnamed member must be refused as unknown and each named member
must be known. Each enum value and both ends of each range must be accepted, values just outside
refused, and a text that does not match its pattern refused. A member that a configuration omits
must have the default of the schema.
"""
import base64
import ctypes
import json
import pathlib
import re
import sys

from report import Suite

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# A valid configuration, into which each value under test is put.
BASE = {
    "apps": [{"bundleId": "com.example.app", "appAppleId": 1234567890, "teamId": "ABCDE12345"}],
    "plans": ["free", "premium"],
}
EXAMPLES = {
    "ledger.rateLimits.*": ("get-transaction-info", 1),
    "products.*": ("com.example.pass", {"type": "non-renewing", "duration": "P30D"}),
    "quotas.*": ("premium", {}),
    "quotas.*.*": ("tier", 1),
    "receipts.sharedSecrets.*": ("*", "00" * 16),
    "refunds.rules.*": ("RFA-31", "off"),
    "refunds.samples.*": ("com.example.pass", True),
    "risk.rules.*": ("RSK-16", "off"),
    "tokens.[].issuerAliases.*": ("https://a.example", "https://b.example"),
}
# A text that matches no pattern of the schema except that of a path.
UNMATCHED = "misspelt?"


def private_key():
    """Return the P-256 key whose number is 1, in PKCS#8: publicly known, sufficient for a test."""
    der = bytes.fromhex("3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420")
    text = base64.b64encode(der + (1).to_bytes(32, "big")).decode()
    return f"-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n"


COGNITO = {"profile": "cognito-access", "clients": ["c"],
           "issuers": ["https://a.example", "https://b.example"]}
APPLE = {"profile": "apple-id", "audiences": ["a"]}
KEY = {"keyId": "KEYID12345", "privateKey": private_key()}
API = {"issuerId": "00000000-0000-0000-0000-000000000000", **KEY}
SECRET = base64.b64encode(bytes(32)).decode()
# Path -> other members that a value at this path, or below it, needs.
COMPANIONS = {
    "environments": {"storekit": {"xcodeCertificates": ["00" * 32]}},
    "attest.challenge.path": {"attest": {"challenge": {"mode": "json"}}},
    "attest.challenge.encoding": {"attest": {"challenge": {"mode": "json", "path": "c"}}},
    "deviceCheck": {"deviceCheck": KEY},
    "appStoreServerApi": {"appStoreServerApi": API},
    "appStoreServerApi.apiBaseUrl": {
        "environments": ["LocalTesting"], "storekit": {"xcodeCertificates": ["00" * 32]}},
    "appleId": {"appleId": KEY},
    "refunds.outages": {"refunds": {"outages": [{"fromMs": 0, "untilMs": 9007199254740991}]}},
    "session": {"session": {"secrets": [{"id": "s1", "secret": SECRET}]}},
    "ledger": {"ledger": {"engine": "postgres", "table": "assay"}},
    # Both durations have another duration as their bound (STO-76).
    "ledger.lockMs": {"ledger": {"engine": "postgres", "statementMs": 60000}},
    "ledger.requestMs": {"ledger": {"engine": "postgres", "statementMs": 100}},
    "deviceCheck.bits.bit0.resetAfterMonths": {
        "deviceCheck": {**KEY, "bits": {"bit0": {"name": "promo"}}}},
    "deviceCheck.bits.bit1.resetAfterMonths": {
        "deviceCheck": {**KEY, "bits": {"bit1": {"name": "abuse"}}}},
    "tokens": {"tokens": [COGNITO]},
    "tokens.[].keysetHardMaxAgeMs": {"tokens": [{**COGNITO, "keysetMaxAgeMs": 300000}]},
    **{f"tokens.[].{name}": {"tokens": [APPLE]}
       for name in ("nonce", "nonceForm", "notificationMaxAgeMs")},
}
# Members reported as digests of certificates, including those of built-in ones.
CERTIFICATES = {"receipts.intermediates"}
# Enum values that are valid only with another member.
DEMANDING = {("attest.challenge.mode", "json"): {"attest": {"challenge": {"path": "c"}}},
             ("tokens.[].profile", "jwt"): {"tokens": [
                 {"issuers": ["https://a.example"], "algorithm": "RS256", "audiences": ["a"]}]},
             ("tokens.[].profile", "apple-id"): {"tokens": [APPLE]}}


class Library:
    def __init__(self, path):
        self.calls = ctypes.CDLL(path)
        self.calls.assay_doc_json.restype = ctypes.c_char_p
        self.calls.assay_doc_json.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self.calls.assay_doc_free.argtypes = [ctypes.c_void_p]
        self.calls.assay_verifier_free.argtypes = [ctypes.c_void_p]

    def status(self, configuration):
        """Return the name of the status, and the location of a refusal."""
        answer = self.document(configuration)
        return answer["status"]["name"], (answer.get("error") or {}).get("at")

    def document(self, configuration):
        text = json.dumps(configuration).encode()
        verifier, doc = ctypes.c_void_p(), ctypes.c_void_p()
        self.calls.assay_verifier_new(
            text, ctypes.c_size_t(len(text)), ctypes.byref(verifier), ctypes.byref(doc))
        answer = json.loads(self.calls.assay_doc_json(doc, None))
        self.calls.assay_doc_free(doc)
        self.calls.assay_verifier_free(verifier)
        return answer


def placed(path, value):
    """Return BASE with the value at a path of member names, "*" and "[]"."""
    configuration = json.loads(json.dumps(BASE))
    for depth in range(1, len(path) + 1):
        companions = COMPANIONS.get(".".join(path[:depth]), {})
        configuration.update(json.loads(json.dumps(companions)))
    if isinstance(value, str):
        configuration.update(json.loads(json.dumps(DEMANDING.get((".".join(path), value), {}))))
    node = configuration
    for depth, step in enumerate(path):
        last = depth == len(path) - 1
        key, fresh = step, {}
        if step == "*":
            key, fresh = EXAMPLES[".".join(path[:depth + 1])]
            fresh = json.loads(json.dumps(fresh))
        elif step == "[]":
            key = 0
        if last:
            node[key] = value
        elif key == 0:
            node = node[0]
        else:
            node = node.setdefault(key, fresh)
    return configuration


def sample(schema):
    """Return a value for a schema of a text or of a list of texts."""
    return ["1"] if schema.get("type") == "array" else "1"


def check_object(suite, library, schema, path):
    name = ".".join(path) or "the top"
    if schema.get("additionalProperties") is False:
        status, _ = library.status(placed(path + ["misspelt"], 1))
        suite.expect(status == "config.document.unknown-member",
                     f"{name} refuses a member that is not in the schema", status)
    for member, inner in schema.get("properties", {}).items():
        status, at = library.status(placed(path + [member], {"no": "value"}))
        suite.expect(status != "config.document.unknown-member" or at.endswith(".no"),
                     f"{name}.{member} is known", status)
        check(suite, library, inner, path + [member])
    if isinstance(schema.get("additionalProperties"), dict):
        check(suite, library, schema["additionalProperties"], path + ["*"])
    for name_ in schema.get("propertyNames", {}).get("enum", []):
        if name_ in schema.get("properties", {}):
            check_narrower(suite, library, schema, path, name_)
            continue
        status, at = library.status(placed(path + [name_], EXAMPLES[".".join(path + ["*"])][1]))
        suite.expect(status == "ok", f"{name} accepts the name {name_}", f"{status} at {at}")
    if "propertyNames" in schema:
        status, _ = library.status(
            placed(path + [UNMATCHED], EXAMPLES[".".join(path + ["*"])][1]))
        suite.expect(status != "ok", f"{name} refuses another name")
    properties = schema.get("properties", {})
    for bound, members in (("minProperties", {}), ("maxProperties", properties)):
        if properties and bound in schema:
            status, _ = library.status(placed(path, {
                member: sample(inner) for member, inner in members.items()}))
            suite.expect(status != "ok", f"{name} has {bound} {schema[bound]}", status)
    for member in schema.get("required", []):
        configuration = placed(path, {}) if path else {}
        status, _ = library.status(configuration)
        suite.expect(status != "ok", f"{name} demands {member}", status)


def check_narrower(suite, library, schema, path, member):
    """Check a named member of a map that accepts fewer values than the others."""
    few = schema["properties"][member]["enum"]
    for value in set(schema["additionalProperties"]["enum"]) - set(few):
        status, _ = library.status(placed(path + [member], value))
        suite.expect(status != "ok", f"{'.'.join(path + [member])} refuses {value}", status)


def check(suite, library, schema, path):
    name = ".".join(path)

    def accepts(value, wanted=True):
        status, at = library.status(placed(path, value))
        suite.expect((status == "ok") == wanted,
                     f"{name} {'accepts' if wanted else 'refuses'} {json.dumps(value)[:60]}",
                     f"{status} at {at}")

    if schema.get("type") == "object":
        check_object(suite, library, schema, path)
    elif schema.get("type") == "array":
        items = schema["items"]
        if "enum" in items:
            for value in items["enum"]:
                accepts([value])
            accepts(["misspelt"], wanted=False)
        if schema.get("minItems"):
            accepts([], wanted=False)
        if items.get("type") == "string":
            accepts([1], wanted=False)
        if "pattern" in items:
            accepts([UNMATCHED], wanted=False)
        if items.get("type") == "integer":
            accepts([items["minimum"]])
            accepts([items["maximum"]])
            for wrong in (items["minimum"] - 1, items["maximum"] + 1, "1",
                          *items.get("not", {}).get("enum", [])):
                accepts([wrong], wanted=False)
            accepts(schema["default"])
        if items.get("type") == "object":
            check_object(suite, library, items, path + ["[]"])
    elif "enum" in schema:
        for value in schema["enum"]:
            accepts(value)
        accepts("misspelt", wanted=False)
    elif schema.get("type") == "integer":
        for bound, outside in (("minimum", -1), ("maximum", 1)):
            if bound in schema:
                accepts(schema[bound])
                accepts(schema[bound] + outside, wanted=False)
        accepts("1", wanted=False)
    elif schema.get("type") == "boolean":
        accepts(True)
        accepts("true", wanted=False)
    elif schema.get("type") == "string":
        accepts(1, wanted=False)
        if "pattern" in schema:
            # No pattern accepts "..", not even that of a path, which needs a name between dots.
            accepts("..", wanted=False)
            if not re.search(schema["pattern"], UNMATCHED):
                accepts(UNMATCHED, wanted=False)
        if path[-1:] == ["*"]:
            accepts(EXAMPLES[name][1])
    if "default" in schema and schema.get("type") != "array":
        accepts(schema["default"])


def check_effective(suite, effective, schema, path):
    """Check that every member that the library reports is in the schema."""
    for member, value in effective.items():
        name = ".".join(path + [member])
        known = schema.get("properties", {}).get(member)
        if not suite.expect(known is not None, f"{name} is effective, so the schema has it"):
            continue
        if "default" in known and name not in CERTIFICATES:
            suite.expect(value == known["default"], f"{name} has the schema's default", value)
        if known.get("additionalProperties") is False:
            check_effective(suite, value or {}, known, path + [member])
        elif known.get("items", {}).get("type") == "object":
            for element in value:
                check_effective(suite, element, known["items"], path + [member])


def main():
    suite = Suite("schema")
    library = Library(str(pathlib.Path(sys.argv[1]).resolve()))
    schema = json.loads((ROOT / "docs/config.schema.json").read_text())
    suite.expect(library.status(BASE)[0] == "ok", "the base of every probe is accepted")
    check_object(suite, library, schema, [])
    least = library.document({"apps": BASE["apps"]})["configuration"]
    check_effective(suite, least, schema, [])
    suite.finish()


if __name__ == "__main__":
    main()
