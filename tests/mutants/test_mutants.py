"""`make mutants` itself: which faults it makes, and whether it sees what tests notice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import each
from tests.mutants.changes import KINDS, changes_in, draw
from tests.mutants.table import MODULES, ROOT, Module

TINY = """
import asyncio

MOST = 3
NAMES = {"ada": 1}


def is_many(count):
    return count > MOST


def countdown(left):
    steps = 0
    while left > 0:
        left -= 1
        steps += 1
    return steps


def difference(one, other):
    return one - other


def _half(number):
    return number // 2


HALF = _half(9)


async def answer():
    return "yes"


def ask(name, polite):
    if name in NAMES and not polite:
        return ""
    return asyncio.run(_asked())


async def _asked():
    return await answer()


def doubled(number):
    return difference(number, -number)


def unused(flag):
    return flag or None
"""
STRONG = """
import pytest
from tiny import HALF, MOST, NAMES, ask, countdown, difference, doubled, is_many, unused


def test_all():
    assert [is_many(3), is_many(4), MOST, NAMES, HALF] == [False, True, 3, {"ada": 1}, 4]
    assert [countdown(0), countdown(1), countdown(2)] == [0, 1, 2]
    assert [difference(5, 2), doubled(3)] == [3, 6]
    assert [ask("ada", True), ask("ada", False)] == ["yes", ""]
    assert [ask("bob", True), ask("bob", False)] == ["yes", "yes"]
    assert [unused(0), unused(1)] == [None, 1]
"""
WEAK = """
from tiny import HALF, MOST, ask, countdown, doubled, is_many


def test_little():
    assert is_many(9)
    assert countdown(2)
    assert doubled(3)
    assert ask("bob", True)
    assert MOST and HALF
"""
UNSTEADY = """

def test_that_passes_only_once(request):
    is_new = not (mark := request.path.with_suffix(".mark")).exists()
    mark.touch()
    assert is_many(9) and is_new
"""
EXAMINED = """
import sys
from pathlib import Path
from tests.mutants import trials
from tests.mutants.examine import examine
from tests.mutants.table import Module

trials.PATIENCE_S = 2.0
folder = Path(sys.argv[1])
report = examine(Module("tiny", "tiny.py", sys.argv[2], folder, ".", folder), seed="1", count=None, jobs=2)
print(report.row())
print(*report.survivors(), sep="\\n")
"""


def examined(folder: Path, tests: str) -> list[str]:
    """In a process of its own, because it makes copies of itself and runs pytest."""
    (folder / "tiny.py").write_text(TINY)
    (folder / "guarding.py").write_text(tests)
    words = [sys.executable, "-c", EXAMINED, str(folder), "guarding.py"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_strong_tests_notice_every_fault_and_one_that_never_ends(tmp_path: Path) -> None:
    row, *more = examined(tmp_path, STRONG)
    count = len(changes_in(tmp_path / "tiny.py"))
    killed, survived, timed_out = (int(word) for word in row.split()[4:9:2])
    assert row.split()[:4] == ["tiny", str(count), "of", str(count)]
    assert (killed, survived) == (count - timed_out, 0), more
    assert timed_out >= 1


@pytest.mark.slow
def test_weak_tests_miss_faults_of_every_sort_and_each_is_shown(tmp_path: Path) -> None:
    told = examined(tmp_path, WEAK)
    shown = {
        (place.strip().split("  ")[1], old.strip(), new.strip())
        for place, old, new in zip(*[iter(told[1:])] * 3, strict=True)
    }
    assert ("boundary", "- return count > MOST", "+ return count >= MOST") in shown
    assert ("constant", "- MOST = 3", "+ MOST = 4") in shown
    assert ("constant", "- return number // 2", "+ return number // 3") in shown  # importing calls it
    assert (
        "swapped argument",
        "- return difference(number, -number)",
        "+ return difference(-number, number)",
    ) in shown
    assert ("logic (no test runs it)", "- return flag or None", "+ return flag and None") in shown
    assert told[1].strip().startswith(f"{tmp_path.name}/tiny.py:4  constant")


@pytest.mark.slow
def test_a_test_that_fails_without_a_fault_proves_nothing(tmp_path: Path) -> None:
    told = examined(tmp_path, WEAK + UNSTEADY)
    assert told[-1].endswith("it can fail without any mutant: ::test_that_passes_only_once")
    assert "    + return count >= MOST" in told


def test_tests_that_can_not_be_collected_are_told(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="No module named 'nowhere'"):
        examined(tmp_path, "import nowhere")


def changed(folder: Path, source: str) -> set[tuple[str, str]]:
    (folder / "made.py").write_text(source)
    return {(one.kind, one.after) for one in changes_in(folder / "made.py")}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = a == b", {("comparison", "x = a != b")}),
        ("x = a < b", {("comparison", "x = a >= b"), ("boundary", "x = a <= b")}),
        ("x = a is None", {("comparison", "x = a is not None")}),
        ("x = 1 if a else b", {("negation", "x = 1 if not a else b"), ("constant", "x = 2 if a else b")}),
        ("x = not a", {("negation", "x = a")}),
        ("x = a and b or c", {("logic", "x = a or b or c"), ("logic", "x = (a and b) and c")}),
        ("x = 10", {("constant", "x = 11")}),
        ("x = 500", {("constant", "x = 1000")}),
        ("x = True", {("constant", "x = False")}),
        ("x = ''", {("constant", "x = '~'")}),
        ("x = f(a, b)", {("swapped argument", "x = f(b, a)")}),
        ("x = f(a=b, c=d)", {("swapped argument", "x = f(a=d, c=b)")}),
        ("async def f():\n x = await g()", {("removed await", "x = g()")}),
        ("def f():\n self.x = y\n x = y\n raise x", {("removed statement", "pass")}),
        ("class C:\n x: int = 5", {("constant", "x: int = 6")}),
        ("match x:\n case 'a': pass", {("constant", "case 'a~': pass")}),
        ("raise Bad('nothing', delivery='no')", {("constant", "raise Bad('nothing', delivery='no~')")}),
        ("x = db.execute('SELECT a FROM b')", {("constant", "x = db.execute('SELECT a FROM b~')")}),
    ],
)  # fmt: skip
def test_a_fault_of_each_kind(tmp_path: Path, source: str, found: set[tuple[str, str]]) -> None:
    assert changed(tmp_path, source) == found


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring of a module."""', "def f(a: Literal['b']) -> None: ...", "log.warning('%s', 3)",
        "class C:\n def __repr__(self): return 'c'", "__all__ = ['a']", "if TYPE_CHECKING:\n x = 1",
        "from handrail.errors import Refused\nx = Refused(f'{3}', 'no', hint='go')", "raise Bad('no')",
        "x = 'these are words'", "x = f'{a} and {3}'", "@dataclass(frozen=True)\nclass C: ...",
        "x = cast('int', y)", "x = min(a, b)", "x = TypeVar('T')", "def f():\n x = y",
        "def f():\n return None",
    ],
)  # fmt: skip
def test_what_no_behaviour_could_tell_is_left_alone(tmp_path: Path, source: str) -> None:
    assert changed(tmp_path, source) == set()


def test_a_draw_has_every_kind_and_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    (tmp_path / "tiny.py").write_text(TINY)
    found = changes_in(tmp_path / "tiny.py")
    drawn = draw(found, len(KINDS), "1")
    assert sorted(one.kind for one in drawn) == sorted(KINDS)
    assert drawn == draw(found, len(KINDS), "1")
    assert any(drawn != draw(found, len(KINDS), str(seed)) for seed in range(2, 9))
    assert draw(found, 1_000, "1") == found


@each("module", MODULES, ids=lambda module: module.name)
def test_a_module_of_the_table_has_sixty_faults_and_tests(module: Module) -> None:
    assert len([one for path in module.sources() for one in changes_in(path)]) >= 60
    assert module.guards()
