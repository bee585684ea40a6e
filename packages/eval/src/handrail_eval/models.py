"""Which model an evaluation measures, by its name: a program that knows tasks, or one of the agent's."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from handrail.clock import Clock
from handrail_agent.model import AgentModel
from handrail_agent.models import open_model
from handrail_eval.baselines import baseline_of
from handrail_eval.result import EpisodeName

MEMORISER = "memoriser"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """As it was given; it travels to other processes."""

    name: str
    base_url: str | None = None
    text: bool = False
    see: bool | None = None

    @property
    def is_program(self) -> bool:
        """Whether it thinks here and at once: then time is virtual, and processes pay."""
        return ":" not in self.name or self.name.startswith(("scripted:", "random:"))

    def settings(self) -> dict[str, Any]:
        """For the manifest, which takes keys out of the address."""
        return asdict(self)

    def open(
        self, task: Any, reference: Callable[[Any], AgentModel], clock: Clock, *, on_phones: bool
    ) -> AgentModel:
        """A model of its own for every task: nothing is carried over from one to the next."""
        if self.name in ("reference", MEMORISER):  # what it knows by heart is learned first
            return reference(task)
        if on_phones and (known := baseline_of(self.name, task)) is not None:
            return known
        return open_model(
            _random(task) if self.name == "random" else self.name,
            env=os.environ,
            clock=clock,
            base_url=self.base_url,
            mode="text" if self.text else None,
            sees=self.see,
        )


def _random(task: EpisodeName) -> str:
    """Other taps in every task and repeat, the same in every run."""
    return f"random:{zlib.crc32(f'{task.seed} {task.repeat} {task.id}'.encode()) % 1_000_000}"
