"""What a rule can ask for: patterns, words, yes or no, times of day.

Each kind of value reads itself from a file, compares, and says what it does not accept. It knows no rule, no
action and no screen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import translate
from functools import cached_property
from typing import Protocol, TypeVar

from handrail.engine.policy.skeleton import is_written, likenesses, read_alone, readings, squeezed, unmarked
from handrail.protocol.read import nearest

Plain = bool | str
Seen_contra = TypeVar("Seen_contra", contravariant=True)


class Values(Protocol[Seen_contra]):
    """The values of one part of a rule. One of several is enough."""

    def fits(self, seen: Seen_contra) -> bool: ...

    def covers(self, other: object) -> bool:
        """True when everything that `other` accepts is accepted here, as far as can be told."""
        ...

    def plain(self) -> list[Plain]:
        """As they stand in the file."""
        ...

    def refusal(self, saw: Sequence[Plain]) -> str:
        """Why nothing of what was seen fits."""
        ...


_REGEX = re.compile(r"/(?P<body>.+)/(?P<flag>i?)", re.DOTALL)
_WILD = re.compile(r"[*?\[]")


def _is_mild(char: str) -> bool:
    """In a glob, what is neither written nor mere punctuation means itself."""
    return is_written(char) or char in " .,:!'’-"


@dataclass(frozen=True)
class Pattern:
    """One pattern. Labels ignore case: people do."""

    text: str
    ignore_case: bool

    @cached_property
    def matches(self) -> Callable[[str], object]:
        """A glob must fit the whole text; a regular expression may be found anywhere in it."""
        flags = re.IGNORECASE if self.ignore_case else re.NOFLAG
        if found := _REGEX.fullmatch(self.text):
            flags |= re.IGNORECASE if found["flag"] else re.NOFLAG
            return re.compile(found["body"], flags).search
        return re.compile(translate(self.text), flags).match

    def check(self) -> None:
        """Raises ValueError for a regular expression that is none."""
        try:
            self.matches  # noqa: B018  (compiled here, or at the first use)
        except re.error as error:
            raise ValueError(f"{self.text} is no regular expression: {error}") from None

    def resembles(self, text: str) -> bool:
        """Whether it matches the text, or what the text looks like to a person."""
        shown = likenesses(text)
        if any(map(self.matches, shown)) or (self._read is not None and any(map(self._read, shown))):
            return True
        return self._squeezed is not None and any(
            self._squeezed(squeezed(way)) for way in readings(unmarked(text))
        )

    @cached_property
    def _read(self) -> Callable[[str], object] | None:
        """The same pattern for a text whose letters were read as those that they look like."""
        read = read_alone(self.text)
        try:
            return None if read == self.text else Pattern(read, self.ignore_case).matches
        except re.error:  # such as a range whose ends changed their order
            return None

    @cached_property
    def _squeezed(self) -> Callable[[str], object] | None:
        """A glob without its spaces, for a text without them; None where that would be another glob."""
        if self.is_regex:
            return None
        pieces = re.split(r"([*?]|\[[^\]]+\])", self.text)
        plain = pieces[::2]
        if any(one != one.strip() for one in plain) or not all(map(_is_mild, unmarked("".join(plain)))):
            return None
        pieces[::2] = [squeezed(readings(unmarked(one))[0]) for one in plain]
        return re.compile(translate("".join(pieces))).match if len("".join(pieces[::2])) > 1 else None

    @property
    def is_regex(self) -> bool:
        return _REGEX.fullmatch(self.text) is not None

    @property
    def is_literal(self) -> bool:
        return not self.is_regex and not _WILD.search(self.text)

    def covers(self, other: Pattern) -> bool:
        """True when everything that `other` matches is matched here, as far as can be told."""
        if self.text in (other.text, "*"):
            return True
        return other.is_literal and bool(self.matches(other.text))

    def __str__(self) -> str:
        return self.text if self.is_regex else repr(self.text)


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns for a text."""

    all: tuple[Pattern, ...]
    as_people_see: bool = False
    """Also fits what only looks like a fitting text."""

    @classmethod
    def read(cls, value: object, *, ignore_case: bool = False) -> Patterns:
        """Raises ValueError."""
        patterns = tuple(Pattern(text, ignore_case) for text in _given(value))
        for pattern in patterns:
            pattern.check()
        return cls(patterns)

    @classmethod
    def read_without_case(cls, value: object) -> Patterns:
        return cls.read(value, ignore_case=True)

    def fits(self, seen: str) -> bool:
        if self.as_people_see:
            return any(pattern.resembles(seen) for pattern in self.all)
        return any(pattern.matches(seen) for pattern in self.all)

    def covers(self, other: object) -> bool:
        return isinstance(other, Patterns) and all(
            any(mine.covers(theirs) for mine in self.all) for theirs in other.all
        )

    def plain(self) -> list[Plain]:
        return [pattern.text for pattern in self.all]

    def refusal(self, saw: Sequence[Plain]) -> str:
        wanted = " or ".join(map(str, self.all))
        if len(saw) == 1:
            return f"{saw[0]!r} does not match {wanted}"
        return f"none of {', '.join(map(repr, saw))} matches {wanted}"


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a list that is known."""

    all: tuple[str, ...]

    @classmethod
    def read(cls, value: object, known: Sequence[str]) -> Words:
        """Raises ValueError."""
        words = _given(value)
        for word in words:
            check_word(word, known)
        return cls(tuple(words))

    def fits(self, seen: str) -> bool:
        return seen in self.all

    def covers(self, other: object) -> bool:
        return isinstance(other, Words) and set(other.all) <= set(self.all)

    def plain(self) -> list[Plain]:
        return list(self.all)

    def refusal(self, saw: Sequence[Plain]) -> str:
        wanted = self.all[0] if len(self.all) == 1 else f"one of {', '.join(self.all)}"
        return f"{saw[0]} is not {wanted}"


@dataclass(frozen=True, slots=True)
class Flag:
    """Yes or no."""

    wanted: bool

    @classmethod
    def read(cls, value: object) -> Flag:
        """Raises ValueError."""
        if not isinstance(value, bool):
            raise ValueError("must be true or false")
        return cls(value)

    def fits(self, seen: bool) -> bool:
        return seen == self.wanted

    def covers(self, other: object) -> bool:
        return self == other

    def plain(self) -> list[Plain]:
        return [self.wanted]

    def refusal(self, saw: Sequence[Plain]) -> str:
        return f"it is {'true' if saw[0] else 'false'}"


_WINDOW = re.compile(r"([01]\d|2[0-3]):([0-5]\d)\s*[-–]\s*([01]\d|2[0-3]|24):([0-5]\d)")
_DAY_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class Window:
    """From `first` to before `end`, minutes of the day; over midnight when `end` comes before `first`."""

    first: int
    end: int

    @classmethod
    def read(cls, text: str) -> Window:
        """`22:00-06:00`. Raises ValueError."""
        found = _WINDOW.fullmatch(text.strip())
        if not found:
            raise ValueError(f"{text!r} is no time window such as 22:00-06:00")
        first, end = int(found[1]) * 60 + int(found[2]), int(found[3]) * 60 + int(found[4])
        if first == end or end > _DAY_MINUTES:
            raise ValueError(f"{text!r} is no time window: it must begin and end at different times of a day")
        return cls(first, end)

    @property
    def minutes(self) -> frozenset[int]:
        """Every minute of the day that is in it."""
        length = (self.end - self.first) % _DAY_MINUTES or _DAY_MINUTES
        return frozenset((self.first + passed) % _DAY_MINUTES for passed in range(length))

    def __str__(self) -> str:
        return f"{self.first // 60:02}:{self.first % 60:02}-{self.end // 60:02}:{self.end % 60:02}"


@dataclass(frozen=True)
class Windows:
    """Times of the day."""

    all: tuple[Window, ...]

    @classmethod
    def read(cls, value: object) -> Windows:
        """Raises ValueError."""
        return cls(tuple(Window.read(text) for text in _given(value)))

    @cached_property
    def minutes(self) -> frozenset[int]:
        return frozenset().union(*(window.minutes for window in self.all))

    def fits(self, seen: datetime) -> bool:
        return seen.hour * 60 + seen.minute in self.minutes

    def covers(self, other: object) -> bool:
        return isinstance(other, Windows) and other.minutes <= self.minutes

    def plain(self) -> list[Plain]:
        return list(map(str, self.all))

    def refusal(self, saw: Sequence[Plain]) -> str:
        return f"{saw[0]} is not within {' or '.join(map(str, self.all))}"


def read_texts(value: object) -> list[str]:
    """One text or a list of them, none empty. Raises ValueError."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(one, str) and one for one in found):
        raise ValueError("must be a text or a list of texts")
    return found


def check_word(word: object, known: Sequence[str]) -> str:
    """The word, if it is known. Raises ValueError that says what may have been meant."""
    if isinstance(word, str) and word in known:
        return word
    close = nearest(word, known) if isinstance(word, str) else []
    meant = f"; did you mean {' or '.join(close)}?" if close else ""
    raise ValueError(f"{word!r:.60} is not one of {', '.join(known)}{meant}")


def _given(value: object) -> list[str]:
    found = read_texts(value)
    if not found:
        raise ValueError("is an empty list, which nothing could match; leave the key out to match everything")
    return found
