"""Which flows a command means: files and folders, tags, and one machine's share of them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from handrail.errors import InvalidAction

T = TypeVar("T")

SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_SHARD = re.compile(r"([0-9]{1,4})/([0-9]{1,4})")


def real_path(path: Path) -> Path:
    """Behind all links. One that leads to itself stays as it is; `Path.resolve` raises there."""
    return Path(os.path.realpath(path))


@dataclass(frozen=True, slots=True)
class Shard:
    """The part of all flows that one of several machines runs."""

    index: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """ "2/5": the second of five."""
        found = _SHARD.fullmatch(text)
        index, count = (int(found[1]), int(found[2])) if found else (0, 0)
        if not 1 <= index <= count:
            raise InvalidAction(
                f"{text!r} is no shard", hint="Give i/n with 1 ≤ i ≤ n, for example 2/5.", path="shard"
            )
        return cls(index, count)

    def of(self, items: Sequence[T]) -> list[T]:
        """Every n-th: the same on every machine, and no two shares differ by more than one."""
        return list(items[self.index - 1 :: self.count])


def find_flows(paths: Sequence[Path]) -> list[Path]:
    """Named files as they are, folders searched; each once, in the order of their paths."""
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise InvalidAction(f"{path} does not exist", hint="Give a flow or a folder of flows.", path="")
        for file in _below(path) if path.is_dir() else [path]:
            found.setdefault(real_path(file), file)
    return [found[file] for file in sorted(found)]


def wanted(tags: Collection[str], only: Collection[str], without: Collection[str]) -> bool:
    """At least one of `only` where any are given, and none of `without`."""
    return (not only or any(tag in only for tag in tags)) and not any(tag in without for tag in tags)


def _below(folder: Path) -> Iterator[Path]:
    """Hidden files and those that begin with _ are parts of others, or none of our business."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "_")):
            continue
        if path.is_dir():
            yield from _below(path)
        elif path.suffix.lower() in SUFFIXES and (path.suffix.lower() != ".json" or _has_steps(path)):
            yield path


def _has_steps(path: Path) -> bool:
    """Folders hold all kinds of JSON; a flow is a list of steps or has one."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    steps = value.get("steps") if isinstance(value, dict) else value
    return isinstance(steps, list) and bool(steps) and all(isinstance(step, dict) for step in steps)
