"""Windows: where desk.md decides what seed 004 leaves open."""

from __future__ import annotations

import pytest

from handrail.errors import InvalidAction
from tests.cases import each
from tests.unit.desk.scene import TEXT, Scene, action, creating


@each("kind", ["window.focus", "window.maximize", "window.restore"])
def test_what_changes_nothing_says_no_op(kind: str) -> None:
    scene = Scene("a")
    if kind == "window.maximize":
        scene.do(kind, "a")
    before = scene.state
    assert scene.do(kind, "a") == {"no_op": True}
    assert scene.state is before


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


@each("kind", ["window.maximize", "window.minimize", "window.restore", "window.focus"])
def test_panels_are_fixed(kind: str) -> None:
    scene = Scene()
    scene.create("bar", variant="panel")
    assert scene.do(kind, "bar") == {"no_op": True}


def test_the_same_title_or_content_again_is_a_no_op() -> None:
    scene = Scene("a")
    revision = scene.window("a").content_rev
    assert scene.do("window.setTitle", "a", title="a") == {"no_op": True}
    assert scene.do("window.setContent", "a", content=TEXT) == {"no_op": True}
    assert scene.window("a").content_rev == revision


def test_no_more_windows_than_a_desk_can_hold() -> None:
    scene = Scene()
    scene.batch(*(creating(f"w{number}") for number in range(1_000)))
    error = scene.refused(
        "window.create", "more", title="", bounds={"x": 0, "y": 0, "w": 1, "h": 1}, content=TEXT
    )
    assert "1000" in error.message
    assert error.details["path"] == "windowId"


@pytest.mark.parametrize("monitor_id", ["m/0", "monitor-O", "Monitor-1", "monitor-11", "monitor-01"])
def test_a_typo_makes_no_monitor(monitor_id: str) -> None:
    fields = {"title": "", "bounds": {"x": 0, "y": 0, "w": 1, "h": 1}, "content": TEXT}
    error = Scene().refused("window.create", "a", monitorId=monitor_id, **fields)
    assert error.details["path"] == "monitorId"
    assert error.hint == "There is monitor-0. A new one would be monitor-1."


def test_there_are_sixteen_monitors_at_most() -> None:
    scene = Scene()
    for number in range(1, 16):
        scene.create("a", monitorId=f"monitor-{number}")
    fields = {"title": "", "bounds": {"x": 0, "y": 0, "w": 1, "h": 1}, "content": TEXT}
    assert scene.refused("window.create", "a", monitorId="more", **fields).details["path"] == "monitorId"


def test_an_action_that_is_not_the_desks_is_refused() -> None:
    scene = Scene()
    with pytest.raises(InvalidAction, match="not an action of the desk") as caught:
        scene.run(action("press_key", key="back"))
    assert caught.value.details["path"] == "type"
