"""Roles, names and states of our script beside the browser's own accessibility tree, on every widget."""

from __future__ import annotations

from typing import Any

from tests.browser.conftest import Play
from tests.browser.stage import Stage

ZOO = """
<h1>Zoo</h1>
<nav aria-label=Main><a href=#a>Home</a><a href=#b title=Newest>News</a></nav>
<button>Plain</button><button aria-label="By label">x</button><button><img alt=Picture src=data:,></button>
<button aria-labelledby="l1 l2">y</button><span id=l1>First</span><span id=l2>second</span>
<input type=submit><input type=reset><input type=button value=Valued>
<label>Wrapped <input></label><label for=f2>For it</label><input id=f2>
<input placeholder=Placed><input title=Titled><textarea aria-label=Area></textarea>
<label><input type=checkbox checked> Checked</label><label><input type=radio name=r> Radio</label>
<div role=switch tabindex=0 aria-checked=true>Wifi</div>
<div role=checkbox tabindex=0 aria-checked=mixed>Mixed</div>
<label>Pick <select><option>One<option>Two</select></label>
<label>Slide <input type=range></label><input type=number aria-label=Number>
<div role=tab tabindex=0 aria-selected=true>Tab</div><div role=menuitem tabindex=0>Item</div>
<button disabled>Disabled</button><button aria-expanded=false>Menu</button>
<details><summary>Summary</summary>Hidden</details>
<div contenteditable aria-label=Editable>text</div>
<svg aria-label=Shape role=img width=20 height=20><rect width=20 height=20 /></svg>
<img alt=Photo src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" width=20 height=20>
<a href=#c><span>Two</span> <b>words</b></a>
<button><span aria-hidden=true>★</span> Star</button>
<div role=button tabindex=0>Div button</div>
"""
ACTS = frozenset(
    {
        "button", "link", "checkbox", "radio", "switch", "textbox", "combobox", "slider", "spinbutton", "tab",
        "menuitem", "DisclosureTriangle", "image", "searchbox",
    }
)  # fmt: skip


async def oracle(stage: Stage) -> list[tuple[str, bool]]:
    """Name and whether it is disabled, of everything that the browser itself says can be acted on."""
    session = stage.surface.tabs.front.session
    nodes: list[dict[str, Any]] = (await session.call("Accessibility.getFullAXTree"))["nodes"]
    found = []
    for node in nodes:
        role, name = node.get("role", {}).get("value"), node.get("name", {}).get("value", "")
        disabled = any(
            one["name"] == "disabled" and one["value"].get("value") for one in node.get("properties", ())
        )
        if not node.get("ignored") and role in ACTS and name:
            found.append((" ".join(str(name).split()), bool(disabled)))
    return found


def test_everything_that_the_browser_names_has_that_name_in_a_look(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(ZOO)
        screen = await stage.surface.screen_reader.look()
        told = {
            (name, not node.enabled)
            for node in screen.nodes
            for name in (node.text, node.description, node.hint_text, node.tooltip_text)
            if name
        }
        missing = [one for one in await oracle(stage) if one not in told]
        assert missing == []
        assert len(await oracle(stage)) >= 30

    play(story)


def test_states_are_those_of_the_page(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(ZOO)
        text = await stage.ui()
        for line in (
            '"Checked" on', '"Radio" off', '"Wifi" on', '"Mixed" off', 'state "mixed"', '"Disabled" disabled',
            '"Menu" state "collapsed"', '"Tab" selected', '"Pick" state "One"', '"Slide" 50',
        ):  # fmt: skip
            assert line in text, f"{line}\n{text}"
        assert "★" not in text

    play(story)
