"""Every dialect by its name, the seeds among them. A module is imported when its dialect is asked for."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from handrail.dialects.parts import Conversation
from handrail.dialects.rules import unknown_name
from handrail.dialects.table import Dialect, ParsedOutput, WordsRead, plain_answer
from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.actions import DESK_ACTIONS
from handrail.protocol.flow import Step
from handrail.protocol.read import action_from
from handrail.satellites import DIALECTS, load

TABLES = (
    "anthropic_computer", "openai_computer", "ui_tars", "autoglm", "mobile_use", "w3c_actions", "mobile_mcp",
    "agent_device",
)  # fmt: skip
"""Each a module of this name with its table."""
SEEDS = ("native", "openpocket", "agentest", "interaction", "mobile_debug", "desk")
NAMES = (*SEEDS, *TABLES, *DIALECTS)


@cache
def dialect(name: str) -> Dialect:
    """Raises `InvalidAction` for a name that nobody has."""
    if name in TABLES:
        loaded: Dialect = _module(name).DIALECT
        return loaded
    if name in DIALECTS:
        read: Dialect = load("handrail.dialects", name, DIALECTS[name], f"the dialect {name}")
        return read
    if name not in SEEDS:
        raise InvalidAction(
            f"dialect: {name[:60]!r} is not known", path="dialect", hint=f"Known: {', '.join(NAMES)}."
        )
    return SeedDialect(
        name,
        name,
        "device",
        {},
        hear=lambda _: ParsedOutput(()),
        form=lambda word, fields: {"type": word, **fields},
        answer=plain_answer,
    )


class SeedDialect(Dialect):
    """A seed's reader with the same face. Its numbers are pixels of the screen."""

    def read(self, output: Any, talk: Conversation) -> WordsRead:
        del talk
        match self.name:
            case "openpocket":
                return _openpocket(output)
            case "agentest":
                agentest, call = _module("agentest"), object_of(output)
                if "steps" in call or "action" not in call:
                    name, arguments = ("run_flow", call) if "steps" in call else call_of(call)
                    return WordsRead(tuple(step.action for step in agentest.read_tool(name, arguments)))
                return WordsRead((agentest.read_step(call).action,))
            case "interaction" | "mobile_debug":
                return WordsRead((_module(self.name).read_tool(*call_of(output)),))
            case "desk" if isinstance(output, Mapping):
                kind = output.get("type")
                if not isinstance(kind, str) or kind not in DESK_ACTIONS:
                    raise unknown_name(kind, DESK_ACTIONS)
        return WordsRead((action_from(output),))

    def write(self, action: Act, talk: Conversation) -> Any:
        del talk
        match self.name:
            case "openpocket":
                return _module(self.name).write_action(action)
            case "agentest":
                return _module(self.name).write_step(Step(action=action))
            case "interaction" | "mobile_debug":
                name, arguments = _module(self.name).write_tool(action)
                return {"name": name, "arguments": arguments}
        return action.to_dict()


def _module(name: str) -> Any:
    return importlib.import_module(f"handrail.dialects.{name}")


def object_of(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidAction("should be an object", path="")
    return value


def call_of(value: Any) -> tuple[str, Mapping[str, Any]]:
    """`{name, arguments}` as tools are called, or one flat object whose `type` is the tool."""
    call = object_of(value)
    key = next((key for key in ("name", "tool", "type") if isinstance(call.get(key), str)), None)
    if key is None:
        raise InvalidAction("type: is required", path="type", hint='Name the tool: {"type": "tap", …}.')
    arguments = call.get("arguments")
    if isinstance(arguments, Mapping):
        return call[key], arguments
    return call[key], {name: item for name, item in call.items() if name != key}


def _openpocket(value: Any) -> WordsRead:
    """What can't be executed as it was written is refused; `handrail check` shows the seed's own form."""
    step = _module("openpocket").parse_step(value if isinstance(value, str | Mapping) else json.dumps(value))
    normalised = step.normalised
    if normalised.native is None:
        raise InvalidAction(f"{normalised.action['type']}: {normalised.not_executable}", path="")
    if "type" in normalised.defaulted:
        raise InvalidAction("type: there is no action of OpenPocket in it", path="type")
    defaults = [f"{name} was missing" for name in normalised.defaulted]
    return WordsRead((normalised.native,), step.thought, (*step.repairs, *defaults))
