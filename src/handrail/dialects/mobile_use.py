"""`mobile_use` of GUI-Owl and Qwen-VL: `<tool_call>{"name": "mobile_use", "arguments": {…}}</tool_call>`.

Numbers are thousandths of the screen (GUI-Owl 1.5); older models say pixels of the resized picture, which is
the frame `resized`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from handrail.dialects.frame import (
    Conversation,
    Fields,
    PlaceField,
    RenamedWords,
    SecondsField,
    TextArgument,
    required_field,
)
from handrail.dialects.gestures import key_from_word
from handrail.dialects.model_text import cut_output, json_in
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
from handrail.protocol.device import PressKey
from handrail.protocol.keys import KEYS, name_of_key
from handrail.protocol.observe import GiveAnswer

_CALL = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.S)
_THINK = re.compile(r"<(think|thinking)>(.*?)</\1>", re.S)
_LABEL = re.compile(r"^\s*(?:Thought|Action)\s*:\s*", re.M)
BUTTONS = {"Back": "back", "Home": "home", "Menu": "recents", "Enter": "enter"}
"""Their Menu is the list of running apps."""
ENDS = {"success": "done", "failure": "failed"}


def _key(arguments: Fields, _: Conversation) -> WordMeaning:
    """adb's names of keys: volume_up, power, clear."""
    word = str(required_field(arguments, "text")).strip().lower()
    key = name_of_key(word) if word in KEYS else key_from_word(word, "text")
    return WordMeaning(({"type": "press_key", "key": key},))


def _write_key(action: Act, _: Conversation) -> Fields | None:
    if not isinstance(action, PressKey) or action.expect is not None or action.name in BUTTONS.values():
        return None
    return {"text": action.name.removeprefix("KEYCODE_").lower()}


def _answer(arguments: Fields, talk: Conversation) -> WordMeaning:
    """Reads `answer`: the text goes to the person, and the task ends."""
    text = str(required_field(arguments, "text"))
    talk.answer = text
    answer = {"type": "give_answer", "text": text or " "}
    return WordMeaning((answer, {"type": "finish", "message": text, "status": "done"}))


def _write_answer(action: Act, _: Conversation) -> Fields | None:
    return {"text": action.text} if isinstance(action, GiveAnswer) else None


_POINT = {"coordinate": PlaceField("target")}
ROWS: dict[str, TableRow] = {
    "click": WordRule("tap", _POINT, "coordinate"),
    "tap": WordRule("tap", _POINT, "coordinate"),
    "long_press": WordRule(
        "long_press", {**_POINT, "time": SecondsField("duration_ms", most=60)}, "coordinate"
    ),
    "swipe": WordRule(
        "swipe", {"coordinate": PlaceField("from"), "coordinate2": PlaceField("to")}, "coordinate coordinate2"
    ),
    "type": WordRule("type_text", {"text": TextArgument("text")}, "text"),
    "system_button": WordRule("press_key", {"button": RenamedWords("key", BUTTONS)}, "button"),
    "key": SpecialWord("`press_key` by adb's name", _key, _write_key, takes="text"),
    "open": WordRule("start_app", {"text": TextArgument("name")}, "text"),
    "wait": WordRule("wait", {"time": SecondsField("duration_ms")}),
    "answer": SpecialWord("`give_answer`, and the task ends", _answer, _write_answer, takes="text"),
    "terminate": WordRule("finish", {"status": RenamedWords("status", ENDS)}, "status"),
}  # fmt: skip


def parse(output: Any) -> ParsedOutput:
    """A tool call in tags, as an object, or its arguments alone."""
    thought = ""
    repairs: tuple[str, ...] = ()
    if not isinstance(output, Mapping):
        text = cut_output(output)
        calls = _CALL.findall(text)
        output, repairs = json_in(calls[0] if calls else text)
        if len(calls) > 1:
            repairs = (*repairs, f"{len(calls)} tool calls, the first was taken")
        before = _THINK.search(text)
        thought = before[2] if before else _LABEL.sub("", text.partition("<tool_call>")[0]) if calls else ""
    if isinstance(output, Mapping) and isinstance(output.get("arguments"), Mapping):
        output = output["arguments"]
    if not isinstance(output, Mapping) or not isinstance(output.get("action"), str):
        raise InvalidAction.at("action", "is required")
    fields = {str(name): value for name, value in output.items() if name != "action"}
    return ParsedOutput((WordCall(output["action"], fields),), thought.strip(), repairs)


def form(word: str, fields: Fields) -> dict[str, Any]:
    return {"name": "mobile_use", "arguments": {"action": word, **fields}}


GUIDE = """\
For each step, write `Action: ` with one short sentence, then one call inside tags:
<tool_call>
{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [x, y]}}
</tool_call>
The screen is 1000x1000. Actions: click, long_press (coordinate, time), swipe (coordinate, coordinate2),
type (text), system_button (button: Back, Home, Menu, Enter), key (text), open (text: the app's name),
wait (time), answer (text), terminate (status: success or failure)."""
DIALECT = Dialect(
    "mobile_use",
    "mobile_use of GUI-Owl and Qwen",
    "thousand",
    ROWS,
    parse,
    form,
    tool_answer,
    GUIDE,
    reads_text=True,
    shows=True,
)
