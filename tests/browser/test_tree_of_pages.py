"""Parts that pages have and trees lose: what unfolds, pops up, sleeps, is edited, is drawn as it scrolls."""

from __future__ import annotations

from tests.browser.conftest import Play
from tests.browser.stage import Stage

SHADOWS = """<x-a></x-a><script>
const define = (name, mode, html) => customElements.define(name, class extends HTMLElement {
  constructor() { super(); this.attachShadow({mode}).innerHTML = html; } });
define('x-a', 'open', '<button>In an open root</button><x-b></x-b>');
define('x-b', 'closed', '<button>In a closed root</button>');
</script>"""
ROWS = """
const draw = () => { const first = Math.floor(box.scrollTop / 40);
  rows.innerHTML = [first, first + 1, first + 2, first + 3].map((at) =>
    `<button style="position:absolute;top:${at * 40}px;height:40px">Row ${at}</button>`).join('');
};
box.onscroll = draw; draw();"""
PAGE = f"""<!doctype html><title>Parts</title>
<details><summary>Shipping</summary><button>Change address</button></details>
<details open><summary>Returns</summary><button>Print label</button></details>
<button popovertarget=pop>Options</button><div id=pop popover><button>Sort by price</button></div>
<section inert><button>Asleep</button><input placeholder="Asleep too"></section>
<div contenteditable aria-label=Note>Hello <b>there</b></div>
<div contenteditable=plaintext-only aria-label=Plain>Words</div>
<label>Both <input type=checkbox></label><input type=checkbox> Second
<label for=q>Shared</label><input type=checkbox id=q><input type=checkbox aria-label=Own>
<iframe srcdoc="{SHADOWS.replace('"', "&quot;")}"></iframe>
<dialog id=ask><form method=dialog><button>Agree</button></form></dialog>
<button onclick="ask.showModal()">Ask</button>
<div id=box style="height:120px;overflow:auto"><div id=rows style="height:40000px;position:relative">
</div></div>
<script>{ROWS}</script>
"""


def labels(text: str) -> list[str]:
    """Refs and what they are called, without the words of states."""
    return [line.strip().partition(" ")[2] for line in text.splitlines() if line.strip().startswith("@")]


def test_every_part_is_in_the_tree_once(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(PAGE)
        text = await stage.ui()
        assert "Asleep" not in text
        assert labels(text) == [
            '"Shipping" state "collapsed"', '"Returns" state "expanded"', "Print label", "Options",
            '"Note" = "Hello there"', '"Plain" = "Words"', '"Both" off', '"Second" off', '"Shared" off',
            '"Own" off', "In an open root", "In a closed root", "Ask", "↓", "Row 0", "Row 1", "Row 2",
        ]  # fmt: skip

    play(story)


def test_what_opens_is_told_and_what_was_there_keeps_its_ref(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(PAGE)
        before = {line.split()[1]: line.split()[0] for line in (await stage.ui()).splitlines() if "@" in line}
        for target, brought in (("Shipping", "Change address"), ("Options", "Sort by price")):
            assert (await stage.act("tap", target=target)).success
            assert brought in await stage.ui()
        assert (await stage.act("tap", target="Sort by price")).success
        now = {line.split()[1]: line.split()[0] for line in (await stage.ui()).splitlines() if "@" in line}
        assert {word: now.get(word) for word in before} == before

    play(story)


def test_a_modal_dialog_is_all_there_is_and_then_gone(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(PAGE)
        assert (await stage.act("tap", target="Ask")).success
        assert [line for line in labels(await stage.ui()) if line != "↓"] == ['"Agree" focused']
        assert (await stage.act("tap", target="Agree")).success
        assert "Print label" in await stage.ui()

    play(story)


def test_rows_that_are_drawn_as_they_come_into_sight_are_scrolled_to(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(PAGE)
        done = await stage.act("scroll_to", target="Row 12")
        assert done.success, done.to_json()
        assert (await stage.act("tap", target="Row 12")).success

    play(story)


OPENING = """<style>#over {{ position: fixed; inset: 0; display: none; background: #eee }}</style>
{control}<div id=over><button onclick="picked = true" style="width: 100%; height: 100%">Yes</button></div>
<script>picked = false;
document.querySelector('#it').onmousedown = () => {{ over.style.display = 'block'; }};</script>"""


def test_what_opens_over_its_control_at_the_press_does_not_get_the_click(play: Play) -> None:
    async def story(stage: Stage) -> None:
        for control in (
            "<input id=it aria-label=Day readonly>",
            "<div id=it role=combobox tabindex=0 aria-haspopup=listbox aria-label=Day>Any</div>",
        ):
            await stage.show(OPENING.format(control=control))
            done = await stage.act("tap", target="Day")
            assert done.success, done.to_json()
            assert await stage.js("[picked, over.style.display]") == [False, "block"]
            assert "Yes" in await stage.ui()

    play(story)


def test_a_button_under_which_the_page_puts_another_is_refused(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(OPENING.format(control="<button id=it>Day</button>"))
        done = await stage.act("tap", target="Day")
        assert not done.success
        assert done.failure_code == "ACTION_REJECTED"
        assert await stage.js("picked") is False

    play(story)
