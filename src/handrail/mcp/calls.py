"""One tool call, from a tool's name and arguments to its answer; what the native tools do, `desk` among them.

Knows no transport, and raises nothing but a cancellation.
"""

from __future__ import annotations

import json
import logging
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from handrail.android.discovery import Found
from handrail.config import is_browser
from handrail.dialects.arguments import action_of, check_names, device_of, expectation_of, reasoned
from handrail.errors import HandrailError, InvalidAction
from handrail.mcp.answer import PICTURE, ToolAnswer, data_of, failure_text, tell
from handrail.mcp.seeds import seed
from handrail.mcp.tools import PROFILES, Tool, tools
from handrail.protocol.actions import DESK_ACTIONS
from handrail.protocol.observe import GetUiTree, WhatChanged
from handrail.protocol.read import action_from, nearest_kind

if TYPE_CHECKING:
    from handrail.engine.events import Caller
    from handrail.engine.session import Session
    from handrail.mcp.state import CallerState, DoorState, Progress
    from handrail.protocol.actions import AnyAction
    from handrail.protocol.envelope import Envelope
    from handrail.protocol.traits import Settle
    from handrail.surface.values import Facts

_log = logging.getLogger("handrail.mcp")


async def call(
    state: DoorState,
    name: str,
    arguments: Any,
    *,
    caller: Caller | None = None,
    progress: Progress | None = None,
) -> ToolAnswer:
    """A failure is an answer too, whatever failed."""
    given = arguments if isinstance(arguments, dict) else {}
    one = Call(state, caller or state.runtime.caller, name, given, progress)
    try:
        tool = _tool(state.profile, name)
        _check_object(arguments)
        try:
            other = seed(state.profile)
            return await (other.answer(one) if other else native(one))
        except InvalidAction as error:
            raise _about(tool, error) from None
    except HandrailError as error:
        return failed(one, error)
    except Exception as error:
        _log.exception("%s failed", name)
        kind = type(error).__name__
        unknown = HandrailError(f"{name} failed with {kind}", hint="The server's log says more.")
        return failed(one, unknown)


def failed(call: Call, error: HandrailError) -> ToolAnswer:
    """A failure that came before there was an envelope, in the profile's own words."""
    other = seed(call.state.profile)
    written = other.failure(call, error) if other else failure_text(error)
    return ToolAnswer(written, is_error=True, structured=error.to_dict())


def _check_object(arguments: Any) -> None:
    if arguments is not None and not isinstance(arguments, dict):
        raise InvalidAction(f"arguments: should be an object, not {type(arguments).__name__}", path="")


@cache
def _tools(profile: str) -> dict[str, Tool]:
    return {tool.name: tool for tool in tools(profile)}


def _tool(profile: str, name: str) -> Tool:
    known = _tools(profile)
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


@dataclass(frozen=True, slots=True)
class Call:
    """The same for every profile."""

    state: DoorState
    caller: Caller
    name: str
    arguments: dict[str, Any]
    progress: Progress | None = None

    @property
    def known(self) -> CallerState:
        return self.state.of(self.caller)

    async def session(self, wanted: str | None = None) -> Session:
        return await self.state.session(self.caller, wanted)

    async def perform(self, action: AnyAction, session: Session, settle: Settle | None = None) -> Envelope:
        """Do one action; whoever goes away stops it."""
        async with self.progress.watching(session) if self.progress else nullcontext():
            return await session.run(action, caller=self.caller, settle=settle)


NO_DEVICE = (
    "No phone is there. A person can plug one in, or run `handrail sim`."
    " `connect` with device browser opens a browser."
)


async def native(call: Call) -> ToolAnswer:
    """The answer of a native tool."""
    match call.name:
        case "devices":
            check_names("devices", call.arguments, ())
            return await listed_devices(call)
        case "connect":
            return await _connect(call)
        case "run_flow":
            from handrail.mcp.flows import run_flow  # noqa: PLC0415  (YAML and all of it, for one tool)

            return await run_flow(call)
        case "expect":
            return await act(call, expectation_of(call.arguments))
        case "desk":
            return await act_on_desk(call)
        case name:
            return await act(call, action_of(name, call.arguments))


async def act(call: Call, action: AnyAction) -> ToolAnswer:
    """Do an action on the caller's phone, and tell it by what the caller knows already."""
    session = await call.state.session(call.caller, action.device)
    known = call.state.of(call.caller)
    if isinstance(action, WhatChanged) and action.since is None and session.serial in known.seen:
        action = action.model_copy(update={"since": known.seen[session.serial]})
    envelope = await call.perform(action, session)
    return tell(call.state.runtime, session, known, action, envelope)


async def listed_devices(call: Call) -> ToolAnswer:
    """What was found, for profiles that call it otherwise."""
    return await _devices(call.state)


async def _connect(call: Call) -> ToolAnswer:
    """The device for what follows, and its screen."""
    check_names("connect", call.arguments, ("device", "deviceId"))
    wanted = device_of(call.arguments)
    session = await call.state.session(call.caller, wanted)
    known = call.state.of(call.caller)
    known.device = wanted or session.serial
    envelope = await call.perform(GetUiTree(), session)
    answer = tell(call.state.runtime, session, known, GetUiTree(), envelope)
    text = f"Connected to {session.serial}: {_described(session.facts)}.\n{answer.text}"
    return ToolAnswer(text, (), answer.is_error, envelope, answer.structured)


def _described(facts: Facts) -> str:
    model = f"{facts.manufacturer} {facts.model}".strip()
    return f"{model}, Android {facts.android_version}" if facts.platform == "android" else model


async def _devices(state: DoorState) -> ToolAnswer:
    """What was found, what is open although nobody lists it, and the door's own browser."""
    listing = await state.runtime.devices()
    opened = {one.serial: one.facts.model for one in state.sessions}
    named = state.device or state.runtime.config.device or ""
    if is_browser(named):
        opened.setdefault(named, "a browser")
    listed = {one.serial for one in listing.devices}
    ours = [
        Found(serial, via="direct", model=model) for serial, model in opened.items() if serial not in listed
    ]
    found = [*listing.devices, *ours]
    lines = [str(one) if one.usable else f"{one}. {one.what_to_do}" for one in found]
    data = {"devices": [one.to_dict() for one in found], "notes": list(listing.notes)}
    return ToolAnswer("\n".join(lines or [NO_DEVICE, *listing.notes]), structured=data)


FROM_PEOPLE = "[from people on the desk]"
"""Everything below it is what they clicked and wrote."""

EVENTS = "events"
"""The one `type` that is no OS action: read what people did, wait for it if asked to."""
LONGEST_WAIT_MS = 120_000


async def act_on_desk(call: Call) -> ToolAnswer:
    """Do it, and tell what came in meanwhile. What is wrong with the input is told also without a desk."""
    given, runtime = dict(call.arguments), call.state.runtime
    if given.get("type") == EVENTS:
        patience_ms = _desk_patience(given)
        heard = await runtime.desk_session().heard(call.caller.id, patience_ms)
        return ToolAnswer(_from_people(heard) or "Nobody did anything.", structured={"events": heard})
    actions = _desk_actions(given) if "actions" in given else [_desk_action(given)]
    desk = runtime.desk_session()
    envelopes = await desk.run_all(actions, caller=call.caller)
    return _desk_answer(envelopes, await desk.heard(call.caller.id, 0))


def _desk_patience(given: dict[str, Any]) -> float:
    fields = given.get("fields") or {}
    check_names("desk", given, ("type", "fields"))
    wanted = fields.get("timeoutMs", fields.get("timeout_ms", 0)) if isinstance(fields, dict) else None
    if isinstance(wanted, bool) or not isinstance(wanted, int | float) or not 0 <= wanted <= LONGEST_WAIT_MS:
        raise InvalidAction(
            f"fields.timeoutMs: should be a number from 0 to {LONGEST_WAIT_MS}", path="fields.timeoutMs"
        )
    return float(wanted)


def _desk_actions(given: dict[str, Any]) -> list[AnyAction]:
    check_names("desk", given, ("actions",))
    listed = given["actions"]
    if not isinstance(listed, list) or not listed:
        raise InvalidAction("actions: should be a list of OS actions", path="actions")
    return [_numbered_desk_action(index, one, given.get("reason")) for index, one in enumerate(listed)]


def _numbered_desk_action(index: int, one: Any, reason: Any) -> AnyAction:
    if not isinstance(one, dict):
        raise InvalidAction(f"actions[{index}]: should be an object", path=f"actions[{index}]")
    try:
        return _desk_action({"reason": reason, **one})
    except InvalidAction as error:
        path = f"actions[{index}].{error.details.get('path', '')}".rstrip(".")
        more = {name: told for name, told in error.details.items() if name != "path"}
        raise InvalidAction(
            f"actions[{index}]: {error.message}", hint=error.hint, path=path, **more
        ) from None


def _desk_action(given: dict[str, Any]) -> AnyAction:
    """`type` and its fields, nested or beside it."""
    fields = given.pop("fields", None) or {}
    if not isinstance(fields, dict):
        raise InvalidAction("fields: should be an object", path="fields")
    action = action_from({**given, **fields})
    if action.type not in DESK_ACTIONS:
        raise InvalidAction(f"type: {action.type!r} is not an action of the desk", path="type")
    return reasoned(action)


def _desk_answer(envelopes: list[Envelope], heard: list[dict[str, Any]]) -> ToolAnswer:
    lines = [_desk_line(one) for one in envelopes]
    pictures = tuple((one.details or {})[PICTURE] for one in envelopes if PICTURE in (one.details or {}))
    first = envelopes[0]
    return ToolAnswer(
        "\n".join(filter(None, [*lines, _from_people(heard)])),
        images=pictures,
        is_error=not all(one.success for one in envelopes),
        envelope=first,
        structured=data_of(first)
        if len(envelopes) == 1
        else {"envelopes": [data_of(one) for one in envelopes]},
    )


def _desk_line(envelope: Envelope) -> str:
    if not envelope.success:
        return f"{envelope.failure_code}: {envelope.message} {envelope.hint}"
    details = {name: told for name, told in (envelope.details or {}).items() if name != PICTURE}
    said = json.dumps(details, ensure_ascii=False) if details else "done"
    return f"{envelope.action_type}: {said}"


def _from_people(events: list[dict[str, Any]]) -> str:
    if not events:
        return ""
    return "\n".join([FROM_PEOPLE, *(json.dumps(one, ensure_ascii=False) for one in events)])
