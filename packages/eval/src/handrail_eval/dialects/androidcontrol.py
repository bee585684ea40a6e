"""AndroidControl's actions: `{"action_type": "click", "x": 540, "y": 1200}` in pixels of the screenshot.

A text is typed as it is: nothing is tapped before it and no Enter is pressed after it, unlike AndroidWorld.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.dialects.frame import Fields, TextArgument, opposite_direction
from handrail.dialects.table import Dialect, ParsedOutput, TableRow, WordRule, plain_answer
from handrail_eval.dialects.androidworld import hear as _hear

_XY = {"target": ("x", "y")}

ROWS: dict[str, TableRow] = {
    "click": WordRule("tap", pairs=_XY, required="x y"),
    "long_press": WordRule("long_press", pairs=_XY, required="x y"),
    "scroll": WordRule("swipe", {"direction": opposite_direction()}, "direction"),
    "open_app": WordRule("start_app", {"app_name": TextArgument("name")}, "app_name"),
    "input_text": WordRule("type_text", {"text": TextArgument("text")}, "text"),
    "navigate_home": WordRule("press_key", fixed={"key": "home"}),
    "navigate_back": WordRule("press_key", fixed={"key": "back"}),
    "wait": WordRule("wait", fixed={"duration_ms": 1000}),
}


def hear(given: Any) -> ParsedOutput:
    """The same form as AndroidWorld's; an episode's step with its `action` is read too."""
    if isinstance(given, Mapping) and isinstance(given.get("action"), Mapping):
        given = given["action"]
    return _hear(given)


def form(word: str, fields: Fields) -> dict[str, Any]:
    """The object."""
    return {"action_type": word, **fields}


GUIDE = (
    "Answer with one JSON object with action_type: click or long_press (x, y), scroll (direction), open_app "
    "(app_name), input_text (text), navigate_home, navigate_back, wait."
)
DIALECT = Dialect(
    "androidcontrol", "AndroidControl", "device", ROWS, hear, form, plain_answer, GUIDE, reads_text=True
)
