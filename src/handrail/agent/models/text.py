"""An action out of plain text: JSON alone, in a fence or in prose, or `name(a=b)`. Never raises.

Small slips are mended (quotes, commas, comments); an object without an end is not, for its text may be cut.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handrail.dialects.openpocket import SHAPES, find_action
from handrail.protocol.actions import ACTIONS

LONGEST = 50_000
"""Characters that are read; more no step needs."""
KINDS = frozenset({*ACTIONS, *SHAPES})
_CUT = frozenset({"a missing end", "a missing quote"})
_WORDED = "the action was written as a call"
_THINKING = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.S)
_LINE = re.compile(r"^[^\w\n]{0,20}(?:action *:[^\w\n]{0,20})?[a-z_]{1,40}\(", re.M | re.I)
"""A call has a line of its own: "I should finish (the list) first" is none."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found. An action with a problem can be used, and the problem is worth telling."""

    thought: str
    action: Mapping[str, Any] | None
    problem: str = ""


def read_text(text: str) -> Reading:
    """The first action in the text."""
    answer = _answer(text[:LONGEST])
    found = find_action(answer, KINDS)
    if found is None or (_WORDED in found[2] and not _LINE.search(answer)):
        return Reading(answer.strip(), None, "There is no action in the answer.")
    payload, thought, repairs = found
    if _CUT & set(repairs):
        return Reading(thought, None, "The JSON of the answer has no end.")
    if not isinstance(payload.get("type"), str):
        return Reading(thought, None, "The action in the answer has no `type`.")
    several = [note for note in repairs if note.endswith("the first was taken")]
    return Reading(thought, payload, f"{several[0].capitalize()}." if several else "")


def _answer(text: str) -> str:
    """Without what was only thought of. Some templates open the thinking before the model's first word."""
    return _THINKING.sub("", text).rpartition("</think>")[2]
