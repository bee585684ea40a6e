"""What a model reads: the stories of a caller through the door, without any transport."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from handrail.mcp_server.calls import FRAME, MEANWHILE, McpState, ToolAnswer, answer_tool_call
from handrail.safety.caller import Caller
from tests.scenario.world import World, play, world

ASYNC_RUNNER = play

CONTACTS = "com.google.android.contacts"
ADA = Caller("ada", "agent", "mcp")
BOB = Caller("bob", "agent", "mcp")


@dataclass
class Door:
    """A world, and the door to it."""

    world: World
    state: McpState

    async def __call__(self, name: str, caller: Caller = ADA, **arguments: Any) -> ToolAnswer:
        return await answer_tool_call(self.state, name, arguments, caller=caller)

    async def act(self, name: str, caller: Caller = ADA, **arguments: Any) -> ToolAnswer:
        return await self(name, caller, reason="I try it", **arguments)

    async def good(self, name: str, caller: Caller = ADA, **arguments: Any) -> str:
        answer = await self.act(name, caller, **arguments)
        assert not answer.is_error, answer.text
        return answer.text


@asynccontextmanager
async def door(home: Path, profile: str = "core", **given: Any) -> AsyncIterator[Door]:
    async with world(home, **given) as made:
        state = McpState(made.runtime, profile, flows=home / "flows")
        state.use_session(made.session)
        yield Door(made, state)


@pytest.fixture
def ask(tmp_path: Path) -> AbstractAsyncContextManager[Door]:
    return door(tmp_path)


async def test_the_first_answer_shows_the_screen_and_the_next_one_only_what_changed(ask: Door) -> None:
    await ask.world.open(CONTACTS)
    await ask.world.session.tap("Create new contact")
    first = await ask.good("type_text", text="Ada", target="First name")
    assert "Save" in first
    assert "screen 1080x2400" in first
    second = await ask.good("type_text", text="Lovelace", target="Last name")
    assert "screen 1080x2400" not in second
    assert 'text="Last name" -> text="Lovelace"' in second


async def test_the_devices_words_stand_behind_the_line_that_says_whose_they_are(ask: Door) -> None:
    ours, _, data = (await ask.good("start_app", package=CONTACTS)).partition(FRAME)
    assert ours == f"Started {CONTACTS}.\n"
    assert "Alba Thornquill" in data
    tree = await ask("get_ui_tree")
    assert tree.text.startswith(FRAME)
    checked = await ask("expect", visible="Create new contact")
    assert FRAME not in checked.text
    idle = await ask("what_changed")
    assert idle.text == "No change on screen."


async def test_elements_in_a_diff_go_by_their_refs_and_without_bounds(ask: Door) -> None:
    await ask.good("start_app", package=CONTACTS)
    await ask.good("tap", target="Create new contact")
    text = await ask.good("tap", target="Save")
    assert 'TextView "Name is required"' in text.splitlines()
    assert "][" not in text
    typed = await ask.good("type_text", text="Ada", target="@f1")
    line = next(line for line in typed.splitlines() if 'text="First name" -> text="Ada"' in line)
    assert line.startswith("@f1 EditText")
    assert "][" not in typed


async def test_what_another_caller_did_meanwhile_is_told_before_the_own_change(ask: Door) -> None:
    await ask.good("start_app", package=CONTACTS)
    await ask.good("tap", target="Create new contact")
    assert "screen 1080x2400" in await ask.good("type_text", BOB, text="Bob", target="First name")
    text = await ask.good("type_text", text="Lovelace", target="Last name")
    missed, own = text.partition(MEANWHILE)[2].split("Elements changed:")[1:]
    assert '-> text="Bob"' in missed
    assert '-> text="Lovelace"' in own
    since = await ask("what_changed", BOB)
    assert '-> text="Lovelace"' in since.text
    assert (await ask("what_changed", BOB)).text == "No change on screen."


async def test_a_part_of_the_screen_is_not_the_screen(ask: Door) -> None:
    await ask.world.open(CONTACTS)
    await ask.world.session.tap("Create new contact")
    part = await ask("get_ui_tree", find="Save")
    assert "First name" not in part.text
    assert "Company" in await ask.good("type_text", text="Ada", target="First name")


async def test_a_failure_says_code_what_to_do_and_who_else_it_could_be(ask: Door) -> None:
    await ask.good("start_app", package=CONTACTS)
    answer = await ask.act("tap", target="Create new contac")
    assert answer.is_error
    code, hint, delivered, *_ = answer.text.splitlines()
    assert code == 'ELEMENT_NOT_FOUND: No element matches "Create new contac"'
    assert hint.startswith("Did you mean @")
    assert '"Create new contact"' in hint
    assert delivered == "Nothing was delivered."
    assert answer.envelope.failure_code == "ELEMENT_NOT_FOUND"


async def test_bad_arguments_are_an_answer_with_every_problem_and_what_was_meant(ask: Door) -> None:
    answer = await ask("tap", taget="Save")
    assert answer.is_error
    assert answer.envelope is None
    assert "target: is required" in answer.text
    assert "taget: is not a field of tap; did you mean target?" in answer.text
    assert answer.text.splitlines()[-2:] == ["tap takes: target, expect, reason.", "Nothing was delivered."]
    assert answer.structured["code"] == "INVALID_ACTION"
    assert ask.world.inputs() == []
    silent = await ask("tap", target="Save")
    assert silent.text.startswith("INVALID_ACTION: reason: is required")
    assert (await answer_tool_call(ask.state, "tap", [1], caller=ADA)).text.startswith(
        "INVALID_ACTION: arguments"
    )


async def test_a_tool_of_another_profile_is_not_there_and_says_where_it_is(ask: Door) -> None:
    answer = await ask.act("shell", command="ls")
    assert answer.is_error
    assert "--tools debug" in answer.text
    assert "start_app" in (await ask.act("launch_app", package=CONTACTS)).text


async def test_whatever_breaks_inside_is_an_answer_too_and_its_traceback_is_logged(
    ask: Door, caplog: pytest.LogCaptureFixture
) -> None:
    ask.state.runtime.devices = None  # type: ignore[assignment,method-assign]
    with caplog.at_level(logging.ERROR, "handrail.mcp_server"):
        answer = await ask("devices")
    assert answer.is_error
    assert answer.text.startswith("UNKNOWN: devices failed with TypeError")
    assert caplog.records[0].exc_info


async def test_a_picture_is_an_image_as_small_as_models_use_it(ask: Door) -> None:
    answer = await ask("screenshot")
    assert len(answer.images) == 1
    assert "coordinates are the screen's" in answer.text
    assert "screenshotBase64" not in answer.structured["details"]


async def test_connect_chooses_the_device_and_shows_its_screen(ask: Door) -> None:
    ask.state.device = None
    answer = await ask("connect", device=ask.world.serial)
    assert answer.text.startswith(f"Connected to {ask.world.serial}: ")
    assert "@l1 " in answer.text
    assert "screen 1080x2400" not in await ask.good("tap", target="1,1")
    assert ask.world.serial in (await ask("devices")).text
    assert (await ask("connect", device="127.0.0.1:1")).is_error


async def test_the_desk_is_one_tool_and_refuses_where_there_is_none(tmp_path: Path) -> None:
    async with door(tmp_path, "desk") as ask:
        answer = await ask.act("desk", type="window.close", fields={"windowId": "w"})
        assert answer.text.startswith("UNSUPPORTED")
        assert (await ask.act("desk", type="tap", fields={"target": "x"})).text.startswith("INVALID_ACTION")
        assert (await ask("desk", type="window.close", windowId="w")).text.startswith(
            "INVALID_ACTION: reason"
        )


async def test_a_flow_of_steps_answers_in_one_line_and_the_screen(tmp_path: Path) -> None:
    steps = [{"tap": "Create new contact"}, {"type_text": {"text": "Ada", "target": "First name"}}]
    async with door(tmp_path) as ask:
        await ask.good("start_app", package=CONTACTS)
        text = await ask.good("run_flow", steps=steps)
        assert text.startswith("All 2 steps passed.\n")
        assert "@f1 " in text
        reasons = [event.get("reason") or "" for event in ask.world.events()]
        assert any(reason.startswith("I try it") for reason in reasons)
        again = await ask.act("run_flow", steps=[{"tap": {"target": "Nope"}}, {"press_key": "back"}])
        assert again.is_error
        head, hint = again.text.splitlines()[:2]
        assert head.startswith("ELEMENT_NOT_FOUND: Step 1 (tap Nope) failed")
        assert head.endswith("(0 of 2 steps done)")
        assert "get_ui_tree" in hint
        assert "screen 1080x2400" not in again.text  # it has just been shown


async def test_a_flow_file_is_one_of_the_folders_and_nothing_else(tmp_path: Path) -> None:
    flows = tmp_path / "flows"
    flows.mkdir()
    (flows / "open.yaml").write_text(f"name: open\nsteps:\n  - start_app: {CONTACTS}\n")
    (tmp_path / "secret.yaml").write_text("name: s\nsteps:\n  - press_key: home\n")
    async with door(tmp_path) as ask:
        assert (await ask.good("run_flow", file="open")).startswith("All 1 steps passed.")
        assert (await ask.good("run_flow", file="open.yaml")).startswith("All 1 steps passed.")
        for name in ("../secret.yaml", str(tmp_path / "secret.yaml"), "opn", 7):
            answer = await ask.act("run_flow", file=name)
            assert answer.text.startswith("INVALID_ACTION: file:"), answer.text
        empty = await ask.act("run_flow", file="")  # as strict clients leave a field out
        assert empty.text.startswith("INVALID_ACTION: run_flow: needs either steps or file"), empty.text
        both = await ask.act("run_flow", file="open", steps=[{"press_key": "home"}])
        assert both.is_error
        nested = {"repeat": {"times": 1, "steps": [{"run_flow": str(tmp_path / "secret.yaml")}]}}
        outside = await ask.act("run_flow", steps=[nested])
        assert outside.text.startswith("INVALID_ACTION: steps: may not run files"), outside.text
        stray = await ask.act("run_flow", fle="open")
        assert "Did you mean file?" in stray.text
        wrong = await ask.act("run_flow", steps=[{"tapp": "Save"}])
        assert wrong.text.startswith("INVALID_ACTION")
        assert "tap" in wrong.text


async def test_a_caller_is_forgotten_only_when_a_thousand_others_came(ask: Door) -> None:
    ask.state.of(ADA).device = "S"
    for number in range(999):
        ask.state.of(replace(BOB, id=f"bob {number}"))
    assert ask.state.of(ADA).device == "S"
    for number in range(1000, 2000):
        ask.state.of(replace(BOB, id=f"bob {number}"))
    assert ask.state.of(ADA).device is None


async def test_no_answer_tells_a_secret_that_the_screen_shows(tmp_path: Path) -> None:
    value = "Byron-1815-Ockham"
    typing = {"type_text": {"text": "${secret:MAIDEN}", "target": "First name"}}
    async with door(tmp_path, env={"HANDRAIL_SECRET_MAIDEN": value}) as ask:
        await ask.good("start_app", package=CONTACTS)
        answers = [
            await ask.act("run_flow", steps=[{"tap": "Create new contact"}, typing]),
            await ask("get_ui_tree"),
            await ask.act("type_text", text="Lovelace", target="Last name"),
            await ask.act("run_flow", steps=[{"tap": "Nope"}]),
            await ask("what_changed", BOB),
        ]
        assert ask.world.phone.dump().count(value), "the screen shows it"
        for answer in answers:
            assert value not in answer.text
            assert value not in str(answer.structured)
            assert value not in str(answer.envelope)
