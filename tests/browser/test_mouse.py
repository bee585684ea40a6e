"""What a mouse and a keyboard can do and a finger can't, each judged in the page itself."""

from __future__ import annotations

from tests.browser.conftest import Play
from tests.browser.stage import Stage, proved

LOGGED = """
<script>log = []; for (const kind of ['click', 'auxclick', 'contextmenu', 'mouseover'])
  addEventListener(kind, (e) => {
    const held = ['ctrl', 'shift', 'alt', 'meta'].filter((key) => e[`${key}Key`]).join('+');
    if (e.target.id) log.push(`${kind} ${e.target.id} ${e.button} ${held}`);
  });</script>
"""


def deny_igniting(stage: Stage) -> None:
    """From now on: the browser is shared, and no other page has such a label."""
    policy = stage.home / "config" / "policy.toml"
    policy.write_text(policy.read_text() + '[[rule]]\nlabel = "Ignite*"\npressed = true\nverdict = "deny"\n')


async def events(stage: Stage, kind: str) -> list[str]:
    return [line for line in await stage.js("log") if line.startswith(f"{kind} ")]


def test_each_button_and_each_held_key_reaches_the_page(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(f"<button id=row>Row</button>{LOGGED}")
        assert (await stage.act("tap", target={"text": "Row"}, button="right")).success
        assert await events(stage, "contextmenu") == ["contextmenu row 2 "]
        assert not await events(stage, "click")
        assert (await stage.act("tap", target={"text": "Row"}, button="middle")).success
        assert await events(stage, "auxclick") == ["auxclick row 2 ", "auxclick row 1 "]
        for held in ("ctrl", "shift", "alt", "meta", "ctrl+shift"):
            tapped = await stage.act("tap", target={"text": "Row"}, modifiers=held.split("+"))
            assert tapped.success, tapped.to_json()
            assert (await events(stage, "click"))[-1] == f"click row 0 {held}"

    play(story)


def test_a_menu_that_opens_under_the_mouse_can_be_used(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<style>#menu { display: none } nav:hover #menu { display: block }</style>"
            "<nav style='width: 200px'><a href='#p'>Products</a>"
            "<div id=menu><button onclick=\"document.title = 'phones'\">Phones</button></div></nav>"
        )
        assert "Phones" not in await stage.ui()
        assert (await stage.act("hover", target={"text": "Products"})).success
        assert "Phones" in await stage.ui()
        assert (await stage.tap("Phones")).success
        assert await stage.js("document.title") == "phones"

    play(story)


def test_the_mouse_does_not_move_over_what_policy_denies(play: Play) -> None:
    async def story(stage: Stage) -> None:
        deny_igniting(stage)
        await stage.show(f"<button id=pay style='width: 300px; height: 90px'>Ignite now</button>{LOGGED}")
        for action in ({}, {"button": "right"}, {"button": "middle"}, {"modifiers": ["ctrl"]}):
            refused = await stage.act("tap", target={"text": "Ignite now"}, **action)
            assert refused.failure_code == "ACTION_REJECTED", refused.to_json()
        refused = await stage.act("hover", target={"text": "Ignite now"})
        assert refused.failure_code == "ACTION_REJECTED", refused.to_json()
        assert await stage.js("log") == []

    play(story)


def test_what_a_pointer_brings_up_is_judged_before_it_is_pressed(play: Play) -> None:
    async def story(stage: Stage) -> None:
        deny_igniting(stage)
        await stage.show(
            "<div style='position: relative; width: 300px; height: 90px'><button id=open"
            " style='width: 300px; height: 90px'>Open</button></div><script>paid = 0;"
            "document.querySelector('#open').onmouseover = (e) => {"
            " const over = document.createElement('button');"
            "over.textContent = 'Ignite 900'; over.onclick = () => paid++;"
            "over.style = 'position: absolute; inset: 0'; e.target.parentNode.append(over); }</script>"
        )
        refused = await stage.tap("Open")
        assert refused.failure_code == "ACTION_REJECTED", refused.to_json()
        assert await stage.js("paid") == 0

    play(story)


def test_several_options_are_selected_and_no_others(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<label>Toppings <select id=list multiple>"
            "<option selected>Ham<option>Olives<option>Onions</select></label>"
            "<label>Size <select id=size><option>S<option>L</select></label>"
        )
        assert proved(await stage.act("set_value", target={"text": "Ham"}, value=["Olives", "Onions"]))
        assert await stage.js("[...list.selectedOptions].map((option) => option.label)") == [
            "Olives",
            "Onions",
        ]
        refused = await stage.act("set_value", target={"text": "Size"}, value=["S", "L"])
        assert refused.failure_code == "CONTROL_CONVERGENCE_FAILED", refused.to_json()
        assert await stage.js("size.value") == "S"

    play(story)


def test_a_page_that_listens_to_keys_gets_them(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<input aria-label=Filter id=filter><ul id=list></ul><script>"
            "filter.onkeyup = () => { list.innerHTML = `<li>${filter.value}</li>`; };"
            "typed = '';"
            "document.onkeydown = (e) => { if (e.target === document.body) typed += e.key; }</script>"
        )
        typed = await stage.act("type_text", text="Ada é 7", target={"text": "Filter"})
        assert proved(typed), typed.to_json()
        assert await stage.js("list.textContent") == "Ada é 7"
        await stage.js("filter.blur()")
        assert (await stage.act("type_text", text="ls -l", how="keys")).success
        assert await stage.js("typed") == "ls -l"

    play(story)


def test_a_text_goes_in_by_the_way_that_is_asked_for(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<textarea aria-label=Note id=note></textarea><script>log = [];"
            "for (const kind of ['keydown', 'paste', 'input', 'change']) note.addEventListener(kind,"
            " (e) => log.push(`${kind} ${e.clipboardData?.getData('text/plain') ?? ''}`.trim()))</script>"
        )
        for how, expected in (
            ("paste", ["paste ab", "input"]),
            ("value", ["input", "change"]),
            ("keys", ["keydown"]),
        ):
            await stage.js("note.value = ''; log = []")
            typed = await stage.act("type_text", text="ab", target={"text": "Note"}, how=how)
            assert proved(typed), typed.to_json()
            assert typed.details is not None
            assert typed.details["way"] == how
            assert (await stage.js("log"))[: len(expected)] == expected
            assert await stage.js("note.value") == "ab"

    play(story)
