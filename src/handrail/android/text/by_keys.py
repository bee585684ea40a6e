"""Typing by key events: `input text`, or a helper that injects the same. Printable ASCII only.

Android looks each character up in its virtual keyboard; for any other `input text` dies before it types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from handrail.adb.shell import Shell
from handrail.android.channel import Channel
from handrail.android.input import key, send
from handrail.android.keys import key_code
from handrail.android.text.field import Field

PIECE = 500
"""Characters in one command: each is two to four events of up to 10 ms on a slow phone, far below 30 s."""
_ENTER = key_code("KEYCODE_ENTER")
_TYPEABLE = re.compile(r"[ -~\n]")


def why_not(text: str, field: Field | None) -> str | None:
    """What keys can't do. Enter is only pressed where it is known to make a new line: elsewhere it sends."""
    if "\t" in text:
        return "the Tab key moves the focus"
    if others := sum(not _TYPEABLE.match(character) for character in text):
        return f"{others} characters have no key: keys type printable ASCII"
    if "\n" in text and not (field is not None and field.multiline and field.enter_acts is False):
        return "Enter may act instead of making a new line in this field"
    return None


class InputText:
    """`input text` over adb."""

    name = "input text"

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    async def can(self, text: str, field: Field | None) -> str | None:
        return why_not(text, field)

    async def send(self, text: str) -> None:
        for piece in pieces(text):
            command = key(_ENTER) if piece == "\n" else ("input", "text", piece.replace(" ", "%s"))
            await send(self._shell, command)

    async def restore(self) -> None:
        """Keys change nothing besides."""


class ChannelKeys:
    """The same key events, made by a helper on the phone."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.name = f"{channel.name} keys"

    async def can(self, text: str, field: Field | None) -> str | None:
        return "its keys have no Enter" if "\n" in text else why_not(text, field)

    async def send(self, text: str) -> None:
        for start in range(0, len(text), PIECE):
            await self._channel.type_ascii(text[start : start + PIECE])

    async def restore(self) -> None:
        """Keys change nothing besides."""


def pieces(text: str) -> Iterator[str]:
    """What single commands type, in order; "\\n" stands for the Enter key.

    Of all sequences `input text` reads only "%s", as a space. A literal one is cut in two, so that no command
    has it.
    """
    for line in re.split("(\n)", text):
        for part in re.split("(?<=%)(?=s)", line):
            for start in range(0, len(part), PIECE):
                yield part[start : start + PIECE]
