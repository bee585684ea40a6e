"""The model that taps wherever something can be tapped: the floor that every real model has to beat."""

from __future__ import annotations

import random

from handrail.agent.model import Mode, Prompt, Reply
from handrail.agent.models.shown import visible_refs


class RandomTaps:
    """The same seed and the same screens make the same taps. It never says that it is done."""

    mode: Mode = "tools"
    sees = False

    def __init__(self, seed: int = 1) -> None:
        self.name = f"random:{seed}"
        self._random = random.Random(seed)  # noqa: S311  (nothing is kept secret by it)

    async def step(self, prompt: Prompt) -> Reply:
        refs = visible_refs(prompt)
        if not refs:
            return Reply("Nothing that could be tapped is visible.", {"type": "press_key", "key": "back"}, "")
        return Reply("Anything will do.", {"type": "tap", "target": self._random.choice(refs)}, "")

    async def close(self) -> None:
        """Nothing is open."""
