"""Where windows may be: something of every window can be grabbed, whatever is asked for."""

from __future__ import annotations

import pytest

from handrail.desk.state import MonitorSize
from handrail.desk.windows import show, viewport_of
from tests.cases import each
from tests.unit.desk.scene import Scene


@each(
    ("asked", "got"),
    [
        ((-4000, 100), (-380, 100)),  # 100 px of the bar stay at the left
        ((4000, 100), (1180, 100)),  # and at the right
        ((100, -4000), (100, 0)),  # the bar never leaves at the top
        ((100, 4000), (100, 684)),  # its whole height stays at the bottom
    ],
)
def test_a_grabbable_part_of_the_title_bar_stays_visible(
    asked: tuple[int, int], got: tuple[int, int]
) -> None:
    scene = Scene("a")
    scene.do("window.move", "a", x=asked[0], y=asked[1])
    assert scene.bounds("a")[:2] == got


def test_any_part_of_a_frameless_window_will_do() -> None:
    scene = Scene()
    scene.create("a", frameless=True)
    scene.do("window.move", "a", x=0, y=-4000)
    assert scene.bounds("a") == (0, 36 - 320, 480, 320)


@pytest.mark.parametrize(("asked", "got"), [((1, 1), (200, 150)), ((300.6, 100), (301, 150))])
def test_a_standard_window_has_a_least_size(asked: tuple[float, float], got: tuple[int, int]) -> None:
    scene = Scene("a")
    scene.do("window.resize", "a", w=asked[0], h=asked[1])
    assert scene.bounds("a")[2:] == got
    scene.create("tiny", (0, 0, *asked))
    assert scene.bounds("tiny")[2:] == got


def test_a_widget_may_be_small() -> None:
    scene = Scene()
    scene.create("speck", (5, 5, 0.4, 0.4), variant="widget")
    assert scene.bounds("speck") == (5, 5, 1, 1)
    scene.create("dot", (5, 5, 20, 10), variant="widget")
    assert scene.bounds("dot") == (5, 5, 20, 10)
    scene.do("window.move", "dot", x=9999, y=9999)
    assert scene.bounds("dot") == (1260, 710, 20, 10)


def test_a_smaller_viewport_keeps_every_window_within_reach() -> None:
    scene = Scene()
    scene.create("far", (800, 400, 480, 320))
    scene.create("big")
    scene.create("bar", (0, 0, 1280, 40), variant="panel")
    scene.do("window.maximize", "big")
    scene.state = show(scene.state, "monitor-0", MonitorSize(400, 300)).state
    assert scene.bounds("far") == (300, 264, 480, 320)
    assert scene.bounds("big") == (0, 0, 400, 300)
    assert scene.bounds("bar") == (0, 260, 400, 40)


def test_bounds_saved_under_a_larger_viewport_come_back_within_reach() -> None:
    scene = Scene()
    scene.create("a", (800, 400, 480, 320))
    scene.do("window.maximize", "a")
    scene.state = show(scene.state, "monitor-0", MonitorSize(400, 300)).state
    scene.do("window.restore", "a")
    assert scene.bounds("a") == (300, 264, 480, 320)


def test_a_viewport_change_leaves_other_monitors_alone() -> None:
    scene = Scene()
    scene.create("a", (800, 400, 480, 320), monitorId="monitor-1")
    scene.state = show(scene.state, "monitor-0", MonitorSize(400, 300)).state
    assert scene.window("a", "monitor-1").bounds.x == 800


def test_a_viewport_that_could_show_nothing_counts_as_the_smallest_that_can() -> None:
    assert viewport_of(1, 0.5) == MonitorSize(200, 150)
