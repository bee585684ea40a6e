"""One action on its way: what is known of it so far, and the tools of its stage. `lifecycle` moves it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from handrail.clock import Clock
from handrail.engine.approval import Answer
from handrail.engine.events import Caller
from handrail.engine.hands import Hands
from handrail.engine.leases import Lease
from handrail.engine.look.looks import Look, Looks, sure
from handrail.engine.look.resolve import Aim, aim
from handrail.engine.look.settle import Settled, Settling, never
from handrail.engine.look.verify import Proof
from handrail.engine.policy.subject import Resolved
from handrail.engine.pressed import Felt
from handrail.engine.queue import Turn
from handrail.engine.secrets import Filled, Secrets
from handrail.engine.taint.device import DeviceSecrets
from handrail.errors import HandrailError
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import (
    Approval,
    Delivery,
    Lifecycle,
    LifecycleEvent,
    LifecycleState,
    SettleReport,
    Verification,
)
from handrail.protocol.observe import RequestHumanAuth
from handrail.protocol.traits import Capability, Settle
from handrail.surface.capabilities import (
    AppsCapability,
    ClipboardCapability,
    DataCapability,
    HealthCapability,
    LogsCapability,
    SettingsCapability,
    ShellCapability,
    Surface,
    WindowsCapability,
    has,
)
from handrail.tree.diff import Diff

if TYPE_CHECKING:
    from handrail.engine.script import ScriptExecutor

CHECK_MS = 1_000.0
"""How often a device is asked whether it is still there while nothing else is done with it."""


@dataclass(slots=True)
class Outcome:
    """What an executed action leaves for the pipe: a proof to look for, or an answer that needs none."""

    proof: Proof | None = None
    details: dict[str, Any] = field(default_factory=dict)
    verification: Verification | None = None
    """Set when the action has verified itself."""
    failure: HandrailError | None = None
    """Delivered and not as it should be; told after the screen was observed."""
    settle: Settle | None = None
    """Overrides how long the screen is watched: what a loop has watched itself needs no more."""


@dataclass(slots=True)
class Run:
    """The record of one action."""

    id: str
    action: AnyAction
    caller: Caller
    clock: Clock
    life: Lifecycle
    announce: Callable[[Run, LifecycleEvent], None]
    settle: Settle
    started_ms: float
    may_begin: Callable[[Run], Awaitable[None]]
    """Waits in line behind a person who has the device. Raises `DeviceBusy`."""
    may_dispatch: Callable[[Run], Awaitable[None]]
    """Raises `DeviceBusy` when somebody else has the device."""
    has_waited: bool = False
    waited_on: Look | None = None
    """What was seen last before it got in line."""
    hand: Lease | None = None
    """By which a person who acts with their own hand has taken the device over."""
    delivery: Delivery = "not_delivered"
    sent: dict[str, int] = field(default_factory=dict)
    """What has certainly arrived, by its word and how often."""
    aims: dict[str, Aim] = field(default_factory=dict)
    before: Look | None = None
    after: Look | None = None
    revision_before: str | None = None
    revision_after: str | None = None
    changes: Diff | None = None
    settled: SettleReport | None = None
    verification: Verification | None = None
    approval: Approval | None = None
    policy: str | None = None
    """Which rules decided: the digest of their file, or "defaults"."""
    details: dict[str, Any] = field(default_factory=dict)
    diagnostics: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    blobs: dict[str, str] = field(default_factory=dict)
    portraits: dict[str, Any] | None = None
    """What recordings need to name the touched elements later, by the action's field."""
    permitted: set[Resolved] = field(default_factory=set)
    """Elements that policy was asked about and let this action press."""
    rule: str = ""
    """The rule that let the action begin."""
    untold: list[LifecycleEvent] = field(default_factory=list)
    """Events that the journal has not heard of yet."""
    _inner_ms: list[float] = field(default_factory=list)
    """Of every open phase, outermost first: what the phases inside it have taken."""

    def advance(self, state: LifecycleState) -> None:
        """One step in the action's life; an illegal one raises."""
        self.life = self.life.advance(state, self.clock.now_ms())
        self.announce(self, self.life.events[-1])

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Adds what happens inside to the timings, without what a phase inside it takes.

        So phases never overlap, and all of them with `other` are the total.
        """
        began = self.clock.monotonic_ms()
        self._inner_ms.append(0.0)
        try:
            yield
        finally:
            took = self.clock.monotonic_ms() - began
            own = max(0.0, took - self._inner_ms.pop())
            if self._inner_ms:
                self._inner_ms[-1] += took
            self.timings[name] = self.timings.get(name, 0.0) + own

    def waited(self, name: str, ms: float) -> None:
        """A part of the open phase that somebody else has measured."""
        self.timings[name] = self.timings.get(name, 0.0) + ms
        self._inner_ms[-1] += ms

    def end_timings(self) -> None:
        """The total, and what no phase accounts for."""
        total = self.clock.monotonic_ms() - self.started_ms
        self.timings |= {"other": max(0.0, total - sum(self.timings.values())), "total": total}

    @asynccontextmanager
    async def dispatching(self, what: str = "command") -> AsyncIterator[None]:
        """Around everything that touches the device: from here on the delivery is in doubt until it ends.

        `what` is the word for it by which a failure later on tells that it was sent.
        """
        with self.phase("journal"):
            await self.may_dispatch(self)
        if self.life.state == "resolved":
            self.advance("dispatched")
        earlier, self.delivery = self.delivery, "unknown"
        with self.phase("dispatch"):
            try:
                yield
            except HandrailError as error:
                match error.details.get("delivery"):
                    case "not_delivered":
                        self.delivery = earlier
                    case "delivered":
                        self._arrived(what)
                raise
        self._arrived(what)

    def _arrived(self, what: str) -> None:
        self.delivery = "delivered"
        self.sent[what] = self.sent.get(what, 0) + 1


class PressGuard(Protocol):
    """Who decides whether something may be pressed; `permit` does."""

    def may_press(self, stage: Stage, felt: Felt) -> bool:
        """Whether nobody would have to be asked."""

    async def permit_press(self, stage: Stage, felt: Felt) -> None:
        """Asks where policy asks. Raises `ActionRejected`."""


@dataclass(slots=True)
class Stage:
    """One action's tools."""

    run: Run
    surface: Surface
    looks: Looks
    clock: Clock
    secrets: Secrets
    scripts: Callable[[], ScriptExecutor]
    ask_person: Callable[[RequestHumanAuth], Awaitable[Answer]]
    turn: Turn
    guard: PressGuard
    script_shell: Callable[[], bool] = bool
    """Whether policy lets scripts have a real shell, at this moment."""
    here: DeviceSecrets = field(kw_only=True)
    """What may not be told of the device."""

    @property
    def before(self) -> Look:
        """The screen on which the targets were found."""
        return sure(self.run.before)

    def aim(self, name: str = "target") -> Aim:
        return self.run.aims[name]

    async def look(self) -> Look:
        """A fresh look that becomes the session's present."""
        with self.run.phase("look"):
            return await self.looks.look_and_take()

    async def fill(self, text: str) -> Filled:
        """For the device: with its secrets, which count as used there."""
        return await self.here.fill(text)

    def find(self, target: Any) -> Aim:
        """A target on the present screen."""
        return aim(self.looks, target)

    async def pass_time(self, duration_ms: float) -> None:
        """Let time pass. A device that goes away meanwhile is told at once, not at the end."""
        end = self.clock.monotonic_ms() + duration_ms
        with self.run.phase("watch"):
            while (left := end - self.clock.monotonic_ms()) > 0:
                await self.clock.sleep_ms(min(left, CHECK_MS))
                if left > CHECK_MS:
                    await self.surface.check()

    async def settle(self, before: Look, proof: Proof | None = None, **budgets: float) -> Settled:
        """Until the screen rests, or shows what the action's caller expects; the screen is taken."""
        with self.run.phase("settle" if self.run.action.expect is None else "expect"):
            settling = Settling(
                self.looks,
                self.clock,
                before,
                met=proof.met if proof and proof.decides else never,
                ask=proof.ask if proof and proof.decides else None,
                patience_ms=proof.patience_ms if proof else 0.0,
                **budgets,
            )
            settled = await settling.wait()
            self.run.waited("waiting", settling.waited_ms)
        self.looks.take(settled.seen)
        return settled

    # capabilities: each raises `Unsupported` with the surface's own reason

    @property
    def hands(self) -> Hands:
        return Hands(self)

    @property
    def clipboard(self) -> ClipboardCapability:
        return cast("ClipboardCapability", self.surface.capability(Capability.CLIPBOARD))

    @property
    def apps(self) -> AppsCapability:
        return cast("AppsCapability", self.surface.capability(Capability.APPS))

    @property
    def settings(self) -> SettingsCapability:
        return cast("SettingsCapability", self.surface.capability(Capability.SETTINGS))

    @property
    def data(self) -> DataCapability:
        return cast("DataCapability", self.surface.capability(Capability.DATA))

    @property
    def logs(self) -> LogsCapability:
        return cast("LogsCapability", self.surface.capability(Capability.LOGS))

    @property
    def shell(self) -> ShellCapability:
        return cast("ShellCapability", self.surface.capability(Capability.SHELL))

    @property
    def health(self) -> HealthCapability | None:
        """None where nobody can tell whether an app has died."""
        if not has(self.surface, Capability.HEALTH):
            return None
        return cast("HealthCapability", self.surface.capability(Capability.HEALTH))

    @property
    def windows(self) -> WindowsCapability:
        return cast("WindowsCapability", self.surface.capability(Capability.WINDOWS))


async def fresh(stage: Stage) -> Look:
    """The screen before the dispatch, read again if it is older than the action."""
    run = stage.run
    if run.before is None or run.before.began_ms < run.started_ms:
        run.before = await stage.look()
    return run.before
