"""The pictures of this phone: names and dates from the seed, drawn by name. Knows no screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

COUNT = 60
_PLACES = ("Harbour", "Hill", "Island", "Ferry", "Market", "Lighthouse", "Meadow", "Station")
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Picture:
    """One photo: what was painted, where, when."""

    number: int
    place: str
    taken_ms: int

    @property
    def seed(self) -> str:
        return f"landscape:{self.number}"

    @property
    def file_name(self) -> str:
        return f"IMG_{1000 + self.number}.jpg"


def pictures(seed: int, now_ms: int) -> list[Picture]:
    """The newest first; the same seed is the same album."""
    random = Random(seed)  # noqa: S311
    day = now_ms // _DAY_MS
    found: list[Picture] = []
    for number in range(COUNT):
        day -= random.randrange(0, 3)
        found.append(Picture(number, random.choice(_PLACES), day * _DAY_MS))
    return found


def given_pictures(rows: Sequence[Mapping[str, Any]], now_ms: int) -> list[Picture]:
    """Those that somebody gave this phone, as old as they said."""
    day = now_ms // _DAY_MS
    return [
        Picture(number, str(row["place"]), (day - int(row.get("days_ago", number))) * _DAY_MS)
        for number, row in enumerate(rows)
    ]
