#!/usr/bin/env python3
"""Check that every libcrypto gives the same results through Sources/CLibCrypto/shim.h.

  shim.py PROGRAM... [--library LIBRARY]... [--suite NAME]

The programs are Tests/ABI/shim.c, each over another libcrypto. They check signatures and keys that
are computed here, by arithmetic in Python from a fixed seed: valid ones, and for each some with one
difference, so that the right results are known. If ../shared/vectors exists, Wycheproof's
signatures are added, on which all programs must agree. The libraries must report the same about
their libcrypto as the last program.
"""
import argparse
import ctypes
import hashlib
import hmac
import json
import random
import subprocess

from project import ROOT
from report import Suite

VECTORS = ROOT.parent / "shared/vectors/corpora/wycheproof"
DIGESTS = ["sha1", "sha256", "sha384", "sha512"]


class Curve:
    """y² = x³ - 3x + b over p, with a generator of order n (SEC 2)."""

    def __init__(self, bits, p, b, n, x, y):
        self.bits, self.p, self.b, self.n, self.generator = bits, p, b, n, (x, y)
        self.size = bits // 8

    def add(self, left, right):
        if left is None or right is None:
            return left or right
        if left[0] == right[0] and (left[1] + right[1]) % self.p == 0:
            return None
        if left == right:
            slope = (3 * left[0] ** 2 - 3) * pow(2 * left[1], -1, self.p)
        else:
            slope = (right[1] - left[1]) * pow(right[0] - left[0], -1, self.p)
        x = (slope * slope - left[0] - right[0]) % self.p
        return x, (slope * (left[0] - x) - left[1]) % self.p

    def times(self, number, point=None):
        point, found = point or self.generator, None
        while number:
            if number & 1:
                found = self.add(found, point)
            point, number = self.add(point, point), number >> 1
        return found

    def octets(self, *numbers):
        return b"".join(number.to_bytes(self.size, "big") for number in numbers)

    def sign(self, key, digest, k):
        r = self.times(k)[0] % self.n
        whole = int.from_bytes(digest[:self.size], "big")
        return r, pow(k, -1, self.n) * (whole + r * key) % self.n


P256 = Curve(
    256, 2 ** 256 - 2 ** 224 + 2 ** 192 + 2 ** 96 - 1,
    0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b,
    0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551,
    0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296,
    0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5)
P384 = Curve(
    384, 2 ** 384 - 2 ** 128 - 2 ** 96 + 2 ** 32 - 1,
    int("b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d"
        "2a85c8edd3ec2aef", 16),
    int("ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77a"
        "ecec196accc52973", 16),
    int("aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c"
        "3a545e3872760ab7", 16),
    int("3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d"
        "7a431d7c90ea0e5f", 16))


# ---- DER -----------------------------------------------------------------------

def element(tag, content):
    if len(content) < 128:
        return bytes([tag, len(content)]) + content
    return bytes([tag, 0x81, len(content)]) + content


def integer(value):
    return element(2, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))


def pair(r, s):
    return element(0x30, integer(r) + integer(s))


# ---- questions: (words, right answer; None: not known here) ------------------------

def text(octets):
    return octets.hex() or "-"


def turned(octets, place):
    """Return the bytes with one bit flipped."""
    changed = bytearray(octets)
    changed[place // 8 % len(changed)] ^= 1 << place % 8
    return bytes(changed)


def about_digests(chance):
    for count in [0, 1, 55, 56, 63, 64, 65, 111, 112, 119, 120, 127, 128, 129, 2000]:
        octets = chance.randbytes(count)
        for name in DIGESTS:
            yield ["digest", name, text(octets)], hashlib.new(name, octets).hexdigest()


def about_signature(curve, point, digest, signature, right):
    return ["ecdsa", str(curve.bits), text(point), text(digest), text(signature)], right


def about_points(chance, curve):
    """Yield public keys that are no point of the curve, or in a form that evidence must not use."""
    key = chance.randrange(1, curve.n)
    x, y = curve.times(key)
    digest = hashlib.sha256(b"points").digest()
    signature = pair(*curve.sign(key, digest, chance.randrange(1, curve.n)))
    good = b"\4" + curve.octets(x, y)
    yield about_signature(curve, good, digest, signature, "1")
    yield about_signature(curve, b"\4" + curve.octets(x, curve.p - y), digest, signature, "0")
    for other in [b"\4" + curve.octets(x, (y + 1) % curve.p), b"\4" + curve.octets(y, x),
                  b"\4" + curve.octets(x, y)[:-1], good + b"\0", b"\0", b"", b"\4",
                  b"\4" + curve.octets(0, 0), b"\5" + curve.octets(x, y),
                  b"\4" + curve.octets(curve.p, y)]:
        yield about_signature(curve, other, digest, signature, "no key")


def about_ecdsa(chance, curve):
    for name in DIGESTS:
        for _ in range(4):
            key = chance.randrange(1, curve.n)
            point = b"\4" + curve.octets(*curve.times(key))
            digest = hashlib.new(name, chance.randbytes(20)).digest()
            r, s = curve.sign(key, digest, chance.randrange(1, curve.n))
            good = pair(r, s)
            yield about_signature(curve, point, digest, good, "1")
            yield about_signature(curve, point, digest, pair(r, curve.n - s), "1")
            yield about_signature(curve, point, turned(digest, chance.randrange(160)), good, "0")
            yield about_signature(curve, turned(point, 8 * len(point) - 8), digest, good,
                                  "no key")
            for place in range(chance.randrange(31), 8 * len(good), 31):
                yield about_signature(curve, point, digest, turned(good, place), "0")
            wrong = [pair(s, r), pair(0, s), pair(r, 0), pair(r + curve.n, s),
                     pair(r, s + curve.n), pair(-r, s), pair(r, -s), pair(r - curve.n, s),
                     pair(curve.n, s), pair(r, curve.n), pair(1, 1), pair(curve.n - 1, 1),
                     good + b"\0", good[:-1], b"", b"\x30\0",
                     element(0x30, integer(r) + integer(s) + integer(1)),
                     element(0x30, integer(r)),
                     element(0x31, integer(r) + integer(s)),
                     element(0x30, element(2, b"\0\0" + curve.octets(r)) + integer(s)),
                     b"\x30\x82" + (len(good) - 2).to_bytes(2, "big") + good[2:]]
            for other in wrong:
                yield about_signature(curve, point, digest, other, "0")
    yield from about_edges(chance, curve)


def about_edges(chance, curve):
    """Yield signatures whose sum is the point at infinity, or whose two halves are equal."""
    key = chance.randrange(1, curve.n)
    point = b"\4" + curve.octets(*curve.times(key))
    digest = hashlib.sha256(b"edges").digest()
    whole = int.from_bytes(digest[:curve.size], "big")
    r = -whole * pow(key, -1, curve.n) % curve.n        # e + r·d is 0
    yield about_signature(curve, point, digest, pair(r, 1), "0")
    for number in [1, 2, curve.n - 1]:                  # Q is G, 2G, -G
        point = b"\4" + curve.octets(*curve.times(number))
        good = pair(*curve.sign(number, digest, chance.randrange(1, curve.n)))
        yield about_signature(curve, point, digest, good, "1")
        yield about_signature(curve, point, turned(digest, 9), good, "0")
    nothing = bytes(curve.size)                         # e is 0
    good = pair(*curve.sign(key, nothing, chance.randrange(1, curve.n)))
    point = b"\4" + curve.octets(*curve.times(key))
    yield about_signature(curve, point, nothing, good, "1")
    yield about_signature(curve, point, digest, good, "0")


def prime(chance, bits):
    while True:
        found = chance.getrandbits(bits) | 3 << bits - 2 | 1
        if (found % 65537 != 1 and all(found % small for small in range(3, 2000, 2))
                and all(pow(base, found - 1, found) == 1 for base in (2, 3))):
            return found


# The encoding of DigestInfo before the digest (RFC 8017 §9.2).
INFOS = {"sha1": "3021300906052b0e03021a05000414",
         "sha256": "3031300d060960864801650304020105000420",
         "sha384": "3041300d060960864801650304020205000430",
         "sha512": "3051300d060960864801650304020305000440"}


def padded(content, size):
    return b"\0\1" + b"\xff" * (size - len(content) - 3) + b"\0" + content


def about_rsa(chance, bits):
    p, q = prime(chance, bits // 2), prime(chance, bits // 2)
    n, size = p * q, bits // 8
    private = pow(65537, -1, (p - 1) * (q - 1))

    def signed(block):
        return pow(int.from_bytes(block, "big"), private, n).to_bytes(size, "big")

    def about(name, digest, signature, right, modulus=n.to_bytes(size, "big")):
        return ["rsa", name, text(modulus), text(digest), text(signature)], right

    for name in DIGESTS:
        info = bytes.fromhex(INFOS[name])
        digest = hashlib.new(name, b"message").digest()
        good = signed(padded(info + digest, size))
        yield about(name, digest, good, "1")
        yield about(name, digest, good, "1", b"\0" + n.to_bytes(size, "big"))
        yield about(name, turned(digest, 5), good, "0")
        for place in range(0, bits, 97):
            yield about(name, digest, turned(good, place), "0")
        whole = int.from_bytes(good, "big")
        if whole + n < 1 << bits:
            yield about(name, digest, (whole + n).to_bytes(size, "big"), "0")
        bare = info[:1] + bytes([info[1] - 2]) + info[2:3] + bytes([info[3] - 2])
        bare += info[4:].replace(b"\5\0", b"", 1)  # no NULL after the name
        short = padded(info + digest, size - 8)
        wrong = [good[1:], b"\0" + good, b"", bytes(size), b"\0" * (size - 1) + b"\1",
                 n.to_bytes(size, "big"), signed(padded(bare + digest, size)),
                 signed(padded(digest, size)), signed(short + bytes(8)),
                 signed(b"\0\2" + padded(info + digest, size)[2:]),
                 signed(b"\0\1" + b"\xfe" + padded(info + digest, size)[3:])]
        for other in wrong:
            yield about(name, digest, other, "0")
        yield about(DIGESTS[DIGESTS.index(name) - 1], digest, good, "0")
        yield about(name, digest[:-1], good, "0")
        yield about(name, digest, good, "0", (n + 2).to_bytes(size, "big"))
        yield about(name, digest, good, "0", (n + 1).to_bytes(size, "big"))


def about_private(chance):
    curve = P256
    number = chance.randrange(1, curve.n)
    x, y = curve.times(number)
    scalar, point = curve.octets(number), b"\4" + curve.octets(x, y)
    compressed, hybrid = bytes([2 + y % 2]) + curve.octets(x), bytes([6 + y % 2]) + point[1:]
    opposite = bytes([3 - y % 2]) + curve.octets(x)
    for octets, public, right in [
            (scalar, point, "1"), (scalar, b"", "1"), (scalar, compressed, "1"),
            (scalar, hybrid, "0"), (scalar, opposite, "0"), (scalar, b"\0", "0"),
            (scalar, point[:-1], "0"), (scalar, point + b"\0", "0"),
            (scalar, b"\4" + curve.octets(x, curve.p - y), "0"),
            (scalar, b"\4" + curve.octets(x, y ^ 1), "0"),
            (turned(scalar, 3), point, "0"), (bytes(32), b"", "0"), (bytes(32), b"\0", "0"),
            (curve.octets(1), b"\4" + curve.octets(*curve.generator), "1"),
            (curve.octets(curve.n - 1), b"", "1"), (curve.octets(curve.n), b"", "0"),
            (curve.octets(curve.n + number if curve.n + number < 1 << 256 else curve.n + 1),
             b"", "0"), (b"\xff" * 32, b"", "0")]:
        yield ["private", text(octets), text(public)], right


class Signed:
    """Compares equal to the scalar's public key followed by two different signatures of it."""

    def __init__(self, scalar, digest):
        self.point, self.digest = P256.times(scalar), digest

    def __eq__(self, said):
        point, *signatures = said.split()
        return (point == (b"\4" + P256.octets(*self.point)).hex()
                and len(set(signatures)) == len(signatures) == 2
                and all(map(self.is_good, signatures)))

    def __ne__(self, said):
        return not self == said

    def __str__(self):
        return "its public half and two signatures"

    def is_good(self, signature):
        """Return whether an ECDSA signature is valid (SEC 1 §4.1.4)."""
        octets = bytes.fromhex(signature)
        r_length = octets[3]
        r = int.from_bytes(octets[4:4 + r_length], "big")
        s = int.from_bytes(octets[6 + r_length:], "big")
        if pair(r, s) != octets or not (0 < r < P256.n and 0 < s < P256.n):
            return False
        inverse = pow(s, -1, P256.n)
        whole = int.from_bytes(self.digest, "big")
        place = P256.add(P256.times(whole * inverse % P256.n),
                         P256.times(r * inverse % P256.n, self.point))
        return place is not None and place[0] % P256.n == r


def about_signing(chance):
    for scalar in [1, 2, P256.n - 1] + [chance.randrange(1, P256.n) for _ in range(12)]:
        for digest in [chance.randbytes(32), bytes(32), b"\xff" * 32]:
            yield ["sign", text(P256.octets(scalar)), text(digest)], Signed(scalar, digest)
    for octets in [bytes(32), P256.octets(P256.n)]:
        yield ["sign", text(octets), text(bytes(32))], "no key"
    yield ["random"], "1"


def about_codes(chance):
    for count in [0, 1, 31, 32, 63, 64]:
        for head, body in [(0, 0), (17, 0), (17, 300), (0, 64)]:
            key, first, rest = map(chance.randbytes, (count, head, body))
            yield (["hmac", text(key), text(first), text(rest)],
                   hmac.new(key, first + rest, "sha256").hexdigest())


def about_wycheproof():
    for file, curve, name in [("ecdsa_secp256r1_sha256_test.json", P256, "sha256"),
                              ("ecdsa_secp384r1_sha256_test.json", P384, "sha256"),
                              ("ecdsa_secp384r1_sha384_test.json", P384, "sha384")]:
        for group in json.loads((VECTORS / file).read_text())["testGroups"]:
            point = bytes.fromhex(group["publicKey"]["uncompressed"])
            for test in group["tests"]:
                digest = hashlib.new(name, bytes.fromhex(test["msg"])).digest()
                if len(test["sig"]) <= 8000:
                    yield about_signature(curve, point, digest, bytes.fromhex(test["sig"]), None)


def questions():
    chance = random.Random(20261122)
    yield from about_digests(chance)
    for curve in (P256, P384):
        yield from about_points(chance, curve)
        yield from about_ecdsa(chance, curve)
    for bits in (1024, 2048, 4096):
        yield from about_rsa(chance, bits)
    yield from about_private(chance)
    yield from about_signing(chance)
    yield from about_codes(chance)
    if VECTORS.is_dir():
        yield from about_wycheproof()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--library", action="append", default=[])
    parser.add_argument("--suite", default="shim")
    options = parser.parse_args()
    suite = Suite(options.suite)
    asked = list(questions())
    lines = "".join(" ".join(words) + "\n" for words, _ in asked)
    first = None
    for program in options.programs:
        result = subprocess.run([program], input=lines, text=True, capture_output=True)
        name, *answers = result.stdout.splitlines()
        if not suite.expect(result.returncode == 0 and len(answers) == len(asked),
                            f"{program} answers", result.stderr[:300]):
            continue
        print(f"{program}: {name}")
        first = first or answers
        for (words, right), said, other in zip(asked, answers, first):
            wanted = other if right is None else right
            suite.expect(said == wanted, f"{name}: {' '.join(words)[:400]}",
                         f"{said}, not {wanted}")
    for path in options.library:
        library = ctypes.CDLL(path)
        library.assay_build_info.restype = ctypes.c_char_p
        said = json.loads(library.assay_build_info())["libcrypto"]
        suite.expect(said == name, f"{path} names its libcrypto", f"{said}, not {name}")
    suite.finish()


if __name__ == "__main__":
    main()
