"""One message for one browser that subscribed: encrypted by RFC 8291, signed by RFC 8292 (VAPID). Pure.

The push service in between sees how long the message is and from which server it comes, not what it says.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from handrail.errors import InvalidAction

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey, EllipticCurvePublicKey

RECORD = 4_096
"""Bytes of a record; a message is one, and push services take no larger one."""
TOKEN_LIFE_S = 12 * 3_600
"""RFC 8292 allows a day; a clock that is wrong by some hours harms nothing."""
POINT, SECRET = 65, 16
"""Bytes of a browser's public key and of its secret."""


@dataclass(frozen=True, slots=True)
class BrowserKeys:
    """What a browser gives whoever may send to it; its own private key never leaves it."""

    p256dh: str
    auth: str

    @property
    def point(self) -> bytes:
        return unpacked(self.p256dh)

    @property
    def secret(self) -> bytes:
        return unpacked(self.auth)

    def check(self) -> None:
        """Raises `InvalidAction` for what is no point of the curve, or no secret."""
        try:
            _public(self.point)
            fine = len(self.secret) == SECRET
        except (ValueError, binascii.Error):
            fine = False
        if not fine:
            raise InvalidAction(
                "keys: these are no keys of a push subscription",
                path="keys",
                hint="Send p256dh and auth as PushSubscription.toJSON() gives them.",
            )


def packed(data: bytes) -> str:
    """base64url without its padding, as browsers and JWTs write it."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unpacked(text: str) -> bytes:
    """Raises `ValueError` for what is none."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


class ServerKey:
    """By it push services know that all messages come from the server to which a browser subscribed."""

    def __init__(self, private: EllipticCurvePrivateKey) -> None:
        self._private = private

    @classmethod
    def make(cls) -> ServerKey:
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415  (few servers push)

        return cls(ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def read(cls, number: str) -> ServerKey:
        """What `kept` wrote."""
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

        return cls(ec.derive_private_key(int(number, 16), ec.SECP256R1()))

    @property
    def kept(self) -> str:
        return f"{self._private.private_numbers().private_value:064x}"

    @property
    def public(self) -> str:
        """`applicationServerKey` of the browser's own words."""
        return packed(_point(self._private.public_key()))

    def headers(self, endpoint: str, now_ms: int, contact: str | None, life_s: int) -> dict[str, str]:
        """Of the request that carries one message. `contact` is where somebody answers for this server."""
        claims: dict[str, object] = {
            "aud": "https://" + urlsplit(endpoint).netloc.lower(),
            "exp": now_ms // 1000 + TOKEN_LIFE_S,
        }
        if contact is not None:
            claims["sub"] = contact
        parts = ({"typ": "JWT", "alg": "ES256"}, claims)
        text = ".".join(packed(json.dumps(part, separators=(",", ":")).encode()) for part in parts)
        return {
            "Authorization": f"vapid t={text}.{packed(self._signature(text.encode()))}, k={self.public}",
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(life_s),
            "Urgency": "high",
        }

    def _signature(self, text: bytes) -> bytes:
        from cryptography.hazmat.primitives import hashes  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric import ec, utils  # noqa: PLC0415

        r, s = utils.decode_dss_signature(self._private.sign(text, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def sealed(message: bytes, browser: BrowserKeys) -> bytes:
    """The body: salt, record size, our key of this once, then the record. Nothing in it is used twice."""
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    own, salt, theirs = ec.generate_private_key(ec.SECP256R1()), os.urandom(16), browser.point
    ours = _point(own.public_key())
    shared = own.exchange(ec.ECDH(), _public(theirs))
    input_key = _derived(shared, browser.secret, b"WebPush: info\0" + theirs + ours, 32)
    key = _derived(input_key, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(input_key, salt, b"Content-Encoding: nonce\0", 12)
    record = AESGCM(key).encrypt(nonce, message + b"\x02", None)  # 2: the last record
    return salt + RECORD.to_bytes(4, "big") + bytes([len(ours)]) + ours + record


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    from cryptography.hazmat.primitives import hashes  # noqa: PLC0415
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415

    return HKDF(hashes.SHA256(), length, salt, info).derive(secret)


def _point(public: EllipticCurvePublicKey) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415

    return public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _public(point: bytes) -> EllipticCurvePublicKey:
    """Raises `ValueError` for what is not on the curve."""
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    if len(point) != POINT:
        raise ValueError("a point has 65 bytes")
    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
