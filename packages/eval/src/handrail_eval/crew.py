"""An evaluation of programs in several processes: the phones of one process share a core.

Each takes the next episode from one counter, and tells what came of it. When whoever started them dies, by
whichever signal, they die at once.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from handrail.clock import SystemClock
from handrail_eval.baselines import reference
from handrail_eval.load import load_tasks
from handrail_eval.memory import Memorisers
from handrail_eval.models import MEMORISER, ModelChoice
from handrail_eval.result import EpisodeKey, TaskResult, key_of
from handrail_eval.run import Done, EvaluationPlan, run_all
from handrail_eval.task import EvalTask
from handrail_eval.virtual_time import run_virtually

AT_A_TIME = 3
"""In one process: a run waits now and then for a thread."""
WORTH_A_PROCESS = 3
"""Episodes; fewer are run before another process has started."""
_DEAD = 70


@dataclass(frozen=True, slots=True)
class CrewWork:
    """What every process is told: tasks do not travel, their names do."""

    wanted: tuple[str, ...]
    seeds: tuple[int, ...]
    repeats: int
    model: ModelChoice
    out: Path | None
    max_steps: int | None
    pictures: bool
    done: frozenset[EpisodeKey] = frozenset()

    def waiting(self) -> list[EvalTask]:
        """The same list in every process."""
        tasks = load_tasks(self.wanted, self.seeds, self.repeats)
        return [task for task in tasks if key_of(task) not in self.done]


async def run_programs(work: CrewWork, jobs: int, done: Done) -> None:
    """Every episode that waits, in this process or in `jobs` others."""
    tasks = work.waiting()
    crew = min(jobs, -(-len(tasks) // WORTH_A_PROCESS))
    if crew > 1:
        await _started(work, crew, done)
    else:
        await run_here(work, iter(tasks), min(jobs, AT_A_TIME), done)


async def run_here(work: CrewWork, tasks: Iterator[EvalTask], at_a_time: int, done: Done) -> None:
    """In this process; for a program in a loop whose time is virtual, since it needs none to think."""
    clock, memory = SystemClock(), Memorisers()

    def opened(task: EvalTask) -> Any:
        if work.model.name == MEMORISER:
            return memory.open(task)
        return work.model.open(task, reference, clock, on_phones=True)

    prepare = memory.learn if work.model.name == MEMORISER else None
    time = None if work.model.is_program else clock
    plan = EvaluationPlan(opened, time, work.out, work.max_steps, work.pictures, prepare)
    await run_all(tasks, plan, at_a_time, done)


async def _started(work: CrewWork, jobs: int, done: Done) -> None:
    """Cancelled, it ends them all."""
    context = get_context("spawn")
    counter = context.Value("i", 0)
    pairs = [context.Pipe() for _ in range(jobs)]
    crew = [context.Process(target=_worker, args=(work, counter, theirs), daemon=True) for _, theirs in pairs]
    try:
        with signals_for_this_process():
            for process in crew:
                process.start()
        for _, theirs in pairs:
            theirs.close()
        await _heard([ours for ours, _ in pairs], done)
    finally:
        for process in crew:
            _ended(process)
        for ours, _ in pairs:
            ours.close()


async def _heard(pipes: Sequence[Connection], done: Done) -> None:
    """Until all have hung up. One that died without a word is an error: its episodes are missing."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    open_ones = set(range(len(pipes)))

    def hear(number: int) -> None:
        try:
            said = pipes[number].recv()
        except (EOFError, OSError):
            said = RuntimeError("a process of the evaluation died")
        if isinstance(said, TaskResult):
            try:
                done(said)
                return
            except Exception as error:  # a full disk ends the evaluation, not only this call
                said = error
        loop.remove_reader(pipes[number].fileno())
        open_ones.discard(number)
        if isinstance(said, BaseException) and not over.done():
            over.set_exception(said)
        elif not open_ones and not over.done():
            over.set_result(None)

    for number, pipe in enumerate(pipes):
        loop.add_reader(pipe.fileno(), hear, number)
    try:
        await over
    finally:
        for number in open_ones:
            loop.remove_reader(pipes[number].fileno())


@contextmanager
def signals_for_this_process() -> Iterator[None]:
    """What is started in this block never hears them: a terminal tells a whole group, the first decides."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _ended(process: SpawnProcess) -> None:
    if process.pid is not None:
        process.kill()
        process.join()


def _worker(work: CrewWork, counter: Any, pipe: Connection) -> None:
    """The main of one process."""
    threading.Thread(target=_die_with, args=(pipe,), daemon=True).start()
    with suppress(BrokenPipeError):
        try:
            run_virtually(run_here(work, _next(work.waiting(), counter), AT_A_TIME, pipe.send))
            pipe.send(None)
        except Exception as error:
            pipe.send(RuntimeError(f"{type(error).__name__}: {error}"))


def _die_with(pipe: Connection) -> None:
    """Nobody ever sends to a worker: what ends this read is the end of the other side."""
    with suppress(EOFError, OSError):
        pipe.recv()
    os._exit(_DEAD)


def _next(tasks: Sequence[EvalTask], counter: Any) -> Iterator[EvalTask]:
    while True:
        with counter.get_lock():
            at = counter.value
            counter.value = at + 1
        if at >= len(tasks):
            return
        yield tasks[at]
