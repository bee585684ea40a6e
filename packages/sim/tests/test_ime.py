"""The on-screen keyboard: it opens, covers, resizes, types by its keys, and back closes it first."""

from __future__ import annotations

import asyncio

from handrail_sim.input.ime import PACKAGE as IME
from handrail_sim.shell import capture
from handrail_sim.view.view import View
from tests.grocer import PACKAGE, Grocer
from tests.hand import Hand, phone_with


def key(hand: Hand, name: str) -> View:
    window = next(window for window in hand.phone.windows() if window.type == "ime")
    found = window.find(f"key:{name}")
    assert found is not None, name
    return found


async def press(hand: Hand, *names: str) -> None:
    for name in names:
        view = key(hand, name)
        await hand.tap_at(view.x + view.w / 2, view.y + view.h / 2)


async def at_field(activity: str = "", field: str = "name") -> Hand:
    hand = phone_with(Grocer)
    hand.phone.start_activity(f"{PACKAGE}/.{activity}" if activity else None, package=PACKAGE)
    await hand.settle()
    await hand.tap(field)
    return hand


def test_the_keyboard_opens_with_the_field_and_the_app_gets_smaller() -> None:
    async def story() -> None:
        hand = await at_field()
        assert hand.phone.state()["keyboard"]
        ime = next(window for window in hand.phone.windows() if window.type == "ime")
        assert hand.find("list").bounds[3] == ime.bounds[1]
        assert ime.package == IME

    asyncio.run(story())


def test_the_keyboard_is_no_part_of_a_plain_dump_but_of_one_of_all_windows() -> None:
    async def story() -> None:
        hand = await at_field()
        assert IME not in hand.phone.dump()
        assert 'type="TYPE_INPUT_METHOD"' in hand.phone.dump(all_windows=True)

    asyncio.run(story())


def test_keys_type_and_shift_holds_for_one_letter() -> None:
    async def story() -> None:
        hand = await at_field()
        await press(hand, "H", "i", "Space", "Shift", "Y", "o")
        assert hand.find("name").text == "Hi Yo"

    asyncio.run(story())


def test_symbols_delete_and_the_action_key_work() -> None:
    async def story() -> None:
        hand = await at_field()
        await press(hand, "Symbols", "1", "@", "Delete", "Letters", "b", "Done")
        assert hand.sees("1b")
        assert not hand.phone.state()["keyboard"]

    asyncio.run(story())


def test_a_number_field_brings_up_digits() -> None:
    async def story() -> None:
        hand = await at_field("Form", "digits")
        await press(hand, "4", "2")
        assert hand.find("digits").text == "42"

    asyncio.run(story())


def test_back_closes_the_keyboard_first() -> None:
    async def story() -> None:
        hand = await at_field()
        await hand.back()
        assert not hand.phone.state()["keyboard"]
        assert hand.sees("Thing 0")
        await hand.back()
        assert not hand.sees("Thing 0")

    asyncio.run(story())


def test_leaving_the_screen_takes_the_keyboard_along() -> None:
    async def story() -> None:
        hand = await at_field()
        await hand.home()
        assert not hand.phone.state()["keyboard"]

    asyncio.run(story())


def test_what_lies_below_the_keyboard_gets_no_touch() -> None:
    async def story() -> None:
        hand = phone_with(Grocer)
        await hand.open(PACKAGE)
        place = hand.find("Thing 10").centre
        await hand.tap("name")
        await hand.tap_at(*place)
        assert not hand.sees("Done")

    asyncio.run(story())


def test_the_framework_tells_what_kind_of_field_is_served() -> None:
    async def story() -> None:
        hand = await at_field()
        told = (await capture(hand.phone, "dumpsys input_method")).text
        assert "mCurrentEditorInfo:\n    inputType=0x1 imeOptions=0x" in told
        hand.phone.go_home()
        assert "mCurrentEditorInfo: null" in (await capture(hand.phone, "dumpsys input_method")).text

    asyncio.run(story())
