"""The ways of typing: keys, clipboard, keyboard app. Each says beforehand what it can't, or delivers."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from handrail.adb.shell import DeviceShell
from handrail.android.channel import Channel
from handrail.android.input import key, send
from handrail.android.keys import key_code
from handrail.android.text.field import TextField
from handrail.clock import Clock
from handrail.errors import AdbCommandError, DeviceError, HandrailError, Timeout, Unsupported


class Way(Protocol):
    """One way into the focused field, at its cursor."""

    @property
    def name(self) -> str: ...

    async def can(self, text: str, field: TextField | None) -> str | None:
        """None if it can, else why not. Nothing is sent for the question."""

    async def send(self, text: str) -> None:
        """Once. Errors say in `delivery` whether something may have arrived, and with `answered` that nothing
        more will.
        """

    async def restore(self) -> None:
        """Puts back what `send` had to change, clipboard or keyboard; also after a failed `send`."""


def needs_lines(text: str, field: TextField | None) -> str | None:
    """Why a field can't hold this text in one piece, as far as is known."""
    if "\n" in text and field is not None and field.multiline is False:
        return "the field has one line and the text has several"
    return None


@contextmanager
def preparing() -> Iterator[None]:
    """Around what comes before the first character: whatever fails there, the field got nothing."""
    try:
        yield
    except HandrailError as error:
        error.details["delivery"] = "not_delivered"
        raise


@contextmanager
def sending(*, begun: bool) -> Iterator[None]:
    """Around one piece of a text. A refused later piece leaves the earlier ones in the field; and a command
    that came back has nothing under way any more, so that a look tells what came of it.
    """
    try:
        yield
    except HandrailError as error:
        if begun and error.details.get("delivery") == "not_delivered":
            error.details["delivery"] = "unknown"
        if isinstance(error, AdbCommandError):
            error.details["answered"] = True
        raise


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

    def __init__(self, shell: DeviceShell) -> None:
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

    def __init__(self, clipboard: Clipboard, shell: DeviceShell, channel: Channel | None = None) -> None:
        self.name = f"{clipboard.name} paste"
        self._clipboard = clipboard
        self._shell = shell
        self._channel = channel
        self._former: str | None = None
        self._is_lost = False

    async def can(self, text: str, field: TextField | None) -> str | None:
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
            former = await self._clipboard.get_clipboard()
            # Many phones give nothing to whoever may not read: "" is believed once the text has read back.
            self._former, self._is_lost = former or None, not former
            await self._clipboard.set_clipboard(text)
            if await self._clipboard.get_clipboard() != text:
                raise Unsupported("the clipboard did not take the text, or may not be read")
            self._former, self._is_lost = former, False
        if self._channel is not None and self._channel.has(Channel.paste):
            await self._channel.paste()
        else:
            await send(self._shell, key(_PASTE))

    async def restore(self) -> None:
        former, self._former = self._former, None
        lost, self._is_lost = self._is_lost, False
        if former is not None:
            await self._clipboard.set_clipboard(former)
        elif lost:
            raise Unsupported("the former clipboard could not be read, so nothing was written back")


def clipboards(shell: DeviceShell, channels: Sequence[Channel]) -> list[tuple[Clipboard, Channel | None]]:
    """Who may have a clipboard, the quickest first; the channel is for its own paste."""
    able = [channel for channel in channels if channel.has(Channel.get_clipboard, Channel.set_clipboard)]
    return [*((channel, channel) for channel in able), (ShellClipboard(shell), None)]


PIECE = 2_000
"""Characters in one broadcast: at most 11 kB of base64, below every limit on the way."""
BIND_MS = 3_000
"""How long Android may take to connect a keyboard to the field."""
BIND_POLL_MS = 50
_BOUND = re.compile(r"mCurId=(\S+).*?m(?:HaveConnection|HasMainConnection)=true", re.DOTALL)
_RESULT = re.compile(r"result=(-?\d+)")


@dataclass(frozen=True, slots=True)
class Keyboard:
    """An app that is known to take text from a broadcast."""

    method: str
    action: str
    extra: str
    answers: bool
    """Its broadcast comes back with result -1 once the text is in; others leave 0."""

    @property
    def package(self) -> str:
        return self.method.partition("/")[0]


KEYBOARDS = (
    Keyboard("com.github.uiautomator/.AdbKeyboard", "ADB_KEYBOARD_INPUT_TEXT", "text", True),
    Keyboard("com.android.adbkeyboard/.AdbIME", "ADB_INPUT_B64", "msg", False),
)


class KeyboardApp:
    """Choose the keyboard, send, choose the former one again."""

    name = "keyboard app"

    def __init__(self, shell: DeviceShell, clock: Clock) -> None:
        self._shell = shell
        self._clock = clock
        self._undo: list[tuple[str, ...]] = []

    async def can(self, text: str, field: TextField | None) -> str | None:
        return needs_lines(text, field) or (
            None if await self._installed() else "no ADB keyboard is installed"
        )

    async def send(self, text: str) -> None:
        with preparing():
            keyboard = await self._installed()
            if keyboard is None:
                raise Unsupported("the ADB keyboard is gone")
            await self._choose(keyboard)
        for number, piece in enumerate(pieces(text)):
            if not await self._took(keyboard, piece):
                delivery = "unknown" if number else "not_delivered"
                reason = f"{keyboard.method} did not take the text"
                raise AdbCommandError(reason, command="am broadcast", delivery=delivery, answered=True)

    async def restore(self) -> None:
        commands, self._undo = self._undo, []
        done = [await self._shell.run(command, check=False) for command in commands]
        if not all(output.ok for output in done):
            raise AdbCommandError("the former keyboard could not be chosen again", command="ime")

    async def _installed(self) -> Keyboard | None:
        methods = (await self._shell.run(("ime", "list", "-s", "-a"), check=False)).text.split()
        return next((one for one in KEYBOARDS if one.method in methods), None)

    async def _choose(self, keyboard: Keyboard) -> None:
        former = (await self._shell.run(("settings", "get", "secure", "default_input_method"))).text.strip()
        enabled = (await self._shell.run(("ime", "list", "-s"))).text.split()
        if former == keyboard.method:
            return
        if "/" in former:
            self._undo.append(("ime", "set", former))
        if keyboard.method not in enabled:
            self._undo.append(("ime", "disable", keyboard.method))
            await self._shell.run(("ime", "enable", keyboard.method))
        await self._shell.run(("ime", "set", keyboard.method))
        await self._wait_until_bound(keyboard)

    async def _wait_until_bound(self, keyboard: Keyboard) -> None:
        """A broadcast before that is lost without a word."""
        deadline = self._clock.monotonic_ms() + BIND_MS
        while not await self._is_bound(keyboard):
            if self._clock.monotonic_ms() >= deadline:
                raise Unsupported(f"{keyboard.method} did not come up")
            await self._clock.sleep_ms(BIND_POLL_MS)

    async def _is_bound(self, keyboard: Keyboard) -> bool:
        found = _BOUND.search((await self._shell.run(("dumpsys", "input_method"))).text)
        return found is not None and found[1] == keyboard.method

    async def _took(self, keyboard: Keyboard, text: str) -> bool:
        coded = b64encode(text.encode()).decode()
        words = ("-a", keyboard.action, "-p", keyboard.package, "--es", keyboard.extra, coded)
        answer = _RESULT.search((await self._shell.run(("am", "broadcast", *words))).text)
        return not keyboard.answers or (answer is not None and answer[1] == "-1")


def pieces(text: str) -> Iterator[str]:
    """What single broadcasts carry."""
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


KEYS_PIECE = 500
"""Characters in one command: each is two to four events of up to 10 ms on a slow phone, far below 30 s."""
_ENTER = key_code("KEYCODE_ENTER")
_TYPEABLE = re.compile(r"[ -~\n]")


def why_not(text: str, field: TextField | None) -> str | None:
    """What keys can't do. Enter is only pressed where it is known to make a new line: elsewhere it sends."""
    if "\t" in text:
        return "the Tab key moves the focus"
    if not all(_TYPEABLE.match(character) for character in text):
        return "it has characters without a key: keys type printable ASCII"
    if "\n" in text and not (field is not None and field.multiline and field.enter_acts is False):
        return "Enter may act instead of making a new line in this field"
    return None


class InputText:
    """`input text` over adb."""

    name = "input text"

    def __init__(self, shell: DeviceShell) -> None:
        self._shell = shell

    async def can(self, text: str, field: TextField | None) -> str | None:
        return why_not(text, field)

    async def send(self, text: str) -> None:
        for number, piece in enumerate(keys_pieces(text)):
            command = key(_ENTER) if piece == "\n" else ("input", "text", piece.replace(" ", "%s"))
            with sending(begun=number > 0):
                await send(self._shell, command)

    async def restore(self) -> None:
        """Keys change nothing besides."""


class ChannelKeys:
    """The same key events, made by a helper on the phone."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.name = f"{channel.name} keys"

    async def can(self, text: str, field: TextField | None) -> str | None:
        return "its keys have no Enter" if "\n" in text else why_not(text, field)

    async def send(self, text: str) -> None:
        for start in range(0, len(text), KEYS_PIECE):
            with sending(begun=start > 0):
                await self._channel.type_ascii(text[start : start + KEYS_PIECE])

    async def restore(self) -> None:
        """Keys change nothing besides."""


def keys_pieces(text: str) -> Iterator[str]:
    """What single commands type, in order; "\\n" stands for the Enter key.

    Of all sequences `input text` reads only "%s", as a space. A literal one is cut in two, so that no command
    has it.
    """
    for line in re.split("(\n)", text):
        for part in re.split("(?<=%)(?=s)", line):
            for start in range(0, len(part), KEYS_PIECE):
                yield part[start : start + KEYS_PIECE]
