"""Seed 003: AgenTest's ten tools. Answers are its JSON, or the compact text where it gives that."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from handrail.dialects import agentest as dialect
from handrail.errors import GrpcConnectionError, InvalidAction, Unsupported
from handrail.flow.document import loads
from handrail.mcp.answer import PICTURE, ToolAnswer, data_of
from handrail.mcp.flows import run
from handrail.mcp.tools import seed_tool
from handrail.protocol.observe import GetLogs, GetSharedPrefs, GetState, GetUiTree, QueryDb, Screenshot
from handrail.protocol.system import RestartApp, StartApp

if TYPE_CHECKING:
    from handrail.engine.session import Session
    from handrail.errors import HandrailError
    from handrail.mcp.calls import Call
    from handrail.mcp.tools import Tool
    from handrail.protocol.actions import AnyAction
    from handrail.protocol.envelope import Envelope

PREFIX = "agentest_"
_KINDS: dict[str, Any] = {
    "backend": {"type": "string", "enum": ["auto", "adb", "grpc"]},
    "format": {"type": "string", "enum": ["compact", "full"]},
    "steps": {"type": "array", "items": {"type": "object"}},
}


def tools() -> list[Tool]:
    """As the seed lists them."""
    return [seed_tool(PREFIX + name, row, _native(name), _KINDS) for name, row in dialect.ROWS.items()]


def _native(name: str) -> str:
    return dialect.TOOLS[name].native if name in dialect.TOOLS else ""


async def answer(call: Call) -> ToolAnswer:
    """By the tool's own shape."""
    name = call.name.removeprefix(PREFIX)
    if name == "run_flow":
        return await _run_flow(call)
    [step] = dialect.read_tool(name, call.arguments, package=call.known.package)
    action = _with_json(step.action)
    backend, _ = dialect.connect_options(call.arguments)
    session = await call.session(action.device)
    _check_backend(session, backend)
    if name == "connect":
        call.known.device = session.serial
        call.known.package = call.arguments["packageName"]
    envelope = await call.perform(action, session, step.settle)
    data = data_of(envelope)
    if (error := envelope.error) is not None:
        written = dialect.failure(error)
        return ToolAnswer(_json(written | _diagnostics(envelope)), (), True, envelope, data)
    picture = (envelope.details or {}).get(PICTURE)
    first, *more = await _blocks(action, call, session, envelope)
    if name != "connect" and envelope.diagnostics:
        more.append(_json(_diagnostics(envelope)))
    return ToolAnswer(first, (picture,) if picture else (), False, envelope, data, tuple(more))


def failure(_: Call, error: HandrailError) -> str:
    """AgenTest's `{error, code}`; what to do next is part of the sentence."""
    return _json(dialect.failure(error))


def _diagnostics(envelope: Envelope) -> dict[str, Any]:
    """What the channels, among them the app's framework, had to say since the last answer."""
    return {"diagnostics": list(envelope.diagnostics)} if envelope.diagnostics else {}


def _check_backend(session: Session, backend: str) -> None:
    """Strict, as AgenTest is: one that was asked for and is not there is an error, not another one."""
    used = set(session.surface.channels().values()) & {"adb", "grpc", "helper", "u2"}
    if backend == "grpc" and "grpc" not in used:
        raise GrpcConnectionError(f"{session.serial} has no gRPC channel", hint=f"{_BY_ITSELF} {_EMULATOR}")
    if backend == "adb" and used != {"adb"}:
        raise Unsupported(
            f"{session.serial} is driven by {' and '.join(sorted(used))} already",
            hint=f"{_BY_ITSELF} A server that was started with HANDRAIL_HELPER=none has only adb.",
            path="backend",
        )


_BY_ITSELF = "Leave backend out: the best channel that is there is used."
_EMULATOR = "An emulator that was started with -grpc has one."


def _with_json(action: AnyAction) -> AnyAction:
    """AgenTest's full tree is JSON, which natively is the outline."""
    if isinstance(action, GetUiTree) and action.format == "full":
        return action.model_copy(update={"format": "outline"})
    return action


async def _run_flow(call: Call) -> ToolAnswer:
    dialect.read_tool("run_flow", call.arguments)
    document = loads(json.dumps({"name": "run_flow", "steps": call.arguments["steps"]}, ensure_ascii=False))
    record = await run(call, document)
    if record.trace is None:
        raise InvalidAction(record.error or "The flow left no trace", path="steps")
    lines = [line for step in record.steps if step.envelope for line in step.envelope.diagnostics or ()]
    written = record.trace.to_dict() | ({"diagnostics": lines} if lines else {})
    trace = call.state.runtime.secrets.redact_data(written)
    return ToolAnswer(_json(trace), is_error=not record.trace.success, structured=trace)


async def _blocks(action: AnyAction, call: Call, session: Session, envelope: Envelope) -> list[str]:
    """Texts; the compact one as it is, everything else as JSON."""
    details = envelope.details or {}
    match action:
        case StartApp():
            return [_json(_connected(call, session, envelope)), _screen(call, session)]
        case RestartApp():
            return [_screen(call, session)]
        case GetUiTree() if "text" in details:
            return [details["text"]]
        case GetState():
            return [_json(await _device_info(session))]
        case _:
            return [_json(_data(action, call, details))]


def _data(action: AnyAction, call: Call, details: Mapping[str, Any]) -> Any:
    given = {key: value for key, value in call.arguments.items() if value is not None}
    package = {"packageName": given.get("packageName") or call.known.package}
    match action:
        case GetUiTree():
            return details["tree"]
        case GetLogs():
            return {**package, "logs": details["logs"]}
        case Screenshot():
            return {key: details[key] for key in ("width", "height", "scale")}
        case GetSharedPrefs():
            return {**package, "file": given["file"], "content": details["xml"]}
        case QueryDb():
            return {**package, "database": given["database"], "query": given["query"], "rows": _rows(details)}
        case _:
            return {"applied": given, "message": "The network was changed."}


def _connected(call: Call, session: Session, envelope: Envelope) -> dict[str, Any]:
    table = session.surface.channels()
    backend = next((name for name in ("grpc", "helper", "u2") if name in table.values()), "adb")
    written = {
        "deviceId": session.serial,
        "packageName": call.known.package,
        "backend": backend,
        "helperInstalled": "helper" in table.values(),
        "screenFingerprint": envelope.ui_fingerprint_after,
    }
    _, verbose = dialect.connect_options(call.arguments)
    lines = [f"[channel] {what}: {by}" for what, by in table.items()] if verbose else []
    lines += envelope.diagnostics or ()
    return written | ({"diagnostics": lines} if lines else {})


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


def _rows(details: Mapping[str, Any]) -> str:
    """As sqlite3 prints them: bars between the columns."""
    return "\n".join("|".join("" if cell is None else str(cell) for cell in row) for row in details["rows"])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
