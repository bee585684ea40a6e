"""One way after another until the text reads back. Never twice: what arrived wrong is undone, or it ends."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from handrail.android.text.field import (
    FieldReading,
    Look,
    TextField,
    arrived,
    first_look,
    inserted,
    look_again,
    look_until,
    may_be_there_already,
    units,
)
from handrail.android.text.ways import Way
from handrail.clock import Clock
from handrail.errors import HandrailError, InvalidAction, Unsupported
from handrail.surface.values import Typed


class Undo(NamedTuple):
    """How what a way left behind is removed again."""

    erase: Callable[[], Awaitable[Typed]] | None = None
    """Empties the field."""
    delete: Callable[[int], Awaitable[None]] | None = None
    """Takes back so many characters before the cursor."""


NO_UNDO = Undo()
AskEditor = Callable[[TextField], Awaitable[TextField]]
Say = Callable[[str], object]

_NO_TEXT = re.compile("[\0\ud800-\udfff]")


async def type_text(
    look: Look,
    ways: Sequence[Way],
    text: str,
    clock: Clock,
    *,
    undo: Undo = NO_UNDO,
    ask_editor: AskEditor | None = None,
    say: Say = lambda _: None,
    blind: bool = False,
) -> Typed:
    """Type into the focused field by the first way that can and whose result reads back.

    `undo` is used when a way has to be undone; `ask_editor` adds what no dump tells of a field.
    `blind`: what the field says decides nothing, so that nothing can be learned from what was done.
    """
    check(text)
    before = await first_look(look)
    if not text:
        return Typed("none", before.text, before.text, True, before.screen)
    if "\n" in text and before.field is not None and ask_editor is not None:
        before = FieldReading(await ask_editor(before.field), before.screen)
    attempt = _Attempt(look, clock, text, before, undo, say)
    return await (attempt.unread(ways) if blind else attempt.through(ways))


def check(text: str) -> None:
    """What no field of Android can hold."""
    if found := _NO_TEXT.search(text):
        name = "NUL" if found[0] == "\0" else "half a surrogate pair"
        raise InvalidAction(f"text has {name} at {found.start()}", path="text", delivery="not_delivered")


class _Attempt:
    """One text on its way: what was tried, what came of it."""

    def __init__(
        self,
        look: Look,
        clock: Clock,
        text: str,
        before: FieldReading,
        undo: Undo,
        say: Say,
    ) -> None:
        self._look = look
        self._clock = clock
        self._text = text
        self._before = before
        self._undo = undo
        self._say = say
        self._declined: list[str] = []
        self._failure: HandrailError | None = None

    async def through(self, ways: Sequence[Way]) -> Typed:
        last: Typed | None = None
        for way in ways:
            if reason := await way.can(self._text, self._before.field):
                self._decline(way, reason)
                continue
            if last is not None and not await self._is_back_to_before(last):
                break
            typed = await self._by(way)
            if typed is None:
                last = last and await self._read_anew(last)
                continue
            repeated = last is not None and typed.after == last.after != typed.before
            last = typed
            if typed.arrived is not False or repeated:
                break
            self._say(f"text: by {way.name} it did not arrive as it was given; the next way is tried")
        if last is not None and last.arrived is False and self._failure is not None:
            raise self._failure
        return last or self._nobody()

    async def unread(self, ways: Sequence[Way]) -> Typed:
        """By the first way that delivers; nobody looks what came of it."""
        for way in ways:
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
        return self._nobody()

    async def _by(self, way: Way) -> Typed | None:
        """None: this way provably delivered nothing."""
        try:
            failure = await self._send(way)
            if failure is not None and failure.details["delivery"] == "not_delivered":
                self._decline(way, failure.message)
                return None
            typed = await self._read_back(way)
            if failure is None or typed.arrived:
                return typed
            field = self._before.field
            is_readable = field is not None and not field.password and typed.after is not None
            if not failure.details.pop("answered") or not is_readable:
                raise failure  # of a password a dump may show nothing at all, so nothing is no proof
            self._say(f"text: {way.name}: {failure.message}; the next way is tried")
            if typed.after == typed.before:
                self._decline(way, failure.message)
                return None
            self._failure = failure
            return replace(typed, arrived=False)
        finally:
            await self._put_back(way)

    def _decline(self, way: Way, reason: str) -> None:
        self._declined.append(f"{way.name}: {reason}")

    async def _send(self, way: Way) -> HandrailError | None:
        """Errors are told without the text: it may be a secret, and commands carry it in other spellings."""
        try:
            await way.send(self._text)
        except HandrailError as error:
            told = {"delivery": "unknown", "answered": False} | error.details
            kept = {name: told[name] for name in ("delivery", "answered")}
            reason = error.message if isinstance(error, Unsupported) else f"it failed with {error.code}"
            return type(error)(reason, hint=error.hint, retryable=False, way=way.name, **kept)
        return None

    async def _read_back(self, way: Way) -> Typed:
        before = self._before

        def verdict(after: TextField | None) -> bool | None:
            return arrived(before.field, self._text, after)

        after, found = await look_until(self._look, self._clock, before, verdict)
        return Typed(way.name, before.text, after.text, found, after.screen)

    async def _read_anew(self, typed: Typed) -> Typed:
        """What an earlier way left may have been deleted since."""
        now = await look_again(self._look, self._before)
        return replace(typed, after=now.text, screen=now.screen)

    async def _is_back_to_before(self, wrong: Typed) -> bool:
        """True if the next way may start where this one did; what loses nothing is deleted for it."""
        field = self._before.field
        if field is None or wrong.after is None:
            return False
        if wrong.after == wrong.before:
            return not may_be_there_already(field, self._text)
        if await self._is_taken_back(field, wrong.after):
            return True
        if self._undo.erase is None or not (field.vacant or field.text not in wrong.after):
            return False
        cleared = await self._undo.erase()
        return cleared.arrived is True or cleared.after == field.text

    async def _is_taken_back(self, field: TextField, after: str) -> bool:
        """True if what a way left in a field that had text is deleted again: the cursor is behind it.

        A way may type it in part, changed, or twice; what is longer than that came from somebody else.
        """
        left = "" if field.password or field.vacant else inserted(field.text, after)
        if self._undo.delete is None or not 0 < units(left) <= 2 * units(self._text):
            return False
        try:
            await self._undo.delete(units(left))
        except HandrailError:
            return False
        now, _ = await look_until(
            self._look, self._clock, self._before, lambda seen: seen is None or seen.text == field.text
        )
        return now.text == field.text

    async def _put_back(self, way: Way) -> None:
        try:
            await way.restore()
        except HandrailError as error:
            self._say(f"{way.name}: could not put back what it changed: {error.code}")

    def _nobody(self) -> Typed:
        raise nobody(self._declined)


async def require_way(ways: Sequence[Way], text: str, field: TextField) -> None:
    """Raises `Unsupported` if every way says beforehand that it can't type this into such a field."""
    declined = []
    for way in ways:
        reason = await way.can(text, field)
        if reason is None:
            return
        declined.append(f"{way.name}: {reason}")
    raise nobody(declined)


def nobody(declined: list[str]) -> Unsupported:
    """No way is left, and why."""
    return Unsupported(
        f"no way can type this text: {'; '.join(declined) or 'there is no way to type'}",
        hint="Start the u2 helper (`pip install uiautomator2`) or install an ADB keyboard; "
        "a field of one line takes no line breaks.",
        declined=list(declined),
        delivery="not_delivered",
    )
