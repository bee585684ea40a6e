"""The commands by which fingers reach a phone, and what its complaints mean."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.shell import Output, Script
from handrail.android import input as touch
from handrail.errors import AdbCommandError
from tests import fingers
from tests.cases import each
from tests.unit.android.scripted_shell import ScriptedShell


def test_two_taps_are_one_command_with_the_gap_inside() -> None:
    command = touch.command_of(fingers.double_tap(5, 6))
    assert isinstance(command, Script)
    assert command == "input tap 5 6 & first=$!; sleep 0.1; input tap 5 6 && wait $first"


def test_a_drag_is_given_the_time_of_its_hold_besides() -> None:
    assert touch.command_of(fingers.drag(1, 2, 3, 4, 800)) == (
        "input",
        "draganddrop",
        "1",
        "2",
        "3",
        "4",
        "1300",
    )


def test_a_press_in_place_is_a_swipe_to_where_it_began() -> None:
    assert touch.command_of(fingers.long_press(1, 2, 900)) == ("input", "swipe", "1", "2", "1", "2", "900")


def test_silence_is_success() -> None:
    shell = ScriptedShell("")
    asyncio.run(touch.send_input(shell, touch.command_of(fingers.tap(5, 6))))
    assert shell.asked == ["input tap 5 6"]


@each(
    ("output", "delivery", "hint"),
    [
        (
            Output(b"", b"java.lang.SecurityException: needs INJECT_EVENTS permission", 255),
            "not_delivered",
            "Security settings",
        ),
        (
            Output(b"java.lang.SecurityException: Injecting to another application", b"", 0),
            "not_delivered",
            "Security settings",
        ),
        (Output(b"", b"Error: Invalid arguments for command: tap", 255), "not_delivered", ""),
        (Output(b"", b"Killed", 137), "unknown", ""),
        (Output(b"", b"", 1), "unknown", ""),
    ],
)
def test_a_complaint_says_whether_the_phone_may_have_got_it(output: Output, delivery: str, hint: str) -> None:
    shell = ScriptedShell(output)
    with pytest.raises(AdbCommandError, match="input tap 5 6") as caught:
        asyncio.run(touch.send_input(shell, touch.command_of(fingers.tap(5, 6))))
    assert caught.value.details["delivery"] == delivery
    assert hint in caught.value.hint
    assert len(shell.asked) == 1
