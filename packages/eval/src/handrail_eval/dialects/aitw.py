"""Android in the Wild: `{"results/action_type": 4, "results/yx_touch": [y, x], "results/yx_lift": [y, x]}`.

Places are shares of the screen, y before x. A touch that moves less than 4 % of it is a tap. Models that were
trained on it print `Action Decision: "action_type": "DUAL_POINT", "touch_point": "[y, x]", …`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from handrail.dialects.frame import (
    Conversation,
    Fields,
    TextArgument,
    number_from,
    refuse_other_fields,
    required_field,
)
from handrail.dialects.model_text import cut_output, json_in
from handrail.dialects.table import (
    Dialect,
    ParsedOutput,
    SpecialWord,
    TableRow,
    WordCall,
    WordMeaning,
    WordRule,
    plain_answer,
)
from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.device import Swipe, Tap
from handrail.protocol.target import Point

NEAR = 0.04
"""Of the screen: the dataset's own border between a tap and a swipe."""
CODES = {
    3: "TYPE", 4: "DUAL_POINT", 5: "PRESS_BACK", 6: "PRESS_HOME", 7: "PRESS_ENTER",
    10: "STATUS_TASK_COMPLETE", 11: "STATUS_TASK_IMPOSSIBLE",
}  # fmt: skip
_NUMBERS = {word: number for number, word in CODES.items()}
_PREFIX = "results/"
_PRINTED = {"touch_point": "yx_touch", "lift_point": "yx_lift", "typed_text": "type_action"}


def _yx(given: Fields, name: str) -> tuple[float, float]:
    value = required_field(given, name)
    if isinstance(value, str):
        value = value.strip(" []()").split(",")
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InvalidAction(f"{name}: should be [y, x]", path=name)
    y, x = (number_from(one, name) for one in value)
    return y, x


def _dual_point(given: Fields, talk: Conversation) -> WordMeaning:
    refuse_other_fields(given, ("yx_touch", "yx_lift", "type_action"), "DUAL_POINT")
    touch, lift = _yx(given, "yx_touch"), _yx(given, "yx_lift")
    start = talk.frame.to_device(touch[1], touch[0], "yx_touch")
    if math.dist(touch, lift) <= NEAR:
        return WordMeaning(({"type": "tap", "target": start},))
    end = talk.frame.to_device(lift[1], lift[0], "yx_lift")
    return WordMeaning(({"type": "swipe", "from": start, "to": end},))


def _write_dual_point(action: Act, talk: Conversation) -> Fields | None:
    if action.expect is not None:
        return None
    if isinstance(action, Tap) and isinstance(action.target, Point):
        ends = (action.target, action.target)
    elif isinstance(action, Swipe) and action.from_ and action.to and action.duration_ms == 300:
        ends = (action.from_, action.to)
    else:
        return None
    (x1, y1), (x2, y2) = (talk.frame.from_device(end.x, end.y) for end in ends)
    if isinstance(action, Swipe) and math.dist((x1, y1), (x2, y2)) <= NEAR:
        return None
    return {"yx_touch": [y1, x1], "yx_lift": [y2, x2]}


ROWS: dict[str, TableRow] = {
    "TYPE": WordRule(
        "type_text", {"type_action": TextArgument("text")}, "type_action", ignored="yx_touch yx_lift"
    ),
    "DUAL_POINT": SpecialWord("`tap`, or `swipe` where it lifts elsewhere", _dual_point, _write_dual_point),
    "PRESS_BACK": WordRule("press_key", fixed={"key": "back"}, ignored="yx_touch yx_lift type_action"),
    "PRESS_HOME": WordRule("press_key", fixed={"key": "home"}, ignored="yx_touch yx_lift type_action"),
    "PRESS_ENTER": WordRule("press_key", fixed={"key": "enter"}, ignored="yx_touch yx_lift type_action"),
    "STATUS_TASK_COMPLETE": WordRule(
        "finish", fixed={"status": "done"}, ignored="yx_touch yx_lift type_action"
    ),
    "STATUS_TASK_IMPOSSIBLE": WordRule(
        "finish", fixed={"status": "infeasible"}, ignored="yx_touch yx_lift type_action"
    ),
}


def hear(given: Any) -> ParsedOutput:
    """With the dataset's prefix or without it, or as models print it; the type by number or by name."""
    repairs: tuple[str, ...] = ()
    if isinstance(given, str):
        decision = cut_output(given).rpartition("Action Decision:")[2].strip()
        given, repairs = json_in(decision if decision.startswith("{") else f"{{{decision}}}")
    if not isinstance(given, Mapping):
        raise InvalidAction("should be an object", path="", hint='Write "action_type": "PRESS_BACK".')
    fields = {str(name).removeprefix(_PREFIX): value for name, value in given.items()}
    fields = {_PRINTED.get(name, name): value for name, value in fields.items()}
    kind = fields.pop("action_type", None)
    word = CODES.get(kind) if isinstance(kind, int) and not isinstance(kind, bool) else kind
    if not isinstance(word, str):
        raise InvalidAction(
            "action_type: is not known", path="action_type", hint=f"One of: {', '.join(map(str, CODES))}."
        )
    return ParsedOutput((WordCall(word, fields),), "", repairs)


def form(word: str, fields: Fields) -> dict[str, Any]:
    """With the dataset's prefix."""
    given = {f"{_PREFIX}{name}": value for name, value in fields.items()}
    return {f"{_PREFIX}action_type": _NUMBERS[word], **given}


DIALECT = Dialect("aitw", "Android in the Wild", "unit", ROWS, hear, form, plain_answer, reads_text=True)
