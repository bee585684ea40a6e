"""A recording: what happened on one device, told again as a flow. Fed from the journal, action by action."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from handrail.engine.journal import Journal
from handrail.engine.journal.query import UNFINISHED, ActionRow, Shown
from handrail.engine.session import Session
from handrail.errors import InvalidAction
from handrail.flow.bridge import bridged
from handrail.flow.join import join
from handrail.flow.places import StepPath
from handrail.flow.retell import Told, asked, retell
from handrail.flow.write import write
from handrail.protocol.device import PressKey
from handrail.protocol.flow import Flow, Step
from handrail.protocol.system import StartApp

_HOME = re.compile(r"launcher|\.home$|systemui")
"""Packages that are there without being started."""
MORE_TRIES = 2
"""Beyond those that were needed when it was recorded."""
PAGE = 200
"""Actions that are read from the journal at a time."""


@dataclass(slots=True)
class Recording:
    """The steps so far."""

    steps: list[Told] = field(default_factory=list)
    _failed: list[dict[str, Any]] = field(default_factory=list)
    """Attempts since the last step that were worth another one."""

    def take(self, shown: Shown) -> Told | None:
        """Add one action, if it belongs into a flow; the step that it has become or become part of."""
        told = retell(shown)
        if told is None:
            self._failed += [asked(shown)] if _is_worth_another(shown) else []
            return None
        tries = self._failed.count(asked(shown))
        self._failed.clear()
        told = replace(told, retry=min(20, tries + MORE_TRIES)) if tries else told
        joined = join(self.steps[-1], told) if self.steps else None
        self.steps = [*self.steps[:-1], joined] if joined else [*bridged(self.steps, told), told]
        return self.steps[-1]

    def flow(self, name: str) -> tuple[Flow, dict[StepPath, dict[str, object]]]:
        """The flow, and by step the identities of what was touched."""
        if not self.steps:
            raise InvalidAction(
                "nothing was recorded: no action that touches the device has succeeded",
                hint="Only what goes through Handrail on this device is recorded.",
            )
        package = _package(self.steps[0])
        is_home = _HOME.search(package) is not None
        told = self.steps[1:] if _is_start(self.steps[0]) and len(self.steps) > 1 else self.steps
        steps = [(one.step, one.element) for one in told]
        if is_home:
            steps.insert(0, (Step(action=PressKey(key="home"), optional=True), None))
        app = None if is_home else package or None
        made = Flow(name=name, app=app, steps=tuple(step for step, _ in steps))
        return made, {(at,): element for at, (_, element) in enumerate(steps) if element}

    def text(self, name: str) -> str:
        """The flow's file."""
        flow, elements = self.flow(name)
        return write(flow, elements)


def _package(first: Told) -> str:
    """The app that is started first, or that was in front already; '' where nobody knows."""
    return first.action.package if isinstance(first.action, StartApp) else first.package


def _is_start(told: Told) -> bool:
    """All that `app` in the head of a flow says."""
    return isinstance(told.action, StartApp) and told.action.activity is None


async def follow(session: Session, journal: Journal, recording: Recording) -> AsyncIterator[Told]:
    """Record what a session does until it closes; gives every step as it is taken."""
    async for event in session.events():
        if event.terminal:
            step = recording.take(journal.show(event.action_id))
            if step is not None:
                yield step


def _is_worth_another(shown: Shown) -> bool:
    envelope = shown.envelope or {}
    return bool(envelope.get("retryable")) and envelope.get("delivery") == "not_delivered"


def ended(
    journal: Journal,
    *,
    device: str | None = None,
    since: int | None = None,
    session: str | None = None,
    after: int = 0,
) -> Iterator[tuple[ActionRow, Shown]]:
    """What the journal knows, oldest first: every action that ended behind the entry `after`."""
    for row in reversed(list(_rows(journal, device, since, after))):
        if session is None or row.session == session:
            yield row, journal.show(row.action_id)


def _rows(journal: Journal, device: str | None, since: int | None, after: int) -> Iterator[ActionRow]:
    before: int | None = None
    while True:
        page = journal.actions(PAGE, before=before, device=device, since=since)
        for row in page:
            if row.seq <= after:
                return
            if row.state != UNFINISHED:
                yield row
        if len(page) < PAGE:
            return
        before = page[-1].seq


def flow_text(
    journal: Journal, *, device: str | None, session: str | None, since: int | None = None, name: str
) -> str:
    """What was done on one phone, told again as a flow's file. Raises `InvalidAction` for several phones."""
    recording, devices = Recording(), set()
    for row, shown in ended(journal, device=device, since=since, session=session):
        if recording.take(shown) is not None:
            devices.add(row.device or "")
    if len(devices) > 1:
        raise InvalidAction(
            f"a flow is about one phone, and here are {', '.join(sorted(devices))}",
            hint="Choose one with --device, or a session with --session.",
            path="device",
        )
    return recording.text(name)
