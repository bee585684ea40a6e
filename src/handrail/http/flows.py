"""Flows at the HTTP door: which files there are, running one on chosen phones, its report."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route

from handrail.engine.events import Caller
from handrail.engine.session import Session
from handrail.errors import InvalidAction
from handrail.flow.check import check
from handrail.flow.document import FlowDocument, load
from handrail.flow.lint import uses
from handrail.flow.nodes import Fields, Items, plain
from handrail.flow.plan import FlowPlan, PlannedStep, devices_of, plan
from handrail.flow.problems import Problem
from handrail.flow.select_flows import find_flows
from handrail.http.flow_runs import FlowRun, Runs, names_of
from handrail.http.phone import Phones
from handrail.http.responses import json_object
from handrail.protocol.read import nearest
from handrail.runtime import Runtime

POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""A report holds a phone's words: it lives on an origin of its own. Its own policy narrows this by hashes."""
PREVIEWED = 200
"""Steps that are shown before a run."""
UNSAID = "unknown-variable"
"""The rule for a variable without a value: a person can give it here, so it is no fault of the file."""


class Flows:
    """The flows of one server and their runs."""

    def __init__(self, runtime: Runtime, folders: Sequence[Path]) -> None:
        self.folders = FlowFolders(folders)
        self.runs = Runs(runtime)

    async def run(self, phones: Phones, given: Mapping[str, Any], asker: Caller) -> FlowRun:
        """`{file, device | devices: {name: serial}, env}`."""
        file, env = _text(given, "file"), _texts(given, "env")
        document = await asyncio.to_thread(lambda: load(self.folders.path(file)))
        names = names_of(document, env)
        chosen = _texts(given, "devices")
        sessions: dict[str, Session] = {}
        for name in names if len(names) > 1 else ("device",):
            serial = chosen.get(name) or given.get("device")
            if not isinstance(serial, str) or not serial:
                raise InvalidAction(
                    f"devices.{name}: no phone was chosen", path="devices", hint="Choose one for each name."
                )
            sessions[name] = await phones.session(serial)
        return self.runs.start(file, document, sessions, env, asker)

    async def close(self) -> None:
        await self.runs.close()


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value:
        raise InvalidAction(f"{name}: should be a text", path=name)
    return value


def _texts(given: Mapping[str, Any], name: str) -> dict[str, str]:
    value = given.get(name) or {}
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        raise InvalidAction(f"{name}: should be an object of texts", path=name)
    return value


# routes


def _flows(request: Request) -> Flows:
    flows: Flows = request.app.state.context.flows
    return flows


async def listed(request: Request) -> JSONResponse:
    """Every flow with its lint state, variables and phones."""
    flows = _flows(request)
    found = await asyncio.to_thread(flows.folders.listed)
    return JSONResponse({"folders": [str(one) for one in flows.folders.folders], "flows": found})


async def run(request: Request) -> JSONResponse:
    """Starts one; it is followed by its id."""
    given, asker = await json_object(request), request.state.visitor.caller()
    started = await _flows(request).run(request.app.state.context.phones, given, asker)
    return JSONResponse(started.to_dict(), status_code=202)


async def history(request: Request) -> JSONResponse:
    """Runs, newest first."""
    found = await asyncio.to_thread(_flows(request).runs.history)
    return JSONResponse({"runs": [one.to_dict(steps=False) for one in found]})


async def one_run(request: Request) -> JSONResponse:
    """One run with its steps as they are now."""
    return JSONResponse(_flows(request).runs.get(request.path_params["id"]).to_dict())


async def stop(request: Request) -> JSONResponse:
    """Ends a run where it is."""
    runs, id_ = _flows(request).runs, request.path_params["id"]
    runs.stop(id_)
    return JSONResponse(runs.get(id_).to_dict())


async def report(request: Request) -> HTMLResponse:
    """The page of a run that is over."""
    page = _flows(request).runs.report(request.path_params["id"])
    text = await asyncio.to_thread(page.read_text, "utf-8")
    return HTMLResponse(text, headers={"Content-Security-Policy": POLICY})


@dataclass(frozen=True, slots=True)
class FlowFolders:
    """Folders of flows. A file is named by its path within its folder."""

    folders: Sequence[Path]

    def files(self) -> dict[str, Path]:
        """By name; where two folders have the same, the first one's."""
        found: dict[str, Path] = {}
        for folder in self.folders:
            if folder.is_dir():
                for path in find_flows([folder]):
                    found.setdefault(str(path.relative_to(folder)), path)
        return found

    def path(self, name: str) -> Path:
        """Only what is listed, whatever the name tries."""
        files = self.files()
        if name in files:
            return files[name]
        close = nearest(name, files)
        meant = f"Did you mean {' or '.join(close)}?" if close else "Look at the list of flows."
        raise InvalidAction(f"file: {name[:100]!r} is not among the flows here", path="file", hint=meant)

    def listed(self) -> list[dict[str, Any]]:
        """All of them, the broken ones too."""
        files = self.files()
        checked = {one.path: one for one in check(list(files.values()))}
        return [_listed(name, path, checked[path].problems) for name, path in files.items()]


def _listed(name: str, path: Path, problems: Iterable[Problem]) -> dict[str, Any]:
    told: dict[str, Any] = {"file": name, "name": path.stem, "problems": list(map(_problem, problems))}
    try:
        document = load(path)
    except InvalidAction:
        return told | {"broken": True, "variables": [], "devices": [], "steps": 0, "tags": []}
    variables = variables_of(document)
    ready = _planned(document, variables)
    faults = [one for one in told["problems"] if one["level"] == "error" and one["rule"] != UNSAID]
    return told | {
        "name": document.name,
        "tags": list(document.tags),
        "app": _app(document),
        "steps": len(document.drafts),
        "variables": variables,
        "devices": _devices(document, ready),
        "preview": _preview(ready.steps) if ready is not None else [],
        "problems": [one for one in told["problems"] if one["rule"] != UNSAID],
        "broken": bool(faults),
    }


def _problem(one: Problem) -> dict[str, Any]:
    return {"level": one.level, "rule": one.rule, **one.to_dict()}


def _app(document: FlowDocument) -> str | None:
    app = document.root.get("app")
    value = plain(app) if app is not None else None
    return value if isinstance(value, str) else None


def variables_of(document: FlowDocument) -> list[dict[str, Any]]:
    """What a run may be given: the file's own with their values, and those that it only names."""
    env = document.root.get("env")
    own: Mapping[str, Any] = plain(env) if isinstance(env, Fields) else {}
    known: dict[str, str | None] = {name: str(value) for name, value in own.items()}
    for use in uses(document):
        known.setdefault(use.reference.name, use.reference.default)
    return [{"name": name, "value": value} for name, value in known.items()]


def _planned(document: FlowDocument, variables: Iterable[Mapping[str, Any]]) -> FlowPlan | None:
    """What would be run, with each variable's name where it has no value yet."""
    stand_in = {one["name"]: one["value"] or f"⟨{one['name']}⟩" for one in variables}
    try:
        return plan(document, stand_in)
    except InvalidAction:
        return None


def _devices(document: FlowDocument, ready: FlowPlan | None) -> list[str]:
    """Names of the phones that a flow needs; one without names needs one."""
    if ready is not None:
        return list(devices_of(ready))
    named = document.root.get("devices")
    return [str(name) for name in plain(named)] if isinstance(named, Items) else []


def _preview(steps: Iterable[PlannedStep], depth: int = 0) -> list[dict[str, Any]]:
    """Every step as a person reads it, those inside others behind them; a long flow's first ones."""
    told: list[dict[str, Any]] = []
    for one in steps:
        told.append({"label": one.label, "depth": depth})
        for purpose, inner in one.inner.items():
            if not inner:
                continue
            named = [] if purpose == "steps" else [{"label": purpose, "depth": depth + 1, "part": True}]
            told += named + _preview(inner, depth + 1 + bool(named))
    return told[:PREVIEWED]


ROUTES = [
    Route("/api/flows", listed),
    Route("/api/flows/run", run, methods=["POST"]),
    Route("/api/flows/runs", history),
    Route("/api/flows/runs/{id}", one_run),
    Route("/api/flows/runs/{id}/stop", stop, methods=["POST"]),
    Route("/api/flows/runs/{id}/report", report),
]
