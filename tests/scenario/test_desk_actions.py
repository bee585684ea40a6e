"""The desk's actions live like a phone's: permitted, applied, journalled, told to their caller."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from handrail import simulated_phone
from handrail.cli.local_client import LocalDesk
from handrail.cli.local_server import serve_local
from handrail.desk.desk import Desk
from handrail.engine.desk_runner import DESK
from handrail.errors import InvalidAction, Unsupported
from handrail.mcp_server.calls import McpState, ToolAnswer, answer_tool_call
from handrail.protocol.message import ComponentAction, UserMessage
from handrail.protocol.read import action_from
from handrail.safety.caller import Caller
from tests.scenario.world import World, play, until, usual_clock, world

ASYNC_RUNNER = play

ADA, BOB = Caller("ada", "agent", "mcp"), Caller("bob", "agent", "mcp")
PERSON = Caller("eve", "person", "cli")
BOUNDS = {"x": 10, "y": 10, "w": 400, "h": 300}


def window(name: str, text: str = "hello", **more: Any) -> dict[str, Any]:
    content = {"renderer": "text", "data": text}
    return {
        "type": "window.create",
        "windowId": name,
        "title": name,
        "bounds": BOUNDS,
        "content": content,
        **more,
    }


@asynccontextmanager
async def with_desk(home: Path, **given: Any) -> AsyncIterator[tuple[World, Desk]]:
    async with world(home, **given) as w:
        desk = await Desk.open(w.runtime.store, usual_clock())
        w.runtime.attach_desk(desk)
        try:
            yield w, desk
        finally:
            await desk.close()


async def test_an_action_of_the_desk_is_verified_and_in_the_journal_with_who_and_why(tmp_path: Path) -> None:
    async with with_desk(tmp_path) as (w, desk):
        envelope = await w.runtime.desk_session().run(window("a"), reason="I show it", caller=ADA)
        assert (envelope.success, envelope.lifecycle_state) == (True, "verified")
        assert envelope.device is None
        assert "monitor-0/a" in desk.snapshot()["windows"]
        first, *_, last = [event for event in w.events() if event.get("device") == DESK]
        assert first["action"]["windowId"] == "a"
        assert (first["reason"], first["actor"]) == ("I show it", {"kind": "agent", "id": "ada"})
        assert last["terminal"]
        assert last["envelope"]["success"]


async def test_what_the_desk_refuses_is_an_envelope_and_nothing_changed(tmp_path: Path) -> None:
    async with with_desk(tmp_path) as (w, desk):
        session = w.runtime.desk_session()
        await session.run(window("a"), caller=ADA)
        before = desk.snapshot()
        again = await session.run(window("a"), caller=ADA)
        assert (again.success, again.failure_code, again.delivery) == (
            False,
            "INVALID_ACTION",
            "not_delivered",
        )
        both = await session.run_all([window("b"), window("a")], caller=ADA)
        assert [one.failure_code for one in both] == ["INVALID_ACTION", "INVALID_ACTION"]
        assert desk.snapshot() == before


async def test_another_agent_can_not_write_into_a_locked_window(tmp_path: Path) -> None:
    async with with_desk(tmp_path) as (w, _):
        session = w.runtime.desk_session()
        await session.run(window("a"), caller=ADA)
        await session.run({"type": "window.lock", "windowId": "a", "agentId": "ada"}, caller=ADA)
        change = {"type": "window.setTitle", "windowId": "a", "title": "mine"}
        refused = await session.run(change, caller=BOB)
        assert refused.failure_code == "ACTION_REJECTED"
        assert "ada" in (refused.message or "")
        assert (await session.run(change, caller=ADA)).success


async def test_policy_is_asked_before_the_desk(tmp_path: Path) -> None:
    rules = '[[rule]]\nname = "no windows"\naction = "window.create"\nverdict = "deny"\n'
    asks = '[[rule]]\nname = "ask"\naction = "toast.show"\nverdict = "ask"\n'
    toast = {"type": "toast.show", "id": "t", "message": "hi"}
    async with with_desk(tmp_path, policy=rules + asks) as (w, desk):
        session = w.runtime.desk_session()
        assert (await session.run(window("a"), caller=ADA)).failure_code == "ACTION_REJECTED"
        asking = asyncio.create_task(session.run(toast, caller=ADA))
        [question] = await until(w.runtime.approvals.pending)
        assert not desk.snapshot()["toasts"]
        await w.runtime.approvals.answer(question.id, True, "eve")
        envelope = await asking
        assert envelope.success
        assert envelope.approval is not None
        assert [one["id"] for one in desk.snapshot()["toasts"]] == ["t"]


async def test_a_caller_that_goes_away_takes_its_question_with_it(tmp_path: Path) -> None:
    question = {"type": "dialog.confirm", "id": "d", "title": "Sure?", "message": "Really?"}
    async with with_desk(tmp_path) as (w, desk):
        asking = asyncio.create_task(w.runtime.desk_session().run(question, caller=ADA))

        async def is_shown() -> bool:
            return bool(desk.snapshot()["dialogs"])

        await until(is_shown)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert not desk.snapshot()["dialogs"]
        assert w.events()[-1]["envelope"]["failure_code"] == "CANCELLED"


async def test_a_phones_action_is_none_of_the_desks(tmp_path: Path) -> None:
    async with with_desk(tmp_path) as (w, _):
        with pytest.raises(InvalidAction, match="not an action of the desk"):
            await w.runtime.desk_session().run({"type": "tap", "target": "Save"}, caller=ADA)
        with pytest.raises(Unsupported, match="expect"):
            await w.runtime.desk_session().run(window("a", expect="Save"), caller=ADA)


async def test_another_process_of_the_home_reaches_the_desk_by_its_socket(tmp_path: Path) -> None:
    async with with_desk(tmp_path) as (w, desk):
        remote = LocalDesk(tmp_path, ADA)
        with pytest.raises(Unsupported, match="no desk"):
            await remote.run(window("a"))
        async with serve_local(w.runtime, "desk"):
            assert (await remote.run(window("a"), reason="I show it")).success
            assert (await remote.state())["windows"].keys() == desk.snapshot()["windows"].keys()
            refused = await remote.run(window("a"))
            assert refused.failure_code == "INVALID_ACTION"
            assert await remote.heard("ada", 0) == []
            with pytest.raises(InvalidAction):
                await remote.run({"type": "tap", "target": "Save"})
            await desk.apply(
                action_from({"type": "window.lock", "windowId": "a", "agentId": "ada"}), "ada", False
            )
            await remote.left("ada")
            assert desk.snapshot()["windows"]["monitor-0/a"]["lockedBy"] is None
        accepted = [event for event in w.events() if event["kind"] == "accepted"]
        assert [event["actor"]["id"] for event in accepted] == ["ada", "ada"]


async def test_an_agent_can_not_pose_as_somebody_of_the_desk(tmp_path: Path) -> None:
    async with with_desk(tmp_path) as (w, desk):
        session = w.runtime.desk_session()
        await session.run(window("a"), caller=Caller("console", "agent", "mcp"))
        assert desk.snapshot()["windows"]["monitor-0/a"]["agentId"] == "agent console"
        client = desk.join("browser", None)
        await desk.interact(client, UserMessage(message_id="m", content="hello"))
        assert await session.heard("console", 0) == []
        assert desk.inbox("console").take()
        client.close()


async def test_a_phones_session_reaches_the_desk_under_the_same_rules(tmp_path: Path) -> None:
    """A step of a flow may be an OS action; it goes the same way as one that came by itself."""
    async with with_desk(tmp_path) as (w, desk), simulated_phone(seed=2) as other:
        session = await w.runtime.session(other)
        done = await session.run(window("a"), caller=Caller("person", "agent", "flow"))
        assert done.success, done.message
        assert desk.snapshot()["windows"]["monitor-0/a"]["agentId"] == "agent person"


# the `desk` tool


async def ask(state: McpState, **arguments: Any) -> ToolAnswer:
    return await answer_tool_call(state, "desk", arguments, caller=ADA)


async def test_the_tool_takes_one_action_or_several_and_tells_what_people_did(tmp_path: Path) -> None:
    async with with_desk(tmp_path) as (w, desk):
        state = McpState(w.runtime, "desk")
        button = {"type": "button", "label": "Go", "action": "go"}
        form = {"renderer": "component", "data": {"components": [button]}}
        made = await ask(state, type="window.create", fields=window("a", content=form), reason="I ask")
        assert not made.is_error, made.text
        two = [window("b"), {"type": "toast.show", "id": "t", "message": "hi"}]
        assert not (await ask(state, actions=two, reason="I show two")).is_error
        assert len(desk.snapshot()["windows"]) == 2
        nothing = await ask(state, type="events")
        assert nothing.text == "No one did anything."
        client = desk.join("browser", None)
        await desk.interact(client, ComponentAction(window_id="a", action="go"))
        told = await ask(state, type="events", fields={"timeoutMs": 1000})
        assert '"go"' in told.text
        assert (await ask(state, type="events")).text == "No one did anything."
        client.close()


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"type": "tap"}, "type"),
        ({"type": "window.close", "fields": 3}, "fields"),
        ({"actions": []}, "actions"),
        ({"actions": [{"type": "window.close"}]}, "actions[0]"),
        ({"type": "events", "fields": {"timeoutMs": -1}}, "fields.timeoutMs"),
        ({"type": "window.close", "fields": {"windowId": "nope"}}, "windowId"),
    ],
)
async def test_bad_arguments_are_told_with_their_path(
    tmp_path: Path, arguments: dict[str, Any], path: str
) -> None:
    async with with_desk(tmp_path) as (w, _):
        answer = await ask(McpState(w.runtime, "desk"), reason="I try it", **arguments)
        assert answer.is_error
        assert path in f"{answer.text} {answer.structured}"
