"""How fast the adb client is, beside its peers on the same simulated phone in the same run.

Run from the repository: `python bench/adb.py [--json] [--rounds N] [--phones N] [--only PART…]`.
The phone has a process of its own, the adb server a port of its own. All ways take turns in short blocks, so
that other programs on the machine slow all of them alike. The floors send the same bytes by a plain socket
that blocks, and look at nothing but the ends of the answers: no program in Python is faster.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct, DirectStream
from handrail.adb.server import Server, find_adb
from handrail.adb.shell import Command, Script
from handrail.adb.wire import HEADER, MAX_PAYLOAD, VERSION, Packet, encode
from handrail.adb.wire import Command as Wire
from handrail.android import input as touch
from handrail.android.adb_channel import Dumper
from handrail.android.helper_channel import HelperConnection
from handrail.android.uiautomator2 import Rpc, release
from handrail.config import Config, Helper
from handrail.runtime import Runtime

TAP = ["input", "tap", "540", "1200"]
DUMP = ["uiautomator", "dump", "/dev/tty"]
BLOCK = 50
LOOKS = 8
CONTACTS = "com.google.android.contacts"
GONE_GOAL_MS = 250.0
GOALS = {
    "direct": {"adbutils": 40.0, "spawned adb": 6.0},
    "server": {"adbutils": 20.0, "spawned adb": 3.5},
}
"""How many times as fast as a peer a shell round trip shall be."""
FLOORS = {"direct": "bare socket to the phone", "server": "bare socket to the server"}
Figures = dict[str, list[float]]
"""Milliseconds of every round, by the way that was taken."""


@dataclass
class Bench:
    """The phone, the server, and how often."""

    options: argparse.Namespace
    address: str
    adb: str
    port: int
    env: dict[str, str]

    @property
    def server(self) -> Server:
        return Server(port=self.port, env=self.env)


# the world


@contextmanager
def phones(count: int, *more: str) -> Iterator[list[str]]:
    """Addresses of phones in one process."""
    command = [sys.executable, "-m", "handrail_sim", "--port", "0", "--phones", str(count), *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield [json.loads(process.stdout.readline())["connect"] for _ in range(count)]
        finally:
            process.terminate()


@contextmanager
def world(options: argparse.Namespace) -> Iterator[Bench]:
    adb = find_adb()
    if adb is None:
        raise SystemExit("no adb program: pip install adbutils, or set HANDRAIL_ADB")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as home, phones(1) as (address,):
        env = {**os.environ, "HOME": home, "ANDROID_USER_HOME": home, "TMPDIR": home}
        env["ANDROID_ADB_SERVER_PORT"] = str(port)
        os.environ.update(env)  # where the peers look when they are imported
        subprocess.run([adb, "start-server"], env=env, check=True, capture_output=True)
        subprocess.run([adb, "connect", address], env=env, check=True, capture_output=True)
        try:
            yield Bench(options, address, str(adb), port, env)
        finally:
            subprocess.run([adb, "kill-server"], env=env, check=False, capture_output=True)


def link(address: str) -> AdbDevice:
    host, _, port = address.rpartition(":")
    return AdbDevice(Direct(host, int(port)))


# round trips


Way = Callable[[list[str]], Awaitable[object]]


def spawned(bench: Bench) -> Way:
    """What most programs do: one process of adb per command."""

    async def run(argv: list[str]) -> object:
        command = [bench.adb, "-s", bench.address, "shell", *argv]
        return subprocess.run(command, env=bench.env, capture_output=True, check=True).stdout

    return run


def adbutils_way(bench: Bench) -> Way:
    import adbutils  # noqa: PLC0415

    peer = adbutils.AdbClient(port=bench.port).device(bench.address)

    async def run(argv: list[str]) -> object:
        return peer.shell(argv)

    return run


def bare_direct(bench: Bench) -> Way:
    """Packets to the phone itself, on one connection."""
    host, _, port = bench.address.rpartition(":")
    line = socket.create_connection((host, int(port)))
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    line.sendall(encode(Packet(Wire.CNXN, VERSION, MAX_PAYLOAD, b"host::features=shell_v2")))
    receive(line)

    async def run(argv: list[str]) -> object:
        line.sendall(
            encode(Packet(Wire.OPEN, 1, 0, f"shell,v2,raw:exec {' '.join(argv)} </dev/null".encode()))
        )
        while True:
            command, theirs, payload = receive(line)
            if command == Wire.WRTE:
                line.sendall(encode(Packet(Wire.OKAY, 1, theirs)))
            elif command == Wire.CLSE:
                return payload

    return run


def service(argv: list[str]) -> str:
    return f"shell,v2,raw:exec {' '.join(argv)} </dev/null"


def receive(line: socket.socket) -> tuple[int, int, bytes]:
    command, theirs, _, length, _, _ = HEADER.unpack(exactly(line, HEADER.size))
    return command, theirs, exactly(line, length)


def exactly(line: socket.socket, size: int) -> bytes:
    return line.recv(size, socket.MSG_WAITALL) if size else b""


def bare_server(bench: Bench) -> Way:
    """One connection to the server for each command, as its protocol wants it."""

    async def run(argv: list[str]) -> object:
        with socket.create_connection(("127.0.0.1", bench.port)) as line:
            for request in (f"host:transport:{bench.address}", service(argv)):
                line.sendall(f"{len(request):04x}{request}".encode())
                assert exactly(line, 4) == b"OKAY"
            while line.recv(65_536):
                pass
        return None

    return run


def ours(device: AdbDevice) -> Way:
    async def run(argv: list[str]) -> object:
        return await device.shell.run(argv)

    return run


async def timed(work: Awaitable[object]) -> float:
    start = time.perf_counter()
    await work
    return (time.perf_counter() - start) * 1000


async def take_turns(ways: dict[str, Callable[[], Awaitable[object]]], rounds: int) -> Figures:
    """A block of each after the other, whose first call is not counted; peers get shorter blocks."""
    figures: Figures = {name: [] for name in ways}
    for _ in range(max(1, rounds // BLOCK)):
        for name, way in ways.items():
            await way()
            for _ in range(BLOCK if name in (*GOALS, *FLOORS.values()) else BLOCK // 6):
                figures[name].append(await timed(way()))
    return figures


def commands(bench: Bench, device: AdbDevice) -> dict[str, Way]:
    return {
        "direct": ours(device),
        "server": ours(AdbDevice(bench.server.link(bench.address))),
        "adbutils": adbutils_way(bench),
        "spawned adb": spawned(bench),
    }


async def shell(bench: Bench) -> Figures:
    """`echo`, from the call to its answer."""
    device = link(bench.address)
    bare = {FLOORS["direct"]: bare_direct(bench), FLOORS["server"]: bare_server(bench)}
    ways = {name: _with(way, ["echo", "hi"]) for name, way in (commands(bench, device) | bare).items()}
    figures = await take_turns(ways, bench.options.rounds)
    await device.close()
    return figures


async def tap_and_dump(bench: Bench) -> Figures:
    """A tap and a fresh tree by plain adb; uiautomator2 asks its server on the phone instead."""
    device = link(bench.address)
    ways = {name: _pair(way) for name, way in commands(bench, device).items()}
    ways["uiautomator2"] = uiautomator2_pair(bench)
    figures = await take_turns(ways, bench.options.rounds // 3)
    await device.close()
    return figures


def _with(way: Way, argv: list[str]) -> Callable[[], Awaitable[object]]:
    return lambda: way(argv)


def _pair(way: Way) -> Callable[[], Awaitable[object]]:
    async def run() -> None:
        await way(TAP)
        assert "hierarchy" in str(await way(DUMP))

    return run


def uiautomator2_pair(bench: Bench) -> Callable[[], Awaitable[object]]:
    import uiautomator2  # noqa: PLC0415

    peer = uiautomator2.connect(bench.address)

    async def run() -> None:
        peer.click(540, 1200)
        assert "hierarchy" in peer.dump_hierarchy()

    return run


# cancellation


async def cancellation(bench: Bench) -> Figures:
    """From cancel() until the command is gone from the phone's own list of processes."""
    device = link(bench.address)
    server = AdbDevice(bench.server.link(bench.address))
    figures: Figures = {}
    kinds: dict[str, Command] = {"program": ["sleep", "30"], "script": Script("sleep 30; echo late")}
    for name, through in (("direct", device), ("server", server)):
        for kind, command in kinds.items():
            rounds = [await gone_after(through, device, command) for _ in range(30)]
            figures[f"{name}, {kind}"] = rounds
    await device.close()
    return figures


async def gone_after(device: AdbDevice, watcher: AdbDevice, command: Command) -> float:
    work = asyncio.ensure_future(device.shell.run(command))
    while not await sleeps(watcher):
        pass
    start = time.perf_counter()
    work.cancel()
    with suppress(asyncio.CancelledError):
        await work
    while await sleeps(watcher):
        pass
    return (time.perf_counter() - start) * 1000


async def sleeps(device: AdbDevice) -> bool:
    return (await device.shell.run(["pidof", "sleep"], check=False)).exit_code == 0


# looks as a phone on a cable has them


async def looks(bench: Bench) -> Figures:
    """With the profile `hardware`, by each channel: looks, proved taps, and what goes over the line.

    The simulator believes that our own helper reads a tree as slowly as u2 does: it was on no phone yet.
    """
    figures: Figures = {}
    for name, helper in (("helper", "handrail"), ("u2", "u2"), ("adb", "none")):
        figures |= {f"{name}, {figure}": times for figure, times in (await by_channel(bench, helper)).items()}
    return figures


LOOK, TAP_PROVED = "look", "verified tap"
COUNTS = ("exchanges of a look", "kB of a look", "exchanges of a tap", "kB of a tap", "from touch to proof")
"""A proved tap reads the screen on which it finds its target; what follows counts from the touch on."""
INPUT_CALLS = ("/gesture", "click", "injectInputEvent", "inject_input")


async def by_channel(bench: Bench, helper: Helper) -> Figures:
    figures: Figures = {name: [] for name in (LOOK, TAP_PROVED, *COUNTS)}
    with phones(1, "--profile", "hardware") as (address,), tempfile.TemporaryDirectory() as home:
        env = {**bench.env, "HANDRAIL_HOME": home}
        async with Runtime.open(Config.from_env(env), env=env) as runtime:
            phone, other = await runtime.session(address, helper=helper), link(address)
            with counted_exchanges() as count:
                for _ in range(LOOKS if helper != "none" else 3):
                    await phone.start_app(CONTACTS)
                    await other.shell.run(["input", "keyevent", "3"])  # a screen that was not parsed yet
                    count.clear()
                    figures[LOOK].append(await timed(phone.screens.capture()))
                    figures[COUNTS[0]].append(count["exchanges"])
                    figures[COUNTS[1]].append(count["bytes"] / 1000)
                    await phone.get_ui_tree()
                    count.clear()
                    tap = phone.tap("Settings", reason="I measure", expect="Network & internet")
                    figures[TAP_PROVED].append(await timed(tap))
                    figures[COUNTS[2]].append(count["exchanges"])
                    figures[COUNTS[3]].append(count["bytes"] / 1000)
                    figures[COUNTS[4]].append(count["since touch"])
            await other.close()
        device = link(address)
        await release(device)
        await device.close()
    return figures


@contextmanager
def counted_exchanges() -> Iterator[Counter[str]]:
    """Requests to a helper or shell commands for looks and input, and all bytes that the phone answers."""
    count: Counter[str] = Counter()
    kept = (HelperConnection._exchange, Rpc.call, Dumper.read, touch.send_input, DirectStream.read)

    def counting(plain: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any, **options: Any) -> Any:
            count["exchanges"] += 1
            touches = plain is kept[3] or any(word in args for word in INPUT_CALLS)
            count["since touch"] += touches or count["since touch"] > 0
            return await plain(*args, **options)

        return call

    async def read(self: DirectStream) -> bytes:
        data = await kept[4](self)
        count["bytes"] += len(data)
        return data

    HelperConnection._exchange, Rpc.call = counting(kept[0]), counting(kept[1])  # type: ignore[method-assign]
    Dumper.read, touch.send_input = counting(kept[2]), counting(kept[3])  # type: ignore[method-assign]
    DirectStream.read = read  # type: ignore[method-assign]
    try:
        yield count
    finally:
        HelperConnection._exchange, Rpc.call, Dumper.read, touch.send_input, DirectStream.read = kept  # type: ignore


# many


async def crowd(bench: Bench) -> Figures:
    """Every phone is asked for its model at once, round after round, from this one process."""
    count = bench.options.phones
    with ExitStack() as stack:
        found = stack.enter_context(phones(count // 2)) + stack.enter_context(phones(count - count // 2))
        devices = [link(address) for address in found]
        rounds = []
        for _ in range(22):
            polls = (device.shell.run(["getprop", "ro.product.model"]) for device in devices)
            rounds.append(await timed(asyncio.gather(*polls)))
        for device in devices:
            await device.close()
    return {f"{count} phones": rounds[2:]}


# the report


PARTS: dict[str, tuple[str, Callable[[Bench], Awaitable[Figures]]]] = {
    "shell": ("shell round trip", shell),
    "pair": ("tap + dump", tap_and_dump),
    "cancel": ("cancelled sleep 30 gone from the phone", cancellation),
    "crowd": ("polled at once", crowd),
    "looks": ("looks and taps, profile hardware", looks),
}


def table(title: str, figures: Figures, peers: list[str]) -> list[str]:
    heads = "".join(f"{'x ' + peer:>16}" for peer in peers)
    lines = [f"{title:<44}{'median ms':>12}{'p90 ms':>10}{heads}"]
    for name, times in figures.items():
        middle = median(times)
        ratios = "".join(f"{median(figures[peer]) / middle:>15.1f}x" for peer in peers)
        lines.append(f"  {name:<42}{middle:>12.2f}{quantiles(times, n=10)[-1]:>10.2f}{ratios}")
    return [*lines, ""]


def verdicts(found: dict[str, Figures]) -> Iterator[str]:
    """The goals beside what was reached."""
    for way, goals in GOALS.items() if "shell" in found else []:
        for peer, wanted in goals.items():
            times = {name: median(values) for name, values in found["shell"].items()}
            reached, floor = (times[peer] / times[one] for one in (way, FLOORS[way]))
            told = _verdict(
                f"shell, {way}, times as fast as {peer}", f">= {wanted:g}", reached, reached >= wanted
            )
            yield f"{told}; the floor {floor:.1f}"
    for name, times in found.get("cancel", {}).items():
        yield _verdict(
            f"gone after cancel, {name} (ms)", f"<= {GONE_GOAL_MS:g}", max(times), max(times) <= GONE_GOAL_MS
        )
    if "looks" in found:
        middle = {name: median(values) for name, values in found["looks"].items()}
        for channel in ("helper", "u2", "adb"):
            ratio = middle[f"{channel}, {TAP_PROVED}"] / middle[f"{channel}, {LOOK}"]
            yield _verdict(f"a verified tap, in looks by {channel}", "<= 2", ratio, ratio <= 2)
        for figure in (COUNTS[0], COUNTS[4]):
            exchanges, others = (middle[f"{channel}, {figure}"] for channel in ("helper", "u2"))
            yield _verdict(f"{figure}, helper (u2 {others:g})", "<= 1", exchanges, exchanges <= 1)
        for figure_kb in (COUNTS[1], COUNTS[3]):
            share = middle[f"helper, {figure_kb}"] / middle[f"u2, {figure_kb}"]
            yield _verdict(f"{figure_kb}, helper beside u2", "<= 0.33", share, share <= 1 / 3)
    for name, times in found.get("crowd", {}).items():
        rate = 1000 / median(times)
        each = rate * int(name.split(maxsplit=1)[0])
        yield f"{name} polled at once: {rate:.1f} rounds/s, {each:.0f} answers/s"


def _verdict(name: str, wanted: str, reached: float, kept: bool) -> str:
    return f"{name:<54}{wanted:>10}{reached:>10.1f}  {'kept' if kept else 'MISSED'}"


def report(found: dict[str, Figures]) -> str:
    lines: list[str] = []
    for part, figures in found.items():
        peers = [peer for peer in ("adbutils", "uiautomator2", "spawned adb") if peer in figures]
        lines += table(PARTS[part][0], figures, peers)
    return "\n".join([*lines, f"{'goal':<54}{'wanted':>10}{'reached':>10}", *verdicts(found)])


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--json", action="store_true", help="all figures as JSON")
    made.add_argument("--rounds", type=int, default=300, help="shell round trips of our own ways")
    made.add_argument("--phones", type=int, default=100, help="phones that are polled at once")
    made.add_argument("--only", nargs="+", choices=list(PARTS), help="measure these parts only")
    options = made.parse_args()
    with world(options) as bench:
        found = {part: asyncio.run(PARTS[part][1](bench)) for part in options.only or PARTS}
    print(json.dumps(found) if options.json else report(found))


if __name__ == "__main__":
    main()
