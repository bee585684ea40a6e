"""The bytes that adbd reads and writes: packets, the framing of shell v2, the records of sync.

This end was written from the protocol alone and shares nothing with any client, so that a mistake of one
side is seen by the other. Knows no sockets.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

VERSION = 0x01000001
VERSION_WITH_CHECKSUM = 0x01000000
"""A host of this version or older wants payloads summed; newer ones send 0 and look at nothing."""
MAX_PAYLOAD = 1 << 20
MAX_PAYLOAD_V1 = 4 << 10
"""Until the host has said in its CNXN what it takes."""
TOKEN_SIZE = 20

_HEAD = struct.Struct("<IIIIII")
_U32_MAX = 0xFFFFFFFF


def _word(letters: bytes) -> int:
    return int.from_bytes(letters, "little")


class Command(IntEnum):
    """The first word of a packet: its four letters as a number."""

    CNXN = _word(b"CNXN")
    AUTH = _word(b"AUTH")
    OPEN = _word(b"OPEN")
    OKAY = _word(b"OKAY")
    WRTE = _word(b"WRTE")
    CLSE = _word(b"CLSE")
    STLS = _word(b"STLS")


class Auth(IntEnum):
    """What an AUTH packet carries; it stands in its first argument."""

    TOKEN = 1
    SIGNATURE = 2
    PUBLIC_KEY = 3


class BadPacket(ValueError):
    """These bytes are no packet. After that nothing on the connection means anything."""


class Packet(NamedTuple):
    """One packet; unknown commands stay numbers."""

    command: int
    arg0: int
    arg1: int
    payload: bytes = b""


def encode(packet: Packet, *, summed: bool = False) -> bytes:
    """Header and payload; `summed` for hosts that check the sum."""
    total = sum(packet.payload) & _U32_MAX if summed else 0
    size = len(packet.payload)
    head = _HEAD.pack(packet.command, packet.arg0, packet.arg1, size, total, packet.command ^ _U32_MAX)
    return head + packet.payload


class Parser:
    """Packets out of a stream of bytes, whole ones only. `limit` is the longest payload now allowed."""

    def __init__(self, limit: int = MAX_PAYLOAD_V1) -> None:
        self.limit = limit
        self.summed = False
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[Packet]:
        """A header that can't be right is refused before its payload has come."""
        self._bytes += data
        while (packet := self._next()) is not None:
            yield packet

    def _next(self) -> Packet | None:
        if len(self._bytes) < _HEAD.size:
            return None
        command, arg0, arg1, size, total, magic = _HEAD.unpack_from(self._bytes)
        if command + magic != _U32_MAX:
            raise BadPacket(f"{command:08x} is followed by magic {magic:08x}")
        if size > self.limit:
            raise BadPacket(f"{size} bytes in one packet, {self.limit} at most")
        end = _HEAD.size + size
        if len(self._bytes) < end:
            return None
        payload = bytes(self._bytes[_HEAD.size : end])
        del self._bytes[:end]
        if self.summed and command != Command.CNXN and sum(payload) & _U32_MAX != total:
            raise BadPacket(f"the payload does not add up to {total:08x}")
        return Packet(command, arg0, arg1, payload)


def banner(kind: str, props: Mapping[str, str], features: Sequence[str]) -> bytes:
    """What a phone says of itself in CNXN, without a NUL at its end."""
    listed = [f"{name}={value}" for name, value in props.items()] + [f"features={','.join(features)}"]
    return f"{kind}::{';'.join(listed)}".encode()


class ShellKind(IntEnum):
    """The first byte of a shell v2 packet."""

    STDIN = 0
    STDOUT = 1
    STDERR = 2
    EXIT = 3
    CLOSE_STDIN = 4
    WINDOW_SIZE = 5


_SHELL_HEAD = struct.Struct("<BI")


def encode_shell(kind: ShellKind, data: bytes | memoryview) -> bytes:
    return _SHELL_HEAD.pack(kind, len(data)) + data


class ShellParser:
    """What a host sends to a shell, piece by piece as it comes: no packet has to fit into memory."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._open: tuple[int, int] | None = None  # kind, bytes still to come

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        self._bytes += data
        while self._bytes:
            if self._open is None:
                if len(self._bytes) < _SHELL_HEAD.size:
                    return
                self._open = _SHELL_HEAD.unpack_from(self._bytes)
                del self._bytes[: _SHELL_HEAD.size]
            kind, missing = self._open
            piece = bytes(self._bytes[:missing])
            del self._bytes[: len(piece)]
            missing -= len(piece)
            self._open = (kind, missing) if missing else None
            if piece or not missing:
                yield kind, piece


U32 = struct.Struct("<I")
SYNC_HEADER = struct.Struct("<4sI")
"""Every sync request and most answers: four letters and a number."""
SYNC_DATA_MAX = 64 << 10
SYNC_PATH_MAX = 1024
SYNC_STAT = struct.Struct("<4sIII")
"""Letters, mode, size, time. DENT has the length of a name after it."""
SYNC_STAT_V2 = struct.Struct("<4sIQQIIIIQqqq")
"""Letters, errno, dev, ino, mode, nlink, uid, gid, size, atime, mtime, ctime; DNT2 has a length after it."""
SYNC_SEND_V2 = struct.Struct("<4sII")
"""What follows the path of SND2: letters, mode, flags."""
SYNC_RECV_V2 = struct.Struct("<4sI")
"""What follows the path of RCV2: letters, flags."""
