"""Steps, flows and their traces (seed 003): what a file asks for and what a run answers."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from handrail.protocol.act import Settle
from handrail.protocol.actions import Action
from handrail.protocol.model import CamelModel, Count, Flag, Model, Name, Text, WaitMs
from handrail.protocol.screen import SystemDialog
from handrail.protocol.target import Expectation


class Step(Model):
    """One action of a flow and how to run it."""

    action: Action
    label: Name | None = None
    """What a report calls it."""
    optional: Flag = False
    """A failure does not fail the flow."""
    timeout_ms: WaitMs | None = None
    """Deadline of the whole step."""
    retry: Annotated[int, Field(strict=True, ge=0, le=20)] = 0
    """How often to try again what is retryable."""
    when: Expectation | None = None
    """Skip the step unless this holds."""
    settle: Settle | None = None
    """Overrides how long the screen is watched afterwards."""


class Flow(Model):
    """Many steps under one name."""

    name: Name
    app: Name | None = None
    """Started before the first step."""
    tags: tuple[Name, ...] = ()
    env: dict[Name, Text] = Field(default_factory=dict)
    steps: Annotated[tuple[Step, ...], Field(min_length=1, max_length=10_000)]


class StepResult(CamelModel):
    """What became of one step."""

    step_index: Count
    action: dict[str, Any]
    """The step as it was given."""
    success: Flag
    duration_ms: Annotated[int, Field(strict=True, ge=0)] | Annotated[float, Field(strict=True, ge=0)]
    error: str | None = None
    loading_detected: str | None = None
    children: tuple[StepResult, ...] | None = None
    """Inner steps of a control step."""


class FlowTrace(CamelModel):
    """What became of a flow."""

    success: Flag
    steps_completed: Count
    total_steps: Count
    results: tuple[StepResult, ...]
    screen_fingerprint: str
    screen_changed: Flag
    final_ui_tree: str | None = None
    """Left out when everything passed and the screen is the same."""
    error: str | None = None
    system_dialogs: tuple[SystemDialog, ...] | None = None
    app_crash_detected: Flag | None = None
