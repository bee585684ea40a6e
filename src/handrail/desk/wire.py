"""The state as JSON data and back: what browsers keep, what the store keeps. One spelling, seed 004's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from handrail.desk.state import (
    Birth,
    Content,
    DeskBounds,
    DeskNotification,
    DeskState,
    DeskWindow,
    Dialog,
    Lock,
    Monitor,
    MonitorSize,
    Toast,
)
from handrail.protocol.model import camel

Json = dict[str, Any]
RENDERED = ("markdown", "html")
"""Renderers whose data browsers fetch as safe HTML, never as it was written."""


def bounds_json(bounds: DeskBounds) -> Json:
    """`{x, y, w, h}`."""
    return {"x": bounds.x, "y": bounds.y, "w": bounds.w, "h": bounds.h}


def content_json(content: Content, *, whole: bool = False) -> Json:
    """`whole`: with the data of rendered text too."""
    if content.renderer in RENDERED and not whole:
        return {"renderer": content.renderer}
    return {"renderer": content.renderer, "data": content.data}


def _previous(window: DeskWindow) -> Json:
    return {"previousBounds": bounds_json(window.previous_bounds) if window.previous_bounds else None}


def _lock(window: DeskWindow) -> Json:
    lock = window.lock
    return {"lockedBy": lock.holder if lock else None, "lockExpiresMs": lock.expires_ms if lock else None}


PARTS: Mapping[str, Callable[[DeskWindow], Json]] = {
    "title": lambda window: {"title": window.title},
    "bounds": lambda window: {"bounds": bounds_json(window.bounds)},
    "previous_bounds": _previous,
    "content": lambda window: {"content": content_json(window.content)},
    "content_rev": lambda window: {"contentRev": window.content_rev},
    "minimized": lambda window: {"minimized": window.minimized},
    "maximized": lambda window: {"maximized": window.maximized},
    "lock": _lock,
}
"""What each changing field of a window is on the wire."""


def _birth_json(birth: Birth) -> Json:
    return {
        "key": birth.key,
        "windowId": birth.window_id,
        "monitorId": birth.monitor_id,
        "variant": birth.variant,
        "dockEdge": birth.dock_edge,
        "frameless": birth.frameless,
        "windowStyle": dict(birth.style),
        "agentId": birth.agent_id,
        "isPersons": birth.is_persons,
        "createdMs": birth.created_ms,
        "requestId": birth.request_id,
    }


def window_json(window: DeskWindow, *, whole: bool = False) -> Json:
    """All fields of a window."""
    written = _birth_json(window.birth)
    for write in PARTS.values():
        written.update(write(window))
    if whole:
        written["content"] = content_json(window.content, whole=True)
    return written


def window_from(data: Mapping[str, Any]) -> DeskWindow:
    """A window from what `window_json(…, whole=True)` wrote."""
    birth = Birth(
        data["key"],
        data["windowId"],
        data["monitorId"],
        data["variant"],
        data["dockEdge"],
        data["frameless"],
        data["windowStyle"],
        data["agentId"],
        data["isPersons"],
        data["createdMs"],
        data["requestId"],
    )
    previous, holder = data["previousBounds"], data["lockedBy"]
    return DeskWindow(
        birth,
        data["title"],
        DeskBounds(**data["bounds"]),
        Content(**data["content"]),
        data["contentRev"],
        DeskBounds(**previous) if previous else None,
        data["minimized"],
        data["maximized"],
        Lock(holder, data["lockExpiresMs"]) if holder else None,
    )


def monitor_json(monitor: Monitor) -> Json:
    """All fields of a monitor."""
    return {
        "id": monitor.id,
        "viewport": {"w": monitor.viewport.w, "h": monitor.viewport.h},
        "order": list(monitor.order),
        "panels": list(monitor.panels),
        "focused": monitor.focused,
    }


def monitor_from(data: Mapping[str, Any]) -> Monitor:
    """A monitor from what `monitor_json` wrote."""
    order, panels = tuple(data["order"]), tuple(data["panels"])
    return Monitor(data["id"], MonitorSize(**data["viewport"]), order, panels, data["focused"])


_OPTIONAL = ("icon", "action", "permissionOptions")


def overlay_json(shown: DeskNotification | Toast | Dialog) -> Json:
    """What lies over the windows; an optional field that says nothing is left out."""
    written = {name: getattr(shown, field) for field, name in _NAMES[type(shown)]}
    return {name: value for name, value in written.items() if value is not None or name not in _OPTIONAL}


_NAMES: dict[type[Any], list[tuple[str, str]]] = {
    kind: [(field.name, camel(field.name)) for field in fields(kind)]
    for kind in (DeskNotification, Toast, Dialog)
}
"""Each field of an overlay, and what the wire calls it."""


def notification_from(data: Mapping[str, Any]) -> DeskNotification:
    """A notification from what `overlay_json` wrote."""
    named = (data["id"], data["title"], data["body"], data.get("icon"))
    return DeskNotification(*named, data["agentId"], data["expiresMs"])


REST: Mapping[str, tuple[str, Callable[[DeskState], Any]]] = {
    "active_monitor": ("activeMonitor", lambda state: state.active_monitor),
    "monitors": ("monitors", lambda state: [monitor_json(monitor) for monitor in state.monitors.values()]),
    "notifications": ("notifications", lambda state: [overlay_json(item) for item in state.notifications]),
    "toasts": ("toasts", lambda state: [overlay_json(item) for item in state.toasts]),
    "dialogs": ("dialogs", lambda state: [overlay_json(item) for item in state.dialogs]),
    "badges": ("badges", lambda state: dict(state.badges)),
    "shortcuts": ("shortcuts", lambda state: [dict(shortcut) for shortcut in state.shortcuts]),
    "apps_rev": ("appsRev", lambda state: state.apps_rev),
    "approvals": ("approvals", lambda state: [dict(approval) for approval in state.approvals]),
}
"""Everything but the windows: its wire name, and how it is written."""


def state_json(state: DeskState) -> Json:
    """What a browser gets when it joins."""
    written: Json = {name: write(state) for name, write in REST.values()}
    return {**written, "windows": {key: window_json(window) for key, window in state.windows.items()}}
