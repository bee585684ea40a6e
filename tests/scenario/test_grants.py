"""A person allows the like of an act for a time: on the phone, in the journal, and for nobody else."""

from __future__ import annotations

import asyncio
from pathlib import Path

from handrail.runtime import Runtime
from handrail.safety.approval_store import GrantTerms
from tests.scenario.people import PAY_RULE, asked, at_checkout, command
from tests.scenario.world import World, play_live, until, world

ASYNC_RUNNER = play_live

RULE = PAY_RULE.replace('"always"', '"time"')


def presses(w: World) -> int:
    return sum(event.get("action") == "down" for event in w.inputs())


async def test_a_class_is_allowed_for_a_time_to_one_session_and_revoked_by_a_command(tmp_path: Path) -> None:
    async with world(tmp_path, policy=RULE) as w:
        await at_checkout(w)
        task = asyncio.create_task(w.session.tap({"id": "pay"}))
        [one] = await asked(w)
        await w.runtime.approvals.answer(one.id, True, "lena", allow=GrantTerms(3_600_000, 5))
        assert (await task).success
        await at_checkout(w)
        again = await w.session.tap({"id": "pay"})
        assert again.success, again.to_json()
        grant = again.approval.id
        assert grant.startswith("gr_")
        assert presses(w) == 2
        noted = [event for event in w.events() if event.get("grant") == grant]
        assert [event.get("left") for event in noted] == [None, 4]
        await at_checkout(w)
        async with Runtime.open(w.runtime.config, env=w.runtime.env) as other:
            assert not await _goes_through(w, other)
        code, said = await command(tmp_path, "policy", "revoke", grant)
        assert code == 0, said
        assert not await _goes_through(w, w.runtime)
        assert presses(w) == 2
        assert w.runtime.journal.verify().ok


async def _goes_through(w: World, runtime: Runtime) -> bool:
    session = await runtime.session(w.serial, helper="none")
    task = asyncio.create_task(session.tap({"id": "pay"}))
    await until(lambda: task.done() or runtime.approvals.pending())
    was_asked = bool(await runtime.approvals.pending())
    await session.end_actions()
    await task
    return not was_asked
