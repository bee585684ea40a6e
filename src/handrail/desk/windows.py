"""What the fourteen window actions do to a draft: they do it, or raise with the path of the field."""

from __future__ import annotations

from typing import Any, NamedTuple

from handrail.desk import geometry, locks, stacking
from handrail.desk.content import content_of, updated
from handrail.desk.draft import Captured, Closed, Draft, Loading
from handrail.desk.monitors import ensure_monitor
from handrail.desk.state import Birth, Bounds, Content, Monitor, Window
from handrail.desk.style import filter_style
from handrail.errors import InvalidAction
from handrail.protocol import desk as act
from handrail.protocol.act import DeskAct
from handrail.protocol.read import nearest

MOST_WINDOWS = 1_000


class By(NamedTuple):
    """Who acts."""

    id: str
    is_person: bool


def monitor_id_of(draft: Draft, action: DeskAct) -> str:
    """The action's monitor, else the active one."""
    return action.monitor_id or draft.base.active_monitor


def find(draft: Draft, action: act.WindowAct) -> Window:
    """The window, or `InvalidAction` with the nearest ids of that monitor."""
    monitor_id = monitor_id_of(draft, action)
    window = draft.windows.get(f"{monitor_id}/{action.window_id}")
    if window is not None:
        return window
    here = [known.birth.window_id for known in draft.windows.values() if known.birth.monitor_id == monitor_id]
    close = nearest(action.window_id, here)
    hint = f"Did you mean {' or '.join(close)}?" if close else "Create it first, or name its monitorId."
    raise InvalidAction(
        f"windowId: there is no window {action.window_id!r:.80} on {monitor_id:.80}",
        hint=hint,
        path="windowId",
    )


def create(draft: Draft, action: act.CreateWindow, by: By) -> dict[str, Any]:
    """Open a window on top of its layer."""
    key = f"{monitor_id_of(draft, action)}/{action.window_id}"
    _refuse_taken(draft, key, by)
    monitor = ensure_monitor(draft, monitor_id_of(draft, action))
    style, dropped = filter_style(action.window_style)
    birth = _birth(draft, action, by, monitor, style)
    content = content_of(action.content, "content", draft.own_hosts)
    wanted = Bounds(
        *(round(side) for side in (action.bounds.x, action.bounds.y, action.bounds.w, action.bounds.h))
    )
    bounds = geometry.placed(birth, wanted, monitor.viewport)
    minimized = bool(action.minimized) and birth.variant == "standard"
    # Revisions begin at the moment of birth: a page's cache never takes one window for its namesake.
    window = Window(birth, action.title, bounds, content, draft.now_ms, minimized=minimized)
    draft.add(window)
    _enter(draft, window)
    if birth.request_id and not minimized:
        draft.tell(Loading(key, birth.request_id))
    return {"key": key} | ({"dropped_style": dropped} if dropped else {})


def _refuse_taken(draft: Draft, key: str, by: By) -> None:
    taken = draft.windows.get(key)
    if taken is not None:
        locks.refuse_foreign(draft, taken, by.id, "create it anew")
        raise InvalidAction(
            f"windowId: {key!r:.80} exists already",
            hint="Use window.setContent to change it, or close it first.",
            path="windowId",
        )
    if len(draft.windows) >= MOST_WINDOWS:
        raise InvalidAction(
            f"windowId: {MOST_WINDOWS} windows are open, and no more fit", hint="Close some.", path="windowId"
        )


def _birth(draft: Draft, action: act.CreateWindow, by: By, monitor: Monitor, style: dict[str, str]) -> Birth:
    variant = action.variant or "standard"
    return Birth(
        key=f"{monitor.id}/{action.window_id}",
        window_id=action.window_id,
        monitor_id=monitor.id,
        variant=variant,
        dock_edge=(action.dock_edge or "bottom") if variant == "panel" else None,
        frameless=bool(action.frameless),
        style=style,
        agent_id=by.id,
        is_persons=by.is_person,
        created_ms=draft.now_ms,
        request_id=action.request_id if action.content.renderer == "iframe" else None,
    )


def _enter(draft: Draft, window: Window) -> None:
    """Standard windows take the focus unless they are minimised; the others only find their layer."""
    if window.birth.variant == "standard" and window.is_shown:
        stacking.focus(draft, window)
        return
    monitor = draft.monitors[window.birth.monitor_id]
    draft.set_monitor(stacking.put_on_top(monitor, draft.windows, window))


def close(draft: Draft, window: Window, by: By) -> None:
    """Gone; the focus goes to the topmost that is left. A person may close what an agent locked."""
    if not by.is_person:
        locks.refuse_foreign(draft, window, by.id, "close it")
    draft.remove(window.birth.key)
    stacking.take_out(draft, window)
    draft.tell(Closed(window.birth.key, window.birth.agent_id))


def focus(draft: Draft, window: Window) -> None:
    """To the front of its layer, un-minimised; panels are not affected."""
    if window.birth.variant != "panel":
        stacking.focus(draft, draft.change(window, minimized=False))


def minimize(draft: Draft, window: Window) -> None:
    """Out of sight; widgets and panels can't be minimised."""
    if window.birth.variant == "standard":
        stacking.give_up_focus(draft, draft.change(window, minimized=True))


def maximize(draft: Draft, window: Window) -> None:
    """Fill the viewport, in front and with the focus: a maximised window that others cover shows nothing."""
    if window.birth.variant == "panel":
        return
    fields: dict[str, Any] = {"minimized": False}
    if not window.maximized:
        viewport = draft.monitors[window.birth.monitor_id].viewport
        fields |= {"maximized": True, "previous_bounds": window.bounds, "bounds": geometry.filling(viewport)}
    changed = draft.change(window, **fields)
    if changed.birth.variant == "standard":
        stacking.focus(draft, changed)


def restore(draft: Draft, window: Window) -> None:
    """A minimised window comes back as it was, maximised or not; else a maximised one gets its old bounds."""
    if window.minimized:
        stacking.focus(draft, draft.change(window, minimized=False))
    elif window.maximized and window.previous_bounds:
        viewport = draft.monitors[window.birth.monitor_id].viewport
        bounds = geometry.reachable(window.birth, window.previous_bounds, viewport)
        draft.change(window, maximized=False, previous_bounds=None, bounds=bounds)


def move(draft: Draft, window: Window, x: float, y: float) -> None:
    """A maximised window gets its old size back under the hand that drags it."""
    size = window.previous_bounds if window.maximized and window.previous_bounds else window.bounds
    _place(draft, window, Bounds(round(x), round(y), size.w, size.h))


def resize(draft: Draft, window: Window, w: float, h: float) -> None:
    """Another size at the same place."""
    _place(draft, window, Bounds(window.bounds.x, window.bounds.y, *geometry.sized_for(window.birth, w, h)))


def _place(draft: Draft, window: Window, wanted: Bounds) -> None:
    viewport = draft.monitors[window.birth.monitor_id].viewport
    bounds = geometry.reachable(window.birth, wanted, viewport)
    draft.change(window, bounds=bounds, maximized=False, previous_bounds=None)


def set_title(draft: Draft, window: Window, title: str, by: By) -> None:
    """Another title; a lock protects it."""
    locks.refuse_foreign(draft, window, by.id, "change its title")
    draft.change(window, title=title)


def set_content(draft: Draft, window: Window, action: act.SetWindowContent, by: By) -> None:
    """Other content in place of all there is; a lock protects it."""
    locks.refuse_foreign(draft, window, by.id, "change its content")
    _show(draft, window, content_of(action.content, "content", draft.own_hosts))


def update_content(draft: Draft, window: Window, action: act.UpdateWindowContent, by: By) -> None:
    """One operation on the content; a lock protects it."""
    locks.refuse_foreign(draft, window, by.id, "change its content")
    _show(draft, window, updated(window.content, action.operation, action.renderer, draft.own_hosts))


def _show(draft: Draft, window: Window, content: Content) -> None:
    """Other content comes under a new revision; the same content is no change."""
    if content != window.content:
        draft.change(window, content=content, content_rev=window.content_rev + 1)


def lock(draft: Draft, window: Window, agent_id: str, by: By) -> None:
    """A lease for the caller itself."""
    locks.refuse_other_name(by.id, agent_id)
    locks.refuse_foreign(draft, window, by.id, "lock it")
    locks.lock(draft, window, by.id)


def unlock(draft: Draft, window: Window, agent_id: str, by: By) -> None:
    """A person may take anybody's lock away."""
    if not by.is_person:
        locks.refuse_other_name(by.id, agent_id)
        locks.refuse_foreign(draft, window, by.id, "unlock it")
    draft.change(window, lock=None)


def capture(draft: Draft, window: Window, request_id: str | None) -> None:
    """A picture is somebody else's work: a browser's."""
    draft.tell(Captured(window.birth.key, request_id or window.birth.key))
