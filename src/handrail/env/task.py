"""What an environment wants of a task: words for the agent, a phone made ready, a person, and a verdict.

Whoever writes tasks fills this; nothing here knows how they are written down.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from handrail.protocol.observe import Finish

if TYPE_CHECKING:
    from handrail_sim.phone import Phone

Shell = Callable[[str], Awaitable[Any]]
"""One command line of the phone's shell."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the task's person is asked."""

    label: str
    action: str
    capability: str


@dataclass(frozen=True, slots=True)
class EpisodeEvidence:
    """Everything that a verdict may look at."""

    before: Mapping[str, Any]
    """The phone's state when the agent saw it first."""
    after: Mapping[str, Any]
    finish: Finish | None
    """None: the agent has not said that it is done."""
    apps: Sequence[str]
    """What was in front when each step was chosen."""
    asked: int


@dataclass(frozen=True, slots=True)
class EpisodeVerdict:
    """Whether the task is solved; where not, why."""

    solved: bool
    why: str = ""


class EnvTask(Protocol):
    """One task with all its values."""

    instruction: str
    steps: int
    """After so many it is over."""
    policy: str
    """The owner's rules, as in a policy.toml; empty for the defaults."""
    secrets: Mapping[str, str]
    """By name; the agent types `${secret:NAME}`."""

    async def set_up(self, phone: Phone, shell: Shell) -> None:
        """From a new phone to the one that the task speaks of."""
        ...

    def answer(self, question: Question) -> tuple[bool, str | None]:
        """What the person says: yes or no, and what they write."""
        ...

    def verdict(self, evidence: EpisodeEvidence) -> EpisodeVerdict: ...


TaskSource = EnvTask | Callable[[int], EnvTask]
"""A task, or what draws one from a seed."""


def drawn(source: TaskSource, seed: int) -> EnvTask:
    """The task of this seed."""
    return source(seed) if callable(source) else source
