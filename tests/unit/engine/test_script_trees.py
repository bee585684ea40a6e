"""Generated trees of processes that try to outlive their script: detached, orphaned, deaf, nameless.

Judged by /proc and by a clock, never by the script's own answer. `tests/fuzz/scripts.py` tries more of them.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from random import Random

import pytest

from handrail.engine.script_executor import ScriptExecutor, ScriptResult

PYTHON = str(Path(sys.executable).resolve())
HABITS = ("setsid", "group", "deaf", "nameless", "closed", "nohup")
LONGEST_SEC = 120
"""How long a process that got away lives. The judge looks long before."""

ACTOR = """
import json, os, signal, sys, time
def act(tree):
    for habit in tree["habits"]:
        if habit == "setsid" and os.getpid() != os.getsid(0):
            try: os.setsid()
            except OSError: pass
        if habit == "group":
            try: os.setpgid(0, 0)
            except OSError: pass
        if habit == "deaf":
            for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(one, signal.SIG_IGN)
        if habit == "nohup": signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with open(f"pid-{os.getpid()}", "w") as file: file.write("here")
    for child in tree["children"]:
        if os.fork() == 0:
            if child["double"] and os.fork() != 0: os._exit(0)
            if "nameless" in child["habits"]:
                os.execve(sys.executable, [sys.executable, "-I", sys.argv[0], json.dumps(child)], {})
            act(child)
    if "closed" in tree["habits"]: os.closerange(0, 64)
    end = time.monotonic() + tree["lives"]
    while time.monotonic() < end: time.sleep(0.05)
    os._exit(0)
act(json.loads(sys.argv[1]))
"""


def tree(random: Random, depth: int = 3) -> dict[str, object]:
    """A process, its habits, how long it lives, and what it forks."""
    children = [tree(random, depth - 1) for _ in range(random.randrange(3))] if depth else []
    return {
        "habits": [habit for habit in HABITS if random.random() < 0.4],
        "double": random.random() < 0.5,
        "lives": random.choice([0, 0, 0.3, LONGEST_SEC]),
        "children": children,
    }


def written(given: dict[str, object]) -> str:
    """As one word of a script."""
    return "'" + str(given).replace("'", '"').replace("True", "true").replace("False", "false") + "'"


def attempt(folder: Path, given: dict[str, object], timeout_sec: float) -> tuple[ScriptResult, float]:
    actor = folder / "actor.py"
    actor.write_text(ACTOR)
    executor = ScriptExecutor(folder / "runs", programs=lambda: (PYTHON,), folders=[folder])
    began = time.monotonic()
    result = asyncio.run(executor.run(f"{PYTHON} -I {actor} {written(given)}", timeout_sec=timeout_sec))
    return result, time.monotonic() - began


def survivors(result: ScriptResult) -> list[str]:
    """Of all that said they were there: who still is, and is no corpse."""
    found = []
    for place in (result.run_dir / "files").glob("pid-*"):
        pid = place.name.removeprefix("pid-")
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
            line = Path(f"/proc/{pid}/cmdline").read_text()
        except OSError:
            continue
        if stat.rpartition(")")[2].split()[0] not in "ZX" and "actor.py" in line:
            found.append(f"{pid}: {line}")
    return found


def examine(folder: Path, seed: str, timeout_sec: float = 5.0) -> int:
    """One tree's life. Raises when somebody survived it or the answer came late; how many were there."""
    given = tree(Random(seed)) | {"lives": Random(seed).choice([0.4, LONGEST_SEC])}
    result, took = attempt(folder, given, timeout_sec)
    assert not result.refused, (seed, result.refused)
    assert survivors(result) == [], seed
    assert took < timeout_sec + LATE_SEC, f"{seed}: {took:.1f} s for a deadline of {timeout_sec} s"
    return len(list((result.run_dir / "files").glob("pid-*")))


LATE_SEC = 60.0
"""More than the grace, the kills and a busy machine take; far less than a survivor lives."""


@pytest.mark.parametrize("number", range(4))
def test_no_generated_tree_of_processes_outlives_its_script(tmp_path: Path, number: int) -> None:
    assert examine(tmp_path, f"17 {number}") >= 1


@pytest.mark.slow
def test_many_generated_trees_of_processes_do_not_outlive_their_scripts(tmp_path: Path) -> None:
    assert sum(examine(tmp_path, f"170 {number}") for number in range(25)) > 50


HELD = {
    "a detached child without a name that keeps the pipe": ["setsid", "nameless", "deaf"],
    "a double fork that keeps the pipe": ["group", "nohup"],
}


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("lives", [0, LONGEST_SEC])
def test_the_deadline_ends_the_answer_whatever_holds_the_pipe(tmp_path: Path, name: str, lives: int) -> None:
    child = {"habits": HELD[name], "double": True, "lives": LONGEST_SEC, "children": []}
    parent = {"habits": [], "double": False, "lives": lives, "children": [child]}
    deadline = 1 if lives else 60  # a busy machine may need longer than a second to start Python
    result, took = attempt(tmp_path, parent, deadline)
    assert took < LATE_SEC
    assert survivors(result) == []
    assert result.timed_out == bool(lives)


def test_a_long_pipe_ends_at_its_deadline_too(tmp_path: Path) -> None:
    executor = ScriptExecutor(tmp_path / "runs")
    script = " | ".join(["sleep 30"] * 30 + ["cat"] * 30)
    began = time.monotonic()
    result = asyncio.run(executor.run(script, timeout_sec=0.3))
    assert result.timed_out
    assert time.monotonic() - began < 0.3 + LATE_SEC
