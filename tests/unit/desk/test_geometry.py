"""Where windows may be: something of every window can be grabbed, whatever is asked for."""

from __future__ import annotations

from handrail.desk.state import MonitorSize
from handrail.desk.windows import show_monitor, viewport_of
from tests.unit.desk.scene import Scene


def test_a_smaller_viewport_keeps_every_window_within_reach() -> None:
    scene = Scene()
    scene.create("far", (800, 400, 480, 320))
    scene.create("big")
    scene.create("bar", (0, 0, 1280, 40), variant="panel")
    scene.do("window.maximize", "big")
    scene.state = show_monitor(scene.state, "monitor-0", MonitorSize(400, 300)).state
    assert scene.bounds("far") == (300, 264, 480, 320)
    assert scene.bounds("big") == (0, 0, 400, 300)
    assert scene.bounds("bar") == (0, 260, 400, 40)


def test_bounds_saved_under_a_larger_viewport_come_back_within_reach() -> None:
    scene = Scene()
    scene.create("a", (800, 400, 480, 320))
    scene.do("window.maximize", "a")
    scene.state = show_monitor(scene.state, "monitor-0", MonitorSize(400, 300)).state
    scene.do("window.restore", "a")
    assert scene.bounds("a") == (300, 264, 480, 320)


def test_a_viewport_that_could_show_nothing_counts_as_the_smallest_that_can() -> None:
    assert viewport_of(1, 0.5) == MonitorSize(200, 150)
