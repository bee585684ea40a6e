"""One step of a run: look, ask the model, run what it chose, write down what came of it.

Holds the run's state between steps. What ends a run is a value, `Ending`; who may stop it is `loop`'s matter.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace
from functools import partial

from handrail.agent.budget import Budget, Spend
from handrail.agent.computer import ComputerSpeech
from handrail.agent.history import UnfinishedStep, answer_of, came_of, line_of
from handrail.agent.model import AgentModel
from handrail.agent.phone import (
    PLACEHOLDER,
    ActionRunner,
    ScreenLook,
    look,
    photograph,
    photograph_by,
    picture_in,
)
from handrail.agent.prompt import Situation, ask_model, asked_again, prompt_of
from handrail.agent.read_answer import read_reply
from handrail.agent.run_data import AgentStep, Outcome, Phase, RunProgress, StepOutcome, Tell
from handrail.agent.run_folder import RunFolder
from handrail.agent.speech import Speech
from handrail.agent.stuck import Moment, ScreenNumbers, StuckGuard
from handrail.agent.task import Task
from handrail.clock import Clock, iso_time
from handrail.engine.look.conditions import holds
from handrail.errors import HandrailError, ModelRefused
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.protocol.observe import Finish, RequestHumanAuth, Wait, WaitFor, WaitForStable
from handrail.tree.quote import clean, cut
from handrail.waiting import beside

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
GONE = frozenset({"DEVICE_OFFLINE", "ADB_CONNECTION_ERROR"})


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
        """The next one; None when there may be another after it."""
        number = self.steps[-1].number + 1 if self.steps else 1
        draft = UnfinishedStep(number, iso_time(self.clock.now_ms()), self.clock.monotonic_ms())
        self.hands.begin_step()
        try:
            return await self._live(draft)
        except asyncio.CancelledError:
            self._cut_short(draft)
            raise
        except HandrailError as error:  # the model can't be reached, or the session is closed
            self._write(draft, "failed", cut(clean(error.message), 240), code=error.code)
            return Ending("failed", f"{error.message}. {error.hint}", error.code)

    async def _live(self, draft: UnfinishedStep) -> Ending | None:
        draft.view = await self._look()
        if draft.view.code in GONE:
            self._write(draft, "failed", draft.view.text, code=draft.view.code)
            return Ending("failed", draft.view.text, draft.view.code)
        await self._see_and_ask(draft)
        if draft.asked is not None and draft.asked.reply.refusal:
            return self._refused(draft, draft.asked.reply.refusal)
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

    async def _look(self) -> ScreenLook:
        for left in reversed(range(LOOKS)):
            view = await look(self.hands.session, self.hands.act)
            if view.code not in GONE or not left:
                break
            await self.clock.sleep_ms(LOOK_AGAIN_MS)
        return view

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
        if not wanted or self.has_secret or draft.view.seen is None:
            return
        screen, act = draft.view.seen.screen, self.hands.act
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
        again = self.speech.asked_again if isinstance(self.speech, ComputerSpeech) else asked_again
        prompt = prompt_of(self._situation(draft), self.model, self.speech)
        try:
            calling = partial(self.hands.session.working, "model")
            draft.asked = await ask_model(
                self.model, prompt, draft.usages, read, again, self._notice, working=calling
            )
        finally:  # what was sent is paid for, whatever becomes of the answer
            for usage in draft.usages:
                self.spend = self.spend.plus(usage)
        draft.action = draft.asked.choice.action
        self._remark = draft.asked.reply.problem if draft.action is not None else ""
        if self.speech is not None:
            self._remark = " ".join(f"{note}." for note in self.speech.notes)

    def _situation(self, draft: UnfinishedStep) -> Situation:
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
            holds=self._holds(draft.view),
        )

    def _holds(self, view: ScreenLook) -> bool:
        if self.task.until is None or view.seen is None:
            return False
        looks = self.hands.session.looks
        return holds(self.task.until, view.seen, looks.view(view.seen), None).met

    def _place(self, draft: UnfinishedStep) -> int:
        """0 where nothing could be seen."""
        return self.places.of(draft.view.seen) if draft.view.seen else 0

    def _moment(self, draft: UnfinishedStep, action: AnyAction) -> Moment:
        said = {name: value for name, value in action.to_dict().items() if name != "reason"}
        waits = isinstance(action, Wait | WaitFor | WaitForStable)
        return Moment(self._place(draft), json.dumps(said, sort_keys=True), waits)

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
            return await self._hand_back(draft)
        self.guard.note(self._moment(draft, action))
        return None

    async def _hand_back(self, draft: UnfinishedStep) -> Ending | None:
        """A person who has taken the phone gives it back sometime; whoever else has it keeps it."""
        session, is_said = self.hands.session, False
        while (held := await session.holder()) is not None:
            if held.holder.kind != "person":
                return Ending("failed", f"{held.holder} has the phone.", "DEVICE_BUSY")
            if not is_said:
                self._say("waiting", draft)
                is_said = True
            await self.clock.sleep_ms(HAND_BACK_MS)
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
                return self._not_done(draft, checked)
        envelope = await self.hands.act(action, draft.thought)
        self._write(draft, came_of(action, envelope), line_of(action, envelope), envelope)
        if not envelope.success:
            return STOPPED
        return Ending("finished" if action.status == "done" else "failed", action.message)

    def _not_done(self, draft: UnfinishedStep, checked: Envelope) -> Ending | None:
        self._claims += 1
        wanted = json.dumps(self.task.until.to_dict(), ensure_ascii=False) if self.task.until else ""
        why = f"The task is not done: {wanted} does not hold"
        self._answer = f"{why}. {clean(checked.message or '')}"
        told = f"Said it is finished, and {why[:1].lower()}{why[1:]}"
        self._write(draft, "blocked", told, code=checked.failure_code)
        if self._claims < CLAIMS:
            return None
        return Ending("failed", f"{why}, although the model said so {CLAIMS} times.", checked.failure_code)

    def _refused(self, draft: UnfinishedStep, why: str) -> Ending:
        told = f"The model refused: {cut(clean(why), 240)}"
        self._write(draft, "refused", told, code=ModelRefused.code)
        return Ending("refused", f"The model refused: {clean(why)}", ModelRefused.code)

    def _unreadable(self, draft: UnfinishedStep) -> Ending | None:
        problem = draft.asked.choice.problem if draft.asked else ""
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
        told = f"Not done: {why}"
        if not self.may_ask:
            self._write(draft, "blocked", told)
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
            self._write(draft, "blocked", f"{told}; the person did not let it go on")
            return Ending("stuck", f"The run goes round in circles: {why}.", envelope.failure_code)
        advice = (envelope.details or {}).get("data")
        if advice:
            self.notes.append(str(advice))
        self.guard.forget()
        self._answer = ""
        self._write(draft, "blocked", f"{told}; the person said: go on")
        return None

    # writing down

    def _cut_short(self, draft: UnfinishedStep) -> None:
        """What the journal has of it stands in the folder, too."""
        if not self.hands.ids:
            return
        done = draft.action.type if draft.action is not None else "nothing was chosen yet"
        self._write(draft, "unfinished", f"Stopped: {done}", code="CANCELLED")

    def _write(
        self,
        draft: UnfinishedStep,
        came: StepOutcome,
        told: str,
        envelope: Envelope | None = None,
        code: str | None = None,
    ) -> None:
        ms = self.clock.monotonic_ms() - draft.began_ms
        failed = code or (envelope.failure_code if envelope else None)
        step = draft.step(came, told, ids=self.hands.ids, ms=ms, envelope=envelope, code=failed)
        if self.speech is not None:
            self.speech.came(came, told, self._region(draft, envelope))
        self.hands.begin_step()  # what comes after it is not part of it
        self.steps.append(step)
        self.spend = replace(self.spend, steps=len(self.steps), ms=self.spend.ms + ms)
        if self.folder is not None:
            self.folder.add(step)
        self.tell(
            RunProgress("step", self.hands.caller.id, step.number, step.thought, told, self.spend, step)
        )

    def _region(self, draft: UnfinishedStep, envelope: Envelope | None) -> bytes | None:
        """A part of the screen that the model wanted to see larger."""
        if envelope is None or self.has_secret or getattr(draft.action, "region", None) is None:
            return None
        return picture_in(envelope)

    def _notice(self, words: str) -> None:
        run, number = self.hands.caller.id, len(self.steps) + 1
        self.tell(RunProgress("notice", run, number, doing=words, spend=self.spend))

    def _say(self, phase: Phase, draft: UnfinishedStep) -> None:
        doing = draft.action.type if draft.action is not None else ""
        self.tell(RunProgress(phase, self.hands.caller.id, draft.number, draft.thought, doing, self.spend))
