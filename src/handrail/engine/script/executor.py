"""`run_script`: limits, one folder of evidence per run, a deadline, and one result, also when refused."""

from __future__ import annotations

import asyncio
import itertools
import os
import resource
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from handrail.clock import Clock, SystemClock
from handrail.engine.script.allow import DEFAULT, AllowList, RunEvidence
from handrail.engine.script.confine import Confinement, then
from handrail.engine.script.parse import MOST_CHARACTERS, Joint, Refusal, ScriptCommand, parse
from handrail.engine.script.run import MARK, Family, Runner, ScriptStep, tasks_of_machine
from handrail.engine.secrets import PLACEHOLDER, Secrets
from handrail.errors import InvalidAction
from handrail.waiting import beside, first, uninterrupted, wait_for_end

SHELL = "/bin/sh"
SECRET_VARIABLE = "SECRET_"  # noqa: S105  (the beginning of a name)


class ScriptExecutor:
    """Runs scripts in folders under `runs`. Whether a script may run at all, policy has decided before."""

    def __init__(
        self,
        runs: Path,
        *,
        allow: Iterable[str] | Callable[[], Iterable[str]] = DEFAULT,
        clock: Clock | None = None,
        limits: ScriptLimits | None = None,
        env: Mapping[str, str] = os.environ,
        pass_on: Sequence[str] = ("ANDROID_ADB_SERVER_PORT", "ADB_SERVER_SOCKET"),
        folders: Sequence[Path] = (),
    ) -> None:
        """`folders`: where else file arguments may lie. `pass_on`: variables that programs get to see."""
        self._runs = runs
        self._clock = clock or SystemClock()
        self._limits = limits or ScriptLimits()
        self._allowed = allow
        self._path = env.get("PATH") or os.defpath
        self._folders = folders
        self._kept = {name: env[name] for name in pass_on if name in env}
        self._cage: Cage | None = None

    @property
    def _allow(self) -> AllowList:
        """As policy has it at this moment."""
        allowed = self._allowed() if callable(self._allowed) else self._allowed
        return AllowList(allowed, self._path, self._folders)

    async def run(
        self, script: str, timeout_sec: float = 60, shell: bool = False, secrets: Secrets | None = None
    ) -> ScriptResult:
        """Never raises for what a script is or does; a cancelled run is ended and recorded, then raises."""
        secrets = secrets or Secrets({})
        evidence = RunEvidence.begin(self._runs, self._clock.now_ms(), secrets.redact(script))
        attempt = Attempt(evidence, self._clock, self._limits, secrets)
        try:
            plan = await (self._shell if shell else self._plain)(script, evidence, secrets)
        except Refusal as refusal:
            return attempt.finish(
                refused=secrets.redact(f"refused: {refusal.what}"), hint=secrets.redact(refusal.hint)
            )
        except InvalidAction as error:
            return attempt.finish(refused=error.message, hint=error.hint)
        try:
            return await attempt.go(plan, timeout_sec)
        finally:
            if plan.confinement is not None:
                plan.confinement.close()

    async def _plain(self, script: str, evidence: RunEvidence, secrets: Secrets) -> ScriptPlan:
        """Every command is held against the list before the first one runs."""
        pipelines = [
            (one.joint, [self._step(command, evidence, secrets) for command in one.commands])
            for one in parse(script)
        ]
        programs = [step.argv[0] for _, steps in pipelines for step in steps]
        confinement = Confinement.of(programs, evidence.files, self._allow.folders)
        return ScriptPlan(pipelines, self._env(evidence), confinement=confinement)

    def _step(self, command: ScriptCommand, evidence: RunEvidence, secrets: Secrets) -> ScriptStep:
        filled = replace(command, argv=tuple(secrets.fill(word).text for word in command.argv))
        argv = self._allow.permit(filled, evidence.files)
        own = Path(argv[0]).name
        return ScriptStep(argv, filled, partial(self._allow.check_files, own, filled, evidence.files))

    async def _shell(self, script: str, evidence: RunEvidence, secrets: Secrets) -> ScriptPlan:
        """A real shell. Secrets come to it as variables: a value is never read as a piece of the script."""
        if len(script) > MOST_CHARACTERS:
            raise Refusal(f"{len(script):,} characters; {MOST_CHARACTERS:,} are allowed", "Split it.")
        if self._cage is None:
            self._cage = await find_cage()
        _check_names(secrets.placeholders(script))
        values = {f"{SECRET_VARIABLE}{name}": secrets.value(name) for name in secrets.placeholders(script)}
        text = PLACEHOLDER.sub(lambda found: f"${{{SECRET_VARIABLE}{found[1]}}}", script)
        argv = [*self._cage.prefix, SHELL, "-c", text]
        env = {**self._env(evidence), **values}
        return ScriptPlan([(";", [ScriptStep(argv, ScriptCommand((SHELL,)))])], env, self._cage.network_cut)

    def _env(self, evidence: RunEvidence) -> dict[str, str]:
        """Nothing of ours but the way to programs: no keys, no tokens."""
        own = {
            "PATH": self._allow.path,
            "HOME": str(evidence.files),
            "TMPDIR": str(evidence.files),
            "LANG": "C.UTF-8",
            MARK: evidence.run_id,
        }
        return {**self._kept, **own}


def _check_names(names: list[str]) -> None:
    for name in names:
        if not name.isidentifier() or not name.isascii():
            raise Refusal(f"the secret {name}: a shell's variables have no such name", "Rename the secret.")


OWN_NUMBERS = ("--pid", "--fork", "--kill-child")
WAYS = (
    ("--net", *OWN_NUMBERS),
    ("--user", "--map-root-user", "--net", *OWN_NUMBERS),
    ("--user", "--map-root-user", "--net"),
)
"""What is tried, best first. Root needs no user namespace; for others it is what makes the rest possible."""


@dataclass(frozen=True, slots=True)
class Cage:
    """What stands before the command, and what it achieves."""

    prefix: tuple[str, ...] = ()

    @property
    def network_cut(self) -> bool:
        return "--net" in self.prefix


async def find_cage() -> Cage:
    """The best that works here; an empty one where nothing does."""
    unshare = shutil.which("unshare")
    for way in WAYS if unshare else ():
        prefix = (str(unshare), *way, "--")
        if await _works(prefix):
            return Cage(prefix)
    return Cage()


async def _works(prefix: tuple[str, ...]) -> bool:
    null = asyncio.subprocess.DEVNULL
    try:
        probe = await asyncio.create_subprocess_exec(*prefix, "true", stdin=null, stdout=null, stderr=null)
    except OSError:
        return False
    return await probe.wait() == 0


MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ScriptLimits:
    """Per program, but for `processes`: the kernel counts them for the user, and we for the run."""

    cpu_sec: int = 30
    memory_bytes: int = 1024 * MIB
    file_bytes: int = 8 * MIB
    open_files: int = 256
    processes: int = 64


def setter(limits: ScriptLimits, keepers: int) -> Callable[[], None]:
    """For `preexec_fn`. The kernel ignores the number of processes for root, so the run is watched too."""
    wanted = (
        (resource.RLIMIT_CPU, limits.cpu_sec),
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_NPROC, _threads_of_user() + keepers + limits.processes),
        (resource.RLIMIT_CORE, 0),
    )
    capped = [(which, _within(which, value)) for which, value in wanted]

    def apply() -> None:
        for which, value in capped:
            resource.setrlimit(which, (value, value))

    return apply


def _within(which: int, value: int) -> int:
    """Nobody may raise a hard limit that is lower already."""
    hard = resource.getrlimit(which)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _threads_of_user() -> int:
    """RLIMIT_NPROC counts every thread of the user: a bare number would forbid the first fork."""
    total, own = 0, os.getuid()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                tasks = os.stat(f"/proc/{name}/task")
            except OSError:
                continue  # it has ended meanwhile
            if tasks.st_uid == own:
                total += tasks.st_nlink - 2  # like every folder it counts itself, its parent and its children
    return total


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """Without secrets, whatever the script printed."""

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
    """Why nothing was run, or why it was ended early."""
    hint: str | None = None
    network_cut: bool = False
    confined: bool = False
    """The kernel itself kept the programs inside the run folder."""

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "run_dir": str(self.run_dir)}


GRACE_MS = 100
"""Between the request to end and the end. Stop has 250 ms for everything."""
LAST_MS = 2_000
"""For the kernel to end what was killed. What it can't end is not waited for: an answer has its deadline."""
WATCH_MS = 20
LOOKS_BETWEEN = 25
"""Cheap looks between two that read all of /proc."""


@dataclass(frozen=True, slots=True)
class ScriptPlan:
    """What is permitted to run, and with which variables."""

    pipelines: list[tuple[Joint, list[ScriptStep]]]
    env: dict[str, str]
    network_cut: bool = False
    confinement: Confinement | None = None

    @property
    def facts(self) -> dict[str, bool]:
        return {"network_cut": self.network_cut, "confined": self.confinement is not None}

    @property
    def widest(self) -> int:
        """Commands that run side by side."""
        return max(len(steps) for _, steps in self.pipelines)


class Attempt:
    """Exactly one record is left, however the run ends."""

    def __init__(self, evidence: RunEvidence, clock: Clock, limits: ScriptLimits, secrets: Secrets) -> None:
        self._evidence = evidence
        self._clock = clock
        self._limits = limits
        self._secrets = secrets
        self._began = clock.monotonic_ms()
        self._runner: Runner | None = None

    async def go(self, plan: ScriptPlan, timeout_sec: float) -> ScriptResult:
        """Run to the end or to the deadline. When cancelled, all is dead before that is raised."""
        limit = setter(self._limits, plan.widest)
        enter = then(limit, plan.confinement.enter) if plan.confinement else limit
        runner = self._runner = Runner(self._evidence.files, plan.env, Family(self._evidence.run_id), enter)
        async with beside(_pipelines(runner, plan), f"script {self._evidence.run_id}") as work:
            try:
                too_many = await self._crowded(runner, work, timeout_sec * 1000)
            except asyncio.CancelledError:
                await uninterrupted(self._stop(runner, work))
                self.finish(cancelled=True, **plan.facts)
                raise
            timed_out = not work.done() and not too_many
            if too_many:
                await asyncio.to_thread(runner.kill)
                await wait_for_end(SystemClock(), work, LAST_MS)
            elif timed_out:
                await self._stop(runner, work)
            code = await work if work.done() else None
        return self.finish(
            exit_code=code,
            timed_out=timed_out,
            refused=f"ended: more than {self._limits.processes} processes" if too_many else None,
            **plan.facts,
        )

    async def _stop(self, runner: Runner, work: asyncio.Task[int]) -> None:
        """Nobody waits out the grace when all have gone."""
        await runner.stop(wait_for_end(self._clock, work, GRACE_MS))
        await wait_for_end(SystemClock(), work, LAST_MS)

    async def _crowded(self, runner: Runner, work: asyncio.Task[int], timeout_ms: float) -> bool:
        """True as soon as there are too many processes; False at the run's end, or when its time is over."""
        crowd, _ = await first(self._watch(runner.family), wait_for_end(self._clock, work, timeout_ms))
        return not crowd.cancelled() and not work.done()

    async def _watch(self, family: Family) -> None:
        """Returns when the run has too many processes: looks at once when the machine has more of them, and
        now and then in any case, since others may end as many as the run begins.
        """
        before = tasks_of_machine()
        for look in itertools.count(1):
            await self._clock.sleep_ms(WATCH_MS)
            hurry = tasks_of_machine() - before > self._limits.processes
            if hurry or look % LOOKS_BETWEEN == 0:
                if await asyncio.to_thread(family.exceeds, self._limits.processes, freeze=hurry):
                    return
                before = tasks_of_machine()

    def finish(self, **facts: Any) -> ScriptResult:
        """The result, recorded."""
        runner, redact, margin = self._runner, self._secrets.redact, self._secrets.longest
        ended = facts.get("refused") or facts.get("timed_out") or facts.get("cancelled")
        result = ScriptResult(
            ok=not ended and facts.get("exit_code") == 0,
            run_id=self._evidence.run_id,
            run_dir=self._evidence.folder,
            duration_ms=round(self._clock.monotonic_ms() - self._began),
            stdout=runner.stdout.text(redact, margin) if runner else "",
            stderr=runner.stderr.text(redact, margin) if runner else "",
            **facts,
        )
        self._evidence.end(result.to_dict(), redact)
        return result


async def _pipelines(runner: Runner, plan: ScriptPlan) -> int:
    code = 0
    for joint, steps in plan.pipelines:
        if runner.stopped:
            break
        if joint == ";" or (joint == "&&") == (code == 0):
            code = await runner.pipeline(steps)
    return code
