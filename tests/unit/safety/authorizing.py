"""One session's permission desk over a scripted phone, and people who answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from handrail.engine.action_guard import ActionGuard
from handrail.engine.resolve import aim, targets_of
from handrail.engine.run import ActionRun, QueueTurn, Stage
from handrail.protocol.envelope import Lifecycle, LifecycleEvent
from handrail.protocol.read import action_from
from handrail.safety.approval_store import AskedApproval
from handrail.safety.approvals import Approvals
from handrail.safety.authorize import Authorizer
from handrail.safety.caller import Caller
from handrail.safety.permissions import AnsweredPolicy, Permissions
from handrail.safety.secrets import Secrets
from handrail.screen.node import Screen
from handrail.store import Store
from handrail_sim.clock import ManualClock
from tests.unit.engine.scripted import Stand, still
from tests.unit.safety.policy_subjects import policy
from tests.unit.screen.drawn import node, row, screen

ASKS = "[[rule]]\nname = 'careful'\nlabel = 'Pay*'\nverdict = 'ask'\nremember = 'always'\nwhy = 'it costs'\n"
PAY = {"type": "tap", "target": {"text": "Pay now"}}


def shop(
    *, total: str = "12 EUR", pay: str = "Pay now", note: str = "", focused: bool = False, ticker: str = ""
) -> Screen:
    """A total, a button that pays, and two fields, one of them for a password."""
    return screen(
        node("TextView", box=row(0), text=total, resource_id="app:id/total"),
        node("Button", box=row(1), text=pay, resource_id="app:id/pay", flags="clickable"),
        node("EditText", box=row(3), text=note, resource_id="app:id/note", flags="clickable"),
        node(
            "EditText",
            box=row(4),
            resource_id="app:id/code",
            flags=f"clickable password {'focused' if focused else ''}",
        ),
        node("TextView", box=row(8), text="News of the day", resource_id="app:id/news"),
        node("TextView", box=row(9), text=ticker, resource_id="app:id/ticker"),
    )


class Book:
    """What the journal is told."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.blobs: list[tuple[bytes, str, bool]] = []

    def note(self, event: dict[str, Any]) -> None:
        self.events.append(event)

    async def put_blob(self, data: bytes, kind: str, *, no_secret: bool = False) -> str:
        self.blobs.append((data, kind, no_secret))
        return f"blob-{len(self.blobs)}"


class Office:
    """Everything around one `ActionGuard`."""

    def __init__(self, home: Path, rules: str = ASKS, *, drawn: Screen | None = None) -> None:
        self.stand = Stand(still(drawn or shop()), read_ms=0.0)
        self.clock: ManualClock = self.stand.clock
        self.store = Store(home / "handrail.db")
        self.approvals = Approvals(self.store, self.clock)
        self.book = Book()
        self.secrets = Secrets({})
        self.permissions = Permissions(home / "permissions.json")
        self.gate = AnsweredPolicy(policy(rules), self.permissions)
        self.revealed: list[str | None] = []
        self.lock = asyncio.Lock()
        self.guard = self.session()

    def session(self, secret: str = "kept") -> ActionGuard:
        """The desk of one more session; with the same secret it is the one who asked before."""
        authorizer = Authorizer(
            self.gate,
            self.approvals,
            self.book,  # type: ignore[arg-type]
            self.secrets,
            "phone-1",
            session=secret,
        )
        return ActionGuard(authorizer, lambda _, hidden: self.revealed.append(hidden))

    async def run(self, action: dict[str, Any], caller: Caller | None = None) -> ActionRun:
        """Nothing is read yet."""
        return ActionRun(
            id="act_1",
            action=action_from(action),
            caller=caller or Caller("tester"),
            clock=self.clock,
            life=Lifecycle.begin(0),
            session=NoSession(),
            settle="none",
            started_ms=0.0,
        )

    async def stage(
        self, action: dict[str, Any], caller: Caller | None = None, *, reads: bool = True
    ) -> Stage:
        """The screen is read, the targets are found, and the action has its turn."""
        run = await self.run(action, caller)
        screens = self.stand.screens
        if reads:
            run.before = await screens.refresh()
            run.aims = {name: aim(screens, target) for name, target in targets_of(run.action).items()}
        turn = QueueTurn(self.lock)
        await turn.acquire()
        driver: Any = self.stand.driver
        nobody: Any = None
        return Stage(run, driver, screens, turn, self.guard, self.secrets, nobody)

    async def question(self, task: asyncio.Future[Any]) -> AskedApproval:
        """The one that this task asks, as soon as it is there."""
        while not (found := await self.approvals.pending()):
            assert not task.done(), f"nobody was asked: {task}"
            await asyncio.sleep(0)
        [one] = found
        return one

    async def answered(
        self,
        work: Awaitable[Any],
        *,
        approved: bool = True,
        meanwhile: Callable[[AskedApproval], None] = lambda _: None,
        **more: Any,
    ) -> AskedApproval:
        """A person answers, and the work ends; the question as it was asked."""
        task = asyncio.ensure_future(work)
        one = await self.question(task)
        meanwhile(one)
        await self.approvals.answer(one.id, approved, "lena", **more)
        await task
        return one

    def shows(self, drawn: Screen) -> Callable[[AskedApproval], None]:
        """While a person thinks."""

        def change(_: AskedApproval) -> None:
            self.stand.driver.shows = still(drawn)

        return change


class NoSession:
    """The session of a run that is not journalled and has the device for itself."""

    def announce(self, run: ActionRun, event: LifecycleEvent) -> None:
        pass

    async def wait_for_device(self, run: ActionRun) -> None:
        pass

    async def before_dispatch(self, run: ActionRun) -> None:
        pass

    async def ask_person(self, stage: Stage, action: Any) -> Any:
        raise AssertionError

    async def run_script(self, action: Any) -> Any:
        raise AssertionError


@asynccontextmanager
async def office(home: Path, *args: Any, **options: Any) -> AsyncIterator[Office]:
    made = Office(home, *args, **options)
    try:
        async with asyncio.timeout(60):
            yield made
    finally:
        made.store.close()


def play(home: Path, story: Callable[[Office], Awaitable[None]], *args: Any, **options: Any) -> None:
    """One story in one office, with everything closed behind it."""

    async def told() -> None:
        async with office(home, *args, **options) as made:
            await story(made)

    asyncio.run(told())
