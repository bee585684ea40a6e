"""Stop at random moments while real programs act on one phone by six doors; the phone's own log judges.

python -m tests.attacks.test_stop_real_doors --moments 200 --seed 1
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from handrail.clock import SystemClock
from handrail.config import Config
from handrail.runtime import Runtime
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.scenario.doors import HANDRAIL, InProcess, Mcp
from tests.scenario.residents import Lodging, lodging
from tests.scenario.test_stop_doors import STOPS, Desk, serving
from tests.scenario.world import play_live, until

QUIET_S = 1.0
ACTIONS = (
    {"type": "swipe", "direction": "up", "reason": "I look further"},
    {"type": "swipe", "direction": "down", "reason": "I look back"},
    {"type": "tap", "target": {"x": 500, "y": 900}, "reason": "I try it"},
    {"type": "scroll_to", "target": "Nowhere at all", "max_swipes": 4, "reason": "I look for it"},
)
FLOW = "steps:\n" + "- swipe: up\n- tap: {x: 500, y: 900}\n- press_key: down\n" * 20
Act = Callable[[random.Random], Awaitable[object]]


async def for_ever(act: Act, draw: random.Random, tried: Counter[str], name: str) -> None:
    """One agent who never gives up."""
    while True:
        tried[name] += 1
        with suppress(Exception):  # refused, or its server is busy
            await act(draw)
        await asyncio.sleep(0.05)


def agents(place: Lodging, desk: Desk, python: InProcess, mcp: Mcp) -> dict[str, Act]:
    flow = place.home / "flow.yaml"
    flow.write_text(FLOW)
    return {
        "python": lambda draw: python.act(dict(draw.choice(ACTIONS))),
        "http": lambda draw: desk.post("/api/actions", dict(draw.choice(ACTIONS))),
        "mcp": lambda draw: mcp.act(dict(draw.choice(ACTIONS))),
        "cli": lambda draw: place.command("swipe", draw.choice(("up", "down"))),
        "flow": lambda _: place.command("run", str(flow)),
        "agent": lambda draw: place.command("agent", "Look", "--model", f"random:{draw.randrange(10**6)}"),
    }


async def campaign(home: Path, moments: int, seed: int) -> tuple[Counter[str], int, list[str]]:
    """Attempts by door, inputs before the stops, and what is wrong."""
    draw, tried, wrong, inputs = random.Random(seed), Counter[str](), list[str](), 0
    phone = Phone(clock=SystemClock())
    async with serve([phone], port=0) as [served], lodging(home, HANDRAIL_DEVICE=served.address) as place:
        await place.warm()
        command, *words = HANDRAIL
        stdio = StdioServerParameters(command=command, args=[*words, "mcp"], env=place.env)
        async with (
            serving(place) as desk,
            Runtime.open(Config.from_env(place.env), env=place.env) as runtime,
            Client(stdio_client(stdio)) as client,
        ):
            acting = agents(place, desk, InProcess(runtime), Mcp(client))
            tasks = [asyncio.create_task(for_ever(act, draw, tried, door)) for door, act in acting.items()]
            try:
                for number in range(moments):
                    began, how = len(phone.input_log), draw.choice(list(STOPS))
                    await until(lambda began=began: len(phone.input_log) > began)
                    await asyncio.sleep(draw.uniform(0, 1.5))
                    await STOPS[how](place, desk, served.address)
                    before = len(phone.input_log)
                    inputs += before - began
                    await asyncio.sleep(QUIET_S)
                    if late := phone.input_log[before:]:
                        wrong.append(f"{number}: {how}: {len(late)} inputs after it: {late[:3]}")
                    await runtime.hand_back()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
    return tried, inputs, wrong


@pytest.mark.slow
def test_real_programs_at_six_doors_deliver_nothing_after_a_stop(tmp_path: Path) -> None:
    tried, inputs, wrong = play_live(campaign(tmp_path, 12, 1))
    assert not wrong, "\n".join(wrong)
    assert inputs > 24
    assert len(tried) == 6, tried


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        told, delivered, failures = play_live(campaign(Path(folder), options.moments, options.seed))
    print(f"{options.moments} stops, {delivered} inputs before them, {dict(told)}, {len(failures)} failures")  # noqa: T201
    print("\n".join(failures))  # noqa: T201
    raise SystemExit(bool(failures))
