"""Bytes of a dump to a `Screen`; the same bytes again give the same object, so nothing is parsed twice."""

from __future__ import annotations

import asyncio

from handrail.android.constants import LARGE_DUMP_BYTES
from handrail.android.display import turned_size
from handrail.tree.node import Bounds, Screen
from handrail.tree.parse.reader import parse

SIZE_GUESSED = "the display size is a guess"
"""How `tree.parse` says that it had to; the phone's own word ends the guessing."""


class LastScreen:
    """Remembers one dump: one for each channel that reads trees."""

    def __init__(self) -> None:
        self._raw = b""
        self._natural: tuple[int, int] | None = None
        self._screen: Screen | None = None

    async def read(self, raw: bytes, natural: tuple[int, int] | None = None) -> Screen:
        """`natural` is the unturned display's size where the phone told it. Raises `TreeParseError`."""
        if self._screen is not None and natural == self._natural and raw == self._raw:
            return self._screen
        screen = await asyncio.to_thread(parse, raw) if len(raw) > LARGE_DUMP_BYTES else parse(raw)
        if natural is not None:
            fit(screen, turned_size(natural, screen.rotation))
        self._raw, self._natural, self._screen = raw, natural, screen
        return screen


def fit(screen: Screen, size: tuple[int, int]) -> None:
    """A dump knows windows, not the display: a dialog is smaller. The virtual root spans the display."""
    screen.width, screen.height = size
    screen.warnings = [warning for warning in screen.warnings if not warning.startswith(SIZE_GUESSED)]
    root = screen.root
    if not root.class_name and not root.flags:
        root.bounds = Bounds(0, 0, *size)
