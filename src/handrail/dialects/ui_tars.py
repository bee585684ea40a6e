"""UI-TARS: `Thought: …` and `Action: click(point='<point>540 1200</point>')`, one action or several.

Numbers are pixels of the picture after Qwen's resizing; those of the older models are thousandths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from handrail.dialects.anthropic_computer import LONG_PRESS
from handrail.dialects.frame import Conversation, Fields, PlaceField, TextPart, needed
from handrail.dialects.gestures import (
    as_wheel,
    at_point,
    direction_of,
    pressed,
    split_chord,
    wheel,
    written_chord,
)
from handrail.dialects.model_text import calls_in, cut
from handrail.dialects.table import (
    Dialect,
    Meaning,
    ParsedOutput,
    SpecialWord,
    TableRow,
    WordCall,
    WordRule,
    text_answer,
)
from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.device import TypeText

CLICKS = 5
"""A scroll without an amount: half of the screen."""
_POINT = {"point": PlaceField("target")}
_SAME = {"start_box": "point", "start_point": "point", "box": "point"}
_ENDS = {"start_box": "start_point", "end_box": "end_point"}
_MARKS = re.compile(r"</?(?:point|bbox|box|\|box_start\||\|box_end\|)>|<\|box_(?:start|end)\|>")
_HEADS = re.compile(r"(?:Thought|Reflection|Action_Summary)\s*[:：]\s*(.*?)(?=\n\s*Action\s*[:：]|\Z)", re.S)


def _type(arguments: Fields, _: Conversation) -> Meaning:
    """A line break at the end presses Enter."""
    text = str(needed(arguments, "content"))
    bare = text.removesuffix("\n")
    return Meaning(({"type": "type_text", "text": bare, "submit": bare != text},))


def _write_type(action: Act, _: Conversation) -> Fields | None:
    if not isinstance(action, TypeText) or action.target is not None or action.clear or action.expect:
        return None
    if action.text.endswith("\n"):
        return None
    return {"content": action.text + ("\n" if action.submit else "")}


def _scroll(arguments: Fields, talk: Conversation) -> Meaning:
    return Meaning(tuple(wheel(direction_of(arguments), CLICKS, at_point(arguments, talk), talk)))


def _write_scroll(action: Act, talk: Conversation) -> Fields | None:
    turned = as_wheel(action, talk)
    return {"point": turned[0], "direction": turned[1]} if turned and turned[2] == CLICKS else None


def _hotkey(arguments: Fields, _: Conversation) -> Meaning:
    return Meaning((pressed(split_chord(str(arguments.get("key") or needed(arguments, "hotkey"))), "key"),))


def _write_hotkey(action: Act, _: Conversation) -> Fields | None:
    words = written_chord(action)
    return {"key": " ".join(words).lower()} if words else None


ROWS: dict[str, TableRow] = {
    "click": WordRule("tap", _POINT, "point"),
    "left_single": WordRule("tap", _POINT, "point"),
    "left_double": WordRule("double_tap", _POINT, "point"),
    "long_press": WordRule("long_press", _POINT, "point"),
    "right_single": WordRule("long_press", _POINT, "point", note=LONG_PRESS),
    "type": SpecialWord(
        "`type_text`; a line break at the end presses Enter", _type, _write_type, takes="content"
    ),
    "scroll": SpecialWord(
        "`swipe` the other way, half of the screen", _scroll, _write_scroll, takes="point direction"
    ),
    "open_app": WordRule("start_app", {"app_name": TextPart("name")}, "app_name"),
    "drag": WordRule(
        "drag", {"start_point": PlaceField("from"), "end_point": PlaceField("to")}, "start_point end_point"
    ),
    "press_home": WordRule("press_key", fixed={"key": "home"}),
    "press_back": WordRule("press_key", fixed={"key": "back"}),
    "hotkey": SpecialWord(
        "`press_key`, or `press_keys` for several", _hotkey, _write_hotkey, takes="key hotkey"
    ),
    "wait": WordRule("wait", fixed={"duration_ms": 5000}),
    "finished": WordRule("finish", {"content": TextPart("message")}, fixed={"status": "done"}),
    "call_user": WordRule("request_human_auth", fixed={"instruction": "Help is needed with this screen."}),
}


def hear(output: Any) -> ParsedOutput:
    text = cut(output)
    thought = _HEADS.search(text)
    body = re.split(r"Action\s*[:：]", text)[-1] if re.search(r"Action\s*[:：]", text) else text
    calls = [candidate for candidate in calls_in("\n" + body.strip()) if candidate.name in ROWS]
    if not calls:
        raise InvalidAction(
            "there is no action in the answer", path="action", hint="Write Action: click(point='…')."
        )
    repairs = tuple(dict.fromkeys(note for candidate in calls for note in candidate.repairs))
    word_calls = tuple(WordCall(call.name, _named(call.name, call.fields)) for call in calls)
    return ParsedOutput(word_calls, thought[1].strip() if thought else "", repairs)


def _named(word: str, fields: Mapping[str, Any]) -> Fields:
    """`start_box` is where it begins; the marks around numbers say nothing."""
    names = _ENDS if word == "drag" else _SAME
    renamed = {names.get(name, name): value for name, value in fields.items()}
    return {
        name: _MARKS.sub(" ", value) if isinstance(value, str) and name.endswith("point") else value
        for name, value in renamed.items()
    }


def form(word: str, fields: Fields) -> str:
    return f"Action: {word}({', '.join(_argument(name, value) for name, value in fields.items())})"


def _argument(name: str, value: Any) -> str:
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
    "ui_tars", "UI-TARS", "resized", ROWS, hear, form, text_answer, GUIDE, is_text=True, shows=True
)
