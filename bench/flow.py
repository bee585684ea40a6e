"""A flow of twenty steps on a simulated phone: Handrail beside uiautomator2 in the same run.

Run from the repository: `python bench/flow.py [--json] [--rounds N]`.
The phone has a process of its own and is put back before every round; the ways take turns. Handrail reads
the screen after every step until it rests, verifies and journals it; uiautomator2 does so only where it is
told to wait for an element. Connecting is not part of the figures. A screen counts as quiet after 100 ms
without a change, 20 where something is proved (decision 19): what was waited for that stands behind.
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
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.adb.server import find_adb
from handrail.config import Config, Helper
from handrail.flow.document import FlowDocument, loads
from handrail.flow.run import FlowRunner
from handrail.runtime import Runtime

APP = "com.google.android.contacts"
STEPS: list[tuple[str, ...]] = [
    ("tap", "Create new contact"),
    ("type", "first", "Ada"),
    ("type", "last", "Marrow"),
    ("type", "phone", "07700 900777"),
    ("key", "back"),
    ("tap", "Save"),
    ("see", "Ada Marrow"),
    ("key", "back"),
    ("see", "Contacts"),
    ("tap", "Alba Thornquill"),
    ("see", "Alba Thornquill"),
    ("key", "back"),
    ("tap", "Barnaby Fenwhistle"),
    ("see", "Barnaby Fenwhistle"),
    ("key", "back"),
    ("tap", "Search"),
    ("type", "search_view", "Zebedee"),
    ("see", "Zebedee Winterbourne"),
    ("key", "back"),
    ("key", "back"),
]
WAIT_S = 10
WAYS: dict[Helper, str] = {"none": "plain adb", "u2": "u2 helper"}
WAITED = ", waited for quiet"
GOAL = 2.0
"""Times as fast as the peer, by either way."""
Way = Callable[[], Awaitable[float]]
"""One round; seconds."""


def flow() -> FlowDocument:
    """The steps as a file would say them."""
    written = {
        "tap": lambda words: {"tap": words},
        "type": lambda field, text: {"type_text": {"target": {"id": field}, "text": text}},
        "key": lambda key: {"press_key": key},
        "see": lambda words: {"expect_visible": words},
    }
    steps = [written[kind](*values) for kind, *values in STEPS]
    return loads(json.dumps({"name": "bench", "app": APP, "steps": steps}))


@contextmanager
def phone() -> Iterator[str]:
    """Its address; a snapshot named `start` is kept."""
    command = [sys.executable, "-m", "handrail.cli.main", "sim", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield str(json.loads(process.stdout.readline())["connect"])
        finally:
            process.terminate()


@contextmanager
def adb_server(home: str) -> Iterator[int]:
    """A server on a port of its own."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    env = {**os.environ, "ANDROID_ADB_SERVER_PORT": str(port), "HOME": home}
    adb = str(find_adb(os.environ))
    subprocess.run([adb, "start-server"], env=env, check=True, capture_output=True)
    try:
        yield port
    finally:
        subprocess.run([adb, "kill-server"], env=env, check=True, capture_output=True)


def _waited(envelope: dict[str, Any]) -> float:
    return float(envelope["timings_ms"].get("waiting", 0.0))


async def handrail(
    stack: AsyncExitStack, home: Path, address: str, helper: Helper, windows: dict[str, list[float]]
) -> Way:
    """A session that stays open, and a runner on it. `windows` gets what was waited for quiet screens."""
    env = {"HANDRAIL_HOME": str(home / helper), "HOME": str(home)}
    runtime = await stack.enter_async_context(Runtime.open(Config.from_env(env), env=env))
    session = await runtime.session(address, helper=helper)
    host, _, port = address.rpartition(":")
    phone = AdbDevice(Direct(host, int(port)))
    stack.push_async_callback(phone.close)
    document = flow()

    async def once() -> float:
        await phone.shell.run(["sim", "restore", "start"])
        start = time.perf_counter()
        record = await FlowRunner({"phone": session}, runtime.clock).run(document)
        took = time.perf_counter() - start
        assert record.outcome == "passed", record.error
        rows = runtime.journal.actions(limit=len(STEPS) + 1)  # the app is started first
        ends = [runtime.journal.show(row.action_id).envelope or {} for row in rows]
        windows[f"handrail, {WAYS[helper]}"].append(sum(_waited(one) for one in ends) / 1000)
        return took

    await phone.shell.run(["sim", "snapshot", "start"])
    return once


def uiautomator2(port: int, address: str) -> Callable[[], float]:
    """The same steps by the package as its documentation shows them."""
    import adbutils  # noqa: PLC0415
    import uiautomator2 as u2  # noqa: PLC0415

    client = adbutils.AdbClient(port=port)
    client.connect(address)
    device: Any = u2.connect(client.device(address))
    does: dict[str, Callable[..., object]] = {
        "tap": lambda words: _element(device, words).click(timeout=WAIT_S),
        "type": lambda field, text: device(resourceId=f"{APP}:id/{field}").set_text(text, timeout=WAIT_S),
        "key": device.press,
        "see": lambda words: _sees(device, words),
    }

    def once() -> float:
        device.shell("sim restore start")
        start = time.perf_counter()
        device.app_start(APP, wait=True)
        for kind, *values in STEPS:
            does[kind](*values)
        return time.perf_counter() - start

    return once


def _element(device: Any, words: str) -> Any:
    by_text = words not in ("Create new contact", "Search")  # icons have a description
    return device(text=words) if by_text else device(description=words)


def _sees(device: Any, words: str) -> None:
    assert device(text=words).wait(timeout=WAIT_S), f"{words} did not come"


async def measure(rounds: int) -> dict[str, list[float]]:
    with ExitStack() as world, tempfile.TemporaryDirectory() as folder:
        address = world.enter_context(phone())
        port = world.enter_context(adb_server(folder))
        async with AsyncExitStack() as stack:
            windows: dict[str, list[float]] = {f"handrail, {name}": [] for name in WAYS.values()}
            plain = await handrail(stack, Path(folder), address, "none", windows)
            helped = await handrail(stack, Path(folder), address, "u2", windows)
            peer = await asyncio.to_thread(uiautomator2, port, address)

            async def peers() -> float:
                return await asyncio.to_thread(peer)

            ways = {"handrail, plain adb": plain, "handrail, u2 helper": helped, "uiautomator2": peers}
            found: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(rounds):
                for name, way in ways.items():
                    found[name].append(await way())
            return found | {f"{name}{WAITED}": times for name, times in windows.items()}


def report(found: dict[str, list[float]]) -> str:
    peer = median(found["uiautomator2"])
    lines = [f"{'a flow of 20 steps':<24}{'median s':>10}{'ms a step':>11}{'best s':>9}{'times as fast':>15}"]
    lines[0] += f", goal ≥ {GOAL:g}"
    waited = {name.removesuffix(WAITED): found.pop(name) for name in list(found) if name.endswith(WAITED)}
    for name, times in found.items():
        middle = median(times)
        step_ms = middle / len(STEPS) * 1000
        lines.append(f"{name:<24}{middle:>10.2f}{step_ms:>11.0f}{min(times):>9.2f}{peer / middle:>15.2f}")
        if name in waited:
            window = median(waited[name])
            lines[-1] += (
                f"   {window:.2f} s of it wait for quiet screens: at most {peer / window:.1f} by design"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = asyncio.run(measure(options.rounds))
    print(json.dumps(found) if options.json else report(found))


if __name__ == "__main__":
    main()
