"""Stop at any moment, by any door: the phone's own log has no input after it until it is handed back.

python -m tests.attacks.test_stop_holds --moments 200 --seed 1
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any

import pytest
from packages.agent.tests import agent_world

from handrail.config import Config
from handrail.errors import HandrailError
from handrail.runtime import Runtime
from handrail.safety.caller import Actor, Caller, Door
from handrail.safety.leases import Holder, StopRequests
from handrail.store import Store
from handrail_agent.budget import Budget
from tests.scenario import flow_world
from tests.scenario.world import World, play, world

ASYNC_RUNNER = play

SETTINGS = "com.android.settings"
DOORS: tuple[Door, ...] = ("python", "cli", "mcp", "http", "ws", "flow", "agent", "desk")
QUIET_S = 0.6
"""How long the agents go on trying after a stop."""
LATEST_S = 1.2
"""A stop comes at a random moment before this."""
ACTIONS: tuple[dict[str, Any], ...] = (
    {"type": "tap", "target": {"x": 500, "y": 900}},
    {"type": "double_tap", "target": {"x": 500, "y": 900}},
    {"type": "long_press", "target": {"x": 500, "y": 900}},
    {"type": "swipe", "direction": "up"},
    {"type": "drag", "from": {"x": 500, "y": 1500}, "to": {"x": 500, "y": 600}, "duration_ms": 600},
    {"type": "pinch", "zoom": "in"},
    {"type": "press_key", "key": "down"},
    {"type": "press_keys", "keys": ["shift", "tab"]},
    {"type": "scroll_to", "target": "Nowhere at all", "max_swipes": 6},
    {"type": "type_text", "text": "four words and more", "target": "Search settings"},
)
FLOW = "".join(f"- {line}\n" for line in ("swipe: up", "tap: {x: 500, y: 900}", "press_key: down") * 40)


async def act_on(w: World, door: Door, draw: random.Random, over: asyncio.Event) -> None:
    """One agent at one door, who never gives up. A flow that is cancelled returns its record."""
    while not over.is_set():
        with suppress(HandrailError):
            if door == "flow":
                await flow_world.run(w, f"steps:\n{FLOW}")
            elif door == "agent":
                model = agent_world.Scripted(*(dict(draw.choice(ACTIONS)) for _ in range(30)))
                await agent_world.work(w, model, budget=Budget(steps=20))
            else:
                actor: Actor = "person" if door in ("cli", "desk") else "agent"
                patience = draw.choice((0.0, 45_000.0))
                who = Caller("lena", actor, door, terminal=7 if door == "cli" else None, patience_ms=patience)
                await w.session.run(dict(draw.choice(ACTIONS)), caller=who)
        await asyncio.sleep(draw.choice((0.02, 0.1)))


LENA = Caller("lena", "person", "desk")


async def by_session(w: World) -> None:
    await w.session.stop()


async def by_runtime(w: World) -> None:
    await w.runtime.stop(by=LENA)


async def by_phone_page(w: World) -> None:
    await w.runtime.stop(w.serial, by=LENA)


async def by_command(w: World) -> None:
    """What `handrail stop` does, on a connection of its own."""
    with closing(Store(w.home / "handrail.db")) as store:
        stops = StopRequests(store)
        terminal = Caller("lena", "person", "cli", terminal=7)
        number = await stops.ask(None, terminal, w.runtime.clock.now_ms())
        await stops.wait_for_stopped_count(number, w.runtime.clock)


async def by_another_process(w: World) -> None:
    async with restarted(w) as other:
        await other.stop(by=LENA)


STOPS: tuple[Callable[[World], Awaitable[None]], ...] = (
    by_session,
    by_runtime,
    by_phone_page,
    by_command,
    by_another_process,
)


@asynccontextmanager
async def restarted(w: World) -> AsyncIterator[Runtime]:
    """A second runtime of the home: another process, or the daemon after a restart."""
    env = {"HANDRAIL_HOME": str(w.home), "HOME": str(w.home)}
    async with Runtime.open(Config.from_env(env), clock=w.runtime.clock, env=env) as runtime:
        yield runtime


def _log(w: World) -> list[dict[str, Any]]:
    w.phone.catch_up()
    return w.inputs()


async def one_moment(w: World, number: int, draw: random.Random) -> tuple[int, list[str]]:
    """Inputs before the stop, and what is wrong."""
    door, stop = DOORS[number % len(DOORS)], draw.choice(STOPS)
    w.phone.start_activity(f"{SETTINGS}/.Settings")
    began, over = len(_log(w)), asyncio.Event()
    agent = asyncio.create_task(act_on(w, door, draw, over))
    others = [
        asyncio.create_task(act_on(w, draw.choice(DOORS[:5]), draw, over)) for _ in range(draw.choice((0, 1)))
    ]
    await asyncio.sleep(draw.uniform(0, LATEST_S))
    await stop(w)
    before = _log(w)
    wrong = []
    await asyncio.sleep(QUIET_S)
    if number % 5 == 0:  # the agent comes back after a restart
        async with restarted(w) as again:
            session = await again.session(w.serial, helper="none")
            told = await session.run(ACTIONS[0])
            if told.failure_code != "DEVICE_BUSY" or "was stopped by" not in (told.message or ""):
                wrong.append(f"after a restart: {told.failure_code} {told.message}")
    over.set()
    for task in (agent, *others):
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    if late := _log(w)[len(before) :]:
        wrong.append(f"{number}: {door}, {stop.__name__}: {len(late)} inputs after it: {late[:3]}")
    await w.runtime.hand_back(w.serial) if draw.random() < 0.5 else await w.runtime.hand_back()
    done = await w.session.run(ACTIONS[0])
    if not done.success:
        wrong.append(f"{number}: not handed back: {done.failure_code} {done.message}")
    return len(before) - began, wrong


async def campaign(home: Path, moments: int, seed: int) -> tuple[int, list[str]]:
    draw, delivered, wrong = random.Random(seed), 0, list[str]()
    async with world(home) as w:
        for number in range(moments):
            inputs, found = await one_moment(w, number, draw)
            delivered += inputs
            wrong += found
    return delivered, wrong


def test_nothing_is_delivered_between_a_stop_and_its_hand_back(tmp_path: Path) -> None:
    delivered, wrong = play(campaign(tmp_path, 16, 1))
    assert not wrong, "\n".join(wrong)
    assert delivered > 20, "the agents were not acting"


@pytest.mark.slow
def test_nothing_is_delivered_after_two_hundred_stops(tmp_path: Path) -> None:
    delivered, wrong = play(campaign(tmp_path, 200, 2))
    assert not wrong, "\n".join(wrong)
    assert delivered > 200


async def test_only_who_takes_a_stopped_phone_over_acts_on_it(tmp_path: Path) -> None:
    """Whoever pressed Stop is held too, until they take it over or hand it back."""
    async with world(tmp_path) as w:
        await w.runtime.stop(by=LENA)
        assert (await w.session.run(ACTIONS[0], caller=LENA)).failure_code == "DEVICE_BUSY"
        await w.runtime.leases.take_over(w.serial, Holder(LENA.holder_id, "person", label="lena"))
        assert (await w.session.run(ACTIONS[0], caller=LENA)).success
        assert (await w.session.run(ACTIONS[0])).failure_code == "DEVICE_BUSY"
        await w.runtime.hand_back(w.serial)
        assert (await w.session.run(ACTIONS[0])).success


async def test_handing_one_phone_back_leaves_the_others_stopped(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.runtime.stop(by=LENA)
        await w.runtime.hand_back("127.0.0.1:1")
        refused = await w.session.run(ACTIONS[0])
        assert refused.failure_code == "DEVICE_BUSY"
        assert "was stopped by person lena" in (refused.message or "")
        assert (await w.session.get_ui_tree()).success, "looking is free"
        [held] = await w.runtime.leases.all([w.serial])
        assert held.is_stopped


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        inputs, failures = play(campaign(Path(folder), options.moments, options.seed))
    print(f"{options.moments} stops, {inputs} inputs before them, {len(failures)} failures")  # noqa: T201
    print("\n".join(failures))  # noqa: T201
    raise SystemExit(bool(failures))
