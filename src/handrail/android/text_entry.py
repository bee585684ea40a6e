"""Text entry: tries the methods in order, reads the field after each, and reports which one worked."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from handrail.adb.shell import DeviceShell
from handrail.android.channel import Channel
from handrail.android.text_methods import (
    ChannelClear,
    ChannelKeys,
    Clipboard,
    Deletes,
    Eraser,
    FieldReading,
    InputText,
    KeyboardApp,
    Look,
    Paste,
    SelectAll,
    SetText,
    TextField,
    TextMethod,
    arrived,
    clipboards,
    inserted,
    is_cleared,
    look_after_input,
    look_before_input,
    look_until,
    readable,
    units,
)
from handrail.clock import Clock
from handrail.errors import DeviceError, HandrailError, InvalidAction, Timeout, Unsupported
from handrail.surface.values import Typed

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
        declined = []
        for way in self.ways(text):
            reason = await way.can(text, field)
            if reason is None:
                return
            declined.append(f"{way.name}: {reason}")
        raise no_method(declined)

    async def clear_text(self) -> Typed:
        """Tries the erasers until the field reads empty.

        `arrived` is None if an empty field can't be told from one that kept its text: dumps without hints
        show a placeholder as text.
        """
        before = await look_before_input(self.look)
        if before.field is not None and before.field.vacant:
            return Typed("none", before.text, before.text, True, before.screen)

        def verdict(after: TextField | None) -> bool | None:
            return None if before.field is None or after is None else is_cleared(before.field, after)

        done, failure, idle = None, None, 0
        now = before.field
        for eraser in self.erasers():
            try:
                await eraser.erase(now)
            except (DeviceError, Timeout, Unsupported) as error:
                failure = error
                continue
            after, cleared = await look_until(self.look, self.clock, before, verdict)
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
        """On the first channel that has a clipboard; the shell's is the last."""
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
        able = [ChannelClear(channel) for channel in self._channels() if "clear_field" in channel.can]
        return [*able, SelectAll(self._shell), Deletes(self._shell), Deletes(self._shell, forward=True)]

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

    async def through(self) -> Typed:
        last: Typed | None = None
        for way in self._entry.ways(self._text):
            if reason := await way.can(self._text, self._before.field):
                self._decline(way, reason)
                continue
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
            raise no_method(self._declined)
        return last

    async def unread(self) -> Typed:
        """Uses the first method that delivers, without reading back."""
        for way in self._entry.ways(self._text):
            if reason := await way.can(self._text, self._before.field):
                self._decline(way, reason)
                continue
            try:
                failure = await self._send(way)
            finally:
                await self._put_back(way)
            if failure is None:
                return Typed(way.name, None, None, None)
            if failure.details["delivery"] != "not_delivered":
                raise failure
            self._decline(way, failure.message)
        raise no_method(self._declined)

    async def _by(self, way: TextMethod) -> Typed | None:
        """None if this method provably delivered nothing."""
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
        """Whether the next method may start; what can be deleted without loss is deleted first."""
        field = self._before.field
        if field is None or wrong.after is None:
            return False
        if wrong.after == wrong.before:
            # Typing may have replaced a selection by the same text.
            return readable(self._text) not in readable(field.text)
        if await self._is_taken_back(field, wrong.after):
            return True
        if not field.vacant and field.text in wrong.after:
            return False
        cleared = await self._entry.clear_text()
        return cleared.arrived is True or cleared.after == field.text

    async def _is_taken_back(self, field: TextField, after: str) -> bool:
        """Deletes what a method inserted into a field that had text; the cursor is behind it.

        A method may type the text partly, changed, or twice; longer insertions came from elsewhere.
        """
        left = "" if field.password or field.vacant else inserted(field.text, after)
        if not 0 < units(left) <= 2 * units(self._text):
            return False
        try:
            await self._entry.delete(units(left))
        except HandrailError:
            return False
        now, _ = await look_until(
            self._entry.look,
            self._entry.clock,
            self._before,
            lambda current: current is None or current.text == field.text,
        )
        return now.text == field.text

    async def _put_back(self, way: TextMethod) -> None:
        try:
            await way.restore()
        except HandrailError as error:
            self._entry.say(f"{way.name}: could not put back what it changed: {error.code}")


def no_method(declined: list[str]) -> Unsupported:
    return Unsupported(
        f"no method can type this text: {'; '.join(declined) or 'there is no method to type'}",
        hint="Start the u2 helper (`pip install uiautomator2`) or install an ADB keyboard; "
        "a single-line field accepts no line breaks.",
        declined=list(declined),
        delivery="not_delivered",
    )
