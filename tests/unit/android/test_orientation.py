"""Holding the screen and freeing it; settings that are read back."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.shell import Output
from handrail.android.settings import get_setting, put_setting, quarter_for, set_orientation
from handrail.errors import AdbCommandError, InvalidAction, VerificationFailed
from handrail.surface.values import Display
from handrail_sim.clock import ManualClock
from tests.unit.android.scripted_shell import ScriptedShell
from tests.unit.android.sim_phone import Bench, play


def test_the_screen_turns_and_is_let_go() -> None:
    async def story(bench: Bench) -> None:
        shell, clock = bench.device.shell, bench.clock
        assert await set_orientation(shell, "landscape", clock) == "landscape"
        assert await get_setting(shell, "system", "accelerometer_rotation") == "0"
        assert bench.phone.display.width > bench.phone.display.height
        assert await set_orientation(shell, "portrait", clock) == "portrait"
        await set_orientation(shell, "auto", clock)
        assert await get_setting(shell, "system", "accelerometer_rotation") == "1"

    play(story)


def test_a_tablet_is_wide_when_it_is_not_turned() -> None:
    flat, turned = Display(1280, 800, 160, 0), Display(800, 1280, 160, 1)
    for display in (flat, turned):
        assert quarter_for(display, "landscape") == 0
        assert quarter_for(display, "portrait") == 1


async def test_an_app_that_insists_is_a_failure_with_both_values() -> None:
    info = 'mOverrideDisplayInfo=DisplayInfo{"Built-in Screen", displayId 0, real 1080 x 2400, rotation 0}'
    portrait = f"Physical size: 1080x2400\nPhysical density: 420\n  Display 0:\n    {info}\n"
    answers = [portrait, "", "0", "", "1"] + [portrait] * 60
    clock = ManualClock()
    turning = asyncio.ensure_future(set_orientation(ScriptedShell(*answers), "landscape", clock))
    while not turning.done():
        await asyncio.sleep(0)
        await clock.advance(100)
    with pytest.raises(VerificationFailed) as caught:
        turning.result()
    assert caught.value.details == {"expected": "landscape", "observed": "portrait"}


def test_other_words_are_refused() -> None:
    with pytest.raises(InvalidAction):
        asyncio.run(set_orientation(ScriptedShell(), "sideways", ManualClock()))  # type: ignore[arg-type]


def test_a_setting_that_does_not_stick_is_a_failure() -> None:
    with pytest.raises(VerificationFailed, match='"0"'):
        asyncio.run(put_setting(ScriptedShell("", "0\n"), "system", "user_rotation", "1"))
    denied = Output(b"", b"java.lang.SecurityException: WRITE_SECURE_SETTINGS", 255)
    with pytest.raises(AdbCommandError, match="WRITE_SECURE_SETTINGS"):
        asyncio.run(put_setting(ScriptedShell(denied), "secure", "x", "1"))


def test_a_setting_that_was_never_set_is_none() -> None:
    assert asyncio.run(get_setting(ScriptedShell("null\n"), "global", "x")) is None
    with pytest.raises(InvalidAction):
        asyncio.run(get_setting(ScriptedShell(), "global", "--user"))
