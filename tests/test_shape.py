"""The shape of the source: no public name means two things, no file is too large."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "handrail"
OURS = sorted(ROOT.rglob("*.py"))
LARGEST = 800


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def test_no_public_class_name_is_used_twice() -> None:
    found = defaultdict(set)
    for path in OURS:
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].add(name(path))
    assert {one: sorted(places) for one, places in found.items() if len(places) > 1} == {}


def test_a_file_holds_one_idea() -> None:
    assert {name(path) for path in OURS if lines(path) > LARGEST} == set()


def test_only_the_two_matches_are_longer_than_sixty_lines() -> None:
    long = {
        f"{name(path)}:{node.name}"
        for path in OURS
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= 60
    }
    assert long <= {"engine/execute.py:execute", "desk/reduce.py:_perform"}
