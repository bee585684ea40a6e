"""The desk as one frozen value: windows, monitors and what lies over them. `replace_fields` makes the next.

Knows no action, clock or wire.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Literal, TypeVar, cast

from handrail.protocol.model import camel

Variant = Literal["standard", "widget", "panel"]
DockEdge = Literal["top", "bottom"]

FIRST_MONITOR = "monitor-0"
VIEWPORT = (1280, 720)
T = TypeVar("T")
_Plan = tuple[Callable[[Any], tuple[Any, ...]], dict[str, int]]
"""How to read all fields of a dataclass at once, and the place of each in its constructor."""
_PLANS: dict[type[Any], _Plan] = {}


@dataclass(frozen=True, slots=True)
class DeskBounds:
    """Position and size in logical pixels."""

    x: int
    y: int
    w: int
    h: int


@dataclass(frozen=True, slots=True)
class MonitorSize:
    """The logical size of a monitor."""

    w: int = VIEWPORT[0]
    h: int = VIEWPORT[1]


@dataclass(frozen=True, slots=True)
class Content:
    """What a window shows: `data` is plain JSON data that fits the renderer."""

    renderer: str
    data: Any


@dataclass(frozen=True, slots=True)
class Lock:
    """A lease: one agent alone may change the window until then."""

    holder: str
    expires_ms: int


@dataclass(frozen=True, slots=True)
class WindowBirth:
    """What a window was made with and keeps for life."""

    key: str
    window_id: str
    monitor_id: str
    variant: Variant
    dock_edge: DockEdge | None
    frameless: bool
    window_style: Mapping[str, str]
    agent_id: str
    is_persons: bool
    created_ms: int
    request_id: str | None


@dataclass(frozen=True, slots=True)
class DeskWindow:
    """One window: its birth, and everything about it that changes."""

    birth: WindowBirth
    title: str
    bounds: DeskBounds
    content: Content
    content_rev: int
    previous_bounds: DeskBounds | None = None
    """Those of a maximised window before it was maximised; no other window has any."""
    minimized: bool = False
    maximized: bool = False
    lock: Lock | None = None

    @property
    def is_shown(self) -> bool:
        return not self.minimized


@dataclass(frozen=True, slots=True)
class Monitor:
    """One virtual desktop. `order` runs from bottom to top: widgets, then standard windows."""

    id: str
    viewport: MonitorSize = MonitorSize()
    order: tuple[str, ...] = ()
    panels: tuple[str, ...] = ()
    focused: str | None = None


@dataclass(frozen=True, slots=True)
class DeskNotification:
    """A message that stays until it is dismissed, or until its time is over."""

    id: str
    title: str
    body: str
    icon: str | None
    agent_id: str
    expires_ms: int | None


@dataclass(frozen=True, slots=True)
class Toast:
    """A short message that goes by itself."""

    id: str
    message: str
    variant: str
    action: Mapping[str, str] | None
    agent_id: str
    expires_ms: int


@dataclass(frozen=True, slots=True)
class Dialog:
    """A question to the person; the first of the queue is shown."""

    id: str
    title: str
    message: str
    confirm_text: str
    cancel_text: str
    permission_options: Mapping[str, Any] | None
    agent_id: str
    expires_ms: int


@dataclass(frozen=True, slots=True)
class DeskState:
    """Everything that browsers show. Never changed, only replaced; mappings are not written to either."""

    windows: Mapping[str, DeskWindow] = field(default_factory=dict)
    monitors: Mapping[str, Monitor] = field(default_factory=lambda: {FIRST_MONITOR: Monitor(FIRST_MONITOR)})
    active_monitor: str = FIRST_MONITOR
    notifications: tuple[DeskNotification, ...] = ()
    toasts: tuple[Toast, ...] = ()
    dialogs: tuple[Dialog, ...] = ()
    badges: Mapping[str, int] = field(default_factory=dict)
    shortcuts: tuple[Mapping[str, Any], ...] = ()
    apps_rev: int = 0
    approvals: tuple[Mapping[str, Any], ...] = ()


def replace_fields(value: T, **changed: Any) -> T:
    """The same dataclass value with other fields; it has two fields at least, all in its constructor."""
    kind = type(value)
    if kind not in _PLANS:
        names = [field.name for field in fields(cast(Any, kind))]
        _PLANS[kind] = attrgetter(*names), {name: at for at, name in enumerate(names)}
    read, places = _PLANS[kind]
    values = list(read(value))
    for name, new in changed.items():
        values[places[name]] = new
    return kind(*values)


Json = dict[str, Any]
RENDERED = ("markdown", "html")
"""Renderers whose data browsers fetch as safe HTML, never as it was written."""


def bounds_json(bounds: DeskBounds) -> Json:
    return {"x": bounds.x, "y": bounds.y, "w": bounds.w, "h": bounds.h}


def content_json(content: Content, *, with_text: bool = False) -> Json:
    """`with_text`: with the data of rendered text too."""
    if content.renderer in RENDERED and not with_text:
        return {"renderer": content.renderer}
    return {"renderer": content.renderer, "data": content.data}


def _lock(window: DeskWindow) -> Json:
    lock = window.lock
    return {"lockedBy": lock.holder if lock else None, "lockExpiresMs": lock.expires_ms if lock else None}


PARTS: Mapping[str, Callable[[DeskWindow], Json]] = {
    "title": lambda window: {"title": window.title},
    "bounds": lambda window: {"bounds": bounds_json(window.bounds)},
    "previous_bounds": lambda window: {
        "previousBounds": bounds_json(window.previous_bounds) if window.previous_bounds else None
    },
    "content": lambda window: {"content": content_json(window.content)},
    "content_rev": lambda window: {"contentRev": window.content_rev},
    "minimized": lambda window: {"minimized": window.minimized},
    "maximized": lambda window: {"maximized": window.maximized},
    "lock": _lock,
}
"""What each changing field of a window is on the wire."""


_BIRTH = [(field.name, camel(field.name)) for field in fields(WindowBirth)]
"""Each field of a window's birth, and what the wire calls it."""


def window_json(window: DeskWindow, *, with_text: bool = False) -> Json:
    written = {wire: getattr(window.birth, name) for name, wire in _BIRTH}
    for write in PARTS.values():
        written.update(write(window))
    if with_text:
        written["content"] = content_json(window.content, with_text=True)
    return written


def window_from(data: Mapping[str, Any]) -> DeskWindow:
    """A window from what `window_json(…, with_text=True)` wrote."""
    birth = WindowBirth(*(data[wire] for _, wire in _BIRTH))
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
    return {
        "id": monitor.id,
        "viewport": {"w": monitor.viewport.w, "h": monitor.viewport.h},
        "order": list(monitor.order),
        "panels": list(monitor.panels),
        "focused": monitor.focused,
    }


def monitor_from(data: Mapping[str, Any]) -> Monitor:
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


@dataclass(frozen=True, slots=True)
class DialogAsked:
    """A dialog waits for a person."""

    dialog_id: str


@dataclass(frozen=True, slots=True)
class CaptureAsked:
    """A browser has to take a picture of this window."""

    key: str
    request_id: str


@dataclass(frozen=True, slots=True)
class FrameLoading:
    """A browser will tell whether this window's iframe loaded."""

    key: str
    request_id: str


@dataclass(frozen=True, slots=True)
class WindowClosed:
    """A window is gone; `agent_id` made it."""

    key: str
    agent_id: str


@dataclass(frozen=True, slots=True)
class DialogExpired:
    """A dialog's time was over before anybody answered."""

    dialog_id: str


Effect = DialogAsked | CaptureAsked | FrameLoading | WindowClosed | DialogExpired
"""What somebody with sockets and clocks has to do after the transaction."""


@dataclass(slots=True)
class TouchedParts:
    """Which parts of the state may have changed: fields of windows by key, and other fields."""

    windows: dict[str, set[str]] = field(default_factory=dict)
    rest: set[str] = field(default_factory=set)

    def add(self, other: TouchedParts) -> None:
        self.rest |= other.rest
        for key, names in other.windows.items():
            self.windows.setdefault(key, set()).update(names)

    def written(self, base: DeskState, state: DeskState) -> dict[str, Any]:
        """What browsers that have `base` must be told to have `state`: windows by key with the changed
        fields (all of a new one, None for one that is gone), everything else whole."""
        changes = {REST[name][0]: REST[name][1](state) for name in self.rest}
        if self.windows:
            changes["windows"] = {}
        for key, names in self.windows.items():
            old, new = base.windows.get(key), state.windows.get(key)
            if new is None:
                changes["windows"][key] = None
            elif old is None or old.birth is not new.birth:
                changes["windows"][key] = window_json(new)
            else:
                parts = (PARTS[name](new) for name in names)
                changes["windows"][key] = {name: part for written in parts for name, part in written.items()}
        return changes


@dataclass(slots=True)
class Reduction:
    """What one transaction made of the state."""

    base: DeskState
    state: DeskState
    touched: TouchedParts
    effects: tuple[tuple[int, Effect], ...] = ()
    """Each with the index of its action."""
    details: tuple[dict[str, Any], ...] = ({},)
    """One answer per action."""
    wake_ms: int | None = None
    """When something that this transaction made will expire."""

    @property
    def changes(self) -> dict[str, Any]:
        """A part of the state's JSON. Written only on demand: many transactions go out as one frame."""
        return self.touched.written(self.base, self.state)


class DeskDraft:
    """A state in the making. `now_ms` is the transaction's one moment."""

    __slots__ = (
        *("at", "base", "effects", "now_ms", "own_hosts", "wake_ms", "windows"),
        *("_rest", "_touched", "_writes"),
    )

    def __init__(self, base: DeskState, now_ms: int, own_hosts: frozenset[str] = frozenset()) -> None:
        self.base = base
        self.now_ms = now_ms
        self.own_hosts = own_hosts
        self.at = 0
        """Which action of a batch is at work."""
        self.windows = base.windows
        self.effects: list[tuple[int, Effect]] = []
        self.wake_ms: int | None = None
        self._touched: dict[str, set[str]] = {}
        self._rest: dict[str, Any] = {}
        self._writes = 0

    @property
    def writes(self) -> int:
        """How often something changed; an action that adds nothing to it was a no-op."""
        return self._writes

    def get(self, name: str) -> Any:
        """A field of the state other than `windows`, as this transaction has it so far."""
        return self._rest[name] if name in self._rest else getattr(self.base, name)

    def put(self, name: str, value: Any) -> None:
        if value != self.get(name):
            self._rest[name] = value
            self._writes += 1

    @property
    def monitors(self) -> Mapping[str, Monitor]:
        monitors: Mapping[str, Monitor] = self._rest.get("monitors", self.base.monitors)
        return monitors

    def set_monitor(self, monitor: Monitor) -> None:
        """A monitor that is new or differs from the known one."""
        self._rest["monitors"] = {**self.monitors, monitor.id: monitor}
        self._writes += 1

    def add(self, window: DeskWindow) -> None:
        self._write(window.birth.key, PARTS, window)

    def remove(self, key: str) -> None:
        self._write(key, PARTS, None)

    def change(self, window: DeskWindow, **fields: Any) -> DeskWindow:
        """A window with other fields; those that stay what they were count as nothing."""
        fields = {name: value for name, value in fields.items() if value != getattr(window, name)}
        if not fields:
            return window
        changed = replace_fields(window, **fields)
        self._write(window.birth.key, fields, changed)
        return changed

    def _write(self, key: str, names: Iterable[str], window: DeskWindow | None) -> None:
        if self.windows is self.base.windows:
            self.windows = dict(self.windows)
        windows = cast("dict[str, DeskWindow]", self.windows)  # this draft's own by now
        if window is None:
            del windows[key]
        else:
            windows[key] = window
        self._touched.setdefault(key, set()).update(names)
        self._writes += 1

    def tell(self, effect: Effect) -> None:
        self.effects.append((self.at, effect))

    def expires(self, at_ms: int) -> None:
        """Somebody should look again at that moment."""
        self.wake_ms = at_ms if self.wake_ms is None else min(self.wake_ms, at_ms)

    def finish(self, details: tuple[dict[str, Any], ...]) -> Reduction:
        """The new state; the same object when nothing changed."""
        state = replace_fields(self.base, windows=self.windows, **self._rest) if self._writes else self.base
        touched = TouchedParts(self._touched, set(self._rest))
        return Reduction(self.base, state, touched, tuple(self.effects), details, self.wake_ms)
