"""OpenAI's computer tool: an action, a `computer_call` with one or a batch, or a response with calls.

Its numbers are pixels of the picture that was sent. What the maker's safety checks ask, a person is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.dialects.frame import (
    Conversation,
    Fields,
    TextArgument,
    number_from,
    place_from,
    required_field,
    without_zero_fraction,
)
from handrail.dialects.gestures import (
    LONG_PRESS,
    STROKE_MS,
    drag_through,
    press_action,
    scroll_strokes,
    straight_swipe_ends,
    x_key_names,
)
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
)
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.act import Act
from handrail.protocol.device import Drag, DragPath, LongPress, PressKey, Swipe, Tap
from handrail.protocol.observe import WaitForStable
from handrail.protocol.target import Point
from handrail_agent.dialects.anthropic_computer import NO_HELD_KEY, move_pointer

_XY = {"target": ("x", "y")}
_HELD = {"keys": NO_HELD_KEY}
_BUTTONS = {"left": "tap", "right": "long_press", "back": "press_key"}


def _click(arguments: Fields, talk: Conversation) -> WordMeaning:
    _no_keys(arguments)
    button = str(arguments.get("button", "left"))
    if button not in _BUTTONS:
        raise Unsupported(
            f"click: a phone has no {button[:20]} button", hint="It has left, right and back.", path="button"
        )
    if button == "back":
        return WordMeaning(({"type": "press_key", "key": "back"},))
    talk.cursor = place_from([required_field(arguments, "x"), required_field(arguments, "y")], "x", talk)
    note = LONG_PRESS if button == "right" else ""
    return WordMeaning(({"type": _BUTTONS[button], "target": talk.cursor},), note)


def _write_click(action: Act, talk: Conversation) -> Fields | None:
    if isinstance(action, PressKey) and action.name == "back" and action.expect is None:
        return {"button": "back", "x": 0, "y": 0}
    target = action.target if isinstance(action, Tap | LongPress) else None
    usual = LongPress.model_fields["duration_ms"].default
    if not isinstance(target, Point) or action.expect is not None:
        return None
    if isinstance(action, LongPress) and action.duration_ms != usual:
        return None
    x, y = map(without_zero_fraction, talk.frame.from_device(target.x, target.y))
    return {"button": "right" if isinstance(action, LongPress) else "left", "x": x, "y": y}


def _no_keys(arguments: Fields) -> None:
    if arguments.get("keys"):
        raise Unsupported(f"keys: {NO_HELD_KEY}", hint="Send it without keys.", path="keys")


def _drag(arguments: Fields, talk: Conversation) -> WordMeaning:
    _no_keys(arguments)
    path = required_field(arguments, "path")
    if not isinstance(path, list) or not 2 <= len(path) <= 100:
        raise InvalidAction("path: should be 2 to 100 places", path="path")
    return WordMeaning((drag_through([place_from(point, "path", talk) for point in path]),))


def _write_drag(action: Act, talk: Conversation) -> Fields | None:
    points = _points(action)
    if points is None or action.expect is not None:
        return None
    own = [tuple(map(without_zero_fraction, talk.frame.from_device(point.x, point.y))) for point in points]
    return {"path": [{"x": x, "y": y} for x, y in own]}


def _points(action: Act) -> list[Point] | None:
    """The places of a drag, with the duration that a dialect without one means."""
    if isinstance(action, DragPath) and action.duration_ms == DragPath.model_fields["duration_ms"].default:
        return list(action.points)
    if isinstance(action, Drag) and action.duration_ms == Drag.model_fields["duration_ms"].default:
        ends = [end for end in (action.from_, action.to) if isinstance(end, Point)]
        return ends if len(ends) == 2 else None
    return None


def _move(arguments: Fields, talk: Conversation) -> WordMeaning:
    _no_keys(arguments)
    return move_pointer(
        {"coordinate": [required_field(arguments, "x"), required_field(arguments, "y")]}, talk
    )


def _scroll(arguments: Fields, talk: Conversation) -> WordMeaning:
    """Positive numbers go on down and to the right; the finger goes the other way."""
    _no_keys(arguments)
    at = place_from([required_field(arguments, "x"), required_field(arguments, "y")], "x", talk)
    width, height = talk.frame.device_size
    across, down = talk.frame.size
    dx = number_from(arguments.get("scroll_x", 0), "scroll_x") * width / across
    dy = number_from(arguments.get("scroll_y", 0), "scroll_y") * height / down
    return WordMeaning(tuple(scroll_strokes(at, -dx, -dy, talk)))


def _write_scroll(action: Act, talk: Conversation) -> Fields | None:
    stroke = straight_swipe_ends(action)
    if stroke is None or not isinstance(action, Swipe) or action.duration_ms != STROKE_MS:
        return None
    x1, y1, x2, y2 = stroke
    (width, height), (across, down) = talk.frame.device_size, talk.frame.size
    middle = {"x": (x1 + x2) // 2, "y": (y1 + y2) // 2}
    if scroll_strokes(middle, x2 - x1, y2 - y1, talk) != [action.to_dict()]:
        return None
    x, y = map(without_zero_fraction, talk.frame.from_device(middle["x"], middle["y"]))
    scroll_x, scroll_y = (
        without_zero_fraction((x1 - x2) * across / width),
        without_zero_fraction((y1 - y2) * down / height),
    )
    return {"x": x, "y": y, "scroll_x": scroll_x, "scroll_y": scroll_y}


def _keypress(arguments: Fields, _: Conversation) -> WordMeaning:
    keys = required_field(arguments, "keys")
    if not isinstance(keys, list) or not keys or not all(isinstance(key, str) for key in keys):
        raise InvalidAction("keys: should be a list of keys", path="keys")
    return WordMeaning((press_action(keys, "keys"),))


def _write_keypress(action: Act, _: Conversation) -> Fields | None:
    words = x_key_names(action)
    return {"keys": [word.upper() for word in words]} if words else None


ROWS: dict[str, TableRow] = {
    "keypress": SpecialWord(
        "`press_key`, or `press_keys` for several", _keypress, _write_keypress, takes="keys"
    ),
    "click": SpecialWord(
        "`tap`; right is a `long_press`, back the back key", _click, _write_click, takes="x y button keys"
    ),
    "double_click": WordRule("double_tap", pairs=_XY, required="x y", refused=_HELD),
    "drag": SpecialWord(
        "`drag`, or `drag_path` for more than two places", _drag, _write_drag, takes="path keys"
    ),
    "move": SpecialWord("kept for the next click", _move, takes="x y keys"),
    "scroll": SpecialWord(
        "`swipe` the other way, so many pixels", _scroll, _write_scroll, takes="x y scroll_x scroll_y keys"
    ),
    "type": WordRule("type_text", {"text": TextArgument("text")}, "text"),
    "wait": SpecialWord(
        "`wait_for_stable`",
        lambda _, __: WordMeaning(({"type": "wait_for_stable"},)),
        lambda action, _: {} if action == WaitForStable() else None,
        takes="",
    ),
    "screenshot": WordRule("screenshot"),
}


def hear(output: Any) -> ParsedOutput:
    """A response's `output`, one call, a batch, or one action."""
    if isinstance(output, Mapping) and isinstance(output.get("output"), list):
        output = output["output"]
    items = output if isinstance(output, list) else [output]
    calls = [call for item in items if isinstance(item, Mapping) for call in _calls(item)]
    if not calls:
        raise InvalidAction("type: is required", path="type", hint='Send {"type": "click", "x": …, "y": …}.')
    blocks = [entry.get("content") or entry.get("summary") for entry in items if isinstance(entry, Mapping)]
    parts = [part for block in blocks if isinstance(block, list) for part in block]
    texts = [
        part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str)
    ]
    return ParsedOutput(tuple(calls), "\n".join(texts))


def _calls(item: Mapping[str, Any]) -> list[WordCall]:
    if item.get("type") in ("message", "reasoning"):
        return []
    if item.get("type") != "computer_call":
        return [_word_call(item, "", ())]
    batch = item.get("actions") or [item.get("action")]
    if not isinstance(batch, list) or not all(isinstance(action, Mapping) for action in batch):
        raise InvalidAction("actions: should be a list of actions", path="actions")
    pending = item.get("pending_safety_checks") or []
    checks = (
        tuple(action for action in pending if isinstance(action, Mapping))
        if isinstance(pending, list)
        else ()
    )
    first, *rest = batch
    return [
        _word_call(first, str(item.get("call_id", "")), checks),
        *(_word_call(action, "", ()) for action in rest),
    ]


def _word_call(action: Mapping[str, Any], id_: str, checks: tuple[Mapping[str, Any], ...]) -> WordCall:
    word = action.get("type")
    if not isinstance(word, str):
        raise InvalidAction("type: is required", path="type")
    return WordCall(word, {name: value for name, value in action.items() if name != "type"}, id_, checks)


def form(word: str, fields: Fields) -> dict[str, Any]:
    return {"type": word, **fields}


def answer(reading: ReadActions, outcome: ActionOutcome) -> Any:
    """A `computer_call_output` for each call; a check is acknowledged only where a person has said yes."""
    output: dict[str, Any] = {"type": "computer_screenshot"}
    if outcome.picture:
        output["image_url"] = f"data:image/png;base64,{outcome.picture}"
    results: list[dict[str, Any]] = [
        {"type": "computer_call_output", "call_id": id_, "output": output} for id_ in (reading.ids or ("",))
    ]
    if reading.checks and outcome.success:
        results[0]["acknowledged_safety_checks"] = [dict(check) for check in reading.checks]
    if reading.notes or not outcome.success:
        from handrail.dialects.table import outcome_text  # noqa: PLC0415

        text = {"type": "input_text", "text": outcome_text(reading, outcome)}
        results.append({"role": "user", "content": [text]})
    return results[0] if len(results) == 1 else results


DIALECT = Dialect("openai_computer", "OpenAI computer use", "picture", ROWS, hear, form, answer, shows=True)
