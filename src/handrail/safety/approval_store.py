"""Rows of approval requests and grants, and their deadlines.

A row with a deadline has four columns. `since_ms` and `until_ms` are wall time, which can be compared after
a restart of the machine. `timer` and `timer_ms` are a reading of the monotonic clock, which nobody can set.
Both must agree that time is left. Where the timer is another one, a clock that shows a time before
`since_ms` was set back, and no time is left. A use of a grant is one SQL statement that checks everything
and counts, so two uses at once can't share the last one.
"""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from handrail.clock import Clock, iso_time
from handrail.errors import ActionRejected, InvalidAction
from handrail.protocol.read import nearest
from handrail.protocol.traits import Span
from handrail.safety.approval_request import AuthorizationRequest, GrantScope
from handrail.store import Store

COLUMNS = """
    since_ms INTEGER NOT NULL DEFAULT 0,
    until_ms INTEGER NOT NULL DEFAULT 0,
    timer TEXT NOT NULL DEFAULT '',
    timer_ms REAL NOT NULL DEFAULT 0
"""
LEFT_MS = (
    "(CASE WHEN timer = :timer THEN min(until_ms - :now, timer_ms - :elapsed)"
    " WHEN since_ms <= :now THEN until_ms - :now ELSE 0 END)"
)
"""SQL: milliseconds that a row has left at a `clock_reading`."""
LIVES = f"{LEFT_MS} > 0"
RENEWED = (
    "since_ms = :now, timer = :timer,"
    f" until_ms = :now + max(:at_least, cast({LEFT_MS} AS INTEGER)),"
    f" timer_ms = :elapsed + max(:at_least, {LEFT_MS})"
)
"""SQL: the same end on the clocks of now, but not before `at_least` milliseconds."""


def clock_reading(clock: Clock) -> dict[str, Any]:
    """Parameters of the SQL above. Read inside the transaction, so waiting for the store counts."""
    return {"now": clock.now_ms(), "timer": clock.timer, "elapsed": clock.monotonic_ms()}


def deadline_columns(at: dict[str, Any], duration_ms: int) -> dict[str, Any]:
    return {
        "since_ms": at["now"],
        "until_ms": at["now"] + duration_ms,
        "timer": at["timer"],
        "timer_ms": at["elapsed"] + duration_ms,
    }


State = Literal["pending", "approved", "denied", "expired", "withdrawn", "void"]
"""A pending one can become any other; an approved one is used once or becomes void. Others are final."""
TABLES = (
    """
    CREATE TABLE approvals (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL DEFAULT 'pending', created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL,
        kind TEXT NOT NULL, capability TEXT NOT NULL, instruction TEXT NOT NULL,
        reason TEXT NOT NULL, why TEXT NOT NULL, action TEXT NOT NULL, digest TEXT NOT NULL,
        device TEXT NOT NULL, fingerprint TEXT NOT NULL, label TEXT NOT NULL, screenshot TEXT,
        door TEXT NOT NULL, asked_by TEXT NOT NULL, offered TEXT NOT NULL,
        token_hash TEXT NOT NULL, mailbox TEXT, answered_ms INTEGER, answered_by TEXT, note TEXT, data TEXT,
        remember TEXT, consumed_ms INTEGER
    ) STRICT;
    CREATE INDEX approvals_open ON approvals (state, expires_ms)
    """,
    # A question from before this migration has no asker and no time left.
    ";".join(
        f"ALTER TABLE approvals ADD COLUMN {column}"
        for column in ("asker TEXT NOT NULL DEFAULT ''", *COLUMNS.split(","))
    ),
    "ALTER TABLE approvals ADD COLUMN scope TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE approvals ADD COLUMN scope_said TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE approvals ADD COLUMN volatile TEXT NOT NULL DEFAULT '{}';"
    "ALTER TABLE approvals ADD COLUMN may_change TEXT NOT NULL DEFAULT '[]'",
)


@dataclass(frozen=True, slots=True)
class AskedApproval:
    """A stored question, with its answer once there is one."""

    seq: int
    id: str
    state: State
    created_ms: int
    expires_ms: int
    request: AuthorizationRequest
    answered_ms: int | None = None
    answered_by: str | None = None
    note: str | None = None
    data: Any = None
    """Holds placeholders if the capability is secret."""
    remember: Span | None = None
    consumed_ms: int | None = None
    mailbox: str | None = None
    may_change: tuple[str, ...] = ()
    """Keys of `request.volatile` that the person lets change."""

    @property
    def action_type(self) -> str:
        return str(self.request.action["type"])

    @property
    def is_open(self) -> bool:
        return self.state == "pending"

    def to_dict(self) -> dict[str, Any]:
        question, answered, consumed = self.request, self.answered_ms, self.consumed_ms
        data = {
            "id": self.id, "seq": self.seq, "state": self.state, "created": iso_time(self.created_ms),
            "expires": iso_time(self.expires_ms), "kind": question.kind,
            "capability": question.capability if question.kind == "human_auth" else None,
            "instruction": question.instruction,
            "reason": question.reason or None, "why": question.why or None,
            "action": dict(question.action), "digest": question.digest, "device": question.device,
            "fingerprint": question.fingerprint, "label": question.label or None,
            "screenshot": question.screenshot, "door": question.door or None,
            "asked_by": question.asked_by or None, "may_remember": question.remember,
            "may_allow": question.may_allow or None, "volatile": list(question.volatile.values()) or None,
            "answered": iso_time(answered) if answered is not None else None, "answered_by": self.answered_by,
            "note": self.note, "data": self.data, "remember": self.remember,
            "consumed": iso_time(consumed) if consumed is not None else None,
        }  # fmt: skip
        return {key: value for key, value in data.items() if value is not None}


ClockReading = dict[str, Any]
_QUESTION_COLUMNS = (
    "kind", "capability", "instruction", "reason", "why", "digest", "device", "fingerprint", "label",
    "screenshot", "door", "asked_by", "asker",
)  # fmt: skip
"""Columns that are fields of the question."""
_ROW_COLUMNS = (
    "seq", "id", "state", "created_ms", "expires_ms", "answered_ms", "answered_by", "note", "remember",
    "consumed_ms", "mailbox",
)  # fmt: skip
"""Columns that are fields of its row."""


def insert(
    db: sqlite3.Connection,
    id_: str,
    request: AuthorizationRequest,
    at: ClockReading,
    token_hash: str,
    mailbox: str | None,
) -> None:
    deadline = deadline_columns(at, request.timeout_ms)
    values = {name: getattr(request, name) for name in _QUESTION_COLUMNS} | {
        "id": id_, "created_ms": at["now"], "expires_ms": deadline["until_ms"], "offered": request.remember,
        "action": json.dumps(dict(request.action)), "volatile": json.dumps(dict(request.volatile)),
        "token_hash": token_hash, "mailbox": mailbox, **deadline,
        "scope": request.scope.key, "scope_said": request.scope.sentence,
    }  # fmt: skip
    names = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    db.execute(f"INSERT INTO approvals ({names}) VALUES ({marks})", values)  # noqa: S608  (our own names)


def expire(db: sqlite3.Connection, at: ClockReading) -> None:
    """Ends requests without time left for good, so that a clock set back later does not revive them."""
    late = f"state = 'pending' AND NOT {LIVES}"
    if db.execute(f"SELECT 1 FROM approvals WHERE {late} LIMIT 1", at).fetchone():  # noqa: S608
        db.execute(f"UPDATE approvals SET state = 'expired', token_hash = '' WHERE {late}", at)  # noqa: S608


def answer(
    db: sqlite3.Connection, id_: str, at: ClockReading, values: dict[str, Any], usable_ms: int
) -> bool:
    """Returns whether this answer counts: the first one, and in time."""
    expire(db, at)
    names = "".join(f"{name} = :{name}, " for name in values)
    order = (
        f"UPDATE approvals SET {names}answered_ms = :now, token_hash = '', {RENEWED}"  # noqa: S608
        f" WHERE id = :id AND state = 'pending' AND {LIVES}"
    )
    return db.execute(order, {**values, **at, "id": id_, "at_least": usable_ms}).rowcount > 0


def use(db: sqlite3.Connection, id_: str, at: ClockReading, digest: str, asker: str) -> bool:
    """Uses an approval up: once, in time, for the action and the asker that it was given to."""
    order = (
        "UPDATE approvals SET consumed_ms = :now WHERE id = :id AND state = 'approved'"  # noqa: S608
        f" AND consumed_ms IS NULL AND digest = :digest AND asker = :asker AND {LIVES}"
    )
    return db.execute(order, {**at, "id": id_, "digest": digest, "asker": asker}).rowcount > 0


def end(db: sqlite3.Connection, id_: str) -> State | None:
    """Withdraws an open question, voids an unused approval. None if there was nothing to end."""
    order = (
        "UPDATE approvals SET state = CASE state WHEN 'pending' THEN 'withdrawn' ELSE 'void' END,"
        " token_hash = '' WHERE id = ? AND state IN ('pending', 'approved') AND consumed_ms IS NULL"
        " RETURNING state"
    )
    ended = db.execute(order, (id_,)).fetchall()
    return ended[0][0] if ended else None


def unfinished(db: sqlite3.Connection, at: ClockReading, digest: str, asker: str) -> list[str]:
    """Ids of this asker's unfinished questions about this action, without answers that hold data."""
    order = (
        "SELECT id FROM approvals WHERE digest = :digest AND asker = :asker AND consumed_ms IS NULL"  # noqa: S608
        f" AND data IS NULL AND state IN ('pending', 'approved') AND {LIVES} ORDER BY seq DESC"
    )
    return [row[0] for row in db.execute(order, {**at, "digest": digest, "asker": asker})]


def left_ms(db: sqlite3.Connection, id_: str, at: ClockReading) -> float:
    row = db.execute(f"SELECT {LEFT_MS} FROM approvals WHERE id = :id", {**at, "id": id_}).fetchone()  # noqa: S608
    return float(row[0]) if row else 0.0


def read(row: sqlite3.Row) -> AskedApproval:
    request = AuthorizationRequest(
        **{name: row[name] for name in _QUESTION_COLUMNS},
        action=json.loads(row["action"]),
        scope=GrantScope(row["scope"], row["scope_said"]),
        remember=row["offered"],
        timeout_ms=row["expires_ms"] - row["created_ms"],
        volatile=json.loads(row["volatile"]),
    )
    return AskedApproval(
        **{name: row[name] for name in _ROW_COLUMNS},
        request=request,
        data=json.loads(row["data"]) if row["data"] else None,
        may_change=tuple(json.loads(row["may_change"])),
    )


PREFIX = "ap_"


def new_id() -> str:
    return PREFIX + secrets.token_hex(5)


_ID = re.compile(r"[a-z0-9_]{1,40}")
_RECENT = 200  # ids among which the nearest is looked for


def exact(db: sqlite3.Connection, id_: str) -> AskedApproval | None:
    row = db.execute("SELECT * FROM approvals WHERE id = ?", (id_,)).fetchone()
    return read(row) if row else None


def find(db: sqlite3.Connection, prefix: str) -> AskedApproval:
    """By id or unique prefix; of several matches, the one that is still open."""
    wanted = prefix.strip().lower()
    if _ID.fullmatch(wanted):
        beginning = wanted if wanted.startswith(PREFIX) else PREFIX + wanted
        rows = db.execute(
            "SELECT * FROM approvals WHERE substr(id, 1, ?) = ? ORDER BY seq DESC",
            (len(beginning), beginning),
        )
        approvals = [read(row) for row in rows]
        opened = [approval for approval in approvals if approval.is_open]
        if len(approvals) == 1 or len(opened) == 1:
            return (approvals if len(approvals) == 1 else opened)[0]
        if approvals:
            several = opened or approvals
            names = ", ".join(approval.id for approval in several[:5])
            message = f"{prefix} is the prefix of {len(several)} requests: {names}"
            raise InvalidAction(message, path="id", hint="Give one more letter.")
    recent = [row[0] for row in db.execute("SELECT id FROM approvals ORDER BY seq DESC LIMIT ?", (_RECENT,))]
    close = nearest(prefix, recent)
    hint = f"Did you mean {' or '.join(close)}?" if close else "`handrail approvals` lists what is open."
    raise InvalidAction(f"There is no request {prefix!r:.60}", path="id", hint=hint)


def pending(db: sqlite3.Connection) -> list[AskedApproval]:
    """Lists the oldest first."""
    return [read(row) for row in db.execute("SELECT * FROM approvals WHERE state = 'pending' ORDER BY seq")]


def history(db: sqlite3.Connection, limit: int, before: int | None) -> list[AskedApproval]:
    """Lists the newest first; `before` is a `seq`."""
    rows = db.execute(
        "SELECT * FROM approvals WHERE seq < ? ORDER BY seq DESC LIMIT ?",
        (before if before is not None else 1 << 62, limit),
    )
    return [read(row) for row in rows]


@dataclass(frozen=True, slots=True)
class Answer:
    """How a question ended. `data` holds placeholders if the capability is secret."""

    id: str
    decision: State
    by: str
    note: str
    data: Any
    remember: Span | None
    may_change: tuple[str, ...] = ()

    @classmethod
    def of(cls, approval: AskedApproval) -> Answer:
        by, note = approval.answered_by or "", approval.note or ""
        more = (approval.data, approval.remember, approval.may_change)
        return cls(approval.id, approval.state, by, note, *more)

    @property
    def approved(self) -> bool:
        return self.decision == "approved"

    def to_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value not in ("", None, ())}

    def rejection(self) -> ActionRejected:
        match self.decision:
            case "denied":
                note = f": {self.note}" if self.note else ""
                return ActionRejected(f"{self.by} said no{note}", approval=self.id, decision=self.decision)
            case "expired":
                return ActionRejected(
                    "No one answered in time",
                    hint="Ask the person to be there, then send the action again.",
                    approval=self.id,
                    decision=self.decision,
                )
        return ActionRejected(f"The request was {self.decision}", approval=self.id, decision=self.decision)


GRANT_TABLES = (
    f"""
    CREATE TABLE grants (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, scope TEXT NOT NULL,
        device TEXT NOT NULL, asker TEXT NOT NULL, asked_by TEXT NOT NULL, said TEXT NOT NULL,
        granted_by TEXT NOT NULL, times INTEGER NOT NULL, used INTEGER NOT NULL DEFAULT 0, ended_ms INTEGER,
        {COLUMNS}
    ) STRICT;
    CREATE INDEX grants_by_scope ON grants (scope, device, asker)
    """,
)
GRANT_PREFIX = "gr_"
LONGEST_GRANT_MS, MOST_GRANT_TIMES = 24 * 3_600_000, 100
USUAL_GRANT_MS, USUAL_GRANT_TIMES = 3_600_000, 5
_COUNTS = f"ended_ms IS NULL AND used < times AND {LIVES}"


@dataclass(frozen=True, slots=True)
class GrantTerms:
    """How long a grant counts, and how often after the approved action itself."""

    for_ms: int
    times: int

    @classmethod
    def read(cls, for_ms: int | None, times: int | None) -> GrantTerms | None:
        """Returns None if both are None. Raises `InvalidAction`."""
        if for_ms is None and times is None:
            return None
        allowance = cls(
            USUAL_GRANT_MS if for_ms is None else for_ms, USUAL_GRANT_TIMES if times is None else times
        )
        if not 0 < allowance.for_ms <= LONGEST_GRANT_MS:
            raise InvalidAction("It can be allowed for at most 24 hours", path="for", hint="Give 30m or 2h.")
        if not 0 < allowance.times <= MOST_GRANT_TIMES:
            hint = "Give a number of times."
            raise InvalidAction(f"It can be allowed 1 to {MOST_GRANT_TIMES} times", path="times", hint=hint)
        return allowance


@dataclass(frozen=True, slots=True)
class Grant:
    """What a person allowed for a time: a class of actions, to one asker, on one device, some times."""

    id: str
    sentence: str
    device: str
    asked_by: str
    granted_by: str
    times: int
    used: int
    until_ms: int
    ended_ms: int | None = None

    @property
    def left(self) -> int:
        return self.times - self.used

    def __str__(self) -> str:
        """`mcp may tap 'Send' in com.example.mail on emulator-5554 until 18:00, 3 of 5 times left`"""
        until = f"{datetime.fromtimestamp(self.until_ms / 1000):%H:%M}"
        who, left = self.asked_by or "the asker", f"{self.left} of {self.times} times left"
        return f"{who} may {self.sentence} on {self.device} until {until}, {left}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id, "sentence": str(self), "said": self.sentence, "device": self.device,
            "asked_by": self.asked_by, "granted_by": self.granted_by, "times": self.times, "left": self.left,
            "until": iso_time(self.until_ms),
        }  # fmt: skip


def grant_id(approval: str) -> str:
    """The grant's id, by the id of the approval that it came with."""
    return GRANT_PREFIX + approval.partition("_")[2]


def insert_grant(
    db: sqlite3.Connection,
    approval: str,
    request: AuthorizationRequest,
    allowed: GrantTerms,
    by: str,
    at: dict[str, Any],
) -> None:
    """Runs in the transaction of the answer."""
    values = {
        "id": grant_id(approval), "scope": request.scope.key, "device": request.device,
        "asker": request.asker, "said": request.scope.sentence,
        "asked_by": request.asked_by, "granted_by": by, "times": allowed.times,
        **deadline_columns(at, allowed.for_ms),
    }  # fmt: skip
    marks = ", ".join(f":{name}" for name in values)
    db.execute(f"INSERT INTO grants ({', '.join(values)}) VALUES ({marks})", values)  # noqa: S608


class Grants:
    """The grants of one home."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        store.create_tables("grants", GRANT_TABLES)

    async def use(self, scope: str, device: str, asker: str, agent: str) -> Grant | None:
        """Counts one use. None if no grant covers it. Agents that share a token are told apart by name."""

        def count(db: sqlite3.Connection) -> list[Grant]:
            at = {**self._ended(db), "scope": scope, "device": device, "asker": asker, "agent": agent}
            order = (
                "UPDATE grants SET used = used + 1 WHERE seq = (SELECT seq FROM grants WHERE scope = :scope"  # noqa: S608
                " AND device = :device AND asker = :asker AND asked_by = :agent"
                f" AND {_COUNTS} ORDER BY seq LIMIT 1)"
                f" AND {_COUNTS} RETURNING *"
            )
            return [_read(row) for row in db.execute(order, at).fetchall()]

        rows = await self._store.write(count) if scope and asker else []
        return rows[0] if rows else None

    async def active(self) -> list[Grant]:
        """Grants that still count, newest first."""

        def find(db: sqlite3.Connection) -> list[Grant]:
            rows = db.execute(f"SELECT * FROM grants WHERE {_COUNTS} ORDER BY seq DESC", self._ended(db))  # noqa: S608
            return [_read(row) for row in rows]

        return await self._store.read(find)

    async def revoke(self, id_: str) -> Grant:
        """By id or by a prefix that is unique among the grants that count."""
        bare = id_.strip().lower().removeprefix(GRANT_PREFIX) or "?"
        grants = [grant for grant in await self.active() if grant.id.startswith(GRANT_PREFIX + bare)]
        if len(grants) != 1:
            many = ", ".join(grant.id for grant in grants[:5])
            message = (
                f"{id_!r:.60} is the prefix of several: {many}" if grants else f"There is no {id_!r:.60}"
            )
            raise InvalidAction(message, path="id", hint="`handrail policy grants` lists what counts.")
        now = self._clock.now_ms()
        order = "UPDATE grants SET ended_ms = ? WHERE id = ? AND ended_ms IS NULL"
        await self._store.write(lambda db: db.execute(order, (now, grants[0].id)))
        return grants[0]

    def _ended(self, db: sqlite3.Connection) -> dict[str, Any]:
        """Ends grants without time left for good. Returns the clock reading."""
        at = clock_reading(self._clock)
        late = f"ended_ms IS NULL AND NOT {LIVES}"
        if db.execute(f"SELECT 1 FROM grants WHERE {late} LIMIT 1", at).fetchone():  # noqa: S608
            db.execute(f"UPDATE grants SET ended_ms = :now WHERE {late}", at)  # noqa: S608
        return at


def _read(row: sqlite3.Row) -> Grant:
    return Grant(
        row["id"], row["said"], row["device"], row["asked_by"], row["granted_by"], row["times"], row["used"],
        row["until_ms"], row["ended_ms"],
    )  # fmt: skip
