"""What an evaluation takes: every shipped task with models that need no network, and more or fewer at a time.

Run from the repository: `python bench/eval.py [--json]`. Each line is one `handrail eval` in a process of its
own, phones and all; `cpu` is what that process used, start-up included. The reference must solve everything
and doing nothing nothing, both in a minute on two cores. `reached` counts the phones that were as the task
wants them, whatever the model said. Runs mostly wait for screens to settle, which is why more of them at a
time than there are cores pays. Other programs run too.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from typing import Any

GOAL_S = 60.0
LINES = (
    ("reference", 2),
    ("reference", 4),
    ("reference", 8),
    ("reference", 16),
    ("nothing", 4),
    ("random", 4),
    ("memoriser", 4),
    ("liar", 4),
    ("quitter", 4),
    ("quitter-opens", 4),
    ("asker", 4),
    ("enumerator", 4),
)


def measure(model: str, jobs: int) -> dict[str, Any]:
    """One evaluation."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "handrail.cli.main", "eval", "--model", model, "-j", str(jobs), "--json"]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    summary = json.loads(said.stdout)["summary"]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    kept = {name: summary[name] for name in ("tasks", "success", "reached", "steps")}
    return {"model": model, "jobs": jobs, **kept, "wall_s": summary["wall_ms"] / 1000, "cpu_s": cpu}


def table(rows: list[dict[str, Any]]) -> str:
    lines = [f"All tasks (goal for reference and nothing: at most {GOAL_S:g} s)", ""]
    lines.append(
        f"{'model':12}{'at a time':>10}{'solved':>10}{'reached':>9}{'steps':>7}{'wall':>9}{'cpu':>9}"
    )
    for row in rows:
        solved = f"{row['success']}/{row['tasks']}"
        lines.append(
            f"{row['model']:12}{row['jobs']:>10}{solved:>10}{row['reached']:>9}{row['steps']:>7}"
            f"{row['wall_s']:>7.1f} s{row['cpu_s']:>7.1f} s"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [measure(*line) for line in LINES]
    print(json.dumps(rows) if options.json else table(rows))


if __name__ == "__main__":
    main()
