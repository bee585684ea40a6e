"""A recording: what happened on one device, as a flow. Fed from the journal, action by action.

Joins steps that are one (a tap into a field and the typing), and puts a scroll or a wait before a step that
needs it to find its element.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from handrail.engine.journal import Journal
from handrail.engine.journal.query import UNFINISHED, ActionRow, Shown
from handrail.engine.session import Session
from handrail.errors import InvalidAction
from handrail.flow.places import StepPath
from handrail.flow.recorded_step import RecordedStep, asked_fields, recorded_step
from handrail.flow.write import write
from handrail.protocol.act import Act
from handrail.protocol.device import ClearText, PressKey, ScrollTo, Swipe, Tap, TypeText
from handrail.protocol.flow import Flow, Step
from handrail.protocol.observe import Check, WaitFor
from handrail.protocol.system import StartApp
from handrail.protocol.target import Condition, Selector
from handrail.protocol.traits import Pressed

_HOME = re.compile(r"launcher|\.home$|systemui")
"""Packages that are there without being started."""
MORE_TRIES = 2
"""Beyond those that were needed when it was recorded."""
PAGE = 200
"""Actions that are read from the journal at a time."""


@dataclass(slots=True)
class Recording:
    """The steps so far."""

    steps: list[RecordedStep] = field(default_factory=list)
    _failed: list[dict[str, Any]] = field(default_factory=list)
    """Attempts since the last step that were worth another one."""

    def take(self, shown: Shown) -> RecordedStep | None:
        """Add one action, if it belongs into a flow; the step that it has become or become part of."""
        told = recorded_step(shown)
        if told is None:
            self._failed += [asked_fields(shown)] if _is_worth_another(shown) else []
            return None
        tries = self._failed.count(asked_fields(shown))
        self._failed.clear()
        told = replace(told, retry=min(20, tries + MORE_TRIES)) if tries else told
        joined = joined_step(self.steps[-1], told) if self.steps else None
        self.steps = [*self.steps[:-1], joined] if joined else [*with_scroll_or_wait(self.steps, told), told]
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


def _package(first: RecordedStep) -> str:
    """The app that is started first, or that was in front already; '' where nobody knows."""
    named = first.action.package if isinstance(first.action, StartApp) else None
    return named or first.package


def _is_start(told: RecordedStep) -> bool:
    """All that `app` in the head of a flow says."""
    return isinstance(told.action, StartApp) and told.action.activity is None and told.action.name is None


async def record_session(
    session: Session, journal: Journal, recording: Recording
) -> AsyncIterator[RecordedStep]:
    """Record what a session does until it closes; gives every step as it is taken."""
    async for event in session.events():
        if event.terminal:
            step = recording.take(journal.show(event.action_id))
            if step is not None:
                yield step


def _is_worth_another(shown: Shown) -> bool:
    envelope = shown.envelope or {}
    return bool(envelope.get("retryable")) and envelope.get("delivery") == "not_delivered"


def ended_actions(
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
    for row, shown in ended_actions(journal, device=device, since=since, session=session):
        if recording.take(shown) is not None:
            devices.add(row.device or "")
    if len(devices) > 1:
        raise InvalidAction(
            f"a flow is about one phone, and here are {', '.join(sorted(devices))}",
            hint="Choose one with --device, or a session with --session.",
            path="device",
        )
    return recording.text(name)


_FEWEST, _MOST = 10, 100
_SLACK = 3
"""Scrolls that are allowed for every swipe of the recording: another phone's screen may be smaller."""


def with_scroll_or_wait(steps: Sequence[RecordedStep], told: RecordedStep) -> list[RecordedStep]:
    """The steps before it. Swipes that brought its element into sight become one scroll to it."""
    target = getattr(told.action, "target", None)
    finds_its_way = told.action.traits.presses is Pressed.PATH
    if not steps or not isinstance(target, Selector) or finds_its_way:
        return list(steps)
    swipes = _swipes(steps)
    if swipes and target.index is None:
        return [*steps[: len(steps) - len(swipes)], RecordedStep(_scroll(target, swipes))]
    if _came_late(steps[-1], told):
        return [*steps, RecordedStep(WaitFor(condition=Condition(visible=target)))]
    return list(steps)


def _swipes(steps: Sequence[RecordedStep]) -> list[RecordedStep]:
    """Those at the end that scrolled one and the same way."""
    way = steps[-1].scrolled
    return list(takewhile(lambda one: one.scrolled == way, reversed(steps))) if way else []


def _scroll(target: Selector, swipes: Sequence[RecordedStep]) -> ScrollTo:
    last = swipes[0]
    within = last.action.target if isinstance(last.action, Swipe) else None
    most = max(_FEWEST, min(_MOST, _SLACK * len(swipes)))
    return ScrollTo(target=target, within=within, direction=last.scrolled or "down", max_scrolls=most)


def _came_late(last: RecordedStep, told: RecordedStep) -> bool:
    """The screen became another one by itself since the last step ended, and nobody waits for it yet."""
    waits = isinstance(last.action, WaitFor) or isinstance(told.action, Check)
    return not waits and bool(last.after and told.before) and last.after != told.before


def joined_step(first: RecordedStep, second: RecordedStep) -> RecordedStep | None:
    """The one step that stands for both; None where both are needed."""
    joined = None if first.optional or second.optional else _join(first, second)
    return None if joined is None else replace(joined, before=first.before, after=second.after)


def _join(first: RecordedStep, second: RecordedStep) -> RecordedStep | None:
    match first.action, second.action:
        case StartApp(package=one), StartApp(package=other) if one == other:
            return second
        case (Tap() | ClearText() | TypeText()) as before, TypeText() as after if _same_field(before, after):
            return _typed(first, before, second, after)
        case Tap() as before, ClearText() as after if _same_field(before, after):
            return second
    return None


def _same_field(before: Act, after: Act) -> bool:
    """The same selector, and the first step did not lead to another screen."""
    target = getattr(after, "target", None)
    return target is not None and getattr(before, "target", None) == target and before.expect is None


def _typed(
    first: RecordedStep, before: Tap | ClearText | TypeText, second: RecordedStep, after: TypeText
) -> RecordedStep | None:
    if isinstance(before, Tap) or after.clear:
        return second if not isinstance(before, TypeText) or not before.submit else None
    if isinstance(before, ClearText):
        return replace(second, action=after.model_copy(update={"clear": True}))
    if before.submit:
        return None
    whole = after.model_copy(update={"text": before.text + after.text, "clear": before.clear})
    return replace(second, action=whole, elements=first.elements)
