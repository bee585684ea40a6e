"""Values of a rule: patterns, words, true or false, times of day.

Each kind reads itself from the file, compares, and explains a mismatch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import translate
from functools import cached_property
from typing import Protocol, TypeVar

from handrail.protocol.read import nearest
from handrail.safety.labels import compact, is_written, lookalike_forms, read_pattern, readings, strip_marks

Plain = bool | str
Compared_contra = TypeVar("Compared_contra", contravariant=True)


class Values(Protocol[Compared_contra]):
    """The values of one key of a rule. One matching value is enough."""

    def fits(self, value: Compared_contra) -> bool: ...

    def covers(self, other: object) -> bool:
        """True if everything that `other` accepts is certainly accepted here."""
        ...

    def plain_values(self) -> list[Plain]:
        """As they are written in the file."""
        ...

    def why_not_met(self, saw: Sequence[Plain]) -> str:
        """Why none of the compared values fits."""
        ...


_REGEX = re.compile(r"/(?P<body>.+)/(?P<flag>i?)", re.DOTALL)
_WILD = re.compile(r"[*?\[]")


def _is_plain_char(char: str) -> bool:
    """Characters of a glob that are part of words or plain punctuation."""
    return is_written(char) or char in " .,:!'’-"


@dataclass(frozen=True)
class Pattern:
    """A glob, or a regular expression between slashes."""

    text: str
    ignore_case: bool

    @cached_property
    def matches(self) -> Callable[[str], object]:
        """A glob must match the whole text; a regular expression is searched in it."""
        flags = re.IGNORECASE if self.ignore_case else re.NOFLAG
        if regex := _REGEX.fullmatch(self.text):
            flags |= re.IGNORECASE if regex["flag"] else re.NOFLAG
            return re.compile(regex["body"], flags).search
        return re.compile(translate(self.text), flags).match

    def check(self) -> None:
        """Raises ValueError for an invalid regular expression."""
        try:
            self.matches  # noqa: B018  (compiled here, or at the first use)
        except re.error as error:
            raise ValueError(f"{self.text} is not a valid regular expression: {error}") from None

    def resembles(self, text: str) -> bool:
        """Whether it matches the text, or a form that the text looks like to a person."""
        shown = lookalike_forms(text)
        if any(map(self.matches, shown)) or (self._read is not None and any(map(self._read, shown))):
            return True
        return self._squeezed is not None and any(
            self._squeezed(compact(way)) for way in readings(strip_marks(text))
        )

    @cached_property
    def _read(self) -> Callable[[str], object] | None:
        """The pattern for texts whose letters are replaced by those that they look like."""
        read = read_pattern(self.text)
        try:
            return None if read == self.text else Pattern(read, self.ignore_case).matches
        except re.error:  # such as a range whose ends changed their order
            return None

    @cached_property
    def _squeezed(self) -> Callable[[str], object] | None:
        """The glob without spaces, for texts without spaces; None if that would be another glob."""
        if self.is_regex:
            return None
        pieces = re.split(r"([*?]|\[[^\]]+\])", self.text)
        plain = pieces[::2]
        if any(literal != literal.strip() for literal in plain) or not all(
            map(_is_plain_char, strip_marks("".join(plain)))
        ):
            return None
        pieces[::2] = [compact(readings(strip_marks(literal))[0]) for literal in plain]
        return re.compile(translate("".join(pieces))).match if len("".join(pieces[::2])) > 1 else None

    @property
    def is_regex(self) -> bool:
        return _REGEX.fullmatch(self.text) is not None

    @property
    def is_literal(self) -> bool:
        return not self.is_regex and not _WILD.search(self.text)

    def covers(self, other: Pattern) -> bool:
        """True if everything that `other` matches is certainly matched here."""
        if self.text in (other.text, "*"):
            return True
        return other.is_literal and bool(self.matches(other.text))

    def __str__(self) -> str:
        return self.text if self.is_regex else repr(self.text)


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns of which one must match."""

    all: tuple[Pattern, ...]
    as_people_see: bool = False
    """A text that only looks like a matching one fits too."""

    @classmethod
    def read(cls, value: object, *, ignore_case: bool = False) -> Patterns:
        """The values of a rule's key. Raises ValueError for what is none."""
        patterns = tuple(Pattern(text, ignore_case) for text in _read_some(value))
        for pattern in patterns:
            pattern.check()
        return cls(patterns)

    @classmethod
    def read_without_case(cls, value: object) -> Patterns:
        return cls.read(value, ignore_case=True)

    def fits(self, shown: str) -> bool:
        if self.as_people_see:
            return any(pattern.resembles(shown) for pattern in self.all)
        return any(pattern.matches(shown) for pattern in self.all)

    def covers(self, other: object) -> bool:
        return isinstance(other, Patterns) and all(
            any(own.covers(theirs) for own in self.all) for theirs in other.all
        )

    def plain_values(self) -> list[Plain]:
        return [pattern.text for pattern in self.all]

    def why_not_met(self, saw: Sequence[Plain]) -> str:
        wanted = " or ".join(map(str, self.all))
        if len(saw) == 1:
            return f"{saw[0]!r} does not match {wanted}"
        return f"none of {', '.join(map(repr, saw))} matches {wanted}"


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a list that is known."""

    all: tuple[str, ...]

    @classmethod
    def read(cls, value: object, allowed: Sequence[str]) -> Words:
        """The values of a rule's key. Raises ValueError for what is none."""
        words = _read_some(value)
        for word in words:
            check_word(word, allowed)
        return cls(tuple(words))

    def fits(self, word: str) -> bool:
        return word in self.all

    def covers(self, other: object) -> bool:
        return isinstance(other, Words) and set(other.all) <= set(self.all)

    def plain_values(self) -> list[Plain]:
        return list(self.all)

    def why_not_met(self, saw: Sequence[Plain]) -> str:
        wanted = self.all[0] if len(self.all) == 1 else f"one of {', '.join(self.all)}"
        return f"{saw[0]} is not {wanted}"


@dataclass(frozen=True, slots=True)
class Flag:
    """A rule wants true or false."""

    wanted: bool

    @classmethod
    def read(cls, value: object) -> Flag:
        """The values of a rule's key. Raises ValueError for what is none."""
        if not isinstance(value, bool):
            raise ValueError("must be true or false")
        return cls(value)

    def fits(self, value: bool) -> bool:
        return value == self.wanted

    def covers(self, other: object) -> bool:
        return self == other

    def plain_values(self) -> list[Plain]:
        return [self.wanted]

    def why_not_met(self, saw: Sequence[Plain]) -> str:
        return f"it is {'true' if saw[0] else 'false'}"


_WINDOW = re.compile(r"([01]\d|2[0-3]):([0-5]\d)\s*[-–]\s*([01]\d|2[0-3]|24):([0-5]\d)")
_DAY_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class Window:
    """Minutes of the day from `first` to before `end`; over midnight if `end` comes before `first`."""

    first: int
    end: int

    @classmethod
    def read(cls, text: str) -> Window:
        """`22:00-06:00`. Raises ValueError."""
        match = _WINDOW.fullmatch(text.strip())
        if not match:
            raise ValueError(f"{text!r} is not a time window such as 22:00-06:00")
        first, end = int(match[1]) * 60 + int(match[2]), int(match[3]) * 60 + int(match[4])
        if first == end or end > _DAY_MINUTES:
            raise ValueError(f"{text!r} is not a time window: begin and end must be different times of a day")
        return cls(first, end)

    @property
    def minutes(self) -> frozenset[int]:
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
        """The values of a rule's key. Raises ValueError for what is none."""
        return cls(tuple(Window.read(text) for text in _read_some(value)))

    @cached_property
    def minutes(self) -> frozenset[int]:
        return frozenset().union(*(window.minutes for window in self.all))

    def fits(self, moment: datetime) -> bool:
        return moment.hour * 60 + moment.minute in self.minutes

    def covers(self, other: object) -> bool:
        return isinstance(other, Windows) and other.minutes <= self.minutes

    def plain_values(self) -> list[Plain]:
        return list(map(str, self.all))

    def why_not_met(self, saw: Sequence[Plain]) -> str:
        return f"{saw[0]} is not within {' or '.join(map(str, self.all))}"


def read_texts(value: object) -> list[str]:
    """One text or a list of them, none empty. Raises ValueError."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise ValueError("must be a text or a list of texts")
    return texts


def check_word(word: object, allowed: Sequence[str]) -> str:
    """Returns the word if it is allowed. Raises ValueError with suggestions."""
    if isinstance(word, str) and word in allowed:
        return word
    close = nearest(word, allowed) if isinstance(word, str) else []
    advice = f"; did you mean {' or '.join(close)}?" if close else ""
    raise ValueError(f"{word!r:.60} is not one of {', '.join(allowed)}{advice}")


def _read_some(value: object) -> list[str]:
    texts = read_texts(value)
    if not texts:
        raise ValueError("is an empty list, which nothing could match; leave the key out to match everything")
    return texts


def listed(values: Sequence[Plain]) -> str:
    """`a, b or c`"""
    names = [str(value) for value in values]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def spaced(values: Sequence[Plain]) -> list[Plain]:
    return [str(word).replace("_", " ") for word in values]


def quoted_list(values: Sequence[Plain]) -> str:
    """A regular expression is not quoted: it has slashes."""
    return listed([word if str(word).startswith("/") else f"“{word}”" for word in values])


def named(names: Mapping[str, str], values: Sequence[Plain]) -> str:
    return listed([names.get(str(word), str(word)) for word in values])


def either(yes: str, no: str) -> Callable[[Sequence[Plain]], str]:
    return lambda values: yes if values[0] is True else no


CALLER_WORDS = {"local": "from this machine", "remote": "from another machine"}
EFFECT_WORDS = {
    "read": "only looks",
    "input": "touches or types",
    "system": "changes the system",
    "sensitive": "reads or changes an app's own data",
    "desk": "changes the desk",
}
DOOR_WORDS = {
    "python": "a Python program",
    "cli": "the command line",
    "mcp": "an MCP client",
    "http": "HTTP",
    "ws": "the WebSocket",
    "flow": "a flow",
    "agent": "Handrail's own agent",
    "desk": "a person at the desk",
}
