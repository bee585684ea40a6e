"""Where this host's adb keys lie, how they are read, and how one is made. Knows no connections.

A key is a PEM file as adb writes it: PKCS#8 around PKCS#1. Older files are plain PKCS#1; both are read.
"""

from __future__ import annotations

import base64
import binascii
import getpass
import os
import secrets
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

from handrail.errors import AdbConnectionError

BITS = 2048
EXPONENT = 65537
_RSA = bytes.fromhex("300d06092a864886f70d0101010500")
"""AlgorithmIdentifier rsaEncryption, its parameters NULL."""
_SMALL_PRIMES = [n for n in range(3, 2000, 2) if all(n % d for d in range(3, int(n**0.5) + 1, 2))]


def load_keys(env: Mapping[str, str] = os.environ) -> list[PrivateKey]:
    """Every key this host has, adb's own first; one is made where there is none."""
    homes = _homes(env)
    given = [Path(part) for part in env.get("ADB_VENDOR_KEYS", "").split(os.pathsep) if part]
    found = [read_key(path) for path in (*homes, *given) if os.path.isfile(path)]
    if found:
        return found
    for path in homes:
        with suppress(OSError):
            return [make_key(path)]
    raise AdbConnectionError(
        "no adb key can be read or written on this host",
        hint="Make ~/.android writable, or set ANDROID_USER_HOME to a folder that is.",
        delivery="not_delivered",
    )


def _homes(env: Mapping[str, str]) -> list[Path]:
    """Adb's own file, which may lie in either of two folders, and Handrail's."""
    home = Path(env.get("HOME") or Path.home())
    data = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share")
    folders = [Path(env["ANDROID_USER_HOME"])] if env.get("ANDROID_USER_HOME") else []
    folders += [home / ".android", Path(env.get("HANDRAIL_HOME") or data / "handrail")]
    return [folder / "adbkey" for folder in folders]


def read_key(path: Path) -> PrivateKey:
    """Raises `AdbConnectionError` when the file is no RSA-2048 key in PEM."""
    try:
        text = path.read_text("ascii")
        body = "".join(line for line in text.splitlines() if not line.startswith("-----"))
        numbers = list(_integers(base64.b64decode(body, validate=True)))
        _, modulus, exponent, secret, p, q = numbers[-9:][:6]
    except (OSError, ValueError, IndexError, binascii.Error) as error:
        raise _unreadable(path, str(error)) from None
    if modulus.bit_length() != BITS or p * q != modulus:
        raise _unreadable(path, f"it is no RSA key of {BITS} bits")
    return PrivateKey(modulus, exponent, secret, p, q, _name(path))


def _unreadable(path: Path, why: str) -> AdbConnectionError:
    return AdbConnectionError(
        f"the adb key {path} can't be used: {why}",
        hint="Move the file away; adb and Handrail make a new one, and the phone asks once more.",
        delivery="not_delivered",
    )


def _name(path: Path) -> str:
    """What stands behind the key in adb's .pub file, else who is working here."""
    with suppress(OSError):
        _, _, name = path.with_name(path.name + ".pub").read_text("utf-8").strip().partition(" ")
        if name:
            return name
    return _user_and_host()


def _user_and_host() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "unknown"
    return f"{user}@{socket.gethostname()}"


def make_key(path: Path) -> PrivateKey:
    """A new key, and its public half beside it; nobody but the owner may read the file."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = generate(_user_and_host())
    body = base64.encodebytes(_pkcs8(key)).decode().replace("\n", "")
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    text = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----", ""])
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(text)
    path.with_name(path.name + ".pub").write_bytes(public_key(key).rstrip(b"\0"))
    return key


def generate(name: str) -> PrivateKey:
    """RSA-2048 from the system's randomness."""
    while True:
        p, q = _prime(BITS // 2), _prime(BITS // 2)
        around = (p - 1) * (q - 1)
        if p != q and (p * q).bit_length() == BITS and around % EXPONENT:
            return PrivateKey(p * q, EXPONENT, pow(EXPONENT, -1, around), p, q, name)


def _prime(bits: int) -> int:
    """Two top bits set, so that a product of two has exactly twice as many bits."""
    while True:
        number = secrets.randbits(bits) | (3 << (bits - 2)) | 1
        if all(number % small for small in _SMALL_PRIMES) and _probably_prime(number):
            return number


def _probably_prime(number: int, rounds: int = 20) -> bool:
    """Miller and Rabin's test; a composite passes one round in four at most."""
    twos = ((number - 1) & -(number - 1)).bit_length() - 1
    odd = (number - 1) >> twos
    for _ in range(rounds):
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


# DER: tag, length, content


def _pkcs8(key: PrivateKey) -> bytes:
    by_p, by_q = key.secret % (key.p - 1), key.secret % (key.q - 1)
    numbers = (0, key.modulus, key.exponent, key.secret, key.p, key.q, by_p, by_q, pow(key.q, -1, key.p))
    inner = _der(0x30, b"".join(map(_integer, numbers)))
    return _der(0x30, _integer(0) + _RSA + _der(0x04, inner))


def _integer(number: int) -> bytes:
    return _der(0x02, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def _der(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def _integers(data: bytes) -> Iterator[int]:
    """All INTEGERs of a DER text, in order; sequences and octet strings are looked into."""
    at = 0
    while at < len(data):
        tag, length, at = data[at], data[at + 1], at + 2
        if length & 0x80:
            count = length & 0x7F
            length, at = int.from_bytes(data[at : at + count], "big"), at + count
        content, at = data[at : at + length], at + length
        if len(content) != length:
            raise ValueError("the file is cut")
        if tag == 0x02:
            yield int.from_bytes(content, "big")
        elif tag in (0x30, 0x04):
            yield from _integers(content)


MODULUS_SIZE = 256
_SHA1_INFO = bytes.fromhex("3021300906052b0e03021a05000414")
_PUBLIC = Struct(f"<II{MODULUS_SIZE}s{MODULUS_SIZE}sI")
"""Words of the modulus, -1/n mod 2^32, modulus and R^2 mod n (both little-endian), exponent."""


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """An RSA-2048 key with its factors, and the name that the phone's prompt may show."""

    modulus: int
    exponent: int
    secret: int
    p: int
    q: int
    name: str = ""

    def __repr__(self) -> str:
        return f"PrivateKey({self.name!r})"


def sign(key: PrivateKey, token: bytes) -> bytes:
    """The answer to AUTH TOKEN; by the factors, which is four times as fast."""
    ending = b"\0" + _SHA1_INFO + token
    padded = int.from_bytes(b"\0\1".ljust(MODULUS_SIZE - len(ending), b"\xff") + ending, "big")
    by_p = pow(padded, key.secret % (key.p - 1), key.p)
    by_q = pow(padded, key.secret % (key.q - 1), key.q)
    signature = by_q + key.q * ((by_p - by_q) * pow(key.q, -1, key.p) % key.p)
    return signature.to_bytes(MODULUS_SIZE, "big")


def public_key(key: PrivateKey) -> bytes:
    """The payload of AUTH RSAPUBLICKEY: base64 of Android's own struct, a name, NUL."""
    inverse = pow(-key.modulus, -1, 1 << 32)
    square = pow(2, 2 * MODULUS_SIZE * 8, key.modulus)
    raw = _PUBLIC.pack(
        MODULUS_SIZE // 4,
        inverse,
        key.modulus.to_bytes(MODULUS_SIZE, "little"),
        square.to_bytes(MODULUS_SIZE, "little"),
        key.exponent,
    )
    return base64.b64encode(raw) + b" " + (key.name or "handrail").encode() + b"\0"
