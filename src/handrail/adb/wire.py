"""Encoding of the ADB protocol: packets, shell v2 packets, sync records.

A packet is six little-endian u32 (command, arg0, arg1, length, checksum, command ^ 0xffffffff) and a payload.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from struct import Struct
from typing import NamedTuple

VERSION = 0x01000001
"""From this version on checksums are ignored; the lower version of both sides counts."""
MAX_PAYLOAD = 1 << 20
MAX_PAYLOAD_V1 = 4096
"""Limit until a peer has announced more in its CNXN."""

HEADER = Struct("<6I")
_INVERT = 0xFFFFFFFF


class BadPacket(ValueError):
    """The bytes are not ADB, or more than was agreed; the connection is unusable."""


class Command(IntEnum):
    """Four ASCII letters as a little-endian number."""

    CNXN = 0x4E584E43
    AUTH = 0x48545541
    OPEN = 0x4E45504F
    OKAY = 0x59414B4F
    WRTE = 0x45545257
    CLSE = 0x45534C43
    STLS = 0x534C5453


TOKEN_SIZE = 20
"""Bytes that a device wants signed."""


class Auth(IntEnum):
    """The first argument of AUTH is one of these."""

    TOKEN = 1
    SIGNATURE = 2
    PUBLIC_KEY = 3


class Packet(NamedTuple):
    """One message in either direction. `command` may be a number that Command does not know."""

    command: int
    arg0: int
    arg1: int
    payload: bytes = b""


def checksum(payload: bytes | memoryview) -> int:
    """Sum of all bytes; the protocol calls it a CRC."""
    return sum(payload) & _INVERT


def encode(packet: Packet, *, summed: bool = False) -> bytes:
    """`summed` adds the checksum, for peers older than VERSION."""
    command, arg0, arg1, payload = packet
    total = checksum(payload) if summed else 0
    return HEADER.pack(command, arg0, arg1, len(payload), total, command ^ _INVERT) + payload


class Parser:
    """Splits a byte stream into packets. `limit` is the agreed maximum payload."""

    def __init__(self, limit: int = MAX_PAYLOAD_V1, *, summed: bool = False) -> None:
        self.limit = limit
        self.summed = summed
        self._held = bytearray()

    def feed(self, data: bytes) -> Iterator[Packet]:
        """Complete packets; a bad header raises before its payload has arrived."""
        held = self._held
        held += data
        while len(held) >= HEADER.size:
            command, arg0, arg1, length, total, magic = HEADER.unpack_from(held)
            if command ^ _INVERT != magic:
                raise BadPacket(f"magic {magic:08x} does not fit command {command:08x}")
            if length > self.limit:
                raise BadPacket(f"a payload of {length} bytes was announced, {self.limit} are agreed")
            end = HEADER.size + length
            if len(held) < end:
                return
            payload = bytes(memoryview(held)[HEADER.size : end])
            del held[:end]
            if self.summed and command != Command.CNXN and checksum(payload) != total:
                raise BadPacket(f"checksum {total:08x} does not fit the payload")
            yield Packet(command, arg0, arg1, payload)


class Banner(NamedTuple):
    """Payload of CNXN: `device::ro.product.name=N;…;features=a,b`."""

    kind: str
    props: dict[str, str]
    features: tuple[str, ...]


def encode_banner(banner: Banner) -> bytes:
    """The features come last; adbd sends no NUL."""
    props = "".join(f"{name}={value};" for name, value in banner.props.items())
    return f"{banner.kind}::{props}features={','.join(banner.features)}".encode()


def decode_banner(payload: bytes) -> Banner:
    """Old peers send nothing after the colons."""
    kind, _, rest = payload.rstrip(b"\0").decode("utf-8", "replace").partition(":")
    pairs = [part.partition("=")[::2] for part in rest.partition(":")[2].split(";") if part]
    props = dict(pairs)
    features = tuple(name for name in props.pop("features", "").split(",") if name)
    return Banner(kind, props, features)


class ShellKind(IntEnum):
    """First byte of a shell v2 packet; then u32 length, then data."""

    STDIN = 0
    STDOUT = 1
    STDERR = 2
    EXIT = 3
    CLOSE_STDIN = 4
    WINDOW_SIZE = 5


_SHELL_HEADER = Struct("<BI")


def encode_shell(kind: ShellKind, data: bytes | memoryview) -> bytes:
    return _SHELL_HEADER.pack(kind, len(data)) + data


class ShellParser:
    """Splits the content of a v2 shell stream into packets, however WRTEs split or joined them.

    Data is passed on as it arrives, so a packet may announce more than fits into memory.
    """

    def __init__(self) -> None:
        self._held = bytearray()
        self._kind = 0
        self._left = 0

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        held = self._held
        held += data
        while held:
            if self._left:
                part = bytes(held[: self._left])
                del held[: len(part)]
                self._left -= len(part)
                yield self._kind, part
                continue
            if len(held) < _SHELL_HEADER.size:
                return
            self._kind, self._left = _SHELL_HEADER.unpack_from(held)
            del held[: _SHELL_HEADER.size]
            if not self._left:
                yield self._kind, b""


SYNC_HEADER = Struct("<4sI")
"""A sync record: four letters and a number, mostly the length of what follows."""
SYNC_DATA_MAX = 65536
SYNC_PATH_MAX = 1024
SYNC_STAT = Struct("<4s3I")
"""STAT: letters, mode, size, mtime."""
SYNC_STAT_V2 = Struct("<4sIQQIIIIQqqq")
"""STA2, LST2: letters, errno, dev, ino, mode, nlink, uid, gid, size, atime, mtime, ctime."""
SYNC_SEND_V2 = Struct("<4sII")
"""The second half of SND2: letters, mode, flags."""
SYNC_RECV_V2 = Struct("<4sI")
"""The second half of RCV2: letters, flags."""
