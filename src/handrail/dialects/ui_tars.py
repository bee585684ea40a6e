"""UI-TARS: `Thought: …` and `Action: click(point='<point>540 1200</point>')`, one action or several.

Numbers are pixels of the picture after Qwen's resizing; those of the older models are thousandths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from handrail.dialects.answers import text_answer
from handrail.dialects.anthropic_computer import LONG_PRESS
from handrail.dialects.gestures import as_wheel, at_point, direction_of, wheel
from handrail.dialects.key_names import pressed, split_chord, written_chord
from handrail.dialects.model_text import calls_in, cut
from handrail.dialects.parts import Conversation, Fields, PlaceField, TextPart, needed, only
from handrail.dialects.table import Dialect, Heard, Meaning, Said, SpecialWord, TableRow, WordRule
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


def _type(given: Fields, talk: Conversation) -> Meaning:
    """A line break at the end presses Enter."""
    del talk
    only(given, ("content",), "type")
    text = str(needed(given, "content"))
    bare = text.removesuffix("\n")
    return Meaning(({"type": "type_text", "text": bare, "submit": bare != text},))


def _write_type(action: Act, talk: Conversation) -> Fields | None:
    del talk
    if not isinstance(action, TypeText) or action.target is not None or action.clear or action.expect:
        return None
    if action.text.endswith("\n"):
        return None
    return {"content": action.text + ("\n" if action.submit else "")}


def _scroll(given: Fields, talk: Conversation) -> Meaning:
    only(given, ("point", "direction"), "scroll")
    return Meaning(tuple(wheel(direction_of(given), CLICKS, at_point(given, talk), talk)))


def _write_scroll(action: Act, talk: Conversation) -> Fields | None:
    found = as_wheel(action, talk)
    return {"point": found[0], "direction": found[1]} if found and found[2] == CLICKS else None


def _hotkey(given: Fields, talk: Conversation) -> Meaning:
    del talk
    only(given, ("key", "hotkey"), "hotkey")
    return Meaning((pressed(split_chord(str(given.get("key") or needed(given, "hotkey"))), "key"),))


def _write_hotkey(action: Act, talk: Conversation) -> Fields | None:
    words = written_chord(action, talk)
    return {"key": " ".join(words).lower()} if words else None


ROWS: dict[str, TableRow] = {
    "click": WordRule("tap", _POINT, "point"),
    "left_single": WordRule("tap", _POINT, "point"),
    "left_double": WordRule("double_tap", _POINT, "point"),
    "long_press": WordRule("long_press", _POINT, "point"),
    "right_single": WordRule("long_press", _POINT, "point", note=LONG_PRESS),
    "type": SpecialWord("`type_text`; a line break at the end presses Enter", _type, _write_type),
    "scroll": SpecialWord("`swipe` the other way, half of the screen", _scroll, _write_scroll),
    "open_app": WordRule("start_app", {"app_name": TextPart("name")}, "app_name"),
    "drag": WordRule(
        "drag", {"start_point": PlaceField("from"), "end_point": PlaceField("to")}, "start_point end_point"
    ),
    "press_home": WordRule("press_key", fixed={"key": "home"}),
    "press_back": WordRule("press_key", fixed={"key": "back"}),
    "hotkey": SpecialWord("`press_key`, or `press_keys` for several", _hotkey, _write_hotkey),
    "wait": WordRule("wait", fixed={"duration_ms": 5000}),
    "finished": WordRule("finish", {"content": TextPart("message")}, fixed={"status": "done"}),
    "call_user": WordRule("request_human_auth", fixed={"instruction": "Help is needed with this screen."}),
}


def hear(given: Any) -> Heard:
    """Every call of the text, in order."""
    text = cut(given)
    thought = _HEADS.search(text)
    body = re.split(r"Action\s*[:：]", text)[-1] if re.search(r"Action\s*[:：]", text) else text
    calls = [one for one in calls_in("\n" + body.strip()) if one.name in ROWS]
    if not calls:
        raise InvalidAction(
            "there is no action in the answer", path="action", hint="Write Action: click(point='…')."
        )
    repairs = tuple(dict.fromkeys(note for one in calls for note in one.repairs))
    said = tuple(Said(one.name, _named(one.name, one.fields)) for one in calls)
    return Heard(said, thought[1].strip() if thought else "", repairs)


def _named(word: str, fields: Mapping[str, Any]) -> Fields:
    """`start_box` is where it begins; the marks around numbers say nothing."""
    names = _ENDS if word == "drag" else _SAME
    renamed = {names.get(name, name): value for name, value in fields.items()}
    return {
        name: _MARKS.sub(" ", value) if isinstance(value, str) and name.endswith("point") else value
        for name, value in renamed.items()
    }


def form(word: str, fields: Fields) -> str:
    """One line."""
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
