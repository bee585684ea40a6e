"""An action in words, by the templates of its traits: what was done, and what a person is asked about.

`{field}` is filled in with the field's value; a part in brackets is left out where its field is empty.
After a colon: `at` puts "at" before a point, `own` prefers the caller's words to the label, `count` counts,
`words`, `plus`, `command` and `lines` join.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from string import Formatter
from typing import Any

from handrail.protocol.act import Act
from handrail.protocol.target import Point, Selector

_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_FIELD = re.compile(r"\{(\w+)")
_JOINED: dict[str, Callable[[Any], str]] = {
    "count": lambda value: str(len(value)),
    "words": " ".join,
    "plus": "+".join,
    "command": lambda value: value if isinstance(value, str) else shlex.join(value),
    "lines": lambda value: " ⏎ ".join(line for line in value.splitlines() if line.strip()),
}


def sentence_of(action: Act, label: str | None = None) -> str:
    """What was done. `label` names the element that was used."""
    says = action.traits.says
    return _fill_template(says, action, label) if says else f"Did {action.type}."


def question_of(action: Act) -> str:
    """What it is about, by its own fields; '' where an element or an app says it."""
    return _fill_template(action.traits.asks, action, None)


def _fill_template(template: str, action: Act, label: str | None) -> str:
    def optional_part(part: re.Match[str]) -> str:
        named = _FIELD.search(part[1])
        return part[1] if named and getattr(action, named[1]) is not None else ""

    return _ActionFormatter(action, label).vformat(_OPTIONAL.sub(optional_part, template), (), {})


class _ActionFormatter(Formatter):
    """Fields of one action as words; `label` is what the element that was found is called."""

    def __init__(self, action: Act, label: str | None) -> None:
        self._action = action
        self._label = label

    def get_value(self, key: int | str, args: Any, kwargs: Any) -> Any:  # noqa: ARG002
        return getattr(self._action, str(key))

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Point):
            place = f"({value.x}, {value.y})"
            return f"at {place}" if format_spec == "at" else place
        if isinstance(value, Selector):
            own = value.text or value.description or value.handle or value.id or value.text_contains
            named = own or self._label if format_spec == "own" else self._label or own
            return f'"{named}"' if named else "an element"
        join = _JOINED.get(format_spec)
        return join(value) if join else format(value, format_spec)
