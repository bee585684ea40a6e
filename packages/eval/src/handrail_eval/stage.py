"""Everything that one run needs: a phone that nobody has used, a session on it, a person who answers.

Runs beside one another share nothing: journal, approvals, policy and time are the task's own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handrail.adb.device import AdbDevice
from handrail.adb.shell import Script
from handrail.clock import Clock
from handrail.config import Config
from handrail.engine.session import Session
from handrail.runtime import Runtime
from handrail.safety.approval_store import AskedApproval
from handrail.safety.approvals import Approvals
from handrail.safety.caller import Caller
from handrail.simulator import simulated_daemon
from handrail_eval.env.line import InProcessLink
from handrail_eval.evidence import PersonQuestion
from handrail_eval.task import EvalTask, PersonLine
from handrail_eval.witness import arrive

if TYPE_CHECKING:
    from handrail_sim.phone import Phone


@dataclass(frozen=True, slots=True)
class EvaluationStage:
    """Everything is ready for the first step."""

    phone: Phone
    device: AdbDevice
    session: Session
    runtime: Runtime
    person: Person

    async def shell(self, command: str) -> None:
        """On the phone."""
        await self.device.shell.run(Script(command))


@asynccontextmanager
async def stage(task: EvalTask, home: Path, clock: Clock) -> AsyncIterator[EvaluationStage]:
    """The phone has the task's world and its time of day, whatever the clock says here."""
    config, env = _home(task, home)
    own = ShiftedClock(clock, task.now_ms - clock.now_ms() if task.now_ms else 0)
    name = f"eval-{task.id}"
    phone, daemon = simulated_daemon(clock=own, seed=task.seed, serial=name, world=task.world)
    device = AdbDevice(InProcessLink(daemon, name, clock), clock)
    caller = Caller(task.id, "agent", "agent")
    async with Runtime.open(config, clock=clock, env=env, caller=caller) as runtime:
        session = await runtime.session_on(device, helper="none")
        person = Person(task.person)
        runtime.approvals.notify = partial(_answer, person, runtime.approvals)
        ready = EvaluationStage(phone, device, session, runtime, person)
        await set_up(task, phone, ready.shell)
        yield ready


class ShiftedClock:
    """The phone's own time of day; durations are the other's."""

    def __init__(self, clock: Clock, ahead_ms: int) -> None:
        self._clock = clock
        self._ahead_ms = ahead_ms

    def now_ms(self) -> int:
        return self._clock.now_ms() + self._ahead_ms

    def monotonic_ms(self) -> float:
        return self._clock.monotonic_ms()

    async def sleep_ms(self, duration_ms: float) -> None:
        await self._clock.sleep_ms(duration_ms)


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


async def set_up(task: EvalTask, phone: Phone, shell: Callable[[str], Awaitable[Any]]) -> None:
    """A phone that has the task's world becomes the one that the task speaks of."""
    for command in task.setup.shell:
        await shell(command)
    arrive(phone, task.setup.sms, task.setup.notify)
    phone.faults.load(task.setup.faults)
    phone.catch_up()
    phone.systemui.end_heads_up()  # what has arrived before the start has been seen


PERSON = "the task's person"
_REFUSED = PersonLine(approve=False)


class Person:
    """Answers by the task's lines."""

    def __init__(self, lines: Sequence[PersonLine]) -> None:
        self.questions: list[PersonQuestion] = []
        self._lines = lines

    def answer(self, *about: str | None) -> tuple[bool, str | None]:
        """Yes or no to the question that goes by these names, and what the person writes."""
        names = tuple(str(name) for name in about if name)
        line = next(
            (line for line in self._lines if any(fnmatchcase(name, line.to) for name in names)), _REFUSED
        )
        self.questions.append(PersonQuestion(names, line.approve))
        return line.approve, line.data if line.approve else None


async def _answer(person: Person, approvals: Approvals, one: AskedApproval, token: str | None) -> None:
    del token  # links are for other doors
    is_yes, data = person.answer(one.request.label, one.action_type, one.request.capability)
    await approvals.answer(one.id, is_yes, PERSON, data=data)
