"""Seed 001: tools that demand a reason and answer with one sentence and what changed on the screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from handrail.dialects.rules import ToolRule, from_native, to_native, unknown_name
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol import device
from handrail.protocol.act import Act
from handrail.protocol.actions import AnyAction
from handrail.protocol.target import Point

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
    "get_visual_state": ToolRule("screenshot", {"reason": "reason"}),
    "get_general_state": ToolRule("get_state", {"reason": "reason"}),
    "get_what_changed": ToolRule("what_changed", {"reason": "reason"}),
}
"""The five interaction tools and the four that look."""

NO_CHANGE = "No change on screen."


def read_tool(name: str, arguments: Mapping[str, Any]) -> AnyAction:
    """The native action of a tool call."""
    if name not in TOOLS:
        raise unknown_name(name, TOOLS)
    reason = arguments.get("reason")
    if "reason" in TOOLS[name].required and (not isinstance(reason, str) or not reason.strip()):
        raise InvalidAction(
            "reason: is required", path="reason", hint="Say in the first person what you do and why."
        )
    return to_native(name, TOOLS[name], arguments)


def write_tool(action: Act) -> tuple[str, dict[str, Any]]:
    """The tool call that says the same."""
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
    template = SENTENCES.get(action.type)
    return template(action, label) if template else f"Did {action.type}."


def _at(action: Any, label: str | None) -> str:
    """`at (540, 750)` for a point, the element's own name for anything else."""
    target = action.target
    if isinstance(target, Point):
        return f"at ({target.x}, {target.y})"
    named = label or target.text or target.description or target.handle or target.id or target.text_contains
    return f'"{named}"' if named else "an element"


def _swiped(action: Any, label: str | None) -> str:
    if action.from_ is not None:
        start, end = action.from_, action.to
        return f"Swiped from ({start.x}, {start.y}) to ({end.x}, {end.y})."
    where = f" on {_at(action, label)}" if action.target is not None else ""
    return f"Swiped {action.direction}{where}."


def _dragged(action: Any, label: str | None) -> str:
    def end(target: Any) -> str:
        return (
            f"({target.x}, {target.y})"
            if isinstance(target, Point)
            else f'"{target.text or target.handle or label}"'
        )

    return f"Dragged from {end(action.from_)} to {end(action.to)}."


def _typed(action: Any, label: str | None) -> str:
    where = f" into {_at(action, label)}" if action.target is not None else ""
    return f'Typed "{action.text}"{where}.'


def _network(action: Any, _: str | None) -> str:
    given = {key: value for key, value in action.to_dict().items() if key not in ("type", "reason", "device")}
    return "Set the network: " + ", ".join(f"{key}={value}" for key, value in given.items()) + "."


Template = Callable[[Any, str | None], str]

SENTENCES: dict[str, Template] = {
    "tap": lambda a, label: f"Tapped {_at(a, label)}.",
    "double_tap": lambda a, label: f"Double-tapped {_at(a, label)}.",
    "long_press": lambda a, label: f"Long-pressed {_at(a, label)} for {a.duration_ms} ms.",
    "swipe": _swiped,
    "drag": _dragged,
    "pinch": lambda a, _: f"Pinched at ({a.cx}, {a.cy}) from radius {a.start_radius} to {a.end_radius}.",
    "rotate": lambda a, _: (
        f"Rotated at ({a.cx}, {a.cy}) from {a.start_angle_deg:g}° to {a.end_angle_deg:g}°."
    ),
    "scroll_to": lambda a, label: f"Scrolled {a.direction} to {_at(a, label)}.",
    "set_value": lambda a, label: f"Set {_at(a, label)} to {a.value}.",
    "type_text": _typed,
    "clear_text": lambda a, label: f"Cleared {_at(a, label)}.",
    "press_key": lambda a, _: f"Pressed key: {a.key}.",
    "start_app": lambda a, _: f"Started {a.package}.",
    "stop_app": lambda a, _: f"Stopped {a.package}.",
    "restart_app": lambda a, _: f"Restarted {a.package}.",
    "reset_app": lambda a, _: f"Deleted all data of {a.package}.",
    "install_app": lambda a, _: f"Installed {a.path}.",
    "open_url": lambda a, _: f"Opened {a.url}.",
    "set_network": _network,
    "set_orientation": lambda a, _: f"Set the orientation to {a.orientation}.",
    "set_clipboard": lambda a, _: f"Put {len(a.text)} characters on the clipboard.",
    "grant_permission": lambda a, _: f"Granted {a.permission} to {a.package}.",
    "revoke_permission": lambda a, _: f"Revoked {a.permission} from {a.package}.",
    "shell": lambda a, _: f"Ran: {' '.join(a.tokens)}.",
    "run_script": lambda *_: "Ran a script.",
    "get_ui_tree": lambda *_: "Read the screen.",
    "get_state": lambda *_: "Read the device's state.",
    "what_changed": lambda *_: "Compared the screen.",
    "screenshot": lambda *_: "Took a screenshot.",
    "get_logs": lambda *_: "Read the log.",
    "get_shared_prefs": lambda a, _: f"Read the preferences {a.file} of {a.package}.",
    "query_db": lambda a, _: f"Queried {a.database} of {a.package}.",
    "wait": lambda a, _: f"Waited {a.duration_ms} ms.",
    "wait_for": lambda a, _: f"Waited for: {a.condition.kind}.",
    "wait_for_stable": lambda *_: "Waited for the screen to rest.",
    "expect_visible": lambda a, label: f"Checked that {_at(a, label)} is visible.",
    "expect_absent": lambda a, label: f"Checked that {_at(a, label)} is absent.",
    "expect_text": lambda a, label: f"Checked the text of {_at(a, label)}.",
    "expect_state": lambda a, label: f"Checked {a.property} of {_at(a, label)}.",
    "expect_screen": lambda *_: "Checked which screen is shown.",
    "expect_app": lambda a, _: f"Checked that {a.package} is in front.",
    "request_human_auth": lambda a, _: f"Asked the person: {a.instruction}",
    "finish": lambda a, _: a.message,
}
"""One sentence per action of a device."""
