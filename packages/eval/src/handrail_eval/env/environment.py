"""One phone with one task as an environment: `reset(seed, task)`, then `step(action)` until it is over.

The shape is Gymnasium's, which need not be installed. The same seed and the same actions give the same bytes.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from handrail.adb.shell import Script
from handrail.errors import HandrailError, InvalidAction
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.protocol.observe import Finish, RequestHumanAuth
from handrail.protocol.read import action_from
from handrail.safety.approval_store import AskedApproval
from handrail_agent.budget import Budget, says
from handrail_agent.computer import Speech
from handrail_agent.history import came_of
from handrail_agent.phone import look, photograph
from handrail_agent.run_data import AgentStep
from handrail_eval.env.phone import Bench, EnvPhone
from handrail_eval.env.task import EnvEpisode, EnvQuestion, EnvTask, TaskSource, drawn
from handrail_eval.virtual_time import VirtualLoop
from handrail_sim.clock import ManualClock

T = TypeVar("T")
Observation = dict[str, Any]
StepResult = tuple[Observation, float, bool, bool, dict[str, Any]]
GivenAction = str | Mapping[str, Any] | AnyAction
PERSON = "the task's person"
START_MS = 1_710_000_000_000
"""Of a task that names no time."""
FINISH = Finish.model_fields["type"].default


class EnvProcess:
    """What environments of one process share: a loop in virtual time, and a folder that is thrown away."""

    def __init__(self) -> None:
        self._place = tempfile.TemporaryDirectory(prefix="handrail-env-")
        self.bench = Bench(Path(self._place.name))
        self.loop = VirtualLoop()

    def run(self, clock: ManualClock, work: Coroutine[Any, Any, T]) -> T:
        with self.loop.moving(clock):
            return self.loop.run_until_complete(work)

    def close(self) -> None:
        self.loop.close()
        self.bench.close()
        self._place.cleanup()


class PhoneEnv:
    """`dialect` reads actions by another maker's rules; `pictures` adds a PNG to every observation."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}
    spec: Any = None

    def __init__(
        self,
        task: TaskSource | None = None,
        *,
        dialect: str | None = None,
        pictures: bool = False,
        shared: EnvProcess | None = None,
        name: str = "env",
    ) -> None:
        self._source = task
        self._speech = Speech.of(dialect) if dialect else None
        self._pictures = pictures
        self._owned = None if shared else EnvProcess()
        self._process = shared or self._owned or EnvProcess()
        self._name = name
        self._clock = ManualClock(START_MS)
        self.seed = 0
        self._phone: EnvPhone | None = None
        self._task: EnvTask | None = None
        self._episode: EnvEpisode
        self._number = 0
        self._steps: list[AgentStep] = []
        self._done = True

    # Gymnasium's shape

    def reset(
        self,
        *,
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
        task: TaskSource | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """A new phone for the task that the seed draws; without a seed the next one."""
        self.seed = self.seed + 1 if seed is None else seed
        self._source = task or (options or {}).get("task") or self._source
        if self._source is None:
            raise InvalidAction("there is no task", path="task", hint="Give one to reset.")
        self._close_phone()
        self._task = drawn(self._source, self.seed)
        self._clock = ManualClock(self._task.now_ms or START_MS)
        self._number, self._steps, self._done = 0, [], False
        return self._process.run(self._clock, self._begin(self._task)), {
            "instruction": self._task.instruction
        }

    def step(self, action: GivenAction) -> StepResult:
        """One action; one that can't be read, or is refused, is a step without effect, and info says why."""
        if self._done or self._phone is None or self._task is None:
            raise InvalidAction("the episode is over", path="reset", hint="Call reset first.")
        return self._process.run(self._clock, self._live(self._phone, self._task, action))

    def render(self) -> bytes | None:
        """The screen as a PNG."""
        return self._process.run(self._clock, self._picture(self._phone)) if self._phone else None

    def close(self) -> None:
        self._close_phone()
        if self._owned is not None:
            self._owned.close()
            self._owned = None

    @property
    def unwrapped(self) -> PhoneEnv:
        return self

    # in virtual time

    def _close_phone(self) -> None:
        if self._phone is not None:
            self._process.run(self._clock, self._phone.close())
            self._phone = None

    async def _begin(self, task: EnvTask) -> Observation:
        self._phone = ready = await EnvPhone.open(
            self._process.bench, f"{self._name}-{self.seed}", self.seed, self._clock, task
        )
        ready.approvals.notify = partial(self._answer, ready)
        shell = partial(_shell, ready)
        self._episode = await task.begin(ready.phone, shell, self._clock)
        return await self._observe(ready)

    async def _answer(self, ready: EnvPhone, one: AskedApproval, token: str | None) -> None:
        del token  # links are for other doors
        question = EnvQuestion(one.request.label or "", one.action_type or "", one.request.capability or "")
        is_yes, data = self._episode.answer(question)
        await ready.approvals.answer(one.id, is_yes, PERSON, data=data if is_yes else None)

    async def _live(self, ready: EnvPhone, task: EnvTask, given: GivenAction) -> StepResult:
        self._number += 1
        await self._episode.step(self._number)
        info = await self._act(ready, given)
        terminated = info.get("action") == FINISH and info["success"]
        truncated = not terminated and self._number >= task.steps
        self._done = terminated or truncated
        reward = 0.0
        if self._done:
            ending = "" if terminated else says("out_of_steps", Budget(steps=task.steps))
            verdict = await self._episode.verdict(self._steps, ending)
            reward = float(verdict.solved)
            info |= {"solved": verdict.solved, "why": verdict.why}
        return await self._observe(ready), reward, terminated, truncated, info

    async def _act(self, ready: EnvPhone, given: GivenAction) -> dict[str, Any]:
        info: dict[str, Any] = {"success": False}
        try:
            for action in self._read(given):
                envelope = await ready.session.run(action)
                info = _told(action, envelope)
                came = came_of(action, envelope)
                self._steps.append(AgentStep(self._number, "", action.to_dict(), came, ""))
                if not envelope.success:
                    break
        except HandrailError as error:
            info = {"success": False, "code": error.code, "message": error.message}
            self._steps.append(AgentStep(self._number, "", None, "malformed", ""))
        return info

    def _read(self, given: GivenAction) -> list[AnyAction]:
        """Raises `InvalidAction` and `Unsupported`, whatever was given."""
        if isinstance(given, str) and (self._speech is None or not self._speech.own.is_text):
            try:
                given = json.loads(given)
            except (ValueError, RecursionError) as error:
                raise InvalidAction(f"not valid JSON: {error}", path="action") from None
        if self._speech is not None:
            return list(self._speech.own.read(given, self._speech.talk).actions)
        if isinstance(given, Mapping):
            return [action_from(dict(given))]
        if isinstance(given, str | list | int | float | bool) or given is None:
            raise InvalidAction("an action is a JSON object", path="action")
        return [given]

    async def _observe(self, ready: EnvPhone) -> Observation:
        view = await look(ready.session, ready.session.run)
        if self._speech is not None:
            self._speech.look(view)
        seen: Observation = {"screen": view.text, "app": view.app, "step": self._number}
        return {**seen, "picture": await self._picture(ready)} if self._pictures else seen

    async def _picture(self, ready: EnvPhone) -> bytes | None:
        width = ready.phone.display.width
        return await photograph(ready.session.run, width, for_model=True, marks=False)


async def _shell(ready: EnvPhone, line: str) -> None:
    await ready.device.shell.run(Script(line))


def _told(action: AnyAction, envelope: Envelope) -> dict[str, Any]:
    """Nothing that differs from run to run: no ids and no times."""
    told: dict[str, Any] = {"action": action.type, "success": envelope.success}
    if not envelope.success:
        told |= {"code": envelope.failure_code, "message": envelope.message}
    if isinstance(action, RequestHumanAuth) and envelope.success:
        told["answer"] = (envelope.details or {}).get("data")
    return told
