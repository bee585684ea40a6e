"""What goes wrong with one device stays with it: opening, closing, a full disk, a dialog that is stopped."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from handrail.clock import Clock
from handrail.config import Config
from handrail.desk.desk import Desk
from handrail.errors import AdbConnectionError, StoreFull, Unsupported
from handrail.runtime import Runtime
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.scenario.test_desk_actions import ADA, window, with_desk
from tests.scenario.world import World, play, until, usual_clock, world

ASYNC_RUNNER = play


async def test_a_phone_that_never_answers_makes_no_other_session_wait(tmp_path: Path) -> None:
    env = {"HANDRAIL_HOME": str(tmp_path), "HOME": str(tmp_path)}
    silent = asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)
    async with (
        await silent as dead,
        serve([Phone(clock=usual_clock())], port=0) as [served],
        Runtime.open(Config.from_env(env), env=env) as runtime,
    ):
        host, port = dead.sockets[0].getsockname()
        hanging = asyncio.create_task(runtime.session(f"{host}:{port}", helper="none"))
        await asyncio.sleep(0)
        session = await runtime.session(served.address, helper="none")
        assert (await session.start_app("com.android.settings")).success
        assert not hanging.done()  # the dead one is still being tried
        hanging.cancel()
        await asyncio.wait({hanging})


async def test_two_who_ask_for_one_phone_at_once_get_one_session(tmp_path: Path) -> None:
    async with world(tmp_path) as w, Runtime.open(w.runtime.config, env=w.runtime.env) as other:
        one, same = await asyncio.gather(*(other.session(w.serial, helper="none") for _ in range(2)))
        assert one is same


async def test_a_full_disk_at_the_end_leaves_no_lease_no_link_and_no_other_session_open(
    tmp_path: Path,
) -> None:
    env = {"HANDRAIL_HOME": str(tmp_path), "HOME": str(tmp_path)}
    clock: Clock = usual_clock()
    phones = [Phone(clock=clock), Phone(clock=clock)]
    async with serve(phones, port=0) as [first, second]:
        ends = AsyncExitStack()
        runtime = await ends.enter_async_context(Runtime.open(Config.from_env(env), env=env))
        sessions = [await runtime.session(one.address, helper="none") for one in (first, second)]
        for session in sessions:
            assert (await session.start_app("com.android.settings")).success
        await fill_up(runtime)
        with pytest.raises(StoreFull, match="full"):
            await ends.aclose()
        for session in sessions:
            with pytest.raises(AdbConnectionError, match="was closed"):
                await session.surface.facts()
        async with Runtime.open(Config.from_env(env), env=env) as later:
            assert await later.leases.all() == []


async def fill_up(runtime: Runtime) -> None:
    """SQLite may not grow its file any more: a real `database or disk is full` for whatever needs a page."""

    def no_more_pages(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE IF NOT EXISTS filler (data BLOB)")
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages}")
        for size in (100_000, 3_000, 100):
            try:
                while True:
                    db.execute("INSERT INTO filler VALUES (zeroblob(?))", (size,))
            except sqlite3.OperationalError:
                continue

    await runtime.store.read(no_more_pages)


async def test_a_dialog_that_was_shown_and_then_stopped_is_not_told_as_undelivered(tmp_path: Path) -> None:
    async with with_desk(tmp_path) as (w, desk):
        dialog = {"type": "dialog.confirm", "id": "d", "title": "Go?", "message": "Shall I?"}
        asking = asyncio.create_task(w.runtime.desk_session().run(dialog, caller=ADA))
        await until(lambda: asyncio.sleep(0, desk.snapshot()["dialogs"]))
        assert await w.runtime.session_on_desk.end_actions() == 1
        told = await asking
        assert (told.failure_code, told.delivery) == ("CANCELLED", "unknown")


async def test_a_desk_action_that_is_refused_was_not_delivered(tmp_path: Path) -> None:
    async with with_desk(tmp_path) as (w, desk):
        close = {"type": "window.close", "windowId": "nobody"}
        runner = w.runtime.desk_session()
        told = await runner.run(close, caller=ADA)
        assert (told.success, told.delivery) == (False, "not_delivered")
        several = await runner.run_all([window("a"), close], caller=ADA)
        assert [one.delivery for one in several] == ["not_delivered", "not_delivered"]
        assert desk.snapshot()["windows"] == {}


async def test_a_phones_action_sent_to_the_desk_is_refused_before_anything_is_asked_or_done(
    tmp_path: Path,
) -> None:
    async with with_desk(tmp_path) as (w, _):
        desk = w.runtime.session_on_desk
        told = await desk.run({"type": "tap", "target": {"x": 1, "y": 1}}, caller=ADA)
        assert (told.failure_code, told.delivery) == (Unsupported.code, "not_delivered")
        assert "no touch" in (told.message or "")
        assert w.inputs() == []


async def test_a_desk_that_was_attached_serves_the_phones_sessions_too(w: World) -> None:
    desk = await Desk.open(w.runtime.store, usual_clock())
    w.runtime.attach_desk(desk)
    async with serve([Phone(clock=usual_clock())], port=0) as [served]:
        session = await w.runtime.session(served.address, helper="none")
        told = await session.run(window("beside"))
    assert told.success, told.to_json()
    assert "monitor-0/beside" in desk.snapshot()["windows"]
    await desk.close()
