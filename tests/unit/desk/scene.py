"""A desk state under test: actions are written as seed 004 writes them, and every step is checked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from handrail.desk.reduce import reduce, reduce_batch
from handrail.desk.state import DeskBounds, DeskState, DeskWindow, Effect, Monitor, Reduction, state_json
from handrail.errors import ActionRejected, HandrailError, InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.read import action_from

NOW = 1_710_000_000_000
TEXT = {"renderer": "text", "data": "hello"}


def action(kind: str, **fields: Any) -> Act:
    return action_from({"type": kind, **fields})


def creating(window_id: str, bounds: tuple[float, ...] = (80, 60, 480, 320), **fields: Any) -> Act:
    x, y, w, h = bounds
    given = {"title": window_id, "bounds": {"x": x, "y": y, "w": w, "h": h}, "content": TEXT, **fields}
    return action("window.create", windowId=window_id, **given)


class Scene:
    """A state and its moment; every action of `do` goes through the reducer."""

    def __init__(self, *windows: str, **fields: Any) -> None:
        self.state = DeskState()
        self.now_ms = NOW
        self.last: Reduction | None = None
        for window in windows:
            self.create(window, **fields)

    def create(
        self, window_id: str, bounds: tuple[float, ...] = (80, 60, 480, 320), **fields: Any
    ) -> DeskWindow:
        by = fields.pop("by", "ada")
        self.run(creating(window_id, bounds, **fields), by)
        return self.window(window_id, fields.get("monitorId", self.state.active_monitor))

    def do(self, kind: str, window_id: str | None = None, **fields: Any) -> dict[str, Any]:
        by, person = fields.pop("by", "ada"), fields.pop("person", False)
        named = {"windowId": window_id} if window_id else {}
        return self.run(action(kind, **named, **fields), by, person)

    def run(self, act: Act, by: str = "ada", person: bool = False) -> dict[str, Any]:
        before = state_json(self.state)
        self.last = reduce(self.state, act, by, person, self.now_ms)
        self.state = self.last.state
        assert applied(before, self.last.changes) == state_json(self.state)
        return self.last.details[0]

    def batch(self, *acts: Act, by: str = "ada") -> Reduction:
        self.last = reduce_batch(self.state, acts, by, False, self.now_ms)
        self.state = self.last.state
        return self.last

    def refused(self, kind: str, window_id: str | None = None, **fields: Any) -> InvalidAction:
        error = self._failing(InvalidAction, kind, window_id, fields)
        assert isinstance(error, InvalidAction)
        return error

    def rejected(self, kind: str, window_id: str | None = None, **fields: Any) -> ActionRejected:
        error = self._failing(ActionRejected, kind, window_id, fields)
        assert isinstance(error, ActionRejected)
        return error

    def _failing(
        self, cls: type[HandrailError], kind: str, window_id: str | None, fields: dict[str, Any]
    ) -> HandrailError:
        before = self.state
        with pytest.raises(cls) as caught:
            self.do(kind, window_id, **fields)
        assert self.state is before
        return caught.value

    def window(self, window_id: str, monitor_id: str = "monitor-0") -> DeskWindow:
        return self.state.windows[f"{monitor_id}/{window_id}"]

    def bounds(self, window_id: str) -> tuple[int, int, int, int]:
        return sides(self.window(window_id).bounds)

    @property
    def monitor(self) -> Monitor:
        return self.state.monitors["monitor-0"]

    @property
    def order(self) -> list[str]:
        return [key.removeprefix("monitor-0/") for key in self.monitor.order]

    @property
    def focused(self) -> str | None:
        return self.monitor.focused and self.monitor.focused.removeprefix("monitor-0/")

    @property
    def effects(self) -> list[Effect]:
        return [effect for _, effect in self.last.effects]


def sides(bounds: DeskBounds) -> tuple[int, int, int, int]:
    return bounds.x, bounds.y, bounds.w, bounds.h


def applied(state: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """What a browser does with ACTIONS: windows merged by key (null: gone), everything else replaced."""
    windows = dict(state["windows"])
    for key, fields in changes.get("windows", {}).items():
        if fields is None:
            windows.pop(key, None)
        else:
            windows[key] = {**windows.get(key, {}), **fields}
    return {**state, **changes, "windows": windows}


def survivor(state: DeskState) -> DeskState:
    """What of a state is there again after a restart at the same moment."""
    return replace(state, toasts=(), dialogs=(), approvals=())
