"""One answer of the model that can be run, asked for at most three times. Knows neither phone nor run."""

from __future__ import annotations

from dataclasses import dataclass

from handrail.agent.model import Model, Prompt, Reply, Usage
from handrail.agent.prompt import asked_again
from handrail.agent.reading import Choice, read_reply

ASKS = 3
"""The first time and two more."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The last answer, what it means, and what all of them cost."""

    reply: Reply
    choice: Choice
    usages: tuple[Usage, ...]


async def ask_model(model: Model, prompt: Prompt) -> Asked:
    """A bad answer is told to the model with the reason; after the last one there is no action."""
    usages: list[Usage] = []
    while True:
        reply = await model.step(prompt)
        usages.append(reply.usage)
        choice = read_reply(reply)
        if choice.action is not None or len(usages) >= ASKS:
            return Asked(reply, choice, tuple(usages))
        prompt = asked_again(prompt, reply, choice.problem)
