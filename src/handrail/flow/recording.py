"""A recording: what happened on one device, as a flow. Fed from the journal, action by action.

Joins steps that are one (a tap into a field and the typing), and puts a scroll or a wait before a step that
needs it to find its element.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from handrail.errors import InvalidAction
from handrail.flow.document import StepPath
from handrail.flow.write import write_flow
from handrail.journal import Journal
from handrail.journal.query import UNFINISHED, ActionRow, ShownAction
from handrail.protocol.act import Act
from handrail.protocol.actions import ACTIONS, AnyAction
from handrail.protocol.device import ClearText, Direction, PressKey, ScrollTo, Swipe, Tap, TypeText
from handrail.protocol.flow import Flow, Step
from handrail.protocol.observe import Check, WaitFor
from handrail.protocol.read import action_from
from handrail.protocol.system import OpenUrl, StartApp
from handrail.protocol.target import Condition, Selector
from handrail.protocol.traits import Pressed
from handrail.safety.approval_request import MASKED

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

    def add_action(self, shown: ShownAction) -> RecordedStep | None:
        """Add one action, if it belongs into a flow; the step that it has become or become part of."""
        recorded = recorded_step(shown)
        if recorded is None:
            envelope = shown.envelope or {}
            if envelope.get("retryable") and envelope.get("delivery") == "not_delivered":
                self._failed.append(asked_fields(shown))
            return None
        tries = self._failed.count(asked_fields(shown))
        self._failed.clear()
        recorded = replace(recorded, retry=min(20, tries + MORE_TRIES)) if tries else recorded
        joined = joined_step(self.steps[-1], recorded) if self.steps else None
        before = self.steps[:-1] if joined else with_scroll_or_wait(self.steps, recorded)
        self.steps = [*before, joined or recorded]
        return self.steps[-1]

    def flow(self, name: str) -> tuple[Flow, dict[StepPath, dict[str, object]]]:
        """The flow, and by step the identities of what was touched."""
        if not self.steps:
            raise InvalidAction(
                "nothing was recorded: no action that touches the device has succeeded",
                hint="Only what goes through Handrail on this device is recorded.",
            )
        first = self.steps[0]
        package = (first.action.package if isinstance(first.action, StartApp) else None) or first.package
        at_home = is_home(package)
        # A step that only starts the app is what the flow's `app` does too.
        start = first.action if isinstance(first.action, StartApp) else None
        is_start = start is not None and start.activity is None and start.name is None
        chosen = self.steps[1:] if is_start and len(self.steps) > 1 else self.steps
        steps = [(recorded.step, recorded.element) for recorded in chosen]
        if at_home:
            steps.insert(0, (Step(action=PressKey(key="home"), optional=True), None))
        app = None if at_home else package or None
        recorded_flow = Flow(name=name, app=app, steps=tuple(step for step, _ in steps))
        return recorded_flow, {(at,): element for at, (_, element) in enumerate(steps) if element}

    def text(self, name: str) -> str:
        flow, elements = self.flow(name)
        return write_flow(flow, elements)


def is_home(package: str) -> bool:
    """Whether a package is there without being started."""
    return _HOME.search(package) is not None


def ended_actions(
    journal: Journal,
    *,
    device: str | None = None,
    since: int | None = None,
    session: str | None = None,
    after: int = 0,
) -> Iterator[tuple[ActionRow, ShownAction]]:
    """What the journal knows, oldest first: every action that ended behind the entry `after`."""
    for row in reversed(list(_ended_rows_since(journal, device, since, after))):
        if session is None or row.session == session:
            yield row, journal.show(row.action_id)


def _ended_rows_since(
    journal: Journal, device: str | None, since: int | None, after: int
) -> Iterator[ActionRow]:
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
        if recording.add_action(shown) is not None:
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


def with_scroll_or_wait(steps: Sequence[RecordedStep], recorded: RecordedStep) -> list[RecordedStep]:
    """The steps before it. Swipes that brought its element into sight become one scroll to it."""
    target = getattr(recorded.action, "target", None)
    finds_its_way = recorded.action.traits.presses is Pressed.PATH
    if not steps or not isinstance(target, Selector) or finds_its_way:
        return list(steps)
    way = steps[-1].scrolled
    swipes = list(takewhile(lambda step: step.scrolled == way, reversed(steps))) if way else []
    if swipes and target.index is None:
        last = swipes[0]
        within = last.action.target if isinstance(last.action, Swipe) else None
        most = max(_FEWEST, min(_MOST, _SLACK * len(swipes)))
        scroll = ScrollTo(target=target, within=within, direction=last.scrolled or "down", max_scrolls=most)
        return [*steps[: len(steps) - len(swipes)], RecordedStep(scroll)]
    if _changed_late(steps[-1], recorded):
        return [*steps, RecordedStep(WaitFor(condition=Condition(visible=target)))]
    return list(steps)


def _changed_late(last: RecordedStep, recorded: RecordedStep) -> bool:
    """The screen became another one by itself since the last step ended, and nobody waits for it yet."""
    waits = isinstance(last.action, WaitFor) or isinstance(recorded.action, Check)
    return not waits and bool(last.after and recorded.before) and last.after != recorded.before


def joined_step(first: RecordedStep, second: RecordedStep) -> RecordedStep | None:
    """The one step that stands for both; None where both are needed."""
    joined = None if first.optional or second.optional else _join(first, second)
    return None if joined is None else replace(joined, before=first.before, after=second.after)


def _join(first: RecordedStep, second: RecordedStep) -> RecordedStep | None:
    match first.action, second.action:
        case StartApp(package=package), StartApp(package=other) if package == other:
            return second
        case (Tap() | ClearText() | TypeText()) as before, TypeText() as after if _same_field(before, after):
            if isinstance(before, Tap) or after.clear:
                return second if not isinstance(before, TypeText) or not before.submit else None
            if isinstance(before, ClearText):
                return replace(second, action=after.model_copy(update={"clear": True}))
            if before.submit:
                return None
            joined = after.model_copy(update={"text": before.text + after.text, "clear": before.clear})
            return replace(second, action=joined, elements=first.elements)
        case Tap() as before, ClearText() as after if _same_field(before, after):
            return second
    return None


def _same_field(before: Act, after: Act) -> bool:
    """The same selector, and the first step did not lead to another screen."""
    target = getattr(after, "target", None)
    return target is not None and getattr(before, "target", None) == target and before.expect is None


_ONCE = ("reason", "device")
"""Fields that belong to the moment."""
_HANDLES = frozenset({"ref", "element_id"})
_ORDER = ("package", "class", "role", "id", "text", "description", "path", "bounds", "screen", "neighbours")
_SECRET = re.compile(r"\$\{secret:")
_UNWRITTEN = re.compile(rf"\$\{{secret:TYPED_\d+\}}|{MASKED}")
"""What the journal says for a password that was typed as it is."""


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """A step, and what was known of the elements it touched."""

    action: AnyAction
    elements: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Identities by the action's field."""
    before: str = ""
    after: str = ""
    """Fingerprints of the screen that it found and of the one that it left; '' where nobody looked."""
    scrolled: Direction | None = None
    """Where the content lay that a swipe brought into sight."""
    retry: int = 0
    optional: bool = False

    @property
    def step(self) -> Step:
        return Step(action=self.action, retry=self.retry, optional=self.optional)

    @property
    def package(self) -> str:
        """The app whose element was touched; '' where none was."""
        packages = (element.get("package") for element in self.elements.values())
        return next((str(package) for package in packages if package), "")

    @property
    def element(self) -> dict[str, Any] | None:
        """As it stands in a file: that of a lone target without its field's name."""
        if self.elements.keys() == {"target"}:
            return _in_file_order(self.elements["target"])
        return {name: _in_file_order(portrait) for name, portrait in self.elements.items()} or None


def _in_file_order(element: Mapping[str, Any]) -> dict[str, Any]:
    """An element's fields in the order of files: what it is first, where it stood last."""
    return {key: element[key] for key in _ORDER if key in element}


def asked_fields(shown: ShownAction) -> dict[str, Any]:
    """What was asked for, without what belongs to the moment; {} where that is not known."""
    action = _first_object(shown, "action") or {}
    return {name: value for name, value in action.items() if name not in _ONCE}


def recorded_step(shown: ShownAction) -> RecordedStep | None:
    """Returns None for what does not belong into a flow: reads, pauses, vain attempts, acts of the desk."""
    fields, envelope = asked_fields(shown), shown.envelope or {}
    succeeded = envelope.get("success") is True
    if not _belongs_into_flow(fields) or not (succeeded or _did_something(envelope)):
        return None
    drawn = _first_object(shown, "robust") or {}
    aimed = {name.rstrip("_") for name in ACTIONS[fields["type"]].traits.aims}
    names = {name for name in ("target", "within") if name in fields}
    for name in sorted(aimed | names):
        fields[name] = _lasting_target(name, fields.get(name), drawn, envelope)
    if not succeeded or not _holds_no_ref(fields.get("expect")):
        fields.pop("expect", None)
    fields |= _typed_text(fields, drawn)
    fields = {name: value for name, value in fields.items() if value is not None}
    try:
        action = action_from(fields)
        if expected := _proof_at_replay(action, _first_object(shown, "landmark")):
            action = action_from(fields | expected)
    except InvalidAction:  # its target was a ref, and nobody drew the element behind it
        return None
    elements = {name: portrait["element"] for name, portrait in drawn.items() if name in fields}
    return RecordedStep(
        action,
        elements,
        before=envelope.get("ui_fingerprint_before") or "",
        after=envelope.get("ui_fingerprint_after") or "",
        scrolled=_scrolled_direction(envelope) if isinstance(action, Swipe) else None,
        optional=not succeeded,
    )


def _did_something(envelope: Mapping[str, Any]) -> bool:
    """True for a failed action that still changed the screen: later steps depend on it."""
    before, after = envelope.get("ui_fingerprint_before"), envelope.get("ui_fingerprint_after")
    return envelope.get("delivery") == "delivered" and bool(before and after) and before != after


def _scrolled_direction(envelope: Mapping[str, Any]) -> Direction | None:
    moves = [change for change in envelope.get("changes") or () if change.get("type") == "scrolled"]
    if not moves:
        return None
    dx, dy = moves[0].get("dx", 0), moves[0].get("dy", 0)
    if abs(dy) >= abs(dx):
        return "down" if dy < 0 else "up"
    return "right" if dx < 0 else "left"


def _first_object(shown: ShownAction, key: str) -> dict[str, Any] | None:
    return next((event[key] for event in shown.events if isinstance(event.get(key), dict)), None)


def _belongs_into_flow(fields: Mapping[str, Any]) -> bool:
    """What touches the device, and the checks and waits that somebody made in words that last."""
    cls = ACTIONS.get(fields.get("type", ""))
    if cls is None:
        return False
    is_wait = cls is WaitFor and fields.get("timeout_ms") != 0  # one of no time is only a look
    if is_wait or issubclass(cls, Check):
        return _holds_no_ref(fields)
    return cls.traits.effect in ("input", "system", "sensitive")


def _lasting_target(name: str, target: Any, drawn: Mapping[str, Any], envelope: Mapping[str, Any]) -> Any:
    """The selector that was drawn, else the caller's own words, else what the envelope says was found."""
    if name in drawn and not _SECRET.search(str(drawn[name]["selector"])):
        return drawn[name]["selector"]
    if target is None or _holds_no_ref(target):
        return target
    resolved = (envelope.get("target") or {}).get("resolved") or {}
    holds_value = str(resolved.get("class", "")).endswith("EditText")
    words = {
        "id": (resolved.get("resource_id") or "").rpartition(":id/")[2],
        "text": None if holds_value else resolved.get("text"),
        "description": resolved.get("accessibility_id"),
    }
    return next(({name: value} for name, value in words.items() if value), None)


def _holds_no_ref(value: Any) -> bool:
    """Whether it holds no ref: a ref means nothing in another session."""
    if isinstance(value, Mapping):
        return not _HANDLES & value.keys() and all(map(_holds_no_ref, value.values()))
    return not isinstance(value, list | tuple) or all(map(_holds_no_ref, value))


def _typed_text(fields: Mapping[str, Any], drawn: Mapping[str, Any]) -> dict[str, str]:
    """What was typed; for a password, which nobody wrote down, the secret that should be made for it."""
    text = fields.get("text")
    if not isinstance(text, str):
        return {}
    if _UNWRITTEN.fullmatch(text):
        return {"text": f"${{secret:{_secret_name((drawn.get('target') or {}).get('element') or {})}}}"}
    return {"text": text}


def _secret_name(element: Mapping[str, Any]) -> str:
    words = element.get("id") or element.get("text") or ""
    name = re.sub(r"\W+", "_", words, flags=re.ASCII).strip("_").upper()
    return name if name[:1].isalpha() else "PASSWORD"


def _proof_at_replay(action: AnyAction, landmark: Mapping[str, Any] | None) -> dict[str, Any]:
    """What proves the step at a replay: the caller's own words, else what the new screen is known by."""
    if not landmark or action.expect or not _leads_to_new_screen(action):
        return {}
    is_secret = any(_SECRET.search(str(words)) for words in landmark.values())
    return {} if is_secret else {"expect": {"visible": dict(landmark)}}


def _leads_to_new_screen(action: AnyAction) -> bool:
    """Whether a new screen is what it was done for: something is pressed, or an address is opened."""
    presses = action.traits.presses in (Pressed.TARGET, Pressed.FOCUS) and not action.only_types
    return presses or isinstance(action, OpenUrl)
