"""Which actions a person looks for in the journal: columns by the query, words by reading page after page."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handrail.engine.journal.query import ActionRow, Filter, Shown, actions, show
from handrail.errors import InvalidAction
from handrail.protocol.actions import ACTIONS

LIMIT, MOST = 50, 500
"""Rows of a page: usually, and at most."""
READ = 500
"""Rows that are read at once when each has to be looked at."""
FAR = 20_000
"""Rows that one search looks at; the next page goes on from there."""


ABOUT = 80
"""Characters that say what an action was about."""
DIGITS = 18
"""Of a number that is surely one of SQLite's integers."""
ANY = Filter()


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows, and the `seq` before which the next page begins; None at the end."""

    rows: list[ActionRow]
    next: int | None

    def to_dict(self, db: sqlite3.Connection) -> dict[str, Any]:
        """Each row with what it was about: an element's words, a key, an app."""
        told = [row.to_dict() | {"about": about(show(db, row.action_id))} for row in self.rows]
        return {"actions": told, "next": self.next}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A search. Every field narrows it."""

    limit: int = LIMIT
    columns: Filter = ANY
    states: frozenset[str] = frozenset()
    actor: str | None = None
    session: str | None = None
    text: str = ""
    touches_only: bool = False

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> Wanted:
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


def search(db: sqlite3.Connection, wanted: Wanted) -> Page:
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


def about(shown: Shown) -> str:
    """In a few words; '' where the type alone says it."""
    target = (shown.envelope or {}).get("target") or {}
    found = target.get("resolved") or {}
    action: dict[str, Any] = next((event["action"] for event in shown.events if "action" in event), {})
    known = ACTIONS.get(action.get("type", ""))
    given = action.get(known.traits.shorthand) if known and known.traits.shorthand else None
    if isinstance(given, dict):  # a target that was not found
        given = next((given[key] for key in ("text", "description", "id", "ref") if key in given), None)
    words = found.get("text") or found.get("accessibility_id") or given
    return words[:ABOUT] if isinstance(words, str) else ""


def _page(rows: list[ActionRow], limit: int, before: int | None) -> Page:
    if len(rows) > limit:
        return Page(rows[:limit], rows[limit - 1].seq)
    return Page(rows, before)


def _before(columns: Filter, seq: int | None) -> Filter:
    return Filter(seq, columns.device, columns.type, columns.since, columns.failed)


def _words(row: ActionRow) -> str:
    actor = row.actor or {}
    parts = (row.action_id, row.type, row.state, row.failure_code, row.device, row.reason, actor.get("id"))
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
