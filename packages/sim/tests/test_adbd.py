from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from handrail_sim.adbd.connection import HELD_MAX, STREAMS_MAX
from handrail_sim.adbd.daemon import Adbd
from handrail_sim.adbd.wire import (
    MAX_PAYLOAD,
    MAX_PAYLOAD_V1,
    VERSION,
    VERSION_WITH_CHECKSUM,
    Command,
    Packet,
    ShellKind,
    ShellParser,
    encode,
    encode_shell,
)
from handrail_sim.stream import PIPE_SIZE, Stream
from tests.bare_phone import bare_phone
from tests.host import Host, settle


def phone_test(test: Callable[[Host], Awaitable[None]]) -> Callable[[], None]:
    """Run with a host that is connected to a bare phone."""

    def run() -> None:
        async def story() -> None:
            host = Host(Adbd(bare_phone()))
            await host.connect()
            await test(host)
            host.connection.adbd.stop()
            await settle()

        asyncio.run(story())

    run.__name__ = test.__name__
    return run


def shell_parts(answer: bytes) -> dict[int, bytes]:
    parts: dict[int, bytes] = {}
    for kind, data in ShellParser().feed(answer):
        parts[kind] = parts.get(kind, b"") + data
    return parts


def phone_of(host: Host) -> Any:
    return host.connection.phone


@phone_test
async def test_a_connect_is_answered_with_product_and_features(host: Host) -> None:
    [answer] = await host.connect()
    kind, _, rest = answer.payload.decode().partition("::")
    said = dict(part.split("=", 1) for part in rest.split(";"))
    assert answer[:3] == (Command.CNXN, VERSION, MAX_PAYLOAD)
    assert kind == "device"
    assert said["ro.product.model"] == "Handrail"
    assert {"shell_v2", "cmd", "stat_v2", "sendrecv_v2"} <= set(said["features"].split(","))
    assert not {"delayed_ack", "sendrecv_v2_lz4"} & set(said["features"].split(","))


@phone_test
async def test_a_shell_answers_with_output_errors_and_exit_code_apart(host: Host) -> None:
    parts = shell_parts(await host.talk("shell,v2,TERM=xterm,raw:echo out; echo err >&2; exit 3"))
    assert parts == {ShellKind.STDOUT: b"out\n", ShellKind.STDERR: b"err\n", ShellKind.EXIT: b"\x03"}


@phone_test
async def test_the_old_shell_merges_errors_into_the_output(host: Host) -> None:
    assert await host.talk("shell:echo out; echo err >&2") == b"out\nerr\n"


@phone_test
async def test_a_short_command_leaves_in_one_packet(host: Host) -> None:
    host.send(Command.OPEN, 7, 0, b"shell,v2,raw:echo hi\0")
    okay, write, close = await host.packets()
    assert (okay.command, write.command, close.command) == (Command.OKAY, Command.WRTE, Command.CLSE)
    assert {okay.arg1, write.arg1, close.arg1} == {7}
    assert len({okay.arg0, write.arg0, close.arg0}) == 1


@phone_test
async def test_a_command_reads_what_the_host_sends(host: Host) -> None:
    sent = encode_shell(ShellKind.STDIN, b"typed\n") + encode_shell(ShellKind.CLOSE_STDIN, b"")
    assert (
        shell_parts(await host.talk("shell,v2,raw:cat", sent[:7], sent[7:]))[ShellKind.STDOUT] == b"typed\n"
    )


@phone_test
async def test_nothing_more_is_sent_before_the_last_was_acknowledged(host: Host) -> None:
    phone_of(host).files.write("/sdcard/big", bytes(300_000))
    host.send(Command.OPEN, 1, 0, b"exec:cat /sdcard/big\0")
    got = await host.packets()
    assert [packet.command for packet in got] == [Command.OKAY, Command.WRTE]
    assert not await host.packets()
    host.send(Command.OKAY, 1, got[0].arg0)
    assert [packet.command for packet in await host.packets()] == [Command.WRTE]


@phone_test
async def test_large_output_arrives_whole(host: Host) -> None:
    content = bytes(range(256)) * 4000
    phone_of(host).files.write("/sdcard/big", content)
    assert await host.talk("exec:cat /sdcard/big") == content


@phone_test
async def test_a_small_hosts_packets_stay_small(host: Host) -> None:
    phone_of(host).files.write("/sdcard/big", bytes(20_000))
    host.send(Command.CNXN, VERSION, MAX_PAYLOAD_V1, b"host::")
    await host.packets()
    host.send(Command.OPEN, 1, 0, b"exec:cat /sdcard/big\0")
    assert max(len(packet.payload) for packet in await host.packets()) == MAX_PAYLOAD_V1


@phone_test
async def test_an_old_host_gets_checksums(host: Host) -> None:
    host.connection._reset()
    await host.packets()
    host.send(Command.CNXN, VERSION_WITH_CHECKSUM, MAX_PAYLOAD_V1, b"host::")
    await settle()
    total = int.from_bytes(host.wire.sent[16:20], "little")
    assert total == sum(host.wire.sent[24:]) & 0xFFFFFFFF


@phone_test
async def test_unknown_services_are_refused(host: Host) -> None:
    for number, name in enumerate(["tcp:1", "localabstract:nobody", "jdwp:1", "sink:9", "", "nonsense:"]):
        host.send(Command.OPEN, number + 1, 0, name.encode() + b"\0")
        assert await host.packets() == [Packet(Command.CLSE, 0, number + 1)], name


@phone_test
async def test_a_served_port_is_a_plain_byte_stream(host: Host) -> None:
    async def shout(stream: Stream) -> None:
        await stream.write((await stream.read()).upper())

    phone_of(host).ports["tcp:9008"] = shout
    assert await host.talk("tcp:9008", b"hello") == b"HELLO"


@phone_test
async def test_many_streams_are_open_at_once(host: Host) -> None:
    async def echo(stream: Stream) -> None:
        while data := await stream.read():
            await stream.write(data)

    phone_of(host).ports["localabstract:echo"] = echo
    for ident in range(1, 101):
        host.send(Command.OPEN, ident, 0, b"localabstract:echo\0")
    device = {packet.arg1: packet.arg0 for packet in await host.packets()}
    for ident in range(100, 0, -1):
        host.send(Command.WRTE, ident, device[ident], b"%d" % ident)
    answers = {p.arg1: p.payload for p in await host.packets() if p.command == Command.WRTE}
    assert answers == {ident: b"%d" % ident for ident in range(1, 101)}


@phone_test
async def test_a_closed_stream_hangs_its_command_up(host: Host) -> None:
    for kind in (b"shell,v2,raw:", b"shell:", b"exec:"):
        host.send(Command.OPEN, 1, 0, kind + b"sleep 1000; echo late > /sdcard/late\0")
        [okay] = await host.packets()
        host.send(Command.CLSE, 1, okay.arg0)
        assert await host.packets() == [Packet(Command.CLSE, okay.arg0, 1)]
    await phone_of(host).clock.advance(2_000_000)
    assert not phone_of(host).files.exists("/sdcard/late")


@phone_test
async def test_a_job_started_with_nohup_outlives_its_stream(host: Host) -> None:
    await host.talk("shell:nohup sh -c 'sleep 1; echo late > /sdcard/late' >/dev/null 2>&1 &")
    await phone_of(host).clock.advance(2_000)
    await settle()
    assert phone_of(host).files.read("/sdcard/late") == b"late\n"


@phone_test
async def test_a_new_connect_resets_every_stream(host: Host) -> None:
    host.send(Command.OPEN, 1, 0, b"shell,v2,raw:sleep 1000\0")
    [okay] = await host.packets()
    assert [packet.command for packet in await host.connect()] == [Command.CNXN]
    host.send(Command.WRTE, 1, okay.arg0, b"anyone?")
    assert not await host.packets()


@phone_test
async def test_packets_for_streams_that_are_not_there_are_ignored(host: Host) -> None:
    for command in (Command.WRTE, Command.OKAY, Command.CLSE, Command.STLS, 0x41414141):
        host.send(command, 5, 99, b"x")
    host.send(Command.OPEN, 0, 0, b"shell:id\0")
    assert not await host.packets()
    assert not host.wire.closed


@phone_test
async def test_garbage_costs_the_connection_and_nothing_else(host: Host) -> None:
    host.raw(b"GET / HTTP/1.1\r\nHost: phone\r\n\r\n")
    assert host.wire.closed
    other = Host(host.connection.adbd)
    assert await other.connect()
    assert not host.connection.adbd.connections - {other.connection}


def test_before_the_handshake_nothing_is_served_and_little_is_held() -> None:
    async def story() -> None:
        adbd = Adbd(bare_phone())
        host = Host(adbd)
        host.send(Command.OPEN, 1, 0, b"shell:id\0")
        assert not await host.packets()
        host.raw(encode(Packet(Command.OPEN, 1, 0, bytes(MAX_PAYLOAD_V1 + 1))))
        assert host.wire.closed

    asyncio.run(story())


@phone_test
async def test_a_host_that_does_not_wait_loses_its_stream(host: Host) -> None:
    host.send(Command.OPEN, 1, 0, b"shell,v2,raw:sleep 1000\0")
    [okay] = await host.packets()
    for _ in range(5):
        host.send(Command.WRTE, 1, okay.arg0, bytes(MAX_PAYLOAD))
    got = await host.packets()
    assert got[-1].command == Command.CLSE
    assert host.connection.adbd.unread == 0


@phone_test
async def test_a_command_that_does_not_read_stops_the_host_after_a_pipe_full(host: Host) -> None:
    host.send(Command.OPEN, 1, 0, b"exec:sleep 1000\0")
    [okay] = await host.packets()
    host.send(Command.WRTE, 1, okay.arg0, bytes(PIPE_SIZE - 1000))
    assert [packet.command for packet in await host.packets()] == [Command.OKAY]
    host.send(Command.WRTE, 1, okay.arg0, bytes(PIPE_SIZE))
    assert not await host.packets()


@phone_test
async def test_streams_beyond_the_limit_are_refused(host: Host) -> None:
    for ident in range(1, STREAMS_MAX + 2):
        host.send(Command.OPEN, ident, 0, b"shell,v2,raw:sleep 1000\0")
    got = await host.packets()
    assert got[-1] == Packet(Command.CLSE, 0, STREAMS_MAX + 1)
    assert sum(packet.command == Command.OKAY for packet in got) == STREAMS_MAX


@phone_test
async def test_a_host_that_does_not_read_is_not_read_from(host: Host) -> None:
    host.connection.pause_writing()
    assert not host.wire.reading
    host.send(Command.OPEN, 1, 0, b"shell,v2,raw:echo hi\0")
    assert [packet.command for packet in await host.packets()] == [Command.OKAY]
    host.connection.resume_writing()
    assert host.wire.reading
    assert [packet.command for packet in await host.packets()] == [Command.WRTE, Command.CLSE]


@phone_test
async def test_a_service_that_fails_ends_its_stream_only(host: Host) -> None:
    async def broken(stream: Stream) -> None:
        raise ZeroDivisionError

    phone_of(host).ports["tcp:1"] = broken
    assert await host.talk("tcp:1") == b""
    assert await host.talk("shell:echo alive", ident=2) == b"alive\n"


@phone_test
async def test_root_is_refused_with_adbds_own_words(host: Host) -> None:
    assert await host.talk("root:") == b"adbd cannot run as root in production builds\n"


@phone_test
async def test_a_reboot_drops_the_connection_and_delays_the_next_welcome(host: Host) -> None:
    host.send(Command.OPEN, 1, 0, b"reboot:\0")
    await settle()
    await phone_of(host).clock.advance(100)
    assert host.wire.closed
    host.connection.connection_lost(None)
    again = Host(host.connection.adbd)
    assert not await again.connect()
    await phone_of(host).clock.advance(phone_of(host).boot_ms)
    assert [packet.command for packet in await again.packets()] == [Command.CNXN]


@phone_test
async def test_an_offline_phone_says_nothing_until_the_fault_is_cleared(host: Host) -> None:
    phone = phone_of(host)
    phone.faults.add("offline")
    await settle()
    await phone.clock.advance(100)
    assert host.wire.closed
    again = Host(host.connection.adbd)
    assert not await again.connect()
    phone.faults.clear("offline")
    await phone.clock.advance(200)
    assert [packet.command for packet in await again.packets()] == [Command.CNXN]


@phone_test
async def test_an_unauthorised_phone_asks_for_keys_until_the_fault_is_cleared(host: Host) -> None:
    phone = phone_of(host)
    phone.faults.add("unauthorized")
    again = Host(host.connection.adbd)
    assert [packet.command for packet in await again.connect()] == [Command.AUTH]
    again.send(Command.AUTH, 2, 0, bytes(256))
    assert [packet.command for packet in await again.packets()] == [Command.AUTH]
    phone.faults.clear("unauthorized")
    await phone.clock.advance(200)
    assert [packet.command for packet in await again.packets()] == [Command.CNXN]


@phone_test
async def test_a_stream_reset_ends_an_answer_without_exit_code(host: Host) -> None:
    phone_of(host).faults.add("stream_reset", bytes=8, times=1)
    assert await host.talk("shell,v2,raw:echo a longer answer") == b"\x01\x10\0\0\0a l"
    parts = shell_parts(await host.talk("shell,v2,raw:echo a longer answer", ident=2))
    assert parts == {ShellKind.STDOUT: b"a longer answer\n", ShellKind.EXIT: b"\0"}


@phone_test
async def test_truncated_output_still_has_its_exit_code(host: Host) -> None:
    phone_of(host).faults.add("truncated_output", bytes=3, command="echo")
    assert shell_parts(await host.talk("shell,v2,raw:echo hello")) == {
        ShellKind.STDOUT: b"hel",
        ShellKind.EXIT: b"\0",
    }
    phone_of(host).faults.clear()
    assert shell_parts(await host.talk("shell,v2,raw:echo hello", ident=2))[ShellKind.STDOUT] == b"hello\n"


@phone_test
async def test_control_c_ends_the_command_in_front_and_not_the_shell(host: Host) -> None:
    host.send(Command.OPEN, 1, 0, b"shell,v2,TERM=xterm,pty:\0")
    okay, prompt = await host.packets()
    assert prompt.payload.endswith(b"$ ")
    shown = b""
    for keys in (b"sleep 1000\r", b"\x03", b"echo $?\r", b"exit 4\r"):
        host.send(Command.OKAY, 1, okay.arg0)
        host.send(Command.WRTE, 1, okay.arg0, encode_shell(ShellKind.STDIN, keys))
        for packet in await host.packets():
            if packet.command == Command.WRTE:
                shown += packet.payload
                host.send(Command.OKAY, 1, okay.arg0)
    shown += b"".join(packet.payload for packet in await host.packets())
    parts = shell_parts(shown)
    assert b"130\r\n" in parts[ShellKind.STDOUT]
    assert parts[ShellKind.EXIT] == b"\x04"


@phone_test
async def test_what_was_sent_before_the_end_of_an_old_stream_is_still_read(host: Host) -> None:
    for number, pause in enumerate((False, True)):
        host.send(Command.OPEN, 1, 0, b"exec:cat > /sdcard/in%d\0" % number)
        [okay] = await host.packets()
        host.send(Command.WRTE, 1, okay.arg0, bytes(300_000))
        if pause:
            await settle()
        host.send(Command.CLSE, 1, okay.arg0)
        await settle()
        assert phone_of(host).files.stat(f"/sdcard/in{number}").size == 300_000
        await host.packets()
    assert host.connection.adbd.unread == 0


@phone_test
async def test_nothing_new_is_started_for_a_host_that_leaves_too_much_waiting(host: Host) -> None:
    async def talkative(stream: Stream) -> None:
        await stream.write(bytes(HELD_MAX + 100_000))

    phone_of(host).ports["tcp:1"] = talkative
    host.send(Command.OPEN, 1, 0, b"tcp:1\0")
    await settle()
    host.send(Command.OPEN, 2, 0, b"shell:echo hello\0")
    got = await host.packets()
    assert [packet.command for packet in got if packet.arg1 == 2] == [Command.OKAY]
    host.send(Command.CLSE, 1, got[0].arg0)
    assert b"hello\n" in [packet.payload for packet in await host.packets()]
