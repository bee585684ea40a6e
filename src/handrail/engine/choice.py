"""Choosing from what opens: a spinner, a row that asks by a dialog, a part of a time. Then read back."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.engine.conditions import matches
from handrail.engine.follow import follow
from handrail.engine.run import Outcome
from handrail.engine.scroll import bring
from handrail.engine.scroller import scroller_for
from handrail.engine.sight import Seen
from handrail.engine.stage import Stage
from handrail.engine.sure import sure
from handrail.errors import ControlConvergenceFailed, ElementNotFound
from handrail.protocol.device import ScrollTo
from handrail.protocol.envelope import Verification
from handrail.protocol.target import Selector
from handrail.tree.element.labels import says
from handrail.tree.mention import name_of, receiver, touchable
from handrail.tree.node import Node, Screen
from handrail.tree.packages import SYSTEM_UI
from handrail.tree.reach import tap_point

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


def _now(stage: Stage, old: Seen, new: Seen, node: Node) -> Node | None:
    return follow(stage.sight, old.screen, new.screen, node)


async def _option(stage: Stage, seen: Seen, control: Node | None, label: str) -> tuple[Node, Seen]:
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
    return option, sure(stage.sight.last)


async def _brought(stage: Stage, seen: Seen, label: str) -> Node | None:
    if scroller_for(seen.screen, "down") is None:
        return None
    try:
        return await bring(stage, ScrollTo(target=Selector(text=label)), seen)
    except ElementNotFound:
        return None


def _offered(stage: Stage, seen: Seen, control: Node | None, label: str) -> Node | None:
    """In the topmost window that has it; words beside the control itself, such as the other part of a time,
    are no offer."""
    beside = control.parent if control else None
    found = [
        node
        for node in matches(seen.screen, Selector(text=label), stage.sight.registry)
        if receiver(node) is not None and not (beside and node.is_inside(beside))
    ]
    return found[-1] if found else None


def _offers(screen: Screen) -> list[str]:
    own = [window for window in screen.windows if window.package_name != SYSTEM_UI]
    top = (own or screen.windows)[-1]
    named = [name_of(node) for node in screen.inside(top) if touchable(node)]
    return list(dict.fromkeys(name for name in named if name))[:LISTED]


async def _tap(stage: Stage, seen: Seen, node: Node) -> Seen:
    point = tap_point(seen.screen, node, stage.sight.registry.ref_of)
    async with stage.run.dispatching():
        await stage.driver.tap(*point)
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
    """Its texts in order: a title first, then what it is set to."""
    return [words for one in (node, *_below(node)) if (words := one.shown_text or one.description)]


def _below(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        yield from _below(child)
