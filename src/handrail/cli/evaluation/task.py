"""One task of the evaluation as its file writes it: what is asked for, on which phone, and what proves it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from handrail.cli.evaluation.conditions import Condition

LONGEST_BUDGET = 200


class Part(BaseModel):
    """A misspelt key is an error, not a wish that is ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Sms(Part):
    """A message that arrives; with `after_ms` while the model is at work."""

    sender: str = Field(alias="from")
    text: str
    after_ms: int = Field(default=0, ge=0, le=60_000)


class Setup(Part):
    """What makes a new phone the one that the task speaks of, in the order of these fields."""

    shell: tuple[str, ...] = Field(default=(), strict=False)
    """Commands of the phone's shell, such as `am start …` and `sim notify …`."""
    sms: tuple[Sms, ...] = Field(default=(), strict=False)
    faults: tuple[str | dict[str, Any], ...] = Field(default=(), strict=False)
    """As in a fault file: a name, or a table with `fault` and its options."""


class Line(Part):
    """What the scripted person says to the questions that `to` names: a label, an action or a capability."""

    to: str = "*"
    approve: bool
    data: str | None = None


class EvalTask(Part):
    """A task, its strings already filled with the values that the seed drew."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
    title: str = Field(min_length=1, max_length=100)
    instruction: str = Field(min_length=1)
    tags: tuple[str, ...] = Field(min_length=1, strict=False)
    seed: int = 1
    steps: int = Field(ge=1, le=LONGEST_BUDGET)
    """The budget."""
    values: dict[str, Any] = Field(default_factory=dict)
    setup: Setup = Setup()
    person: tuple[Line, ...] = Field(default=(), strict=False)
    """The first line that fits a question answers it; where none does, the answer is no."""
    policy: str = ""
    """A policy.toml of this task's own."""
    secrets: dict[str, str] = Field(default_factory=dict)
    check: tuple[Condition, ...] = Field(min_length=1, strict=False)
    """All of them must hold."""
    reference: tuple[dict[str, Any] | str, ...] = Field(min_length=1, strict=False)
    """The steps of one solution, as in a scripted model; `keep` reads what only the screen tells."""
