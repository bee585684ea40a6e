from __future__ import annotations

from itertools import pairwise
from math import dist

from handrail.surface.values import Display
from handrail_emulator import frames_of, natural
from tests import fingers


def test_a_swipe_is_sixty_points_a_second_on_a_line() -> None:
    frames = frames_of(fingers.swipe(0, 0, 600, 1200, 500))
    assert len(frames) == 31
    assert (frames[0], frames[15], frames[-1]) == (((0, 0),), ((300, 600),), ((600, 1200),))
    assert len(frames_of(fingers.swipe(0, 0, 5, 5, 0))) == 3


def test_a_pinch_keeps_its_centre_and_a_rotation_its_radius() -> None:
    for left, right in frames_of(fingers.pinch(540, 1200, 300, 50, 300)):
        assert left[0] + right[0] == 1080
        assert left[1] == right[1] == 1200
    frames = frames_of(fingers.rotate(540, 1200, 200, 0, 90, 300))
    assert frames[0] == ((740, 1200), (340, 1200))
    assert frames[-1] == ((540, 1400), (540, 1000))
    assert all(198 <= dist(one, (540, 1200)) <= 202 for frame in frames for one in frame)
    assert all(dist(one[0], two[0]) < 40 for one, two in pairwise(frames))


def test_points_are_turned_to_the_panel_as_it_was_built() -> None:
    upright, turned = (1080, 2400), (2400, 1080)
    corners = [natural((0, 0), Display(*size, 420, way)) for way, size in enumerate([upright, turned] * 2)]
    assert corners == [(0, 0), (1079, 0), (1079, 2399), (0, 2399)]
