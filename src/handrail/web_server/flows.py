"""Flows over HTTP: the files, running one on chosen phones, its steps as they happen, its report."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from starlette.responses import HTMLResponse, Response

from handrail.clock import iso_time
from handrail.engine.session import Session
from handrail.errors import HandrailError, InvalidAction
from handrail.flow.check import check, variable_uses
from handrail.flow.document import FlowDocument, load, loads
from handrail.flow.evidence import ReportEvidence
from handrail.flow.parse import Fields, Items, Problem, plain_data
from handrail.flow.plan import FlowPlan, PlannedStep, devices_of, find_flows, plan
from handrail.flow.report import write
from handrail.flow.report.summary import step_to_blame
from handrail.flow.run import FlowRunner
from handrail.flow.run_record import FlowRecord, StepRecord
from handrail.journal.head import read_head
from handrail.journal.writer import head_path
from handrail.protocol.read import nearest
from handrail.runtime import Runtime
from handrail.safety.caller import LONGEST_PATIENCE_MS, Caller
from handrail.waiting import Background
from handrail.web_server.phone import Phones
from handrail.web_server.responses import JSON, DeskRequest, RouteTable, json_object

ROUTES = RouteTable()
POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""A report holds a phone's words, so it gets an opaque origin. Its own policy narrows this by hashes."""
PREVIEWED = 200  # steps that are shown before a run
WITHOUT_VALUE = "unknown-variable"
"""The lint rule for a variable without a value. A person can give one here, so the file is not at fault."""
FILE = "run.json"
REPORT = "report"
FAILURE = "failure.jpg"
ID = re.compile(r"flow-\d{1,16}-\d{1,6}")
MOST_RUNS = 100  # runs that the history shows
_UNFINISHED = ("waiting", "running")


@dataclass(slots=True)
class FlowRun:
    """One run, live or over. It is the runner's observer."""

    id: str
    file: str
    name: str
    devices: dict[str, str]
    started_ms: int
    path: Path | None = None
    outcome: str = "running"
    """running, passed, failed or stopped."""
    error: str | None = None
    duration_ms: float = 0.0
    steps: list[dict[str, Any]] = field(default_factory=list)
    has_report: bool = False
    healed: str | None = None
    """The text of the file with every lost element replaced by its successor."""
    proposals: list[str] = field(default_factory=list)
    pauses: set[int] = field(default_factory=set)
    """Top-level steps before which it waits for `go_on`."""
    paused_at: int | None = None
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def gate(self, path: tuple[int, ...]) -> None:
        if len(path) == 1 and path[0] in self.pauses:
            self.paused_at = path[0]
            self.go_on.clear()
            await self.go_on.wait()
            self.paused_at = None

    def to_dict(self, *, steps: bool = True) -> dict[str, Any]:
        outer = [step for step in self.steps if len(step["path"]) == 1]
        run: dict[str, Any] = {
            "id": self.id,
            "file": self.file,
            "name": self.name,
            "devices": self.devices,
            "started": iso_time(self.started_ms),
            "outcome": self.outcome,
            "error": self.error,
            "duration_ms": self.duration_ms,
            "report": f"/api/flows/runs/{self.id}/report" if self.has_report else None,
            "done": sum(step["outcome"] not in _UNFINISHED for step in outer),
            "total": len(outer),
            "healed": self.healed,
            "proposals": self.proposals,
            "pausedAt": self.paused_at,
        }
        return run | ({"steps": self.steps} if steps else {})

    def flow_started(self, record: FlowRecord, total: int) -> None: ...

    def step_started(self, record: StepRecord) -> None:
        step = self._step_row(record)
        step |= {"label": record.label, "device": record.device, "outcome": "running"}

    def step_ended(self, record: StepRecord) -> None:
        step = self._step_row(record)
        step |= {
            "label": record.label,
            "outcome": record.outcome,
            "duration_ms": record.duration_ms,
            "tries": record.tries,
            "code": record.code,
            "error": record.error,
            "hint": record.hint,
            "action_id": record.envelope.action_id if record.envelope else None,
            "diff": record.diff,
            "line": record.line,
            "typed": record.typed,
        }

    def flow_ended(self, record: FlowRecord) -> None:
        self.outcome, self.error, self.duration_ms = record.outcome, record.error, record.duration_ms
        self.proposals = record.proposals
        self.healed = record.repairs.text(self.path) if record.repairs else None
        for step in self.steps:
            if step["outcome"] in _UNFINISHED:
                step["outcome"] = "skipped"

    def _step_row(self, record: StepRecord) -> dict[str, Any]:
        """The row of a step; a new one is inserted in the order of paths."""
        path = list(record.path)
        for step in self.steps:
            if step["path"] == path and step.get("device") in (None, record.device):
                return step
        new: dict[str, Any] = {"path": path, "device": record.device, "outcome": "running"}
        self.steps.insert(sum(step["path"] <= path for step in self.steps), new)
        return new


class FlowRuns:
    """Runs of one server, and those that earlier ones have left in `runs/`."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._runs: dict[str, FlowRun] = {}
        self._running = Background()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._count = 0

    def start(
        self,
        file: str,
        document: FlowDocument,
        sessions: Mapping[str, Session],
        env: Mapping[str, str],
        asker: Caller,
        part: range | None = None,
        pauses: Iterable[int] = (),
    ) -> FlowRun:
        """Raises for everything that is wrong with the file before a phone is touched.

        The flow acts under its own name, with the door and the remoteness of its asker.
        """
        planned = plan(document, env)
        now = self._runtime.clock.now_ms()
        self._count += 1
        devices = {name: session.serial for name, session in sessions.items()}
        run = FlowRun(f"flow-{now}-{self._count}", file, planned.flow.name, devices, now, document.path)
        run.pauses = set(pauses)
        run.steps = [
            {"path": [at], "label": step.label, "device": None, "outcome": "waiting"}
            for at, step in enumerate(planned.steps)
        ]
        self._runs[run.id] = run
        caller = replace(asker, id=run.name, actor="flow", patience_ms=LONGEST_PATIENCE_MS, page="")
        runner = FlowRunner(
            sessions, self._runtime.clock, observer=run, evidence=ReportEvidence(), caller=caller
        )
        runner.part, runner.gate = part, run.gate
        task = self._tasks[run.id] = self._running.start(self._run(run, runner, document, env), run.id)
        task.add_done_callback(lambda _: self._tasks.pop(run.id, None))
        return run

    async def _run(
        self, run: FlowRun, runner: FlowRunner, document: FlowDocument, env: Mapping[str, str]
    ) -> None:
        try:
            record = await runner.run(document, env)
            record.journal_head = str(read_head(head_path(self._runtime.config.home)) or "")
            await asyncio.to_thread(write, [record], self._folder(run.id) / REPORT)
            blamed = step_to_blame(record.steps)
            if blamed is not None and blamed.after is not None and blamed.after.png is not None:
                await asyncio.to_thread((self._folder(run.id) / FAILURE).write_bytes, blamed.after.png)
            run.has_report = True
            folder, fields = self._folder(run.id), run.to_dict() | {"started_ms": run.started_ms}
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            redacted = self._runtime.secrets.redact(json.dumps(fields, ensure_ascii=False))
            await asyncio.to_thread((folder / FILE).write_text, redacted, encoding="utf-8")
            del self._runs[run.id]  # from now on it is read from its folder
        except HandrailError as error:
            run.outcome, run.error = "failed", f"{error.message} {error.hint}"
        except OSError as error:
            run.error = f"The report could not be written: {error}"

    def stop(self, id_: str) -> None:
        """Cancels a run; its record of what was done is still written."""
        if task := self._tasks.get(id_):
            task.cancel()

    def get(self, id_: str) -> FlowRun:
        run = self._runs.get(id_) or self._read_stored(id_)
        if run is None:
            raise InvalidAction(f"there is no run {id_[:60]}", path="id", hint="Look at the history of runs.")
        return run

    def history(self) -> list[FlowRun]:
        """Newest first."""

        def age(id_: str) -> tuple[int, ...]:
            return tuple(int(part) for part in id_.split("-")[1:])

        ids = {path.name for path in self._runtime.config.runs.glob("flow-*")} | set(self._runs)
        newest = sorted(filter(ID.fullmatch, ids), key=age, reverse=True)[:MOST_RUNS]
        runs = (self._runs.get(id_) or self._read_stored(id_) for id_ in newest)
        return [run for run in runs if run is not None]

    def report(self, id_: str) -> Path:
        page = self._folder(self.get(id_).id) / REPORT / "index.html"
        if not page.is_file():
            raise InvalidAction(
                f"{id_} has no report yet", path="id", hint="It is written when the run is over."
            )
        return page

    def failure(self, id_: str) -> Path:
        """The picture of the step that failed."""
        picture = self._folder(self.get(id_).id) / FAILURE
        if not picture.is_file():
            raise InvalidAction(f"{id_} has no picture of a failure", path="id", hint="See its report.")
        return picture

    def _folder(self, id_: str) -> Path:
        return self._runtime.config.runs / id_

    def _read_stored(self, id_: str) -> FlowRun | None:
        """None for a run that was unfinished when its server died, or a folder that is not ours."""
        if not ID.fullmatch(id_):
            return None
        try:
            fields = json.loads((self._folder(id_) / FILE).read_text("utf-8"))
            names = ("file", "name", "devices", "started_ms", "outcome", "error", "duration_ms", "steps")
            stored = {name: fields[name] for name in names}
            healing = {name: fields[name] for name in ("healed", "proposals") if name in fields}
            return FlowRun(id_, **stored, **healing, has_report=fields["report"] is not None)
        except (OSError, ValueError, KeyError):
            return None

    async def close(self) -> None:
        """Stops what runs; its records are written."""
        await self._running.close()


@dataclass(frozen=True, slots=True)
class FlowFolders:
    """Folders of flows. A file is named by its path within its folder."""

    folders: Sequence[Path]

    def files(self) -> dict[str, Path]:
        """Name → path. If two folders have the same name, the first one counts."""
        files: dict[str, Path] = {}
        for folder in self.folders:
            if folder.is_dir():
                for path in find_flows([folder]):
                    files.setdefault(str(path.relative_to(folder)), path)
        return files

    def path(self, name: str) -> Path:
        """The path of a listed flow. Raises `InvalidAction` for any other name."""
        files = self.files()
        if name in files:
            return files[name]
        close = nearest(name, files)
        hint = f"Did you mean {' or '.join(close)}?" if close else "Look at the list of flows."
        raise InvalidAction(f"file: {name[:100]!r} is not among the flows here", path="file", hint=hint)

    def place(self, name: str) -> Path:
        """Where a listed file stands, else where a new one of this name would."""
        home = self.folders[-1] if self.folders else Path()
        return self.files().get(name) or home / (Path(name).name or "untitled.yaml")

    def rows(self) -> list[dict[str, Any]]:
        """One row for each flow, broken ones included."""
        files = self.files()
        problems = {checked.path: checked.problems for checked in check(list(files.values()))}
        return [_flow_row(name, path, problems[path]) for name, path in files.items()]


def _flow_row(name: str, path: Path, found_problems: Iterable[Problem]) -> dict[str, Any]:
    problems = [
        {"level": problem.level, "rule": problem.rule, **problem.to_dict()} for problem in found_problems
    ]
    row: dict[str, Any] = {"file": name, "name": path.stem, "problems": problems}
    try:
        document = load(path)
    except InvalidAction:
        return row | {"broken": True, "variables": [], "devices": [], "steps": 0, "tags": []}
    env = document.root.get("env")
    own: Mapping[str, Any] = plain_data(env) if isinstance(env, Fields) else {}
    values: dict[str, str | None] = {name: str(text) for name, text in own.items()}
    for use in variable_uses(document):
        values.setdefault(use.reference.name, use.reference.default)
    variables = [{"name": name, "value": text} for name, text in values.items()]
    # What would be run, with each variable's name where it has no value yet.
    stand_in = {name: text or f"⟨{name}⟩" for name, text in values.items()}
    planned: FlowPlan | None = None
    with suppress(InvalidAction):
        planned = plan(document, stand_in)
    named = document.root.get("devices")
    devices = [str(device) for device in plain_data(named)] if isinstance(named, Items) else []
    problems = [problem for problem in problems if problem["rule"] != WITHOUT_VALUE]
    app = document.root.get("app")
    app_id = plain_data(app) if app is not None else None
    return row | {
        "name": document.name,
        "tags": list(document.tags),
        "app": app_id if isinstance(app_id, str) else None,
        "steps": len(document.drafts),
        "variables": variables,
        "devices": list(devices_of(planned)) if planned is not None else devices,
        "preview": _step_labels(planned.steps) if planned is not None else [],
        "problems": problems,
        "broken": any(problem["level"] == "error" for problem in problems),
    }


def _step_labels(steps: Iterable[PlannedStep], depth: int = 0) -> list[dict[str, Any]]:
    """The label of every step, those inside others behind them; of a long flow only the first ones."""
    rows: list[dict[str, Any]] = []
    for step in steps:
        rows.append({"label": step.label, "depth": depth})
        for purpose, inner in step.inner.items():
            if not inner:
                continue
            heading = [] if purpose == "steps" else [{"label": purpose, "depth": depth + 1, "part": True}]
            rows += heading + _step_labels(inner, depth + 1 + bool(heading))
    return rows[:PREVIEWED]


class DeskFlows:
    """The flows of one server and their runs."""

    def __init__(self, runtime: Runtime, folders: Sequence[Path]) -> None:
        self.folders = FlowFolders(folders)
        self.runs = FlowRuns(runtime)

    async def run(self, phones: Phones, body: Mapping[str, Any], asker: Caller) -> FlowRun:
        """`{file, text, device | devices: {name: serial}, env, first, last, pauses}`: a file, or a text that
        nobody has saved yet; all of it, or the steps from `first` to `last`.
        """
        file, env, chosen = body.get("file"), _read_texts(body, "env"), _read_texts(body, "devices")
        text = body.get("text")
        if not isinstance(file, str) or not (file or isinstance(text, str)):
            raise InvalidAction("file: should be a text", path="file")
        if isinstance(text, str):
            document = await asyncio.to_thread(loads, text, self.folders.place(file))
        else:
            document = await asyncio.to_thread(lambda: load(self.folders.path(file)))
        names = devices_of(plan(document, env))
        sessions: dict[str, Session] = {}
        for name in names if len(names) > 1 else ("device",):
            serial = chosen.get(name) or body.get("device")
            if not isinstance(serial, str) or not serial:
                raise InvalidAction(
                    f"devices.{name}: no phone was chosen", path="devices", hint="Choose one for each name."
                )
            sessions[name] = await phones.session(serial)
        count = len(document.drafts)
        first, last = _read_step(body, "first", 0, count), _read_step(body, "last", count - 1, count)
        part = range(first, last + 1) if "first" in body or "last" in body else None
        pauses = [at for at in body.get("pauses") or () if isinstance(at, int)]
        return self.runs.start(file, document, sessions, env, asker, part, pauses)

    async def close(self) -> None:
        await self.runs.close()


def _read_step(body: Mapping[str, Any], name: str, default: int, count: int) -> int:
    at = body.get(name, default)
    if not isinstance(at, int) or not 0 <= at < count:
        raise InvalidAction(f"{name}: should be a step from 0 to {count - 1}", path=name)
    return at


def _read_texts(body: Mapping[str, Any], name: str) -> dict[str, str]:
    texts = body.get(name) or {}
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise InvalidAction(f"{name}: should be an object of texts", path=name)
    return texts


@ROUTES("/api/flows")
async def list_flows(request: DeskRequest) -> JSON:
    """Every flow with its lint state, variables and phones."""
    folders = request.context.flows.folders
    rows = await asyncio.to_thread(folders.rows)
    return {"folders": [str(folder) for folder in folders.folders], "flows": rows}


@ROUTES("/api/flows/run", "POST", status=202)
async def run(request: DeskRequest) -> JSON:
    """Start one; it is followed by its id."""
    body, asker = await json_object(request), request.visitor.caller()
    if "text" in body:  # an agent would act under the name that it gives its flow
        request.visitor.must_be_person("Running a flow that is in no file")
    started = await request.context.flows.run(request.context.phones, body, asker)
    return started.to_dict()


@ROUTES("/api/flows/runs")
async def list_runs(request: DeskRequest) -> JSON:
    """Runs, newest first."""
    runs = await asyncio.to_thread(request.context.flows.runs.history)
    return {"runs": [run.to_dict(steps=False) for run in runs]}


@ROUTES("/api/flows/runs/{id}")
async def show_run(request: DeskRequest) -> JSON:
    """One run with its steps as they are now."""
    return request.context.flows.runs.get(request.path_params["id"]).to_dict()


@ROUTES("/api/flows/runs/{id}/stop", "POST")
async def stop(request: DeskRequest) -> JSON:
    """Stop a run."""
    runs, id_ = request.context.flows.runs, request.path_params["id"]
    runs.stop(id_)
    return runs.get(id_).to_dict()


@ROUTES("/api/flows/runs/{id}/continue", "POST")
async def go_on(request: DeskRequest) -> JSON:
    """Go on where a run pauses; `{"step": true}` pauses before the next step again."""
    run, body = request.context.flows.runs.get(request.path_params["id"]), await json_object(request)
    if body.get("step") is True and run.paused_at is not None:
        run.pauses.add(run.paused_at + 1)
    run.go_on.set()
    return run.to_dict()


@ROUTES("/api/flows/runs/{id}/failure.jpg")
async def failure_picture(request: DeskRequest) -> Response:
    """What the phone showed when the run failed."""
    path = request.context.flows.runs.failure(request.path_params["id"])
    return Response(await asyncio.to_thread(path.read_bytes), media_type="image/jpeg")


@ROUTES("/api/flows/runs/{id}/report")
async def report(request: DeskRequest) -> HTMLResponse:
    """The page of a run that is over."""
    page = request.context.flows.runs.report(request.path_params["id"])
    text = await asyncio.to_thread(page.read_text, "utf-8")
    return HTMLResponse(text, headers={"Content-Security-Policy": POLICY})
