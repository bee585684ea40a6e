"""Our own helper's channel against the simulated phone that speaks its protocol."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from handrail.android.helper_channel import (
    JAR_SHA256,
    MAIN,
    PROTOCOL_VERSION,
    QUIET_MS,
    HandrailChannel,
    jar_bytes,
    open_handrail,
    timed_strokes,
)
from handrail.errors import AdbCommandError, HandrailError
from handrail.screen.node import ScreenPoint
from handrail.screen.parse import parse
from handrail.surface import gesture
from handrail_sim.channels import attach, own_helper
from tests import fingers
from tests.unit.android.sim_phone import CONTACTS, Bench, play

ROOT = Path(__file__).parents[3]
JAVA = ROOT / "helper" / "src" / "main" / "java" / "dev" / "handrail" / "helper"
MAX_JAR = 150_000


def constants() -> dict[str, str | int]:
    """Names and values of Protocol.java."""
    source = (JAVA / "Protocol.java").read_text()
    found = re.findall(r'static final (?:String|int) (\w+) = (?:"(.*)"|(\d+));', source)
    return {name: int(number) if number else json.loads(f'"{text}"') for name, text, number in found}


def test_the_jar_is_the_one_that_was_built_and_one_dex_file_that_android_4_4_reads() -> None:
    jar = jar_bytes()
    assert hashlib.sha256(jar).hexdigest() == JAR_SHA256
    assert len(jar) <= MAX_JAR
    with zipfile.ZipFile(BytesIO(jar)) as archive:
        assert [name for name in archive.namelist() if name.endswith(".dex")] == ["classes.dex"]
        assert archive.read("classes.dex")[:8] == b"dex\n035\0"


@pytest.mark.slow
def test_the_sources_make_the_same_bytes_again(tmp_path: Path) -> None:
    if shutil.which("mvn") is None or shutil.which("javac") is None:
        pytest.skip("no Maven or no Java compiler, so the helper is not built again")
    shutil.copytree(ROOT / "helper" / "src" / "main", tmp_path / "src" / "main")
    shutil.copy(ROOT / "helper" / "pom.xml", tmp_path)
    command = ["mvn", "--batch-mode", "--quiet", "-Dmaven.test.skip=true", "package"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    assert (tmp_path / "target" / "handrail-helper.jar").read_bytes() == jar_bytes()


def test_client_and_simulator_agree_with_the_java_sources() -> None:
    java = constants()
    assert java["PROTOCOL_VERSION"] == PROTOCOL_VERSION == own_helper.PROTOCOL_VERSION
    assert java["QUIET_MS"] == QUIET_MS
    assert (java["NAME"], java["VERSION"], java["SOCKET_PREFIX"], java["MASK"]) == (
        own_helper.NAME,
        own_helper.VERSION,
        own_helper.SOCKET_PREFIX,
        own_helper.MASK,
    )
    assert attach.OWN_MAIN == MAIN
    spoken = set(java.values())
    source = Path(own_helper.__file__).read_text()
    assert set(re.findall(r'"(/[a-z-]+)"', source)) <= spoken
    assert set(re.findall(r'"([A-Z]+(?:_[A-Z]+)+)"', source)) <= spoken
    written = set(re.findall(r'"(\w+)"', (JAVA / "NodeWriter.java").read_text()))
    assert {*own_helper.TEXTS, *own_helper.FLAGS} <= written


async def opened(bench: Bench) -> HandrailChannel:
    channel = await open_handrail(bench.device, clock=bench.clock, say=bench.said.append)
    assert channel is not None, bench.said
    return channel


async def point(channel: HandrailChannel, words: str) -> tuple[int, int]:
    screen = await channel.look()
    return next(node.center for node in screen.nodes if words in (node.text, node.description))


def test_a_look_has_every_window_by_its_layer_and_the_drawing_order() -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        screen = await channel.look()
        display = bench.phone.display
        assert (screen.width, screen.height) == (display.width, display.height)
        assert [root.package_name for root in screen.windows] == [
            window.package for window in bench.phone.windows()
        ]
        assert all(node.package_name for node in screen.nodes if node.class_name)
        assert any(node.drawing_order > 1 for node in screen.nodes)
        await channel.close()

    play(story)


def test_all_calls_share_one_connection_and_the_token_is_in_no_command() -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        del bench.link.opened[:]
        for _ in range(3):
            await channel.look()
        await channel.perform(fingers.tap(5, 5))
        assert bench.link.opened == []
        processes = (await bench.device.shell.run(["ps", "-ef"])).text
        assert MAIN in processes
        assert not re.search("[0-9a-f]{32}", processes)
        await channel.close()
        await bench.until(lambda: not any("handrail-" in name for name in bench.phone.ports))

    play(story)


def test_taps_text_keys_and_the_clipboard_arrive() -> None:
    async def story(bench: Bench) -> None:
        await bench.device.shell.run(["am", "start", "-W", "-n", f"{CONTACTS}/.EditActivity"], check=False)
        channel = await opened(bench)
        await channel.perform(fingers.tap(11, 22))
        assert bench.touches() == [("down", 11.0, 22.0, 0), ("up", 11.0, 22.0, 0)]
        await channel.set_clipboard("ä中")
        assert await channel.get_clipboard() == "ä中"
        await channel.key(3)
        with pytest.raises(AdbCommandError) as refused:
            await channel.set_text("nobody listens")
        assert refused.value.details["delivery"] == "not_delivered"
        assert "NO_FOCUSED_FIELD" in refused.value.message
        await channel.close()

    play(story)


def test_two_fingers_go_down_before_either_lifts() -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        await channel.perform(gesture.pinch(500, 800, 300, 100, 200))
        actions = [(action, finger) for action, _, _, finger in bench.touches() if action != "move"]
        assert sorted(actions[:2]) == [("down", 0), ("down", 1)]
        assert sorted(actions[2:]) == [("up", 0), ("up", 1)]
        await channel.close()

    play(story)


def test_a_helper_that_died_says_so_and_nothing_was_delivered_twice() -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        bench.phone.faults.add("helper_dies", times=1)
        with pytest.raises(HandrailError) as gone:
            await channel.perform(fingers.tap(1, 2))
        assert gone.value.details["delivery"] == "unknown"
        assert bench.touches() == []
        await channel.close()

    play(story)


def test_a_helper_that_does_not_start_is_told_in_its_own_words() -> None:
    async def story(bench: Bench) -> None:
        bench.phone.faults.add("helper_refused", why="Error: UiAutomationService already registered!")
        assert await open_handrail(bench.device, clock=bench.clock, say=bench.said.append) is None
        assert "already registered" in bench.said[-1]

    play(story)


def test_gestures_become_strokes_with_times() -> None:
    here, there = ScreenPoint(1, 2), ScreenPoint(9, 8)
    assert timed_strokes(gesture.tap(here)) == [[[1, 2, 0]]]
    assert timed_strokes(gesture.double_tap(here)) == [[[1, 2, 0]], [[1, 2, 50]]]
    assert timed_strokes(gesture.long_press(here, 700)) == [[[1, 2, 0], [1, 2, 700]]]
    assert timed_strokes(gesture.swipe(here, there, 300)) == [[[1, 2, 0], [9, 8, 300]]]
    assert timed_strokes(gesture.drag(here, there, 900)) == [[[1, 2, 0], [1, 2, 500], [9, 8, 900]]]
    assert timed_strokes(gesture.path([here, there, here], 100)) == [[[1, 2, 0], [9, 8, 50], [1, 2, 100]]]


def test_a_look_that_is_damaged_or_cyclic_is_read_as_far_as_it_goes() -> None:
    root = {"className": "a.B", "bounds": [0, 0, 10, 10], "packageName": "p", "children": [{"text": "x"}]}
    look = {"ok": True, "windows": [None, {"id": 1}, {"layer": "x", "root": root}], "cycles": 2}
    screen = parse(json.dumps(look))
    assert [node.package_name for node in screen.nodes] == ["p", "p"]
    assert screen.warnings == ["nodes left out, in a cycle: 2"]
