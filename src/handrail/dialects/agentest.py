"""Seed 003: AgenTest's twenty steps and ten tools in, its traces and error codes out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handrail.dialects.rules import FULL_SIZE, ToolRule, from_native, to_native, tool_rule, unknown_name
from handrail.errors import HandrailError, InvalidAction, StaleReference, Unsupported
from handrail.protocol.envelope import Envelope
from handrail.protocol.flow import FlowTrace, Step, StepResult
from handrail.protocol.observe import QueryDb
from handrail.protocol.read import nearest
from handrail.protocol.traits import Settle

_READS = re.compile(
    r"\s*(select\b|explain\b|with\b(?!.*\b(insert|update|delete|replace)\b)"
    r"|pragma\s+\w+\s*(;|$)|pragma\s+\w+_(x?info|list|check)\s*\()(?!.*;\s*\S)",
    re.IGNORECASE | re.DOTALL,
)
"""One statement that changes nothing. In doubt it is one that does."""
_SELECTOR_FIELDS = frozenset({"ref", "id", "text", "textContains", "className", "description", "index"})


@dataclass(frozen=True, slots=True)
class StepKind:
    """One row of AgenTest's step table; `settle` is its Idle column."""

    rule: ToolRule
    settle: Settle


def _step_kind(native: str, takes: str, settle: Settle, **fixed: Any) -> StepKind:
    return StepKind(tool_rule(native, takes, fixed=fixed), settle)


_POINT = "x=target.x y=target.y"
_LASTS = "durationMs?=duration_ms"
STEPS: dict[str, StepKind] = {
    "tap": _step_kind("tap", "target", "full"),
    "tap_coordinates": _step_kind("tap", _POINT, "light"),
    "type": _step_kind("type_text", "target value=text", "light"),
    "clear_text": _step_kind("clear_text", "target", "light"),
    "swipe": _step_kind("swipe", f"direction target? {_LASTS}", "full"),
    "swipe_coordinates": _step_kind("swipe", f"x1=from.x y1=from.y x2=to.x y2=to.y {_LASTS}", "light"),
    "long_press": _step_kind("long_press", f"target {_LASTS}", "full"),
    "long_press_coordinates": _step_kind("long_press", f"{_POINT} {_LASTS}", "light"),
    "double_tap": _step_kind("double_tap", "target", "full"),
    "double_tap_coordinates": _step_kind("double_tap", _POINT, "light"),
    "press_key": _step_kind("press_key", "keycode=key", "light"),
    "pinch": _step_kind("pinch", f"cx cy startRadius=start_radius endRadius=end_radius {_LASTS}", "full"),
    "rotate": _step_kind(
        "rotate", f"cx cy radius startAngleDeg=start_angle_deg endAngleDeg=end_angle_deg {_LASTS}", "full"
    ),
    "scroll_to": _step_kind(
        "scroll_to", "target scrollTarget?=within direction? maxScrolls?=max_scrolls", "none"
    ),
    "wait": _step_kind("wait", "timeoutMs=duration_ms", "light"),
    "wait_for_stable": _step_kind("wait_for_stable", "timeoutMs?=timeout_ms", "full"),
    "assert_visible": _step_kind("expect_visible", "target", "light", timeout_ms=0),
    "assert_not_visible": _step_kind("expect_absent", "target", "light", timeout_ms=0),
    "assert_text_equals": _step_kind("expect_text", "target value=equals", "light", timeout_ms=0),
    "assert_text_contains": _step_kind("expect_text", "target value=contains", "light", timeout_ms=0),
}
"""The twenty. Full waits for rest, light reads once (so does Snapshot), scroll_to waits by itself."""


def steps_schema() -> dict[str, Any]:
    """JSON Schema of a list of steps; which step takes which fields stands in the description."""
    selector = {
        "type": "object",
        "properties": {
            name: {"type": "integer" if name == "index" else "string"} for name in sorted(_SELECTOR_FIELDS)
        },
        "additionalProperties": False,
    }
    texts = {"value", "keycode", "direction"}
    names = dict.fromkeys(name for kind in STEPS.values() for name in kind.rule.fields)
    fields: dict[str, Any] = {
        name: selector if "arget" in name else {"type": "string" if name in texts else "number"}
        for name in names
    }
    fields["direction"] = {"type": "string", "enum": ["up", "down", "left", "right"]}
    step = {
        "type": "object",
        "properties": {"action": {"type": "string", "enum": list(STEPS)}, **fields},
        "required": ["action"],
        "additionalProperties": False,
    }
    takes = "; ".join(f"{name}: {kind.rule.row[1] or 'nothing'}" for name, kind in STEPS.items())
    description = f"What each step takes, ? marks what may be left out. {takes}."
    return {"type": "array", "minItems": 1, "items": step, "description": description}


_APP = "packageName?=package"
_TOOLS: dict[str, ToolRule] = {
    "connect": tool_rule(
        "start_app",
        "packageName=package deviceId?=device backend?= verbose:boolean?=",
        "Connect and start an app.",
        ignored=("backend", "verbose"),
    ),  # what these two mean is the door's business: `connect_options`
    "get_ui_tree": tool_rule(
        "get_ui_tree",
        "format? depth:integer? onlyInteractive:boolean?=only_interactive",
        "Read the screen with refs.",
    ),
    "run_flow": tool_rule("", "steps=", "Run steps, each {action, target, …}; waits are built in."),
    "reset_app": tool_rule("restart_app", _APP, "Restart the app; its data stays."),
    "get_logs": tool_rule("get_logs", f"{_APP} maxLines:integer?=max_lines", "Read the app's log."),
    "screenshot": tool_rule("screenshot", "", "Take a screenshot.", fixed=FULL_SIZE),
    "device_info": tool_rule("get_state", "", "Read size, density, Android version, model."),
    "get_shared_prefs": tool_rule(
        "get_shared_prefs", f"{_APP} file", "Read preferences of a debuggable app."
    ),
    "query_db": tool_rule("query_db", f"{_APP} database query", "Run SQL in a database of a debuggable app."),
    "set_network": tool_rule(
        "set_network",
        "preset? speed? delay? wifi:boolean? airplaneMode:boolean?=airplane_mode",
        "Change the network.",
    ),
}
TOOLS = {name: rule for name, rule in _TOOLS.items() if name != "run_flow"}
"""Nine of the ten tools; `run_flow` is the tenth and has many steps."""

ROWS = {
    name: (rule.row[0], " ".join(sorted(rule.row[1].split(), key=lambda head: head[-1] == "?")))
    for name, rule in _TOOLS.items()
}
"""Each tool in words, and its parameters, the required ones first."""


def read_step(step: Mapping[str, Any]) -> Step:
    name = step.get("action")
    if not isinstance(name, str) or name not in STEPS:
        raise unknown_name(name, STEPS, path="action")
    kind = STEPS[name]
    fields = {key: value for key, value in step.items() if key != "action"}
    for field in ("target", "scrollTarget"):
        selector = fields.get(field)
        for key in selector if isinstance(selector, Mapping) else ():
            if key not in _SELECTOR_FIELDS and key not in ("text_contains", "class_name"):
                close = nearest(str(key), _SELECTOR_FIELDS)
                hint = f"Did you mean {' or '.join(close)}?" if close else None
                raise InvalidAction.at(f"{field}.{key}", "is not a field of a selector", hint=hint)
    return Step(action=to_native(name, kind.rule, fields), settle=kind.settle)


def write_step(step: Step) -> dict[str, Any]:
    for name, kind in STEPS.items():
        fields = from_native(kind.rule, step.action)
        own = _selectors_in_seed_spelling(fields) if fields is not None else None
        if own is not None:
            return {"action": name, **own}
    raise Unsupported(f"{step.action.type} with these fields has no step in AgenTest")


def read_tool(name: str, arguments: Mapping[str, Any], *, package: str | None = None) -> list[Step]:
    """A tool call as native steps; `package` is the connected app, for tools that leave it out."""
    name = name.removeprefix("agentest_")
    if name == "run_flow":
        return _read_flow(arguments)
    if name not in TOOLS:
        raise unknown_name(name, [*TOOLS, "run_flow"])
    rule = TOOLS[name]
    defaults = {"packageName": package} if package and "packageName" in rule.fields else {}
    action = to_native(name, rule, {**defaults, **arguments})
    if isinstance(action, QueryDb):  # AgenTest runs any SQL; ours must know what changes data
        action = action.model_copy(update={"write": not _READS.match(action.query)})
    return [Step(action=action)]


def write_trace(
    steps: Sequence[Mapping[str, Any]], envelopes: Sequence[Envelope], text: str
) -> dict[str, Any]:
    """The seed's FlowTrace of steps that were done one after another; `text` tells of the last."""
    first, last = envelopes[0], envelopes[-1]
    fingerprint = last.ui_fingerprint_after or last.ui_fingerprint_before or ""
    changed = fingerprint != (first.ui_fingerprint_before or "")
    results = [
        StepResult(
            step_index=index,
            action=dict(step),
            success=envelope.success,
            duration_ms=round((envelope.timings_ms or {}).get("total", 0)),
            error=error_answer(envelope.error)["error"] if envelope.error else None,
            code=envelope.failure_code,
        )
        for index, (step, envelope) in enumerate(zip(steps, envelopes, strict=False))
    ]
    trace = FlowTrace(
        success=last.success,
        steps_completed=len(envelopes),
        total_steps=len(steps),
        results=tuple(results),
        screen_fingerprint=fingerprint,
        screen_changed=changed,
        final_ui_tree=text if changed or not last.success else None,
        error=results[-1].error,
    )
    return trace.to_dict()


BACKENDS = ("auto", "adb", "grpc")


def connect_options(arguments: Mapping[str, Any]) -> tuple[str, bool]:
    """Returns the backend, and whether everything that was noticed is told."""
    backend, verbose = arguments.get("backend") or "auto", arguments.get("verbose") or False
    if backend not in BACKENDS:
        raise InvalidAction.at("backend", f"should be one of {', '.join(BACKENDS)}")
    if not isinstance(verbose, bool):
        raise InvalidAction.at("verbose", "should be true or false")
    return str(backend), verbose


def error_answer(error: HandrailError) -> dict[str, Any]:
    """AgenTest's error as data: the sentence, with what to do next, the code, and what the class adds.

    It knows no stale references: such an element was not found.
    """
    code = "ELEMENT_NOT_FOUND" if isinstance(error, StaleReference) else error.code
    # Our tools, steps and fields by its names; quoted words are the caller's or the device's.
    text = f"{error.message.rstrip('.')}. {error.hint}"
    parts = re.split(r"('[^']*'|\"[^\"]*\")", text)
    for index in range(0, len(parts), 2):
        parts[index] = _NATIVE_NAME.sub(lambda match: _OWN_NAMES[match[0]], parts[index])
    answer: dict[str, Any] = {"error": "".join(parts).replace("`within`", "`scrollTarget`"), "code": code}
    for name, detail in _ATTRIBUTES.get(code, {}).items():
        value = error.details.get(detail)
        if name == "command" and isinstance(value, list):
            value = " ".join(map(str, value))
        if value is not None:
            answer[name] = value
    return answer


_ATTRIBUTES: dict[str, dict[str, str]] = {
    "ADB_COMMAND_ERROR": {"command": "command"},
    "ELEMENT_NOT_FOUND": {"selector": "selector"},
    "ASSERTION_FAILED": {"expected": "expected", "actual": "actual"},
    "GRPC_RPC_ERROR": {"rpcMethod": "rpc_method"},
}
"""What the seed's error classes have besides a code, and our names for it."""
_OWN_NAMES: dict[str, str] = {
    **{kind.rule.native: name for name, kind in reversed(STEPS.items())},
    **{rule.native: f"agentest_{name}" for name, rule in TOOLS.items()},
    **{str(native): own for kind in STEPS.values() for own, native in kind.rule.fields.items()},
    "expect_text": "assert_text_equals",
    "duration_ms": "durationMs",
}
_NATIVE_NAME = re.compile(rf"(?<![\w.])({'|'.join(name for name in _OWN_NAMES if '_' in name)})(?!\w)")
"""Names of one word are words of every sentence, too: `wait`, `tap`."""


def _read_flow(arguments: Mapping[str, Any]) -> list[Step]:
    steps = arguments.get("steps")
    for name in arguments:
        if name != "steps":
            raise InvalidAction.at(name, "is not a field of run_flow", hint="run_flow takes: steps.")
    if not isinstance(steps, Sequence) or isinstance(steps, str) or not steps:
        raise InvalidAction.at("steps", "needs a list of at least one step")
    read: list[Step] = []
    for index, step in enumerate(steps):
        if not isinstance(step, Mapping):
            raise InvalidAction.at(f"steps[{index}]", "should be an object")
        try:
            read.append(read_step(step))
        except InvalidAction as error:
            path = f"steps[{index}].{error.details.get('path', '')}"
            raise InvalidAction(f"steps[{index}].{error.message}", hint=error.hint, path=path) from None
    return read


def _selectors_in_seed_spelling(fields: dict[str, Any]) -> dict[str, Any] | None:
    """Selectors in AgenTest's spelling; None where they use what it does not know, a point for instance."""
    spelled = {"text_contains": "textContains", "class_name": "className"}
    for key in ("target", "scrollTarget"):
        if isinstance(fields.get(key), dict):
            fields[key] = {spelled.get(name, name): value for name, value in fields[key].items()}
            if not fields[key].keys() <= _SELECTOR_FIELDS:
                return None
    return fields
