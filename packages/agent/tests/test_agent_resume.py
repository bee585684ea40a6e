"""A run that was killed or interrupted goes on where it was, and nothing is done twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import yaml
from packages.agent.tests.agent_world import Scripted, fingers, finish, start, tap, work
from packages.agent.tests.test_agent_runs import folder_ids, journal_ids

from handrail_agent.history import load_run
from handrail_agent.loop import Terms
from handrail_agent.run_data import RunFolder
from tests.scenario.world import FastClock, World, play, play_live, until, world

ASYNC_RUNNER = play_live

SCRIPT = [
    {"thought": "I open the settings", "action": {"type": "start_app", "package": "com.android.settings"}},
    {"thought": "I go to the display", "action": {"type": "tap", "target": "Display"}},
    {"thought": "I wait", "action": {"type": "wait", "duration_ms": 600_000}},
    {"thought": "I go back", "action": {"type": "press_key", "key": "back"}},
    {"thought": "That was it", "action": {"type": "finish", "message": "Been there."}},
]


@asynccontextmanager
async def agent(w: World, *words: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """`handrail agent` in a process of its own, gone at the end of the block."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "handrail.cli.main",
        "agent",
        *words,
        env={
            **os.environ,
            "HANDRAIL_HOME": str(w.home),
            "HANDRAIL_HELPER": "none",
            "HANDRAIL_ADB": str(w.home / "no-adb"),
        },
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def script(folder: Path) -> str:
    file = folder / "script.yaml"
    file.write_text(yaml.safe_dump(SCRIPT))
    return f"scripted:{file}"


async def waits(w: World) -> Path:
    """The run's folder, once its third step is on its way."""

    def written() -> Path | None:
        files = list((w.home / "runs").glob("agent-*/steps.jsonl"))
        return files[0].parent if files and files[0].read_bytes().count(b"\n") == 2 else None

    folder: Path = await until(written)
    await until(lambda: any(one.startswith("wait_") for one in journal_ids(w, folder.name)))
    return folder


async def test_a_run_that_was_killed_goes_on_in_another_process(tmp_path: Path) -> None:
    async with world(tmp_path / "home") as w:
        model = script(tmp_path)
        async with agent(w, "Visit the display", "--model", model, "--device", w.serial) as first:
            folder = await waits(w)
            os.kill(first.pid, signal.SIGKILL)
            await first.wait()
        assert [step.number for step in RunFolder(folder).steps()] == [1, 2]
        touched = len(fingers(w))
        async with agent(w, "--resume", folder.name, "--json") as second:
            assert second.stdout is not None
            said = (await second.stdout.read()).decode()
            assert await second.wait() == 0, said
        steps = RunFolder(folder).steps()
        assert [step.kind for step in steps] == ["start_app", "tap", "wait", "press_key", "finish"]
        assert steps[2].outcome == "unfinished"
        assert "look before you repeat it" in steps[2].told
        assert folder_ids(folder) == journal_ids(w, folder.name)
        assert len(fingers(w)) == touched
        told = json.loads(said.splitlines()[-1])["result"]
        assert (told["outcome"], told["steps"]) == ("finished", 5)
        assert w.runtime.journal.verify().ok


@pytest.mark.slow
async def test_an_interrupted_run_says_how_to_go_on(tmp_path: Path) -> None:
    async with world(tmp_path / "home") as w:
        model = script(tmp_path)
        async with agent(w, "Visit the display", "--model", model, "--device", w.serial) as process:
            folder = await waits(w)
            os.kill(process.pid, signal.SIGINT)
            assert process.stdout is not None
            said = (await process.stdout.read()).decode()
            assert await process.wait() == 130, said
        assert f"handrail agent --resume {folder.name}" in said
        assert "I go to the display" in said
        assert 'Tapped "Display": the screen changed' in said
        assert folder_ids(folder) == journal_ids(w, folder.name)
        assert (folder / "report.html").exists()


def test_an_act_whose_step_was_never_written_is_found_in_the_journal(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path / "home", clock=FastClock()) as w:
            folder, terms = tmp_path / "agent-7", Terms(pictures=False)
            await work(w, Scripted(start(), tap("Display"), finish()), folder=folder, terms=terms)
            first, second, _ = (folder / "steps.jsonl").read_text().splitlines(keepends=True)
            (folder / "steps.jsonl").write_text(first + second[:40])  # as a killed process leaves it
            saved = load_run(RunFolder(folder), w.runtime.journal)
            assert saved.recovered == 2
            assert [step.kind for step in saved.steps] == ["start_app", "tap", "finish"]
            assert folder_ids(folder) == journal_ids(w, "agent-7")
            again = load_run(RunFolder(folder), w.runtime.journal)
            assert (again.recovered, again.steps) == (0, saved.steps)
            model = Scripted(finish())
            await work(w, model, folder=folder, terms=Terms(before=saved.steps, pictures=False))
            assert 'Tapped "Display": the screen changed (before an interruption)' in model.shown[0]
            assert folder_ids(folder) == journal_ids(w, "agent-7")

    play(story())
