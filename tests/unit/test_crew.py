"""A collection that forks run: every test is run once, and what ends a worker is told of its test alone."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crew import Heap

ROOT = Path(__file__).parents[2]
TESTS = """
import os
from pathlib import Path
import pytest

NOTES = Path(__file__).parent / "notes"

def note(word):
    with NOTES.open("a") as file:
        file.write(f"{word} {os.getpid()}\\n")

@pytest.fixture(scope="session")
def shared():
    note("begin")
    yield
    note("end")

@pytest.mark.parametrize("number", range(30))
def test_one(shared, tmp_path, number):
    print("said by", number)
    assert list(tmp_path.iterdir()) == []
    note(f"one-{number}")
    assert number != 7

def test_of_a_worker_that_ends():
    os._exit(3)

def test_after_it():
    note("after")
"""

LONG = """
@pytest.mark.parametrize("number", range(2))
def test_long(shared, number):
    print("so long", flush=True)
    __import__("signal").pause()
"""


def started(tmp_path: Path, *options: str) -> list[str]:
    (tmp_path / "test_some.py").write_text(TESTS)
    base = ("-p", "no:cacheprovider", "--rootdir", str(tmp_path), "-c", os.devnull)
    return [sys.executable, "-m", "pytest", "-p", "tests.crew", *base, *options, str(tmp_path)]


@dataclass
class Found:
    path: Path


def test_a_worker_stays_in_its_file_and_its_folder_and_helps_others_at_last() -> None:
    items = [Found(Path(folder, name)) for folder in "ab" for name in ("one", "two") for _ in range(3)]
    heap = Heap(items, 2)  # type: ignore[arg-type]
    files: list[Path | None] = [None, None]
    ways: list[list[str]] = [[], []]
    while len(heap):
        for worker, own in ((0, 1), (1, 0)):
            if numbers := heap.take(files[worker], {one for one in files[own : own + 1] if one}):
                files[worker] = items[numbers[0]].path
                ways[worker] += [str(items[number].path) for number in numbers]
    assert ways[0] == ["a/one"] * 3 + ["a/two"] * 3
    assert ways[1] == ["b/one"] * 3 + ["b/two"] * 3
    heap.put_back([0, 1])
    assert [heap.take(Path("b/two"), {Path("a/one")}) for _ in range(3)] == [[0], [1], []]


def test_every_test_is_run_once_and_a_worker_that_ends_fails_its_own(tmp_path: Path) -> None:
    ran = subprocess.run(
        started(tmp_path, "--crew", "3", "-rf"), cwd=ROOT, capture_output=True, text=True, timeout=50
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "2 failed, 30 passed" in ran.stdout
    assert re.search(r"FAILED \S+test_some.py::test_one\[7\]", ran.stdout)
    assert "the worker ended with 3 in the midst of this test" in ran.stdout
    assert "said by 7" in ran.stdout
    assert "said by 8" not in ran.stdout
    notes = [line.split() for line in (tmp_path / "notes").read_text().splitlines()]
    assert sorted(word for word, _ in notes if word.startswith("one")) == sorted(
        f"one-{number}" for number in range(30)
    )
    assert len({pid for _, pid in notes}) >= 2
    begun, ended = (Counter(pid for word, pid in notes if word == one) for one in ("begin", "end"))
    assert (begun - ended).total() <= 1, "only the worker that died leaves something behind"
    assert not ended - begun


@pytest.mark.slow
def test_after_the_first_failure_nothing_more_is_handed_out(tmp_path: Path) -> None:
    ran = subprocess.run(
        started(tmp_path, "--crew", "1", "-x"), cwd=ROOT, capture_output=True, text=True, timeout=50
    )
    assert ran.returncode == 1
    assert "stopping after 1 failures" in ran.stdout
    words = [line.split()[0] for line in (tmp_path / "notes").read_text().splitlines()]
    assert words == ["begin", *(f"one-{number}" for number in range(8)), "end"]


@pytest.mark.slow
def test_an_interrupt_ends_every_worker_and_what_it_began(tmp_path: Path) -> None:
    command = started(tmp_path, "--crew", "2", "-s", "-k", "long")
    (tmp_path / "test_some.py").write_text(TESTS + LONG)
    pytest_process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert pytest_process.stdout is not None
    said = ""
    try:
        while said.count("so long") < 2:
            said += pytest_process.stdout.read(1)
        pytest_process.send_signal(signal.SIGINT)
        said += pytest_process.communicate(timeout=50)[0]
    finally:
        with suppress(ProcessLookupError):  # none is left, unless this test fails
            os.killpg(pytest_process.pid, signal.SIGKILL)
    assert "KeyboardInterrupt" in said
    words = [line.split()[0] for line in (tmp_path / "notes").read_text().splitlines()]
    assert words.count("begin") == words.count("end") == 2
