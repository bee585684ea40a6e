"""`handrail eval --fleet`: episodes as units; everything that is told of them is told as on one machine."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import FleetOptions
from handrail.cli.output import print_json
from handrail.errors import FAMILIES, DeviceError, InvalidAction
from handrail.waiting import uninterrupted
from handrail_eval.command_tables import print_tables
from handrail_eval.models import ModelChoice
from handrail_eval.result import EpisodeKey, EpisodeName, TaskResult, key_of
from handrail_eval.summary import Evaluation
from handrail_fleet.client import FleetClient
from handrail_fleet.command_run import STOP_S, FleetProgress, hand_in
from handrail_fleet.ledger import UnitSpec
from handrail_fleet.task_unit import episode_of, task_units
from handrail_fleet.where import Where

if TYPE_CHECKING:
    from pathlib import Path

    from handrail_eval.command import EvaluateOptions
    from handrail_eval.command_run import Done, EvaluationSuite

WAITING = ("todo", "running")


def on_fleet(
    suite: EvaluationSuite, options: EvaluateOptions, chosen: FleetOptions, model: ModelChoice
) -> EvaluationSuite:
    """The same suite, run elsewhere. Everything that can be wrong is said before anything is handed in."""
    Where.parse(chosen.where)
    client = FleetClient.open(chosen.address, os.environ)
    hosts = client.status(1)["hosts"]

    def specs(tasks: Sequence[EpisodeName]) -> list[UnitSpec]:
        keep = options.folder is not None
        how = {"max_steps": options.max_steps, "keep": keep, "pictures": options.pictures}
        return task_units(tasks, suite.sources, model, chosen.where, **how)

    async def run(already: frozenset[EpisodeKey], jobs: int, done: Done) -> None:  # noqa: ARG001  (hosts have limits)
        tasks = [task for task in suite.tasks if key_of(task) not in already]
        if tasks:
            await FleetEpisodes(client, tasks, options.folder, done).run(specs(tasks))

    specs(suite.tasks[:1])
    return replace(suite, run=run, usual_jobs=sum(len(host["phones"]) for host in hosts if host["alive"]))


def hand_in_only(
    suite: EvaluationSuite, options: EvaluateOptions, chosen: FleetOptions, model: ModelChoice
) -> int:
    """Only handed in; `fleet attach` tells what came of it."""
    how = {"max_steps": options.max_steps, "keep": False, "pictures": False}
    hand_in(task_units(suite.tasks, suite.sources, model, chosen.where, **how), chosen, to_stderr=False)
    return 0


class FleetEpisodes:
    """One run of a fleet, followed until every episode has been told."""

    def __init__(
        self, client: FleetClient, tasks: Sequence[EpisodeName], folder: Path | None, done: Done
    ) -> None:
        self._client = client
        self._tasks = tasks
        self._folder = folder
        self._done = done
        self._told: set[int] = set()
        self._lost: list[str] = []

    async def run(self, units: Sequence[UnitSpec]) -> None:
        """Raises `DeviceError` where episodes were lost with their hosts. Cancelled, it frees the phones."""
        title = f"eval: {', '.join(dict.fromkeys(unit.name for unit in units))}"[:200]
        run = await asyncio.to_thread(self._client.submit, units, title)
        try:
            with FleetProgress(to_stderr=True) as shown:
                while not await self._look(run, shown):
                    pass
        except asyncio.CancelledError:
            await uninterrupted(self._stop(run))
            raise
        if self._lost:
            raise DeviceError(
                f"{len(self._lost)} of {len(self._tasks)} episodes were not run: {self._lost[0]}",
                hint="With --out, --resume goes on with them.",
            )

    async def _stop(self, run: str) -> None:
        """What ends meanwhile still counts."""
        await asyncio.to_thread(self._client.stop, run)
        end = time.monotonic() + STOP_S
        while time.monotonic() < end and not await self._look(run, None):
            pass

    async def _look(self, run: str, shown: FleetProgress | None) -> bool:
        """Whether it is over."""
        told = await asyncio.to_thread(self._client.watch, run)
        if shown is not None and shown.is_live:
            await asyncio.to_thread(shown.show, told, self._client)
        if sum(told["counts"].values()) - sum(told["counts"].get(name, 0) for name in WAITING) > len(
            self._told
        ):
            for unit in await asyncio.to_thread(list, self._client.units(run)):
                if unit["state"] not in WAITING and unit["number"] not in self._told:
                    self._told.add(unit["number"])
                    await self._tell(unit)
        return bool(told["state"] == "done")

    async def _tell(self, unit: Mapping[str, Any]) -> None:
        task = self._tasks[unit["number"] - 1]
        result = await asyncio.to_thread(episode_of, unit, task, self._client.file, self._folder)
        if result is not None:
            self._done(result)
        else:
            why = (unit["result"] or {}).get("message") or unit["why"] or unit["state"]
            self._lost.append(f"{task.id} with seed {task.seed}: {why}")


def tell_evaluation(units: Sequence[Mapping[str, Any]], *, as_json: bool) -> int:
    """What a detached one has come to; the exit code."""
    results = [
        TaskResult.read(one["result"]["episode"]) for one in units if "episode" in (one["result"] or {})
    ]
    model = next((one["result"]["model"] for one in units if "model" in (one["result"] or {})), "?")
    ran = Evaluation(model, len(units), max([one.repeat for one in results], default=1), tuple(results))
    times = [one[name] for one in units for name in ("handed_ms", "ended_ms") if one[name]]
    phones = {(unit["host"], phone) for unit in units for phone in unit["phones"] or ()}
    took = {"wall_ms": max(times, default=0) - min(times, default=0), "jobs": len(phones)}
    summary = ran.summary()
    if as_json:
        seeds = sorted({one.seed for one in results})
        tasks = [one.to_dict() for one in results]
        print_json({"model": model, "seeds": seeds, "tasks": tasks, "summary": summary, "took": took})
    else:
        print_tables(ran, summary, took)
    if not ran.complete:
        click.echo(f"{len(units) - len(results)} episodes were not run", err=True)
    return 0 if ran.complete else FAMILIES["device"].exit_code


def refuse_what_needs_one_machine(options: EvaluateOptions, chosen: FleetOptions) -> None:
    """Raises `InvalidAction`."""
    kept = options.folder is not None or options.fail_under is not None
    for name, is_set, why in (
        ("suite miniwob", "miniwob" in options.suite, "browsers of hosts take no tasks"),
        (
            "base-url",
            options.base_url is not None,
            "a host speaks to the model's address of its own settings",
        ),
        ("jobs", options.jobs is not None, "`fleet host --limit` says how many a host runs at a time"),
        ("each-device", chosen.each_device, "every task makes a phone of its own"),
        ("detach", chosen.detach and kept, "the command would end before --out, --resume, --fail-under"),
    ):
        if is_set:
            raise InvalidAction(f"--{name} does not go with --fleet: {why}", path=name, hint="Leave it out.")
