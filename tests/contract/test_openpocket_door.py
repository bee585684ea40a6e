"""Seed 000 at the MCP door: what each of the ten actions does to the phone, judged by its own log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.scenario.people import allow_scripts
from tests.scenario.test_mcp_answers import CONTACTS, Door, door
from tests.scenario.world import FastClock, play

ASYNC_RUNNER = play
WHY = "I try it"


def fingers(ask: Door) -> list[tuple[str, int, int]]:
    wanted = ("down", "up")
    return [(one["action"], one["x"], one["y"]) for one in ask.world.inputs() if one["action"] in wanted]


async def done(ask: Door, name: str, **arguments: Any) -> str:
    answer = await ask(name, reason=WHY, **arguments)
    assert not answer.is_error, answer.text
    return answer.text


async def test_a_tap_and_a_swipe_are_where_and_as_long_as_they_say(tmp_path: Path) -> None:
    async with door(tmp_path, "openpocket") as ask:
        await ask.world.open(CONTACTS)
        await done(ask, "swipe", x1=540, y1=1800, x2=540, y2=900, durationMs=700)
        moved = [one for one in ask.world.inputs() if one["action"] in ("down", "move", "up")]
        first, last = moved[0], moved[-1]
        assert (first["x"], first["y"], last["x"], last["y"]) == (540, 1800, 540, 900)
        assert 600 <= last["ms"] - first["ms"] <= 800
        await done(ask, "tap", x=540, y=1200)
        assert fingers(ask)[-2:] == [("down", 540, 1200), ("up", 540, 1200)]


async def test_text_is_typed_also_where_it_is_not_ascii(tmp_path: Path) -> None:
    async with door(tmp_path, "openpocket", clock=FastClock(10), helper="u2") as ask:
        await ask.world.open(CONTACTS)
        await ask.world.session.tap("Create new contact")
        for field, text in (("First name", "Ada"), ("Last name", "Žoë 李")):
            await ask.world.session.tap(field)
            await done(ask, "type", text=text)
            assert (await ask.world.session.expect_visible({"text": text})).success


async def test_a_key_event_is_pressed_by_name_and_by_number(tmp_path: Path) -> None:
    async with door(tmp_path, "openpocket") as ask:
        await ask.world.open(CONTACTS)
        await ask("keyevent", keycode="KEYCODE_BACK", reason=WHY)
        await ask("keyevent", keycode="3", reason=WHY)
        assert [one["code"] for one in ask.world.inputs() if one["action"] == "key"] == [4, 3]


async def test_a_wait_sleeps_and_a_finish_ends_with_its_message(tmp_path: Path) -> None:
    async with door(tmp_path, "openpocket") as ask:
        before_ms = ask.world.runtime.clock.monotonic_ms()
        await done(ask, "wait", durationMs=1500)
        assert ask.world.runtime.clock.monotonic_ms() - before_ms >= 1500
        assert ask.world.inputs() == []
        assert "All saved." in (await ask("finish", message="All saved.")).text


async def test_commands_run_on_the_phone_and_scripts_beside_it_where_a_rule_allows_them(
    tmp_path: Path,
) -> None:
    script = "echo from the script"
    shell = '[[rule]]\nname = "shell"\naction = "shell"\nverdict = "VERDICT"\n'
    allowed = shell.replace("VERDICT", "allow") + allow_scripts(script)
    async with door(tmp_path, "openpocket", policy=allowed) as ask:
        assert "1080x2400" in await done(ask, "shell", command="wm size")
        assert "from the script" in await done(ask, "run_script", script=script)
    async with door(tmp_path / "strict", "openpocket", policy=shell.replace("VERDICT", "deny")) as ask:
        assert (await ask("shell", command="wm size", reason=WHY)).is_error, "a rule stands above the seed"


async def test_a_snapshot_says_when_and_of_which_device(tmp_path: Path) -> None:
    async with door(tmp_path, "openpocket") as ask:
        told = json.loads((await ask("screen_snapshot")).text.partition("\n")[0])
        assert told["deviceId"] == ask.world.serial
        assert told["capturedAt"].endswith("Z")
