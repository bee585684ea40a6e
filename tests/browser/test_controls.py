"""Controls of the web: lists, sliders, dates, scrolling, dragging, keys; each checked on the page itself."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Play
from tests.browser.stage import Stage, proved

CONTROLS = """
<label>Colour <select id=colour onchange="log.push('change ' + this.value)">
  <option value=r>Red<option value=g>Green<option value=b disabled>Blue</select></label>
<label>Volume <input id=volume type=range min=0 max=11 value=3></label>
<label>Day <input id=day type=date></label>
<script>log = []</script>
"""


def test_an_option_is_chosen_by_its_words(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(CONTROLS)
        assert proved(await stage.act("set_value", target={"text": "Colour"}, value="Green"))
        assert await stage.js("[colour.value, ...log]") == ["g", "change g"]
        assert '"Colour" focused state "Green"' in await stage.ui()
        for word in ("Mauve", "Blue"):
            refused = await stage.act("set_value", target={"text": "Colour"}, value=word)
            assert refused.failure_code == "CONTROL_CONVERGENCE_FAILED", refused.to_json()
            assert refused.details is not None
            assert refused.details["offers"] == ["Red", "Green"]
        assert await stage.js("colour.value") == "g"

    play(story)


def test_a_slider_and_a_date_take_exact_values(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(CONTROLS)
        assert proved(await stage.act("set_value", target={"text": "Volume"}, value=7))
        assert proved(await stage.act("set_value", target={"text": "Day"}, value="2026-02-03"))
        assert await stage.js("[volume.value, day.value]") == ["7", "2026-02-03"]
        beyond = await stage.act("set_value", target={"text": "Volume"}, value=40)
        assert beyond.failure_code == "CONTROL_CONVERGENCE_FAILED", beyond.to_json()

    play(story)


@pytest.mark.slow
def test_a_long_page_is_scrolled_to_an_element_and_a_box_in_it_too(play: Play) -> None:
    async def story(stage: Stage) -> None:
        rows = "".join(f"<p>Row {at}</p>" for at in range(120))
        inner = "".join(f"<li>Item {at}</li>" for at in range(60))
        await stage.show(
            f"<div id=box style='height: 150px; overflow: auto'><ul>{inner}</ul></div>{rows}"
            "<button>End</button>"
        )
        found = await stage.act("scroll_to", target={"text": "End"})
        assert proved(found), found.to_json()
        assert await stage.js("scrollY") > 1000
        await stage.js("scrollTo(0, 0)")
        inside = await stage.act("scroll_to", target={"text": "Item 50"}, within={"text": "Item 1"})
        assert proved(inside), inside.to_json()
        assert await stage.js("box.scrollTop") > 500

    play(story)


def test_an_element_is_dragged_onto_another(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<div id=a draggable=true style='width: 80px'>Card</div>"
            "<div id=b style='width: 200px; height: 80px; border: 1px solid'>Bin</div><script>got = '';"
            "b.ondragover = (e) => e.preventDefault(); b.ondrop = (e) => { got = 'dropped'; }</script>"
        )
        dragged = await stage.act("drag", **{"from": {"text": "Card"}, "to": {"text": "Bin"}})
        assert dragged.success, dragged.to_json()
        assert await stage.js("got") == "dropped"

    play(story)


def test_keys_reach_a_page_as_a_keyboard_sends_them(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<input aria-label=Field><script>log = [];"
            "addEventListener('keydown', (e) => log.push([e.key, e.code, e.keyCode, e.isTrusted]))</script>"
        )
        await stage.tap("Field")
        for key in ("tab", "escape", "KEYCODE_A", "delete", "down", "KEYCODE_F5"):
            assert (await stage.act("press_key", key=key)).success
        assert await stage.js("log") == [
            ["Tab", "Tab", 9, True],
            ["Escape", "Escape", 27, True],
            ["a", "KeyA", 65, True],
            ["Backspace", "Backspace", 8, True],
            ["ArrowDown", "ArrowDown", 40, True],
            ["F5", "F5", 116, True],
        ]

    play(story)


def test_a_key_that_no_browser_has_is_unsupported(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show("<p>Page")
        refused = await stage.act("press_key", key="camera")
        assert (refused.failure_code, refused.delivery) == ("UNSUPPORTED", "not_delivered")

    play(story)


def test_a_page_is_loaded_again_by_a_key(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show("<p id=n></p><script>n.textContent = performance.timeOrigin</script>")
        before = await stage.js("n.textContent")
        assert (await stage.act("press_key", key="KEYCODE_REFRESH")).success
        assert await stage.js("n.textContent") != before

    play(story)


def test_a_field_that_listens_to_keys_alone_gets_keys(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<input id=f aria-label=Pin onbeforeinput='event.preventDefault()'"
            " onkeydown='if (event.key.length == 1) this.value += event.key'>"
        )
        typed = await stage.act("type_text", text="1234", target={"text": "Pin"})
        assert proved(typed), typed.to_json()
        assert typed.details is not None
        assert typed.details["way"] == "keys"
        assert await stage.js("f.value") == "1234"

    play(story)


def test_a_checkbox_that_is_drawn_by_its_label_is_tapped_there(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<style>input { position: absolute; opacity: 0; width: 1px; height: 1px }</style>"
            "<label><input id=c type=checkbox><span style='padding: 9px'>News</span></label>"
            "<label><input id=d type=checkbox style='display: none'><b>Ads</b></label>"
        )
        assert proved(await stage.tap("News"))
        assert proved(await stage.tap("Ads"))
        assert await stage.js("[c.checked, d.checked]") == [True, True]

    play(story)


def test_a_picture_has_the_marks_of_what_can_be_tapped(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show("<button>One</button><button>Two</button>")
        taken = await stage.act("screenshot", marks=True)
        assert taken.success, taken.to_json()
        assert taken.details is not None
        assert (taken.details["width"], taken.details["currentApp"]) == (1280, stage.site.origin)

    play(story)


ICONS = """
<style>
  .trash, .plain { display: inline-block; width: 14px; height: 14px;
    background: url("data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=") }
</style>
<ul><li style="cursor: pointer">Letter from Ada <span class=trash></span></li></ul>
<a class=next>Next</a> <a name=here>A heading</a>
<button>Send <span class=plain></span></button>
<script>
  log = [];
  for (const name of ['trash', 'next'])
    document.querySelector('.' + name).addEventListener('click', () => log.push(name));
</script>
"""


def test_an_icon_drawn_by_style_and_an_anchor_for_scripts_can_be_pressed(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(ICONS)
        text = await stage.ui()
        refs = {line.split(maxsplit=1)[1]: line.split()[0] for line in text.splitlines() if "@" in line}
        assert "#trash" in refs, text
        assert "plain" not in text, "a picture in a button is the button's"
        assert '"A heading"' in text, "a place to jump to is a text"
        assert (await stage.act("tap", target={"ref": refs["#trash"]})).success
        assert (await stage.act("tap", target={"ref": refs["Next"]})).success
        assert await stage.js("log") == ["trash", "next"]

    play(story)


def test_a_field_that_scrolls_says_which_way_and_a_swipe_in_it_counts(play: Play) -> None:
    async def story(stage: Stage) -> None:
        lines = "\n".join(f"line {at}" for at in range(40))
        await stage.show(f"<textarea id=terms aria-label=Terms style='height: 60px'>{lines}</textarea>")
        assert (await stage.ui()).splitlines()[-1].endswith("↓")
        swiped = await stage.act("swipe", direction="up", target={"text": "Terms"})
        assert swiped.success, swiped.to_json()
        assert await stage.js("terms.scrollTop") > 0
        assert (await stage.ui()).splitlines()[-1].endswith("↑↓")
        await stage.js("terms.scrollTop = 9999")
        assert (await stage.ui()).splitlines()[-1].endswith('" ↑')
        nowhere = await stage.act("swipe", direction="up", target={"text": "Terms"})
        assert nowhere.failure_code == "NAVIGATION_NO_CHANGE", nowhere.to_json()

    play(story)


def test_the_entry_that_the_keyboard_is_at_is_said_where_the_focus_stays_on_the_whole(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<ul id=menu role=menu tabindex=0 aria-activedescendant=one aria-label=File>"
            "<li role=menuitem id=one>Open<li role=menuitem id=two>Save</ul>"
        )
        assert "active" not in await stage.ui()
        await stage.js("menu.focus()")
        assert '"Open" state "active"' in await stage.ui()
        await stage.js("menu.setAttribute('aria-activedescendant', 'two')")
        told = await stage.ui()
        assert '"Save" state "active"' in told
        assert '"Open" state' not in told

    play(story)
