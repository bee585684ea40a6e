"""How long a command takes from Enter to the prompt, and what it imports meanwhile.

Bytecode is cached, as it is for everybody who installed the package. Wall time is what a person waits;
CPU time says how much of it was ours on a machine that others use too. `--json` gives the figures as data.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SERVED = "tap, server runs"
HANDED = "by daemon"
GOALS_MS = {"--help": 120, "tap Data Saver": 400, SERVED: 400, "first, starts the daemon": 800}
GOALS_FLOORS = {f"ui {HANDED}": 4.0}
"""Times as long as `python -c pass` in the same run."""
FLOOR = "python -c pass"
COLD_FLOOR = "python, asyncio, a model"
MODEL = """
import asyncio, pydantic
class Model(pydantic.BaseModel):
    x: int
Model(x=1)
asyncio.run(asyncio.sleep(0))
"""
ALONE = {"HANDRAIL_NO_DAEMON": "1"}
FLOWS = Path(__file__).parents[1] / "examples" / "flows"
SETTINGS = "com.android.settings"
IMPORT = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|( +)(\S+)")
PARTS = ("handrail", "pydantic", "pydantic_core", "click", "asyncio", "sqlite3", "lxml", "PIL", "rich", "mcp")
Row = dict[str, Any]


def main() -> None:
    options = arguments().parse_args()
    with tempfile.TemporaryDirectory(prefix="handrail-bench-") as home, phone() as address:
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        env |= {"HANDRAIL_HOME": home, "HANDRAIL_DEVICE": address, "PYTHONPYCACHEPREFIX": f"{home}/bytecode"}
        alone = env | ALONE
        for words in (["start-app", SETTINGS], ["tap", "Network & internet"]):
            subprocess.run(handrail(*words), env=alone, check=True, capture_output=True)
        rows = [measured(name, words, alone, options.runs) for name, words in commands().items()]
        with server(alone):
            rows.append(measured(SERVED, handrail("tap", "Data Saver"), alone, options.runs))
        rows += by_daemon(env, options.runs)
        parts = {name: imported(words, alone) for name, words in commands().items() if name in GOALS_MS}
    if options.json:
        print(json.dumps({"commands": rows, "imports": parts}, indent=1))
    else:
        print("\n".join([*table(rows, options.runs), "", *breakdown(parts)]))


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21, help="how often each command runs (default 21)")
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    return parser


def commands() -> dict[str, list[str]]:
    """The first one is the floor: what any Python program pays."""
    return {
        FLOOR: [sys.executable, "-c", "pass"],
        COLD_FLOOR: [sys.executable, "-c", MODEL],
        "--version": handrail("--version"),
        "--help": handrail("--help"),
        "tap --help": handrail("tap", "--help"),
        "ui": handrail("ui"),
        "tap Data Saver": handrail("tap", "Data Saver"),
        "tap 540,100": handrail(
            "tap", "540,100"
        ),  # nothing happens there: the screen is watched until it rests
        "actions swipe": handrail("actions", "swipe"),
        "flow check": handrail("flow", "check", *sorted(map(str, FLOWS.glob("*.yaml")))),
    }


def by_daemon(env: dict[str, str], runs: int) -> list[Row]:
    """Commands that are handed over. The last row is the first command of all, again and again."""
    warm = {
        FLOOR: [sys.executable, "-c", "pass"],
        f"ui {HANDED}": handrail("ui"),
        f"tap Data Saver {HANDED}": handrail("tap", "Data Saver"),
        f"tap 960,1030 {HANDED}": handrail("tap", "960,1030"),  # the same switch
        f"tap 540,100 {HANDED}": handrail("tap", "540,100"),
    }
    stop = handrail("daemon", "stop")
    try:
        subprocess.run(handrail("ui"), env=env, check=True, capture_output=True)
        rows = [measured(name, words, env, runs) for name, words in warm.items()]
        first = measured("first, starts the daemon", handrail("ui"), env, runs, before=stop)
    finally:
        subprocess.run(stop, env=env, check=True, capture_output=True)
    for row in rows:
        row["floors"] = round(row["median_ms"] / rows[0]["median_ms"], 2)
    return [*rows, first]


def handrail(*words: str) -> list[str]:
    return [sys.executable, "-m", "handrail.cli.main", *words]


def measured(
    name: str, words: list[str], env: dict[str, str], runs: int, before: list[str] | None = None
) -> Row:
    """Milliseconds; the first run writes the bytecode and does not count."""
    subprocess.run(words, env=env, check=True, capture_output=True)
    wall, cpu = [], []
    for _ in range(runs):
        if before:
            subprocess.run(before, env=env, check=True, capture_output=True)
        used, began = cpu_ms(), time.perf_counter()
        subprocess.run(words, env=env, check=True, capture_output=True)
        wall.append((time.perf_counter() - began) * 1000)
        cpu.append(cpu_ms() - used)
    wall.sort()
    return {
        "command": name,
        "median_ms": round(statistics.median(wall), 1),
        "p90_ms": round(wall[int(len(wall) * 0.9)], 1),
        "min_ms": round(wall[0], 1),
        "cpu_ms": round(statistics.median(cpu), 1),
        "goal_ms": GOALS_MS.get(name),
    }


def cpu_ms() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def imported(words: list[str], env: dict[str, str]) -> dict[str, float]:
    """Milliseconds of import by top-level package, each module without the ones that it imports itself."""
    timed = [words[0], "-X", "importtime", *words[1:]]
    done = subprocess.run(timed, env=env, check=True, capture_output=True, text=True)
    spent: dict[str, float] = {}
    for own, _, _, module in IMPORT.findall(done.stderr):
        top = module.partition(".")[0]
        part = top if top in PARTS else "the rest of the library"
        spent[part] = spent.get(part, 0) + int(own) / 1000
    return {name: round(ms, 1) for name, ms in sorted(spent.items(), key=lambda item: -item[1])}


def table(rows: list[Row], runs: int) -> Iterator[str]:
    yield f"{f'handrail … ({runs} runs)':<30}{'median':>9}{'p90':>9}{'min':>9}{'CPU':>9}{'goal':>9}   ms"
    for row in rows:
        figures = "".join(f"{row[key]:>9.0f}" for key in ("median_ms", "p90_ms", "min_ms", "cpu_ms"))
        goal = f"≤ {row['goal_ms']}" if row["goal_ms"] else ""
        ratio = f"   {row['floors']} × {FLOOR}" if "floors" in row else ""
        wanted = f", goal ≤ {GOALS_FLOORS[row['command']]}" if row["command"] in GOALS_FLOORS else ""
        yield f"{row['command']:<30}{figures}{goal:>9}{ratio}{wanted}"


def breakdown(parts: dict[str, dict[str, float]]) -> Iterator[str]:
    for name, spent in parts.items():
        yield f"imports of {name}: {sum(spent.values()):.0f} ms under -X importtime, which slows them"
        yield from (f"  {part:<26}{ms:>7.1f}" for part, ms in spent.items())


@contextmanager
def server(env: dict[str, str]) -> Iterator[None]:
    """`handrail serve` with the phone open: commands hand their action over to it."""
    words = handrail("serve", "--port", "0", "--no-mcp", "--device", env["HANDRAIL_DEVICE"])
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            next(line for line in process.stdout if "Ctrl-C" in line)
            yield
        finally:
            process.terminate()


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
