"""One entry: an event as canonical JSON, the columns that searches use, and its link in the hash chain.

Pure: knows neither SQLite nor files. Redaction happens here, before anything is hashed or stored.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from handrail.engine.redaction import Redact, redact_data

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
    body = canonical(event)
    if redact(body) != body:  # one search in the whole text is far cheaper than one in every string
        event = _without_secrets(event, redact)
        body = canonical(event)
    given = event.get("at_ms")
    return Entry(given if isinstance(given, int) else now_ms, columns_of(event), body)


OURS = frozenset({"kind", "action_id", "session", "device", "actor", "door", "blobs", "approval"})
OURS_IN_ENVELOPE = frozenset(
    {"action_id", "timestamp", "action_type", "semantic", "device", "lifecycle_state", "source_module"}
    | {"failure_code", "delivery", "ui_fingerprint_before", "ui_fingerprint_after"}
    | {"revision_before", "revision_after", "timings_ms", "approval"}
)
"""What the engine made itself, by its place in the event. A PIN of four digits may well occur in a timestamp
or a hash; redacting it there would hide nothing and make the record unreadable.
"""


def _without_secrets(event: Event, redact: Redact) -> Event:
    clean = _redact_others(event, OURS | {"envelope"}, redact)
    envelope = event.get("envelope")
    if isinstance(envelope, dict):
        clean["envelope"] = _redact_others(envelope, OURS_IN_ENVELOPE, redact)
    elif envelope is not None:
        clean["envelope"] = redact_data(envelope, redact)
    return clean


def _redact_others(part: Event, ours: frozenset[str], redact: Redact) -> Event:
    kept = {key: value for key, value in part.items() if key in ours}
    others: Event = redact_data({key: value for key, value in part.items() if key not in ours}, redact)
    return {**kept, **others}


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str).encode


def canonical(value: Any) -> str:
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
        _text(event.get("action_id")),
        _text(event.get("session")),
        _text(event.get("device")),
        _text(action.get("type") or envelope.get("action_type")),
        1 if event.get("terminal") is True else 0,
        1 if kind == "failed" or envelope.get("success") is False else 0,
    )


def _text(value: Any) -> str | None:
    return value if value is None or type(value) is str else str(value)


def link(seq: int, at_ms: int, previous: str, body: str) -> str:
    """The entry's own hash, which the next entry is bound to."""
    return hashlib.sha256(f"{seq}\n{at_ms}\n{previous}\n{body}".encode()).hexdigest()
