"""droidrun (mobilerun): `### Action ###` with `{"action": "click", "index": 3}`, or `<invoke name="click">`.

Numbers are pixels of the screen; an index is an element of the list that was told, from 1.
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
    element_by_number,
    number_from,
    required_field,
)
from handrail.dialects.model_text import cut_output, json_in
from handrail.dialects.table import (
    ActionOutcome,
    Dialect,
    ParsedOutput,
    ReadActions,
    SpecialWord,
    TableRow,
    WordCall,
    WordMeaning,
    WordRule,
    outcome_text,
)
from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.device import LongPress, Tap, TypeText
from handrail.protocol.observe import Finish
from handrail.protocol.target import Selector
from handrail_agent.dialects.tagged_calls import begins_call, tagged_calls

FIRST = 1
_BLOCK = re.compile(r"<function_calls>(.*?)(?:</function_calls>|\Z)", re.S)
_SECTION = re.compile(r"#+\s*(\w+)\s*#*[ \t]*\n(.*?)(?=\n#+\s*\w+\s*#*[ \t]*\n|\Z)", re.S)
_BUTTONS = {"back": "back", "home": "home", "enter": "enter", "recent": "recents", "recents": "recents"}
_SECRET = re.compile(r"[A-Za-z0-9_.-]{1,80}", re.ASCII)
_TRUTH = {"true": True, "false": False}


def _target(given: Fields, talk: Conversation) -> dict[str, Any]:
    """-1 and nothing at all are the field that has the focus."""
    if "index" not in given or number_from(given["index"], "index") == -1:
        return {}
    return {"target": {"ref": element_by_number(given["index"], "index", talk, FIRST)}}


def _truth(value: Any, name: str) -> bool:
    if isinstance(value, str):
        value = _TRUTH.get(value.strip().lower(), value)
    if not isinstance(value, bool):
        raise InvalidAction.at(name, "should be true or false")
    return value


def _touch(native: str) -> SpecialWord:
    classes = {"tap": Tap, "long_press": LongPress}

    def read(given: Fields, talk: Conversation) -> WordMeaning:
        ref = element_by_number(required_field(given, "index"), "index", talk, FIRST)
        return WordMeaning(({"type": native, "target": {"ref": ref}},))

    def write(action: Act, talk: Conversation) -> Fields | None:
        if type(action) is not classes[native] or action.expect is not None:
            return None
        return None if getattr(action, "duration_ms", 1000) != 1000 else _write_target(action, talk)

    return SpecialWord(f"`{native}` on an element", read, write, takes="index")


def _write_target(action: Any, talk: Conversation) -> dict[str, Any] | None:
    target = action.target
    if isinstance(target, Selector) and target.ref in talk.elements:
        return {"index": list(talk.elements).index(str(target.ref)) + FIRST}
    return None


def _type(given: Fields, talk: Conversation) -> WordMeaning:
    text = TextArgument("text").read(required_field(given, "text"), "text", talk)
    clear = _truth(given.get("clear", False), "clear")
    return WordMeaning(({"type": "type_text", "text": text, "clear": clear, **_target(given, talk)},))


def _write_type(action: Act, talk: Conversation) -> Fields | None:
    if not isinstance(action, TypeText) or action.submit or action.expect is not None:
        return None
    element = _write_target(action, talk) if action.target is not None else {}
    if element is None:
        return None
    return {"text": action.text, **element, **({"clear": True} if action.clear else {})}


def _secret(given: Fields, talk: Conversation) -> WordMeaning:
    """Typed by placeholder: whoever writes here never has the text itself."""
    name = str(required_field(given, "secret_id"))
    if _SECRET.fullmatch(name) is None:
        raise InvalidAction.at("secret_id", "is not the name of a secret")
    return WordMeaning(({"type": "type_text", "text": f"${{secret:{name}}}", **_target(given, talk)},))


def _complete(given: Fields, talk: Conversation) -> WordMeaning:
    done = _truth(required_field(given, "success"), "success")
    message = str(given.get("message") or given.get("reason") or talk.answer or "")
    finish = {"type": "finish", "status": "done" if done else "failed"}
    return WordMeaning(({**finish, **({"message": message} if message else {})},))


def _write_complete(action: Act, _: Conversation) -> Fields | None:
    if not isinstance(action, Finish) or action.status not in ("done", "failed"):
        return None
    return {"success": action.status == "done", "message": action.message}


def _remember(given: Fields, _: Conversation) -> WordMeaning:
    required_field(given, "information")
    return WordMeaning(reply="Remembered nothing: what you need later has to stand in your own notes.")


def _area(given: Fields, talk: Conversation) -> WordMeaning:
    left, top, right, bottom = (
        number_from(required_field(given, name), name) for name in ("x1", "y1", "x2", "y2")
    )
    return WordMeaning(
        ({"type": "tap", "target": talk.place((left + right) // 2, (top + bottom) // 2, "x1")},)
    )


_AT: dict[str, tuple[str, str]] = {"target": ("x", "y")}
ROWS: dict[str, TableRow] = {
    "click": _touch("tap"),
    "long_press": _touch("long_press"),
    "click_at": WordRule("tap", required="x y", pairs=_AT),
    "click_area": SpecialWord("`tap` in its middle", _area, takes="x1 y1 x2 y2"),
    "long_press_at": WordRule("long_press", required="x y", pairs=_AT),
    "type": SpecialWord("`type_text`", _type, _write_type, takes="text index clear"),
    "type_text": SpecialWord("`type_text`", _type, takes="text index clear"),
    "type_secret": SpecialWord("`type_text` of a secret by its name", _secret, takes="secret_id index"),
    "system_button": WordRule("press_key", {"button": RenamedWords("key", _BUTTONS)}, "button"),
    "swipe": WordRule(
        "swipe",
        {"coordinate": PlaceField("from"), "coordinate2": PlaceField("to"),
         "duration": SecondsField("duration_ms", most=60)},
        "coordinate coordinate2",
    ),
    "open_app": WordRule("start_app", {"text": TextArgument("name")}, "text"),
    "open_bundle_id": WordRule("start_app", {"app_id": "package"}, "app_id"),
    "wait": WordRule("wait", {"duration": SecondsField("duration_ms")}),
    "remember": SpecialWord("nothing; said so", _remember, takes="information"),
    "complete": SpecialWord("`finish`", _complete, _write_complete, takes="success message reason"),
}  # fmt: skip
_SECONDS = {"swipe": 1.0, "wait": 1.0}
_OTHER_NAMES = {"open_bundle_id": {"bundle_id": "app_id"}}


def hear(output: Any) -> ParsedOutput:
    """An object, the section `### Action ###` with one, or the calls of the first block of tags."""
    if isinstance(output, Mapping):
        return ParsedOutput((_call_from(output),))
    text = cut_output(output)
    if begins_call(text):
        return _hear_tags(text)
    sections = {match[1].lower(): match[2].strip() for match in _SECTION.finditer("\n" + text)}
    given, repairs = json_in(sections.get("action", text))
    if not isinstance(given, Mapping):
        raise InvalidAction.at("action", "should be an object", hint='Write {"action": "click", "index": 3}.')
    return ParsedOutput((_call_from(given),), sections.get("thought", ""), repairs)


def _hear_tags(text: str) -> ParsedOutput:
    blocks = _BLOCK.findall(text)
    calls = tagged_calls(blocks[0] if blocks else text)
    if not calls:
        raise InvalidAction.at("action", "the call has no end", hint="Close it: </parameter></invoke>.")
    repairs = (f"{len(blocks)} blocks of calls, the first was taken",) if len(blocks) > 1 else ()
    thought = text.partition("<function_calls>")[0].partition("<invoke")[0].strip()
    return ParsedOutput(tuple(_word_call(name, fields) for name, fields in calls), thought, repairs)


def _call_from(given: Mapping[Any, Any]) -> WordCall:
    if not isinstance(given.get("action"), str):
        raise InvalidAction.at("action", "is required")
    return _word_call(
        given["action"], {str(name): value for name, value in given.items() if name != "action"}
    )


def _word_call(name: str, fields: Fields) -> WordCall:
    if name == "open_app" and "bundle_id" in fields and "text" not in fields:
        name = "open_bundle_id"
    renamed = {_OTHER_NAMES.get(name, {}).get(field, field): value for field, value in fields.items()}
    if name in _SECONDS and renamed.get("duration") is None:
        renamed["duration"] = _SECONDS[name]
    return WordCall(name, renamed)


def form(word: str, fields: Fields) -> dict[str, Any]:
    return {"action": word, **fields}


def answer(reading: ReadActions, outcome: ActionOutcome) -> dict[str, Any]:
    """The list whose numbers the next action may name."""
    elements = [{"index": number, **one} for number, one in enumerate(outcome.elements, FIRST)]
    return {"success": outcome.success, "summary": outcome_text(reading, outcome), "ui_state": elements}


GUIDE = """\
Write three parts: ### Thought ###, ### Action ### and ### Description ###. The action is one JSON object:
{"action": "click", "index": 3}. Actions: click, long_press (index), click_at, long_press_at (x, y),
click_area (x1, y1, x2, y2), type (text, index, clear), system_button (button: back, home, enter),
swipe (coordinate, coordinate2, duration in seconds), open_app (text), wait (duration),
complete (success, message)."""
DIALECT = Dialect(
    "droidrun", "droidrun", "device", ROWS, hear, form, answer, GUIDE, reads_text=True, numbers=True
)
