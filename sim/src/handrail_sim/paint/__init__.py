"""The simulated phone's eyes: pictures of its windows.

Nothing here changes the phone; Pillow is imported only when something is painted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from handrail_sim.paint.compose import Frame, compose
from handrail_sim.view.windows import Window

if TYPE_CHECKING:
    from PIL.Image import Image


def frame(
    windows: Sequence[Window], width: int, height: int, *, dark: bool = False, now_ms: float = 0.0
) -> Frame:
    """What these windows, bottom to top, show now. Quick; `Frame.png` and the like belong in a thread."""
    return compose(windows, width, height, dark=dark, now_ms=now_ms)


def render(
    windows: Sequence[Window], width: int, height: int, *, dark: bool = False, now_ms: float = 0.0
) -> Image:
    """The same as a Pillow image."""
    return frame(windows, width, height, dark=dark, now_ms=now_ms).image()


def png(
    windows: Sequence[Window], width: int, height: int, *, dark: bool = False, now_ms: float = 0.0
) -> bytes:
    """The same as a PNG file."""
    return frame(windows, width, height, dark=dark, now_ms=now_ms).png()
