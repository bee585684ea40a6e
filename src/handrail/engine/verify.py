"""What proves an action: the caller's expectation, else what the kind of action promises.

A proof checks one snapshot; `settle` does the waiting.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from handrail.engine.conditions import ConditionResult, check_condition
from handrail.engine.resolve import Aim
from handrail.engine.snapshot import ScreenTracker, UiSnapshot
from handrail.errors import HandrailError, NavigationNoChange, VerificationFailed
from handrail.protocol.envelope import Verification, VerificationMode
from handrail.protocol.target import Condition
from handrail.screen.match import match
from handrail.screen.node import Node, Screen
from handrail.screen.pictures import picture_around
from handrail.screen.reach import may_be_covered_at
from handrail.screen.windows import app_windows, has_keyboard
from handrail.surface.values import Foreground

EXPECT_MS = 5_000.0
"""How long an expected effect may take to appear. `expect_*` actions wait less, since nothing is in progress.
"""
TOGGLE_MS = 1_500.0
"""How long a switch may take to change: some ask a radio or a server first. Only a failure takes this long.
"""

_SWITCHES = frozenset({"switch", "check_box"})
_ROW_DEPTH = 3
"""Containers between a choice and the group that it belongs to."""
_IDENTITY = ("class_name", "resource_id", "bounds")
_PROMPTS = frozenset({"permission", "chooser", "installer"})

Ask = Callable[[UiSnapshot], Awaitable[None]]
AskForeground = Callable[[], Awaitable[Foreground]]
IsHome = Callable[[Screen], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Proof:
    """What the screen should show, and the failure if it does not."""

    mode: VerificationMode
    check: Callable[[UiSnapshot], ConditionResult]
    failure: Callable[[ConditionResult], HandrailError]
    patience_ms: float = 0.0
    """How long to keep reading once the screen is quiet."""
    decides: bool = True
    """The wait ends once it holds. A mere change does not end it, since it may go on."""

    ask: Ask | None = None
    """Asks the device if the screen does not show the proof; `check` uses the answer.

    Called during the wait if the proof decides when that ends, else before a failure is reported.
    """

    def met(self, snapshot: UiSnapshot) -> bool:
        return self.check(snapshot).met


def _not_verified(message: str, verdict: ConditionResult) -> HandrailError:
    return VerificationFailed(message, expected=verdict.expected, observed=verdict.observed)


def expected_proof(condition: Condition, screens: ScreenTracker, before: UiSnapshot | None) -> Proof:
    def check(snapshot: UiSnapshot) -> ConditionResult:
        return check_condition(condition, snapshot, screens.refs_on(snapshot), before)

    def failure(verdict: ConditionResult) -> HandrailError:
        there = f"Found: {verdict.observed_text}. Waited {EXPECT_MS / 1000:g} s."
        return _not_verified(f"Expected: {condition}. {there}", verdict)

    return Proof("explicit", check, failure, EXPECT_MS)


def switch_of(before: UiSnapshot, aim: Aim) -> Node | None:
    """What a tap would toggle: the element itself, or the only checkable node in its row."""
    if aim.touched.checkable:
        return aim.touched
    inside = [node for node in before.screen.inside(aim.touched) if node.checkable]
    return inside[0] if len(inside) == 1 and not inside[0].clickable else None


def checked_state_changed(before: UiSnapshot, aim: Aim) -> Proof | None:
    """A tap on a checkable node changes its state; a selected radio button stays selected."""
    node = switch_of(before, aim)
    if node is None:
        return None

    def check(snapshot: UiSnapshot) -> ConditionResult:
        partner = _node_afterwards(before, snapshot, node)
        if partner is None:  # its screen is gone, so the tap had an effect
            return ConditionResult(True, "another state", "another screen")
        state = _state_of(partner)
        return ConditionResult(state != _state_of(node) or _is_chosen(node), "another state", state)

    def failure(verdict: ConditionResult) -> HandrailError:
        return _not_verified(f"{aim} is still {verdict.observed} after the tap", verdict)

    return Proof("built_in", check, failure, TOGGLE_MS)


def _is_chosen(node: Node) -> bool:
    """The selected one of several choices: a tap on it changes nothing.

    These are not only radio buttons: a list row may be a checked text, a Compose segment a checked view.
    """
    if not node.checked:
        return False
    return node.role == "radio_button" or (node.role not in _SWITCHES and bool(_unchecked_choices(node)))


def _unchecked_choices(node: Node) -> list[Node]:
    """Other checkable nodes of the same class in its group, none of which is checked."""
    for group in list(node.ancestors())[:_ROW_DEPTH]:
        alike = [each for each in _checkables(group) if each.class_name == node.class_name]
        others = [each for each in alike if each is not node]
        if others:
            return [] if any(other.checked for other in others) else others
    return []


def _checkables(group: Node) -> list[Node]:
    controls, stack = [], [(group, 0)]
    while stack:
        node, depth = stack.pop()
        if node.checkable:
            controls.append(node)
        if depth < _ROW_DEPTH:
            stack.extend((child, depth + 1) for child in node.children)
    return controls


def _state_of(node: Node) -> str:
    return "on" if node.checked or node.selected else "off"


def _node_afterwards(before: UiSnapshot, snapshot: UiSnapshot, node: Node) -> Node | None:
    if before.screen is snapshot.screen:
        return node
    old, new = before.screen.nodes, snapshot.screen.nodes
    if len(old) == len(new):  # mostly it is where it was, and needs no matching
        there = new[node.order]
        alike = all(getattr(there, name) == getattr(node, name) for name in _IDENTITY)
        # The list may have been sorted, so its row has to have the same words, too.
        if alike and _words_beside(before, node) == _words_beside(snapshot, there):
            return there
    return match(before.screen, snapshot.screen).new_of(node)


def _words_beside(snapshot: UiSnapshot, node: Node) -> list[str]:
    """The words beside it, without its own, which may tell its state."""
    around = node.parent or node
    return [
        part.text or part.description for part in snapshot.screen.inside(around) if part.order != node.order
    ]


def screen_moved(before: UiSnapshot, screens: ScreenTracker, is_home: IsHome | None = None) -> Proof:
    """A navigation key or gesture changes the screen or its scroll position.

    `is_home` is for the home key, which has no effect on the home screen.
    """
    arrived: set[Screen] = set()

    async def ask(snapshot: UiSnapshot) -> None:
        if is_home is not None and await is_home(snapshot.screen):
            arrived.add(snapshot.screen)

    def check(snapshot: UiSnapshot) -> ConditionResult:
        changed = not screens.is_same(before.screen, snapshot.screen)
        if snapshot.screen in arrived and not changed:
            return ConditionResult(True, "the home screen", "the home screen")
        observed = "changed" if changed else "unchanged"
        return ConditionResult(changed, "another screen or scroll position", observed)

    why = "Neither the screen nor its scroll position changed"
    asks = ask if is_home else None
    return Proof("built_in", check, lambda _: NavigationNoChange(why), decides=False, ask=asks)


def touch_changed_screen(before: UiSnapshot, screens: ScreenTracker, aim: Aim) -> Proof | None:
    """A touch changes the screen, where nothing else tells that it reached its target.

    None where the device tells what is on top: a touch without a visible effect is no failure there.
    """
    if picture_around(aim.touched) is not None:
        return _picture_changed(before, screens, aim)
    if not may_be_covered_at(before.screen, aim.touched, aim.point):
        return None

    why = f"{aim} was touched and nothing changed"
    hint = "Something may lie over it: this device does not tell what is on top. See the screenshot."
    return replace(screen_moved(before, screens), failure=lambda _: NavigationNoChange(why, hint=hint))


PICTURE = "the picture"
"""What a verification names as observed where no tree tells what a touch did."""


def _picture_changed(before: UiSnapshot, screens: ScreenTracker, aim: Aim) -> Proof:
    """A touch on something drawn changes what is drawn, there or anywhere; a clock or a cursor is none."""

    def check(snapshot: UiSnapshot) -> ConditionResult:
        changed = not screens.is_same(before.screen, snapshot.screen)
        observed = f"{PICTURE} {'changed' if changed else 'did not change'}"
        return ConditionResult(changed, f"{PICTURE} changes", observed)

    why = f"{aim} was touched and nothing that is drawn changed"
    hint = "It may be no button: see the screenshot, and aim at what looks like one."
    return Proof("built_in", check, lambda _: NavigationNoChange(why, hint=hint), decides=False)


def keyboard_hidden() -> Proof:
    def check(snapshot: UiSnapshot) -> ConditionResult:
        is_shown = has_keyboard(snapshot.screen)
        return ConditionResult(not is_shown, "no keyboard", "a keyboard" if is_shown else "no keyboard")

    return Proof("built_in", check, partial(_not_verified, "The keyboard is still shown"), TOGGLE_MS)


def app_in_front(package: str, budget_ms: float, foreground: AskForeground | None = None) -> Proof:
    """The app is in front, or a system prompt on its behalf.

    A screen's package may differ from its app's: it may embed another app's views, or be a recording.
    """
    carried: set[str] = set()

    async def ask(snapshot: UiSnapshot) -> None:
        if foreground is not None and (await foreground()).package == package:
            carried.add(snapshot.screen.package)

    def check(snapshot: UiSnapshot) -> ConditionResult:
        # A prompt above the app. A channel that reads a single window shows only the prompt.
        prompt = next((dialog for dialog in snapshot.analysis.dialogs if dialog.kind in _PROMPTS), None)
        if prompt is not None:
            below = {window.package_name for window in app_windows(snapshot.screen)} - {prompt.package}
            if package in below or not below:
                return ConditionResult(True, package, f"a {prompt.kind} prompt of {package}")
        there = snapshot.screen.package == package or snapshot.screen.package in carried
        return ConditionResult(there, package, package if there else snapshot.screen.package)

    def failure(verdict: ConditionResult) -> HandrailError:
        return VerificationFailed(
            f"{package} did not come to the front; {verdict.observed or 'nothing'} is there",
            hint="get_ui_tree shows what is in front: a prompt or another app may have come first.",
            expected=package,
            observed=verdict.observed,
        )

    return Proof("built_in", check, failure, budget_ms, ask=ask)


def field_contains(before: UiSnapshot, aim: Aim | None, text: str | None) -> Proof | None:
    """The field still has the text that was read back after typing; None if nothing could be read."""
    if text is None:
        return None

    def check(snapshot: UiSnapshot) -> ConditionResult:
        node = next((n for n in snapshot.screen.nodes if n.focused and n.role == "text_field"), None)
        if node is None and aim is not None:
            node = _node_afterwards(before, snapshot, aim.touched)
        observed = None if node is None else node.text
        return ConditionResult(observed in (None, text), text, observed)

    return Proof("built_in", check, partial(_not_verified, "The field does not contain the typed text"))


def verified_by_read_back(observed: Any, expected: Any = None) -> Verification:
    """The action has read its effect back itself."""
    return Verification(mode="built_in", expected=expected, observed=observed, outcome="verified")
