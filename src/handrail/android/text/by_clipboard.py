"""Typing by clipboard and paste: any Unicode. What was on the clipboard is put back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from handrail.adb.shell import Shell
from handrail.android.channel import Channel
from handrail.android.input import key, send
from handrail.android.keys import key_code
from handrail.android.text.field import Field
from handrail.android.text.way import needs_lines, preparing
from handrail.errors import DeviceError, Timeout, Unsupported

_PASTE = key_code("KEYCODE_PASTE")
_MISSING = b"No shell command implementation"


class Clipboard(Protocol):
    """Somebody who may read and write the phone's clipboard."""

    @property
    def name(self) -> str: ...

    async def get_clipboard(self) -> str: ...

    async def set_clipboard(self, text: str) -> None: ...


class ShellClipboard:
    """`cmd clipboard`, which some vendors' builds have. Android's own prints a complaint and exits with 0."""

    name = "cmd clipboard"

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    async def get_clipboard(self) -> str:
        return (await self._run("get")).removesuffix("\n")

    async def set_clipboard(self, text: str) -> None:
        await self._run("set", text)

    async def _run(self, *words: str) -> str:
        output = await self._shell.run(("cmd", "clipboard", *words), check=False)
        if not output.ok or _MISSING in output.stderr + output.stdout:
            raise Unsupported(
                "this phone's shell has no clipboard",
                hint="`pip install uiautomator2` lets Handrail start its u2 helper, which has one.",
                delivery="not_delivered",
            )
        return output.text


class Paste:
    """Set the clipboard, check that it took the text, press paste."""

    def __init__(self, clipboard: Clipboard, shell: Shell, channel: Channel | None = None) -> None:
        self.name = f"{clipboard.name} paste"
        self._clipboard = clipboard
        self._shell = shell
        self._channel = channel
        self._former: str | None = None

    async def can(self, text: str, field: Field | None) -> str | None:
        """The clipboard must be readable: otherwise it could not be put back."""
        if reason := needs_lines(text, field):
            return reason
        try:
            await self._clipboard.get_clipboard()
        except (DeviceError, Timeout, Unsupported) as error:
            return f"the clipboard can't be read ({error.message})"
        return None

    async def send(self, text: str) -> None:
        with preparing():
            self._former = await self._clipboard.get_clipboard()
            await self._clipboard.set_clipboard(text)
            if await self._clipboard.get_clipboard() != text:
                raise Unsupported("the clipboard did not take the text")
        if self._channel is not None and "paste" in self._channel.can:
            await self._channel.paste()
        else:
            await send(self._shell, key(_PASTE))

    async def restore(self) -> None:
        former, self._former = self._former, None
        if former is not None:
            await self._clipboard.set_clipboard(former)


def clipboards(shell: Shell, channels: Sequence[Channel]) -> list[tuple[Clipboard, Channel | None]]:
    """Who may have a clipboard, the quickest first; the channel is for its own paste."""
    able = [channel for channel in channels if {"get_clipboard", "set_clipboard"} <= channel.can]
    return [*((channel, channel) for channel in able), (ShellClipboard(shell), None)]
