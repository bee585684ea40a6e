"""What one action costs with everything on: policy, resolve, settle, diff, verification, journal.

Run from the repository: `python bench/engine.py [--taps N] [--rounds N] [--json]`. The simulated phone has a
process of its own and is reached directly. Other programs run too, so each figure is the median of the best
of several rounds; the medians of all rounds stand behind it.

Where the time goes: `adb` is the time between asking the phone and its answer, `window` the part of the 20 or
100 ms of quiet that is simply waited, `disk` the waits for the journal's two commits, before the dispatch and
at the end, `ours` all the rest: parsing, matching, rendering, hashing, policy, envelope. What is done inside
the window while nothing else could be done costs nothing and is shown as `hidden`.
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
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Any

from handrail.android.choose import open_device
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.engine.session import Session
from handrail.protocol.envelope import Envelope
from handrail.runtime import Runtime

SETTINGS = "com.android.settings"
SHOP = "com.handrail.shop"
Act = Callable[[Session, int], Awaitable[Envelope]]
Row = dict[str, float]
OURS_MS = 2.5


class TimedShell:
    """A device's shell that remembers when it was asked and when it answered."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self.spans: list[tuple[float, float]] = []

    async def run(self, *args: Any, **options: Any) -> Any:
        began = time.perf_counter()
        try:
            return await self._shell.run(*args, **options)
        finally:
            self.spans.append((began, time.perf_counter()))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shell, name)


class Timer:
    """Everything that is measured around one session."""

    def __init__(self, session: Session, shell: TimedShell, runtime: Runtime) -> None:
        self.session = session
        self.shell = shell
        self.disk_ms = 0.0
        journal: Any = runtime.journal
        journal.seal, journal.durable = self._timed(journal.seal), self._timed(journal.durable)

    def _timed(self, write: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def timed(*events: Any) -> Any:
            began = time.perf_counter()
            try:
                return await write(*events)
            finally:
                self.disk_ms += (time.perf_counter() - began) * 1000

        return timed

    async def measure(self, act: Act, number: int) -> Row:
        self.shell.spans.clear()
        self.disk_ms = 0.0
        cpu, began = time.thread_time(), time.perf_counter()
        envelope = await act(self.session, number)
        total = (time.perf_counter() - began) * 1000
        cpu = (time.thread_time() - cpu) * 1000
        assert envelope.success, envelope.to_json()
        assert envelope.settle, envelope.to_json()
        adb = sum(end - start for start, end in self.shell.spans) * 1000
        waited = envelope.timings_ms["waiting"] if envelope.timings_ms else 0.0
        rest = total - adb - waited - self.disk_ms
        hidden = self._hidden(waited)
        return {
            "total": total,
            "adb": adb,
            "window": waited,
            "disk": self.disk_ms,
            "hidden": hidden,
            "ours": rest - hidden,
            "cpu": cpu,
            "reads": float(envelope.settle.reads),
        }

    def _hidden(self, waited_ms: float) -> float:
        """Our work between the first and the last look after the dispatch, while the window ran anyway."""
        looks = self.shell.spans[2:]  # behind the look before and the input
        if len(looks) < 2:
            return 0.0
        window = (looks[-1][0] - looks[0][1]) * 1000
        between = sum(end - start for start, end in looks[1:-1]) * 1000
        return max(0.0, window - between - waited_ms)


async def switch(session: Session, _: int) -> Envelope:
    return await session.tap("Vibrate when ringing")


async def navigate(session: Session, number: int) -> Envelope:
    return await (session.press_key("back") if number % 2 else session.tap("Display"))


async def change(session: Session, number: int) -> Envelope:
    return await session.tap(("Kitchen", "All")[number % 2])


async def sounds(session: Session) -> None:
    await session.start_app(SETTINGS)
    await session.tap("Sound & vibration")


async def settings(session: Session) -> None:
    await session.press_key("back")


async def shop(session: Session) -> None:
    await session.start_app(SHOP)


SCENES: list[tuple[str, Callable[[Session], Awaitable[None]], Act, float]] = [
    ("a switch, proved by the first read", sounds, switch, 32.0),
    ("a row that opens a screen, and back", settings, navigate, 140.0),
    ("a chip that changes a list", shop, change, 140.0),
]


async def scene(timer: Timer, act: Act, taps: int, rounds: int) -> dict[str, Any]:
    for number in range(6):
        await timer.measure(act, number)
    found = []
    for _ in range(rounds):
        rows = [await timer.measure(act, number) for number in range(taps)]
        found.append({name: median(row[name] for row in rows) for name in rows[0]})
    best = min(found, key=lambda row: row["total"])
    last = timer.session.screens.last
    nodes = len(last.screen.nodes) if last else 0
    return {**best, "nodes": nodes, "rounds": [round(row["total"], 1) for row in found]}


async def measure(address: str, taps: int, rounds: int) -> dict[str, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as home:
        env = {"HANDRAIL_HOME": home, "HOME": home}
        config = Config.from_env(env)
        async with Runtime.open(config, env=env) as runtime:
            device = await open_device(address, config, SystemClock(), env)
            shell = TimedShell(device.shell)
            device.shell = shell
            timer = Timer(await runtime.session_on(device, helper="none"), shell, runtime)
            found = {}
            for name, prepare, act, _ in SCENES:
                await prepare(timer.session)
                found[name] = await scene(timer, act, taps, rounds)
            return found


def served(work: Callable[[str], Awaitable[Any]]) -> Any:
    """With a phone in a process of its own."""
    command = [sys.executable, "-m", "handrail.cli.main", "sim", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            ready = json.loads(process.stdout.readline())
            return asyncio.run(work(f"{ready['host']}:{ready['port']}"))  # type: ignore[arg-type]
        finally:
            process.terminate()


def fsync_ms() -> float:
    """What one durable write of 4 kB costs here."""
    times = []
    with tempfile.NamedTemporaryFile(dir=Path(tempfile.gettempdir())) as file:
        for _ in range(20):
            os.write(file.fileno(), b"x" * 4096)
            began = time.perf_counter()
            os.fsync(file.fileno())
            times.append((time.perf_counter() - began) * 1000)
    return median(times)


def report(found: dict[str, dict[str, Any]]) -> str:
    columns = ("total", "adb", "window", "disk", "ours", "hidden", "cpu", "reads")
    lines = [f"{'ms, medians':<38}{'goal':>6}" + "".join(f"{name:>8}" for name in columns)]
    for name, _, _, goal in SCENES:
        row = found[name]
        verdict = "kept" if row["total"] <= goal and row["ours"] <= OURS_MS else "MISSED"
        lines.append(
            f"{name:<38}{goal:>6g}" + "".join(f"{row[column]:>8.1f}" for column in columns) + f"  {verdict}"
        )
        rounds = ", ".join(f"{one:g}" for one in row["rounds"])
        lines.append(f"    {row['nodes']} nodes; totals of all rounds: {rounds}")
    lines.append(f"goal for ours: {OURS_MS}; a bare fsync of 4 kB takes {fsync_ms():.2f} here")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--taps", type=int, default=40, help="actions in a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="all figures as JSON")
    options = parser.parse_args()
    found = served(lambda address: measure(address, options.taps, options.rounds))
    print(json.dumps(found, indent=2) if options.json else report(found))


if __name__ == "__main__":
    main()
