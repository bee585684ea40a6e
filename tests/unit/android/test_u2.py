from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from handrail.android import uiautomator2 as server
from handrail.android.uiautomator2 import U2Channel, U2Server, dex_files, find_jar, open_u2
from handrail.errors import AdbCommandError, HandrailError, Timeout, TreeParseError, Unsupported
from handrail_sim.channels.u2.server import METHODS, JavaError, Overload, Server
from handrail_sim.shell.processes import Process, processes_of
from tests import fingers
from tests.unit.android.sim_phone import CONTACTS, Bench, play


async def opened(bench: Bench) -> U2Channel:
    return await open_u2(bench.device, bench.clock)


async def point(channel: U2Channel, words: str) -> tuple[int, int]:
    screen = await channel.look()
    node = next(node for node in screen.nodes if words in (node.text, node.description))
    return node.center


async def field(channel: U2Channel) -> str:
    screen = await channel.look()
    return next(node.text for node in screen.nodes if node.focused)


async def in_the_name_field(bench: Bench) -> U2Channel:
    """The contact editor, with its first field focused."""
    channel = await opened(bench)
    bench.phone.start_activity(package=CONTACTS)
    await channel.perform(fingers.tap(*await point(channel, "Create new contact")))
    screen = await channel.look()
    await channel.perform(
        fingers.tap(*next(node.center for node in screen.nodes if node.class_name.endswith("EditText")))
    )
    return channel


def running(bench: Bench) -> list[Process]:
    return list(processes_of(bench.phone).running.values())


def starts(bench: Bench) -> int:
    return sum("uia2.Main" in service for service in bench.link.opened)


def test_a_jar_that_nobody_knows_never_reaches_the_phone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = server.find_jar()
    assert own is not None
    forged = tmp_path / "u2.jar"
    forged.write_bytes(own.read_bytes() + b"\0")

    async def story(bench: Bench) -> None:
        monkeypatch.setattr("handrail.android.uiautomator2.find_jar", lambda: forged)
        with pytest.raises(Unsupported, match="unknown to Handrail"):
            await opened(bench)
        assert not bench.phone.files.exists(server.REMOTE)
        assert not bench.phone.ports

    play(story)


def test_without_the_package_there_is_one_line_and_no_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(bench: Bench) -> None:
        monkeypatch.setattr(server, "find_spec", lambda name: None)
        with pytest.raises(Unsupported, match="the Python package uiautomator2, which is not installed"):
            await opened(bench)

    play(story)


def test_a_runtime_that_reads_one_dex_file_is_not_given_the_servers_seven() -> None:
    async def story(bench: Bench) -> None:
        with pytest.raises(Unsupported) as refused:
            await open_u2(bench.device, bench.clock, sdk=19, android="4.4.4")
        jar = find_jar()
        assert jar is not None
        assert refused.value.message == (
            f"Android 4.4.4 reads one dex file of a jar, and u2's server has {dex_files(jar)}"
        )
        assert bench.link.opened == []

    play(story)


def test_a_server_that_never_answers_is_given_up_and_ended() -> None:
    async def silent(call: object) -> int:
        await asyncio.Event().wait()
        return 0

    async def story(bench: Bench) -> None:
        bench.phone.helper_mains = dict.fromkeys(bench.phone.helper_mains, silent)
        jar = find_jar()
        assert jar is not None
        with pytest.raises(Timeout, match="the u2 server did not answer within 150 ms"):
            await U2Server(bench.device, jar, bench.clock).start(150)
        await bench.until(lambda: not any(one.name == "app_process" for one in running(bench)))

    play(story)


def test_a_double_tap_is_two_and_a_long_press_is_held() -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        await channel.perform(fingers.double_tap(540, 1200))
        assert [one[0] for one in bench.touches() if one[0] != "move"] == ["down", "up", "down", "up"]
        assert len({one[1:] for one in bench.touches()}) == 1
        await channel.key(3)
        bench.phone.start_activity(package=CONTACTS)
        await channel.perform(fingers.long_press(*await point(channel, "Create new contact"), 700))
        down, up = [one["ms"] for one in bench.phone.input_log[-2:]]
        assert up - down >= 700
        await channel.close()

    play(story)


def test_a_pinch_has_two_fingers_and_a_turn_of_the_hand_is_not_offered() -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        await channel.perform(fingers.pinch(540, 1200, 100, 300, 50))
        touches = bench.touches()
        assert touches[:2] == [("down", 440, 1200, 0), ("down", 640, 1200, 1)]
        assert sorted(touches[-2:]) == [("up", 240, 1200, 0), ("up", 840, 1200, 1)]
        assert "rotate" not in channel.can
        with pytest.raises(Unsupported, match="no rotate"):
            await channel.perform(fingers.rotate(540, 1200, 100, 0, 90, 50))
        await channel.close()

    play(story)


def test_text_goes_in_by_accessibility_and_by_clipboard() -> None:
    async def story(bench: Bench) -> None:
        channel = await in_the_name_field(bench)
        await channel.set_text("Grüße 👋 'n' \"$HOME\"")
        assert await field(channel) == "Grüße 👋 'n' \"$HOME\""
        await channel.clear_field()
        await channel.set_clipboard("日本語")
        assert await channel.get_clipboard() == "日本語"
        await channel.paste()
        assert await field(channel) == "日本語"
        await channel.close()

    play(story)


def test_text_without_a_focused_field_is_refused_as_not_delivered() -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        with pytest.raises(AdbCommandError) as caught:
            await channel.set_text("nowhere")
        assert caught.value.details["delivery"] == "not_delivered"
        await channel.close()

    play(story)


def test_a_read_brings_a_dead_server_back_unless_it_dies_each_time() -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        bench.phone.faults.add("helper_dies", times=1)
        assert (await channel.look()).package == "com.android.launcher3"
        bench.phone.faults.add("helper_dies")
        with pytest.raises(HandrailError):
            await channel.look()
        bench.phone.faults.clear()
        await channel.close()

    play(story)


def test_a_lost_accessibility_service_is_told_and_healed_by_the_next_read() -> None:
    async def story(bench: Bench) -> None:
        async def lost(*_: object) -> None:
            METHODS["getClipboard"] = known
            raise JavaError("java.lang.IllegalStateException", "UiAutomation not connected!")

        channel = await opened(bench)
        known = METHODS["getClipboard"]
        METHODS["getClipboard"] = [Overload((), lost)]
        try:
            assert await channel.get_clipboard() == ""
        finally:
            METHODS["getClipboard"] = known
        assert sum("uia2.Main" in service for service in bench.link.opened) == 2
        await channel.close()

    play(story)


def test_a_phone_whose_stack_is_too_small_for_deep_trees_is_asked_for_less() -> None:
    async def story(bench: Bench) -> None:
        asked: list[int] = []
        known = METHODS["dumpWindowHierarchy"]
        whole = next(overload.run for overload in known if len(overload.kinds) == 2)

        async def shallow(server: Server, compressed: bool, depth: int) -> str:
            asked.append(depth)
            if depth > 50:
                raise JavaError("java.lang.StackOverflowError", "stack size 1037KB")
            return str(await whole(server, compressed, depth))

        channel = await opened(bench)
        METHODS["dumpWindowHierarchy"] = [Overload(("bool", "int"), shallow)]
        try:
            assert (await channel.look()).package == "com.android.launcher3"
            await channel.look()
        finally:
            METHODS["dumpWindowHierarchy"] = known
        assert asked == [100, 50, 50]
        await channel.close()

    play(story)


def test_a_screen_without_a_window_is_looked_at_again_and_at_last_an_error() -> None:
    async def story(bench: Bench) -> None:
        known = METHODS["dumpWindowHierarchy"]
        whole = next(overload.run for overload in known if len(overload.kinds) == 2)
        empty = 1

        async def late(server: Server, compressed: bool, depth: int) -> str:
            nonlocal empty
            empty -= 1
            return str(await whole(server, compressed, depth)) if empty < 0 else '<hierarchy rotation="0" />'

        channel = await opened(bench)
        METHODS["dumpWindowHierarchy"] = [Overload(("bool", "int"), late)]
        try:
            assert (await channel.look()).package == "com.android.launcher3"
            empty = 100
            with pytest.raises(TreeParseError):
                await channel.look()
        finally:
            METHODS["dumpWindowHierarchy"] = known
        assert sum("uia2.Main" in service for service in bench.link.opened) == 1
        await channel.close()

    play(story)


def test_many_readers_of_a_dead_server_start_one() -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        bench.phone.faults.add("helper_dies", times=1)
        with pytest.raises(HandrailError):
            await channel.key(4)
        await bench.until(lambda: not bench.phone.ports)
        started = sum("uia2.Main" in service for service in bench.link.opened)
        await asyncio.gather(*(channel.look() for _ in range(5)))
        assert sum("uia2.Main" in service for service in bench.link.opened) == started + 1
        await channel.close()

    play(story)


def test_a_read_that_is_under_way_at_close_starts_nothing() -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        await server.release(bench.device)
        await bench.until(lambda: not bench.phone.ports)
        reading = asyncio.ensure_future(channel.look())
        await asyncio.sleep(0)
        await channel.close()
        [failed] = await asyncio.gather(reading, return_exceptions=True)
        assert isinstance(failed, HandrailError)
        assert not bench.phone.ports
        assert starts(bench) == 1

    play(story)


def test_a_broken_stream_is_read_again_from_the_same_server() -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        bench.phone.faults.add("stream_reset", bytes=10, command="tcp", times=1)
        assert (await channel.look()).package == "com.android.launcher3"
        assert sum("uia2.Main" in service for service in bench.link.opened) == 1
        await channel.close()

    play(story)
