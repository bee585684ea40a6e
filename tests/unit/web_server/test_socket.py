"""The desk's WebSocket: joining, missing nothing, being told what was wrong; and what is done elsewhere."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from handrail.clock import SystemClock
from handrail.journal import Journal
from handrail.protocol.message import SERVER_MESSAGE
from handrail.safety.caller import Caller
from handrail.web_server.websocket import slim_envelope
from tests.scenario.world import until, world
from tests.unit.web_server.door import WINDOW, Door, door, frame_of

FOCUS = {"type": "window.focus", "windowId": "report"}


async def test_whoever_joins_sees_all_and_whoever_comes_back_what_was_missed(served: Door) -> None:
    async with await served.person() as socket:
        first = await frame_of(socket, "SNAPSHOT")
        assert first["state"]["windows"] == {}
    await served.act(WINDOW)
    async with await served.person(f"?since={first['seq']}") as socket:
        missed = json.loads(await socket.recv())
        assert missed["seq"] == first["seq"] + 1
    async with await served.person() as socket:
        await socket.send(json.dumps({"type": "HELLO", "clientId": "b", "since": first["seq"]}))
        frames = [await frame_of(socket, "ACTIONS"), await frame_of(socket, "ENVELOPE")]
        assert "monitor-0/report" in frames[0]["changes"]["windows"]
    async with await served.person("?since=999999999") as socket:
        assert "monitor-0/report" in (await frame_of(socket, "SNAPSHOT"))["state"]["windows"]


async def test_what_a_person_does_is_seen_by_the_others_and_is_theirs(tmp_path: Path) -> None:
    async with door(tmp_path) as served, await served.person() as one, await served.person() as two:
        await served.act(WINDOW)
        move = {"type": "window.move", "windowId": "report", "x": 77, "y": 88}
        await one.send(json.dumps({"type": "USER_INTERACTION", "interactions": [move]}))
        while True:
            frame = await frame_of(two, "ACTIONS")
            if frame["actions"] and frame["actions"][-1]["type"] == "window.move":
                break
        bounds = frame["changes"]["windows"]["monitor-0/report"]["bounds"]
        assert (bounds["x"], bounds["y"]) == (77, 88)


async def test_what_can_not_be_done_is_told_and_does_not_count_as_a_bad_frame(tmp_path: Path) -> None:
    async with door(tmp_path) as served, await served.person() as socket:
        lost = {"type": "USER_INTERACTION", "interactions": [FOCUS]}
        for _ in range(15):
            await socket.send(json.dumps(lost))
            error = await frame_of(socket, "ERROR")
            assert error["path"].endswith("windowId")
            assert "report" in error["message"]


async def test_every_frame_keeps_its_schema(tmp_path: Path) -> None:
    schema: TypeAdapter[Any] = SERVER_MESSAGE
    async with door(tmp_path) as served, await served.person() as socket:
        await served.act(WINDOW | {"reason": "I show it"}, agent="writer")
        await socket.send("{}")
        kinds = set()
        while kinds != {"SNAPSHOT", "ACTIONS", "ENVELOPE", "ERROR"}:
            frame = json.loads(await socket.recv())
            schema.validate_python(frame)
            kinds.add(frame["type"])


async def test_an_actions_life_on_a_phone_is_told_with_who_and_what(tmp_path: Path) -> None:
    async with (
        world(tmp_path, env={"HANDRAIL_ADB": str(tmp_path / "no-adb")}) as here,
        door(tmp_path, runtime=here.runtime) as served,
        await served.person() as socket,
    ):
        await served.act({"type": "get_state", "reason": "I look"}, agent="reader")
        states = []
        while not states or states[-1] != "verified":
            frame = await frame_of(socket, "ENVELOPE")
            assert (frame["actionType"], frame["device"]) == ("get_state", here.serial)
            assert frame["actor"] == {"kind": "agent", "id": "reader"}
            states.append(frame["lifecycleState"])
        assert states[0] == "accepted"
        assert frame["envelope"]["success"] is True
        [device] = (await served.get("/api/devices")).json["devices"]
        assert (device["serial"], device["open"]) == (here.serial, True)


async def test_of_an_action_on_the_desk_only_the_end_is_told(tmp_path: Path) -> None:
    async with door(tmp_path) as served, await served.person() as socket:
        await frame_of(socket, "SNAPSHOT")
        for turn in range(3):
            await served.act(WINDOW | {"windowId": f"w{turn}"}, agent="writer")
            frame = await frame_of(socket, "ENVELOPE")
            assert frame["lifecycleState"] == "verified"
            assert frame["actor"] == {"kind": "agent", "id": "writer"}


async def test_what_another_process_does_is_told_from_the_journal_once(tmp_path: Path) -> None:
    async with door(tmp_path) as served, await served.person() as socket:
        await frame_of(socket, "SNAPSHOT")
        journal = Journal.open(tmp_path, SystemClock())
        await journal.seal(_entry("accepted", "tap_1_1", action={"type": "tap"}))
        frame = await frame_of(socket, "ENVELOPE")
        assert (frame["actionId"], frame["lifecycleState"]) == ("tap_1_1", "accepted")
        envelope = {"action_id": "tap_1_1", "action_type": "tap", "success": True}
        await journal.seal(_entry("verified", "tap_1_1", terminal=True, envelope=envelope))
        frame = await frame_of(socket, "ENVELOPE")
        assert (frame["lifecycleState"], frame["device"]) == ("verified", "phone")
        assert (frame["actor"], frame["envelope"]) == ({"kind": "agent", "id": "other"}, envelope)
        await journal.close()
        await served.act(WINDOW)
        assert (await frame_of(socket, "ENVELOPE"))["actionType"] == "window.create"


def _entry(kind: str, action_id: str, **more: Any) -> dict[str, Any]:
    actor = {"kind": "agent", "id": "other"}
    return {
        "kind": kind,
        "action_id": action_id,
        "device": "phone",
        "actor": actor,
        "terminal": False,
        **more,
    }


async def test_an_interrupt_ends_what_waits(tmp_path: Path) -> None:
    async with door(tmp_path) as served, await served.person() as socket:
        stopped: list[bool] = []
        served.context.on_interrupt.append(lambda: stopped.append(True))
        dialog = {"type": "dialog.confirm", "id": "d", "title": "Go?", "message": "Shall I?"}
        desk = served.runtime.desk_session()
        asking = asyncio.create_task(desk.run(dialog, caller=Caller("writer", "agent", "http")))
        await frame_of(socket, "ACTIONS")
        await socket.send(json.dumps({"type": "INTERRUPT"}))
        assert (await asking).failure_code == "CANCELLED"
        assert stopped == [True]
        await until(lambda: served.events_of("stop"))


def test_frames_carry_no_pictures_and_no_endless_texts() -> None:
    details = {"screenshotBase64": "A" * 9, "imageData": "B", "text": "x" * 50_000, "n": 1}
    assert slim_envelope({"details": details})["details"] == {"text": "x" * 20_000, "n": 1}
    assert slim_envelope({"success": True}) == {"success": True}
