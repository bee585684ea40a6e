"""Text and clipboard of one phone over whatever channels it has at the moment. What a driver holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from handrail.adb.shell import Shell
from handrail.android.channel import Channel
from handrail.android.driver import Typed
from handrail.android.text import chain, clear
from handrail.android.text.by_clipboard import Paste, clipboards
from handrail.android.text.by_keyboard_app import KeyboardApp
from handrail.android.text.by_keys import ChannelKeys, InputText
from handrail.android.text.by_replacing import SetText
from handrail.android.text.clear import ChannelClear, Deletes, Eraser, SelectAll
from handrail.android.text.editor import asked
from handrail.android.text.field import Field
from handrail.android.text.reading import Look
from handrail.android.text.way import Way
from handrail.clock import Clock
from handrail.errors import Unsupported

LONG = 200
"""Characters from which one paste is quicker than that many key events."""


def no_channels() -> Sequence[Channel]:
    """Plain adb."""
    return ()


class Typist:
    """`channels` gives those that are in order now, the best first."""

    def __init__(
        self,
        shell: Shell,
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

    async def type_text(self, text: str) -> Typed:
        """Into the focused field, at its cursor."""
        return await chain.type_text(
            self._look,
            self.ways(text),
            text,
            self._clock,
            erase=self.clear_text,
            ask_editor=self._ask_editor,
            say=self._say,
        )

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

    async def _ask_editor(self, field: Field) -> Field:
        return await asked(field, self._shell)
