"""A phone that shows nothing because it is off or locked says so, and what to do."""

from __future__ import annotations

import asyncio

import pytest

from handrail.android.screenshot import explain_if_dark, why_dark
from handrail.errors import AdbCommandError, DeviceOffline
from tests.cases import each
from tests.unit.android.scripted_shell import ScriptedShell

POWER = "@@handrail power\nmWakefulness=%s\n@@handrail policy\n      showing=%s\n"


@each(
    ("answer", "why"),
    [
        (POWER % ("Asleep", "false"), "The screen is off"),
        (POWER % ("Dozing", "true"), "The screen is off and the phone is locked"),
        (POWER % ("Awake", "true"), "The phone is locked"),
        (POWER % ("Awake", "false"), None),
        ("", None),
        (DeviceOffline("gone"), None),
    ],
)
def test_what_is_in_the_way_is_named(answer: str | DeviceOffline, why: str | None) -> None:
    found = asyncio.run(why_dark(ScriptedShell(answer)))
    assert (found[0] if found else None) == why


def test_a_failure_on_a_dark_phone_says_so_first_and_keeps_its_words() -> None:
    async def read() -> None:
        raise AdbCommandError("`uiautomator dump` gave no tree", command="uiautomator dump")

    with pytest.raises(AdbCommandError) as caught:
        asyncio.run(explain_if_dark(ScriptedShell(POWER % ("Asleep", "false")), read))
    assert caught.value.message == "The screen is off: `uiautomator dump` gave no tree"
    assert "wakeup" in caught.value.hint
    assert caught.value.details["command"] == "uiautomator dump"


def test_a_failure_on_a_phone_that_is_on_stays_as_it_is() -> None:
    async def read() -> None:
        raise AdbCommandError("no tree")

    with pytest.raises(AdbCommandError, match=r"^no tree$"):
        asyncio.run(explain_if_dark(ScriptedShell(POWER % ("Awake", "false")), read))
