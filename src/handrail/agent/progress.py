"""How a run gets on, for whoever watches: one value per moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from handrail.agent.budget import Spend
from handrail.agent.result import RunResult
from handrail.agent.step import Step

NOTHING = Spend()
Phase = Literal["started", "thinking", "acting", "waiting", "step", "ended"]
"""waiting: for a person. step: one has ended. ended: so has the run."""


@dataclass(frozen=True, slots=True)
class Progress:
    """One moment of a run."""

    phase: Phase
    run: str
    number: int = 0
    thought: str = ""
    doing: str = ""
    """The action in a few words."""
    spend: Spend = NOTHING
    step: Step | None = None
    result: RunResult | None = None


Tell = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Nobody watches."""
