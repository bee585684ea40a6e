"""What came of a run, as data for every door."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from handrail.agent.budget import Limit, Spend
from handrail.agent.step import Step

Outcome = Literal["finished", "failed", "stuck", "stopped"] | Limit
"""finished: the model said so, and the task's condition holds where there is one. stuck: it went round in
circles and nobody helped. failed: the model or the phone did."""

EXIT_CODES: dict[str, int] = {"finished": 0, "stopped": 130}
"""Of the command; everything else ends with 1."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How it ended."""

    run: str
    task: str
    outcome: Outcome
    message: str
    """The model's last words, or why it ended otherwise."""
    steps: tuple[Step, ...]
    spend: Spend
    model: str = ""
    device: str = ""
    code: str | None = None
    """Of the failure that ended it."""
    folder: Path | None = None

    @property
    def success(self) -> bool:
        return self.outcome == "finished"

    @property
    def exit_code(self) -> int:
        return EXIT_CODES.get(self.outcome, 1)

    def to_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "run": self.run,
            "task": self.task,
            "model": self.model,
            "device": self.device,
            "success": self.success,
            "outcome": self.outcome,
            "message": self.message,
            "code": self.code,
            "steps": self.spend.steps,
            "spend": self.spend.to_dict(),
            "folder": str(self.folder) if self.folder else None,
        }
        return {name: value for name, value in told.items() if value is not None}
