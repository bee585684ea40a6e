"""Benches, fuzzers, generators and examples are started by hand: nothing else notices a name that moved."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
FOLDERS = (
    "bench",
    "docs",
    "examples/**",
    "integrations",
    "packages/*/docs",
    "packages/*/tests/fuzz",
    "tests/fuzz",
)
OURS = ("handrail", "tests")


def imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.module, name.name) for name in node.names)


def is_there(module: str, name: str) -> bool:
    try:
        return hasattr(importlib.import_module(module), name) or bool(
            importlib.import_module(f"{module}.{name}")
        )
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_program_imports_only_what_is_there(folder: str) -> None:
    missing = [
        f"{path.relative_to(ROOT)}: {module}.{name}"
        for path in sorted(ROOT.glob(f"{folder}/*.py"))
        for module, name in imported(ast.parse(path.read_text()))
        if module.split("_")[0].split(".")[0] in OURS and not is_there(module, name)
    ]
    assert not missing, "\n".join(missing)
