"""What every baseline gets on the shipped tasks, and what the reference takes. Each line is one command.

Run from the repository: `python bench/eval.py [--seeds 1..3] [--tasks NAMES] [--json]`, or some lines of it
with `--only NAME,NAME`. Each line is printed when it is there. The last line is the suite by its reference in
as many processes as there are cores; goal: 90 s on two. Other programs run too, so `cpu` says more.
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


HEAD = f"{'model':18}{'solved':>12}{'percent':>9}{'goal':>9}{'':>4}{'steps':>8}{'wall':>10}{'cpu':>10}"


def line_of(row: dict[str, Any]) -> str:
    solved, mark = f"{row['success']}/{row['episodes']}", "ok" if row["met"] else "NO"
    line = (
        f"{row['model']:18}{solved:>12}{row['percent']:>8.1f} {row['goal']:>8}{mark:>4}{row['steps']:>8}"
        f"{row['wall_s']:>8.1f} s{row['cpu_s']:>8.1f} s"
    )
    return "\n".join([line, *(f"    {one}" for one in row["odd"][:12])])


def speed_of(speed: dict[str, Any]) -> str:
    rate = speed["episodes"] / speed["wall_s"]
    return (
        f"\nThe whole suite by reference, one seed (goal: at most {GOAL_S:g} s on two cores)\n"
        f"{speed['episodes']} tasks, {speed['wall_s']:.1f} s with {speed['jobs']} processes, "
        f"{speed['cpu_s']:.1f} s of processor, {rate:.1f} tasks/s"
    )


def names(given: str) -> list[str]:
    chosen = [one.strip() for one in given.split(",") if one.strip()]
    if not chosen or set(chosen) - set(GOALS):
        raise argparse.ArgumentTypeError(f"choose among {', '.join(GOALS)}")
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="a JSON object a line, when it is there")
    parser.add_argument("--seeds", default="1..3")
    parser.add_argument("--tasks", default="")
    parser.add_argument("--only", type=names, metavar="NAME,NAME", help="these lines, and no other")
    options = parser.parse_args()
    if not options.json:
        print(HEAD, flush=True)
    for model in options.only or GOALS:
        row = measure(model, options.seeds, options.tasks)
        print(json.dumps(row) if options.json else line_of(row), flush=True)
    if not options.only:
        speed = measure("reference", "1", options.tasks)
        print(json.dumps({"speed": speed}) if options.json else speed_of(speed), flush=True)


if __name__ == "__main__":
    main()
