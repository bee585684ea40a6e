"""One permitted run from its first process to its last: the deadline, the head count, the record."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from typing import Any

from handrail.clock import Clock
from handrail.engine.script.evidence import Evidence
from handrail.engine.script.limits import Limits, setter
from handrail.engine.script.parse import Joint
from handrail.engine.script.processes import Family, tasks_of_machine
from handrail.engine.script.result import ScriptResult
from handrail.engine.script.run import Runner, Step
from handrail.engine.secrets import Secrets

GRACE_MS = 100
"""Between the request to end and the end. Stop has 250 ms for everything."""
WATCH_MS = 20
LOOKS_BETWEEN = 25
"""Cheap looks between two that read all of /proc."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is permitted to run, and with which variables."""

    pipelines: list[tuple[Joint, list[Step]]]
    env: dict[str, str]
    network_cut: bool = False


class Attempt:
    """Exactly one record is left, however the run ends."""

    def __init__(self, evidence: Evidence, clock: Clock, limits: Limits, secrets: Secrets) -> None:
        self._evidence = evidence
        self._clock = clock
        self._limits = limits
        self._secrets = secrets
        self._began = clock.monotonic_ms()
        self._runner: Runner | None = None

    async def go(self, plan: Plan, timeout_sec: float) -> ScriptResult:
        """Run to the end or to the deadline. When cancelled, all is dead before that is raised."""
        runner = self._runner = Runner(
            self._evidence.files, plan.env, Family(self._evidence.run_id), setter(self._limits)
        )
        work = asyncio.create_task(_pipelines(runner, plan))
        deadline = asyncio.create_task(self._clock.sleep_ms(timeout_sec * 1000))
        crowd = asyncio.create_task(self._watch(runner.family))
        try:
            await asyncio.wait({work, deadline, crowd}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await asyncio.shield(self._stop(runner, work))
            self.finish(cancelled=True, network_cut=plan.network_cut)
            raise
        finally:
            too_many = crowd.done() and not work.done()
            _forget(deadline, crowd)
        timed_out = not work.done() and not too_many
        if too_many:
            await asyncio.to_thread(runner.kill)
        elif timed_out:
            await self._stop(runner, work)
        code = await work
        return self.finish(
            exit_code=code,
            timed_out=timed_out,
            refused=f"ended: more than {self._limits.processes} processes" if too_many else None,
            network_cut=plan.network_cut,
        )

    async def _stop(self, runner: Runner, work: asyncio.Task[int]) -> None:
        """Nobody waits out the grace when all have gone."""
        grace = asyncio.create_task(self._clock.sleep_ms(GRACE_MS))
        await runner.stop(asyncio.wait({work, grace}, return_when=asyncio.FIRST_COMPLETED))
        _forget(grace)
        await asyncio.wait({work})

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


async def _pipelines(runner: Runner, plan: Plan) -> int:
    code = 0
    for joint, steps in plan.pipelines:
        if runner.stopped:
            break
        if joint == ";" or (joint == "&&") == (code == 0):
            code = await runner.pipeline(steps)
    return code


def _forget(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
