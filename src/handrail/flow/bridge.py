"""What must stand before a recorded step so that it finds its element: a scroll to it, or a wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from handrail.flow.retell import Told
from handrail.protocol.device import ScrollTo, Swipe
from handrail.protocol.observe import WaitFor
from handrail.protocol.target import Condition, Selector

_ALONE = frozenset({"scroll_to", "swipe"})
"""They look for their own way."""
_FEWEST, _MOST = 10, 100
_SLACK = 3
"""Scrolls that are allowed for every swipe of the recording: another phone's screen may be smaller."""


def bridged(steps: Sequence[Told], told: Told) -> list[Told]:
    """The steps before it. Swipes that brought its element into sight become one scroll to it."""
    target = getattr(told.action, "target", None)
    if not steps or not isinstance(target, Selector) or told.action.type in _ALONE:
        return list(steps)
    swipes = _swipes(steps)
    if swipes and target.index is None:
        return [*steps[: len(steps) - len(swipes)], Told(_scroll(target, swipes))]
    if _came_late(steps[-1], told):
        return [*steps, Told(WaitFor(condition=Condition(visible=target)))]
    return list(steps)


def _swipes(steps: Sequence[Told]) -> list[Told]:
    """Those at the end that scrolled one and the same way."""
    way = steps[-1].scrolled
    return list(takewhile(lambda one: one.scrolled == way, reversed(steps))) if way else []


def _scroll(target: Selector, swipes: Sequence[Told]) -> ScrollTo:
    last = swipes[0]
    within = last.action.target if isinstance(last.action, Swipe) else None
    most = max(_FEWEST, min(_MOST, _SLACK * len(swipes)))
    return ScrollTo(target=target, within=within, direction=last.scrolled or "down", max_scrolls=most)


def _came_late(last: Told, told: Told) -> bool:
    """The screen became another one by itself since the last step ended, and nobody waits for it yet."""
    waits = last.action.type == "wait_for" or told.action.type.startswith("expect_")
    return not waits and bool(last.after and told.before) and last.after != told.before
