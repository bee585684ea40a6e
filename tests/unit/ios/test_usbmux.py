"""usbmuxd's messages, against a daemon that a test has written."""

from __future__ import annotations

import asyncio
import plistlib
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from handrail.errors import IosConnectionError
from handrail.ios.usbmux import Usbmux
from tests.cases import each
from tests.scenario.world import play, usual_clock

ASYNC_RUNNER = play

UDID = "00008101-000D29081442001E"
HEAD = struct.Struct("<IIII")


def message(fields: dict[str, Any]) -> bytes:
    body = plistlib.dumps(fields)
    return HEAD.pack(HEAD.size + len(body), 1, 8, 1) + body


def attached(number: int, udid: str, connection: str = "USB") -> dict[str, Any]:
    properties = {"ConnectionType": connection, "SerialNumber": udid, "ProductID": 4776}
    return {"DeviceID": number, "MessageType": "Attached", "Properties": properties}


Answer = Callable[[dict[str, Any]], bytes]


@asynccontextmanager
async def daemon(answer: Answer) -> AsyncIterator[Usbmux]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            length, version, kind, _ = HEAD.unpack(await reader.readexactly(HEAD.size))
            assert (version, kind) == (1, 8)
            writer.write(answer(plistlib.loads(await reader.readexactly(length - HEAD.size))))
            writer.write(await reader.read(100))  # the stream itself, as an echo
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        port = server.sockets[0].getsockname()[1]
        yield Usbmux({"USBMUXD_SOCKET_ADDRESS": f"127.0.0.1:{port}"}, usual_clock())
    finally:
        server.close()


def with_daemon(answer: Answer, story: Callable[[Usbmux], Awaitable[None]]) -> None:
    async def run() -> None:
        async with daemon(answer) as usb:
            await story(usb)

    play(run())


def answering(**by_type: dict[str, Any]) -> Answer:
    return lambda request: message(by_type[request["MessageType"]])


def test_each_iphone_is_listed_once_and_a_cable_is_preferred() -> None:
    entries = [attached(3, UDID, "Network"), attached(5, UDID), attached(6, "B"), {"DeviceID": "x"}, "y"]

    async def story(usb: Usbmux) -> None:
        phones = await usb.iphones()
        assert [(phone.number, phone.udid, phone.connection) for phone in phones] == [
            (5, UDID, "USB"),
            (6, "B", "USB"),
        ]

    with_daemon(answering(ListDevices={"DeviceList": entries}), story)


def test_a_connection_names_the_port_with_its_bytes_swapped_and_becomes_the_stream() -> None:
    asked: list[dict[str, Any]] = []

    def answer(request: dict[str, Any]) -> bytes:
        asked.append(request)
        listed = {"DeviceList": [attached(9, UDID)]}
        return message(listed if request["MessageType"] == "ListDevices" else {"Number": 0})

    async def story(usb: Usbmux) -> None:
        reader, writer = await usb.connect(UDID, 8100)
        writer.write(b"GET /status")
        assert await reader.readexactly(11) == b"GET /status"
        writer.close()
        assert (asked[-1]["DeviceID"], asked[-1]["PortNumber"]) == (9, 42015)

    with_daemon(answer, story)


@each("number, reason", [(3, "refused"), (2, "usbmuxd"), (6, "usbmuxd")])
def test_a_refused_connection_says_why(number: int, reason: str) -> None:
    async def story(usb: Usbmux) -> None:
        with pytest.raises(IosConnectionError) as refused:
            await usb.connect(UDID, 8100)
        assert (refused.value.details["reason"], refused.value.delivery) == (reason, "not_delivered")

    listed = {"DeviceList": [attached(9, UDID)]}
    with_daemon(answering(ListDevices=listed, Connect={"MessageType": "Result", "Number": number}), story)


def test_an_iphone_that_is_not_there_is_said() -> None:
    async def story(usb: Usbmux) -> None:
        with pytest.raises(IosConnectionError, match="not connected"):
            await usb.connect(UDID, 8100)

    with_daemon(answering(ListDevices={"DeviceList": []}), story)


def test_comings_and_goings_are_told_until_the_daemon_ends() -> None:
    def answer(request: dict[str, Any]) -> bytes:
        assert request["MessageType"] == "Listen"
        detached = {"MessageType": "Detached", "DeviceID": 4}
        return (
            message({"MessageType": "Result", "Number": 0}) + message(attached(4, UDID)) + message(detached)
        )

    async def story(usb: Usbmux) -> None:
        changes = usb.changes()
        await anext(changes)
        await anext(changes)
        await changes.aclose()

    with_daemon(answer, story)


@each("told, answer", [({"PairRecordData": b"x"}, True), ({"Number": 2}, False), ({"Number": 9}, None)])
def test_trust_is_known_by_the_pair_record(told: dict[str, Any], answer: bool | None) -> None:
    async def story(usb: Usbmux) -> None:
        assert await usb.is_trusted(UDID) is answer

    with_daemon(answering(ReadPairRecord=told), story)


GARBAGE = [
    b"",
    b"\x01\x02",
    HEAD.pack(4, 1, 8, 1),
    HEAD.pack(1 << 30, 1, 8, 1),
    HEAD.pack(HEAD.size + 3, 1, 8, 1) + b"<x>",
    HEAD.pack(HEAD.size + len(plistlib.dumps([1])), 1, 8, 1) + plistlib.dumps([1]),
]


@each("answer", GARBAGE)
def test_an_answer_that_is_not_the_protocol_is_an_error(answer: bytes) -> None:
    async def story(usb: Usbmux) -> None:
        with pytest.raises(IosConnectionError):
            await usb.iphones()

    with_daemon(lambda _: answer, story)


async def test_a_missing_daemon_is_said_with_what_to_install(tmp_path: Any) -> None:
    usb = Usbmux({"USBMUXD_SOCKET_ADDRESS": f"unix:{tmp_path}/none"}, usual_clock())
    with pytest.raises(IosConnectionError, match="No usbmuxd") as missing:
        await usb.iphones()
    assert missing.value.details["reason"] == "no usbmuxd"
