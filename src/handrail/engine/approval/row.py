"""The table of approvals: one row as a value, looking rows up, and what came of a question."""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
from dataclasses import asdict, dataclass
from typing import Any, Literal

from handrail.clock import iso_time
from handrail.engine.approval.deadline import COLUMNS, LEFT_MS, LIVES, RENEWED, lasting
from handrail.engine.approval.request import Request
from handrail.engine.approval.wording import Scope
from handrail.errors import ActionRejected, InvalidAction
from handrail.protocol.read import nearest
from handrail.protocol.traits import Span

State = Literal["pending", "approved", "denied", "expired", "withdrawn", "void"]
"""Only a pending one becomes another; an approved one is used once or becomes void. All else is final."""

TABLES = (
    """
    CREATE TABLE approvals (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL DEFAULT 'pending',
        created_ms INTEGER NOT NULL,
        expires_ms INTEGER NOT NULL,
        kind TEXT NOT NULL,
        capability TEXT NOT NULL,
        instruction TEXT NOT NULL,
        reason TEXT NOT NULL,
        why TEXT NOT NULL,
        action TEXT NOT NULL,
        digest TEXT NOT NULL,
        device TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        label TEXT NOT NULL,
        screenshot TEXT,
        door TEXT NOT NULL,
        asked_by TEXT NOT NULL,
        offered TEXT NOT NULL,
        token_hash TEXT NOT NULL,
        mailbox TEXT,
        answered_ms INTEGER,
        answered_by TEXT,
        note TEXT,
        data TEXT,
        remember TEXT,
        consumed_ms INTEGER
    ) STRICT;
    CREATE INDEX approvals_open ON approvals (state, expires_ms)
    """,
    # A question from before this step has no asker and no time left.
    ";".join(
        f"ALTER TABLE approvals ADD COLUMN {column}"
        for column in ("asker TEXT NOT NULL DEFAULT ''", *COLUMNS.split(","))
    ),
    "ALTER TABLE approvals ADD COLUMN scope TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE approvals ADD COLUMN scope_said TEXT NOT NULL DEFAULT ''",
)


@dataclass(frozen=True, slots=True)
class AskedApproval:
    """One question and, once there is one, its answer."""

    seq: int
    id: str
    state: State
    created_ms: int
    expires_ms: int
    request: Request
    answered_ms: int | None = None
    answered_by: str | None = None
    note: str | None = None
    data: Any = None
    """A placeholder instead of a value where the capability is secret."""
    remember: Span | None = None
    consumed_ms: int | None = None
    mailbox: str | None = None

    @property
    def action_type(self) -> str:
        return str(self.request.action["type"])

    @property
    def is_open(self) -> bool:
        return self.state == "pending"

    def to_dict(self) -> dict[str, Any]:
        """As JSON data, for every door."""
        asked = self.request
        data = {
            "id": self.id,
            "seq": self.seq,
            "state": self.state,
            "created": iso_time(self.created_ms),
            "expires": iso_time(self.expires_ms),
            "kind": asked.kind,
            "capability": asked.capability if asked.kind == "human_auth" else None,
            "instruction": asked.instruction,
            "reason": asked.reason or None,
            "why": asked.why or None,
            "action": dict(asked.action),
            "digest": asked.digest,
            "device": asked.device,
            "fingerprint": asked.fingerprint,
            "label": asked.label or None,
            "screenshot": asked.screenshot,
            "door": asked.door or None,
            "asked_by": asked.asked_by or None,
            "may_remember": asked.remember,
            "may_allow": asked.may_allow or None,
            "answered": iso_time(self.answered_ms) if self.answered_ms is not None else None,
            "answered_by": self.answered_by,
            "note": self.note,
            "data": self.data,
            "remember": self.remember,
            "consumed": iso_time(self.consumed_ms) if self.consumed_ms is not None else None,
        }
        return {key: value for key, value in data.items() if value is not None}


Moment = dict[str, Any]


def insert(
    db: sqlite3.Connection, id_: str, request: Request, at: Moment, token_hash: str, mailbox: str | None
) -> None:
    """A new question, open from now on."""
    deadline = lasting(at, request.timeout_ms)
    values = {
        "id": id_, "created_ms": at["now"], "expires_ms": deadline["until_ms"], "kind": request.kind,
        "capability": request.capability, "instruction": request.instruction, "reason": request.reason,
        "why": request.why,
        "action": json.dumps(dict(request.action)), "digest": request.digest, "device": request.device,
        "fingerprint": request.fingerprint, "label": request.label, "screenshot": request.screenshot,
        "door": request.door, "asked_by": request.asked_by, "offered": request.remember,
        "token_hash": token_hash, "mailbox": mailbox, "asker": request.asker, **deadline,
        "scope": request.scope.key, "scope_said": request.scope.said,
    }  # fmt: skip
    names = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    db.execute(f"INSERT INTO approvals ({names}) VALUES ({marks})", values)  # noqa: S608  (our own names)


def expire(db: sqlite3.Connection, at: Moment) -> None:
    """End what has no time left, for good: a clock that is set back later finds it ended."""
    late = f"state = 'pending' AND NOT {LIVES}"
    if db.execute(f"SELECT 1 FROM approvals WHERE {late} LIMIT 1", at).fetchone():  # noqa: S608
        db.execute(f"UPDATE approvals SET state = 'expired', token_hash = '' WHERE {late}", at)  # noqa: S608


def answer(db: sqlite3.Connection, id_: str, at: Moment, values: dict[str, Any], usable_ms: int) -> bool:
    """Whether this answer is the one that counts: the first, and in time."""
    expire(db, at)
    names = "".join(f"{name} = :{name}, " for name in values)
    order = (
        f"UPDATE approvals SET {names}answered_ms = :now, token_hash = '', {RENEWED}"  # noqa: S608
        f" WHERE id = :id AND state = 'pending' AND {LIVES}"
    )
    return db.execute(order, {**values, **at, "id": id_, "at_least": usable_ms}).rowcount > 0


def use(db: sqlite3.Connection, id_: str, at: Moment, digest: str, asker: str) -> bool:
    """Use an approval up: for the act and the asker that it was given to, in time, once."""
    order = (
        "UPDATE approvals SET consumed_ms = :now WHERE id = :id AND state = 'approved'"  # noqa: S608
        f" AND consumed_ms IS NULL AND digest = :digest AND asker = :asker AND {LIVES}"
    )
    return db.execute(order, {**at, "id": id_, "digest": digest, "asker": asker}).rowcount > 0


def end(db: sqlite3.Connection, id_: str) -> State | None:
    """What is open is withdrawn, what was not used is void; None where there was nothing to end."""
    order = (
        "UPDATE approvals SET state = CASE state WHEN 'pending' THEN 'withdrawn' ELSE 'void' END,"
        " token_hash = '' WHERE id = ? AND state IN ('pending', 'approved') AND consumed_ms IS NULL"
        " RETURNING state"
    )
    ended = db.execute(order, (id_,)).fetchall()
    return ended[0][0] if ended else None


def unfinished(db: sqlite3.Connection, at: Moment, digest: str, asker: str) -> list[str]:
    """Ids of this asker's questions about this act that nobody finished; data died with who asked for it."""
    order = (
        "SELECT id FROM approvals WHERE digest = :digest AND asker = :asker AND consumed_ms IS NULL"  # noqa: S608
        f" AND data IS NULL AND state IN ('pending', 'approved') AND {LIVES} ORDER BY seq DESC"
    )
    return [row[0] for row in db.execute(order, {**at, "digest": digest, "asker": asker})]


def left_ms(db: sqlite3.Connection, id_: str, at: Moment) -> float:
    """How long a question is still open."""
    row = db.execute(f"SELECT {LEFT_MS} FROM approvals WHERE id = :id", {**at, "id": id_}).fetchone()  # noqa: S608
    return float(row[0]) if row else 0.0


def read(row: sqlite3.Row) -> AskedApproval:
    """A row as a value."""
    request = Request(
        kind=row["kind"],
        action=json.loads(row["action"]),
        digest=row["digest"],
        device=row["device"],
        fingerprint=row["fingerprint"],
        instruction=row["instruction"],
        reason=row["reason"],
        why=row["why"],
        capability=row["capability"],
        label=row["label"],
        screenshot=row["screenshot"],
        door=row["door"],
        asked_by=row["asked_by"],
        asker=row["asker"],
        scope=Scope(row["scope"], row["scope_said"]),
        remember=row["offered"],
        timeout_ms=row["expires_ms"] - row["created_ms"],
    )
    return AskedApproval(
        seq=row["seq"],
        id=row["id"],
        state=row["state"],
        created_ms=row["created_ms"],
        expires_ms=row["expires_ms"],
        request=request,
        answered_ms=row["answered_ms"],
        answered_by=row["answered_by"],
        note=row["note"],
        data=json.loads(row["data"]) if row["data"] else None,
        remember=row["remember"],
        consumed_ms=row["consumed_ms"],
        mailbox=row["mailbox"],
    )


PREFIX = "ap_"


def new_id() -> str:
    """For a question that was not asked yet."""
    return PREFIX + secrets.token_hex(5)


_ID = re.compile(r"[a-z0-9_]{1,40}")
_RECENT = 200  # ids among which the nearest is looked for


def exact(db: sqlite3.Connection, id_: str) -> AskedApproval | None:
    """By the whole id."""
    row = db.execute("SELECT * FROM approvals WHERE id = ?", (id_,)).fetchone()
    return read(row) if row else None


def find(db: sqlite3.Connection, given: str) -> AskedApproval:
    """By id, or by a beginning that only one has; of several, the one that is still open."""
    wanted = given.strip().lower()
    if _ID.fullmatch(wanted):
        beginning = wanted if wanted.startswith(PREFIX) else PREFIX + wanted
        rows = db.execute(
            "SELECT * FROM approvals WHERE substr(id, 1, ?) = ? ORDER BY seq DESC",
            (len(beginning), beginning),
        )
        found = [read(row) for row in rows]
        opened = [one for one in found if one.is_open]
        if len(found) == 1 or len(opened) == 1:
            return (found if len(found) == 1 else opened)[0]
        if found:
            raise _several(given, opened or found)
    raise _none(db, given)


def pending(db: sqlite3.Connection) -> list[AskedApproval]:
    """Oldest first: that is who waits longest."""
    return [read(row) for row in db.execute("SELECT * FROM approvals WHERE state = 'pending' ORDER BY seq")]


def history(db: sqlite3.Connection, limit: int, before: int | None) -> list[AskedApproval]:
    """Newest first; `before` is the `seq` of the last one that was seen."""
    rows = db.execute(
        "SELECT * FROM approvals WHERE seq < ? ORDER BY seq DESC LIMIT ?",
        (before if before is not None else 1 << 62, limit),
    )
    return [read(row) for row in rows]


def _several(given: str, found: list[AskedApproval]) -> InvalidAction:
    names = ", ".join(one.id for one in found[:5])
    return InvalidAction(
        f"{given} is the beginning of {len(found)} requests: {names}", path="id", hint="Give one more letter."
    )


def _none(db: sqlite3.Connection, given: str) -> InvalidAction:
    recent = [row[0] for row in db.execute("SELECT id FROM approvals ORDER BY seq DESC LIMIT ?", (_RECENT,))]
    close = nearest(given, recent)
    hint = f"Did you mean {' or '.join(close)}?" if close else "`handrail approvals` lists what is open."
    return InvalidAction(f"There is no request {given!r:.60}", path="id", hint=hint)


@dataclass(frozen=True, slots=True)
class Answer:
    """`data` holds placeholders where the capability is secret."""

    id: str
    decision: State
    by: str
    note: str
    data: Any
    remember: Span | None
    """How long the person wants it to count."""

    @classmethod
    def of(cls, one: AskedApproval) -> Answer:
        return cls(one.id, one.state, one.answered_by or "", one.note or "", one.data, one.remember)

    @property
    def approved(self) -> bool:
        return self.decision == "approved"

    def to_dict(self) -> dict[str, Any]:
        """For the envelope and the journal."""
        return {key: value for key, value in asdict(self).items() if value not in ("", None)}

    def rejection(self) -> ActionRejected:
        """The failure of the act that was asked about; nothing was dispatched."""
        match self.decision:
            case "denied":
                note = f": {self.note}" if self.note else ""
                return ActionRejected(f"{self.by} said no{note}", approval=self.id, decision=self.decision)
            case "expired":
                return ActionRejected(
                    "Nobody answered in time",
                    hint="Ask the person to be there, then send the action again.",
                    approval=self.id,
                    decision=self.decision,
                )
        return ActionRejected(f"The request was {self.decision}", approval=self.id, decision=self.decision)
