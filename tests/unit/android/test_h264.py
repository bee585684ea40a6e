"""A bare H.264 stream cut into pictures, however its bytes arrive."""

from __future__ import annotations

from handrail.android.video import AnnexB
from handrail.surface.values import VideoUnit

SPS, PPS = b"\x67\x42\xc0\x29\xda\x02", b"\x68\xce\x3c\x80\x01"
KEY, NEXT, OTHER = b"\x65\x88\x84\x21\x07", b"\x41\x9a\x24\x6c\x05", b"\x41\x9b\x13\x37\x09"
SECOND_SLICE = b"\x41\x1a\x24\x6c\x05"  # its first block is not the picture's first
LONG, SHORT = b"\0\0\0\1", b"\0\0\1"


def stream(*parts: bytes, code: bytes = LONG) -> bytes:
    return b"".join(code + part for part in parts)


def in_pieces(data: bytes, size: int) -> list[VideoUnit]:
    cutter, units = AnnexB(), []
    for at in range(0, len(data), size):
        units += cutter.feed(data[at : at + size])
    return units + cutter.flush()


def test_pictures_are_the_same_however_the_bytes_are_cut() -> None:
    data = stream(SPS, PPS, KEY, NEXT) + stream(SECOND_SLICE, OTHER, code=SHORT)
    whole = in_pieces(data, len(data))
    assert [(unit.is_key, unit.codec) for unit in whole] == [(True, "avc1.42C029")] + [
        (False, "avc1.42C029")
    ] * 2
    assert [unit.data for unit in whole] == [stream(SPS, PPS, KEY), stream(NEXT, SECOND_SLICE), stream(OTHER)]
    for size in range(1, len(data)):
        assert in_pieces(data, size) == whole, size


def test_a_key_picture_that_comes_later_has_its_parameters_with_it() -> None:
    first, _, later = in_pieces(stream(SPS, PPS, KEY, NEXT, KEY), 7)
    assert first.data == later.data == stream(SPS, PPS, KEY)


def test_a_sender_who_is_silent_has_ended_its_picture() -> None:
    cutter = AnnexB()
    assert cutter.feed(stream(SPS, PPS, KEY)) == []
    assert [unit.is_key for unit in cutter.flush()] == [True]
    assert cutter.flush() == []
    assert cutter.feed(stream(NEXT)) == []
    assert [unit.data for unit in cutter.flush()] == [stream(NEXT)]
    assert cutter.torn == 0


def test_a_silence_within_a_picture_is_noticed_and_what_follows_waits_for_a_key_picture() -> None:
    cutter = AnnexB()
    cutter.feed(stream(SPS, PPS, KEY[:3]))
    assert len(cutter.flush()) == 1  # taken for whole
    assert cutter.feed(KEY[3:] + stream(NEXT, OTHER)) == []
    assert cutter.torn == 1
    assert cutter.flush() == []
    assert cutter.feed(stream(SPS, PPS, KEY, NEXT, OTHER))[0].is_key


def test_a_slice_whose_picture_was_sent_on_is_noticed_too() -> None:
    cutter = AnnexB()
    cutter.feed(stream(SPS, PPS, KEY, NEXT))
    assert len(cutter.flush()) == 2
    assert cutter.feed(stream(SECOND_SLICE, OTHER)) == []
    assert (cutter.torn, cutter.flush()) == (1, [])
