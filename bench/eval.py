"""What every baseline gets on the shipped tasks, and what the reference takes. Each line is one command.

Run from the repository: `python bench/eval.py [--seeds 1..3] [--tasks NAMES] [--json]`, or one line of it
with `--model NAME`. The last line is the suite by its reference in as many processes as there are cores;
goal: 90 s on two. Other programs run too, so `cpu` tells more than `wall`.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from typing import Any

GOAL_S = 90.0
GOALS = {
    "reference": (100.0, 100.0),
    "second-reference": (100.0, 100.0),
    "nothing": (0.0, 0.0),
    "random": (0.0, 1.0),
    "memoriser": (0.0, 2.0),
    "liar": (0.0, 0.0),
    "quitter": (0.0, 1.0),
    "asker": (0.0, 1.0),
    "quitter-opens": (0.0, 5.0),
    "enumerator": (0.0, 0.0),
}
"""Percent at least and at most."""


def measure(model: str, seeds: str, tasks: str) -> dict[str, Any]:
    """One evaluation."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [
        sys.executable,
        "-m",
        "handrail.cli.main",
        "eval",
        "--model",
        model,
        "--seeds",
        seeds,
        "--json",
    ]
    command += ["--tasks", tasks] if tasks else []
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = json.loads(said.stdout)
    summary, took = told["summary"], told["took"]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    kept = {name: summary[name] for name in ("tasks", "episodes", "success", "reached", "steps", "percent")}
    passed = [f"{one['id']}.{one['seed']}" for one in told["tasks"] if one["success"]]
    low, high = GOALS.get(model, (0.0, 100.0))
    odd = passed if high < 100 else [one["id"] for one in told["tasks"] if not one["success"]]
    return {
        "model": model,
        **kept,
        "goal": f"{low:g} %" if low == high else f"≤ {high:g} %",
        "met": low <= summary["percent"] <= high,
        "odd": odd,
        "wall_s": took["wall_ms"] / 1000,
        "cpu_s": cpu,
        "jobs": took["jobs"],
    }


def table(rows: list[dict[str, Any]], speed: dict[str, Any] | None) -> str:
    lines = [f"{'model':18}{'solved':>12}{'percent':>9}{'goal':>9}{'':>4}{'steps':>8}{'wall':>10}{'cpu':>10}"]
    for row in rows:
        solved, mark = f"{row['success']}/{row['episodes']}", "ok" if row["met"] else "NO"
        lines.append(
            f"{row['model']:18}{solved:>12}{row['percent']:>8.1f} {row['goal']:>8}{mark:>4}{row['steps']:>8}"
            f"{row['wall_s']:>8.1f} s{row['cpu_s']:>8.1f} s"
        )
        lines += [f"    {one}" for one in row["odd"][:12]]
    if speed is not None:
        rate = speed["episodes"] / speed["wall_s"]
        lines += ["", f"The whole suite by reference, one seed (goal: at most {GOAL_S:g} s on two cores)"]
        lines.append(
            f"{speed['episodes']} tasks, {speed['wall_s']:.1f} s with {speed['jobs']} processes, "
            f"{speed['cpu_s']:.1f} s of processor, {rate:.1f} tasks/s"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seeds", default="1..3")
    parser.add_argument("--tasks", default="")
    parser.add_argument("--model", action="append", choices=[*GOALS], help="only this; may be given again")
    options = parser.parse_args()
    rows = [measure(model, options.seeds, options.tasks) for model in options.model or GOALS]
    speed = None if options.model else measure("reference", "1", options.tasks)
    print(json.dumps({"baselines": rows, "speed": speed}) if options.json else table(rows, speed))


if __name__ == "__main__":
    main()
