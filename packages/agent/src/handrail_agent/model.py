"""What the loop wants of a model, whoever answers: a prompt in, one thought with one action out.

Also what a caller may decide of a hosted model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from handrail.protocol.observe import Finish

Mode = Literal["tools", "text"]
"""`tools`: the vocabulary is the tool schema. `text`: openpocket JSON in plain text."""
ToolSet = Literal["computer"]
"""Tools that are not the vocabulary: `computer` is the one that the model's maker has trained it on."""


@dataclass(frozen=True, slots=True)
class PromptTurn:
    """One message of the conversation that the model is shown; `image` is a PNG or JPEG."""

    role: Literal["user", "assistant"]
    text: str
    image: bytes | None = None


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a tool in an answer."""

    id: str
    parts: tuple[Any, ...]
    """What is to be done, in order: for a maker's computer in its form, for another tool its arguments."""
    tool: str = ""
    """Which one; empty for the maker's computer."""
    checks: tuple[Mapping[str, Any], ...] = ()
    """What the maker wants a person to confirm first."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """What came of one call."""

    id: str
    text: str
    failed: bool = False
    image: bytes | None = None
    """What it was called for, where that was a picture."""
    acknowledged: tuple[Mapping[str, Any], ...] = ()
    """Checks to which a person has said yes."""
    tool: str = ""
    """As in the call."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """An answer of the model in its maker's own form, and what it was told after it."""

    blocks: tuple[Mapping[str, Any], ...]
    results: tuple[CallResult, ...]
    words: str
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
    exchanges: tuple[Exchange, ...] = ()
    """What was said since the first turn, for models that work by their maker's computer tool."""
    display: tuple[int, int] | None = None
    """How large the pictures are that such a model points at."""
    max_tokens: int | None = None
    """What is left of the run's budget for this question and its repetitions: no answer may be longer."""
    schema: Mapping[str, Any] | None = None
    """What an answer in text has to be, for servers that can see to it."""


LETTERS = 4
"""What a token holds, about."""
PICTURE_TOKENS = 1_500
"""Of one picture, about."""


def sent_tokens(prompt: Prompt) -> int:
    """What reading this costs, about; for calls that come back without a bill."""
    texts = [turn.text for turn in prompt.turns] + [exchange.words for exchange in prompt.exchanges]
    images = [turn.image for turn in prompt.turns] + [exchange.image for exchange in prompt.exchanges]
    letters = len(prompt.system) + sum(map(len, texts)) + len(str(prompt.tools))
    return letters // LETTERS + PICTURE_TOKENS * sum(image is not None for image in images)


@dataclass(frozen=True, slots=True)
class Usage:
    """What one call cost. `cost_usd` is None where nobody knows the price."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    is_estimate: bool = False
    """Nobody has counted, or nobody can have counted so: the tokens are counted from the texts, about."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said: the action as it wrote it, unchecked; None where none can be read."""

    thought: str
    action: Mapping[str, Any] | None
    raw: str
    usage: Usage = field(default_factory=Usage)
    problem: str = ""
    """Why there is no action, in words that can be told to the model."""
    blocks: tuple[Mapping[str, Any], ...] = ()
    """The answer as the maker's protocol has it, where it has to be sent back so."""
    calls: tuple[ModelCall, ...] = ()
    refusal: str = ""
    """Why the model will not work on the task; that is the end of the run."""
    notice: str = ""
    """What the person at the run should know of how the server was asked."""


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


@runtime_checkable
class BilledModel(Protocol):
    """A model whose answers cost something, also those that never came to their end."""

    def bill(self) -> list[Usage]:
        """The usage of each request for the newest question; also valid after a failure."""
        ...


TRY_MS = 120_000.0


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """`base_url` is the server's address; `stream` has the answer sent piece by piece."""

    base_url: str | None = None
    mode: Mode | None = None
    sees: bool | None = None
    stream: bool = False
    tools: ToolSet | None = None
    try_ms: float = TRY_MS
    """What one try may take, from the connection to the last byte; a slow machine's own model needs more."""
