"""All phones at the door: each with its name and the last thing done; a name is a person's to give."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

from tests.scenario.world import play_live
from tests.unit.web_server.door import KEY, TOKEN, Answer
from tests.unit.web_server.test_journal import history
from tests.unit.web_server.test_phone import served

ASYNC_RUNNER = play_live


async def test_a_tile_knows_its_agent_and_what_was_done_last(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        [before] = (await opened.get("/api/wall", token=KEY)).json["phones"]
        assert before["last"] is None
        await w.session.press_key("home", reason="I go home")
        await w.session.get_ui_tree()
        [tile] = (await opened.get("/api/wall", token=KEY)).json["phones"]
        assert (tile["device"], tile["given"], tile["model"]) == (w.serial, "", "Simulated Phone")
        last = tile["last"]
        assert (last["type"], last["about"]) == ("press_key", "home")
        assert last["actor"] == {"kind": "agent", "id": "mail-agent"}


async def test_a_persons_name_for_a_phone_is_shown_where_its_serial_was(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        await history(w)
        path = f"/api/phone/{quote(w.serial)}/name"
        page = await opened.page() | {"Content-Type": "application/json"}

        async def give(name: object) -> Answer:
            return await opened.ask("POST", path, page, json.dumps({"name": name}).encode())

        refused = await opened.send("POST", path, {"name": "Agent's own"}, token=TOKEN)
        assert refused.status == 403
        assert [(await give(bad)).status for bad in (3, "a\u202eb", "x" * 41)] == [422, 422, 422]
        assert (await give("Kitchen")).json["name"] == "Kitchen"

        async def told(where: str) -> list[str]:
            answer = (await opened.get(where, token=KEY)).json
            kind = {"/api/devices": "devices", "/api/wall": "phones", "/api/journal": "actions"}
            rows = answer[kind.get(where, "runs")]
            return [one.get("phone") or one["name"] for one in rows]

        for where in ("/api/devices", "/api/wall", "/api/journal", "/api/journal/runs"):
            assert set(await told(where)) == {"Kitchen"}, where
        state = await opened.get(f"/api/phone/{quote(w.serial)}/state", token=KEY)
        assert state.json["name"] == "Kitchen"
        row = w.runtime.journal.actions()[0]
        entry = await opened.get(f"/api/journal/entry/{row.action_id}", token=KEY)
        assert entry.json["phone"] == "Kitchen"
        assert (await give("")).json["name"] == "Simulated Phone"
