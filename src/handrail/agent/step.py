"""One step of a run as it is kept: the model's words, what was done, and what came of it. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

Came = Literal[
    "verified", "changed", "unchanged", "done", "failed", "refused", "malformed", "blocked", "unfinished"
]
"""verified: proved; changed, unchanged: nothing could prove it, and the screen says this much; done: a read
or a wait; refused: by policy or a person; malformed: no action could be read; blocked: the guard stopped it,
or the task is not done; unfinished: stopped, or its process died."""

GOOD: frozenset[Came] = frozenset({"verified", "changed", "done"})


@dataclass(frozen=True, slots=True)
class Step:
    """One line of steps.jsonl."""

    number: int
    thought: str
    action: Mapping[str, Any] | None
    """As it was run, in the native vocabulary; None where none could be read."""
    outcome: Came
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
    at: str = ""
    ms: float = 0.0

    @property
    def kind(self) -> str:
        return str(self.action["type"]) if self.action else "none"

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "action_ids": list(self.action_ids), "ms": round(self.ms, 1)}

    @classmethod
    def read(cls, line: Mapping[str, Any]) -> Step:
        """What an older or newer version wrote besides is left out."""
        known = {one.name for one in fields(cls)}
        given = {name: value for name, value in line.items() if name in known}
        return cls(**{**given, "action_ids": tuple(line.get("action_ids", ()))})
