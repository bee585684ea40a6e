"""The journal at the HTTP door: pages of actions, one action in full, its pictures, the proof, a flow of it.

Reads only, each time through a connection of its own in a thread: the event loop never waits for a disk.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from handrail.engine.journal import query
from handrail.engine.journal.query import Shown
from handrail.engine.journal.writer import store_path
from handrail.errors import InvalidAction
from handrail.flow.recording import flow_text
from handrail.http.journal_search import Wanted, search
from handrail.runtime import Runtime
from handrail.store import connect
from handrail.tree.diff import Diff, diff_text

T = TypeVar("T")
_BLOB = re.compile(r"[0-9a-f]{64}")
_MAGIC = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg"}
_FOR_EVER = {"Cache-Control": "private, max-age=31536000, immutable"}
"""A blob's name is its content."""


def _runtime(request: Request) -> Runtime:
    runtime: Runtime = request.app.state.context.runtime
    return runtime


async def _read(runtime: Runtime, work: Callable[[Any], T]) -> T:
    def reading() -> T:
        with closing(connect(store_path(runtime.config.home))) as db:
            return work(db)

    return await asyncio.to_thread(reading)


async def listed(request: Request) -> JSONResponse:
    """A page of actions, newest first, and where the next one begins."""
    wanted = Wanted.parse(request.query_params)
    return JSONResponse(await _read(_runtime(request), lambda db: search(db, wanted).to_dict(db)))


async def entry(request: Request) -> JSONResponse:
    """One action: its events, its envelope, what changed in words, and the names of its pictures."""
    shown = await _read(_runtime(request), lambda db: query.show(db, request.path_params["action"]))
    return JSONResponse(_told(shown))


def _told(shown: Shown) -> dict[str, Any]:
    first = shown.events[0]
    pictures: dict[str, str] = {}
    for event in shown.events:
        pictures |= event.get("blobs") or {}
    return {
        "action_id": shown.action_id,
        "action": next((event["action"] for event in shown.events if "action" in event), None),
        "actor": first.get("actor"),
        "door": first.get("door"),
        "device": first.get("device"),
        "session": first.get("session"),
        "events": [_event(one) for one in shown.events],
        "envelope": shown.envelope,
        "diff": _diff(shown.envelope or {}),
        "pictures": pictures,
    }


def _event(event: Mapping[str, Any]) -> dict[str, Any]:
    """Without what stands elsewhere in the answer."""
    return {key: value for key, value in event.items() if key not in ("envelope", "action", "robust")}


def _diff(envelope: Mapping[str, Any]) -> str:
    changes = [one for one in envelope.get("changes") or () if one.get("type") != "more"]
    return diff_text(Diff(changes)) if changes else ""


async def blob(request: Request) -> Response:
    """A picture. What was swept or withheld is gone, and says so."""
    runtime, name = _runtime(request), request.path_params["name"]
    if not _BLOB.fullmatch(name):
        raise InvalidAction(f"{name[:80]!r} is no name of a blob", path="name", hint="Take it from an entry.")
    data = await asyncio.to_thread(runtime.journal.blob, name)
    kind = next((kind for magic, kind in _MAGIC.items() if data and data.startswith(magic)), None)
    if data is None or kind is None:
        state = await asyncio.to_thread(runtime.journal.blob_state, name)
        return JSONResponse({"state": state}, status_code=410 if state else 404)
    return Response(data, media_type=kind, headers=_FOR_EVER)


async def verify(request: Request) -> JSONResponse:
    """The whole chain, recomputed."""
    runtime = _runtime(request)
    began = runtime.clock.monotonic_ms()
    verdict = await asyncio.to_thread(runtime.journal.verify)
    took = runtime.clock.monotonic_ms() - began
    return JSONResponse({**asdict(verdict), "head": verdict.head, "took_ms": round(took, 1)})


async def as_flow(request: Request) -> JSONResponse:
    """What was done, told again as a flow's file."""
    given = request.query_params
    export = partial(
        flow_text,
        _runtime(request).journal,
        device=given.get("device") or None,
        session=given.get("session") or None,
        name=given.get("name") or "recorded",
    )
    return JSONResponse({"text": await asyncio.to_thread(export)})


ROUTES = [
    Route("/api/journal", listed),
    Route("/api/journal/verify", verify, methods=["GET", "POST"]),
    Route("/api/journal/flow", as_flow),
    Route("/api/journal/entry/{action}", entry),
    Route("/api/journal/blob/{name}", blob),
]
