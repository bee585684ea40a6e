"""Environments for training: steps a second and memory for 1, 10, 100 and 1,000 phones in one process.

Run from the repository: `python bench/env.py [--json] [--phones 1 10 100 1000]`. Each line is a process of
its own. A step is a tap that opens an app or the key that leaves it, with the engine's policy and proof and
the next observation; `reset` is a new phone with a new session. Other programs run too, so a line also says
how many steps a second of the processor is good for.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

STEPS = 400
"""Of all phones together, and at least two for each."""
ACTIONS = ({"type": "tap", "target": {"text": "Clock"}}, {"type": "press_key", "key": "home"})


def memory_mb() -> float:
    """What this process holds now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def measure(phones: int) -> dict[str, Any]:
    from handrail_eval.env import PhoneEnv, PhoneVectorEnv  # noqa: PLC0415 - each line pays for its own imports
    from handrail_eval.env_task import env_task  # noqa: PLC0415

    warm = PhoneEnv(env_task("clock-timer"))
    warm.reset(seed=1)
    warm.step(ACTIONS[0])
    before = memory_mb()
    env = PhoneVectorEnv(phones, env_task("clock-timer"))
    began = time.perf_counter()
    env.reset(seed=1)
    reset_s = time.perf_counter() - began
    idle = memory_mb()
    rounds = max(2, STEPS // phones) // 2 * 2
    began, cpu, good = time.perf_counter(), time.process_time(), 0
    for number in range(min(rounds, 8)):
        *_, infos = env.step([ACTIONS[number % 2]] * phones)
        good += sum(info.get("success", False) for info in infos)
    took, used = time.perf_counter() - began, time.process_time() - cpu
    steps = phones * min(rounds, 8)
    held = memory_mb()
    env.close()
    warm.close()
    return {
        "phones": phones,
        "steps": steps,
        "good": good,
        "steps_s": steps / took,
        "steps_cpu_s": steps / used,
        "reset_ms": reset_s * 1000 / phones,
        "mb_idle": (idle - before) / phones,
        "mb": (held - before) / phones,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--phones", type=int, nargs="+", default=[1, 10, 100, 1000])
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return
    rows = []
    for count in options.phones:
        said = subprocess.run(
            [sys.executable, __file__, "--one", str(count)], check=True, stdout=subprocess.PIPE
        )
        rows.append(json.loads(said.stdout))
        if not options.json:
            row = rows[-1]
            print(
                f"{row['phones']:>5} phones {row['steps_s']:>7.1f} steps/s, "
                f"{row['steps_cpu_s']:>7.1f} a CPU second "
                f"({row['good']}/{row['steps']} good) "
                f"{row['reset_ms']:>6.1f} ms a reset  {row['mb_idle']:.2f} MB, "
                f"{row['mb']:.2f} after the steps",
                flush=True,
            )
    if options.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
