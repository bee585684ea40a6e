"""One task's stage: a phone that nobody has used, set up as the task says, and a session of its own on it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.adb.shell import Script
from handrail.cli.evaluation.person import Person
from handrail.cli.evaluation.task import EvalTask
from handrail.clock import Clock
from handrail.config import Config
from handrail.engine.events import Caller
from handrail.engine.session import Session
from handrail.runtime import Runtime
from handrail.sim.adbd.server import serve
from handrail.sim.phone import Phone


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything is ready for the first step."""

    phone: Phone
    session: Session
    runtime: Runtime
    person: Person


@asynccontextmanager
async def stage(task: EvalTask, home: Path, clock: Clock) -> AsyncIterator[Stage]:
    """Journal, approvals and policy are the task's own: runs beside one another share nothing."""
    config, env = _home(task, home)
    phone = Phone(clock=clock, seed=task.seed, serial=f"eval-{task.id}")
    async with serve([phone], port=0) as [served]:
        device = AdbDevice(Direct(served.host, served.port, clock=clock), clock)
        caller = Caller(task.id, "agent", "agent")
        async with Runtime.open(config, clock=clock, env=env, caller=caller) as runtime:
            session = await runtime.session_on(device, helper="none")
            await _set_up(task, phone, device)
            person = Person(task.person, runtime.approvals)
            runtime.approvals.notify = person
            yield Stage(phone, session, runtime, person)


def _home(task: EvalTask, home: Path) -> tuple[Config, dict[str, str]]:
    """Nothing of the machine's own settings: the same task is the same everywhere."""
    secrets = {f"HANDRAIL_SECRET_{name}": value for name, value in task.secrets.items()}
    env = {"HANDRAIL_HOME": str(home), "HOME": str(home), **secrets}
    config = Config.from_env(env)
    config.make_home()
    if task.policy:
        config.policy.parent.mkdir(parents=True, exist_ok=True)
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
