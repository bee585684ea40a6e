"""What a person does by hand on a phone that they took over is theirs: not asked, journalled, nobody else's.

Everything is checked on the phone: how often a finger came down on the button that pays.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mcp.client.client import Client
from websockets.asyncio.client import ClientConnection

from handrail.cli.local_client import LocalConnection
from handrail.cli.local_server import serve_local
from handrail.mcp_server.calls import McpState
from handrail.mcp_server.server import build_mcp_server
from handrail.safety.caller import Caller
from handrail.safety.leases import Holder
from tests.scenario.people import PAY_RULE, asked, at_checkout
from tests.scenario.world import World, play_live, until, world
from tests.unit.web_server.door import KEY, TOKEN, Door, door

ASYNC_RUNNER = play_live

PAY = {"type": "tap", "target": {"id": "pay"}}
DENY_RULE = PAY_RULE.replace('"ask"', '"deny"').replace('remember = "always"', "")


@asynccontextmanager
async def checkout(home: Path, policy: str = PAY_RULE) -> AsyncIterator[tuple[World, Door]]:
    """The shop at its checkout, behind a whole door."""
    env = {"HANDRAIL_ADB": str(home / "no-adb"), "ANDROID_ADB_SERVER_PORT": "15797"}
    async with (
        world(home, env=env, policy=policy, caller=Caller("shopper", "agent", "mcp")) as w,
        door(home, runtime=w.runtime) as served,
    ):
        await at_checkout(w)
        yield w, served


def paid(w: World) -> int:
    """Fingers that came down."""
    return sum(one.get("action") == "down" for one in w.inputs())


async def say(socket: ClientConnection, w: World, **fields: Any) -> None:
    await socket.send(json.dumps({"type": "PHONE_INPUT", "device": w.serial, **fields}))


async def drag_on_pay(w: World) -> dict[str, Any]:
    """As the page sends a drag that starts on the button."""
    found = await w.session.expect_visible({"id": "pay"})
    assert found.success
    node = next(one for one in w.session.screens.registry.screen.nodes if one.resource_id.endswith("pay"))
    x, y = node.bounds.center
    return {"type": "swipe", "from": {"x": x, "y": y}, "to": {"x": x, "y": y - 400}, "duration_ms": 300}


async def ends(w: World, count: int = 1) -> list[Any]:
    """So many actions of the desk have ended."""

    def found() -> list[Any]:
        rows = [
            one for one in w.runtime.journal.actions() if one.door == "desk" and one.state != "unfinished"
        ]
        return rows if len(rows) >= count else []

    rows: list[Any] = await until(found)
    return rows


@pytest.mark.parametrize("gesture", ["tap", "drag"])
async def test_during_take_over_a_persons_own_drag_on_pay_asks_nobody(tmp_path: Path, gesture: str) -> None:
    async with checkout(tmp_path) as (w, served), await served.person() as socket:
        action = await drag_on_pay(w) if gesture == "drag" else PAY
        touched = paid(w)
        await say(socket, w, control="take")
        await say(socket, w, action=action)
        [row] = await ends(w)
        assert paid(w) == touched + 1
        assert row.actor["kind"] == "person"
        assert await w.runtime.approvals.history(5) == []
        [noted] = served.events_of("by_hand")
        assert (noted["actor"]["kind"], noted["why"]) == ("person", "it costs money")
        assert noted["action_id"] == row.action_id
        assert w.runtime.journal.verify().ok


async def test_an_explicit_deny_still_stands_for_the_persons_own_hand(tmp_path: Path) -> None:
    async with checkout(tmp_path, DENY_RULE) as (w, served), await served.person() as socket:
        touched = paid(w)
        await say(socket, w, control="take")
        await say(socket, w, action=PAY)
        [row] = await ends(w)
        assert (row.state, row.failure_code) == ("failed", "ACTION_REJECTED")
        assert paid(w) == touched


async def test_what_is_no_finger_and_no_key_is_asked_about_also_by_hand(tmp_path: Path) -> None:
    async with checkout(tmp_path) as (w, served), await served.person() as socket:
        await say(socket, w, control="take")
        await say(socket, w, action={"type": "shell", "command": "id"})
        [question] = await asked(w)
        await w.runtime.approvals.answer(question.id, False, "lena")
        await ends(w)


async def by_bearer(w: World, served: Door) -> None:
    await served.act({**PAY, "device": w.serial})


async def by_bearer_with_the_owners_key(w: World, served: Door) -> None:
    await served.act({**PAY, "device": w.serial}, token=KEY)


async def by_a_programs_socket(w: World, served: Door) -> None:
    async with served.socket() as socket:
        await say(socket, w, action=PAY)
        await _error(socket)


async def by_a_socket_with_the_owners_key(w: World, served: Door) -> None:
    async with served.socket(Authorization=f"Bearer {KEY}") as socket:
        await say(socket, w, action=PAY)
        await asyncio.Event().wait()


async def by_another_page_of_the_same_person(w: World, served: Door) -> None:
    async with await served.person() as socket:
        await say(socket, w, action=PAY)
        await asyncio.Event().wait()


async def by_mcp(w: World, served: Door) -> None:
    async with Client(build_mcp_server(McpState(w.runtime, device=w.serial))) as agent:
        await agent.call_tool("tap", {"target": {"id": "pay"}, "reason": "I pay"})


async def by_the_command_socket(w: World, served: Door) -> None:
    """It says of itself what it likes: the person's name, and that it has no terminal."""
    held = await w.runtime.leases.holder(w.serial)
    assert held
    async with serve_local(w.runtime):
        for terminal in (None, 1):
            socket = await LocalConnection.open(w.home)
            assert socket
            told = {
                "id": held.holder.label,
                "terminal": terminal,
                "kind": "person",
                "door": "desk",
                "page": "x",
            }
            try:
                await socket.act(PAY, device=w.serial, caller=told, on_question=_nobody_answers)
            finally:
                await socket.close()


async def _nobody_answers(_: str) -> None: ...


async def by_somebody_who_calls_themselves_the_person(w: World, served: Door) -> None:
    held = await w.runtime.leases.holder(w.serial)
    assert held
    await w.session.run(PAY, caller=Caller(held.holder.label, "person", "desk", page="a guess"))


async def by_a_hold_of_somebodys_own(w: World, served: Door) -> None:
    """A lease on another phone proves nothing on this one."""
    person = Caller("lena", "person", "desk")
    lease = await w.runtime.leases.take_over("another:5555", Holder(person.holder_id, "person"))
    await w.session.run(PAY, caller=person, hand=lease)


async def _error(socket: ClientConnection) -> None:
    while json.loads(await socket.recv()).get("type") != "ERROR":
        pass


ATTACKS = [
    by_bearer, by_bearer_with_the_owners_key, by_a_programs_socket, by_a_socket_with_the_owners_key,
    by_another_page_of_the_same_person, by_mcp, by_the_command_socket,
    by_somebody_who_calls_themselves_the_person, by_a_hold_of_somebodys_own,
]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda one: one.__name__)
async def test_nobody_else_is_a_hand_while_a_person_has_the_phone(tmp_path: Path, attack: Any) -> None:
    async with checkout(tmp_path) as (w, served), await served.person() as socket:
        await say(socket, w, control="take")
        await until(lambda: w.runtime.leases.holder(w.serial))
        await until(lambda: [one for one in w.events() if one["kind"] == "taken_over"])
        touched = paid(w)
        trying = asyncio.create_task(attack(w, served))
        stopped = asyncio.create_task(_refused_or_waiting(w))
        await asyncio.wait({trying, stopped}, return_when=asyncio.FIRST_COMPLETED)
        assert paid(w) == touched
        assert served.events_of("by_hand") == []
        for task in (trying, stopped):
            task.cancel()
        await asyncio.wait({trying, stopped})


async def _refused_or_waiting(w: World) -> None:
    """A question waits, somebody is in line, or an act has failed."""

    async def found() -> Any:
        failed = [one for one in w.runtime.journal.actions() if one.state == "failed"]
        return failed or await w.runtime.approvals.pending() or await w.runtime.hold_queue.line(w.serial)

    await until(found)


async def test_a_touch_that_comes_after_the_hand_back_is_no_hand_any_more(tmp_path: Path) -> None:
    async with checkout(tmp_path) as (w, served):
        page = await served.page()
        path = f"/api/phone/{quote(w.serial)}"
        await _post(served, f"{path}/take", page)
        person = Caller("lena", "person", "desk")
        hands = served.context.phones.control
        lease = hands._taken[next(iter(hands._taken))].lease
        owner = Caller(lease.held.holder.label, "person", "desk")
        await _post(served, f"{path}/hand-back", page)
        touched = paid(w)
        late = asyncio.create_task(w.session.run(PAY, caller=owner, hand=lease))
        await asked(w)
        assert paid(w) == touched
        late.cancel()
        await asyncio.wait({late})
        assert person.holder_id != "lena"  # no terminal, and no program that calls itself so, is the same


async def _post(served: Door, path: str, page: dict[str, str]) -> None:
    answer = await served.ask("POST", path, {**page, "Content-Type": "application/json"}, b"{}")
    assert answer.status == 200, answer.body


async def test_a_program_can_not_take_the_phone_over(tmp_path: Path) -> None:
    async with checkout(tmp_path) as (w, served):
        refused = await served.send("POST", f"/api/phone/{quote(w.serial)}/take", {}, token=TOKEN)
        assert refused.json["code"] == "ACTION_REJECTED"
