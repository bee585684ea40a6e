"""Flows at the HTTP door: which there are, running one on chosen phones, following it, its report."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route

from handrail.engine.events import Caller
from handrail.engine.session import Session
from handrail.errors import InvalidAction
from handrail.flow.document import load
from handrail.http.answers import json_object
from handrail.http.flow_list import Shelf
from handrail.http.flow_runs import FlowRun, Runs, names_of
from handrail.http.phone import Phones
from handrail.runtime import Runtime

POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""A report holds a phone's words: it lives on an origin of its own. Its own policy narrows this by hashes."""


class Flows:
    """The flows of one server and their runs."""

    def __init__(self, runtime: Runtime, folders: Sequence[Path]) -> None:
        self.shelf = Shelf(folders)
        self.runs = Runs(runtime)

    async def run(self, phones: Phones, given: Mapping[str, Any], asker: Caller) -> FlowRun:
        """`{file, device | devices: {name: serial}, env}`."""
        file, env = _text(given, "file"), _texts(given, "env")
        document = await asyncio.to_thread(lambda: load(self.shelf.path(file)))
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
    found = await asyncio.to_thread(flows.shelf.listed)
    return JSONResponse({"folders": [str(one) for one in flows.shelf.folders], "flows": found})


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


ROUTES = [
    Route("/api/flows", listed),
    Route("/api/flows/run", run, methods=["POST"]),
    Route("/api/flows/runs", history),
    Route("/api/flows/runs/{id}", one_run),
    Route("/api/flows/runs/{id}/stop", stop, methods=["POST"]),
    Route("/api/flows/runs/{id}/report", report),
]
