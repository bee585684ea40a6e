"""Reading the journal: entries as values, lists of actions, one in full, lines for export. Never writes."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from handrail.errors import InvalidAction
from handrail.journal.redaction import Redact, redact_data
from handrail.protocol.actions import ACTIONS

UNFINISHED = "unfinished"
"""The state of an action whose terminal event is not there: in flight, or its process died."""

ENDS = """
(terminal = 1 AND action_id IS NOT NULL) OR (kind = 'accepted' AND NOT EXISTS (
    SELECT 1 FROM journal AS later WHERE later.action_id = journal.action_id AND later.terminal = 1))
"""


@dataclass(frozen=True, slots=True)
class ActionRow:
    """One action, in one line."""

    seq: int
    """Of the event that ended it, or of `accepted` where none did."""
    at_ms: int
    action_id: str
    type: str | None
    state: str
    failure_code: str | None
    device: str | None
    session: str | None
    actor: dict[str, Any] | None
    door: str | None
    reason: str | None
    about: str = ""
    """What it was about: an element's words, a key, an app. '' where the type alone says it."""
    action: Mapping[str, Any] = field(default_factory=dict)
    """As it was accepted; empty where that was not written."""

    def to_dict(self) -> dict[str, Any]:
        """Writes what the event has; what it was about is for people's lists."""
        fields = asdict(self)
        del fields["about"], fields["action"]
        return {key: value for key, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ShownAction:
    """One action with everything that is known of it."""

    action_id: str | None
    events: list[Event]
    """Each with its `seq` and `hash`."""
    envelope: Event | None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which actions; None is any. `before` is a `seq`, `since` is in milliseconds since 1970."""

    before: int | None = None
    device: str | None = None
    type: str | None = None
    since: int | None = None
    failed: bool | None = None

    def sql(self) -> tuple[str, list[object]]:
        columns = ("seq <", "device =", "type =", "at_ms >=", "failed =")
        values = (self.before, self.device, self.type, self.since, self.failed)
        return _where_clause({f"{column} ?": value for column, value in zip(columns, values, strict=True)})


def query_actions(db: sqlite3.Connection, wanted: Filter, limit: int) -> list[ActionRow]:
    """Lists the newest first. The next page begins `before` the last `seq`."""
    clauses, values = wanted.sql()
    rows = db.execute(
        f"SELECT seq, at_ms, body FROM journal WHERE ({ENDS}){clauses} ORDER BY seq DESC LIMIT ?",  # noqa: S608
        [*values, limit],
    )
    return [_action_row(db, *row) for row in rows]


def _action_row(db: sqlite3.Connection, seq: int, at_ms: int, body: str) -> ActionRow:
    event = json.loads(body)
    # Who asked for it stands in the first event; the others need not repeat it.
    accepted = db.execute(
        "SELECT body FROM journal WHERE action_id = ? AND kind = 'accepted' LIMIT 1", (event["action_id"],)
    ).fetchone()
    first: Event = (json.loads(accepted[0]) if accepted else {}) | event
    envelope = event.get("envelope") or {}
    device = first.get("device")
    return ActionRow(
        seq,
        at_ms,
        str(event["action_id"]),
        (first.get("action") or {}).get("type") or envelope.get("action_type"),
        event["kind"] if event.get("terminal") else UNFINISHED,
        envelope.get("failure_code"),
        None if device is None else str(device),
        first.get("session"),
        first.get("actor"),
        first.get("door"),
        first.get("reason") or envelope.get("reason"),
        action_words(first.get("action") or {}, envelope),
        first.get("action") or {},
    )


ABOUT = 80
"""Characters that say what an action was about."""


def action_words(action: Event, envelope: Event) -> str:
    """What the action was about, in a few words for lists."""
    resolved = (envelope.get("target") or {}).get("resolved") or {}
    action_class = ACTIONS.get(action.get("type", ""))
    argument = action.get(action_class.traits.shorthand or "") if action_class else None
    if isinstance(argument, dict):  # a target that was not found
        keys = ("text", "description", "id", "ref")
        argument = next((argument[key] for key in keys if key in argument), None)
    if isinstance(argument, list):
        argument = " ".join(map(str, argument))
    words = resolved.get("text") or resolved.get("accessibility_id") or argument
    return words[:ABOUT] if isinstance(words, str) else ""


def show_action(db: sqlite3.Connection, wanted: str | int) -> ShownAction:
    """All events of an action, by its id or by the number of any of its entries."""
    action_id = str(wanted)
    if action_id.isdecimal():
        row = db.execute("SELECT * FROM journal WHERE seq = ?", (int(action_id),)).fetchone()
        if row is None:
            raise _unknown_action(wanted)
        if row["action_id"] is None:
            return ShownAction(None, [_event(row)], None)
        action_id = row["action_id"]
    rows = db.execute("SELECT * FROM journal WHERE action_id = ? ORDER BY seq", (action_id,))
    events = [_event(row) for row in rows]
    if not events:
        raise _unknown_action(wanted)
    envelope = next((event["envelope"] for event in reversed(events) if "envelope" in event), None)
    return ShownAction(action_id, events, envelope)


def _unknown_action(wanted: str | int) -> InvalidAction:
    return InvalidAction(
        f"the journal has no action or entry {wanted}",
        hint="`handrail journal list` shows the actions there are.",
        path="action",
    )


def _event(row: sqlite3.Row) -> Event:
    return {"seq": row["seq"], "at_ms": row["at_ms"], **json.loads(row["body"]), "hash": row["hash"]}


def event_lines(
    db: sqlite3.Connection, device: str | None, since: int | None, action_id: str | None
) -> Iterator[str]:
    """Every event that is wanted as one line of JSON, oldest first."""
    wanted = {"device = ?": device, "at_ms >= ?": since, "action_id = ?": action_id}
    clauses, values = _where_clause(wanted)
    rows = db.execute(f"SELECT * FROM journal WHERE 1{clauses} ORDER BY seq", values)  # noqa: S608
    for row in rows:
        yield json.dumps(_event(row), ensure_ascii=False, separators=(",", ":"))


def _where_clause(wanted: Mapping[str, object]) -> tuple[str, list[object]]:
    conditions = {clause: value for clause, value in wanted.items() if value is not None}
    return "".join(f" AND {clause}" for clause in conditions), list(conditions.values())


Event = dict[str, Any]
Columns = tuple[str, str | None, str | None, str | None, str | None, int, int]

GENESIS = hashlib.sha256(b"handrail journal").hexdigest()
"""What the first entry names as its predecessor, and the head of an empty journal."""

NOTHING: Event = {}

HEAD_MISMATCH = "head_mismatch"
"""The kind of the entry that a writer adds when the head file does not fit the entries."""


class Entry(NamedTuple):
    """An event that has no place in the chain yet."""

    at_ms: int
    columns: Columns
    body: str


def entry_of(event: Event, now_ms: int, redact: Redact) -> Entry:
    """The event as it will be stored: without secrets, with a time, in canonical JSON."""
    body = canonical_json(event)
    if redact(body) != body:  # one search in the whole text is far cheaper than one in every string
        clean = _redact_others(event, OURS, redact)
        envelope = event.get("envelope")
        if isinstance(envelope, dict):
            clean["envelope"] = _redact_others(envelope, OURS_IN_ENVELOPE, redact)
        event = clean
        body = canonical_json(event)
    at_ms = event.get("at_ms")
    return Entry(at_ms if isinstance(at_ms, int) else now_ms, columns_of(event), body)


OURS = frozenset({"kind", "action_id", "session", "device", "actor", "door", "blobs", "approval", "attempt"})
OURS_IN_ENVELOPE = frozenset(
    {"action_id", "timestamp", "action_type", "semantic", "device", "lifecycle_state", "source_module"}
    | {"failure_code", "delivery", "ui_fingerprint_before", "ui_fingerprint_after"}
    | {"revision_before", "revision_after", "timings_ms", "approval"}
)
"""What the engine made itself, by its place in the event. A PIN of four digits may well occur in a timestamp
or a hash; redacting it there would hide nothing and make the record unreadable.
"""


def _redact_others(part: Event, ours: frozenset[str], redact: Redact) -> Event:
    own_fields = {key: value for key, value in part.items() if key in ours}
    others: Event = redact_data({key: value for key, value in part.items() if key not in ours}, redact)
    return {**own_fields, **others}


_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str, check_circular=False
).encode
"""Events are data, without circles: looking for them costs as much as an entry's leaf in the tree."""


def canonical_json(value: Any) -> str:
    """Sorted keys, no spaces, no escapes but JSON's own; lone surrogates as \\udxxx."""
    text = _encode(value)
    if not text.isascii():
        text = text.encode(errors="backslashreplace").decode()
    return text


def columns_of(event: Event) -> Columns:
    """kind, action_id, session, device, type, terminal, failed: always what the body says."""
    envelope, action = event.get("envelope"), event.get("action")
    envelope = envelope if isinstance(envelope, dict) else NOTHING
    action = action if isinstance(action, dict) else NOTHING
    kind = event.get("kind", "note")
    return (
        str(kind),
        _text_or_none(event.get("action_id")),
        _text_or_none(event.get("session")),
        _text_or_none(event.get("device")),
        _text_or_none(action.get("type") or envelope.get("action_type")),
        1 if event.get("terminal") is True else 0,
        1 if kind == "failed" or envelope.get("success") is False else 0,
    )


def _text_or_none(value: Any) -> str | None:
    return value if value is None or type(value) is str else str(value)


def entry_hash(seq: int, at_ms: int, previous: str, body: str) -> str:
    """The entry's own hash, which the next entry is bound to."""
    return hashlib.sha256(f"{seq}\n{at_ms}\n{previous}\n{body}".encode()).hexdigest()
