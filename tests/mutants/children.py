"""Copies of this process, a few at a time: what each one came to, and an end for those that hang."""

from __future__ import annotations

import os
import select
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

Task = TypeVar("Task")
Tell = Callable[[int], None]
Work = Callable[[Tell], int]
"""What a copy does. It tells a number whenever it begins something, and ends with an exit status."""
BROKEN = 70
"""The exit status of a copy whose work raised."""
_TICK_S = 0.02


@dataclass(frozen=True, slots=True)
class End:
    """`status` is None where it hung; `told` is the last number."""

    status: int | None
    told: int | None
    seconds: float


@dataclass(slots=True)
class _Child(Generic[Task]):
    task: Task
    pid: int
    pipe: int
    folder: str
    began: float = field(default_factory=time.monotonic)
    deadline: float = 0.0
    told: int | None = None


def run(
    tasks: Iterable[tuple[Task, Work]], jobs: int, patience: Callable[[int | None], float]
) -> Iterator[tuple[Task, End]]:
    """`patience` says how many seconds may pass after a number until the next one, None being the start."""
    running: list[_Child[Task]] = []
    try:
        yield from _run(iter(tasks), running, jobs, patience)
    finally:
        for one in running:
            _end(one, by=signal.SIGINT)  # which lets a copy end its own copies


def _run(
    waiting: Iterator[tuple[Task, Work]],
    running: list[_Child[Task]],
    jobs: int,
    patience: Callable[[int | None], float],
) -> Iterator[tuple[Task, End]]:
    while True:
        for task, work in waiting if len(running) < jobs else ():
            running.append(_start(task, work, patience))
            if len(running) == jobs:
                break
        if not running:
            return
        select.select([one.pipe for one in running], [], [], _TICK_S)
        for one in list(running):
            _listen(one, patience)
            status = _status(one)
            if status is not None or time.monotonic() > one.deadline:
                running.remove(one)
                _end(one, by=signal.SIGKILL, has_ended=status is not None)
                yield one.task, End(status, one.told, time.monotonic() - one.began)


def _start(task: Task, work: Work, patience: Callable[[int | None], float]) -> _Child[Task]:
    reader, writer = os.pipe()
    folder = tempfile.mkdtemp(prefix="m")
    pid = os.fork()
    if pid == 0:
        _be(work, writer, folder)
    os.close(writer)
    os.set_blocking(reader, False)
    child = _Child(task, pid, reader, folder)
    child.deadline = child.began + patience(None)
    return child


def _be(work: Work, writer: int, folder: str) -> None:
    """The copy's whole life. It has a group and a folder of its own, so that nothing is left of it."""
    status = BROKEN
    try:
        os.setsid()
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        status = work(partial(_tell, writer))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _tell(writer: int, number: int) -> None:
    os.write(writer, b"%d\n" % number)


def _listen(child: _Child[Task], patience: Callable[[int | None], float]) -> None:
    try:
        said = os.read(child.pipe, 65_536).split()
    except BlockingIOError:
        return
    if said:
        child.told = int(said[-1])
        child.deadline = time.monotonic() + patience(child.told)


def _status(child: _Child[Task]) -> int | None:
    pid, status = os.waitpid(child.pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if pid else None


def _end(child: _Child[Task], *, by: signal.Signals, has_ended: bool = False) -> None:
    """Whatever it started goes with it."""
    with suppress(ProcessLookupError):  # nothing is left
        os.killpg(child.pid, by)
    if not has_ended:
        os.waitpid(child.pid, 0)
    os.close(child.pipe)
    shutil.rmtree(child.folder, ignore_errors=True)
