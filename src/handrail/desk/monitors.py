"""Monitors: how one comes into being, where its windows may be, who lies over whom, who has the focus. Pure.

Widgets lie below standard windows. Panels stand outside the order.
"""

from __future__ import annotations

from collections.abc import Mapping

from handrail.desk.draft import DeskDraft, Reduced
from handrail.desk.state import Birth, DeskBounds, DeskState, DeskWindow, Monitor, MonitorSize, altered
from handrail.errors import InvalidAction

MOST_MONITORS = 16
MIN_W, MIN_H = 200, 150
"""The least size of a standard window, and of a viewport."""
GRAB_W, TITLE_H = 100, 36
"""What must stay visible of a window, so that a person can get hold of it."""


def ensure_monitor(draft: DeskDraft, monitor_id: str) -> Monitor:
    """The monitor; it comes into being when it is first named."""
    known = draft.monitors.get(monitor_id)
    if known is not None:
        return known
    if "/" in monitor_id:
        raise InvalidAction(f"monitorId: {monitor_id!r:.80} has a slash", path="monitorId")
    if len(draft.monitors) >= MOST_MONITORS:
        raise InvalidAction(
            f"monitorId: {monitor_id!r:.80} would be one of more than {MOST_MONITORS} monitors",
            hint=f"Use one of {', '.join(draft.monitors)}.",
            path="monitorId",
        )
    monitor = Monitor(monitor_id)
    draft.set_monitor(monitor)
    return monitor


def show(state: DeskState, monitor_id: str, viewport: MonitorSize | None = None) -> Reduced:
    """A person looks at this monitor in a browser of this size: it is the active one from now on."""
    draft = DeskDraft(state, 0)
    monitor = ensure_monitor(draft, monitor_id)
    draft.put("active_monitor", monitor_id)
    if viewport is not None and viewport != monitor.viewport:
        draft.set_monitor(altered(monitor, viewport=viewport))
        for window in state.windows.values():
            if window.birth.monitor_id == monitor_id:
                draft.change(window, bounds=refit(window, viewport))
    return draft.finish(())


def viewport_of(w: float, h: float) -> MonitorSize:
    """A browser's size; one that is too small to show a window counts as the smallest that can."""
    return MonitorSize(max(MIN_W, round(w)), max(MIN_H, round(h)))


def filling(viewport: MonitorSize) -> DeskBounds:
    """The bounds of a maximised window."""
    return DeskBounds(0, 0, viewport.w, viewport.h)


def placed(birth: Birth, wanted: DeskBounds, viewport: MonitorSize) -> DeskBounds:
    """Bounds of a new window: wholly inside the viewport, shrunk where it does not fit."""
    sized_w, sized_h = sized_for(birth, wanted.w, wanted.h)
    if birth.variant == "panel":
        return docked(birth, DeskBounds(wanted.x, wanted.y, sized_w, sized_h), viewport)
    w, h = min(sized_w, viewport.w), min(sized_h, viewport.h)
    return DeskBounds(_within(wanted.x, 0, viewport.w - w), _within(wanted.y, 0, viewport.h - h), w, h)


def sized_for(birth: Birth, w: float, h: float) -> tuple[int, int]:
    """A size that this kind of window may have."""
    least_w, least_h = (MIN_W, MIN_H) if birth.variant == "standard" else (1, 1)
    return max(least_w, round(w)), max(least_h, round(h))


def docked(birth: Birth, wanted: DeskBounds, viewport: MonitorSize) -> DeskBounds:
    """A panel's place: on its edge, whatever was asked for."""
    w, h = min(wanted.w, viewport.w), min(wanted.h, viewport.h)
    y = 0 if birth.dock_edge == "top" else viewport.h - h
    return DeskBounds(_within(wanted.x, 0, viewport.w - w), y, w, h)


def reachable(birth: Birth, wanted: DeskBounds, viewport: MonitorSize) -> DeskBounds:
    """The nearest bounds of which a person can grab something.

    With a title bar it is the bar that has to be visible in its whole height; without one, any part will do.
    """
    if birth.variant == "panel":
        return docked(birth, wanted, viewport)
    grab_w, grab_h = min(GRAB_W, wanted.w), min(TITLE_H, wanted.h)
    top = grab_h - wanted.h if birth.frameless else 0
    x = _within(wanted.x, grab_w - wanted.w, viewport.w - grab_w)
    return DeskBounds(x, _within(wanted.y, top, viewport.h - grab_h), wanted.w, wanted.h)


def refit(window: DeskWindow, viewport: MonitorSize) -> DeskBounds:
    """A window's bounds when the viewport changes under it."""
    if window.maximized:
        return filling(viewport)
    return reachable(window.birth, window.bounds, viewport)


def _within(value: float, least: int, most: int) -> int:
    return max(least, min(round(value), most))


def put_on_top(monitor: Monitor, windows: Mapping[str, DeskWindow], window: DeskWindow) -> Monitor:
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


def _widgets(order: tuple[str, ...], windows: Mapping[str, DeskWindow]) -> int:
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


def next_focus(monitor: Monitor, windows: Mapping[str, DeskWindow]) -> str | None:
    """Who gets a focus that was lost: the topmost standard window that is not minimised."""
    for key in reversed(monitor.order):
        window = windows[key]
        if window.birth.variant != "standard":
            return None
        if window.is_shown:
            return key
    return None


def focus(draft: DeskDraft, window: DeskWindow) -> None:
    """To the front, with the focus. Panels never take it."""
    monitor = _monitor_of(draft, window)
    raised = put_on_top(monitor, draft.windows, window)
    if window.birth.variant != "panel" and raised.focused != window.birth.key:
        raised = altered(raised, focused=window.birth.key)
    if raised is not monitor:
        draft.set_monitor(raised)


def give_up_focus(draft: DeskDraft, window: DeskWindow) -> None:
    """The focus goes on if this window had it."""
    monitor = _monitor_of(draft, window)
    if monitor.focused == window.birth.key:
        draft.set_monitor(altered(monitor, focused=next_focus(monitor, draft.windows)))


def take_out(draft: DeskDraft, window: DeskWindow) -> None:
    """Out of its layer, after it was removed from the windows."""
    left = without(_monitor_of(draft, window), window.birth.key)
    if left.focused == window.birth.key:
        left = altered(left, focused=next_focus(left, draft.windows))
    draft.set_monitor(left)


def _monitor_of(draft: DeskDraft, window: DeskWindow) -> Monitor:
    return draft.monitors[window.birth.monitor_id]
