"""A task from its first look to its end: step after step, within its budget, stoppable at any moment.

The stepper does the work; here it is decided when there is no next step, and the run's folder is closed.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from handrail.agent.budget import DEFAULT, Budget, Spend, reached, says
from handrail.agent.computer import ComputerSpeech
from handrail.agent.model import AgentModel, Usage
from handrail.agent.phone import PLACEHOLDER, ActionRunner
from handrail.agent.report import report
from handrail.agent.run_data import AgentStep, RunProgress, RunResult, Tell, silent
from handrail.agent.run_folder import RunFolder
from handrail.agent.speech import Speech
from handrail.agent.stepper import STOPPED, Ending, Stepper
from handrail.agent.stuck import ScreenNumbers
from handrail.agent.task import Task
from handrail.clock import Clock, iso_time
from handrail.engine.desk_runner import DeskRunner
from handrail.engine.events import Caller
from handrail.engine.session import Session
from handrail.waiting import first


@dataclass(frozen=True, slots=True)
class Terms:
    """What may differ between runs besides task, model and budget."""

    stop: asyncio.Event | None = None
    """Set, it ends the run."""
    tell: Tell = silent
    notes: list[str] | None = None
    """May grow while the run goes on: told to the model as the person's words."""
    desk: DeskRunner | None = None
    before: Sequence[AgentStep] = ()
    """The steps of a run that goes on here; they count against the budget."""
    pictures: bool = True
    """One per step is kept in the folder."""
    spec: str = ""
    """How the model can be opened again when the run is resumed."""
    speech: Speech | None = None
    """The dialect that the model speaks, if it is not ours."""


USUAL = Terms()


async def run_task(
    session: Session,
    task: Task,
    model: AgentModel,
    *,
    clock: Clock,
    budget: Budget = DEFAULT,
    folder: Path | None = None,
    ask: bool = False,
    terms: Terms = USUAL,
) -> RunResult:
    """Work on the task until it is finished, given up or stopped. Failures are in the result.

    `folder` is named after the run, and so are its actions in the journal. `ask`: a person can be asked when
    the run is stuck; else it ends there.
    """
    with session.working("agent") as work:
        result = await _run(_stepper(session, task, model, clock, budget, folder, ask, terms), terms)
        work.outcome, work.code = result.outcome, result.code
    return result


async def _run(stepper: Stepper, terms: Terms) -> RunResult:
    place, run = stepper.folder, stepper.hands.caller.id
    if place is not None and not terms.before:
        place.begin(_task_data(stepper, terms.spec))
    terms.tell(RunProgress("started", run, len(terms.before), spend=stepper.spend))
    ending = STOPPED
    try:
        ending = await _until_ended(stepper, terms.stop)
    finally:  # also when whoever waits for the result is told to go
        result = _result(stepper, ending)
        if place is not None:
            place.end(result.to_dict(), report(result, place.path))
        terms.tell(RunProgress("ended", run, len(stepper.steps), spend=stepper.spend, result=result))
    return result


def _stepper(
    session: Session,
    task: Task,
    model: AgentModel,
    clock: Clock,
    budget: Budget,
    folder: Path | None,
    ask: bool,
    terms: Terms,
) -> Stepper:
    place = RunFolder(folder) if folder is not None else None
    run = place.id if place else f"agent-{secrets.token_hex(6)}"
    caller = Caller(run, "agent", "agent", asker=place.asker if place else "")
    return Stepper(
        task=task,
        model=model,
        hands=ActionRunner(session, caller, terms.desk),
        clock=clock,
        budget=budget,
        places=ScreenNumbers(session.looks.same),
        tell=terms.tell,
        folder=place,
        may_ask=ask,
        pictures=terms.pictures,
        speech=terms.speech,
        steps=list(terms.before),
        has_secret=any(PLACEHOLDER in str(step.action) for step in terms.before),
        spend=spent(terms.before),
        notes=[] if terms.notes is None else terms.notes,
    )


def spent(steps: Sequence[AgentStep]) -> Spend:
    """What these steps have cost."""
    total = Spend(steps=len(steps), ms=sum(step.ms for step in steps))
    for step in steps:
        total = replace(
            total.plus(Usage(step.input_tokens, step.output_tokens, step.cost_usd)),
            calls=total.calls + step.asks,
            estimated_tokens=total.estimated_tokens + step.estimated_tokens,
        )
    return total


async def _until_ended(stepper: Stepper, stop: asyncio.Event | None) -> Ending:
    """The work, a stop and the end of its time race; what loses is ended, too."""
    working, *bells = await first(
        _work(stepper), _time_is_up(stepper), _stopped_elsewhere(stepper), _stopped(stop)
    )
    if not working.cancelled():
        return working.result()
    return next(bell.result() for bell in reversed(bells) if not bell.cancelled())


async def _work(stepper: Stepper) -> Ending:
    while (limit := reached(stepper.budget, stepper.spend)) is None:
        if (ending := await stepper.step()) is not None:
            return ending
    return Ending(limit, says(limit, stepper.budget))


async def _time_is_up(stepper: Stepper) -> Ending:
    budget = stepper.budget
    if budget.seconds is None:
        await asyncio.Event().wait()
    left = (budget.seconds or 0.0) * 1000 - stepper.spend.ms
    await stepper.clock.sleep_ms(left)
    return Ending("out_of_time", says("out_of_time", budget))


async def _stopped(stop: asyncio.Event | None) -> Ending:
    await (stop or asyncio.Event()).wait()
    return STOPPED


async def _stopped_elsewhere(stepper: Stepper) -> Ending:
    """`handrail stop` and the desk's interrupt count also while the model thinks."""
    await stepper.hands.session.stopped()
    return STOPPED


def _task_data(stepper: Stepper, spec: str) -> dict[str, object]:
    return {
        "run": stepper.hands.caller.id,
        **stepper.task.to_dict(),
        "model": stepper.model.name,
        "spec": spec,
        **({"dialect": stepper.speech.own.name} if stepper.speech is not None else {}),
        **({"frame": stepper.speech.talk.frame.unit} if stepper.speech is not None else {}),
        **({"tools": "computer"} if isinstance(stepper.speech, ComputerSpeech) else {}),
        "device": stepper.hands.session.serial,
        "budget": stepper.budget.to_dict(),
        "started": iso_time(stepper.clock.now_ms()),
    }


def _result(stepper: Stepper, ending: Ending) -> RunResult:
    return RunResult(
        run=stepper.hands.caller.id,
        task=stepper.task.text,
        outcome=ending.outcome,
        message=ending.message,
        steps=tuple(stepper.steps),
        spend=stepper.spend,
        model=stepper.model.name,
        device=stepper.hands.session.serial,
        code=ending.code,
        folder=stepper.folder.path if stepper.folder else None,
    )
