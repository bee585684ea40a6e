"""From what a model wrote, as a call or in plain text, to an action that may be run, or to why it may not.

Native actions and OpenPocket's ten are understood. Small slips of JSON are mended. What would have to be
invented (a place, a key, a text) is a reason to ask again, and so is an object without an end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handrail.dialects.arguments import native_arguments
from handrail.dialects.openpocket import SHAPES, TOOL_NAMES, find_action, normalise
from handrail.errors import InvalidAction
from handrail.protocol.actions import ACTIONS, AnyAction
from handrail.protocol.read import action_from
from handrail.protocol.target import Point
from handrail_agent.model import Reply

_HARMLESS = frozenset({"durationMs", "timeoutSec", "capability", "instruction", "message"})
"""Fields of OpenPocket's actions whose defaults decide nothing."""
_ENDS = ("target", "from_", "to")


@dataclass(frozen=True, slots=True)
class Choice:
    """An action, or words for the model that say what is wrong with its answer."""

    action: AnyAction | None
    problem: str = ""
    thought: str = ""
    """The model's own, where its form has a place for it."""


def read_reply(reply: Reply) -> Choice:
    if reply.action is None:
        return Choice(None, reply.problem or "There was no action in your answer.")
    if not isinstance(reply.action, Mapping):
        return Choice(None, f"The action is a {type(reply.action).__name__}, not an object.")
    choice = _choose(dict(reply.action))
    if choice.action is not None and (why := nowhere(choice.action)):
        return Choice(None, why)
    return choice


def _choose(fields: dict[str, Any]) -> Choice:
    """Native first; the seed's form where that says no."""
    fields.pop("device", None)  # the run's own phone, whatever the model thinks
    kind = fields.get("type")
    if not isinstance(kind, str):
        return Choice(None, "The action has no `type`.")
    try:
        if kind not in ACTIONS:
            return Choice(action_from(fields))
        arguments = {name: value for name, value in fields.items() if name != "type"}
        return Choice(action_from({"type": kind, **native_arguments(kind, arguments)}))
    except InvalidAction as error:
        native = error
    seed = TOOL_NAMES.get(kind, kind)
    if seed not in SHAPES or (kind in ACTIONS and "target" in fields):
        return Choice(None, f"{native.message}. {native.hint}")
    normalised = normalise({**fields, "type": seed})
    if normalised.native is None:
        why = f"{seed}: {normalised.not_executable}. Name an element by its ref, such as @b1."
        return Choice(None, why)
    invented = [name for name in normalised.defaulted if name not in _HARMLESS]
    if invented:
        return Choice(None, f"{seed}: {', '.join(invented)} is missing or invalid.")
    return Choice(normalised.native)


def nowhere(action: AnyAction) -> str:
    """Why the action's point is not believed; empty if it is. Models write (0, 0) when they know no place."""
    points = [end for end in (getattr(action, name, None) for name in _ENDS) if isinstance(end, Point)]
    if points and all(point.x == 0 and point.y == 0 for point in points):
        return f"{action.type}: (0, 0) is not a place to touch. Name an element by its ref, such as @b1."
    return ""


LONGEST = 50_000
"""Characters that are read; more no step needs."""
KINDS = frozenset({*ACTIONS, *SHAPES})
_CUT = frozenset({"a missing end", "a missing quote"})
_WORDED = "the action was written as a call"
_THINKING = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.S)
_LINE = re.compile(r"^[^\w\n]{0,20}(?:action *:[^\w\n]{0,20})?[a-z_]{1,40}\(", re.M | re.I)
"""A call has a line of its own: "I should finish (the list) first" is none."""


@dataclass(frozen=True, slots=True)
class FoundAction:
    """What was found. An action with a problem can be used, and the problem is worth telling."""

    thought: str
    action: Mapping[str, Any] | None
    problem: str = ""


def read_text(text: str) -> FoundAction:
    # Without what was only thought of. Some templates open the thinking before the model's first word.
    answer = _THINKING.sub("", text[:LONGEST]).rpartition("</think>")[2]
    match = find_action(answer, KINDS)
    if match is None or (_WORDED in match[2] and not _LINE.search(answer)):
        return FoundAction(answer.strip(), None, "There is no action in the answer.")
    payload, thought, repairs = match
    if _CUT & set(repairs):
        return FoundAction(thought, None, "The JSON of the answer has no end.")
    if not isinstance(payload.get("type"), str):
        return FoundAction(thought, None, "The action in the answer has no `type`.")
    several = [note for note in repairs if note.endswith("the first was taken")]
    return FoundAction(thought, payload, f"{several[0].capitalize()}." if several else "")
