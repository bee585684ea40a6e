"""Times of day and days of the week in which a rule holds, by the local clock."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SPAN = re.compile(r"([01]\d|2[0-3]):([0-5]\d)\s*[-–]\s*([01]\d|2[0-3]|24):([0-5]\d)")
_DAY_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class Window:
    """From `first` to before `end`, minutes of the day; over midnight when `end` comes before `first`."""

    first: int
    end: int

    @classmethod
    def read(cls, text: str) -> Window:
        """`22:00-06:00`. Raises ValueError."""
        found = _SPAN.fullmatch(text.strip())
        if not found:
            raise ValueError(f"{text!r} is no time window such as 22:00-06:00")
        first, end = int(found[1]) * 60 + int(found[2]), int(found[3]) * 60 + int(found[4])
        if first == end or end > _DAY_MINUTES:
            raise ValueError(f"{text!r} is no time window: it must begin and end at different times of a day")
        return cls(first, end)

    @property
    def minutes(self) -> frozenset[int]:
        length = (self.end - self.first) % _DAY_MINUTES or _DAY_MINUTES
        return frozenset((self.first + passed) % _DAY_MINUTES for passed in range(length))

    def holds(self, at: datetime) -> bool:
        minute = at.hour * 60 + at.minute
        if self.first < self.end:
            return self.first <= minute < self.end
        return minute >= self.first or minute < self.end

    def __str__(self) -> str:
        return f"{self.first // 60:02}:{self.first % 60:02}-{self.end // 60:02}:{self.end % 60:02}"
