"""The processes that shells start: pids, signals, jobs in the background. Knows no app's process."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from handrail_sim.handset import Handset
from handrail_sim.shell.session import SHELL, User

FIRST_PID = 20011
REMEMBERED = 1_000
SIGNALS = {"HUP": 1, "INT": 2, "QUIT": 3, "ABRT": 6, "KILL": 9, "USR1": 10, "SEGV": 11, "USR2": 12}
SIGNALS |= {"PIPE": 13, "ALRM": 14, "TERM": 15, "CONT": 18, "STOP": 19}
HARMLESS = frozenset({0, 18, 19})


@dataclass(slots=True)
class Process:
    """A running command."""

    pid: int
    parent: int
    user: User
    argv: list[str]
    started_ms: float
    task: asyncio.Task[int] | asyncio.Task[None] | None
    group: int
    """The pid of the shell that adbd started, with all that came from it."""
    signal: int = 0
    handled: set[int] = field(default_factory=set)
    """Signals that a shell has a trap for: it goes on, and runs the trap between two commands."""

    @property
    def name(self) -> str:
        return self.argv[0].rpartition("/")[2] if self.argv else ""


@dataclass(slots=True)
class Processes:
    """Those of one phone, by pid in order of their start."""

    running: dict[int, Process] = field(default_factory=dict)
    jobs: dict[asyncio.Task[int], int] = field(default_factory=dict)
    """What runs in the background, with its group."""
    last_pid: int = FIRST_PID - 1
    log: deque[tuple[str, ...]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    """Every command that a shell ran of late, builtins and unknown names included, as its arguments."""

    def remember(self, argv: Sequence[str]) -> None:
        self.log.append(tuple(argv))

    def new_pid(self) -> int:
        self.last_pid += 1 if self.last_pid < 32767 else FIRST_PID - self.last_pid
        return self.last_pid

    @contextmanager
    def started(
        self, argv: list[str], parent: int, user: User, now_ms: float, *, group: int = 0, pid: int = 0
    ) -> Iterator[Process]:
        """A process that lives as long as the block: in a group of its own, or in the place of `pid`."""
        pid = pid or self.new_pid()
        process = Process(pid, parent, user, argv, now_ms, asyncio.current_task(), group or pid)
        self.running[process.pid] = process
        try:
            yield process
        finally:
            self.running.pop(process.pid, None)

    def forked(
        self, pid: int, parent: int, user: User, now_ms: float, job: asyncio.Task[int], group: int
    ) -> None:
        """A shell in the background, until it ends or a program takes its place."""
        process = self.running[pid] = Process(pid, parent, user, [SHELL], now_ms, job, group)

        def on_done(_: asyncio.Task[int]) -> None:
            if self.running.get(pid) is process:
                del self.running[pid]

        job.add_done_callback(on_done)

    def keep(self, job: asyncio.Task[int], group: int) -> None:
        """Hold a background job until it is done; the loop itself would not."""
        self.jobs[job] = group
        job.add_done_callback(lambda done: self.jobs.pop(done, None))

    def send(self, process: Process, signal: int) -> None:
        """Deliver a signal; all but 0, CONT and STOP end the process, and nothing that it started."""
        if signal in HARMLESS or process.task is None or process.signal:
            return
        process.signal = signal
        if signal in process.handled and signal != SIGNALS["KILL"]:
            return
        if not self._leaves_children(process):
            process.task.cancel()

    def send_group(self, group: int, signal: int) -> None:
        if signal in HARMLESS:
            return
        struck: set[object] = {job for job, of in self.jobs.items() if of == group}
        for job in [job for job in self.jobs if job in struck]:
            job.cancel()
        for process in [pair for pair in self.running.values() if pair.group == group]:
            if process.task is not None and process.task not in struck:
                struck.add(process.task)
                process.signal = process.signal or signal
                process.task.cancel()

    def hang_up(self, task: asyncio.Task[None]) -> None:
        """adbd lost the stream of a shell: SIGHUP goes only to the pid that it started."""
        leader = next(
            (
                process
                for process in self.running.values()
                if process.task is task and process.pid == process.group
            ),
            None,
        )
        if leader is None:
            task.cancel()
        else:
            self.send(leader, 1)

    def _leaves_children(self, process: Process) -> bool:
        """A shell that dies while a program of it runs: the program goes on, and init takes it over."""
        children = [pair for pair in self.running.values() if pair.parent == process.pid]
        if process.argv[:1] != [SHELL] or process.pid != process.group or not children:
            return False
        self.running.pop(process.pid, None)
        for child in children:
            child.parent = 1
        return True

    def end_all(self) -> None:
        for process in list(self.running.values()):
            self.send(process, 9)
        for job in list(self.jobs):
            job.cancel()

    async def switch_off(self) -> None:
        """Nobody serves the phone any more: what runs in its background has ended afterwards."""
        self.end_all()
        while self.jobs:
            await asyncio.wait(list(self.jobs))


_TABLES: WeakKeyDictionary[Handset, Processes] = WeakKeyDictionary()


def processes_of(phone: Handset) -> Processes:
    table = _TABLES.get(phone)
    if table is None:
        table = _TABLES[phone] = Processes()
        phone.reboot_hooks.append(table.end_all)
    return table


def signal_number(text: str) -> int | None:
    """`9`, `KILL` or `SIGKILL`."""
    if text.isdigit():
        return int(text) if int(text) < 65 else None
    return SIGNALS.get(text.upper().removeprefix("SIG"))
