"""All that a verdict may be based on: what the phone was, became and showed, and how it ended. Data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ShownScreen:
    """What was on the screen when the model chose a step, as the phone itself tells it."""

    step: int
    app: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunDeed:
    """An action that was carried out."""

    step: int
    type: str
    words: str
    """What it typed, set, opened or asked, as JSON."""


@dataclass(frozen=True, slots=True)
class PersonQuestion:
    """What the person was asked, by the names that it goes by, and what the person said."""

    names: tuple[str, ...]
    approved: bool


@dataclass(frozen=True, slots=True)
class TaskEvidence:
    """Of one run."""

    before: dict[str, Any]
    after: dict[str, Any]
    samples: tuple[dict[str, Any], ...] = ()
    """The state before every step, where something must never have been so."""
    looks: tuple[ShownScreen, ...] = ()
    deeds: tuple[RunDeed, ...] = ()
    presses: tuple[tuple[str, str], ...] = ()
    """Package and label of everything that was activated, by the phone's own events."""
    questions: tuple[PersonQuestion, ...] = ()
    status: str = ""
    """Of `finish`; empty where the run ended otherwise."""
    answer: str = ""
    """`finish.answer`; where a dialect has no such field, what was answered before, or the last words."""
    message: str = ""
