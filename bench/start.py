"""How long a command takes from Enter to the prompt: helps, reads, a tap on a simulated phone.

Bytecode is cached, as it is for everybody who installed the package. Wall time is what a person waits;
CPU time says how much of it was ours on a machine that others use too.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

RUNS = 11
GOALS_MS = {"--help": 120, "tap --help": 200, "tap": 400}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="handrail-bench-") as home, phone() as address:
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        env |= {"HANDRAIL_HOME": home, "HANDRAIL_DEVICE": address, "PYTHONPYCACHEPREFIX": f"{home}/bytecode"}
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "--help": handrail("--help"),
            "tap --help": handrail("tap", "--help"),
            "get-ui-tree": handrail("get-ui-tree"),
            "tap": handrail("tap", "Data Saver"),
            "tap on nothing": handrail("tap", "540,100"),
        }
        for words in (["start-app", "com.android.settings"], ["tap", "Network & internet"]):
            subprocess.run(handrail(*words), env=env, check=True, capture_output=True)
        print(f"{'handrail …':<16}{'median ms':>11}{'min ms':>9}{'CPU ms':>9}{'goal ms':>10}")
        for name, words in commands.items():
            wall, cpu = measure(words, env)
            goal = f"≤ {GOALS_MS[name]}" if name in GOALS_MS else ""
            print(f"{name:<16}{statistics.median(wall):>11.0f}{min(wall):>9.0f}{min(cpu):>9.0f}{goal:>10}")


def handrail(*words: str) -> list[str]:
    return [sys.executable, "-m", "handrail.cli.main", *words]


def measure(words: list[str], env: dict[str, str]) -> tuple[list[float], list[float]]:
    """Milliseconds of wall and CPU time; the first run writes the bytecode and does not count."""
    wall, cpu = [], []
    for _ in range(RUNS + 1):
        used, began = cpu_ms(), time.perf_counter()
        subprocess.run(words, env=env, check=True, capture_output=True)
        wall.append((time.perf_counter() - began) * 1000)
        cpu.append(cpu_ms() - used)
    return wall[1:], cpu[1:]


def cpu_ms() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


@contextmanager
def phone() -> Iterator[str]:
    """A phone in a process of its own."""
    with subprocess.Popen(handrail("sim", "--port", "0"), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["connect"]
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
