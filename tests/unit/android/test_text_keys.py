"""What single `input text` commands carry: quoting is the shell's, cutting is ours."""

from __future__ import annotations

import asyncio
import re

from hypothesis import given
from hypothesis import strategies as st

from handrail.android.text_entry import KEYS_PIECE, InputText, keys_pieces, why_not
from handrail.android.text_field import TextField
from tests.cases import each
from tests.unit.android.scripted_shell import ScriptedShell

LINE = TextField("", False, "", ("app", "EditText", "app:id/line", 0), multiline=False, enter_acts=True)
LINES = TextField("", False, "", ("app", "EditText", "app:id/lines", 0), multiline=True, enter_acts=False)
CHAT = TextField("", False, "", ("app", "EditText", "app:id/chat", 0), multiline=True, enter_acts=True)
UNASKED = TextField("", False, "", ("app", "EditText", "app:id/any", 0))


def as_android_reads(argument: str) -> str:
    """InputShellCommand.sendText: "%s" is a space, nothing else is special."""
    return argument.replace("%s", " ")


@given(st.text(st.sampled_from("a%s \n\\'$"), max_size=40))
def test_what_android_reads_is_what_was_meant(text: str) -> None:
    typed = "".join(
        piece if piece == "\n" else as_android_reads(piece.replace(" ", "%s")) for piece in keys_pieces(text)
    )
    assert typed == text


@given(st.text(st.characters(codec="ascii"), max_size=1_200))
def test_no_piece_is_longer_than_a_command_may_be(text: str) -> None:
    assert "".join(keys_pieces(text)) == text
    assert all(0 < len(piece) <= KEYS_PIECE for piece in keys_pieces(text))


def test_a_line_break_is_the_enter_key_and_a_space_is_written_out() -> None:
    shell = ScriptedShell("", "", "", "")
    asyncio.run(InputText(shell).send("a b\nc%s"))
    assert shell.asked == ["input text a%sb", "input keyevent 66", "input text c%", "input text s"]


@each("text", ["", "plain", "".join(map(chr, range(0x20, 0x7F)))])
def test_keys_type_printable_ascii(text: str) -> None:
    assert why_not(text, None) is None


@each("text", ["ß", "a\tb", "\x7f", "\x1b", "😀", "a\u200b", "\r"])
def test_keys_say_beforehand_what_they_cannot_type(text: str) -> None:
    assert why_not(text, LINES) is not None


def test_the_reason_does_not_tell_the_text() -> None:
    reason = why_not("pässwörd", None)
    assert reason is not None
    assert "ä" not in reason
    assert not re.search(r"\d", reason)  # how many there are is a part of it too


@each("field", [None, LINE, CHAT, UNASKED])
def test_enter_is_not_pressed_where_it_may_send_or_submit(field: TextField | None) -> None:
    assert why_not("a\nb", field) is not None
    assert why_not("a\nb", LINES) is None
