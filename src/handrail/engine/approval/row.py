"""The table of approvals, and one row of it as a value."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any, Literal

from handrail.clock import iso_time
from handrail.engine.approval.request import Request
from handrail.engine.policy.verdict import Span

State = Literal["pending", "approved", "denied", "expired", "withdrawn"]

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
)


@dataclass(frozen=True, slots=True)
class Approval:
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

    def is_open(self, now_ms: int) -> bool:
        return self.state == "pending" and now_ms < self.expires_ms

    def state_at(self, now_ms: int) -> State:
        """An open question whose asker died is expired all the same."""
        return "expired" if self.state == "pending" and now_ms >= self.expires_ms else self.state

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
            "answered": iso_time(self.answered_ms) if self.answered_ms is not None else None,
            "answered_by": self.answered_by,
            "note": self.note,
            "data": self.data,
            "remember": self.remember,
            "consumed": iso_time(self.consumed_ms) if self.consumed_ms is not None else None,
        }
        return {key: value for key, value in data.items() if value is not None}


def insert(
    db: sqlite3.Connection, id_: str, request: Request, now_ms: int, token_hash: str, mailbox: str | None
) -> None:
    """A new question, open from now on."""
    values = {
        "id": id_, "created_ms": now_ms, "expires_ms": now_ms + request.timeout_ms, "kind": request.kind,
        "capability": request.capability, "instruction": request.instruction, "reason": request.reason,
        "why": request.why,
        "action": json.dumps(dict(request.action)), "digest": request.digest, "device": request.device,
        "fingerprint": request.fingerprint, "label": request.label, "screenshot": request.screenshot,
        "door": request.door, "asked_by": request.asked_by, "offered": request.remember,
        "token_hash": token_hash, "mailbox": mailbox,
    }  # fmt: skip
    names = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    db.execute(f"INSERT INTO approvals ({names}) VALUES ({marks})", values)  # noqa: S608  (our own names)


def read(row: sqlite3.Row) -> Approval:
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
        remember=row["offered"],
        timeout_ms=row["expires_ms"] - row["created_ms"],
    )
    return Approval(
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
