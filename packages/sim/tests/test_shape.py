"""The shape of the source: no file is too large, no function is long."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "handrail_sim"
OURS = sorted(ROOT.rglob("*.py"))
LARGEST, LONGEST = 800, 60


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def test_a_file_holds_one_idea() -> None:
    large = {name(path) for path in OURS if lines(path) > LARGEST}
    assert not large


def test_no_function_is_longer_than_a_screen() -> None:
    long = {
        f"{name(path)}:{node.name}"
        for path in OURS
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LONGEST
    }
    assert not long
