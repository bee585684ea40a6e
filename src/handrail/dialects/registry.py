"""Every dialect by its name, the seeds among them. A module is imported when its dialect is asked for."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from handrail.dialects.answers import plain_answer
from handrail.dialects.parts import Conversation, Fields
from handrail.dialects.rules import unknown_name
from handrail.dialects.table import Dialect, Heard, WordsRead
from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.actions import DESK_ACTIONS, AnyAction
from handrail.protocol.read import action_from

TABLES = (
    "anthropic_computer", "openai_computer", "androidworld", "androidcontrol", "aitw", "ui_tars", "autoglm",
    "mobile_use", "w3c_actions", "mobile_mcp", "agent_device",
)  # fmt: skip
"""Each a module of this name with its table."""
SEEDS = ("native", "openpocket", "agentest", "interaction", "mobile_debug", "desk")
NAMES = (*SEEDS, *TABLES)


@cache
def dialect(name: str) -> Dialect:
    """Raises `InvalidAction` for a name that nobody has."""
    if name in TABLES:
        found: Dialect = importlib.import_module(f"handrail.dialects.{name}").DIALECT
        return found
    if name not in SEEDS:
        raise InvalidAction(
            f"dialect: {name[:60]!r} is not known", path="dialect", hint=f"Known: {', '.join(NAMES)}."
        )
    return SeedDialect(name, name, "device", {}, _unheard, _as_it_is, plain_answer)


def _unheard(given: Any) -> Heard:
    del given
    return Heard(())


def _as_it_is(word: str, fields: Fields) -> Any:
    return {"type": word, **fields}


class SeedDialect(Dialect):
    """A seed's reader with the same face. Its numbers are pixels of the screen."""

    def read(self, given: Any, talk: Conversation) -> WordsRead:
        del talk
        return _READERS[self.name](given)

    def write(self, action: Act, talk: Conversation) -> Any:
        del talk
        return _WRITERS[self.name](action)


def object_of(value: Any) -> Mapping[str, Any]:
    """Itself, if it is one."""
    if not isinstance(value, Mapping):
        raise InvalidAction("should be an object", path="")
    return value


def call_of(value: Any) -> tuple[str, Mapping[str, Any]]:
    """`{name, arguments}` as tools are called, or one flat object whose `type` is the tool."""
    given = object_of(value)
    key = next((key for key in ("name", "tool", "type") if isinstance(given.get(key), str)), None)
    if key is None:
        raise InvalidAction("type: is required", path="type", hint='Name the tool: {"type": "tap", …}.')
    arguments = given.get("arguments")
    if isinstance(arguments, Mapping):
        return given[key], arguments
    return given[key], {name: item for name, item in given.items() if name != key}


def _native(value: Any) -> WordsRead:
    return WordsRead((action_from(value),))


def _desk(value: Any) -> WordsRead:
    kind = value.get("type") if isinstance(value, Mapping) else None
    if isinstance(value, Mapping) and (not isinstance(kind, str) or kind not in DESK_ACTIONS):
        raise unknown_name(kind, DESK_ACTIONS)
    return _native(value)


def _openpocket(value: Any) -> WordsRead:
    """What can't be executed as it was written is refused; `handrail check` shows the seed's own form."""
    from handrail.dialects.openpocket import parse_step  # noqa: PLC0415

    step = parse_step(value if isinstance(value, str | Mapping) else json.dumps(value))
    made = step.normalised
    if made.native is None:
        raise InvalidAction(f"{made.action['type']}: {made.not_executable}", path="")
    if "type" in made.defaulted:
        raise InvalidAction("type: there is no action of OpenPocket in it", path="type")
    defaults = [f"{name} was missing" for name in made.defaulted]
    return WordsRead((made.native,), step.thought, (*step.repairs, *defaults))


def _agentest(value: Any) -> WordsRead:
    from handrail.dialects import agentest  # noqa: PLC0415

    given = object_of(value)
    if "steps" in given or "action" not in given:
        name, arguments = ("run_flow", given) if "steps" in given else call_of(given)
        return WordsRead(tuple(step.action for step in agentest.read_tool(name, arguments)))
    return WordsRead((agentest.read_step(given).action,))


def _interaction(value: Any) -> WordsRead:
    from handrail.dialects import interaction  # noqa: PLC0415

    return WordsRead((interaction.read_tool(*call_of(value)),))


def _mobile_debug(value: Any) -> WordsRead:
    from handrail.dialects import mobile_debug  # noqa: PLC0415

    return WordsRead((mobile_debug.read_tool(*call_of(value)),))


_READERS: dict[str, Callable[[Any], WordsRead]] = {
    "native": _native,
    "desk": _desk,
    "openpocket": _openpocket,
    "agentest": _agentest,
    "interaction": _interaction,
    "mobile_debug": _mobile_debug,
}


def _to_dict(action: Act) -> Any:
    return action.to_dict()


def _to_openpocket(action: Act) -> Any:
    from handrail.dialects.openpocket import write_action  # noqa: PLC0415

    return write_action(action)


def _to_agentest(action: AnyAction) -> Any:
    from handrail.dialects.agentest import write_step  # noqa: PLC0415
    from handrail.protocol.flow import Step  # noqa: PLC0415

    return write_step(Step(action=action))


def _to_interaction(action: Act) -> Any:
    from handrail.dialects.interaction import write_tool  # noqa: PLC0415

    name, arguments = write_tool(action)
    return {"name": name, "arguments": arguments}


def _to_mobile_debug(action: Act) -> Any:
    from handrail.dialects.mobile_debug import write_tool  # noqa: PLC0415

    name, arguments = write_tool(action)
    return {"name": name, "arguments": arguments}


_WRITERS: dict[str, Callable[[Any], Any]] = {
    "native": _to_dict,
    "desk": _to_dict,
    "openpocket": _to_openpocket,
    "agentest": _to_agentest,
    "interaction": _to_interaction,
    "mobile_debug": _to_mobile_debug,
}
