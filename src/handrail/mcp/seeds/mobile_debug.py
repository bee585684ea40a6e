"""Seed 002: actions answer with mobile-debug's envelope, what only looks with its data, both as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from handrail.dialects import mobile_debug as dialect
from handrail.mcp.answer import PICTURE, ToolAnswer, data_of
from handrail.mcp.tools import seed_tool
from handrail.protocol.observe import WaitFor

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
    "platform": {"type": "string", "enum": ["android"], "description": "iOS is UNSUPPORTED"},
    "condition": {"type": "string", "enum": list(dialect.WAIT_CONDITIONS)},
    "direction": {"type": "string", "enum": ["down", "up"]},
    "match": {"type": "object", "properties": {"index": {"type": "integer"}}},
    "retry": {
        "type": "object",
        "properties": {"max_attempts": {"type": "integer"}, "backoff_ms": {"type": "integer"}},
    },
    "expected": {"type": ["string", "number", "boolean"]},
    "targetValue": {"type": ["number", "string"]},
}


def tools() -> list[Tool]:
    """As the seed lists them."""
    return [seed_tool(name, row, dialect.NATIVE[name], _KINDS) for name, row in dialect.ROWS.items()]


async def answer(call: Call) -> ToolAnswer:
    """One block of JSON, and the picture beside it."""
    action = dialect.read_tool(call.name, call.arguments)
    session = await call.session(action.device)
    envelope = await _performed(call, action, session)
    if action.effect == "read":
        written = _reading(call, action, envelope)
    else:
        written = dialect.write_envelope(envelope, call.name, call.arguments, secret=_is_secret(call))
    if not envelope.success:  # also of what was delivered, and changed nothing: that is worth knowing
        written |= {"message": envelope.message, "hint": envelope.hint}
    picture = (envelope.details or {}).get(PICTURE)
    images = (picture,) if picture else ()
    return ToolAnswer(_json(written), images, not written["success"], envelope, data_of(envelope))


async def _performed(call: Call, action: AnyAction, session: Session) -> Envelope:
    """Once; `wait_for_ui` as often as its `retry` says, until what it waits for is there."""
    is_wait = call.name == "wait_for_ui"
    tries, gap_ms = dialect.wait_tries(call.arguments.get("retry") if is_wait else None)
    envelope = await call.perform(action, session)
    while tries > 1 and envelope.failure_code == "TIMEOUT":
        tries -= 1
        await call.state.runtime.clock.sleep_ms(gap_ms)
        envelope = await call.perform(action, session)
    return envelope


def failure(call: Call, error: HandrailError) -> str:
    """An envelope, too, although nothing was tried."""
    now_ms = call.state.runtime.clock.now_ms()
    tool, secret = str(call.name)[:60], _is_secret(call)
    return _json(dialect.write_failure(error, tool, call.arguments, now_ms, secret=secret))


def _is_secret(call: Call) -> bool:
    return "${secret:" in str(call.arguments.get("text", ""))


def _reading(call: Call, action: AnyAction, envelope: Envelope) -> dict[str, Any]:
    """Nothing is delivered by a look: whether it went well is all there is to say, besides what was seen."""
    data = data_of(envelope)
    written: dict[str, Any] = {"success": envelope.success, "device": data.get("device")}
    if envelope.target is not None:
        written |= _found(call, action, envelope)
    if not envelope.success:
        retryable = bool(envelope.retryable)
        written |= dialect.why(envelope.failure_code, retryable=retryable, delivery=envelope.delivery)
    written["ui_fingerprint_after"] = envelope.ui_fingerprint_after
    return {**written, **data.get("details", {})}


def _found(call: Call, action: AnyAction, envelope: Envelope) -> dict[str, Any]:
    """What was waited for or checked, with the id that tap_element takes."""
    found = envelope.target.resolved if envelope.target else None
    resolved = dialect.write_resolved(found) if found else None
    selector = dialect.selector_of(call.name, call.arguments)
    written: dict[str, Any] = {"target": {"selector": selector, "resolved": resolved}}
    if isinstance(action, WaitFor) and envelope.success:
        own = resolved and {**resolved, "resourceId": resolved["resource_id"]}
        written["element"] = own
    return written


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
