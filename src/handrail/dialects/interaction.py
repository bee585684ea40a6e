"""Seed 001: tools that demand a reason and answer with one sentence and what changed on the screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.dialects.arguments import check_reason
from handrail.dialects.rules import FULL_SIZE, ToolRule, from_native, to_native, tool_rule, unknown_name
from handrail.errors import Unsupported
from handrail.protocol import device
from handrail.protocol.act import Act
from handrail.protocol.actions import AnyAction
from handrail.protocol.sentence import sentence_of

_POINT = "x:number=target.x y:number=target.y"
_ENDS = "startX:number=from.x startY:number=from.y endX:number=to.x endY:number=to.y"
_LASTS = "duration:number?=duration_ms"

TOOLS: dict[str, ToolRule] = {
    "tap": tool_rule("tap", f"{_POINT} reason", "Tap at a point. get_textual_state has the positions."),
    "long_press": tool_rule(
        "long_press",
        f"{_POINT} {_LASTS} reason",
        "Hold a point: context menus, selection, the start of a drag.",
    ),
    "swipe": tool_rule("swipe", f"{_ENDS} {_LASTS} reason", "Swipe from one point to another."),
    "type_text": tool_rule("type_text", "text reason", "Type into the focused field."),
    "press_key": tool_rule("press_key", "key reason", "Press back, home, enter, recents, or a key code."),
    "get_textual_state": tool_rule(
        "get_ui_tree",
        "reason?",
        "Read every element of the screen as text, with bounds.",
        fixed={"format": "full"},
    ),
    "get_visual_state": tool_rule("screenshot", "reason?", "Take a picture of the screen.", fixed=FULL_SIZE),
    "get_general_state": tool_rule(
        "get_state", "reason?", "Read app in front, keyboard, battery, network, orientation."
    ),
    "get_what_changed": tool_rule("what_changed", "reason?", "Read what changed since the last look."),
}
"""The five interaction tools and the four that look."""
ROWS = {name: rule.row for name, rule in TOOLS.items()}

NO_CHANGE = "No change on screen."


def read_tool(name: str, arguments: Mapping[str, Any]) -> AnyAction:
    if name not in TOOLS:
        raise unknown_name(name, TOOLS)
    if "reason" in TOOLS[name].required:
        check_reason(arguments.get("reason"))
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


def sentence_without_secret(action: Act, *, label: str | None = None, secret: bool = False) -> str:
    """What was done. `label` names the element that was found; `secret` hides what was typed."""
    if isinstance(action, device.TypeText) and secret:
        return f"Typed {len(action.text)} characters."
    return sentence_of(action, label)
