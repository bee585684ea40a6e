"""Which element a selector means: the first match, by edges, whole texts and states."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from handrail.screen.node import Node, Screen
from handrail.screen.parse import parse
from handrail_maestro.find import Finder, WantedElement
from handrail_maestro.scripts import Scripts

TEXT = "android.widget.TextView"


def node(kind: str, bounds: str, inside: str = "", **more: str) -> str:
    given = {"class": kind, "bounds": bounds, "enabled": "true", "text": "", "package": "a.b", **more}
    words = " ".join(f'{name.replace("_", "-")}="{value}"' for name, value in given.items())
    return f"<node {words}>{inside}</node>"


ROW = node(TEXT, "[0,200][200,300]", text="Save") + node(
    "android.widget.Button", "[800,200][900,300]", text="Save", clickable="true", enabled="false"
)
INSIDE = (
    node(TEXT, "[0,0][500,100]", text="Really?", resource_id="a.b:id/title")
    + node("android.widget.LinearLayout", "[0,200][1000,300]", ROW, resource_id="a.b:id/row")
    + node(TEXT, "[0,400][100,500]", content_desc="Two&#10;lines")
    + node("android.widget.Switch", "[0,600][100,700]", text="Wi-Fi", checkable="true", checked="true")
    + node(TEXT, "[0,1990][100,2190]", text="Far")
)
DUMP = (
    '<?xml version="1.0"?><hierarchy rotation="0">'
    + node("android.widget.FrameLayout", "[0,0][1000,2000]", INSIDE)
    + "</hierarchy>"
)
TITLE, FIRST, SECOND, WHOLE = (0, 0, 500, 100), (0, 200, 200, 300), (800, 200, 900, 300), (0, 200, 1000, 300)


@pytest.fixture
def screen() -> Screen:
    return parse(DUMP)


def find(screen: Screen, given: Any) -> Node | None:
    async def work() -> Node | None:
        scripts = Scripts()
        try:
            return await Finder(screen, scripts.matches).first(WantedElement.of(given))
        finally:
            await scripts.close()

    return asyncio.run(work())


@pytest.mark.parametrize(
    ("given", "bounds"),
    [
        ("Really?", TITLE), ("really", None), ("Sav", None), ("Two lines", (0, 400, 100, 500)), ("Far", None),
        ("Save", SECOND),  # the clickable one first
        ({"text": "Save", "index": "0"}, FIRST), ({"text": "Save", "index": "-1"}, SECOND),
        ({"text": "Save", "index": "2"}, None), ({"text": "Save", "enabled": "true"}, FIRST),
        ({"id": "title"}, TITLE), ({"id": "a.b:id/title"}, TITLE), ({"id": "titl"}, None),
        ({"id": ".*row"}, WHOLE), ({"checked": "true"}, (0, 600, 100, 700)),
        ({"text": "Save", "below": "Really?"}, SECOND), ({"text": "Really?", "below": "Save"}, None),
        ({"text": "Save", "rightOf": {"text": "Save", "index": "0"}}, SECOND),
        ({"containsChild": "Save"}, WHOLE), ({"text": "Save", "childOf": {"id": "row"}}, SECOND),
        ({"text": "Wi-Fi", "childOf": {"id": "row"}}, None), ({"containsDescendants": ["Save", "Far"]}, None),
        ({"width": "105", "height": "98", "tolerance": "5"}, SECOND), ({"width": "105"}, None),
        ({"containsDescendants": ["Save"]}, (0, 0, 1000, 2000)),  # nothing of its own: the outermost
        ({"id": ".*row", "containsDescendants": ["Save"]}, WHOLE),
        ({"id": "row", "containsChild": "Far"}, None),
        ({"text": "Save", "retryTapIfNoChange": "true", "delay": "5"}, SECOND),
        ("(S+a+)+ve", SECOND), ({"traits": "square", "text": "Save"}, SECOND),
    ],
)  # fmt: skip
def test_the_first_match_by_maestros_rules(
    screen: Screen, given: Any, bounds: tuple[int, ...] | None
) -> None:
    found = find(screen, given)
    assert (None if found is None else tuple(found.bounds)) == bounds
