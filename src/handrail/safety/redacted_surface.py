"""A surface whose replies leave without secrets, for every capability, also future ones.

Replies of a device on which no secret was used pass unchanged.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import io
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, cast

from handrail.config import canonical
from handrail.errors import HandrailError, Unsupported
from handrail.safety.secret_fields import DeviceKey, DeviceSecrets, SecretFieldStore, hidden_boxes
from handrail.safety.secrets import Secrets
from handrail.screen.node import Bounds, Screen
from handrail.surface.capabilities import (
    AppData,
    Apps,
    C,
    ClipboardAccess,
    DeskWindows,
    ScreenReader,
    Scrolling,
    ShellCommands,
    Surface,
    TextInput,
    TypingWay,
    Video,
)
from handrail.surface.values import CommandOutput, Facts, Typed, VideoUnit

TRIES = 3
"""Attempts at a screenshot between two equal screens; then it is blank."""


class RedactedSurface:
    """Wraps a surface; `here` knows the secrets that were used on the device."""

    def __init__(self, inner: Surface, here: DeviceSecrets) -> None:
        self.inner = inner
        """The wrapped surface, whose replies may contain secrets."""
        self.name = inner.name
        self.is_exclusive = inner.is_exclusive
        self.entry = inner.entry
        self.here = here
        self._guarded: dict[type, RedactedCapability] = {}

    @classmethod
    def of(cls, inner: Surface, taints: SecretFieldStore, secrets: Secrets, boot_id: str) -> RedactedSurface:
        return cls(inner, DeviceSecrets(taints, secrets, DeviceKey(canonical(inner.name), boot_id)))

    def need(self, kind: type[C]) -> C:
        if kind is DeskWindows:  # the desk shows what agents wrote, not texts of a device
            return self.inner.need(kind)
        guarded: Any = self._guarded.get(kind)
        if guarded is None:
            guard = _CAPABILITIES.get(kind, RedactedCapability)
            guarded = self._guarded[kind] = guard(self.inner.need(kind), self.here, self._front)
        return cast("C", guarded)

    def _front(self) -> Awaitable[Any]:
        return self.inner.need(ScreenReader).foreground()

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


class RedactedCapability:
    """Wraps a capability. Everything awaited from it is redacted, errors included."""

    numbers = False

    def __init__(self, inner: Any, here: DeviceSecrets, front: Callable[[], Awaitable[Any]]) -> None:
        self._inner = inner
        self._here = here
        self._front = front

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._inner, name)
        if not callable(attribute):
            return attribute

        def call(*args: Any, **options: Any) -> Any:
            answer = attribute(*args, **options)
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
        if value is None or isinstance(value, bool) or self._here.is_untouched:
            return value
        await self._here.refresh()
        return self._here.clean(value, numbers=self.numbers)


class RedactedScreenReader(RedactedCapability):
    """Screens and screenshots leave here without secrets."""

    def __init__(self, inner: Any, here: DeviceSecrets, front: Callable[[], Awaitable[Any]]) -> None:
        super().__init__(inner, here, front)
        self._looking = asyncio.Lock()  # a screenshot reads the screen too: one read at a time
        self._picture = (b"", 0, b"")
        """The last screenshot: its digest, `DeviceSecrets.version` then, and the redacted picture."""

    async def look(self) -> Screen:
        if not self._here.has_secrets:
            raw: Screen = await self._inner.look()
            self._here.last = raw
            if self._here.is_untouched:  # another process may have used one during the read
                return raw
        return await self._read_screen()

    async def screenshot(self) -> bytes:
        """Paints over what is hidden, if it is the same before and after the screenshot; else blank."""
        here = self._here
        png: bytes = await self._cleaned(self._inner.screenshot())
        if here.is_untouched:
            return png
        if self._picture[:2] == (_digest(png), here.version):  # no pixel changed since the last one
            return self._picture[2]
        try:
            clean = await self._between_looks()
        except HandrailError:
            clean = None
        return await asyncio.to_thread(blank_picture, png) if clean is None else clean

    async def _between_looks(self) -> bytes | None:
        """Returns None if the screen changes while the screenshot is taken."""
        before = await self._read_screen()
        for _ in range(TRIES):
            png: bytes = await self._inner.screenshot()
            after = await self._read_screen()
            boxes = hidden_boxes(after)
            if hidden_boxes(before) == boxes:
                hides = bool(boxes) or not is_fully_read(after)
                clean = await asyncio.to_thread(painted, png, boxes, after) if hides else png
                self._picture = (_digest(png), self._here.version, clean)
                return clean
            before = after
        return None

    async def _read_screen(self) -> Screen:
        async with self._looking:
            raw = await self._cleaned(self._inner.look())
            await self._here.refresh()
            return await self._here.see(raw, self._front)

    def __getattr__(self, name: str) -> Any:
        """Other attributes, such as sizes, hold no texts of apps."""
        return getattr(self._inner, name)


def _digest(png: bytes) -> bytes:
    return hashlib.blake2b(png, digest_size=16).digest()


class RedactedScrolling(RedactedCapability):
    """What is out of sight."""

    async def everything(self) -> Screen | None:
        raw: Screen | None = await self._cleaned(self._inner.everything())
        if raw is None or not self._here.has_secrets:
            return raw
        await self._here.refresh()
        return await self._here.see(raw, self._front)


class RedactedVideo(RedactedCapability):
    """Video can't be painted over, so there is none once a secret was used on the device.

    A use is stored before the secret is sent, so no frame shows a secret.
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
                hint="Pictures are shown instead: hidden parts are painted over in them.",
            )


class RedactedTextInput(RedactedCapability):
    """Typing. The field that receives a secret is stored before the secret is sent."""

    async def type_text(
        self, text: str, *, blind: bool = False, into: str | None = None, how: TypingWay | None = None
    ) -> Typed:
        """`how` is not followed where a secret is about: such a text goes in by the safest way."""
        here = self._here
        if not here.must_watch(text):
            typed: Typed = await self._inner.type_text(text, blind=blind, into=into, how=how)
            return typed
        await here.refresh()
        return await self._with_clean_errors(here.type_text(self._inner, text, self._front))

    async def clear_text(self) -> Typed:
        here = self._here
        if here.is_untouched:
            cleared: Typed = await self._inner.clear_text()
            return cleared
        await here.refresh()
        return await self._with_clean_errors(here.clear_text(self._inner, self._front))

    async def _with_clean_errors(self, typing: Awaitable[Typed]) -> Typed:
        try:
            return await typing
        except HandrailError as error:
            self._here.clean_error(error)
            raise


class RedactedClipboard(RedactedCapability):
    """A clipboard that a caller set is shown as the caller wrote it."""

    async def set_clipboard(self, text: str) -> None:
        await self._here.set_clipboard(text)
        await self._cleaned(self._inner.set_clipboard(text))


class RedactedApps(RedactedCapability):
    """An app that lost its data lost its secrets too."""

    async def reset(self, package: str) -> None:
        await self._cleaned(self._inner.reset(package))
        if not self._here.is_untouched:
            await self._here.end_app(package)

    async def uninstall(self, package: str) -> None:
        await self._cleaned(self._inner.uninstall(package))
        if not self._here.is_untouched:
            await self._here.end_app(package)


class RedactedShell(RedactedCapability):
    """Output of commands on the device."""

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


class RedactedAppData(RedactedCapability):
    """Files of an app, where a PIN may be a number."""

    numbers = True

    async def query(self, package: str, database: str, query: str, *, write: bool) -> Mapping[str, Any]:
        """A statement reads a copy without secrets: it could answer in hex, or count what fits a guess."""
        await self._here.refresh()
        redact = None if self._here.is_untouched else self._here.redact
        rows: Mapping[str, Any] = await self._cleaned(
            self._inner.query(package, database, query, write=write, redact=redact)
        )
        return rows


_CAPABILITIES: Mapping[type, type[RedactedCapability]] = {
    ScreenReader: RedactedScreenReader,
    Scrolling: RedactedScrolling,
    Video: RedactedVideo,
    TextInput: RedactedTextInput,
    ClipboardAccess: RedactedClipboard,
    Apps: RedactedApps,
    ShellCommands: RedactedShell,
    AppData: RedactedAppData,
}
PAINT = (32, 33, 36)
EDGE_PX = 3
"""Margin around each box, since letters and cursors may exceed it."""


def painted(png: bytes, boxes: Sequence[Bounds], screen: Screen) -> bytes:
    """Paints over these boxes, and over everything outside the windows that were read."""
    from PIL import Image, ImageDraw  # noqa: PLC0415  (30 ms that a device without secrets need not pay)

    with Image.open(io.BytesIO(png)) as opened:
        taken = opened.convert("RGB")
    across, down = taken.width / max(1, screen.width), taken.height / max(1, screen.height)
    image = Image.new("RGB", taken.size, PAINT)
    for window in screen.windows:
        left, top, right, bottom = window.bounds
        part = (round(left * across), round(top * down), round(right * across), round(bottom * down))
        if window.bounds.area:
            image.paste(taken.crop(part), part[:2])
    draw = ImageDraw.Draw(image)
    for left, top, right, bottom in (box for box in boxes if box.area):
        edges = (
            left * across - EDGE_PX,
            top * down - EDGE_PX,
            right * across + EDGE_PX,
            bottom * down + EDGE_PX,
        )
        draw.rectangle(edges, fill=PAINT)
    return _written(image)


def is_fully_read(screen: Screen) -> bool:
    """Whether a window covers the full screen. If none does, the rest was not read."""
    return any(window.bounds.covers(screen.bounds) for window in screen.windows)


def blank_picture(png: bytes) -> bytes:
    """An empty picture of the same size."""
    from PIL import Image  # noqa: PLC0415

    with Image.open(io.BytesIO(png)) as opened:
        return _written(Image.new("RGB", opened.size, PAINT))


def _written(image: object) -> bytes:
    written = io.BytesIO()
    image.save(written, "PNG", compress_level=1)  # type: ignore[attr-defined]
    return written.getvalue()
