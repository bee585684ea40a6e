"""`handrail run`: flows on phones, with live progress, JUnit and a report. Knows no step from another."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from handrail.cli.approvals import FlowApprovals
from handrail.cli.options import (
    EXISTING_FILE,
    FILE,
    FOLDER,
    DeviceOptions,
    FleetOptions,
    command_options,
    fleet_options,
    open_session,
    option,
    simulated_devices,
)
from handrail.cli.output import print_json, save_film
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.engine.session import Session
from handrail.errors import FAMILIES, DeviceError, HandrailError, InvalidAction
from handrail.film.write import need_encoder
from handrail.flow import report
from handrail.flow.document import FlowDocument
from handrail.flow.document import load as load_flow
from handrail.flow.evidence import ReportEvidence
from handrail.flow.filming import flow_scenes
from handrail.flow.foreign import ForeignFlows, NoForeignFlows, RunningRuntime, is_installed, maestro
from handrail.flow.plan import AnyFlow, FlowPlan, Shard, devices_of, find_flows, has_wanted_tags, plan
from handrail.flow.progress import LiveFlowProgress, PlainFlowProgress
from handrail.flow.report.allure import attachments, write_allure
from handrail.flow.report.summary import junit_xml, step_to_blame, summary
from handrail.flow.report.timeline import time_parts
from handrail.flow.run import FlowRunner
from handrail.flow.run_record import FlowRecord
from handrail.flow.table import read_table, with_row
from handrail.journal.head import read_head
from handrail.journal.writer import head_path
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail.satellites import load_plugin

if TYPE_CHECKING:
    from handrail_sim.phone import Phone

Ready = tuple[AnyFlow, FlowPlan]
MOST = 64
SIM = "New simulated phones for every flow: as many as it needs, at least N."
LONGEST_NAME = 60  # characters of a flow's name in the name of a file
_START = "before the flow"


@dataclass(frozen=True, slots=True)
class WantedDevices:
    """The phones that the command line asks for: names and serials, or a number of simulated ones."""

    devices: tuple[tuple[str | None, str], ...] = ()
    sim: int | None = None

    @classmethod
    def parse(cls, devices: Sequence[str], sim: int | None) -> WantedDevices:
        if devices and sim is not None:
            two = "--sim and --device name different phones"
            raise InvalidAction(two, hint="Give one of them.", path="sim")
        if sim is not None and not 0 <= sim <= MOST:
            raise InvalidAction(f"--sim {sim}: between 1 and {MOST} phones", path="sim")
        named = []
        for text in devices:
            name, mark, serial = text.partition("=")
            if mark and not (name and serial):
                hint = "For example alice=emulator-5554."
                raise InvalidAction(f"--device {text} is not NAME=SERIAL", hint=hint)
            named.append((name, serial) if mark else (None, text))
        return cls(tuple(named), sim)

    def check(self, flow: str, names: Sequence[str]) -> None:
        """Every device of a flow must have a phone; a single one takes the first there is."""
        if self.sim is not None or len(names) <= 1:
            return
        named = [name for name, _ in self.devices]
        missing = [name for name in names if name not in named]
        if len(missing) > named.count(None):
            raise InvalidAction(
                f"{flow}: no phone was given for {' and '.join(missing)}",
                hint=f"Give --device {missing[0]}=SERIAL, or --sim.",
                path="device",
            )


def _read_tags(_: click.Context, __: click.Parameter, text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(",") if word.strip())


def _read_variables(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> dict[str, str]:
    variables = {}
    for text in texts:
        name, mark, variables[name] = text.partition("=")
        if not mark or not name.isidentifier():
            raise InvalidAction(f"--env {text} is not NAME=VALUE", hint="For example USER=ada.", path="env")
    return variables


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The command line of `handrail run` fills these."""

    paths: tuple[Path, ...] = ()
    wanted: WantedDevices = WantedDevices()
    tags: frozenset[str] = option(
        "Only flows with one of these tags.", "--tags", "--include-tags",
        metavar="A,B", default="", callback=_read_tags,
    )  # fmt: skip
    without: frozenset[str] = option(
        "No flows with one of these tags.", "--exclude-tags", metavar="A,B", default="", callback=_read_tags
    )
    shard: Shard = option(
        "The I-th of N equal parts of all flows.",
        metavar="I/N", default="1/1", callback=lambda _, __, text: Shard.parse(text),
    )  # fmt: skip
    retries: int = option("How often a failed flow is run again.", type=click.IntRange(0, 20), default=0)
    env: Mapping[str, str] = option(
        "A variable; wins over the file's own.", "--env", "-e",
        multiple=True, metavar="NAME=VALUE", callback=_read_variables,
    )  # fmt: skip
    junit: Path | None = option("Write JUnit XML.", type=FILE, metavar="FILE")
    report: Path | None = option("Write an HTML report.", type=FOLDER, metavar="DIR")
    allure: Path | None = option("Write Allure's results.", type=FOLDER, metavar="DIR")
    data: Path | None = option(
        "A table (CSV or YAML): every flow runs once for each row, whose columns are variables.",
        type=EXISTING_FILE, metavar="FILE",
    )  # fmt: skip
    watch: bool = option("Run again whenever one of the files is saved, until Ctrl-C.")
    approvals: str | None = option(
        "What needs approval: reject, wait, or go by FILE.  [default: ask at terminal or desk, else reject]",
        metavar="fail|wait|FILE",
    )
    video: bool = option("Write an MP4 of every flow, into the folder of the report or else into this one.")
    heal: bool = option("Continue with the replacement of an element, and edit the file.")
    as_json: bool = option("Print the traces; progress goes to stderr.", "--json")
    allow_http: tuple[str, ...] = option(
        "A host that scripts of Maestro flows may call.", multiple=True, metavar="HOST"
    )
    config: Path | None = option(
        "The config.yaml of a Maestro workspace, if it is elsewhere.",
        type=EXISTING_FILE, metavar="FILE",
    )  # fmt: skip
    output: Path | None = option(
        "The folder for pictures of Maestro flows.", "--test-output-dir", type=FOLDER, metavar="DIR"
    )
    fleet: FleetOptions | None = None

    @property
    def keeps_pictures(self) -> bool:
        return bool(self.report or self.video or self.allure)


@click.command()
@click.argument("flows", nargs=-1, metavar="FLOW|DIR...")
@click.option(
    "--device", "devices", multiple=True, metavar="[NAME=]SERIAL", help="A phone; NAME for flows on several."
)
@click.option("--sim", is_flag=False, flag_value="0", metavar="[N]", help=SIM)
@command_options(RunOptions, fleet_options)
def run(*, flows: tuple[str, ...], devices: tuple[str, ...], sim: str | None, options: RunOptions) -> None:
    """Run flows: files, or all in a folder but those whose names begin with . or _.

    Maestro's files and folders are taken as they are (docs/maestro.md).

    Ends with 0 when all passed, 1 when one failed, 2 for bad input, 3 for a phone that can't be
    reached, 130 when it was interrupted; what was done until then is in the report.
    """
    if sim is not None and not sim.isdigit():  # `--sim FLOW`: the number was left out
        flows, sim = (sim, *flows), "0"
    wanted = WantedDevices.parse(devices, None if sim is None else int(sim))
    options = replace(options, paths=tuple(map(Path, flows)), wanted=wanted)
    if options.fleet is not None:
        sys.exit(_run_on_fleet(options, options.fleet))
    sys.exit(asyncio.run(_run_on_each_change(options) if options.watch else _run_here(options)))


def _run_on_fleet(options: RunOptions, chosen: FleetOptions) -> int:
    """Reports and exit codes are those of a local run."""
    run_fleet = load_plugin("handrail.runners", "flows", "fleet", "--fleet")
    run_fleet.refuse_what_needs_this_machine(options)
    foreign = _foreign_flows(options)
    plans = _plan_flows(options, foreign)
    how = {"retries": options.retries, "pictures": options.report is not None}
    chosen = replace(chosen, devices=options.wanted.devices)
    specs = run_fleet.specs_of(plans, foreign.env_for, chosen, refuse=options.approvals == "fail", **how)
    client, run_id, interrupted = run_fleet.hand_in(specs, chosen, to_stderr=options.as_json)
    if chosen.detach:
        return 0
    files = [str(document.path or "") for document, _ in plans]
    records = run_fleet.records(client, run_id, [] if chosen.each_device else files)
    publish_results(records, junit=options.junit, report_to=options.report, as_json=options.as_json)
    code: int = run_fleet.exit_code(client, run_id, interrupted=interrupted)
    return code


def _foreign_flows(options: RunOptions) -> ForeignFlows:
    if not is_installed():
        return NoForeignFlows(options.env)
    reader: ForeignFlows = maestro("Maestro's flows").MaestroFlows(options)
    return reader


WATCH_MS = 300


async def _run_on_each_change(options: RunOptions) -> int:
    """Until it is interrupted. What is wrong with a file is told, and the next save is waited for."""
    stopped = FAMILIES["cancelled"].exit_code
    while True:
        before = _saved_at(options.paths)
        try:
            if await _run_here(options) == stopped:
                return stopped
        except HandrailError as error:
            click.echo(f"{error.code}: {error.message}", err=True)
        click.echo("Watching; save a flow to run it again, Ctrl-C ends.", err=True)
        try:
            while (now := _saved_at(options.paths)) == before or not now:
                await asyncio.sleep(WATCH_MS / 1000)
        except asyncio.CancelledError:
            return stopped


def _saved_at(paths: Sequence[Path]) -> dict[Path, int]:
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])]
    return {file: file.stat().st_mtime_ns for file in files if file.is_file()}


async def _run_here(options: RunOptions) -> int:
    if options.video:
        need_encoder()
    foreign = _foreign_flows(options)
    plans = _plan_flows(options, foreign)
    await foreign.check()
    sink = sys.stderr if options.as_json else sys.stdout
    plain = PlainFlowProgress(lambda line: click.echo(line, err=options.as_json))
    progress = LiveFlowProgress(Console(file=sink)) if sink.isatty() else plain
    questions = FlowApprovals.of(options.approvals, progress, options.as_json)
    records: list[FlowRecord] = []
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    if task is not None:
        loop.add_signal_handler(signal.SIGTERM, task.cancel)  # Ctrl-C does the same by itself
    code, failure = 0, None
    try:
        if plans:
            code = await _run_on_phones(plans, options, records, foreign, questions)
    except asyncio.CancelledError:
        code = FAMILIES["cancelled"].exit_code
    except HandrailError as error:
        code, failure = error.exits.exit_code, error
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        if options.video:
            film_flows(records, options.report or Path(), to_stderr=options.as_json)
        more: dict[str, Any] = {"approvals": questions.answered} if questions.answered else {}
        more |= failure.to_dict() if failure else {}
        publish_results(
            records,
            junit=options.junit,
            report_to=options.report,
            as_json=options.as_json,
            allure=options.allure,
            more=more,
        )
    if failure is not None and not options.as_json:
        raise failure
    if not plans:
        click.echo("No flow has these tags, or this share of them is empty.", err=options.as_json)
    return code


def _plan_flows(options: RunOptions, foreign: ForeignFlows) -> list[Ready]:
    """Reports everything that is wrong with the files before a phone is opened."""
    files = find_flows([path for path in options.paths if not foreign.takes(path)])
    chosen: list[AnyFlow] = [*foreign.documents]
    if not files and not foreign.was_given:
        raise InvalidAction("No flows were given", hint="Give files (*.yaml, *.yml, *.json) or folders.")
    wrong: list[InvalidAction] = []
    for file in files:
        try:
            own = load_flow(file)
        except InvalidAction as error:
            wrong.append(error)
            continue
        if has_wanted_tags(own.tags, options.tags, options.without):
            chosen.append(own)
    if options.data is not None:
        rows = read_table(options.data)
        own_flows = [document for document in chosen if isinstance(document, FlowDocument)]
        chosen = [with_row(flow, row, at) for flow in own_flows for at, row in enumerate(rows, 1)]
    plans: list[Ready] = []
    for document in options.shard.of(chosen):
        try:
            plans.append((document, plan(document, foreign.env_for(document))))
        except InvalidAction as error:
            wrong.append(error)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        messages = "\n".join(error.message for error in wrong)
        raise InvalidAction(messages, hint="`handrail flow check` says more.")
    return plans


def film_flows(records: Sequence[FlowRecord], folder: Path, *, to_stderr: bool) -> None:
    """Writes a film of each run that did something; the report links it."""
    taken: set[str] = set()
    for record in records:
        if scenes := flow_scenes(record):
            stem = re.sub(r"[^\w.-]+", "-", record.name).strip("-.")[:LONGEST_NAME] or "flow"
            names = (f"{stem}.mp4", *(f"{stem}-{number}.mp4" for number in range(2, 10_000)))
            name = next(candidate for candidate in names if candidate not in taken)
            taken.add(name)
            if save_film(scenes, folder / name, record.name, to_stderr=to_stderr):
                record.video = name


async def _run_on_phones(
    plans: list[Ready],
    options: RunOptions,
    records: list[FlowRecord],
    foreign: ForeignFlows,
    questions: FlowApprovals,
) -> int:
    config = Config.from_env(os.environ)
    for _, ready in plans:
        options.wanted.check(ready.flow.name, devices_of(ready))
    needed = max(1, *(len(devices_of(ready)) for _, ready in plans))
    async with (
        AsyncExitStack() as stack,
        Runtime.open(config, caller=Caller(id="run", actor="flow", door="flow")) as runtime,
    ):
        questions.answer_for(runtime.approvals)
        foreign.runtime = RunningRuntime(runtime.knows_host, runtime.journal.note)
        pool = await open_pool(options.wanted, needed, config, runtime, stack)
        return await FlowSeries(options, pool, runtime, questions, records, foreign).run_all(plans)


@dataclass(frozen=True, slots=True)
class FlowSeries:
    """All flows of one command, one after the other."""

    options: RunOptions
    pool: SessionPool
    runtime: Runtime
    questions: FlowApprovals
    records: list[FlowRecord]
    foreign: ForeignFlows

    async def run_all(self, plans: Sequence[Ready]) -> int:
        is_lost = False
        for document, ready in plans:
            left_out = "the phone is gone" if is_lost else self.foreign.why_left_out(document, self.records)
            if left_out:
                flow, file = ready.flow, str(ready.document.path or "")
                record = FlowRecord(flow.name, file, flow.tags, "", self.runtime.clock.now_ms())
                record.outcome, record.error = "skipped", f"It was not run: {left_out}"
                self.records.append(record)
                continue
            runner = FlowRunner(
                self.pool.sessions_for(devices_of(ready)),
                self.runtime.clock,
                observer=self.questions.progress,
                evidence=ReportEvidence() if self.options.keeps_pictures else None,
                heal=self.options.heal,
                own_phones=bool(self.pool.phones),
            )
            record = await self._run_attempt(runner, document, 1)
            for number in range(2, self.options.retries + 2):
                if record.outcome != "failed" or not await self.pool.is_reachable():
                    break
                record = await self._run_attempt(runner, document, number)
            if record.outcome == "stopped":
                return FAMILIES["cancelled"].exit_code
            is_lost = record.outcome == "failed" and not await self.pool.is_reachable()
        if is_lost:
            return FAMILIES["device"].exit_code
        for record in self.records:
            same = (other for other in self.records if (other.file, other.name) == (record.file, record.name))
            later = (other.attempt > record.attempt for other in same)
            if record.outcome != "passed" and not any(later):  # a later attempt counts instead
                return FAMILIES["outcome"].exit_code
        return 0

    async def _run_attempt(self, runner: FlowRunner, document: AnyFlow, number: int) -> FlowRecord:
        self.pool.restore_simulated_phones()
        self.questions.start_flow(document.path)
        record = await runner.run(document, self.foreign.env_for(document), attempt=number)
        record.journal_head = str(read_head(head_path(self.runtime.config.home)) or "")
        self.records.append(record)
        return record


@dataclass(slots=True)
class SessionPool:
    """Open sessions, in the order in which they were asked for."""

    sessions: list[tuple[str | None, Session]] = field(default_factory=list)
    phones: list[Phone] = field(default_factory=list)

    def sessions_for(self, names: Sequence[str]) -> dict[str, Session]:
        """Named devices by name; those without a name fill the other places in order."""
        named = {name: session for name, session in self.sessions if name is not None}
        others = [session for name, session in self.sessions if name is None]
        if len(names) <= 1:
            name = names[0] if names else (self.sessions[0][0] or "device")
            return {name: named.get(name, self.sessions[0][1])}
        spare = iter(others)
        chosen = {name: named.get(name) or next(spare, None) for name in names}
        return {name: session for name, session in chosen.items() if session is not None}

    def restore_simulated_phones(self) -> None:
        for phone in self.phones:
            phone.restore(_START)

    async def is_reachable(self) -> bool:
        try:
            for _, session in self.sessions:
                await session.surface.facts()
        except DeviceError:
            return False
        return True


async def open_pool(
    wanted: WantedDevices, needed: int, config: Config, runtime: Runtime, stack: AsyncExitStack
) -> SessionPool:
    """Opens the wanted phones. `stack` must end after the runtime, because sessions close first."""
    pool = SessionPool()
    if wanted.sim is not None:
        simulated = await simulated_devices(max(wanted.sim, needed), config, SystemClock(), stack)
        pool.phones = [opened.phone for opened in simulated if opened.phone is not None]
        for opened in simulated:
            pool.sessions.append((None, await runtime.session_on(opened.device, helper="none")))
        for phone in pool.phones:
            phone.snapshot(_START)
    else:
        for name, serial in wanted.devices or ((None, None),):
            session = await open_session(DeviceOptions(serial), config, runtime, stack)
            pool.sessions.append((name, session))
    return pool


def publish_results(
    records: list[FlowRecord],
    *,
    junit: Path | None,
    report_to: Path | None,
    as_json: bool,
    allure: Path | None = None,
    more: Mapping[str, Any] | None = None,
) -> None:
    if junit is not None:
        junit.parent.mkdir(parents=True, exist_ok=True)
        junit.write_text(junit_xml(records, _attach(records, junit)), encoding="utf-8")
    if allure is not None:
        click.echo(f"allure: {write_allure(records, allure)}", err=as_json)
    if report_to is not None:
        click.echo(f"report: {report.write(records, report_to)}", err=as_json)
    if as_json:
        print_json({"flows": [_record_json(record) for record in records], **(more or {})})
    elif records:
        click.echo(summary(records))


def _attach(records: Sequence[FlowRecord], junit: Path) -> dict[int, list[str]]:
    """Pictures and logs of failed steps, in a folder beside the XML; by the `id` of their record."""
    folder = junit.with_name(f"{junit.stem}-files")
    files: dict[int, list[str]] = {}
    for record in records:
        if (step := step_to_blame(record.steps)) and (step.before or step.after or step.log):
            folder.mkdir(exist_ok=True)
            written = attachments(step, folder)
            files[id(record)] = [str((folder / file["source"]).absolute()) for file in written]
    return files


def _record_json(record: FlowRecord) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": record.name,
        "file": record.file,
        "outcome": record.outcome,
        "attempt": record.attempt,
        "durationMs": record.duration_ms,
        "spentMs": {part: round(ms, 1) for part, ms in time_parts(record).items()},
        "device": record.device,
        "journalHead": record.journal_head,
        "trace": record.trace.to_dict() if record.trace else None,
    }
    traces = {name: trace.to_dict() for name, trace in record.traces.items()}
    return fields | ({"traces": traces} if traces else {})
