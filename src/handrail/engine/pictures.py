"""A surface whose looks also tell what only the picture shows, as nodes of the same tree.

The tree decides whether a picture is taken at all (`screen.pictures.blind_parts`). What reads it is a
package beside the core, which this one does not import. A part that can't be read is one shape without
words, and policy asks about every press there.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Protocol, cast

from handrail.clock import Clock
from handrail.errors import HandrailError
from handrail.screen.node import Bounds, DrawnPart, Screen
from handrail.screen.pictures import blind_parts, with_drawn_parts
from handrail.surface.capabilities import C, ScreenReader, Surface

STILL_GAP_MS = 100.0
"""Two pictures so far apart that look alike: the picture rests."""
STILL_BUDGET_MS = 1_500.0
"""A picture that moves longer is read as it is."""


class PictureReader(Protocol):
    """What handrail-vision offers: one for each surface, since it remembers the last picture."""

    def is_same(self, png: bytes, other: bytes) -> bool:
        """Whether a person would see no change; a cursor or a clock is none."""

    def read(self, png: bytes, boxes: Sequence[Bounds], width: int, height: int) -> list[list[DrawnPart]]:
        """What is drawn in each of these boxes of a display of this size, which is not the picture's."""


class PictureSurface:
    """Wraps a surface; its screens have drawn nodes where the tree is silent."""

    def __init__(self, inner: Surface, reader: PictureReader, clock: Clock) -> None:
        self.inner = inner
        self._reader, self._clock = reader, clock
        self._looks: PictureLooks | None = None

    def need(self, kind: type[C]) -> C:
        if kind is not ScreenReader:
            return self.inner.need(kind)
        if self._looks is None:
            self._looks = PictureLooks(self.inner.need(ScreenReader), self._reader, self._clock)
        return cast("C", self._looks)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class PictureLooks:
    """The `ScreenReader` of such a surface."""

    def __init__(self, inner: ScreenReader, reader: PictureReader, clock: Clock) -> None:
        self._inner, self._reader, self._clock = inner, reader, clock
        self._last: tuple[Screen, bytes, Screen] | None = None
        """The last tree, the digest of its picture, and the screen that was made of both."""
        self._png = b""
        self._reads_pictures = False

    @property
    def waits_for_idle(self) -> bool:
        """A look that reads a picture waits until it is still."""
        return self._reads_pictures or self._inner.waits_for_idle

    async def look(self) -> Screen:
        screen = await self._inner.look()
        parts = blind_parts(screen)
        self._reads_pictures = bool(parts)
        if not parts:
            return screen
        boxes = [part.bounds.intersect(screen.bounds) for part in parts]
        try:
            png = await self._still_picture()
            key = hashlib.blake2b(png, digest_size=16).digest()
            if self._last is not None and self._last[0] is screen and self._last[1] == key:
                return self._last[2]
            drawn = await asyncio.to_thread(self._reader.read, png, boxes, screen.width, screen.height)
        except (HandrailError, OSError, ValueError, RuntimeError) as error:
            key, drawn = b"", [[DrawnPart("shape", box)] for box in boxes]
            warning = f"the picture could not be read: {error}"
            screen.warnings[:] = dict.fromkeys((*screen.warnings, warning))
        complete = with_drawn_parts(screen, dict(zip(parts, drawn, strict=True)))
        before = self._last[2] if self._last is not None else complete
        nodes, former = map(_COMPARED, complete.nodes), map(_COMPARED, before.nodes)
        if before.bounds == complete.bounds and list(nodes) == list(former):
            complete = before  # the same object, so that nothing is computed again
        self._last = screen, key, complete
        return complete

    async def _still_picture(self) -> bytes:
        """The picture once it rests, except for what is as small as a cursor; the newest one in any case."""
        png = await self._inner.screenshot()
        began = self._clock.monotonic_ms()
        before, self._png = self._png, png
        if png == before or (before and await self._is_same(before, png)):
            return png
        while self._clock.monotonic_ms() - began < STILL_BUDGET_MS:
            await self._clock.sleep_ms(STILL_GAP_MS)
            newest = await self._inner.screenshot()
            is_still = newest == png or await self._is_same(png, newest)
            png = self._png = newest
            if is_still:
                break
        return png

    async def _is_same(self, png: bytes, other: bytes) -> bool:
        return await asyncio.to_thread(self._reader.is_same, png, other)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


_COMPARED = attrgetter(
    "class_name", "resource_id", "text", "description", "package_name", "bounds", "flags", "role", "index",
    "hint_text", "state_description", "pane_title", "tooltip_text", "drawing_order", "native_id",
    "covered_by", "touch_at", "scrolled", "scrolls_to", "place", "drawn", "end",
)  # fmt: skip

Eyes = Callable[[], PictureReader | None]
"""A reader for one surface; None where none is installed or wanted."""


def with_eyes(surface: Surface, eyes: Eyes | None, clock: Clock) -> Surface:
    reader = eyes() if eyes is not None else None
    return surface if reader is None else cast("Surface", PictureSurface(surface, reader, clock))
