"""The journal over HTTP: search, one action in full, its pictures, the proof; runs, and a run as a flow.

Reads only, each time through a connection of its own in a thread: the event loop never waits for a disk.
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from starlette.responses import JSONResponse, Response

from handrail.errors import InvalidAction
from handrail.flow.recording import flow_text
from handrail.journal import query
from handrail.journal.query import ActionRow, Filter, query_actions
from handrail.journal.signed_log import JournalLog
from handrail.journal.writer import store_path
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS
from handrail.runtime import Runtime
from handrail.screen.diff import Diff, diff_text
from handrail.store import connect
from handrail.web_server.responses import JSON, DeskRequest, RouteTable, json_object

T = TypeVar("T")
ROUTES = RouteTable()
_BLOB = re.compile(r"[0-9a-f]{64}")
_MAGIC = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg"}
_FOR_EVER = {"Cache-Control": "private, max-age=31536000, immutable"}
"""A blob is named by the hash of its content, so it never changes."""
LIMIT, MOST = 50, 500  # rows of a page: by default, and at most
READ = 500  # rows that are read at once when each has to be looked at
FAR = 20_000  # rows that one search reads at most; the next page continues there
DIGITS = 18  # decimal digits that always fit SQLite's integers
RUN_ROWS = 200  # actions of a page of runs; a longer run goes on with the next page
PAUSE_MS = 10 * 60_000  # an action that begins after so long starts another run
STEP_PICTURES = ("after", "screenshot", "before")
"""Which picture stands for a step: the first that there is."""
ANY = Filter()


async def read_journal(runtime: Runtime, work: Callable[[sqlite3.Connection], T]) -> T:
    """Runs `work` in a thread, with a connection of its own."""

    def read() -> T:
        with closing(connect(store_path(runtime.config.home))) as db:
            return work(db)

    return await asyncio.to_thread(read)


@ROUTES("/api/journal")
async def list_actions(request: DeskRequest) -> JSON:
    """A page of actions, newest first, and where the next one begins."""
    wanted = JournalSearch.parse(request.query_params)

    page, pictures = await read_journal(request.runtime, lambda db: _search_with_pictures(db, wanted))
    rows = [row.to_dict() | {"about": row.about, "picture": pictures.get(row.action_id)} for row in page.rows]
    return {"actions": _with_phone_names(request, rows), "next": page.next}


def _with_phone_names(request: DeskRequest, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    name_of = request.context.phones.name
    return [row | ({"phone": name_of(row["device"])} if row.get("device") else {}) for row in rows]


@ROUTES("/api/journal/entry/{action}")
async def show_action(request: DeskRequest) -> JSON:
    """One action: its events, its envelope, what changed in words, and the names of its pictures."""
    shown = await read_journal(
        request.runtime, lambda db: query.show_action(db, request.path_params["action"])
    )
    elsewhere = ("envelope", "action", "robust")
    events = [{key: part for key, part in event.items() if key not in elsewhere} for event in shown.events]
    changes = (shown.envelope or {}).get("changes") or ()
    changes = [change for change in changes if change.get("type") != "more"]
    pictures: dict[str, str] = {}
    for event in shown.events:
        pictures |= event.get("blobs") or {}
    first = shown.events[0]
    row = {
        "action_id": shown.action_id,
        "action": next((event["action"] for event in shown.events if "action" in event), None),
        "actor": first.get("actor"),
        "door": first.get("door"),
        "device": first.get("device"),
        "session": first.get("session"),
        "events": events,
        "envelope": shown.envelope,
        "diff": diff_text(Diff(changes)) if changes else "",
        "pictures": pictures,
    }
    return _with_phone_names(request, [row])[0]


@ROUTES("/api/journal/blob/{name}")
async def show_picture(request: DeskRequest) -> Response:
    """A picture; `state` says why one is not there any more."""
    runtime, name = request.runtime, request.path_params["name"]
    if not _BLOB.fullmatch(name):
        raise InvalidAction(
            f"{name[:80]!r} is not the name of a blob", path="name", hint="Take it from an entry."
        )
    content = await asyncio.to_thread(runtime.journal.blob, name)
    kind = next((kind for magic, kind in _MAGIC.items() if content and content.startswith(magic)), None)
    if content is None or kind is None:
        state = await asyncio.to_thread(runtime.journal.blob_state, name)
        return JSONResponse({"state": state}, 410 if state else 404)
    return Response(content, media_type=kind, headers=_FOR_EVER)


@ROUTES("/api/journal/verify", "GET", "POST")
async def verify(request: DeskRequest) -> JSON:
    """The whole chain, recomputed."""
    runtime = request.runtime
    began = runtime.clock.monotonic_ms()
    verdict = await asyncio.to_thread(runtime.journal.verify)
    took = runtime.clock.monotonic_ms() - began
    return {**asdict(verdict), "head": verdict.head, "took_ms": round(took, 1)}


@ROUTES("/api/journal/flow")
async def export_flow(request: DeskRequest) -> JSON:
    """What was done, as the text of a flow."""
    parameters = request.query_params
    text = await asyncio.to_thread(
        flow_text,
        request.runtime.journal,
        device=parameters.get("device") or None,
        session=parameters.get("session") or None,
        name=parameters.get("name") or "recorded",
    )
    return {"text": text}


@dataclass(frozen=True, slots=True)
class JournalPage:
    """Some rows, and the `seq` before which the next page begins; None at the end."""

    rows: list[ActionRow]
    next: int | None


@dataclass(frozen=True, slots=True)
class JournalSearch:
    """A search. Every field narrows it."""

    limit: int = LIMIT
    columns: Filter = ANY
    states: frozenset[str] = frozenset()
    actor: str | None = None
    session: str | None = None
    text: str = ""
    touches_only: bool = False

    @classmethod
    def parse(cls, parameters: Mapping[str, str]) -> JournalSearch:
        """Reads a query string; `InvalidAction` names the bad field."""
        columns = Filter(
            before=_read_number(parameters, "before"),
            device=parameters.get("device") or None,
            type=parameters.get("type") or None,
            since=_read_number(parameters, "since"),
            failed={"1": True, "0": False}.get(parameters.get("failed", "")),
        )
        return cls(
            limit=min(MOST, max(1, _read_number(parameters, "limit") or LIMIT)),
            columns=columns,
            states=frozenset(filter(None, parameters.get("state", "").split(","))),
            actor=parameters.get("actor") or None,
            session=parameters.get("session") or None,
            text=parameters.get("text", "").strip().casefold(),
            touches_only=parameters.get("touches") == "1",
        )

    @property
    def is_decided_by_sql(self) -> bool:
        """Whether the SQL query alone answers the search."""
        return not (self.states or self.actor or self.session or self.text or self.touches_only)

    def matches(self, row: ActionRow) -> bool:
        actor, kind = row.actor or {}, ACTIONS.get(row.type or "")
        parts = (row.action_id, row.type, row.state, row.failure_code, row.device, row.reason, row.about)
        words = " ".join(str(part) for part in (*parts, actor.get("id")) if part) if self.text else ""
        return (
            (not self.states or row.state in self.states)
            and (self.actor is None or self.actor in (actor.get("kind"), actor.get("id")))
            and (self.session is None or row.session == self.session)
            and (not self.touches_only or kind is None or kind.traits.effect != "read")
            and (not self.text or self.text in words.casefold())
        )


def search_journal(db: sqlite3.Connection, wanted: JournalSearch) -> JournalPage:
    """Lists the newest first."""
    limit = wanted.limit
    if wanted.is_decided_by_sql:
        return _cut_page(query_actions(db, wanted.columns, limit + 1), limit, None)
    matches: list[ActionRow] = []
    before, read = wanted.columns.before, 0
    while len(matches) <= limit and read < FAR:
        rows = query_actions(db, replace(wanted.columns, before=before), READ)
        matches += filter(wanted.matches, rows)
        read += len(rows)
        if len(rows) < READ:
            return _cut_page(matches, limit, None)
        before = rows[-1].seq
    return _cut_page(matches, limit, before)


def _cut_page(rows: list[ActionRow], limit: int, before: int | None) -> JournalPage:
    if len(rows) > limit:
        return JournalPage(rows[:limit], rows[limit - 1].seq)
    return JournalPage(rows, before)


def _read_number(parameters: Mapping[str, str], name: str) -> int | None:
    text = parameters.get(name, "")
    if not text:
        return None
    if not text.isdecimal() or len(text) > DIGITS:
        raise InvalidAction.at(name, f"{text[:40]!r} is not a number", hint="Give digits only.")
    return int(text)


def run_document(rows: Sequence[ActionRow], pictures: Mapping[str, str]) -> dict[str, Any]:
    """A run, which is read newest first; its steps are written oldest first."""
    names = ("action_id", "type", "about", "state", "failure_code", "at_ms", "reason")
    steps = []
    for row in reversed(rows):
        step = {name: getattr(row, name) for name in names} | {"picture": pictures.get(row.action_id)}
        steps.append({name: part for name, part in step.items() if part is not None})
    first, last = rows[-1], rows[0]
    run = {
        "id": last.action_id,
        "session": last.session,
        "device": last.device,
        "actor": last.actor,
        "door": last.door,
        "began_ms": first.at_ms,
        "ended_ms": last.at_ms,
        "failed": sum(row.state == "failed" for row in rows),
        "steps": steps,
    }
    return {key: part for key, part in run.items() if part is not None}


def group_into_runs(rows: Iterable[ActionRow]) -> list[list[ActionRow]]:
    """Actions of one session and one caller, without a long pause; the newest run first, and its newest row.

    Also where several callers worked at the same time. Desk actions are left out.
    """
    runs: list[list[ActionRow]] = []
    latest: dict[tuple[str | None, str, str], list[ActionRow]] = {}
    for row in rows:
        if row.type in DESK_ACTIONS:
            continue
        actor = row.actor or {}
        key = (row.session, str(actor.get("kind")), str(actor.get("id")))
        run = latest.get(key)
        if run is None or run[-1].at_ms - row.at_ms > PAUSE_MS:
            run = latest[key] = []
            runs.append(run)
        run.append(row)
    return runs


@ROUTES("/api/journal/runs")
async def list_runs(request: DeskRequest) -> JSON:
    """Runs, newest first, with their steps and pictures. Takes the same search parameters as actions."""
    wanted = JournalSearch.parse({"limit": str(RUN_ROWS), "touches": "1", **request.query_params})

    page, pictures = await read_journal(request.runtime, lambda db: _search_with_pictures(db, wanted))
    runs = [run_document(run, pictures) for run in group_into_runs(page.rows)]
    return {"runs": _with_phone_names(request, runs), "next": page.next}


def _search_with_pictures(
    db: sqlite3.Connection, wanted: JournalSearch
) -> tuple[JournalPage, dict[str, str]]:
    """A page of actions, and by action the picture that stands for it."""
    page = search_journal(db, wanted)
    action_ids = [row.action_id for row in page.rows]
    marks = ", ".join("?" * len(action_ids))
    order = f"SELECT action_id, body FROM journal WHERE action_id IN ({marks}) AND body LIKE '%\"blobs\"%'"  # noqa: S608
    blobs: dict[str, dict[str, str]] = {}
    for action_id, body in db.execute(order, action_ids):
        blobs.setdefault(action_id, {}).update(json.loads(body).get("blobs") or {})
    chosen = {
        action_id: next((names[kind] for kind in STEP_PICTURES if kind in names), None)
        for action_id, names in blobs.items()
    }
    return page, {action_id: name for action_id, name in chosen.items() if name}


@ROUTES("/api/journal/checkpoint")
async def checkpoint(request: DeskRequest) -> JSON:
    """The journal's newest state, signed by its key, to keep elsewhere."""
    home = request.runtime.config.home

    def sign() -> dict[str, Any]:
        with closing(JournalLog(home)) as log:
            signed, key = log.checkpoint(), str(log.signer().verifier)
        state = signed.checkpoint
        summary = {"origin": state.origin, "size": state.size, "root": state.root.hex()}
        return {**summary, "key": key, "note": str(signed)}

    return await asyncio.to_thread(sign)


@ROUTES("/api/journal/flow", "POST", person="Keeping a flow", status=201)
async def save_flow(request: DeskRequest) -> JSON:
    """Save what was done in a session as a new file among the flows."""
    body = await json_object(request)
    runtime, folders = request.runtime, request.context.flows.folders.folders
    if not folders:
        raise InvalidAction("There is no folder of flows here", hint="Start the desk with --flows DIR.")
    session, device = body.get("session"), body.get("device")
    if not isinstance(session, str) or not session:
        raise InvalidAction.at("session", "should be a text")
    device = device if isinstance(device, str) and device else None
    name = f"recorded {datetime.fromtimestamp(runtime.clock.now_ms() / 1000):%Y-%m-%d %H.%M}"
    text = await asyncio.to_thread(flow_text, runtime.journal, device=device, session=session, name=name)
    path = await asyncio.to_thread(_write_new_file, folders[-1], name.replace(" ", "-"), text)
    return {"file": path.name, "path": str(path), "text": text}


def _write_new_file(folder: Path, name: str, text: str) -> Path:
    """Never overwrites a file; counts up instead."""
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
