"""What a run may spend, and what it has spent so far."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from handrail.errors import InvalidAction
from handrail_agent.model import Usage

Limit = Literal["out_of_steps", "out_of_time", "out_of_tokens", "out_of_cost"]
STEPS = 50


@dataclass(frozen=True, slots=True)
class Budget:
    """None is no limit. A run ends at the first limit that it reaches."""

    steps: int = STEPS
    seconds: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    """Counts only where the price of the model is known."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and value <= 0:
                raise InvalidAction(f"{field.name}: {value} is too small; give more than 0", path=field.name)

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


DEFAULT = Budget()


@dataclass(frozen=True, slots=True)
class Spend:
    """The sum of all calls; the cost is that of the calls whose price is known."""

    steps: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    ms: float = 0.0
    estimated_tokens: int = 0
    """Of those above, what nobody has counted: calls that were cut off or came without a true bill."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def plus(self, usage: Usage) -> Spend:
        has_cost = usage.cost_usd is not None
        cost = (self.cost_usd or 0.0) + (usage.cost_usd or 0.0) if has_cost else self.cost_usd
        return Spend(
            self.steps,
            self.calls + 1,
            self.input_tokens + usage.input_tokens,
            self.output_tokens + usage.output_tokens,
            cost,
            self.ms,
            self.estimated_tokens + (usage.tokens if usage.is_estimate else 0),
        )

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "ms": round(self.ms, 1), "tokens": self.tokens}


def reached(budget: Budget, spend: Spend) -> Limit | None:
    """The limit that was reached; time is watched by whoever waits."""
    if spend.steps >= budget.steps:
        return "out_of_steps"
    if budget.tokens is not None and spend.tokens >= budget.tokens:
        return "out_of_tokens"
    if budget.cost_usd is not None and (spend.cost_usd or 0.0) >= budget.cost_usd:
        return "out_of_cost"
    return None


def says(limit: Limit, budget: Budget) -> str:
    match limit:
        case "out_of_steps":
            return f"All {budget.steps} steps were used."
        case "out_of_time":
            return f"{budget.seconds:g} seconds have passed."
        case "out_of_tokens":
            return f"{budget.tokens:,} tokens were used."
        case "out_of_cost":
            return f"${budget.cost_usd:g} were spent."
