"""From a tool's name and arguments to its answer. Pure of transport; raises nothing but a cancellation."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from handrail.errors import HandrailError, InvalidAction
from handrail.mcp.answer import Answer, failure_text
from handrail.mcp.call import Call
from handrail.mcp.native import native
from handrail.mcp.seeds import seed
from handrail.mcp.tools import PROFILES, Tool, tools
from handrail.protocol.read import nearest_kind

if TYPE_CHECKING:
    from handrail.engine.events import Caller
    from handrail.mcp.state import DoorState, Progress

_log = logging.getLogger("handrail.mcp")


async def call(
    state: DoorState,
    name: str,
    arguments: Any,
    *,
    caller: Caller | None = None,
    progress: Progress | None = None,
) -> Answer:
    """A failure is an answer too, whatever failed."""
    try:
        tool = _tool(state.profile, name)
        given = _object(arguments)
        one = Call(state, caller or state.runtime.caller, name, given, progress)
        try:
            other = seed(state.profile)
            return await (other.answer(one) if other else native(one))
        except InvalidAction as error:
            raise _about(tool, error) from None
    except HandrailError as error:
        return failed(state.profile, name, error)
    except Exception as error:
        _log.exception("%s failed", name)
        kind = type(error).__name__
        unknown = HandrailError(f"{name} failed with {kind}", hint="The server's log says more.")
        return failed(state.profile, name, unknown)


def failed(profile: str, name: str, error: HandrailError) -> Answer:
    """A failure that came before there was an envelope, in the profile's own words."""
    other = seed(profile)
    written = other.failure(name, error) if other else failure_text(error)
    return Answer(written, is_error=True, structured=error.to_dict())


def _object(arguments: Any) -> dict[str, Any]:
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise InvalidAction(f"arguments: should be an object, not {type(arguments).__name__}", path="")
    return arguments


def _tool(profile: str, name: str) -> Tool:
    known = {tool.name: tool for tool in tools(profile)}
    if name in known:
        return known[name]
    elsewhere = next((other for other, names in PROFILES.items() if name in names), None)
    close = nearest_kind(str(name), known)
    if elsewhere:
        hint = f"`handrail mcp --tools {elsewhere}` has it; this server runs with {profile}."
    else:
        hint = f"Did you mean {' or '.join(close)}?" if close else f"Tools: {', '.join(known)}."
    raise InvalidAction(f"name: there is no tool {str(name)[:60]!r}", path="name", hint=hint)


def _about(tool: Tool, error: InvalidAction) -> InvalidAction:
    """A model knows tools, not commands: the general hint becomes this tool's own."""
    if error.hint != InvalidAction.hint:
        return error
    fields = ", ".join(tool.input_schema["properties"]) or "nothing"
    return InvalidAction(error.message, hint=f"{tool.name} takes: {fields}.", **error.details)
