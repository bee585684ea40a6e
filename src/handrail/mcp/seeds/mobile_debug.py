"""Seed 002: actions answer with mobile-debug's envelope, what only looks with its data, both as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from handrail.dialects import mobile_debug as dialect
from handrail.engine.look.resolve import aim
from handrail.errors import TargetError
from handrail.mcp.answer import PICTURE, Answer, data_of
from handrail.mcp.tools import Row, seed_tool
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
_ANY = "platform? deviceId?"
_APP = f"appId {_ANY}"
ROWS: dict[str, Row] = {
    "tap": ("Tap at a point.", f"x:number y:number {_ANY}"),
    "tap_element": ("Tap an element by the id that wait_for_ui gave.", "elementId"),
    "swipe": ("Swipe.", f"x1:number y1:number x2:number y2:number duration:number {_ANY}"),
    "scroll_to_element": (
        "Scroll until an element is visible.",
        f"selector direction? maxScrolls:number? scrollAmount:number? {_ANY}",
    ),
    "type_text": ("Type into the focused field.", f"text {_ANY}"),
    "press_back": ("Press back.", _ANY),
    "start_app": ("Start an app.", _APP),
    "restart_app": ("Stop an app and start it again.", _APP),
    "terminate_app": ("Stop an app.", _APP),
    "reset_app_data": ("Delete an app's data.", _APP),
    "install_app": ("Install an APK.", f"appPath {_ANY}"),
    "adjust_control": (
        "Set a slider or picker.",
        f"selector targetValue property? tolerance:number? maxAttempts:number? {_ANY}",
    ),
    "get_ui_tree": ("Read the screen.", _ANY),
    "get_logs": ("Read the log.", f"appId? level? limit:number? {_ANY}"),
    "capture_screenshot": ("Take a picture of the screen.", _ANY),
    "wait_for_ui": (
        "Wait for an element.",
        f"selector condition? timeout_ms:number? poll_interval_ms:number? {_ANY}",
    ),
    "wait_for_screen_change": ("Wait until the screen is another one.", f"timeoutMs:number? {_ANY}"),
    "expect_screen": ("Check which screen is shown.", f"fingerprint? screen? {_ANY}"),
    "expect_element_visible": ("Check that an element is visible.", f"selector timeout_ms:number? {_ANY}"),
    "expect_state": ("Check a property of an element.", f"selector property expected {_ANY}"),
}


def tools() -> list[Tool]:
    """As the seed lists them."""
    return [seed_tool(name, row, _native(name), _KINDS) for name, row in ROWS.items()]


def _native(name: str) -> str:
    return dialect.TOOLS[name].native if name in dialect.TOOLS else "wait_for"


async def answer(call: Call) -> Answer:
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
    return Answer(_json(written), images, not envelope.success, envelope, data_of(envelope))


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
