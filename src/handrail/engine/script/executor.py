"""`run_script`: one folder of evidence per run, a deadline, and one result, also for what is refused."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from handrail.clock import Clock, SystemClock
from handrail.engine.script.allow import DEFAULT, AllowList
from handrail.engine.script.attempt import Attempt, Plan
from handrail.engine.script.cage import Cage, find_cage
from handrail.engine.script.evidence import Evidence
from handrail.engine.script.limits import Limits
from handrail.engine.script.parse import MOST_CHARACTERS, Command, parse
from handrail.engine.script.processes import MARK
from handrail.engine.script.refusal import Refusal
from handrail.engine.script.result import ScriptResult
from handrail.engine.script.run import Step
from handrail.engine.secrets import PLACEHOLDER, Secrets
from handrail.errors import InvalidAction

SHELL = "/bin/sh"
SECRET_VARIABLE = "SECRET_"  # noqa: S105  (the beginning of a name)


class ScriptExecutor:
    """Runs scripts in folders under `runs`. Whether a script may run at all, policy has decided before."""

    def __init__(
        self,
        runs: Path,
        *,
        allow: Iterable[str] = DEFAULT,
        clock: Clock | None = None,
        limits: Limits | None = None,
        env: Mapping[str, str] = os.environ,
        pass_on: Sequence[str] = ("ANDROID_ADB_SERVER_PORT", "ADB_SERVER_SOCKET"),
        folders: Sequence[Path] = (),
    ) -> None:
        """`folders`: where else file arguments may lie. `pass_on`: variables that programs get to see."""
        self._runs = runs
        self._clock = clock or SystemClock()
        self._limits = limits or Limits()
        self._allow = AllowList(allow, env.get("PATH") or os.defpath, folders)
        self._kept = {name: env[name] for name in pass_on if name in env}
        self._cage: Cage | None = None

    async def run(
        self, script: str, timeout_sec: float = 60, shell: bool = False, secrets: Secrets | None = None
    ) -> ScriptResult:
        """Never raises for what a script is or does; a cancelled run is ended and recorded, then raises."""
        secrets = secrets or Secrets({})
        evidence = Evidence.begin(self._runs, self._clock.now_ms(), secrets.redact(script))
        attempt = Attempt(evidence, self._clock, self._limits, secrets)
        try:
            plan = await (self._shell if shell else self._plain)(script, evidence, secrets)
        except Refusal as refusal:
            return attempt.finish(
                refused=secrets.redact(f"refused: {refusal.what}"), hint=secrets.redact(refusal.hint)
            )
        except InvalidAction as error:
            return attempt.finish(refused=error.message, hint=error.hint)
        return await attempt.go(plan, timeout_sec)

    async def _plain(self, script: str, evidence: Evidence, secrets: Secrets) -> Plan:
        """Every command is held against the list before the first one runs."""
        pipelines = [
            (one.joint, [self._step(command, evidence, secrets) for command in one.commands])
            for one in parse(script)
        ]
        return Plan(pipelines, self._env(evidence))

    def _step(self, command: Command, evidence: Evidence, secrets: Secrets) -> Step:
        filled = replace(command, argv=tuple(secrets.fill(word).text for word in command.argv))
        return Step(self._allow.permit(filled, evidence.files), filled)

    async def _shell(self, script: str, evidence: Evidence, secrets: Secrets) -> Plan:
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
        return Plan([(";", [Step(argv, Command((SHELL,)))])], env, self._cage.network_cut)

    def _env(self, evidence: Evidence) -> dict[str, str]:
        """Nothing of ours but the way to programs: no keys, no tokens."""
        own = {
            "PATH": self._allow.path,
            "HOME": str(evidence.files),
            "LANG": "C.UTF-8",
            MARK: evidence.run_id,
        }
        return {**self._kept, **own}


def _check_names(names: list[str]) -> None:
    for name in names:
        if not name.isidentifier() or not name.isascii():
            raise Refusal(f"the secret {name}: a shell's variables have no such name", "Rename the secret.")
