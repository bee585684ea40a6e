"""Anthropic's computer tools: the `input` of a tool call, the call itself, or a message with calls.

`computer_20251124` and older call one tool with an `action`; `computer_toolset_20260801` has a tool for each.

Its numbers are pixels of the picture that was sent. Back, Home and opening an app have no word of their own:
Escape and `super` stand for the first two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.dialects.frame import (
    Conversation,
    Fields,
    PlaceField,
    SecondsField,
    TextArgument,
    number_from,
    place_from,
    required_field,
    without_zero_fraction,
)
from handrail.dialects.gestures import (
    LONG_PRESS,
    direction_of,
    drag_through,
    point_or_middle,
    press_action,
    split_chord,
    wheel_of_swipe,
    wheel_strokes,
    x_key_names,
)
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
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.act import Act
from handrail.protocol.observe import Screenshot

NO_HELD_KEY = "a key that is held during a touch has no meaning on a phone"
NO_POINTER = "a phone has no pointer: where it would stand is kept for the next click"
MOST_TIMES = 20
"""How often one call may press a key."""
_POINT = {"coordinate": PlaceField("target")}
_HELD = {"key": NO_HELD_KEY, "text": NO_HELD_KEY}


def _scroll(arguments: Fields, talk: Conversation) -> WordMeaning:
    if arguments.get("text"):
        RefusedWord(NO_HELD_KEY, "Scroll without text.").read("scroll", arguments, talk)
    direction = direction_of(arguments, "scroll_direction")
    clicks = number_from(required_field(arguments, "scroll_amount"), "scroll_amount")
    if clicks < 0:
        raise InvalidAction("scroll_amount: should not be below 0", path="scroll_amount")
    at = point_or_middle(arguments, talk, "coordinate")
    return WordMeaning(tuple(wheel_strokes(direction, clicks, at, talk)))


def _write_scroll(action: Act, talk: Conversation) -> Fields | None:
    scroll = wheel_of_swipe(action, talk)
    if scroll is None:
        return None
    place, direction, clicks = scroll
    return {"coordinate": place, "scroll_direction": direction, "scroll_amount": clicks}


def _key(arguments: Fields, _: Conversation) -> WordMeaning:
    text = required_field(arguments, "text")
    if not isinstance(text, str):
        raise InvalidAction("text: should be a key's name", path="text")
    times = number_from(arguments.get("repeat", 1), "repeat")
    if times not in range(1, MOST_TIMES + 1):
        raise InvalidAction(f"repeat: should be 1 to {MOST_TIMES}", path="repeat")
    return WordMeaning((press_action(split_chord(text), "text"),) * int(times))


def _write_key(action: Act, _: Conversation) -> Fields | None:
    words = x_key_names(action)
    return {"text": "+".join(words)} if words else None


def _zoom(arguments: Fields, talk: Conversation) -> WordMeaning:
    region = required_field(arguments, "region")
    if not isinstance(region, list | tuple) or len(region) != 4:
        raise InvalidAction("region: should be [x0, y0, x1, y1]", path="region")
    x0, y0, x1, y1 = (number_from(edge, "region") for edge in region)
    first, last = talk.frame.to_device(x0, y0, "region"), talk.frame.to_device(x1, y1, "region")
    return WordMeaning(({"type": "screenshot", "region": [first["x"], first["y"], last["x"], last["y"]]},))


def _write_zoom(action: Act, talk: Conversation) -> Fields | None:
    if not isinstance(action, Screenshot) or action.region is None or action.marks or action.scale:
        return None
    left, top, right, bottom = action.region
    ends = (*talk.frame.from_device(left, top), *talk.frame.from_device(right, bottom))
    return {"region": [without_zero_fraction(end) for end in ends]}


def move_pointer(arguments: Fields, talk: Conversation) -> WordMeaning:
    """`mouse_move`: moves the cursor, and extends a drag while the button is down."""
    talk.cursor = place_from(required_field(arguments, "coordinate"), "coordinate", talk)
    if talk.held is not None:
        talk.held.append(talk.cursor)
    return WordMeaning(note=NO_POINTER, reply="Moved.")


def press_button(_: Fields, talk: Conversation) -> WordMeaning:
    """`left_mouse_down`: nothing is touched before the button is let go."""
    if talk.cursor is None:
        raise InvalidAction("left_mouse_down: nothing was pointed at before", path="", hint="Move first.")
    talk.held = [talk.cursor]
    return WordMeaning(note="the finger comes down when the button is let go", reply="Held.")


def release_button(_: Fields, talk: Conversation) -> WordMeaning:
    """`left_mouse_up`: a tap, or a drag along all places since the button went down."""
    if talk.held is None:
        raise Unsupported(
            "left_mouse_up: the button was not down", hint="Use left_click or left_click_drag.", path=""
        )
    way = [place for at, place in enumerate(talk.held) if not at or place != talk.held[at - 1]]
    talk.held = None
    if len(way) == 1:
        return WordMeaning(({"type": "tap", "target": way[0]},))
    return WordMeaning((drag_through(way),))


def read_pointer(_: Fields, talk: Conversation) -> WordMeaning:
    if talk.cursor is None:
        return WordMeaning(reply="Nothing was pointed at yet.")
    x, y = map(without_zero_fraction, talk.frame.from_device(talk.cursor["x"], talk.cursor["y"]))
    return WordMeaning(reply=f"X={x},Y={y}")


ROWS: dict[str, TableRow] = {
    "left_click": WordRule("tap", _POINT, refused=_HELD, points="coordinate"),
    "right_click": WordRule("long_press", _POINT, refused=_HELD, points="coordinate", note=LONG_PRESS),
    "middle_click": RefusedWord("a phone has no middle button", "Use left_click."),
    "double_click": WordRule("double_tap", _POINT, refused=_HELD, points="coordinate"),
    "triple_click": RefusedWord(
        "a phone has no gesture of three taps", "Double click to select a word, or press ctrl+a in a field."
    ),
    "left_click_drag": WordRule(
        "drag",
        {"start_coordinate": PlaceField("from"), "coordinate": PlaceField("to")},
        "start_coordinate coordinate",
        refused=_HELD,
    ),
    "left_mouse_down": SpecialWord("the finger waits for left_mouse_up", press_button, takes=""),
    "left_mouse_up": SpecialWord(
        "`tap`, `drag` or `drag_path` since left_mouse_down", release_button, takes=""
    ),
    "mouse_move": SpecialWord("kept for the next click", move_pointer, takes="coordinate"),
    "cursor_position": SpecialWord("where the last move or click was", read_pointer, takes=""),
    "scroll": SpecialWord(
        "`swipe` the other way, 10 % of the screen for each click",
        _scroll,
        _write_scroll,
        takes="coordinate scroll_direction scroll_amount text",
    ),
    "type": WordRule(
        "type_text",
        {"text": TextArgument("text")},
        "text",
        refused={"coordinate": "typing goes to the focus"},
    ),
    "key": SpecialWord("`press_key`, or `press_keys` for several", _key, _write_key, takes="text repeat"),
    "hold_key": RefusedWord("a phone has no key to hold", "Press it once with key."),
    "wait": WordRule("wait", {"duration": SecondsField("duration_ms", most=100)}),
    "screenshot": WordRule("screenshot"),
    "zoom": SpecialWord("`screenshot` of a region", _zoom, _write_zoom, takes="region"),
}


def hear(output: Any) -> ParsedOutput:
    """A message, several blocks, one call, or its input."""
    if isinstance(output, Mapping) and isinstance(output.get("content"), list):
        output = output["content"]
    blocks = output if isinstance(output, list) else [output]
    calls = [
        candidate
        for candidate in blocks
        if isinstance(candidate, Mapping) and (candidate.get("type") == "tool_use" or "action" in candidate)
    ]
    spoken = [
        str(block.get("text", ""))
        for block in blocks
        if (isinstance(block, Mapping) and block.get("type") == "text")
    ]
    if not calls:
        raise InvalidAction(
            "action: is required", path="action", hint='Send {"action": "left_click", "coordinate": [x, y]}.'
        )
    return ParsedOutput(tuple(map(_word_call, calls)), "\n".join(spoken).strip())


def _word_call(call: Mapping[str, Any]) -> WordCall:
    fields = call.get("input") if call.get("type") == "tool_use" else call
    if isinstance(fields, Mapping) and call.get("toolset_name") == "computer":
        return WordCall(str(call.get("name")), fields, str(call.get("id", "")))
    if not isinstance(fields, Mapping) or not isinstance(fields.get("action"), str):
        raise InvalidAction("action: is required", path="action")
    rest = {name: value for name, value in fields.items() if name != "action"}
    return WordCall(fields["action"], rest, str(call.get("id", "")) if fields is not call else "")


def form(word: str, fields: Fields) -> dict[str, Any]:
    return {"action": word, **fields}


def answer(reading: ReadActions, outcome: ActionOutcome) -> Any:
    """A `tool_result` for each call; the picture stands in the last one."""
    content: list[dict[str, Any]] = [{"type": "text", "text": outcome_text(reading, outcome)}]
    if outcome.picture:
        source = {"type": "base64", "media_type": "image/png", "data": outcome.picture}
        content.append({"type": "image", "source": source})
    results: list[dict[str, Any]] = [
        {"type": "tool_result", "tool_use_id": id_, "is_error": not outcome.success, "content": content[:1]}
        for id_ in (reading.ids or ("",))
    ]
    results[-1]["content"] = content
    return results[0] if len(results) == 1 else results


DIALECT = Dialect(
    "anthropic_computer", "Anthropic computer use", "picture", ROWS, hear, form, answer, shows=True
)
