"""How single fields of a dialect become ours and back: places in a frame, seconds, other words.

`Conversation` is what reading needs besides the words themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handrail.dialects.frame import CoordinateFrame, number_from
from handrail.errors import InvalidAction

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


def place_from(value: Any, path: str, talk: Conversation) -> dict[str, int]:
    """`[x, y]`, `{x, y}` or "x, y" in the frame; a box of four numbers is its centre."""
    numbers = _numbers(value, path)
    if len(numbers) == 4:
        numbers = [(numbers[0] + numbers[2]) / 2, (numbers[1] + numbers[3]) / 2]
    if len(numbers) != 2:
        raise InvalidAction(f"{path}: should be two numbers", path=path, hint="Write [x, y].")
    return talk.frame.to_device(numbers[0], numbers[1], path)


def _numbers(value: Any, path: str) -> list[float]:
    if isinstance(value, Mapping):
        value = [value.get("x"), value.get("y")]
    if isinstance(value, str):
        value = [part for part in value.strip(" ()[]").replace(",", " ").split() if part]
    if not isinstance(value, list | tuple) or len(value) > 4:
        raise InvalidAction(f"{path}: should be two numbers", path=path, hint="Write [x, y].")
    while len(value) == 1 and isinstance(value[0], list | tuple):
        value = value[0]
    return [number_from(number, path) for number in value]


def short(number: float) -> float | int:
    """540.0 is 540."""
    return int(number) if float(number).is_integer() else number


@dataclass(frozen=True, slots=True)
class PlaceField:
    """A field that is a place."""

    path: str

    def read(self, value: Any, name: str, talk: Any) -> Any:
        return place_from(value, name, talk)

    def write(self, value: Any, talk: Any) -> Any:
        """None: an element has no place before it was found."""
        if not isinstance(value, Mapping) or "x" not in value:
            return None
        return [short(coordinate) for coordinate in talk.frame.from_device(value["x"], value["y"])]


@dataclass(frozen=True, slots=True)
class Seconds:
    """A field in seconds where ours has milliseconds; "2 seconds" is 2."""

    path: str
    as_words: bool = False
    most: float = 600.0

    def read(self, value: Any, name: str, talk: Any) -> Any:
        del talk
        if isinstance(value, str):
            value = value.lower().replace("seconds", "").replace("second", "").strip().removesuffix("s")
        seconds = number_from(value, name)
        if not 0 <= seconds <= self.most:
            raise InvalidAction(f"{name}: should be 0 to {self.most:g} seconds", path=name)
        return round(seconds * 1000)

    def write(self, value: Any, talk: Any) -> Any:
        del talk
        seconds = short(value / 1000)
        return f"{seconds} seconds" if self.as_words else seconds


@dataclass(frozen=True, slots=True)
class OneOf:
    """A field whose words are others than ours."""

    path: str
    words: Mapping[str, Any]

    def read(self, value: Any, name: str, talk: Any) -> Any:
        del talk
        word = str(value)
        any_case = {key.lower(): native for key, native in self.words.items()}
        native = self.words.get(word, any_case.get(word.lower()))
        if native is None:
            words = ", ".join(self.words)
            raise InvalidAction(f"{name}: must be one of: {words}, not {word[:40]!r}", path=name)
        return native

    def write(self, value: Any, talk: Any) -> Any:
        del talk
        return next((word for word, ours in self.words.items() if ours == value), None)


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text; numbers are written out."""

    path: str

    def read(self, value: Any, name: str, talk: Any) -> Any:
        del talk
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise InvalidAction(f"{name}: should be a text", path=name)
        return str(value)

    def write(self, value: Any, talk: Any) -> Any:
        del talk
        return value


FINGER = {"up": "down", "down": "up", "left": "right", "right": "left"}
"""Where the finger goes when a word says where the content is read on: scroll down moves it up."""


def opposite(path: str = "direction") -> OneOf:
    return OneOf(path, FINGER)


def only(arguments: Fields, names: Iterable[str], word: str) -> None:
    allowed = list(names)
    for key in arguments:
        if key not in allowed:
            raise InvalidAction(
                f"{key}: is not a field of {word}", path=str(key), hint=f"{word} takes: {', '.join(allowed)}."
            )


def needed(arguments: Fields, name: str) -> Any:
    if name not in arguments:
        raise InvalidAction(f"{name}: is required", path=name)
    return arguments[name]
