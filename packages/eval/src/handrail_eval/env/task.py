"""What an environment wants of a task: words for the agent, a phone made ready, a person, and a verdict.

Whoever writes tasks fills this; nothing here knows how they are written down.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from handrail.clock import Clock
from handrail_agent.run_data import AgentStep

if TYPE_CHECKING:
    from handrail_sim.phone import Phone

Shell = Callable[[str], Awaitable[Any]]
"""One command line of the phone's shell."""


@dataclass(frozen=True, slots=True)
class EnvQuestion:
    """What the task's person is asked."""

    label: str
    action: str
    capability: str


@dataclass(frozen=True, slots=True)
class EpisodeVerdict:
    """Whether the task is solved; where not, why."""

    solved: bool
    why: str = ""


class EnvEpisode(Protocol):
    """One phone on its way through one task."""

    async def step(self, number: int) -> None:
        """Called before every step, counted from 1: the agent has looked and acts next."""
        ...

    def answer(self, question: EnvQuestion) -> tuple[bool, str | None]:
        """What the person says: yes or no, and what they write."""
        ...

    async def verdict(self, steps: Sequence[AgentStep], ending: str) -> EpisodeVerdict:
        """Once, at the end. `ending` says why it is over where the agent has not said so."""
        ...


class EnvTask(Protocol):
    """One task with all its values."""

    instruction: str
    steps: int
    """After so many it is over."""
    policy: str
    """The owner's rules, as in a policy.toml; empty for the defaults."""
    secrets: Mapping[str, str]
    """By name; the agent types `${secret:NAME}`."""
    world: Mapping[str, Any]
    """What apps hold, as `Phone(world=…)` takes it."""
    now_ms: int
    """The phone's time of day at the start, in milliseconds since 1970; 0 for any."""

    async def begin(self, phone: Phone, shell: Shell, clock: Clock) -> EnvEpisode:
        """From a new phone to the one that the task speaks of."""
        ...


TaskSource = EnvTask | Callable[[int], EnvTask]
"""A task, or what draws one from a seed."""


def drawn(source: TaskSource, seed: int) -> EnvTask:
    """The task of this seed."""
    return source(seed) if callable(source) else source
