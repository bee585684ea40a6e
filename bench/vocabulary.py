"""How many actions a second the vocabulary and its dialects read and write, on one core.

Run from the repository: `python bench/vocabulary.py [--json] [--rounds N] [--batch N]`. The best of some runs
counts. Beside each rate stands the floor of the same run: the same lines through JSON readers that check
nothing. The time is this process's own CPU time, so that a busy neighbour disturbs it less.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.unit.protocol.samples import AGENTEST, FRAMES, NATIVE, OPENPOCKET, PROSE, RICH, TOOLS  # noqa: E402

from handrail.dialects import agentest, interaction, mobile_debug, openpocket  # noqa: E402
from handrail.errors import InvalidAction  # noqa: E402
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS  # noqa: E402
from handrail.protocol.message import CLIENT_MESSAGE  # noqa: E402
from handrail.protocol.read import read_action  # noqa: E402

GOAL = 100_000
"""JSON → model → JSON of a mixed batch, actions a second."""


@dataclass(frozen=True)
class Rate:
    """One line of the report."""

    name: str
    per_second: float
    goal: int | None = None

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return ""
        return f"goal {self.goal:,}: {'reached' if self.per_second >= self.goal else 'MISSED'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    parser.add_argument("--rounds", type=int, default=15, help="the best of so many runs counts (default 15)")
    parser.add_argument("--batch", type=int, default=5_000, help="items in a run (default 5,000)")
    options = parser.parse_args()
    report = {
        "vocabulary": vocabulary(options.rounds, options.batch),
        "floor": floor(options.rounds, options.batch),
        "dialects": dialects(options.rounds, options.batch),
        "errors": refusals(options.rounds, options.batch),
    }
    if options.json:
        print(
            json.dumps({part: [asdict(rate) for rate in rates] for part, rates in report.items()}, indent=1)
        )
    else:
        print("\n\n".join(table(part, rates) for part, rates in report.items()))
    return 0


def mixed(items: Sequence[Any], count: int) -> list[Any]:
    """The items again and again, up to a batch."""
    return [items[number % len(items)] for number in range(count)]


def lines_of(actions: Sequence[Any], count: int) -> list[bytes]:
    return mixed([json.dumps(one, ensure_ascii=False).encode() for one in actions], count)


def rate(
    name: str, work: Callable[[Any], object], items: list[Any], rounds: int, goal: int | None = None
) -> Rate:
    shortest = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        for item in items:
            work(item)
        shortest = min(shortest, time.process_time() - began)
    return Rate(name, len(items) / shortest, goal)


def vocabulary(rounds: int, count: int) -> list[Rate]:
    """Every action once each in turn; and those that a phone and a desk see most."""
    device = [ACTIONS[kind].example for kind in ACTIONS if kind not in DESK_ACTIONS]
    desk = [cls.example for cls in DESK_ACTIONS.values()]
    whole = lines_of(NATIVE, count)

    def there_and_back(line: bytes) -> str:
        return read_action(line).to_json()

    return [
        rate("JSON → model → JSON, all actions", there_and_back, whole, rounds, GOAL),
        rate("JSON → model, all actions", read_action, whole, rounds),
        rate("model → JSON, all actions", lambda action: action.to_json(), _read(whole), rounds),
        rate("JSON → model → JSON, device actions", there_and_back, lines_of(device, count), rounds),
        rate("JSON → model → JSON, desk actions", there_and_back, lines_of(desk, count), rounds),
        rate("JSON → model → JSON, large actions", there_and_back, lines_of(RICH, count), rounds),
    ]


def _read(lines: list[bytes]) -> list[Any]:
    return [read_action(line) for line in lines]


def floor(rounds: int, count: int) -> list[Rate]:
    """The same lines through readers that check nothing."""
    lines = lines_of(NATIVE, count)
    return [
        rate("json.loads + json.dumps", lambda line: json.dumps(json.loads(line)), lines, rounds),
        rate("pydantic_core from_json + to_json", lambda line: to_json(from_json(line)), lines, rounds),
    ]


def dialects(rounds: int, count: int) -> list[Rate]:
    """From parsed JSON (or a model's text) to the native action."""
    steps = [one for one in AGENTEST if "action" in one]
    calls = [(one["name"], one["arguments"]) for one in TOOLS]
    reasoned = [call for call in calls if call[0] in interaction.TOOLS and call[1].get("reason")]
    tools = [call for call in calls if call[0] in mobile_debug.TOOLS and "reason" not in call[1]]
    actions = [one for one in OPENPOCKET if "type" in one and "input" not in one]
    plans: list[tuple[str, Callable[[Any], object], Sequence[Any]]] = [
        ("openpocket.normalise", openpocket.normalise, actions),
        ("openpocket.parse_step of JSON", openpocket.parse_step, [json.dumps(one) for one in OPENPOCKET]),
        ("openpocket.parse_step of prose", openpocket.parse_step, PROSE),
        ("agentest.read_step", agentest.read_step, steps),
        ("agentest.write_step", agentest.write_step, [agentest.read_step(one) for one in steps]),
        ("interaction.read_tool", lambda call: interaction.read_tool(*call), reasoned),
        ("mobile_debug.read_tool", lambda call: mobile_debug.read_tool(*call), tools),
        ("WebSocket frames in", CLIENT_MESSAGE.validate_python, [one for one in FRAMES if "seq" not in one]),
    ]
    return [rate(name, work, mixed(items, count), rounds) for name, work, items in plans]


def refusals(rounds: int, count: int) -> list[Rate]:
    """What a caller who errs costs: path, words and suggestion included."""

    def refused(line: bytes) -> None:
        try:
            read_action(line)
        except InvalidAction:
            return
        raise AssertionError(line)

    wrong = [{**example, "colour": "red"} for example in NATIVE] + [{"type": "tpa"}, {"type": "tap"}]
    return [rate("bad actions refused", refused, lines_of(wrong, count), rounds)]


def table(name: str, rates: list[Rate]) -> str:
    rows = [f"  {one.name:38} {one.per_second:>12,.0f} /s   {one.verdict}".rstrip() for one in rates]
    return "\n".join([name, *rows])


if __name__ == "__main__":
    sys.exit(main())
