"""Our own helper's channel against the simulated phone that speaks its protocol."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import shutil
import subprocess
import zipfile
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pytest

from handrail.android.helper_channel import (
    JAR_SHA256,
    MAIN,
    PROTOCOL_VERSION,
    REMOTE,
    HelperChannel,
    HelperConnection,
    HelperHandle,
    ensure_helper,
    jar_bytes,
    open_helper,
    timed_strokes,
)
from handrail.engine.conditions import toast_texts
from handrail.errors import AdbCommandError, HandrailError
from handrail.screen.fingerprint import screen_fingerprint
from handrail.screen.node import ScreenPoint
from handrail.screen.parse import parse
from handrail.surface import gesture
from handrail_sim.channels import attach, own_helper
from handrail_sim.channels.http import Request, Response
from handrail_sim.channels.own_helper import MESSAGE_MS
from handrail_sim.stream import pair
from tests import fingers
from tests.cases import each
from tests.unit.android.sim_phone import CONTACTS, Bench, play

NOTES = "com.handrail.notes"

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
    assert java["MESSAGE_MS"] == MESSAGE_MS
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
    assert set(re.findall(r'"(?!TYPE_)([A-Z]+(?:_[A-Z]+)+)"', source)) <= spoken
    written = set(re.findall(r'"(\w+)"', (JAVA / "NodeWriter.java").read_text()))
    assert {*own_helper.TEXTS, *own_helper.FLAGS} <= written


async def opened(bench: Bench) -> HelperChannel:
    return HelperChannel(await open_helper(bench.device, bench.clock))


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


def test_a_toast_is_in_looks_for_as_long_as_it_is_shown() -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        before = await channel.look()
        bench.phone.toast("Note saved", NOTES)
        screen = await channel.look()
        assert toast_texts(screen) == ["Note saved"]
        assert len(screen.windows) == len(before.windows) + 1
        assert screen_fingerprint(screen) == screen_fingerprint(before)
        assert not screen.windows[-1].clickable
        await bench.clock.sleep_ms(MESSAGE_MS + 1)
        assert toast_texts(await channel.look()) == []
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
        bench.phone.faults.add("helper_refused", why="Error: no such class")
        with pytest.raises(AdbCommandError, match="the helper ended: Error: no such class"):
            await opened(bench)

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


# seed 003's HelperClient and ensureHelper


async def ensured(bench: Bench, **env: str) -> HelperHandle | None:
    return await ensure_helper(bench.device, env=env, clock=bench.clock, say=bench.said.append)


def test_the_seeds_calls_are_answered_by_our_helper() -> None:
    async def story(bench: Bench) -> None:
        handle = await ensured(bench)
        assert handle is not None
        client, status = handle.client, handle.status
        assert (status.ok, status.name, status.protocol_version, status.sdk_int) == (
            True,
            "handrail-helper",
            PROTOCOL_VERSION,
            34,
        )
        assert await client.status() == status
        bench.phone.start_activity(package="com.handrail.composelab")
        framework = await client.framework()
        assert (framework.package_name, framework.primary) == ("com.handrail.composelab", "compose")
        idle = await client.wait_idle(5_000)
        assert (idle.idle, idle.reason) == (True, "events_quiet")
        whole, compact = await client.tree(), await client.tree(compact=True)
        assert whole["packageName"] == "com.handrail.composelab"
        assert len(json.dumps(compact)) < len(json.dumps(whole))
        await client.tap(540, 900)
        await client.swipe(540, 1500, 540, 900, 100)
        await client.long_press(540, 900, 600)
        await client.key(4)
        assert (await client.screenshot()).startswith(b"\x89PNG")
        await client.shutdown()
        await bench.until(lambda: not bench.phone.ports)
        assert await client.status() is None
        await handle.shutdown(uninstall=True)
        assert (await bench.device.shell.run(["ls", REMOTE], check=False)).exit_code

    play(story)


@each("name", ["HANDRAIL_DISABLE_HELPER", "AGENTEST_DISABLE_HELPER"])
def test_a_helper_that_is_switched_off_is_not_started(name: str) -> None:
    async def story(bench: Bench) -> None:
        assert await ensured(bench, **{name: "1"}) is None
        assert bench.said == [f"the helper is switched off by {name}=1"]
        assert bench.link.opened == []

    play(story)


def test_ensure_helper_says_in_one_line_why_there_is_none() -> None:
    async def story(bench: Bench) -> None:
        with bench.phone.held_ui_automation("somebody"):
            assert await ensured(bench) is None
        del bench.phone.helper_mains[MAIN]
        assert await ensured(bench) is None
        await bench.link.close()
        assert await ensured(bench) is None
        assert ["holds UiAutomation" in bench.said[0], "Didn't find class" in bench.said[1]] == [True, True]
        assert len(bench.said) == 3

    play(story)


def test_a_helper_of_another_protocol_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail_sim.channels.helper.PROTOCOL_VERSION", 7)

    async def story(bench: Bench) -> None:
        assert await ensured(bench) is None
        assert bench.said == ["no helper: the helper 1.0.0 speaks protocol 7, not 1"]
        await bench.until(lambda: not bench.phone.ui_automation)

    play(story)


def test_another_app_on_the_phone_gets_no_answer_and_ends_nothing() -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        [name] = [name for name in bench.phone.ports if name.startswith("localabstract:handrail-")]
        token = channel._handle.connection._token
        for uid, answers in ((10_123, False), (1_000, False), (2_000, True), (0, True)):
            app, served = pair(uid)
            serving = asyncio.create_task(bench.phone.ports[name](served))
            with suppress(BrokenPipeError):
                await app.write(f"GET /look HTTP/1.1\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
            assert (b"200 OK" in await app.read()) == answers
            app.close()
            await serving
        for token in ("x", "guessed" * 8):
            stranger = HelperConnection(await bench.device.open(name), token, bench.clock)
            with pytest.raises(AdbCommandError, match="BAD_TOKEN") as refused:
                await stranger.ask("GET", "/look")
            assert refused.value.details["delivery"] == "not_delivered"
            await stranger.close()
        assert (await channel.look()).package
        await channel.close()

    play(story)


def test_the_helper_lets_go_before_its_channel_is_closed() -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        assert (await bench.device.shell.run(["uiautomator", "dump"], check=False)).exit_code
        await channel.close()
        assert not bench.phone.ui_automation
        await bench.device.shell.run(["uiautomator", "dump"])

    play(story)


def test_the_helper_ends_with_its_callers_connection() -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        await bench.link.close()
        await bench.until(lambda: not bench.phone.ui_automation)
        await channel.close()

    play(story)


def requests(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths that the helper is asked for from now on."""
    asked: list[str] = []
    answer = own_helper.OwnHelper.answer

    async def noted(self: own_helper.OwnHelper, request: Request) -> Response:
        asked.append(request.path)
        return await answer(self, request)

    monkeypatch.setattr(own_helper.OwnHelper, "answer", noted)
    return asked


def test_a_tap_and_the_look_that_proves_it_are_one_round_trip(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        before = await channel.look()
        notes = next(node for node in before.nodes if node.text == "Notes")
        del asked[:]
        await channel.perform(fingers.tap(*notes.center))
        rests = channel.is_rested()
        after = await channel.look()
        assert rests == (asked == ["/gesture"])
        assert after.package != before.package
        del asked[:]
        assert not channel.is_rested()
        await channel.look()
        assert asked == ["/look"]
        await channel.close()

    asked = requests(monkeypatch)
    play(story)


def test_a_look_that_came_with_a_gesture_is_for_the_one_who_waits_for_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    async def story(bench: Bench) -> None:
        channel = await opened(bench)
        for clear in (lambda: None, lambda: bench.clock.sleep_ms(150)):
            await channel.perform(fingers.tap(5, 1200))
            if (pause := clear()) is not None:
                await pause
                assert not channel.is_rested()
            del asked[:]
            await channel.look()
            assert asked == ["/look"]
        await channel.close()

    asked = requests(monkeypatch)
    play(story)
