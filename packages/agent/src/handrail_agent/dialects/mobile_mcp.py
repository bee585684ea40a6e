"""The tools of mobile-mcp: names with the prefix `mobile_`, a `device` in each, pixels of the screen.

Tools about devices as such (which there are, how large a screen is) are the door's: they are no actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.dialects.frame import Conversation, Fields, RenamedWords, number_from, required_field
from handrail.dialects.gestures import direction_of, point_or_middle
from handrail.dialects.rules import Row as ToolRow
from handrail.dialects.table import (
    Dialect,
    ParsedOutput,
    RefusedWord,
    SpecialWord,
    TableRow,
    WordCall,
    WordMeaning,
    WordRule,
    plain_answer,
)
from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.device import Swipe, TypeText

PREFIX = "mobile_"
SHARE = 0.3
"""Of the screen: how far a swipe without a distance goes."""
_DEVICE = {"device": "device"}
_XY = {"target": ("x", "y")}
BUTTONS = {
    "BACK": "back", "HOME": "home", "VOLUME_UP": "volume_up", "VOLUME_DOWN": "volume_down", "ENTER": "enter",
    "DPAD_CENTER": "center", "DPAD_UP": "up", "DPAD_DOWN": "down", "DPAD_LEFT": "left", "DPAD_RIGHT": "right",
}  # fmt: skip
_ALONG = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def _swipe(arguments: Fields, talk: Conversation) -> WordMeaning:
    """The finger's direction; from a point, or over the middle of the screen."""
    direction = direction_of(arguments)
    device = {"device": arguments["device"]} if arguments.get("device") else {}
    if not {"x", "y", "distance"} & arguments.keys():
        return WordMeaning(({"type": "swipe", "direction": direction, **device},))
    at = point_or_middle(
        {"at": [required_field(arguments, "x"), required_field(arguments, "y")]}
        if "x" in arguments or "y" in arguments
        else {},
        talk,
        "at",
    )
    width, height = talk.frame.device_size
    size = width if direction in ("left", "right") else height
    length = number_from(arguments.get("distance", size * SHARE), "distance")
    dx, dy = (part * length for part in _ALONG[direction])
    end = talk.frame.to_device(
        min(max(at["x"] + dx, 0), width - 1), min(max(at["y"] + dy, 0), height - 1), "distance"
    )
    return WordMeaning(({"type": "swipe", "from": dict(at), "to": end, **device},))


def _write_swipe(action: Act, _: Conversation) -> Fields | None:
    if not isinstance(action, Swipe) or action.duration_ms != 300 or action.target or action.expect:
        return None
    if action.direction is not None:
        return {"direction": action.direction}
    if action.from_ is None or action.to is None:
        return None
    dx, dy = action.to.x - action.from_.x, action.to.y - action.from_.y
    if bool(dx) == bool(dy):
        return None
    direction = ("right" if dx > 0 else "left") if dx else ("down" if dy > 0 else "up")
    return {"direction": direction, "x": action.from_.x, "y": action.from_.y, "distance": abs(dx or dy)}


def _type(arguments: Fields, _: Conversation) -> WordMeaning:
    device = {"device": arguments["device"]} if arguments.get("device") else {}
    text = {"text": str(required_field(arguments, "text")), "submit": arguments.get("submit") is True}
    return WordMeaning(({"type": "type_text", **text, **device},))


def _write_type(action: Act, _: Conversation) -> Fields | None:
    if not isinstance(action, TypeText) or action.target is not None or action.clear or action.expect:
        return None
    return {"text": action.text, "submit": action.submit}


_LONG = WordRule("long_press", {**_DEVICE, "duration": "duration_ms"}, "x y", pairs=_XY)


def _hold(arguments: Fields, talk: Conversation) -> WordMeaning:
    return _LONG.read("long_press_on_screen_at_coordinates", {"duration": 500, **arguments}, talk)


_RECORDING = RefusedWord("nothing records the screen here", "A run's report has a picture of every step.")
_CRASHES = RefusedWord(
    "crashes are not listed here", "get_logs has the log; an app that dies is reported at once."
)
ROWS: dict[str, TableRow] = {
    "list_apps": WordRule("list_apps", _DEVICE),
    "launch_app": WordRule("start_app", {**_DEVICE, "packageName": "package"}, "packageName", refused={
        "locale": "an app's language is not set at its start",
    }),
    "terminate_app": WordRule("stop_app", {**_DEVICE, "packageName": "package"}, "packageName"),
    "install_app": WordRule("install_app", {**_DEVICE, "path": "path"}, "path"),
    "uninstall_app": WordRule("uninstall_app", {**_DEVICE, "bundle_id": "package"}, "bundle_id"),
    "get_screen_size": WordRule("get_state", _DEVICE),
    "click_on_screen_at_coordinates": WordRule("tap", _DEVICE, "x y", pairs=_XY),
    "double_tap_on_screen": WordRule("double_tap", _DEVICE, "x y", pairs=_XY),
    "long_press_on_screen_at_coordinates": SpecialWord(
        "`long_press`, half a second by default",
        _hold,
        _LONG.write,
    ),
    "list_elements_on_screen": WordRule("get_ui_tree", _DEVICE, fixed={"format": "outline"}),
    "press_button": WordRule("press_key", {**_DEVICE, "button": RenamedWords("key", BUTTONS)}, "button"),
    "open_url": WordRule("open_url", {**_DEVICE, "url": "url"}, "url"),
    "swipe_on_screen": SpecialWord(
        "`swipe`, the finger's direction", _swipe, _write_swipe, takes="device direction x y distance"
    ),
    "type_keys": SpecialWord("`type_text`", _type, _write_type, takes="device text submit"),
    "take_screenshot": WordRule("screenshot", _DEVICE),
    "save_screenshot": RefusedWord("a server writes no files for its callers", "Use take_screenshot."),
    "set_orientation": WordRule("set_orientation", {**_DEVICE, "orientation": "orientation"}, "orientation"),
    "get_orientation": WordRule("get_state", _DEVICE),
    "start_screen_recording": _RECORDING,
    "stop_screen_recording": _RECORDING,
    "list_crashes": _CRASHES,
    "get_crash": _CRASHES,
}  # fmt: skip

_D = "device?"
TOOLS: dict[str, ToolRow] = {
    "list_apps": ("List the apps of the device.", _D),
    "launch_app": ("Start an app by its package.", f"packageName {_D}"),
    "terminate_app": ("Stop an app.", f"packageName {_D}"),
    "install_app": ("Install an app from a file.", f"path {_D}"),
    "uninstall_app": ("Remove an app.", f"bundle_id {_D}"),
    "get_screen_size": ("Read the screen's size in pixels.", _D),
    "click_on_screen_at_coordinates": ("Tap a place.", f"x:number y:number {_D}"),
    "double_tap_on_screen": ("Tap a place twice.", f"x:number y:number {_D}"),
    "long_press_on_screen_at_coordinates": ("Hold a place.", f"x:number y:number duration:number? {_D}"),
    "list_elements_on_screen": ("List the elements with their places.", _D),
    "press_button": ("Press a key of the device.", f"button {_D}"),
    "open_url": ("Open an address.", f"url {_D}"),
    "swipe_on_screen": ("Swipe in a direction.", f"direction x:number? y:number? distance:number? {_D}"),
    "type_keys": ("Type into the focused field.", f"text submit:boolean {_D}"),
    "take_screenshot": ("Take a picture of the screen.", _D),
    "set_orientation": ("Turn the screen.", f"orientation {_D}"),
    "get_orientation": ("Read how the screen stands.", _D),
}
"""Those that a server offers, in words, and their parameters."""


def hear(output: Any) -> ParsedOutput:
    """`{name, arguments}`, the name with or without its prefix."""
    if not isinstance(output, Mapping) or not isinstance(output.get("name"), str):
        raise InvalidAction.at("name", "is required", hint='Send {"name": "mobile_…", "arguments": {…}}.')
    arguments = output.get("arguments") or {}
    if not isinstance(arguments, Mapping):
        raise InvalidAction.at("arguments", "should be an object")
    return ParsedOutput(
        (WordCall(output["name"].removeprefix(PREFIX), {str(k): v for k, v in arguments.items()}),)
    )


def form(word: str, fields: Fields) -> dict[str, Any]:
    return {"name": PREFIX + word, "arguments": dict(fields)}


KINDS: dict[str, Any] = {
    "direction": {"type": "string", "enum": list(_ALONG)},
    "button": {"type": "string", "enum": list(BUTTONS)},
    "orientation": {"type": "string", "enum": ["portrait", "landscape"]},
}
DIALECT = Dialect(
    "mobile_mcp", "mobile-mcp", "device", ROWS, hear, form, plain_answer, tools=TOOLS, kinds=KINDS
)
