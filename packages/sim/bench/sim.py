"""How fast and how small the simulated phone is: the goals of its design beside what was reached here.

Run from the folder: `python bench/sim.py [--json] [--pairs N]`. Every part has a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.adb_client import Client, connect  # noqa: E402

from handrail_sim.adbd.server import Served, serve  # noqa: E402
from handrail_sim.clock import SystemClock  # noqa: E402
from handrail_sim.phone import Phone  # noqa: E402
from handrail_sim.served import ease_collection, make_phones  # noqa: E402

DUMP = "exec:uiautomator dump /dev/tty"
SHOP = "com.handrail.shop"
BOOTED = "shell:getprop sys.boot_completed"
OPEN_SHOP = f"shell:monkey -p {SHOP} -c android.intent.category.LAUNCHER 1"
SOUND = "shell:am start -a android.settings.SOUND_SETTINGS"
STILL = "pairs/s, tap without effect"
SWITCH = "pairs/s, tap on a switch"
ROUNDS = 20
Facts = dict[str, float]


# one part each


def boot(_options: argparse.Namespace) -> Facts:
    """From nothing to a home screen that can be dumped; the first one also imports the apps."""
    times = []
    for seed in range(15):
        start = time.perf_counter()
        Phone(clock=SystemClock(), seed=seed).dump()
        times.append((time.perf_counter() - start) * 1000)
    return {"boot ms": median(times[1:]), "first boot ms (with imports)": times[0]}


async def pairs(client: Client, count: int) -> Facts:
    """Taps that choose another category of the shop, which puts all rows of a list in the place of others,
    taps on a switch, and taps that nothing answers. The best of twenty rounds: other programs run too.

    The two categories take turns, so their rows are known to the list from the turn before: rows that were
    never shown cost more.
    """
    await client.run(OPEN_SHOP)
    await asyncio.sleep(0.5)
    shown = (await client.run(DUMP)).decode()
    chips = [_centre(shown, words) for words in ("Kitchen", "All")]
    changing = [await _rate(client, chips, count // ROUNDS) for _ in range(ROUNDS)]
    still = [await _rate(client, [(5, 1200)], count // ROUNDS) for _ in range(ROUNDS)]
    await client.run(SOUND)
    await asyncio.sleep(0.5)
    switch = [_place((await client.run(DUMP)).decode(), 'resource-id="android:id/switch_widget"')]
    before, after = await client.run(DUMP), await _pair(client, switch[0])
    assert before != after, "the switch does nothing"
    switched = [await _rate(client, switch, count // ROUNDS) for _ in range(ROUNDS)]
    return {
        "pairs/s": max(changing),
        SWITCH: max(switched),
        STILL: max(still),
        "nodes": float(shown.count("<node")),
    }


async def _rate(client: Client, places: list[tuple[int, int]], count: int) -> float:
    start = time.perf_counter()
    for number in range(count):
        await _pair(client, places[number % len(places)])
    return count / (time.perf_counter() - start)


async def _pair(client: Client, place: tuple[int, int]) -> bytes:
    await client.run(f"shell:input tap {place[0]} {place[1]}")
    return await client.run(DUMP)


def _centre(dump: str, words: str) -> tuple[int, int]:
    return _place(dump, f'text="{words}"')


def _place(dump: str, attribute: str) -> tuple[int, int]:
    """The centre of the first node with this attribute."""
    found = re.search(rf'{attribute}[^>]*bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]"', dump)
    assert found, f"{attribute} is not on the screen"
    left, top, right, bottom = map(int, found.groups())
    return (left + right) // 2, (top + bottom) // 2


def one_process(options: argparse.Namespace) -> Facts:
    async def run() -> Facts:
        phone = Phone(clock=SystemClock())
        ease_collection()  # as `handrail-sim` does
        async with serve([phone], port=0) as (served,):
            client = await connect(served.host, served.port)
            found = await pairs(client, options.pairs)
            client.close()
            return found

    return asyncio.run(run())


def two_processes(options: argparse.Namespace) -> Facts:
    command = [sys.executable, "-m", "handrail_sim", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())

        async def run() -> Facts:
            client = await connect(ready["host"], ready["port"])
            found = await pairs(client, options.pairs)
            client.close()
            return found

        try:
            return asyncio.run(run())
        finally:
            process.terminate()


def memory(options: argparse.Namespace) -> Facts:
    """Resident memory of phones at home, and of phones with an app opened and dumped."""
    jar = os.urandom(3_700_000)
    phones = [_used(Phone(clock=SystemClock()), jar)]
    before = resident()
    phones += [Phone(clock=SystemClock(), seed=number) for number in range(options.phones)]
    for phone in phones[1:]:
        phone.dump()
    at_home = (resident() - before) / options.phones
    for phone in phones[1:]:
        _used(phone, jar)
    return {"MB at home": at_home, "MB with an app open and u2.jar": (resident() - before) / options.phones}


def _used(phone: Phone, jar: bytes) -> Phone:
    phone.files.write("/data/local/tmp/u2.jar", bytes(jar))
    phone.start_activity(package=SHOP)
    phone.dump()
    return phone


def resident() -> float:
    """MB that this process has in memory."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def crowd(options: argparse.Namespace) -> Facts:
    """Five hundred phones in one process: all served, all connected, all tapped and dumped at once."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = options.crowd

    async def run() -> Facts:
        start = time.perf_counter()
        phones = [Phone(clock=SystemClock(), seed=number) for number in range(count)]
        async with serve(phones, port=0) as served:
            clients = [await connect(one.host, one.port) for one in served]
            up = time.perf_counter() - start
            start = time.perf_counter()
            dumps = await asyncio.gather(*(_pair(client, (540, 1200)) for client in clients))
            once = time.perf_counter() - start
            assert all(b"</hierarchy>" in dump for dump in dumps)
            for client in clients:
                client.close()
            return {
                "phones": count,
                "s to boot, serve, connect": up,
                "s for a pair on each": once,
                "MB": resident(),
            }

    return asyncio.run(run())


def thousand(options: argparse.Namespace) -> Facts:
    """Phones in one process: how long until each has said by ADB that it has booted, and what they weigh,
    before and after each has an app open whose screen was dumped."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    async def ask(one: Served, *commands: str) -> list[bytes]:
        client = await connect(one.host, one.port)
        answers = [await client.run(command) for command in commands]
        client.close()
        return answers

    async def run() -> Facts:
        start = time.perf_counter()
        phones = make_phones(options.thousand)
        async with serve(phones, port=0) as served:
            for one in served:
                assert await ask(one, BOOTED) == [b"1\n"]
            ready, light = time.perf_counter() - start, resident()
            for one in served:
                _, dump = await ask(one, OPEN_SHOP, DUMP)
                assert SHOP.encode() in dump
            return {
                "phones": options.thousand,
                "s until ready": ready,
                "MB": light,
                "MB with an app": resident(),
            }

    return asyncio.run(run())


def paint(_options: argparse.Namespace) -> Facts:
    """The list of what to draw is made in the loop, the rest in a thread. In ms of computing, the median of
    fifteen: a picture takes longer than the turn that a busy machine gives to one program."""
    phone = Phone(clock=SystemClock())
    phone.start_activity(package=SHOP)
    phone.frame().png()
    frames, pictures, pngs, size = [], [], [], 0
    for _ in range(15):
        start = time.process_time()
        frame = phone.frame()
        frames.append(time.process_time() - start)
        start = time.process_time()
        frame.rgba()
        pictures.append(time.process_time() - start)
        start = time.process_time()
        size = len(frame.png())
        pngs.append(time.process_time() - start)
    frame_ms, paint_ms, both_ms = (median(times) * 1000 for times in (frames, pictures, pngs))
    return {"frame ms": frame_ms, "raw RGBA ms": paint_ms, "paint + PNG ms": both_ms, "PNG kB": size / 1000}


PARTS: dict[str, Callable[[argparse.Namespace], Facts]] = {
    "boot": boot,
    "one process": one_process,
    "two processes": two_processes,
    "memory": memory,
    "crowd": crowd,
    "thousand": thousand,
    "paint": paint,
}

GOALS: list[tuple[str, str, str, str, float]] = [
    ("boot in process (ms)", "boot", "boot ms", "<=", 7),
    ("tap + dump pairs/s, one process, every screen changed", "one process", "pairs/s", ">=", 700),
    ("tap + dump pairs/s, one process, a switch turned", "one process", SWITCH, ">=", 700),
    ("tap + dump pairs/s, one process, screen unchanged", "one process", STILL, ">=", 700),
    ("tap + dump pairs/s, two processes, every screen changed", "two processes", "pairs/s", ">=", 500),
    ("tap + dump pairs/s, two processes, a switch turned", "two processes", SWITCH, ">=", 500),
    ("tap + dump pairs/s, two processes, screen unchanged", "two processes", STILL, ">=", 500),
    ("each additional phone, at home (MB)", "memory", "MB at home", "<=", 0.5),
    ("each additional phone, in use (MB)", "memory", "MB with an app open and u2.jar", "<=", 0.5),
    ("phones in one process", "crowd", "phones", ">=", 500),
    ("a thousand phones, seconds until ready", "thousand", "s until ready", "<=", 8),
    ("a thousand phones that are ready (MB)", "thousand", "MB", "<=", 120),
    ("a thousand phones, an app open on each (MB)", "thousand", "MB with an app", "<=", 500),
    ("painting and PNG, in a thread (ms of computing)", "paint", "paint + PNG ms", "<=", 36),
]


def report(found: dict[str, Facts]) -> str:
    lines = [f"{'goal':<54}{'wanted':>10}{'reached':>10}"]
    for name, part, key, sign, wanted in GOALS:
        if part not in found:
            continue
        reached = found[part][key]
        kept = reached <= wanted if sign == "<=" else reached >= wanted
        lines.append(f"{name:<54}{sign + f' {wanted:g}':>10}{reached:>10.1f}  {'kept' if kept else 'MISSED'}")
    lines += ["", "all that was measured"]
    for part, facts in found.items():
        lines += [f"  {part}: " + ", ".join(f"{name} {value:.1f}" for name, value in facts.items())]
    return "\n".join(lines)


def measure(part: str, arguments: list[str]) -> Facts:
    """A part in a process of its own."""
    command = [sys.executable, __file__, "--part", part, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{part} failed:\n{done.stderr}")
    facts: Facts = json.loads(done.stdout.splitlines()[-1])
    return facts


def main() -> None:
    options = parser().parse_args()
    if options.part:
        print(json.dumps(PARTS[options.part](options)))
        return
    numbers = {"pairs": options.pairs, "phones": options.phones, "crowd": options.crowd}
    numbers["thousand"] = options.thousand
    passed = [word for name, value in numbers.items() for word in (f"--{name}", str(value))]
    found = {part: measure(part, passed) for part in options.only or PARTS}
    print(json.dumps(found, indent=2) if options.json else report(found))


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--json", action="store_true", help="all figures as JSON")
    made.add_argument("--pairs", type=int, default=1000, help="taps and dumps to measure")
    made.add_argument("--phones", type=int, default=50, help="phones whose memory is measured")
    made.add_argument("--crowd", type=int, default=500, help="phones in one process")
    made.add_argument("--thousand", type=int, default=1000, help="phones that are to be ready")
    made.add_argument("--only", nargs="+", choices=list(PARTS), help="measure these parts only")
    made.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    return made


if __name__ == "__main__":
    main()
