from __future__ import annotations

import asyncio

from handrail_sim.adbd.wire import Command, Packet
from handrail_sim.stream import Stream, pair
from tests.host import Host, settle
from tests.test_adbd import phone_of, phone_test


@phone_test
async def test_forwards_are_registered_listed_and_killed(host: Host) -> None:
    assert await host.talk("reverse:forward:tcp:7000;tcp:8000") == b"OKAY"
    assert await host.talk("reverse:forward:localabstract:x;tcp:8001") == b"OKAY"
    listed = b"(reverse) tcp:7000 tcp:8000\n(reverse) localabstract:x tcp:8001\n"
    assert await host.talk("reverse:list-forward") == b"%04x" % len(listed) + listed
    assert await host.talk("reverse:killforward:tcp:7000") == b"OKAY"
    missing = b"listener 'tcp:7000' not found"
    assert await host.talk("reverse:killforward:tcp:7000") == b"FAIL%04x" % len(missing) + missing
    assert await host.talk("reverse:killforward-all") == b"OKAY"
    assert await host.talk("reverse:list-forward") == b"0000"


@phone_test
async def test_the_phone_chooses_a_port_when_asked_to(host: Host) -> None:
    assert await host.talk("reverse:forward:tcp:0;tcp:8000") == b"OKAY000540000"
    assert await host.talk("reverse:forward:tcp:0;tcp:8000") == b"OKAY000540001"


@phone_test
async def test_a_forward_is_rebound_only_when_that_is_allowed(host: Host) -> None:
    await host.talk("reverse:forward:tcp:7000;tcp:8000")
    assert await host.talk("reverse:forward:tcp:7000;tcp:9000") == b"OKAY"
    assert (await host.talk("reverse:forward:norebind:tcp:7000;tcp:1")).endswith(
        b"cannot rebind existing socket"
    )
    assert b"tcp:7000 tcp:9000" in await host.talk("reverse:list-forward")


@phone_test
async def test_a_port_the_phone_serves_itself_is_not_taken_away(host: Host) -> None:
    async def helper(stream: Stream) -> None: ...

    phone_of(host).ports["tcp:9008"] = helper
    assert (await host.talk("reverse:forward:tcp:9008;tcp:1")).startswith(b"FAIL")
    assert phone_of(host).ports["tcp:9008"] is helper


@phone_test
async def test_a_connection_in_the_phone_reaches_the_host(host: Host) -> None:
    await host.talk("reverse:forward:tcp:7000;tcp:8000")
    here, inside = pair()
    running = asyncio.ensure_future(phone_of(host).ports["tcp:7000"](inside))
    [opened] = await host.packets()
    assert opened == Packet(Command.OPEN, opened.arg0, 0, b"tcp:8000\0")
    host.send(Command.OKAY, 55, opened.arg0)
    await here.write(b"GET /")
    assert await host.packets() == [Packet(Command.WRTE, opened.arg0, 55, b"GET /")]
    host.send(Command.OKAY, 55, opened.arg0)
    host.send(Command.WRTE, 55, opened.arg0, b"hello")
    assert await here.read() == b"hello"
    here.close()
    await settle()
    assert (await host.packets())[-1].command == Command.CLSE
    await running


@phone_test
async def test_nothing_is_ever_opened_towards_a_target_that_was_not_registered(host: Host) -> None:
    await host.talk("reverse:forward:tcp:7000;tcp:8000")
    handler = phone_of(host).ports["tcp:7000"]
    await host.talk("reverse:killforward:tcp:7000")
    here, inside = pair()
    await handler(inside)
    assert await here.read() == b""
    assert "tcp:7000" not in phone_of(host).ports
    assert not [packet for packet in await host.packets() if packet.command == Command.OPEN]


@phone_test
async def test_a_refused_connection_ends_in_the_phone(host: Host) -> None:
    await host.talk("reverse:forward:tcp:7000;tcp:8000")
    here, inside = pair()
    running = asyncio.ensure_future(phone_of(host).ports["tcp:7000"](inside))
    [opened] = await host.packets()
    host.send(Command.CLSE, 0, opened.arg0)
    await running
    assert await here.read() == b""
    assert not await host.packets()


@phone_test
async def test_forwards_end_with_their_connection(host: Host) -> None:
    await host.talk("reverse:forward:tcp:7000;tcp:8000")
    host.connection.connection_lost(None)
    assert not phone_of(host).ports
