"""The native tools: an action each, or one of the few that are more or less than that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handrail.android.discovery import Found
from handrail.dialects.arguments import action_of, check_names, device_of, expectation_of
from handrail.mcp.answer import Answer
from handrail.mcp.telling import tell
from handrail.protocol.observe import GetUiTree, WhatChanged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from handrail.android.discovery import Listing
    from handrail.engine.session import Session
    from handrail.mcp.call import Call
    from handrail.protocol.actions import AnyAction

NO_DEVICE = "No phone is there. A person can plug one in, or run `handrail sim`."


async def native(call: Call) -> Answer:
    """The answer of a native tool."""
    match call.name:
        case "devices":
            check_names("devices", call.arguments, ())
            return _devices(await call.state.runtime.devices(), call.state.sessions)
        case "connect":
            return await _connect(call)
        case "run_flow":
            from handrail.mcp.flows import run_flow  # noqa: PLC0415  (YAML and all of it, for one tool)

            return await run_flow(call)
        case "expect":
            return await _act(call, expectation_of(call.arguments))
        case "desk":
            from handrail.mcp.desk import act_on_desk  # noqa: PLC0415

            return await act_on_desk(call)
        case name:
            return await _act(call, action_of(name, call.arguments))


async def _act(call: Call, action: AnyAction) -> Answer:
    session = await call.state.session(call.caller, action.device)
    known = call.state.of(call.caller)
    if isinstance(action, WhatChanged) and action.since is None and session.serial in known.seen:
        action = action.model_copy(update={"since": known.seen[session.serial]})
    envelope = await call.perform(action, session)
    return tell(call.state.runtime, session, known, action, envelope)


async def _connect(call: Call) -> Answer:
    """The device for what follows, and its screen."""
    check_names("connect", call.arguments, ("device", "deviceId"))
    wanted = device_of(call.arguments)
    session = await call.state.session(call.caller, wanted)
    known = call.state.of(call.caller)
    known.device = wanted or session.serial
    envelope = await call.perform(GetUiTree(), session)
    answer = tell(call.state.runtime, session, known, GetUiTree(), envelope)
    facts = session.facts
    model = f"{facts.manufacturer} {facts.model}, Android {facts.android_version}"
    text = f"Connected to {session.serial}: {model}.\n{answer.text}"
    return Answer(text, (), answer.is_error, envelope, answer.structured)


def _devices(listing: Listing, sessions: Sequence[Session]) -> Answer:
    """What was found, and what is open although nobody lists it: a simulated phone of this process."""
    listed = {one.serial for one in listing.devices}
    ours = [
        Found(one.serial, via="direct", model=one.facts.model) for one in sessions if one.serial not in listed
    ]
    found = [*listing.devices, *ours]
    lines = [str(one) if one.usable else f"{one}. {one.what_to_do}" for one in found]
    data = {"devices": [one.to_dict() for one in found], "notes": list(listing.notes)}
    return Answer("\n".join(lines or [NO_DEVICE, *listing.notes]), structured=data)
