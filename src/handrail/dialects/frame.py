"""What a dialect's numbers mean: from them to pixels of the screen, and back. Given, never guessed.

The same tap is (540, 1200) on the screen, (353, 784) on the picture that was sent, (500, 500) of a thousand.

The parts below read and write single fields: places in a frame, seconds, other words. `Conversation` is what
reading needs besides the words themselves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from handrail.dialects.rules import FurtherField, round_half_up
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
            problem = "is required: the numbers are pixels of the picture that was sent"
            hint = "Say how large that picture was, such as 720x1600."
            raise InvalidAction.at("picture", problem, hint=hint)
        return smart_resize(*self.picture) if self.unit == "resized" else self.picture

    @property
    def device_size(self) -> Size:
        """The screen. Raises `InvalidAction` where nobody has said how large it is."""
        if self.screen is None:
            hint = "Say how large the screen is, such as 1080x2400."
            raise InvalidAction.at("screen", "is required: the numbers are shares of it", hint=hint)
        return self.screen

    def to_device(self, x: float, y: float, path: str = "") -> dict[str, int]:
        """A place in pixels of the screen; the far edge is its last pixel."""
        if not (math.isfinite(x) and math.isfinite(y)):
            raise InvalidAction.at(path, "is not a point")
        if self.unit == "device":
            return {"x": _bounded(x, path), "y": _bounded(y, path)}
        (width, height), (across, down) = self.device_size, self.size
        if not (0 <= x <= across and 0 <= y <= down):
            raise InvalidAction.at(
                path,
                f"({x:g}, {y:g}) lies outside: in this frame ({self.unit}) the screen is {across:g}x{down:g}",
                hint="Give the unit of its numbers, and the size of the picture that it was shown.",
            )
        return {
            "x": _scaled_to_pixel(x, width / across, width, path),
            "y": _scaled_to_pixel(y, height / down, height, path),
        }

    def from_device(self, x: float, y: float) -> tuple[float, float]:
        """The same place in its own numbers: whole ones, but for shares of one."""
        if self.unit == "device":
            return x, y
        (width, height), (across, down) = self.device_size, self.size
        own = x * across / width, y * down / height
        return own if self.unit == "unit" else (_round_unless_inexact(own[0]), _round_unless_inexact(own[1]))


def _bounded(value: float, path: str) -> int:
    if abs(value) > _FARTHEST:
        raise InvalidAction.at(path, f"{value:g} is far from any screen")
    return round_half_up(value)


def _scaled_to_pixel(value: float, factor: float, most: int, path: str) -> int:
    place = _bounded(value * factor, path)
    return most - 1 if place == most else place


def _round_unless_inexact(value: float) -> float:
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
    """Reads `1080x2400`."""
    if text is None:
        return None
    match = _SIZE.fullmatch(text.strip())
    if match is None or not (int(match[1]) and int(match[2])):
        raise InvalidAction.at(path, f"{text[:40]!r} is not a size", hint="Write 1080x2400.")
    return int(match[1]), int(match[2])


def unit_from(text: str | None, default: Unit) -> Unit:
    """A word of `Unit`, or the dialect's own."""
    if text is None:
        return default
    units: tuple[Unit, ...] = get_args(Unit)
    for unit in units:
        if text == unit:
            return unit
    raise InvalidAction.at("frame", f"{text[:40]!r} is not known", hint=f"One of: {', '.join(units)}.")


def number_from(value: Any, path: str) -> float:
    """A finite number, also in quotes."""
    if isinstance(value, str):
        try:
            value = float(value.strip())
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise InvalidAction.at(path, "should be a number")
    if abs(value) > _LARGEST:  # what is made of it by adding and multiplying stays a number
        raise InvalidAction.at(path, "the number is too large")
    return float(value)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that no float holds
        return False


Fields = Mapping[str, Any]


@dataclass(slots=True)
class Conversation:
    """What a reader knows besides the words themselves: the frame, and what was said before."""

    frame: CoordinateFrame
    elements: Sequence[str] = ()
    """Refs, in the order in which the caller was told of them: some dialects name elements by number."""
    cursor: dict[str, int] | None = None
    """Where a mouse would stand. A phone has none, and it is only kept."""
    held: list[dict[str, int]] | None = None
    """Where that mouse has been since its button went down."""
    answer: str = ""
    """What was answered and not yet said at the end."""
    notes: list[str] = field(default_factory=list)
    """What is odd about the numbers that are being read."""

    def place(self, x: float, y: float, path: str) -> dict[str, int]:
        """A place in pixels of the screen."""
        is_share = 0 <= x <= 1 and 0 <= y <= 1 and not (x.is_integer() and y.is_integer())
        if is_share and self.frame.unit != "unit":
            self.notes.append(f"{path}: ({x:g}, {y:g}) looks like shares and was read as {self.frame.unit}")
        return self.frame.to_device(x, y, path)


def place_from(value: Any, path: str, talk: Conversation) -> dict[str, int]:
    """`[x, y]`, `{x, y}` or "x, y" in the frame; a box of four numbers is its centre, and lies inside."""
    if isinstance(value, Mapping):
        value = [value.get("x"), value.get("y")]
    if isinstance(value, str):
        value = [part for part in value.strip(" ()[]").replace(",", " ").split() if part]
    if not isinstance(value, list | tuple) or len(value) > 4:
        raise InvalidAction.at(path, "should be two numbers", hint="Write [x, y].")
    while len(value) == 1 and isinstance(value[0], list | tuple):
        value = value[0]
    numbers = [number_from(number, path) for number in value]
    if len(numbers) == 4:
        for x, y in (numbers[:2], numbers[2:]):
            talk.frame.to_device(x, y, path)
        numbers = [(numbers[0] + numbers[2]) / 2, (numbers[1] + numbers[3]) / 2]
    if len(numbers) != 2:
        raise InvalidAction.at(path, "should be two numbers", hint="Write [x, y].")
    return talk.place(numbers[0], numbers[1], path)


def element_by_number(value: Any, path: str, talk: Conversation, first: int = 0) -> str:
    """The ref of an element in the list that the caller was told last, whose first has this number."""
    number = number_from(value, path)
    if not talk.elements:
        raise InvalidAction.at(path, "no list of elements was sent yet", hint="Look first, or give a point.")
    if not number.is_integer() or not 0 <= number - first < len(talk.elements):
        problem = f"{number:g} is not one of the {len(talk.elements)} elements that were listed"
        raise InvalidAction.at(path, problem, hint="Look again.")
    return talk.elements[int(number) - first]


def without_zero_fraction(number: float) -> float | int:
    """540.0 is 540."""
    return int(number) if float(number).is_integer() else number


@dataclass(frozen=True, slots=True)
class PlaceField:
    """A field that is a place."""

    path: str

    def read(self, value: Any, name: str, talk: Any) -> Any:
        return place_from(value, name, talk)

    def write(self, value: Any, talk: Any) -> Any:
        """Returns None for an element: it has no place before it was found."""
        if not isinstance(value, Mapping) or "x" not in value:
            return None
        return list(map(without_zero_fraction, talk.frame.from_device(value["x"], value["y"])))


@dataclass(frozen=True, slots=True)
class SecondsField:
    """A field in seconds where ours has milliseconds; "2 seconds" is 2."""

    path: str
    as_words: bool = False
    most: float = 600.0

    def read(self, value: Any, name: str, _: Any) -> Any:
        if isinstance(value, str):
            value = value.lower().replace("seconds", "").replace("second", "").strip().removesuffix("s")
        seconds = number_from(value, name)
        if not 0 <= seconds <= self.most:
            raise InvalidAction.at(name, f"should be 0 to {self.most:g} seconds")
        return round(seconds * 1000)

    def write(self, value: Any, _: Any) -> Any:
        seconds = without_zero_fraction(value / 1000)
        return f"{seconds} seconds" if self.as_words else seconds


@dataclass(frozen=True, slots=True)
class RenamedWords:
    """A field whose words are others than ours."""

    path: str
    words: Mapping[str, Any]

    def read(self, value: Any, name: str, _: Any) -> Any:
        word = str(value)
        any_case = {key.lower(): native for key, native in self.words.items()}
        native = self.words.get(word, any_case.get(word.lower()))
        if native is None:
            words = ", ".join(self.words)
            raise InvalidAction.at(name, f"must be one of: {words}, not {word[:40]!r}")
        return native

    def write(self, value: Any, _: Any) -> Any:
        return next((word for word, ours in self.words.items() if ours == value), None)


@dataclass(frozen=True, slots=True)
class TextArgument:
    """A text; numbers are written out."""

    path: str

    def read(self, value: Any, name: str, _: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise InvalidAction.at(name, "should be a text")
        return str(value)

    def write(self, value: Any, _: Any) -> Any:
        return value


FINGER = {"up": "down", "down": "up", "left": "right", "right": "left"}
"""Where the finger goes when a word says where the content is read on: scroll down moves it up."""


def opposite_direction(path: str = "direction") -> RenamedWords:
    return RenamedWords(path, FINGER)


def refuse_other_fields(arguments: Fields, names: Iterable[str], word: str) -> None:
    allowed = list(names)
    hint = f"{word} takes: {', '.join(allowed)}."
    for key in arguments:
        if key not in allowed:
            raise FurtherField.at(str(key), f"is not a field of {word}", hint=hint)


def required_field(arguments: Fields, name: str) -> Any:
    if name not in arguments:
        raise InvalidAction.at(name, "is required")
    return arguments[name]
