"""Which keys press what has the focus, by Android's own key maps: many more than enter."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from handrail_sim.input.keys import NUM_LOCK
from handrail_sim.phone import Phone
from tests.grocer import PACKAGE, Grocer
from tests.hand import Hand, phone_with

GAMEPAD = (96, 98, 99, 101, 106, 107, 108, 188, 195, 203)


def with_form(do: Callable[[Phone], object], focus: str = "b1") -> Hand:
    """What a form is like after something was done to its focused view."""

    async def story() -> Hand:
        hand = phone_with(Grocer)
        hand.phone.start_activity(f"{PACKAGE}/.Form")
        await hand.settle()
        top = hand.phone.tasks.top
        assert top is not None
        hand.phone.editing.focus(top.window, focus)
        do(hand.phone)
        await hand.wait(50)
        return hand

    return asyncio.run(story())


def pressed(hand: Hand) -> bool:
    top = hand.phone.tasks.top
    return top is not None and top.state.get("pressed") == 1


@pytest.mark.parametrize("code", [23, 62, 66, 160, 149, *GAMEPAD])
def test_a_focused_button_is_pressed_by_every_key_that_falls_back_to_the_centre(code: int) -> None:
    assert pressed(with_form(lambda phone: phone.key(code)))


@pytest.mark.parametrize("code", [61, 102, 103, 109, 79, 85, 145])
def test_other_keys_press_nothing(code: int) -> None:
    assert not pressed(with_form(lambda phone: phone.key(code)))


def test_the_five_of_the_number_pad_is_a_digit_only_under_num_lock() -> None:
    assert not pressed(with_form(lambda phone: phone.key(149, meta=NUM_LOCK)))
    assert with_form(lambda phone: phone.key(149, meta=NUM_LOCK), "digits").find("digits").text == "5"
    assert with_form(lambda phone: phone.key(149), "digits").find("digits").text == ""


@pytest.mark.parametrize("text", [" ", "\n", "ab "])
def test_typed_blanks_are_keys_where_no_field_has_the_focus(text: str) -> None:
    assert pressed(with_form(lambda phone: phone.type_ascii(text)))


def test_a_typed_tab_leaves_a_field_of_one_line_and_stays_in_one_of_several() -> None:
    assert with_form(lambda phone: phone.type_ascii("a\tb"), "lines").find("lines").text == "a\tb"
    left = with_form(lambda phone: phone.type_ascii("a\tb"), "first")
    assert (left.find("first").text, left.find("second").text) == ("a", "givenb")


@pytest.mark.parametrize(("code", "level"), [(22, 15.0), (81, 15.0), (70, 15.0), (21, 5.0), (69, 5.0)])
def test_arrows_plus_and_minus_move_a_focused_slider(code: int, level: float) -> None:
    top = with_form(lambda phone: phone.key(code), "level").phone.tasks.top
    assert top is not None
    assert top.state["level"] == level
