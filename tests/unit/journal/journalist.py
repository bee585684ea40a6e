"""A journal in a folder, and actions as the engine would write them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from handrail.journal import Journal
from handrail_sim.clock import ManualClock

T = TypeVar("T")
STATES = ("accepted", "resolved", "dispatched")


@asynccontextmanager
async def opened(home: Path, **options: Any) -> AsyncIterator[Journal]:
    journal = Journal.open(home, ManualClock(), **options)
    try:
        yield journal
    finally:
        await journal.close()


def with_journal(home: Path, work: Callable[[Journal], Awaitable[T]], **options: Any) -> T:
    """Open, do the work, close."""

    async def story() -> T:
        async with opened(home, **options) as journal:
            return await work(journal)

    return asyncio.run(story())


async def act(journal: Journal, number: int, *, failed: bool = False, **more: Any) -> int:
    """One action from `accepted` to its terminal event, whose number is returned."""
    action_id = f"tap_1710000000000_{number}"
    same = {"action_id": action_id, "session": "s1", "device": "emulator-5554", **more}
    actor = {"kind": "agent", "id": "tester"}
    action = {"type": "tap", "target": f"Button {number}"}
    journal.note(
        {**same, "kind": "accepted", "actor": actor, "door": "cli", "reason": "why not", "action": action}
    )
    for state in STATES[1:]:
        journal.note({**same, "kind": state})
    envelope = {"action_id": action_id, "action_type": "tap", "success": not failed}
    if failed:
        envelope["failure_code"] = "ELEMENT_NOT_FOUND"
    state = "failed" if failed else "verified"
    return await journal.seal({**same, "kind": state, "terminal": True, "envelope": envelope})


def write_actions(home: Path, count: int, **options: Any) -> None:
    async def work(journal: Journal) -> None:
        for number in range(1, count + 1):
            await act(journal, number)

    with_journal(home, work, **options)
