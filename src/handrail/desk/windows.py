"""What the fourteen window actions do to a draft: they do it, or raise with the path of the field."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, NamedTuple

from handrail.desk.content import (
    content_of,
    filter_style,
    html_not_shown,
    parts_not_shown,
    replacement_content,
    updated_content,
)
from handrail.desk.state import (
    CaptureAsked,
    Content,
    DeskBounds,
    DeskDraft,
    DeskState,
    DeskWindow,
    FrameLoading,
    Lock,
    Monitor,
    MonitorSize,
    Reduction,
    WindowBirth,
    WindowClosed,
    replace_fields,
)
from handrail.errors import ActionRejected, InvalidAction, did_you_mean
from handrail.protocol import desk as act
from handrail.protocol.act import DeskAct
from handrail.protocol.read import nearest

MOST_WINDOWS = 1_000


class WindowActor(NamedTuple):
    """Who acts on a window."""

    id: str
    is_person: bool


def monitor_id_of(draft: DeskDraft, action: DeskAct) -> str:
    """The action's monitor, else the active one."""
    return action.monitor_id or draft.base.active_monitor


def find_window(draft: DeskDraft, action: act.WindowAct) -> DeskWindow:
    """The window, or `InvalidAction` with the nearest ids of that monitor."""
    monitor_id = monitor_id_of(draft, action)
    window = draft.windows.get(f"{monitor_id}/{action.window_id}")
    if window is not None:
        return window
    here = [other.birth.window_id for other in draft.windows.values() if other.birth.monitor_id == monitor_id]
    hint = did_you_mean(nearest(action.window_id, here), "Create it first, or name its monitorId.")
    problem = f"there is no window {action.window_id!r:.80} on {monitor_id:.80}"
    raise InvalidAction.at("windowId", problem, hint=hint)


def create_window(draft: DeskDraft, action: act.CreateWindow, by: WindowActor) -> dict[str, Any]:
    """Open a window on top of its layer. What a person opens twice comes to the front: they clicked twice."""
    key = f"{monitor_id_of(draft, action)}/{action.window_id}"
    if by.is_person and (open_already := draft.windows.get(key)) is not None:
        focus_window(draft, open_already)
        return {"key": key}
    taken = draft.windows.get(key)
    if taken is not None:
        refuse_locked_by_other(draft, taken, by.id, "create it anew")
        hint = "Use window.setContent to change it, or close it first."
        raise InvalidAction.at("windowId", f"{key!r:.80} exists already", hint=hint)
    if len(draft.windows) >= MOST_WINDOWS:
        problem = f"{MOST_WINDOWS} windows are open, and no more fit"
        raise InvalidAction.at("windowId", problem, hint="Close some.")
    monitor = ensure_monitor(draft, monitor_id_of(draft, action))
    style, dropped = filter_style(action.window_style)
    birth = _new_birth(draft, action, by, monitor, style)
    content = content_of(action.content, "content", draft.own_hosts)
    sides = action.bounds
    wanted = DeskBounds(round(sides.x), round(sides.y), round(sides.w), round(sides.h))
    bounds = bounds_in_viewport(birth, wanted, monitor.viewport)
    minimized = bool(action.minimized) and birth.variant == "standard"
    # Revisions begin at the moment of birth: a page's cache never takes one window for its namesake.
    window = DeskWindow(birth, action.title, bounds, content, draft.now_ms, minimized=minimized)
    draft.add(window)
    # Standard windows take the focus unless they are minimised; the others only find their layer.
    if window.birth.variant == "standard" and window.is_shown:
        raise_window(draft, window)
    else:
        monitor = draft.monitors[window.birth.monitor_id]
        draft.set_monitor(put_on_top(monitor, draft.windows, window))
    if birth.request_id and not minimized:
        draft.tell(FrameLoading(key, birth.request_id))
    details = {"key": key} | ({"dropped_style": dropped} if dropped else {})
    return details | parts_not_shown(action.content, "content")


def _new_birth(
    draft: DeskDraft, action: act.CreateWindow, by: WindowActor, monitor: Monitor, style: dict[str, str]
) -> WindowBirth:
    variant = action.variant or "standard"
    return WindowBirth(
        key=f"{monitor.id}/{action.window_id}",
        window_id=action.window_id,
        monitor_id=monitor.id,
        variant=variant,
        dock_edge=(action.dock_edge or "bottom") if variant == "panel" else None,
        frameless=bool(action.frameless),
        window_style=style,
        agent_id=by.id,
        is_persons=by.is_person,
        created_ms=draft.now_ms,
        request_id=action.request_id if action.content.renderer == "iframe" else None,
    )


def close_window(draft: DeskDraft, window: DeskWindow, by: WindowActor) -> None:
    """Closes a window; the topmost one that is left gets the focus. A person may close a locked one."""
    if not by.is_person:
        refuse_locked_by_other(draft, window, by.id, "close it")
    draft.remove(window.birth.key)
    left = without_window(_monitor_of(draft, window), window.birth.key)
    if left.focused == window.birth.key:
        left = replace_fields(left, focused=window_to_focus(left, draft.windows))
    draft.set_monitor(left)
    draft.tell(WindowClosed(window.birth.key, window.birth.agent_id))


def focus_window(draft: DeskDraft, window: DeskWindow) -> None:
    """Brings it to the front of its layer, un-minimised; panels are not affected."""
    raise_window(draft, draft.change(window, minimized=False))


def minimize_window(draft: DeskDraft, window: DeskWindow) -> None:
    """Minimises a window. Widgets and panels can't be minimised."""
    if window.birth.variant == "standard":
        pass_focus_on(draft, draft.change(window, minimized=True))


def maximize_window(draft: DeskDraft, window: DeskWindow) -> None:
    """Fill the viewport, in front and with the focus: a maximised window that others cover shows nothing."""
    if window.birth.variant == "panel":
        return
    fields: dict[str, Any] = {"minimized": False}
    if not window.maximized:
        viewport = draft.monitors[window.birth.monitor_id].viewport
        fields |= {"maximized": True, "previous_bounds": window.bounds, "bounds": bounds_filling(viewport)}
    changed = draft.change(window, **fields)
    if changed.birth.variant == "standard":
        raise_window(draft, changed)


def restore_window(draft: DeskDraft, window: DeskWindow) -> None:
    """A minimised window comes back as it was, maximised or not; else a maximised one gets its old bounds."""
    if window.minimized:
        raise_window(draft, draft.change(window, minimized=False))
    elif window.previous_bounds:
        viewport = draft.monitors[window.birth.monitor_id].viewport
        bounds = bounds_within_reach(window.birth, window.previous_bounds, viewport)
        draft.change(window, maximized=False, previous_bounds=None, bounds=bounds)


def move_window(draft: DeskDraft, window: DeskWindow, x: float, y: float) -> None:
    """A maximised window gets its old size back under the hand that drags it."""
    size = window.previous_bounds or window.bounds
    _set_bounds(draft, window, DeskBounds(round(x), round(y), size.w, size.h))


def resize_window(draft: DeskDraft, window: DeskWindow, w: float, h: float) -> None:
    size = clamp_window_size(window.birth, w, h)
    _set_bounds(draft, window, DeskBounds(window.bounds.x, window.bounds.y, *size))


def _set_bounds(draft: DeskDraft, window: DeskWindow, wanted: DeskBounds) -> None:
    viewport = draft.monitors[window.birth.monitor_id].viewport
    bounds = bounds_within_reach(window.birth, wanted, viewport)
    draft.change(window, bounds=bounds, maximized=False, previous_bounds=None)


def set_title(draft: DeskDraft, window: DeskWindow, title: str, by: WindowActor) -> None:
    """Sets a title. A lock protects it."""
    refuse_locked_by_other(draft, window, by.id, "change its title")
    draft.change(window, title=title)


def set_content(
    draft: DeskDraft, window: DeskWindow, action: act.SetWindowContent, by: WindowActor
) -> dict[str, Any]:
    """Other content in place of all there is; a lock protects it."""
    refuse_locked_by_other(draft, window, by.id, "change its content")
    _show_content(draft, window, content_of(action.content, "content", draft.own_hosts))
    return parts_not_shown(action.content, "content")


def update_content(
    draft: DeskDraft, window: DeskWindow, action: act.UpdateWindowContent, by: WindowActor
) -> dict[str, Any]:
    """One operation on the content; a lock protects it."""
    refuse_locked_by_other(draft, window, by.id, "change its content")
    renderer = action.renderer or window.content.renderer
    updated = updated_content(window.content, action.operation, action.renderer, draft.own_hosts)
    _show_content(draft, window, updated)
    replacement = replacement_content(action.operation, renderer)
    if replacement is not None:
        return parts_not_shown(replacement, "operation")
    written = getattr(action.operation, "data", "")
    return html_not_shown(written) if renderer == "html" else {}


def _show_content(draft: DeskDraft, window: DeskWindow, content: Content) -> None:
    """Other content comes under a new revision; the same content is no change."""
    if content != window.content:
        draft.change(window, content=content, content_rev=window.content_rev + 1)


def lock_window(draft: DeskDraft, window: DeskWindow, agent_id: str, by: WindowActor) -> None:
    """A lease for the caller itself."""
    refuse_other_name(by.id, agent_id)
    refuse_locked_by_other(draft, window, by.id, "lock it")
    renew_lock(draft, window, by.id)


def unlock_window(draft: DeskDraft, window: DeskWindow, agent_id: str, by: WindowActor) -> None:
    """A person may take anybody's lock away."""
    if not by.is_person:
        refuse_other_name(by.id, agent_id)
        refuse_locked_by_other(draft, window, by.id, "unlock it")
    draft.change(window, lock=None)


def capture_window(draft: DeskDraft, window: DeskWindow, request_id: str | None) -> None:
    """Asks a browser for a picture of the window; nothing changes on the desk."""
    draft.tell(CaptureAsked(window.birth.key, request_id or window.birth.key))


MOST_MONITORS = 16
MIN_W, MIN_H = 200, 150
"""The least size of a standard window, and of a viewport."""
GRAB_W, TITLE_H = 100, 36
"""What must stay visible of a window, so that a person can get hold of it."""


def ensure_monitor(draft: DeskDraft, monitor_id: str) -> Monitor:
    """The monitor. A new one is made under the next free number only, so that a typo makes none."""
    monitor = draft.monitors.get(monitor_id)
    if monitor is not None:
        return monitor
    free = next(number for number in count(1) if f"monitor-{number}" not in draft.monitors)
    there = ", ".join(draft.monitors)
    if len(draft.monitors) >= MOST_MONITORS:
        problem = f"{monitor_id!r:.80} would be one of more than {MOST_MONITORS} monitors"
        raise InvalidAction.at("monitorId", problem, hint=f"Use one of {there}.")
    if monitor_id != f"monitor-{free}":
        hint = f"There is {there}. A new one would be monitor-{free}."
        raise InvalidAction.at("monitorId", f"there is no monitor {monitor_id!r:.80}", hint=hint)
    monitor = Monitor(monitor_id)
    draft.set_monitor(monitor)
    return monitor


def show_monitor(state: DeskState, monitor_id: str, viewport: MonitorSize | None = None) -> Reduction:
    """A person looks at this monitor in a browser of this size: it is the active one from now on."""
    draft = DeskDraft(state, 0)
    monitor = ensure_monitor(draft, monitor_id)
    draft.put("active_monitor", monitor_id)
    if viewport is not None and viewport != monitor.viewport:
        draft.set_monitor(replace_fields(monitor, viewport=viewport))
        for window in state.windows.values():
            if window.birth.monitor_id == monitor_id:
                draft.change(window, bounds=refit_to_viewport(window, viewport))
    return draft.finish(())


def viewport_of(w: float, h: float) -> MonitorSize:
    """A browser's size; one that is too small to show a window counts as the smallest that can."""
    return MonitorSize(max(MIN_W, round(w)), max(MIN_H, round(h)))


def bounds_filling(viewport: MonitorSize) -> DeskBounds:
    return DeskBounds(0, 0, viewport.w, viewport.h)


def bounds_in_viewport(birth: WindowBirth, wanted: DeskBounds, viewport: MonitorSize) -> DeskBounds:
    """Bounds of a new window: wholly inside the viewport, shrunk where it does not fit."""
    sized_w, sized_h = clamp_window_size(birth, wanted.w, wanted.h)
    if birth.variant == "panel":
        return bounds_at_edge(birth, DeskBounds(wanted.x, wanted.y, sized_w, sized_h), viewport)
    w, h = min(sized_w, viewport.w), min(sized_h, viewport.h)
    return DeskBounds(_clamp(wanted.x, 0, viewport.w - w), _clamp(wanted.y, 0, viewport.h - h), w, h)


def clamp_window_size(birth: WindowBirth, w: float, h: float) -> tuple[int, int]:
    least_w, least_h = (MIN_W, MIN_H) if birth.variant == "standard" else (1, 1)
    return max(least_w, round(w)), max(least_h, round(h))


def bounds_at_edge(birth: WindowBirth, wanted: DeskBounds, viewport: MonitorSize) -> DeskBounds:
    """A panel's place: on its edge, whatever was asked for."""
    w, h = min(wanted.w, viewport.w), min(wanted.h, viewport.h)
    y = 0 if birth.dock_edge == "top" else viewport.h - h
    return DeskBounds(_clamp(wanted.x, 0, viewport.w - w), y, w, h)


def bounds_within_reach(birth: WindowBirth, wanted: DeskBounds, viewport: MonitorSize) -> DeskBounds:
    """The nearest bounds of which a person can grab something.

    With a title bar it is the bar that has to be visible in its whole height; without one, any part will do.
    """
    if birth.variant == "panel":
        return bounds_at_edge(birth, wanted, viewport)
    grab_w, grab_h = min(GRAB_W, wanted.w), min(TITLE_H, wanted.h)
    top = grab_h - wanted.h if birth.frameless else 0
    x = _clamp(wanted.x, grab_w - wanted.w, viewport.w - grab_w)
    return DeskBounds(x, _clamp(wanted.y, top, viewport.h - grab_h), wanted.w, wanted.h)


def refit_to_viewport(window: DeskWindow, viewport: MonitorSize) -> DeskBounds:
    """A maximized window fills the new viewport, any other one stays within reach."""
    if window.maximized:
        return bounds_filling(viewport)
    return bounds_within_reach(window.birth, window.bounds, viewport)


def _clamp(value: float, least: int, most: int) -> int:
    return max(least, min(round(value), most))


def put_on_top(monitor: Monitor, windows: Mapping[str, DeskWindow], window: DeskWindow) -> Monitor:
    """This window as the highest of its layer; a panel stays outside."""
    key = window.birth.key
    if window.birth.variant == "panel":
        return monitor if key in monitor.panels else replace_fields(monitor, panels=(*monitor.panels, key))
    if monitor.order and monitor.order[-1] == key:
        return monitor
    others = _without_id(monitor.order, key)
    if window.birth.variant == "standard":
        return replace_fields(monitor, order=(*others, key))
    above = sum(windows[key].birth.variant == "widget" for key in others)
    return replace_fields(monitor, order=(*others[:above], key, *others[above:]))


def without_window(monitor: Monitor, key: str) -> Monitor:
    """The monitor after this window is gone; the focus is not decided here."""
    return replace_fields(
        monitor, order=_without_id(monitor.order, key), panels=_without_id(monitor.panels, key)
    )


def _without_id(keys: tuple[str, ...], key: str) -> tuple[str, ...]:
    if key not in keys:
        return keys
    at = keys.index(key)
    return keys[:at] + keys[at + 1 :]


def window_to_focus(monitor: Monitor, windows: Mapping[str, DeskWindow]) -> str | None:
    """Who gets a focus that was lost: the topmost standard window that is not minimised."""
    for key in reversed(monitor.order):
        window = windows[key]
        if window.birth.variant != "standard":
            return None
        if window.is_shown:
            return key
    return None


def raise_window(draft: DeskDraft, window: DeskWindow) -> None:
    """Brings it to the front, with the focus. Panels never take it."""
    monitor = _monitor_of(draft, window)
    raised = put_on_top(monitor, draft.windows, window)
    if window.birth.variant != "panel" and raised.focused != window.birth.key:
        raised = replace_fields(raised, focused=window.birth.key)
    if raised is not monitor:
        draft.set_monitor(raised)


def pass_focus_on(draft: DeskDraft, window: DeskWindow) -> None:
    """The focus goes on if this window had it."""
    monitor = _monitor_of(draft, window)
    if monitor.focused == window.birth.key:
        draft.set_monitor(replace_fields(monitor, focused=window_to_focus(monitor, draft.windows)))


def _monitor_of(draft: DeskDraft, window: DeskWindow) -> Monitor:
    return draft.monitors[window.birth.monitor_id]


LEASE_MS = 120_000


def lock_holder(window: DeskWindow, now_ms: int) -> str | None:
    """Who holds it now; an expired lease holds nothing."""
    return window.lock.holder if window.lock and window.lock.expires_ms > now_ms else None


def refuse_locked_by_other(draft: DeskDraft, window: DeskWindow, by: str, doing: str) -> None:
    """Raises `ActionRejected` when another agent holds the window."""
    holder = lock_holder(window, draft.now_ms)
    if holder is None or holder == by:
        return
    raise ActionRejected(
        f"{window.birth.key} is locked by {holder}: {by} can't {doing}",
        hint="Wait until the holder unlocks it, or open a window of your own.",
        path="windowId",
        holder=holder,
        expires_ms=window.lock.expires_ms if window.lock else None,
    )


def renew_if_held(draft: DeskDraft, key: str, by: str) -> None:
    """Whatever the holder does with its window renews the lease; one that is over is cleared on the way."""
    window = draft.windows.get(key)
    if window is None or window.lock is None:
        return
    holder = lock_holder(window, draft.now_ms)
    if holder is None:
        draft.change(window, lock=None)
    elif holder == by:
        renew_lock(draft, window, by)


def renew_lock(draft: DeskDraft, window: DeskWindow, by: str) -> None:
    expires_ms = draft.now_ms + LEASE_MS
    draft.expires(expires_ms)
    draft.change(window, lock=Lock(by, expires_ms))


def release_locks_of(state: DeskState, agent_id: str, now_ms: int) -> Reduction:
    """An agent's session has ended, and with it its locks."""
    draft = DeskDraft(state, now_ms)
    for window in state.windows.values():
        if window.lock and window.lock.holder == agent_id:
            draft.change(window, lock=None)
    return draft.finish(())


def refuse_other_name(by: str, agent_id: str) -> None:
    """An agent speaks for itself alone: the id in the body must be the one of its session."""
    if by != agent_id:
        problem = f"{agent_id!r:.80} is not the caller, {by!r:.80}"
        raise InvalidAction.at("agentId", problem, hint=f"Send your own id, {by!r:.80}.")
