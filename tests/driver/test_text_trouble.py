"""Typing when something goes wrong: lost and doubled input, dead streams, cancellation, fields with rules."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from handrail.android.apps import install
from handrail.android.text_entry import Deletes, Eraser, TextEntry
from handrail.clock import SystemClock
from handrail.errors import HandrailError, Unsupported
from handrail.screen.node import Screen
from tests.driver.typing_person import PLACES, U2_KEYBOARD, Person, Place, go_to, person

pytestmark = pytest.mark.slow

TITLE, BODY, PASSWORD = PLACES["single-line"], PLACES["multi-line"], PLACES["password"]
NUMBER = Place(
    "com.handrail.bank/.LoginActivity", "customer", lambda _, phone: phone.tasks.top.field("customer")
)
METACHARACTERS = "abc %s;$'\"\\&|<>()*?~#!`{}[]-=\t"
HOME_KEY, LEFT_KEY = 3, 21
DEADLINE_S = 60.0


def story(route: str, place: Place, play: Callable[[Person], Awaitable[None]]) -> None:
    async def run() -> None:
        async with person(route, place) as who:
            await play(who)

    asyncio.run(run())


def test_input_that_came_twice_is_undone_before_another_way_tries() -> None:
    async def play(who: Person) -> None:
        who.phone.faults.add("input_twice", times=1)
        typed = await who.type_text("once")
        assert (who.value(), typed.arrived, typed.way) == ("once", True, "u2 set_text")

    story("u2", TITLE, play)


def test_input_that_came_twice_is_told_where_no_other_way_is_left() -> None:
    async def play(who: Person) -> None:
        who.phone.faults.add("input_twice", times=1)
        typed = await who.type_text("once")
        assert (typed.arrived, typed.after, who.value()) == (False, "onceonce", "onceonce")

    story("adb", TITLE, play)


def test_what_came_twice_is_taken_away_and_the_content_before_it_stays() -> None:
    async def play(who: Person) -> None:
        await who.type_text("keep me ")
        who.phone.faults.add("input_twice", times=1)
        typed = await who.type_text("once")
        assert (typed.arrived, who.value()) == (True, "keep me once")

    story("u2", TITLE, play)


@pytest.mark.parametrize("fault", ["input_lost", "ime_swallows"])
def test_lost_keys_are_noticed_and_the_next_way_delivers(fault: str) -> None:
    async def play(who: Person) -> None:
        who.phone.faults.add(fault, **({"times": 1} if fault == "input_lost" else {}))
        typed = await who.type_text("every letter")
        assert (who.value(), typed.arrived) == ("every letter", True)

    story("u2", TITLE, play)


def test_two_ways_with_the_same_result_are_the_fields_own_doing() -> None:
    async def play(who: Person) -> None:
        typed = await who.type_text("12a3b")
        assert (typed.arrived, typed.after, who.value()) == (False, "123", "123")
        sent = [one["action"] for one in who.phone.input_log]
        assert sent.count("text") == 1

    story("u2", NUMBER, play)


def test_the_cursor_may_stand_in_the_middle() -> None:
    async def play(who: Person) -> None:
        await who.type_text("hello world")
        for _ in range(6):
            who.phone.key(LEFT_KEY)
        typed = await who.type_text(", dear")
        assert (who.value(), typed.arrived) == ("hello, dear world", True)
        typed = await who.type_text(" 😀")
        assert (who.value(), typed.arrived) == ("hello, dear 😀 world", True)

    story("u2", TITLE, play)


def test_typing_over_a_selection_counts_as_arrived() -> None:
    async def play(who: Person) -> None:
        await who.type_text("old words")
        who.phone.editing.select_all()
        typed = await who.type_text("new")
        assert (who.value(), typed.arrived) == ("new", True)

    story("adb", TITLE, play)


@pytest.mark.parametrize("route", ["u2", "vendor clipboard"])
def test_what_was_on_the_clipboard_is_there_again(route: str) -> None:
    async def play(who: Person) -> None:
        await who.type_text("a")
        who.phone.clipboard = "the person's own"
        typed = await who.type_text("ß")
        assert typed.way.endswith("paste")
        assert (who.value(), who.phone.clipboard) == ("aß", "the person's own")

    story(route, TITLE, play)


def test_the_persons_keyboard_is_chosen_again_and_the_other_one_off() -> None:
    async def play(who: Person) -> None:
        former = who.keyboard
        typed = await who.type_text("naïve")
        assert (typed.way, who.value()) == ("keyboard app", "naïve")
        assert who.keyboard == former
        assert U2_KEYBOARD not in who.phone.settings["secure"]["enabled_input_methods"]

    story("u2 keyboard", TITLE, play)


def test_the_persons_keyboard_is_chosen_again_after_a_cancel() -> None:
    async def play(who: Person) -> None:
        former = who.keyboard
        who.phone.faults.add("latency", command="am", ms=600_000)
        typing = asyncio.ensure_future(who.type_text("naïve"))
        async with asyncio.timeout(DEADLINE_S):
            while U2_KEYBOARD not in who.keyboard:
                await asyncio.sleep(0)
        typing.cancel()
        await asyncio.gather(typing, return_exceptions=True)
        assert typing.cancelled()
        assert (who.keyboard, who.value()) == (former, "")

    story("u2 keyboard", TITLE, play)


def test_a_line_that_broke_after_the_text_is_looked_into_before_anything_is_said() -> None:
    async def play(who: Person) -> None:
        who.phone.faults.add("stream_reset", command="input", bytes=0, times=1)
        typed = await who.type_text("it was in")
        assert (who.value(), typed.arrived) == ("it was in", True)

    story("adb", TITLE, play)


def test_an_unknown_delivery_is_an_error_that_does_not_tell_the_text() -> None:
    async def play(who: Person) -> None:
        who.phone.faults.add("stream_reset", command="input", bytes=0, times=1)
        who.phone.faults.add("input_lost", times=1)
        with pytest.raises(HandrailError) as failure:
            await who.type_text("hunter2 hunter2")
        assert failure.value.details["delivery"] == "unknown"
        assert "hunter2" not in f"{failure.value.to_dict()} {failure.value}"
        assert who.value() == ""

    story("adb", PASSWORD, play)


def test_with_nothing_focused_it_is_sent_and_nothing_is_claimed() -> None:
    async def play(who: Person) -> None:
        who.phone.key(HOME_KEY)
        typed = await who.type_text("into nothing")
        assert (typed.arrived, typed.before, typed.after) == (None, None, None)

    story("adb", TITLE, play)


def test_an_empty_text_is_typed_at_once() -> None:
    async def play(who: Person) -> None:
        who.phone.input_log.clear()
        typed = await who.type_text("")
        assert typed.arrived is True
        assert not who.phone.input_log

    story("adb", TITLE, play)


def test_nothing_typed_starts_a_second_command() -> None:
    async def play(who: Person) -> None:
        dice = random.Random(5)
        for _ in range(60):
            text = "".join(dice.choices(METACHARACTERS.replace("\t", ""), k=dice.randint(1, 12)))
            who.start_over()
            typed = await who.type_text(text)
            assert (who.value(), typed.arrived) == (text, True)
            assert {one["action"] for one in who.phone.input_log} == {"text"}

    story("adb", TITLE, play)


@pytest.mark.parametrize("route", ["adb", "u2", "helper"])
@pytest.mark.parametrize("place", [BODY, PASSWORD])
def test_a_field_of_any_length_is_cleared(route: str, place: Place) -> None:
    async def play(who: Person) -> None:
        who.phone.commit_text("aé😀 " * 1_500)
        cleared = await who.clear_text()
        assert (who.value(), cleared.arrived) == ("", True)
        again = await who.clear_text()
        assert (who.value(), again.arrived is not False) == ("", True)

    story(route, place, play)


def test_an_android_without_key_combinations_clears_by_deleting_on_both_sides_of_the_cursor() -> None:
    async def play(who: Person) -> None:
        who.phone.commit_text("first line\nsecond 😀 line\n" * 12)
        who.phone.editing.move_to(40)
        shell = who.device.shell

        class OnlyDeletes(TextEntry):
            def erasers(self) -> Sequence[Eraser]:
                return [Deletes(shell), Deletes(shell, forward=True)]

        cleared = await OnlyDeletes(shell, who.look, SystemClock()).clear_text()
        assert (who.value(), cleared.arrived, cleared.way) == ("", True, "forward delete keys")

    story("adb", BODY, play)


def test_a_placeholder_is_not_content() -> None:
    async def play(who: Person) -> None:
        who.phone.input_log.clear()
        cleared = await who.clear_text()
        assert (cleared.before, cleared.arrived, cleared.way) == ("", True, "none")
        assert not who.phone.input_log
        await who.type_text("Title or so")
        assert (await who.clear_text()).arrived is True

    story("u2", TITLE, play)


def test_a_rotated_screen_still_reads_back() -> None:
    async def play(who: Person) -> None:
        who.phone.set_rotation(1)
        await go_to(who.phone, who.place)
        typed = await who.type_text("sideways")
        assert (who.value(), typed.arrived) == ("sideways", True)

    story("adb", TITLE, play)


def test_the_keyboard_of_the_uiautomator2_package_types_any_script_over_plain_adb() -> None:
    assets = pytest.importorskip("uiautomator2").__path__[0]
    apk = Path(assets) / "assets" / "app-uiautomator.apk"
    if not apk.exists():
        pytest.skip("this uiautomator2 brings no keyboard")

    async def play(who: Person) -> None:
        with pytest.raises(Unsupported) as refusal:
            await who.type_text("日本 😀")
        assert "keyboard app: no ADB keyboard is installed" in refusal.value.details["declined"]
        await install(who.device, apk)
        typed = await who.type_text("日本 😀")
        assert (typed.way, who.value(), typed.arrived) == ("keyboard app", "日本 😀", True)

    story("adb", TITLE, play)


def test_a_phone_as_slow_as_one_on_a_cable_is_read_twice() -> None:
    async def play(who: Person) -> None:
        who.phone.faults.add("hardware")
        looks = 0

        async def look() -> Screen:
            nonlocal looks
            looks += 1
            return await who.look()

        typed = await TextEntry(who.device.shell, look, SystemClock()).type_text("slow but sure")
        assert (who.value(), typed.arrived, looks) == ("slow but sure", True, 2)

    story("adb", TITLE, play)
