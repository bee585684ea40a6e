"""Controls: which one was meant, and whether it slides or is chosen from; also the keyboard's end."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.engine.acts.scroll import bring, scroller_for
from handrail.engine.acts.slider import Slide
from handrail.engine.look.conditions import matches
from handrail.engine.look.looks import Look, sure
from handrail.engine.look.resolve import Aim, follow
from handrail.engine.look.verify import keyboard_gone
from handrail.engine.run import Outcome, Stage
from handrail.errors import ControlConvergenceFailed, ElementNotFound, SemanticMismatch
from handrail.protocol.device import ScrollTo, SetValue
from handrail.protocol.envelope import Verification
from handrail.protocol.target import Selector, in_words
from handrail.tree.element.labels import says
from handrail.tree.match.sketch import scrolls
from handrail.tree.mention import name_of, receiver, touchable
from handrail.tree.node import Node, Screen
from handrail.tree.reach import tap_point
from handrail.tree.windows import SYSTEM_UI, has_keyboard

_CONTROLS = ("slider", "spinner")


async def hide_keyboard(stage: Stage) -> Outcome:
    """Back closes the keyboard; where none is shown it would leave the screen, so nothing is pressed."""
    if not has_keyboard(stage.before.screen):
        told = Verification(mode="built_in", observed="no keyboard", outcome="verified")
        return Outcome(verification=told, settle="none")
    await stage.hands.key("back")
    return Outcome(proof=keyboard_gone())


async def set_value(stage: Stage, action: SetValue) -> Outcome:
    """Converges, or says where it stopped."""
    aim, screen = stage.aim(), stage.before.screen
    node = _control(screen, aim)
    if told := await _by_surface(stage, node or aim.touched, str(action.value)):
        return told
    if node is None and offers_choice(aim.touched) and receiver(aim.node) is aim.touched:
        node = aim.touched
    if node is None:
        raise SemanticMismatch(
            f"{aim} has no value to set",
            hint="Aim at a slider (@v…), a spinner or a row that opens a choice; "
            "use type_text for fields and tap for switches.",
            ref=aim.ref,
        )
    if node.role == "slider":
        return await Slide(stage, action, node).run()
    return await choose(stage, node, str(action.value))


async def _by_surface(stage: Stage, node: Node, value: str) -> Outcome | None:
    """Set by a surface that can; None where fingers have to do it."""
    if not node.native_id:
        return None
    tap_point(stage.before.screen, node, stage.looks.registry.ref_of)  # covered or disabled is said first
    told = await stage.hands.set_value(node, value)
    if told is None:
        return None
    if not told.is_set:
        offered = f"; there are {', '.join(map(repr, told.offers[:LISTED]))}" if told.offers else ""
        raise ControlConvergenceFailed(
            f"The control does not take {in_words(value)}{offered}; it says {in_words(told.value)}",
            expected=value,
            observed=told.value,
            offers=list(told.offers[:LISTED]) or None,
        )
    verdict = Verification(mode="built_in", expected=value, observed=told.value, outcome="verified")
    return Outcome(details={"moves": 1}, verification=verdict)


def _control(screen: Screen, aim: Aim) -> Node | None:
    """The control that was aimed at, or the only one that the words that were aimed at can belong to."""
    for node in (aim.node, aim.touched):
        if only := _only_control(screen, node):
            return only
    if receiver(aim.node) is not None:
        return None  # a row or a button of its own, not the caption of something beside it
    for around in aim.node.ancestors():
        others = [one for one in screen.inside(around) if touchable(one) and one.role not in _CONTROLS]
        if scrolls(around) or others:
            return None
        if only := _only_control(screen, around):
            return only
    return None


def _only_control(screen: Screen, node: Node) -> Node | None:
    inside = [one for one in (node, *screen.inside(node)) if one.role in _CONTROLS]
    return inside[0] if len(inside) == 1 else None


LISTED = 20
"""Offers that a failure names."""
_OTHER_KINDS = frozenset(
    {"button", "image_button", "switch", "check_box", "radio_button", "text_field", "tab", "slider"}
)


def offers_choice(node: Node) -> bool:
    """A spinner, or something to tap that is of no other kind and shows words that may be its value."""
    parts = [node, *_below(node)]
    plain = not any(part.checkable or part.role in _OTHER_KINDS for part in parts)
    return node.role == "spinner" or (node.clickable and plain and bool(_words(node)))


async def choose(stage: Stage, control: Node, label: str) -> Outcome:
    """Open the list, tap the entry, read the control. One that says so already is not touched."""
    before, taps = stage.before, 0
    if not _shows(control, label):
        opened = await _tap(stage, before, control)
        option, seen = await _option(stage, opened, _now(stage, before, opened, control), label)
        closed = await _tap(stage, seen, option)
        control = _now(stage, before, closed, control) or control
        taps = 2
    words = _words(control)
    if not _shows(control, label):
        raise ControlConvergenceFailed(
            f"{label!r} was chosen, and the control says {' · '.join(words)!r}",
            expected=label,
            observed=words,
        )
    verdict = Verification(mode="built_in", expected=label, observed=words[-1], outcome="verified")
    return Outcome(details={"moves": taps}, verification=verdict, settle="none")


def _now(stage: Stage, old: Look, new: Look, node: Node) -> Node | None:
    return follow(stage.looks, old.screen, new.screen, node)


async def _option(stage: Stage, seen: Look, control: Node | None, label: str) -> tuple[Node, Look]:
    """What is offered under this label, scrolled to if the list is long, and the look it is on."""
    option = _offered(stage, seen, control, label) or await _brought(stage, seen, label)
    if option is None:
        offers = _offers(seen.screen)
        raise ControlConvergenceFailed(
            f"{label!r} is not offered; there are {', '.join(map(repr, offers)) or 'no entries'}",
            hint="What opened is still open: choose one of its entries, or press back.",
            expected=label,
            offers=offers,
        )
    return option, sure(stage.looks.last)


async def _brought(stage: Stage, seen: Look, label: str) -> Node | None:
    if scroller_for(seen.screen, "down") is None:
        return None
    try:
        return await bring(stage, ScrollTo(target=Selector(text=label)), seen)
    except ElementNotFound:
        return None


def _offered(stage: Stage, seen: Look, control: Node | None, label: str) -> Node | None:
    """In the topmost window that has it; words beside the control itself, such as the other part of a time,
    are no offer."""
    beside = control.parent if control else None
    found = [
        node
        for node in matches(seen.screen, Selector(text=label), stage.looks.registry)
        if receiver(node) is not None and not (beside and node.is_inside(beside))
    ]
    return found[-1] if found else None


def _offers(screen: Screen) -> list[str]:
    own = [window for window in screen.windows if window.package_name != SYSTEM_UI]
    top = (own or screen.windows)[-1]
    named = [name_of(node) for node in screen.inside(top) if touchable(node)]
    return list(dict.fromkeys(name for name in named if name))[:LISTED]


async def _tap(stage: Stage, seen: Look, node: Node) -> Look:
    point = tap_point(seen.screen, node, stage.looks.registry.ref_of)
    await stage.hands.tap(*point)
    settled = await stage.settle(seen)
    stage.run.settled = settled.report
    stage.run.after = settled.seen
    return settled.seen


def _shows(control: Node, label: str) -> bool:
    """A single text must be the value; beside a title, the value may stand in a sentence."""
    words = _words(control)
    return any(_same(word, label) for word in words) or any(says(word, label) for word in words[1:])


def _same(word: str, label: str) -> bool:
    try:
        return float(word) == float(label)  # "05" is 5
    except ValueError:
        return word == label


def _words(node: Node) -> list[str]:
    """Its texts in order: a title first, then what it is set to, which some tell as their state."""
    found = [words for one in (node, *_below(node)) if (words := one.shown_text or one.description)]
    return [*found, node.state_description] if node.role == "spinner" and node.state_description else found


def _below(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        yield from _below(child)
