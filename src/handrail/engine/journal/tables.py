"""The journal's tables in `handrail.db`. Steps only grow: a store in the field is brought up step by step."""

from __future__ import annotations

from pathlib import Path

STEPS = (
    """
    CREATE TABLE journal (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        at_ms INTEGER NOT NULL,
        hash TEXT NOT NULL,
        kind TEXT NOT NULL,
        action_id TEXT,
        session TEXT,
        device TEXT,
        type TEXT,
        terminal INTEGER NOT NULL,
        failed INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX journal_action ON journal (action_id) WHERE action_id IS NOT NULL;
    CREATE INDEX journal_ends ON journal (device, seq) WHERE terminal = 1;
    CREATE TABLE blobs (
        name TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('kept', 'swept', 'withheld'))
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX blobs_age ON blobs (at_ms, bytes) WHERE state = 'kept'
    """,
)


def store_path(home: Path) -> Path:
    """The store that all parts share."""
    return home / "handrail.db"


def head_path(home: Path) -> Path:
    """The count and the hash of the last entry."""
    return home / "journal.head"
