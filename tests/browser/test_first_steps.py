"""From a name to a page and back: look, type, tap, proof, journal, in a real Chromium."""

from __future__ import annotations

from tests.browser.conftest import Play
from tests.browser.stage import Stage, proved

FORM = """
<h1>Members</h1>
<form onsubmit="event.preventDefault(); out.textContent = 'Saved ' + who.value + ' ' + agree.checked">
  <label>Name <input id=who placeholder="First and last"></label>
  <label><input id=agree type=checkbox> I agree</label>
  <button>Save</button>
</form>
<p id=out></p>
"""


def test_a_form_is_filled_sent_and_proved(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(FORM)
        typed = await stage.act("type_text", text="Ada Lovelace", target={"text": "Name"})
        assert proved(typed), typed.to_json()
        agreed = await stage.tap("I agree")
        assert proved(agreed), agreed.to_json()
        saved = await stage.tap("Save", expect="Saved Ada Lovelace true")
        assert proved(saved), saved.to_json()
        assert saved.delivery == "delivered"
        assert await stage.js("out.textContent") == "Saved Ada Lovelace true"

    play(story)


def test_a_look_tells_fields_checks_and_buttons_once(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(FORM)
        text = await stage.ui()
        assert [text.count(word) for word in ("Name", "I agree", "Save")] == [1, 1, 1], text
        assert stage.site.origin in text.splitlines()[0]

    play(story)


def test_what_was_done_in_a_browser_is_in_the_journal_and_its_chain_holds(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(FORM)
        tapped = await stage.tap("I agree")
        told = stage.runtime.journal.show(tapped.action_id)
        assert told.envelope is not None
        assert told.envelope["device"]["platform"] == "web"
        assert stage.runtime.journal.verify().ok

    play(story)
