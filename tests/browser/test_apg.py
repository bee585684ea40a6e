"""Roles and names in the tree beside those that Chromium computes, on every example of WAI-ARIA's practices.

The examples are read where HANDRAIL_STRANGERS says that the repository `aria-practices` is.
"""

from __future__ import annotations

import asyncio
import json
import os
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Play
from tests.browser.stage import Stage

FOLDER = Path(os.environ.get("HANDRAIL_STRANGERS") or "/nowhere") / "aria-practices"
EXAMPLES = sorted(FOLDER.glob("content/patterns/*/examples/*.html"))
SAME = {
    "DisclosureTriangle": "button",
    "ToggleButton": "button",
    "PopUpButton": "button",
    "MenuListPopup": "listbox",
}
WIDGETS = frozenset(
    "button link checkbox radio switch slider textbox searchbox combobox spinbutton tab menuitem"
    " menuitemcheckbox menuitemradio option treeitem".split()
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not EXAMPLES, reason="HANDRAIL_STRANGERS names no folder with aria-practices"),
]


def plain(name: str) -> str:
    return " ".join(name.split())


def words(name: str) -> str:
    """Without spaces, which inline elements may or may not have between them, and without glyphs."""
    return "".join(sign for sign in name if not sign.isspace() and unicodedata.category(sign) != "Co")


async def in_tree(stage: Stage) -> dict[int, tuple[str, str]]:
    """Role and name of each element in the tree, by the browser's own number."""
    page = stage.surface.tabs.front
    rows = json.loads(await page.evaluate("handrail.everything()"))["rows"]
    world = await page.world(page.main, page.main.frame)
    told: dict[int, tuple[str, str]] = {}

    async def number(row: list[Any]) -> None:
        call = page.session.call
        request = {"expression": f"handrail.elementOf({row[0]})", "contextId": world.context}
        found = await call("Runtime.evaluate", request)
        node = await call("DOM.describeNode", {"objectId": found["result"]["objectId"]})
        is_valued = row[3] in ("textbox", "searchbox", "spinbutton", "slider") or row[10]
        name = row[10] if is_valued else row[9]
        told[node["node"]["backendNodeId"]] = (row[3], plain(name))

    await asyncio.gather(*(number(row) for row in rows if row[3]))
    return told


async def by_chromium(stage: Stage) -> dict[int, tuple[str, str]]:
    """Role and name of each widget, as Chromium tells screen readers."""
    nodes = (await stage.surface.tabs.front.session.call("Accessibility.getFullAXTree"))["nodes"]
    told = {}
    for node in nodes:
        role = node.get("role", {}).get("value", "")
        role = SAME.get(role, role)
        if not node.get("ignored") and role in WIDGETS and "backendDOMNodeId" in node:
            told[node["backendDOMNodeId"]] = (role, plain(str(node.get("name", {}).get("value", ""))))
    return told


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_roles_and_names_are_chromiums(play: Play, example: Path) -> None:
    async def story(stage: Stage) -> None:
        stage.site.folder = FOLDER
        await stage.goto(stage.site.url(f"/{example.relative_to(FOLDER)}"))
        for _ in range(3):  # some scripts bring more a moment later
            ours, theirs = await in_tree(stage), await by_chromium(stage)
            wrong = {
                wanted: ours.get(number, ("missing", ""))
                for number, wanted in theirs.items()
                if not is_equal(wanted, ours.get(number, ("", "")))
            }
            if not wrong:
                break
            await stage.ui()
        assert not wrong, wrong

    play(story)


def is_equal(wanted: tuple[str, str], told: tuple[str, str]) -> bool:
    """A field that offers a list is a field here, and options of a list that is closed are not told.

    Words that only a style draws are told beside a name, and glyphs of icons are nobody's name.
    """
    roles = {wanted[0], {"select": "combobox", "textbox": "combobox"}.get(told[0], told[0])}
    if wanted[0] == "option" and not told[0]:
        return True
    is_named = words(told[1]) == words(wanted[1]) or words(wanted[1]).endswith(words(told[1]) or "-")
    return (wanted[0] == told[0] or len(roles) == 1) and is_named
