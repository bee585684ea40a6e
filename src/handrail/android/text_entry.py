"""Text entry: tries methods to type into or clear the focused field, and reads it after each."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import NamedTuple, Protocol, TypeVar

from handrail.adb.shell import DeviceShell
from handrail.android.channel import Channel
from handrail.android.input import key_code, key_command, send_input
from handrail.android.text_field import (
    FieldReading,
    Look,
    TextField,
    arrived,
    dumped_text,
    inserted,
    is_cleared,
    look_after_input,
    look_before_input,
    look_until,
    units,
)
from handrail.clock import Clock
from handrail.errors import AdbCommandError, DeviceError, HandrailError, InvalidAction, Timeout, Unsupported
from handrail.surface.values import Typed


class TextMethod(Protocol):
    """A method to type at the cursor of the focused field."""

    name: str

    async def can(self, text: str, field: TextField | None) -> str | None:
        """Returns why it can't, or None if it can. Sends nothing."""

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
    """Channels that can set and read the clipboard, the fastest first."""
    able = [channel for channel in channels if {"get_clipboard", "set_clipboard"} <= channel.can]
    return [*able, ShellClipboard(shell)]


PIECE = 2_000
"""Characters in one broadcast: at most 11 kB of base64, below every limit."""
BIND_MS = 3_000
"""Time that Android may take to connect a keyboard to the field."""
BIND_POLL_MS = 50
_BOUND = re.compile(r"mCurId=(\S+).*?m(?:HaveConnection|HasMainConnection)=true", re.DOTALL)
_RESULT = re.compile(r"result=(-?\d+)")


KEYBOARDS = {
    "com.github.uiautomator/.AdbKeyboard": ("ADB_KEYBOARD_INPUT_TEXT", "text", True),
    "com.android.adbkeyboard/.AdbIME": ("ADB_INPUT_B64", "msg", False),
}
"""Apps that type the text of a broadcast: its action, its extra, and whether it returns -1 once that is done;
others return 0."""


class KeyboardApp(TextMethod):
    """Switches to an ADB keyboard, sends, and switches back."""

    name = "keyboard app"

    def __init__(self, shell: DeviceShell, clock: Clock) -> None:
        self._shell = shell
        self._clock = clock
        self._undo: list[tuple[str, ...]] = []

    async def can(self, text: str, field: TextField | None) -> str | None:
        if reason := needs_lines(text, field):
            return reason
        return None if await self._installed() else "no ADB keyboard is installed"

    async def send(self, text: str) -> None:
        with preparing():
            keyboard = await self._installed()
            if keyboard is None:
                raise Unsupported("the ADB keyboard is no longer installed")
            await self._choose(keyboard)
        action, extra, answers = KEYBOARDS[keyboard]
        for start in range(0, len(text), PIECE):
            coded = b64encode(text[start : start + PIECE].encode()).decode()
            words = ("-a", action, "-p", keyboard.partition("/")[0], "--es", extra, coded)
            answer = _RESULT.search((await self._shell.run(("am", "broadcast", *words))).text)
            if answers and (answer is None or answer[1] != "-1"):
                delivery = "unknown" if start else "not_delivered"
                reason = f"{keyboard} did not take the text"
                raise AdbCommandError(reason, command="am broadcast", delivery=delivery, answered=True)

    async def restore(self) -> None:
        commands, self._undo = self._undo, []
        done = [await self._shell.run(command, check=False) for command in commands]
        if not all(output.ok for output in done):
            raise AdbCommandError("the former keyboard could not be chosen again", command="ime")

    async def _installed(self) -> str | None:
        methods = (await self._shell.run(("ime", "list", "-s", "-a"), check=False)).text.split()
        return next((keyboard for keyboard in KEYBOARDS if keyboard in methods), None)

    async def _choose(self, keyboard: str) -> None:
        former = (await self._shell.run(("settings", "get", "secure", "default_input_method"))).text.strip()
        enabled = (await self._shell.run(("ime", "list", "-s"))).text.split()
        if former == keyboard:
            return
        if "/" in former:
            self._undo.append(("ime", "set", former))
        if keyboard not in enabled:
            self._undo.append(("ime", "disable", keyboard))
            await self._shell.run(("ime", "enable", keyboard))
        await self._shell.run(("ime", "set", keyboard))
        # An earlier broadcast would be lost silently.
        deadline = self._clock.monotonic_ms() + BIND_MS
        while True:
            match = _BOUND.search((await self._shell.run(("dumpsys", "input_method"))).text)
            if match is not None and match[1] == keyboard:
                return
            if self._clock.monotonic_ms() >= deadline:
                raise Unsupported(f"{keyboard} did not come up")
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


class ClearCommand(NamedTuple):
    """An eraser that works for any length."""

    name: str
    clear: Callable[[], Awaitable[None]]

    async def erase(self, field: TextField | None) -> None:  # noqa: ARG002
        await self.clear()


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


LONG = 200
"""From this many characters on, pasting is faster than key events."""
ENOUGH = 2
"""After this many erasers without effect the text is assumed to be a placeholder."""
T = TypeVar("T")


class TextEntry:
    """Text entry of one phone. `channels` returns the open ones, the best first."""

    def __init__(
        self,
        shell: DeviceShell,
        look: Look,
        clock: Clock,
        channels: Callable[[], Sequence[Channel]] = lambda: (),
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.look = look
        self.clock = clock
        self.say = say
        self._shell = shell
        self._channels = channels

    async def type_text(self, text: str, *, blind: bool = False) -> Typed:
        """Types at the cursor of the focused field by the first method that can and whose text reads back.

        `blind`: nothing is read back, and the field's content decides nothing, so that nothing can be
        inferred from what was done.
        """
        check(text)
        before = await look_before_input(self.look)
        if not text:
            return Typed("none", before.text, before.text, True, before.screen)
        if "\n" in text and before.field is not None:
            before = FieldReading(await self.ask_editor(before.field), before.screen)
        attempt = _Attempt(self, text, before)
        return await (attempt.unread() if blind else attempt.through())

    async def require_way(self, text: str) -> None:
        """Raises `Unsupported` if no method could type this into an empty field. Nothing is sent."""
        check(text)
        field = TextField("", False, "", ("", "", "", 0))
        if "\n" in text:
            field = await self.ask_editor(field)
        attempt = _Attempt(self, text, FieldReading(field, None))
        if await anext(attempt.able_ways(), None) is None:
            raise attempt.no_typing_method()

    async def clear_text(self) -> Typed:
        """Tries the erasers until the field reads empty.

        `arrived` is None if an empty field can't be told from one that kept its text: dumps without hints
        show a placeholder as text.
        """
        before = await look_before_input(self.look)
        if before.field is not None and before.field.vacant:
            return Typed("none", before.text, before.text, True, before.screen)

        done, failure, idle = None, None, 0
        now = before.field
        for eraser in self.erasers():
            try:
                await eraser.erase(now)
            except (DeviceError, Timeout, Unsupported) as error:
                failure = error
                continue
            after, cleared = await look_until(
                self.look, self.clock, before, lambda after: is_cleared(before.field, after)
            )
            done = Typed(eraser.name, before.text, after.text, cleared, after.screen)
            now, idle = after.field or now, idle + (cleared is None and after.text == before.text)
            if cleared or before.field is None or idle == ENOUGH:
                break
        if done is None:
            raise failure or Unsupported("there is no method to clear a field", delivery="not_delivered")
        return done

    async def delete(self, count: int) -> None:
        """Deletes this many characters before the cursor."""
        await Deletes(self._shell).press(count)

    async def get_clipboard(self) -> str:
        return await self._by_clipboard(lambda clipboard: clipboard.get_clipboard())

    async def set_clipboard(self, text: str) -> None:
        check(text)
        await self._by_clipboard(lambda clipboard: clipboard.set_clipboard(text))

    async def _by_clipboard(self, call: Callable[[Clipboard], Awaitable[T]]) -> T:
        """Calls the first channel that has a clipboard; the shell's is the last."""
        refusal: Unsupported | None = None
        for clipboard in clipboards(self._shell, self._channels()):
            try:
                return await call(clipboard)
            except Unsupported as error:
                refusal = error
        raise refusal or AssertionError("the shell's clipboard returns or raises")

    def ways(self, text: str) -> Sequence[TextMethod]:
        """Keys first for short texts; methods that touch the clipboard or the keyboard last."""
        channels = self._channels()
        # The emulator's gRPC keys are scan codes, which React Native's fields ignore.
        keys: list[TextMethod] = [
            ChannelKeys(channel)
            for channel in channels
            if "type_ascii" in channel.can and channel.name != "grpc"
        ]
        keys.append(InputText(self._shell))
        whole_text: list[TextMethod] = [SetText(channel) for channel in channels if "set_text" in channel.can]
        whole_text += [Paste(clipboard, self._shell) for clipboard in clipboards(self._shell, channels)]
        first, second = (whole_text, keys) if len(text) > LONG else (keys, whole_text)
        return [*first, *second, KeyboardApp(self._shell, self.clock)]

    def erasers(self) -> Sequence[Eraser]:
        async def select_all() -> None:
            """Two commands for any length. `keycombination` exists since Android 12."""
            await send_input(self._shell, ("input", "keycombination", str(_CTRL), str(_A)))
            await send_input(self._shell, key_command(_DELETE))

        able = [channel for channel in self._channels() if "clear_field" in channel.can]
        clears = [ClearCommand(f"{channel.name} clear", channel.clear_field) for channel in able]
        clears.append(ClearCommand("select all", select_all))
        return [*clears, Deletes(self._shell), Deletes(self._shell, forward=True)]

    async def ask_editor(self, field: TextField) -> TextField:
        """Adds what the input method knows about the field and no dump reports."""
        try:
            output = await self._shell.run(("dumpsys", "input_method"), check=False)
        except (DeviceError, Timeout):
            return field
        facts = read_editor(output.text)
        return field if facts is None else replace(field, multiline=facts[0], enter_acts=facts[1])


# The client's section describes the current field; older Androids call it a text box.
_EDITOR = re.compile(
    r"(?:mCurrentEditorInfo|mCurrentTextBoxAttribute|mInputEditorInfo):?\s+"
    r"inputType=0x([0-9a-f]+) imeOptions=0x([0-9a-f]+)"
)
CLASS, TEXT, MULTI_LINE = 0xF, 0x1, 0x20000
ACTION, UNSPECIFIED, NONE, DONE = 0xFF, 0, 1, 6


def read_editor(dump: str) -> tuple[bool, bool] | None:
    """Whether it is multi-line and whether Enter acts, from `dumpsys input_method`; None if no field is
    served.

    An action such as Send on a multi-line field is meant for the on-screen key, but chat apps mostly let a
    real Enter key do the same, so it counts as acting.
    """
    match = _EDITOR.search(dump)
    kind = int(match[1], 16) if match else 0
    if match is None or not kind:
        return None
    several = kind & CLASS == TEXT and bool(kind & MULTI_LINE)
    makes_line = several and int(match[2], 16) & ACTION in (UNSPECIFIED, NONE, DONE)
    return several, not makes_line


_NO_TEXT = re.compile("[\0\ud800-\udfff]")


def check(text: str) -> None:
    """Rejects characters that no Android field can hold."""
    if match := _NO_TEXT.search(text):
        name = "NUL" if match[0] == "\0" else "half a surrogate pair"
        raise InvalidAction(f"text has {name} at {match.start()}", path="text", delivery="not_delivered")


class _Attempt:
    """State of typing one text."""

    def __init__(self, entry: TextEntry, text: str, before: FieldReading) -> None:
        self._entry = entry
        self._text = text
        self._before = before
        self._declined: list[str] = []
        self._failure: HandrailError | None = None

    async def able_ways(self) -> AsyncGenerator[TextMethod]:
        for way in self._entry.ways(self._text):
            if reason := await way.can(self._text, self._before.field):
                self._decline(way, reason)
            else:
                yield way

    def no_typing_method(self) -> Unsupported:
        return Unsupported(
            f"no method can type this text: {'; '.join(self._declined) or 'there is no method to type'}",
            hint="Start the u2 helper (`pip install uiautomator2`) or install an ADB keyboard; "
            "a single-line field accepts no line breaks.",
            declined=list(self._declined),
            delivery="not_delivered",
        )

    async def through(self) -> Typed:
        last: Typed | None = None
        async for way in self.able_ways():
            if last is not None and not await self._is_back_to_before(last):
                break
            typed = await self._by(way)
            if typed is None:
                if last is not None:  # what an earlier method left may have been deleted since
                    now = await look_after_input(self._entry.look, self._before)
                    last = replace(last, after=now.text, screen=now.screen)
                continue
            repeated = last is not None and typed.after == last.after != typed.before
            last = typed
            if typed.arrived is not False or repeated:
                break
            self._entry.say(f"text: by {way.name} it did not arrive unchanged; the next method is tried")
        if last is not None and last.arrived is False and self._failure is not None:
            raise self._failure
        if last is None:
            raise self.no_typing_method()
        return last

    async def unread(self) -> Typed:
        """Uses the first method that delivers, without reading back."""
        async for way in self.able_ways():
            try:
                failure = await self._send(way)
            finally:
                await self._put_back(way)
            if failure is None:
                return Typed(way.name, None, None, None)
            if failure.details["delivery"] != "not_delivered":
                raise failure
            self._decline(way, failure.message)
        raise self.no_typing_method()

    async def _by(self, way: TextMethod) -> Typed | None:
        """Returns None if this method provably delivered nothing."""
        try:
            failure = await self._send(way)
            if failure is not None and failure.details["delivery"] == "not_delivered":
                self._decline(way, failure.message)
                return None
            before = self._before
            after, judged = await look_until(
                self._entry.look,
                self._entry.clock,
                before,
                lambda field: arrived(before.field, self._text, field),
            )
            typed = Typed(way.name, before.text, after.text, judged, after.screen)
            if failure is None or typed.arrived:
                return typed
            is_readable = before.field is not None and not before.field.password and typed.after is not None
            if not failure.details.pop("answered") or not is_readable:
                raise failure  # a dump may not show a password at all
            self._entry.say(f"text: {way.name}: {failure.message}; the next method is tried")
            if typed.after == typed.before:
                self._decline(way, failure.message)
                return None
            self._failure = failure
            return replace(typed, arrived=False)
        finally:
            await self._put_back(way)

    def _decline(self, way: TextMethod, reason: str) -> None:
        self._declined.append(f"{way.name}: {reason}")

    async def _send(self, way: TextMethod) -> HandrailError | None:
        """Errors omit the text: it may be a secret, and commands contain it in other spellings."""
        try:
            await way.send(self._text)
        except HandrailError as error:
            details = {"delivery": "unknown", "answered": False} | error.details
            delivery = {name: details[name] for name in ("delivery", "answered")}
            reason = error.message if isinstance(error, Unsupported) else f"it failed with {error.code}"
            return type(error)(reason, hint=error.hint, retryable=False, way=way.name, **delivery)
        return None

    async def _is_back_to_before(self, wrong: Typed) -> bool:
        """Whether the next method may start; what can be deleted without loss is deleted first.

        A method may type the text partly, changed, or twice; longer insertions came from elsewhere. The
        cursor is behind what it inserted.
        """
        field, entry = self._before.field, self._entry
        if field is None or wrong.after is None:
            return False
        if wrong.after == wrong.before:
            # Typing may have replaced a selection by the same text.
            return dumped_text(self._text) not in dumped_text(field.text)
        left = "" if field.password or field.vacant else inserted(field.text, wrong.after)
        if 0 < units(left) <= 2 * units(self._text):
            with suppress(HandrailError):
                await entry.delete(units(left))
                now, _ = await look_until(
                    entry.look,
                    entry.clock,
                    self._before,
                    lambda current: current is None or current.text == field.text,
                )
                if now.text == field.text:
                    return True
        if not field.vacant and field.text in wrong.after:
            return False
        cleared = await entry.clear_text()
        return cleared.arrived is True or cleared.after == field.text

    async def _put_back(self, way: TextMethod) -> None:
        try:
            await way.restore()
        except HandrailError as error:
            self._entry.say(f"{way.name}: could not put back what it changed: {error.code}")
