"""Everything that one run needs: a phone that nobody has used, a session on it, a person who answers.

Runs beside one another share nothing: journal, approvals, policy and time are the task's own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from handrail.adb.device import AdbDevice
from handrail.adb.shell import Script
from handrail.clock import Clock
from handrail.config import Config
from handrail.engine.session import Session
from handrail.errors import Unsupported
from handrail.runtime import Runtime
from handrail.safety.approval_store import AskedApproval
from handrail.safety.approvals import Approvals
from handrail.safety.caller import Caller
from handrail.simulator import simulated_daemon, simulator
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
    session: Session
    runtime: Runtime
    person: Person
    device: AdbDevice | None = None
    """None for an iPhone."""

    async def shell(self, command: str) -> None:
        """On the phone."""
        if self.device is None:
            raise Unsupported(f"An iPhone has no shell for {command!r}", hint="Leave this task to Android.")
        await self.device.shell.run(Script(command))


@asynccontextmanager
async def stage(
    task: EvalTask, home: Path, clock: Clock, platform: Literal["android", "ios"] = "android"
) -> AsyncIterator[EvaluationStage]:
    """The phone has the task's world and its time of day, whatever the clock says here."""
    config, env = _home(task, home)
    own = ShiftedClock(clock, task.now_ms - clock.now_ms() if task.now_ms else 0)
    caller = Caller(task.id, "agent", "agent")
    async with AsyncExitStack() as stack:
        runtime = await stack.enter_async_context(Runtime.open(config, clock=clock, env=env, caller=caller))
        person = Person(task.person)
        runtime.approvals.notify = partial(_answer, person, runtime.approvals)
        if platform == "ios":
            phone, session = await _iphone(task, own, runtime, stack)
            ready = EvaluationStage(phone, session, runtime, person)
        else:
            name = f"eval-{task.id}"
            phone, daemon = simulated_daemon(clock=own, seed=task.seed, serial=name, world=task.world)
            device = AdbDevice(InProcessLink(daemon, name, clock), clock)
            session = await runtime.session_on(device, helper="none")
            ready = EvaluationStage(phone, session, runtime, person, device)
        await set_up(task, phone, ready.shell)
        yield ready


async def _iphone(
    task: EvalTask, clock: ShiftedClock, runtime: Runtime, stack: AsyncExitStack
) -> tuple[Phone, Session]:
    """A simulated iPhone, reached by its WebDriverAgent as any other."""
    with simulator():
        from handrail_sim.iphone import make_iphone, serve_iphone  # noqa: PLC0415

    phone = make_iphone(clock=clock, seed=task.seed, world=task.world)
    served = await stack.enter_async_context(serve_iphone(phone))
    return phone, await runtime.session(f"ios:{served.wda_url}")


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
