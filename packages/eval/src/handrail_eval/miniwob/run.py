"""MiniWoB++ tasks from a page to a verdict: some browsers at a time, each with one task after another."""

from __future__ import annotations

import asyncio
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from handrail.clock import Clock
from handrail.errors import HandrailError, ModelUnavailable
from handrail.waiting import beside
from handrail_agent.budget import Budget
from handrail_agent.loop import Terms, run_task
from handrail_agent.model import AgentModel
from handrail_agent.run_data import REPORT, RunResult
from handrail_agent.task import Task
from handrail_eval.miniwob.episode import Reward, WobStage, wob_stage
from handrail_eval.miniwob.site import WobTask, wob_site
from handrail_eval.result import TaskResult, folder_name
from handrail_eval.run import first_failure, require_model

USUAL_JOBS = 2
"""Each has a browser of its own."""
GRACE_MS = 1_000.0
"""For what is under way when the model says that it is finished."""


@dataclass(frozen=True, slots=True)
class WobPlan:
    """What is the same for every task."""

    open_model: Callable[[WobTask], AgentModel]
    clock: Clock
    out: Path | None = None
    max_steps: int | None = None
    pictures: bool = True


async def run_wob(
    tasks: Sequence[WobTask], plan: WobPlan, jobs: int, done: Callable[[TaskResult], None]
) -> None:
    """Every task once. Cancelled, it ends what runs; what was done has been told."""
    waiting = deque(tasks)

    async def work() -> None:
        with tempfile.TemporaryDirectory(prefix="handrail-wob-", ignore_cleanup_errors=True) as home:
            async with wob_stage(origin, Path(home), plan.clock) as stage:
                while waiting:
                    done(await _run_one(waiting.popleft(), stage, plan))

    with wob_site() as origin, first_failure():
        async with asyncio.TaskGroup() as group:
            for _ in range(min(jobs, len(tasks))):
                group.create_task(work())


async def _run_one(task: WobTask, stage: WobStage, plan: WobPlan) -> TaskResult:
    """The verdict; what fails in the run is part of it."""
    began = plan.clock.monotonic_ms()
    try:
        begun = await stage.begin(task)
        ran, reward = await _run(begun, stage, plan)
    except ModelUnavailable:
        raise
    except HandrailError as error:
        why, ms = f"{error.code}: {error.message}", plan.clock.monotonic_ms() - began
        return TaskResult(
            *(task.id, task.title, False, False, 0, 0, None, ms, "failed", why, task.tags),
            seed=task.seed,
            repeat=task.repeat,
            kinds=task.tags,
        )
    return _result(begun, ran, reward, plan.clock.monotonic_ms() - began)


async def _run(task: WobTask, stage: WobStage, plan: WobPlan) -> tuple[RunResult, Reward]:
    folder = plan.out / folder_name(task) if plan.out else None
    if folder is not None:
        folder.mkdir(parents=True)
    model, stop = plan.open_model(task), asyncio.Event()
    try:
        async with beside(stage.ended(stop), "the page's judge"):
            ran = await run_task(
                stage.session,
                Task.of(task.instruction),
                model,
                clock=plan.clock,
                budget=Budget(steps=plan.max_steps or task.steps),
                folder=folder,
                terms=Terms(stop=stop, pictures=plan.pictures and folder is not None),
            )
            deadline = plan.clock.monotonic_ms() + (GRACE_MS if len(ran.steps) > 1 else 0)
            while not stop.is_set() and plan.clock.monotonic_ms() < deadline:
                await plan.clock.sleep_ms(20.0)
    finally:
        await model.close()
    require_model(ran)
    return ran, await stage.reward()


def _result(task: WobTask, ran: RunResult, reward: Reward, ms: float) -> TaskResult:
    """Solved is the whole reward; a part of it, which some pages give, is only `reached`."""
    solved = reward.done and reward.raw >= 1
    judged = f"reward {reward.raw:g} {reward.reason}".strip() if reward.done else f"not ended: {ran.message}"
    return TaskResult(
        id=task.id,
        title=task.title,
        success=solved,
        reached=reward.done and reward.raw > 0,
        steps=ran.spend.steps,
        tokens=ran.spend.tokens,
        cost_usd=ran.spend.cost_usd,
        ms=ms,
        ended=ran.outcome,
        why="" if solved else judged,
        tags=task.tags,
        answer=ran.message if ran.success else "",
        report=f"{folder_name(task)}/{REPORT}" if ran.folder else None,
        seed=task.seed,
        repeat=task.repeat,
        kinds=task.tags,
        refused=sum(step.outcome == "refused" for step in ran.steps),
    )
