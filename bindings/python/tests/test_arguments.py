"""The arguments of a verifier's calls: every accepted form, and refused ones. What the library
decides about evidence is in the table of cases."""
import base64
import datetime
import hashlib
import pathlib
import tempfile
import unittest
import uuid

import assay
from assay import _prototypes, errors
from case_table import call_of, called, jws_of, octets_of, table

# Maps a call of the table to the argument that is the evidence.
EVIDENCE = {
    ("verify_jws", "transaction"): "jws",
    ("verify_receipt", "transaction-receipt"): "receipt",
    ("verify_receipt", "app-receipt"): "receipt",
    ("verify_receipt", "attest-receipt"): "receipt",
    ("read_verify_receipt_response", None): "body",
    ("verify_attestation", None): "attestation",
    ("verify_assertion", None): "assertion",
    ("triage", None): "blob",
}
# The calls whose str argument is base64 of the bytes.
OBJECTS = {"verify_attest_receipt", "verify_attestation", "verify_assertion"}
# The base point of P-256, which is the key of no case.
GENERATOR = bytes.fromhex(
    "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")


def texts_of(octets):
    """Return base64 of bytes, standard and URL-safe without padding."""
    return (base64.b64encode(octets).decode(),
            base64.urlsafe_b64encode(octets).decode().rstrip("="))


class EveryCallTest(unittest.TestCase):
    """What holds for each call with evidence."""

    def each(self):
        """Yield case, name of the method, name of the evidence, and the evidence as bytes."""
        for (call, kind), evidence in EVIDENCE.items():
            status = "pending" if call == "triage" else "ok"
            case = table().first(call, status, **({"kind": kind} if kind else {}))
            name, arguments = call_of(case)
            given = arguments[evidence]
            octets = given.encode() if isinstance(given, str) else given
            yield case, name, evidence, octets

    def test_forms(self):
        for case, name, evidence, octets in self.each():
            wanted = called(case).document.text
            plain = (octets.decode(),) if octets.isascii() else ()
            texts = texts_of(octets) if name in OBJECTS else plain
            for form in (octets, bytearray(octets), memoryview(octets), *texts):
                with self.subTest(name, form=type(form).__name__):
                    self.assertEqual(called(case, **{evidence: form}).document.text, wanted)

    def test_wrong_types(self):
        for case, name, evidence, _ in self.each():
            for wrong in (None, 5, ["a"], object()):
                with self.subTest(name, wrong=wrong), self.assertRaises(TypeError):
                    called(case, **{evidence: wrong})
            for wrong in (1.5, "now", True, datetime.date(2025, 1, 1)):
                with self.subTest(name, now=wrong), self.assertRaises(TypeError):
                    called(case, now=wrong)

    def test_hostile_evidence(self):
        for case, name, evidence, _ in self.each():
            for bad in ("", b"", "\ud800", "\0", b"\xff" * 9, "ü.ü.ü", "AA=A", "{" * 5000):
                with self.subTest(name, bad=bad[:9]):
                    if name == "triage":
                        finding = called(case, blob=bad)
                        self.assertFalse(finding.worth_verifying)
                        self.assertEqual(finding.unverified.keys, ())
                        continue
                    with self.assertRaises(assay.AssayError) as caught:
                        called(case, **{evidence: bad})
                    self.assertNotIsInstance(
                        caught.exception, (assay.MisuseError, assay.InternalError))
                    self.assertIsInstance(caught.exception.document, assay.Document)

    def test_the_time(self):
        for case, name, _, _ in self.each():
            aware = datetime.datetime.fromtimestamp(
                case["now"] / 1000, datetime.timezone(datetime.timedelta(hours=-7)))
            with self.subTest(name):
                self.assertEqual(
                    called(case, now=aware).document.text, called(case).document.text)
                with self.assertRaises(ValueError):
                    called(case, now=datetime.datetime(2025, 1, 1))
            for outside in (0, -1, 5, 2**63, 10**40, -(10**40)):
                with self.subTest(name, outside=outside), \
                        self.assertRaises(assay.MisuseError) as caught:
                    called(case, now=outside)
                self.assertEqual(caught.exception.status, "misuse.call.now")

    def test_a_closed_verifier(self):
        closed = assay.Verifier(table().configuration("standard"))
        closed.close()
        for case, name, _, _ in self.each():
            with self.subTest(name), self.assertRaisesRegex(ValueError, "closed"):
                called(case, closed)

    def test_the_clock_when_the_time_is_left_out(self):
        case = table().accepted("transaction")
        document = table().verifier(case["verifier"]).verify("transaction", jws_of(case))
        self.assertNotIn(document.code & 0xFF,
                         (_prototypes.ASSAY_MISUSE, _prototypes.ASSAY_INTERNAL))


class KindTest(unittest.TestCase):
    def test_verify(self):
        case = table().accepted("transaction")
        verifier = table().verifier(case["verifier"])
        for wrong in ("any", "receipt", "triage", 1, None, ""):
            with self.subTest(wrong=wrong), self.assertRaises(ValueError):
                verifier.verify(wrong, jws_of(case))
        for kind in ("transaction", "verify-receipt-response"):
            with self.subTest(kind=kind), self.assertRaisesRegex(ValueError, "subject"):
                verifier.verify(kind, "x", case["now"], b"\0" * 16)


class AppAttestTest(unittest.TestCase):
    def setUp(self):
        self.attested = table().first("verify_attestation", clientDataKind=1)
        self.asserted = table().first("verify_assertion")
        self.found = called(self.attested)

    def test_forms_of_the_key_id(self):
        octets = base64.b64decode(self.found.key_id)
        for form in (octets, octets.hex(), *texts_of(octets)):
            with self.subTest(form=form):
                self.assertEqual(called(self.attested, key_id=form).key_id, self.found.key_id)
        for wrong in (None, 5, ["a"]):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                called(self.attested, key_id=wrong)
        with self.assertRaises(assay.MalformedError):
            called(self.attested, key_id=self.found.key_id[:-2])

    def test_forms_of_the_public_key(self):
        octets = octets_of(self.asserted, "publicKey")
        for form in (octets, bytearray(octets), base64.b64encode(octets).decode()):
            with self.subTest(form=type(form).__name__):
                self.assertTrue(called(self.asserted, public_key=form).document.ok)
        for wrong in (octets[:-1], b"", "zz", b"\x04" + bytes(64)):
            with self.subTest(wrong=wrong), self.assertRaises(assay.MisuseError):
                called(self.asserted, public_key=wrong)
        for wrong in (None, 5):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                called(self.asserted, public_key=wrong)

    def test_a_stored_receipt(self):
        verifier, now = table().verifier(self.attested["verifier"]), self.attested["now"]
        raw = self.found.receipt.raw
        for key, bound in ((self.found.public_key, True), (self.found.public_key_spki, True),
                           (None, False)):
            self.assertIs(verifier.verify_attest_receipt(raw, key, now).bound, bound)
        document = verifier.verify("attest-receipt", raw, now, self.found.public_key)
        self.assertIs(document.facts.bound, True)
        for key, error in ((GENERATOR, assay.RejectedError), (b"\x04", assay.MisuseError),
                           (5, TypeError)):
            with self.subTest(key=key), self.assertRaises(error):
                verifier.verify_attest_receipt(raw, key, now)

    def test_counters_that_ctypes_would_cut(self):
        for wrong in (-1, 2**32, 2**64 + self.asserted["counter"]):
            with self.subTest(wrong=wrong), self.assertRaises(ValueError):
                called(self.asserted, counter=wrong)
        for wrong in (None, "1", 1.0, True):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                called(self.asserted, counter=wrong)

    def test_client_data(self):
        data = octets_of(self.attested, "clientData")
        digest = hashlib.sha256(data).digest()

        def given(text=None, hash=None):
            return called(self.attested, client_data=text, client_data_hash=hash)

        self.assertTrue(given(hash=digest).document.ok)
        for wrong in ({}, {"text": data, "hash": digest}, {"hash": digest.hex()}, {"hash": 5}):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                given(**wrong)
        for length in (0, 15, 65):
            with self.subTest(length=length), self.assertRaises(assay.MisuseError):
                given(hash=bytes(length))
        with self.assertRaises(assay.RejectedError) as caught:
            given(digest)  # the hash passed as the data (DIA-1)
        self.assertTrue(caught.exception.hint.startswith("data-is-hash"))

    def test_attributes_of_the_facts(self):
        found = self.found
        self.assertEqual(found.public_key[:1], b"\x04")
        self.assertEqual(found.public_key_spki[-65:], found.public_key)
        self.assertEqual(base64.b64encode(found.public_key).decode(),
                         found.payload["publicKey"]["x963"])
        self.assertEqual(found.as_dict()["receipt"]["type"], "ATTEST")


class DeviceTest(unittest.TestCase):
    def setUp(self):
        self.case = next(
            case for case in table().cases
            if (case["call"], case.get("kind"), case["expect"]["status"])
            == ("verify_receipt", "app-receipt", "ok") and "subjectBase64" in case)
        self.device = call_of(self.case)[1]["subject"]

    def test_forms(self):
        forms = [self.device, bytearray(self.device), memoryview(self.device)]
        if len(self.device) == 16:
            forms.append(uuid.UUID(bytes=self.device))
        for form in forms:
            with self.subTest(form=type(form).__name__):
                self.assertIs(called(self.case, subject=form).device_bound, True)
        self.assertIs(called(self.case, subject=None).device_bound, False)

    def test_wrong(self):
        for length in (1, 5, 7, 15, 17, 36):
            with self.subTest(length=length), self.assertRaises(assay.MisuseError):
                called(self.case, subject=b"\0" * length)
        for wrong in ("ABCDEF01-2345-6789-ABCD-EF0123456789", 5, object()):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                called(self.case, subject=wrong)


class EvidenceTest(unittest.TestCase):
    """The arguments of `decide`: facts and documents of purchases, in any mixture."""

    def test_each_kind(self):
        for call, kind in (("verify_jws", "transaction"), ("verify_receipt", "app-receipt"),
                           ("verify_receipt", "transaction-receipt"),
                           ("read_verify_receipt_response", None)):
            case = table().first(call, **({"kind": kind} if kind else {}))
            verifier, found = table().verifier(case["verifier"]), called(case)
            with self.subTest(kind=found.document.kind):
                decision = verifier.decide(found, now=case["now"])
                again = verifier.decide(found.document, now=case["now"])
                self.assertEqual(decision.payload, again.payload)
                self.assertIn(found.document.kind, decision.evidence.kinds)

    def test_a_mixture(self):
        pieces = [case for case in table().cases
                  if case["call"] in ("verify_receipt", "read_verify_receipt_response")
                  and (case["verifier"], case["expect"]["status"]) == ("standard", "ok")
                  and case.get("kind") != "attest-receipt"]
        found, now = [called(case) for case in pieces[:3]], pieces[0]["now"]
        verifier = table().verifier("standard")
        mixed = verifier.decide([found[0], found[1].document, found[2]], now=now)
        again = verifier.decide((each.document for each in reversed(found)), now=now)
        self.assertEqual(mixed.payload, again.payload)

    def test_what_is_no_evidence(self):
        case = table().accepted("transaction")
        verifier, jws, now = table().verifier(case["verifier"]), jws_of(case), case["now"]
        for wrong in (jws, [jws], [None], [{}], None, 5):
            with self.subTest(wrong=type(wrong)), self.assertRaises(TypeError):
                verifier.decide(wrong)
        triage = called(table().first("triage", "pending"))
        with self.assertRaises(TypeError):
            verifier.decide(triage.unverified, now=now)
        for wrong, status in (
            ([], "empty"), (verifier.verify("transaction", "a.b.c", now), "evidence"),
            (triage, "evidence"), (called(table().first("verify_attestation")), "evidence"),
        ):
            with self.subTest(wrong=wrong), self.assertRaises(assay.MisuseError) as caught:
                verifier.decide(wrong, now=now)
            self.assertEqual(caught.exception.status, f"misuse.decision.{status}")


class OtherCallsTest(unittest.TestCase):
    def test_configuration(self):
        for wrong, error in ((5, TypeError), ({"apps": object()}, TypeError),
                             ({5: []}, TypeError), ({"apps": float("nan")}, ValueError),
                             ({"apps": "\ud800"}, assay.ConfigError), ("{", assay.ConfigError),
                             ({"apps": [], "aps": 1}, assay.ConfigError)):
            with self.subTest(wrong=wrong), self.assertRaises(error) as caught:
                assay.Verifier(wrong)
            if error is assay.ConfigError:
                self.assertIs(errors.FAMILIES[caught.exception.code & 0xFF], error)

    def test_a_configuration_file(self):
        config = '{"apps":[{"bundleId":"com.example.app","appAppleId":1}]}'
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "config.json"
            path.write_text(config)
            for form in (path, str(path)):
                verifier = assay.Verifier.from_file(form)
                self.assertEqual(verifier.configuration, assay.Verifier(config).configuration)
            path.write_text("{")
            with self.assertRaises(assay.ConfigError) as caught:
                assay.Verifier.from_file(path)
            self.assertEqual(caught.exception.status, "config.document.syntax")
            with self.assertRaises(FileNotFoundError):
                assay.Verifier.from_file(path.parent / "none.json")
            with self.assertRaises(IsADirectoryError):
                assay.Verifier.from_file(path.parent)
        for wrong in (5, None, {"apps": []}):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                assay.Verifier.from_file(wrong)

    def test_dates(self):
        for outside in (2**63, -(2**63)):
            with self.assertRaises(ValueError):
                assay.check_expiry(outside)
        with self.assertRaises(assay.MisuseError):
            assay.check_expiry(1, now=5)
        self.assertTrue(assay.check_expiry(assay.FOREVER))
        self.assertFalse(assay.check_expiry(None))

    def test_names_that_are_loaded_when_they_are_asked_for(self):
        self.assertLessEqual(set(assay.__all__), set(dir(assay)))
        for name in assay.__all__:
            self.assertEqual(getattr(getattr(assay, name), "__name__", name), name)
        with self.assertRaises(AttributeError):
            getattr(assay, "Nothing")


if __name__ == "__main__":
    unittest.main()
