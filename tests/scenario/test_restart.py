"""What one process knows, asks and shows, the next one goes on with: also when the first was killed."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from handrail.config import Config
from handrail.engine.ref_store import BLOCK
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.scenario.people import PAY_RULE, answered, asked, at_checkout, command
from tests.scenario.victim import KEPT
from tests.scenario.world import World, play_live, usual_clock, world

ASYNC_RUNNER = play_live

pytestmark = pytest.mark.slow

SETTINGS, CONTACTS, NOTES = "com.android.settings", "com.google.android.contacts", "com.handrail.notes"


@asynccontextmanager
async def victim(w: World, story: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Another process at the same home and phone, killed at the end of the block."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.scenario.victim",
        w.serial,
        story,
        env={**os.environ, "HANDRAIL_HOME": str(w.home)},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.kill()
        await process.communicate()


def refs_of(w: World) -> dict[str, str]:
    registry = w.session.screens.registry
    return {ref: registry.label_of(node) for ref, node in registry.refs.items()}


async def test_a_ref_of_one_process_is_valid_in_the_next(w: World) -> None:
    await w.open(SETTINGS)
    ref = await w.ref("Display")
    first = await w.session.get_ui_tree()
    async with Runtime.open(w.runtime.config, env=w.runtime.env) as second:
        await w.session.close()
        session = await second.session(w.serial, helper="none")
        again = await session.get_ui_tree()
        assert again.details["text"].splitlines()[1:] == first.details["text"].splitlines()[1:]
        done = await session.tap(ref, expect="Brightness level")
        assert done.success, done.to_json()


async def test_numbers_go_on_where_a_process_ended_well(tmp_path: Path) -> None:
    env = {"HANDRAIL_HOME": str(tmp_path)}
    config = Config.from_env(env)
    highest, revision = 0, 0
    async with serve([Phone(clock=usual_clock())], port=0) as [served]:
        for package in (SETTINGS, CONTACTS, NOTES):
            async with Runtime.open(config, env=env) as runtime:
                session = await runtime.session(served.address, helper="none")
                assert (await session.start_app(package)).success
                numbers = {int(ref[2:]) for ref in session.screens.registry.refs}
                assert max(numbers) < highest + 100
                assert revision < session.screens.revision < revision + 20
                highest, revision = max(highest, *numbers), session.screens.revision


async def test_a_number_is_never_given_twice_however_a_process_dies(tmp_path: Path) -> None:
    chance = random.Random(7)
    shown: dict[str, str] = {}
    async with world(tmp_path) as w:
        for _ in range(5):
            async with victim(w, "refs") as process:
                assert process.stdout
                for _ in range(chance.randint(1, 4)):
                    new = json.loads(await process.stdout.readline())
                    assert {r: shown[r] for r in new if r in shown} == {r: new[r] for r in new if r in shown}
                    shown |= new
                await asyncio.sleep(chance.random() / 20)
            rest, _ = await process.communicate()
            for line in rest.splitlines():  # cut by the kill, or whole
                shown |= json.loads(line) if line.endswith(b"}") else {}
        for app in (NOTES, SETTINGS, CONTACTS):
            await w.open(app)
            mine = refs_of(w)
            assert mine
            assert {r: shown[r] for r in mine if r in shown} == {r: mine[r] for r in mine if r in shown}


async def test_two_processes_at_once_never_give_the_same_number(tmp_path: Path) -> None:
    async with world(tmp_path) as w, Runtime.open(w.runtime.config, env=w.runtime.env) as other:
        theirs = await other.session(w.serial, helper="none")
        w.phone.start_activity(package=SETTINGS)
        assert (await w.session.get_ui_tree()).success
        w.phone.start_activity(package=CONTACTS)
        assert (await theirs.get_ui_tree()).success
        one, two = set(refs_of(w)), set(theirs.screens.registry.refs)
        assert one
        assert two
        assert not one & two
        assert w.session.screens.revision != theirs.screens.revision
        # The one that came first runs out of its block and jumps over the other's.
        registry = w.session.screens.registry
        while registry.highest < BLOCK - 10:  # type: ignore[attr-defined]
            w.session.screens.reset()
            assert (await w.session.get_ui_tree()).success
        for _ in range(3):
            w.session.screens.reset()
            assert (await w.session.get_ui_tree()).success
        assert min(int(ref[2:]) for ref in refs_of(w)) > max(int(ref[2:]) for ref in two)


async def test_an_old_ref_is_stale_in_a_process_that_never_gave_it(w: World) -> None:
    async with victim(w, "refs") as process:
        assert process.stdout
        await process.stdout.readline()
    w.phone.start_activity(package=CONTACTS)
    async with Runtime.open(w.runtime.config, env=w.runtime.env) as after:
        session = await after.session(w.serial, helper="none")
        done = await session.tap("@b999")
        assert done.failure_code == "STALE_REFERENCE"
        assert "gone" in (done.message or "")


async def test_a_yes_given_after_the_asker_was_killed_counts_for_the_same_action_once(tmp_path: Path) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        async with victim(w, "pay"):
            [one] = await asked(w)
        code, said = await command(tmp_path, "approve", one.id)
        assert code == 0, said
        assert w.inputs() == []
        async with Runtime.open(w.runtime.config, env=w.runtime.env, caller=KEPT) as after:
            session = await after.session(w.serial, helper="none")
            done = await session.tap({"id": "pay"})
            assert done.success, done.to_json()
            assert done.approval
            assert done.approval.id == one.id
            task = asyncio.create_task(session.tap({"id": "pay"}))
            [again] = await asked(w)
            assert again.id != one.id
            await session.end_actions()
            await task


@pytest.mark.parametrize("story_of", ["pay", "auth"])
async def test_a_question_outlives_its_asker_and_is_not_asked_twice(tmp_path: Path, story_of: str) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        async with victim(w, story_of):
            [one] = await asked(w)
        async with Runtime.open(w.runtime.config, env=w.runtime.env, caller=KEPT) as after:
            session = await after.session(w.serial, helper="none")
            if story_of == "pay":
                task = asyncio.create_task(session.tap({"id": "pay"}))
            else:
                question = session.request_human_auth("Look into the camera.", capability="camera")
                task = asyncio.create_task(question)
            code, said = await command(tmp_path, "approve", one.id)
            assert code == 0, said
            done = await task
            assert done.success, done.to_json()
            assert done.approval
            assert done.approval.id == one.id
            assert await after.approvals.pending() == []


@pytest.mark.parametrize("name", ["victim", "mallory"])
async def test_a_yes_given_after_the_asker_was_killed_is_nobody_elses(tmp_path: Path, name: str) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        async with victim(w, "pay"):
            [one] = await asked(w)
        code, said = await command(tmp_path, "approve", one.id)
        assert code == 0, said
        caller = Caller(name)
        async with Runtime.open(w.runtime.config, env=w.runtime.env, caller=caller) as after:
            session = await after.session(w.serial, helper="none")
            task = asyncio.create_task(session.tap({"id": "pay"}))
            [again] = await asked(w)
            assert again.id != one.id
            assert w.inputs() == []
            await session.end_actions()
            await task


async def test_a_yes_that_was_used_does_not_count_in_the_next_process(w: World) -> None:
    first = await answered(w, w.session.request_human_auth("Please answer.", capability="camera"))
    assert first.success, first.to_json()
    assert first.approval
    async with Runtime.open(w.runtime.config, env=w.runtime.env) as after:
        session = await after.session(w.serial, helper="none")
        task = asyncio.create_task(session.request_human_auth("Please answer.", capability="camera"))
        [again] = await asked(w)
        assert again.id != first.approval.id
        await session.end_actions()
        await task


async def test_the_journal_of_a_killed_process_is_whole_and_names_what_was_left_open(tmp_path: Path) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        async with victim(w, "pay"):
            await asked(w)
        await w.session.get_ui_tree()
        verdict = w.runtime.journal.verify()
        assert verdict.ok, verdict
        open_ones = [row for row in w.runtime.journal.actions() if row.state == "unfinished"]
        assert [row.type for row in open_ones] == ["tap"]
