"""Doubao's models for screens: UI-TARS's calls with thousandths, `<bbox>`, or calls in tags.

`Action: click(point='<point>500 250</point>')`, `click(start_box='<bbox>490 240 510 260</bbox>')`, and
`<seed:tool_call><function=click><parameter=point><point>500 250</point></parameter></function>…`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from handrail.dialects import ui_tars
from handrail.dialects.gestures import LONG_PRESS
from handrail.dialects.model_text import cut_output
from handrail.dialects.table import ParsedOutput, TableRow, WordCall, WordRule
from handrail.errors import InvalidAction
from handrail_agent.dialects.tagged_calls import begins_call, tagged_calls

_POINT = ui_tars.POINT
_THOUGHT = re.compile(r"<(think\w*|seed:think)>(.*?)</\1>", re.S)
ROWS: dict[str, TableRow] = {
    **ui_tars.ROWS,
    "left_double_click": WordRule("double_tap", _POINT, "point"),
    "double_click": WordRule("double_tap", _POINT, "point"),
    "right_click": WordRule("long_press", _POINT, "point", note=LONG_PRESS),
}


def hear(output: Any) -> ParsedOutput:
    text = cut_output(output)
    if not begins_call(text):
        return ui_tars.parse(text, ROWS)
    calls = tagged_calls(text)
    if not calls:
        raise InvalidAction.at(
            "action", "the call has no end", hint="Close it: </parameter></function></seed:tool_call>."
        )
    thought = _THOUGHT.search(text)
    words = tuple(WordCall(name, ui_tars.rename_fields(name, _unescaped(fields))) for name, fields in calls)
    return ParsedOutput(words, thought[2].strip() if thought else "")


def _unescaped(fields: dict[str, Any]) -> dict[str, Any]:
    """A line break at the end of a text is written as two characters there, too."""
    return {
        name: value.removesuffix("\\n") + "\n" if name == "content" and value.endswith("\\n") else value
        for name, value in fields.items()
    }


GUIDE = ui_tars.GUIDE + "\nx and y are 0 to 1000, whatever the size of the picture is."
DIALECT = replace(
    ui_tars.DIALECT, name="doubao", title="Doubao", unit="thousand", rows=ROWS, parse=hear, guide=GUIDE
)
