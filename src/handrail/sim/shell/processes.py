"""The processes that shells start: pids, signals, jobs in the background. Knows no app's process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from handrail.sim.shell.session import User

if TYPE_CHECKING:
    from handrail.sim.phone import Phone

FIRST_PID = 20011
SIGNALS = {"HUP": 1, "INT": 2, "QUIT": 3, "ABRT": 6, "KILL": 9, "USR1": 10, "SEGV": 11, "USR2": 12}
SIGNALS |= {"PIPE": 13, "ALRM": 14, "TERM": 15, "CONT": 18, "STOP": 19}


@dataclass(slots=True)
class Process:
    """A running command."""

    pid: int
    parent: int
    user: User
    argv: list[str]
    started_ms: float
    task: asyncio.Task[int] | asyncio.Task[None] | None
    signal: int = 0
    ignores_hangup: bool = False

    @property
    def name(self) -> str:
        return self.argv[0].rpartition("/")[2] if self.argv else ""


@dataclass(slots=True)
class Processes:
    """Those of one phone, by pid in order of their start."""

    running: dict[int, Process] = field(default_factory=dict)
    jobs: set[asyncio.Task[int]] = field(default_factory=set)
    last_pid: int = FIRST_PID - 1

    def new_pid(self) -> int:
        self.last_pid += 1 if self.last_pid < 32767 else FIRST_PID - self.last_pid
        return self.last_pid

    @contextmanager
    def started(self, argv: list[str], parent: int, user: User, now_ms: float) -> Iterator[Process]:
        """A process that lives as long as the block."""
        process = Process(self.new_pid(), parent, user, argv, now_ms, asyncio.current_task())
        self.running[process.pid] = process
        try:
            yield process
        finally:
            self.running.pop(process.pid, None)

    def keep(self, job: asyncio.Task[int]) -> None:
        """Hold a background job until it is done; the loop itself would not."""
        self.jobs.add(job)
        job.add_done_callback(self.jobs.discard)

    def send(self, process: Process, signal: int) -> None:
        """Deliver a signal; all but 0, CONT and STOP end the process."""
        if signal in {0, 18, 19} or process.task is None or process.signal:
            return
        process.signal = signal
        process.task.cancel()

    def end_all(self) -> None:
        """The phone goes down."""
        for process in list(self.running.values()):
            self.send(process, 9)
        for job in list(self.jobs):
            job.cancel()


_TABLES: WeakKeyDictionary[Phone, Processes] = WeakKeyDictionary()


def processes_of(phone: Phone) -> Processes:
    """The table of a phone."""
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
