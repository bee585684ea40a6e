"""Screenshots: one painter thread for all phones, and no second painting of a screen that did not change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
# Painting holds the interpreter's lock most of the time: more threads would only fight for it.
_PAINTER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="paint")


async def paint_aside(work: Callable[[], T]) -> T:
    """Run a painting outside of the event loop."""
    return await asyncio.get_running_loop().run_in_executor(_PAINTER, work)


class Camera:
    """A phone's screenshots; the last PNG is kept with the frame it shows."""

    def __init__(self, look: Callable[[], Any]) -> None:
        self._look = look
        self._frame: Any = None
        self._picture: asyncio.Future[bytes] | None = None

    async def png(self) -> bytes:
        """The screen of now. Those who ask while it is painted wait for the same painting."""
        frame = self._look()
        picture = self._picture
        if picture is None or frame != self._frame or self._is_lost(picture):
            self._frame = frame
            self._picture = picture = asyncio.ensure_future(paint_aside(frame.png))
        return picture.result() if picture.done() else await asyncio.shield(picture)

    def _is_lost(self, picture: asyncio.Future[bytes]) -> bool:
        """A painting that failed, or that another event loop began and never ended."""
        if not picture.done():
            return picture.get_loop() is not asyncio.get_running_loop()
        return picture.cancelled() or picture.exception() is not None
