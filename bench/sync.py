"""What framework sync costs: opening the channels, one probe of an app at rest, names, and a native app.

Run from the repository: `python bench/sync.py [--rounds N] [--json]`. The phone is simulated, and the
JavaScript of its React app runs in a small interpreter; where Node and npm are found, the same channel is
measured against Node's own inspector with real React. A phone on a cable adds its own round trips.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import pytest  # noqa: E402
from packages.frameworks.tests.sync_node.node import run_peer  # noqa: E402

from handrail.adb.device import AdbDevice  # noqa: E402
from handrail.adb.direct import Direct  # noqa: E402
from handrail.adb.link import Link, Stream  # noqa: E402
from handrail.android.adb_channel import AdbChannel  # noqa: E402
from handrail.clock import SystemClock  # noqa: E402
from handrail.screen.node import Screen  # noqa: E402
from handrail_frameworks import FrameworkSyncs  # noqa: E402
from handrail_frameworks.debugger import METRO  # noqa: E402
from handrail_frameworks.framework_sync import Detected, FrameworkSync, detect  # noqa: E402
from handrail_sim.adbd.server import serve  # noqa: E402
from handrail_sim.phone import Phone  # noqa: E402

LABS = {
    "react_native": "com.handrail.reactlab",
    "flutter": "com.handrail.flutterlab",
    "compose": "com.handrail.composelab",
}
NATIVE = "com.google.android.contacts"
ATTACH_MS, PROBE_MS = 1_000.0, 30.0
CLOCK = SystemClock()
Facts = dict[str, float]


class Counting:
    """A link that counts what is opened and written on it."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.serial = link.serial
        self.features = link.features
        self.check = link.check
        self.close = link.close
        self.opened = 0

    async def open(self, service: str) -> Stream:
        self.opened += 1
        return await self._link.open(service)


@asynccontextmanager
async def phone() -> AsyncIterator[tuple[Counting, AdbDevice]]:
    async with serve([Phone(clock=CLOCK)], port=0) as [served]:
        link = Counting(Direct(served.host, served.port, clock=CLOCK))
        device = AdbDevice(link, CLOCK)
        try:
            yield link, device
        finally:
            await device.close()


async def show(device: AdbDevice, package: str) -> Screen:
    """An app in front, its start over."""
    await device.shell.run(["monkey", "-p", package, "-c", "android.intent.category.LAUNCHER", "1"])
    await asyncio.sleep(2)
    return await AdbChannel(device, CLOCK).look()


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    start = time.perf_counter()
    await work()
    return (time.perf_counter() - start) * 1000


async def channel(make: Callable[[], FrameworkSync], screen: Screen, rounds: int) -> Facts:
    """Attach several times; on the last one probe and name."""
    attaches = []
    for _ in range(5):
        sync = make()
        attaches.append(await timed(sync.attach))
        if not sync.has_backend:
            raise SystemExit(f"no channel: {sync.diagnostics}")
        await sync.wait_for_sync(10_000)
        await sync.close()
    sync = make()
    await sync.attach()
    await sync.wait_for_sync(10_000)
    await asyncio.sleep(0.5)
    probes = sorted([await timed(sync.wait_for_sync) for _ in range(rounds)])
    facts = {
        "attach ms": median(attaches),
        "attach ms, worst": max(attaches),
        "probe ms": median(probes),
        "probe ms, worst of 20": probes[int(len(probes) * 0.95)],
    }
    if sync.has_hermes:
        facts["names ms, first"] = await timed(lambda: sync.snapshot_fiber_labels(screen))
        facts["names ms, known"] = await timed(lambda: sync.snapshot_fiber_labels(screen))
    await sync.close()
    return facts


async def lab(package: str, rounds: int) -> Facts:
    async with phone() as (_link, device):
        screen = await show(device, package)

        async def detection() -> Detected:
            return await detect(device, package, screen, metro=METRO, clock=CLOCK, libraries={})

        found = await detection()
        facts = await channel(
            lambda: FrameworkSync(found.kind, package, device=device, clock=CLOCK, env={}), screen, rounds
        )
        return {"detect ms": await timed(detection), **facts}


async def native(rounds: int) -> Facts:
    """The whole of what every action on a native app pays."""
    async with phone() as (link, device):
        screens = [await show(device, NATIVE) for _ in range(2)]
        syncs = FrameworkSyncs(device, CLOCK, {}, print)
        before, times = link.opened, []
        for turn in range(rounds):
            screen = screens[turn % 2]
            times.append(await timed(lambda screen=screen: syncs.wait(screen, 3_000)) * 1000)  # type: ignore[misc]
            await syncs.labels(screen)
        await syncs.close()
        return {"services opened": float(link.opened - before), "µs a wait": median(times)}


async def node(port: int, rounds: int) -> Facts:
    async with phone() as (_link, device):
        screen = await show(device, LABS["react_native"])
        return await channel(
            lambda: FrameworkSync(
                "react_native",
                LABS["react_native"],
                device=device,
                clock=CLOCK,
                env={},
                metro=("127.0.0.1", port),
            ),
            screen,
            rounds,
        )


def measure(rounds: int) -> dict[str, Facts]:
    found = {kind: asyncio.run(lab(package, rounds)) for kind, package in LABS.items()}
    found["native"] = asyncio.run(native(rounds))
    try:
        for port in run_peer():
            found["react_native (Node)"] = asyncio.run(node(port, rounds))
            break
    except pytest.skip.Exception as skipped:
        print(skipped, file=sys.stderr)
    return found


def report(found: dict[str, Facts]) -> str:
    lines = [f"{'goal':<54}{'wanted':>10}{'reached':>10}"]
    for part, facts in found.items():
        if part == "native":
            lines.append(_line("native: services opened", 0, facts["services opened"]))
            continue
        lines.append(_line(f"{part}: attach (ms)", ATTACH_MS, facts["attach ms"]))
        lines.append(_line(f"{part}: probe at rest (ms)", PROBE_MS, facts["probe ms"]))
    lines += ["", "all that was measured"]
    for part, facts in found.items():
        lines += [f"  {part}: " + ", ".join(f"{name} {value:.1f}" for name, value in facts.items())]
    return "\n".join(lines)


def _line(name: str, wanted: float, reached: float) -> str:
    return f"{name:<54}{f'<= {wanted:g}':>10}{reached:>10.1f}  {'kept' if reached <= wanted else 'MISSED'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="probes to measure")
    parser.add_argument("--json", action="store_true", help="all figures as JSON")
    options = parser.parse_args()
    found = measure(options.rounds)
    print(json.dumps(found, indent=2) if options.json else report(found))


if __name__ == "__main__":
    main()
