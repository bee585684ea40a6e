"""A button was renamed and moved: the flow stops and shows the edit that heals it, or makes it if allowed."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from handrail.flow.document import load
from handrail.flow.recording import Recording, ended_actions
from handrail.flow.run import FlowRunner
from handrail.flow.run_record import FlowRecord
from handrail.protocol.device import Tap
from handrail.protocol.flow import Step
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from handrail_sim.system.activities import App
from tests.scenario.form import PACKAGE, FormOne, FormTwo
from tests.scenario.world import FastClock, World, handset, play, play_live, world

pytestmark = pytest.mark.usefixtures("both_phones")

ASYNC_RUNNER = play_live

COMMENT = "    # the pet has to stay\n"


async def record(folder: Path) -> Path:
    """A pet is saved with the first version, by ref; a person adds a comment to the file."""
    async with with_form(folder, FormOne) as stage:
        await stage.open(PACKAGE)
        assert (await stage.session.type_text("Rex", target="Pet name")).success
        assert (await stage.session.type_text("dog", target="Kind of animal")).success
        assert (await stage.session.tap(await stage.ref("Save"))).success
        recording = Recording()
        for _, shown in ended_actions(stage.runtime.journal):
            recording.add_action(shown)
    file = folder / "pet.yaml"
    text = recording.text("Save a pet")
    assert "  - tap: {id: save}\n" in text
    file.write_text(text.replace("  - tap: {id: save}\n", f"  - tap: {{id: save}}{COMMENT}"))
    return file


@asynccontextmanager
async def with_form(folder: Path, version: type[App], clock: FastClock | None = None) -> AsyncIterator[World]:
    clock = clock or FastClock()
    async with world(folder, clock=clock, phone=handset(clock=clock, apps=[version])) as stage:
        yield stage


def saved(stage: World) -> list[str]:
    """What the app shows as done."""
    screen = stage.session.screens.registry.screen
    return [node.text for node in screen.nodes if node.id_tail == "pet"]


async def run(folder: Path, file: Path, version: type[App], *, heal: bool) -> tuple[FlowRecord, list[str]]:
    clock = FastClock()
    async with with_form(folder, version, clock) as stage:
        done = await FlowRunner({"phone": stage.session}, clock, heal=heal).run(load(file))
        await stage.session.get_ui_tree()
        return done, saved(stage)


def test_the_flow_runs_on_the_version_it_was_recorded_on(tmp_path: Path) -> None:
    async def story() -> tuple[FlowRecord, list[str]]:
        return await run(tmp_path, await record(tmp_path), FormOne, heal=False)

    done, pets = play(story())
    assert (done.outcome, done.proposals, pets) == ("passed", [], ["Saved Rex the dog"])


def test_without_leave_the_flow_stops_safe_and_shows_the_edit(tmp_path: Path) -> None:
    async def story() -> tuple[FlowRecord, list[str], str, str]:
        file = await record(tmp_path)
        before = file.read_text()
        done, pets = await run(tmp_path, file, FormTwo, heal=False)
        return done, pets, before, file.read_text()

    done, pets, before, after = play(story())
    assert done.outcome == "failed"
    assert done.steps[-1].code == "ELEMENT_NOT_FOUND"
    assert "Store pet" in (done.steps[-1].hint or "")
    [diff] = done.proposals
    assert f"-  - tap: {{id: save}}{COMMENT}" in diff
    assert f"+  - tap: {{id: action_store}}{COMMENT}" in diff
    assert pets == []
    assert after == before


def test_with_leave_the_flow_goes_on_and_the_file_is_mended(tmp_path: Path) -> None:
    async def story() -> tuple[FlowRecord, list[str], Path]:
        file = await record(tmp_path)
        done, pets = await run(tmp_path, file, FormTwo, heal=True)
        return done, pets, file

    done, pets, file = play(story())
    assert done.outcome == "passed", done.error
    assert pets == ["Saved Rex the dog"]
    last = load(file).flow.steps[-1]
    assert isinstance(last, Step)
    assert isinstance(last.action, Tap)
    assert last.action.to_dict()["target"] == {"id": "action_store"}
    assert COMMENT in file.read_text()
    assert (load(file).element((2,)) or {})["text"] == "Store pet"


def test_a_mended_flow_needs_no_leave_any_more(tmp_path: Path) -> None:
    async def story() -> FlowRecord:
        file = await record(tmp_path)
        await run(tmp_path, file, FormTwo, heal=True)
        done, _ = await run(tmp_path, file, FormTwo, heal=False)
        return done

    done = play(story())
    assert (done.outcome, done.proposals) == ("passed", [])


@pytest.mark.slow
async def test_the_command_prints_the_edit_and_makes_it_with_heal(tmp_path: Path) -> None:
    async def command(file: Path, *options: str) -> tuple[int | None, str]:
        async with serve([Phone(clock=FastClock(), apps=[FormTwo])], port=0) as [served]:
            running = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "handrail.cli.main", "run", str(file)),
                *("--device", served.address, *options),
                env={**os.environ, "HANDRAIL_HOME": str(tmp_path)},
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            said, _ = await running.communicate()
            return running.returncode, said.decode()

    file = await record(tmp_path)
    code, said = await command(file)
    assert code == 1, said
    assert "+  - tap: {id: action_store}" in said
    assert "{id: save}" in file.read_text()
    code, said = await command(file, "--heal")
    assert code == 0, said
    assert "{id: action_store}" in file.read_text()
