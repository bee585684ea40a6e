"""The desk on disk: a restart restores it exactly, and what was written with an answer survives a kill."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from handrail.errors import StoreUnusable
from handrail.journal import Journal
from handrail_sim.clock import ManualClock
from tests.unit.desk.office import Office, office, settled
from tests.unit.desk.scene import survivor

SHORTCUT = {"id": "s1", "label": "L", "icon": "📄", "type": "file", "target": "a.md", "createdAt": 1}


async def furnish(here: Office) -> None:
    """A bit of everything."""
    for window in ("a", "b", "c"):
        await here.create(window)
    await here.create("clock", variant="widget", windowStyle={"color": "red"}, frameless=True)
    await here.create("bar", variant="panel", dockEdge="top")
    await here.create("far", monitorId="monitor-1", content={"renderer": "markdown", "data": "# 👍"})
    await here.do("window.move", "a", x=33, y=44)
    await here.do("window.minimize", "b")
    await here.do("window.maximize", "c")
    await here.do("window.focus", "a")
    await here.do("window.lock", "a", agentId="ada")
    await here.do("app.badge", appId="x", count=7)
    await here.do("desktop.createShortcut", shortcut=SHORTCUT)
    await here.do("desktop.refreshApps")
    await here.do("notification.show", id="n", title="t", body="b")
    await here.do("toast.show", id="t", message="gone with the process")


async def test_a_restart_restores_everything_exactly(tmp_path: Path) -> None:
    clock = ManualClock()
    async with office(tmp_path, clock) as here:
        await furnish(here)
        page = here.browser()
        await page.next()
        await page.shows("monitor-1", w=900, h=500)
        left = here.desk.state
    async with office(tmp_path, clock) as here:
        assert here.desk.state == survivor(left)
        assert list(here.desk.state.windows) == list(left.windows)
        assert here.desk.state.active_monitor == "monitor-1"
        assert here.desk.state.windows["monitor-0/a"].lock is not None


async def test_locks_and_notifications_that_expired_meanwhile_are_dropped(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
        await here.create("a")
        await here.do("window.lock", "a", agentId="ada")
        await here.do("notification.show", id="n", title="t", body="b", duration=1_000)
        later = here.clock.now_ms() + 120_000
    async with office(tmp_path, ManualClock(later)) as here:
        assert here.desk.state.windows["monitor-0/a"].lock is None
        assert here.desk.state.notifications == ()


async def test_a_lock_that_survived_a_restart_ends_at_its_own_time(tmp_path: Path) -> None:
    clock = ManualClock()
    async with office(tmp_path, clock) as here:
        await here.create("a")
        await here.do("window.lock", "a", agentId="ada")
    async with office(tmp_path, clock) as here:
        await settled()
        await clock.advance(120_000)
        assert here.desk.state.windows["monitor-0/a"].lock is None


async def test_a_change_waits_for_the_commit_of_the_journal_and_is_part_of_it(
    here: Office, tmp_path: Path
) -> None:
    journal = Journal.open(tmp_path, here.clock)
    here.store.committer = journal.keep
    await here.create("a")
    await here.create("b")
    await journal.seal({"kind": "verified", "terminal": True})
    assert _windows(tmp_path) == ["monitor-0/a", "monitor-0/b"]
    await here.do("window.close", "a")
    await journal.durable()
    assert _windows(tmp_path) == ["monitor-0/b"]
    here.store.committer = None
    await journal.close()


def _windows(home: Path) -> list[str]:
    db = sqlite3.connect(home / "handrail.db")
    try:
        return [row[0] for row in db.execute("SELECT key FROM desk_windows")]
    finally:
        db.close()


async def test_a_disk_that_refuses_is_tried_again_with_the_next_change(
    here: Office, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await here.store.write(lambda db: db.execute("ALTER TABLE desk_rest RENAME TO away"))
    await here.create("a")
    await here.store.read(lambda db: db.total_changes)
    assert "tried again" in caplog.records[0].message
    assert _windows(tmp_path) == []
    await here.store.write(lambda db: db.execute("ALTER TABLE away RENAME TO desk_rest"))
    await here.create("b")
    await here.store.read(lambda db: db.total_changes)
    assert _windows(tmp_path) == ["monitor-0/a", "monitor-0/b"]


async def test_a_desk_that_can_not_be_written_at_its_end_says_so(here: Office) -> None:
    await here.store.write(lambda db: db.execute("ALTER TABLE desk_rest RENAME TO away"))
    with pytest.raises(StoreUnusable, match="no such table: desk_rest"):
        await here.desk.close()
