"""A folder of recorded screens as data: the dumps in order, their screenshots, and how one leads to another.

Knows files and formats; which element explains a step that nobody wrote down is `explain`'s business.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from handrail_sim.apps.replay.recorded import Screen, read_screen
from handrail_sim.apps.replay.transitions import Transition, read_events, read_transitions
from handrail_sim.errors import UnreadableDump

DUMPS = frozenset({".xml", ".uix", ".json"})
PICTURES = (".png", ".jpg", ".jpeg", ".webp")
_NOT_DUMPS = ("transitions.json", "__event.json")
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Shot:
    """One recorded screen."""

    name: str
    screen: Screen
    picture: Path | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """All screens in their order; `skipped` says which files could not be read, and why.

    `complete`: the folder's own file says how screens lead to each other, so nothing is to be guessed.
    """

    shots: tuple[Shot, ...]
    transitions: tuple[Transition, ...]
    skipped: tuple[str, ...] = ()
    complete: bool = False

    def number(self, name: str) -> int | None:
        """The place of a screen, by file name with or without its ending."""
        stem = name.rpartition("/")[2]
        for place, shot in enumerate(self.shots):
            if stem in (shot.name, shot.name.rpartition(".")[0]):
                return place
        return None


def load(place: str | Path) -> Recording:
    """Reads a folder, or the files that a pattern such as `walks/login_*` fits."""
    folder, paths = _listed(Path(place))
    shots: list[Shot] = []
    skipped: list[str] = []
    for path in paths:
        if path.suffix.lower() not in DUMPS or path.name.endswith(_NOT_DUMPS):
            continue
        try:
            shots.append(Shot(path.name, read_screen(path.read_bytes()), _picture_of(path)))
        except UnreadableDump as error:
            skipped.append(f"{path.name}: {error.message}")
    if not shots:
        raise UnreadableDump(f"{place} holds no readable UI dump", hint="; ".join(skipped))
    written = read_transitions(folder)
    events = read_events([path for path in paths if path.name.endswith("__event.json")])
    return Recording(tuple(shots), tuple(written + events), tuple(skipped), bool(written))


def _listed(place: Path) -> tuple[Path, list[Path]]:
    if place.is_dir():
        return place, sorted(place.iterdir(), key=_order)
    return place.parent, sorted(place.parent.glob(place.name), key=_order)


def _order(path: Path) -> list[tuple[int, int, str]]:
    """2 before 10, and `…__before` before `…__after`."""
    stem = path.stem.replace("__before", "__0").replace("__after", "__1")
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _DIGITS.split(stem) if part]


def _picture_of(path: Path) -> Path | None:
    found = (path.with_suffix(ending) for ending in PICTURES)
    return next((picture for picture in found if picture.is_file()), None)
