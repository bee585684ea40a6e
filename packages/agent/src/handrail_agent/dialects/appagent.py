"""AppAgent: `Observation: …`, `Thought: …`, `Action: tap(5)`, `Summary: …`.

Its numbers are those of the elements that it was told, from 1. `swipe` names the way of the finger.
"""

from __future__ import annotations

import re
from typing import Any

from handrail.dialects.frame import Conversation, Fields, element_by_number, required_field
from handrail.dialects.gestures import direction_of
from handrail.dialects.model_text import cut_output
from handrail.dialects.table import (
    ActionOutcome,
    Dialect,
    ParsedOutput,
    ReadActions,
    RefusedWord,
    SpecialWord,
    TableRow,
    WordCall,
    WordMeaning,
    WordRule,
    outcome_text,
    user_message,
)
from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.device import LongPress, Swipe, Tap
from handrail.protocol.target import Selector

FIRST = 1
SWIPE_MS = 400
DISTANCES = ("short", "medium", "long")
_LINE = re.compile(r"^[ \t*#]*Action[*]*\s*:[*]*[ \t]*(.*(?:\n(?!\s*[*#]*Summary\s*[*]*:).*)*)", re.M)
_THOUGHT = re.compile(r"^[ \t*#]*Thought[*]*\s*:[*]*[ \t]*(.*)$", re.M)
_CALL = re.compile(r"`*\s*([a-z_]{3,12})\s*\((.*)\)\s*`*\s*\.?\s*", re.S)
_HINT = 'Write Action: tap(5), text("…"), long_press(5), swipe(5, "up", "medium") or FINISH.'


def _touch(native: str) -> SpecialWord:
    classes = {"tap": Tap, "long_press": LongPress}

    def read(given: Fields, talk: Conversation) -> WordMeaning:
        ref = element_by_number(required_field(given, "element"), "element", talk, FIRST)
        return WordMeaning(({"type": native, "target": {"ref": ref}},))

    def write(action: Act, talk: Conversation) -> Fields | None:
        if type(action) is not classes[native] or action.expect is not None:
            return None
        return None if getattr(action, "duration_ms", 1000) != 1000 else _write_element(action, talk)

    return SpecialWord(f"`{native}` on an element", read, write, takes="element")


def _write_element(action: Any, talk: Conversation) -> dict[str, Any] | None:
    target = action.target
    if isinstance(target, Selector) and target.ref in talk.elements:
        return {"element": list(talk.elements).index(str(target.ref)) + FIRST}
    return None


def _swipe(given: Fields, talk: Conversation) -> WordMeaning:
    ref = element_by_number(required_field(given, "element"), "element", talk, FIRST)
    distance = str(given.get("dist", DISTANCES[1])).lower()
    if distance not in DISTANCES:
        raise InvalidAction.at("dist", f"must be one of: {', '.join(DISTANCES)}")
    swipe = {"type": "swipe", "direction": direction_of(given), "target": {"ref": ref}}
    note = f"dist {distance} is not measured here: the finger crosses most of the element"
    return WordMeaning(({**swipe, "duration_ms": SWIPE_MS},), note)


def _write_swipe(action: Act, talk: Conversation) -> Fields | None:
    if not isinstance(action, Swipe) or action.direction is None or action.duration_ms != SWIPE_MS:
        return None
    element = _write_element(action, talk)
    return None if element is None else {**element, "direction": action.direction, "dist": DISTANCES[1]}


ROWS: dict[str, TableRow] = {
    "tap": _touch("tap"),
    "long_press": _touch("long_press"),
    "text": WordRule("type_text", {"text_input": "text"}, "text_input"),
    "swipe": SpecialWord(
        "`swipe` on an element, the way of the finger", _swipe, _write_swipe, takes="element direction dist"
    ),
    "grid": RefusedWord("no grid is drawn here", "Name an element by its number."),
    "FINISH": WordRule("finish", fixed={"status": "done"}),
}
_FIELDS = {"tap": "element", "long_press": "element", "text": "text_input", "swipe": "element direction dist"}


def hear(output: Any) -> ParsedOutput:
    text = cut_output(output)
    lines = _LINE.findall(text)
    body = (lines[0] if lines else text).strip()
    thought = _THOUGHT.search(text)
    said = thought[1].strip() if thought else ""
    if body.strip("`*. \n()") == "FINISH":
        return ParsedOutput((WordCall("FINISH", {}),), said)
    call = _CALL.fullmatch(body)
    if call is None:
        raise InvalidAction.at("action", "there is no call in the answer", hint=_HINT)
    return ParsedOutput((WordCall(call[1], _arguments(call[1], call[2].strip())),), said)


def _arguments(word: str, inside: str) -> dict[str, Any]:
    """In their order; of `text` all between the brackets but its quotes, as AppAgent itself takes it."""
    if word == "text":
        if len(inside) < 2 or inside[0] not in "\"'“" or inside[-1] not in "\"'”":
            raise InvalidAction.at("text_input", "should be in quotation marks", hint='Write text("…").')
        return {"text_input": inside[1:-1]}
    names = _FIELDS.get(word, "").split()
    values = [part.partition("=")[2] or part for part in inside.split(",")] if inside else []
    if len(values) > len(names) and word in _FIELDS:
        raise InvalidAction.at("action", f"{word} takes {' and '.join(names)}", hint=_HINT)
    return {name: value.strip().strip("\"'") for name, value in zip(names, values, strict=False)}


def form(word: str, fields: Fields) -> str:
    if word == "FINISH":
        return "Action: FINISH"
    written = (str(value) if name == "element" else f'"{value}"' for name, value in fields.items())
    return f"Action: {word}({', '.join(written)})"


def answer(reading: ReadActions, outcome: ActionOutcome) -> dict[str, Any]:
    """The elements by number stand in the text: they are not drawn into the picture."""
    listed = [f"{number}. {one.get('text', '')}" for number, one in enumerate(outcome.elements, FIRST)]
    return user_message("\n".join([outcome_text(reading, outcome), *listed]), outcome)


GUIDE = """\
Write four lines: Observation: …, Thought: …, Action: …, Summary: …. The action is one call, with the number
of an element from the list: tap(5), long_press(5), swipe(21, "up", "medium"), text("Hello"), or FINISH."""
DIALECT = Dialect(
    "appagent", "AppAgent", "device", ROWS, hear, form, answer, GUIDE, is_text=True, shows=True, numbers=True
)
