"""CogAgent: `Grounded Operation: CLICK(box=[[346,574,424,710]], element_info='Save')`.

Numbers are thousandths of the screen; the middle of a box is meant. An operation that CogAgent itself marks
as sensitive is asked about first.
"""

from __future__ import annotations

import re
from typing import Any

from handrail.dialects.frame import (
    Conversation,
    Fields,
    PlaceField,
    TextArgument,
    number_from,
    place_from,
    required_field,
)
from handrail.dialects.gestures import LONG_PRESS, press_action, wheel_of_swipe, wheel_strokes, x_key_names
from handrail.dialects.model_text import calls_in, cut_output
from handrail.dialects.table import (
    Dialect,
    ParsedOutput,
    RefusedWord,
    SpecialWord,
    TableRow,
    WordCall,
    WordMeaning,
    WordRule,
    text_answer,
)
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.act import Act
from handrail.protocol.device import PressKey, PressKeys, TypeText
from handrail.protocol.system import OpenUrl, StartApp
from handrail.protocol.target import Point

_LABEL = re.compile(r"Grounded\s+Operation\s*[:：]", re.I)
_THOUGHT = re.compile(r"^\s*Action\s*[:：]\s*(.*?)\s*$", re.M)
_SENSITIVE = re.compile(r"<<\s*(?:敏感操作|sensitive[^<>]{0,20})\s*>>", re.I)
_STEP = re.compile(r"KEY_(DOWN|PRESS|UP)\s*\(\s*key\s*=\s*[\"']([^\"']{1,40})[\"']\s*\)")
_VARIABLE = re.compile(r"__CogName_\w+__")
_SAYS_MORE = "element_type element_info"
_KEYS = {
    "lcontrol": "ctrl", "rcontrol": "ctrl", "right control": "ctrl", "lmenu": "alt", "rmenu": "alt",
    "lshift": "shift", "rshift": "shift", "right shift": "shift", "right command": "command",
    "up arrow": "up", "down arrow": "down", "left arrow": "left", "right arrow": "right",
    "home": "super", "back": "escape",
}  # fmt: skip
"""Home and Back are the phone's own here: this is how it writes them for a phone."""
_HINT = "Write Grounded Operation: CLICK(box=[[x1,y1,x2,y2]], element_info='…')."


def _type(given: Fields, talk: Conversation) -> WordMeaning:
    text = TextArgument("text").read(required_field(given, "text"), "text", talk)
    if _VARIABLE.search(text):
        raise Unsupported.at(
            "text", "has a variable of CogAgent without a value", hint="Write the text itself."
        )
    target = place_from(required_field(given, "box"), "box", talk)
    return WordMeaning(({"type": "type_text", "text": text, "target": target},))


def _write_type(action: Act, talk: Conversation) -> Fields | None:
    if not isinstance(action, TypeText) or action.clear or action.submit or action.expect is not None:
        return None
    if not isinstance(action.target, Point) or _VARIABLE.search(action.text):
        return None
    return {"box": PlaceField("target").write(action.target.to_dict(), talk), "text": action.text}


def _scroll(direction: str) -> SpecialWord:
    def read(given: Fields, talk: Conversation) -> WordMeaning:
        at = place_from(required_field(given, "box"), "box", talk)
        steps = number_from(given.get("step_count", 5), "step_count")
        if steps < 0:
            raise InvalidAction.at("step_count", "should not be negative")
        return WordMeaning(tuple(wheel_strokes(direction, steps, at, talk)))

    def write(action: Act, talk: Conversation) -> Fields | None:
        turned = wheel_of_swipe(action, talk)
        return {"box": turned[0], "step_count": turned[2]} if turned and turned[1] == direction else None

    says = "`swipe` the other way, a tenth of the screen for each step"
    return SpecialWord(says, read, write, takes=f"box step_count {_SAYS_MORE}")


def _keys(words: list[str]) -> WordMeaning:
    return WordMeaning((press_action([_KEYS.get(word.lower(), word) for word in words], "key"),))


def _press(given: Fields, _: Conversation) -> WordMeaning:
    return _keys([str(required_field(given, "key"))])


def _write_press(action: Act, _: Conversation) -> Fields | None:
    words = x_key_names(action) if isinstance(action, PressKey) else None
    return {"key": {"super": "Home", "Escape": "Back"}.get(words[0], words[0])} if words else None


def _gesture(given: Fields, _: Conversation) -> WordMeaning:
    """All that are held, and what is pressed meanwhile; several in a row are several things."""
    steps = _STEP.findall(str(required_field(given, "actions")))
    pressed = [key for way, key in steps if way == "PRESS"]
    held = [key for way, key in steps if way == "DOWN"]
    if not steps or len(pressed) > 1 or sorted(held) != sorted(key for way, key in steps if way == "UP"):
        raise Unsupported.at("actions", "is not a single chord", hint="Press one chord at a time.")
    return _keys([*held, *pressed])


def _write_gesture(action: Act, _: Conversation) -> Fields | None:
    words = x_key_names(action) if isinstance(action, PressKeys) else None
    if not words:
        return None
    steps = [*(f"KEY_DOWN(key='{word}')" for word in words[:-1]), f"KEY_PRESS(key='{words[-1]}')"]
    return {"actions": [*steps, *(f"KEY_UP(key='{word}')" for word in reversed(words[:-1]))]}


def _launch(given: Fields, talk: Conversation) -> WordMeaning:
    """With both, the address counts."""
    named = {name: value for name, value in given.items() if value not in (None, "", "None", "none")}
    if "url" in named:
        url = str(TextArgument("url").read(named["url"], "url", talk)).strip("` ")
        return WordMeaning(({"type": "open_url", "url": url if ":" in url else f"https://{url}"},))
    name = TextArgument("name").read(required_field(named, "app"), "app", talk)
    return WordMeaning(({"type": "start_app", "name": name},))


def _write_launch(action: Act, _: Conversation) -> Fields | None:
    if isinstance(action, OpenUrl) and action.expect is None:
        return {"app": "None", "url": action.url}
    if isinstance(action, StartApp) and action.name and action.name.lower() != "none":
        return {"app": action.name, "url": "None"}
    return None


_BOX = {"box": PlaceField("target")}
_NO_VARIABLES = RefusedWord("variables of CogAgent's own program are not kept here", "Act on the screen.")
ROWS: dict[str, TableRow] = {
    "CLICK": WordRule("tap", _BOX, "box", ignored=_SAYS_MORE),
    "DOUBLE_CLICK": WordRule("double_tap", _BOX, "box", ignored=_SAYS_MORE),
    "RIGHT_CLICK": WordRule("long_press", _BOX, "box", ignored=_SAYS_MORE, note=LONG_PRESS),
    "HOVER": RefusedWord("a phone has no pointer to hover with", "Click, or look again."),
    "TYPE": SpecialWord("`type_text` into what is there", _type, _write_type, takes=f"box text {_SAYS_MORE}"),
    **{f"SCROLL_{way.upper()}": _scroll(way) for way in ("up", "down", "left", "right")},
    "KEY_PRESS": SpecialWord("`press_key`", _press, _write_press, takes="key"),
    "GESTURE": SpecialWord("`press_keys`: one chord", _gesture, _write_gesture, takes="actions"),
    "LAUNCH": SpecialWord("`open_url`, or `start_app` by its name", _launch, _write_launch, takes="app url"),
    "QUOTE_TEXT": _NO_VARIABLES,
    "QUOTE_CLIPBOARD": _NO_VARIABLES,
    "LLM": _NO_VARIABLES,
    "END": WordRule("finish", fixed={"status": "done"}),
}


def hear(output: Any) -> ParsedOutput:
    text = cut_output(output)
    body = _LABEL.split(text)[-1].strip()
    thought = _THOUGHT.search(text)
    said = thought[1] if thought else ""
    bare = body.partition("<<")[0].strip()
    ask = ({"message": bare[:300]},) if _SENSITIVE.search(body) else ()
    if re.fullmatch(r"END\s*(?:\(\s*\))?\.?", bare):
        return ParsedOutput((WordCall("END", {}, checks=ask),), said)
    if bare.startswith("GESTURE"):
        return ParsedOutput((WordCall("GESTURE", {"actions": bare}, checks=ask),), said)
    calls = [call for call in calls_in("\n" + bare) if call.name.isupper()]
    if not calls:
        raise InvalidAction.at("action", "there is no operation in the answer", hint=_HINT)
    if calls[0].repairs:
        raise InvalidAction.at("action", "the operation has no end", hint=_HINT)
    repairs = (f"{len(calls)} operations, the first was taken",) if len(calls) > 1 else ()
    return ParsedOutput((WordCall(calls[0].name, calls[0].fields, checks=ask),), said, repairs)


def form(word: str, fields: Fields) -> str:
    return f"Grounded Operation: {word}({', '.join(_written(name, value) for name, value in fields.items())})"


def _written(name: str, value: Any) -> str:
    if name == "actions":
        return f"actions=[{', '.join(value)}]"
    if name == "box":
        x, y = value
        return f"box=[[{x},{y},{x},{y}]]"
    if name == "step_count":
        return f"step_count={value}"
    text = str(value).replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
    return f"{name}='{text}'"


GUIDE = """\
Write two lines, `Action: …` in one sentence and `Grounded Operation: …` with one operation; a box is
[[x1,y1,x2,y2]] in thousandths of the screen: CLICK(box=…, element_info='…'), DOUBLE_CLICK(box=…),
TYPE(box=…, text='…'), SCROLL_DOWN(box=…, step_count=5) (or UP, LEFT, RIGHT), KEY_PRESS(key='Return'),
LAUNCH(app='…', url='None'), END."""
DIALECT = Dialect(
    "cogagent", "CogAgent", "thousand", ROWS, hear, form, text_answer, GUIDE, is_text=True, shows=True
)
