"""Which tools there are, and what a model is told of them: a slim projection of the vocabulary. Pure.

Tools of a seed are made from rows of words: one row is one tool, one word of it one parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from handrail.dialects.rules import Row, unknown_name
from handrail.protocol.act import DeskAct
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS
from handrail.protocol.describe import closed_object_schema, describe_together, model_tool, schema_with_reason
from handrail.protocol.observe import Check
from handrail.protocol.traits import Effect, Profile, Semantic

if TYPE_CHECKING:
    from handrail.mcp_server.seed_profiles import SeedProfile

SEEDS = ("interaction", "mobile_debug", "agentest", "openpocket", "mobile_mcp", "agent_device")
"""Profiles that are another server's tools."""
TEXT = {"type": "string"}


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as `tools/list` shows it. It has no output schema and no title."""

    name: str
    description: str
    input_schema: dict[str, Any]
    annotations: dict[str, bool] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        listed = {"name": self.name, "description": self.description, "inputSchema": self.input_schema}
        return listed | ({"annotations": self.annotations} if self.annotations else {})


def _actions_of_profile(profile: Profile) -> tuple[str, ...]:
    """The actions of a profile: those that look first, those that wait or ask last."""
    kinds = (kind for kind, cls in ACTIONS.items() if profile in cls.traits.tools)
    return tuple(sorted(kinds, key=lambda kind: _ORDER.get(ACTIONS[kind].traits.semantic, 1)))


_ORDER: dict[Semantic, int] = {"observation": 0, "control": 2}
_FIRST = ("devices", "connect")
_LAST = ("expect", "run_flow")
CORE = (*_FIRST, *_actions_of_profile("core"), *_LAST)
_MORE = tuple(
    kind for kind, cls in ACTIONS.items() if kind not in CORE and not issubclass(cls, Check | DeskAct)
)
"""`expect` stands for the checks, `desk` for what the desk does."""

PROFILES: dict[str, tuple[str, ...]] = {
    "core": CORE,
    "web": (*CORE, *_actions_of_profile("web")),
    "flow": (*_FIRST, *_actions_of_profile("flow"), *_LAST),
    "debug": (*CORE, *_actions_of_profile("debug")),
    "desk": (*CORE, "desk"),
    "all": (*CORE, *_MORE, "desk"),
}
"""Native profiles; `core,debug` is both."""


def tools_of_profile(profile: str) -> list[Tool]:
    """The tools of a profile, or of several with commas between them."""
    if other := seed_profile_of(profile):
        return other.tools()
    wanted = [word.strip() for word in profile.split(",")]
    for word in wanted:
        if word not in PROFILES:
            raise unknown_name(word, [*PROFILES, *SEEDS], path="tools")
    names = list(dict.fromkeys(name for word in wanted for name in PROFILES[word]))
    describe_together(ACTIONS[name] for name in names if name in ACTIONS)
    return [native_tool(name, for_web="web" in wanted) for name in names]


def seed_profile_of(profile: str) -> SeedProfile | None:
    """Returns None for native profiles."""
    if profile not in SEEDS:
        return None
    from handrail.mcp_server.seed_profiles import PROFILES as PROFILES_OF_SEEDS  # noqa: PLC0415  (flows are slow)

    return PROFILES_OF_SEEDS[profile]


def annotations_of(effect: Effect) -> dict[str, bool]:
    """MCP's hints about a tool: whether it only reads, or destroys."""
    if effect == "read":
        return {"readOnlyHint": True}
    return {"destructiveHint": effect == "sensitive"}


@cache
def native_tool(name: str, *, for_web: bool = False) -> Tool:
    if name in _OWN:
        return _OWN[name]
    cls = ACTIONS[name]
    words, schema = model_tool(cls, for_web=for_web)
    return Tool(name, words, schema, annotations_of(cls.traits.effect))


def _own_tool(
    name: str, description: str, fields: Mapping[str, Any], effect: Effect, required: Iterable[str] = ()
) -> Tool:
    schema = schema_with_reason(effect != "read", fields, required)
    return Tool(name, description, schema, annotations_of(effect))


STEPS = "[{tap: Save}, {type_text: {text: Ada, target: Name}}]"
"""As text, JSON or YAML: strict mode has no words for an object of any shape. A list is taken, too."""
_OWN: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        _own_tool("devices", "List phones.", {}, "read"),
        _own_tool("connect", "Choose the phone; answers with its screen.", {"device": TEXT}, "read"),
        _own_tool(
            "expect",
            "Check what is visible or absent, an element's text or property, or the app in front.",
            {
                **dict.fromkeys(("visible", "absent", "app", "target", "equals", "contains"), TEXT),
                "property": {"type": "string", "description": "checked, enabled, focused, value…"},
                "value": TEXT,
                "timeout_ms": {"type": "integer"},
            },
            "read",
        ),
        _own_tool(
            "run_flow",
            f"Run many actions up to the first failure: {STEPS}, or a file.",
            {"steps": TEXT, "file": TEXT},
            "sensitive",
        ),
        _own_tool(
            "desk",
            "Act on the person's desk: windows, notifications, toasts, dialogs, badges, shortcuts. "
            "`events`: what people clicked or wrote there.",
            {
                "type": {"type": "string", "enum": [*DESK_ACTIONS, "events"]},
                "fields": {
                    "type": "object",
                    "description": "of that action, in camelCase; events: timeoutMs",
                },
                "actions": {"type": "array", "items": {"type": "object"}, "description": "several as one"},
            },
            "desk",
        ),
    )
}


def seed_tool(name: str, row: Row, native: str, kinds: Mapping[str, Any] | None = None) -> Tool:
    """`kinds` gives parameters that need more than a type; `?` marks what may be left out."""
    description, parameters = row
    fields: dict[str, Any] = {}
    required = []
    for word in parameters.split():
        field, _, kind = word.rstrip("?").partition(":")
        fields[field] = (kinds or {}).get(field) or {"type": kind or "string"}
        if not word.endswith("?"):
            required.append(field)
    effect = ACTIONS[native].traits.effect if native else "sensitive"
    return Tool(name, description, closed_object_schema(fields, required), annotations_of(effect))
