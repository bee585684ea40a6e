"""Load on the way to a phone: `python tests/fuzz/load.py [seconds] [phones]`. An hour unless told otherwise.

A real `handrail serve` in one process, simulated phones in another, clients here. What the server holds
(memory, open files, threads) is read from /proc; whatever keeps growing after the warm-up fails the run, and
so does an answer that is no envelope. Prints actions a second, waiting times and the growth.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

HANDRAIL = [sys.executable, "-m", "handrail.cli.main"]
SAMPLE_SEC = 5.0
WARM_UP = 0.3
"""Of the samples: caches fill, pools start."""
MOST_GROWTH = {"memory MB": 40.0, "files": 12.0, "threads": 4.0}
"""Between the means of the first and the last third after the warm-up; an hour may add no more."""
APPS = ("com.handrail.notes", "com.google.android.contacts", "com.android.settings", "com.handrail.shop")


def actions(random: Random, device: str) -> Iterator[dict[str, Any]]:
    """What an agent does all day: looks, touches, scrolls, types, pictures, waits, and mistakes."""
    same = {"device": device, "reason": "load"}
    while True:
        yield {"type": "start_app", "package": random.choice(APPS), **same}
        for _ in range(random.randrange(4, 12)):
            x, y = random.randrange(50, 1000), random.randrange(200, 1900)
            yield random.choice(
                [
                    {"type": "get_ui_tree", "device": device},
                    {"type": "tap", "target": {"x": x, "y": y}, **same},
                    {"type": "tap", "target": {"text": "Nowhere"}, **same},
                    {"type": "swipe", "direction": random.choice(["up", "down"]), **same},
                    {"type": "press_key", "key": random.choice(["back", "home", "volume_up"]), **same},
                    {"type": "type_text", "text": f"word {random.random()}", **same},
                    {"type": "screenshot", "scale": 0.3, "device": device},
                    {"type": "get_logs", "max_lines": 50, "device": device},
                    {"type": "wait_for", "condition": {"visible": {"text": "Nowhere"}}, "timeout_ms": 300}
                    | {"device": device},
                ]
            )


@dataclass
class Caller:
    """One client on one phone."""

    address: str
    token: str
    device: str
    seed: int
    took_ms: list[float] = field(default_factory=list)
    codes: Counter[str] = field(default_factory=Counter)
    strange: list[str] = field(default_factory=list)

    def work(self, until: float) -> None:
        with closing(http.client.HTTPConnection(self.address, timeout=120)) as line:
            for action in actions(Random(self.seed), self.device):
                if time.monotonic() > until:
                    return
                began = time.monotonic()
                headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
                line.request("POST", "/api/actions", json.dumps(action), headers)
                answer = json.loads(line.getresponse().read())
                self.took_ms.append((time.monotonic() - began) * 1000)
                if "action_id" not in answer:
                    self.strange.append(str(answer)[:300])
                self.codes[answer.get("failure_code") or "ok"] += 1


def sample(pid: int) -> dict[str, float]:
    """What a process holds now."""
    status = Path(f"/proc/{pid}/status").read_text()

    def number(name: str) -> float:
        found = re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)
        return float(found[1]) if found else 0.0

    files = len(os.listdir(f"/proc/{pid}/fd"))
    return {"memory MB": number("VmRSS") / 1024, "files": float(files), "threads": number("Threads")}


def growth(samples: list[dict[str, float]]) -> dict[str, tuple[float, float]]:
    """The means of the first and of the last third, after the warm-up."""
    warm = samples[int(len(samples) * WARM_UP) :]
    third = max(1, len(warm) // 3)
    return {
        name: (
            statistics.mean(one[name] for one in warm[:third]),
            statistics.mean(one[name] for one in warm[-third:]),
        )
        for name in MOST_GROWTH
    }


def started(home: Path, *words: str) -> subprocess.Popen[str]:
    env = {**os.environ, "HANDRAIL_HOME": str(home)}
    return subprocess.Popen([*HANDRAIL, *words], env=env, stdout=subprocess.PIPE, text=True)


def phones_of(process: subprocess.Popen[str], count: int) -> list[str]:
    found: list[str] = []
    assert process.stdout
    for line in process.stdout:
        found += [one for one in re.findall(r"127\.0\.0\.1:\d+", line) if one not in found]
        if len(found) >= count:
            return found[:count]
    raise RuntimeError("the simulator ended")


def run(folder: Path, seconds: float, phones: int, sample_sec: float = SAMPLE_SEC) -> int:
    sim = started(folder, "sim", "--phones", str(phones), "--port", "0")
    devices = phones_of(sim, phones)
    named = [word for one in devices for word in ("--device", one)]
    server = started(folder, "serve", "--port", "0", *named)
    try:
        assert server.stdout
        for line in server.stdout:
            if "Ctrl-C" in line:
                break
        told = json.loads((folder / "config" / "desk.json").read_text())
        address = told["address"].removeprefix("http://")
        callers = [Caller(address, told["token"], one, seed) for seed, one in enumerate(devices)]
        samples = _watched(server.pid, callers, seconds, sample_sec)
    finally:
        for process in (server, sim):
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
    return _told(callers, samples, seconds)


def _watched(pid: int, callers: list[Caller], seconds: float, sample_sec: float) -> list[dict[str, float]]:
    until = time.monotonic() + seconds
    working = [threading.Thread(target=one.work, args=(until,)) for one in callers]
    for thread in working:
        thread.start()
    samples = []
    while time.monotonic() < until:
        time.sleep(min(sample_sec, max(0.0, until - time.monotonic())))
        samples.append(sample(pid))
    for thread in working:
        thread.join()
    return samples


def _told(callers: list[Caller], samples: list[dict[str, float]], seconds: float) -> int:
    took = sorted(one for caller in callers for one in caller.took_ms)
    codes = sum((caller.codes for caller in callers), Counter())
    rate = f"{len(took) / seconds:.1f} a second"
    print(f"{len(took)} actions in {seconds:.0f} s on {len(callers)} phones: {rate}")  # noqa: T201
    print(f"p50 {took[len(took) // 2]:.0f} ms, p99 {took[int(len(took) * 0.99)]:.0f} ms; {dict(codes)}")  # noqa: T201
    bad = [one for caller in callers for one in caller.strange]
    for name, (first, last) in growth(samples).items():
        print(f"{name}: {first:.1f} → {last:.1f} ({last - first:+.1f}, at most {MOST_GROWTH[name]:+.0f})")  # noqa: T201
        if last - first > MOST_GROWTH[name]:
            bad.append(f"{name} grows")
    for one in bad[:10]:
        print(one)  # noqa: T201
    return 1 if bad else 0


if __name__ == "__main__":
    given = [float(one) for one in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as place:
        sys.exit(run(Path(place), given[0] if given else 3_600, int(given[1]) if len(given) > 1 else 2))
