#!/usr/bin/env python3
"""Measure the cost of the most expensive inputs that an attacker can send.

  hostile.py --library FILE [--only TEXT] [--quick] [--json FILE]

An unverified text may cost 2 ms plus 0.1 ms for each KiB of its length, whatever it contains
(JWS-104). Prints a table of calls and inputs, and the missed bars; a missed bar never fails the
run.
"""

import argparse
import base64
import ctypes
import json
import pathlib
import time

BASE_MS, PER_KIB_MS = 2.0, 0.1
LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
ZERO = ctypes.c_size_t(0)


# ---- names ------------------------------------------------------------------


def colliding(count):
    """Return names with one FNV-1a hash, made of pairs of blocks that lead to one state."""

    def step(state, text):
        for byte in text:
            state = ((state ^ byte) * 16777619) & 0xFFFFFFFF
        return state

    def block(number):
        number = number * 0x9E3779B97F4A7C15 & (1 << 64) - 1
        return bytes(LETTERS[(number >> 56 - 8 * place & 255) * 62 >> 8] for place in range(5))

    state, names = step(2166136261, b"/"), [b"/"]
    while len(names) < count:
        seen, number = {}, 0
        while (end := step(state, block(number))) not in seen:
            seen[end] = number
            number += 1
        state = end
        names = [name + other for name in names for other in (block(seen[end]), block(number))]
    return names[:count]


def members(names, value=b"1"):
    return b"{" + b",".join(b'"' + name + b'":' + value for name in names) + b"}"


def repeated(one, size):
    """Return an object with a list of as many copies as fit into `size` bytes."""
    return b'{"a":[' + b",".join([one] * max(1, size // (len(one) + 1))) + b"]}"


def nested_lists(one, size, width):
    """Return an object with lists of at most `width` copies, together as large as `size`."""
    inner = b"[" + b",".join([one] * width) + b"]"
    return repeated(inner, size)


def texts(size, most):
    """Yield JSON objects of about `size` bytes with at most `most` members."""
    names = colliding(4096)
    count = lambda width: max(1, min(most, size // width))
    plain = [b"name%d" % number for number in range(most)]
    long = [b"\\u0061" * 240 + b"%d" % number for number in range(most)]
    deep = b"[" * 30 + b"]" * 30
    yield "colliding names, one object", members(names[:count(len(names[0]) + 5)])
    yield "colliding names, objects of 31", repeated(members(names[:31]), size)
    yield "colliding names, objects of 33", repeated(members(names[:33]), size)
    yield "colliding names, objects of 256", repeated(members(names[:256]), size)
    escaped = [b"\\" + name for name in names]
    yield "colliding, escaped, one object", members(escaped[:count(len(names[0]) + 6)])
    yield "colliding, escaped, objects of 256", repeated(members(escaped[:256]), size)
    yield "names of long escapes", repeated(members(long[:min(most, 256)]), size)
    yield "many members", members(plain[:count(12)])
    yield "many objects of many members", repeated(members(plain[:min(most, 256)]), size)
    yield "short names, objects of 32", repeated(
        members(LETTERS[place:place + 1] for place in range(32)), size)
    yield "depth", repeated(deep, size)
    yield "long arrays", nested_lists(b"1", size, 1000)
    yield "empty objects", nested_lists(b"{}", size, 1000)
    yield "escapes in texts", b'{"a":"' + b"\\u00e9" * (size // 6) + b'"}'
    yield "numbers", nested_lists(b"-1.5e-10", size, 1000)
    yield "brackets", b'{"a":' + b"[" * size
    yield "white space", b"{" + b" \n" * (size // 2) + b"}"


# ---- containers -------------------------------------------------------------


def tlv(tag, content):
    length = len(content)
    if length < 0x80:
        return bytes([tag, length]) + content
    octets = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(octets)]) + octets + content


SIGNED_DATA = bytes.fromhex("06092a864886f70d010702")
DATA = bytes.fromhex("06092a864886f70d010701")
SHA256 = bytes.fromhex("300d06096086480165030402010500")
RSA = bytes.fromhex("300d06092a864886f70d01010b0500")
NAME = bytes.fromhex("300d310b3009060355040613025553")


def rsa_key(last):
    modulus = b"\0\xff" + bytes(254) + bytes([last])
    return tlv(0x30, tlv(0x30, bytes.fromhex("06092a864886f70d0101010500")) + tlv(
        0x03, b"\0" + tlv(0x30, tlv(0x02, modulus) + tlv(0x02, b"\1\0\1"))))


def extension(identifier, value, critical=False):
    return tlv(0x30, tlv(0x06, bytes.fromhex(identifier)) + (b"\1\1\xff" if critical else b"")
               + tlv(0x04, value))


def unknown(count):
    return b"".join(extension("55%02x%02x" % (1 + place // 127, 1 + place % 127), b"")
                    for place in range(count))


def certificate(serial, extensions, issuer=NAME, subject=NAME, key=rsa_key(1), algorithm=RSA,
                signature=b"\1" * 256):
    """Return a certificate that parses to its end; its signature is invalid."""
    dates = tlv(0x30, tlv(0x17, b"200101000000Z") + tlv(0x17, b"400101000000Z"))
    body = tlv(0x30, tlv(0xA0, b"\x02\x01\x02") + tlv(0x02, serial) + algorithm + issuer + dates
               + subject + key + (tlv(0xA3, tlv(0x30, extensions)) if extensions else b""))
    return tlv(0x30, body + algorithm + tlv(0x03, b"\0" + signature))


def name(*parts):
    """Return a name in Apple's form: country and organisation, then these parts."""
    tags = {"C": ("550406", 0x13), "O": ("55040a", 0x0C), "OU": ("55040b", 0x0C),
            "CN": ("550403", 0x0C)}
    return tlv(0x30, b"".join(
        tlv(0x31, tlv(0x30, tlv(0x06, bytes.fromhex(tags[kind][0])) + tlv(
            tags[kind][1] if printable is None else 0x13, text)))
        for kind, text, printable in parts))


def forged_paths():
    """Yield receipts with a signer below seven intermediates of one name and different keys, whose
    number CER-10 limits. Names and markers are correct, signatures are invalid."""
    leaf = extension("551d13", tlv(0x30, b""), True) + extension("551d0f", b"\3\2\7\x80", True)
    authority = extension("551d13", tlv(0x30, b"\1\1\xff"), True) + extension(
        "551d0f", b"\3\2\1\6", True)
    middle = name(("CN", b"In between", None))

    apple = name(("C", b"US", 1), ("O", b"Apple Inc.", 1),
                 ("OU", b"Apple Certification Authority", 1), ("CN", b"Apple Root CA", 1))
    marked = leaf + extension("2a864886f7636406" + "0b01", b"\5\0")
    above = authority + extension("2a864886f7636406" + "0201", b"\5\0")
    chain = [certificate(b"\1", marked, middle, NAME)] + [
        certificate(bytes([2 + place]), above, apple, middle, rsa_key(3 + 2 * place))
        for place in range(7)]
    yield "verify_receipt 2", container(tlv(0x04, tlv(0x31, b"")), chain, issuer=middle)

    root = name(("CN", b"Apple Root CA - G3", None), ("OU", b"Apple Certification Authority", None),
                ("O", b"Apple Inc.", None), ("C", b"US", None))
    point = bytes.fromhex(
        "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
        "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
    key = tlv(0x30, bytes.fromhex("301306072a8648ce3d020106082a8648ce3d030107") + tlv(
        0x03, b"\0" + point))
    ecdsa = bytes.fromhex("300a06082a8648ce3d040302")
    numbers = tlv(0x30, tlv(0x02, b"\x11" * 32) * 2)
    marked = leaf + extension("2a864886f763640c0f", b"\5\0")
    above = authority + extension("2a864886f76364060203", b"\5\0")
    chain = [certificate(b"\1", marked, middle, NAME, key, ecdsa, numbers)] + [
        certificate(bytes([2 + place]), above, root, middle, key, ecdsa, numbers)
        for place in range(7)]
    yield "verify_receipt 3", container(
        tlv(0x04, tlv(0x31, b"")), chain, issuer=middle, algorithm=ecdsa, signature=numbers)


def container(payload, certificates, attributes=b"", digest=SHA256, issuer=NAME, algorithm=RSA,
              signature=bytes(256)):
    signer = tlv(0x30, b"\x02\x01\x01" + tlv(0x30, issuer + b"\x02\x01\x01") + digest
                 + algorithm + tlv(0x04, signature) + attributes)
    return tlv(0x30, SIGNED_DATA + tlv(0xA0, tlv(
        0x30, b"\x02\x01\x01" + tlv(0x31, digest) + tlv(0x30, DATA + tlv(0xA0, payload))
        + tlv(0xA0, b"".join(certificates)) + tlv(0x31, signer))))


def attribute(kind, value):
    return tlv(0x30, tlv(0x02, kind.to_bytes(2, "big")) + b"\x02\x01\x01" + tlv(0x04, value))


def purchase(number):
    text = b"2000000%09d" % number
    return attribute(17, tlv(0x31, attribute(1702, tlv(0x0C, b"com.example.%d" % number))
                             + attribute(1703, tlv(0x0C, text)) + attribute(1705, tlv(0x0C, text))
                             + attribute(1704, tlv(0x16, b"2026-01-01T00:00:00Z"))))


def containers(size):
    small = tlv(0x04, tlv(0x31, b""))
    good = certificate(b"\1", b"")
    count = size // 8
    yield "BER, definite nesting", nested(size, False)
    yield "BER, indefinite nesting", nested(size, True)
    yield "BER, brackets only", b"\x30\x80" * (size // 2)
    yield "BER, chunks of one octet", tlv(0x30, SIGNED_DATA + tlv(0xA0, tlv(
        0x30, b"\x02\x01\x01" + tlv(0x31, SHA256) + tlv(0x30, DATA + tlv(
            0xA0, tlv(0x24, b"\x04\x01\x31" * (size // 3)))))))
    yield "PKCS#7, 8 certificates of 64 extensions", container(
        small, [certificate(bytes([1 + place]), unknown(64)) for place in range(8)])
    yield "PKCS#7, 8 certificates of 340 extensions", container(
        small, [certificate(bytes([1 + place]), unknown(340)) for place in range(8)])
    yield "PKCS#7, many certificates", container(small, [good] * (size // len(good)))
    yield "PKCS#7, many small certificates", container(small, [b"\x30\x00"] * (size // 2))
    yield "PKCS#7, attributes of the signer", container(
        small, [good], tlv(0xA1, b"\x30\x00" * (size // 2)))
    payload = b"".join(attribute(0x4000 + place % 0x3FFF, b"") for place in range(size // 13))
    yield "PKCS#7, attributes of the payload", container(tlv(0x04, tlv(0x31, payload)), [good])
    payload = attribute(0, tlv(0x0C, b"ProductionSandbox")) + attribute(
        2, tlv(0x0C, b"com.example.bench"))
    payload += b"".join(purchase(number) for number in range(min(8192, size // 150)))
    yield "PKCS#7, purchases", container(tlv(0x04, tlv(0x31, payload)), [good])
    yield "PKCS#7, empty attributes", container(
        tlv(0x04, tlv(0x31, b"\x30\x00" * count)), [good])


def nested(size, indefinite):
    """Return a container with structures of twenty levels, as many as fit."""
    if indefinite:
        one = b"\x30\x80" * 18 + b"\x05\x00" + b"\0\0" * 18
        inner = one * (size // len(one))
        return b"\x30\x80" + SIGNED_DATA + b"\xa0\x80" + inner + b"\0\0\0\0"
    one = b"\x05\x00"
    for _ in range(18):
        one = tlv(0x30, one)
    return tlv(0x30, SIGNED_DATA + tlv(0xA0, one * (size // len(one))))


def lists(size):
    """Yield hostile property lists, most in the old style that transaction receipts have."""
    value = base64.b64encode(bytes(size // 2))
    info = b"{\n" + b"".join(b'\t"%s%02d" = "1";\n' % (b"k" * 60, n) for n in range(64)) + b"}"
    keys = b"".join(b'"%s%02d%s" = "1";' % (b"k" * 30, n, b"k" * 30) for n in range(62))
    sign = base64.b64encode(b"\3" + bytes(260) + bytes(4))
    yield "list, keys alike", b"{" + keys + b'"signature" = "' + sign + b'";}'
    yield "list, info of keys alike", (
        b'{"signature" = "' + sign + b'"; "purchase-info" = "' + base64.b64encode(info) + b'";}')
    yield "list, escapes", b'{"signature" = "' + b"\\U0041" * (size // 6) + b'";}'
    yield "list, long signature", b'{"signature" = "' + value + b'"; "purchase-info" = "QQ==";}'
    yield "list, white space", b"{" + b" \n" * (size // 2)
    yield "list, no brace", b"a" * size
    yield "XML list", b"<?xml" + b"<a>" * (size // 3)
    yield "binary list", b"bplist00" + b"\xd1\1\2" * (size // 3)


def cbor(size):
    def head(kind, count):
        if count < 24:
            return bytes([kind << 5 | count])
        if count < 256:
            return bytes([kind << 5 | 24, count])
        return bytes([kind << 5 | 25]) + count.to_bytes(2, "big")

    keys = b"".join(head(3, 400) + b"k" * 398 + b"%02d" % n + b"\0" for n in range(30))
    yield "CBOR, keys alike", head(5, 30) + keys[:size]
    yield "CBOR, nesting", b"\x81" * size
    yield "CBOR, attestation of zeros", b"\xa3\x63fmt\x6fapple-appattest\x67attStmt" + bytes(size)
    yield "CBOR, long text", head(3, min(size, 65000)) + b"\xc3\xa9" * (min(size, 65000) // 2)
    data = (bytes(32) + b"\x40" + bytes(20) + b"\0\x20" + bytes(32)
            + bytes.fromhex("a5010203262001215820") + bytes(32) + b"\x22\x58\x20" + bytes(32))
    certificates = [certificate(b"\1", unknown(count)) for count in (64, 300)]
    for place, one in enumerate(certificates):
        entry = head(2, len(one)) + one
        yield "CBOR, chain of %d extensions" % (64, 300)[place], (
            b"\xa3\x63fmt\x6fapple-appattest\x67attStmt\xa2\x63x5c\x82" + entry + entry
            + b"\x67receipt\x41\0\x68authData" + head(2, 164) + data)


# ---- base64 -----------------------------------------------------------------


def spaced(text):
    """Return base64 with a few spaces that may be meant as plus signs (RCP-3)."""
    text += b" " * (-len(text) % 3)
    digits = base64.b64encode(text)
    tail = b" ".join(digits[place:place + 2] for place in range(len(digits) - 8, len(digits), 2))
    return digits[:-8] + b" " + tail


def blanks(size):
    digits = base64.b64encode(b'{"a":1}' * (size // 28))
    yield "base64, a space after each digit", b" ".join(
        digits[place:place + 1] for place in range(len(digits)))
    yield "base64, line breaks everywhere", b"\r\n".join(
        digits[place:place + 1] for place in range(len(digits)))
    yield "base64, spaces only", b" " * size + b"QQ"
    yield "base64, stranger at the end", digits * 2 + b"%"
    yield "base64 twice, spaces", spaced(base64.b64encode(b'{"a":[1,2,3]}' * (size // 20)))


def compact(header, payload=b"{}", signature=b"A" * 86):
    encode = lambda text: base64.urlsafe_b64encode(text).rstrip(b"=")
    return encode(header) + b"." + encode(payload) + b"." + signature


# ---- calls ------------------------------------------------------------------


class Library:
    def __init__(self, path):
        self.library = ctypes.CDLL(str(pathlib.Path(path).resolve()))
        self.library.assay_status_name.restype = ctypes.c_char_p
        self.library.assay_doc_free.restype = None
        self.library.assay_verifier_free.restype = None
        self.now = ctypes.c_int64(time.time_ns() // 1_000_000)
        config = {
            "apps": [{"bundleId": "com.example.bench", "appAppleId": 1234567890,
                      "teamId": "ABCDE12345"}],
            "environments": ["Production", "Sandbox"],
        }
        self.verifier = self.made(json.dumps(config).encode())

    def made(self, config):
        out = ctypes.c_void_p()
        status = self.library.assay_verifier_new(
            config, ctypes.c_size_t(len(config)), ctypes.byref(out), None)
        if status:
            raise SystemExit(f"no verifier: {self.library.assay_status_name(status).decode()}")
        return out

    def calls(self):
        """Return {name: function of a text that returns a status}."""
        library, verifier, now = self.library, self.verifier, self.now

        def call(function, *before):
            def run(text, document):
                return function(verifier, *before, text, ctypes.c_size_t(len(text)),
                                *after.get(function.__name__, ()), now, document)
            return run

        after = {"assay_verify_receipt": (None, ZERO)}
        key = bytes([4]) + bytes.fromhex(
            "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
            "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
        one = ctypes.c_size_t(1)

        def attestation(text, document):
            return library.assay_verify_attestation(
                verifier, text, ctypes.c_size_t(len(text)), bytes(32), ctypes.c_size_t(32), 1,
                b"a", one, now, document)

        def assertion(text, document):
            return library.assay_verify_assertion(
                verifier, text, ctypes.c_size_t(len(text)), key, ctypes.c_size_t(65), 0, 1,
                b"a", one, now, document)

        def verifier_new(text, document):
            out = ctypes.c_void_p()
            status = library.assay_verifier_new(
                text, ctypes.c_size_t(len(text)), ctypes.byref(out), document)
            library.assay_verifier_free(out)
            return status

        return {
            "triage": call(library.assay_triage),
            "verify_jws": call(library.assay_verify_jws, 1),
            "verify_receipt 1": call(library.assay_verify_receipt, 1),
            "verify_receipt 2": call(library.assay_verify_receipt, 2),
            "verify_receipt 3": call(library.assay_verify_receipt, 3),
            "read_verify_receipt_response": call(library.assay_read_verify_receipt_response),
            "verify_attestation": attestation,
            "verify_assertion": assertion,
            "verifier_new": verifier_new,
        }

    def measure(self, work, text, rounds):
        best, status = float("inf"), 0
        for _ in range(rounds):
            document = ctypes.c_void_p()
            start = time.thread_time_ns()
            status = work(text, ctypes.byref(document))
            best = min(best, time.thread_time_ns() - start)
            self.library.assay_doc_free(document)
        return best / 1e6, self.library.assay_status_name(status).decode()


def inputs(quick):
    """Yield (calls, description, text)."""
    big = (1 << 18) if quick else (1 << 21)
    receipts = ["triage", "verify_receipt 1", "verify_receipt 2"]
    for what, text in texts(big, 4096):
        yield ["triage", "read_verify_receipt_response"], what, text
        yield receipts, what + ", base64 with spaces", spaced(text)
    for what, text in texts(11_000, 256):
        yield ["verify_jws", "triage"], what + ", header", compact(text)
    for what, text in texts(45_000, 256):
        yield ["verify_jws", "triage"], what + ", payload", compact(b"{}", text)
    for what, text in texts(1 << 19, 4096):
        yield ["verifier_new"], what, text
    for what, text in containers(min(big, 950_000)):
        yield receipts, what, text
        yield ["triage", "verify_receipt 2"], what + ", base64", base64.b64encode(text)
    for what, text in containers(6_000):
        yield ["verify_receipt 3"], what + ", small", text
    for call, text in forged_paths():
        yield [call], "PKCS#7, seven intermediates of one name", text
    for what, text in lists(big):
        yield receipts, what, text
    for what, text in lists(12_000):
        yield receipts, what + ", small", text
    for what, text in blanks(big):
        yield [*receipts, "verify_receipt 3"], what, text
    for what, text in cbor(12_000):
        yield ["verify_attestation", "triage"], what, text
    for what, text in cbor(900):
        yield ["verify_assertion"], what + ", small", text
    entry = lambda number: (
        b'{"transaction_id":"%d","original_transaction_id":"1","product_id":"com.example.a",'
        b'"purchase_date_ms":"1700000000000"}' % number)
    for what, numbers in [("different", range(16_000)), ("one", [7] * 16_000)]:
        yield ["read_verify_receipt_response"], "entries of %s purchases" % what, (
            b'{"status":0,"environment":"Production","receipt":{"bundle_id":"com.example.bench",'
            b'"adam_id":1234567890,"in_app":[' + b",".join(entry(n) for n in numbers) + b"]}}")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--library", required=True)
    options.add_argument("--json")
    options.add_argument("--only", default="", help="inputs whose name has this in it")
    options.add_argument("--quick", action="store_true")
    options = options.parse_args()
    library = Library(options.library)
    calls = library.calls()
    rows = []
    for names, what, text in inputs(options.quick):
        for name in names if options.only in what else ():
            ms, status = library.measure(calls[name], text, 2 if options.quick else 3)
            kib = len(text) / 1024
            rows.append((name, what, kib, ms, ms / kib, ms <= BASE_MS + PER_KIB_MS * kib, status))
    order = list(calls)
    rows.sort(key=lambda row: (order.index(row[0]), -row[3] / (BASE_MS + PER_KIB_MS * row[2])))
    print(f"hostile inputs: at most {BASE_MS:g} ms and {PER_KIB_MS:g} ms for each KiB\n")
    width = max(len(row[1]) for row in rows)
    print(f"| {'call':28} | {'input':{width}} | {'KiB':>6} | {'ms':>8} | {'ms/KiB':>7} | bar    |")
    print(f"|{'-' * 30}|{'-' * (width + 2)}|{'-' * 8}|{'-' * 10}|{'-' * 9}|{'-' * 8}|")
    for name, what, kib, ms, each, met, _ in rows:
        print(f"| {name:28} | {what:{width}} | {kib:6.0f} | {ms:8.2f} | {each:7.4f} | "
              f"{'met' if met else 'MISSED':6} |")
    missed = [f"{name}: {what}" for name, what, _, _, _, met, _ in rows if not met]
    print("\nbars missed:", "; ".join(missed) if missed else "none")
    if options.json:
        names = ("call", "input", "kib", "ms", "msPerKib", "met", "status")
        record = [dict(zip(names, row)) for row in rows]
        pathlib.Path(options.json).write_text(json.dumps(record, indent=2) + "\n")


main()
