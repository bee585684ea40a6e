"""AndroidWorld's JSONAction: `{"action_type": "click", "index": 3}`, or an agent's text with it.

Numbers are pixels of the screen. `index` is an element's place in the list that the caller was told last.
`swipe` is turned round sideways and not upwards, as AndroidWorld's own executor does it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from handrail.dialects.frame import (
    FINGER,
    Conversation,
    Fields,
    RenamedWords,
    TextArgument,
    element_by_number,
    number_from,
    place_from,
    refuse_other_fields,
    required_field,
    without_zero_fraction,
)
from handrail.dialects.gestures import direction_of
from handrail.dialects.model_text import cut_output, json_in
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
)
from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.device import DoubleTap, LongPress, Swipe, Tap, TypeText
from handrail.protocol.observe import Finish, GiveAnswer
from handrail.protocol.target import Point, Selector

SWIPES = {"up": "up", "down": "down", "left": "right", "right": "left"}
"""Their `swipe left` goes from x = 0 to the right edge."""
SWIPE_MS = 500
FIRST_ELEMENT = "index 0 scrolls the whole screen, as AndroidWorld does"


def target_from(given: Fields, talk: Conversation) -> Mapping[str, Any] | None:
    """An element by number, or a place; not both."""
    has_place = "x" in given or "y" in given
    if "index" in given:
        if has_place:
            raise InvalidAction("index: goes without x and y", path="index")
        return {"ref": element_by_number(int(number_from(given["index"], "index")), "index", talk)}
    return (
        place_from([required_field(given, "x"), required_field(given, "y")], "x", talk) if has_place else None
    )


def _touch(native: str) -> SpecialWord:
    classes = {"tap": Tap, "double_tap": DoubleTap, "long_press": LongPress}

    def read(given: Fields, talk: Conversation) -> WordMeaning:
        refuse_other_fields(given, ("index", "x", "y"), native)
        target = target_from(given, talk)
        if target is None:
            raise InvalidAction("index: is required, or x and y", path="index")
        return WordMeaning(({"type": native, "target": target},))

    def write(action: Act, talk: Conversation) -> Fields | None:
        if type(action) is not classes[native] or action.expect is not None:
            return None
        if isinstance(action, LongPress) and action.duration_ms != 1000:
            return None
        return _write_target(getattr(action, "target", None), talk)

    return SpecialWord(f"`{native}`", read, write)


def _write_target(target: Any, talk: Conversation) -> dict[str, Any] | None:
    if isinstance(target, Point):
        x, y = map(without_zero_fraction, talk.frame.from_device(target.x, target.y))
        return {"x": x, "y": y}
    if isinstance(target, Selector) and target.ref in talk.elements:
        return {"index": list(talk.elements).index(str(target.ref))}
    return None


def _input(given: Fields, talk: Conversation) -> WordMeaning:
    """Always with Enter at the end; an empty text is nothing at all."""
    refuse_other_fields(given, ("text", "index", "x", "y", "clear_text"), "input_text")
    text = str(required_field(given, "text"))
    if not text:
        return WordMeaning(reply="Nothing was typed.", note="AndroidWorld ignores an empty text")
    target = target_from(given, talk)
    typed: dict[str, Any] = {"type": "type_text", "text": text, "submit": True}
    typed |= {"target": dict(target)} if target is not None else {}
    return WordMeaning(({**typed, "clear": given.get("clear_text") is True},))


def _write_input(action: Act, talk: Conversation) -> Fields | None:
    if not isinstance(action, TypeText) or not action.submit or not action.text or action.expect is not None:
        return None
    target = _write_target(action.target, talk) if action.target is not None else {}
    if target is None:
        return None
    return {"text": action.text, **target, **({"clear_text": True} if action.clear else {})}


def _scroll(given: Fields, talk: Conversation) -> WordMeaning:
    refuse_other_fields(given, ("direction", "index"), "scroll")
    swipe: dict[str, Any] = {"type": "swipe", "direction": FINGER[direction_of(given)]}
    if "index" not in given:
        return WordMeaning((swipe,))
    if number_from(given["index"], "index") == 0:
        return WordMeaning((swipe,), FIRST_ELEMENT)
    return WordMeaning(
        (
            {
                **swipe,
                "target": {
                    "ref": element_by_number(int(number_from(given["index"], "index")), "index", talk)
                },
            },
        )
    )


def _write_scroll(action: Act, talk: Conversation) -> Fields | None:
    if not isinstance(action, Swipe) or action.direction is None or action.duration_ms != 300:
        return None
    scroll = {"direction": FINGER[action.direction]}
    if action.target is None:
        return scroll
    target = _write_target(action.target, talk)
    return {**scroll, **target} if target and target.get("index") else None


def _answer(given: Fields, talk: Conversation) -> WordMeaning:
    refuse_other_fields(given, ("text",), "answer")
    talk.answer = str(required_field(given, "text"))
    return WordMeaning(({"type": "give_answer", "text": talk.answer or " "},))


def _write_answer(action: Act, talk: Conversation) -> Fields | None:
    del talk
    return {"text": action.text} if isinstance(action, GiveAnswer) else None


_STATUS = {"complete": "done", "successful": "done", "infeasible": "infeasible"}


def _status(given: Fields, talk: Conversation) -> WordMeaning:
    """What was answered before is the message of the end."""
    refuse_other_fields(given, ("goal_status", "text"), "status")
    status = RenamedWords("status", _STATUS).read(required_field(given, "goal_status"), "goal_status", talk)
    message = given.get("text") or talk.answer
    said = {"message": str(message)} if message else {}
    return WordMeaning(({"type": "finish", "status": status, **said},))


def _write_status(action: Act, talk: Conversation) -> Fields | None:
    if not isinstance(action, Finish) or action.message not in ("Task finished.", talk.answer):
        return None
    return {"goal_status": RenamedWords("status", _STATUS).write(action.status, talk)} if action.status in (
        "done", "infeasible"
    ) else None  # fmt: skip


ROWS: dict[str, TableRow] = {
    "click": _touch("tap"),
    "double_tap": _touch("double_tap"),
    "long_press": _touch("long_press"),
    "input_text": SpecialWord(
        "`type_text` with submit: AndroidWorld always presses Enter", _input, _write_input
    ),
    "keyboard_enter": WordRule("press_key", fixed={"key": "enter"}),
    "navigate_back": WordRule("press_key", fixed={"key": "back"}),
    "navigate_home": WordRule("press_key", fixed={"key": "home"}),
    "scroll": SpecialWord("`swipe` the other way, in the element or on the screen", _scroll, _write_scroll),
    "swipe": WordRule(
        "swipe",
        {"direction": RenamedWords("direction", SWIPES)},
        "direction",
        {"duration_ms": SWIPE_MS},
    ),
    "open_app": WordRule("start_app", {"app_name": TextArgument("name")}, "app_name"),
    "wait": WordRule("wait", fixed={"duration_ms": 1000}),
    "answer": SpecialWord("`give_answer`; the task goes on", _answer, _write_answer),
    "status": SpecialWord("`finish`", _status, _write_status),
    "unknown": RefusedWord("the agent did not know what to do", "Choose another action."),
}
_LABELS = re.compile(r"^\s*Reason:\s*(.*?)\s*(?=^\s*Action:|\Z)", re.S | re.M)


def hear(given: Any) -> ParsedOutput:
    """The object, or `Reason: … Action: {…}`."""
    thought = ""
    repairs: tuple[str, ...] = ()
    if not isinstance(given, Mapping):
        text = cut_output(given)
        found = _LABELS.search(text)
        thought = found[1] if found else ""
        given, repairs = json_in(text[text.rfind("Action:") + 7 :] if "Action:" in text else text)
    if not isinstance(given, Mapping) or not isinstance(given.get("action_type"), str):
        raise InvalidAction("action_type: is required", path="action_type")
    fields = {str(name): value for name, value in given.items() if name != "action_type"}
    return ParsedOutput((WordCall(given["action_type"], fields),), thought, repairs)


def form(word: str, fields: Fields) -> dict[str, Any]:
    """The object."""
    return {"action_type": word, **fields}


def answer(reading: ReadActions, told: ActionOutcome) -> dict[str, Any]:
    """The list whose numbers the next action may name."""
    elements = [{"index": number, **one} for number, one in enumerate(told.elements)]
    return {"success": told.success, "text": outcome_text(reading, told), "ui_elements": elements}


GUIDE = (
    "Answer with two lines, `Reason: …` and `Action: {…}`, where the action is one JSON object with "
    "action_type: click, double_tap, long_press (index, or x and y), input_text (text, index), scroll "
    "(direction, index), swipe (direction), open_app (app_name), keyboard_enter, navigate_back, "
    "navigate_home, wait, answer (text), status (goal_status: complete or infeasible)."
)
DIALECT = Dialect(
    "androidworld",
    "AndroidWorld JSONAction",
    "device",
    ROWS,
    hear,
    form,
    answer,
    GUIDE,
    reads_text=True,
    numbers=True,
)
