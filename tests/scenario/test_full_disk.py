"""A disk that fills under a running program: nothing unjournalled is delivered, it is told as full, and it
works again when there is room. Judged by the phone's own input log and by plain sqlite3.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import StoreFull
from handrail.protocol.envelope import Envelope
from tests.scenario.test_desk_actions import window, with_desk
from tests.scenario.world import FastClock, World, play, until

LONG = "👍" * 1_000
"""More than the room that is left in a page."""
SHOP = "com.handrail.shop"
Fill = Callable[[World], Awaitable[Callable[[], None]]]


async def no_more_pages(w: World) -> Callable[[], None]:
    """Every connection that writes is told that its database may not grow: SQLite's own FULL. Undoes it."""
    found: list[sqlite3.Connection] = []

    def caught(db: sqlite3.Connection) -> Callable[[], None]:
        found.append(db)
        return lambda: None

    w.runtime.journal.keep(caught)
    await w.runtime.journal.durable()
    await w.runtime.store.read(found.append)
    for db in found:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for db in found:
        db.execute("PRAGMA max_page_count = 1")

    def freed() -> None:
        for db in found:
            db.execute("PRAGMA max_page_count = 1073741823")

    return freed


async def no_room(w: World) -> Callable[[], None]:
    """Every byte of the disk is taken by somebody else."""
    filler = w.home / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65_536, 4_096, 512, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return lambda: filler.unlink(missing_ok=True)


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("only who may mount has a small disk; SQLite's own FULL is tried everywhere")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@asynccontextmanager
async def full(home: Path, fill: Fill) -> AsyncIterator[tuple[World, Any, Callable[[], None]]]:
    async with with_desk(home, clock=FastClock(10)) as (w, desk):
        await w.open(SHOP)
        assert (await w.runtime.desk_session().run(window("before"))).success
        free = await fill(w)
        try:
            yield w, desk, free
        finally:
            free()


async def refused(work: Awaitable[Envelope]) -> StoreFull:
    with pytest.raises(StoreFull) as told:
        await work
    assert told.value.hint
    return told.value


async def _is_refused_and_works_again(home: Path, fill: Fill) -> None:
    async with full(home, fill) as (w, desk, free):
        inputs, shown = len(w.inputs()), desk.snapshot()["windows"]
        refusals = [
            await refused(w.session.press_key("volume_up", reason=LONG)),
            await refused(w.session.press_key("back", reason=LONG)),
            await refused(w.session.tap({"x": 200, "y": 600}, reason=LONG)),
            await refused(w.session.start_app("com.android.settings", reason=LONG)),
            await refused(w.runtime.desk_session().run(window("during"), reason=LONG)),
        ]
        assert {one.details["delivery"] for one in refusals} == {"not_delivered"}
        assert all(one.retryable for one in refusals)
        assert len(w.inputs()) == inputs
        assert desk.snapshot()["windows"] == shown
        free()
        again = await until(lambda: _tried(w))
        assert again.success, again.to_json()
        assert (await w.runtime.desk_session().run(window("after"))).success
        assert len(w.inputs()) > inputs
        verdict = w.runtime.journal.verify()
        assert verdict.ok, verdict
        assert sorted(_windows(home)) == ["monitor-0/after", "monitor-0/before"]
        assert _journalled(home, "start_app") == 2
        assert await asyncio.to_thread(_phone_only_did_what_is_written, w, home)


async def _tried(w: World) -> Envelope | None:
    try:
        return await w.session.press_key("volume_down")
    except StoreFull:
        return None


def _windows(home: Path) -> list[str]:
    with closing(sqlite3.connect(home / "handrail.db")) as db:
        return [row[0] for row in db.execute("SELECT key FROM desk_windows")]


def _journalled(home: Path, kind: str) -> int:
    with closing(sqlite3.connect(home / "handrail.db")) as db:
        order = "SELECT count(*) FROM journal WHERE kind = 'accepted' AND type = ?"
        return int(db.execute(order, (kind,)).fetchone()[0])


def _phone_only_did_what_is_written(w: World, home: Path) -> bool:
    keys = sum(one["action"] == "key" for one in w.inputs())
    return keys <= _journalled(home, "press_key")


def test_a_full_database_is_told_as_full_delivers_nothing_and_works_again(tmp_path: Path) -> None:
    play(_is_refused_and_works_again(tmp_path, no_more_pages))


def test_a_full_disk_is_told_as_full_delivers_nothing_and_works_again(tmp_path: Path) -> None:
    with small_disk(tmp_path / "small") as home:
        os.chmod(home, 0o700)
        play(_is_refused_and_works_again(home, no_room))
