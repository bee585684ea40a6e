"""The vocabulary as a model is told it: a tool for every action that it may choose, or the same as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from handrail.dialects.rules import unknown_name
from handrail.protocol.act import Act
from handrail.protocol.actions import ACTIONS
from handrail.protocol.describe import REASON, input_schema, object_of, summary

Tool = Mapping[str, Any]
"""`{name, description, input_schema}`."""

DEFAULT = (
    "tap", "double_tap", "long_press", "swipe", "scroll_to", "type_text", "clear_text", "set_value",
    "press_key", "start_app", "stop_app", "open_url", "wait_for", "get_ui_tree", "run_script",
    "request_human_auth", "finish",
)  # fmt: skip
"""What a task on a phone needs. Whoever wants to offer more names it."""

_WORDS = {
    "type_text": "Type into a field and read it back.",
    "press_key": "Press back, home, enter, recents, another key's name or a KEYCODE_*.",
    "swipe": "Swipe in a direction, or between two points.",
    "wait_for": "Wait until something is visible or absent, or an app is in front.",
    "get_ui_tree": "Read the whole screen again; only when what you were told is not enough.",
    "request_human_auth": "Ask the person to allow or provide something, or for information that is missing.",
    "finish": "End the task, done or impossible, and say what was achieved.",
}
"""Where an agent needs other words than the docstring's first line."""
_SHOWN = {
    "swipe": "direction target from to",
    "scroll_to": "target direction within",
    "start_app": "package",
    "wait_for": "timeout_ms",
    "get_ui_tree": "find within",
    "request_human_auth": "capability instruction",
}
"""The fields that are told, where others are read too and are rarely worth their tokens."""
_FIELD_WORDS: Mapping[str, Mapping[str, str]] = {
    "swipe": {"direction": "of the finger"},
    "scroll_to": {"direction": "where the content lies"},
    "get_ui_tree": {"find": "only lines with this text"},
    "type_text": {"target": "default: the focused field", "clear": "empty it first", "submit": "press enter"},
}
_TEXT = {"type": "string"}
_AFTERWARDS = {"expect": {"type": "string", "description": "to be visible afterwards"}}
_MORE: Mapping[str, Mapping[str, Any]] = {
    "wait_for": {"visible": _TEXT, "absent": _TEXT, "app": _TEXT},
    "press_key": {"key": _TEXT, **_AFTERWARDS},
    "tap": _AFTERWARDS,
    "type_text": _AFTERWARDS,
    "start_app": _AFTERWARDS,
}
"""Fields in another form than the vocabulary's, and the check that saves a step."""


_KINDS = {kind.replace(".", "_"): kind for kind in ACTIONS}
"""By what the makers accept as a tool's name: the desk's kinds have a dot in them."""


def kind_of(name: str) -> str:
    """The kind of action that a tool of this name is; the name itself where there is no such tool."""
    return _KINDS.get(name, name)


def tool_schemas(kinds: Iterable[str] = DEFAULT) -> tuple[Tool, ...]:
    """One tool per kind of action, in this order; `InvalidAction` for a kind that does not exist."""
    return tuple(_tool(kind) for kind in dict.fromkeys(kinds))


def told_as_text(kinds: Iterable[str] = DEFAULT) -> str:
    """The same for a model without tools: a line per action, fields that may be left out marked with `?`."""
    return "\n".join(_line(tool) for tool in tool_schemas(kinds))


@cache
def _tool(kind: str) -> Tool:
    cls = ACTIONS.get(kind)
    if cls is None:
        raise unknown_name(kind, ACTIONS, path="tools")
    name, words = kind.replace(".", "_"), _WORDS.get(kind) or summary(cls)
    return {"name": name, "description": words, "input_schema": _schema(kind, cls)}


def _schema(kind: str, cls: type[Act]) -> dict[str, Any]:
    """Every action says why: that is the step's thought where a model gives none beside its call."""
    made = input_schema(
        cls, shown=_SHOWN.get(kind), words=_FIELD_WORDS.get(kind), more=dict(_MORE.get(kind, {}))
    )
    fields, required = made["properties"], made.get("required", [])
    if kind == "finish":
        return object_of(fields, ["message"])
    return object_of({**fields, "reason": REASON}, dict.fromkeys([*required, "reason"]))


def _line(tool: Tool) -> str:
    schema = tool["input_schema"]
    required = schema.get("required", ())
    fields = [
        f"{name}{'' if name in required else '?'}: {_meaning(one)}"
        for name, one in schema["properties"].items()
        if name != "reason"
    ]
    return f"- {kind_of(tool['name'])} {{{'; '.join(fields)}}}: {tool['description']}"


def _meaning(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return "|".join(field["enum"])
    said = field.get("description")
    return f"{field.get('type', 'any')}, {said}" if said else str(field.get("type", "any"))
