"""Flows at the door: what is listed, what may be run, and what a run leaves."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from handrail.web_server.flows import FlowFolders, FlowRuns
from tests.scenario.world import World, play_live, until, world
from tests.unit.web_server.door import KEY, Answer, Door, door
from tests.unit.web_server.test_phone import SETTINGS

ASYNC_RUNNER = play_live

OPEN = f"""
name: Open the display settings
app: {SETTINGS}
tags: [smoke]
env:
  WHERE: Display
steps:
  - tap: ${{WHERE}}
  - expect_visible: ${{WHAT:-Brightness}}
"""
LONG = """
name: Wait
steps:
  - wait_for: {condition: never there, timeout_ms: 60000}
  - tap: Display
"""
PAIR = """
name: Pair
devices: [anna, bert]
steps:
  - parallel: {anna: [press_key: home], bert: [press_key: home]}
"""
FILES = {
    "open.yaml": OPEN,
    "long.yaml": LONG,
    "lint.yaml": "name: Lint\nenv: {A: b}\nsteps:\n  - tap: 10,20\n",
    "broken.yaml": "name: Broken\nsteps:\n  - tapp: Save\n",
    "needs.yaml": "name: Needs\nsteps:\n  - tap: ${NAME}\n",
    "pair.yaml": PAIR,
    "_part.yaml": "name: Part\nsteps:\n  - tap: Save\n",
}


def folder(home: Path) -> Path:
    flows = home / "my flows"
    flows.mkdir()
    for name, text in FILES.items():
        (flows / name).write_text(text)
    return flows


@asynccontextmanager
async def served(home: Path) -> AsyncIterator[tuple[World, Door]]:
    env = {"HANDRAIL_ADB": str(home / "no-adb"), "ANDROID_ADB_SERVER_PORT": "15797"}
    flows = folder(home)
    async with world(home, env=env) as w, door(home, runtime=w.runtime, flow_folders=[flows]) as opened:
        yield w, opened


async def run(opened: Door, **body: Any) -> Answer:
    return await opened.send("POST", "/api/flows/run", body, token=KEY)


async def over(opened: Door, id_: str) -> dict[str, Any]:
    async def ended() -> dict[str, Any] | None:
        told = (await opened.get(f"/api/flows/runs/{id_}", token=KEY)).json
        return told if told["outcome"] != "running" and told["report"] else None

    found: dict[str, Any] = await until(ended)
    return found


def test_every_flow_is_listed_with_its_faults_variables_and_phones(tmp_path: Path) -> None:
    found = {one["file"]: one for one in FlowFolders([folder(tmp_path), tmp_path / "nowhere"]).rows()}
    assert list(found) == ["broken.yaml", "lint.yaml", "long.yaml", "needs.yaml", "open.yaml", "pair.yaml"]
    assert found["open.yaml"]["name"] == "Open the display settings"
    assert found["open.yaml"]["tags"] == ["smoke"]
    assert found["open.yaml"]["variables"] == [
        {"name": "WHERE", "value": "Display"},
        {"name": "WHAT", "value": "Brightness"},
    ]
    assert (found["open.yaml"]["problems"], found["open.yaml"]["broken"]) == ([], False)
    assert [one["rule"] for one in found["lint.yaml"]["problems"]] == ["unused-variable", "coordinates"]
    assert found["broken.yaml"]["broken"] is True
    assert found["broken.yaml"]["problems"][0]["line"] == 3
    assert found["needs.yaml"]["variables"] == [{"name": "NAME", "value": None}]
    assert found["needs.yaml"]["broken"] is False  # a person can give it
    assert found["pair.yaml"]["devices"] == ["anna", "bert"]


async def test_a_run_is_followed_step_by_step_to_its_report_and_kept(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        started = await run(opened, file="open.yaml", device=w.serial, env={"WHAT": "Night Light"})
        assert started.status == 202
        steps = [(one["label"], one["outcome"]) for one in started.json["steps"]]
        assert steps == [("tap Display", "waiting"), ("expect_visible Night Light", "waiting")]
        told = await over(opened, started.json["id"])
        assert told["outcome"] == "passed"
        assert [one["outcome"] for one in told["steps"]] == ["passed", "passed"]
        assert (told["done"], told["total"]) == (2, 2)
        report = await opened.get(told["report"], token=KEY)
        assert b"Open the display settings" in report.body
        assert report.headers["content-security-policy"].startswith("sandbox allow-scripts")
        entry = w.runtime.journal.show(told["steps"][0]["action_id"])
        assert entry.events[0]["actor"] == {"kind": "flow", "id": "Open the display settings"}
        assert entry.events[0]["door"] == "desk"
        later = FlowRuns(w.runtime)  # as after a restart
        assert [one.to_dict() for one in later.history()] == [told]


async def test_a_part_of_a_text_runs_on_the_screen_that_is_there_and_waits_where_it_was_told(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as (w, opened):
        await w.open(SETTINGS)
        text = (
            "steps:\n  - tap: Nowhere\n  - tap: Display\n  - expect_visible: Brightness\n  - tap: Nowhere\n"
        )
        body = {"text": text, "file": "new.yaml", "device": w.serial, "first": 1, "last": 2, "pauses": [2]}
        id_ = (await run(opened, **body)).json["id"]

        async def paused() -> bool:
            return (await opened.get(f"/api/flows/runs/{id_}", token=KEY)).json["pausedAt"] == 2

        await until(paused)
        await opened.send("POST", f"/api/flows/runs/{id_}/continue", {}, token=KEY)
        told = await over(opened, id_)
        assert told["outcome"] == "passed", told
        assert [one["outcome"] for one in told["steps"]] == ["skipped", "passed", "passed", "skipped"]


async def test_a_program_runs_files_only_and_no_text_under_a_name_of_its_own(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        body = {"text": OPEN, "file": "open.yaml", "device": w.serial}
        refused = await opened.send("POST", "/api/flows/run", body)
        assert (refused.status, refused.json["code"]) == (403, "ACTION_REJECTED")


async def test_a_run_that_is_stopped_says_how_far_it_came(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        id_ = (await run(opened, file="long.yaml", device=w.serial)).json["id"]
        await until(lambda: w.session._queue)
        await opened.send("POST", f"/api/flows/runs/{id_}/stop", {}, token=KEY)
        told = await over(opened, id_)
        assert told["outcome"] == "stopped"
        assert told["steps"][1]["outcome"] == "skipped"


async def test_what_is_wrong_is_said_before_a_phone_is_touched(tmp_path: Path) -> None:
    async with served(tmp_path) as (w, opened):
        touched = len(w.inputs())
        wrong = {
            "../../etc/passwd": {"device": w.serial},
            "_part.yaml": {"device": w.serial},
            "broken.yaml": {"device": w.serial},
            "needs.yaml": {"device": w.serial},
            "pair.yaml": {"devices": {"anna": w.serial}},
            "open.yaml": {},
        }
        for file, chosen in wrong.items():
            answer = await run(opened, file=file, **chosen)
            assert (answer.status, answer.json["code"]) == (422, "INVALID_ACTION"), answer
        assert len(w.inputs()) == touched
        assert (await opened.get("/api/flows/runs", token=KEY)).json == {"runs": []}
        for id_ in ("flow-1-1", "..%2f..", "handrail.db"):
            assert (await opened.get(f"/api/flows/runs/{id_}/report", token=KEY)).status in (404, 422)


async def test_a_half_written_run_is_left_out_of_the_history(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        broken = w.runtime.config.runs / "flow-1-1"
        broken.mkdir(parents=True)
        (broken / "run.json").write_text(json.dumps({"file": "open.yaml"}))
        assert FlowRuns(w.runtime).history() == []
