from __future__ import annotations

import pytest

from handrail_emulator import decode, encode, last_bytes
from tests.cases import each


def test_messages_are_written_as_protobuf_writes_them() -> None:
    assert encode((1, 150), (2, "testing"), (3, 0), (4, "")) == b"\x08\x96\x01\x12\x07testing"
    assert encode((4, -1)) == b"\x20" + b"\xff" * 9 + b"\x01"
    fields = decode(b"\x08\x96\x01\x12\x07testing\x1d\x00\x00\x80\x3f\x21" + b"\0" * 8)
    assert (fields[1], last_bytes(fields, 2), last_bytes(fields, 9)) == ([150], b"testing", b"")


@each("broken", [b"\x08", b"\x12\x7fab", b"\x0b", b"\x08" + b"\xff" * 11])
def test_what_is_no_message_is_refused(broken: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(broken)
