"""Clipboard, keyboard apps and what the framework tells of a field: each against what a phone prints."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.shell import Output
from handrail.android.channel import Channel
from handrail.android.text_entry import (
    LONG,
    Deletes,
    InputText,
    KeyboardApp,
    Paste,
    SetText,
    ShellClipboard,
    TextEntry,
    read_editor,
)
from handrail.android.text_field import TextField
from handrail.errors import AdbCommandError, Unsupported
from handrail.screen.node import Screen
from handrail_sim.clock import ManualClock
from tests.cases import each
from tests.unit.android.scripted_shell import ScriptedShell

LINE = TextField("", False, "", ("app", "EditText", "app:id/line", 0), multiline=False)
FULL = TextField("words", False, "", ("app", "EditText", "app:id/line", 0))
NO_CLIPBOARD = Output(b"", b"No shell command implementation.\n", 0)
U2, LATIN = "com.github.uiautomator/.AdbKeyboard", "com.android.inputmethod.latin/.LatinIME"
BOUND = f"  mCurId={U2} mHaveConnection=true mBoundToMethod=true\n"
DONE = 'Broadcast completed: result=-1, data="success"\n'


class Pasteboard(Channel):
    """A helper with a clipboard that may be deaf."""

    name = "u2"

    def __init__(self, *, deaf: bool = False) -> None:
        self.clip, self.deaf, self.pasted = "former", deaf, list[str]()

    async def get_clipboard(self) -> str:
        return self.clip

    async def set_clipboard(self, text: str) -> None:
        self.clip = self.clip if self.deaf else text

    async def paste(self) -> None:
        self.pasted.append(self.clip)


class Setter(Channel):
    """A helper whose field refuses."""

    name = "u2"

    async def set_text(self, text: str) -> None:
        raise AdbCommandError("could not do setText", delivery="unknown")


class Typewriter(Channel):
    name = "helper"

    async def type_ascii(self, text: str) -> None: ...


class Emulator(Channel):
    name = "grpc"

    async def type_ascii(self, text: str) -> None: ...


async def no_look() -> Screen:
    raise AssertionError("nobody looks here")


def test_an_android_without_a_clipboard_command_is_recognised_by_its_words() -> None:
    with pytest.raises(Unsupported):
        asyncio.run(ShellClipboard(ScriptedShell(NO_CLIPBOARD)).get_clipboard())
    assert asyncio.run(ShellClipboard(ScriptedShell("two\nlines\n")).get_clipboard()) == "two\nlines"


def test_paste_is_declined_where_the_clipboard_cannot_be_read() -> None:
    shell = ScriptedShell(NO_CLIPBOARD)
    reason = asyncio.run(Paste(ShellClipboard(shell), shell).can("ß", None))
    assert reason is not None
    assert "clipboard" in reason


async def test_the_former_clipboard_is_put_back_after_a_paste() -> None:
    board = Pasteboard()
    way = Paste(board, ScriptedShell())
    await way.send("ß")
    await way.restore()
    await way.restore()
    assert (board.pasted, board.clip) == (["ß"], "former")


async def test_a_clipboard_that_did_not_take_the_text_is_not_pasted() -> None:
    board = Pasteboard(deaf=True)
    way = Paste(board, ScriptedShell())
    with pytest.raises(Unsupported) as refusal:
        await way.send("ß")
    assert (board.pasted, refusal.value.details["delivery"]) == ([], "not_delivered")


async def test_a_keyboard_that_cannot_be_chosen_has_typed_nothing_and_is_undone() -> None:
    broken = AdbCommandError("ime: no", delivery="unknown")
    shell = ScriptedShell(f"{U2}\n", f"{LATIN}\n", f"{LATIN}\n", "", broken, "", "")
    way = KeyboardApp(shell, ManualClock())
    with pytest.raises(AdbCommandError) as failure:
        await way.send("a")
    assert failure.value.details["delivery"] == "not_delivered"
    await way.restore()
    assert shell.asked[-2:] == [f"ime set {LATIN}", f"ime disable {U2}"]


async def test_without_a_paste_of_its_own_the_paste_key_is_pressed() -> None:
    shell = ScriptedShell("old\n", "", "new\n", "", "")
    way = Paste(ShellClipboard(shell), shell)
    await way.send("new")
    await way.restore()
    assert shell.asked[3:] == ["input keyevent 279", "cmd clipboard set old"]


@pytest.mark.parametrize(
    "way", [Paste(Pasteboard(), ScriptedShell()), KeyboardApp(ScriptedShell(), ManualClock())]
)
def test_several_lines_are_declined_for_a_field_that_has_one(way: Paste | KeyboardApp) -> None:
    assert asyncio.run(way.can("a\nb", LINE)) == "the field has one line and the text has several"


def test_replacing_is_declined_unless_the_field_is_certainly_empty() -> None:
    way = SetText(Setter())
    assert asyncio.run(way.can("a", FULL)) is not None
    assert asyncio.run(way.can("a", None)) is not None
    assert asyncio.run(way.can("a", LINE)) is None


def test_a_refused_replacement_is_told_as_answered() -> None:
    with pytest.raises(AdbCommandError) as failure:
        asyncio.run(SetText(Setter()).send("a"))
    assert failure.value.details["answered"] is True


async def test_a_keyboard_app_is_switched_on_spoken_to_and_off_again() -> None:
    installed = f"{LATIN}\n{U2}\n"
    shell = ScriptedShell(installed, f"{LATIN}\n", f"{LATIN}\n", "", "", BOUND, DONE, "", "")
    way = KeyboardApp(shell, ManualClock())
    await way.send("grüß")
    assert shell.asked[-1].endswith("-a ADB_KEYBOARD_INPUT_TEXT -p com.github.uiautomator --es text Z3LDvMOf")
    await way.restore()
    assert shell.asked[-2:] == [f"ime set {LATIN}", f"ime disable {U2}"]


async def test_a_keyboard_that_does_not_answer_has_delivered_nothing() -> None:
    shell = ScriptedShell(f"{U2}\n", f"{U2}\n", f"{U2}\n", "Broadcast completed: result=0\n")
    with pytest.raises(AdbCommandError) as failure:
        await KeyboardApp(shell, ManualClock()).send("a")
    assert failure.value.details["delivery"] == "not_delivered"


def test_key_batches_are_bounded() -> None:
    shell = ScriptedShell("", "", "")
    asyncio.run(Deletes(shell).press(600))
    assert [command.count(" 67") for command in shell.asked] == [250, 250, 100]


@each(
    ("dump", "expected"),
    [
        ("mCurrentEditorInfo:\n    inputType=0x1 imeOptions=0x5 privateImeOptions=null", (False, True)),
        ("mCurrentEditorInfo:\n    inputType=0x20001 imeOptions=0x40000001", (True, False)),
        ("mCurrentEditorInfo:\n    inputType=0x2c001 imeOptions=0x40000000", (True, False)),
        ("mCurrentEditorInfo:\n    inputType=0x20001 imeOptions=0x40000004", (True, True)),
        ("mCurrentTextBoxAttribute:\n    inputType=0x81 imeOptions=0x6", (False, True)),
        ("mInputEditorInfo:\n    inputType=0x200a1 imeOptions=0x12000000", (True, False)),
        ("mCurrentEditorInfo:\n    inputType=0x0 imeOptions=0x0", None),
        ("mCurrentEditorInfo: null", None),
        ("", None),
    ],
)
def test_the_framework_tells_lines_and_what_enter_does(dump: str, expected: tuple[bool, bool] | None) -> None:
    assert read_editor(dump) == expected


def test_keys_come_first_for_short_texts_and_last_for_long_ones() -> None:
    channels: list[Channel] = [Emulator(), Typewriter(), Setter(), Pasteboard()]
    typist = TextEntry(ScriptedShell(), no_look, ManualClock(), lambda: channels)
    names = [way.name for way in typist.ways("short")]
    keys, rest = (
        ["helper keys", "input text"],
        ["u2 set_text", "u2 paste", "cmd clipboard paste"],
    )
    assert names == [*keys, *rest, "keyboard app"]
    assert [way.name for way in typist.ways("x" * (LONG + 1))] == [*rest, *keys, "keyboard app"]


async def test_the_clipboard_comes_from_the_first_channel_that_has_one() -> None:
    board = Pasteboard()
    typist = TextEntry(ScriptedShell(), no_look, ManualClock(), lambda: [Typewriter(), board])
    await typist.set_clipboard("new")
    assert (await typist.get_clipboard(), board.clip) == ("new", "new")


def test_a_phone_without_any_clipboard_says_so() -> None:
    typist = TextEntry(ScriptedShell(NO_CLIPBOARD), no_look, ManualClock())
    with pytest.raises(Unsupported, match="no clipboard"):
        asyncio.run(typist.get_clipboard())


class Denied(Pasteboard):
    """Android gives nothing to whoever may not read, and takes what it is given all the same."""

    async def get_clipboard(self) -> str:
        return ""


def test_a_clipboard_that_may_not_be_read_is_never_written_back_as_empty() -> None:
    board, shell = Denied(), ScriptedShell()
    way = Paste(board, shell)
    with pytest.raises(Unsupported, match="can't be read") as caught:
        asyncio.run(way.send("ß"))
    assert caught.value.details["delivery"] == "not_delivered"
    with pytest.raises(Unsupported, match="nothing was written back"):
        asyncio.run(way.restore())
    assert board.clip
    assert board.pasted == []


def test_a_clipboard_that_was_truly_empty_is_empty_again() -> None:
    board, shell = Pasteboard(), ScriptedShell()
    board.clip = ""
    way = Paste(board, shell)
    asyncio.run(way.send("ß"))
    asyncio.run(way.restore())
    assert (board.pasted, board.clip) == (["ß"], "")


def test_a_later_piece_that_is_refused_does_not_undo_the_first() -> None:
    refused = Output(b"", b"java.lang.SecurityException: INJECT_EVENTS", 255)
    with pytest.raises(AdbCommandError) as caught:
        asyncio.run(InputText(ScriptedShell("", refused)).send("a" * 501))
    assert (caught.value.details["delivery"], caught.value.details["answered"]) == ("unknown", True)
    with pytest.raises(AdbCommandError) as caught:
        asyncio.run(InputText(ScriptedShell(refused)).send("a"))
    assert caught.value.details["delivery"] == "not_delivered"
