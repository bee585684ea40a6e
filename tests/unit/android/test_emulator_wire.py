from __future__ import annotations

import re
from pathlib import Path

import pytest

from handrail.android import emulator_grpc as client
from handrail.android.emulator_grpc import decode, encode, last_bytes
from tests.cases import each

PROTO = Path(client.__file__).with_name("emulator_controller.proto").read_text()


def test_messages_are_written_as_protobuf_writes_them() -> None:
    assert encode((1, 150), (2, "testing"), (3, 0), (4, "")) == b"\x08\x96\x01\x12\x07testing"
    assert encode((4, -1)) == b"\x20" + b"\xff" * 9 + b"\x01"
    fields = decode(b"\x08\x96\x01\x12\x07testing\x1d\x00\x00\x80\x3f\x21" + b"\0" * 8)
    assert (fields[1], last_bytes(fields, 2), last_bytes(fields, 9)) == ([150], b"testing", b"")


@each("broken", [b"\x08", b"\x12\x7fab", b"\x0b", b"\x08" + b"\xff" * 11])
def test_what_is_no_message_is_refused(broken: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(broken)


def proto_numbers(message: str) -> dict[str, int]:
    body = re.search(rf"message {message} {{(.*?)\n}}", PROTO, re.DOTALL)
    assert body is not None
    return {name: int(number) for name, number in re.findall(r"(\w+) = (\d+);", body[1])}


def test_the_proto_file_has_the_numbers_that_are_written() -> None:
    touch = decode(last_bytes(decode(client.touch_event([(5, 6), (1, 2)], 4)), 1))
    told = {name: touch[number] for name, number in proto_numbers("Touch").items()}
    assert told == {"x": [1], "y": [2], "identifier": [1], "pressure": [4]}
    key = proto_numbers("KeyboardEvent")
    assert (key["event_type"], key["key"], key["text"], proto_numbers("ClipData")["text"]) == (2, 4, 5, 1)
    assert client.read_image(encode((proto_numbers("Image")["image"], b"png"))) == b"png"
    service = re.search(r"package ([\w.]+);.*service (\w+)", PROTO, re.DOTALL)
    assert service is not None
    assert f"{service[1]}.{service[2]}" == client.SERVICE
