"""The seam with a filter in it: every answer of every capability, also of one that is yet to be written.

A device on which no secret was used is passed through untouched.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from handrail.config import canonical
from handrail.engine.secrets import Secrets
from handrail.engine.taint.device import DeviceSecrets
from handrail.engine.taint.picture import blank, is_known, painted
from handrail.engine.taint.screen import boxes_of
from handrail.engine.taint.store import DeviceKey, Taints
from handrail.errors import HandrailError, Unsupported
from handrail.protocol.traits import Capability
from handrail.surface.capabilities import Surface
from handrail.surface.values import CommandOutput, Facts, Typed, VideoUnit
from handrail.tree.node import Screen

TRIES = 3
"""Pictures of a screen that moves on while it is taken; after so many it is blank."""


class GuardedSurface:
    """A surface whose words have been read by `here` first."""

    def __init__(self, inner: Surface, here: DeviceSecrets) -> None:
        self.inner = inner
        """The surface itself. Nothing that it says may be told."""
        self.name = inner.name
        self.is_exclusive = inner.is_exclusive
        self.entry = inner.entry
        self.here = here
        self._guarded: dict[Capability, object] = {}

    @classmethod
    def of(cls, inner: Surface, taints: Taints, secrets: Secrets, boot_id: str) -> GuardedSurface:
        """With what is known of this device in this home."""
        return cls(inner, DeviceSecrets(taints, secrets, DeviceKey(canonical(inner.name), boot_id)))

    def capability(self, which: Capability) -> object:
        if which is Capability.WINDOWS:  # what an agent says on a desk are its own words, not a device's
            return self.inner.capability(which)
        guarded = self._guarded.get(which)
        if guarded is None:
            inner = self.inner.capability(which)
            kind = _KINDS.get(which, Guarded)
            guarded = self._guarded[which] = kind(inner, self.here, self._front)
        return guarded

    def _front(self) -> Awaitable[Any]:
        eyes: Any = self.inner.capability(Capability.LOOK)
        return eyes.foreground()  # type: ignore[no-any-return]

    async def facts(self) -> Facts | None:
        return await self.inner.facts()

    async def check(self) -> None:
        await self.inner.check()

    def diagnostics(self) -> list[str]:
        lines = self.inner.diagnostics()
        return lines if not lines or self.here.is_untouched else [self.here.redact(line) for line in lines]

    def channels(self) -> dict[str, str]:
        return self.inner.channels()

    async def close(self) -> None:
        await self.inner.close()


class Guarded:
    """One capability. Whatever is awaited from it comes back clean, failures included."""

    numbers = False

    def __init__(self, inner: Any, here: DeviceSecrets, front: Callable[[], Awaitable[Any]]) -> None:
        self._inner = inner
        self._here = here
        self._front = front

    def __getattr__(self, name: str) -> Any:
        asked = getattr(self._inner, name)
        if not callable(asked):
            return asked

        def call(*args: Any, **options: Any) -> Any:
            answer = asked(*args, **options)
            return self._cleaned(answer) if inspect.isawaitable(answer) else answer

        return call

    async def _cleaned(self, answer: Awaitable[Any]) -> Any:
        try:
            value = await answer
        except HandrailError as error:
            if not self._here.is_untouched:
                await self._here.refresh()
                self._here.clean_error(error)
            raise
        if self._here.is_untouched:
            return value
        await self._here.refresh()
        return self._here.clean(value, numbers=self.numbers)


class GuardedEyes(Guarded):
    """Screens and pictures."""

    def __init__(self, inner: Any, here: DeviceSecrets, front: Callable[[], Awaitable[Any]]) -> None:
        super().__init__(inner, here, front)
        self._looking = asyncio.Lock()  # a picture needs a look of its own: one at a time
        self._picture = (b"", 0, b"")
        """The last one before and after: its digest, what was to hide then, and what was shown of it."""

    async def look(self) -> Screen:
        if self._here.is_untouched:
            raw: Screen = await self._inner.look()
            self._here.last = raw
            if self._here.is_untouched:
                return raw
        return await self._locked_look()

    async def _seen(self) -> Screen:
        raw = await self._cleaned(self._inner.look())
        await self._here.refresh()
        return await self._here.see(raw, self._front)

    async def screenshot(self) -> bytes:
        """Painted over where two looks, just before and after it, agree on what is to hide; else blank."""
        here = self._here
        png: bytes = await self._cleaned(self._inner.screenshot())
        if here.is_untouched:
            return png
        if self._picture[:2] == (_digest(png), here.version):  # not a pixel has changed since the last one
            return self._picture[2]
        try:
            clean = await self._between_looks()
        except HandrailError:
            clean = None
        return await asyncio.to_thread(blank, png) if clean is None else clean

    async def _between_looks(self) -> bytes | None:
        """None: the screen moves on while its picture is taken."""
        before = await self._locked_look()
        for _ in range(TRIES):
            png: bytes = await self._inner.screenshot()
            after = await self._locked_look()
            boxes = boxes_of(after)
            if boxes_of(before) == boxes:
                hides = bool(boxes) or not is_known(after)
                clean = await asyncio.to_thread(painted, png, boxes, after) if hides else png
                self._picture = (_digest(png), self._here.version, clean)
                return clean
            before = after
        return None

    async def _locked_look(self) -> Screen:
        async with self._looking:
            return await self._seen()

    def __getattr__(self, name: str) -> Any:
        """Sizes and class names are the system's own words."""
        return getattr(self._inner, name)


def _digest(png: bytes) -> bytes:
    return hashlib.blake2b(png, digest_size=16).digest()


class GuardedVideo(Guarded):
    """Video can't be painted over: where a secret was ever used there is none, and pictures are shown.

    A use is known before the secret is sent, so no picture of the secret was taken before this knows.
    """

    async def record(self, renew: asyncio.Event) -> AsyncGenerator[VideoUnit]:
        await self._require_untouched()
        async with aclosing(self._inner.record(renew)) as units:
            async for unit in units:
                await self._require_untouched()
                yield unit

    async def _require_untouched(self) -> None:
        if not self._here.is_untouched:
            await self._here.refresh()
        if not self._here.is_untouched:
            raise Unsupported(
                "A secret was used on this device, and a video can't hide it",
                hint="Pictures are shown instead: what may not be seen is painted over in them.",
            )


class GuardedText(Guarded):
    """Typing: the field that takes a secret is known before it is sent."""

    async def type_text(self, text: str, *, blind: bool = False, into: str | None = None) -> Typed:
        here = self._here
        if not here.must_watch(text):
            typed: Typed = await self._inner.type_text(text, blind=blind, into=into)
            return typed
        await here.refresh()
        return await self._told(here.type_text(self._inner, text, self._front))

    async def clear_text(self) -> Typed:
        here = self._here
        if here.is_untouched:
            cleared: Typed = await self._inner.clear_text()
            return cleared
        await here.refresh()
        return await self._told(here.clear_text(self._inner, self._front))

    async def _told(self, typing: Awaitable[Typed]) -> Typed:
        try:
            return await typing
        except HandrailError as error:
            self._here.clean_error(error)
            raise


class GuardedClipboard(Guarded):
    """A clipboard that a caller set says what the caller said."""

    async def set_clipboard(self, text: str) -> None:
        await self._here.set_clipboard(text)
        await self._cleaned(self._inner.set_clipboard(text))


class GuardedApps(Guarded):
    """Programs: one without its data has lost every secret too."""

    async def reset(self, package: str) -> None:
        await self._cleaned(self._inner.reset(package))
        if not self._here.is_untouched:
            await self._here.end_app(package)

    async def uninstall(self, package: str) -> None:
        await self._cleaned(self._inner.uninstall(package))
        if not self._here.is_untouched:
            await self._here.end_app(package)


class GuardedShell(Guarded):
    """Commands on the device."""

    async def command(self, tokens: Sequence[str]) -> CommandOutput:
        return await self._output(self._inner.command(tokens))

    async def script(self, text: str) -> CommandOutput:
        return await self._output(self._inner.script(text))

    async def _output(self, running: Awaitable[CommandOutput]) -> CommandOutput:
        output: CommandOutput = await self._cleaned(running)
        if not self._here.is_untouched:
            for package in output.cleared:
                await self._here.end_app(package)
        return output


class GuardedData(Guarded):
    """An app's own files, where a PIN may be a number."""

    numbers = True


_KINDS: Mapping[Capability, type[Guarded]] = {
    Capability.LOOK: GuardedEyes,
    Capability.VIDEO: GuardedVideo,
    Capability.TEXT: GuardedText,
    Capability.CLIPBOARD: GuardedClipboard,
    Capability.APPS: GuardedApps,
    Capability.SHELL: GuardedShell,
    Capability.DATA: GuardedData,
}
