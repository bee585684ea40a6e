"""`run_flow`: many steps in one call, given in it or in a file of the flows folder; told in few lines."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from handrail.dialects.arguments import check_names, check_reason, device_named_in
from handrail.errors import InvalidAction, did_you_mean
from handrail.flow.document import FlowDocument, load, loads
from handrail.flow.plan import SUFFIXES, devices_of, find_flows, plan
from handrail.flow.run import FlowRunner
from handrail.flow.run_record import Observer
from handrail.mcp_server.calls import FRAME, Ticker, ToolAnswer, ToolCall
from handrail.protocol.flow import Branch, Parallel, Repeat, RunFlow
from handrail.protocol.read import nearest
from handrail.screen.text import clean
from handrail.waiting import beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from handrail.flow.run_record import FlowRecord, StepRecord
    from handrail.protocol.flow import AnyStep

FIELDS = ("steps", "file", "env", "device", "deviceId")


async def run_flow(call: ToolCall) -> ToolAnswer:
    arguments = {key: value for key, value in call.arguments.items() if value not in (None, "")}
    check_names("run_flow", arguments, FIELDS)
    reason = check_reason(arguments.get("reason"))
    document = _read_document(call.state.flows, arguments)
    session = await call.session(device_named_in(arguments))
    last_revision = call.caller_state.revisions.get(session.serial)
    env = arguments.get("env") or {}
    if not isinstance(env, dict) or not all(isinstance(value, str) for value in env.values()):
        raise InvalidAction.at("env", "should be an object of texts")
    record = await run_document(call, document, env, reason)
    # What the caller has just been shown need not be shown again, although it failed.
    is_news = session.screens.revision_name != last_revision
    trace = record.trace
    data = call.state.runtime.secrets.redact_data(trace.to_dict()) if trace else {}
    call.caller_state.last_run = data
    lines = [_headline(record, data)]
    lines += [step.hint for step in record.steps[-1:] if step.outcome == "failed" and step.hint]
    for step in record.steps:
        if step.outcome in ("warned", "skipped"):
            code = f" ({step.code})" if step.code else ""
            lines.append(f"  {step.path[0] + 1}. {clean(step.label)}: {step.outcome}{code}.")
    if is_news and "finalUiTree" in data:
        lines += [FRAME, data["finalUiTree"]]
    return ToolAnswer("\n".join(lines), is_error=record.outcome != "passed", structured=data)


async def run_document(
    call: ToolCall, document: FlowDocument, env: Mapping[str, str] | None = None, reason: str | None = None
) -> FlowRecord:
    """Runs a flow on the caller's device, or on all devices that it names."""
    names = devices_of(plan(document, env or {}))
    wanted = names if len(names) > 1 else [device_named_in(call.arguments)]
    sessions = {name or "device": await call.session(name) for name in wanted}
    runner = FlowRunner(
        sessions,
        call.state.runtime.clock,
        observer=_StepProgress(call.progress),
        caller=call.caller,
        reason=reason,
    )
    # A task of its own: cancelled, a flow ends as a record, and that would hide that the caller has gone.
    async with beside(runner.run(document, env), document.name) as running:
        record = await asyncio.shield(running)
    if record.trace and record.trace.final_ui_tree:
        main = next(iter(sessions.values()))
        call.caller_state.revisions[main.serial] = main.screens.revision_name
    return record


def flow_files(folder: Path) -> list[str]:
    """What `file` may be, relative to the folder."""
    if not folder.is_dir():
        return []
    return [str(path.relative_to(folder)) for path in find_flows([folder])]


class _StepProgress(Observer):
    """Passes the runner's steps on as progress."""

    def __init__(self, progress: Ticker | None) -> None:
        self._progress = progress
        self._total = 0

    def flow_started(self, record: FlowRecord, total: int) -> None:  # noqa: ARG002  (the runner's seam)
        self._total = total

    def step_started(self, record: StepRecord) -> None:
        if self._progress is not None:
            self._progress.step(record.path[0], self._total, record.label)


def _read_document(folder: Path, arguments: Mapping[str, Any]) -> FlowDocument:
    steps, file = arguments.get("steps"), arguments.get("file")
    if (steps is None) == (file is None):
        raise InvalidAction("run_flow: needs either steps or file", path="steps")
    if file is not None:
        return load(_find_file(folder, file))
    if isinstance(steps, str) and steps.strip():  # JSON, or a flow's own YAML
        written = f"name: steps\nsteps:\n{indent(steps, '  ')}"
    elif isinstance(steps, list) and steps:
        written = json.dumps({"name": "steps", "steps": steps}, ensure_ascii=False)
    else:
        raise InvalidAction.at("steps", "needs a list of at least one step")
    document = loads(written)
    if _names_files(document.flow.steps):
        raise InvalidAction.at(
            "steps", "may not run files", hint="Call run_flow with `file` for a flow of the folder."
        )
    return document


def _names_files(steps: Iterable[AnyStep]) -> bool:
    """Whether a step runs a file. Callers may not: they could name any file of this machine."""
    for step in steps:
        match step:
            case RunFlow():
                return True
            case Repeat():
                inside = [step.steps]
            case Branch():
                inside = [step.then, step.otherwise or ()]
            case Parallel():
                inside = list(step.devices.values())
            case _:
                inside = []
        if any(map(_names_files, inside)):
            return True
    return False


def _find_file(folder: Path, name: Any) -> Path:
    """The file with this name in the flows folder. Raises `InvalidAction` for any other."""
    if not isinstance(name, str) or not name.strip():
        raise InvalidAction.at("file", "should be the name of a flow")
    files = flow_files(folder)
    for wanted in (name, *(f"{name}{suffix}" for suffix in sorted(SUFFIXES))):
        if wanted in files:
            return folder / wanted
    hint = did_you_mean(nearest(name, files), "`handrail mcp --flows DIR` names the folder.")
    raise InvalidAction.at("file", f"{name[:100]!r} is not in the flows folder", hint=hint)


def _headline(record: FlowRecord, trace: Mapping[str, Any]) -> str:
    done, total = trace.get("stepsCompleted", 0), trace.get("totalSteps", 0)
    if record.outcome == "passed":
        return f"All {total} steps passed." if done == total else f"Passed after {done} of {total} steps."
    code = next((step.code for step in reversed(record.steps) if step.code), None)
    return f"{code or 'UNKNOWN'}: {clean(record.error or '')} ({done} of {total} steps done)"
