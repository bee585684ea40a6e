"""What a dialect's numbers mean: from them to pixels of the screen, and back. Given, never guessed.

The same tap is (540, 1200) on the screen, (353, 784) on the picture that was sent, (500, 500) of a thousand.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

from handrail.dialects.rules import round_half_up
from handrail.errors import InvalidAction

Unit = Literal["device", "picture", "resized", "thousand", "unit", "percent"]
"""Pixels of the screen, of the picture that was sent, of that picture resized by a model's rule; or shares of
the screen in thousandths, in ones, in per cent."""
Size = tuple[int, int]

FACTOR = 28
LEAST, MOST = 100 * FACTOR * FACTOR, 16_384 * FACTOR * FACTOR
"""Qwen's rule: both sides are multiples of the factor, and so many pixels are there in all."""
_SIZE = re.compile(r"(\d{1,5})\s*[x×*,]\s*(\d{1,5})", re.ASCII)
_FARTHEST = 30_000
"""Pixels: what lies farther away is no place on any screen."""
_LARGEST = 1e9
_SHARES: dict[Unit, float] = {"thousand": 1000.0, "unit": 1.0, "percent": 100.0}


@dataclass(frozen=True, slots=True)
class CoordinateFrame:
    """`screen` is what is touched; `picture` what the model was shown, where that counts."""

    unit: Unit
    screen: Size | None = None
    picture: Size | None = None

    @property
    def size(self) -> tuple[float, float]:
        """How many of its units the whole screen has, across and down. Raises `InvalidAction`."""
        if self.unit in _SHARES:
            return _SHARES[self.unit], _SHARES[self.unit]
        if self.unit == "device":
            return self.device_size
        if self.picture is None:
            raise InvalidAction(
                "picture: is required: the numbers are pixels of the picture that was sent",
                path="picture",
                hint="Say how large that picture was, such as 720x1600.",
            )
        return smart_resize(*self.picture) if self.unit == "resized" else self.picture

    @property
    def device_size(self) -> Size:
        """The screen. Raises `InvalidAction` where nobody has said how large it is."""
        if self.screen is None:
            raise InvalidAction(
                "screen: is required: the numbers are shares of it",
                path="screen",
                hint="Say how large the screen is, such as 1080x2400.",
            )
        return self.screen

    def to_device(self, x: float, y: float, path: str = "") -> dict[str, int]:
        """A place in pixels of the screen; the far edge is its last pixel."""
        if not (math.isfinite(x) and math.isfinite(y)):
            raise InvalidAction(f"{path}: is no place", path=path)
        if self.unit == "device":
            return {"x": _bounded(x, path), "y": _bounded(y, path)}
        (width, height), (across, down) = self.device_size, self.size
        if not (0 <= x <= across and 0 <= y <= down):
            raise InvalidAction(
                f"{path}: ({x:g}, {y:g}) lies outside: in this frame ({self.unit}) the screen is "
                f"{across:g}x{down:g}",
                path=path,
                hint="Say what its numbers mean, and how large the picture was that it was shown.",
            )
        return {"x": _scaled(x, width / across, width, path), "y": _scaled(y, height / down, height, path)}

    def from_device(self, x: float, y: float) -> tuple[float, float]:
        """The same place in its own numbers: whole ones, but for shares of one."""
        if self.unit == "device":
            return x, y
        (width, height), (across, down) = self.device_size, self.size
        own = x * across / width, y * down / height
        return own if self.unit == "unit" else (_nearest(own[0]), _nearest(own[1]))


def _bounded(value: float, path: str) -> int:
    if abs(value) > _FARTHEST:
        raise InvalidAction(f"{path}: {value:g} is far from any screen", path=path)
    return round_half_up(value)


def _scaled(value: float, factor: float, most: int, path: str) -> int:
    place = _bounded(value * factor, path)
    return most - 1 if place == most else place


def _nearest(value: float) -> float:
    """Rounded as little as a way back to the same pixel allows."""
    return float(round_half_up(value)) if value == round_half_up(value) else round(value, 3)


def smart_resize(width: int, height: int) -> Size:
    """The size to which Qwen's models bring a picture of this size before they see it."""
    wide, high = (max(FACTOR, round(side / FACTOR) * FACTOR) for side in (width, height))
    if wide * high > MOST:
        shrink = math.sqrt(width * height / MOST)
        wide, high = (math.floor(side / shrink / FACTOR) * FACTOR for side in (width, height))
    elif wide * high < LEAST:
        grow = math.sqrt(LEAST / (width * height))
        wide, high = (math.ceil(side * grow / FACTOR) * FACTOR for side in (width, height))
    return wide, high


def size_from(text: str | None, path: str) -> Size | None:
    """`1080x2400`."""
    if text is None:
        return None
    match = _SIZE.fullmatch(text.strip())
    if match is None or not (int(match[1]) and int(match[2])):
        raise InvalidAction(f"{path}: {text[:40]!r} is no size", path=path, hint="Write 1080x2400.")
    return int(match[1]), int(match[2])


def unit_from(text: str | None, default: Unit) -> Unit:
    """A word of `Unit`, or the dialect's own."""
    if text is None:
        return default
    for unit in get_args(Unit):
        if text == unit:
            return unit  # type: ignore[no-any-return]
    raise InvalidAction(
        f"frame: {text[:40]!r} is not known", path="frame", hint=f"One of: {', '.join(get_args(Unit))}."
    )


def number_from(value: Any, path: str) -> float:
    """A finite number, also in quotes."""
    if isinstance(value, str):
        try:
            value = float(value.strip())
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise InvalidAction(f"{path}: should be a number", path=path)
    if abs(value) > _LARGEST:  # what is made of it by adding and multiplying stays a number
        raise InvalidAction(f"{path}: the number is too large", path=path)
    return float(value)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that no float holds
        return False
