"""The processes of one script run: started under a supervisor, read while they print, and killed together.

The supervisor is a process between Handrail and the command. The kernel reparents orphans to the nearest
ancestor that asked for them (PR_SET_CHILD_SUBREAPER), so no fork, session or cleared environment escapes.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import struct
import sys
from asyncio.subprocess import DEVNULL
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from handrail.waiting import Background

OUTPUT_LIMIT = 64 * 1024
CHUNK = 64 * 1024
LAST_OUTPUT_SEC = 0.5
"""For output that is still in the pipe when all processes have ended."""
NOT_STARTED = 127


class BoundedOutput:
    """Keeps the first and last half of `limit` bytes and counts the rest."""

    def __init__(self, limit: int = OUTPUT_LIMIT) -> None:
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
        """Head and tail without secrets. At a cut, `margin` more characters are dropped, because half a
        secret is not recognized."""
        tail = b"".join(self._tail)
        left_out = self.total - len(self._head) - min(len(tail), self._half)
        if not left_out:
            return redact((bytes(self._head) + tail).decode(errors="replace"))
        head = redact(bytes(self._head).decode(errors="replace"))
        rest = redact(tail[-self._half :].decode(errors="replace"))
        gap = f"[… {left_out + 2 * margin:,} bytes are left out …]"
        return f"{head[: len(head) - margin]}\n{gap}\n{rest[margin:]}"


@dataclass(slots=True)
class ScriptProcess:
    """The command of one run and its output."""

    folder: Path
    env: dict[str, str]
    family: ProcessFamily
    prepare: Callable[[], None]
    """Runs in the forked child before the command: limits and sandbox."""
    stdout: BoundedOutput = field(default_factory=BoundedOutput)
    stderr: BoundedOutput = field(default_factory=BoundedOutput)
    stopped: bool = False

    async def run(self, argv: list[str]) -> int:
        """The exit code; 128 + n if signal n ended it."""
        async with Background() as reading:
            with contextlib.ExitStack() as ours:  # our copies of the pipe ends, closed once it has started
                out = await self._capture(self.stdout, ours, reading)
                err = await self._capture(self.stderr, ours, reading)
                pid_source, pid_sink = os.pipe()
                ours.callback(os.close, pid_source)
                ours.callback(os.close, pid_sink)
                try:
                    process = await asyncio.create_subprocess_exec(
                        *argv,
                        stdin=DEVNULL,
                        stdout=out,
                        stderr=err,
                        cwd=self.folder,
                        env=self.env,
                        umask=0o077,
                        start_new_session=True,
                        preexec_fn=supervised(self.prepare, pid_sink),
                    )
                except OSError as error:
                    self.stderr.feed(f"{argv[0]}: {error.strerror or error}\n".encode())
                    return NOT_STARTED
                # The command has started, so its pid can be read.
                self.family.add(process.pid, int.from_bytes(os.read(pid_source, PID_BYTES), "big"))
                if self.stopped:  # stopped while it was starting
                    self.family.signal_groups(signal.SIGKILL)
            code = await process.wait()
            # What it left running ends now, and with it the streams. Other processes that hold an end of them
            # are not waited for.
            await asyncio.to_thread(self.family.kill)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_OUTPUT_SEC):
                    await reading.wait()
            self.family.forget()  # their pids may be reused from now on
        return code if code >= 0 else 128 - code

    async def _capture(self, output: BoundedOutput, ours: contextlib.ExitStack, reading: Background) -> int:
        """A pipe of our own: with asyncio's, `wait` would wait for grandchildren that hold it open."""
        source, sink = os.pipe()
        ours.callback(os.close, sink)
        stream = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(source, "rb", 0)
        )

        async def drain() -> None:
            try:
                while data := await stream.read(CHUNK):
                    output.feed(data)
            finally:
                transport.close()

        reading.start(drain(), "output of a script")
        return sink

    async def stop(self, grace: Awaitable[object]) -> None:
        """SIGTERM, the grace period, SIGKILL. `run` still returns."""
        self.stopped = True
        await asyncio.to_thread(self.family.terminate)
        await grace
        await asyncio.to_thread(self.kill)

    def kill(self) -> None:
        self.stopped = True
        self.family.kill()


RUN_MARK = "HANDRAIL_RUN"
ROUNDS = 200
"""Attempts against a fork bomb before it is left to the limits."""


@dataclass(slots=True)
class ProcessFamily:
    """The processes of one run."""

    run_id: str
    supervisors: set[int] = field(default_factory=set)
    """The processes we started; each leads a session."""
    commands: set[int] = field(default_factory=set)
    """Their children; each leads a process group."""

    def add(self, supervisor_pid: int, command_pid: int) -> None:
        self.supervisors.add(supervisor_pid)
        self.commands.add(command_pid)

    def forget(self) -> None:
        self.supervisors.clear()
        self.commands.clear()

    def members(self) -> set[int]:
        """The live ones, without the supervisors, which exit after their last child."""
        if not self.supervisors:
            return set()
        stats = {pid: stat for pid in _pids() if (stat := _stat(pid)) is not None}
        family = {
            pid for pid, stat in stats.items() if pid in self.supervisors or stat.session in self.supervisors
        }
        mark = f"{RUN_MARK}={self.run_id}".encode()
        family |= {pid for pid in stats if pid not in family and _is_marked(pid, mark)}
        while more := {pid for pid, stat in stats.items() if stat.parent in family} - family:
            family |= more
        return {pid for pid in family - self.supervisors if stats[pid].state not in "ZX"}

    def signal_groups(self, number: int) -> None:
        """One system call per group, without reading /proc."""
        for command in self.commands:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(command, number)

    def signal_all(self, number: int) -> bool:
        """False if there was no process left."""
        members = self.members()
        for pid in members:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        return bool(members)

    def terminate(self) -> None:
        """All are stopped first: a shell must not go on with its next command because the last one ended."""
        for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGCONT):
            self.signal_all(number)

    def kill(self) -> None:
        """Kills the groups, then those that left them: stopped first, so that they can't fork meanwhile."""
        self.signal_groups(signal.SIGKILL)
        for _ in range(ROUNDS):
            if not self.signal_all(signal.SIGSTOP):
                return
            self.signal_all(signal.SIGKILL)

    def exceeds(self, most: int, *, freeze: bool) -> bool:
        """Whether more than `most` are alive. With `freeze` they are stopped for the count, and stay so if it
        is exceeded."""
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
    # The name in parentheses may contain anything, including parentheses: the fields follow the last one.
    state, parent, _, session, *_ = text[text.rindex(b")") + 2 :].split()
    return _Stat(state.decode(), int(parent), int(session))


def _is_marked(pid: int, mark: bytes) -> bool:
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def tasks_of_machine() -> int:
    """The number of all threads, cheap to read."""
    running = Path("/proc/loadavg").read_text().split()[3]
    return int(running.partition("/")[2])


PR_SET_CHILD_SUBREAPER = 36
HIGHEST_FILE = 1 << 20
PID_BYTES = 8
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def supervised(prepare: Callable[[], None], pid_sink: int) -> Callable[[], None]:
    """For `preexec_fn`: the started process becomes the supervisor, its child the command.

    `prepare` runs in the command only; the command's pid is written to `pid_sink`. After the fork only system
    calls are made.
    """

    def begin() -> None:
        if _libc is not None:
            _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        command = os.fork()
        if command:
            _supervise(command)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.setpgid(0, 0)  # in the supervisor's session, but in its own group
        os.write(pid_sink, os.getpid().to_bytes(PID_BYTES, "big"))
        prepare()

    return begin


def _supervise(command: int) -> NoReturn:
    """Waits for the command, kills what it left behind, and exits with its code. All signals but SIGKILL are
    blocked."""
    os.closerange(0, HIGHEST_FILE)
    code = 255
    with contextlib.suppress(BaseException):  # the supervisor must never run the command itself
        code = _exit_code(command)
        while True:
            for orphan in _children():
                with contextlib.suppress(OSError):
                    os.kill(orphan, signal.SIGKILL)
            os.waitpid(-1, 0)  # raises if no child is left
    os._exit(code)


def _exit_code(command: int) -> int:
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == command:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _children() -> list[int]:
    own = os.getpid()
    try:
        return [int(word) for word in Path(f"/proc/{own}/task/{own}/children").read_bytes().split()]
    except OSError:  # the kernel lacks this file
        return [pid for pid in _pids() if (stat := _stat(pid)) is not None and stat.parent == own]


# Landlock: the kernel itself keeps a script's programs inside the run folder, whatever their arguments are.
# It needs no privileges and covers every child process. It does not restrict `stat`, so a script can learn
# which files exist.
_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""System call numbers, the same on every architecture."""
_PR_SET_NO_NEW_PRIVS = 38
_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_SPECIAL = 1 << 6 | 1 << 11
"""Device files, which not even the run folder may have."""
_FS_BITS = {1: 13, 2: 14, 3: 15, 4: 15}
"""Number of rights by version; 16 from version 5 on."""
_ABSTRACT_SOCKETS_AND_SIGNALS = 3
"""Forbids signals and abstract sockets to processes outside. From version 6 on."""
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime", "/etc/alternatives")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
BESIDE = ("lib", "lib64", "libexec", "share")
"""Folders near an installed program that it may need."""
ALSO = {"adb": ("/dev/bus/usb", "/sys/bus/usb", "/sys/devices", "/etc/hosts", "/etc/resolv.conf")}
"""What a particular program can't work without."""


class Confinement:
    """The files that the programs of one run may open. Close it when all have been started."""

    def __init__(self, ruleset: int) -> None:
        self._ruleset = ruleset

    @classmethod
    def of(cls, programs: Iterable[str], inside: Path, readable: Sequence[Path]) -> Confinement | None:
        """None if this kernel has no Landlock."""
        version = _call(_CREATE, None, 0, 1)
        if version < 1:
            return None
        handled = (1 << _FS_BITS.get(version, 16)) - 1
        scoped = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0
        attributes = struct.pack("QQQ", handled, 0, scoped)
        size = 24 if version >= 6 else 16 if version >= 4 else 8
        ruleset = _call(_CREATE, attributes, size, 0)
        if ruleset < 0:
            return None
        confinement = cls(ruleset)
        confinement._allow([inside], handled & ~_SPECIAL)
        confinement._allow([*readable, *map(Path, (*SYSTEM, *SYSTEM_FILES)), *_installed(programs)], _READ)
        confinement._allow(map(Path, DEVICES), _READ_FILE | _WRITE_FILE)
        confinement._allow(
            (Path(place) for name in _names(programs) for place in ALSO.get(name, ())), handled
        )
        return confinement

    def _allow(self, places: Iterable[Path], rights: int) -> None:
        """Places that do not exist are skipped."""
        for place in places:
            try:
                opened = os.open(place, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                allowed = rights if place.is_dir() else rights & _OF_FILES
                _call(_ADD, self._ruleset, _BENEATH, struct.pack("=Qi", allowed, opened), 0)
            finally:
                os.close(opened)

    def enter(self) -> None:
        """Called in the forked child; can't be undone. Raises if the process can't be confined."""
        if _libc is None or _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "no_new_privs")
        if _call(_RESTRICT, self._ruleset, 0):
            raise OSError(ctypes.get_errno(), "Landlock")

    def close(self) -> None:
        os.close(self._ruleset)


def _installed(programs: Iterable[str]) -> list[Path]:
    """Each program by its own path, and the libraries beside it; never the folder that contains it."""
    places: list[Path] = []
    for program in programs:
        for place in {Path(program), Path(os.path.realpath(program))}:
            places.append(place)
            if place.parent.name == "bin":
                places += [place.parent.parent / folder for folder in BESIDE]
            places += [place.parent / folder for folder in BESIDE]
    return places


def _names(programs: Iterable[str]) -> set[str]:
    return {Path(program).name for program in programs}


def _call(number: int, *arguments: bytes | int | None) -> int:
    words = [
        ctypes.c_char_p(argument) if isinstance(argument, bytes) else ctypes.c_long(argument or 0)
        for argument in arguments
    ]
    return -1 if _libc is None else int(_libc.syscall(ctypes.c_long(number), *words))
