"""Typing and clearing through the engine: what arrived is what the envelope says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handrail.surface.capabilities import TextInput
from handrail.surface.values import Typed
from handrail_sim.phone import Phone
from handrail_sim.system.activities import Activity, App
from handrail_sim.view import View, column, field
from tests.scenario.world import FastClock, World, play, world

ASYNC_RUNNER = play

CONTACTS = "com.google.android.contacts"
SETTINGS = "com.android.settings"
BANK = "com.handrail.bank"
SHOP = "com.handrail.shop"
NOTES = "com.handrail.notes"

ENTER = 66
FIRST, LAST = {"id": "first"}, {"id": "last"}
NASTY = (
    "; reboot", "$(id) `id` $HOME", 'it\'s "quoted"', "100%s %d %%", "back\\slash & co | more > less",
    "Zoë Ångström 漢字 😀",
)  # fmt: skip


async def _editor(w: World) -> None:
    await w.open(CONTACTS)
    opened = await w.session.tap("Create new contact", expect={"visible": FIRST})
    assert opened.success, opened.to_json()


def _dumps(w: World) -> int:
    """How often the screen was read since the phone became slow."""
    slow = w.phone.faults.active("latency", "uiautomator")
    assert slow
    return slow.hits


def _held(w: World, name: str) -> str:
    """What the app itself holds in a field."""
    w.phone.catch_up()
    activity = w.phone.tasks.top
    assert activity
    return activity.field(name)


async def test_a_field_is_focused_filled_and_read_back(w: World) -> None:
    await _editor(w)
    done = await w.session.type_text("Ada", target="First name")
    assert (done.lifecycle_state, done.delivery) == ("verified", "delivered"), done.to_json()
    assert done.verification
    assert (done.verification.mode, done.verification.observed) == ("built_in", "Ada")
    more = await w.session.type_text(" Lovelace")
    assert more.verification
    assert more.verification.observed == "Ada Lovelace"
    assert _held(w, "first") == "Ada Lovelace"


@pytest.mark.parametrize("text", NASTY)
async def test_nasty_text_arrives_unchanged(tmp_path: Path, text: str) -> None:
    """Check 15."""
    async with world(tmp_path, clock=FastClock(10), helper="u2") as w:
        await _editor(w)
        done = await w.session.type_text(text, target=LAST)
        assert done.success, done.to_json()
        assert _held(w, "last") == text


async def test_text_that_no_channel_can_type_says_why_and_nothing_arrives(w: World) -> None:
    """Check 15, second half: plain adb has no keys for emoji."""
    await _editor(w)
    done = await w.session.type_text("two\nlines 😀", target=LAST)
    assert done.failure_code == "UNSUPPORTED", done.to_json()
    assert "input text" in (done.message or "")
    assert _held(w, "last") == ""


async def test_a_line_break_arrives_in_a_field_of_many_lines(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10), helper="u2") as w:
        await w.open(NOTES)
        await w.session.tap("New note")
        done = await w.session.type_text("one\ntwo", target={"id": "body"})
        assert done.success, done.to_json()
        assert _held(w, "body") == "one\ntwo"


async def test_what_was_in_the_field_goes_first_when_asked(w: World) -> None:
    await _editor(w)
    await w.session.type_text("Adelheid", target=FIRST)
    done = await w.session.type_text("Ada", target=FIRST, clear=True)
    assert done.success, done.to_json()
    assert _held(w, "first") == "Ada"
    cleared = await w.session.clear_text(FIRST)
    assert cleared.success, cleared.to_json()
    assert _held(w, "first") == ""


async def test_text_goes_to_the_field_that_was_aimed_at_not_to_the_focused_one(w: World) -> None:
    await _editor(w)
    await w.session.tap(FIRST)
    done = await w.session.type_text("Hopper", target=LAST)
    assert done.success, done.to_json()
    assert (_held(w, "first"), _held(w, "last")) == ("", "Hopper")


async def test_without_focus_or_target_nothing_is_dispatched(w: World) -> None:
    await w.open(CONTACTS)
    touched = len(w.inputs())
    done = await w.session.type_text("lost")
    assert (done.failure_code, done.delivery) == ("ELEMENT_NOT_INTERACTABLE", "not_delivered")
    assert done.retryable
    assert "target" in (done.hint or "")
    assert len(w.inputs()) == touched


async def test_a_button_is_no_field(w: World) -> None:
    await _editor(w)
    touched = len(w.inputs())
    done = await w.session.type_text("x", target="Save")
    assert (done.failure_code, done.delivery) == ("SEMANTIC_MISMATCH", "not_delivered")
    assert len(w.inputs()) == touched


async def test_a_search_bar_that_opens_a_screen_of_its_own_is_typed_into_there(w: World) -> None:
    await w.open(SETTINGS)
    done = await w.session.type_text("blue", target="Search settings")
    assert done.success, done.to_json()
    assert done.ui_fingerprint_before != done.ui_fingerprint_after
    found = await w.session.expect_visible({"text_contains": "Bluetooth"})
    assert found.success, found.to_json()


async def test_submit_presses_enter_after_the_text_was_read_back(w: World) -> None:
    await w.open(SHOP)
    done = await w.session.type_text("mug", target="Search products", submit=True)
    assert done.success, done.to_json()
    assert done.verification
    assert done.verification.observed == "mug"
    assert w.inputs()[-1].get("code") == ENTER


async def test_of_a_secret_not_even_the_length_is_told(tmp_path: Path) -> None:
    env = {"HANDRAIL_SECRET_BANK": "lantern-4711"}
    async with world(tmp_path, clock=FastClock(10), env=env) as w:
        await w.open(BANK)
        done = await w.session.type_text("${secret:BANK}", target={"id": "password"})
        assert done.success, done.to_json()
        assert done.verification
        assert done.verification.expected == done.verification.observed == "${secret:BANK}"
        assert "lantern-4711" not in done.to_json()
        assert "12" not in str(done.verification)
        assert _held(w, "password") == "lantern-4711"


async def test_a_keyboard_that_swallows_letters_is_found_out(w: World) -> None:
    await _editor(w)
    w.phone.faults.add("ime_swallows", every=3)
    done = await w.session.type_text("abcdefghi", target=FIRST, submit=True)
    assert (done.failure_code, done.delivery) == ("VERIFICATION_FAILED", "delivered")
    assert done.verification
    assert done.verification.expected == "abcdefghi"
    assert done.verification.observed == _held(w, "first") == "abdegh"
    assert done.retryable is False
    assert ENTER not in [one.get("code") for one in w.inputs()]


class _Shouting(Activity):
    """A field that writes everything in capitals."""

    title = "Shouting"

    def build(self) -> View:
        return column(field("name", hint="Name", on_change=self.shout), height="fill")

    def shout(self, words: str) -> None:
        self.set_field("name", words.upper())


class _ShoutingApp(App):
    package = "com.example.shouting"
    label = "Shouting"
    version = "1"
    activities = {"MainActivity": _Shouting}


async def test_a_field_that_changes_what_is_typed_is_told_with_both_texts(tmp_path: Path) -> None:
    clock = FastClock(10)
    phone = Phone(clock=clock, apps=[_ShoutingApp])
    async with world(tmp_path, clock=clock, phone=phone) as w:
        await w.open("com.example.shouting")
        done = await w.session.type_text("quiet", target={"id": "name"})
        assert done.failure_code == "VERIFICATION_FAILED", done.to_json()
        assert done.verification
        assert (done.verification.expected, done.verification.observed) == ("quiet", "QUIET")


async def test_a_field_that_changes_after_it_was_read_back_is_found_out(tmp_path: Path) -> None:
    """The app thinks about it, and takes back what was typed before the screen has come to rest."""
    async with world(tmp_path, clock=FastClock(10)) as w:
        await _editor(w)
        text = w.session.surface.need(TextInput)
        types = text.type_text

        async def type_text(*args: Any, **options: Any) -> Typed:
            typed = await types(*args, **options)
            assert typed.arrived
            activity = w.phone.tasks.top
            assert activity
            activity.set_field("first", "Ad")
            return replace(typed, screen=None)  # a read-back of a whole screen at rest is not repeated

        text.type_text = type_text  # type: ignore[method-assign]
        done = await w.session.type_text("Ada", target=FIRST)
        assert (done.failure_code, done.delivery) == ("VERIFICATION_FAILED", "delivered"), done.to_json()
        assert done.verification
        assert (done.verification.expected, done.verification.observed) == ("Ada", "Ad")


async def test_a_slow_phone_is_not_read_more_often_than_needed(w: World) -> None:
    """A dump takes two seconds: one to find the field, one to see its focus, one before and one after."""
    await _editor(w)
    w.phone.faults.load(["hardware"])
    first = await w.session.type_text("Ada", target=FIRST)
    assert first.success, first.to_json()
    read = _dumps(w)
    assert read == 4
    more = await w.session.type_text(" Byron")
    assert more.success, more.to_json()
    assert _dumps(w) - read == 3
