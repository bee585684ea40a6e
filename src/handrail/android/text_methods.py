"""Methods that put text into the focused field or clear it, and the reading of that field."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from handrail.adb.shell import DeviceShell
from handrail.android.channel import Channel
from handrail.android.input import key_code, key_command, send_input
from handrail.clock import Clock
from handrail.errors import AdbCommandError, DeviceError, HandrailError, Timeout, Unsupported
from handrail.screen.node import Node, Screen

DOTS = frozenset("•●⬤∙·*＊")
"""Characters that password fields show."""

Identity = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class TextField:
    """One field at one moment."""

    text: str
    """Dots for a password; "" for a known placeholder."""
    password: bool
    hint: str
    identity: Identity
    multiline: bool | None = None
    """None if unknown."""
    enter_acts: bool | None = None
    """Whether Enter sends, searches or moves on instead of inserting a line break."""

    @property
    def vacant(self) -> bool:
        """Certainly empty. A dump without hints shows a placeholder as text, so False proves nothing."""
        return not self.text


def focused_field(screen: Screen) -> TextField | None:
    """The innermost focused field of the topmost window that has one."""
    fields = [node for node in screen.nodes if node.focused and node.role == "text_field"]
    return _field(fields[-1]) if fields else None


def same_field(screen: Screen, field: TextField) -> TextField | None:
    """The same field in a later screen; the focused one first, because a list may have several alike."""
    focused = focused_field(screen)
    if focused is not None and focused.identity == field.identity:
        return focused
    candidates = (
        node for node in screen.nodes if node.role == "text_field" and _identity(node) == field.identity
    )
    match = next(candidates, None)
    return None if match is None else _field(match)


def units(text: str) -> int:
    """Length in UTF-16 code units, as Android counts. A password field shows a dot for each."""
    return len(text) + sum(character > "\uffff" for character in text)


def _field(node: Node) -> TextField:
    shown = "" if node.text == node.hint_text else node.text
    if node.password:
        # Android shows the last character in clear for a moment; other texts are placeholders.
        is_masked = all(character in DOTS for character in shown[:-1] or shown)
        shown = "•" * units(shown) if is_masked else ""
    return TextField(shown, node.password, node.hint_text, _identity(node))


def _identity(node: Node) -> Identity:
    """Without the vertical position, which changes with the keyboard and with the text."""
    return (node.package_name, node.class_name, node.resource_id, node.bounds.left)


Look = Callable[[], Awaitable[Screen]]

SHOWN_WITHIN_MS = 1_000
"""A busy app may draw this much later than it took the events."""
POLL_MS = 100
"""Two equal looks this far apart mean a stable field."""


@dataclass(frozen=True, slots=True)
class FieldReading:
    """The field, if present, and the screen, if readable."""

    field: TextField | None
    screen: Screen | None

    @property
    def text(self) -> str | None:
        return None if self.field is None else self.field.text


async def look_before_input(look: Look) -> FieldReading:
    """Before input: an unreadable screen is an error, and nothing was delivered."""
    try:
        screen = await look()
    except (DeviceError, Timeout) as error:
        error.details.setdefault("delivery", "not_delivered")
        raise
    return FieldReading(focused_field(screen), screen)


async def look_after_input(look: Look, before: FieldReading) -> FieldReading:
    """After input: an unreadable screen proves nothing."""
    try:
        screen = await look()
    except (DeviceError, Timeout):
        return FieldReading(None, None)
    field = before.field
    return FieldReading(None if field is None else same_field(screen, field), screen)


async def look_until(
    look: Look,
    clock: Clock,
    before: FieldReading,
    verdict: Callable[[TextField | None], bool | None],
) -> tuple[FieldReading, bool | None]:
    """Until the verdict is not False, the field is stable in a new state, or time is up."""
    deadline = clock.monotonic_ms() + SHOWN_WITHIN_MS
    last: str | None = None
    while True:
        reading = await look_after_input(look, before)
        judged = verdict(reading.field)
        rests = reading.text == last and reading.text != before.text
        if judged is not False or rests or clock.monotonic_ms() >= deadline:
            return reading, judged
        last = reading.text
        await clock.sleep_ms(POLL_MS)


# uiautomator's dump replaces what XML 1.0 forbids or discourages by a dot.
_NOT_IN_XML = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufddf\ufffe\uffff]"
)


def readable(text: str) -> str:
    """The text as a dump shows it."""
    return _NOT_IN_XML.sub(".", text)


def arrived(before: TextField | None, text: str, after: TextField | None) -> bool | None:
    """Whether the text was typed into the field; None if that can't be determined."""
    if before is None or after is None:
        return None
    if before.password or after.password:
        return units(after.text) == units(before.text) + units(text)
    if after.vacant and text and text == after.hint:
        return None
    return was_typed(readable(before.text), readable(text), readable(after.text))


def was_typed(before: str, text: str, after: str) -> bool:
    """True if `after` is `before` with `text` at some cursor, or over a selection.

    A placeholder that was taken for content counts as a selection: typing replaces it.
    """
    if after == before:
        return not text
    rest = len(after) - len(text)
    if not 0 <= rest <= len(before):
        return False
    head, tail = common_start(before, after), common_start(before[::-1], after[::-1])
    first, last = max(0, rest - tail), min(head, rest)
    return any(after.startswith(text, at) for at in range(first, last + 1))


def common_start(first: str, other: str) -> int:
    for number, (left, right) in enumerate(zip(first, other, strict=False)):
        if left != right:
            return number
    return min(len(first), len(other))


def inserted(before: str, after: str) -> str:
    """What `after` has besides `before`, if it is contiguous; else ""."""
    more, head = len(after) - len(before), common_start(before, after)
    return after[head : head + more] if more > 0 and after[head + more :] == before[head:] else ""


def is_cleared(before: TextField, after: TextField) -> bool | None:
    """None if what is left may be a placeholder as well as the rest of the text: dumps without hints show
    both alike."""
    if after.vacant:
        return True
    if after.password or after.hint:
        return False
    return None if is_rest(after.text, before.text) else True


def is_rest(rest: str, full_text: str) -> bool:
    """True if `rest` is `full_text` with characters deleted."""
    letters = iter(full_text)
    return all(character in letters for character in rest)


class TextMethod(Protocol):
    """A method to type at the cursor of the focused field."""

    name: str

    async def can(self, text: str, field: TextField | None) -> str | None:
        """None if it can, else why not. Sends nothing."""

    async def send(self, text: str) -> None:
        """Sends once. Errors have `delivery`, and `answered` if nothing more will arrive."""

    async def restore(self) -> None:
        """Restores the clipboard or keyboard that `send` changed, also after a failed `send`."""
        return  # most methods change neither


def needs_lines(text: str, field: TextField | None) -> str | None:
    if "\n" in text and field is not None and field.multiline is False:
        return "the field has one line and the text has several"
    return None


@contextmanager
def preparing() -> Iterator[None]:
    """Errors before the first character mean that the field got nothing."""
    try:
        yield
    except HandrailError as error:
        error.details["delivery"] = "not_delivered"
        raise


@contextmanager
def sending(*, begun: bool) -> Iterator[None]:
    """Wraps one piece of a text. If a later piece is refused, the earlier ones are in the field; after an
    answer nothing is pending, so a look shows the outcome."""
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


class ShellClipboard:
    """`cmd clipboard`, which some vendors have. Android's own prints an error and exits with 0."""

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


Clipboard = Channel | ShellClipboard


class Paste(TextMethod):
    """Sets the clipboard, verifies it, pastes."""

    def __init__(self, clipboard: Clipboard, shell: DeviceShell) -> None:
        self.name = f"{clipboard.name} paste"
        self._clipboard = clipboard
        self._shell = shell
        self._former: str | None = None
        self._is_lost = False

    async def can(self, text: str, field: TextField | None) -> str | None:
        """The clipboard must be readable, otherwise it could not be restored."""
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
            # Many phones return "" without permission, so it counts only once the text has read back.
            self._former, self._is_lost = former or None, not former
            await self._clipboard.set_clipboard(text)
            if await self._clipboard.get_clipboard() != text:
                raise Unsupported("the clipboard did not accept the text, or can't be read")
            self._former, self._is_lost = former, False
        if isinstance(self._clipboard, Channel) and "paste" in self._clipboard.can:
            await self._clipboard.paste()
        else:
            await send_input(self._shell, key_command(_PASTE))

    async def restore(self) -> None:
        former, self._former = self._former, None
        lost, self._is_lost = self._is_lost, False
        if former is not None:
            await self._clipboard.set_clipboard(former)
        elif lost:
            raise Unsupported("the former clipboard could not be read, so nothing was written back")


def clipboards(shell: DeviceShell, channels: Sequence[Channel]) -> list[Clipboard]:
    """The fastest first."""
    able = [channel for channel in channels if {"get_clipboard", "set_clipboard"} <= channel.can]
    return [*able, ShellClipboard(shell)]


PIECE = 2_000
"""Characters in one broadcast: at most 11 kB of base64, below every limit."""
BIND_MS = 3_000
"""Time that Android may take to connect a keyboard to the field."""
BIND_POLL_MS = 50
_BOUND = re.compile(r"mCurId=(\S+).*?m(?:HaveConnection|HasMainConnection)=true", re.DOTALL)
_RESULT = re.compile(r"result=(-?\d+)")


@dataclass(frozen=True, slots=True)
class Keyboard:
    """An app that types the text of a broadcast."""

    method: str
    action: str
    extra: str
    answers: bool
    """Its broadcast returns -1 once the text is typed; others return 0."""

    @property
    def package(self) -> str:
        return self.method.partition("/")[0]


KEYBOARDS = (
    Keyboard("com.github.uiautomator/.AdbKeyboard", "ADB_KEYBOARD_INPUT_TEXT", "text", True),
    Keyboard("com.android.adbkeyboard/.AdbIME", "ADB_INPUT_B64", "msg", False),
)


class KeyboardApp(TextMethod):
    """Switches to an ADB keyboard, sends, and switches back."""

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
                raise Unsupported("the ADB keyboard is no longer installed")
            await self._choose(keyboard)
        for start in range(0, len(text), PIECE):
            coded = b64encode(text[start : start + PIECE].encode()).decode()
            words = ("-a", keyboard.action, "-p", keyboard.package, "--es", keyboard.extra, coded)
            answer = _RESULT.search((await self._shell.run(("am", "broadcast", *words))).text)
            if keyboard.answers and (answer is None or answer[1] != "-1"):
                delivery = "unknown" if start else "not_delivered"
                reason = f"{keyboard.method} did not take the text"
                raise AdbCommandError(reason, command="am broadcast", delivery=delivery, answered=True)

    async def restore(self) -> None:
        commands, self._undo = self._undo, []
        done = [await self._shell.run(command, check=False) for command in commands]
        if not all(output.ok for output in done):
            raise AdbCommandError("the former keyboard could not be chosen again", command="ime")

    async def _installed(self) -> Keyboard | None:
        methods = (await self._shell.run(("ime", "list", "-s", "-a"), check=False)).text.split()
        return next((keyboard for keyboard in KEYBOARDS if keyboard.method in methods), None)

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
        # An earlier broadcast would be lost silently.
        deadline = self._clock.monotonic_ms() + BIND_MS
        while True:
            match = _BOUND.search((await self._shell.run(("dumpsys", "input_method"))).text)
            if match is not None and match[1] == keyboard.method:
                return
            if self._clock.monotonic_ms() >= deadline:
                raise Unsupported(f"{keyboard.method} did not come up")
            await self._clock.sleep_ms(BIND_POLL_MS)


KEYS_PIECE = 500
"""Characters in one command: each is two to four events of up to 10 ms on a slow phone, far below 30 s."""
_ENTER = key_code("KEYCODE_ENTER")
_TYPEABLE = re.compile(r"[ -~\n]")


def why_not(text: str, field: TextField | None) -> str | None:
    """Enter is only pressed if it is known to insert a line break; elsewhere it sends."""
    if "\t" in text:
        return "the Tab key moves the focus"
    if not all(_TYPEABLE.match(character) for character in text):
        return "it has characters without a key: keys type printable ASCII"
    if "\n" in text and not (field is not None and field.multiline and field.enter_acts is False):
        return "Enter may act instead of making a new line in this field"
    return None


class InputText(TextMethod):
    """`input text` over adb."""

    name = "input text"

    def __init__(self, shell: DeviceShell) -> None:
        self._shell = shell

    async def can(self, text: str, field: TextField | None) -> str | None:
        return why_not(text, field)

    async def send(self, text: str) -> None:
        for number, piece in enumerate(keys_pieces(text)):
            command = key_command(_ENTER) if piece == "\n" else ("input", "text", piece.replace(" ", "%s"))
            with sending(begun=number > 0):
                await send_input(self._shell, command)


class ChannelKeys(TextMethod):
    """The same key events, sent by a helper on the phone."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.name = f"{channel.name} keys"

    async def can(self, text: str, field: TextField | None) -> str | None:
        return "its keys have no Enter" if "\n" in text else why_not(text, field)

    async def send(self, text: str) -> None:
        for start in range(0, len(text), KEYS_PIECE):
            with sending(begun=start > 0):
                await self._channel.type_ascii(text[start : start + KEYS_PIECE])


class SetText(TextMethod):
    """ACTION_SET_TEXT: any Unicode without keyboard or clipboard, but it replaces the field's text."""

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


def keys_pieces(text: str) -> Iterator[str]:
    """Text of each command; a line break stands for the Enter key.

    `input text` reads "%s" as a space, so a literal one is split between two commands.
    """
    for line in re.split("(\n)", text):
        for part in re.split("(?<=%)(?=s)", line):
            for start in range(0, len(part), KEYS_PIECE):
                yield part[start : start + KEYS_PIECE]


KEYS_AT_ONCE = 250
"""Key events of one command: a slow phone needs 10 ms for each, and a command has 30 s."""
_CTRL, _A = key_code("KEYCODE_CTRL_LEFT"), key_code("KEYCODE_A")
_DELETE, _FORWARD_DELETE = key_code("KEYCODE_DEL"), key_code("KEYCODE_FORWARD_DEL")


class Eraser(Protocol):
    """A method to empty the focused field."""

    @property
    def name(self) -> str: ...

    async def erase(self, field: TextField | None) -> None: ...


class ChannelClear:
    """Empties the field through a helper."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.name = f"{channel.name} clear"

    async def erase(self, field: TextField | None) -> None:  # noqa: ARG002
        await self._channel.clear_field()


class SelectAll:
    """Ctrl+A and delete: two commands for any length. `keycombination` exists since Android 12."""

    name = "select all"

    def __init__(self, shell: DeviceShell) -> None:
        self._shell = shell

    async def erase(self, field: TextField | None) -> None:  # noqa: ARG002
        await send_input(self._shell, ("input", "keycombination", str(_CTRL), str(_A)))
        await send_input(self._shell, ("input", "keyevent", str(_DELETE)))


class Deletes:
    """As many deletes as the field has characters, before the cursor, or behind it with `forward`."""

    def __init__(self, shell: DeviceShell, *, forward: bool = False) -> None:
        self._shell = shell
        self._code = _FORWARD_DELETE if forward else _DELETE
        self.name = "forward delete keys" if forward else "delete keys"

    async def erase(self, field: TextField | None) -> None:
        if field is None:
            raise Unsupported("the length of the field is unknown", delivery="not_delivered")
        await self.press(units(field.text))

    async def press(self, times: int) -> None:
        codes = [str(self._code)] * times
        for start in range(0, times, KEYS_AT_ONCE):
            await send_input(self._shell, ("input", "keyevent", *codes[start : start + KEYS_AT_ONCE]))
