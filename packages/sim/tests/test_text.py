"""Typing: focus, cursor, selection, keys, clipboard, the next field, what a field accepts."""

from __future__ import annotations

import asyncio

import pytest

from handrail_sim.input.keys import NoKeyFor
from tests.grocer import PACKAGE, Grocer
from tests.hand import Hand, phone_with

SHIFT, CTRL = 0x1, 0x1000


def at_form() -> Hand:
    hand = phone_with(Grocer)
    hand.phone.start_activity(f"{PACKAGE}/.Form")
    return hand


def test_without_a_focused_field_typing_goes_nowhere() -> None:
    hand = at_form()
    hand.phone.type_ascii("lost")
    assert hand.find("first").text == "First"


def test_a_tapped_field_has_the_focus_and_takes_what_is_typed() -> None:
    async def story() -> None:
        hand = at_form()
        await hand.tap("first")
        hand.phone.type_ascii("Ada L.")
        assert hand.find("first").text == "Ada L."
        assert hand.find("first")["focused"] == "true"
        assert hand.find("second")["focused"] == "false"

    asyncio.run(story())


def test_a_character_without_a_key_raises_before_anything_is_typed() -> None:
    async def story() -> None:
        hand = at_form()
        await hand.tap("first")
        with pytest.raises(NoKeyFor):
            hand.phone.type_ascii("Zoë")
        assert hand.find("first").text == "First"
        hand.phone.commit_text("Zoë 🙂")
        assert hand.find("first").text == "Zoë 🙂"

    asyncio.run(story())


def test_a_tap_puts_the_cursor_where_the_finger_was() -> None:
    async def story() -> None:
        hand = at_form()
        await hand.tap("first")
        hand.phone.type_ascii("world")
        left, top, _, bottom = hand.find("first").bounds
        await hand.tap_at(left + 43, (top + bottom) / 2)
        hand.phone.type_ascii("hello ")
        assert hand.find("first").text == "hello world"

    asyncio.run(story())


def test_keys_move_delete_and_select() -> None:
    async def story() -> None:
        hand = at_form()
        phone = hand.phone
        await hand.tap("first")
        phone.type_ascii("abcd")
        phone.key(21)
        phone.key(67)
        assert hand.find("first").text == "abd"
        phone.key(122)
        phone.key(112)
        assert hand.find("first").text == "bd"
        phone.key(123, meta=SHIFT)
        phone.key(67)
        assert hand.find("first").text == "First"

    asyncio.run(story())


def test_letters_digits_and_signs_have_keys() -> None:
    async def story() -> None:
        hand = at_form()
        await hand.tap("first")
        for code, meta in ((36, SHIFT), (33, 0), (8, 0), (77, 0), (62, 0), (56, 0)):
            hand.phone.key(code, meta=meta)
        assert hand.find("first").text == "He1@ ."

    asyncio.run(story())


def test_copy_cut_and_paste_use_the_clipboard() -> None:
    async def story() -> None:
        hand = at_form()
        phone = hand.phone
        await hand.tap("first")
        phone.type_ascii("move me")
        phone.key(29, meta=CTRL)
        phone.key(52, meta=CTRL)
        assert phone.clipboard == "move me"
        assert hand.find("first").text == "First"
        phone.key(279)
        phone.key(279)
        assert hand.find("first").text == "move memove me"

    asyncio.run(story())


def test_a_long_press_selects_the_word() -> None:
    async def story() -> None:
        hand = at_form()
        await hand.tap("first")
        hand.phone.type_ascii("one two")
        left, top, _, bottom = hand.find("first").bounds
        await hand.run(hand.phone.long_press(left + 150, (top + bottom) / 2, 700))
        hand.phone.type_ascii("three")
        assert hand.find("first").text == "one three"

    asyncio.run(story())


def test_a_bar_above_the_selection_cuts_and_pastes() -> None:
    async def story() -> None:
        hand = at_form()
        await hand.tap("first")
        hand.phone.type_ascii("one two")
        left, top, _, bottom = hand.find("first").bounds
        await hand.run(hand.phone.long_press(left + 150, (top + bottom) / 2, 700))
        await press_edit(hand, "Cut")
        assert hand.find("first").text == "one "
        assert hand.phone.clipboard == "two"
        await hand.run(hand.phone.long_press(left + 60, (top + bottom) / 2, 700))
        await press_edit(hand, "Paste")
        assert hand.find("first").text == "two "

    asyncio.run(story())


async def press_edit(hand: Hand, label: str) -> None:
    window = next(window for window in hand.phone.windows() if window.type == "toolbar")
    entry = window.find(f"edit:{label}")
    assert entry is not None
    await hand.tap_at(entry.x + entry.w / 2, entry.y + entry.h / 2)


def test_the_app_hears_of_every_change_and_a_given_text_can_be_edited() -> None:
    async def story() -> None:
        hand = at_form()
        assert hand.find("second").text == "given"
        await hand.tap("second")
        hand.phone.key(123)
        hand.phone.type_ascii("!")
        assert hand.find("second").text == "given!"
        assert hand.phone.state()["front"]["state"]["second"] == "given!"

    asyncio.run(story())


def test_a_password_is_dots() -> None:
    async def story() -> None:
        hand = at_form()
        await hand.fill("secret", "open sesame")
        assert hand.find("secret").text == "•" * 11
        assert hand.find("secret")["password"] == "true"

    asyncio.run(story())


def test_an_emoji_in_a_password_is_two_dots() -> None:
    async def story() -> None:
        hand = at_form()
        await hand.tap("secret")
        hand.phone.commit_text("a😀")
        assert hand.find("secret").text == "•••"

    asyncio.run(story())


def test_a_number_field_drops_what_is_no_digit() -> None:
    async def story() -> None:
        hand = at_form()
        await hand.fill("digits", "1a2.3")
        assert hand.find("digits").text == "123"
        window = hand.phone.focused_window()
        assert window is not None
        view = window.find("digits")
        assert view is not None
        hand.phone.set_text(view, "4b5")
        assert hand.find("digits").text == "45"

    asyncio.run(story())


def test_enter_breaks_a_line_where_there_may_be_several() -> None:
    async def story() -> None:
        hand = at_form()
        await hand.tap("lines")
        hand.phone.type_ascii("one")
        hand.phone.key(66)
        hand.phone.type_ascii("two")
        assert hand.find("lines").text == "one\ntwo"
        low = hand.find("lines").bounds[3]
        hand.phone.key(66)
        assert hand.find("lines").bounds[3] > low

    asyncio.run(story())


def test_the_action_key_goes_to_the_next_field_or_submits() -> None:
    async def story() -> None:
        hand = at_form()
        await hand.tap("first")
        hand.phone.key(66)
        assert hand.find("second")["focused"] == "true"
        await hand.open(PACKAGE)
        main = phone_with(Grocer)
        await main.open(PACKAGE)
        await main.tap("name")
        main.phone.type_ascii("Bread")
        main.phone.key(66)
        assert main.sees("Bread")
        assert not main.phone.ime.visible

    asyncio.run(story())


def test_tab_moves_the_focus_and_centre_presses() -> None:
    async def story() -> None:
        hand = phone_with(Grocer)
        await hand.open(PACKAGE)
        hand.phone.key(61)
        assert hand.find("name")["focused"] == "true"
        hand.phone.key(20)
        assert hand.find("add")["focused"] == "true"
        hand.phone.key(23)
        assert hand.phone.state()["toast"] == "Type something"

    asyncio.run(story())


def test_set_text_replaces_all_without_a_keyboard() -> None:
    hand = at_form()
    window = hand.phone.focused_window()
    assert window is not None
    view = window.find("second")
    assert view is not None
    assert hand.phone.set_text(view, "new")
    assert hand.find("second").text == "new"
    assert not hand.phone.ime.visible


def test_an_ime_that_swallows_loses_every_third_character() -> None:
    async def story() -> None:
        hand = at_form()
        await hand.tap("first")
        hand.phone.faults.add("ime_swallows", every=3)
        hand.phone.type_ascii("abcdef")
        assert hand.find("first").text == "abde"

    asyncio.run(story())
