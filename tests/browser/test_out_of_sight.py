"""What is meant and scrolled out of sight comes into view before it is judged and touched."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Play
from tests.browser.stage import Stage
from tests.browser.test_mouse import deny_igniting

FAR = "<div style='height: 3000px'>Far</div>"
PAGES = {
    "below the page": f"{FAR}<button onclick='hit = 1'>Low</button>",
    "in a list of its own": (
        f"<div style='height: 90px; overflow: auto'>{FAR}<button onclick='hit = 1'>Low</button></div>"
    ),
    "in a frame": (
        f'<iframe style="height: 90px" srcdoc="{FAR}'
        "<button onclick='parent.hit = 1'>Low</button>\"></iframe>"
    ),
    "sideways": (
        "<div style='width: 200px; overflow: auto'><div style='width: 4000px; text-align: right'>"
        "<button onclick='hit = 1'>Low</button></div></div>"
    ),
}


@pytest.mark.parametrize("page", PAGES)
def test_a_tap_reaches_what_is_out_of_sight(play: Play, page: str) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(PAGES[page])
        tapped = await stage.tap("Low")
        assert tapped.success, tapped.to_json()
        assert await stage.js("hit") == 1
        assert any(line.startswith("[scroll]") for line in tapped.diagnostics or ())

    play(story)


@pytest.mark.parametrize("page", PAGES)
def test_scrolling_to_it_needs_no_container(play: Play, page: str) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(PAGES[page])
        assert (await stage.act("scroll_to", target={"text": "Low"})).success
        assert "Low" in await stage.ui()
        assert await stage.js("globalThis.hit ?? 0") == 0

    play(story)


def test_what_is_in_view_is_left_where_it_is(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(f"<p>Words</p><button onclick='hit = 1'>High</button>{FAR}")
        for words in ("High", "Words"):
            assert (await stage.tap(words)).diagnostics is None
        assert await stage.js("scrollY") == 0

    play(story)


def test_a_rule_holds_for_what_was_out_of_sight(play: Play) -> None:
    async def story(stage: Stage) -> None:
        deny_igniting(stage)
        await stage.show(f"{FAR}<button onclick='hit = 1'>Ignite</button>")
        refused = await stage.tap("Ignite")
        assert refused.error is not None
        assert refused.error.code == "ACTION_REJECTED"
        assert await stage.js("globalThis.hit ?? 0") == 0

    play(story)


def test_two_of_one_name_out_of_sight_are_ambiguous(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(f"{FAR}<button onclick='hit = 1'>Low</button><button onclick='hit = 2'>Low</button>")
        refused = await stage.tap("Low")
        assert refused.error is not None
        assert refused.error.code == "AMBIGUOUS_TARGET"
        assert await stage.js("[scrollY, globalThis.hit ?? 0].join()") == "0,0"

    play(story)


def test_a_caption_in_view_yields_to_its_control_below(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<div style='height: 760px'></div><p>Fruit</p><div style='height: 200px'></div>"
            "<button onclick='hit = 1'>Fruit</button>"
        )
        assert (await stage.tap("Fruit")).success
        assert await stage.js("hit") == 1

    play(story)


def test_two_clicks_are_a_double_click_on_the_words_that_name_a_box(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<ul><li><input type=checkbox id=box> <b ondblclick='hit = 1'>Buy milk</b></li></ul>"
            "<button ondblclick='hit = 2'>Twice</button>"
        )
        assert (await stage.act("double_tap", target={"text": "Twice"})).success
        assert await stage.js("hit") == 2
        assert (await stage.act("double_tap", target={"text": "Buy milk"})).success
        assert await stage.js("[hit, box.checked].join()") == "1,false"

    play(story)


IN_THE_TREE = {
    "options of a list that can be clicked": (
        "<ul role=listbox tabindex=0 style='cursor: pointer'><li role=option>One<li role=option>Two</ul>",
        ("One", "Two"),
    ),
    "radios of a drawing": (
        "<svg width=90 height=40 onclick=\"event.target.parentNode.setAttribute('aria-checked', 'true')\">"
        "<g role=radio aria-label='one star' tabindex=0><rect width=20 height=20 /></g>"
        "<g role=radio aria-label='two stars' tabindex=-1><rect x=60 width=20 height=20 /></g></svg>",
        ("one star", "two stars"),
    ),
    "a picture that floats in a link": (
        "<a href='#x'><img alt=Pin style='float: left; width: 30px; height: 30px'></a>",
        ("Pin",),
    ),
    "boxes without labels": (
        "<form><input type=checkbox> First<br><input type=checkbox> Second</form>",
        ("First", "Second"),
    ),
    "what can be dragged": ("<span draggable=true>Parcel</span>", ("Parcel",)),
}


@pytest.mark.parametrize("case", IN_THE_TREE)
def test_each_has_a_ref_and_a_name(play: Play, case: str) -> None:
    body, names = IN_THE_TREE[case]

    async def story(stage: Stage) -> None:
        await stage.show(body)
        lines = [line.strip() for line in (await stage.ui()).splitlines()]
        for name in names:
            told = [line for line in lines if name in line]
            assert len(told) == 1, lines
            assert told[0].startswith("@"), lines
            assert (await stage.tap(name)).success

    play(story)
