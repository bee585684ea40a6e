"""The shape of the source: no public name means two things, no file is too large or too small."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "handrail"
OURS = sorted(ROOT.rglob("*.py"))
LARGEST, SMALLEST = 400, 40
GENERATED = {"cli/index.py", "cli/vocabulary.py", "engine/short_forms.py", "sync/short_forms.py"}
SMALL: dict[str, str] = {
    "adb/device.py": "the pair of a link and its shell, which everything above adb is given",
    "agent/models/anthropic.py": "loads one SDK, which the other maker's users do not have",
    "android/facts.py": "what `handrail devices` asks of each phone, without the rest of the surface",
    "android/fallbacks.py": "the one ledger that all readings of a phone share",
    "cli/completion.py": "a command that imports nothing else",
    "system.py": "the one place that says what an operating system lacks",
    "cli/evaluation_seeds.py": "seeds as two commands take them, without what either imports",
    "cli/main.py": "decides who runs a command, before anything else is imported",
    "evaluation/app_names.py": "the one place where a template's short names become packages",
    "python_syntax.py": "the one lock of what Python itself does not do in two threads",
    "evaluation/strict_part.py": "what three files of parts are made of",
}
"""Files under forty lines, each with its reason."""


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
    large = {name(path) for path in OURS if lines(path) > LARGEST}
    assert large <= GENERATED


def test_a_file_under_forty_lines_has_a_reason() -> None:
    small = {name(path) for path in OURS if lines(path) < SMALLEST and path.name != "__init__.py"}
    assert small == SMALL.keys()


def test_only_the_two_matches_are_longer_than_sixty_lines() -> None:
    long = {
        f"{name(path)}:{node.name}"
        for path in OURS
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= 60
    }
    assert long <= {"engine/execute.py:execute", "desk/reduce.py:reduce"}
