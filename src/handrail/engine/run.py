"""The state of one action (`ActionRun`) and the services its code uses (`Stage`). `lifecycle` advances it.

`ActionQueue` says whose turn it is, and how each action is stopped.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from handrail.clock import Clock
from handrail.engine.gestures import GuardedInput
from handrail.engine.resolve import Aim, aim
from handrail.engine.settle import FULL_MS, Settled, SettleLoop, no_proof
from handrail.engine.snapshot import ScreenTracker, UiSnapshot, require_present
from handrail.engine.verify import Proof
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
from handrail.protocol.traits import Settle
from handrail.safety.caller import Caller
from handrail.safety.leases import Lease
from handrail.safety.secret_fields import DeviceSecrets
from handrail.safety.secrets import Filled, Secrets
from handrail.safety.subject import TouchedElement
from handrail.screen.diff import Diff
from handrail.surface.capabilities import AppHealth, Apps, DeviceSettings, Surface, optional

if TYPE_CHECKING:
    from handrail.engine.action_guard import ActionGuard
    from handrail.engine.session import RunContext

T = TypeVar("T")
Work = asyncio.Task[HandrailError | None]
"""Returns the failure of the action, if any."""


class ActionQueue:
    """Runs each action in two tasks: one does the work and can be cancelled, the other reports its end and
    can't."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Task[Any], tuple[Work, QueueTurn | None]] = {}

    def __len__(self) -> int:
        return len(self._running)

    async def run(
        self,
        name: str,
        work: Coroutine[Any, Any, HandrailError | None],
        finish: Callable[[Work], Coroutine[Any, Any, T]],
        turn: QueueTurn | None = None,
    ) -> T:
        """Runs `work`. A cancelled caller cancels it; `finish` waits for its end and always reports it."""
        task: Work = asyncio.create_task(work, name=name)
        end = asyncio.create_task(finish(task), name=f"end of {name}")
        self._running[end] = task, turn
        end.add_done_callback(self._running.pop)
        try:
            return await asyncio.shield(end)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({end})
            raise

    async def stop(self, why: str = "", *, only_active: bool = False) -> int:
        """Stops all actions, or those that hold the turn and wait for nobody. Returns their number."""
        running = self._running.items()
        ends = [end for end, (_, turn) in running if not only_active or (turn is not None and turn.is_held)]
        for end in ends:
            self._running[end][0].cancel(why or None)
        if ends:
            await asyncio.wait(ends)
        return len(ends)


class QueueTurn:
    """One action's place in the queue of its session."""

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock = lock
        self.is_held = False

    async def acquire(self) -> None:
        """Waits for the turn. Raises if this action has it already, since it would deadlock."""
        if self.is_held:
            raise RuntimeError("this action already has its turn")
        await self._lock.acquire()
        self.is_held = True

    def release(self) -> None:
        """May be called repeatedly."""
        if self.is_held:
            self.is_held = False
            self._lock.release()

    @asynccontextmanager
    async def released(self) -> AsyncIterator[None]:
        """Lets others act while a person is asked. If the block fails the turn is not taken back."""
        self.release()
        yield
        await self.acquire()


CHECK_MS = 1_000.0
"""How often the connection is checked while an action only waits."""


@dataclass(slots=True)
class Outcome:
    """What an executed action returns: a proof to look for on the screen, or a finished verification."""

    proof: Proof | None = None
    details: dict[str, Any] = field(default_factory=dict)
    verification: Verification | None = None
    """Set if the action has verified itself."""
    failure: HandrailError | None = None
    """Raised after the screen was observed: the action was delivered, with a wrong effect."""
    settle: Settle | None = None
    """Overrides how long the screen is watched; "none" if the action has already settled it."""


@dataclass(slots=True)
class ActionRun:
    """Everything known about one action. It becomes the envelope and the journal entries."""

    id: str
    action: AnyAction
    caller: Caller
    clock: Clock
    life: Lifecycle
    session: RunContext
    settle: Settle
    started_ms: float
    has_waited: bool = False
    waited_on: UiSnapshot | None = None
    """The last snapshot before the action waited in line."""
    hand: Lease | None = None
    """The lease by which the person who acts has taken the device over."""
    delivery: Delivery = "not_delivered"
    sent: dict[str, int] = field(default_factory=dict)
    """What was certainly delivered: word → count."""
    aims: dict[str, Aim] = field(default_factory=dict)
    before: UiSnapshot | None = None
    after: UiSnapshot | None = None
    revision_before: str | None = None
    revision_after: str | None = None
    changes: Diff | None = None
    settled: SettleReport | None = None
    verification: Verification | None = None
    approval: Approval | None = None
    policy: str | None = None
    """The rules that decided: the digest of their file, or "defaults"."""
    details: dict[str, Any] = field(default_factory=dict)
    diagnostics: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    blobs: dict[str, str] = field(default_factory=dict)
    described_targets: dict[str, Any] | None = None
    """Robust selector and identity of each target, by the action's field. Recordings use them."""
    permitted: set[TouchedElement] = field(default_factory=set)
    """Elements that policy has already allowed this action to press."""
    rule: str = ""
    """The rule that allowed the action to begin."""
    touched_on: UiSnapshot | None = None
    """The screen on which the last input was judged."""
    unwritten: list[LifecycleEvent] = field(default_factory=list)
    """Events that are not in the journal yet."""
    _inner_ms: list[float] = field(default_factory=list)
    """For every open phase, outermost first: the time spent in phases inside it."""

    def advance(self, state: LifecycleState) -> None:
        """Raises on an illegal transition."""
        self.life = self.life.advance(state, self.clock.now_ms())
        self.session.announce(self, self.life.events[-1])

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Adds the elapsed time to `timings`, without the time of nested phases.

        Phases therefore never overlap, and with `other` they add up to the total.
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
        """Moves `ms` of the open phase to another entry of `timings`."""
        self.timings[name] = self.timings.get(name, 0.0) + ms
        self._inner_ms[-1] += ms

    @asynccontextmanager
    async def dispatching(self, what: str = "command") -> AsyncIterator[None]:
        """Wraps everything that touches the device. The delivery is "unknown" until the block ends.

        `what` is counted in `sent`, so that a later failure can tell what was delivered.
        """
        with self.phase("journal"):
            await self.session.before_dispatch(self)
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


@dataclass(slots=True)
class Stage:
    """What the code of one action uses: its run, the surface, snapshots, secrets, people."""

    run: ActionRun
    surface: Surface
    screens: ScreenTracker
    turn: QueueTurn
    guard: ActionGuard
    secrets: Secrets
    device_secrets: DeviceSecrets
    """Redacts what must not leave the engine about this device."""

    @property
    def clock(self) -> Clock:
        return self.run.clock

    @property
    def before(self) -> UiSnapshot:
        """The snapshot on which the targets were resolved."""
        return require_present(self.run.before)

    def aim(self, name: str = "target") -> Aim:
        return self.run.aims[name]

    async def refresh_screen(self) -> UiSnapshot:
        """Captures the screen and adopts it as current."""
        with self.run.phase("look"):
            return await self.screens.refresh()

    async def fill(self, text: str) -> Filled:
        """Replaces secret placeholders. The secrets count as used on this device from then on."""
        return await self.device_secrets.fill(text)

    def find(self, target: Any) -> Aim:
        """Resolves a target on the current screen."""
        return aim(self.screens, target)

    async def pass_time(self, duration_ms: float) -> None:
        """Sleeps, and raises within `CHECK_MS` if the device disconnects."""
        end = self.clock.monotonic_ms() + duration_ms
        with self.run.phase("watch"):
            while (left := end - self.clock.monotonic_ms()) > 0:
                await self.clock.sleep_ms(min(left, CHECK_MS))
                if left > CHECK_MS:
                    await self.surface.check()

    async def settle(self, before: UiSnapshot, proof: Proof | None = None) -> Settled:
        """Waits until the screen is stable or shows the proof. The last snapshot becomes `run.after`."""
        with self.run.phase("settle" if self.run.action.expect is None else "expect"):
            patience_ms = proof.patience_ms if proof else 0.0
            settling = SettleLoop(
                self.screens,
                self.clock,
                before,
                met=proof.met if proof and proof.decides else no_proof,
                ask=proof.ask if proof and proof.decides else None,
                budget_ms=max(FULL_MS, patience_ms),
                patience_ms=patience_ms,
            )
            settled = await settling.wait()
            self.run.waited("waiting", settling.waited_ms)
        self.screens.adopt(settled.snapshot)
        self.run.settled, self.run.after = settled.report, settled.snapshot
        return settled

    # capabilities; each raises `Unsupported` with the surface's reason

    @property
    def input(self) -> GuardedInput:
        return GuardedInput(self)

    @property
    def apps(self) -> Apps:
        return self.surface.need(Apps)

    @property
    def settings(self) -> DeviceSettings:
        return self.surface.need(DeviceSettings)

    @property
    def health(self) -> AppHealth | None:
        """Returns None if the surface can't tell whether an app has died."""
        return optional(self.surface, AppHealth)


async def fresh_snapshot(stage: Stage) -> UiSnapshot:
    """The snapshot before the dispatch, captured again if it is older than the action."""
    run = stage.run
    if run.before is None or run.before.began_ms < run.started_ms:
        run.before = await stage.refresh_screen()
    return run.before
