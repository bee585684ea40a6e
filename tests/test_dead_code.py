"""Nothing is defined that nobody names: `python -m tests.dead_code` lists it, and what only tests name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dead_code import definitions, names_in, unused

LEFT = frozenset("KEYBOARD_SETTLE_MS SCROLL_SETTLE_MS FLAG ACKNOWLEDGE_MS BrokenPipe".split())
"""Dead when this test was made. They go, and then this list."""
CALLED_BY_OTHERS = frozenset({"execute_command"})
"""AndroidEnv calls it on an object whose class can't inherit from its own: it is not imported before."""


def test_nobody_defines_what_nobody_names() -> None:
    dead, _ = unused()
    assert [str(one) for one in dead if one.name not in LEFT | CALLED_BY_OTHERS] == []


def dead_in(folder: Path, source: str, *others: str) -> set[str]:
    """What is defined in one text and named neither there nor in the others."""
    paths = []
    for number, text in enumerate((source, *others)):
        paths.append(folder / f"made{number}.py")
        paths[-1].write_text(text)
    used = {name for path in paths for name in names_in(path)}
    return {one.name for one in definitions(paths[0])} - used


@pytest.mark.parametrize(
    ("source", "dead"),
    [
        ("def f(): ...", {"f"}),
        ("def f(): f()", {"f"}),
        ("class C:\n    def m(self): ...", {"C", "m"}),
        ("LIMIT = 3\n__all__ = ['LIMIT']", {"LIMIT"}),
        ("class C: ...\nC().m = 3", set()),
        ("@group.command()\ndef f(): ...", set()),
        ("@property\ndef f(): ...", {"f"}),
        ("import asyncio\nclass C(asyncio.Protocol):\n    def data_received(self): ...\nC", set()),
        ("def f(): ...\ng('f')", set()),
        ("def f(): '''Calls f.'''", {"f"}),
    ],
)  # fmt: skip
def test_what_nobody_names_is_found(tmp_path: Path, source: str, dead: set[str]) -> None:
    assert dead_in(tmp_path, source) == dead


def test_an_import_is_a_use_but_not_one_that_only_passes_on(tmp_path: Path) -> None:
    assert dead_in(tmp_path, "def f(): ...", "from made0 import f") == set()
    (tmp_path / "__init__.py").write_text("from made0 import f")
    assert set(names_in(tmp_path / "__init__.py")) == set()
