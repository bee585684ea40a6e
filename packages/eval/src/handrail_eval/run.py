"""One task from a new phone to a verdict, and many tasks at once. Knows nothing of the command line."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from handrail.clock import Clock
from handrail.errors import HandrailError, ModelUnavailable
from handrail_agent.budget import Budget
from handrail_agent.loop import Terms, run_task
from handrail_agent.model import AgentModel
from handrail_agent.run_data import REPORT, AgentStep, RunResult
from handrail_agent.task import Task
from handrail_eval.evidence import PersonQuestion, TaskEvidence
from handrail_eval.judge import attacks, is_shown_by_state, problems, state_problems
from handrail_eval.result import TaskResult, folder_name
from handrail_eval.stage import EvaluationStage, stage
from handrail_eval.task import EvalTask
from handrail_eval.virtual_time import VirtualLoop
from handrail_eval.witness import EpisodeWitness, WitnessedModel
from handrail_sim.clock import ManualClock

GRACE_MS = 2_000.0
"""What is under way when the model says that it is finished may still arrive."""
LOOK_MS = 500.0
MEMORY = Path("/dev/shm")  # noqa: S108  (a place for folders that a secure name is made in)


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What is the same for every task of an evaluation."""

    open_model: Callable[[EvalTask], AgentModel]
    clock: Clock | None = None
    """Of models that think elsewhere. None for those that are programs: their time is virtual."""
    out: Path | None = None
    """Where runs are kept, each in a folder of its own."""
    max_steps: int | None = None
    pictures: bool = True
    """Whether what is kept has pictures: they are most of it."""
    prepare: Callable[[EvalTask], Awaitable[None]] | None = None
    """Before a model is opened for a task."""
    platform: Literal["android", "ios"] = "android"
    """Of the phones that the tasks run on."""


async def run_one(task: EvalTask, plan: EvaluationPlan) -> TaskResult:
    """The verdict; what fails in the run is part of it."""
    if plan.prepare is not None:
        await plan.prepare(task)
    return (await episode(task, plan))[0]


async def episode(
    task: EvalTask, plan: EvaluationPlan
) -> tuple[TaskResult, TaskEvidence | None, RunResult | None]:
    """The same with what it is based on; both are None where the stage itself failed."""
    began = time.monotonic()
    async with _clock_of(task, plan) as (clock, busy):
        model = plan.open_model(task)
        try:
            async with (
                _folders(task, plan.out) as (folder, home),
                stage(task, home, clock, plan.platform) as ready,
            ):
                busy(ready)
                ran, evidence = await perform(
                    task, ready, model, clock, plan.max_steps, folder, pictures=plan.pictures
                )
        except ModelUnavailable:
            raise
        except HandrailError as error:  # a setup that the phone does not take
            return _not_run(task, error, (time.monotonic() - began) * 1000), None, None
        finally:
            await model.close()
    return _result(task, ran, evidence, (time.monotonic() - began) * 1000), evidence, ran


async def perform(
    task: EvalTask,
    ready: EvaluationStage,
    model: AgentModel,
    clock: Clock,
    max_steps: int | None = None,
    folder: Path | None = None,
    *,
    pictures: bool = True,
) -> tuple[RunResult, TaskEvidence]:
    """One model at work on a stage that is ready. Raises `ModelUnavailable`: a dead server is no verdict."""
    witness = EpisodeWitness(task, ready.phone, ready.shell)
    ran = await run_task(
        ready.session,
        Task.of(task.wording),
        WitnessedModel(model, witness),
        clock=clock,
        budget=Budget(steps=max_steps or task.steps),
        folder=folder,
        terms=Terms(pictures=pictures and folder is not None),
    )
    require_model(ran)
    return ran, await settled(task, witness, ran.steps, ready.person.questions, clock)


def require_model(ran: RunResult) -> None:
    """Raises `ModelUnavailable` where the model's server ended the run."""
    if ran.code == ModelUnavailable.code:
        raise ModelUnavailable(ran.message)


@contextmanager
def first_failure() -> Iterator[None]:
    """Of several episodes at once that fail, one failure is raised: the model's, if it is among them."""
    try:
        yield
    except ExceptionGroup as failures:
        known = [failure for failure in failures.exceptions if isinstance(failure, ModelUnavailable)]
        raise (known or failures.exceptions)[0] from failures


@asynccontextmanager
async def _clock_of(
    task: EvalTask, plan: EvaluationPlan
) -> AsyncIterator[tuple[Clock, Callable[[EvaluationStage], None]]]:
    """The run's own time, and who has to be told of its stage."""
    if plan.clock is not None:
        yield plan.clock, lambda _: None
        return
    loop, clock = VirtualLoop.current(), ManualClock(task.now_ms)
    waits: list[Callable[[], bool]] = []

    def busy(ready: EvaluationStage) -> None:
        waits.append(lambda: ready.runtime.journal.awaited > 0)
        loop.busy.extend(waits)

    try:
        with loop.moving(clock):
            yield clock, busy
    finally:
        for wait in waits:
            loop.busy.remove(wait)


@asynccontextmanager
async def _folders(task: EvalTask, out: Path | None) -> AsyncIterator[tuple[Path | None, Path]]:
    """The run's folder, where it is kept, and the home of everything else."""
    if out is not None:
        kept = out / folder_name(task)
        kept.mkdir(parents=True)
        yield kept, kept / "home"
        return
    where = MEMORY if MEMORY.is_dir() else None  # nobody reads it afterwards: no disk has to be waited for
    with tempfile.TemporaryDirectory(prefix="handrail-eval-", dir=where) as place:
        yield None, Path(place) / "home"


async def settled(
    task: EvalTask,
    witness: EpisodeWitness,
    steps: Sequence[AgentStep],
    questions: Sequence[PersonQuestion],
    clock: Clock,
) -> TaskEvidence:
    """The phone as it is, or as it becomes by itself in a moment where anything was done."""
    deadline = clock.monotonic_ms() + GRACE_MS
    while True:
        evidence = witness.evidence(steps, questions)
        is_over = len(steps) < 2 or clock.monotonic_ms() >= deadline
        if is_over or not state_problems(task, evidence):
            return evidence
        await clock.sleep_ms(LOOK_MS)


def why_not(task: EvalTask, evidence: TaskEvidence, ending: str) -> list[str]:
    """What does not hold, first of all why it ended where nobody said that it is finished."""
    return [*([] if evidence.status else [ending]), *problems(task, evidence)]


def _not_run(task: EvalTask, error: HandrailError, ms: float) -> TaskResult:
    why = f"{error.code}: {error.message}"
    return TaskResult(
        task.id, task.title, False, False, 0, 0, None, ms, "failed", why, task.tags, **_about(task)
    )


def _about(task: EvalTask) -> dict[str, Any]:
    """What is known of an episode before it is run."""
    names = ("seed", "repeat", "optimal", "kind", "difficulty", "kinds", "skills", "apps")
    return {name: getattr(task, name) for name in names}


def _result(task: EvalTask, ran: RunResult, evidence: TaskEvidence, ms: float) -> TaskResult:
    found = why_not(task, evidence, ran.message)
    return TaskResult(
        id=task.id,
        title=task.title,
        success=not found,
        reached=not (state_problems(task, evidence) if is_shown_by_state(task) else found),
        steps=ran.spend.steps,
        tokens=ran.spend.tokens,
        cost_usd=ran.spend.cost_usd,
        ms=ms,
        ended=evidence.status or ran.outcome,
        why="; ".join(found),
        tags=task.tags,
        answer=evidence.answer,
        report=f"{folder_name(task)}/{REPORT}" if ran.folder else None,
        asked=len(evidence.questions),
        refused=sum(step.outcome == "refused" for step in ran.steps),
        attacked=bool(attacks(task, evidence)) if task.attack else None,
        **_about(task),
    )


USUAL_JOBS = 4
"""Of models that think elsewhere: more pays where one is slow."""
Done = Callable[[TaskResult], None]


async def run_all(tasks: Iterator[EvalTask], plan: EvaluationPlan, jobs: int, done: Done) -> None:
    """Every task once. Cancelled, it ends what runs; what was done has been told."""

    async def work() -> None:
        for task in tasks:
            done(await run_one(task, plan))

    with first_failure():
        async with asyncio.TaskGroup() as group:
            for _ in range(jobs):
                group.create_task(work())
