"""The screen: natural size, rotation, density, font scale, theme, and the px of the system's bars."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from handrail_sim.view.units import Units
from handrail_sim.view.view import Rect

STATUS_DP = 24.0
NAVIGATION_DP = 48.0
IME_DP = 260.0


@dataclass(slots=True)
class Display:
    """`natural_*` is the panel in its natural orientation, `physical_*` what was built in."""

    natural_width: int
    natural_height: int
    density: int
    physical_width: int = 0
    physical_height: int = 0
    physical_density: int = 0
    rotation: int = 0  # quarter turns, counter-clockwise as Surface.ROTATION_*
    font_scale: float = 1.0
    dark: bool = False

    def __post_init__(self) -> None:
        self.physical_width = self.physical_width or self.natural_width
        self.physical_height = self.physical_height or self.natural_height
        self.physical_density = self.physical_density or self.density

    @property
    def width(self) -> int:
        return self.natural_height if self.rotation % 2 else self.natural_width

    @property
    def height(self) -> int:
        return self.natural_width if self.rotation % 2 else self.natural_height

    @property
    def units(self) -> Units:
        return _units(self.density, self.font_scale)

    @property
    def screen(self) -> Rect:
        return (0, 0, self.width, self.height)

    @property
    def status_px(self) -> int:
        return self.units.px(STATUS_DP)

    @property
    def navigation_px(self) -> int:
        return self.units.px(NAVIGATION_DP)

    @property
    def ime_px(self) -> int:
        return min(self.units.px(IME_DP), self.height // 2)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@lru_cache(maxsize=64)
def _units(density: int, font_scale: float) -> Units:
    dp = density / 160.0
    return Units(dp, dp * font_scale)
