"""Many tasks at once: so many phones beside one another, results as they come, and an end at any moment."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from handrail.cli.evaluation.result import TaskResult
from handrail.cli.evaluation.run import Plan, run_one
from handrail.cli.evaluation.task import EvalTask

USUAL_JOBS = 4
"""All phones live in one process, which has one core: runs mostly wait, and four of them fill it. More pays
where the model is slow."""
Done = Callable[[TaskResult], None]


async def run_all(tasks: Sequence[EvalTask], plan: Plan, jobs: int, done: Done) -> None:
    """Every task once. Cancelled, it ends what runs; what was done has been told."""
    waiting = deque(tasks)

    async def work() -> None:
        while waiting:
            done(await run_one(waiting.popleft(), plan))

    async with asyncio.TaskGroup() as group:
        for _ in range(min(jobs, len(tasks))):
            group.create_task(work())
