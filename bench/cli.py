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
from typing import Any

SERVED = "the same, server runs"
GOALS_MS = {"--help": 120, "tap Data Saver": 400, SERVED: 400}
SETTINGS = "com.android.settings"
IMPORT = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|( +)(\S+)")
PARTS = ("handrail", "pydantic", "pydantic_core", "click", "asyncio", "sqlite3", "lxml", "PIL", "rich", "mcp")
Row = dict[str, Any]


def main() -> None:
    options = arguments().parse_args()
    with tempfile.TemporaryDirectory(prefix="handrail-bench-") as home, phone() as address:
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        env |= {"HANDRAIL_HOME": home, "HANDRAIL_DEVICE": address, "PYTHONPYCACHEPREFIX": f"{home}/bytecode"}
        for words in (["start-app", SETTINGS], ["tap", "Network & internet"]):
            subprocess.run(handrail(*words), env=env, check=True, capture_output=True)
        rows = [measured(name, words, env, options.runs) for name, words in commands().items()]
        with server(env):
            rows.append(measured(SERVED, handrail("tap", "Data Saver"), env, options.runs))
        parts = {name: imported(words, env) for name, words in commands().items() if name in GOALS_MS}
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
        "python -c pass": [sys.executable, "-c", "pass"],
        "--version": handrail("--version"),
        "--help": handrail("--help"),
        "tap --help": handrail("tap", "--help"),
        "ui": handrail("ui"),
        "tap Data Saver": handrail("tap", "Data Saver"),
        "tap 540,100": handrail("tap", "540,100"),
    }


def handrail(*words: str) -> list[str]:
    return [sys.executable, "-m", "handrail.cli.main", *words]


def measured(name: str, words: list[str], env: dict[str, str], runs: int) -> Row:
    """Milliseconds; the first run writes the bytecode and does not count."""
    subprocess.run(words, env=env, check=True, capture_output=True)
    wall, cpu = [], []
    for _ in range(runs):
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
    yield f"{f'handrail … ({runs} runs)':<24}{'median':>9}{'p90':>9}{'min':>9}{'CPU':>9}{'goal':>9}   ms"
    for row in rows:
        figures = "".join(f"{row[key]:>9.0f}" for key in ("median_ms", "p90_ms", "min_ms", "cpu_ms"))
        goal = f"≤ {row['goal_ms']}" if row["goal_ms"] else ""
        yield f"{row['command']:<24}{figures}{goal:>9}"


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
