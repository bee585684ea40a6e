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
from handrail.android.adb_channel import ask_facts
from handrail.android.driver import connect
from handrail.android.surface import AndroidSurface
from handrail.engine.ref_store import RefStore
from handrail.engine.session import Session, SessionServices
from handrail.errors import Unsupported
from handrail.journal import Journal
from handrail.safety.approvals import Approvals
from handrail.safety.caller import Caller
from handrail.safety.leases import LeaseQueue, Leases, StopRequests
from handrail.safety.permissions import AnsweredPolicy, Permissions
from handrail.safety.policy_file import LivePolicy
from handrail.safety.secret_fields import SecretFieldStore
from handrail.safety.secrets import Secrets
from handrail.simulator import simulated_daemon
from handrail.store import Companion, Store
from handrail_eval.env.line import InProcessLink
from handrail_eval.env.task import EnvTask
from handrail_sim.clock import ManualClock

if TYPE_CHECKING:
    from handrail.engine.script_executor import ScriptExecutor
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

    def gate(self, name: str, policy: str, clock: ManualClock) -> AnsweredPolicy:
        """The rules of one phone's owner, who has a folder of their own."""
        home = self.home / name
        home.mkdir(mode=0o700, exist_ok=True)
        if policy:
            (home / "policy.toml").touch(mode=0o600)
            (home / "policy.toml").write_text(policy, encoding="utf-8")
        return AnsweredPolicy(
            LivePolicy(home, home / "policy.toml", clock), Permissions(home / "permissions.json")
        )

    def parts(self, clock: ManualClock, kept: Mapping[str, str]) -> SessionServices:
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
        return SessionServices(
            clock=clock,
            journal=self.journal,
            approvals=Approvals(self.store, clock, keep_secret=keep, redact=secrets.redact),
            secrets=secrets,
            scripts=_no_scripts,
            leases=leases,
            hold_queue=LeaseQueue(self.store, clock, leases),
            ref_store=RefStore(self.store),
            stops=StopRequests(self.store),
            taints=SecretFieldStore(self.store),
        )

    def close(self) -> None:
        self.store.close()


def _no_scripts() -> ScriptExecutor:
    raise Unsupported("An environment runs no scripts on this machine")


class EnvPhone:
    """One phone, ready to be acted on."""

    def __init__(self, phone: Phone, device: AdbDevice, session: Session, parts: SessionServices) -> None:
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
