"""The journal at the door: pages, filters, one entry, its pictures, the proof, a flow."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import InvalidAction
from handrail.store import connect
from handrail.web_server.journal import JournalSearch, search_journal
from tests.scenario.world import World, play_live, until
from tests.unit.web_server.door import KEY, Door
from tests.unit.web_server.test_phone import PERSON, SETTINGS, served

ASYNC_RUNNER = play_live


async def history(w: World) -> None:
    """A start, a tap, a failed tap, a look, a person's key."""
    await w.open(SETTINGS)
    await w.session.tap("Display", reason="I make it dark")
    await w.session.tap("nowhere", reason="I try what is not there")
    await w.session.get_ui_tree()
    await w.session.run({"type": "press_key", "key": "back"}, caller=PERSON, reason="I go back by hand")


async def listed(opened: Door, query: str = "") -> dict[str, Any]:
    answer = await opened.get(f"/api/journal{query}", token=KEY)
    assert answer.status == 200, answer
    return dict(answer.json)


async def test_pages_filters_and_words_find_actions(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        await history(w)

        async def types(query: str) -> list[str]:
            return [row["type"] for row in (await listed(opened, query))["actions"]]

        everything = ["press_key", "get_ui_tree", "tap", "tap", "start_app"]
        assert await types("") == everything
        assert await types("?touches=1") == ["press_key", "tap", "tap", "start_app"]
        assert await types("?actor=person") == ["press_key"]
        assert await types("?state=failed") == ["tap"]
        assert await types("?failed=1") == ["tap"]
        assert await types("?type=tap") == ["tap", "tap"]
        assert await types("?text=MAKE%20it%20DARK") == ["tap"]
        assert await types(f"?device={w.serial}&touches=1&actor=agent") == ["tap", "tap", "start_app"]
        assert await types("?device=another") == []
        first = await listed(opened, "?limit=2&touches=1")
        assert [row["about"] for row in first["actions"]] == ["back", "nowhere"]
        rest = await listed(opened, f"?limit=2&touches=1&before={first['next']}")
        assert [row["about"] for row in rest["actions"]] == ["Display", SETTINGS]
        assert rest["next"] is None


async def test_an_entry_tells_who_why_what_changed_and_how_long_it_took(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        await w.open(SETTINGS)
        done = await w.session.tap("Display", reason="I make it dark")
        entry = (await opened.get(f"/api/journal/entry/{done.action_id}", token=KEY)).json
        assert entry["actor"] == {"kind": "agent", "id": "mail-agent"}
        assert entry["action"]["type"] == "tap"
        assert entry["envelope"]["reason"] == "I make it dark"
        assert entry["envelope"]["timings_ms"]["total"] > 0
        assert "Brightness" in entry["diff"]
        assert [event["kind"] for event in entry["events"]][:2] == ["accepted", "resolved"]
        assert all(len(event["hash"]) == 64 for event in entry["events"])
        unknown = await opened.get("/api/journal/entry/tap_1_1", token=KEY)
        assert (unknown.status, unknown.json["code"]) == (422, "INVALID_ACTION")


async def test_only_names_of_blobs_are_served(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, opened):
        for name in ("..%2f..%2fhandrail.db", "0" * 63, "G" * 64, "head.json", "%00"):
            answer = await opened.get(f"/api/journal/blob/{name}", token=KEY)
            assert answer.status in (404, 422), name
            assert b"SQLite" not in answer.body


async def test_a_blob_that_is_no_picture_is_not_served_and_one_that_is_gone_says_so(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        text = await w.runtime.journal.put_blob(b"<script>alert(1)</script>", "text/html")
        withheld = await w.runtime.journal.put_blob(b"\x89PNG\xff", "image/png")
        await w.runtime.journal.seal({"kind": "note"})
        assert (await opened.get(f"/api/journal/blob/{text}", token=KEY)).status == 410
        gone = await opened.get(f"/api/journal/blob/{withheld}", token=KEY)
        assert (gone.status, gone.json) == (410, {"state": "withheld"})
        assert (await opened.get(f"/api/journal/blob/{'0' * 64}", token=KEY)).status == 404


async def test_the_proof_holds_until_somebody_changes_an_entry(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        await w.open(SETTINGS)
        whole = (await opened.send("POST", "/api/journal/verify", {}, token=KEY)).json
        assert whole["ok"] is True
        assert whole["head"].startswith(f"{whole['count']}:")
        with closing(sqlite3.connect(tmp_path / "handrail.db")) as db:
            db.execute("UPDATE journal SET body = replace(body, 'settings', 'bettings') WHERE seq = 1")
            db.commit()
        broken = (await opened.send("POST", "/api/journal/verify", {}, token=KEY)).json
        assert (broken["ok"], broken["first_bad"]) == (False, 1)
        assert "was changed" in broken["why"]


async def test_a_session_is_told_again_as_a_flow(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        await history(w)
        row = await until(lambda: w.runtime.journal.actions()[-1])
        answer = await opened.get(f"/api/journal/flow?session={row.session}&name=again", token=KEY)
        text = answer.json["text"]
        assert text.startswith(f"name: again\napp: {SETTINGS}\n")
        assert "tap: Display" in text


async def test_a_search_reads_far_enough_to_find_one_among_many(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, _):
        for number in range(1, 1_300):
            event = {"kind": "verified", "action_id": f"tap_1_{number}", "terminal": True}
            w.runtime.journal.note(event | {"device": "phone", "reason": f"number {number}."})
        await w.runtime.journal.seal({"kind": "note"})
        with closing(connect(tmp_path / "handrail.db")) as db:
            page = search_journal(db, JournalSearch.parse({"text": "number 7."}))
            assert [row.action_id for row in page.rows] == ["tap_1_7"]
            assert page.next is None
            many = search_journal(db, JournalSearch.parse({"text": "number", "limit": "30"}))
            assert len(many.rows) == 30
            assert many.next == many.rows[-1].seq


def test_a_number_that_is_none_is_refused_by_its_name() -> None:
    with pytest.raises(InvalidAction, match="before: 'now'") as caught:
        JournalSearch.parse({"before": "now"})
    assert caught.value.details["path"] == "before"
