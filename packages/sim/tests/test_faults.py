"""Every fault by name: it happens while it is on, and is gone after `clear`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from handrail_sim import shell
from handrail_sim.adbd.daemon import Adbd
from handrail_sim.adbd.wire import Command
from handrail_sim.channels.u2.server import Server, respond
from handrail_sim.clock import ManualClock
from handrail_sim.errors import BadSetting
from handrail_sim.faults import KINDS, PROFILES, Faults, read_file
from handrail_sim.shell.run import Answer
from tests.automator import Automator
from tests.hand import Hand
from tests.host import Host, settle

CONTACTS = "com.google.android.contacts"
DUMP = "uiautomator dump /dev/tty"


def with_hand(story: Callable[[Hand], Awaitable[None]]) -> None:
    async def play() -> None:
        await story(Hand())

    asyncio.run(play())


async def sh(hand: Hand, command: str) -> Answer:
    answer: Answer = await hand.run(shell.capture(hand.phone, command))
    return answer


# what faults are


def test_a_fault_has_chances_times_and_an_end() -> None:
    async def story() -> None:
        clock = ManualClock()
        faults = Faults(clock, seed=1)
        faults.add("input_lost", after=1, times=2)
        struck = [faults.get("input_lost") is not None for _ in range(5)]
        assert struck == [False, True, True, False, False]
        faults.add("input_lost", every=3)
        assert [faults.get("input_lost") is not None for _ in range(6)] == [False, False, True] * 2
        faults.add("input_lost", for_ms=100)
        assert faults.get("input_lost") is not None
        await clock.advance(100)
        assert faults.get("input_lost") is None
        assert faults.active("input_lost") is None

    asyncio.run(story())


def test_chances_repeat_with_the_seed() -> None:
    def draw(seed: int) -> list[bool]:
        faults = Faults(ManualClock(), seed)
        faults.add("input_lost", chance=0.5)
        return [faults.get("input_lost") is not None for _ in range(64)]

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)
    assert 10 < sum(draw(1)) < 54


def test_latency_is_per_command_with_jitter() -> None:
    faults = Faults(ManualClock())
    faults.add("latency", command="input", ms=60, jitter_ms=10)
    faults.add("latency", ms=5)
    assert faults.latency_ms("ls") == 5
    waits = {faults.latency_ms("input") for _ in range(20)}
    assert all(55 <= wait <= 75 for wait in waits)
    assert len(waits) > 10
    assert faults.clear("latency", "input") == 1
    assert faults.latency_ms("input") == 5


def test_wrong_faults_are_refused_by_name() -> None:
    faults = Faults(ManualClock())
    for name, options in (("gremlins", {}), ("latency", {"colour": 1}), ("latency", {"ms": "soon"})):
        with pytest.raises(BadSetting):
            faults.add(name, **options)


def test_a_file_lists_faults(tmp_path: Path) -> None:
    toml = tmp_path / "faults.toml"
    toml.write_text('profiles = ["hardware"]\n[[fault]]\nname = "input_lost"\ntimes = 1\n')
    faults = Faults(ManualClock())
    faults.load(read_file(toml))
    assert [fault["fault"] for fault in faults.to_list()] == [
        *(name for name, _ in PROFILES["hardware"]),
        "input_lost",
    ]
    plain = tmp_path / "faults.json"
    plain.write_text(json.dumps(["offline", {"fault": "latency", "ms": 5}]))
    assert read_file(plain) == ["offline", {"fault": "latency", "ms": 5}]
    plain.write_text("{")
    with pytest.raises(BadSetting):
        read_file(plain)


# what they do


def test_latency_holds_a_command_up() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("latency", command="getprop", ms=500)
        start = hand.clock.monotonic_ms()
        await sh(hand, "getprop ro.serialno")
        assert hand.clock.monotonic_ms() - start >= 500
        hand.phone.faults.clear()
        start = hand.clock.monotonic_ms()
        await sh(hand, "getprop ro.serialno")
        assert hand.clock.monotonic_ms() - start < 100

    with_hand(story)


@pytest.mark.parametrize(
    ("fault", "status", "text"),
    [("dump_null_root", 1, "ERROR: null root node returned"), ("dump_killed", 137, "Killed")],
)
def test_a_dump_fails(fault: str, status: int, text: str) -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add(fault)
        answer = await sh(hand, DUMP)
        assert answer.status == status
        assert text in answer.errors
        assert "<hierarchy" not in answer.text
        hand.phone.faults.clear(fault)
        answer = await sh(hand, DUMP)
        assert answer.status == 0
        assert "<hierarchy" in answer.text

    with_hand(story)


def test_a_dump_waits_for_a_screen_that_never_rests() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("dump_waits_for_idle", timeout_ms=3000)
        hand.phone.faults.add("clock_ticks", ms=100)
        start = hand.clock.monotonic_ms()
        answer = await sh(hand, DUMP)
        assert answer.errors.startswith("ERROR: could not get idle state.")
        assert hand.clock.monotonic_ms() - start >= 3000
        hand.phone.faults.clear("clock_ticks")
        assert (await sh(hand, DUMP)).status == 0

    with_hand(story)


def test_the_hardware_profile_is_as_slow_as_a_cable() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("hardware")
        start = hand.clock.monotonic_ms()
        await sh(hand, DUMP)
        assert 1800 <= hand.clock.monotonic_ms() - start < 4000
        start = hand.clock.monotonic_ms()
        await sh(hand, "input tap 1 1")
        assert 50 <= hand.clock.monotonic_ms() - start < 120
        start = hand.clock.monotonic_ms()
        await sh(hand, "screencap -h")  # painting takes real time, which this clock does not know
        assert 600 <= hand.clock.monotonic_ms() - start < 1900
        body = b'{"jsonrpc": "2.0", "id": 1, "method": "dumpWindowHierarchy", "params": [false, 50]}'
        start = hand.clock.monotonic_ms()
        await hand.run(respond(Server(hand.phone), body))
        assert 100 <= hand.clock.monotonic_ms() - start < 1000
        hand.phone.faults.clear("hardware")
        assert hand.phone.faults.to_list() == []

    with_hand(story)


def test_input_is_lost() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("input_lost")
        await hand.open(CONTACTS)
        await hand.tap("Create new contact")
        assert hand.sees("Create new contact")
        hand.phone.key(3)
        assert hand.sees("Create new contact")
        hand.phone.faults.clear("input_lost")
        await hand.tap("Create new contact")
        assert not hand.sees("Create new contact")

    with_hand(story)


def test_input_arrives_twice() -> None:
    async def story(hand: Hand) -> None:
        await hand.open(CONTACTS)
        await hand.tap("Create new contact")
        field = next(seen for seen in hand.see() if seen["class"] == "android.widget.EditText")
        await hand.tap_at(*field.centre)
        hand.phone.faults.add("input_twice")
        await sh(hand, "input text ab")
        assert hand.sees("abab")
        hand.phone.faults.clear("input_twice")
        await sh(hand, "input text c")
        assert hand.sees("ababc")

    with_hand(story)


def test_the_keyboard_swallows_characters() -> None:
    async def story(hand: Hand) -> None:
        await hand.open(CONTACTS)
        await hand.tap("Create new contact")
        field = next(seen for seen in hand.see() if seen["class"] == "android.widget.EditText")
        await hand.tap_at(*field.centre)
        hand.phone.faults.add("ime_swallows", every=3)
        hand.phone.type_ascii("abcdef")
        assert hand.sees("abde")
        hand.phone.faults.clear("ime_swallows")
        hand.phone.type_ascii("xyz")
        assert hand.sees("abdexyz")

    with_hand(story)


def test_an_app_starts_slowly() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("slow_app_start", ms=2000)
        hand.phone.start_activity(package=CONTACTS)
        await hand.wait(1900)
        assert not hand.sees("Create new contact")
        await hand.wait(500)
        assert hand.sees("Create new contact")
        hand.phone.force_stop(CONTACTS)
        hand.phone.faults.clear("slow_app_start")
        hand.phone.start_activity(package=CONTACTS)
        await hand.wait(300)
        assert hand.sees("Create new contact")

    with_hand(story)


@pytest.mark.parametrize("package", [CONTACTS, "com.android.camera2"])
def test_back_leaves_an_app_that_has_not_started_yet(package: str) -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("slow_app_start", ms=2000)
        hand.phone.start_activity(package=package)
        await hand.wait(500)
        hand.phone.key(4)
        await hand.wait(3000)
        assert hand.phone.state()["front"]["package"] == "com.android.launcher3"

    with_hand(story)


def test_the_clock_ticks() -> None:
    async def story(hand: Hand) -> None:
        def clock() -> str:
            return next(seen.text for seen in hand.see(all_windows=True) if seen.id.endswith("id/clock"))

        assert clock().count(":") == 1
        hand.phone.faults.add("clock_ticks", ms=1000)
        first = clock()
        assert first.count(":") == 2
        heard = len(hand.phone.events)
        await hand.wait(3000)
        assert clock() != first
        assert len(hand.phone.events) >= heard + 3
        hand.phone.faults.clear("clock_ticks")
        assert clock().count(":") == 1
        await hand.wait(1000)
        heard = len(hand.phone.events)
        await hand.wait(3000)
        assert len(hand.phone.events) == heard

    with_hand(story)


def test_a_helper_dies_and_can_be_started_again() -> None:
    async def story(hand: Hand) -> None:
        start = "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main"
        hand.phone.files.write("/data/local/tmp/u2.jar", b"PK")
        hand.phone.faults.add("helper_dies", requests=1)
        running = asyncio.ensure_future(shell.capture(hand.phone, start))
        await settle()
        host = Host(Adbd(hand.phone))
        await host.connect()
        ask = b"GET /ping HTTP/1.1\r\nConnection: close\r\n\r\n"
        assert (await host.talk("tcp:9008", ask)).endswith(b"pong")
        assert await host.talk("tcp:9008", ask, ident=2) == b""
        assert (await running).status == 137
        assert "tcp:9008" not in hand.phone.ports
        hand.phone.faults.clear("helper_dies")
        running = asyncio.ensure_future(shell.capture(hand.phone, start))
        await settle()
        for ident in (3, 4, 5):
            assert (await host.talk("tcp:9008", ask, ident=ident)).endswith(b"pong")
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    with_hand(story)


def test_a_hidden_users_packages_need_the_user_to_be_named() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("work_profile")
        refused = await shell.capture(hand.phone, "pm list packages")
        assert (refused.status, refused.stdout) == (255, b"")
        assert b"SecurityException: Shell does not have permission to access user 10" in refused.stderr
        assert (await shell.capture(hand.phone, "pm list packages --user 10")).status == 255
        listed = await shell.capture(hand.phone, "pm list packages --user 0")
        assert listed.status == 0
        assert f"package:{CONTACTS}".encode() in listed.stdout

    with_hand(story)


def test_screencap_takes_the_folded_panel_unless_it_is_told() -> None:
    async def story(hand: Hand) -> None:
        shown = await hand.phone.screenshot()
        hand.phone.faults.add("fold", width=1080, height=2400)
        first = await shell.capture(hand.phone, "screencap -p")
        assert first.errors.startswith("[Warning] Multiple displays were found")
        assert first.stdout != shown
        named = await shell.capture(hand.phone, "screencap -p -d 4619827259835644673")
        assert named.stdout == shown

    with_hand(story)


def test_injected_input_is_refused_by_command() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("input_refused", command="text")
        refused = await shell.capture(hand.phone, "input text a")
        assert refused.status == 255
        assert b"INJECT_EVENTS" in refused.stderr
        assert (await shell.capture(hand.phone, "input keyevent 4")).status == 0

    with_hand(story)


def test_a_clipboard_may_be_written_and_not_read() -> None:
    async def story(hand: Hand) -> None:
        u2 = Automator(hand)
        hand.phone.clipboard = "own"
        hand.phone.faults.add("clipboard_unreadable")
        assert await u2.call("getClipboard") is None
        await u2.call("setClipboard", None, "new")
        assert hand.phone.clipboard == "new"
        hand.phone.faults.clear("clipboard_unreadable")
        assert await u2.call("getClipboard") == "new"

    with_hand(story)


def test_a_helper_is_refused_with_the_words_that_were_given() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.files.write("/data/local/tmp/u2.jar", b"jar")
        start = "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main"
        hand.phone.faults.add("helper_refused", why="avc: denied")
        refused = await shell.capture(hand.phone, start)
        assert (refused.status, refused.stderr) == (1, b"avc: denied\n")

    with_hand(story)


def test_a_closed_folder_takes_no_file_and_a_dump_into_it_says_that_it_was_written() -> None:
    async def story(hand: Hand) -> None:
        hand.phone.faults.add("temp_read_only")
        dumped = await shell.capture(hand.phone, "uiautomator dump /data/local/tmp/x.xml")
        assert (dumped.status, dumped.stdout) == (0, b"UI hierchary dumped to: /data/local/tmp/x.xml\n")
        assert not hand.phone.files.exists("/data/local/tmp/x.xml")
        hand.phone.faults.clear("temp_read_only")
        await shell.capture(hand.phone, "uiautomator dump /data/local/tmp/x.xml")
        assert hand.phone.files.exists("/data/local/tmp/x.xml")

    with_hand(story)


# what they do to adb


async def connected(hand: Hand) -> Host:
    host = Host(Adbd(hand.phone))
    packets = await host.connect()
    assert [packet.command for packet in packets] == [Command.CNXN]
    return host


@pytest.mark.parametrize("fault", ["offline", "unauthorized"])
def test_the_phone_goes_away_and_comes_back(fault: str) -> None:
    async def story(hand: Hand) -> None:
        host = await connected(hand)
        hand.phone.faults.add(fault)
        await settle()
        await hand.wait(200)
        assert host.wire.closed
        silent = Host(host.connection.adbd)
        packets = await silent.connect()
        assert Command.CNXN not in [packet.command for packet in packets]
        hand.phone.faults.clear(fault)
        back = Host(host.connection.adbd)
        assert [packet.command for packet in await back.connect()] == [Command.CNXN]

    with_hand(story)


def test_a_reboot_drops_connections_and_is_over_by_itself() -> None:
    async def story(hand: Hand) -> None:
        host = await connected(hand)
        hand.phone.faults.add("reboot")
        assert hand.phone.faults.active("reboot") is None
        await settle()
        await hand.wait(200)
        assert host.wire.closed
        again = Host(host.connection.adbd)
        assert await again.connect() == []
        await hand.wait(hand.phone.boot_ms + 500)
        assert [packet.command for packet in await again.packets()] == [Command.CNXN]

    with_hand(story)


def test_output_is_cut_short() -> None:
    async def story(hand: Hand) -> None:
        host = await connected(hand)
        whole = await host.talk(f"exec:{DUMP}")
        hand.phone.faults.add("truncated_output", bytes=100)
        assert await host.talk(f"exec:{DUMP}", ident=2) == whole[:100]
        hand.phone.faults.clear("truncated_output")
        assert await host.talk(f"exec:{DUMP}", ident=3) == whole

    with_hand(story)


def test_a_stream_is_reset_in_the_middle_of_an_answer() -> None:
    async def story(hand: Hand) -> None:
        host = await connected(hand)
        whole = await host.talk(f"exec:{DUMP}")
        hand.phone.faults.add("stream_reset", bytes=100)
        cut = await host.talk(f"exec:{DUMP}", ident=2)
        assert len(cut) <= 100
        assert whole.startswith(cut)
        assert not host.wire.closed
        hand.phone.faults.clear("stream_reset")
        assert await host.talk(f"exec:{DUMP}", ident=3) == whole

    with_hand(story)


def test_every_fault_has_a_test_here() -> None:
    files = ("test_faults.py", "test_oddities.py", "test_iphone.py")
    text = "".join(Path(__file__).with_name(name).read_text() for name in files)
    assert [name for name in KINDS if f'"{name}"' not in text] == []


def test_a_lost_input_is_lost_for_helpers_too() -> None:
    async def story(hand: Hand) -> None:
        u2 = Automator(hand)
        await hand.open(CONTACTS)
        x, y = hand.find("Create new contact").centre
        hand.phone.faults.add("input_lost", times=1)
        await u2.call("click", x, y)
        assert hand.sees("Create new contact")
        await u2.call("click", x, y)
        await hand.settle()
        assert not hand.sees("Create new contact")

    with_hand(story)
