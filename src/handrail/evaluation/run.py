"""One task from a new phone to a verdict, and many tasks at once. Knows nothing of the command line.

Each task has a stage of its own: a phone that nobody has used, a session, and a person who answers every
question as the task's lines say.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.adb.shell import Script
from handrail.agent.budget import Budget
from handrail.agent.loop import Terms, run_task
from handrail.agent.model import AgentModel
from handrail.agent.run_data import RunResult
from handrail.agent.run_folder import REPORT
from handrail.agent.task import Task
from handrail.clock import Clock
from handrail.config import Config
from handrail.engine.approval import Approvals, AskedApproval
from handrail.engine.events import Caller
from handrail.engine.session import Session
from handrail.errors import HandrailError
from handrail.evaluation.checks import TaskEvidence, is_shown_by_state, problems, state_problems
from handrail.evaluation.result import TaskResult
from handrail.evaluation.task import EvalTask, Line
from handrail.runtime import Runtime
from handrail.simulator import simulated_phones

if TYPE_CHECKING:
    from handrail_sim.phone import Phone

GRACE_MS = 2_000.0
"""What is under way when the model says that it is finished may still arrive."""
LOOK_MS = 100.0


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What is the same for every task of an evaluation."""

    open_model: Callable[[EvalTask], AgentModel]
    clock: Clock
    out: Path | None = None
    """Where runs are kept, each in a folder of its own."""
    max_steps: int | None = None


async def run_one(task: EvalTask, plan: EvaluationPlan) -> TaskResult:
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


async def _run(task: EvalTask, plan: EvaluationPlan, model: AgentModel) -> tuple[RunResult, TaskEvidence]:
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
    task: EvalTask, ready: EvaluationStage, ran: RunResult, before: dict[str, object], clock: Clock
) -> TaskEvidence:
    """The phone as it is, or as it becomes by itself in a moment where anything was done."""
    deadline = clock.monotonic_ms() + GRACE_MS
    while True:
        evidence = TaskEvidence(
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
    return TaskResult(
        task.id, task.title, False, False, 0, 0, None, ms, "failed", why, task.tags, seed=task.seed
    )


def _result(task: EvalTask, ran: RunResult, evidence: TaskEvidence, ms: float) -> TaskResult:
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
        seed=task.seed,
    )


@dataclass(frozen=True, slots=True)
class EvaluationStage:
    """Everything is ready for the first step."""

    phone: Phone
    session: Session
    runtime: Runtime
    person: Person


@asynccontextmanager
async def stage(task: EvalTask, home: Path, clock: Clock) -> AsyncIterator[EvaluationStage]:
    """Journal, approvals and policy are the task's own: runs beside one another share nothing."""
    config, env = _home(task, home)
    async with simulated_phones(clock=clock, seed=task.seed, serial=f"eval-{task.id}") as [served]:
        device = AdbDevice(Direct(served.host, served.port, clock=clock), clock)
        caller = Caller(task.id, "agent", "agent")
        async with Runtime.open(config, clock=clock, env=env, caller=caller) as runtime:
            session = await runtime.session_on(device, helper="none")
            await _set_up(task, served.phone, device)
            person = Person(task.person, runtime.approvals)
            runtime.approvals.notify = person
            yield EvaluationStage(served.phone, session, runtime, person)


def _home(task: EvalTask, home: Path) -> tuple[Config, dict[str, str]]:
    """Nothing of the machine's own settings: the same task is the same everywhere."""
    secrets = {f"HANDRAIL_SECRET_{name}": value for name, value in task.secrets.items()}
    env = {"HANDRAIL_HOME": str(home), "HOME": str(home), **secrets}
    config = Config.from_env(env)
    config.make_home()
    if task.policy:
        config.policy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        config.policy.touch(mode=0o600)
        config.policy.write_text(task.policy, encoding="utf-8")
    return config, env


async def _set_up(task: EvalTask, phone: Phone, device: AdbDevice) -> None:
    for command in task.setup.shell:
        await device.shell.run(Script(command))
    for one in task.setup.sms:
        phone.later(one.after_ms, partial(phone.receive_sms, one.sender, one.text))
    phone.faults.load(task.setup.faults)
    phone.catch_up()
    phone.systemui.end_heads_up()  # what has arrived before the start has been seen


PERSON = "the task's person"
_REFUSED = Line(approve=False)


class Person:
    """Usable as `notify` of `Approvals`."""

    def __init__(self, lines: Sequence[Line], approvals: Approvals) -> None:
        self.asked = 0
        self._lines = lines
        self._approvals = approvals

    async def __call__(self, one: AskedApproval, token: str | None) -> None:  # noqa: ARG002  (links are for other doors)
        self.asked += 1
        line = next((line for line in self._lines if _is_about(line.to, one)), _REFUSED)
        await self._approvals.answer(one.id, line.approve, PERSON, data=line.data if line.approve else None)


def _is_about(pattern: str, one: AskedApproval) -> bool:
    names = (one.request.label, one.action_type, one.request.capability)
    return any(fnmatchcase(str(name), pattern) for name in names if name)


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
