"""The commands of agent-device as tools: a target is `{kind: "ref", ref: "@e3"}`, a selector or a point.

Refs are its own: here they are those of our screens. A selector `text=Save` names an element by what it says.
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
    number_from,
    place_from,
    required_field,
)
from handrail.dialects.gestures import direction_of
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
from handrail.errors import InvalidAction, Unsupported

_SELECTOR = re.compile(r"\s*(text|id|label|role)\s*[=:~]\s*[\"']?(.*?)[\"']?\s*", re.S)
_NATIVE = {"text": "text", "label": "text", "id": "id", "role": "role"}
_EDGES = {"top": "up", "bottom": "down"}
TO_EDGE = 5
"""Swipes that lead to an edge."""
MOST_TIMES = 20
RADIUS = 300
"""Pixels between a centre and a finger at most."""


class TargetField:
    """An object with a kind, a ref or a selector in one word, or `{x, y}`."""

    def __init__(self, path: str = "target") -> None:
        self.path = path

    def read(self, value: Any, name: str, talk: Any) -> Any:
        if isinstance(value, str):
            value = {"kind": "ref", "ref": value} if value.startswith("@") else {"selector": value}
        if not isinstance(value, Mapping):
            raise InvalidAction.at(name, "should be a target")
        if value.get("kind") == "point" or "x" in value:
            return place_from([value.get("x"), value.get("y")], name, talk)
        if isinstance(value.get("ref"), str):
            return {"ref": value["ref"] if value["ref"].startswith("@") else f"@{value['ref']}"}
        if isinstance(value.get("selector"), str):
            match = _SELECTOR.fullmatch(value["selector"])
            return {_NATIVE[match[1]]: match[2]} if match else {"text": value["selector"]}
        raise InvalidAction.at(name, "needs a ref, a selector or a point")

    def write(self, value: Any, talk: Any) -> Any:
        del talk
        if "x" in value:
            return {"kind": "point", **value}
        if set(value) == {"ref"}:
            return {"kind": "ref", "ref": value["ref"]}
        if len(value) == 1 and next(iter(value)) in ("text", "id", "role"):
            [(key, word)] = value.items()
            return {"kind": "selector", "selector": f"{key}={word}"}
        return None


TARGET = TargetField()
_ONCE = {"button": "a phone has one finger", "intervalMs": "taps are not repeated", "holdMs": "use longpress"}


def _click(arguments: Fields, talk: Conversation) -> WordMeaning:
    if arguments.get("button") not in (None, "primary", "left"):
        raise Unsupported.at("button", "a phone has one finger", hint="Use longpress for a menu.")
    for name in ("intervalMs", "holdMs"):
        if arguments.get(name):
            raise Unsupported.at(name, f"{_ONCE[name]}", hint=f"Send click without {name}.")
    target = TARGET.read(required_field(arguments, "target"), "target", talk)
    count = number_from(arguments.get("count", 1), "count")
    if count not in (1, 2):
        raise Unsupported.at("count", "one tap or two", hint="Send several clicks.")
    return WordMeaning(({"type": "tap" if count == 1 else "double_tap", "target": target},))


def _swipe(arguments: Fields, talk: Conversation) -> WordMeaning:
    if arguments.get("pauseMs") or arguments.get("pattern") not in (None, "one-way"):
        raise Unsupported.at("pattern", "swipes are not repeated here", hint="Send them one by one.")
    count = int(number_from(arguments.get("count", 1), "count"))
    if not 1 <= count <= MOST_TIMES:
        raise InvalidAction.at("count", f"should be 1 to {MOST_TIMES}")
    ends = {name: place_from(required_field(arguments, name), name, talk) for name in ("from", "to")}
    lasts = round(number_from(arguments.get("durationMs", 300), "durationMs"))
    return WordMeaning(({"type": "swipe", **ends, "duration_ms": lasts},) * count)


def _scroll(arguments: Fields, talk: Conversation) -> WordMeaning:
    """The content goes on in this direction; an edge is several swipes away."""
    word = str(required_field(arguments, "direction")).lower()
    finger = FINGER[direction_of({"direction": _EDGES.get(word, word)})]
    if "pixels" not in arguments:
        times = TO_EDGE if word in _EDGES else 1
        note = f"an edge is {TO_EDGE} swipes away" if word in _EDGES else ""
        return WordMeaning(({"type": "swipe", "direction": finger},) * times, note)
    width, height = talk.frame.device_size
    half = number_from(arguments["pixels"], "pixels") / 2
    dx, dy = {"up": (0, -half), "down": (0, half), "left": (-half, 0), "right": (half, 0)}[finger]
    ends = {
        "from": talk.frame.to_device(width / 2 - dx, height / 2 - dy, "pixels"),
        "to": talk.frame.to_device(width / 2 + dx, height / 2 + dy, "pixels"),
    }
    return WordMeaning(({"type": "swipe", **ends},))


def _focus(arguments: Fields, talk: Conversation) -> WordMeaning:
    return WordMeaning(({"type": "tap", "target": place_from(arguments, "x", talk)},))


_CHECKS = {"visible": "expect_visible", "exists": "expect_visible", "hidden": "expect_absent"}


def _check_predicate(arguments: Fields, talk: Conversation) -> WordMeaning:
    target = TARGET.read(required_field(arguments, "selector"), "selector", talk)
    predicate = str(required_field(arguments, "predicate"))
    if predicate in _CHECKS:
        return WordMeaning(({"type": _CHECKS[predicate], "target": target, "timeout_ms": 0},))
    if predicate == "text":
        text = str(required_field(arguments, "value"))
        return WordMeaning(({"type": "expect_text", "target": target, "equals": text, "timeout_ms": 0},))
    state = {"selected": "selected", "editable": "enabled"}.get(predicate)
    if state is None:
        raise InvalidAction.at("predicate", f"{predicate[:30]!r} is not known")
    return WordMeaning(
        ({"type": "expect_state", "target": target, "property": state, "value": True, "timeout_ms": 0},)
    )


def _gesture(arguments: Fields, talk: Conversation) -> WordMeaning:
    """Its `pan` is a drag; a pinch by a scale and a turn by degrees go around a centre."""
    kind = str(required_field(arguments, "kind"))
    lasts = {"duration_ms": round(number_from(arguments.get("durationMs", 300), "durationMs"))}
    if kind in ("pan", "swipe", "fling"):
        ends = {name: place_from(required_field(arguments, name), name, talk) for name in ("from", "to")}
        return WordMeaning(({"type": "drag" if kind == "pan" else "swipe", **ends, **lasts},))
    if kind not in ("pinch", "rotate"):
        raise Unsupported(
            f"gesture: {kind[:20]!r} is unknown", hint="pan, swipe, fling, pinch, rotate.", path="kind"
        )
    width, height = talk.frame.device_size
    centre = (
        place_from(arguments["center"], "center", talk)
        if "center" in arguments
        else {"x": width // 2, "y": height // 2}
    )
    around = {"cx": centre["x"], "cy": centre["y"], **lasts}
    if kind == "rotate":
        turn = number_from(required_field(arguments, "degrees"), "degrees")
        return WordMeaning(
            ({"type": "rotate", "radius": RADIUS, "start_angle_deg": 0.0, "end_angle_deg": turn, **around},)
        )
    scale = number_from(required_field(arguments, "scale"), "scale")
    if not 0.05 <= scale <= 20:
        raise InvalidAction.at("scale", "should be 0.05 to 20")
    radii = {
        "start_radius": max(1, round(RADIUS / max(1, scale))),
        "end_radius": max(1, round(RADIUS * min(1, scale))),
    }
    return WordMeaning(({"type": "pinch", **radii, **around},))


def _keyboard(arguments: Fields, _: Conversation) -> WordMeaning:
    if str(arguments.get("action", "dismiss")) not in ("dismiss", "hide"):
        raise Unsupported.at("action", "the keyboard can only be hidden", hint="Send dismiss.")
    return WordMeaning(({"type": "hide_keyboard"},))


def _open(arguments: Fields, _: Conversation) -> WordMeaning:
    """A word with a dot is a package, or an address with its scheme; any other is a name."""
    if arguments.get("url") or "://" in str(arguments.get("app", "")):
        return WordMeaning(({"type": "open_url", "url": str(arguments.get("url") or arguments["app"])},))
    word = str(required_field(arguments, "app"))
    return WordMeaning(({"type": "start_app", "package" if "." in word else "name": word},))


_NOT_HERE = {
    "alert": "a dialog's buttons are tapped like any other",
    "record": "nothing records the screen here",
    "perf": "speed is not measured here",
    "push": "no notification is sent to a phone from here",
    "network": "traffic is not read here",
    "replay": "recorded scripts of agent-device are not run here",
    "batch": "send the steps one by one, or use run_flow of the core tools",
    "settings": "the device's settings have actions of their own",
}
ROWS: dict[str, TableRow] = {
    "click": SpecialWord(
        "`tap`, twice a `double_tap`", _click, takes="target button count intervalMs holdMs"
    ),
    "press": WordRule("tap", {"target": TARGET}, "target"),
    "fill": WordRule(
        "type_text",
        {"target": TARGET, "text": TextArgument("text")},
        "target text",
        {"clear": True},
        ignored="delayMs",
    ),
    "type": WordRule("type_text", {"text": TextArgument("text")}, "text", ignored="delayMs"),
    "longpress": WordRule("long_press", {"target": TARGET, "durationMs": "duration_ms"}, "target"),
    "swipe": SpecialWord("`swipe`", _swipe, takes="from to durationMs count pauseMs pattern"),
    "scroll": SpecialWord("`swipe` the other way", _scroll, takes="direction amount pixels"),
    "focus": SpecialWord("`tap`", _focus, takes="x y"),
    "get": WordRule("get_ui_tree", {"target": TargetField("within")}, "target", ignored="format"),
    "find": WordRule("get_ui_tree", {"query": TextArgument("find")}, "query", ignored="locator action"),
    "gesture": SpecialWord("`drag`, `swipe`, `pinch`, `rotate`", _gesture),
    "is": SpecialWord(
        "`expect_visible`, `expect_absent`, `expect_text`, `expect_state`",
        _check_predicate,
        takes="predicate selector value",
    ),
    "back": WordRule("press_key", fixed={"key": "back"}),
    "home": WordRule("press_key", fixed={"key": "home"}),
    "app-switcher": WordRule("press_key", fixed={"key": "recents"}),
    "keyboard": SpecialWord("`hide_keyboard`", _keyboard, takes="action"),
    "open": SpecialWord("`start_app` by package or name", _open, takes="app url"),
    "close": WordRule("stop_app", {"app": "package"}, "app"),
    "apps": WordRule("list_apps", ignored="filter"),
    "appstate": WordRule("get_state"),
    "snapshot": WordRule("get_ui_tree", {"interactiveOnly": "only_interactive", "depth": "depth"}),
    "screenshot": WordRule("screenshot"),
    "diff": WordRule("what_changed", ignored="kind"),
    "wait": WordRule("wait", {"ms": "duration_ms"}, "ms"),
    "rotate": WordRule(
        "set_orientation",
        {"orientation": RenamedWords("orientation", {"portrait": "portrait", "landscape": "landscape"})},
    ),
    "clipboard": WordRule("set_clipboard", {"text": TextArgument("text")}, "text"),
    "logs": WordRule("get_logs", {"app": "package"}),
    "install": WordRule("install_app", {"path": "path"}, "path"),
    **{word: RefusedWord(why, "Use another command.") for word, why in _NOT_HERE.items()},
}
TOOLS: dict[str, ToolRow] = {
    "click": ("Tap a target.", "target count:number?"),
    "press": ("Tap a target.", "target"),
    "fill": ("Replace the text of a field.", "target text"),
    "type": ("Type into the focused field.", "text"),
    "longpress": ("Hold a target.", "target durationMs:number?"),
    "swipe": ("Swipe between two places.", "from to durationMs:number? count:number?"),
    "scroll": ("Scroll on in a direction, or to an edge.", "direction pixels:number?"),
    "focus": ("Tap a place to focus it.", "x:number y:number"),
    "get": ("Read an element and its inside.", "target"),
    "find": ("Read the lines of the screen that have a text.", "query"),
    "is": ("Check an element.", "predicate selector value?"),
    "back": ("Press back.", ""),
    "home": ("Press home.", ""),
    "app-switcher": ("Open the running apps.", ""),
    "keyboard": ("Hide the keyboard.", "action?"),
    "open": ("Start an app, or open an address.", "app? url?"),
    "close": ("Stop an app.", "app"),
    "apps": ("List the apps.", ""),
    "appstate": ("Read what is in front.", ""),
    "snapshot": ("Read the screen with refs.", "interactiveOnly:boolean? depth:integer?"),
    "screenshot": ("Take a picture of the screen.", ""),
    "diff": ("Read what changed since the last look.", ""),
    "wait": ("Wait.", "ms:number"),
    "rotate": ("Turn the screen.", "orientation"),
    "clipboard": ("Put text on the clipboard.", "text"),
    "logs": ("Read the log.", "app?"),
    "install": ("Install an app from a file.", "path"),
}
"""Those that a server offers, in words, and their parameters."""
KINDS: dict[str, Any] = {
    name: {"type": "string", "description": what}
    for name, what in {"target": "@ref or selector", "from": "x, y", "to": "x, y"}.items()
}
"""The texts; objects are taken too, but strict mode has no words for those."""


def hear(output: Any) -> ParsedOutput:
    """`{name, arguments}`, or `{command, …}`."""
    if isinstance(output, Mapping) and isinstance(output.get("command"), str):
        rest = {str(name): value for name, value in output.items() if name != "command"}
        return ParsedOutput((WordCall(output["command"], rest),))
    if not isinstance(output, Mapping) or not isinstance(output.get("name"), str):
        raise InvalidAction.at("command", "is required")
    arguments = output.get("arguments") or {}
    if not isinstance(arguments, Mapping):
        raise InvalidAction.at("arguments", "should be an object")
    return ParsedOutput((WordCall(output["name"], {str(name): value for name, value in arguments.items()}),))


def form(word: str, fields: Fields) -> dict[str, Any]:
    return {"name": word, "arguments": dict(fields)}


DIALECT = Dialect(
    "agent_device", "agent-device", "device", ROWS, hear, form, plain_answer, tools=TOOLS, kinds=KINDS
)
