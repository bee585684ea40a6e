from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from handrail.android.http_helper import (
    HelperChannel,
    HelperClient,
    open_helper,
    read_framework,
    read_idle,
    read_status,
)
from handrail.errors import AdbCommandError, HandrailError, Timeout, Unsupported
from handrail_sim.channels.http import Request, Response, json_response, listening
from handrail_sim.clock import ManualClock
from tests import fingers
from tests.cases import each
from tests.unit.android.sim_phone import CONTACTS, Bench, helper_env, play


async def opened(bench: Bench, folder: Path) -> HelperChannel:
    channel = await open_helper(
        bench.device, env=helper_env(folder), clock=bench.clock, say=bench.said.append
    )
    assert channel is not None, bench.said
    return channel


async def point(channel: HelperChannel, words: str) -> tuple[int, int]:
    screen = await channel.look()
    return next(node.center for node in screen.nodes if words in (node.text, node.description))


def test_every_field_of_the_seed_is_read_and_missing_ones_are_empty() -> None:
    status = read_status({"ok": True, "name": "n", "version": "1.2", "protocolVersion": 3, "sdkInt": 34})
    assert (status.ok, status.name, status.version, status.protocol_version) == (True, "n", "1.2", 3)
    assert (status.sdk_int, status.device, status.manufacturer) == (34, "", "")
    made = read_framework({"ok": True, "packageName": "p", "primary": "flutter", "frameworks": ["flutter"]})
    assert (made.package_name, made.primary, made.frameworks, made.signals) == (
        "p",
        "flutter",
        ("flutter",),
        (),
    )
    idle = read_idle({"ok": True, "idle": False, "reason": "timeout", "events": ["VIEW_SCROLLED"]})
    assert (idle.ok, idle.idle, idle.reason, idle.events) == (True, False, "timeout", ("VIEW_SCROLLED",))
    assert read_status({"protocolVersion": "one"}).protocol_version == 0


def test_status_framework_and_idle_come_from_the_phone(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench, tmp_path)
        status = await channel.client.status()
        assert status is not None
        assert (status.name, status.protocol_version, status.sdk_int) == ("agentest-helper", 1, 34)
        bench.phone.start_activity(package="com.handrail.composelab")
        framework = await channel.client.framework()
        assert (framework.package_name, framework.primary) == ("com.handrail.composelab", "compose")
        idle = await channel.wait_idle(5_000)
        assert (idle.idle, idle.reason) == (True, "events_quiet")
        await channel.close()

    play(story)


def test_a_look_is_the_active_window_and_the_same_bytes_give_the_same_screen(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench, tmp_path)
        bench.phone.start_activity(package=CONTACTS)
        screen = await channel.look()
        assert (screen.package, screen.width, screen.height) == (CONTACTS, 1080, 2400)
        assert await channel.look() is screen
        whole, compact = await channel.client.tree(), await channel.client.tree(compact=True)
        assert len(json.loads(compact)["tree"]["children"]) > 0
        assert len(compact) < len(whole)
        await channel.close()

    play(story)


def test_the_size_of_the_display_is_asked_for_when_only_a_dialog_is_in_the_tree(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench, tmp_path)
        bench.phone.start_activity(package="com.handrail.gallery")
        screen = await channel.look()
        assert screen.package == "com.android.permissioncontroller"
        assert screen.root.bounds.top > 0
        assert (screen.width, screen.height, screen.warnings) == (1080, 2400, [])
        await channel.close()

    play(story)


def test_input_arrives(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench, tmp_path)
        bench.phone.start_activity(package=CONTACTS)
        await channel.perform(fingers.tap(*await point(channel, "Create new contact")))
        screen = await channel.look()
        await channel.perform(
            fingers.tap(*next(node.center for node in screen.nodes if node.class_name.endswith("EditText")))
        )
        await channel.type_ascii("Ada; $HOME 'x'")
        await channel.key(67)
        assert any(node.text == "Ada; $HOME 'x" for node in (await channel.look()).nodes)
        await channel.perform(fingers.long_press(540, 900, 600))
        await channel.perform(fingers.swipe(540, 1500, 540, 900, 100))
        before = len(bench.touches())
        await channel.perform(fingers.double_tap(20, 1200))
        assert [one[0] for one in bench.touches()[before:]] == ["down", "up", "down", "up"]
        await channel.close()

    play(story)


def test_text_that_has_no_keys_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench, tmp_path)
        for text in ("Grüße", "two\nlines", "👋"):
            with pytest.raises(Unsupported) as caught:
                await channel.type_ascii(text)
            assert caught.value.details["delivery"] == "not_delivered"
        assert not bench.phone.input_log
        await channel.close()

    play(story)


def test_the_screenshot_is_a_png(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench, tmp_path)
        picture = Image.open(BytesIO(await channel.screenshot()))
        assert (picture.format, picture.size) == ("PNG", (1080, 2400))
        await channel.close()

    play(story)


def test_input_to_a_dying_helper_is_unknown_and_to_a_dead_one_not_delivered(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench, tmp_path)
        bench.phone.faults.add("helper_dies", times=1)
        for delivery in ("unknown", "not_delivered"):
            with pytest.raises(HandrailError) as caught:
                await channel.perform(fingers.tap(500, 500))
            assert caught.value.details["delivery"] == delivery
            await bench.until(lambda: not bench.phone.ports)
        await channel.close()

    play(story)


def test_the_second_half_of_a_double_tap_that_fails_is_never_called_undelivered(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench, tmp_path)
        bench.phone.faults.add("helper_dies", requests=1)
        with pytest.raises(HandrailError) as caught:
            await channel.perform(fingers.double_tap(500, 500))
        assert caught.value.details["delivery"] == "unknown"
        await channel.close()

    play(story)


def test_a_refusal_before_any_input_is_told_as_not_delivered(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        channel = await opened(bench, tmp_path)
        with pytest.raises(AdbCommandError) as caught:
            await channel.client.tap(None, 5)  # type: ignore[arg-type]
        assert caught.value.details["delivery"] == "not_delivered"
        assert "JSONException" in caught.value.message
        await channel.close()

    play(story)


class Pretender:
    """Something else on the helper's port."""

    def __init__(self, **status: Any) -> None:
        self.status = status
        self.asked = asyncio.Event()

    async def answer(self, request: Request) -> Response:
        self.asked.set()
        return json_response(self.status) if self.status else Response(b"<html>", 502)


def test_a_tree_that_the_helper_does_not_have_is_an_error_not_an_empty_screen() -> None:
    async def story(bench: Bench) -> None:
        told = {"ok": False, "code": "NO_ACTIVE_WINDOW", "error": "No active window"}
        async with listening(bench.phone.ports, "tcp:8765", Pretender(**told).answer):
            with pytest.raises(AdbCommandError, match="NO_ACTIVE_WINDOW"):
                await HelperClient(bench.device, bench.clock).tree()
        async with listening(bench.phone.ports, "tcp:8765", Pretender().answer):
            with pytest.raises(AdbCommandError, match="HTTP 502"):
                await HelperClient(bench.device, bench.clock).tree()

    play(story)


@each("base64", ["", "%%%", "R0lGODlh"])
def test_an_answer_without_a_picture_is_an_error(base64: str) -> None:
    async def story(bench: Bench) -> None:
        told = {"ok": True, "format": "png", "base64": base64}
        async with listening(bench.phone.ports, "tcp:8765", Pretender(**told).answer):
            with pytest.raises(AdbCommandError, match="could not take a screenshot"):
                await HelperClient(bench.device, bench.clock).screenshot()

    play(story)


def test_readiness_is_asked_for_again_and_again() -> None:
    async def story(bench: Bench) -> None:
        clock = ManualClock()
        waiting = asyncio.ensure_future(HelperClient(bench.device, clock).wait_for_ready(1_000_000))
        for early in (Pretender(), Pretender(ok=False)):
            async with listening(bench.phone.ports, "tcp:8765", early.answer):
                await clock_runs(clock, early.asked.is_set)
        ready = Pretender(ok=True, version="1.0.0", protocolVersion=1)
        async with listening(bench.phone.ports, "tcp:8765", ready.answer):
            await clock_runs(clock, waiting.done)
        assert (await waiting).version == "1.0.0"

    play(story)


async def clock_runs(clock: ManualClock, holds: Callable[[], bool]) -> None:
    """Until something holds; the client's time passes as fast as it likes."""
    async with asyncio.timeout(60):
        while not holds():
            await clock.advance(10)
            await asyncio.sleep(0)


def test_a_helper_of_another_protocol_is_refused_at_once() -> None:
    async def story(bench: Bench) -> None:
        other = Pretender(ok=True, version="9.0", protocolVersion=2)
        async with listening(bench.phone.ports, "tcp:8765", other.answer):
            with pytest.raises(Unsupported, match="speaks protocol 2, not 1"):
                await HelperClient(bench.device, bench.clock).wait_for_ready(60_000)
            status = await HelperClient(bench.device, bench.clock).wait_for_ready(60_000, 2)
            assert status.version == "9.0"

    play(story)


def test_nobody_on_the_port_is_no_status_and_in_the_end_a_timeout() -> None:
    async def story(bench: Bench) -> None:
        client = HelperClient(bench.device, bench.clock)
        assert await client.status() is None
        with pytest.raises(Timeout, match="not ready within 20 ms"):
            await client.wait_for_ready(20)

    play(story)
