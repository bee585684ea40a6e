"""Finding requests: by id or a unique beginning of it, open ones, and all of them page by page."""

from __future__ import annotations

import re
import sqlite3

from handrail.engine.approval.row import Approval, read
from handrail.errors import InvalidAction
from handrail.protocol.problems import nearest

PREFIX = "ap_"
_ID = re.compile(r"[a-z0-9_]{1,40}")
_RECENT = 200  # ids among which the nearest is looked for


def exact(db: sqlite3.Connection, id_: str) -> Approval | None:
    """By the whole id."""
    row = db.execute("SELECT * FROM approvals WHERE id = ?", (id_,)).fetchone()
    return read(row) if row else None


def find(db: sqlite3.Connection, given: str, now_ms: int) -> Approval:
    """By id, or by a beginning that only one has; of several, the one that is still open."""
    wanted = given.strip().lower()
    if _ID.fullmatch(wanted):
        beginning = wanted if wanted.startswith(PREFIX) else PREFIX + wanted
        rows = db.execute(
            "SELECT * FROM approvals WHERE substr(id, 1, ?) = ? ORDER BY seq DESC",
            (len(beginning), beginning),
        )
        found = [read(row) for row in rows]
        opened = [one for one in found if one.is_open(now_ms)]
        if len(found) == 1 or len(opened) == 1:
            return (found if len(found) == 1 else opened)[0]
        if found:
            raise _several(given, opened or found)
    raise _none(db, given)


def pending(db: sqlite3.Connection, now_ms: int) -> list[Approval]:
    """Oldest first: that is who waits longest."""
    rows = db.execute(
        "SELECT * FROM approvals WHERE state = 'pending' AND expires_ms > ? ORDER BY seq", (now_ms,)
    )
    return [read(row) for row in rows]


def history(db: sqlite3.Connection, limit: int, before: int | None) -> list[Approval]:
    """Newest first; `before` is the `seq` of the last one that was seen."""
    rows = db.execute(
        "SELECT * FROM approvals WHERE seq < ? ORDER BY seq DESC LIMIT ?",
        (before if before is not None else 1 << 62, limit),
    )
    return [read(row) for row in rows]


def _several(given: str, found: list[Approval]) -> InvalidAction:
    names = ", ".join(one.id for one in found[:5])
    return InvalidAction(
        f"{given} is the beginning of {len(found)} requests: {names}", path="id", hint="Give one more letter."
    )


def _none(db: sqlite3.Connection, given: str) -> InvalidAction:
    recent = [row[0] for row in db.execute("SELECT id FROM approvals ORDER BY seq DESC LIMIT ?", (_RECENT,))]
    close = nearest(given, recent)
    hint = f"Did you mean {' or '.join(close)}?" if close else "`handrail approvals` lists what is open."
    return InvalidAction(f"There is no request {given!r:.60}", path="id", hint=hint)
