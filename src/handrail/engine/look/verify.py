"""What proves an action: the caller's own expectation, else what its kind promises by itself.

A proof looks at one screen and says whether it holds there; waiting for it is `settle`'s work.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from handrail.engine.look.conditions import Holds, holds
from handrail.engine.look.looks import Look, Looks
from handrail.engine.look.resolve import Aim
from handrail.errors import HandrailError, NavigationNoChange, VerificationFailed
from handrail.protocol.envelope import Verification, VerificationMode
from handrail.protocol.target import Condition
from handrail.surface.values import Foreground
from handrail.tree.match.matching import match
from handrail.tree.node import Node, Screen
from handrail.tree.signs import ScreenDialog
from handrail.tree.windows import app_windows, has_keyboard

EXPECT_MS = 5_000.0
"""How long what an action should bring about may take to come. A check by itself waits less: nothing that it
knows of is on its way."""
TOGGLE_MS = 1_500.0
"""How long a switch may take to turn: radios and servers are asked first. Only a failure costs this."""

_SWITCHES = frozenset({"switch", "check_box"})
_ROW_DEPTH = 3
"""Boxes between a choice and the group that it belongs to."""
_PROMPTS = frozenset({"permission", "chooser", "installer"})


Ask = Callable[[Look], Awaitable[None]]
AskForeground = Callable[[], Awaitable[Foreground]]
IsHome = Callable[[Screen], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Proof:
    """What should be seen, and the failure if it is not."""

    mode: VerificationMode
    check: Callable[[Look], Holds]
    failure: Callable[[Holds], HandrailError]
    patience_ms: float = 0.0
    """How long to go on looking once the screen is quiet."""
    decides: bool = True
    """Once it holds, the rest need not be waited for. Mere change decides nothing: it may go on."""

    ask: Ask | None = None
    """Asks the device itself, where a screen at rest does not show what it should; `check` knows it then.

    During the wait where the proof decides when it ends, and else before it is called a failure.
    """

    def met(self, seen: Look) -> bool:
        return self.check(seen).met


def explicit(condition: Condition, looks: Looks, before: Look | None) -> Proof:
    """The caller's own words."""

    def check(seen: Look) -> Holds:
        return holds(condition, seen, looks.view(seen), before)

    def failure(verdict: Holds) -> HandrailError:
        return VerificationFailed(
            f"Expected: {condition}. Found: {verdict.found}. Waited {EXPECT_MS / 1000:g} s.",
            expected=verdict.expected,
            observed=verdict.observed,
        )

    return Proof("explicit", check, failure, EXPECT_MS)


def switch_of(before: Look, aim: Aim) -> Node | None:
    """What a tap would switch: the element itself, or the only checkable thing in its row."""
    if aim.touched.checkable:
        return aim.touched
    inside = [node for node in before.screen.inside(aim.touched) if node.checkable]
    return inside[0] if len(inside) == 1 and not inside[0].clickable else None


def toggled(before: Look, aim: Aim) -> Proof | None:
    """A tap on something checkable changes its state; a radio button that is on stays on."""
    node = switch_of(before, aim)
    if node is None:
        return None

    def check(seen: Look) -> Holds:
        partner = _partner(before, seen, node)
        if partner is None:  # its screen is gone, so it did something
            return Holds(True, "another state", "another screen")
        return Holds(_state(partner) != _state(node) or _is_chosen(node), "another state", _state(partner))

    def failure(verdict: Holds) -> HandrailError:
        return VerificationFailed(
            f"{aim} is still {verdict.observed} after the tap",
            expected=verdict.expected,
            observed=verdict.observed,
        )

    return Proof("built_in", check, failure, TOGGLE_MS)


def _is_chosen(node: Node) -> bool:
    """One of several, and the one that is chosen: a tap on it changes nothing.

    Not only radio buttons: a row of a list of choices is a checked text, a segment of Compose a checked view.
    """
    if not node.checked:
        return False
    return node.role == "radio_button" or (node.role not in _SWITCHES and bool(_rivals(node)))


def _rivals(node: Node) -> list[Node]:
    """Checkables of its kind in the same group, none of which is on."""
    group = node.parent
    for _ in range(_ROW_DEPTH):
        if group is None:
            return []
        others = [one for one in _checkables(group) if one is not node and one.class_name == node.class_name]
        if others:
            return [] if any(one.checked for one in others) else others
        group = group.parent
    return []


def _checkables(group: Node) -> list[Node]:
    found, stack = [], [(group, 0)]
    while stack:
        node, depth = stack.pop()
        if node.checkable:
            found.append(node)
        if depth < _ROW_DEPTH:
            stack.extend((child, depth + 1) for child in node.children)
    return found


def _state(node: Node) -> str:
    return "on" if node.checked or node.selected else "off"


def _partner(before: Look, seen: Look, node: Node) -> Node | None:
    if before.screen is seen.screen:
        return node
    old, new = before.screen.nodes, seen.screen.nodes
    if len(old) == len(new) and _is_in_place(before, seen, node):  # the common case needs no matching
        return new[node.order]
    return match(before.screen, seen.screen).new_of(node)


def _is_in_place(before: Look, seen: Look, node: Node) -> bool:
    """The same kind of thing at the same place in a row that says the same: lists may have been sorted."""
    new = seen.screen.nodes[node.order]
    if (node.class_name, node.resource_id, node.bounds) != (new.class_name, new.resource_id, new.bounds):
        return False
    return _row(before, node) == _row(seen, new)


def _row(seen: Look, node: Node) -> list[str]:
    """The words beside it, without its own, which may tell its state."""
    around = node.parent or node
    return [one.text or one.description for one in seen.screen.inside(around) if one.order != node.order]


def moved(before: Look, looks: Looks, is_home: IsHome | None = None) -> Proof:
    """A key or gesture that navigates leaves another screen, or another part of it.

    `is_home`: for the key that leads to a place. Whoever is there already has arrived.
    """
    arrived: set[Screen] = set()

    async def ask(seen: Look) -> None:
        if is_home is not None and await is_home(seen.screen):
            arrived.add(seen.screen)

    def check(seen: Look) -> Holds:
        changed = not looks.same(before.screen, seen.screen)
        if seen.screen in arrived and not changed:
            return Holds(True, "the home screen", "the home screen")
        return Holds(changed, "another screen or scroll position", "changed" if changed else "unchanged")

    def failure(_: Holds) -> HandrailError:
        return NavigationNoChange("Neither the screen nor its scroll position changed")

    return Proof("built_in", check, failure, decides=False, ask=ask if is_home else None)


def keyboard_gone() -> Proof:
    """No input method shows itself any more."""

    def check(seen: Look) -> Holds:
        is_shown = has_keyboard(seen.screen)
        return Holds(not is_shown, "no keyboard", "a keyboard" if is_shown else "no keyboard")

    def failure(verdict: Holds) -> HandrailError:
        return VerificationFailed(
            "The keyboard is still there", expected=verdict.expected, observed=verdict.observed
        )

    return Proof("built_in", check, failure, TOGGLE_MS)


def in_front(package: str, budget_ms: float, foreground: AskForeground | None = None) -> Proof:
    """The app is there, or what the system asks on its behalf before it may show itself.

    A screen may carry other packages than its app: it is made of another one's parts, or is a recording.
    """
    carried: set[str] = set()

    async def ask(seen: Look) -> None:
        if foreground is not None and (await foreground()).package == package:
            carried.add(seen.screen.package)

    def check(seen: Look) -> Holds:
        prompt = _prompt_for(seen, package)
        if prompt is not None:
            return Holds(True, package, f"a {prompt.kind} prompt of {package}")
        there = seen.screen.package == package or seen.screen.package in carried
        return Holds(there, package, package if there else seen.screen.package)

    def failure(verdict: Holds) -> HandrailError:
        return VerificationFailed(
            f"{package} did not come to the front; {verdict.observed or 'nothing'} is there",
            hint="get_ui_tree shows what is in front: a prompt or another app may have come first.",
            expected=package,
            observed=verdict.observed,
        )

    return Proof("built_in", check, failure, budget_ms, ask=ask)


def _prompt_for(seen: Look, package: str) -> ScreenDialog | None:
    """A prompt above the app; a channel that reads one window only shows nothing but the prompt."""
    prompt = next((one for one in seen.reading.dialogs if one.kind in _PROMPTS), None)
    if prompt is None:
        return None
    below = {window.package_name for window in app_windows(seen.screen)} - {prompt.package}
    return prompt if package in below or not below else None


def field_says(before: Look, aim: Aim | None, text: str | None) -> Proof | None:
    """The field still says what was read back after typing; None where nothing could be read."""
    if text is None:
        return None

    def check(seen: Look) -> Holds:
        node = _field(before, seen, aim)
        observed = None if node is None else node.text
        return Holds(observed in (None, text), text, observed)

    def failure(verdict: Holds) -> HandrailError:
        return VerificationFailed(
            "The field does not say what was typed", expected=verdict.expected, observed=verdict.observed
        )

    return Proof("built_in", check, failure)


def _field(before: Look, seen: Look, aim: Aim | None) -> Node | None:
    focused = next((n for n in seen.screen.nodes if n.focused and n.role == "text_field"), None)
    if aim is None or focused is not None:
        return focused
    return _partner(before, seen, aim.touched)


def verification(proof: Proof | None, verdict: Holds | None, changed: bool) -> Verification:
    """How the envelope tells it."""
    if proof is None or verdict is None:
        return Verification(mode="best_effort", outcome="changed" if changed else "unchanged")
    return Verification(
        mode=proof.mode,
        expected=verdict.expected,
        observed=verdict.observed,
        outcome="verified" if verdict.met else "failed",
    )
