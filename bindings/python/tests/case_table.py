"""The shared case table: evidence with its expected document.

The environment variable ASSAY_CASES names the file; `make check` mints it with
`assay mint` and runs the same table through C and Python. Without it these tests
fail, because a table that is not run proves nothing.
"""
import base64
import json
import os
import pathlib

VARIABLE = "ASSAY_CASES"
ROOT = pathlib.Path(__file__).resolve().parents[3]
_table = None


class CaseTable:
    """The file, read once, with the verifiers that its cases share."""

    def __init__(self, path):
        self.content = json.loads(pathlib.Path(path).read_text())
        if self.content.get("assayCases") != 1:
            raise AssertionError(f"{path} is no case table of version 1")
        self.cases = self.content["cases"]
        self._verifiers = {}

    def configuration(self, name):
        return self.content["verifiers"][name]

    def verifier(self, name):
        import assay

        if name not in self._verifiers:
            self._verifiers[name] = assay.Verifier(self.configuration(name))
        return self._verifiers[name]

    def first(self, call, status="ok", **members):
        """Return the first case of a call with these members, and with a status or one of its
        family."""
        for case in self.cases:
            if case["call"] == call and status in (case["expect"]["status"], family_of(case)) \
                    and all(case.get(name) == members[name] for name in members):
                return case
        raise AssertionError(f"the case table has no {status} {call} with {members}")

    def accepted(self, kind):
        """Return the first accepted case of a kind of JWS."""
        return self.first("verify_jws", kind=kind)


def family_of(case):
    return case["expect"]["status"].split(".")[0]


def table():
    """Return the table; the message of the AssertionError explains how to get it."""
    global _table
    if _table is None:
        path = os.environ.get(VARIABLE)
        if not path:
            raise AssertionError(f"{VARIABLE} is not set: run `make check`, which mints the cases")
        _table = CaseTable(path)
    return _table


def given(case, name):
    """Return a text or bytes of a case, given as itself, as base64, or as a repetition."""
    if name in case:
        return case[name]
    if name + "Base64" in case:
        return base64.b64decode(case[name + "Base64"], validate=True)
    parts = case[name + "Repeat"]
    return parts["prefix"] + parts["unit"] * parts["count"] + parts["suffix"]


def jws_of(case):
    """Return the text or bytes that a case passes to the verifier."""
    return given(case, "jws")


# Maps a kind of evidence to the member of a case, or of a piece of evidence, that contains it.
EVIDENCE_MEMBERS = {
    "transaction-receipt": "receipt",
    "app-receipt": "receipt",
    "attest-receipt": "receipt",
    "verify-receipt-response": "body",
}


def evidence_of(case):
    """Return the text or bytes of a case's evidence, of any kind."""
    return given(case, EVIDENCE_MEMBERS.get(case["kind"], "jws"))


def octets_of(case, name):
    """Return a member of a case as bytes: a text is its UTF-8."""
    found = given(case, name)
    return found.encode("utf-8", "surrogatepass") if isinstance(found, str) else found


def client_data_of(case):
    """Return the client data of a case as arguments of a verification: only the kinds that the
    binding can express."""
    name = {1: "client_data", 2: "client_data_hash"}.get(case["clientDataKind"])
    return {name: octets_of(case, "clientData")} if name else {}


def subject_of(case):
    """Return what a receipt must belong to, a device or a key; None if the case names neither."""
    return given(case, "subject") if "subjectBase64" in case else None


def call_of(case):
    """Return a verification as the method's name and its arguments; None if the case is none."""
    call, named = case["call"], {"now": case.get("now")}
    if call == "verify_jws":
        return "verify_" + case["kind"].replace("-", "_"), {"jws": jws_of(case), **named}
    if call == "verify_receipt":
        given_to = {"attest-receipt": "public_key", "app-receipt": "subject"}.get(case["kind"])
        return "verify_" + case["kind"].replace("-", "_"), {
            "receipt": given(case, "receipt"), **named,
            **({given_to: subject_of(case)} if given_to else {})}
    if call == "read_verify_receipt_response":
        return call, {"body": given(case, "body"), **named}
    if call == "triage":
        return call, {"blob": given(case, "blob"), **named}
    if call == "verify_attestation":
        return call, {"attestation": octets_of(case, "attestation"), **client_data_of(case),
                      "key_id": octets_of(case, "keyId"), **named}
    if call == "verify_assertion":
        return call, {"assertion": octets_of(case, "assertion"), **client_data_of(case),
                      "public_key": octets_of(case, "publicKey"), "counter": case["counter"],
                      **named}
    if call == "verify_token":
        import assay

        return call, {"token": given(case, "token"), "keys": assay.Keyset(given(case, "jwks")),
                      **named}
    return None


def called(case, verifier=None, **changes):
    """Call the method of a case, with some of the arguments changed."""
    name, arguments = call_of(case)
    method = getattr(verifier or table().verifier(case["verifier"]), name)
    return method(**{**arguments, **changes})


def verified(entry, case):
    """Verify one piece of a case's evidence, with the case's verifier unless it names another."""
    if entry["kind"] == "keyset":
        import assay

        try:
            return assay.Keyset(given(entry, "jwks")).facts
        except assay.AssayError as refusal:
            return refusal.document
    verifier = table().verifier(entry.get("verifier", case["verifier"]))
    if entry["kind"] in ("attestation", "assertion"):
        named = {"call": "verify_" + entry["kind"], "now": case["now"]}
        return called({**entry, **named}, verifier)
    return verifier.verify(entry["kind"], evidence_of(entry), entry.get("now", case["now"]))


def configuration_of(case):
    """Return the raw configuration of a case: text, or bytes that are not text."""
    return given(case, "config")


def member(document, path):
    """Return a member of a document's JSON by dotted path; None if absent or null."""
    value = document
    for step in path.split("."):
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (LookupError, TypeError):
            return None
    return value
