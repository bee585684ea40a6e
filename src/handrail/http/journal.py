"""The journal at the HTTP door: a search by columns and words, one action in full, its pictures, the proof.

Reads only, each time through a connection of its own in a thread: the event loop never waits for a disk.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from handrail.engine.journal import query
from handrail.engine.journal.query import ActionRow, Filter, Shown, actions
from handrail.engine.journal.writer import store_path
from handrail.errors import InvalidAction
from handrail.flow.recording import flow_text
from handrail.protocol.actions import ACTIONS
from handrail.runtime import Runtime
from handrail.store import connect
from handrail.tree.diff import Diff, diff_text

T = TypeVar("T")
_BLOB = re.compile(r"[0-9a-f]{64}")
_MAGIC = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg"}
_FOR_EVER = {"Cache-Control": "private, max-age=31536000, immutable"}
"""A blob's name is its content."""
LIMIT, MOST = 50, 500
"""Rows of a page: usually, and at most."""
READ = 500
"""Rows that are read at once when each has to be looked at."""
FAR = 20_000
"""Rows that one search looks at; the next page goes on from there."""
DIGITS = 18
"""Of a number that is surely one of SQLite's integers."""
ANY = Filter()


def runtime_of(request: Request) -> Runtime:
    """Of the server that is asked."""
    runtime: Runtime = request.app.state.context.runtime
    return runtime


async def read_journal(runtime: Runtime, work: Callable[[Any], T]) -> T:
    """In a thread, through a connection of its own."""

    def reading() -> T:
        with closing(connect(store_path(runtime.config.home))) as db:
            return work(db)

    return await asyncio.to_thread(reading)


async def listed(request: Request) -> JSONResponse:
    """A page of actions, newest first, and where the next one begins."""
    wanted = JournalSearch.parse(request.query_params)
    found = await read_journal(runtime_of(request), lambda db: search(db, wanted).to_dict())
    return JSONResponse(found | {"actions": with_phones(request, found["actions"])})


def with_phones(request: Request, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each with what people call its phone."""
    name_of = request.app.state.context.phones.name
    return [row | ({"phone": name_of(row["device"])} if row.get("device") else {}) for row in rows]


async def entry(request: Request) -> JSONResponse:
    """One action: its events, its envelope, what changed in words, and the names of its pictures."""
    shown = await read_journal(runtime_of(request), lambda db: query.show(db, request.path_params["action"]))
    return JSONResponse(with_phones(request, [_told(shown)])[0])


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
    runtime, name = runtime_of(request), request.path_params["name"]
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
    runtime = runtime_of(request)
    began = runtime.clock.monotonic_ms()
    verdict = await asyncio.to_thread(runtime.journal.verify)
    took = runtime.clock.monotonic_ms() - began
    return JSONResponse({**asdict(verdict), "head": verdict.head, "took_ms": round(took, 1)})


async def as_flow(request: Request) -> JSONResponse:
    """What was done, told again as a flow's file."""
    given = request.query_params
    export = partial(
        flow_text,
        runtime_of(request).journal,
        device=given.get("device") or None,
        session=given.get("session") or None,
        name=given.get("name") or "recorded",
    )
    return JSONResponse({"text": await asyncio.to_thread(export)})


@dataclass(frozen=True, slots=True)
class JournalPage:
    """Some rows, and the `seq` before which the next page begins; None at the end."""

    rows: list[ActionRow]
    next: int | None

    def to_dict(self) -> dict[str, Any]:
        """Each row with what it was about."""
        told = [row.to_dict() | {"about": row.about} for row in self.rows]
        return {"actions": told, "next": self.next}


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
    def parse(cls, given: Mapping[str, str]) -> JournalSearch:
        """From a query string; `InvalidAction` names the bad field."""
        failed = {"": None, "1": True, "0": False}.get(given.get("failed", ""))
        columns = Filter(
            before=_number(given, "before"),
            device=given.get("device") or None,
            type=given.get("type") or None,
            since=_number(given, "since"),
            failed=failed,
        )
        return cls(
            limit=min(MOST, max(1, _number(given, "limit") or LIMIT)),
            columns=columns,
            states=frozenset(filter(None, given.get("state", "").split(","))),
            actor=given.get("actor") or None,
            session=given.get("session") or None,
            text=given.get("text", "").strip().casefold(),
            touches_only=given.get("touches") == "1",
        )

    @property
    def is_plain(self) -> bool:
        """Whether the query alone decides."""
        return not (self.states or self.actor or self.session or self.text or self.touches_only)

    def fits(self, row: ActionRow) -> bool:
        actor = row.actor or {}
        return (
            (not self.states or row.state in self.states)
            and (self.actor is None or self.actor in (actor.get("kind"), actor.get("id")))
            and (self.session is None or row.session == self.session)
            and (not self.touches_only or _touches(row.type))
            and (not self.text or self.text in _words(row))
        )


def search(db: sqlite3.Connection, wanted: JournalSearch) -> JournalPage:
    """Newest first."""
    columns, limit = wanted.columns, wanted.limit
    if wanted.is_plain:
        rows = actions(db, columns, limit + 1)
        return _page(rows, limit, None)
    found: list[ActionRow] = []
    before, read = columns.before, 0
    while len(found) <= limit and read < FAR:
        rows = actions(db, _before(columns, before), READ)
        found += filter(wanted.fits, rows)
        read += len(rows)
        if len(rows) < READ:
            return _page(found, limit, None)
        before = rows[-1].seq
    return _page(found, limit, before)


def _page(rows: list[ActionRow], limit: int, before: int | None) -> JournalPage:
    if len(rows) > limit:
        return JournalPage(rows[:limit], rows[limit - 1].seq)
    return JournalPage(rows, before)


def _before(columns: Filter, seq: int | None) -> Filter:
    return Filter(seq, columns.device, columns.type, columns.since, columns.failed)


def _words(row: ActionRow) -> str:
    actor = row.actor or {}
    parts = (
        row.action_id,
        row.type,
        row.state,
        row.failure_code,
        row.device,
        row.reason,
        row.about,
        actor.get("id"),
    )
    return " ".join(str(part) for part in parts if part).casefold()


def _touches(action_type: str | None) -> bool:
    known = ACTIONS.get(action_type or "")
    return known is None or known.traits.effect != "read"


def _number(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name, "")
    if not text:
        return None
    if not text.isdecimal() or len(text) > DIGITS:
        raise InvalidAction(f"{name}: {text[:40]!r} is no number", path=name, hint="Give digits only.")
    return int(text)


ROUTES = [
    Route("/api/journal", listed),
    Route("/api/journal/verify", verify, methods=["GET", "POST"]),
    Route("/api/journal/flow", as_flow),
    Route("/api/journal/entry/{action}", entry),
    Route("/api/journal/blob/{name}", blob),
]
