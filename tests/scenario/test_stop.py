"""Stop ends whatever goes on, says how far it came, and is in the journal exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from handrail.protocol.envelope import Envelope
from handrail_sim.shell.processes import processes_of
from tests.scenario.people import PAY_RULE, allow_scripts, asked, at_checkout, command, lives
from tests.scenario.world import World, live, play, until, world

ASYNC_RUNNER = play

SLEEP = "sleep 30.25"
POLICY = f'{PAY_RULE}[[rule]]\nname = "all"\naction = "shell"\nverdict = "allow"\n{allow_scripts(SLEEP)}'


async def _reaches(w: World, state: str) -> None:
    async for event in w.session.events():
        if event.state == state:
            return


async def _start(w: World, what: str) -> asyncio.Task[Envelope]:
    """The action, started and known to be in the phase that is meant."""
    session = w.session
    reached: Awaitable[Any]
    match what:
        case "wait":
            action, reached = session.wait(60_000), _reaches(w, "resolved")
        case "wait_for":
            action, reached = (
                session.wait_for({"visible": {"text": "never"}}, timeout_ms=60_000),
                _reaches(w, "resolved"),
            )
        case "shell":
            action = session.shell(SLEEP.split())
            reached = until(lambda: SLEEP in _processes(w))
        case "script":
            action = session.run_script(SLEEP, timeout_sec=60)
            reached = until(lambda: _host_runs(SLEEP))
        case "settle":
            w.phone.faults.add("latency", command="uiautomator", ms=20_000, after=1)
            action, reached = session.tap({"id": "gift"}), _reaches(w, "pending_verification")
        case "resolve":
            w.phone.faults.add("latency", command="uiautomator", ms=20_000)
            action, reached = session.tap({"id": "gift"}), _reaches(w, "accepted")
        case _:
            action, reached = session.tap({"id": "pay"}), asked(w)
    waiting = asyncio.ensure_future(reached)
    await asyncio.sleep(0)
    task = asyncio.create_task(action)
    await waiting
    return task


def _processes(w: World) -> str:
    return "\n".join(" ".join(one.argv) for one in processes_of(w.phone).running.values())


def _host_runs(words: str) -> bool:
    wanted = b"\0".join([*words.encode().split(), b""])
    return any(_cmdline(file).endswith(wanted) for file in Path("/proc").glob("[0-9]*/cmdline"))


def _cmdline(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # it has ended meanwhile
        return b""


DELIVERY = {
    "wait": "not_delivered", "wait_for": "not_delivered", "shell": "unknown", "script": "unknown",
    "settle": "delivered", "resolve": "not_delivered", "approval": "not_delivered",
}  # fmt: skip


def _ended_once(w: World, done: Envelope) -> None:
    life = lives(w.events())[done.action_id]
    assert [event["terminal"] for event in life] == [False] * (len(life) - 1) + [True]
    assert life[-1]["kind"] == "failed"
    assert life[-1]["envelope"]["failure_code"] == "CANCELLED"


@pytest.mark.parametrize("what", DELIVERY)
async def test_stop_interrupts_it_and_says_how_far_it_came(tmp_path: Path, what: str) -> None:
    async with world(tmp_path, policy=POLICY) as w:
        await at_checkout(w)
        task = await _start(w, what)
        assert await w.session.stop() == 1
        done = await task
        assert done.failure_code == "CANCELLED", done.to_json()
        assert done.lifecycle_state == "failed"
        assert done.delivery == DELIVERY[what]
        _ended_once(w, done)
        w.phone.faults.clear()
        await until(lambda: SLEEP not in _processes(w))
        assert not _host_runs(SLEEP)
        assert await w.runtime.approvals.pending() == []
        again = await w.session.tap({"id": "gift"})
        assert (again.failure_code, again.delivery) == ("DEVICE_BUSY", "not_delivered")
        assert "was stopped by agent local" in (again.message or "")
        await w.session.hand_back()
        again = await w.session.tap({"id": "gift"})
        assert again.success, again.to_json()


@live
@pytest.mark.parametrize("what", ["wait", "shell", "approval"])
async def test_stop_from_another_process_ends_it(tmp_path: Path, what: str) -> None:
    async with world(tmp_path, policy=POLICY) as w:
        await at_checkout(w)
        task = await _start(w, what)
        code, said = await command(tmp_path, "stop", "--device", w.serial)
        assert code == 0
        assert said.startswith(f"Stopped 1 action on {w.serial}. ")
        assert said.endswith("is held until `handrail hand-back`.\n")
        done = await task
        assert done.failure_code == "CANCELLED"
        assert done.delivery == DELIVERY[what]
        _ended_once(w, done)
        await until(lambda: SLEEP not in _processes(w))
        [stop] = [event for event in w.events() if event["kind"] == "stop"]
        assert stop["actor"]["kind"] == "person"


@live
async def test_a_stop_means_what_goes_on_now_and_this_device_only(w: World, tmp_path: Path) -> None:
    _, said = await command(tmp_path, "stop")
    assert said == "Nothing was being done. All phones are held until `handrail hand-back`.\n"
    assert (await w.session.tap("Display")).failure_code == "DEVICE_BUSY"
    _, said = await command(tmp_path, "hand-back")
    assert said.startswith("Every phone that was stopped is handed back.\n")
    task = asyncio.create_task(w.session.wait(60_000))
    await _until_running(w, "wait")
    _, said = await command(tmp_path, "stop", "--device", "127.0.0.1:1")
    assert said.startswith("Nothing was being done")
    assert not task.done()
    _, said = await command(tmp_path, "stop")
    assert said.startswith("Stopped 1 action. ")
    assert (await task).failure_code == "CANCELLED"


async def _until_running(w: World, kind: str) -> None:
    await until(lambda: any(e["kind"] == "resolved" and kind in e["action_id"] for e in w.events()))


async def test_stop_ends_what_waits_in_the_queue_and_what_has_not_even_begun(w: World) -> None:
    await w.open("com.android.settings")
    first = await _start(w, "wait")
    queued = asyncio.create_task(w.session.tap("Display"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    fresh = asyncio.create_task(w.session.tap("Display"))
    await asyncio.sleep(0)
    touched = len(w.inputs())
    assert await w.session.stop() == 3
    for task in (first, queued, fresh):
        done = await task
        assert done.failure_code in ("CANCELLED", "DEVICE_BUSY")  # the hold comes first
        assert done.delivery == "not_delivered"
    assert len(w.inputs()) == touched


@pytest.mark.parametrize("what", ["wait", "shell", "settle", "approval"])
async def test_a_caller_that_goes_away_stops_its_action_and_the_end_is_journalled(
    tmp_path: Path, what: str
) -> None:
    async with world(tmp_path, policy=POLICY) as w:
        await at_checkout(w)
        listener = w.session.events()
        task = await _start(w, what)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        w.phone.faults.clear()
        ended = await until(lambda: [e for e in w.events() if e["terminal"]][1:])
        assert ended[-1]["envelope"]["failure_code"] == "CANCELLED"
        await until(lambda: SLEEP not in _processes(w))
        terminal = [event async for event in _now(listener) if event.terminal]
        assert len(terminal) == 1


async def _now(listener: Any) -> Any:
    """What was told so far."""
    while True:
        try:
            async with asyncio.timeout(0.05):
                yield await anext(listener)
        except TimeoutError:
            return


async def test_stopping_twice_ends_once(w: World) -> None:
    """The second stop comes while the screen after a failure is read."""
    await w.open("com.android.settings")
    w.phone.faults.add("stream_reset", command="input", bytes=0, times=1)
    w.phone.faults.add("latency", command="uiautomator", ms=20_000, after=1)
    task = asyncio.create_task(w.session.tap("Display"))
    await until(lambda: w.phone.faults.active("stream_reset") is None)
    await until(lambda: "uiautomator" in _processes(w))
    stops = [asyncio.create_task(w.session.stop()) for _ in range(3)]
    await asyncio.wait(stops)
    done = await task
    assert done.failure_code in ("ADB_CONNECTION_ERROR", "ADB_COMMAND_ERROR"), done.to_json()
    assert done.delivery == "unknown"
    terminal = [e for e in lives(w.events())[done.action_id] if e["terminal"]]
    assert len(terminal) == 1


async def test_a_closed_session_has_ended_everything(tmp_path: Path) -> None:
    async with world(tmp_path, policy=POLICY) as w:
        await at_checkout(w)
        task = await _start(w, "shell")
        await w.session.close()
        assert (await task).failure_code == "CANCELLED"
        await until(lambda: SLEEP not in _processes(w))
        _ended_once(w, await task)
