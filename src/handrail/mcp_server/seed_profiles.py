"""Profiles that are another server's tools, exactly: names, parameters, and the first block of the answer.

Imported when such a profile is asked for: AgenTest's brings all of flows.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from handrail.android.channel import CHANNELS
from handrail.dialects import agentest, interaction, mobile_debug
from handrail.dialects.frame import Conversation, CoordinateFrame
from handrail.dialects.openpocket import SHAPES
from handrail.dialects.registry import dialect
from handrail.engine.envelope_text import envelope_text
from handrail.engine.resolve import aim
from handrail.errors import GrpcConnectionError, HandrailError, InvalidAction, Unsupported
from handrail.flow.document import loads
from handrail.mcp_server.calls import (
    PICTURE,
    ToolAnswer,
    ToolCall,
    envelope_data,
    failure_text,
    listed_devices,
)
from handrail.mcp_server.flows import run_document
from handrail.mcp_server.tools import Tool, annotations_of, seed_tool
from handrail.protocol.describe import closed_object_schema
from handrail.protocol.observe import (
    GetLogs,
    GetSharedPrefs,
    GetState,
    GetUiTree,
    QueryDb,
    Screenshot,
    WaitFor,
    WhatChanged,
)
from handrail.protocol.system import RestartApp, StartApp
from handrail.protocol.target import Selector
from handrail.screen.diff import Diff, diff_text
from handrail.screen.elements import elements
from handrail.screen.exports import elements_text

if TYPE_CHECKING:
    from handrail.engine.session import Session
    from handrail.protocol.actions import AnyAction
    from handrail.protocol.envelope import Envelope, ResolvedElement
    from handrail.surface.values import Display


class SeedProfile(ABC):
    """The tools of another server, and how calls of them are answered."""

    @abstractmethod
    def tools(self) -> list[Tool]: ...

    @abstractmethod
    async def answer(self, call: ToolCall) -> ToolAnswer: ...

    def failure(self, call: ToolCall, error: HandrailError) -> str:  # noqa: ARG002 - for profiles that quote it
        """A failure that came before any action began. The arguments may be wrong in any way."""
        return failure_text(error)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


class InteractionProfile(SeedProfile):
    """Seed 001: five tools that act and say why, four that look. Answers are a sentence and what changed."""

    def tools(self) -> list[Tool]:
        rows = interaction.ROWS.items()
        return [seed_tool(name, row, interaction.TOOLS[name].native) for name, row in rows]

    async def answer(self, call: ToolCall) -> ToolAnswer:
        """The sentence, a blank line, the diff. Its tools aim at points, so every element has its bounds."""
        action = interaction.read_tool(call.name, call.arguments)
        session = await call.session()
        envelope = await call.perform(action, session)
        return _answer_with_bounds(call, session, action, envelope)


def _answer_with_bounds(
    call: ToolCall, session: Session, action: AnyAction, envelope: Envelope
) -> ToolAnswer:
    """For tools that aim at points: after a navigation every element is listed with its bounds."""
    if PICTURE in (envelope.details or {}):
        return ToolAnswer.of(envelope, "")
    screen = _elements_with_bounds(call, session)
    navigated = [change for change in envelope.changes or () if change["type"] == "navigated"]
    if isinstance(action, WhatChanged) and envelope.success and navigated:
        text = diff_text(Diff(navigated), screen_text=screen)
    else:
        text = envelope_text(action, envelope, screen, refs=False)
    return ToolAnswer.of(envelope, text)


def _elements_with_bounds(call: ToolCall, session: Session) -> str:
    last = session.screens.last
    shown = elements_text(elements(last.screen, last.analysis.labels)) if last else ""
    return call.state.runtime.secrets.redact(shown)


_STRINGS = {key: {"type": "string"} for key in ("text", "resourceId", "contentDesc", "className")}
_MOBILE_DEBUG_KINDS: dict[str, Any] = {
    "selector": {"type": "object", "properties": _STRINGS},
    "platform": {"type": "string", "enum": ["android", "ios"], "description": "iOS is experimental"},
    "condition": {"type": "string", "enum": list(mobile_debug.WAIT_CONDITIONS)},
    "direction": {"type": "string", "enum": ["down", "up"]},
    "match": {"type": "object", "properties": {"index": {"type": "integer"}}},
    "retry": {
        "type": "object",
        "properties": {"max_attempts": {"type": "integer"}, "backoff_ms": {"type": "integer"}},
    },
    "expected": {"type": ["string", "number", "boolean"]},
    "targetValue": {"type": ["number", "string"]},
}


class MobileDebugProfile(SeedProfile):
    """Seed 002: actions answer with mobile-debug's envelope, what only looks with its data, both as JSON."""

    def __init__(self) -> None:
        self._rejected_numbers = count(1)

    def tools(self) -> list[Tool]:
        return [
            seed_tool(name, row, mobile_debug.NATIVE[name], _MOBILE_DEBUG_KINDS)
            for name, row in mobile_debug.ROWS.items()
        ]

    def failure(self, call: ToolCall, error: HandrailError) -> str:
        """An envelope, too, although nothing was tried."""
        now_ms = call.state.runtime.clock.now_ms()
        tool, secret = str(call.name)[:60], _types_secret(call)
        number = next(self._rejected_numbers)
        return _json(mobile_debug.write_failure(error, tool, call.arguments, now_ms, number, secret=secret))

    async def answer(self, call: ToolCall) -> ToolAnswer:
        """One block of JSON, and the picture beside it."""
        action = mobile_debug.read_tool(call.name, call.arguments)
        session = await call.session(action.device)
        # Once; `wait_for_ui` as often as its `retry` says, until what it waits for is there.
        retry = call.arguments.get("retry") if call.name == "wait_for_ui" else None
        tries, gap_ms = mobile_debug.wait_tries(retry)
        envelope = await call.perform(action, session)
        while tries > 1 and envelope.failure_code == "TIMEOUT":
            tries -= 1
            await call.state.runtime.clock.sleep_ms(gap_ms)
            envelope = await call.perform(action, session)
        if action.effect == "read":
            written = _look_result(call, action, envelope, session)
        else:
            secret = _types_secret(call)
            written = mobile_debug.write_envelope(envelope, call.name, call.arguments, secret=secret)
        if not envelope.success:  # also of what was delivered, and changed nothing: that is worth knowing
            written |= {"message": envelope.message, "hint": envelope.hint}
        return replace(ToolAnswer.of(envelope, _json(written)), is_error=not written["success"])


def _types_secret(call: ToolCall) -> bool:
    return "${secret:" in str(call.arguments.get("text", ""))


def _by_its_id(session: Session, element: ResolvedElement) -> ResolvedElement:
    """The element that `tap_element` would describe: the row, where a text belongs to one."""
    if element.element_id is None:
        return element
    try:
        return aim(session.screens, Selector(element_id=element.element_id)).resolved()
    except HandrailError:
        return element


def _look_result(call: ToolCall, action: AnyAction, envelope: Envelope, session: Session) -> dict[str, Any]:
    """Nothing is delivered by a look: whether it succeeded, and what was on the screen."""
    data = envelope_data(envelope)
    written: dict[str, Any] = {"success": envelope.success, "device": data.get("device")}
    if envelope.target is not None:
        element = envelope.target.resolved
        resolved = mobile_debug.write_resolved(_by_its_id(session, element)) if element else None
        selector = mobile_debug.selector_for_answer(call.name, call.arguments)
        written["target"] = {"selector": selector, "resolved": resolved}
        if isinstance(action, WaitFor) and envelope.success:  # with the id that tap_element takes
            written["element"] = resolved and {**resolved, "resourceId": resolved["resource_id"]}
    if not envelope.success:
        retryable = bool(envelope.retryable)
        written |= mobile_debug.failure_fields(
            envelope.failure_code, retryable=retryable, delivery=envelope.delivery
        )
    written["ui_fingerprint_after"] = envelope.ui_fingerprint_after
    return {**written, **data.get("details", {})}


PREFIX_OF_AGENTEST = "agentest_"
_AGENTEST_KINDS: dict[str, Any] = {
    "backend": {"type": "string", "enum": ["auto", "adb", "grpc"]},
    "format": {"type": "string", "enum": ["compact", "full"]},
    "steps": agentest.steps_schema(),
}


class AgentestProfile(SeedProfile):
    """Seed 003: AgenTest's ten tools. Answers are its JSON, or the compact text where it gives that."""

    def tools(self) -> list[Tool]:
        native = {name: tool.native for name, tool in agentest.TOOLS.items()}
        return [
            seed_tool(PREFIX_OF_AGENTEST + name, row, native.get(name, ""), _AGENTEST_KINDS)
            for name, row in agentest.ROWS.items()
        ]

    def failure(self, call: ToolCall, error: HandrailError) -> str:  # noqa: ARG002
        """AgenTest's `{error, code}`; what to do next is part of the sentence."""
        return _json(agentest.error_answer(error))

    async def answer(self, call: ToolCall) -> ToolAnswer:
        name = call.name.removeprefix(PREFIX_OF_AGENTEST)
        if name == "run_flow":
            return await _run_flow(call)
        [step] = agentest.read_tool(name, call.arguments, package=call.caller_state.package)
        action = step.action
        if isinstance(action, GetUiTree) and action.format == "full":  # its full tree is our outline
            action = action.model_copy(update={"format": "outline"})
        backend, _ = agentest.connect_options(call.arguments)
        session = await call.session(action.device)
        # Strict, as AgenTest is: one that was asked for and is not there is an error, not another one.
        leave_out = "Leave backend out: the best channel that is there is used."
        used = set(session.surface.channels().values()) & {*CHANNELS}
        if backend == "grpc" and "grpc" not in used:
            hint = f"{leave_out} An emulator that was started with -grpc has one."
            raise GrpcConnectionError(f"{session.serial} has no gRPC channel", hint=hint)
        if backend == "adb" and used != {"adb"}:
            raise Unsupported(
                f"{session.serial} is driven by {' and '.join(sorted(used))} already",
                hint=f"{leave_out} A server that was started with HANDRAIL_HELPER=none has only adb.",
                path="backend",
            )
        if name == "connect":
            call.caller_state.device = session.serial
            call.caller_state.package = call.arguments["packageName"]
        envelope = await call.perform(action, session, step.settle)
        diagnostics = {"diagnostics": list(envelope.diagnostics)} if envelope.diagnostics else {}
        if (error := envelope.error) is not None:
            return ToolAnswer.of(envelope, _json(agentest.error_answer(error) | diagnostics))
        first, *more = await _agentest_texts(action, call, session, envelope)
        if name != "connect" and diagnostics:
            more.append(_json(diagnostics))
        return ToolAnswer.of(envelope, first, tuple(more))


async def _run_flow(call: ToolCall) -> ToolAnswer:
    agentest.read_tool("run_flow", call.arguments)
    document = loads(_json({"name": "run_flow", "steps": call.arguments["steps"]}))
    record = await run_document(call, document)
    if record.trace is None:
        raise InvalidAction(record.error or "The flow left no trace", path="steps")
    lines = [line for step in record.steps if step.envelope for line in step.envelope.diagnostics or ()]
    written = record.trace.to_dict() | ({"diagnostics": lines} if lines else {})
    trace = call.state.runtime.secrets.redact_data(written)
    return ToolAnswer(_json(trace), is_error=not record.trace.success, structured=trace)


async def _agentest_texts(
    action: AnyAction, call: ToolCall, session: Session, envelope: Envelope
) -> list[str]:
    """Texts; the compact one as it is, everything else as JSON."""
    details = envelope.details or {}
    screen = call.state.runtime.secrets.redact(session.screens.registry.text)
    match action:
        case StartApp():
            table = session.surface.channels()
            used = table.values()
            written = {
                "deviceId": session.serial,
                "packageName": call.caller_state.package,
                "backend": next((name for name in CHANNELS if name in used), "adb"),
                "helperInstalled": "helper" in used,
                "screenFingerprint": envelope.ui_fingerprint_after,
            }
            _, verbose = agentest.connect_options(call.arguments)
            lines = [f"[channel] {what}: {by}" for what, by in table.items()] if verbose else []
            lines += envelope.diagnostics or ()
            return [_json(written | ({"diagnostics": lines} if lines else {})), screen]
        case RestartApp():
            return [screen]
        case GetUiTree() if "text" in details:
            return [details["text"]]
        case GetState():
            return [_json(await _device_info(session))]
        case _:
            return [_json(_agentest_data(action, call, details))]


def _agentest_data(action: AnyAction, call: ToolCall, details: Mapping[str, Any]) -> Any:
    arguments = {key: value for key, value in call.arguments.items() if value is not None}
    package = {"packageName": arguments.get("packageName") or call.caller_state.package}
    match action:
        case GetUiTree():
            return details["tree"]
        case GetLogs():
            return {**package, "logs": details["logs"]}
        case Screenshot():
            return {key: details[key] for key in ("width", "height", "scale")}
        case GetSharedPrefs():
            return {**package, "file": arguments["file"], "content": details["xml"]}
        case QueryDb():
            # As sqlite3 prints them: bars between the columns.
            rows = ["|".join("" if cell is None else str(cell) for cell in row) for row in details["rows"]]
            query = {"database": arguments["database"], "query": arguments["query"]}
            return {**package, **query, "rows": "\n".join(rows)}
        case _:
            return {"applied": arguments, "message": "The network was changed."}


async def _device_info(session: Session) -> dict[str, Any]:
    facts, display = session.facts, await session.screens.reader.display()
    return {
        "screenWidth": display.width,
        "screenHeight": display.height,
        "density": display.density,
        "sdkVersion": facts.api_level,
        "androidVersion": facts.android,
        "model": facts.model,
        "manufacturer": facts.manufacturer,
    }


_OPENPOCKET_KINDS: dict[type, str] = {int: "number", str: "string"}


@dataclass(frozen=True, slots=True)
class TableProfile(SeedProfile):
    """The tools of one dialect. `own`: tools that are no actions; `aims_at_points`: answers have bounds."""

    name: str
    listed: Callable[[], list[Tool]]
    own: Mapping[str, Callable[[ToolCall], Awaitable[ToolAnswer]]] = field(default_factory=dict)
    aims_at_points: bool = False

    def tools(self) -> list[Tool]:
        return self.listed()

    async def answer(self, call: ToolCall) -> ToolAnswer:
        """Performs all actions of a tool in order; answers with the last one, or the first that failed."""
        if call.name in self.own:
            return await self.own[call.name](call)
        session, display = await _display(call)
        talk = Conversation(CoordinateFrame("device", (display.width, display.height)))
        arguments = {name: value for name, value in call.arguments.items() if value is not None}
        reading = dialect(self.name).read({"name": call.name, "arguments": arguments}, talk)
        notes = [f"Note: {note}." for note in reading.notes]
        answer = ToolAnswer("\n".join([reading.reply or "Nothing was done.", *notes]))
        for action in reading.actions:
            envelope = await call.perform(action, session)
            if self.aims_at_points:
                answer = _answer_with_bounds(call, session, action, envelope)
            else:
                answer = call.answer_with(session, action, envelope)
            if not envelope.success:
                break
        text = "\n".join([answer.text, *notes]) if notes and reading.actions else answer.text
        return replace(answer, text=text)


async def _display(call: ToolCall) -> tuple[Session, Display]:
    wanted = call.arguments.get("device")
    session = await call.session(wanted if isinstance(wanted, str) else None)
    return session, await session.screens.reader.display()


async def _screen_size(call: ToolCall) -> ToolAnswer:
    """Answers in pixels, as all coordinates are."""
    _, display = await _display(call)
    return ToolAnswer(f"The screen has {display.width}x{display.height} pixels.")


def _tools_of_server(name: str, devices: str) -> list[Tool]:
    """The tools of one public server, by its dialect; the one that lists phones is ours."""
    server = dialect(name)
    tools = [
        seed_tool(server.form(word, {})["name"], row, getattr(server.rows[word], "native", ""), server.kinds)
        for word, row in server.tools.items()
    ]
    return [Tool(devices, "List phones.", closed_object_schema({}), annotations_of("read")), *tools]


def _openpocket_tools() -> list[Tool]:
    """The seed's ten actions, each a tool that takes a reason, and its snapshot of the screen."""
    words = "The screen as OpenPocket's ScreenSnapshot, its elements with bounds, and the picture."
    tools = [Tool(_SNAPSHOT, words, closed_object_schema({}), annotations_of("read"))]
    for kind, shape in SHAPES.items():
        fields: dict[str, Any] = {
            name: {"type": _OPENPOCKET_KINDS[argument.kind]}
            | ({"enum": list(argument.choices)} if argument.choices else {})
            for name, argument in shape.fields.items()
        }
        needed = [name for name, argument in shape.fields.items() if argument.default in (0, "")]
        effect = seed_tool(kind, ("", ""), shape.native).annotations
        words = f"OpenPocket's {kind}."
        tools.append(
            Tool(kind, words, closed_object_schema({**fields, "reason": {"type": "string"}}, needed), effect)
        )
    return tools


async def _openpocket_snapshot(call: ToolCall) -> ToolAnswer:
    """The picture is an image beside the text; `scale` says by how much it is smaller than the screen."""
    session, _ = await _display(call)
    await call.perform(GetUiTree(), session)
    envelope = await call.perform(Screenshot(), session)
    if envelope.details is None or PICTURE not in envelope.details:
        return ToolAnswer.of(envelope, envelope_text(Screenshot(), envelope, ""))
    snapshot = {name: value for name, value in envelope.details.items() if name != PICTURE}
    answer = ToolAnswer.of(envelope, f"{_json(snapshot)}\n{_elements_with_bounds(call, session)}")
    return replace(answer, structured=dict(envelope.details))


_SNAPSHOT = "screen_snapshot"
PROFILES: dict[str, SeedProfile] = {
    "interaction": InteractionProfile(),
    "mobile_debug": MobileDebugProfile(),
    "agentest": AgentestProfile(),
    "openpocket": TableProfile(
        "openpocket", _openpocket_tools, {_SNAPSHOT: _openpocket_snapshot}, aims_at_points=True
    ),
    "mobile_mcp": TableProfile(
        "mobile_mcp",
        partial(_tools_of_server, "mobile_mcp", "mobile_list_available_devices"),
        {"mobile_list_available_devices": listed_devices, "mobile_get_screen_size": _screen_size},
    ),
    "agent_device": TableProfile(
        "agent_device", partial(_tools_of_server, "agent_device", "devices"), {"devices": listed_devices}
    ),
}
