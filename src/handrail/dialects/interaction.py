"""Seed 001: tools that demand a reason and answer with one sentence and what changed on the screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.dialects.rules import FULL_SIZE, Row, ToolRule, from_native, to_native, unknown_name
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol import device
from handrail.protocol.act import Act
from handrail.protocol.actions import AnyAction
from handrail.protocol.sentence import sentence_of

_POINT = {"x": "target.x", "y": "target.y"}
_ENDS = {"startX": "from.x", "startY": "from.y", "endX": "to.x", "endY": "to.y"}

TOOLS: dict[str, ToolRule] = {
    "tap": ToolRule("tap", {**_POINT, "reason": "reason"}, ("x", "y", "reason")),
    "long_press": ToolRule(
        "long_press", {**_POINT, "duration": "duration_ms", "reason": "reason"}, ("x", "y", "reason")
    ),
    "swipe": ToolRule("swipe", {**_ENDS, "duration": "duration_ms", "reason": "reason"}, (*_ENDS, "reason")),
    "type_text": ToolRule("type_text", {"text": "text", "reason": "reason"}, ("text", "reason")),
    "press_key": ToolRule("press_key", {"key": "key", "reason": "reason"}, ("key", "reason")),
    "get_textual_state": ToolRule("get_ui_tree", {"reason": "reason"}, fixed={"format": "full"}),
    "get_visual_state": ToolRule("screenshot", {"reason": "reason"}, fixed=FULL_SIZE),
    "get_general_state": ToolRule("get_state", {"reason": "reason"}),
    "get_what_changed": ToolRule("what_changed", {"reason": "reason"}),
}
"""The five interaction tools and the four that look."""

ROWS: dict[str, Row] = {
    "tap": ("Tap at a point. get_textual_state has the positions.", "x:number y:number reason"),
    "long_press": (
        "Hold a point: context menus, selection, the start of a drag.",
        "x:number y:number duration:number? reason",
    ),
    "swipe": (
        "Swipe from one point to another.",
        "startX:number startY:number endX:number endY:number duration:number? reason",
    ),
    "type_text": ("Type into the focused field.", "text reason"),
    "press_key": ("Press back, home, enter, recents, or a key code.", "key reason"),
    "get_textual_state": ("Read every element of the screen as text, with bounds.", "reason?"),
    "get_visual_state": ("Take a picture of the screen.", "reason?"),
    "get_general_state": ("Read app in front, keyboard, battery, network, orientation.", "reason?"),
    "get_what_changed": ("Read what changed since the last look.", "reason?"),
}
"""Each tool in words, and its parameters."""

NO_CHANGE = "No change on screen."


def read_tool(name: str, arguments: Mapping[str, Any]) -> AnyAction:
    if name not in TOOLS:
        raise unknown_name(name, TOOLS)
    reason = arguments.get("reason")
    if "reason" in TOOLS[name].required and (not isinstance(reason, str) or not reason.strip()):
        raise InvalidAction(
            "reason: is required", path="reason", hint="Say in the first person what you do and why."
        )
    return to_native(name, TOOLS[name], arguments)


def write_tool(action: Act) -> tuple[str, dict[str, Any]]:
    for name, rule in TOOLS.items():
        arguments = from_native(rule, action)
        if arguments is not None:
            return name, arguments
    raise Unsupported(
        f"{action.type} with these fields has no tool in the interaction dialect",
        hint="It aims at points and demands a reason.",
    )


def answer(sentence: str, changes: str) -> str:
    """What a tool returns: the sentence, a blank line, the diff."""
    return f"{sentence}\n\n{changes.strip() or NO_CHANGE}"


def sentence(action: Act, *, label: str | None = None, secret: bool = False) -> str:
    """What was done. `label` names the element that was found; `secret` hides what was typed."""
    if isinstance(action, device.TypeText) and secret:
        return f"Typed {len(action.text)} characters."
    return sentence_of(action, label)
