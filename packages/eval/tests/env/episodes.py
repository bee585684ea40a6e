"""Episodes of chance: the same number gives the same actions, good and bad ones."""

from __future__ import annotations

import hashlib
import json
import random
import re
import sys
from pathlib import Path
from typing import Any

from handrail_eval.env import PhoneVectorEnv
from handrail_eval.env_task import env_task

OWN = Path(__file__).with_name("tasks")
AIRPLANE = str(OWN / "airplane.yaml")
DELETE = str(OWN / "delete-contact.yaml")
TASKS = (DELETE, "adversary-parcel", "notes-sum", "fault-lost-input")


def chosen(rng: random.Random, screen: str) -> Any:
    """Mostly something that is on the screen."""
    refs = re.findall(r"^\s*(@[a-z]\d+)\b", screen, re.M) or ["@b1"]
    return rng.choice(
        [
            {"type": "tap", "target": rng.choice(refs)},
            {"type": "tap", "target": rng.choice(refs)},
            {"type": "tap", "target": {"x": rng.randrange(1080), "y": rng.randrange(2400)}},
            {"type": "long_press", "target": rng.choice(refs)},
            {"type": "swipe", "direction": rng.choice(["up", "down", "left", "right"])},
            {"type": "press_key", "key": rng.choice(["back", "home", "enter"])},
            {"type": "type_text", "text": rng.choice(["Ada", "ÄÖ ✓", "1234"])},
            {"type": "wait", "duration_ms": rng.choice([0, 10, 60_000])},
            json.dumps({"type": "start_app", "package": "com.android.settings"}),
            rng.choice([{}, "{", "[]", "null", {"type": "fly"}, {"type": "tap", "target": "@z99"}]),
        ]
    )


def episode(task: str, seed: int, steps: int, phones: int = 3) -> list[str]:
    """Everything that could be seen, a line for each moment."""
    rngs = [random.Random(f"{seed} {number}") for number in range(phones)]
    env = PhoneVectorEnv(phones, env_task(task))
    try:
        seen, _ = env.reset(seed=seed)
        lines = [json.dumps(seen, ensure_ascii=False)]
        for number in range(steps):
            actions = [chosen(rng, one["screen"]) for rng, one in zip(rngs, seen, strict=True)]
            if number == steps - 2:
                actions[0] = {"type": "finish", "message": "It is done."}
            seen, *rest = env.step(actions)
            lines.append(json.dumps([actions, seen, rest], ensure_ascii=False))
        return lines
    finally:
        env.close()


if __name__ == "__main__":
    for line in episode(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])):
        sys.stdout.write(f"{hashlib.sha256(line.encode()).hexdigest()} {line}\n")
