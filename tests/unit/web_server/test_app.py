"""The door as a program uses it: actions, the desk's state, schemas, health."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.unit.web_server.door import TOKEN, WINDOW, Door, door, frame_of


async def test_an_action_of_the_desk_is_answered_with_its_envelope_and_journalled(served: Door) -> None:
    answer = await served.act(WINDOW | {"reason": "I show the report"}, agent="writer")
    assert answer.status == 200, answer
    assert answer.json["lifecycle_state"] == "verified"
    state = (await served.get("/api/desk")).json
    assert state["windows"]["monitor-0/report"]["agentId"] == "writer"
    [row] = served.runtime.journal.actions()
    assert (row.type, row.door, row.actor) == ("window.create", "http", {"kind": "agent", "id": "writer"})


async def test_a_caller_that_hangs_up_stops_its_action(tmp_path: Path) -> None:
    async with door(tmp_path) as served, await served.person() as screen:
        dialog = {"type": "dialog.confirm", "id": "d", "title": "Go?", "message": "Shall I?"}
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        body = json.dumps(dialog).encode()
        lines = [
            "POST /api/actions HTTP/1.1", f"Host: {served.host}", f"Authorization: Bearer {TOKEN}",
            "Content-Type: application/json", f"Content-Length: {len(body)}", "", "",
        ]  # fmt: skip
        writer.write("\r\n".join(lines).encode() + body)
        await frame_of(screen, "ACTIONS")
        writer.close()
        await writer.wait_closed()
        while not (frame := await frame_of(screen, "ENVELOPE")).get("envelope"):
            pass
        assert frame["envelope"]["failure_code"] == "CANCELLED"
        assert served.desk.state.dialogs == ()
