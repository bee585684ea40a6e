"""An approval that was declared void pays nothing, in whatever session and under whatever name."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from tests.scenario.people import PAY_RULE, asked, at_checkout
from tests.scenario.world import World, play, until, world

pytestmark = pytest.mark.usefixtures("both_phones")

ASYNC_RUNNER = play

SETTINGS = "com.android.settings"


def presses(w: World) -> int:
    return sum(event.get("action") == "down" for event in w.inputs())


async def made_void(w: World) -> str:
    """A person said yes, and the screen had moved on: the agent was told that it does not count any more."""
    await at_checkout(w)
    task = asyncio.create_task(w.session.tap({"id": "pay"}))
    [one] = await asked(w)
    w.phone.start_activity(package=SETTINGS)
    await w.runtime.approvals.answer(one.id, True, "lena")
    done = await task
    assert "does not count any more" in (done.message or ""), done.to_json()
    await at_checkout(w)
    return one.id


@pytest.mark.parametrize("name", ["local", "mallory"])
async def test_a_void_approval_does_not_pay_in_a_new_session(tmp_path: Path, name: str) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w:
        void = await made_void(w)
        async with Runtime.open(w.runtime.config, env=w.runtime.env, caller=Caller(name)) as after:
            session = await after.session(w.serial, helper="none")
            task = asyncio.create_task(session.tap({"id": "pay"}))
            await until(lambda: task.done() or after.approvals.pending())
            assert not task.done(), "it paid with an approval that was void"
            [again] = await after.approvals.pending()
            assert again.id != void
            assert presses(w) == 0
            await session.end_actions()
            assert (await task).failure_code == "CANCELLED"
            assert presses(w) == 0
