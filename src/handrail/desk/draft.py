"""One transaction on the state: changed in place, then finished into a new state and what changed.

The old state is never touched; a draft that is thrown away has done nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from handrail.desk.state import DeskState, DeskWindow, Monitor, altered
from handrail.desk.wire import PARTS, REST, window_json


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
class Touched:
    """Which parts of the state may have changed: fields of windows by key, and other fields."""

    windows: dict[str, set[str]] = field(default_factory=dict)
    rest: set[str] = field(default_factory=set)

    def add(self, other: Touched) -> None:
        self.rest |= other.rest
        for key, names in other.windows.items():
            self.windows.setdefault(key, set()).update(names)

    def written(self, base: DeskState, state: DeskState) -> dict[str, Any]:
        """What browsers that have `base` must be told to have `state`: windows by key with the changed
        fields (all of a new one, None for one that is gone), everything else whole."""
        changes = {REST[name][0]: REST[name][1](state) for name in self.rest}
        if self.windows:
            changes["windows"] = {
                key: _fields(base.windows.get(key), state.windows.get(key), names)
                for key, names in self.windows.items()
            }
        return changes


def _fields(old: DeskWindow | None, new: DeskWindow | None, names: set[str]) -> dict[str, Any] | None:
    if new is None:
        return None
    if old is None or old.birth is not new.birth:
        return window_json(new)
    written: dict[str, Any] = {}
    for name in names:
        written.update(PARTS[name](new))
    return written


@dataclass(slots=True)
class Reduced:
    """What one transaction made of the state."""

    base: DeskState
    state: DeskState
    touched: Touched
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
        changed = altered(window, **fields)
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

    def finish(self, details: tuple[dict[str, Any], ...]) -> Reduced:
        """The new state; the same object when nothing changed."""
        state = altered(self.base, windows=self.windows, **self._rest) if self._writes else self.base
        touched = Touched(self._touched, set(self._rest))
        return Reduced(self.base, state, touched, tuple(self.effects), details, self.wake_ms)
