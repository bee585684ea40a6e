"""Seed 002: actions answer with mobile-debug's envelope, what only looks with its data, both as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from handrail.dialects import mobile_debug as dialect
from handrail.engine.look.resolve import aim
from handrail.errors import TargetError
from handrail.mcp.answer import PICTURE, ToolAnswer, data_of
from handrail.mcp.tools import seed_tool
from handrail.protocol.observe import GetUiTree, WaitFor

if TYPE_CHECKING:
    from handrail.engine.session import Session
    from handrail.errors import HandrailError
    from handrail.mcp.calls import Call
    from handrail.mcp.tools import Tool
    from handrail.protocol.actions import AnyAction
    from handrail.protocol.envelope import Envelope

_SELECTOR = {
    "type": "object",
    "properties": {key: {"type": "string"} for key in ("text", "resourceId", "contentDesc", "className")},
}
_KINDS: dict[str, Any] = {
    "selector": _SELECTOR,
    "platform": {"type": "string", "enum": ["android"]},
    "condition": {"type": "string", "enum": list(dialect.WAIT_CONDITIONS)},
    "direction": {"type": "string", "enum": ["down", "up"]},
    "expected": {"description": "a text, a number, true or false"},
    "targetValue": {"description": "a number or a label"},
}


def tools() -> list[Tool]:
    """As the seed lists them."""
    return [seed_tool(name, row, dialect.NATIVE[name], _KINDS) for name, row in dialect.ROWS.items()]


async def answer(call: Call) -> ToolAnswer:
    """One block of JSON, and the picture beside it."""
    action = dialect.read_tool(call.name, call.arguments)
    session = await call.session(action.device)
    envelope = await call.perform(action, session)
    if action.effect == "read":
        written = _reading(envelope) | await _found(call, session, action, envelope)
    else:
        secret = "${secret:" in str(call.arguments.get("text", ""))
        written = dialect.write_envelope(envelope, call.name, call.arguments, secret=secret)
    if not envelope.success:
        written |= {"message": envelope.message, "hint": envelope.hint}
    picture = (envelope.details or {}).get(PICTURE)
    images = (picture,) if picture else ()
    return ToolAnswer(_json(written), images, not envelope.success, envelope, data_of(envelope))


def failure(name: str, error: HandrailError) -> str:
    """As mobile-debug wraps errors, with the nearest code that it knows."""
    code = dialect.failure_code(error.code)
    told = {"tool": name, "message": error.message, "hint": error.hint}
    return _json({"error": told, "failure_code": code, "code": error.code})


def _reading(envelope: Envelope) -> dict[str, Any]:
    """Nothing is delivered by a look: whether it went well is all there is to say, besides what was seen."""
    data = data_of(envelope)
    written: dict[str, Any] = {"success": envelope.success, "device": data.get("device")}
    if not envelope.success:
        code = dialect.failure_code(envelope.failure_code)
        written |= {"failure_code": code, "retryable": bool(envelope.retryable)}
    written["ui_fingerprint_after"] = envelope.ui_fingerprint_after
    return {**written, **data.get("details", {})}


async def _found(call: Call, session: Session, action: AnyAction, envelope: Envelope) -> dict[str, Any]:
    """wait_for_ui hands out the id that tap_element takes."""
    if not isinstance(action, WaitFor) or action.condition.visible is None or not envelope.success:
        return {}
    await call.perform(GetUiTree(), session)  # elements have ids on a screen that was taken
    try:
        found = aim(session.looks, action.condition.visible).resolved()
    except TargetError:  # gone, or several: it was there, and none of them is the one
        return {"element": None}
    names = {"elementId": found.element_id, "text": found.text, "resourceId": found.resource_id}
    return {"element": {**names, "class": found.class_, "bounds": found.bounds, "index": found.index}}


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
