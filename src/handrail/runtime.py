"""The composition root: configuration → store, journal, approvals → devices → sessions. Decides nothing.

async with Runtime.open() as rt:
    session = await rt.session("127.0.0.1:6555")
    envelope = await session.tap("Save", reason="I save the contact")
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from handrail.adb.device import AdbDevice
from handrail.android.adb_channel import ask_facts
from handrail.android.choose import match, open_device
from handrail.android.driver import connect
from handrail.android.surface import AndroidSurface
from handrail.clock import Clock, SystemClock
from handrail.config import Config, Helper, canonical, named_kind, switch
from handrail.devices import discover, pick
from handrail.engine.desk_runner import DeskHere, DeskRunner
from handrail.engine.pictures import PictureReader
from handrail.engine.ref_store import BlockRegistry, RefState, RefStore
from handrail.engine.session import Session, SessionServices, stop_devices, write_control
from handrail.errors import Unsupported
from handrail.journal import Journal
from handrail.journal.journal import witness_of
from handrail.local_socket import desk_address
from handrail.safety.approvals import Approvals, Notify
from handrail.safety.caller import Caller
from handrail.safety.leases import LeaseQueue, Leases, StopRequests
from handrail.safety.permissions import AnsweredPolicy, Permissions
from handrail.safety.policy_file import LivePolicy
from handrail.safety.secret_fields import SecretFieldStore
from handrail.safety.secrets import Secrets, system_keyring
from handrail.satellites import load_plugin, plugins
from handrail.store import Store
from handrail.surface.capabilities import DeskWindows, Surface
from handrail.surface.listing import DiscoveredDevice, Listing
from handrail.surface.values import Facts
from handrail.waiting import UseGuard, beside

if TYPE_CHECKING:
    from handrail.browser.files import WebFiles
    from handrail.desk.desk import Desk
    from handrail.engine.script_executor import ScriptExecutor


LABELS = "app-names.json"  # in the home: what apps are called, by version


class Telemetry(Protocol):
    """Spans and metrics of a runtime's sessions, by handrail-telemetry."""

    def listen(self, session: Session) -> None: ...

    def prometheus(self) -> str: ...

    async def close(self) -> None: ...


class Runtime:
    """One home in one process: shared parts, and a session per device."""

    is_shared = False
    """Whether it serves all clients of a daemon, and so outlives each of them."""

    def __init__(
        self, config: Config, clock: Clock, env: Mapping[str, str], caller: Caller, *, counts: bool = False
    ) -> None:
        self.telemetry = _telemetry(env, counts)
        self.config = config
        self.clock = clock
        self.env = env
        self.caller = caller
        self.policy = LivePolicy(config.home, config.policy, clock)
        self.permissions = Permissions(config.permissions)
        self.secrets = Secrets(env, config.secrets, system_keyring)
        self.store = Store(config.db)
        self.approvals = Approvals(
            self.store, clock, keep_secret=self._keep_secret, redact=self.secrets.redact
        )
        self.journal = Journal.open(
            config.home, clock, redact=self.secrets.redact, witness=witness_of(config)
        )
        self.store.committer = self.journal.keep
        self.leases = Leases(self.store, clock)
        self.hold_queue = LeaseQueue(self.store, clock, self.leases)
        self._parts = SessionServices(
            clock=clock,
            journal=self.journal,
            approvals=self.approvals,
            secrets=self.secrets,
            scripts=cache(self._script_executor),
            script_shell=lambda: self.policy.current().script.shell,
            leases=self.leases,
            hold_queue=self.hold_queue,
            ref_store=RefStore(self.store),
            stops=StopRequests(self.store),
            taints=SecretFieldStore(self.store),
            eyes=None if switch(env, "HANDRAIL_DISABLE_VISION") else _new_picture_reader,
        )
        self._sessions: dict[str, Session] = {}
        self._opening: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """One lock per device: a phone that does not answer makes nobody else wait."""
        self.desk: Desk | None = None
        self.session_on_desk: Session | None = None
        """The session of a desk in this process."""
        self._desk_runner: DeskRunner | None = None
        self._use = UseGuard("This runtime")

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
        raise_on_failure: bool = False,
        counts: bool = False,
    ) -> AsyncIterator[Runtime]:
        """A runtime that is closed with all its sessions at the end of the block.

        `raise_on_failure`: a failed action raises its error instead of returning its envelope.
        `counts`: keeps metrics, also where no collector is named.
        """
        env = os.environ if env is None else env
        config = config or Config.from_env(env)
        config.make_home()
        caller = caller or Caller()
        caller = replace(caller, raises=raise_on_failure or caller.raises)
        runtime = cls(config, clock or SystemClock(), env, caller, counts=counts)
        runtime.approvals.notify = notify
        try:
            yield runtime
        finally:
            await runtime.close()

    def _script_executor(self) -> ScriptExecutor:
        from handrail.engine.script_executor import ScriptExecutor  # noqa: PLC0415 - most runtimes run none

        programs = lambda: self.policy.current().script.allow  # noqa: E731
        return ScriptExecutor(self.config.runs, programs=programs, clock=self.clock, env=self.env)

    def _keep_secret(self, name: str, value: str) -> str:
        self.secrets.add(name, value)
        return f"${{secret:{name}}}"

    async def devices(self) -> Listing:
        """What can be reached, what other Handrails of this home have open, and what is open here."""
        self._use.check()
        listing = await discover(self.config, self.clock, self.env)
        listed = {device.identity for device in listing.devices}
        opened = [
            DiscoveredDevice(serial, via="handrail", model=session.facts.model)
            for serial, session in self._sessions.items()
            if canonical(serial) not in listed and named_kind(serial) != "browser"
        ]
        return replace(listing, devices=(*listing.devices, *opened))

    def desk_address(self) -> str:
        """The address of the desk that is open in this home, in whatever process; "" for none."""
        return desk_address(str(self.config.home), str(self.config.desk))

    @property
    def sessions(self) -> dict[str, Session]:
        """Those that are open now, by serial."""
        return dict(self._sessions)

    def opened(self, name: str | None) -> Session | None:
        """The open session with this name, else the only one."""
        if name and named_kind(name):
            return self._sessions.get(name)
        listed = [
            DiscoveredDevice(serial, model=session.facts.model) for serial, session in self._sessions.items()
        ]
        matches = match(listed, name) if name else listed
        return self._sessions[matches[0].serial] if len(matches) == 1 else None

    async def session(self, serial: str | None = None, *, helper: Helper | None = None) -> Session:
        """The session of one device: the named one, else the only usable one. Opened once per runtime."""
        self._use.check()
        chosen = (await pick(serial, self.config, self.clock, self.env)).serial
        async with self._opening[chosen]:
            if chosen not in self._sessions:
                if kind := named_kind(chosen):
                    await self.session_with(await self._surface_by_name(kind, chosen))
                else:
                    device = await open_device(chosen, self.config, self.clock, self.env)
                    self._sessions[chosen] = await self._open(device, helper)
            return self._sessions[chosen]

    async def _surface_by_name(self, kind: str, name: str) -> Surface:
        if kind == "ios":
            from handrail.ios.surface import open_iphone  # noqa: PLC0415 - most runtimes have none

            return await open_iphone(name, self.clock, self.env, self._windows())
        from handrail.browser.surface import open_browser  # noqa: PLC0415

        return await open_browser(
            name, self.config, self.clock, self.env, self._windows(), self.knows_host, self.files
        )

    async def new_browser(self, name: str, profile: Path) -> Session:
        """A browser of its own with this folder as its profile; it ends with the runtime."""
        from handrail.browser.process import launch  # noqa: PLC0415
        from handrail.browser.surface import BrowserSurface  # noqa: PLC0415
        from handrail.cdp.connection import Connection  # noqa: PLC0415

        started = await launch(self.env, profile)
        surface = BrowserSurface(
            name,
            Connection(started.wire, self.clock),
            self.clock,
            self._windows(),
            is_listed=self.knows_host,
            files=self.files,
            end=started.close,
        )
        try:
            await surface.open()
        except BaseException:
            await surface.close()
            raise
        return await self.session_with(surface)

    def knows_host(self, host: str) -> bool:
        """Whether the policy lists this host at the moment."""
        return self.policy.current().knows(host)

    @property
    def files(self) -> WebFiles:
        """Which files pages may get and save, by the policy of the moment."""
        from handrail.browser.files import WebFiles  # noqa: PLC0415 - most runtimes have no browser

        return WebFiles(
            lambda file: self.policy.current().gives(file), lambda origin: self.policy.current().saves(origin)
        )

    async def session_with(self, surface: Surface) -> Session:
        """A session on an open surface; it is closed with the runtime."""

        async def opened() -> tuple[Surface, Facts | None]:
            try:
                return surface, await surface.facts()
            except BaseException:
                await surface.close()
                raise

        name = surface.name
        session = await Session.open(name, opened(), self._parts, self._gate(), caller=self.caller)
        self._sessions[name] = self._with_listeners(session)
        return session

    def attach_desk(self, desk: Desk) -> Session:
        """Sessions that are opened from now on use this desk."""
        from handrail.desk.desk import DeskSurface  # noqa: PLC0415 - most runtimes have none

        session = Session(
            DeskSurface(desk), self._parts, self._gate(), RefState(BlockRegistry()), None, caller=self.caller
        )
        self.desk, self.session_on_desk = desk, self._with_listeners(session)
        self._desk_runner = DeskHere(session)
        return session

    async def detach_desk(self) -> None:
        session, self.session_on_desk, self.desk, self._desk_runner = self.session_on_desk, None, None, None
        if session is not None:
            await session.close()

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
        async with self._opening[device.serial]:
            if device.serial not in self._sessions:
                self._sessions[device.serial] = await self._open(device, helper)
            return self._sessions[device.serial]

    async def _open(self, device: AdbDevice, helper: Helper | None) -> Session:
        chosen: Helper = helper or self.config.helper

        async def opened() -> tuple[Surface, Facts]:
            # A round trip each: the phone is asked what it is while its helper is knocked at.
            async with beside(ask_facts(device, self.clock), f"facts of {device.serial}") as facts:
                driver = await connect(
                    device, clock=self.clock, helper=chosen, env=self.env, home=self.config.home
                )
                surface = AndroidSurface(
                    device, driver, self.clock, self._windows(), self.config.home / LABELS
                )
                return surface, await facts

        try:
            session = Session.open(device.serial, opened(), self._parts, self._gate(), caller=self.caller)
            return self._with_listeners(await session)
        except BaseException:
            await device.close()
            raise

    def count(self) -> None:
        """Keeps metrics from now on."""
        if self.telemetry is None:
            self.telemetry = _telemetry(self.env, counts=True)
            for session in self._sessions.values():
                self._with_listeners(session)

    def _with_listeners(self, session: Session) -> Session:
        if self.telemetry is not None:
            self.telemetry.listen(session)
        return session

    def _gate(self) -> AnsweredPolicy:
        return AnsweredPolicy(self.policy, self.permissions)

    def _windows(self) -> DeskWindows | None:
        desk = self.session_on_desk
        return desk.surface.need(DeskWindows) if desk else None

    async def stop(self, device: str | None = None, *, by: Caller | None = None) -> int:
        """Ends what is done on one device, or on all, in every process; how many actions that were.

        A device is held until it is handed back. Without one the desk's actions end too.
        """
        name = canonical(device) if device else None
        sessions = [
            session for session in self._sessions.values() if name in (None, canonical(session.serial))
        ]
        ended = await stop_devices(self._parts, sessions, device, by or self.caller)
        if device is None and self.session_on_desk is not None:
            ended += await self.session_on_desk.end_actions()
        return ended

    async def hand_back(self, device: str | None = None, *, by: Caller | None = None) -> None:
        """Ends the stop of one device, or of all."""
        if device is None:
            await self.leases.hand_back_all()
        else:
            await self.leases.hand_back(device)
        await write_control(self._parts, "handed_back", device, by or self.caller)

    async def end_actions(self) -> int:
        """Ends every action in flight in this process; how many there were. Nothing is held."""
        return sum([await session.end_actions() for session in reversed(self._all_sessions())])

    async def close(self) -> None:
        """Closes sessions first, as they still write to the journal. A failure keeps nothing else open."""
        self._use.end()
        async with AsyncExitStack() as ends:
            if self.telemetry is not None:
                ends.push_async_callback(self.telemetry.close)
            ends.callback(self.store.close)
            ends.push_async_callback(self.journal.close)
            await self.close_sessions()

    async def close_sessions(self) -> None:
        """Refs are kept and devices are free when this returns."""
        async with AsyncExitStack() as ends:
            for session in self._all_sessions():
                ends.push_async_callback(session.close)
            self._sessions.clear()

    def _all_sessions(self) -> list[Session]:
        """The open sessions, the desk's first."""
        return [*([self.session_on_desk] if self.session_on_desk else ()), *self._sessions.values()]


def _new_picture_reader() -> PictureReader | None:
    """Returns None where handrail-vision or its reader is not installed. Nothing is loaded before a look."""
    point = plugins("handrail.runners").get("vision")
    reader: PictureReader | None = point.load().new_reader() if point is not None else None
    return reader


def _telemetry(env: Mapping[str, str], counts: bool) -> Telemetry | None:
    """None, and nothing of it imported, unless a collector is named or counts are wanted."""
    if not counts and not env.get("HANDRAIL_OTLP_ENDPOINT", "").strip():
        return None
    module = load_plugin("handrail.runners", "telemetry", "telemetry", "Telemetry")
    telemetry: Telemetry = module.Telemetry(env)
    return telemetry
