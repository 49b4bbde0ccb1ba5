"""RS256 for tokens of the local pool, with plain integers. It is slow and leaks its key through
timing: for this machine only. The library verifies the tokens."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Mapping
from typing import Any

BITS = 2048
EXPONENT = 65537
# DER of the prefix for SHA-256 with 32 bytes (RFC 8017 §9.2).
_SHA256 = bytes.fromhex("3031300d060960864801650304020105000420")
_SMALL = [n for n in range(3, 2000, 2) if all(n % d for d in range(3, int(n**0.5) + 1, 2))]


class Key:
    """A private key."""

    def __init__(self, p: int, q: int) -> None:
        self.p, self.q = p, q
        self.modulus = p * q
        self._d = pow(EXPONENT, -1, (p - 1) * (q - 1))
        self._inverse = pow(q, -1, p)
        self.kid = encoded(hashlib.sha256(octets(self.modulus)).digest())[:16]

    @classmethod
    def make(cls) -> Key:
        """Make a new key, which takes about a second."""
        while True:
            p, q = _prime(BITS // 2), _prime(BITS // 2)
            if p != q and (p * q).bit_length() == BITS:
                return cls(p, q)

    @property
    def jwk(self) -> dict[str, str]:
        """The public key for a key set."""
        return {
            "kty": "RSA",
            "use": "sig",
            "alg": "RS256",
            "kid": self.kid,
            "n": encoded(octets(self.modulus)),
            "e": encoded(octets(EXPONENT)),
        }

    def signed(self, claims: Mapping[str, Any]) -> str:
        """Return a compact JWS of these claims."""
        head = encoded(json.dumps({"kid": self.kid, "alg": "RS256"}).encode())
        text = f"{head}.{encoded(json.dumps(claims).encode())}"
        tail = _SHA256 + hashlib.sha256(text.encode()).digest()
        padded = b"\0\1" + b"\xff" * (BITS // 8 - len(tail) - 3) + b"\0" + tail
        # With the two primes a signature takes a quarter of the work (RFC 8017 §5.1.2).
        message, p, q = int.from_bytes(padded, "big"), self.p, self.q
        rest = pow(message, self._d % (q - 1), q)
        number = rest + q * ((pow(message, self._d % (p - 1), p) - rest) * self._inverse % p)
        return f"{text}.{encoded(number.to_bytes(BITS // 8, 'big'))}"


def encoded(found: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(found).decode().rstrip("=")


def octets(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def _prime(bits: int) -> int:
    while True:
        # The two upper bits are set, so that the product of two primes has full length.
        number = secrets.randbits(bits) | 3 << (bits - 2) | 1
        if all(number % small for small in _SMALL) and _is_prime(number):
            return number


def _is_prime(number: int) -> bool:
    """Return whether a number is prime, by 24 rounds of Miller and Rabin."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for _ in range(24):
        power = pow(secrets.randbelow(number - 3) + 2, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True
