"""Text and clipboard of one phone over whatever channels it has at the moment. What a driver holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from handrail.adb.shell import DeviceShell
from handrail.android.channel import Channel
from handrail.android.text import chain, clear
from handrail.android.text.clear import ChannelClear, Deletes, Eraser, SelectAll
from handrail.android.text.field import Look, TextField
from handrail.android.text.ways import (
    ChannelKeys,
    InputText,
    KeyboardApp,
    Paste,
    Way,
    clipboards,
    needs_lines,
    sending,
)
from handrail.clock import Clock
from handrail.errors import DeviceError, Timeout, Unsupported
from handrail.surface.values import Typed

LONG = 200
"""Characters from which one paste is quicker than that many key events."""


def no_channels() -> Sequence[Channel]:
    """Plain adb."""
    return ()


class Typist:
    """`channels` gives those that are in order now, the best first."""

    def __init__(
        self,
        shell: DeviceShell,
        look: Look,
        clock: Clock,
        channels: Callable[[], Sequence[Channel]] = no_channels,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._shell = shell
        self._look = look
        self._clock = clock
        self._channels = channels
        self._say = say

    async def type_text(self, text: str, *, blind: bool = False) -> Typed:
        """Into the focused field, at its cursor; `blind`: nothing is read back."""
        return await chain.type_text(
            self._look,
            self.ways(text),
            text,
            self._clock,
            undo=chain.Undo(self.clear_text, Deletes(self._shell).press),
            ask_editor=self._ask_editor,
            say=self._say,
            blind=blind,
        )

    async def require_way(self, text: str) -> None:
        """Raises `Unsupported` where no way could type this into an empty field. Nothing is sent."""
        chain.check(text)
        field = TextField("", False, "", ("", "", "", 0))
        if "\n" in text:
            field = await asked(field, self._shell)
        await chain.require_way(self.ways(text), text, field)

    async def clear_text(self) -> Typed:
        """Empty the focused field."""
        return await clear.clear_text(self._look, self.erasers(), self._clock)

    async def get_clipboard(self) -> str:
        """From the first channel that has a clipboard."""
        refusal: Unsupported | None = None
        for clipboard, _ in clipboards(self._shell, self._channels()):
            try:
                return await clipboard.get_clipboard()
            except Unsupported as error:
                refusal = error
        raise refusal or Unsupported("this phone has no clipboard that can be read")

    async def set_clipboard(self, text: str) -> None:
        """On the first channel that has a clipboard."""
        chain.check(text)
        refusal: Unsupported | None = None
        for clipboard, _ in clipboards(self._shell, self._channels()):
            try:
                return await clipboard.set_clipboard(text)
            except Unsupported as error:
                refusal = error
        raise refusal or Unsupported("this phone has no clipboard that can be set")

    def ways(self, text: str) -> list[Way]:
        """Keys first for what is short; what touches the clipboard or the keyboard last."""
        channels = self._channels()
        # The emulator's gRPC keys are scan codes, which React Native's fields ignore: never for text.
        keys: list[Way] = [
            ChannelKeys(one) for one in channels if "type_ascii" in one.can and one.name != "grpc"
        ]
        keys.append(InputText(self._shell))
        whole: list[Way] = [SetText(one) for one in channels if "set_text" in one.can]
        pasting = [Paste(one, self._shell, own) for one, own in clipboards(self._shell, channels)]
        whole.extend(pasting)
        first, second = (whole, keys) if len(text) > LONG else (keys, whole)
        return [*first, *second, KeyboardApp(self._shell, self._clock)]

    def erasers(self) -> list[Eraser]:
        """What a channel can, then Android's own."""
        able = [ChannelClear(one) for one in self._channels() if "clear_field" in one.can]
        return [*able, SelectAll(self._shell), Deletes(self._shell), Deletes(self._shell, forward=True)]

    async def _ask_editor(self, field: TextField) -> TextField:
        return await asked(field, self._shell)


# The client's section has the field that is served now; older Androids call it a text box.
_EDITOR = re.compile(
    r"(?:mCurrentEditorInfo|mCurrentTextBoxAttribute|mInputEditorInfo):?\s+"
    r"inputType=0x([0-9a-f]+) imeOptions=0x([0-9a-f]+)"
)
CLASS, TEXT, MULTI_LINE = 0xF, 0x1, 0x20000
ACTION, UNSPECIFIED, NONE, DONE = 0xFF, 0, 1, 6


def read_editor(dump: str) -> tuple[bool, bool] | None:
    """Has it several lines, and does Enter act in it? From `dumpsys input_method`; None if nothing is served.

    An action such as Send on a field of many lines is for the on-screen key, and chat apps mostly let a real
    Enter key do the same: it counts as acting.
    """
    found = _EDITOR.search(dump)
    kind = int(found[1], 16) if found else 0
    if found is None or not kind:
        return None
    several = kind & CLASS == TEXT and bool(kind & MULTI_LINE)
    makes_line = several and int(found[2], 16) & ACTION in (UNSPECIFIED, NONE, DONE)
    return several, not makes_line


async def asked(field: TextField, shell: DeviceShell) -> TextField:
    """The field with what the framework says of it; unchanged where it says nothing."""
    try:
        output = await shell.run(("dumpsys", "input_method"), check=False)
    except (DeviceError, Timeout):
        return field
    facts = read_editor(output.text)
    return field if facts is None else replace(field, multiline=facts[0], enter_acts=facts[1])


class SetText:
    """ACTION_SET_TEXT: any Unicode, no keyboard, no clipboard; what the field had would be gone."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.name = f"{channel.name} set_text"

    async def can(self, text: str, field: TextField | None) -> str | None:
        if field is None or not field.vacant:
            return "it would replace what the field may have"
        return needs_lines(text, field)

    async def send(self, text: str) -> None:
        with sending(begun=False):
            await self._channel.set_text(text)

    async def restore(self) -> None:
        """Nothing else was touched."""
