"""Seed 003: AgenTest's ten tools. Answers are its JSON, or the compact text where it gives that."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from handrail.dialects import agentest as dialect
from handrail.errors import ERRORS, InvalidAction
from handrail.flow.document import loads
from handrail.mcp.answer import PICTURE, Answer, data_of
from handrail.mcp.flows import run
from handrail.mcp.tools import Row, seed_tool

if TYPE_CHECKING:
    from handrail.engine.session import Session
    from handrail.errors import HandrailError
    from handrail.mcp.calls import Call
    from handrail.mcp.tools import Tool
    from handrail.protocol.envelope import Envelope

PREFIX = "agentest_"
_KINDS: dict[str, Any] = {
    "backend": {"type": "string", "enum": ["auto", "adb", "grpc"]},
    "format": {"type": "string", "enum": ["compact", "full"]},
    "steps": {"type": "array", "items": {"type": "object"}},
}
ROWS: dict[str, Row] = {
    "connect": ("Connect to a device and start an app.", "packageName deviceId? backend? verbose:boolean?"),
    "get_ui_tree": ("Read the screen with refs.", "format? depth:integer? onlyInteractive:boolean?"),
    "run_flow": ("Run steps, each {action, target, …}; waits are built in.", "steps"),
    "reset_app": ("Restart the app; its data stays.", "packageName?"),
    "get_logs": ("Read the app's log.", "packageName? maxLines:integer?"),
    "screenshot": ("Take a picture of the screen.", ""),
    "device_info": ("Read screen size, density, Android version and model.", ""),
    "get_shared_prefs": ("Read a preferences file of a debuggable app.", "file packageName?"),
    "query_db": ("Run SQL in a database of a debuggable app.", "database query packageName?"),
    "set_network": (
        "Change the network.",
        "preset? speed? delay? wifi:boolean? airplaneMode:boolean?",
    ),
}


def tools() -> list[Tool]:
    """As the seed lists them."""
    return [seed_tool(PREFIX + name, row, _native(name), _KINDS) for name, row in ROWS.items()]


def _native(name: str) -> str:
    return dialect.TOOLS[name].native if name in dialect.TOOLS else ""


async def answer(call: Call) -> Answer:
    """By the tool's own shape."""
    name = call.name.removeprefix(PREFIX)
    if name == "run_flow":
        return await _run_flow(call)
    [step] = dialect.read_tool(name, _arguments(name, call.arguments), package=call.known.package)
    session = await call.session(step.action.device)
    if name == "connect":
        call.known.device = session.serial
        call.known.package = call.arguments["packageName"]
    envelope = await call.perform(step.action, session, step.settle)
    data = data_of(envelope)
    if not envelope.success:
        error = ERRORS[envelope.failure_code or "UNKNOWN"](envelope.message or "", hint=envelope.hint)
        return Answer(failure(name, error), (), True, envelope, data)
    picture = (envelope.details or {}).get(PICTURE)
    first, *more = await _blocks(name, call, session, envelope)
    return Answer(first, (picture,) if picture else (), False, envelope, data, tuple(more))


def failure(_: str, error: HandrailError) -> str:
    """AgenTest's `{error, code}`; what to do next is part of the sentence."""
    written = dialect.failure(error)
    return _json({**written, "error": f"{written['error']} {error.hint}"})


def _arguments(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Its full tree is JSON, which natively is the outline."""
    if name == "get_ui_tree" and given.get("format") == "full":
        return {**given, "format": "outline"}
    return given


async def _run_flow(call: Call) -> Answer:
    dialect.read_tool("run_flow", call.arguments)
    document = loads(json.dumps({"name": "run_flow", "steps": call.arguments["steps"]}, ensure_ascii=False))
    record = await run(call, document)
    if record.trace is None:
        raise InvalidAction(record.error or "The flow left no trace", path="steps")
    trace = call.state.runtime.secrets.redact_data(record.trace.to_dict())
    return Answer(_json(trace), is_error=not record.trace.success, structured=trace)


async def _blocks(name: str, call: Call, session: Session, envelope: Envelope) -> list[str]:
    """Texts; the compact one as it is, everything else as JSON."""
    details = envelope.details or {}
    match name:
        case "connect":
            return [_json(_connected(call, session, envelope)), _screen(call, session)]
        case "reset_app":
            return [_screen(call, session)]
        case "get_ui_tree" if "text" in details:
            return [details["text"]]
        case "device_info":
            return [_json(await _device_info(session))]
        case _:
            return [_json(_data(name, call, details))]


def _data(name: str, call: Call, details: dict[str, Any]) -> Any:
    given = {key: value for key, value in call.arguments.items() if value is not None}
    package = {"packageName": given.get("packageName") or call.known.package}
    match name:
        case "get_ui_tree":
            return details["tree"]
        case "get_logs":
            return {**package, "logs": details["logs"]}
        case "screenshot":
            return {key: details[key] for key in ("width", "height", "scale")}
        case "get_shared_prefs":
            return {**package, "file": given["file"], "content": details["xml"]}
        case "query_db":
            return {**package, "database": given["database"], "query": given["query"], "rows": _rows(details)}
        case _:
            return {"applied": given, "message": "The network was changed."}


def _connected(call: Call, session: Session, envelope: Envelope) -> dict[str, Any]:
    channels = set(session.surface.channels().values())
    backend = next((name for name in ("grpc", "helper") if name in channels), "adb")
    return {
        "deviceId": session.serial,
        "packageName": call.known.package,
        "backend": "helper" if "u2" in channels else backend,
        "helperInstalled": bool(channels & {"helper", "u2"}),
        "screenFingerprint": envelope.ui_fingerprint_after,
    }


def _screen(call: Call, session: Session) -> str:
    return call.state.runtime.secrets.redact(session.looks.registry.text)


async def _device_info(session: Session) -> dict[str, Any]:
    facts, display = session.facts, await session.looks.eyes.display()
    return {
        "screenWidth": display.width,
        "screenHeight": display.height,
        "density": display.density,
        "sdkVersion": facts.sdk,
        "androidVersion": facts.android_version,
        "model": facts.model,
        "manufacturer": facts.manufacturer,
    }


def _rows(details: dict[str, Any]) -> str:
    """As sqlite3 prints them: bars between the columns."""
    return "\n".join("|".join("" if cell is None else str(cell) for cell in row) for row in details["rows"])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
