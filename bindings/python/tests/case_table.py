"""The shared case table: evidence with the answer that it must get.

The environment variable ASSAY_CASES names the file; `make check` mints it with
`assay mint` and runs the same table through C and Python. Without it these tests
fail: a table that is not run proves nothing.
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

    def accepted(self, kind, **facts):
        """The first case of a kind that is accepted and has these facts."""
        for case in self.cases:
            if case["call"] != "verify_jws" or case["kind"] != kind:
                continue
            known = case["expect"].get("facts", {})
            if case["expect"]["status"] == "ok" and facts.items() <= known.items():
                return case
        raise AssertionError(f"the case table has no accepted {kind} with {facts}")

    def refused(self, family):
        """The first JWS case of a family of statuses."""
        for case in self.cases:
            if case["call"] == "verify_jws" and family_of(case) == family:
                return case
        raise AssertionError(f"the case table has no {family} case")


def family_of(case):
    return case["expect"]["status"].split(".")[0]


def table():
    """The table; an AssertionError says how to get it."""
    global _table
    if _table is None:
        path = os.environ.get(VARIABLE)
        if not path:
            raise AssertionError(f"{VARIABLE} is not set: run `make check`, which mints the cases")
        _table = CaseTable(path)
    return _table


def given(case, name):
    """A text or bytes that a case gives: itself, as base64, or as a repetition."""
    if name in case:
        return case[name]
    if name + "Base64" in case:
        return base64.b64decode(case[name + "Base64"], validate=True)
    parts = case[name + "Repeat"]
    return parts["prefix"] + parts["unit"] * parts["count"] + parts["suffix"]


def jws_of(case):
    """The text or bytes that a case gives to the verifier."""
    return given(case, "jws")


# The member of a case, or of a piece of evidence, that a kind of evidence is in.
EVIDENCE_MEMBERS = {
    "transaction-receipt": "receipt",
    "app-receipt": "receipt",
    "attest-receipt": "receipt",
    "verify-receipt": "body",
}


def evidence_of(case):
    """The text or bytes that a case gives as evidence, of whatever kind."""
    return given(case, EVIDENCE_MEMBERS.get(case["kind"], "jws"))


def octets_of(case, name):
    """What a case gives as bytes: a text stands for its UTF-8."""
    found = given(case, name)
    return found.encode("utf-8", "surrogatepass") if isinstance(found, str) else found


def client_data_of(case):
    """Client data of a case as the arguments of a verification; only the kinds that
    the binding can express."""
    names = {1: "client_data", 2: "client_data_hash"}
    return {names[case["clientDataKind"]]: octets_of(case, "clientData")}


def subject_of(case):
    """What a receipt must belong to, a device or a key; None where none is given."""
    return given(case, "subject") if "subjectBase64" in case else None


def configuration_of(case):
    """The raw configuration of a case: text, or bytes that are not text."""
    return given(case, "config")


def member(document, path):
    """A member of a document's JSON by dotted path; None when absent or null."""
    value = document
    for step in path.split("."):
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (LookupError, TypeError):
            return None
    return value
