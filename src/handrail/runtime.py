"""The composition root: configuration → store, journal, approvals → devices → sessions. Decides nothing.

async with Runtime.open() as rt:
    session = await rt.session("127.0.0.1:6555")
    envelope = await session.tap("Save", reason="I save the contact")
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from handrail.adb.device import AdbDevice
from handrail.android.choose import open_device, pick
from handrail.android.discovery import Listing, discover
from handrail.android.routing import Helper, connect
from handrail.clock import Clock, SystemClock
from handrail.config import Config
from handrail.engine.approval import Approvals, Notify
from handrail.engine.desk_session import DeskRunner, DeskSession
from handrail.engine.events import Caller
from handrail.engine.hold import Stops
from handrail.engine.journal import Journal
from handrail.engine.leases import Leases
from handrail.engine.memory import Memory
from handrail.engine.permissions import Gate, Permissions
from handrail.engine.policy import Policy
from handrail.engine.run import DeskSurface
from handrail.engine.script import ScriptExecutor
from handrail.engine.script.allow import DEFAULT
from handrail.engine.secrets import Secrets, system_keyring
from handrail.engine.session import Parts, Session
from handrail.errors import Unsupported
from handrail.store import Store


class Runtime:
    """One home in one process: shared parts, and a session per device."""

    def __init__(self, config: Config, clock: Clock, env: Mapping[str, str], caller: Caller) -> None:
        self.config = config
        self.clock = clock
        self.env = env
        self.caller = caller
        self.policy = Policy.load(config.policy if config.policy.exists() else None)
        self.permissions = Permissions(config.permissions)
        self.secrets = Secrets(env, config.secrets, system_keyring())
        self.store = Store(config.db)
        self.approvals = Approvals(
            self.store, clock, keep_secret=self._keep_secret, redact=self.secrets.redact
        )
        self.journal = Journal.open(config.home, clock, redact=self.secrets.redact)
        self.leases = Leases(self.store, clock)
        self._parts = Parts(
            clock=clock,
            journal=self.journal,
            approvals=self.approvals,
            secrets=self.secrets,
            scripts=ScriptExecutor(
                config.runs, allow=(*DEFAULT, *self.policy.script.allow), clock=clock, env=env
            ),
            script_shell=self.policy.script.shell,
            leases=self.leases,
            memory=Memory(self.store),
            stops=Stops(self.store),
        )
        self._sessions: dict[str, Session] = {}
        self._opening = asyncio.Lock()
        self.desk: DeskSurface | None = None
        self._desk_runner: DeskRunner | None = None

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        config: Config | None = None,
        *,
        clock: Clock | None = None,
        env: Mapping[str, str] | None = None,
        caller: Caller | None = None,
        notify: Notify | None = None,
    ) -> AsyncIterator[Runtime]:
        """Everything that is needed to act; closed, with every session, at the end of the block."""
        env = os.environ if env is None else env
        config = config or Config.from_env(env)
        config.make_home()
        runtime = cls(config, clock or SystemClock(), env, caller or Caller())
        runtime.approvals.notify = notify
        try:
            yield runtime
        finally:
            await runtime.close()

    def _keep_secret(self, name: str, value: str) -> str:
        self.secrets.add(name, value)
        return f"${{secret:{name}}}"

    async def devices(self) -> Listing:
        """Every device there is, usable or not."""
        return await discover(self.config, self.clock, self.env)

    @property
    def sessions(self) -> dict[str, Session]:
        """Those that are open now, by serial."""
        return dict(self._sessions)

    async def session(self, serial: str | None = None, *, helper: Helper | None = None) -> Session:
        """The session of one device: the named one, else the only usable one. Opened once per runtime."""
        async with self._opening:
            chosen = (await pick(serial, self.config, self.clock, self.env)).serial
            if chosen not in self._sessions:
                device = await open_device(chosen, self.config, self.clock, self.env)
                self._sessions[chosen] = await self._open(device, helper)
            return self._sessions[chosen]

    def attach_desk(self, desk: DeskSurface) -> DeskSession:
        """A desk of this process, for its own actions and for those that sessions opened from now on take."""
        self.desk = desk
        session = DeskSession(
            desk,
            Gate(self.policy, self.permissions),
            clock=self.clock,
            journal=self.journal,
            approvals=self.approvals,
            secrets=self.secrets,
            caller=self.caller,
        )
        self._desk_runner = session
        return session

    def use_desk_of(self, runner: DeskRunner) -> None:
        """The desk of another process: a server of the same home."""
        self._desk_runner = runner

    def desk_session(self) -> DeskRunner:
        """Where the desk's actions go. Raises `Unsupported` where there is no desk."""
        if self._desk_runner is None:
            raise Unsupported("There is no desk", hint="Start `handrail serve` to get one.")
        return self._desk_runner

    async def session_on(self, device: AdbDevice, *, helper: Helper | None = None) -> Session:
        """A session on a device that is open already; it is closed with the runtime."""
        async with self._opening:
            if device.serial not in self._sessions:
                self._sessions[device.serial] = await self._open(device, helper)
            return self._sessions[device.serial]

    async def _open(self, device: AdbDevice, helper: Helper | None) -> Session:
        try:
            driver = await connect(
                device, clock=self.clock, helper=helper or self.config.helper, env=self.env
            )
            return await Session.open(
                device,
                driver,
                self._parts,
                Gate(self.policy, self.permissions),
                caller=self.caller,
                desk=self.desk,
            )
        except BaseException:
            await device.close()
            raise

    async def close(self) -> None:
        """Sessions first: their last words still go into the journal."""
        if isinstance(self._desk_runner, DeskSession):
            await self._desk_runner.close()
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()
        await self.journal.close()
        self.store.close()
