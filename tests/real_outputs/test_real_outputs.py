"""Every recorded output of a real phone: the right answer, or none at all; never a wrong one."""

from __future__ import annotations

import sys
from collections import Counter

import pytest

from tests.cases import each
from tests.real_outputs.index import OUTPUTS, Case, cases
from tests.real_outputs.judge import Verdict, expected, verdict
from tests.real_outputs.product import READERS

CASES = [case for case in cases() if case.kind in READERS and case.asked and expected(case.kind, case.answer)]
needs_outputs = pytest.mark.skipif(
    OUTPUTS is None, reason="no outputs of real phones: set HANDRAIL_CORPUS to the folder that has outputs/"
)
GOAL = 0.95
FEWEST = 131
"""So many files were judged when this was written; a judge that passes over files proves nothing."""


def judged(case: Case) -> tuple[Verdict, str]:
    return verdict(expected(case.kind, case.answer), READERS[case.kind](case))


@needs_outputs
@each("case", CASES, ids=[case.file for case in CASES])
def test_a_real_output_is_never_misread(case: Case) -> None:
    found, why = judged(case)
    assert found != "wrong", why


@needs_outputs
def test_the_figures_of_real_outputs_are_good_enough(capsys: pytest.CaptureFixture[str]) -> None:
    table: dict[str, Counter[str]] = {}
    unknown = []
    for case in CASES:
        found, why = judged(case)
        group = "raw" if case.raw else "retyped or altered"
        for name in ("all", group, *(["version certain"] if case.dated else [])):
            table.setdefault(name, Counter())[found] += 1
        if found != "right":
            unknown.append(f"  {found}: {case.file}: {why}")
    figures = [
        f"  {name}: {count.total()}, {count['right']}, {count['unknown']}, {count['wrong']}"
        for name, count in table.items()
    ]
    with capsys.disabled():
        sys.stdout.write("\n".join(["\nreal outputs: files, right, unknown, wrong", *figures, *unknown, ""]))
    assert table["all"].total() >= FEWEST
    assert table["all"]["right"] / table["all"].total() >= GOAL
    assert not table["all"]["wrong"]
