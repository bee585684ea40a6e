"""Running pipelines without a shell: processes, the pipes between them, and their output while it comes.

Knows nothing of allow-lists and evidence.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from handrail.engine.script.keeper import PID_BYTES, kept
from handrail.engine.script.parse import Refusal, ScriptCommand
from handrail.waiting import Background

KEPT = 64 * 1024


class Kept:
    """The first and the last half of `limit` bytes; what lies between is counted and forgotten."""

    def __init__(self, limit: int = KEPT) -> None:
        self._half = limit // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self.total = 0

    def feed(self, data: bytes) -> None:
        self.total += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data[-self._half :])
            self._tail_bytes += len(self._tail[-1])
        while self._tail and self._tail_bytes - len(self._tail[0]) >= self._half:
            self._tail_bytes -= len(self._tail.popleft())

    def text(self, redact: Callable[[str], str], margin: int = 0) -> str:
        """Head and tail without secrets. `margin` more go at a cut: half a secret can't be found."""
        tail = b"".join(self._tail)
        left_out = self.total - len(self._head) - min(len(tail), self._half)
        if not left_out:
            return redact((bytes(self._head) + tail).decode(errors="replace"))
        head = redact(bytes(self._head).decode(errors="replace"))
        rest = redact(tail[-self._half :].decode(errors="replace"))
        gap = f"[… {left_out + 2 * margin:,} bytes are left out …]"
        return f"{head[: len(head) - margin]}\n{gap}\n{rest[margin:]}"


CHUNK = 64 * 1024
LAST_WORDS_SEC = 0.5
"""For output that is in the pipe when everybody has ended."""
NOT_STARTED = 127


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """A permitted command: what to execute, and the command with its redirections."""

    argv: list[str]
    command: ScriptCommand
    check: Callable[[], None] = lambda: None
    """Raises `Refusal` if a file of the command has come to lie outside since it was permitted."""


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

    async def pipeline(self, steps: Sequence[ScriptStep]) -> int:
        """The last command's exit code; 128 + n when signal n ended it. After `stop` it starts nothing."""
        async with Background() as reading:
            codes = await self._piped(steps, reading)
            await self._end(reading)
        if len(codes) < len(steps):
            return NOT_STARTED
        return codes[-1] if codes[-1] >= 0 else 128 - codes[-1]

    async def _piped(self, steps: Sequence[ScriptStep], reading: Background) -> list[int]:
        running: list[Process] = []
        # Our copies of pipe ends and files are closed once all have started.
        with contextlib.ExitStack() as ours:
            out = await self._capture(self.stdout, ours, reading)
            err = await self._capture(self.stderr, ours, reading)
            source: int = DEVNULL
            for place, step in enumerate(steps):
                if self.stopped:  # a long pipe is not built on past its deadline
                    break
                following, sink = (DEVNULL, out) if place == len(steps) - 1 else _pipe(ours)
                try:
                    running.append(await self._start(step, source, sink, err, ours))
                except Refusal as error:
                    self.stderr.feed(f"{step.command.argv[0]}: refused: {error.what}\n".encode())
                    break
                except OSError as error:
                    self.stderr.feed(f"{step.command.argv[0]}: {error.strerror or error}\n".encode())
                    break
                source = following
        return [await process.wait() for process in running]

    async def _capture(self, kept: Kept, ours: contextlib.ExitStack, reading: Background) -> int:
        """A pipe of our own: asyncio's would make `wait` wait for grandchildren that hold it open."""
        source, writing = os.pipe()
        ours.callback(os.close, writing)
        stream = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(source, "rb", 0)
        )
        reading.start(_drain(stream, transport, kept), "output of a script")
        return writing

    async def _start(
        self, step: ScriptStep, source: int, out: int, err: int, ours: contextlib.ExitStack
    ) -> Process:
        command = step.command
        step.check()
        stdin = self._file(command.stdin, os.O_RDONLY, ours) if command.stdin else source
        stdout = self._written(command.stdout, command.append_out, ours) if command.stdout else out
        stderr = self._written(command.stderr, command.append_err, ours) if command.stderr else err
        heard, told = _pipe(ours)
        process = await asyncio.create_subprocess_exec(
            *step.argv,
            stdin=stdin,
            stdout=stdout,
            stderr=STDOUT if command.err_to_out else stderr,
            cwd=self.folder,
            env=self.env,
            umask=0o077,
            start_new_session=True,
            preexec_fn=kept(self.limit, told),  # only system calls, prepared before the fork
        )
        # The command runs by now, so its number is there to read.
        self.family.add(process.pid, int.from_bytes(os.read(heard, PID_BYTES), "big"))
        if self.stopped:  # the order to stop came while it was being started
            self.family.signal_groups(signal.SIGKILL)
        return process

    def _written(self, name: str, append: bool, ours: contextlib.ExitStack) -> int:
        return self._file(name, os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC), ours)

    def _file(self, name: str, flags: int, ours: contextlib.ExitStack) -> int:
        opened = os.open(self.folder / name, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        ours.callback(os.close, opened)
        return opened

    async def _end(self, reading: Background) -> None:
        """What a pipeline leaves running ends with it, and with that its streams do.

        Whoever else may hold an end of them is not waited for.
        """
        await asyncio.to_thread(self.family.kill)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_SEC):
                await reading.wait()
        self.family.forget()  # their numbers may be given to others from now on

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


MARK = "HANDRAIL_RUN"
ROUNDS = 200
"""Looks in a row after which a fork bomb that outruns us is left to the limits."""


@dataclass(slots=True)
class Family:
    """The processes of one run."""

    run_id: str
    roots: set[int] = field(default_factory=set)
    """The keepers, which we started; each leads a session of its own number."""
    commands: set[int] = field(default_factory=set)
    """What they keep; each leads a group of its own number."""

    def add(self, keeper: int, command: int) -> None:
        self.roots.add(keeper)
        self.commands.add(command)

    def forget(self) -> None:
        self.roots.clear()
        self.commands.clear()

    def members(self) -> set[int]:
        """Those that live now, without the keepers: they leave when nobody is left to keep."""
        if not self.roots:
            return set()
        stats = {pid: stat for pid in _pids() if (stat := _stat(pid)) is not None}
        found = {pid for pid, stat in stats.items() if pid in self.roots or stat.session in self.roots}
        mark = f"{MARK}={self.run_id}".encode()
        found |= {pid for pid in stats if pid not in found and _is_marked(pid, mark)}
        while more := {pid for pid, stat in stats.items() if stat.parent in found} - found:
            found |= more
        return {pid for pid in found - self.roots if stats[pid].state not in "ZX"}

    def signal_groups(self, number: int) -> None:
        """To the groups of the commands: one system call for thousands, no look at /proc."""
        for command in self.commands:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(command, number)

    def signal_all(self, number: int) -> bool:
        """To everybody. Whether anybody was there to hear it."""
        members = self.members()
        for pid in members:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        return bool(members)

    def kill(self) -> None:
        """The groups at once; then those who left them: stopped first, so that nobody forks on meanwhile."""
        self.signal_groups(signal.SIGKILL)
        for _ in range(ROUNDS):
            if not self.signal_all(signal.SIGSTOP):
                return
            self.signal_all(signal.SIGKILL)

    def exceeds(self, most: int, *, freeze: bool) -> bool:
        """Whether more than `most` live. With `freeze` they stand still for it, and if so for good."""
        if freeze:
            self.signal_groups(signal.SIGSTOP)
        crowded = len(self.members()) > most
        if freeze and not crowded:
            self.signal_groups(signal.SIGCONT)
        return crowded


@dataclass(frozen=True, slots=True)
class _Stat:
    state: str
    parent: int
    session: int


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _stat(pid: int) -> _Stat | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name in brackets may hold anything, brackets included: the fields begin after the last one.
    state, parent, _, session, *_ = text[text.rindex(b")") + 2 :].split()
    return _Stat(state.decode(), int(parent), int(session))


def _is_marked(pid: int, mark: bytes) -> bool:
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def tasks_of_machine() -> int:
    """One cheap number: every thread there is."""
    running = Path("/proc/loadavg").read_text().split()[3]
    return int(running.partition("/")[2])
