"""The model that knows the solution: a task's own steps, with what only the screen tells read from there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from handrail.errors import InvalidAction
from handrail_agent.model import Mode, Prompt, Reply, finished
from handrail_agent.models import screen_text, script_replies
from handrail_eval.values import filled

OVER = "The reference has no more steps."


@dataclass(frozen=True, slots=True)
class Planned:
    """One step, and the patterns whose first group is kept under a name before it is done."""

    reply: Reply
    keep: Mapping[str, re.Pattern[str]]


def replies_of(steps: Sequence[Mapping[str, Any] | str]) -> list[Planned]:
    """Raises `InvalidAction` with the path of the bad step."""
    bare = [
        {name: one for name, one in step.items() if name != "keep"} if isinstance(step, Mapping) else step
        for step in steps
    ]
    try:
        replies = script_replies(bare)
    except InvalidAction as error:
        path = f"reference{error.details.get('path', '')}"
        raise InvalidAction(f"reference{error.message}", path=path, hint=error.hint) from None
    return [
        Planned(reply, _patterns(step, f"reference[{number}].keep"))
        for number, (reply, step) in enumerate(zip(replies, steps, strict=True))
    ]


def _patterns(step: Mapping[str, Any] | str, at: str) -> dict[str, re.Pattern[str]]:
    keep = step.get("keep", {}) if isinstance(step, Mapping) else {}
    if not isinstance(keep, dict):
        raise InvalidAction(f"{at}: should be a mapping of names to patterns", path=at)
    try:
        found = {name: re.compile(pattern) for name, pattern in keep.items()}
    except (re.error, TypeError) as error:
        raise InvalidAction(f"{at}: {error}", path=at) from None
    if any(pattern.groups != 1 for pattern in found.values()):
        raise InvalidAction(f"{at}: a pattern needs one group", path=at, hint=r"Such as '(\d{6}) is your'.")
    return found


class Reference:
    """Follows the steps; a pattern that the screen does not have ends it, saying so."""

    name = "reference"
    mode: Mode = "tools"
    sees = False

    def __init__(self, steps: Sequence[Mapping[str, Any] | str]) -> None:
        self._plan = replies_of(steps)
        self._kept: dict[str, str] = {}

    async def step(self, prompt: Prompt) -> Reply:
        if prompt.step > len(self._plan):
            return finished(OVER)
        planned = self._plan[prompt.step - 1]
        for name, pattern in planned.keep.items():
            found = pattern.search(screen_text(prompt))
            if found is None:
                return finished(f"The screen has nothing like {pattern.pattern}.")
            self._kept[name] = found[1]
        return replace(planned.reply, action=filled(dict(planned.reply.action or {}), self._kept, texts=True))

    async def close(self) -> None:
        """Nothing is open."""
