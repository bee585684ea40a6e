"""UI-TARS: `Thought: …` and `Action: click(point='<point>540 1200</point>')`, one action or several.

Numbers are pixels of the picture after Qwen's resizing; those of the older models are thousandths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from handrail.dialects.frame import (
    Conversation,
    Fields,
    PlaceField,
    SecondsField,
    TextArgument,
    place_from,
    required_field,
)
from handrail.dialects.gestures import (
    LONG_PRESS,
    direction_of,
    point_or_middle,
    press_action,
    split_chord,
    wheel_of_swipe,
    wheel_strokes,
    x_key_names,
)
from handrail.dialects.model_text import calls_in, cut_output
from handrail.dialects.table import (
    Dialect,
    ParsedOutput,
    SpecialWord,
    TableRow,
    WordCall,
    WordMeaning,
    WordRule,
    text_answer,
)
from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.device import TypeText

CLICKS = 5
"""A scroll without an amount: half of the screen."""
POINT = {"point": PlaceField("target")}
_SAME = {"start_box": "point", "start_point": "point", "box": "point", "text": "content"}
_ENDS = {"start_box": "start_point", "end_box": "end_point"}
_MARKS = re.compile(r"</?(?:point|bbox|box|\|box_start\||\|box_end\|)>|<\|box_(?:start|end)\|>")
_HEADS = re.compile(r"(?:Thought|Reflection|Action_Summary)\s*[:：]\s*(.*?)(?=\n\s*Action\s*[:：]|\Z)", re.S)


def _type(arguments: Fields, talk: Conversation) -> WordMeaning:
    """A line break at the end presses Enter. With a place, that is where the field is."""
    text = str(required_field(arguments, "content"))
    bare = text.removesuffix("\n")
    where = {"target": place_from(arguments["point"], "point", talk)} if "point" in arguments else {}
    return WordMeaning(({"type": "type_text", "text": bare, "submit": bare != text, **where},))


def _write_type(action: Act, _: Conversation) -> Fields | None:
    if not isinstance(action, TypeText) or action.target is not None or action.clear or action.expect:
        return None
    if action.text.endswith("\n"):
        return None
    return {"content": action.text + ("\n" if action.submit else "")}


def _scroll(arguments: Fields, talk: Conversation) -> WordMeaning:
    """Two places without a direction are the way of the finger."""
    if "direction" not in arguments and "point" in arguments and "end_box" in arguments:
        ends = (place_from(arguments[name], name, talk) for name in ("point", "end_box"))
        return WordMeaning(({"type": "swipe", **dict(zip(("from", "to"), ends, strict=True))},))
    strokes = wheel_strokes(direction_of(arguments), CLICKS, point_or_middle(arguments, talk), talk)
    return WordMeaning(tuple(strokes))


def _write_scroll(action: Act, talk: Conversation) -> Fields | None:
    turned = wheel_of_swipe(action, talk)
    return {"point": turned[0], "direction": turned[1]} if turned and turned[2] == CLICKS else None


def _hotkey(arguments: Fields, _: Conversation) -> WordMeaning:
    chord = str(arguments.get("key") or required_field(arguments, "hotkey"))
    return WordMeaning((press_action(split_chord(chord), "key"),))


def _write_hotkey(action: Act, _: Conversation) -> Fields | None:
    words = x_key_names(action)
    return {"key": " ".join(words).lower()} if words else None


ROWS: dict[str, TableRow] = {
    "click": WordRule("tap", POINT, "point"),
    "left_single": WordRule("tap", POINT, "point"),
    "left_double": WordRule("double_tap", POINT, "point"),
    "long_press": WordRule("long_press", {**POINT, "time": SecondsField("duration_ms")}, "point"),
    "right_single": WordRule("long_press", POINT, "point", note=LONG_PRESS),
    "type": SpecialWord(
        "`type_text`; a line break at the end presses Enter", _type, _write_type, takes="content point"
    ),
    "scroll": SpecialWord(
        "`swipe` the other way, half of the screen", _scroll, _write_scroll, takes="point direction end_box"
    ),
    "open_app": WordRule("start_app", {"app_name": TextArgument("name")}, "app_name"),
    "drag": WordRule(
        "drag", {"start_point": PlaceField("from"), "end_point": PlaceField("to")}, "start_point end_point"
    ),
    "press_home": WordRule("press_key", fixed={"key": "home"}),
    "press_back": WordRule("press_key", fixed={"key": "back"}),
    "hotkey": SpecialWord(
        "`press_key`, or `press_keys` for several", _hotkey, _write_hotkey, takes="key hotkey"
    ),
    "wait": WordRule("wait", fixed={"duration_ms": 5000}),
    "finished": WordRule("finish", {"content": TextArgument("message")}, fixed={"status": "done"}),
    "call_user": WordRule("request_human_auth", fixed={"instruction": "Help is needed with this screen."}),
}


def parse(output: Any, rows: Mapping[str, TableRow] = ROWS) -> ParsedOutput:
    """`rows` has the words that count as calls."""
    text = cut_output(output)
    thought = _HEADS.search(text)
    *before, body = re.split(r"Action\s*[:：]", text)
    calls = [candidate for candidate in calls_in("\n" + body.strip()) if candidate.name in rows]
    if not calls:
        hint = "Write Action: click(point='…')."
        raise InvalidAction("there is no action in the answer", path="action", hint=hint)
    earlier = [call for part in before[1:] for call in calls_in("\n" + part.strip()) if call.name in rows]
    notes = [f"{len(earlier)} earlier actions, the last Action was taken"] if earlier else []
    repairs = tuple(dict.fromkeys([*notes, *(note for candidate in calls for note in candidate.repairs)]))
    words = tuple(WordCall(call.name, rename_fields(call.name, call.fields)) for call in calls)
    return ParsedOutput(words, thought[1].strip() if thought else "", repairs)


def rename_fields(word: str, fields: Mapping[str, Any]) -> Fields:
    """`start_box` is where it begins; the marks around numbers say nothing."""
    names = _ENDS if word == "drag" else _SAME
    renamed = {names.get(name, name): value for name, value in fields.items()}
    return {
        name: _MARKS.sub(" ", value) if isinstance(value, str) and name.endswith("point") else value
        for name, value in renamed.items()
    }


def form(word: str, fields: Fields) -> str:
    return f"Action: {word}({', '.join(_written_argument(name, value) for name, value in fields.items())})"


def _written_argument(name: str, value: Any) -> str:
    if isinstance(value, list):
        return f"{name}='<point>{value[0]} {value[1]}</point>'"
    text = str(value).replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
    return f"{name}='{text}'"


GUIDE = """\
Write two parts, `Thought: …` and `Action: …`. The action is one call:
click(point='<point>x y</point>'), long_press(point='<point>x y</point>'), type(content='…') with \\n at its
end to submit, scroll(point='<point>x y</point>', direction='down'), open_app(app_name='…'),
drag(start_point='<point>x y</point>', end_point='<point>x y</point>'), press_home(), press_back(), wait(),
finished(content='…')."""
DIALECT = Dialect(
    "ui_tars", "UI-TARS", "resized", ROWS, parse, form, text_answer, GUIDE, is_text=True, shows=True
)
