"""Somebody who has a journal's home and its key, knows the program, and rewrites the past so that it fits."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from random import Random

from handrail.journal.merkle_store import add_missing_leaves, cut_tree
from handrail.journal.query import GENESIS, canonical_json, columns_of, entry_hash
from handrail.journal.signed_log import JournalLog

Row = tuple[int, str]
"""The time and the body of an entry."""


def rows_of(home: Path) -> list[Row]:
    db = sqlite3.connect(home / "handrail.db")
    rows = db.execute("SELECT at_ms, body FROM journal ORDER BY seq").fetchall()
    db.close()
    return rows


def rewrite(home: Path, rows: list[Row]) -> None:
    """The journal with these entries instead: chain, columns, count, head file, tree and signature all fit.

    Leaves of entries that stay are kept with their salts: nothing that need not change does.
    """
    kept = first_difference(rows_of(home), rows) - 1
    db = sqlite3.connect(home / "handrail.db", isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    db.execute("DELETE FROM journal")
    cut_tree(db, kept)
    previous = GENESIS
    for seq, (at_ms, body) in enumerate(rows, 1):
        previous = entry_hash(seq, at_ms, previous, body)
        values = (seq, at_ms, previous, *columns_of(json.loads(body)), body)
        db.execute(f"INSERT INTO journal VALUES ({', '.join('?' * 11)})", values)
    db.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'journal'", (len(rows),))
    add_missing_leaves(db, len(rows), len(rows))
    db.execute("COMMIT")
    db.close()
    (home / "journal.head").write_text(f"{len(rows):020d} {previous}\n")
    (home / "journal.checkpoint").unlink(missing_ok=True)
    log = JournalLog(home)
    log.checkpoint()
    log.close()


def first_difference(before: list[Row], after: list[Row]) -> int:
    """The number of the first entry that is not what it was."""
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    return same + 1


def tampered(rows: list[Row], random: Random) -> list[Row]:
    """Changed, removed, added, swapped, moved or cut off, anywhere, several times."""
    rows = list(rows)
    for _ in range(random.randrange(1, 4)):
        place = random.randrange(len(rows))
        way = random.choice(("text", "time", "remove", "insert", "swap", "cut", "append"))
        if way == "text":
            event = json.loads(rows[place][1]) | {"reason": f"another {random.random()}"}
            rows[place] = (rows[place][0], canonical_json(event))
        elif way == "time":
            rows[place] = (rows[place][0] + random.randrange(1, 1000), rows[place][1])
        elif way == "remove" and len(rows) > 2:
            rows.pop(place)
        elif way == "insert":
            rows.insert(place, (1_710_000_000_000, canonical_json({"kind": "note", "n": random.random()})))
        elif way == "swap" and place:
            rows[place], rows[place - 1] = rows[place - 1], rows[place]
        elif way == "cut" and place > 1:
            del rows[place:]
        else:
            rows.append((1_710_000_000_000, canonical_json({"kind": "note", "n": random.random()})))
    return rows


def copy_of(home: Path, place: Path) -> Path:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(home, place)
    return place
