"""How quick the desk is: its goals beside what was reached here.

Run from the repository: `python bench/desk.py [--json] [--clients N] [--seconds N] [PART …]`. The door is the
real one on a loopback port, with all of it on one event loop; its browsers live in a process of their own and
read every frame through the `websockets` client. Times are wall clock: other programs on the machine show, so
each figure has its floor of the same run beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from asyncio.subprocess import Process
from collections.abc import Callable
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, broadcast, serve

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.unit.web_server.door import TOKEN, Door, door  # noqa: E402

from handrail.desk.hub import PACE_SEC  # noqa: E402
from handrail.desk.reduce import reduce  # noqa: E402
from handrail.desk.render import render  # noqa: E402
from handrail.desk.state import (  # noqa: E402
    DeskState,
    replace_fields,
    state_json,
)
from handrail.protocol.act import Act  # noqa: E402
from handrail.protocol.read import action_from  # noqa: E402

Facts = dict[str, float]
NOW = 1_710_000_000_000
STAMP = re.compile(r'"title":"(\d+)"')
READERS = 10
"""Of all browsers, so many look into every frame for its times; the others only count actions."""
GOALS: dict[str, tuple[str, float]] = {
    "reducer, 50 windows, actions/s": (">=", 70_000),
    "fan-out 500/s p99 ms": ("<=", 25),
    "fan-out 1000/s p99 ms": ("<=", 60),
    "fan-out 500/s lost": ("<=", 0),
    "fan-out 1000/s lost": ("<=", 0),
    "re-join, 1,000 missed frames, ms": ("<=", 100),
}


# the reducer


def furnished(windows: int) -> DeskState:
    state = DeskState()
    for number in range(windows):
        state = reduce(state, creating(f"w{number}", number), "ada", False, NOW + number).state
    return state


def creating(window_id: str, number: int = 0) -> Act:
    bounds = {"x": 17 * number % 900, "y": 11 * number % 500, "w": 300, "h": 200}
    content = {"renderer": "markdown", "data": "# Report\n\n- one line"}
    return action_from(
        {"type": "window.create", "windowId": window_id, "title": "t", "bounds": bounds, "content": content}
    )


def mixture(windows: int) -> list[Act]:
    """What people and agents send most: moves, sizes, focus, titles, text that grows, toasts, badges."""
    kinds: list[list[dict[str, Any]]] = [
        [
            {"type": "window.move", "windowId": f"w{n}", "x": n * 7 % 800, "y": n * 3 % 400},
            {"type": "window.resize", "windowId": f"w{n}", "w": 300 + n % 50, "h": 200 + n % 50},
            {"type": "window.focus", "windowId": f"w{n}"},
            {"type": "window.setTitle", "windowId": f"w{n}", "title": f"title {n}"},
            {"type": "window.updateContent", "windowId": f"w{n}", "operation": {"op": "append", "data": "x"}},
            {"type": "toast.show", "id": "t", "message": f"message {n}"},
            {"type": "app.badge", "appId": "a", "count": n},
        ]
        for n in range(windows)
    ]
    return [action_from(data) for group in kinds for data in group]


def reducer(_options: argparse.Namespace) -> Facts:
    """Parsed actions a second on one core, in this process's own CPU time; the best of some runs."""
    facts: Facts = {}
    for windows in (50, 500):
        facts[f"reducer, {windows} windows, actions/s"] = _reducer_rate(windows)
        facts[f"  floor: copies of {windows} windows/s"] = _floor_rate(windows)
    return facts


def _floor_rate(windows: int) -> float:
    """The least that a state which is never written to costs Python: its windows copied with one changed."""
    state, names = furnished(windows), [f"monitor-0/w{number}" for number in range(windows)]

    def work() -> None:
        now = state
        for name in names:
            window = replace_fields(now.windows[name], title="t")
            now = replace_fields(now, windows={**now.windows, name: window})

    return best_rate(work, windows)


def _reducer_rate(windows: int) -> float:
    start, actions = furnished(windows), mixture(windows)

    def work() -> None:
        state = start
        for at, action in enumerate(actions):
            state = reduce(state, action, "ada", False, NOW + 1_000 + at).state

    return best_rate(work, len(actions))


def best_rate(work: Callable[[], None], items: int, rounds: int = 20) -> float:
    best = 0.0
    for _ in range(rounds):
        start = time.process_time()
        work()
        best = max(best, items / (time.process_time() - start))
    return best


def large(_options: argparse.Namespace) -> Facts:
    """A desk with 500 windows: what a joiner gets, what one drag sends; and Markdown off the event loop."""
    state = furnished(500)
    text = json.dumps(state_json(state))
    move = action_from({"type": "window.move", "windowId": "w7", "x": 5, "y": 6})
    markdown = (
        "# Title\n\nSome **bold** text with `code` and [a link](https://example.org).\n\n- item\n" * 250
    )
    rendering = best_rate(lambda: len(render("markdown", markdown[:20_000])), 1, 10)
    return {
        "500 windows, snapshot KB": len(text) / 1000,
        "500 windows, snapshots/s": best_rate(lambda: len(json.dumps(state_json(state))), 1, 10),
        "500 windows, one move, bytes": len(json.dumps(reduce(state, move, "ada", False, NOW).changes)),
        "20 KB of Markdown, ms of a thread": 1000 / rendering,
    }


# browsers: a process of their own


async def browse(port: int, count: int, expected: int) -> None:
    """Join, read until every browser saw `expected` actions; the delays go out as JSON."""
    options: dict[str, Any] = {"max_size": None, "proxy": None, "compression": None}
    headers = {"Authorization": f"Bearer {TOKEN}"}
    delays: list[float] = []
    ready = asyncio.Barrier(count)

    async def one(number: int) -> int:
        async with connect(f"ws://127.0.0.1:{port}/ws", additional_headers=headers, **options) as socket:
            await socket.recv()
            await ready.wait()
            if number == 0:
                print("ready", flush=True)
            seen = 0
            while seen < expected:
                frame = str(await asyncio.wait_for(socket.recv(), 20))
                now = time.monotonic_ns()
                if number < READERS:
                    stamps = STAMP.findall(frame.partition('"changes"')[0])
                    delays.extend((now - int(stamp)) / 1e6 for stamp in stamps)
                seen += frame.count('"window.setTitle"')
            return seen

    seen = await asyncio.gather(*(one(number) for number in range(count)), return_exceptions=True)
    lost = sum(expected - got if isinstance(got, int) else expected for got in seen)
    delays.sort()
    print(json.dumps({"p50": delays[len(delays) // 2], "p99": delays[len(delays) * 99 // 100], "lost": lost}))


# the door


async def fan_out(here: Door, clients: int, rate: int, seconds: float) -> Facts:
    """`rate` actions a second, each stamped, to all browsers."""
    expected = int(rate * seconds)
    child = await _browsers(here.port, clients, expected)
    first = here.desk.hub.ring.last
    start, worked = time.monotonic(), time.process_time()
    for number in range(expected):
        await asyncio.sleep(max(0.0, start + number / rate - time.monotonic()))
        title = {"type": "window.setTitle", "windowId": "w1", "title": str(time.monotonic_ns())}
        await here.desk.apply(action_from(title), "ada", False)
    took = time.monotonic() - start
    found = await _told(child)
    frames, worked = here.desk.hub.ring.last - first, time.process_time() - worked
    name = f"fan-out {rate}/s"
    return {
        f"{name} p50 ms": found["p50"],
        f"{name} p99 ms": found["p99"],
        f"{name} lost": found["lost"],
        f"{name} reached actions/s": expected / took,
        f"{name} frames/s": frames / took,
        f"{name} server's CPU, µs a frame and browser": worked * 1e6 / frames / clients,
    }


async def floor(clients: int, rate: int, seconds: float) -> Facts:
    """The same browsers at a bare `websockets` server: equal texts, an equal pace, no desk behind them."""
    there: set[ServerConnection] = set()

    async def joined(one: ServerConnection) -> None:
        await one.send("{}")
        there.add(one)
        await one.wait_closed()

    expected = int(rate * seconds)
    async with serve(joined, "127.0.0.1", 0, compression=None) as server:
        child = await _browsers(next(iter(server.sockets)).getsockname()[1], clients, expected)
        start = sent = time.monotonic()
        waiting: list[str] = []
        for number in range(expected):
            await asyncio.sleep(max(0.0, start + number / rate - time.monotonic()))
            title = f'"title":"{time.monotonic_ns()}"'
            waiting.append(f'{{"type":"window.setTitle","windowId":"w1",{title}}}')
            if time.monotonic() - sent >= PACE_SEC or number == expected - 1:
                broadcast(there, f'{{"actions":[{",".join(waiting)}],"changes":{{}}}}')
                sent, waiting = time.monotonic(), []
        found = await _told(child)
    return {f"  floor: bare websockets {rate}/s p99 ms": found["p99"]}


async def _browsers(port: int, clients: int, expected: int) -> Process:
    """Ready to count."""
    arguments = [str(ROOT / "bench/desk.py"), "--browse", str(port), str(clients), str(expected)]
    child = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=asyncio.subprocess.PIPE)
    assert child.stdout is not None
    await child.stdout.readline()
    return child


async def _told(child: Process) -> Facts:
    assert child.stdout is not None
    found: Facts = json.loads(await child.stdout.read())
    await child.wait()
    return found


async def rejoin(here: Door) -> Facts:
    """From the knock at the door to the last of a thousand missed frames; the best of five."""
    desk, times = here.desk, []
    since = desk.hub.ring.last
    for number in range(1_000):
        move = {"type": "window.move", "windowId": "w1", "x": number % 700, "y": number % 400 + 1}
        await desk.apply(action_from(move), "ada", False)
        desk.hub.flush()
    for _ in range(5):
        start = time.perf_counter()
        async with here.socket(f"?since={since}") as socket:
            for _ in range(1_000):
                await socket.recv()
            times.append((time.perf_counter() - start) * 1000)
    return {"re-join, 1,000 missed frames, ms": min(times)}


async def _served(options: argparse.Namespace, part: str) -> Facts:
    with tempfile.TemporaryDirectory() as home:
        async with door(Path(home)) as here:
            for number in range(50):
                await here.desk.apply(creating(f"w{number}", number), "ada", False)
            if part == "re-join":
                return await rejoin(here)
            facts: Facts = {}
            for rate in (500, 1_000):
                facts |= await fan_out(here, options.clients, rate, options.seconds)
                facts |= await floor(options.clients, rate, options.seconds)
            return facts


PARTS: dict[str, Callable[[argparse.Namespace], Facts]] = {
    "reducer": reducer,
    "large": large,
    "fan-out": lambda options: asyncio.run(_served(options, "fan-out")),
    "re-join": lambda options: asyncio.run(_served(options, "re-join")),
}


def verdict(name: str, value: float) -> str:
    if name not in GOALS:
        return ""
    sign, goal = GOALS[name]
    reached = value >= goal if sign == ">=" else value <= goal
    return f"goal {sign} {goal:,g}: {'reached' if reached else 'MISSED'}"


def main() -> int:
    if sys.argv[1:2] == ["--browse"]:
        asyncio.run(browse(*map(int, sys.argv[2:5])))
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all when none is named")
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    parser.add_argument("--clients", type=int, default=100, help="browsers of the fan-out (default 100)")
    parser.add_argument("--seconds", type=float, default=5, help="of each fan-out (default 5)")
    options = parser.parse_args()
    facts: Facts = {}
    for part in options.parts or PARTS:
        facts |= PARTS[part](options)
    if options.json:
        print(json.dumps(facts, indent=2))
        return 0
    for name, value in facts.items():
        print(f"{name:42} {value:12,.1f}   {verdict(name, value)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
