"""A task from its first look to its end: step after step, within its budget, stoppable at any moment.

`Stepper` holds the state of a run and does one step: look, ask the model, run what it chose, write it down.
`run_task` decides when there is no next step, and closes the folder of the run.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from handrail.clock import Clock, iso_time
from handrail.engine.conditions import check_condition
from handrail.engine.desk_runner import DeskRunner
from handrail.engine.session import Session
from handrail.errors import HandrailError, ModelRefused
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.protocol.observe import Finish, RequestHumanAuth, Wait, WaitFor, WaitForStable
from handrail.safety.caller import Caller
from handrail.screen.text import clean, cut
from handrail.waiting import beside, first
from handrail_agent.budget import DEFAULT, Budget, Spend, reached, says
from handrail_agent.computer import ComputerSpeech, Speech
from handrail_agent.history import (
    Moment,
    ScreenNumbers,
    StuckGuard,
    UnfinishedStep,
    answer_of,
    came_of,
    line_of,
)
from handrail_agent.model import AgentModel, Usage
from handrail_agent.phone import (
    PLACEHOLDER,
    ActionRunner,
    look,
    photograph,
    photograph_by,
    picture_in,
)
from handrail_agent.prompt import Situation, ask_model, prompt_after_problem, prompt_of
from handrail_agent.read_answer import read_reply
from handrail_agent.run_data import (
    AgentStep,
    Outcome,
    Phase,
    RunFolder,
    RunProgress,
    RunResult,
    StepOutcome,
    Tell,
    report,
    silent,
)
from handrail_agent.task import Task

UNREADABLE = 3
"""Steps in a row without an action that can be run; then it is not worth asking."""
CLAIMS = 3
"""How often a model may say that it is finished while the task's condition does not hold."""
LOOKS = 3
"""Attempts to reach a phone that has gone."""
LOOK_AGAIN_MS = 1_000.0
CHECK_MS = 3_000
"""How long the task's condition may take to come true after `finish`."""
PERSON_SEC = 300
HAND_BACK_MS = 500.0
"""How often it is asked whether a person has given the phone back."""
OFFLINE_CODES = frozenset({"DEVICE_OFFLINE", "ADB_CONNECTION_ERROR"})


@dataclass(frozen=True, slots=True)
class Ending:
    """Why there is no next step."""

    outcome: Outcome
    message: str
    code: str | None = None


STOPPED = Ending("stopped", "It was stopped.", "CANCELLED")


@dataclass(slots=True)
class Stepper:
    """A run in the middle of its work."""

    task: Task
    model: AgentModel
    hands: ActionRunner
    clock: Clock
    budget: Budget
    places: ScreenNumbers
    tell: Tell
    folder: RunFolder | None = None
    may_ask: bool = False
    """A person can be asked when the run is stuck."""
    pictures: bool = True
    steps: list[AgentStep] = field(default_factory=list)
    spend: Spend = field(default_factory=Spend)
    notes: list[str] = field(default_factory=list)
    guard: StuckGuard = field(default_factory=StuckGuard)
    speech: Speech | None = None
    """The dialect that the model speaks, if it is not ours."""
    has_secret: bool = False
    """A secret was used or seen in this run: no more pictures."""
    _answer: str = ""
    _remark: str = ""
    _claims: int = 0

    async def step(self) -> Ending | None:
        """Run the next step; None when another may follow."""
        number = self.steps[-1].number + 1 if self.steps else 1
        draft = UnfinishedStep(number, iso_time(self.clock.now_ms()), self.clock.monotonic_ms())
        self.hands.begin_step()
        try:
            return await self._live(draft)
        except asyncio.CancelledError:
            if self.hands.ids:  # what the journal has of it stands in the folder, too
                done = draft.action.type if draft.action is not None else "nothing was chosen yet"
                self._write(draft, "unfinished", f"Stopped: {done}", code="CANCELLED")
            raise
        except HandrailError as error:  # the model can't be reached, or the session is closed
            self._write(draft, "failed", cut(clean(error.message), 240), code=error.code)
            return Ending("failed", f"{error.message}. {error.hint}", error.code)

    async def _live(self, draft: UnfinishedStep) -> Ending | None:
        for left in reversed(range(LOOKS)):
            draft.view = await look(self.hands.session, self.hands.act)
            if draft.view.code not in OFFLINE_CODES or not left:
                break
            await self.clock.sleep_ms(LOOK_AGAIN_MS)
        if draft.view.code in OFFLINE_CODES:
            self._write(draft, "failed", draft.view.text, code=draft.view.code)
            return Ending("failed", draft.view.text, draft.view.code)
        await self._see_and_ask(draft)
        if draft.model_answer is not None and draft.model_answer.reply.refusal:
            line = f"The model refused: {cut(clean(draft.model_answer.reply.refusal), 240)}"
            self._write(draft, "refused", line, code=ModelRefused.code)
            return Ending(
                "refused", f"The model refused: {clean(draft.model_answer.reply.refusal)}", ModelRefused.code
            )
        if draft.action is None:
            return self._unreadable(draft)
        self.has_secret = self.has_secret or PLACEHOLDER in str(draft.action.to_dict())
        self._say("acting", draft)
        if isinstance(draft.action, Finish):
            return await self._finish(draft, draft.action)
        if why := self.guard.stuck(self._moment(draft, draft.action)):
            return await self._stuck(draft, why)
        return await self._act(draft, draft.action)

    # seeing and asking

    async def _see_and_ask(self, draft: UnfinishedStep) -> None:
        """A picture that only the report shows is taken while the model thinks."""
        if self.speech is not None:
            self.speech.look(draft.view)
            if self.speech.waiting:  # what the model said last is not done yet
                draft.action = self.speech.waiting.popleft()
                await self._photograph(draft, for_model=False)
                return
        async with beside(self._photograph(draft), "agent's picture") as taking:
            if self.model.sees:
                await taking
            await self._ask(draft)
            await taking

    async def _photograph(self, draft: UnfinishedStep, *, for_model: bool = True) -> None:
        """No picture where a secret could be in it: pictures can't be redacted."""
        self.has_secret = self.has_secret or draft.view.shows_secret
        is_sent = self.model.sees and for_model
        wanted = is_sent or (self.pictures and self.folder is not None)
        if not wanted or self.has_secret or draft.view.look is None:
            return
        screen, act = draft.view.look.screen, self.hands.act
        if is_sent and isinstance(self.speech, ComputerSpeech):
            png = await photograph_by(act, (screen.width, screen.height), self.speech.scale)
        else:
            png = await photograph(act, screen.width, for_model=is_sent, marks=self.speech is None)
        draft.view = replace(draft.view, picture=png)
        if png is not None and self.folder is not None and self.pictures:
            draft.picture = await asyncio.to_thread(self.folder.keep_picture, draft.number, png)

    async def _ask(self, draft: UnfinishedStep) -> None:
        self._say("thinking", draft)
        read = self.speech.read if self.speech is not None else read_reply
        again = self.speech.after_problem if isinstance(self.speech, ComputerSpeech) else prompt_after_problem
        prompt = prompt_of(self._situation(draft), self.model, self.speech)

        def notice(words: str) -> None:
            run, number = self.hands.caller.id, len(self.steps) + 1
            self.tell(RunProgress("notice", run, number, doing=words, spend=self.spend))

        try:
            calling = partial(self.hands.session.working, "model")
            draft.model_answer = await ask_model(
                self.model, prompt, draft.usages, read, again, notice, working=calling
            )
        finally:  # what was sent is paid for, whatever becomes of the answer
            for usage in draft.usages:
                self.spend = self.spend.plus(usage)
        draft.action = draft.model_answer.choice.action
        self._remark = draft.model_answer.reply.problem if draft.action is not None else ""
        if self.speech is not None:
            self._remark = " ".join(f"{note}." for note in self.speech.notes)

    def _situation(self, draft: UnfinishedStep) -> Situation:
        look, is_met = draft.view.look, False
        if self.task.until is not None and look is not None:
            is_met = check_condition(
                self.task.until, look, self.hands.session.screens.refs_on(look), None
            ).met
        return Situation(
            task=self.task,
            view=draft.view,
            number=draft.number,
            budget=self.budget,
            spend=self.spend,
            steps=self.steps,
            answer=self._answer,
            notes=tuple(self.notes),
            remark=self._remark,
            warning=self.guard.warning(self._place(draft)),
            holds=is_met,
        )

    def _place(self, draft: UnfinishedStep) -> int:
        return self.places.of(draft.view.look) if draft.view.look else 0

    def _moment(self, draft: UnfinishedStep, action: AnyAction) -> Moment:
        fields = {name: value for name, value in action.to_dict().items() if name != "reason"}
        waits = isinstance(action, Wait | WaitFor | WaitForStable)
        return Moment(self._place(draft), json.dumps(fields, sort_keys=True), waits)

    # what came of it

    async def _act(self, draft: UnfinishedStep, action: AnyAction) -> Ending | None:
        if isinstance(action, RequestHumanAuth):
            self._say("waiting", draft)
        envelope = await self.hands.act(action, draft.thought)
        self._answer = answer_of(action, envelope)
        self._write(draft, came_of(action, envelope), line_of(action, envelope), envelope)
        if envelope.failure_code == "CANCELLED":
            return STOPPED
        if envelope.failure_code == "DEVICE_BUSY":
            # A person who has taken the phone gives it back sometime; whoever else has it keeps it.
            session, is_said = self.hands.session, False
            while (held := await session.holder()) is not None:
                if held.is_stopped:
                    return STOPPED
                if held.holder.kind != "person":
                    return Ending("failed", f"{held.holder} has the phone.", "DEVICE_BUSY")
                if not is_said:
                    self._say("waiting", draft)
                    is_said = True
                await self.clock.sleep_ms(HAND_BACK_MS)
            return None
        self.guard.note(self._moment(draft, action))
        return None

    async def _finish(self, draft: UnfinishedStep, action: Finish) -> Ending | None:
        """What the model says counts where nothing can be checked."""
        if self.task.until is not None and action.status == "done":
            check = WaitFor(condition=self.task.until, timeout_ms=CHECK_MS)
            checked = await self.hands.act(check, "I check that the task is done.")
            if checked.failure_code == "CANCELLED":
                self._write(draft, "unfinished", "Stopped: the check of the task", code="CANCELLED")
                return STOPPED
            if not checked.success:
                self._claims += 1
                wanted = json.dumps(self.task.until.to_dict(), ensure_ascii=False)
                why = f"The task is not done: {wanted} does not hold"
                self._answer = f"{why}. {clean(checked.message or '')}"
                line = f"Said it is finished, and {why[:1].lower()}{why[1:]}"
                self._write(draft, "blocked", line, code=checked.failure_code)
                if self._claims < CLAIMS:
                    return None
                message = f"{why}, although the model said so {CLAIMS} times."
                return Ending("failed", message, checked.failure_code)
        envelope = await self.hands.act(action, draft.thought)
        self._write(draft, came_of(action, envelope), line_of(action, envelope), envelope)
        if not envelope.success:
            return STOPPED
        return Ending("finished" if action.status == "done" else "failed", action.message)

    def _unreadable(self, draft: UnfinishedStep) -> Ending | None:
        problem = draft.model_answer.choice.problem if draft.model_answer else ""
        self._answer = ""
        asks = len(draft.usages)
        self._write(
            draft, "malformed", f"No action could be read in {asks} answers: {cut(clean(problem), 240)}"
        )
        last = [step.outcome for step in self.steps[-UNREADABLE:]]
        if last != ["malformed"] * UNREADABLE:
            return None
        return Ending("failed", f"The model gave no action that can be run: {problem}", "INVALID_ACTION")

    async def _stuck(self, draft: UnfinishedStep, why: str) -> Ending | None:
        """The act is not done. A person may say what to do instead; else this is the end."""
        line = f"Not done: {why}"
        if not self.may_ask:
            self._write(draft, "blocked", line)
            return Ending("stuck", f"The run goes round in circles: {why}.")
        self._say("waiting", draft)
        question = RequestHumanAuth(
            capability="permission",  # its data is plain text, not a secret
            instruction=f"The agent is stuck ({why}) with: {cut(clean(self.task.text), 300)} "
            "May it go on? What you write tells it what to do instead.",
            timeout_sec=PERSON_SEC,
        )
        envelope = await self.hands.act(question, "I am stuck and ask what to do.")
        if not envelope.success:
            self._write(draft, "blocked", f"{line}; the person did not let it go on")
            return Ending("stuck", f"The run goes round in circles: {why}.", envelope.failure_code)
        advice = (envelope.details or {}).get("data")
        if advice:
            self.notes.append(str(advice))
        self.guard.forget()
        self._answer = ""
        self._write(draft, "blocked", f"{line}; the person said: go on")
        return None

    # writing down

    def _write(
        self,
        draft: UnfinishedStep,
        came: StepOutcome,
        line: str,
        envelope: Envelope | None = None,
        code: str | None = None,
    ) -> None:
        ms = self.clock.monotonic_ms() - draft.began_ms
        code = code or (envelope.failure_code if envelope else None)
        step = draft.step(came, line, ids=self.hands.ids, ms=ms, envelope=envelope, code=code)
        if self.speech is not None:
            is_zoom = getattr(draft.action, "region", None) is not None and not self.has_secret
            self.speech.came(came, line, picture_in(envelope) if envelope and is_zoom else None)
        self.hands.begin_step()  # what comes after it is not part of it
        self.steps.append(step)
        self.spend = replace(self.spend, steps=len(self.steps), ms=self.spend.ms + ms)
        if self.folder is not None:
            self.folder.add(step)
        self.tell(
            RunProgress("step", self.hands.caller.id, step.number, step.thought, line, self.spend, step)
        )

    def _say(self, phase: Phase, draft: UnfinishedStep) -> None:
        doing = draft.action.type if draft.action is not None else ""
        self.tell(RunProgress(phase, self.hands.caller.id, draft.number, draft.thought, doing, self.spend))


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
    place = RunFolder(folder) if folder is not None else None
    run = place.id if place else f"agent-{secrets.token_hex(6)}"
    caller = Caller(run, "agent", "agent", asker=place.asker if place else "")
    stepper = Stepper(
        task=task,
        model=model,
        hands=ActionRunner(session, caller, terms.desk),
        clock=clock,
        budget=budget,
        places=ScreenNumbers(session.screens.is_same),
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
    with session.working("agent") as work:
        result = await _run(stepper, terms)
        work.outcome, work.code = result.outcome, result.code
    return result


async def _run(stepper: Stepper, terms: Terms) -> RunResult:
    place, run, ending = stepper.folder, stepper.hands.caller.id, STOPPED
    if place is not None and not terms.before:
        place.begin(_task_data(stepper, terms.spec))
    terms.tell(RunProgress("started", run, len(terms.before), spend=stepper.spend))
    try:
        ending = await _until_ended(stepper, terms.stop)
    finally:  # also when whoever waits for the result is told to go
        result = RunResult(
            run=run,
            task=stepper.task.text,
            outcome=ending.outcome,
            message=ending.message,
            steps=tuple(stepper.steps),
            spend=stepper.spend,
            model=stepper.model.name,
            device=stepper.hands.session.serial,
            code=ending.code,
            folder=place.path if place else None,
        )
        if place is not None:
            place.end(result.to_dict(), report(result, place.path))
        terms.tell(RunProgress("ended", run, len(stepper.steps), spend=stepper.spend, result=result))
    return result


def spent(steps: Sequence[AgentStep]) -> Spend:
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
    budget = stepper.budget

    async def work() -> Ending:
        while (limit := reached(budget, stepper.spend)) is None:
            if (ending := await stepper.step()) is not None:
                return ending
        return Ending(limit, says(limit, budget))

    async def time_is_up() -> Ending:
        if budget.seconds is None:
            await asyncio.Event().wait()
        await stepper.clock.sleep_ms((budget.seconds or 0.0) * 1000 - stepper.spend.ms)
        return Ending("out_of_time", says("out_of_time", budget))

    async def stopped(event: Coroutine[Any, Any, object]) -> Ending:
        await event
        return STOPPED

    # `handrail stop` and the desk's interrupt count also while the model thinks.
    elsewhere = stopped(stepper.hands.session.stopped())
    working, *bells = await first(work(), time_is_up(), elsewhere, stopped((stop or asyncio.Event()).wait()))
    if not working.cancelled():
        return working.result()
    return next(bell.result() for bell in reversed(bells) if not bell.cancelled())


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
