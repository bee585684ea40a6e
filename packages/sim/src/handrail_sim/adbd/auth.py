"""Who may debug this phone: RSA keys of adb hosts, told apart by signatures. Knows no connections.

The host signs a 20-byte token as if it were a SHA-1 digest (PKCS#1 v1.5, RSA-2048).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable
from struct import Struct
from typing import NamedTuple

MODULUS_SIZE = 256
WAITING_MAX = 8
_STRUCT = Struct(f"<II{MODULUS_SIZE}s{MODULUS_SIZE}sI")
"""Android's key: words of the modulus, -1/n mod 2^32, modulus (little-endian), R^2 mod n, exponent."""
_SHA1_INFO = bytes.fromhex("3021300906052b0e03021a05000414")


class PublicKey(NamedTuple):
    """A host's key and the name it gave itself, such as `somebody@laptop`."""

    modulus: int
    exponent: int
    fingerprint: str
    name: str


def decode_key(payload: bytes) -> PublicKey | None:
    """Read `BASE64 name\\0`; None when this is no RSA-2048 key."""
    encoded, _, name = payload.rstrip(b"\0").partition(b" ")
    try:
        raw = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        return None
    if len(raw) != _STRUCT.size:
        return None
    words, _, modulus, _, exponent = _STRUCT.unpack(raw)
    if words * 4 != MODULUS_SIZE:
        return None
    digest = hashlib.md5(raw, usedforsecurity=False).hexdigest().upper()
    fingerprint = ":".join(digest[at : at + 2] for at in range(0, len(digest), 2))
    return PublicKey(
        int.from_bytes(modulus, "little"), exponent, fingerprint, name.decode("utf-8", "replace")
    )


def verify(key: PublicKey, token: bytes, signature: bytes) -> bool:
    number = int.from_bytes(signature, "big")
    if len(signature) != MODULUS_SIZE or number >= key.modulus:
        return False
    ending = b"\0" + _SHA1_INFO + token
    expected = b"\0\1".ljust(MODULUS_SIZE - len(ending), b"\xff") + ending
    return pow(number, key.exponent, key.modulus) == int.from_bytes(expected, "big")


class KeyRing:
    """The keys a phone trusts, and those that wait for somebody to say yes."""

    def __init__(self) -> None:
        self.trusted: list[PublicKey] = []
        self.waiting: list[PublicKey] = []
        self._watchers: list[Callable[[PublicKey], None]] = []
        self._listeners: list[Callable[[list[PublicKey]], None]] = []

    def knows(self, token: bytes, signature: bytes) -> bool:
        return any(verify(key, token, signature) for key in self.trusted)

    def ask(self, key: PublicKey) -> None:
        """A host offers its key; the watcher may accept it now or later. A few keys can wait at a time."""
        if key in self.waiting or len(self.waiting) >= WAITING_MAX:
            return
        self.waiting.append(key)
        for watcher in self._watchers:
            watcher(key)

    def accept(self, key: PublicKey | None = None, *, always: bool = True) -> None:
        """Let one waiting key in, or all of them; those trusted `always` are not asked about again."""
        accepted = [key] if key else self.waiting
        self.waiting = [each for each in self.waiting if each not in accepted]
        if always:
            self.trusted += [each for each in accepted if each not in self.trusted]
        for listener in list(self._listeners):
            listener(accepted)

    def deny(self, key: PublicKey) -> None:
        """The host goes on waiting, as with Android's Cancel."""
        self.waiting = [each for each in self.waiting if each != key]

    def on_ask(self, watcher: Callable[[PublicKey], None]) -> None:
        self._watchers.append(watcher)

    def on_accept(self, listener: Callable[[list[PublicKey]], None]) -> None:
        self._listeners.append(listener)

    def off_accept(self, listener: Callable[[list[PublicKey]], None]) -> None:
        self._listeners.remove(listener)
