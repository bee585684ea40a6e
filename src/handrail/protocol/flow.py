"""Steps, flows and their traces (seed 003): what a file asks for and what a run answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from handrail.protocol.actions import Action
from handrail.protocol.envelope import SystemDialog
from handrail.protocol.model import CamelModel, Count, Flag, Key, Model, Name, Text, WaitMs, field_problem
from handrail.protocol.target import Expectation
from handrail.protocol.traits import Settle


class StepOptions(Model):
    """What every step may say besides what it does."""

    label: Name | None = None
    """What a report calls it."""
    optional: Flag = False
    """A failure does not fail the flow."""
    timeout_ms: WaitMs | None = None
    """Deadline of the whole step."""
    when: Expectation | None = None
    """Skip the step unless this holds."""


class Step(StepOptions):
    """One action of a flow and how to run it."""

    action: Action
    retry: Annotated[int, Field(strict=True, ge=0, le=20)] = 0
    """How often to try again what is retryable."""
    settle: Settle | None = None
    """Overrides how long the screen is watched afterwards."""


class Repeat(StepOptions):
    """The same steps again: a number of times, while something holds, or until it does."""

    times: Annotated[int, Field(strict=True, ge=1, le=10_000)] | None = None
    while_: Expectation | None = None
    """Checked before every round."""
    until: Expectation | None = None
    """Checked after every round; never met is a failure."""
    max_times: Annotated[int, Field(strict=True, ge=1, le=10_000)] = 100
    """For `while` and `until`: more rounds than this are a failure."""
    steps: Steps

    @model_validator(mode="after")
    def _check_end(self) -> Repeat:
        if sum(end is not None for end in (self.times, self.while_, self.until)) != 1:
            raise field_problem("times", "give exactly one of times, while and until")
        return self


class Branch(StepOptions):
    """Steps for when a condition holds, and for when it does not."""

    condition: Expectation
    then: Steps
    otherwise: Steps | None = None


class RunFlow(StepOptions):
    """Another file's steps, with variables of its own."""

    file: Name
    """Relative to the file that names it."""
    env: dict[Key, Text] = Field(default_factory=dict)


class Parallel(StepOptions):
    """Steps on several devices at once, each by its name."""

    devices: Annotated[dict[Key, Steps], Field(min_length=1, max_length=32)]


AnyStep = Step | Repeat | Branch | RunFlow | Parallel
"""An action, or a step that holds others."""
Steps = Annotated[tuple[AnyStep, ...], Field(min_length=1, max_length=10_000)]


class Flow(Model):
    """Many steps under one name."""

    name: Name
    app: Name | None = None
    """Started before the first step."""
    tags: tuple[Name, ...] = ()
    env: dict[Key, Text] = Field(default_factory=dict)
    devices: tuple[Name, ...] = ()
    """Names of the devices that `parallel` steps use; the first one runs the other steps."""
    retry: Literal["lost"] | None = None
    """In a fleet: repeat it on another phone where an attempt was lost with its host."""
    attempts: Annotated[int, Field(strict=True, ge=1, le=20)] | None = None
    """In a fleet: tries at most. 1: it must not run twice, whatever `retry` says; what is lost ends as
    unknown, for a person."""
    steps: Steps


class StepResult(CamelModel):
    """What became of one step."""

    step_index: Count
    action: dict[str, Any]
    """The step as it was given."""
    success: Flag
    duration_ms: Annotated[int, Field(strict=True, ge=0)] | Annotated[float, Field(strict=True, ge=0)]
    error: str | None = None
    code: str | None = None
    """The failure's code (ours, the seed has none here)."""
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
