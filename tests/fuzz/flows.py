"""Throws damaged flows and noise at the reader: `python tests/fuzz/flows.py --count 100000 --seed 1`.

Whatever comes in, only `InvalidAction` may come out, with a place that is in the text; what is read must be
written, read back the same, and linted. Prints the slowest input (CPU time); the goal: below 2,000 ms.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # run as a script, the repository is not on the path
    sys.path.insert(0, str(ROOT))

from handrail.errors import InvalidAction  # noqa: E402
from handrail.flow.check import lint  # noqa: E402
from handrail.flow.document import FlowDocument, loads  # noqa: E402
from handrail.flow.parse import MAX_BYTES, text_with_caret  # noqa: E402
from handrail.flow.write import flat_yaml, write_flow  # noqa: E402
from tests.fuzz.tally import Report, Tally, main  # noqa: E402
from tests.unit.flow.good_flows import AGENTEST_STEPS, GOOD  # noqa: E402

GOAL_MS = 2_000.0
PIECES = (
    "- ", ": ", "{", "}", "[", "]", ",", "#", "&a ", "*a", "!!str ", "!x ", "<<: ", "---\n", "...\n", "|\n",
    "%YAML 1.2\n", ">-\n", "'", '"', "\\", "\t", "\n", "\r\n", "\u2028", "\x85", "\x00", "\ufeff", "?", "@b1",
    "`", "${A}", "${", "$${", "${secret:P}", "${a b}", "null", "~", "true", "1e999", "9" * 400, "0x1f",
    "12:30", "😀", "\ud800", "tap", "tap: ", "when: ", "then:\n", "repeat: ", "steps: ", "parallel: ",
    "run_flow: ", "env: ", "action: ", "  ", "    ", "a" * 2_000,
)  # fmt: skip


def samples() -> list[str]:
    """Good flows as JSON and as YAML."""
    whole = [*GOOD, *([step] for step in AGENTEST_STEPS), AGENTEST_STEPS]
    return [json.dumps(one) for one in whole] + [_as_yaml(one) for one in whole]


def _as_yaml(flow: Any) -> str:
    if isinstance(flow, list):
        return "".join(f"- {flat_yaml(step)}\n" for step in flow)
    return "".join(f"{key}: {flat_yaml(one)}\n" for key, one in flow.items())


def inputs(count: int, seed: int) -> Iterator[str]:
    """The same seed gives the same texts."""
    rng, good = random.Random(seed), samples()
    for _ in range(count):
        kind = rng.random()
        if kind < 0.75:
            yield _damaged(rng, rng.choice(good))
        elif kind < 0.97:
            yield "".join(rng.choices(PIECES, k=rng.randint(1, 40)))
        elif kind < 0.999:
            yield "".join(map(chr, rng.choices(range(1, 0x3000), k=rng.randint(1, 200))))
        else:
            piece = rng.choice(PIECES)
            yield (piece * (1_000_000 // len(piece)))[:1_000_000]


def _damaged(rng: random.Random, text: str) -> str:
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.choice((0, 0, 1, 2, 8)))
        text = text[:at] + rng.choice(("", *PIECES)) + text[end:]
    return text


def read(text: str) -> FlowDocument | None:
    """The document, or None where it was refused as it should be; any other error is a failure."""
    try:
        return loads(text)
    except InvalidAction as error:
        json.dumps(error.to_dict())
        assert error.message, error
        assert error.hint, error
        for problem in error.details["problems"]:
            assert problem["line"] >= 1, problem
            assert problem["column"] >= 1, problem
            text_with_caret(text, problem["line"], problem["column"])
        return None


def use(text: str) -> str:
    """What became of one text."""
    assert len(text) <= MAX_BYTES
    document = read(text)
    if document is None:
        return "refused"
    lint(document)
    for index in range(len(document.drafts)):
        document.step_source((index,))
        document.places.of((index,))
    if document.valid_flow is None:
        return "waits for variables"
    if not document.is_agentest:
        assert loads(write_flow(document.flow)).flow == document.flow, text
    return "read"


def run(count: int, seed: int, report: Report = str) -> Tally:
    return Tally.of(inputs(count, seed), lambda text, _: use(text), report)


if __name__ == "__main__":
    sys.exit(main(run, __doc__, 100_000, GOAL_MS))
