"""`handrail run`: flows on phones, with live progress, JUnit and a report. Knows no step from another."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.films import film_flows, need_films, video_option
from handrail.cli.run_approvals import Answers, FlowQuestions
from handrail.cli.run_devices import Pool, Wanted, open_pool
from handrail.cli.run_fleet import FleetOptions, fleet_options
from handrail.cli.run_maestro import MaestroFlows
from handrail.cli.run_results import publish
from handrail.errors import FAMILIES, HandrailError, InvalidAction

if TYPE_CHECKING:
    from handrail.engine.events import Caller
    from handrail.flow.plan import AnyFlow, FlowPlan
    from handrail.flow.progress import FlowProgress
    from handrail.flow.run import FlowRunner
    from handrail.flow.run_record import FlowRecord
    from handrail.flow.select_flows import Shard
    from handrail.runtime import Runtime

    Ready = tuple[AnyFlow, FlowPlan]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The command line."""

    paths: tuple[Path, ...]
    wanted: Wanted
    tags: frozenset[str]
    without: frozenset[str]
    shard: Shard
    env: Mapping[str, str]
    retries: int
    junit: Path | None
    report: Path | None
    video: bool
    heal: bool
    as_json: bool
    allow_http: tuple[str, ...] = ()
    config: Path | None = None
    output: Path | None = None
    approvals: str | None = None
    fleet: FleetOptions | None = None


@click.command()
@click.argument("flows", nargs=-1, metavar="FLOW|DIR...")
@click.option(
    "--device", "devices", multiple=True, metavar="[NAME=]SERIAL", help="A phone; NAME for flows on several."
)
@click.option(
    "--sim",
    is_flag=False,
    flag_value="0",
    metavar="[N]",
    help="Simulated phones, new for every flow; as many as it needs, at least N.",
)
@click.option(
    "--tags", "--include-tags", metavar="A,B", default="", help="Only flows with one of these tags."
)
@click.option("--exclude-tags", metavar="A,B", default="", help="No flows with one of these tags.")
@click.option("--shard", metavar="I/N", default="1/1", help="The I-th of N equal parts of all flows.")
@click.option("--retries", type=click.IntRange(0, 20), default=0, help="Run a failed flow again, so often.")
@click.option(
    "--env", "-e", "pairs", multiple=True, metavar="NAME=VALUE", help="A variable; wins over the file's own."
)
@click.option(
    "--junit", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write JUnit XML."
)
@click.option(
    "--report", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Write an HTML report."
)
@click.option(
    "--approvals",
    metavar="fail|wait|FILE",
    help="What needs a yes: say no, wait, or go by FILE.  [default: ask at the terminal, else wait]",
)
@video_option("Write an MP4 of every flow, into the folder of the report or else into this one.")
@click.option("--heal", is_flag=True, help="Go on with what has replaced an element, and edit the file.")
@click.option("--json", "as_json", is_flag=True, help="Print the traces; progress goes to stderr.")
@click.option(
    "--allow-http", multiple=True, metavar="HOST", help="A host that scripts of Maestro flows may call."
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The config.yaml of a Maestro workspace, where it lies elsewhere.",
)
@click.option(
    "--test-output-dir",
    "output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where pictures of Maestro flows go.",
)
@fleet_options
def run(
    *,
    flows: tuple[str, ...],
    devices: tuple[str, ...],
    sim: str | None,
    tags: str,
    exclude_tags: str,
    shard: str,
    pairs: tuple[str, ...],
    **others: Any,
) -> None:
    """Run flows: files, or all in a folder but those whose names begin with . or _.

    Maestro's files and folders are taken as they are (docs/maestro.md).

    Ends with 0 when all passed, 1 when one failed, 2 for bad input, 3 for a phone that can't be
    reached, 130 when it was interrupted; what was done until then is in the report.
    """
    from handrail.flow.select_flows import Shard  # noqa: PLC0415

    if sim is not None and not sim.isdigit():  # `--sim FLOW`: the number was left out
        flows, sim = (sim, *flows), "0"
    options = RunOptions(
        paths=tuple(Path(one) for one in flows),
        wanted=Wanted.parse(devices, None if sim is None else int(sim)),
        tags=_words(tags),
        without=_words(exclude_tags),
        shard=Shard.parse(shard),
        env=dict(_pair(one) for one in pairs),
        **others,
    )
    sys.exit(asyncio.run(_main(options)) if options.fleet is None else _on_fleet(options, options.fleet))


def _on_fleet(options: RunOptions, chosen: FleetOptions) -> int:
    """The same flows, elsewhere; reports and exit codes are the same."""
    from handrail.cli import run_fleet  # noqa: PLC0415

    run_fleet.refuse_what_needs_this_machine(options)
    maestro = MaestroFlows(options)
    plans = _plans(options, maestro)
    how = {"retries": options.retries, "pictures": options.report is not None}
    chosen = replace(chosen, devices=options.wanted.devices)
    specs = run_fleet.specs_of(
        plans, maestro.env_for, chosen, refuse=options.approvals == Answers.FAIL.value, **how
    )
    client, run_id, interrupted = run_fleet.hand_in(specs, chosen, to_stderr=options.as_json)
    if chosen.detach:
        return 0
    files = [str(document.path or "") for document, _ in plans]
    records = run_fleet.records(client, run_id, [] if chosen.each_device else files)
    publish(records, junit=options.junit, report_to=options.report, as_json=options.as_json)
    return run_fleet.exit_code(client, run_id, interrupted=interrupted)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(",") if word.strip())


def _pair(text: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not mark or not name.isidentifier():
        raise InvalidAction(f"--env {text} is not NAME=VALUE", hint="For example USER=ada.", path="env")
    return name, value


async def _main(options: RunOptions) -> int:
    if options.video:
        need_films()
    maestro = MaestroFlows(options)
    plans = _plans(options, maestro)
    await maestro.check()
    questions = FlowQuestions.of(options.approvals, _progress(options), options.as_json)
    records: list[FlowRecord] = []
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    if task is not None:
        loop.add_signal_handler(signal.SIGTERM, task.cancel)  # Ctrl-C does the same by itself
    code, failure = 0, None
    try:
        if plans:
            code = await _on_phones(plans, options, records, maestro, questions)
    except asyncio.CancelledError:
        code = FAMILIES["cancelled"].exit_code
    except HandrailError as error:
        code, failure = error.exits.exit_code, error
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        _publish(records, options, failure, questions.told)
    if failure is not None and not options.as_json:
        raise failure
    if not plans:
        click.echo("No flow has these tags, or this share of them is empty.", err=options.as_json)
    return code


def _plans(options: RunOptions, maestro: MaestroFlows) -> list[Ready]:
    """Everything that can be wrong with the files is said before a phone is opened."""
    from handrail.flow.document import load  # noqa: PLC0415
    from handrail.flow.plan import plan  # noqa: PLC0415
    from handrail.flow.select_flows import find_flows, wanted  # noqa: PLC0415

    files = find_flows([path for path in options.paths if not maestro.takes(path)])
    chosen: list[AnyFlow] = [*maestro.documents]
    if not files and not maestro.was_given:
        raise InvalidAction("No flows were given", hint="Give files (*.yaml, *.yml, *.json) or folders.")
    wrong: list[InvalidAction] = []
    for file in files:
        try:
            own = load(file)
        except InvalidAction as error:
            wrong.append(error)
            continue
        if wanted(own.tags, options.tags, options.without):
            chosen.append(own)
    made: list[Ready] = []
    for document in options.shard.of(chosen):
        try:
            made.append((document, plan(document, maestro.env_for(document))))
        except InvalidAction as error:
            wrong.append(error)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        raise InvalidAction(
            "\n".join(error.message for error in wrong), hint="`handrail flow check` says more."
        )
    return made


async def _on_phones(
    plans: list[Ready],
    options: RunOptions,
    records: list[FlowRecord],
    maestro: MaestroFlows,
    questions: FlowQuestions,
) -> int:
    from handrail.config import Config  # noqa: PLC0415
    from handrail.flow.plan import devices_of  # noqa: PLC0415
    from handrail.runtime import Runtime  # noqa: PLC0415

    config = Config.from_env(os.environ)
    for _, ready in plans:
        options.wanted.check(ready.flow.name, devices_of(ready))
    needed = max(1, *(len(devices_of(ready)) for _, ready in plans))
    async with AsyncExitStack() as stack, Runtime.open(config, caller=_caller()) as runtime:
        questions.listen(runtime.approvals)
        maestro.policy = runtime.knows_host
        async with open_pool(options.wanted, needed, config, runtime, stack) as pool:
            course = Course(options, pool, runtime, questions, records, maestro)
            return await course.all(plans)


def _caller() -> Caller:
    from handrail.engine.events import Caller  # noqa: PLC0415

    return Caller(id="run", actor="flow", door="flow")


@dataclass(frozen=True, slots=True)
class Course:
    """All flows of one command, one after the other."""

    options: RunOptions
    pool: Pool
    runtime: Runtime
    questions: FlowQuestions
    records: list[FlowRecord]
    maestro: MaestroFlows

    async def all(self, plans: Sequence[Ready]) -> int:
        """The exit code."""
        is_lost = False
        for document, ready in plans:
            left_out = "the phone is gone" if is_lost else self.maestro.why_left_out(document, self.records)
            if left_out:
                self.records.append(self._not_run(ready, left_out))
                continue
            last = await self._attempts(document, ready)
            if last.outcome == "stopped":
                return FAMILIES["cancelled"].exit_code
            is_lost = last.outcome == "failed" and not await self.pool.is_there()
        if is_lost:
            return FAMILIES["device"].exit_code
        return 0 if all(map(self._is_good, self.records)) else FAMILIES["outcome"].exit_code

    async def _attempts(self, document: AnyFlow, ready: FlowPlan) -> FlowRecord:
        """Until it passes; the last attempt's record."""
        runner = self._runner(ready)
        record = await self._attempt(runner, document, 1)
        for number in range(2, self.options.retries + 2):
            if record.outcome != "failed" or not await self.pool.is_there():
                break
            record = await self._attempt(runner, document, number)
        return record

    def _runner(self, ready: FlowPlan) -> FlowRunner:
        from handrail.flow.evidence import ReportEvidence  # noqa: PLC0415
        from handrail.flow.plan import devices_of  # noqa: PLC0415
        from handrail.flow.run import FlowRunner  # noqa: PLC0415

        return FlowRunner(
            self.pool.for_flow(devices_of(ready)),
            self.runtime.clock,
            observer=self.questions.progress,
            evidence=ReportEvidence() if self.options.report or self.options.video else None,
            heal=self.options.heal,
            own_phones=bool(self.pool.phones),
        )

    async def _attempt(self, runner: FlowRunner, document: AnyFlow, number: int) -> FlowRecord:
        from handrail.engine.journal.head import read_head  # noqa: PLC0415
        from handrail.engine.journal.writer import head_path  # noqa: PLC0415

        self.pool.renew()
        self.questions.began(document.path)
        record = await runner.run(document, self.maestro.env_for(document), attempt=number)
        record.journal_head = str(read_head(head_path(self.runtime.config.home)) or "")
        self.records.append(record)
        return record

    def _is_good(self, record: FlowRecord) -> bool:
        """The last attempt counts."""
        return record.outcome == "passed" or any(
            other.file == record.file and other.attempt > record.attempt for other in self.records
        )

    def _not_run(self, ready: FlowPlan, why: str) -> FlowRecord:
        from handrail.flow.run_record import FlowRecord  # noqa: PLC0415

        record = FlowRecord(
            ready.flow.name, str(ready.document.path or ""), ready.flow.tags, "", self.runtime.clock.now_ms()
        )
        record.outcome, record.error = "skipped", f"It was not run: {why}"
        return record


def _progress(options: RunOptions) -> FlowProgress:
    from handrail.flow.progress import LiveFlowProgress, PlainFlowProgress  # noqa: PLC0415

    sink = sys.stderr if options.as_json else sys.stdout
    if not sink.isatty():
        return PlainFlowProgress(lambda line: click.echo(line, err=options.as_json))
    from rich.console import Console  # noqa: PLC0415

    return LiveFlowProgress(Console(file=sink))


def _publish(
    records: list[FlowRecord],
    options: RunOptions,
    failure: HandrailError | None,
    asked: list[dict[str, Any]],
) -> None:
    """Also after an interruption or a failure: what is known is written, as one document."""
    if options.video:
        film_flows(records, options.report or Path(), to_stderr=options.as_json)
    more = ({"approvals": asked} if asked else {}) | (failure.to_dict() if failure else {})
    publish(records, junit=options.junit, report_to=options.report, as_json=options.as_json, more=more)
