"""The thread that writes: who waits is served at once, and what the disk refuses is kept and told."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from handrail.errors import HandrailError
from handrail.journal import Journal, writer
from handrail.journal.query import Entry, entry_of
from handrail.journal.writer import JournalWork, Waiter, Writer, WriterAnswer, tell
from handrail_sim.clock import ManualClock
from tests.unit.journal.journalist import with_journal

BAD = ("INSERT INTO nowhere VALUES (1)", ())


def entry(text: str) -> Entry:
    return entry_of({"kind": "note", "text": text}, 1, str)


def waiter() -> Waiter:
    loop = asyncio.get_running_loop()
    return Waiter(loop, loop.create_future())


def texts(home: Path) -> list[str]:
    db = sqlite3.connect(home / "handrail.db")
    found = [row[0] for row in db.execute("SELECT json_extract(body, '$.text') FROM journal ORDER BY seq")]
    db.close()
    return found


@asynccontextmanager
async def writing(home: Path) -> AsyncIterator[Writer]:
    """A writer at a home whose tables are there."""
    await Journal.open(home, ManualClock()).close()
    opened = Writer(home)
    try:
        async with asyncio.timeout(60):
            yield opened
    finally:
        await asyncio.to_thread(opened.close)


def with_writer(home: Path, story: Callable[[Writer], Awaitable[None]]) -> None:
    async def until_closed() -> None:
        async with writing(home) as opened:
            await story(opened)

    asyncio.run(until_closed())


@pytest.fixture
def made(tmp_path: Path) -> AbstractAsyncContextManager[Writer]:
    return writing(tmp_path)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes wait for company until somebody waits for them."""
    monkeypatch.setattr(writer, "LINGER_SEC", 3600)


@pytest.mark.usefixtures("patient")
async def test_who_waits_does_not_wait_for_company(tmp_path: Path, made: Writer) -> None:
    for number in range(3):
        made.put(JournalWork(entry(f"note {number}")))
        one = waiter()
        made.put(JournalWork(entry(f"sealed {number}"), waiter=one))
        assert await one.done == 2 * number + 2
    assert texts(tmp_path) == [f"{kind} {number}" for number in range(3) for kind in ("note", "sealed")]


@pytest.mark.usefixtures("patient")
def test_closing_does_not_wait_for_company(tmp_path: Path) -> None:
    async def story(made: Writer) -> None:
        made.put(JournalWork(entry("last")))

    with_writer(tmp_path, story)
    assert texts(tmp_path) == ["last"]


@pytest.mark.usefixtures("patient")
def test_what_is_committed_together_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    async def story(made: Writer) -> None:
        one = waiter()
        made.put(JournalWork(entry("before")))
        made.put(JournalWork(statement=BAD))
        made.put(JournalWork(entry("after"), waiter=one))
        with pytest.raises(HandrailError, match="can't be used: no such table: nowhere"):
            await one.done
        assert texts(tmp_path) == []

    with_writer(tmp_path, story)
    assert texts(tmp_path) == [], "a disk that refuses does not keep the program from ending"


def test_a_statement_alone_is_written_too(tmp_path: Path) -> None:
    row = "INSERT INTO blobs VALUES ('name', 'tree', 1, 2, 'kept')"

    async def story(made: Writer) -> None:
        made.put(JournalWork(statement=(row, ())))

    with_writer(tmp_path, story)
    db = sqlite3.connect(tmp_path / "handrail.db")
    assert db.execute("SELECT name FROM blobs").fetchall() == [("name",)]
    db.close()


@pytest.mark.usefixtures("patient")
def test_what_was_refused_is_written_later_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "RETRY_SEC", 0.01)

    async def story(made: Writer) -> None:
        db = sqlite3.connect(tmp_path / "handrail.db", isolation_level=None)
        db.execute("ALTER TABLE journal RENAME TO hidden")
        called: list[str] = []
        row = "INSERT INTO blobs VALUES ('name', 'tree', 1, 2, 'kept')"
        more = [((row, ()), lambda _: lambda: called.append("committed")), (None, None), (None, None)]
        for number, (statement, companion) in enumerate(more):
            one = waiter()
            made.put(JournalWork(entry(str(number)), statement, companion, one))
            with pytest.raises(HandrailError, match="can't be used: no such table: journal"):
                await one.done
        db.execute("ALTER TABLE hidden RENAME TO journal")
        db.close()
        last = waiter()
        made.put(JournalWork(entry("3"), waiter=last))
        assert await last.done == 4
        assert called == ["committed"]
        monkeypatch.setattr(writer, "RETRY_SEC", 3600)
        next_one = waiter()
        made.put(JournalWork(entry("4"), waiter=next_one))
        assert await next_one.done == 5, "a disk that works again is trusted again"

    with_writer(tmp_path, story)
    assert texts(tmp_path) == ["0", "1", "2", "3", "4"]


async def test_a_note_that_comes_while_nothing_is_to_do_is_written(tmp_path: Path, made: Writer) -> None:
    for number in range(1, 4):
        made.put(JournalWork(entry(str(number))))
        while len(texts(tmp_path)) < number:
            await asyncio.sleep(0)


@pytest.mark.usefixtures("patient")
async def test_what_nobody_foresaw_is_told_to_who_waits_too(made: Writer) -> None:
    one = waiter()
    made.put(JournalWork(entry("good")._replace(at_ms=10**30), waiter=one))
    with pytest.raises(HandrailError, match=r"can't be written: .*too large"):
        await one.done


@pytest.mark.usefixtures("patient")
def test_after_a_refusal_the_disk_is_left_alone_for_a_while_but_closing_is_not_kept_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "RETRY_SEC", 3600)

    async def story(made: Writer) -> None:
        db = sqlite3.connect(tmp_path / "handrail.db", isolation_level=None)
        db.execute("ALTER TABLE journal RENAME TO hidden")
        one = waiter()
        made.put(JournalWork(entry("0"), waiter=one))
        with pytest.raises(HandrailError):
            await one.done
        db.execute("ALTER TABLE hidden RENAME TO journal")
        db.close()
        made.put(JournalWork(entry("1")))
        assert texts(tmp_path) == []

    with_writer(tmp_path, story)
    assert texts(tmp_path) == ["0", "1"]


@pytest.mark.usefixtures("patient")
async def test_a_long_backlog_is_refused_with_the_disks_own_words(
    monkeypatch: pytest.MonkeyPatch, made: Writer
) -> None:
    monkeypatch.setattr(writer, "BACKLOG", 3)
    monkeypatch.setattr(writer, "RETRY_SEC", 3600)
    made.put(JournalWork(statement=BAD))
    made.put(JournalWork(entry("1")))
    one = waiter()
    made.put(JournalWork(entry("2"), waiter=one))
    with pytest.raises(HandrailError, match="nowhere"):
        await one.done
    with pytest.raises(HandrailError, match="can't be used: no such table: nowhere"):
        made.put(JournalWork(entry("too much")))


@pytest.mark.usefixtures("patient")
def test_a_backlog_that_grows_too_fast_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "BACKLOG", 2)

    async def story(made: Writer) -> None:
        made.put(JournalWork(entry("1")))
        made.put(JournalWork(entry("2")))
        with pytest.raises(HandrailError, match="can't be written: too much is waiting"):
            made.put(JournalWork(entry("3")))

    with_writer(tmp_path, story)
    assert texts(tmp_path) == ["1", "2"]


def test_a_head_that_can_not_be_moved_is_told_to_who_waits_and_the_entry_stays(tmp_path: Path) -> None:
    async def story(made: Writer) -> None:
        (tmp_path / "journal.head").unlink()
        (tmp_path / "journal.head").mkdir()
        one = waiter()
        made.put(JournalWork(entry("there"), waiter=one))
        with pytest.raises(HandrailError, match=r"can't be written: .*Is a directory"):
            await one.done
        (tmp_path / "journal.head").rmdir()

    with_writer(tmp_path, story)
    assert texts(tmp_path) == [None, "there"], "after the entry that says that the head was missing"


def test_a_store_that_can_not_be_opened_is_the_callers_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    made = Writer(tmp_path / "file" / "home")
    with pytest.raises(HandrailError, match=r"can't be opened: .*Not a directory"):
        made.put(JournalWork(entry("x")))
    made.close()


async def test_one_caller_who_left_does_not_keep_the_answer_from_the_others() -> None:
    gone, here = waiter(), waiter()
    gone.done.cancel()
    tell([WriterAnswer(gone, 1), WriterAnswer(here, 2)])
    assert await here.done == 2


def test_an_event_loop_that_has_ended_does_not_keep_the_answer_from_another() -> None:
    async def left_behind() -> Waiter:
        return waiter()

    ended = asyncio.run(left_behind())

    async def story() -> None:
        here = waiter()
        tell([WriterAnswer(ended, 1), WriterAnswer(here, 2)])
        assert await here.done == 2

    asyncio.run(story())


async def test_the_thread_does_not_keep_a_program_alive_that_forgot_to_close(journal: Journal) -> None:
    await journal.seal({"kind": "note"})
    [thread] = [one for one in threading.enumerate() if one.name == "handrail-journal"]
    assert thread.daemon


def test_closing_leaves_no_file_open(tmp_path: Path) -> None:
    async def work(journal: Journal) -> None:
        await journal.seal({"kind": "note"})
        journal.verify()

    with_journal(tmp_path, work)
    opened = [path.resolve() for path in Path("/proc/self/fd").iterdir()]
    assert not [path for path in opened if path.is_relative_to(tmp_path)]
