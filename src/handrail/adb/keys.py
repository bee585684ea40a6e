"""This host's adb keys: reading, creating and signing.

A key is a PEM file as adb writes it: PKCS#8, or PKCS#1 in older files. Importing this module loads
`cryptography`, so `direct` imports it only when a device asks for a key.
"""

from __future__ import annotations

import base64
import getpass
import os
import socket
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from handrail.errors import AdbConnectionError

BITS = 2048
EXPONENT = 65537
_MODULUS_SIZE = BITS // 8
_PUBLIC = Struct(f"<II{_MODULUS_SIZE}s{_MODULUS_SIZE}sI")
"""Words of the modulus, -1/n mod 2^32, modulus and R^2 mod n (both little-endian), exponent."""


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """An RSA-2048 key, and the name that the phone's prompt may show."""

    rsa: RSAPrivateKey
    name: str = ""

    def __repr__(self) -> str:
        return f"PrivateKey({self.name!r})"

    def sign(self, token: bytes) -> bytes:
        """Answers AUTH TOKEN: the token's 20 bytes are signed as if they were a SHA-1 digest.

        Raises `ValueError` for a token of another size.
        """
        return self.rsa.sign(token, PKCS1v15(), Prehashed(SHA1()))  # noqa: S303  (adbd's choice)

    def public(self) -> bytes:
        """Payload of AUTH RSAPUBLICKEY: base64 of Android's own struct, a name, NUL."""
        numbers = self.rsa.public_key().public_numbers()
        raw = _PUBLIC.pack(
            _MODULUS_SIZE // 4,
            pow(-numbers.n, -1, 1 << 32),
            numbers.n.to_bytes(_MODULUS_SIZE, "little"),
            pow(2, 2 * BITS, numbers.n).to_bytes(_MODULUS_SIZE, "little"),
            numbers.e,
        )
        return base64.b64encode(raw) + b" " + (self.name or "handrail").encode() + b"\0"


def load_or_make_keys(env: Mapping[str, str] = os.environ) -> list[PrivateKey]:
    """All keys of this host, adb's own first; one is created if there is none."""
    # adb's own file in one of two folders, and Handrail's.
    home = Path(env.get("HOME") or Path.home())
    data = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share")
    folders = [Path(env["ANDROID_USER_HOME"])] if env.get("ANDROID_USER_HOME") else []
    folders += [home / ".android", Path(env.get("HANDRAIL_HOME") or data / "handrail")]
    homes = [folder / "adbkey" for folder in folders]
    extra = [Path(part) for part in env.get("ADB_VENDOR_KEYS", "").split(os.pathsep) if part]
    keys = [read_key(path) for path in (*homes, *extra) if os.path.isfile(path)]
    if keys:
        return keys
    for path in homes:
        with suppress(OSError):
            try:
                return [make_key(path)]
            except FileExistsError:  # another link has just created it
                if path.is_file():
                    return [read_key(path)]
    raise AdbConnectionError(
        "no adb key can be read or written on this host",
        hint="Make ~/.android writable, or set ANDROID_USER_HOME to a folder that is.",
        delivery="not_delivered",
    )


def read_key(path: Path) -> PrivateKey:
    """The key, called as the comment in adb's .pub file says, else by the current user.

    Raises `AdbConnectionError` if the file is not an RSA-2048 key in PEM.
    """
    try:
        rsa = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _unreadable(path, str(error)) from None
    if not isinstance(rsa, RSAPrivateKey) or rsa.key_size != BITS:
        raise _unreadable(path, f"it is not an RSA key of {BITS} bits")
    name = ""
    with suppress(OSError):
        comment = path.with_name(path.name + ".pub").read_text("utf-8", "replace")
        name = comment.strip().partition(" ")[2]
    return PrivateKey(rsa, name or _user_and_host())


def _unreadable(path: Path, why: str) -> AdbConnectionError:
    return AdbConnectionError(
        f"the adb key {path} can't be used: {why}",
        hint="Move the file away; adb and Handrail make a new one, and the phone asks once more.",
        delivery="not_delivered",
    )


def _user_and_host() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "unknown"
    return f"{user}@{socket.gethostname()}"


def make_key(path: Path) -> PrivateKey:
    """Writes the key, readable by its owner only, and its public half.

    The file appears atomically, and an existing one is never overwritten.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = generate(_user_and_host())
    pem = key.rsa.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    handle, draft = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)  # only the owner may read it
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(pem)
        os.link(draft, path)
    finally:
        os.unlink(draft)
    path.with_name(path.name + ".pub").write_bytes(key.public().rstrip(b"\0"))
    return key


def generate(name: str) -> PrivateKey:
    return PrivateKey(generate_private_key(EXPONENT, BITS), name)
