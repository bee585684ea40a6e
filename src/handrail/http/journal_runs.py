"""The journal as runs: what one asker did on one phone, with a picture of each step; a run kept as a flow.

Also the journal's signed checkpoint, which a person keeps elsewhere.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from handrail.engine.journal.log import JournalLog
from handrail.engine.journal.query import ActionRow
from handrail.errors import InvalidAction
from handrail.flow.recording import flow_text
from handrail.http.journal import JournalSearch, read_journal, runtime_of, search, with_phones
from handrail.http.responses import json_object
from handrail.protocol.actions import DESK_ACTIONS

ROWS = 200
"""Actions of a page of runs; a run that is longer goes on with the next page."""
PAUSE_MS = 10 * 60_000
"""What begins after so long is another run."""
SHOWN = ("after", "screenshot", "before")
"""Which picture stands for a step: the first that there is."""


@dataclass(slots=True)
class JournalRun:
    """Actions of one session and one asker, without a long pause; newest first, as they are read."""

    rows: list[ActionRow] = field(default_factory=list)

    def goes_on_with(self, row: ActionRow) -> bool:
        return self.rows[-1].at_ms - row.at_ms <= PAUSE_MS

    def to_dict(self, pictures: Mapping[str, str]) -> dict[str, Any]:
        """Its steps oldest first, as a film goes."""
        first, last = self.rows[-1], self.rows[0]
        told = {
            "id": last.action_id,
            "session": last.session,
            "device": last.device,
            "actor": last.actor,
            "door": last.door,
            "began_ms": first.at_ms,
            "ended_ms": last.at_ms,
            "failed": sum(row.state == "failed" for row in self.rows),
            "steps": [_step(row, pictures.get(row.action_id)) for row in reversed(self.rows)],
        }
        return {key: value for key, value in told.items() if value is not None}


def _step(row: ActionRow, picture: str | None) -> dict[str, Any]:
    told = {
        "action_id": row.action_id,
        "type": row.type,
        "about": row.about,
        "state": row.state,
        "failure_code": row.failure_code,
        "at_ms": row.at_ms,
        "reason": row.reason,
        "picture": picture,
    }
    return {key: value for key, value in told.items() if value is not None}


def runs_of(rows: Iterable[ActionRow]) -> list[JournalRun]:
    """Newest first, whoever else worked meanwhile. What was done to the desk is no part of a film."""
    found: list[JournalRun] = []
    latest: dict[tuple[str | None, str, str], JournalRun] = {}
    for row in rows:
        if row.type in DESK_ACTIONS:
            continue
        actor = row.actor or {}
        key = (row.session, str(actor.get("kind")), str(actor.get("id")))
        run = latest.get(key)
        if run is None or not run.goes_on_with(row):
            run = latest[key] = JournalRun()
            found.append(run)
        run.rows.append(row)
    return found


def pictures_of(db: sqlite3.Connection, actions: list[str]) -> dict[str, str]:
    """By action: the blob that shows how it ended."""
    marks = ", ".join("?" * len(actions))
    order = f"SELECT action_id, body FROM journal WHERE action_id IN ({marks}) AND body LIKE '%\"blobs\"%'"  # noqa: S608
    blobs: dict[str, dict[str, str]] = {}
    for action, body in db.execute(order, actions):
        blobs.setdefault(action, {}).update(json.loads(body).get("blobs") or {})
    chosen = {
        action: next((have[name] for name in SHOWN if name in have), None) for action, have in blobs.items()
    }
    return {action: name for action, name in chosen.items() if name}


def _runs(wanted: JournalSearch, db: sqlite3.Connection) -> dict[str, Any]:
    page = search(db, wanted)
    pictures = pictures_of(db, [row.action_id for row in page.rows])
    return {"runs": [run.to_dict(pictures) for run in runs_of(page.rows)], "next": page.next}


async def runs(request: Request) -> JSONResponse:
    """Runs, newest first, each with its steps and their pictures; searched as actions are."""
    wanted = JournalSearch.parse({"limit": str(ROWS), "touches": "1", **request.query_params})
    found = await read_journal(runtime_of(request), partial(_runs, wanted))
    return JSONResponse(found | {"runs": with_phones(request, found["runs"])})


async def checkpoint(request: Request) -> JSONResponse:
    """The journal's newest state, signed by its key: what to keep elsewhere."""
    home = runtime_of(request).config.home

    def signed() -> dict[str, Any]:
        with closing(JournalLog(home)) as log:
            made = log.checkpoint()
            seen, key = made.checkpoint, str(log.signer().verifier)
        return {
            "origin": seen.origin,
            "size": seen.size,
            "root": seen.root.hex(),
            "key": key,
            "note": str(made),
        }

    return JSONResponse(await asyncio.to_thread(signed))


async def save_flow(request: Request) -> JSONResponse:
    """What was done in a session, kept as a new file among the flows."""
    request.state.visitor.must_be_person("Keeping a flow")
    given = await json_object(request)
    runtime, folders = runtime_of(request), request.app.state.context.flows.folders.folders
    if not folders:
        raise InvalidAction("There is no folder of flows here", hint="Start the desk with --flows DIR.")
    session, device = given.get("session"), given.get("device")
    if not isinstance(session, str) or not session:
        raise InvalidAction("session: should be a text", path="session")
    name = f"recorded {datetime.fromtimestamp(runtime.clock.now_ms() / 1000):%Y-%m-%d %H.%M}"
    export = partial(
        flow_text,
        runtime.journal,
        device=device if isinstance(device, str) and device else None,
        session=session,
        name=name,
    )
    text = await asyncio.to_thread(export)
    path = await asyncio.to_thread(_keep, folders[-1], name.replace(" ", "-"), text)
    return JSONResponse({"file": path.name, "path": str(path), "text": text}, status_code=201)


def _keep(folder: Path, name: str, text: str) -> Path:
    """Nothing that is there is written over."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, 1_000):
        path = folder / (f"{name}.yaml" if number == 1 else f"{name}-{number}.yaml")
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            continue
        return path
    raise InvalidAction(f"{folder} has too many flows of this name", hint="Move some of them away.")


ROUTES = [
    Route("/api/journal/runs", runs),
    Route("/api/journal/checkpoint", checkpoint),
    Route("/api/journal/flow", save_flow, methods=["POST"]),
]
