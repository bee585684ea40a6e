"""Windows: where desk.md decides what seed 004 leaves open."""

from __future__ import annotations

import pytest

from handrail.desk.state import MonitorSize
from handrail.desk.windows import show
from handrail.errors import InvalidAction
from tests.cases import each
from tests.unit.desk.scene import TEXT, Scene, action, creating


def test_an_existing_id_cannot_be_created_again() -> None:
    scene = Scene("a")
    error = scene.refused(
        "window.create", "a", title="x", bounds={"x": 0, "y": 0, "w": 1, "h": 1}, content=TEXT
    )
    assert error.details["path"] == "windowId"
    assert "setContent" in error.hint


def test_the_same_id_on_another_monitor_is_another_window() -> None:
    scene = Scene("a")
    scene.create("a", monitorId="monitor-1")
    scene.do("window.close", "a", monitorId="monitor-1")
    assert list(scene.state.windows) == ["monitor-0/a"]
    assert scene.focused == "a"


def test_an_unknown_window_is_an_error_with_the_nearest_ids() -> None:
    error = Scene("report", "other").refused("window.close", "reprot")
    assert error.details["path"] == "windowId"
    assert "report" in error.hint


@each("kind", ["window.focus", "window.maximize", "window.restore"])
def test_what_changes_nothing_says_no_op(kind: str) -> None:
    scene = Scene("a")
    if kind == "window.maximize":
        scene.do(kind, "a")
    before = scene.state
    assert scene.do(kind, "a") == {"no_op": True}
    assert scene.state is before


def test_a_no_op_of_the_holder_renews_the_lease_and_is_a_no_op_still() -> None:
    scene = Scene("a")
    scene.do("window.lock", "a", agentId="ada")
    scene.now_ms += 60_000
    assert scene.do("window.focus", "a") == {"no_op": True}
    lock = scene.window("a").lock
    assert lock is not None
    assert lock.expires_ms == scene.now_ms + 120_000


def test_a_focus_that_is_lost_skips_minimised_windows_and_widgets() -> None:
    scene = Scene()
    scene.create("clock", variant="widget")
    for window in ("a", "b", "c"):
        scene.create(window)
    scene.do("window.minimize", "b")
    scene.do("window.close", "c")
    assert scene.focused == "a"
    scene.do("window.minimize", "a")
    assert scene.focused is None


def test_closing_never_gives_the_focus_to_a_window_of_another_monitor() -> None:
    scene = Scene("a")
    scene.create("b", monitorId="monitor-1")
    scene.do("window.close", "a")
    assert scene.focused is None
    assert scene.state.monitors["monitor-1"].focused == "monitor-1/b"


def test_moving_a_maximised_window_gives_it_its_old_size_back() -> None:
    scene = Scene("a")
    scene.do("window.maximize", "a")
    scene.do("window.move", "a", x=300, y=200)
    assert scene.bounds("a") == (300, 200, 480, 320)
    assert not scene.window("a").maximized


def test_resizing_a_maximised_window_un_maximises_it() -> None:
    scene = Scene("a")
    scene.do("window.maximize", "a")
    scene.do("window.resize", "a", w=500, h=400)
    assert scene.bounds("a") == (0, 0, 500, 400)
    assert not scene.window("a").maximized


def test_maximising_a_minimised_window_shows_it() -> None:
    scene = Scene("a", "b")
    scene.do("window.minimize", "a")
    scene.do("window.maximize", "a")
    assert not scene.window("a").minimized
    assert scene.focused == "a"


@each("kind", ["window.maximize", "window.minimize", "window.restore", "window.focus"])
def test_panels_are_fixed(kind: str) -> None:
    scene = Scene()
    scene.create("bar", variant="panel")
    assert scene.do(kind, "bar") == {"no_op": True}


def test_a_panel_stays_on_its_edge_when_it_is_moved_or_resized() -> None:
    scene = Scene()
    scene.create("bar", (100, 30, 400, 40), variant="panel")
    assert scene.window("bar").birth.dock_edge == "bottom"
    assert scene.bounds("bar") == (100, 680, 400, 40)
    scene.do("window.move", "bar", x=200, y=10)
    assert scene.bounds("bar") == (200, 680, 400, 40)
    scene.do("window.resize", "bar", w=600, h=80)
    assert scene.bounds("bar") == (200, 640, 600, 80)


def test_a_dock_edge_is_for_panels_only() -> None:
    scene = Scene()
    scene.create("a", dockEdge="top")
    assert scene.window("a").birth.dock_edge is None


def test_the_same_title_or_content_again_is_a_no_op() -> None:
    scene = Scene("a")
    revision = scene.window("a").content_rev
    assert scene.do("window.setTitle", "a", title="a") == {"no_op": True}
    assert scene.do("window.setContent", "a", content=TEXT) == {"no_op": True}
    assert scene.window("a").content_rev == revision


def test_a_window_that_takes_the_place_of_its_namesake_has_a_revision_of_its_own() -> None:
    scene = Scene("a")
    old = scene.window("a").content_rev
    scene.do("window.close", "a")
    scene.now_ms += 1
    scene.create("a", content={"renderer": "text", "data": "other"})
    assert scene.window("a").content_rev > old


def test_no_more_windows_than_a_desk_can_hold() -> None:
    scene = Scene()
    scene.batch(*(creating(f"w{number}") for number in range(1_000)))
    error = scene.refused(
        "window.create", "more", title="", bounds={"x": 0, "y": 0, "w": 1, "h": 1}, content=TEXT
    )
    assert "1000" in error.message
    assert error.details["path"] == "windowId"


def test_a_monitor_id_with_a_slash_is_refused() -> None:
    error = Scene().refused(
        "window.create", "a", title="", bounds={"x": 0, "y": 0, "w": 1, "h": 1}, content=TEXT, monitorId="m/0"
    )
    assert error.details["path"] == "monitorId"


def test_there_are_sixteen_monitors_at_most() -> None:
    scene = Scene()
    for number in range(1, 16):
        scene.create("a", monitorId=f"monitor-{number}")
    fields = {"title": "", "bounds": {"x": 0, "y": 0, "w": 1, "h": 1}, "content": TEXT}
    assert scene.refused("window.create", "a", monitorId="more", **fields).details["path"] == "monitorId"


def test_the_monitor_that_a_person_looks_at_is_the_active_one() -> None:
    scene = Scene()
    scene.state = show(scene.state, "monitor-2", MonitorSize(800, 600)).state
    scene.do("window.create", "a", title="", bounds={"x": 0, "y": 0, "w": 5000, "h": 5000}, content=TEXT)
    assert scene.window("a", "monitor-2").bounds.w == 800


def test_an_action_that_is_not_the_desks_is_refused() -> None:
    scene = Scene()
    with pytest.raises(InvalidAction, match="not an action of the desk") as caught:
        scene.run(action("press_key", key="back"))
    assert caught.value.details["path"] == "type"


def test_style_that_was_dropped_is_told() -> None:
    scene = Scene()
    details = scene.run(creating("a", windowStyle={"zIndex": 9999, "color": "red", "position": "fixed"}))
    assert details == {"key": "monitor-0/a", "dropped_style": ["zIndex", "position"]}
    assert dict(scene.window("a").birth.window_style) == {"color": "red"}
