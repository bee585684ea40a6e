"""The desk as one frozen value: windows, monitors and what lies over them. `altered` makes the next value.

Knows no action, clock or wire.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Literal, TypeVar

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
class Birth:
    """What a window was made with and keeps for life."""

    key: str
    window_id: str
    monitor_id: str
    variant: Variant
    dock_edge: DockEdge | None
    frameless: bool
    style: Mapping[str, str]
    agent_id: str
    is_persons: bool
    created_ms: int
    request_id: str | None


@dataclass(frozen=True, slots=True)
class DeskWindow:
    """One window: its birth, and everything about it that changes."""

    birth: Birth
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


def _plan(kind: type[Any]) -> _Plan:
    names = [field.name for field in fields(kind)]
    return attrgetter(*names), {name: at for at, name in enumerate(names)}


def altered(value: T, **changed: Any) -> T:
    """The same dataclass value with other fields; it has two fields at least, all in its constructor."""
    kind = type(value)
    if kind not in _PLANS:
        _PLANS[kind] = _plan(kind)
    read, places = _PLANS[kind]
    values = list(read(value))
    for name, new in changed.items():
        values[places[name]] = new
    return kind(*values)
