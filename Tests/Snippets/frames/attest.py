"""Frame of App Attest: what the app sent, the stored device key, the table of keys."""
import base64
import types
import typing

import minted

import assay

CONFIGURATION = {
    "apps": [{"bundleId": "com.example.app", "appAppleId": 1234567890, "teamId": "ABCDE12345"}]}
configuration = minted.with_test_roots(CONFIGURATION)
verifier = assay.Verifier(configuration)
stored_attest = {**configuration["attest"], "time": "stored"}


class Keys:
    """The table of device keys."""

    rows: typing.ClassVar[dict[str, typing.Any]] = {}

    def insert(self, key_id: str, account: str, public_key: bytes, counter: int,
               receipt: bytes | None) -> None:
        self.rows[key_id] = types.SimpleNamespace(
            key_id=key_id, public_key=public_key, counter=counter, receipt=receipt)

    def find(self, key_id: str, of: str) -> typing.Any:
        assert (key_id, of) == (record.key_id, account)
        return record

    def advance(self, key_id: str, counter: int) -> None:
        assert self.rows[key_id].counter < counter
        self.rows[key_id].counter = counter


keys = Keys()
account = minted.ACCOUNT
client_data = body = b"hello"
sent = {"attestation": minted.mint("attestation", "--client-data", "hello"),
        "keyId": minted.device()["keyId"]}
url = sent["keyId"].translate({43: "-", 47: "_", 61: None})  # the form that many clients send
headers = {"X-Key-Id": url, "X-Assertion": minted.mint("assertion", "--client-data", "hello", "--counter", "8")}
record = types.SimpleNamespace(
    key_id=sent["keyId"], counter=7, public_key=base64.b64decode(minted.device()["publicKey"]),
    receipt=minted.mint("attest-receipt"))
known = set(dir())
# SNIPPET
made = {name: value for name, value in globals().items() if name not in known}
for name, value in made.items():
    if isinstance(value, assay.Attestation):
        assert value.key_id == sent["keyId"] and value.public_key == record.public_key
    if isinstance(value, assay.Assertion):
        assert value.counter == 8
    if isinstance(value, assay.AttestReceipt):
        assert value.type == "ATTEST"
assert any(isinstance(value, (assay.Attestation, assay.Assertion, assay.AttestReceipt))
           for value in made.values()), made
