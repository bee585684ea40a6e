"""What the journal costs: actions a second at synchronous FULL, beside the goals and beside a bare fsync.

Run from the repository: `python bench/journal.py [--seconds N] [--rounds N] [--entries N]`. An action is four
notes and one sealed event with an envelope of about 3 kB; redaction knows three secrets that never occur, as
on an ordinary day. Eight sessions take turns with a floor that has no session, no thread and no redaction.
Then single actions of a long journal are proved, whose entries stand far apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any

from handrail.clock import SystemClock
from handrail.journal import Journal
from handrail.journal.head import advance_head, create_head, read_head
from handrail.journal.proof import ActionProof
from handrail.journal.query import entry_of
from handrail.journal.signed_log import JournalLog
from handrail.journal.writer import STEPS, Appended, append, head_path, store_path
from handrail.safety.secrets import Secrets
from handrail.store import connect, migrate, transaction

ACTION = {"type": "tap", "target": "Save", "reason": "I save the contact because the form is complete."}
KNOWN = {f"HANDRAIL_SECRET_{name}": f"never-{name}-seen" for name in ("BANK", "MAIL", "SHOP")}


def envelope() -> dict[str, Any]:
    """About 3 kB, as an ordinary tap that changed a dozen elements answers."""
    changes = [
        {
            "kind": "changed",
            "ref": f"@b{n}",
            "label": f"Field number {n}",
            "property": "text",
            "before": f"the value before {n}",
            "after": f"the value after {n}",
        }
        for n in range(14)
    ]
    return {
        "timestamp": "2026-11-15T12:00:00.000Z",
        "action_type": "tap",
        "semantic": "selection",
        "reason": ACTION["reason"],
        "device": {"id": "127.0.0.1:6555", "model": "Handrail Simulator", "android_version": "15"},
        "lifecycle_state": "pending_verification",
        "source_module": "interact",
        "target": {
            "selector": {"text": "Save"},
            "resolved": {"ref": "@b1", "class": "android.widget.Button", "bounds": [24, 80, 1056, 200]},
        },
        "success": True,
        "delivery": "delivered",
        "ui_fingerprint_before": "a" * 64,
        "ui_fingerprint_after": "b" * 64,
        "changes": changes,
        "verification": {"mode": "best_effort", "outcome": "changed"},
        "settle": {"ms": 81.2, "reads": 2, "reason": "quiet"},
        "timings_ms": {"resolve": 4.1, "dispatch": 9.9, "settle": 81.2, "total": 97.0},
    }


ENVELOPE = envelope()


def events(session: str, number: int) -> list[dict[str, Any]]:
    """Four notes and the end of one action."""
    action_id = f"tap_1710000000000_{number}"
    same = {"action_id": action_id, "session": session, "device": "127.0.0.1:6555"}
    actor = {"kind": "agent", "id": "bench"}
    return [
        {**same, "kind": "accepted", "action": ACTION, "actor": actor, "door": "mcp"},
        {**same, "kind": "resolved", "ref": "@b1", "bounds": [24, 80, 1056, 200]},
        {**same, "kind": "dispatched", "channel": "adb"},
        {**same, "kind": "pending_verification"},
        {
            **same,
            "kind": "pending_verification",
            "terminal": True,
            "envelope": {**ENVELOPE, "action_id": action_id},
        },
    ]


async def act(journal: Journal, session: str, number: int) -> None:
    *notes, end = events(session, number)
    for note in notes:
        journal.note(note)
    await journal.seal(end)


async def live(journal: Journal, session: str, until: float) -> int:
    done = 0
    while time.perf_counter() < until:
        done += 1
        await act(journal, session, done)
    return done


async def rate(home: Path, sessions: int, seconds: float) -> float:
    journal = Journal.open(home, SystemClock(), redact=Secrets(KNOWN).redact)
    start = time.perf_counter()
    counts = await asyncio.gather(
        *(live(journal, f"s{number}", start + seconds) for number in range(sessions))
    )
    taken = time.perf_counter() - start
    await journal.close()
    return sum(counts) / taken


def floor(home: Path, sessions: int, seconds: float) -> float:
    """The same actions by nothing but JSON, two hashes an entry and one commit for all sessions together."""
    home.mkdir()
    db = connect(home / "floor.db")
    migrate(db, "journal", STEPS)
    done, previous, start = 0, "", time.perf_counter()
    while time.perf_counter() < start + seconds:
        rows: list[tuple[object, ...]] = []
        leaves = []
        for number in range(sessions):
            for event in events(f"s{number}", done):
                body = json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
                previous = sha256(f"{previous}{body}".encode()).hexdigest()
                leaves.append(sha256(f"{len(rows)}{body}".encode()).digest())
                ends = 1 if event.get("terminal") else 0
                kind, action_id, device = event["kind"], event["action_id"], event["device"]
                rows.append((0, previous, kind, action_id, event["session"], device, "tap", ends, 0, body))
            done += 1
        with transaction(db):
            places = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"] * len(rows))
            values = [value for row in rows for value in row]
            db.execute(f"INSERT INTO journal ({FLOOR_COLUMNS}) VALUES {places}", values)
            db.execute("INSERT INTO journal_leaves VALUES (?, ?)", (done, b"".join(leaves)))
    db.close()
    return done / (time.perf_counter() - start)


FLOOR_COLUMNS = "at_ms, hash, kind, action_id, session, device, type, terminal, failed, body"


def bare_fsync(folder: Path) -> float:
    """Milliseconds to append 8 kB and make it durable, as a commit of one action has to."""
    times = []
    with (folder / "fsync").open("wb", buffering=0) as file:
        for _ in range(200):
            start = time.perf_counter()
            file.write(b"x" * 8192)
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - start) * 1000)
    return median(times)


def proof(home: Path) -> tuple[int, float, float]:
    """Entries, entries verified a second, bytes of the store per action."""

    async def read() -> tuple[int, float, float]:
        journal = Journal.open(home, SystemClock())
        start = time.perf_counter()
        verdict = journal.verify()
        taken = time.perf_counter() - start
        assert verdict.ok, verdict.why
        await journal.close()
        size = sum(path.stat().st_size for path in home.glob("handrail.db"))
        return verdict.count, verdict.count / taken, size / (verdict.count / 5)

    return asyncio.run(read())


STEP = 10_000
APART = 300
"""Actions that are under way at once in the long journal: so far apart are the entries of each."""


def fill(home: Path, count: int) -> None:
    """A journal of so many entries, five for each action, written as the writer does but many at once."""
    with closing(connect(store_path(home))) as db:
        migrate(db, "journal", STEPS)
        create_head(head_path(home))
        done: Appended | None = None
        for start in range(0, count, STEP):
            told = read_head(head_path(home))
            some = [entry_of(long_event(number), number, str) for number in range(start, start + STEP)]
            with transaction(db):
                done = append(db, told, some, done)
            advance_head(head_path(home), done.head, force=False)


def long_event(number: int) -> dict[str, Any]:
    turn, action = divmod(number, APART)
    event = {"action_id": f"tap_{turn // 5}_{action}", "session": "s1", "kind": "resolved", "ref": "@b1"}
    return {**event, "terminal": True, "envelope": {"success": True}} if turn % 5 == 4 else event


def prove(home: Path, entries: int) -> None:
    """One checkpoint, and the proofs of actions from everywhere in the journal."""
    log = JournalLog(home)
    start = time.perf_counter()
    log.checkpoint()
    signed = (time.perf_counter() - start) * 1000
    key = log.signer().verifier
    made, checked, sizes = [], [], []
    for number in range(201):
        action = f"tap_{number * (entries // APART // 5) // 201}_{number}"
        start = time.perf_counter()
        text = str(log.prove(action))
        made.append((time.perf_counter() - start) * 1000)
        start = time.perf_counter()
        proof = ActionProof.parse(text.encode())
        proof.check([key])
        checked.append((time.perf_counter() - start) * 1000)
        sizes.append(len(text.encode()) - sum(len(one.body.encode()) for one in proof.entries))
    log.close()
    print(f"checkpoint of {entries:,} entries        {signed:9.1f} ms")
    typical, longest = median(made[1:]), max(made[1:])
    print(
        f"proof of one action among them         {typical:9.1f} ms   goal <= 50 warm; longest {longest:.1f}"
    )
    print(f"its size beside its own entries        {max(sizes):9,} B    goal <= 2,000")
    print(f"checking it without the journal        {median(checked):9.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10, help="of each row (default 10)")
    parser.add_argument("--rounds", type=int, default=21, help="turns of the eight sessions and the floor")
    parser.add_argument("--entries", type=int, default=1_000_000, help="in the journal of the proofs")
    options = parser.parse_args()
    seconds = options.seconds
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        fsync = bare_fsync(home)
        single = asyncio.run(rate(home / "one", 1, seconds))
        eights, floors = [], []
        for turn in range(options.rounds):
            eights.append(asyncio.run(rate(home / f"eight{turn}", 8, seconds / options.rounds)))
            floors.append(floor(home / f"floor{turn}", 8, seconds / options.rounds))
        eight, least = median(eights), median(floors)
        count, speed, size = proof(home / "eight0")
    kilobytes = len(json.dumps(ENVELOPE)) / 1000
    print(f"bare write + fdatasync of 8 kB         {fsync:9.3f} ms   {1000 / fsync:,.0f} a second at best")
    print(
        f"one session, sealed actions a second   {single:9,.0f}      goal >= 1,000; {kilobytes:.1f} kB each"
    )
    print(f"eight sessions together                {eight:9,.0f}      goal >= 5,000, or the floor")
    share = f"the floor; ours is {eight / least:.2f} of it"
    print(f"bare JSON, SHA-256 and SQLite          {least:9,.0f}      {share}")
    print(f"verify, entries a second               {speed:9,.0f}      {count:,} entries")
    print(f"store per action                       {size / 1000:9.1f} kB   five entries, indexes included")
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder), options.entries)
        prove(Path(folder), options.entries)


if __name__ == "__main__":
    main()
