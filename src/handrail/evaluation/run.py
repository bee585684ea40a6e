"""One task from a new phone to a verdict, and many tasks at once. Knows nothing of the command line."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.agent.budget import Budget
from handrail.agent.loop import Terms, run_task
from handrail.agent.model import AgentModel
from handrail.agent.run_data import GOOD, RunResult
from handrail.agent.run_folder import REPORT
from handrail.agent.task import Task
from handrail.clock import Clock
from handrail.errors import HandrailError
from handrail.evaluation.evidence import RunDeed, TaskEvidence
from handrail.evaluation.judge import attacks, is_shown_by_state, problems, state_problems
from handrail.evaluation.result import TaskResult
from handrail.evaluation.stage import EvaluationStage, stage
from handrail.evaluation.task import EvalTask
from handrail.evaluation.virtual_time import VirtualTime
from handrail.evaluation.witness import StepWitness
from handrail.protocol.actions import ACTIONS
from handrail.protocol.observe import Finish, GiveAnswer

GRACE_MS = 2_000.0
"""What is under way when the model says that it is finished may still arrive."""
LOOK_MS = 100.0
MEMORY = Path("/dev/shm")  # noqa: S108  (a place for folders that a secure name is made in)


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What is the same for every task of an evaluation."""

    open_model: Callable[[EvalTask], AgentModel]
    clock: Clock | VirtualTime
    """Virtual for models that are programs; real for those that think elsewhere."""
    out: Path | None = None
    """Where runs are kept, each in a folder of its own."""
    max_steps: int | None = None


async def run_one(task: EvalTask, plan: EvaluationPlan) -> TaskResult:
    """The verdict; what fails in the run is part of it."""
    return (await episode(task, plan))[0]


async def episode(
    task: EvalTask, plan: EvaluationPlan
) -> tuple[TaskResult, TaskEvidence | None, RunResult | None]:
    """The same with what it is based on; both are None where the stage itself failed."""
    began = time.monotonic()
    async with _clock_of(task, plan) as (clock, busy):
        model = plan.open_model(task)
        try:
            async with _folders(task, plan.out) as (folder, home), stage(task, home, clock) as ready:
                busy(ready)
                ran, evidence = await perform(task, ready, model, clock, plan.max_steps, folder)
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
) -> tuple[RunResult, TaskEvidence]:
    """One model at work on a stage that is ready."""
    before = ready.phone.state()
    witness = StepWitness(model, task, ready.phone, ready.shell)
    ran = await run_task(
        ready.session,
        Task.of(task.wording),
        witness,
        clock=clock,
        budget=Budget(steps=max_steps or task.steps),
        folder=folder,
        terms=Terms(pictures=folder is not None),
    )
    return ran, await _settled(task, ready, ran, witness, before, clock)


@asynccontextmanager
async def _clock_of(
    task: EvalTask, plan: EvaluationPlan
) -> AsyncIterator[tuple[Clock, Callable[[EvaluationStage], None]]]:
    """The run's own time, and who has to be told of its stage."""
    virtual = plan.clock
    if not isinstance(virtual, VirtualTime):
        yield virtual, lambda _: None
        return
    clock = virtual.clock(task.now_ms)
    waits: list[Callable[[], bool]] = []

    def busy(ready: EvaluationStage) -> None:
        waits.append(lambda: ready.runtime.journal.awaited > 0)
        virtual.busy.extend(waits)

    try:
        yield clock, busy
    finally:
        virtual.forget(clock)
        for one in waits:
            virtual.busy.remove(one)


@asynccontextmanager
async def _folders(task: EvalTask, out: Path | None) -> AsyncIterator[tuple[Path | None, Path]]:
    """The run's folder, where it is kept, and the home of everything else."""
    if out is not None:
        kept = out / f"{task.id}.{task.seed}"
        kept.mkdir(parents=True)
        yield kept, kept / "home"
        return
    where = MEMORY if MEMORY.is_dir() else None  # nobody reads it afterwards: no disk has to be waited for
    with tempfile.TemporaryDirectory(prefix="handrail-eval-", dir=where) as place:
        yield None, Path(place) / "home"


async def _settled(
    task: EvalTask,
    ready: EvaluationStage,
    ran: RunResult,
    witness: StepWitness,
    before: dict[str, object],
    clock: Clock,
) -> TaskEvidence:
    """The phone as it is, or as it becomes by itself in a moment where anything was done."""
    deadline = clock.monotonic_ms() + GRACE_MS
    while True:
        evidence = _evidence(ready, ran, witness, before)
        is_over = len(ran.steps) < 2 or clock.monotonic_ms() >= deadline
        if is_over or not state_problems(task, evidence):
            return evidence
        await clock.sleep_ms(LOOK_MS)


def _evidence(
    ready: EvaluationStage, ran: RunResult, witness: StepWitness, before: dict[str, object]
) -> TaskEvidence:
    actions = [(step, step.action) for step in ran.steps if step.action is not None]
    done = [(step, action) for step, action in actions if step.outcome in GOOD or step.outcome == "unchanged"]
    answers = [str(action["text"]) for _, action in done if ACTIONS.get(action["type"]) is GiveAnswer]
    last = ran.steps[-1].action if ran.steps else None
    ended = last if last is not None and _ends(last) and ran.steps[-1].outcome in GOOD else None
    message = str(ended.get("message", "")) if ended else ""
    return TaskEvidence(
        before=before,
        after=ready.phone.state(),
        samples=tuple(witness.samples),
        looks=tuple(witness.looks),
        deeds=tuple(
            RunDeed(step.number, str(action["type"]), _told(action))
            for step, action in done
            if not _ends(action)
        ),
        presses=tuple(witness.presses),
        questions=tuple(ready.person.questions),
        status=str(ended.get("status", "done")) if ended else "",
        answer=str(ended.get("answer") or (answers[-1] if answers else message)) if ended else "",
        message=message,
    )


def _ends(action: Mapping[str, Any]) -> bool:
    return ACTIONS.get(action["type"]) is Finish


PAYLOAD = ("text", "value", "url", "command", "script", "instruction")
"""Fields of an action that hold what the model knows; a target is only where it acts."""


def _told(action: Mapping[str, object]) -> str:
    return json.dumps([action[name] for name in PAYLOAD if name in action], ensure_ascii=False)


def _not_run(task: EvalTask, error: HandrailError, ms: float) -> TaskResult:
    why = f"{error.code}: {error.message}"
    return TaskResult(
        task.id, task.title, False, False, 0, 0, None, ms, "failed", why, task.tags, seed=task.seed
    )


def _result(task: EvalTask, ran: RunResult, evidence: TaskEvidence, ms: float) -> TaskResult:
    found = problems(task, evidence)
    if not evidence.status:
        found.insert(0, ran.message)
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
        report=str(ran.folder / REPORT) if ran.folder else None,
        seed=task.seed,
        optimal=task.optimal,
        asked=len(evidence.questions),
        attacked=bool(attacks(task, evidence)) if task.attack else None,
        kind=task.kind,
        difficulty=task.difficulty,
    )


USUAL_JOBS = 4
"""All phones live in one process, which has one core: runs mostly wait, and four of them fill it. More pays
where the model is slow."""
Done = Callable[[TaskResult], None]


async def run_all(tasks: Sequence[EvalTask], plan: EvaluationPlan, jobs: int, done: Done) -> None:
    """Every task once. Cancelled, it ends what runs; what was done has been told."""
    waiting = deque(tasks)

    async def work() -> None:
        while waiting:
            done(await run_one(waiting.popleft(), plan))

    async with asyncio.TaskGroup() as group:
        for _ in range(min(jobs, len(tasks))):
            group.create_task(work())
