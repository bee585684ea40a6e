"""Which tools there are, and what a model is told of them: a slim projection of the vocabulary. Pure.

Tools of a seed are made from rows of words: one row is one tool, one word of it one parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from handrail.dialects.rules import unknown_name
from handrail.mcp.seeds import SEEDS, seed
from handrail.protocol.act import Act
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS
from handrail.protocol.describe import input_schema, object_of, reason_if, summary
from handrail.protocol.traits import Effect

TEXT = {"type": "string"}
FLAG = {"type": "boolean"}
TIMEOUT = {"type": "integer"}


@dataclass(frozen=True, slots=True)
class Tool:
    """As `tools/list` says it: no output schema, no title, nothing that a name says already."""

    name: str
    description: str
    input_schema: dict[str, Any]
    annotations: dict[str, bool] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        listed = {"name": self.name, "description": self.description, "inputSchema": self.input_schema}
        return listed | ({"annotations": self.annotations} if self.annotations else {})


CORE = (
    "devices", "connect", "get_ui_tree", "what_changed", "screenshot", "get_state", "tap", "long_press",
    "swipe", "type_text", "press_key", "scroll_to", "start_app", "restart_app", "stop_app", "wait_for",
    "expect", "run_flow", "request_human_auth",
)  # fmt: skip
FLOW = (
    "devices", "connect", "get_ui_tree", "screenshot", "wait_for", "expect", "run_flow", "request_human_auth",
)  # fmt: skip
DEBUG = (
    "get_logs", "get_shared_prefs", "query_db", "set_network", "open_url", "install_app", "reset_app",
    "grant_permission", "revoke_permission", "set_orientation", "set_clipboard", "shell",
)  # fmt: skip

PROFILES: dict[str, tuple[str, ...]] = {
    "core": CORE,
    "flow": FLOW,
    "debug": (*CORE, *DEBUG),
    "desk": (*CORE, "desk"),
    "all": (
        *CORE,
        *(kind for kind in ACTIONS if kind not in (*CORE, *DESK_ACTIONS) and not kind.startswith("expect_")),
        "desk",
    ),
}
"""Native profiles; `core,debug` is both."""


def tools(profile: str) -> list[Tool]:
    """The tools of a profile, or of several with commas between them."""
    if other := seed(profile):
        return other.tools()
    return [native_tool(name) for name in names_of(profile)]


def names_of(profile: str) -> list[str]:
    """In the order of the first profile that has them."""
    wanted = [word.strip() for word in profile.split(",")]
    for word in wanted:
        if word not in PROFILES:
            raise unknown_name(word, [*PROFILES, *SEEDS], path="tools")
    return list(dict.fromkeys(name for word in wanted for name in PROFILES[word]))


def annotations_of(effect: Effect) -> dict[str, bool]:
    """Said where MCP's own defaults (writes, destroys) would be wrong, and where the trait confirms them."""
    if effect == "read":
        return {"readOnlyHint": True}
    return {"destructiveHint": effect == "sensitive"}


@cache
def native_tool(name: str) -> Tool:
    """One tool by its native name."""
    if name in _OWN:
        return _OWN[name]
    cls = ACTIONS[name]
    effect = cls.traits.effect
    return Tool(name, _WORDS.get(name) or summary(cls), _schema(cls), annotations_of(effect))


def _schema(cls: type[Act]) -> dict[str, Any]:
    kind = cls.model_fields["type"].default
    return input_schema(cls, shown=_SHOWN.get(kind), words=_FIELD_WORDS.get(kind, {}), more=_MORE.get(kind))


_WORDS = {
    "get_ui_tree": "Read the screen as text with refs. Actions tell what changed: read only when lost.",
    "what_changed": "Read what changed since your last answer.",
    "wait_for": "Wait until something is visible or absent, or an app is in front.",
    "type_text": "Type into a field and read it back.",
    "press_key": "Press back, home, enter, recents, another key's name or a KEYCODE_*.",
    "swipe": "Swipe in a direction, or between two points.",
    "request_human_auth": "Ask the person to allow or provide something; waits for the answer.",
    "get_state": "Read app in front, keyboard, battery, network, orientation.",
}
"""Where the docstring's first line is longer than a model needs."""
_SHOWN: dict[str, str] = {
    "get_ui_tree": "find within only_interactive format",
    "what_changed": "",
    "screenshot": "marks",
    "swipe": "direction target from to",
    "scroll_to": "target direction within",
    "start_app": "package",
    "wait_for": "timeout_ms",
    "request_human_auth": "capability instruction",
    "query_db": "package database query write",
}
"""Fields that are advertised, where others are accepted and rarely worth their tokens."""
_FIELD_WORDS: dict[str, Mapping[str, str]] = {
    "swipe": {"direction": "of the finger", "from": "x,y", "to": "x,y"},
    "scroll_to": {"direction": "where the content lies"},
    "get_ui_tree": {"find": "only lines with this text"},
    "screenshot": {"marks": "draw the refs"},
    "type_text": {"target": "default: the focused field", "clear": "empty it first", "submit": "press enter"},
}
_AFTERWARDS = {"expect": {"type": "string", "description": "to be visible afterwards"}}
_MORE: dict[str, dict[str, Any]] = {
    "wait_for": {"visible": TEXT, "absent": TEXT, "app": TEXT},
    "press_key": {"key": TEXT, **_AFTERWARDS},
    "tap": _AFTERWARDS,
    "type_text": _AFTERWARDS,
    "start_app": _AFTERWARDS,
}
"""Fields in another form than the vocabulary's, and the check that saves a second call."""


def _own(
    name: str, description: str, fields: Mapping[str, Any], effect: Effect, required: Iterable[str] = ()
) -> Tool:
    schema = object_of(fields, required) if effect == "read" else reason_if(True, fields, required)
    return Tool(name, description, schema, annotations_of(effect))


_OWN: dict[str, Tool] = {
    one.name: one
    for one in (
        _own("devices", "List phones.", {}, "read"),
        _own("connect", "Choose the phone; answers with its screen.", {"device": TEXT}, "read"),
        _own(
            "expect",
            "Check what is visible or absent, an element's text or property, or the app in front.",
            {
                "visible": TEXT,
                "absent": TEXT,
                "app": TEXT,
                "target": TEXT,
                "equals": TEXT,
                "contains": TEXT,
                "property": {"type": "string", "description": "checked, enabled, focused, value…"},
                "value": TEXT,
                "timeout_ms": TIMEOUT,
            },
            "read",
        ),
        _own(
            "run_flow",
            'Run many actions at once, up to the first failure: [{"tap":"Save"},'
            '{"type_text":{"text":"Ada","target":"Name"}}], or a flow file.',
            {"steps": {"type": "array", "items": {"type": "object"}}, "file": TEXT},
            "sensitive",
        ),
        _own(
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


Row = tuple[str, str]
"""What it does, and its parameters: `x:number y:number duration:number? reason`."""


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
    return Tool(name, description, object_of(fields, required), annotations_of(effect))
