"""What telemetry costs a tap: the same tap with it on and off, in turns, in one run.

Run from the repository: `python bench/telemetry.py [--rounds N] [--json]`. A switch is tapped on a simulated
phone in a process of its own, by two sessions in this process; one of them tells a collector, also here. The
ear is measured alone, with all that is worked out of what it hears. Then whole commands through the resident
process, with no collector, a good one, and one that takes a request and never answers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.doors import HANDRAIL, SETTINGS, phone  # noqa: E402
from packages.telemetry.tests.collector import collecting, never_answers  # noqa: E402

from handrail.clock import SystemClock  # noqa: E402
from handrail.config import Config  # noqa: E402
from handrail.engine.events import Event  # noqa: E402
from handrail.engine.session import Session  # noqa: E402
from handrail.runtime import Runtime  # noqa: E402
from handrail_telemetry import SessionListener, Telemetry  # noqa: E402

GOAL_MS = 1.0
SWITCH = "Data Saver"


async def _session(home: Path, serial: str, env: dict[str, str], ends: AsyncExitStack) -> Session:
    given = {"HANDRAIL_HOME": str(home), "HOME": str(home), **env}
    opened = Runtime.open(Config.from_env(given), clock=SystemClock(), env=given)
    runtime = await ends.enter_async_context(opened)
    return await runtime.session(serial, helper="none")


async def taps(folder: Path, serial: str, address: str, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each tap; whoever goes first changes every time."""
    took: dict[str, list[float]] = {"off": [], "on": []}
    async with AsyncExitStack() as ends:
        sessions = {
            "off": await _session(folder / "off", serial, {}, ends),
            "on": await _session(folder / "on", serial, {"HANDRAIL_OTLP_ENDPOINT": address}, ends),
        }
        first = sessions["off"]
        await first.start_app(SETTINGS)
        await first.tap({"text_contains": "Network"})
        for number in range(rounds + 2):
            names = ["off", "on"] if number % 2 else ["on", "off"]
            for name in names:
                began = time.perf_counter()
                envelope = await sessions[name].tap(SWITCH)
                ms = (time.perf_counter() - began) * 1000
                assert envelope.success, envelope.to_json()
                if number >= 2:  # the first ones open what stays open
                    took[name].append(ms)
                await first._hold.release()
                await sessions["on"]._hold.release()
    return took


async def ear(folder: Path, serial: str, address: str) -> float:
    """Microseconds of a processor: one real tap's events, told again a thousand times."""
    heard: list[Event] = []
    async with AsyncExitStack() as ends:
        session = await _session(folder / "ear", serial, {}, ends)
        life = session.events()
        assert (await session.tap(SWITCH)).success
        async for event in life:
            heard.append(event)
            if event.terminal:
                break
    telemetry = Telemetry({"HANDRAIL_OTLP_ENDPOINT": address})
    one = SessionListener(telemetry, 1)
    took = []
    for _ in range(1_000):
        began = time.thread_time()
        for event in heard:
            one.put(event)
        took.append((time.thread_time() - began) * 1e6)
    await telemetry.close()
    return sum(took) / len(took)


def commands(
    folder: Path, serial: str, ways: dict[str, dict[str, str]], rounds: int
) -> dict[str, list[float]]:
    """Milliseconds of whole commands that are handed over, in turns."""
    home = folder / "daemon"
    base = {name: value for name, value in os.environ.items() if name != "HANDRAIL_NO_DAEMON"}
    base |= {"HANDRAIL_HOME": str(home), "HANDRAIL_DEVICE": serial, "HANDRAIL_HELPER": "none"}

    def run(env: dict[str, str], *words: str) -> float:
        began = time.perf_counter()
        subprocess.run([*HANDRAIL, *words], env=base | env, check=True, capture_output=True, timeout=60)
        return (time.perf_counter() - began) * 1000

    took: dict[str, list[float]] = {name: [] for name in ways}
    try:
        for _ in range(2):
            run({}, "press-key", "home")
        for _ in range(rounds):
            for name, env in ways.items():
                took[name].append(run(env, "press-key", "home"))
    finally:
        run({}, "daemon", "stop")
    return took


def measure(rounds: int) -> dict[str, Any]:
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
        serial = ends.enter_context(phone())
        good, silent = ends.enter_context(collecting()), ends.enter_context(collecting(never_answers))
        tapped = asyncio.run(taps(folder, serial, good.address, rounds))
        spans = len(good.spans)
        heard = asyncio.run(ear(folder, serial, good.address))
        ways: dict[str, dict[str, str]] = {
            "no collector": {},
            "a collector": {"HANDRAIL_OTLP_ENDPOINT": good.address},
            "a silent one": {"HANDRAIL_OTLP_ENDPOINT": silent.address},
        }
        run = commands(folder, serial, ways, max(5, rounds // 4))
        pairs = [on - off for off, on in zip(tapped["off"], tapped["on"], strict=True)]
        return {
            "tap": {name: _about(ms) for name, ms in tapped.items()},
            "added_ms": {
                "of medians": median(tapped["on"]) - median(tapped["off"]),
                "of pairs": median(pairs),
            },
            "ear_us": heard,
            "spans": spans,
            "command": {name: _about(ms) for name, ms in run.items()},
            "goal_ms": GOAL_MS,
        }


def _about(ms: list[float]) -> dict[str, float]:
    return {"median": median(ms), "best": min(ms), "worst": max(ms)}


def show(told: dict[str, Any], write: Callable[[str], object] = print) -> None:
    for title in ("tap", "command"):
        write(f"{title:<24}{'median':>10}{'best':>10}{'worst':>10}   ms")
        for name, one in told[title].items():
            write(f"  {name:<22}" + "".join(f"{one[part]:>10.2f}" for part in ("median", "best", "worst")))
    added, goal = told["added_ms"], told["goal_ms"]
    write(f"a tap costs {added['of pairs']:+.2f} ms more (median of pairs), goal at most +{goal:.0f} ms")
    write(f"the medians differ by {added['of medians']:+.2f} ms")
    cpu_ms = told["ear_us"] / 1000
    write(f"all of it but the sending takes {cpu_ms:.3f} ms of a processor; {told['spans']} spans arrived")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    told = measure(given.rounds)
    print(json.dumps(told)) if given.json else show(told)


if __name__ == "__main__":
    main()
