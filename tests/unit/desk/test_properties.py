"""Whatever people and agents do, the desk keeps its invariants: random sequences, seen from outside."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.desk.reduce import reduce, remove_expired
from handrail.desk.state import (
    DeskState,
    DeskWindow,
    Monitor,
    MonitorSize,
    monitor_from,
    notification_from,
    state_json,
    window_from,
    window_json,
)
from handrail.desk.windows import GRAB_W, LEASE_MS, MIN_H, MIN_W, TITLE_H, release_locks_of, show_monitor
from handrail.errors import ActionRejected, InvalidAction
from handrail.protocol.actions import DESK_ACTIONS
from handrail.protocol.read import action_from
from tests.unit.desk.scene import NOW, applied, survivor

IDS = st.sampled_from(["a", "b", "c", "d"])
AGENTS = st.sampled_from(["ada", "bob", "person"])
MONITORS = st.sampled_from([None, "monitor-0", "monitor-1"])
COORDINATE = st.integers(-3_000, 3_000) | st.floats(-3_000, 3_000)
EXTENT = st.integers(1, 3_000) | st.floats(0.1, 3_000)
TEXTS = st.sampled_from(["", "x", "👍👍", "a\nb"])
CONTENT = st.one_of(
    st.builds(lambda renderer, data: {"renderer": renderer, "data": data},
              st.sampled_from(["markdown", "html", "text"]), TEXTS),
    st.just({"renderer": "table", "data": {"headers": ["h"], "rows": [["x"]]}}),
    st.just({"renderer": "component", "data": {"components": [{"type": "badge", "label": "x"}]}}),
    st.just({"renderer": "iframe", "data": "app:notes"}),
)  # fmt: skip
OPERATION = st.one_of(
    st.builds(lambda op, data: {"op": op, "data": data},
              st.sampled_from(["append", "prepend", "replace"]), TEXTS),
    st.builds(lambda data, at: {"op": "insertAt", "data": data, "position": at}, TEXTS, st.integers(0, 6)),
    st.just({"op": "clear"}),
)  # fmt: skip
BOUNDS = st.fixed_dictionaries({"x": COORDINATE, "y": COORDINATE, "w": EXTENT, "h": EXTENT})
SHORTCUT = st.fixed_dictionaries(
    {"id": IDS, "label": TEXTS, "icon": TEXTS, "type": st.just("action"), "target": TEXTS,
     "createdAt": st.integers(0, 9)}
)  # fmt: skip
FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "window.create": {
        "title": TEXTS, "bounds": BOUNDS, "content": CONTENT, "minimized": st.booleans(),
        "variant": st.sampled_from(["standard", "standard", "widget", "panel"]),
        "frameless": st.booleans(), "dockEdge": st.sampled_from(["top", "bottom"]),
    },
    "window.move": {"x": COORDINATE, "y": COORDINATE},
    "window.resize": {"w": EXTENT, "h": EXTENT},
    "window.setTitle": {"title": TEXTS},
    "window.setContent": {"content": CONTENT},
    "window.updateContent": {"operation": OPERATION},
    "window.lock": {"agentId": AGENTS},
    "window.unlock": {"agentId": AGENTS},
    "notification.show": {"id": IDS, "title": TEXTS, "body": TEXTS, "duration": st.sampled_from([1, 90_000])},
    "notification.dismiss": {"id": IDS},
    "toast.show": {"id": IDS, "message": TEXTS, "duration": st.sampled_from([1, 90_000])},
    "toast.dismiss": {"id": IDS},
    "dialog.confirm": {"id": IDS, "title": TEXTS, "message": TEXTS},
    "app.badge": {"appId": IDS, "count": st.integers(0, 3)},
    "desktop.createShortcut": {"shortcut": SHORTCUT},
    "desktop.removeShortcut": {"shortcutId": IDS},
    "desktop.updateShortcut": {"shortcutId": IDS, "updates": st.fixed_dictionaries({"label": TEXTS})},
}  # fmt: skip


def _action(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    named = {"windowId": IDS} if kind.startswith("window.") else {}
    fields = {"type": st.just(kind), "monitorId": MONITORS, **named, **FIELDS.get(kind, {})}
    return st.fixed_dictionaries(fields)


# Creations are drawn more often: an empty desk has little to break.
KINDS = [*DESK_ACTIONS, "window.create", "window.create", "window.create"]
STEP = st.one_of(
    st.tuples(st.just("act"), st.sampled_from(KINDS).flatmap(_action), AGENTS, st.integers(0, 50_000)),
    st.tuples(st.just("show"), st.sampled_from(["monitor-0", "monitor-1"]), st.integers(200, 2_000),
              st.integers(150, 2_000)),
    st.tuples(st.just("expire"), st.integers(0, 100_000)),
    st.tuples(st.just("end"), AGENTS),
)  # fmt: skip


def played(steps: list[Any]) -> None:
    state, now = DeskState(), NOW
    for step in steps:
        before = state_json(state)
        old = state
        match step:
            case ("act", data, by, wait):
                now += wait
                state, changes = _acted(state, data, by, now)
            case ("show", monitor, w, h):
                reduced = show_monitor(state, monitor, MonitorSize(w, h))
                state, changes = reduced.state, reduced.changes
            case ("expire", wait):
                now += wait
                reduced = remove_expired(state, now)
                state, changes = reduced.state, reduced.changes
            case _:
                reduced = release_locks_of(state, step[1], now)
                state, changes = reduced.state, reduced.changes
        assert applied(before, changes) == state_json(state)
        assert state_json(old) == before, "the old state was written to"
        _check(state)
    _restored(state)


def _acted(state: DeskState, data: dict[str, Any], by: str, now: int) -> tuple[DeskState, dict[str, Any]]:
    action = action_from({key: value for key, value in data.items() if value is not None})
    monitor = data["monitorId"] or state.active_monitor
    window = state.windows.get(f"{monitor}/{data.get('windowId')}")
    try:
        reduced = reduce(state, action, by, by == "person", now)
    except (InvalidAction, ActionRejected) as error:
        assert error.details["path"]
        return state, {}
    _respected(window, action.type, by, now)
    [details] = reduced.details
    assert ("no_op" in details) or reduced.state is not state or reduced.effects
    return reduced.state, reduced.changes


GUARDED = {"window.setContent", "window.updateContent", "window.setTitle", "window.create", "window.lock"}


def _respected(window: DeskWindow | None, kind: str, by: str, now: int) -> None:
    """Locks respected: what a lock guards was done by its holder, or by a person where a person may."""
    if window is None or window.lock is None or window.lock.expires_ms <= now or window.lock.holder == by:
        return
    assert kind not in GUARDED
    assert by == "person" or kind not in {"window.close", "window.unlock"}


def _check(state: DeskState) -> None:
    for key, window in state.windows.items():
        assert key == window.birth.key == f"{window.birth.monitor_id}/{window.birth.window_id}"
        _visible(window, state.monitors[window.birth.monitor_id].viewport)
        assert window.maximized == (window.previous_bounds is not None)
        assert window.lock is None or window.lock.expires_ms <= NOW + 10**9 + LEASE_MS
    for monitor in state.monitors.values():
        _stacked(state, monitor)
    assert state.active_monitor in state.monitors
    assert all(count > 0 for count in state.badges.values())
    for shown in (state.notifications, state.toasts, state.dialogs):
        assert len({item.id for item in shown}) == len(shown)
    assert len({shortcut["id"] for shortcut in state.shortcuts}) == len(state.shortcuts)


def _stacked(state: DeskState, monitor: Monitor) -> None:
    """z-order a permutation, widgets below, panels outside, one focus on something that is shown."""
    mine = [window for window in state.windows.values() if window.birth.monitor_id == monitor.id]
    layers = {key: state.windows[key].birth.variant for key in monitor.order}
    assert sorted(monitor.order) == sorted(w.birth.key for w in mine if w.birth.variant != "panel")
    assert sorted(monitor.panels) == sorted(w.birth.key for w in mine if w.birth.variant == "panel")
    variants = list(layers.values())
    assert variants == sorted(variants, reverse=True)  # "widget" before "standard"
    if monitor.focused is not None:
        focused = state.windows[monitor.focused]
        assert focused.birth.monitor_id == monitor.id
        assert focused.is_shown
        assert focused.birth.variant != "panel"


def _visible(window: DeskWindow, viewport: MonitorSize) -> None:
    bounds = window.bounds
    least_h = min(TITLE_H, bounds.h)
    seen_w = min(bounds.x + bounds.w, viewport.w) - max(bounds.x, 0)
    assert seen_w >= min(GRAB_W, bounds.w)
    if window.birth.frameless:
        assert min(bounds.y + bounds.h, viewport.h) - max(bounds.y, 0) >= least_h
    else:
        assert 0 <= bounds.y <= viewport.h - least_h
    if window.birth.variant == "standard":
        assert bounds.w >= MIN_W
        assert bounds.h >= MIN_H
    if window.birth.variant == "panel":
        assert bounds.y in (0, viewport.h - bounds.h)


def _restored(state: DeskState) -> None:
    """Persisted = restored: the JSON that the store writes makes the same state again."""
    windows = {key: window_from(window_json(window, with_text=True)) for key, window in state.windows.items()}
    data = state_json(state)
    again = DeskState(
        windows,
        {found["id"]: monitor_from(found) for found in data["monitors"]},
        data["activeMonitor"],
        tuple(map(notification_from, data["notifications"])),
        badges=data["badges"],
        shortcuts=tuple(data["shortcuts"]),
        apps_rev=data["appsRev"],
    )
    assert again == survivor(state)


@settings(max_examples=60, derandomize=True)
@given(st.lists(STEP, max_size=25))
def test_the_invariants_hold_after_every_action(steps: list[Any]) -> None:
    played(steps)


@pytest.mark.slow
@settings(max_examples=3_000, database=None)
@given(st.lists(STEP, max_size=60))
def test_the_invariants_hold_after_long_histories(steps: list[Any]) -> None:
    played(steps)
