"""The environment as one of Gymnasium's: `gymnasium.make("handrail/Phone-v0", task=…)`.

Imported by Gymnasium itself when it looks for plugins, and by nothing else of Handrail.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import gymnasium
from gymnasium import spaces

from handrail_eval.env.environment import GivenAction, Observation, PhoneEnv
from handrail_eval.env.task import TaskSource

ID = "handrail/Phone-v0"
SCREEN_CHARS = 100_000
ACTION_CHARS = 10_000
APP_CHARS = 300
_RANGES = ((0x20, 0xD800), (0xE000, 0xFFFE), (0x1F000, 0x1FB00))
"""What screens are written in: nearly every character of the first plane, and pictographs."""


@cache
def _charset() -> str:
    return "\n\t" + "".join(chr(code) for start, end in _RANGES for code in range(start, end))


class GymPhoneEnv(gymnasium.Env[Observation, GivenAction]):
    """Observations are texts, actions are JSON texts (or mappings, where no wrapper objects)."""

    metadata = {"render_modes": []}

    def __init__(
        self, task: TaskSource, *, dialect: str | None = None, render_mode: str | None = None
    ) -> None:
        self.render_mode = render_mode
        self._env = PhoneEnv(task, dialect=dialect)
        self.observation_space = spaces.Dict(
            {
                "screen": spaces.Text(SCREEN_CHARS, min_length=0, charset=_charset()),
                "app": spaces.Text(APP_CHARS, min_length=0, charset=_charset()),
                "step": spaces.Discrete(2**31),
            }
        )
        self.action_space = spaces.Text(ACTION_CHARS, min_length=0, charset=_charset())

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        return self._env.reset(seed=seed, options=options)

    def step(self, action: GivenAction) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        return self._env.step(action)

    def close(self) -> None:
        self._env.close()


def register() -> None:
    """Called by Gymnasium, once for each import of it."""
    if ID not in gymnasium.registry:
        gymnasium.register(ID, entry_point="handrail_eval.env.gym:GymPhoneEnv")
