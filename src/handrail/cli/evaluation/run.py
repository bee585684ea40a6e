"""One task from a new phone to a verdict. Knows neither the command line nor the other tasks."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from handrail.agent.budget import Budget
from handrail.agent.loop import Terms, run_task
from handrail.agent.model import Model
from handrail.agent.record import REPORT
from handrail.agent.result import RunResult
from handrail.agent.task import Task
from handrail.cli.evaluation.checks import Evidence, is_shown_by_state, problems, state_problems
from handrail.cli.evaluation.result import TaskResult
from handrail.cli.evaluation.stage import Stage, stage
from handrail.cli.evaluation.task import EvalTask
from handrail.clock import Clock
from handrail.errors import HandrailError

GRACE_MS = 2_000.0
"""What is under way when the model says that it is finished may still arrive."""
LOOK_MS = 100.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is the same for every task of an evaluation."""

    open_model: Callable[[EvalTask], Model]
    clock: Clock
    out: Path | None = None
    """Where runs are kept, each in a folder of its own."""
    max_steps: int | None = None


async def run_one(task: EvalTask, plan: Plan) -> TaskResult:
    """The verdict; what fails in the run is part of it."""
    began = plan.clock.monotonic_ms()
    model = plan.open_model(task)
    try:
        ran, evidence = await _run(task, plan, model)
    except HandrailError as error:  # the stage itself: a setup that the phone does not take
        return _not_run(task, error, plan.clock.monotonic_ms() - began)
    finally:
        await model.close()
    return _result(task, ran, evidence, plan.clock.monotonic_ms() - began)


async def _run(task: EvalTask, plan: Plan, model: Model) -> tuple[RunResult, Evidence]:
    async with _folders(task, plan.out) as (folder, home), stage(task, home, plan.clock) as ready:
        before = ready.phone.state()
        ran = await run_task(
            ready.session,
            Task.of(task.instruction),
            model,
            clock=plan.clock,
            budget=Budget(steps=plan.max_steps or task.steps),
            folder=folder,
            terms=Terms(pictures=folder is not None),
        )
        return ran, await _settled(task, ready, ran, before, plan.clock)


@asynccontextmanager
async def _folders(task: EvalTask, out: Path | None) -> AsyncIterator[tuple[Path | None, Path]]:
    """The run's folder, where it is kept, and the home of everything else."""
    if out is not None:
        (out / task.id).mkdir(parents=True)
        yield out / task.id, out / task.id / "home"
        return
    with tempfile.TemporaryDirectory(prefix="handrail-eval-") as place:
        yield None, Path(place) / "home"


async def _settled(
    task: EvalTask, ready: Stage, ran: RunResult, before: dict[str, object], clock: Clock
) -> Evidence:
    """The phone as it is, or as it becomes by itself in a moment where anything was done."""
    deadline = clock.monotonic_ms() + GRACE_MS
    while True:
        evidence = Evidence(
            before=before,
            after=ready.phone.state(),
            answer=ran.message if ran.success else "",
            apps=tuple(step.app for step in ran.steps),
            asked=ready.person.asked,
        )
        is_over = len(ran.steps) < 2 or clock.monotonic_ms() >= deadline
        if is_over or not state_problems(task.check, evidence):
            return evidence
        await clock.sleep_ms(LOOK_MS)


def _not_run(task: EvalTask, error: HandrailError, ms: float) -> TaskResult:
    why = f"{error.code}: {error.message}"
    return TaskResult(task.id, task.title, False, False, 0, 0, None, ms, "failed", why, task.tags)


def _result(task: EvalTask, ran: RunResult, evidence: Evidence, ms: float) -> TaskResult:
    found = problems(task.check, evidence)
    if not ran.success:
        found.insert(0, ran.message)
    return TaskResult(
        id=task.id,
        title=task.title,
        success=not found,
        reached=not (state_problems(task.check, evidence) if is_shown_by_state(task.check) else found),
        steps=ran.spend.steps,
        tokens=ran.spend.tokens,
        cost_usd=ran.spend.cost_usd,
        ms=ms,
        ended=ran.outcome,
        why="; ".join(found),
        tags=task.tags,
        answer=evidence.answer,
        report=str(ran.folder / REPORT) if ran.folder else None,
    )
