"""A simulated phone with a Handrail session on it, all in this process: no ports, no threads, nothing kept.

The pipe is the one of every other session: policy, resolving, proof. Only the journal is not written, because
nobody has to be convinced of what happened in a training.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handrail.adb.device import AdbDevice
from handrail.android.facts import ask_facts
from handrail.android.routing import connect
from handrail.android.surface import AndroidSurface
from handrail.clock import ManualClock
from handrail.engine.approval import Approvals
from handrail.engine.events import Caller
from handrail.engine.hold import Stops
from handrail.engine.hold_queue import HoldQueue
from handrail.engine.journal import Journal
from handrail.engine.leases import Leases
from handrail.engine.memory import Memory
from handrail.engine.policy.live import LivePolicy
from handrail.engine.policy.permissions import Gate, Permissions
from handrail.engine.secrets import Secrets
from handrail.engine.session import Parts, Session
from handrail.engine.taint.store import Taints
from handrail.env.line import InProcessLink
from handrail.env.task import EnvTask
from handrail.errors import Unsupported
from handrail.simulator import simulated_daemon
from handrail.store import Companion, Store

if TYPE_CHECKING:
    from handrail.engine.script import ScriptExecutor
    from handrail_sim.phone import Phone


class UnkeptJournal(Journal):
    """Takes everything and keeps nothing."""

    def __init__(self) -> None:
        self._count = 0

    def note(self, event: Any) -> None:
        del event

    async def seal(self, event: Any) -> int:
        del event
        self._count += 1
        return self._count

    def keep(self, companion: Companion) -> None:
        del companion

    async def durable(self) -> None:
        return None

    async def put_blob(self, data: bytes, kind: str, *, no_secret: bool = False) -> str:
        del data, kind, no_secret
        return "unkept"

    async def close(self) -> None:
        return None


class Bench:
    """What all phones of a process share: a store and a place for policy."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.store = Store(home / "env.db")
        self.journal = UnkeptJournal()
        self.store.committer = self.journal.keep

    def gate(self, name: str, policy: str, clock: ManualClock) -> Gate:
        """The rules of one phone's owner, who has a folder of their own."""
        home = self.home / name
        home.mkdir(mode=0o700, exist_ok=True)
        if policy:
            (home / "policy.toml").touch(mode=0o600)
            (home / "policy.toml").write_text(policy, encoding="utf-8")
        return Gate(LivePolicy(home, home / "policy.toml", clock), Permissions(home / "permissions.json"))

    def parts(self, clock: ManualClock, kept: Mapping[str, str]) -> Parts:
        secrets = Secrets(
            {f"HANDRAIL_SECRET_{name}": value for name, value in kept.items()}, None, lambda: None
        )
        leases = Leases(self.store, clock)

        def keep(name: str, value: str) -> str:
            del name  # it is drawn by chance: the same actions give the same names here
            number = next(numbers)
            secrets.add(f"ANSWER_{number}", value)
            return f"${{secret:ANSWER_{number}}}"

        numbers = count(1)
        return Parts(
            clock=clock,
            journal=self.journal,
            approvals=Approvals(self.store, clock, keep_secret=keep, redact=secrets.redact),
            secrets=secrets,
            scripts=_no_scripts,
            leases=leases,
            hold_queue=HoldQueue(self.store, clock, leases),
            memory=Memory(self.store),
            stops=Stops(self.store),
            taints=Taints(self.store),
        )

    def close(self) -> None:
        self.store.close()


def _no_scripts() -> ScriptExecutor:
    raise Unsupported("An environment runs no scripts on this machine")


class EnvPhone:
    """One phone, ready to be acted on."""

    def __init__(self, phone: Phone, device: AdbDevice, session: Session, parts: Parts) -> None:
        self.phone = phone
        self.device = device
        self.session = session
        self.approvals = parts.approvals

    @classmethod
    async def open(cls, bench: Bench, name: str, seed: int, clock: ManualClock, task: EnvTask) -> EnvPhone:
        phone, adbd = simulated_daemon(clock=clock, seed=seed, serial=name, world=task.world)
        device = AdbDevice(InProcessLink(adbd, name, clock), clock)
        parts = bench.parts(clock, task.secrets)
        gate = bench.gate(name, task.policy, clock)

        async def opened() -> tuple[AndroidSurface, Any]:
            driver = await connect(device, clock=clock, helper="none", env={})
            return AndroidSurface(device, driver, clock), await ask_facts(device, clock)

        caller = Caller("env", "agent", "agent")
        session = await Session.open(name, opened(), parts, gate, caller=caller)
        return cls(phone, device, session, parts)

    async def close(self) -> None:
        await self.session.close()
