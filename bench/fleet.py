"""What a fleet costs: units a second against plain processes, memory, CPU; a thousand phones; every fault.

    python bench/fleet.py throughput [--hosts 3 --phones 100 --units 600 --limit 8 --turns 3]
    python bench/fleet.py evaluate [--units 1000]
    python bench/fleet.py faults [--units 300]
    python bench/fleet.py stop [--turns 5]

Each is one command and prints its figures; all but `stop` need root for network namespaces. `make bench` runs
one of them small.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from packages.fleet.tests.bed import Bed, bed, until, why_not
from packages.fleet.tests.faults import FAULTS, done, judge, left, story
from packages.fleet.tests.lab import lab, unit

from handrail_fleet.fence import STOP_MS, SteadyClock

FLOW = """
name: Ten steps
app: com.google.android.contacts
retry: lost
steps:
  - tap: Create new contact
  - type_text: {target: {id: first}, text: Ada}
  - type_text: {target: {id: last}, text: Marrow}
  - type_text: {target: {id: phone}, text: "07700900777"}
  - tap: Save
  - expect_visible: Ada Marrow
  - press_key: back
  - scroll_to: Ada Marrow
  - press_key: home
  - press_key: home
"""


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def all_of(made: Bed) -> list[int]:
    return [pid for number in range(made.hosts + 1) for pid in made.pids(number)]


def spent(pids: list[int]) -> float:
    total = 0.0
    for pid in pids:
        try:
            total += cpu_s(pid)
        except OSError:
            continue
    return total


def on_fleet(made: Bed, units: int) -> tuple[float, float]:
    """Seconds and CPU seconds of everything that is in the fleet."""
    flows = made.folder / "flows"
    flows.mkdir(exist_ok=True)
    for number in range(units):
        (flows / f"u{number:05}.yaml").write_text(FLOW, encoding="utf-8")
    before, began = spent(all_of(made)), time.monotonic()
    told = made.command("run", str(flows), "--fleet", f"http://{made.address(0)}:8931", "--detach")
    run = told.stdout.split()[1]
    until(lambda: left(made, run) == 0, 7_200, f"{done(made, run)} of {units}")
    took, cpu = time.monotonic() - began, spent(all_of(made)) - before
    judge(made, run, units)
    return took, cpu


def at_rest(made: Bed, seconds: float = 10.0) -> float:
    """CPU seconds that everything in the fleet spends in a second in which nothing is to be done."""
    before = spent(all_of(made))
    time.sleep(seconds)
    return (spent(all_of(made)) - before) / seconds


PLAIN = """
import asyncio, sys, time
from pathlib import Path
from handrail.config import Config
from handrail.engine.events import Caller
from handrail_fleet.host_phones import simulated_host
from handrail.flow.document import load
from handrail.flow.run import FlowRunner
from handrail.runtime import Runtime

async def main(home, flow, phones, limit):
    config = Config.from_env({"HANDRAIL_HOME": home, "HOME": home})
    async with Runtime.open(config, env={}, caller=Caller("bench", "flow", "flow")) as runtime:
        async with simulated_host(phones, runtime) as host:
            document = load(Path(flow))
            print("ready", flush=True)
            for line in sys.stdin:
                units, free, failed = int(line), list(host.phones.values()), 0
                async def work():
                    nonlocal units, failed
                    while units > 0:
                        units -= 1
                        phone = free.pop(0)
                        phone.renew()
                        runner = FlowRunner({"device": phone.session}, runtime.clock, own_phones=True)
                        record = await runner.run(document)
                        failed += record.outcome != "passed"
                        free.append(phone)
                began, cpu = time.monotonic(), time.process_time()
                await asyncio.gather(*(work() for _ in range(limit)))
                print(time.monotonic() - began, time.process_time() - cpu, failed, flush=True)

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
"""


def plain_processes(folder: Path, hosts: int, phones: int, limit: int) -> list[subprocess.Popen[str]]:
    flow = folder / "plain.yaml"
    flow.write_text(FLOW, encoding="utf-8")
    made = [
        subprocess.Popen(
            [sys.executable, "-c", PLAIN, str(folder / f"plain{number}"), str(flow), str(phones), str(limit)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number in range(hosts)
    ]  # fmt: skip
    for one in made:
        assert one.stdout is not None
        one.stdout.readline()
    return made


def on_plain(made: list[subprocess.Popen[str]], units: int) -> tuple[float, float]:
    began = time.monotonic()
    for number, one in enumerate(made):
        assert one.stdin is not None
        share = units // len(made) + (number < units % len(made))
        one.stdin.write(f"{share}\n")
        one.stdin.flush()
    cpu = 0.0
    for one in made:
        assert one.stdout is not None
        _, used, failed = one.stdout.readline().split()
        assert failed == "0", f"{failed} flows failed"
        cpu += float(used)
    return time.monotonic() - began, cpu


def throughput(given: argparse.Namespace) -> None:
    """In turns on the same machine: what else it does meets both ways alike."""
    with (
        tempfile.TemporaryDirectory() as folder,
        bed(hosts=given.hosts, phones=given.phones, limit=given.limit, with_ray=not given.plain) as made,
    ):
        others = plain_processes(Path(folder), given.hosts, given.phones, given.limit)
        try:
            share = max(1, given.units // given.turns)
            rest = at_rest(made)
            found: dict[str, list[tuple[float, float]]] = {"fleet": [], "plain": []}
            for turn in range(given.turns):
                ways = [("fleet", lambda: on_fleet(made, share)), ("plain", lambda: on_plain(others, share))]
                for name, way in ways if turn % 2 == 0 else reversed(ways):
                    took, cpu = way()
                    cpu -= rest * took if name == "fleet" else 0.0
                    found[name].append((took, cpu))
                    cost = f"{1000 * cpu / share:.0f} ms CPU each"
                    print(f"turn {turn + 1} {name}: {share / took:.2f} units/s, {cost}", flush=True)
            tell(given, share * given.turns, found)
            print(f"beside that: {1000 * rest:.0f} ms CPU a second, which head, hosts and Ray spend at rest")
            tell_memory(made)
        finally:
            for one in others:
                one.kill()
                one.wait()


def tell(given: argparse.Namespace, total: int, found: dict[str, list[tuple[float, float]]]) -> None:
    rate = {name: total / sum(took for took, _ in turns) for name, turns in found.items()}
    cpu = {name: 1000 * sum(used for _, used in turns) / total for name, turns in found.items()}
    print(f"{given.hosts} hosts x {given.phones} phones, {total} units, {given.limit} at a time on each host")
    print(f"units/s: fleet {rate['fleet']:.2f}, plain processes {rate['plain']:.2f}")
    print(f"the fleet has {rate['fleet'] / rate['plain']:.2f} x (goal 0.9)")
    print(f"CPU that the fleet adds for each unit: {cpu['fleet'] - cpu['plain']:.0f} ms (goal 30)")


def tell_memory(made: Bed) -> None:
    for number in range(made.hosts + 1):
        name = "the head" if number == 0 else f"host {number}"
        print(f"memory of {name}: {sum(map(memory_mb, made.pids(number))):.0f} MB")


def evaluate(given: argparse.Namespace) -> None:
    with bed(hosts=given.hosts, phones=given.phones, limit=given.limit, with_ray=not given.plain) as made:
        listed = json.loads(made.command("eval", "--list", "--json").stdout)
        seeds = max(1, -(-given.units // len(listed)))
        began = time.monotonic()
        address = f"http://{made.address(0)}:8931"
        told = made.command("eval", "--seeds", f"1..{seeds}", "--fleet", address, "--json", timeout=7_200)
        took, ran = time.monotonic() - began, json.loads(told.stdout)["summary"]
        print(f"{ran['episodes']} phones evaluated, {ran['success']} solved, in {took:.0f} s")
        print(f"{ran['episodes'] / took:.2f} a second, on {given.hosts} hosts")
        tell_memory(made)


def faults(given: argparse.Namespace) -> None:
    with bed(hosts=given.hosts, phones=given.phones, limit=given.limit, with_ray=not given.plain) as made:
        for name in FAULTS:
            print(f"{name}: {story(made, given.units, [name], seconds=3_600)}", flush=True)


IN_FLIGHT = {
    "a wait": "name: Wait\nsteps:\n  - wait: 60000\n",
    "a question": "name: Ask\nsteps:\n  - request_human_auth: {capability: permission, instruction: Why?}\n",
    "actions": "name: Act\nsteps:\n" + "  - press_key: home\n" * 400,
}


async def stop_once(flow: str, folder: Path) -> float:
    """From the moment at which a host that was cut off must stop, until its phone is free."""
    clock = SteadyClock()
    async with lab(folder) as fleet:
        host = await fleet.add("one", phones=1)
        await fleet.submit([unit(flow, folder)])
        while host.phones.free():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)
        host.line.is_cut = True
        while not host.phones.free():
            await asyncio.sleep(0.002)
        fence = host.agent.fence
        return clock.monotonic_ms() - (fence.renewed_ms + fence.half_ms)


def stop(given: argparse.Namespace) -> None:
    logging.disable(logging.WARNING)  # every host says that it was cut off
    for name, flow in IN_FLIGHT.items():
        took = []
        for _ in range(given.turns):
            with tempfile.TemporaryDirectory() as folder:
                took.append(asyncio.run(stop_once(flow, Path(folder))))
        told = ", ".join(f"{one:.0f}" for one in took)
        print(f"{name}: {told} ms after its host must stop (goal {STOP_MS:g})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "what", nargs="?", choices=["throughput", "evaluate", "faults", "stop"], default="throughput"
    )
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--phones", type=int, default=4)
    parser.add_argument("--units", type=int, default=24)
    parser.add_argument("--limit", type=int, default=4)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--plain", action="store_true", help="hosts join by HTTP, without Ray")
    given = parser.parse_args()
    if given.what == "stop":
        stop(given)
        return
    if reason := why_not():
        print(f"skipped: {reason}")
        return
    {"throughput": throughput, "evaluate": evaluate, "faults": faults}[given.what](given)


if __name__ == "__main__":
    main()
