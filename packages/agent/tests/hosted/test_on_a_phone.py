"""Whole runs: a simulated phone, the loop, the SDK and a server, with nothing in between replaced."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from packages.agent.tests.hosted.asking import ENV, KEY, OPENAI
from packages.agent.tests.hosted.openai_wire import calls, error, says
from packages.agent.tests.hosted.server import Answer, serving

from handrail.errors import ModelUnavailable
from handrail_agent.loop import run_task
from handrail_agent.models import open_model
from handrail_agent.run_data import RunFolder, RunResult
from handrail_agent.task import Task
from tests.scenario.world import FastClock, World, play_live, world

ASYNC_RUNNER = play_live

SETTINGS = "com.android.settings"
TASK = Task.of("Open the display settings.", "Brightness level")


def called(kind: str, **fields: Any) -> Answer:
    return calls((kind, {**fields, "reason": "it leads there"}))


def written(**action: Any) -> Answer:
    return says(
        "Here you are.\n```json\n" + json.dumps({"thought": "it leads there", "action": action}) + "\n```"
    )


async def run(w: World, base_url: str, folder: Path, **wishes: Any) -> RunResult:
    clock = FastClock()
    model = open_model(OPENAI, env=ENV, clock=clock, base_url=base_url, **wishes)
    try:
        return await run_task(w.session, TASK, model, clock=clock, folder=folder)
    finally:
        await model.close()


@pytest.mark.parametrize("mode", ["tools", "text"])
def test_a_task_is_done_through_a_server_and_its_key_is_written_nowhere(tmp_path: Path, mode: str) -> None:
    answers = {
        "tools": [called("start_app", package=SETTINGS), called("tap", target="Display")],
        "text": [written(type="launch_app", packageName=SETTINGS), written(type="tap", target="Display")],
    }[mode]
    echo = calls(("finish", {"message": f"Done with {KEY}."}))
    log = io.StringIO()
    handler = logging.StreamHandler(log)

    async def story() -> None:
        folder = tmp_path / "runs" / "agent-1"
        async with (
            world(tmp_path / "home", clock=FastClock()) as w,
            serving(error(500, f"Ouch, {KEY}!"), *answers, says("Let me think."), echo) as server,
        ):
            result = await run(w, f"{server.url}/v1", folder, mode=mode)
            assert result.success, result.message
            assert [step.kind for step in RunFolder(folder).steps()] == ["start_app", "tap", "finish"]
            assert (result.spend.input_tokens, result.spend.output_tokens) == (4 * 1200, 4 * 30)
            assert len(server.got) == 5
            assert "There is no action in the answer." in str(server.got[-1].body["messages"][-1])

    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.DEBUG)
    try:
        play_live(story())
    finally:
        logging.getLogger().removeHandler(handler)
        logging.getLogger().setLevel(logging.WARNING)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {"steps.jsonl", "report.html", "handrail.db"} <= {file.name for file in files}
    assert [file for file in files if KEY.encode() in file.read_bytes()] == []
    assert KEY not in log.getvalue()


def test_a_run_whose_model_turns_it_away_says_why(tmp_path: Path) -> None:
    async def story() -> RunResult:
        async with (
            world(tmp_path / "home", clock=FastClock()) as w,
            serving(error(401, f"Incorrect API key provided: {KEY}.", "invalid_api_key")) as server,
        ):
            return await run(w, f"{server.url}/v1", tmp_path / "runs" / "agent-1")

    result = play_live(story())
    assert (result.outcome, result.code) == ("failed", ModelUnavailable.code)
    assert "answered 401: Incorrect API key provided: •••." in result.message
    assert [
        file for file in tmp_path.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()
    ] == []


async def test_a_recorded_run_can_be_played_again_on_a_phone_of_the_same_kind(tmp_path: Path) -> None:
    first = tmp_path / "runs" / "agent-1"
    async with (
        world(tmp_path / "one", clock=FastClock()) as w,
        serving(
            called("start_app", package=SETTINGS),
            called("tap", target="Display"),
            called("finish", message="Open."),
        ) as server,
    ):
        assert (await run(w, f"{server.url}/v1", first)).success
    clock = FastClock()
    async with world(tmp_path / "two", clock=clock) as w:
        again = open_model(f"recorded:{first}", env={}, clock=clock)
        assert (await run_task(w.session, TASK, again, clock=clock)).success
    async with world(tmp_path / "three", clock=clock) as w:
        await w.open("com.handrail.shop")
        again = open_model(f"recorded:{first}", env={}, clock=clock)
        lost = await run_task(w.session, TASK, again, clock=clock)
    assert (lost.outcome, lost.code) == ("failed", "EXPECT_STATE_MISMATCH")
    assert "step 1: the screen is not the recorded one at the start" in lost.message
