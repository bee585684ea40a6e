"""What browsers do to those who drive them: dialogs, tabs, crashes, returns, closed roots, passwords."""

from __future__ import annotations

import pytest

from handrail.browser.input import PageTextInput
from handrail.errors import AppCrashed
from handrail.surface.capabilities import TextInput
from tests.browser.conftest import Play
from tests.browser.stage import Stage, proved


def test_an_alert_is_a_screen_of_its_own_until_somebody_answers(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<button onclick=\"alert('Sure?'); done.textContent = 'after'\">Ask</button><p id=done>"
        )
        asked = await stage.tap("Ask")
        assert (asked.success, asked.delivery) == (True, "delivered"), asked.to_json()
        text = await stage.ui()
        assert "Sure?" in text
        assert "Ask" not in text
        answered = await stage.tap("OK")
        assert answered.success, answered.to_json()
        assert await stage.js("done.textContent") == "after"

    play(story)


def test_a_confirm_takes_the_answer_that_was_tapped(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show("<button onclick=\"done.textContent = confirm('Delete?')\">Ask</button><p id=done>")
        await stage.tap("Ask")
        await stage.tap("Cancel")
        assert await stage.js("done.textContent") == "false"
        await stage.tap("Ask")
        await stage.tap("OK")
        assert await stage.js("done.textContent") == "true"

    play(story)


def test_a_prompt_has_a_field(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<button onclick=\"done.textContent = prompt('Name?', 'Bob')\">Ask</button><p id=done>"
        )
        await stage.tap("Ask")
        typed = await stage.act("type_text", text="Ada", target={"text": "Name?"}, clear=True)
        assert proved(typed), typed.to_json()
        await stage.tap("OK")
        assert await stage.js("done.textContent") == "Ada"

    play(story)


def test_keys_answer_a_dialog_as_in_a_browser(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show("<button onclick=\"done.textContent = confirm('Go?')\">Ask</button><p id=done>")
        await stage.tap("Ask")
        assert (await stage.act("press_key", key="escape")).success
        assert await stage.js("done.textContent") == "false"

    play(story)


def test_a_page_that_asks_before_it_is_left_keeps_its_answer(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<input aria-label=Draft oninput='dirty = 1'><script>dirty = 0;"
            "addEventListener('beforeunload', (event) => { if (dirty) event.preventDefault(); });</script>"
        )
        await stage.act("type_text", text="x", target={"text": "Draft"})
        left = await stage.act("open_url", url=stage.site.put("<p>Elsewhere", "/else"))
        assert left.success, left.to_json()
        assert "Leave" in await stage.ui()
        await stage.tap("Stay")
        assert "Draft" in await stage.ui()
        await stage.act("open_url", url=stage.site.url("/else"))
        await stage.tap("Leave", expect="Elsewhere")
        assert "Elsewhere" in await stage.ui()

    play(story)


def test_a_dialog_while_a_page_loads_is_shown(play: Play) -> None:
    async def story(stage: Stage) -> None:
        opened = await stage.act(
            "open_url", url=stage.site.put("<script>alert('Hello')</script><p>Body", "/al")
        )
        assert opened.success, opened.to_json()
        assert "Hello" in await stage.ui()
        await stage.tap("OK", expect="Body")

    play(story)


def test_a_window_that_a_page_opens_comes_to_the_front_and_tabs_are_tapped(play: Play) -> None:
    async def story(stage: Stage) -> None:
        stage.site.put(
            "<button onclick='document.title = 9'>Inner</button><script>document.title = 'Second'</script>",
            "/second",
        )
        await stage.show("<button onclick=\"window.open('/second')\">Open</button>")
        opened = await stage.tap("Open", expect="Inner")
        assert opened.success, opened.to_json()
        text = await stage.ui()
        assert text.count("Close tab") == 2, text
        back = await stage.tap("Test", expect="Open")
        assert back.success, back.to_json()
        assert proved(await stage.act("stop_app", package=stage.site.origin))

    play(story)


def test_a_tab_in_the_back_takes_every_input_at_once_when_it_comes_forward(play: Play) -> None:
    """A hidden tab answers a mouse after five seconds, if at all."""

    async def story(stage: Stage) -> None:
        await stage.show("<button onclick='this.textContent = 1 + +this.textContent'>0</button>", "/first")
        first = stage.surface.tabs.front
        page = await stage.surface.tabs.create()
        await page.session.call("Page.navigate", {"url": stage.site.put("<p>Other", "/other")})
        await stage.surface.tabs.show(first)
        tapped = await stage.tap("0", expect="1")
        assert tapped.success, tapped.to_json()
        assert tapped.timings_ms["dispatch"] < 2_000
        await stage.surface.tabs.drop(
            next(one for one in stage.surface.tabs.pages.values() if one is not first)
        )

    play(story)


def test_a_return_from_the_cache_of_pages_is_seen_without_a_load(play: Play) -> None:
    async def story(stage: Stage) -> None:
        stage.site.put("<h1>Second</h1>", "/two")
        await stage.show("<h1>First</h1><input aria-label=Kept><a href=/two>Go</a>", "/one")
        await stage.act("type_text", text="mine", target={"text": "Kept"})
        ref = next(line for line in (await stage.ui()).splitlines() if "Kept" in line).split()[0]
        assert (await stage.tap("Go", expect="Second")).success
        back = await stage.act("press_key", key="back")
        assert back.success, back.to_json()
        text = await stage.ui()
        assert 'Kept" = "mine"' in text
        assert ref in text, "the same element has its ref again"
        forward = await stage.act("press_key", key="KEYCODE_FORWARD", expect="Second")
        assert forward.success, forward.to_json()

    play(story)


def test_a_crashed_page_is_a_screen_that_says_so_and_loads_it_again(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show("<button>Stays</button>")
        page = stage.surface.tabs.front
        with pytest.raises(AppCrashed):
            await page.session.call("Page.crash")
        text = await stage.ui()
        assert "crashed" in text
        again = await stage.tap("Reload", expect="Stays")
        assert again.success, again.to_json()

    play(story)


def test_closed_shadow_roots_are_read_and_tapped(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(
            "<my-box></my-box><div id=plain style='height: 40px'></div><script>"
            "customElements.define('my-box', class extends HTMLElement { constructor() { super();"
            "this.attachShadow({mode: 'closed'}).innerHTML = '<button>Within</button>'; } });"
            "const root = plain.attachShadow({mode: 'closed'}); root.innerHTML = '<button>Plain</button>';"
            "root.firstChild.onclick = () => { document.title = 'hit'; };</script>"
        )
        text = await stage.ui()
        assert "Within" in text
        assert "Plain" in text
        assert (await stage.tap("Plain")).success
        assert await stage.js("document.title") == "hit"

    play(story)


def test_what_a_password_field_holds_never_leaves_the_page(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show("<input type=password aria-label=Password value=hunter2>")
        heard: list[bytes] = []
        wire = stage.browser.wire
        receive = wire.receive

        async def listening() -> bytes:
            heard.append(await receive())
            return heard[-1]

        wire.receive = listening  # type: ignore[method-assign]
        text = await stage.ui()
        await stage.tap("Password")
        typist = stage.surface.need(TextInput)
        assert isinstance(typist, PageTextInput)
        cleared = await typist.clear_text()
        typed = await typist.type_text("correct horse")
        wire.receive = receive  # type: ignore[method-assign]
        assert "hunter2" not in text
        assert (cleared.arrived, typed.arrived) == (True, True)
        assert heard
        assert not any(b"hunter2" in one or b"correct horse" in one for one in heard)
        assert await stage.js("document.querySelector('input').value") == "correct horse"

    play(story)


def test_an_emulated_scale_changes_no_place(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show("<button style='margin: 100px' onclick='document.title = 7'>Far</button>")
        page = stage.surface.tabs.front
        told = {"width": 600, "height": 500, "deviceScaleFactor": 2.5, "mobile": False}
        await page.session.call("Emulation.setDeviceMetricsOverride", told)
        try:
            assert "screen 600x500" in await stage.ui()
            display = await stage.surface.screen_reader.display()
            assert (display.width, display.height, display.density) == (600, 500, 240)
            assert (await stage.tap("Far")).success
            assert await stage.js("document.title") == "7"
        finally:
            await page.prepare(stage.surface.tabs.size)

    play(story)
