"""The vocabulary as a model gets it: a tool for every action that it may choose, and an answer's schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from handrail.dialects.rules import unknown_name
from handrail.protocol.actions import ACTIONS
from handrail.protocol.describe import describe_together, model_tool

Tool = Mapping[str, Any]
"""`{name, description, input_schema}`."""

DEFAULT = tuple(kind for kind, cls in ACTIONS.items() if "agent" in cls.traits.tools)
"""What a task on a phone needs. Whoever wants to offer more names it."""

_KINDS = {kind.replace(".", "_"): kind for kind in ACTIONS}
"""By what the makers accept as a tool's name: the desk's kinds have a dot in them."""


def kind_of(name: str) -> str:
    """The kind of action that a tool of this name is; the name itself where there is no such tool."""
    return _KINDS.get(name, name)


def tool_schemas(kinds: Iterable[str] = DEFAULT) -> tuple[Tool, ...]:
    """One tool per kind of action, in this order; `InvalidAction` for a kind that does not exist."""
    wanted = list(dict.fromkeys(kinds))
    describe_together(ACTIONS[kind] for kind in wanted if kind in ACTIONS)
    return tuple(map(_tool, wanted))


@cache
def answer_schema() -> Mapping[str, Any]:
    """What an answer in text is: a thought and one action of those that are told."""
    forms = []
    for tool in tool_schemas():
        schema = tool["input_schema"]
        kind = {"type": {"const": kind_of(tool["name"])}}
        fields = {name: field for name, field in schema["properties"].items() if name != "reason"}
        needed = [name for name in schema.get("required", ()) if name != "reason"]
        forms.append({**schema, "properties": kind | fields, "required": ["type", *needed]})
    return {
        "type": "object",
        "properties": {"thought": {"type": "string"}, "action": {"anyOf": forms}},
        "required": ["thought", "action"],
        "additionalProperties": False,
    }


@cache
def _tool(kind: str) -> Tool:
    cls = ACTIONS.get(kind)
    if cls is None:
        raise unknown_name(kind, ACTIONS, path="tools")
    # Every action says why: that is the step's thought where a model gives none beside its call.
    words, schema = model_tool(cls, always_reason=True)
    return {"name": kind.replace(".", "_"), "description": words, "input_schema": schema}
