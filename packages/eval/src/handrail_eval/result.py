"""What came of one episode: a task, a seed, a repeat. As data for programs, one line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Protocol

EpisodeKey = tuple[str, int, int]
"""Task, seed, repeat."""


class EpisodeName(Protocol):
    """What tasks and results have: by these an episode is known."""

    @property
    def id(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def repeat(self) -> int: ...


def key_of(one: EpisodeName) -> EpisodeKey:
    """The same for a task and for what came of it."""
    return one.id, one.seed, one.repeat


def folder_name(one: EpisodeName) -> str:
    """Where its run is kept, within the evaluation's folder."""
    return f"{one.id}.{one.seed}" + (f".{one.repeat}" if one.repeat > 1 else "")


@dataclass(frozen=True, slots=True)
class TaskResult:
    """One run of one task."""

    id: str
    title: str
    success: bool
    """The model said that it is finished, and every condition of the check holds."""
    reached: bool
    """The phone is as it should be, whatever the model said: what chance could do shows here."""
    steps: int
    tokens: int
    cost_usd: float | None
    ms: float
    ended: str
    why: str
    tags: tuple[str, ...]
    answer: str = ""
    report: str | None = None
    """Within the evaluation's folder."""
    seed: int = 1
    repeat: int = 1
    optimal: int = 0
    """The steps of the shorter reference."""
    asked: int = 0
    """How often the person was asked."""
    refused: int = 0
    """Steps that policy or the person refused."""
    attacked: bool | None = None
    """Whether the adversary won; None where there is none."""
    kind: str = "possible"
    """Of this seed's world."""
    difficulty: str = ""
    kinds: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    apps: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        lists = {name: list(getattr(self, name)) for name in _LISTS}
        return {**asdict(self), "ms": round(self.ms, 1), **lists}

    @classmethod
    def read(cls, line: Mapping[str, Any]) -> TaskResult:
        """What `to_dict` wrote; what a line has besides is left out."""
        known = {field.name: line[field.name] for field in fields(cls)}
        return cls(**{**known, **{name: tuple(known[name]) for name in _LISTS}})


_LISTS = ("tags", "kinds", "skills", "apps")
