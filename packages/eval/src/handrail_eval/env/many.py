"""Many environments in one process, stepped one after another; one that is over begins anew by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from handrail_eval.env.environment import EnvProcess, GivenAction, Observation, PhoneEnv
from handrail_eval.env.task import TaskSource

Batch = tuple[list[Observation], list[float], list[bool], list[bool], list[dict[str, Any]]]


class PhoneVectorEnv:
    """`num_envs` phones. The first one's seed is the one that is given, the others' follow it."""

    def __init__(
        self, num_envs: int, task: TaskSource, *, dialect: str | None = None, pictures: bool = False
    ) -> None:
        self.num_envs = num_envs
        self._process = EnvProcess()
        self.envs = [
            PhoneEnv(task, dialect=dialect, pictures=pictures, shared=self._process, name=f"env{number}")
            for number in range(num_envs)
        ]
        self._over = [False] * num_envs

    def reset(
        self, *, seed: int = 1, options: Mapping[str, Any] | None = None, task: TaskSource | None = None
    ) -> tuple[list[Observation], list[dict[str, Any]]]:
        began = [
            env.reset(seed=seed + number, options=options, task=task) for number, env in enumerate(self.envs)
        ]
        self._over = [False] * self.num_envs
        return [seen for seen, _ in began], [info for _, info in began]

    def step(self, actions: Sequence[GivenAction]) -> Batch:
        """As Gymnasium's next-step mode: the step after an end is a reset, whatever its action."""
        if len(actions) != self.num_envs:
            raise ValueError(f"{len(actions)} actions for {self.num_envs} environments")
        results = [self._one(number, action) for number, action in enumerate(actions)]
        seen, rewards, ended, cut, infos = zip(*results, strict=True)
        self._over = [one or other for one, other in zip(ended, cut, strict=True)]
        return list(seen), list(rewards), list(ended), list(cut), list(infos)

    def _one(self, number: int, action: GivenAction) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        env = self.envs[number]
        if not self._over[number]:
            return env.step(action)
        seen, info = env.reset(seed=env.seed + self.num_envs)
        return seen, 0.0, False, False, info

    def close(self) -> None:
        for env in self.envs:
            env.close()
        self._process.close()
