"""`uiautomator dump` and everything that it may say instead of a tree."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.shell import Output
from handrail.android.adb_channel import Dumper
from handrail.errors import HandrailError, TreeParseError
from handrail.screen.node import Screen
from tests.cases import each
from tests.unit.android.scripted_shell import Answer, ScriptedShell

NODE = '<node index="0" text="OK" class="android.widget.Button" package="a.b" bounds="[90,900][990,1500]" />'
XML = f"<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">{NODE}</hierarchy>"
SIZE = b"UI hierchary dumped to: /data/local/tmp/x.xml\nPhysical size: 1080x2400\n"


def read(*answers: Answer) -> Screen:
    """The last of as many reads as there are answers."""

    async def story() -> Screen:
        dumper = Dumper(ScriptedShell(*answers))
        for _ in answers[1:]:
            await dumper.read(1000)
        return await dumper.read(1000)

    return asyncio.run(story())


def test_two_dumpers_never_share_a_file() -> None:
    assert Dumper(ScriptedShell()).command() != Dumper(ScriptedShell()).command()


def test_a_dump_that_is_cut_short_is_no_screen() -> None:
    with pytest.raises(TreeParseError, match="cut short") as caught:
        read(Output(XML[:-20].encode(), SIZE, 0))
    assert caught.value.details["offset"] == len(XML) - 20


@each("cut", [1, 12, 40])
def test_the_end_of_one_window_is_not_the_end_of_the_dump(cut: int) -> None:
    window = f'<window layer="1"><hierarchy rotation="0">{NODE}</hierarchy></window>'
    every = f"<?xml version='1.0' ?><displays><display id=\"0\">{window}{window}</display></displays>"
    assert len(read(Output(every.encode(), SIZE, 0)).windows) == 2
    with pytest.raises(TreeParseError, match="cut short"):
        read(Output(every[:-cut].encode(), SIZE, 0))


@each(
    ("said", "exit_code", "hint"),
    [
        (b"ERROR: null root node returned by UiTestAutomationBridge.", 0, "focus"),
        (b"ERROR: could not get idle state.", 0, "u2"),
        (b"Killed ", 137, "memory"),
        (b"java.lang.IllegalStateException: UiAutomationService already registered!", 1, "Another program"),
        (b"", 0, "unlock"),
    ],
)
def test_a_dump_that_fails_says_what_the_phone_said(said: bytes, exit_code: int, hint: str) -> None:
    with pytest.raises(HandrailError) as caught:
        read(Output(b"", said + b"\nPhysical size: 1080x2400\n", exit_code))
    assert caught.value.code == "ADB_COMMAND_ERROR"
    assert said.decode().strip() in caught.value.message
    assert str(exit_code) in caught.value.message
    assert hint in caught.value.hint
