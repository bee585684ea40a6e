"""What a run is to achieve: the person's words, and the condition that proves it. Knows no device."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from handrail.errors import InvalidAction
from handrail.protocol.observe import WaitFor
from handrail.protocol.read import read_as
from handrail.protocol.target import Condition

LONGEST = 20_000
"""Characters of a task; more than that is a document, not a wish."""
_NAMED = re.compile(rf"({'|'.join(Condition.model_fields)})\s*:\s")


@dataclass(frozen=True, slots=True)
class Task:
    """One wish of one person."""

    text: str
    until: Condition | None = None
    """`finish` counts only while this holds."""

    @classmethod
    def of(cls, text: str, until: str | Mapping[str, Any] | None = None) -> Task:
        """Raises `InvalidAction` for a task that says nothing and a condition that can't be read."""
        words = text.strip()
        if not words:
            raise InvalidAction("The task is empty", path="task", hint="Say what should be achieved.")
        if len(words) > LONGEST:
            raise InvalidAction(f"The task has {len(words):,} characters; at most {LONGEST:,}", path="task")
        return cls(words, None if until is None else read_condition(until))

    def to_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"task": self.text}
        return fields | ({"until": self.until.to_dict()} if self.until else {})


def read_condition(condition: str | Mapping[str, Any]) -> Condition:
    """`Saved` is visible; `app: com.android.settings` and `{"absent": "Loading"}` as in flows."""
    value: Any = condition
    if isinstance(condition, str) and (condition.lstrip().startswith("{") or _NAMED.match(condition)):
        try:
            value = yaml.safe_load(condition)  # reads JSON, too, which is YAML
        except yaml.YAMLError as error:
            why = f"until: {condition[:60]!r} can't be read: {str(error).splitlines()[0]}"
            raise InvalidAction(why, path="until", hint="Quote it as JSON.") from None
    try:
        return read_as(WaitFor, {"condition": value}).condition
    except InvalidAction as error:
        raise InvalidAction(
            error.message.replace("condition", "until", 1),
            path=str(error.details.get("path", "")).replace("condition", "until", 1),
            hint="A text that must be seen, or a condition such as `app: com.android.settings`.",
        ) from None
