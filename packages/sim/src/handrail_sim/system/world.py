"""What somebody gives a phone to hold instead of its first data: checked here, taken in by each app itself.

A list replaces what the app has; `{add: [...]}` adds to it. A key that nobody knows is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from handrail_sim.errors import BadSetting

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


@dataclass(frozen=True, slots=True)
class Entries:
    """Rows for one app; `adds` where what is there stays."""

    rows: tuple[dict[str, Any], ...]
    adds: bool = False


def entries(content: Any, at: str, current: str) -> Entries:
    """A list of mappings whose keys are among `known`, a text with spaces."""
    adds = isinstance(content, Mapping)
    rows = mapping(content, at, "add").get("add", []) if adds else content
    if not isinstance(rows, list | tuple):
        raise BadSetting(f"world.{at}: should be a list, or {{add: [...]}}", path=f"world.{at}")
    return Entries(
        tuple(mapping(row, f"{at}[{number}]", current) for number, row in enumerate(rows)), bool(adds)
    )


def mapping(arguments: Any, at: str, current: str) -> dict[str, Any]:
    """Raises `BadSetting` with the path of what is wrong."""
    names = current.split()
    if not isinstance(arguments, Mapping):
        raise BadSetting(f"world.{at}: should have {', '.join(names)}", path=f"world.{at}")
    unknown = [str(name) for name in arguments if name not in names]
    if unknown:
        raise BadSetting(
            f"world.{at}: {unknown[0]!r} is not known here",
            path=f"world.{at}",
            hint=f"Known: {', '.join(names)}.",
        )
    return dict(arguments)


def needed(row: Mapping[str, Any], names: Iterable[str], at: str) -> None:
    for name in names:
        if name not in row:
            raise BadSetting(f"world.{at}: {name!r} is missing", path=f"world.{at}")


def clock_time(text: Any, at: str) -> tuple[int, int]:
    """`07:30`."""
    hour, _, minute = str(text).partition(":")
    if not (hour.isdecimal() and minute.isdecimal() and int(hour) < 24 and int(minute) < 60):
        raise BadSetting(f"world.{at}: {str(text)!r} is not a time such as 07:30", path=f"world.{at}")
    return int(hour), int(minute)
