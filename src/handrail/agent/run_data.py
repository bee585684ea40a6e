"""A run as plain data: a step as it is kept, how the run gets on, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from handrail.agent.budget import Limit, Spend

StepOutcome = Literal[
    "verified", "changed", "unchanged", "done", "failed", "refused", "malformed", "blocked", "unfinished"
]
"""verified: proved; changed, unchanged: nothing could prove it, and the screen says this much; done: a read
or a wait; refused: by policy or a person; malformed: no action could be read; blocked: the guard stopped it,
or the task is not done; unfinished: stopped, or its process died."""

GOOD: frozenset[StepOutcome] = frozenset({"verified", "changed", "done"})


@dataclass(frozen=True, slots=True)
class AgentStep:
    """One line of steps.jsonl."""

    number: int
    thought: str
    action: Mapping[str, Any] | None
    """As it was run, in the native vocabulary; None where none could be read."""
    outcome: StepOutcome
    told: str
    """One line: what was done and what came of it."""
    raw: str = ""
    code: str | None = None
    action_id: str | None = None
    action_ids: tuple[str, ...] = ()
    """Everything that the journal has of this step, in order: looks, pictures, the act, its checks."""
    app: str = ""
    fingerprint: str = ""
    """The screen on which the action was chosen."""
    revision: str = ""
    picture: str | None = None
    """File name in the run's folder."""
    asks: int = 1
    """How often the model was asked."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    estimated_tokens: int = 0
    """Of those above, what nobody has counted."""
    at: str = ""
    ms: float = 0.0

    @property
    def kind(self) -> str:
        return str(self.action["type"]) if self.action else "none"

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "action_ids": list(self.action_ids), "ms": round(self.ms, 1)}

    @classmethod
    def read(cls, line: Mapping[str, Any]) -> AgentStep:
        """What an older or newer version wrote besides is left out."""
        known = {one.name for one in fields(cls)}
        given = {name: value for name, value in line.items() if name in known}
        return cls(**{**given, "action_ids": tuple(line.get("action_ids", ()))})


Outcome = Literal["finished", "failed", "refused", "stuck", "stopped"] | Limit
"""finished: the model said so, and the task's condition holds where there is one. stuck: it went round in
circles and nobody helped. failed: the model or the phone did. refused: the model will not work on it."""

EXIT_CODES: dict[str, int] = {"finished": 0, "refused": 4, "stopped": 130}
"""Of the command; everything else ends with 1."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How it ended."""

    run: str
    task: str
    outcome: Outcome
    message: str
    """The model's last words, or why it ended otherwise."""
    steps: tuple[AgentStep, ...]
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


NOTHING = Spend()
Phase = Literal["started", "thinking", "notice", "acting", "waiting", "step", "ended"]
"""notice: something that a person should know. waiting: for a person. step: one has ended. ended: so has the
run."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """One moment of a run."""

    phase: Phase
    run: str
    number: int = 0
    thought: str = ""
    doing: str = ""
    """The action, or the notice, in a few words."""
    spend: Spend = NOTHING
    step: AgentStep | None = None
    result: RunResult | None = None


Tell = Callable[[RunProgress], None]


def silent(_: RunProgress) -> None:
    """Nobody watches."""
