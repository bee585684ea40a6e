"""Who lies over whom and who has the focus: widgets below standard windows, panels outside of it all."""

from __future__ import annotations

from collections.abc import Mapping

from handrail.desk.alter import altered
from handrail.desk.draft import Draft
from handrail.desk.state import Monitor, Window


def put_on_top(monitor: Monitor, windows: Mapping[str, Window], window: Window) -> Monitor:
    """This window as the highest of its layer; a panel stays outside."""
    key = window.birth.key
    if window.birth.variant == "panel":
        return monitor if key in monitor.panels else altered(monitor, panels=(*monitor.panels, key))
    if monitor.order and monitor.order[-1] == key:
        return monitor
    others = _less(monitor.order, key)
    if window.birth.variant == "standard":
        return altered(monitor, order=(*others, key))
    above = _widgets(others, windows)
    return altered(monitor, order=(*others[:above], key, *others[above:]))


def _widgets(order: tuple[str, ...], windows: Mapping[str, Window]) -> int:
    """How many widgets lie at the bottom."""
    return sum(windows[key].birth.variant == "widget" for key in order)


def without(monitor: Monitor, key: str) -> Monitor:
    """The monitor after this window is gone; the focus is not decided here."""
    return altered(monitor, order=_less(monitor.order, key), panels=_less(monitor.panels, key))


def _less(keys: tuple[str, ...], key: str) -> tuple[str, ...]:
    if key not in keys:
        return keys
    at = keys.index(key)
    return keys[:at] + keys[at + 1 :]


def next_focus(monitor: Monitor, windows: Mapping[str, Window]) -> str | None:
    """Who gets a focus that was lost: the topmost standard window that is not minimised."""
    for key in reversed(monitor.order):
        window = windows[key]
        if window.birth.variant != "standard":
            return None
        if window.is_shown:
            return key
    return None


def focus(draft: Draft, window: Window) -> None:
    """To the front, with the focus. Panels never take it."""
    monitor = _monitor_of(draft, window)
    raised = put_on_top(monitor, draft.windows, window)
    if window.birth.variant != "panel" and raised.focused != window.birth.key:
        raised = altered(raised, focused=window.birth.key)
    if raised is not monitor:
        draft.set_monitor(raised)


def give_up_focus(draft: Draft, window: Window) -> None:
    """The focus goes on if this window had it."""
    monitor = _monitor_of(draft, window)
    if monitor.focused == window.birth.key:
        draft.set_monitor(altered(monitor, focused=next_focus(monitor, draft.windows)))


def take_out(draft: Draft, window: Window) -> None:
    """Out of its layer, after it was removed from the windows."""
    left = without(_monitor_of(draft, window), window.birth.key)
    if left.focused == window.birth.key:
        left = altered(left, focused=next_focus(left, draft.windows))
    draft.set_monitor(left)


def _monitor_of(draft: Draft, window: Window) -> Monitor:
    return draft.monitors[window.birth.monitor_id]
