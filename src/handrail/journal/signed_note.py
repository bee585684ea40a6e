"""Signed notes: a text, and below it a line for everybody who signed it with Ed25519 (C2SP signed-note).

Two kinds of signature: a log's own, and a witness's with a time in it (C2SP tlog-cosignature). Keys are
written as Go's `note` package writes them, so that programs of others can take them as they are.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

LOG, WITNESS = 0x01, 0x04
"""Kinds of keys, by the byte that stands before them."""
KEY_BYTES, ID_BYTES, SIGNATURE_BYTES, TIME_BYTES = 32, 4, 64, 8
DASH = "\u2014 "
PRIVATE = "PRIVATE+KEY"
MOST_BYTES = 1_000_000
MOST_SIGNATURES = 100
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")


class BadNote(Exception):
    """It is no note, or nobody who is trusted signed it; the message says why."""


def to_base64(data: bytes) -> str:
    """The usual alphabet, with padding."""
    return base64.b64encode(data).decode()


def from_base64(text: str) -> bytes:
    """Strictly: there is one text for each row of bytes, so that nothing can be changed unseen."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (ValueError, binascii.Error):
        raise BadNote(f"{text[:60]!r} is not base64") from None
    if to_base64(data) != text:
        raise BadNote(f"{text[:60]!r} is not base64 as it is usually written")
    return data


def check_name(name: str) -> str:
    """The name itself, if a key may have it."""
    if not name or "+" in name or any(character.isspace() for character in name) or _CONTROL.search(name):
        raise BadNote(f"{name!r} is not the name of a key: it is empty, or has a space or a + in it")
    return name


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key with its name; `str` is what others are given."""

    name: str
    kind: int
    public: bytes

    @property
    def id(self) -> bytes:
        """What stands before each of its signatures."""
        written = self.name.encode() + b"\n" + bytes([self.kind]) + self.public
        return hashlib.sha256(written).digest()[:ID_BYTES]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{to_base64(bytes([self.kind]) + self.public)}"

    @classmethod
    def parse(cls, text: str) -> VerifierKey:
        """`name+id+key`; the key itself may have a + in its base64."""
        name, _, rest = text.strip().partition("+")
        key_id, _, encoded = rest.partition("+")
        key = cls(check_name(name), *_kind_and_key(encoded))
        if key.id.hex() != key_id:
            raise BadNote(f"the key of {name} was cut or changed: its id is not {key_id!r}")
        return key

    def check(self, text: str, signature: bytes) -> int | None:
        """Raises `BadNote` unless this key signed the text. When, in seconds, if a witness did."""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  (what most processes never use)
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

        time, signed = None, text.encode()
        if self.kind == WITNESS:
            time = int.from_bytes(signature[:TIME_BYTES], "big")
            signature, signed = signature[TIME_BYTES:], _cosigned_text(text, time)
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, signed)
        except InvalidSignature:
            raise BadNote(f"the signature of {self.name} does not fit the text") from None
        return time


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key with its name; `str` is a secret."""

    name: str
    kind: int
    seed: bytes

    @classmethod
    def make(cls, name: str, kind: int) -> SigningKey:
        return cls(check_name(name), kind, secrets.token_bytes(KEY_BYTES))

    @property
    def verifier(self) -> VerifierKey:
        public = self._private().public_key().public_bytes_raw()
        return VerifierKey(self.name, self.kind, public)

    def __str__(self) -> str:
        return f"{PRIVATE}+{self.name}+{self.verifier.id.hex()}+{to_base64(bytes([self.kind]) + self.seed)}"

    def __repr__(self) -> str:
        return f"SigningKey({self.name!r})"

    @classmethod
    def parse(cls, text: str) -> SigningKey:
        text = text.strip()
        if not text.startswith(f"{PRIVATE}+"):
            raise BadNote("it is not a private key")
        name, _, rest = text.removeprefix(f"{PRIVATE}+").partition("+")
        key_id, _, encoded = rest.partition("+")
        key = cls(check_name(name), *_kind_and_key(encoded))
        if key.verifier.id.hex() != key_id:
            raise BadNote(f"the private key of {name} was cut or changed")
        return key

    def sign(self, text: str, time: int = 0) -> Signature:
        """`time` is in seconds since 1970, and only a witness's signature has it."""
        stamp, signed = b"", text.encode()
        if self.kind == WITNESS:
            stamp, signed = time.to_bytes(TIME_BYTES, "big"), _cosigned_text(text, time)
        return Signature(self.name, self.verifier.id, stamp + self._private().sign(signed))

    def _private(self) -> Ed25519PrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

        return Ed25519PrivateKey.from_private_bytes(self.seed)


def _kind_and_key(encoded: str) -> tuple[int, bytes]:
    data = from_base64(encoded)
    if len(data) != 1 + KEY_BYTES or data[0] not in (LOG, WITNESS):
        raise BadNote("only keys for Ed25519 are known here")
    return data[0], data[1:]


def _cosigned_text(text: str, time: int) -> bytes:
    return f"cosignature/v1\ntime {time}\n{text}".encode()


@dataclass(frozen=True, slots=True)
class Signature:
    """One line below the text."""

    name: str
    id: bytes
    data: bytes

    def __str__(self) -> str:
        return f"{DASH}{self.name} {to_base64(self.id + self.data)}\n"

    @classmethod
    def parse(cls, line: str) -> Signature:
        """A line without its end."""
        name, space, encoded = line.removeprefix(DASH).partition(" ")
        if not line.startswith(DASH) or not space:
            raise BadNote(f"{line[:60]!r} is not a signature")
        data = from_base64(encoded)
        if len(data) <= ID_BYTES:
            raise BadNote("a signature is too short")
        return cls(check_name(name), data[:ID_BYTES], data[ID_BYTES:])


@dataclass(frozen=True, slots=True)
class Note:
    """A text that ends with a newline, and its signatures, of which none was checked yet."""

    text: str
    signatures: tuple[Signature, ...]

    def __str__(self) -> str:
        return self.text + "\n" + "".join(map(str, self.signatures))

    @classmethod
    def parse(cls, data: str | bytes) -> Note:
        if len(data) > MOST_BYTES:
            raise BadNote("it is too long for a note")
        try:
            text = data.decode() if isinstance(data, bytes) else data
            text.encode()
        except UnicodeError:
            raise BadNote("it is not UTF-8") from None
        if _CONTROL.search(text):
            raise BadNote("it has control characters")
        body, blank, lines = text.rpartition("\n\n")
        if not blank or not lines.endswith("\n"):
            raise BadNote("there are no signatures below an empty line")
        signed = lines[:-1].split("\n")
        if len(signed) > MOST_SIGNATURES:
            raise BadNote("it has too many signatures")
        return cls(body + "\n", tuple(map(Signature.parse, signed)))

    @classmethod
    def signed(cls, text: str, *keys: SigningKey) -> Note:
        return cls(text, tuple(key.sign(text) for key in keys))

    def with_signatures(self, more: Iterable[Signature]) -> Note:
        """Also with these; each key signs once."""
        by_key = {(signature.name, signature.id): signature for signature in (*self.signatures, *more)}
        return Note(self.text, tuple(by_key.values()))

    def signers(self, keys: Iterable[VerifierKey]) -> dict[VerifierKey, int | None]:
        """Who of these signed it, and when if the signature says so. A false signature spoils the note."""
        by_key = {(key.name, key.id): key for key in keys}
        signed_at: dict[VerifierKey, int | None] = {}
        for signature in self.signatures:
            if key := by_key.get((signature.name, signature.id)):
                signed_at[key] = key.check(self.text, signature.data)
        return signed_at

    def check(self, keys: Iterable[VerifierKey]) -> None:
        """Raises `BadNote` unless one of these keys signed it."""
        if not self.signers(keys):
            names = ", ".join(signature.name for signature in self.signatures)
            raise BadNote(f"it is signed by {names}, and by none of the keys that were given")
