"""Running pipelines without a shell: processes, the pipes between them, and their output while it comes.

Knows nothing of allow-lists and evidence.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from handrail.engine.script.output import Kept
from handrail.engine.script.parse import Command
from handrail.engine.script.processes import Family

CHUNK = 64 * 1024
NOT_STARTED = 127


@dataclass(frozen=True, slots=True)
class Step:
    """A permitted command: what to execute, and the command with its redirections."""

    argv: list[str]
    command: Command


@dataclass(slots=True)
class Runner:
    """One run's processes and what is kept of their output."""

    folder: Path
    env: dict[str, str]
    family: Family
    limit: Callable[[], None]
    stdout: Kept = field(default_factory=Kept)
    stderr: Kept = field(default_factory=Kept)
    stopped: bool = False

    async def pipeline(self, steps: Sequence[Step]) -> int:
        """The last command's exit code; 128 + n when signal n ended it. After `stop` it starts nothing."""
        running: list[Process] = []
        # Our copies of pipe ends and files are closed once all have started.
        with contextlib.ExitStack() as ours:
            out, reading_out = await self._capture(self.stdout, ours)
            err, reading_err = await self._capture(self.stderr, ours)
            source: int = DEVNULL
            for place, step in enumerate(steps):
                following, sink = (DEVNULL, out) if place == len(steps) - 1 else _pipe(ours)
                try:
                    running.append(await self._start(step, source, sink, err, ours))
                except OSError as error:
                    self.stderr.feed(f"{step.command.argv[0]}: {error.strerror or error}\n".encode())
                    break
                source = following
        codes = [await process.wait() for process in running]
        await self._end(reading_out, reading_err)
        if len(codes) < len(steps):
            return NOT_STARTED
        return codes[-1] if codes[-1] >= 0 else 128 - codes[-1]

    async def _capture(self, kept: Kept, ours: contextlib.ExitStack) -> tuple[int, asyncio.Task[None]]:
        """A pipe of our own: asyncio's would make `wait` wait for grandchildren that hold it open."""
        reading, writing = os.pipe()
        ours.callback(os.close, writing)
        stream = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(reading, "rb", 0)
        )
        return writing, asyncio.create_task(_drain(stream, transport, kept))

    async def _start(
        self, step: Step, source: int, out: int, err: int, ours: contextlib.ExitStack
    ) -> Process:
        command = step.command
        stdin = self._file(command.stdin, os.O_RDONLY, ours) if command.stdin else source
        stdout = self._written(command.stdout, command.append_out, ours) if command.stdout else out
        stderr = self._written(command.stderr, command.append_err, ours) if command.stderr else err
        process = await asyncio.create_subprocess_exec(
            *step.argv,
            stdin=stdin,
            stdout=stdout,
            stderr=STDOUT if command.err_to_out else stderr,
            cwd=self.folder,
            env=self.env,
            umask=0o077,
            start_new_session=True,
            preexec_fn=self.limit,  # only system calls, prepared before the fork
        )
        self.family.roots.add(process.pid)
        if self.stopped:  # the order to stop came while it was being started
            process.kill()
        return process

    def _written(self, name: str, append: bool, ours: contextlib.ExitStack) -> int:
        return self._file(name, os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC), ours)

    def _file(self, name: str, flags: int, ours: contextlib.ExitStack) -> int:
        opened = os.open(self.folder / name, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        ours.callback(os.close, opened)
        return opened

    async def _end(self, *reading: asyncio.Task[None]) -> None:
        """What a pipeline leaves running ends with it, and with that its streams do."""
        await asyncio.to_thread(self.family.kill)
        await asyncio.gather(*reading)
        self.family.roots.clear()  # their numbers may be given to others from now on

    async def stop(self, grace: Awaitable[object]) -> None:
        """Ask everybody to end, then end them. Whoever waits for `pipeline` gets its answer."""
        self.stopped = True
        await asyncio.to_thread(self.family.signal_all, signal.SIGTERM)
        await grace
        await asyncio.to_thread(self.kill)

    def kill(self) -> None:
        """End everybody at once."""
        self.stopped = True
        self.family.kill()


def _pipe(ours: contextlib.ExitStack) -> tuple[int, int]:
    reading, writing = os.pipe()
    ours.callback(os.close, reading)
    ours.callback(os.close, writing)
    return reading, writing


async def _drain(stream: asyncio.StreamReader, transport: asyncio.ReadTransport, kept: Kept) -> None:
    try:
        while data := await stream.read(CHUNK):
            kept.feed(data)
    finally:
        transport.close()
