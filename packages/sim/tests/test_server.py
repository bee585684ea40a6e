from __future__ import annotations

import asyncio

import pytest

from handrail_sim.adbd.ports import ports
from handrail_sim.adbd.server import Served, serve
from handrail_sim.adbd.wire import MAX_PAYLOAD, VERSION, Command, Packet, Parser, encode
from handrail_sim.errors import BadSetting
from tests.bare_phone import bare_phone


async def ask(served: Served, service: bytes) -> bytes:
    """One shell command over a real socket, opened without waiting for the welcome."""
    reader, writer = await asyncio.open_connection(served.host, served.port)
    writer.write(encode(Packet(Command.CNXN, VERSION, MAX_PAYLOAD, b"host::")))
    writer.write(encode(Packet(Command.OPEN, 1, 0, service + b"\0")))
    parser, answer = Parser(MAX_PAYLOAD), b""
    while data := await reader.read(65536):
        for packet in parser.feed(data):
            if packet.command == Command.WRTE:
                answer += packet.payload
                writer.write(encode(Packet(Command.OKAY, 1, packet.arg0)))
            if packet.command == Command.CLSE:
                writer.close()
    return answer


def test_further_phones_take_every_second_port() -> None:
    assert ports(6555, 3) == [6555, 6557, 6559]
    assert ports(0, 2) == [0, 0]


@pytest.mark.parametrize("first", [5555, 5585, 5551])
def test_ports_that_adb_servers_scan_are_refused(first: int) -> None:
    with pytest.raises(BadSetting, match="scans"):
        ports(first, 3)
    assert ports(first, 3, emulator=True)[0] == first


def test_ports_beyond_the_last_are_refused() -> None:
    with pytest.raises(BadSetting, match="65536"):
        ports(65535, 2)


def test_several_phones_are_served_in_one_loop() -> None:
    async def story() -> list[bytes]:
        phones = [bare_phone() for _ in range(3)]
        for number, phone in enumerate(phones):
            phone.files.write("/sdcard/who", b"%d" % number)
        async with serve(phones, port=0) as served:
            assert len({one.port for one in served}) == 3
            return list(
                await asyncio.gather(*(ask(one, b"shell:read x < /sdcard/who; echo $x") for one in served))
            )

    assert asyncio.run(story()) == [b"0\n", b"1\n", b"2\n"]


def test_a_taken_port_is_an_error_with_a_hint() -> None:
    async def story() -> None:
        async with serve([bare_phone()], port=0) as [one]:
            with pytest.raises(BadSetting, match="can't be used"):
                async with serve([bare_phone()], port=one.port):
                    pass

    asyncio.run(story())


def test_stopping_ends_connections_and_leaves_no_tasks() -> None:
    async def story() -> None:
        async with serve([bare_phone()], port=0) as [one]:
            reader, writer = await asyncio.open_connection(one.host, one.port)
            writer.write(encode(Packet(Command.CNXN, VERSION, MAX_PAYLOAD, b"host::")))
            assert await reader.read(24)
        await reader.read()
        writer.close()
        for _ in range(5):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(story())
