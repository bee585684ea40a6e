"""Flows over HTTP: the files, running one on chosen phones, its steps as they happen, its report.

And the Studio: what stands on a screen and how to name it, a recording as it grows, and the text of flows.
Its rules are those of `handrail record`, `flow check` and the engine.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import Field
from starlette.responses import HTMLResponse, Response

from handrail.clock import iso_time
from handrail.engine.session import Session
from handrail.errors import HandrailError, InvalidAction, did_you_mean
from handrail.flow.check import check, check_text, variable_uses
from handrail.flow.document import FlowDocument, load, loads
from handrail.flow.evidence import ReportEvidence
from handrail.flow.foreign import maestro
from handrail.flow.parse import Fields, Items, plain_data
from handrail.flow.plan import FlowPlan, PlannedStep, devices_of, find_flows, plan, step_name
from handrail.flow.python_text import python_call, python_text
from handrail.flow.recording import Recording, ended_actions, is_home
from handrail.flow.report import write
from handrail.flow.report.summary import step_to_blame
from handrail.flow.run import FlowRunner
from handrail.flow.run_record import FlowRecord, Observer, StepRecord
from handrail.flow.write import Elements, flat_yaml, shorten, write_steps
from handrail.journal.head import read_head
from handrail.journal.writer import head_path
from handrail.protocol.actions import AnyAction
from handrail.protocol.device import Tap
from handrail.protocol.flow import Step
from handrail.protocol.model import CamelModel
from handrail.protocol.observe import ExpectText, ExpectVisible
from handrail.protocol.read import nearest
from handrail.protocol.system import RestartApp
from handrail.protocol.target import Selector
from handrail.runtime import Runtime
from handrail.safety.caller import LONGEST_PATIENCE_MS, Caller
from handrail.screen.node import Node
from handrail.screen.reach import visible_part
from handrail.screen.robust_selector import selector_choices
from handrail.screen.select import find_all
from handrail.waiting import Background
from handrail.web_server.phone import Phones, look, phone_route
from handrail.web_server.responses import JSON, DeskRequest, RouteTable, json_body, json_object, read_number

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
class FlowRun(Observer):
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
            "typed": record.typed_text,
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
    """The flows of one server, its runs of them, and those that earlier ones have left in `runs/`."""

    def __init__(self, runtime: Runtime, folders: Sequence[Path] = ()) -> None:
        self.folders = FlowFolders(folders)
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

    async def run(self, phones: Phones, body: Mapping[str, Any], asker: Caller) -> FlowRun:
        """`{file, text, device | devices: {name: serial}, env, first, last, pauses}`: a file, or a text that
        nobody has saved yet; all of it, or the steps from `first` to `last`.
        """
        file, env, chosen = body.get("file"), _read_texts(body, "env"), _read_texts(body, "devices")
        text = body.get("text")
        if not isinstance(file, str) or not (file or isinstance(text, str)):
            raise InvalidAction.at("file", "should be a text")
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
        return self.start(file, document, sessions, env, asker, part, pauses)

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
        """Lists the runs of this home, newest first."""

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
        """Returns None for a run that was unfinished when its server died, or a folder that is not ours."""
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
        hint = did_you_mean(nearest(name, files), "Look at the list of flows.")
        raise InvalidAction.at("file", f"{name[:100]!r} is not among the flows here", hint=hint)

    def place(self, name: str) -> Path:
        """Where a listed file stands, else where a new one of this name would."""
        home = self.folders[-1] if self.folders else Path()
        return self.files().get(name) or home / (Path(name).name or "untitled.yaml")

    def rows(self) -> list[dict[str, Any]]:
        """One row for each flow, broken ones included."""
        files = self.files()
        problems = {checked.path: checked.problem_rows() for checked in check(list(files.values()))}
        return [_flow_row(name, path, problems[path]) for name, path in files.items()]


def _flow_row(name: str, path: Path, problems: list[dict[str, Any]]) -> dict[str, Any]:
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


def _read_step(body: Mapping[str, Any], name: str, default: int, count: int) -> int:
    at = body.get(name, default)
    if not isinstance(at, int) or not 0 <= at < count:
        raise InvalidAction.at(name, f"should be a step from 0 to {count - 1}")
    return at


def _read_texts(body: Mapping[str, Any], name: str) -> dict[str, str]:
    texts = body.get(name) or {}
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise InvalidAction.at(name, "should be an object of texts")
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
    runs = await asyncio.to_thread(request.context.flows.history)
    return {"runs": [run.to_dict(steps=False) for run in runs]}


@ROUTES("/api/flows/runs/{id}")
async def show_run(request: DeskRequest) -> JSON:
    """One run with its steps as they are now."""
    return request.context.flows.get(request.path_params["id"]).to_dict()


@ROUTES("/api/flows/runs/{id}/stop", "POST")
async def stop(request: DeskRequest) -> JSON:
    """Stop a run."""
    runs, id_ = request.context.flows, request.path_params["id"]
    runs.stop(id_)
    return runs.get(id_).to_dict()


@ROUTES("/api/flows/runs/{id}/continue", "POST")
async def go_on(request: DeskRequest) -> JSON:
    """Go on where a run pauses; `{"step": true}` pauses before the next step again."""
    run, body = request.context.flows.get(request.path_params["id"]), await json_object(request)
    if body.get("step") is True and run.paused_at is not None:
        run.pauses.add(run.paused_at + 1)
    run.go_on.set()
    return run.to_dict()


@ROUTES("/api/flows/runs/{id}/failure.jpg")
async def failure_picture(request: DeskRequest) -> Response:
    """What the phone showed when the run failed."""
    path = request.context.flows.failure(request.path_params["id"])
    return Response(await asyncio.to_thread(path.read_bytes), media_type="image/jpeg")


@ROUTES("/api/flows/runs/{id}/report")
async def report(request: DeskRequest) -> HTMLResponse:
    """The page of a run that is over."""
    page = request.context.flows.report(request.path_params["id"])
    text = await asyncio.to_thread(page.read_text, "utf-8")
    return HTMLResponse(text, headers={"Content-Security-Policy": POLICY})


MOST_TEXT = 2_000_000
"""Characters of a flow, as `load` reads them."""
_FLAGS = ("enabled", "focused", "checked", "selected", "clickable", "scrollable", "password")
_WORDS = ("text", "description", "hint_text", "state_description", "pane_title", "tooltip_text")


@phone_route("nodes")
async def show_nodes(request: DeskRequest, phones: Phones, device: str) -> JSON:
    """Every element of the screen, in its order, each with the order of the one around it; looks again."""
    session = await phones.session(device)
    await look(session, request.visitor.caller())
    last, registry = session.screens.last, session.screens.registry
    if last is None:
        return {"revision": None, "width": 0, "height": 0, "nodes": []}
    screen, redact = last.screen, phones.runtime.secrets.redact
    refs = {id(node): ref for ref, node in registry.refs.items()}
    rows = [
        _node_row(node, refs.get(id(node)), list(visible_part(screen, node)), redact) for node in screen.nodes
    ]
    size = {"width": screen.width, "height": screen.height, "package": screen.package}
    return {"revision": session.screens.revision_name, **size, "nodes": rows}


def _node_row(node: Node, ref: str | None, visible: list[int], redact: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "at": node.order,
        "in": node.parent.order if node.parent else None,
        "ref": ref,
        "role": node.role,
        "class": node.class_name,
        "id": node.resource_id,
        "bounds": list(node.bounds),
        "visible": visible,
        "flags": [name for name in _FLAGS if getattr(node, name, False)],
    }
    row |= {name: redact(words) for name in _WORDS if (words := getattr(node, name))}
    return {name: part for name, part in row.items() if part not in (None, "", [])}


@phone_route("selectors")
async def show_selectors(request: DeskRequest, phones: Phones, device: str) -> JSON:
    """How the element `node` of the last look can be named, the lasting way first, and steps with it."""
    session = await phones.session(device)
    last, registry = session.screens.last, session.screens.registry
    at = read_number(request, "node", 0, 1_000_000)
    if last is None or at >= len(last.screen.nodes):
        raise InvalidAction.at("node", "this element is not on the screen any more", hint="Look again.")
    if request.query_params.get("revision") != session.screens.revision_name:
        raise InvalidAction.at("revision", "the screen has changed since", hint="Look again.")
    node, redact = last.screen.nodes[at], phones.runtime.secrets.redact
    choices = selector_choices(last.screen, node, registry)
    best = choices[0][0]
    words = redact(node.text or registry.label_of(node))
    touch = Tap(target=best)
    steps: dict[str, AnyAction] = {touch.type: touch, "visible": ExpectVisible(target=best)}
    if words and not node.password:
        steps["text"] = ExpectText(target=best, equals=words)
    return {
        "selectors": [{"text": redact(_in_short(choice)), "matches": count} for choice, count in choices],
        "steps": {name: redact(write_steps([Step(action=step)])) for name, step in steps.items()},
        "actions": {name: step.to_dict() for name, step in steps.items()},
        "python": redact(python_call(touch)),
    }


def _in_short(selector: Selector) -> str:
    short = shorten({"target": selector.model_dump(mode="json", exclude_none=True, exclude_defaults=True)})
    return flat_yaml(short["target"])


class FlowText(CamelModel):
    """A flow as an editor holds it."""

    text: str = Field(max_length=MOST_TEXT)
    file: str = Field(default="", max_length=300)
    form: str = ""
    before: str | None = None
    """What the editor began with; another text in the file is not overwritten."""


@phone_route("matches", "POST")
async def count_matches_of(request: DeskRequest, phones: Phones, device: str) -> JSON:
    """What a target, written as in a flow, means on the last screen: the boxes of every match."""
    body = await json_body(request, FlowText)
    [step] = loads(f"steps:\n  - tap: {body.text}\n").flow.steps
    target = step.action.target if isinstance(step, Step) and isinstance(step.action, Tap) else None
    session = await phones.session(device)
    last = session.screens.last
    if last is None or target is None:
        return {"matches": []}
    nodes = find_all(last.screen, target, session.screens.registry)
    return {"matches": [{"at": node.order, "bounds": list(node.bounds)} for node in nodes]}


@phone_route("recording")
async def show_recording(request: DeskRequest, phones: Phones, device: str) -> JSON:
    """What was done since the journal's entry `after`, as steps; without `after` the newest entry."""
    serial, journal = (await phones.session(device)).serial, phones.runtime.journal
    newest = journal.actions(1)
    if "after" not in request.query_params:
        return {"after": newest[0].seq if newest else 0}
    recording = Recording()

    def read() -> None:
        after = read_number(request, "after", 0, 10**15)
        for _, shown in ended_actions(journal, device=serial, after=after):
            recording.add_action(shown)

    await asyncio.to_thread(read)
    if not recording.steps:
        return {"app": None, "steps": []}
    flow, elements = recording.flow("recorded")
    steps = list(enumerate(flow.steps))
    if app := _app_begun_at_home(recording):
        # The icon only starts it where it was left; a flow has to begin where the next run begins, too.
        steps[:2] = [(-1, Step(action=RestartApp(package=app)))]
    rows = []
    for at, step in steps:
        portraits: Elements = {(0,): elements[at,]} if (at,) in elements else {}
        rows.append({"label": step_name(step), "text": write_steps([step], portraits)})
    return {"app": flow.app, "steps": rows}


def _app_begun_at_home(recording: Recording) -> str:
    """The app whose icon was tapped first, on the home screen; '' where it began elsewhere."""
    first, second = [*recording.steps[:2], None, None][:2]
    if first is None or second is None or not isinstance(first.action, Tap):
        return ""
    is_icon = is_home(first.package) and second.package and not is_home(second.package)
    return second.package if is_icon else ""


@ROUTES("/api/flows/check", "POST", person="Checking a flow")
async def check_flow(request: DeskRequest) -> JSON:
    """What is wrong with a text, and on which lines each step stands."""
    body = await json_body(request, FlowText)
    path = request.context.flows.folders.place(body.file)
    checked = await asyncio.to_thread(check_text, body.text, path)
    steps: list[dict[str, Any]] = []
    if not checked.broken:
        document = loads(body.text, path)
        starts = [document.places.of((at,)).line for at in range(len(document.drafts))]
        ends = [*(line - 1 for line in starts[1:]), body.text.rstrip().count("\n") + 1]
        valid = document.valid_flow.steps if document.valid_flow else ()
        labels = [step.label or step_name(step) for step in valid]
        steps = [
            {"line": first, "end": last, "label": labels[at] if at < len(labels) else ""}
            for at, (first, last) in enumerate(zip(starts, ends, strict=True))
        ]
    return checked.to_dict() | {"file": body.file, "steps": steps, "name": checked.name}


@ROUTES("/api/flows/file", person="Reading a flow")
async def read_flow(request: DeskRequest) -> JSON:
    """The text of a listed flow."""
    path = request.context.flows.folders.path(request.query_params.get("file", ""))
    return {"text": await asyncio.to_thread(path.read_text, "utf-8")}


@ROUTES("/api/flows/file", "POST", person="Saving a flow")
async def save_flow(request: DeskRequest) -> JSON:
    """Write a flow, Maestro's file or Python into the folder of flows; never over a text nobody has read."""
    body = await json_body(request, FlowText)
    folders = request.context.flows.folders
    if not folders.folders:
        raise InvalidAction("There is no folder of flows here", hint="Start the desk with --flows DIR.")
    name = Path(body.file).name
    if not name or name != body.file.replace("\\", "/").rpartition("/")[2] or name.startswith("."):
        raise InvalidAction.at("file", "should be a file's name", hint="For example buy-a-mug.yaml.")
    path = folders.files().get(body.file) or folders.folders[-1] / name
    if (path.read_text("utf-8") if path.is_file() else None) != body.before:
        raise InvalidAction(
            f"{path.name} is there already, with another text", path="file", hint="Give another name."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    await asyncio.to_thread(path.write_text, body.text, "utf-8")
    return {"file": body.file if body.file in folders.files() else path.name, "path": str(path)}


@ROUTES("/api/flows/convert", "POST", person="Converting a flow")
async def convert_flow(request: DeskRequest) -> JSON:
    """The text in another form: `maestro`, `pytest` or `script`; with what can't be carried over."""
    body = await json_body(request, FlowText)
    document = loads(body.text, request.context.flows.folders.place(body.file))
    text, left_out = await asyncio.to_thread(_converted, document, body.form)
    return {"text": text, "leftOut": left_out}


def _converted(document: FlowDocument, form: str) -> tuple[str, list[str]]:
    match form:
        case "pytest" | "script":
            return python_text(document, form)
        case "maestro":
            converted = maestro("Saving as Maestro's").to_maestro(document)
            return converted.text, converted.left_out
    raise InvalidAction.at("form", f"{form!r:.40} is not maestro, pytest or script")
