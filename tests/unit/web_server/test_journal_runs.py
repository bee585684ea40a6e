"""The journal as runs at the door: steps with pictures, a run kept as a flow, the signed checkpoint."""

from __future__ import annotations

import json
from pathlib import Path

from handrail.flow.document import load
from handrail.journal.checkpoint import SignedCheckpoint
from handrail.journal.query import ActionRow
from handrail.journal.signed_note import VerifierKey
from handrail.web_server.flows import FlowFolders
from handrail.web_server.journal import PAUSE_MS, group_into_runs
from tests.scenario.world import play_live, until
from tests.unit.web_server.door import KEY, TOKEN, Answer
from tests.unit.web_server.test_journal import history
from tests.unit.web_server.test_phone import SETTINGS, served

ASYNC_RUNNER = play_live


def row(seq: int, at_ms: int, *, agent: str = "mail", session: str = "s1", kind: str = "tap") -> ActionRow:
    actor = {"kind": "agent", "id": agent}
    return ActionRow(seq, at_ms, f"tap_{seq}", kind, "verified", None, "d", session, actor, "mcp", None)


def test_a_run_is_what_one_asker_did_without_a_long_pause() -> None:
    rows = [
        row(10, PAUSE_MS * 4, kind="window.create"),
        row(9, PAUSE_MS * 4),
        row(8, PAUSE_MS * 4 - 5, agent="shop"),
        row(7, PAUSE_MS * 3),
        row(6, PAUSE_MS * 2 - 1),
        row(5, PAUSE_MS * 2 - 2, session="s2"),
    ]
    assert [[one.seq for one in run] for run in group_into_runs(rows)] == [[9, 7], [8], [6], [5]]


async def test_runs_tell_their_steps_in_order_with_pictures_and_ends(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        await w.open(SETTINGS)
        await until(lambda: any(one["kind"] == "pictured" for one in w.events()))
        await history(w)
        told = (await opened.get("/api/journal/runs", token=KEY)).json
        person, agent = told["runs"]
        assert [step["type"] for step in person["steps"]] == ["press_key"]
        assert [step["about"] for step in agent["steps"]] == [SETTINGS, SETTINGS, "Display", "nowhere"]
        assert (agent["failed"], agent["steps"][3]["failure_code"]) == (1, "ELEMENT_NOT_FOUND")
        picture = agent["steps"][0]["picture"]
        assert (await opened.get(f"/api/journal/blob/{picture}", token=KEY)).status == 200
        only = (await opened.get("/api/journal/runs?actor=person&limit=1", token=KEY)).json
        assert [len(run["steps"]) for run in only["runs"]] == [1]


async def test_a_session_is_kept_as_a_flow_by_a_person_and_by_nobody_else(tmp_path: Path) -> None:
    flows = tmp_path / "kept"
    async with served(tmp_path) as (w, opened):
        opened.context.flows.folders = FlowFolders([flows])
        await history(w)
        session = (await until(lambda: w.runtime.journal.actions()[-1])).session
        refused = await opened.send("POST", "/api/journal/flow", {"session": session}, token=TOKEN)
        assert refused.status == 403
        page = await opened.page() | {"Content-Type": "application/json"}

        async def keep(given: object) -> Answer:
            body = json.dumps({"session": given}).encode()
            return await opened.ask("POST", "/api/journal/flow", page, body)

        kept = [await keep(session) for _ in "ab"]
        assert [one.status for one in kept] == [201, 201]
        assert len({one.json["file"] for one in kept}) == 2
        assert load(flows / kept[0].json["file"]).name.startswith("recorded ")
        assert {path.name for path in flows.iterdir()} == {one.json["file"] for one in kept}
        assert (await keep(3)).status == 422


async def test_the_checkpoint_is_signed_by_the_key_that_comes_with_it(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        await history(w)
        told = (await opened.get("/api/journal/checkpoint", token=KEY)).json
        signed = SignedCheckpoint.parse(told["note"])
        signed.check([VerifierKey.parse(told["key"])])
        assert signed.checkpoint.size == told["size"] > 0
        assert signed.checkpoint.root.hex() == told["root"]
