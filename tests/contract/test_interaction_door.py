"""Seed 001 at the MCP door, on the simulated phone: its tools take points, so its answers give points."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import pytest
from PIL import Image

from handrail.screen.diff import diff, diff_text
from handrail.surface.capabilities import Apps
from tests.cases import each
from tests.scenario.test_mcp_answers import CONTACTS, Door, door
from tests.scenario.world import play
from tests.unit.screen.drawn import node, row, screen

ASYNC_RUNNER = play

LINE = re.compile(r'^[A-Za-z]+( ".+?")? \[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]( [a-z]+=.+)?$')
SWIPE = {"startX": 540, "startY": 1800, "endX": 540, "endY": 400}


async def said(ask: Door, name: str, **arguments: object) -> str:
    answer = await ask(name, reason="I try it", **arguments)
    assert not answer.is_error, answer.text
    return answer.text


def middle_of(text: str, label: str) -> tuple[int, int]:
    line = next(line for line in text.splitlines() if f'"{label}"' in line)
    left, top, right, bottom = (int(part) for part in re.findall(r"-?\d+", line[line.rindex(" [") :])[:4])
    return (left + right) // 2, (top + bottom) // 2


async def test_a_navigation_answers_with_the_bounds_of_every_element(tmp_path: Path) -> None:
    async with door(tmp_path, "interaction") as ask:
        text = await said(ask, "get_textual_state")
        x, y = middle_of(text, "Contacts")
        head, shown = (await said(ask, "tap", x=x, y=y)).split("\n\n")
        assert head == f"Tapped at ({x}, {y})."
        first, *lines = shown.splitlines()
        assert first == f"Screen changed: com.android.launcher3 -> {CONTACTS}"
        assert not [line for line in lines if not LINE.match(line)]
        assert "@" not in shown
        x, y = middle_of(shown, "Create new contact")
        assert "First name" in await said(ask, "tap", x=x, y=y)


async def test_what_changed_gives_bounds_after_a_navigation_too(tmp_path: Path) -> None:
    async with door(tmp_path, "interaction") as ask:
        await said(ask, "get_textual_state")
        apps = ask.world.session.surface.need(Apps)
        await apps.start(CONTACTS, None)  # nobody has looked since
        first, *lines = (await said(ask, "get_what_changed")).splitlines()
        assert first.startswith("Screen changed")
        assert lines
        assert not [line for line in lines if not LINE.match(line)]


@pytest.mark.parametrize("package", [CONTACTS, "com.android.settings"])
async def test_the_seeds_own_swipe_tells_what_came_and_is_no_other_screen(
    tmp_path: Path, package: str
) -> None:
    async with door(tmp_path, "interaction") as ask:
        await ask.world.open(package)
        await said(ask, "get_textual_state")
        head, changes = (await said(ask, "swipe", **SWIPE)).split("\n\n")
        assert head == "Swiped from (540, 1800) to (540, 400)."
        assert "Screen changed" not in changes
        _, _, added = changes.partition("Elements added:\n")
        named = [line for line in added.partition("Elements removed:")[0].splitlines() if '"' in line]
        assert named
        assert all(LINE.match(line) for line in named)


def a_list(*names: str, title: str = "Contacts", kind: str = "TextView") -> str:
    rows = [node(kind, text=name, box=row(number), flags="clickable") for number, name in enumerate(names)]
    bar = node("TextView", text=title, box=(0, 0, 1080, 150))
    return node("FrameLayout", bar, node("ListView", *rows, box=(0, 200, 1080, 2400), flags="scrollable"))


@each(
    ("after", "is_navigation"),
    [
        (a_list(*"GHIJKL"), False),
        (a_list(*"GHIJKL", title="Settings"), True),
        (a_list(*"GHIJKL", kind="CheckBox"), True),
    ],
    ids=["the same list, thrown far", "another title", "rows of another kind"],
)
def test_a_list_without_any_row_of_before_is_the_same_screen_if_all_around_it_is(
    after: str, is_navigation: bool
) -> None:
    changes = diff(screen(a_list(*"ABCDEF")), screen(after))
    assert changes.navigated is is_navigation
    assert "Elements added:" in diff_text(changes)


async def test_the_picture_has_the_pixels_that_the_tools_take(tmp_path: Path) -> None:
    async with door(tmp_path, "interaction") as ask:
        answer = await ask("get_visual_state")
        with Image.open(io.BytesIO(base64.b64decode(answer.images[0]))) as picture:
            assert picture.size == (1080, 2400)
        snapshot = await ask.world.session.snapshot()
        with Image.open(io.BytesIO(base64.b64decode(snapshot.screenshot_base64))) as picture:
            assert picture.size == (snapshot.width, snapshot.height)
