"""The base of every action and the traits that doors, policy and engine read off its class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from handrail.protocol.model import CamelModel, Model, Name
from handrail.protocol.target import Expectation

Effect = Literal["read", "input", "system", "sensitive", "desk"]
Semantic = Literal["selection", "input", "navigation", "system", "observation", "control"]
Settle = Literal["full", "light", "none"]


@dataclass(frozen=True, slots=True)
class Traits:
    """What a kind of action is, whatever its fields say."""

    effect: Effect
    semantic: Semantic
    shorthand: str | None = None  # the field that a bare value fills: `- tap: Save`
    settle: Settle | None = None  # None: full for what touches the device, none for the rest

    @property
    def waits(self) -> Settle:
        """How long the engine watches the screen afterwards."""
        touches = self.effect in ("input", "system", "sensitive")
        return self.settle or ("full" if touches else "none")


class Act(Model):
    """What every action may carry besides its own fields."""

    traits: ClassVar[Traits]
    example: ClassVar[dict[str, Any]]

    type: str
    reason: Name | None = None
    """First person: what you do and why. It goes into the journal."""
    device: Name | None = None
    """Serial or name of the device; the session's own when absent."""
    expect: Expectation | None = None
    """What should hold afterwards; the action fails when it does not."""

    @property
    def effect(self) -> Effect:
        return self.traits.effect

    @property
    def semantic(self) -> Semantic:
        return self.traits.semantic


class DeskAct(CamelModel, Act):
    """An OS action of the desk; it writes seed 004's camelCase."""

    model_config = CamelModel.model_config
    traits: ClassVar[Traits] = Traits("desk", "control")

    monitor_id: Name | None = None
    """The desk's monitor; the active one when absent."""
