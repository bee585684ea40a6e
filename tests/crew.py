"""`pytest --crew N`: tests are collected once, and N forks of the process that did it run them.

With pytest-xdist every worker collects for itself: in a fresh clone that was 20 s of processor time for each
of them, which all compiled the same modules. Here a further worker costs next to nothing.

A worker stays in its file and its folder as long as there is something left to do, so that what is made once
for a module or a package, such as a browser, is made in few of them.
"""

from __future__ import annotations

import os
import signal
import tempfile
import traceback
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import pytest

LARGEST = 20
"""Tests that are handed out together, at most. All of them are of one file."""
END_S = 20
NOW, AHEAD = "now", "ahead"
"""Whether a worker has nothing left, or would like to know what comes after its last test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--crew", type=int, default=0, metavar="N", help="collect once, run in N forks")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    count, config = session.config.getoption("--crew"), session.config
    if not count or config.option.collectonly or session.testsfailed or len(session.items) < 2:
        return None
    crew = Crew(session)
    try:
        crew.work(min(count, len(session.items)))
    finally:
        crew.end()
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    return True


class Heap:
    """What is still to be done, by file."""

    def __init__(self, items: list[pytest.Item], size: int) -> None:
        self._files: dict[Path, deque[list[int]]] = {}
        self._items = items
        for path, found in groupby(range(len(items)), lambda number: items[number].path):
            numbers = list(found)
            chunks = self._files.setdefault(path, deque())
            chunks += [numbers[at : at + size] for at in range(0, len(numbers), size)]

    def __len__(self) -> int:
        return sum(len(chunk) for chunks in self._files.values() for chunk in chunks)

    @property
    def chunks(self) -> int:
        return sum(map(len, self._files.values()))

    def take(self, mine: Path | None, others: set[Path]) -> list[int]:
        """The next of one's own file, else of one that nobody works in, else of the fullest.

        Rather in one's own folder than in a new one, rather in a new one than where others are.
        """
        left = [file for file, chunks in self._files.items() if chunks]
        if not left:
            return []
        if mine in left:
            return self._files[mine].popleft()
        crowded = {file.parent for file in others}
        free = [file for file in left if file not in others]
        near = [file for file in free if mine is not None and file.parent == mine.parent]
        alone = [file for file in free if file.parent not in crowded]
        first = next(iter(near or alone or free), None)
        return self._files[first or max(left, key=lambda file: len(self._files[file]))].popleft()

    def put_back(self, numbers: list[int]) -> None:
        for number in numbers:
            self._files[self._items[number].path].append([number])


@dataclass
class Worker:
    """One fork, as its parent knows it."""

    pid: int
    pipe: Connection
    held: list[int] = field(default_factory=list)
    """What was handed out and has no result yet, oldest first."""
    file: Path | None = None


class Crew:
    """The parent: hands out tests and passes on what is reported."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._hook = session.config.hook
        self._workers: list[Worker] = []
        self._started = 0
        self._heap: Heap

    def work(self, count: int) -> None:
        items = self._session.items
        self._session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one for all
        self._heap = Heap(items, max(1, min(LARGEST, len(items) // (count * 100))))
        for _ in range(count):
            self._start()
        while self._workers:
            ready = wait([one.pipe for one in self._workers])
            for worker in [one for one in self._workers if one.pipe in ready]:
                self._hear(worker)
        if self._heap and not self._session.shouldfail:
            raise RuntimeError(f"every worker has ended, and {len(self._heap)} tests were not run")

    def _start(self) -> None:
        self._started += 1
        here, there = Pipe()
        pid = os.fork()
        if pid == 0:
            here.close()
            for one in self._workers:
                one.pipe.close()
            run_as_worker(self._session, there, self._started)
        there.close()
        self._workers.append(Worker(pid, here))

    def _hear(self, worker: Worker) -> None:
        try:
            kind, said = worker.pipe.recv()
        except (EOFError, OSError):
            self._ended(worker)
            return
        if kind == "more":
            others = {one.file for one in self._workers if one is not worker and one.file}
            enough = self._session.shouldfail or (said == AHEAD and self._heap.chunks <= len(self._workers))
            numbers = [] if enough else self._heap.take(worker.file, others)
            if numbers:
                worker.file = self._session.items[numbers[0]].path
            worker.held += numbers
            worker.pipe.send(numbers)
        elif kind == "report":
            self._tell(said)
        else:
            worker.held.remove(said)
            item = self._session.items[said]
            self._hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _tell(self, data: dict[str, Any]) -> None:
        report = self._hook.pytest_report_from_serializable(config=self._session.config, data=data)
        self._hook.pytest_runtest_logreport(report=report)

    def _ended(self, worker: Worker) -> None:
        """At its end, or in the midst of a test: that one has failed, and another worker goes on."""
        status = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        self._workers.remove(worker)
        worker.pipe.close()
        if not status:
            self._heap.put_back(worker.held)
            return
        if not worker.held:
            return
        item = self._session.items[worker.held[0]]
        words = f"the worker ended with {status} in the midst of this test"
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", words, "call")
        self._hook.pytest_runtest_logreport(report=report)
        self._heap.put_back(worker.held[1:])
        self._start()

    def end(self) -> None:
        """Whoever still works was interrupted. It may end what it has started, but not for ever."""
        for worker in self._workers:
            worker.pipe.close()
            os.kill(worker.pid, signal.SIGINT)
            signal.signal(signal.SIGALRM, lambda *_, pid=worker.pid: os.kill(pid, signal.SIGKILL))
            signal.alarm(END_S)
            os.waitpid(worker.pid, 0)
            signal.alarm(0)


def run_as_worker(session: pytest.Session, pipe: Connection, number: int) -> None:
    """Does not return."""
    try:
        _take_apart(session.config, pipe, number)
        waiting: deque[int] = deque()
        for at in _handed_out(pipe, waiting):
            following = session.items[waiting[0]] if waiting else None
            session.config.hook.pytest_runtest_protocol(item=session.items[at], nextitem=following)
            pipe.send(("done", at))
            if session.shouldfail:
                raise KeyboardInterrupt
    except (BrokenPipeError, EOFError, KeyboardInterrupt):
        session._setupstate.teardown_exact(None)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _handed_out(pipe: Connection, waiting: deque[int]) -> Iterator[int]:
    """One after the other. The next one is known, so that what both need is not torn down between them.

    Near the end it is not: nobody holds a test back that another worker could run.
    """
    while True:
        while len(waiting) < 2:
            pipe.send(("more", AHEAD if waiting else NOW))
            numbers = pipe.recv()
            if not numbers:
                break
            waiting += numbers
        if not waiting:
            return
        yield waiting.popleft()


def _take_apart(config: pytest.Config, pipe: Connection, number: int) -> None:
    """What a fork shares with its parent and must have for itself: output, temporary folders, reports."""
    plugins = config.pluginmanager
    plugins.unregister(plugins.get_plugin("terminalreporter"))
    plugins.register(Teller(config, pipe))
    _capture_apart(plugins.get_plugin("capturemanager"))
    factory = config._tmp_path_factory  # type: ignore[attr-defined]
    folder = factory.getbasetemp() / f"worker-{number}"
    folder.mkdir(mode=0o700)
    factory._basetemp = folder


def _capture_apart(manager: Any) -> None:
    """Other files behind the same streams: some code keeps `sys.stderr` from its import on."""
    capturing = manager and manager._global_capturing
    for one in (capturing.out, capturing.err) if capturing else ():
        if hasattr(one, "targetfd"):
            with tempfile.TemporaryFile(buffering=0) as file:
                os.dup2(file.fileno(), one.tmpfile.fileno(), inheritable=False)
                os.dup2(file.fileno(), one.targetfd)


class Teller:
    """Sends the worker's reports to the parent."""

    def __init__(self, config: pytest.Config, pipe: Connection) -> None:
        self._config = config
        self._pipe = pipe

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._pipe.send(("report", data))
