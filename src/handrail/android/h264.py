"""A bare H.264 stream cut into pictures: start codes, parameters, key pictures. Pure; knows no phone.

`screenrecord` writes one picture after another and nothing between them. That a picture is over is known when
the next one begins, or when its sender falls silent: then `flush` takes what is there for a whole one. Should
that be wrong, the rest comes without a start code: the stream is `torn` until its next key picture.
"""

from __future__ import annotations

from handrail.surface.values import VideoUnit

_CODE = b"\0\0\1"
_LONG_CODE = b"\0\0\0\1"
_SLICE, _KEY_SLICE, _SPS, _PPS = 1, 5, 7, 8
_BEFORE_A_PICTURE = range(6, 10)
"""Kinds that only stand before the first slice: messages, both sets of parameters, a delimiter."""
MOST_BYTES = 16 << 20
"""Of a picture; what is longer is no video."""


class AnnexB:
    """Bytes in as they come, pictures out."""

    def __init__(self) -> None:
        self.torn = 0
        """How often a picture was taken for whole too early."""
        self._bytes = bytearray()
        self._searched = 0
        self._begun = False  # the bytes begin with a start code
        self._parts: list[bytes] = []
        self._has_slice = self._is_key = False
        self._needs_key = True
        self._parameters: dict[int, bytes] = {}

    def feed(self, data: bytes) -> list[VideoUnit]:
        """Pictures that are certainly over. Raises `ValueError` for what is no such stream."""
        self._bytes += data
        if len(self._bytes) > MOST_BYTES:
            raise ValueError(f"{len(self._bytes):,} bytes without an end are no picture")
        units: list[VideoUnit] = []
        if not self._begun and not self._begins():
            return units
        while (at := self._bytes.find(_CODE, max(len(_CODE), self._searched))) >= 0:
            self._part(bytes(self._bytes[len(_CODE) : at]), units)
            del self._bytes[:at]
            self._searched = 0
        self._searched = max(0, len(self._bytes) - len(_CODE))
        return units

    def flush(self) -> list[VideoUnit]:
        """The sender is silent: what is there is whole."""
        units: list[VideoUnit] = []
        if self._begun:
            self._part(bytes(self._bytes[len(_CODE) :]), units)
            self._bytes.clear()
            self._searched, self._begun = 0, False
        if self._has_slice:
            self._end(units)
        return units

    def _begins(self) -> bool:
        """Skip to the first start code; what stands before it is the rest of a picture that was sent on."""
        at = self._bytes.find(_CODE)
        if at < 0:
            return False
        if bytes(self._bytes[:at]).strip(b"\0"):
            self._tear()
        del self._bytes[:at]
        self._begun, self._searched = True, 0
        return True

    def _part(self, raw: bytes, units: list[VideoUnit]) -> None:
        """One NAL unit; zeros behind it belong to the next start code."""
        part = raw.rstrip(b"\0")
        if not part:
            return
        kind = part[0] & 31
        is_slice = kind in (_SLICE, _KEY_SLICE)
        begins = kind in _BEFORE_A_PICTURE or (is_slice and _is_first(part))
        if self._has_slice and begins:
            self._end(units)
        if is_slice and not begins and not self._has_slice:
            self._tear()
            return
        if kind in (_SPS, _PPS):
            self._parameters[kind] = part
        self._has_slice |= is_slice
        self._is_key |= kind == _KEY_SLICE
        self._parts.append(part)

    def _end(self, units: list[VideoUnit]) -> None:
        parts, is_key = self._parts, self._is_key
        self._parts, self._has_slice, self._is_key = [], False, False
        if self._needs_key and not (is_key and {_SPS, _PPS} <= self._parameters.keys()):
            return
        self._needs_key = False
        if is_key:  # phones say the parameters once; whoever comes later needs them too
            there = {part[0] & 31 for part in parts}
            parts = [one for kind, one in sorted(self._parameters.items()) if kind not in there] + parts
        data = b"".join(_LONG_CODE + part for part in parts)
        units.append(VideoUnit(data, is_key, codec_of(self._parameters[_SPS])))

    def _tear(self) -> None:
        self.torn += not self._needs_key
        self._needs_key = True


def _is_first(part: bytes) -> bool:
    """Of the slices of a picture: its first number, that of its first block, is 0, which is one bit set."""
    return len(part) > 1 and part[1] & 0x80 != 0


def codec_of(sps: bytes) -> str:
    """The name by which browsers know the profile, its limits and the level."""
    return f"avc1.{sps[1:4].hex().upper()}"
