"""`run_script`: one shell script in a sandbox, with limits, a deadline and an evidence folder per run.

The processes of one run are started under a supervisor, read while they print, and killed together. The
supervisor is a process between Handrail and the command. The kernel reparents orphans to the nearest ancestor
that asked for them (PR_SET_CHILD_SUBREAPER), so no fork, session or cleared environment escapes.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import itertools
import json
import os
import re
import resource
import secrets as random_names
import shutil
import signal
import struct
import sys
from asyncio.subprocess import DEVNULL
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from handrail.clock import Clock, SystemClock, iso_time
from handrail.errors import InvalidAction
from handrail.journal.redaction import PLACEHOLDER
from handrail.safety.secrets import Secrets
from handrail.waiting import Background, beside, first, uninterrupted, wait_for_end

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
        stats = {pid: stat for pid in _pids() if (stat := _read_process_stat(pid)) is not None}
        family = {
            pid for pid, stat in stats.items() if pid in self.supervisors or stat.session in self.supervisors
        }
        mark = f"{RUN_MARK}={self.run_id}".encode()
        for pid in stats.keys() - family:
            with contextlib.suppress(OSError):
                if mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    family.add(pid)
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
class _ProcessStat:
    state: str
    parent: int
    session: int


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _read_process_stat(pid: int) -> _ProcessStat | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name in parentheses may contain anything, including parentheses: the fields follow the last one.
    state, parent, _, session, *_ = text[text.rindex(b")") + 2 :].split()
    return _ProcessStat(state.decode(), int(parent), int(session))


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
        pid = 0
        while pid != command:
            pid, status = os.waitpid(-1, 0)
        code = os.waitstatus_to_exitcode(status)
        code = code if code >= 0 else 128 - code
        while True:
            for orphan in _children():
                with contextlib.suppress(OSError):
                    os.kill(orphan, signal.SIGKILL)
            os.waitpid(-1, 0)  # raises if no child is left
    os._exit(code)


def _children() -> list[int]:
    own = os.getpid()
    try:
        return [int(word) for word in Path(f"/proc/{own}/task/{own}/children").read_bytes().split()]
    except OSError:  # the kernel lacks this file
        return [
            pid for pid in _pids() if (stat := _read_process_stat(pid)) is not None and stat.parent == own
        ]


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
    def allowing(cls, programs: Iterable[str], inside: Path, readable: Sequence[Path]) -> Confinement | None:
        """Returns None if this kernel has no Landlock."""
        version = _system_call(_CREATE, None, 0, 1)
        if version < 1:
            return None
        handled = (1 << _FS_BITS.get(version, 16)) - 1
        scoped = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0
        attributes = struct.pack("QQQ", handled, 0, scoped)
        size = 24 if version >= 6 else 16 if version >= 4 else 8
        ruleset = _system_call(_CREATE, attributes, size, 0)
        if ruleset < 0:
            return None
        confinement = cls(ruleset)
        confinement._allow([inside], handled & ~_SPECIAL)
        confinement._allow(
            [*readable, *map(Path, (*SYSTEM, *SYSTEM_FILES)), *_paths_of_programs(programs)], _READ
        )
        confinement._allow(map(Path, DEVICES), _READ_FILE | _WRITE_FILE)
        names = {Path(program).name for program in programs}
        confinement._allow((Path(place) for name in names for place in ALSO.get(name, ())), handled)
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
                _system_call(_ADD, self._ruleset, _BENEATH, struct.pack("=Qi", allowed, opened), 0)
            finally:
                os.close(opened)

    def enter(self) -> None:
        """Called in the forked child; can't be undone. Raises if the process can't be confined."""
        if _libc is None or _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "no_new_privs")
        if _system_call(_RESTRICT, self._ruleset, 0):
            raise OSError(ctypes.get_errno(), "Landlock")

    def close(self) -> None:
        os.close(self._ruleset)


def _paths_of_programs(programs: Iterable[str]) -> list[Path]:
    """Each program by its own path, and the libraries beside it; never the folder that contains it."""
    places: list[Path] = []
    for program in programs:
        for place in {Path(program), Path(os.path.realpath(program))}:
            places.append(place)
            if place.parent.name == "bin":
                places += [place.parent.parent / folder for folder in BESIDE]
            places += [place.parent / folder for folder in BESIDE]
    return places


def _system_call(number: int, *arguments: bytes | int | None) -> int:
    words = [
        ctypes.c_char_p(argument) if isinstance(argument, bytes) else ctypes.c_long(argument or 0)
        for argument in arguments
    ]
    return -1 if _libc is None else int(_libc.syscall(ctypes.c_long(number), *words))


SHELL = "/bin/sh"
SECRET_VARIABLE = "SECRET_"  # noqa: S105  (the beginning of a name)
MOST_CHARACTERS = 12_000
ADB = ("adb",)
"""Scripts may use it wherever it is installed; other programs outside the system's folders need a policy
rule."""


class ScriptRefused(Exception):
    """The script was not run; `hint` says what to do instead."""

    def __init__(self, why: str, hint: str) -> None:
        super().__init__(why)
        self.hint = hint


class ScriptExecutor:
    """Runs scripts in folders under `runs`. Policy or a person has approved the exact text before."""

    def __init__(
        self,
        runs: Path,
        *,
        programs: Callable[[], Sequence[str]] = tuple,
        clock: Clock | None = None,
        limits: ScriptLimits | None = None,
        env: Mapping[str, str] = os.environ,
        pass_on: Sequence[str] = ("ANDROID_ADB_SERVER_PORT", "ADB_SERVER_SOCKET"),
        folders: Sequence[Path] = (),
    ) -> None:
        """`programs`: names or paths of programs that may run although they are installed elsewhere.
        `folders` may be read. `pass_on`: environment variables that scripts get."""
        self._runs = runs
        self._clock = clock or SystemClock()
        self._limits = limits or ScriptLimits()
        self._programs = programs
        path = env.get("PATH") or os.defpath
        self._path = os.pathsep.join(part for part in path.split(os.pathsep) if os.path.isabs(part))
        self._folders = [folder.resolve() for folder in folders]
        self._variables = {name: env[name] for name in pass_on if name in env}
        self._without_network: tuple[str, ...] | None = None

    async def run(
        self, script: str, timeout_sec: float = 60, shell: bool = False, secrets: Secrets | None = None
    ) -> ScriptResult:
        """Raises only if cancelled, after the script was stopped and recorded.

        `shell` runs it without Landlock, and without a network if the kernel can cut it.
        """
        secrets = secrets or Secrets({})
        evidence = RunEvidence.begin(self._runs, self._clock.now_ms(), secrets.redact(script))
        attempt = Attempt(evidence, self._clock, self._limits, secrets)
        try:
            plan = await self._plan(script, evidence, secrets, is_open=shell)
        except ScriptRefused as error:
            return attempt.finish(refused=secrets.redact(f"refused: {error}"), hint=error.hint)
        except InvalidAction as error:  # an unknown secret
            return attempt.finish(refused=error.message, hint=error.hint)
        try:
            return await attempt.go(plan, timeout_sec)
        finally:
            if plan.confinement is not None:
                plan.confinement.close()

    async def _plan(
        self, script: str, evidence: RunEvidence, secrets: Secrets, *, is_open: bool
    ) -> ScriptPlan:
        """Secrets become shell variables, so that their values are never parsed as shell code."""
        check_text(script)
        names = secrets.placeholders(script)
        for name in names:
            if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
                raise ScriptRefused(f"the secret {name}: not a valid name of a shell variable", "Rename it.")
        env = {
            **self._variables,
            "PATH": self._path,
            "HOME": str(evidence.files),
            "TMPDIR": str(evidence.files),
            "LANG": "C.UTF-8",
            RUN_MARK: evidence.run_id,
            **{f"{SECRET_VARIABLE}{name}": secrets.value(name) for name in names},
        }
        text = PLACEHOLDER.sub(lambda match: f"${{{SECRET_VARIABLE}{match[1]}}}", script)
        argv = [SHELL, "-c", text]
        if not is_open:
            paths = [shutil.which(name, path=self._path) for name in (*ADB, *self._programs())]
            programs = [path for path in paths if path is not None and Path(path).name in script]
            return ScriptPlan(
                argv, env, confinement=Confinement.allowing(programs, evidence.files, self._folders)
            )
        if self._without_network is None:
            self._without_network = await find_network_cut()
        return ScriptPlan([*self._without_network, *argv], env, network_cut=bool(self._without_network))


def check_text(script: str) -> None:
    """What a person approved is what runs, so a script must not have invisible characters."""
    if len(script) > MOST_CHARACTERS:
        raise ScriptRefused(f"{len(script):,} characters; the limit is {MOST_CHARACTERS:,}", "Split it.")
    if not script.strip():
        raise ScriptRefused("the script is empty", "Write at least one command.")
    hidden = next((char for char in script if not char.isprintable() and char not in "\n\t"), None)
    if hidden is not None:
        hint = "Write it as an escape, such as printf '\\r'; lines end with \\n."
        raise ScriptRefused(f"it contains the invisible character U+{ord(hidden):04X}", hint)


_OWN_PROCESSES = ("--pid", "--fork", "--kill-child")
_WAYS = (
    ("--net", *_OWN_PROCESSES),
    ("--user", "--map-root-user", "--net", *_OWN_PROCESSES),
    ("--user", "--map-root-user", "--net"),
)
"""In order of preference. Root needs no user namespace; others need it for the rest."""


async def find_network_cut() -> tuple[str, ...]:
    """The command prefix that cuts the network; empty if this machine has none."""
    unshare = shutil.which("unshare")
    null = asyncio.subprocess.DEVNULL
    for way in _WAYS if unshare else ():
        prefix = (str(unshare), *way, "--")
        try:
            probe = await asyncio.create_subprocess_exec(
                *prefix, "true", stdin=null, stdout=null, stderr=null
            )
        except OSError:
            continue
        if await probe.wait() == 0:
            return prefix
    return ()


MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ScriptLimits:
    """Per program, except `processes`: the kernel counts those per user, we count them per run."""

    cpu_sec: int = 30
    memory_bytes: int = 1024 * MIB
    file_bytes: int = 8 * MIB
    open_files: int = 256
    processes: int = 64

    def limit_setter(self) -> Callable[[], None]:
        """Sets these limits, as `preexec_fn`. Root has no process limit, so the run is watched as well."""
        wanted = (
            (resource.RLIMIT_CPU, self.cpu_sec),
            (resource.RLIMIT_AS, self.memory_bytes),
            (resource.RLIMIT_FSIZE, self.file_bytes),
            (resource.RLIMIT_NOFILE, self.open_files),
            (resource.RLIMIT_NPROC, _threads_of_user() + 1 + self.processes),  # 1: the supervisor
            (resource.RLIMIT_CORE, 0),
        )
        capped = []
        for which, value in wanted:
            hard = resource.getrlimit(which)[1]  # a lower hard limit can't be raised
            capped.append((which, value if hard == resource.RLIM_INFINITY else min(value, hard)))

        def apply() -> None:
            for which, value in capped:
                resource.setrlimit(which, (value, value))

        return apply


def _threads_of_user() -> int:
    """RLIMIT_NPROC counts all threads of the user, so the limit must include those that exist."""
    total, own = 0, os.getuid()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                tasks = os.stat(f"/proc/{name}/task")
            except OSError:
                continue  # it has just ended
            if tasks.st_uid == own:
                total += tasks.st_nlink - 2  # a folder counts itself, its parent and its children
    return total


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """The output has secrets removed."""

    ok: bool
    run_id: str
    run_dir: Path
    exit_code: int | None = None
    timed_out: bool = False
    cancelled: bool = False
    duration_ms: int = 0
    stdout: str = ""
    stderr: str = ""
    refused: str | None = None
    """Why it was not run, or was ended early."""
    hint: str | None = None
    network_cut: bool = False
    confined: bool = False
    """Landlock kept the programs inside the run folder."""

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "run_dir": str(self.run_dir)}


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """The folder of one run."""

    run_id: str
    folder: Path

    @property
    def files(self) -> Path:
        """The script's working directory. It can't reach its own evidence from there."""
        return self.folder / "files"

    @classmethod
    def begin(cls, runs: Path, now_ms: int, script: str) -> RunEvidence:
        moment = iso_time(now_ms)[:19].replace("-", "").replace(":", "").replace("T", "-")
        run_id = f"run-{moment}-{random_names.token_hex(3)}"
        evidence = cls(run_id, runs / run_id)
        runs.mkdir(mode=0o700, parents=True, exist_ok=True)
        evidence.folder.mkdir(mode=0o700)
        evidence.files.mkdir(mode=0o700)
        evidence.write("script", script)
        return evidence

    def write(self, name: str, text: str) -> None:
        file = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(file, "w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            stream.write(text)

    def end(self, result: dict[str, Any], redact: Callable[[str], str]) -> None:
        """Removes secrets from the files that the script wrote, too; binary content stays."""
        self.write("stdout", result["stdout"])
        self.write("stderr", result["stderr"])
        self.write("result.json", json.dumps(result, ensure_ascii=False, indent=2) + "\n")
        for path in self.files.rglob("*"):
            if not path.is_file() or path.is_symlink():
                continue
            try:
                text = path.read_bytes().decode(errors="surrogateescape")
            except OSError:
                continue
            clean = redact(text)
            if clean != text:
                path.write_bytes(clean.encode(errors="surrogateescape"))


GRACE_MS = 100
"""Between SIGTERM and SIGKILL. A stop has 250 ms in total."""
LAST_MS = 2_000
"""For the kernel to end killed processes. Those that it can't end are not waited for."""
WATCH_MS = 20
LOOKS_BETWEEN = 25
"""Cheap checks between two that read all of /proc."""


@dataclass(frozen=True, slots=True)
class ScriptPlan:
    """What to execute, with which variables, and in which sandbox."""

    argv: list[str]
    env: dict[str, str]
    network_cut: bool = False
    confinement: Confinement | None = None


class Attempt:
    """One run. It leaves exactly one record, however it ends."""

    def __init__(self, evidence: RunEvidence, clock: Clock, limits: ScriptLimits, secrets: Secrets) -> None:
        self._evidence = evidence
        self._clock = clock
        self._limits = limits
        self._secrets = secrets
        self._began = clock.monotonic_ms()
        self._process: ScriptProcess | None = None

    async def go(self, plan: ScriptPlan, timeout_sec: float) -> ScriptResult:
        """Runs until the end or the deadline. If cancelled, all processes are dead before it raises."""
        set_limits = self._limits.limit_setter()

        def prepare() -> None:
            set_limits()
            if plan.confinement is not None:
                plan.confinement.enter()

        facts = {"network_cut": plan.network_cut, "confined": plan.confinement is not None}
        family = ProcessFamily(self._evidence.run_id)
        process = self._process = ScriptProcess(self._evidence.files, plan.env, family, prepare)
        async with beside(process.run(plan.argv), f"script {self._evidence.run_id}") as work:
            try:
                crowd, _ = await first(
                    self._watch(family), wait_for_end(self._clock, work, timeout_sec * 1000)
                )
            except asyncio.CancelledError:
                await uninterrupted(self._stop(process, work))
                self.finish(cancelled=True, **facts)
                raise
            too_many = not crowd.cancelled() and not work.done()
            timed_out = not work.done() and not too_many
            if too_many:
                await asyncio.to_thread(process.kill)
                await wait_for_end(SystemClock(), work, LAST_MS)
            elif timed_out:
                await self._stop(process, work)
            code = await work if work.done() else None
        refused = f"ended: more than {self._limits.processes} processes" if too_many else None
        return self.finish(exit_code=code, timed_out=timed_out, refused=refused, **facts)

    async def _stop(self, process: ScriptProcess, work: asyncio.Task[int]) -> None:
        """The grace period ends as soon as all processes have."""
        await process.stop(wait_for_end(self._clock, work, GRACE_MS))
        await wait_for_end(SystemClock(), work, LAST_MS)

    async def _watch(self, family: ProcessFamily) -> None:
        """Returns if the run has too many processes. Checks at once if the machine's count has grown, and
        regularly in any case, since other processes may end as many as the run starts."""
        before = tasks_of_machine()
        for look in itertools.count(1):
            await self._clock.sleep_ms(WATCH_MS)
            hurry = tasks_of_machine() - before > self._limits.processes
            if hurry or look % LOOKS_BETWEEN == 0:
                if await asyncio.to_thread(family.exceeds, self._limits.processes, freeze=hurry):
                    return
                before = tasks_of_machine()

    def finish(self, **facts: Any) -> ScriptResult:
        process, redact, margin = self._process, self._secrets.redact, self._secrets.longest
        ended = facts.get("refused") or facts.get("timed_out") or facts.get("cancelled")
        result = ScriptResult(
            ok=not ended and facts.get("exit_code") == 0,
            run_id=self._evidence.run_id,
            run_dir=self._evidence.folder,
            duration_ms=round(self._clock.monotonic_ms() - self._began),
            stdout=process.stdout.text(redact, margin) if process else "",
            stderr=process.stderr.text(redact, margin) if process else "",
            **facts,
        )
        self._evidence.end(result.to_dict(), redact)
        return result
