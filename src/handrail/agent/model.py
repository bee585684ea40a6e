"""What the loop wants of a model, whoever answers: a prompt in, one thought with one action out.

Also what a caller may decide of a hosted model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from handrail.protocol.observe import Finish

Mode = Literal["tools", "text"]
"""`tools`: the vocabulary is the tool schema. `text`: openpocket JSON in plain text."""


@dataclass(frozen=True, slots=True)
class PromptTurn:
    """One message of the conversation that the model is shown; `image` is a PNG or JPEG."""

    role: Literal["user", "assistant"]
    text: str
    image: bytes | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything that one step shows to the model."""

    system: str
    turns: tuple[PromptTurn, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    """`{name, description, input_schema}`, one per action that it may choose."""
    step: int = 1
    """Which step of the run this is; a question that is asked again has the same number."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one call cost. `cost_usd` is None where nobody knows the price."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said: the action as it wrote it, unchecked; None where none can be read."""

    thought: str
    action: Mapping[str, Any] | None
    raw: str
    usage: Usage = field(default_factory=Usage)
    problem: str = ""
    """Why there is no action, in words that can be told to the model."""


def finished(message: str) -> Reply:
    """The end of a run, for models that are programs."""
    return Reply("", Finish(message=message).to_dict(), "")


class AgentModel(Protocol):
    """A hosted, local, scripted or recorded model."""

    name: str
    mode: Mode
    sees: bool
    """True when screenshots are worth sending."""

    async def step(self, prompt: Prompt) -> Reply:
        """Raises `handrail.errors` classes for what can't be helped by asking again."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """`base_url` is the server's address; `stream` has the answer sent piece by piece."""

    base_url: str | None = None
    mode: Mode | None = None
    sees: bool | None = None
    stream: bool = False
