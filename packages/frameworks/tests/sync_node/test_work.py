from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from packages.frameworks.tests.sync_node.node import Scene, run_peer, scene, work

Story = Callable[[Scene], Awaitable[None]]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    yield from run_peer()


def play(port: int, story: Story) -> None:
    async def told() -> None:
        async with scene(port) as made:
            await story(made)

    asyncio.run(told())


def test_a_program_at_rest_is_not_waited_for(port: int) -> None:
    async def story(stage: Scene) -> None:
        async with stage.attached() as sync:
            assert await sync.wait_for_sync()
            assert work(sync) == []

    play(port, story)


@pytest.mark.parametrize(("call", "name"), [("load", "fetch GET"), ("ask", "request POST")])
def test_a_request_in_flight_is_waited_for_to_its_end(port: int, call: str, name: str) -> None:
    async def story(stage: Scene) -> None:
        async with stage.attached() as sync:
            await stage.run(f"lab.loaded = []; lab.{call}('{stage.server.url}'); 0")
            waiting = asyncio.ensure_future(sync.wait_for_sync(30_000))
            await stage.server.asked.wait()
            for _ in range(3):
                assert await stage.run("lab.loaded.length") == 0
            assert not waiting.done()
            stage.server.may_answer.set()
            assert await waiting
            assert await stage.run("lab.loaded.join()") == "hi"
            assert [one for one in work(sync) if name in one] == [
                f"{name} http://127.0.0.1:{stage.server.port}/mail"
            ]

    play(port, story)


def test_a_request_that_outlives_a_wait_is_named_and_not_waited_for_again(port: int) -> None:
    async def story(stage: Scene) -> None:
        async with stage.attached() as sync:
            await stage.run(f"lab.load('{stage.server.url}'); 0")
            assert not await sync.wait_for_sync(50)
            assert "still busy" in sync.diagnostics[-1]
            assert sync.waited_for
            assert await sync.wait_for_sync(30_000)
            assert [one for one in work(sync) if "fetch" in one] == []  # fetch itself may set timers

    play(port, story)


def test_a_timer_due_soon_is_waited_for_and_a_later_one_is_not(port: int) -> None:
    async def story(stage: Scene) -> None:
        async with stage.attached() as sync:
            await stage.run("lab.later = setTimeout(() => {}, 60_000); 0")
            assert await sync.wait_for_sync()
            assert work(sync) == []
            await stage.run("lab.rang = 0; setTimeout(() => { lab.rang = 1; }, 80); 0")
            assert await sync.wait_for_sync(30_000)
            assert await stage.run("lab.rang") == 1
            assert work(sync) == ["a timer"]
            await stage.run("clearTimeout(lab.later); 0")

    play(port, story)


def test_a_cleared_timer_and_a_ticking_clock_are_no_work(port: int) -> None:
    async def story(stage: Scene) -> None:
        async with stage.attached() as sync:
            await stage.run(
                "clearTimeout(setTimeout(() => {}, 300)); clearInterval(setTimeout(() => {}, 300));"
            )
            await stage.run("lab.interval = setInterval(() => {}, 20); lab.loop(15); 0")
            await stage.until("lab.ticks > 8")
            assert await sync.wait_for_sync(30_000)
            assert work(sync) == []
            await stage.run("clearInterval(lab.interval); lab.ticks = -1000; 0")

    play(port, story)


def test_a_thread_in_a_loop_is_busy_although_the_debugger_is_answered(port: int, tmp_path: Path) -> None:
    hold = tmp_path / "hold"

    async def story(stage: Scene) -> None:
        async with stage.attached() as sync:
            await stage.run(f"lab.hog({json.dumps(str(hold))}); 0")
            while not hold.exists():
                await asyncio.sleep(0.005)
            assert not await sync.wait_for_sync(100)
            assert "JavaScript" in sync.waited_for
            hold.unlink()
            assert await sync.wait_for_sync(30_000)
            assert sync.has_hermes

    play(port, story)


def test_a_new_context_is_counted_in_again(port: int) -> None:
    async def story(stage: Scene) -> None:
        async with stage.attached() as sync:
            await stage.run("__handrailIdle.remove()")
            assert await sync.wait_for_sync()
            assert await stage.run("typeof __handrailIdle.probe") == "function"

    play(port, story)
