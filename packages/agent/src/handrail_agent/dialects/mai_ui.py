"""MAI-UI: `<thinking>…</thinking><tool_call>{"name": "mobile_use", "arguments": {…}}</tool_call>`.

Numbers go to 999. `swipe` names the way of the finger, from its place or the middle.
"""

from __future__ import annotations

from typing import Any

from handrail.dialects import mobile_use
from handrail.dialects.frame import (
    Conversation,
    Fields,
    PlaceField,
    RenamedWords,
    TextArgument,
    place_from,
    without_zero_fraction,
)
from handrail.dialects.gestures import direction_of, straight_swipe_ends
from handrail.dialects.table import (
    Dialect,
    ParsedOutput,
    SpecialWord,
    TableRow,
    WordCall,
    WordMeaning,
    WordRule,
    tool_answer,
)
from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.device import Swipe

LAST = 999
SWIPE_PX = 500
"""What its own runner moves a finger by."""
_WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
BUTTONS = {
    "back": "back", "home": "home", "menu": "menu", "enter": "enter", "power": "power",
    "volume_up": "volume_up", "volume_down": "volume_down",
}  # fmt: skip
ENDS = {"success": "done", "fail": "failed", "failure": "failed"}


class Place999(PlaceField):
    """A place whose far edge is 999."""

    def read(self, value: Any, name: str, talk: Any) -> Any:
        return place_from(_times(value, 1000 / LAST), name, talk)

    def write(self, value: Any, talk: Any) -> Any:
        written = PlaceField.write(self, value, talk)
        return written and [without_zero_fraction(round(one * LAST / 1000, 3)) for one in written]


def _times(value: Any, factor: float) -> Any:
    """Numbers of a list or an object; what is none is refused where it is read."""
    if isinstance(value, list | tuple):
        return [_times(one, factor) for one in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9
    return min(value * factor, 1000.0) if is_number and value <= LAST else value


def _swipe(arguments: Fields, talk: Conversation) -> WordMeaning:
    direction = direction_of(arguments)
    if "coordinate" not in arguments:
        return WordMeaning(({"type": "swipe", "direction": direction},))
    start = Place999("from").read(arguments["coordinate"], "coordinate", talk)
    (across, down), (width, height) = _WAYS[direction], talk.frame.device_size
    end = {
        "x": min(max(start["x"] + across * SWIPE_PX, 0), width - 1),
        "y": min(max(start["y"] + down * SWIPE_PX, 0), height - 1),
    }
    if end == start:
        raise InvalidAction.at(
            "coordinate", f"lies at the edge: there is no way {direction}", hint="Start at another place."
        )
    return WordMeaning(({"type": "swipe", "from": start, "to": end},))


def _write_swipe(action: Act, talk: Conversation) -> Fields | None:
    if not isinstance(action, Swipe) or action.target is not None or action.duration_ms != 300:
        return None
    if action.direction is not None:
        return {"direction": action.direction} if action.expect is None else None
    ends = straight_swipe_ends(action)
    if ends is None:
        return None
    x1, y1, x2, y2 = ends
    direction = ("left" if x2 < x1 else "right") if y1 == y2 else ("up" if y2 < y1 else "down")
    return {"direction": direction, "coordinate": Place999("from").write({"x": x1, "y": y1}, talk)}


_POINT = {"coordinate": Place999("target")}
_ASK = WordRule("request_human_auth", {"text": TextArgument("instruction")}, "text")
_OPEN = WordRule("start_app", {"text": TextArgument("name")}, "text")
ROWS: dict[str, TableRow] = {
    "click": WordRule("tap", _POINT, "coordinate"),
    "double_click": WordRule("double_tap", _POINT, "coordinate"),
    "long_press": WordRule("long_press", _POINT, "coordinate"),
    "type": mobile_use.ROWS["type"],
    "swipe": SpecialWord(
        "`swipe` this way, 500 px from its place", _swipe, _write_swipe, takes="direction coordinate"
    ),
    "drag": WordRule(
        "drag",
        {"start_coordinate": Place999("from"), "end_coordinate": Place999("to")},
        "start_coordinate end_coordinate",
    ),
    "open": _OPEN,
    "AWAKE": _OPEN,
    "system_button": WordRule("press_key", {"button": RenamedWords("key", BUTTONS)}, "button"),
    "wait": WordRule("wait", fixed={"duration_ms": 2000}),
    "answer": mobile_use.ROWS["answer"],
    "ask_user": _ASK,
    "INFO": _ASK,
    "terminate": WordRule("finish", {"status": RenamedWords("status", ENDS)}, "status"),
}


def hear(output: Any) -> ParsedOutput:
    """`value` is another name of `text`; a thinking model leaves out where its thought begins."""
    if isinstance(output, str) and "</think>" in output and "<think>" not in output:
        output = f"<think>{output}"
    parsed = mobile_use.parse(output)
    calls = tuple(
        WordCall(
            call.word,
            {"text" if name == "value" and "text" not in call.fields else name: value
             for name, value in call.fields.items()},
        )
        for call in parsed.calls
    )  # fmt: skip
    return ParsedOutput(calls, parsed.thought, parsed.repairs)


GUIDE = """\
Think inside <thinking></thinking>, then write one call inside tags:
<tool_call>
{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [x, y]}}
</tool_call>
x and y are 0 to 999. Actions: click, double_click, long_press (coordinate), type (text), swipe (direction of
the finger, coordinate), drag (start_coordinate, end_coordinate), open (text: the app's name), system_button
(button: back, home, menu, enter), wait, ask_user, answer (text), terminate (status: success or fail)."""
DIALECT = Dialect(
    "mai_ui", "MAI-UI", "thousand", ROWS, hear, mobile_use.form, tool_answer, GUIDE,
    reads_text=True, shows=True,
)  # fmt: skip
