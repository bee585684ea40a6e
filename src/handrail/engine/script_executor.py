"""`run_script`: one shell script in a sandbox, with limits, a deadline and an evidence folder per run."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import resource
import secrets as random_names
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from handrail.clock import Clock, SystemClock, iso_time
from handrail.engine.script_process import (
    RUN_MARK,
    Confinement,
    ProcessFamily,
    ScriptProcess,
    tasks_of_machine,
)
from handrail.errors import InvalidAction
from handrail.journal.redaction import PLACEHOLDER
from handrail.safety.secrets import Secrets
from handrail.waiting import beside, first, uninterrupted, wait_for_end

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
            return ScriptPlan(argv, env, confinement=Confinement.of(programs, evidence.files, self._folders))
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

    def setter(self) -> Callable[[], None]:
        """For `preexec_fn`. Root has no process limit, so the run is watched as well."""
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
        set_limits = self._limits.setter()

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
        """Records the result."""
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
