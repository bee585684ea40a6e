"""What the fourteen window actions do to a draft: they do it, or raise with the path of the field."""

from __future__ import annotations

from typing import Any, NamedTuple

from handrail.desk import locks, monitors
from handrail.desk.content import content_of, filter_style, given_by, left_out, updated
from handrail.desk.draft import CaptureAsked, DeskDraft, FrameLoading, WindowClosed
from handrail.desk.monitors import ensure_monitor
from handrail.desk.state import Birth, Content, DeskBounds, DeskWindow, Monitor
from handrail.errors import InvalidAction
from handrail.protocol import desk as act
from handrail.protocol.act import DeskAct
from handrail.protocol.read import nearest

MOST_WINDOWS = 1_000


class By(NamedTuple):
    """Who acts."""

    id: str
    is_person: bool


def monitor_id_of(draft: DeskDraft, action: DeskAct) -> str:
    """The action's monitor, else the active one."""
    return action.monitor_id or draft.base.active_monitor


def find(draft: DeskDraft, action: act.WindowAct) -> DeskWindow:
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


def create(draft: DeskDraft, action: act.CreateWindow, by: By) -> dict[str, Any]:
    """Open a window on top of its layer. What a person opens twice comes to the front: they clicked twice."""
    key = f"{monitor_id_of(draft, action)}/{action.window_id}"
    if by.is_person and (open_already := draft.windows.get(key)) is not None:
        focus(draft, open_already)
        return {"key": key}
    _refuse_taken(draft, key, by)
    monitor = ensure_monitor(draft, monitor_id_of(draft, action))
    style, dropped = filter_style(action.window_style)
    birth = _birth(draft, action, by, monitor, style)
    content = content_of(action.content, "content", draft.own_hosts)
    wanted = DeskBounds(
        *(round(side) for side in (action.bounds.x, action.bounds.y, action.bounds.w, action.bounds.h))
    )
    bounds = monitors.placed(birth, wanted, monitor.viewport)
    minimized = bool(action.minimized) and birth.variant == "standard"
    # Revisions begin at the moment of birth: a page's cache never takes one window for its namesake.
    window = DeskWindow(birth, action.title, bounds, content, draft.now_ms, minimized=minimized)
    draft.add(window)
    _enter(draft, window)
    if birth.request_id and not minimized:
        draft.tell(FrameLoading(key, birth.request_id))
    told = {"key": key} | ({"dropped_style": dropped} if dropped else {})
    return told | left_out(action.content, "content")


def _refuse_taken(draft: DeskDraft, key: str, by: By) -> None:
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


def _birth(
    draft: DeskDraft, action: act.CreateWindow, by: By, monitor: Monitor, style: dict[str, str]
) -> Birth:
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


def _enter(draft: DeskDraft, window: DeskWindow) -> None:
    """Standard windows take the focus unless they are minimised; the others only find their layer."""
    if window.birth.variant == "standard" and window.is_shown:
        monitors.focus(draft, window)
    else:
        monitor = draft.monitors[window.birth.monitor_id]
        draft.set_monitor(monitors.put_on_top(monitor, draft.windows, window))


def close(draft: DeskDraft, window: DeskWindow, by: By) -> None:
    """Gone; the focus goes to the topmost that is left. A person may close what an agent locked."""
    if not by.is_person:
        locks.refuse_foreign(draft, window, by.id, "close it")
    draft.remove(window.birth.key)
    monitors.take_out(draft, window)
    draft.tell(WindowClosed(window.birth.key, window.birth.agent_id))


def focus(draft: DeskDraft, window: DeskWindow) -> None:
    """To the front of its layer, un-minimised; panels are not affected."""
    monitors.focus(draft, draft.change(window, minimized=False))


def minimize(draft: DeskDraft, window: DeskWindow) -> None:
    """Out of sight; widgets and panels can't be minimised."""
    if window.birth.variant == "standard":
        monitors.give_up_focus(draft, draft.change(window, minimized=True))


def maximize(draft: DeskDraft, window: DeskWindow) -> None:
    """Fill the viewport, in front and with the focus: a maximised window that others cover shows nothing."""
    if window.birth.variant == "panel":
        return
    fields: dict[str, Any] = {"minimized": False}
    if not window.maximized:
        viewport = draft.monitors[window.birth.monitor_id].viewport
        fields |= {"maximized": True, "previous_bounds": window.bounds, "bounds": monitors.filling(viewport)}
    changed = draft.change(window, **fields)
    if changed.birth.variant == "standard":
        monitors.focus(draft, changed)


def restore(draft: DeskDraft, window: DeskWindow) -> None:
    """A minimised window comes back as it was, maximised or not; else a maximised one gets its old bounds."""
    if window.minimized:
        monitors.focus(draft, draft.change(window, minimized=False))
    elif window.previous_bounds:
        viewport = draft.monitors[window.birth.monitor_id].viewport
        bounds = monitors.reachable(window.birth, window.previous_bounds, viewport)
        draft.change(window, maximized=False, previous_bounds=None, bounds=bounds)


def move(draft: DeskDraft, window: DeskWindow, x: float, y: float) -> None:
    """A maximised window gets its old size back under the hand that drags it."""
    size = window.previous_bounds or window.bounds
    _place(draft, window, DeskBounds(round(x), round(y), size.w, size.h))


def resize(draft: DeskDraft, window: DeskWindow, w: float, h: float) -> None:
    """Another size at the same place."""
    _place(
        draft, window, DeskBounds(window.bounds.x, window.bounds.y, *monitors.sized_for(window.birth, w, h))
    )


def _place(draft: DeskDraft, window: DeskWindow, wanted: DeskBounds) -> None:
    viewport = draft.monitors[window.birth.monitor_id].viewport
    bounds = monitors.reachable(window.birth, wanted, viewport)
    draft.change(window, bounds=bounds, maximized=False, previous_bounds=None)


def set_title(draft: DeskDraft, window: DeskWindow, title: str, by: By) -> None:
    """Another title; a lock protects it."""
    locks.refuse_foreign(draft, window, by.id, "change its title")
    draft.change(window, title=title)


def set_content(draft: DeskDraft, window: DeskWindow, action: act.SetWindowContent, by: By) -> dict[str, Any]:
    """Other content in place of all there is; a lock protects it."""
    locks.refuse_foreign(draft, window, by.id, "change its content")
    _show(draft, window, content_of(action.content, "content", draft.own_hosts))
    return left_out(action.content, "content")


def update_content(
    draft: DeskDraft, window: DeskWindow, action: act.UpdateWindowContent, by: By
) -> dict[str, Any]:
    """One operation on the content; a lock protects it."""
    locks.refuse_foreign(draft, window, by.id, "change its content")
    renderer = action.renderer or window.content.renderer
    _show(draft, window, updated(window.content, action.operation, action.renderer, draft.own_hosts))
    given = given_by(action.operation, renderer)
    return left_out(given, "operation") if given is not None else {}


def _show(draft: DeskDraft, window: DeskWindow, content: Content) -> None:
    """Other content comes under a new revision; the same content is no change."""
    if content != window.content:
        draft.change(window, content=content, content_rev=window.content_rev + 1)


def lock(draft: DeskDraft, window: DeskWindow, agent_id: str, by: By) -> None:
    """A lease for the caller itself."""
    locks.refuse_other_name(by.id, agent_id)
    locks.refuse_foreign(draft, window, by.id, "lock it")
    locks.lock(draft, window, by.id)


def unlock(draft: DeskDraft, window: DeskWindow, agent_id: str, by: By) -> None:
    """A person may take anybody's lock away."""
    if not by.is_person:
        locks.refuse_other_name(by.id, agent_id)
        locks.refuse_foreign(draft, window, by.id, "unlock it")
    draft.change(window, lock=None)


def capture(draft: DeskDraft, window: DeskWindow, request_id: str | None) -> None:
    """A picture is somebody else's work: a browser's."""
    draft.tell(CaptureAsked(window.birth.key, request_id or window.birth.key))
