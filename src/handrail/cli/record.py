"""`handrail record`: what is done on a phone through Handrail, by whomever, becomes a flow.

It touches nothing itself: it reads the journal of this home, which every process writes.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from handrail.cli.options import DeviceOptions, browser_meant, device_from, device_options
from handrail.clock import Clock, SystemClock
from handrail.config import Config
from handrail.errors import InvalidAction
from handrail.waiting import wait_for_event

if TYPE_CHECKING:
    from handrail.engine.journal import Journal
    from handrail.flow.recorded_step import RecordedStep
    from handrail.flow.recording import Recording

POLL_MS = 200.0


@click.command()
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--name", help="The flow's name.  [default: that of the file]")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@device_options
def record(*, out: Path, name: str | None, force: bool, target: DeviceOptions) -> None:
    """Record what is done on a phone into OUT, a flow, until Ctrl-C."""
    _refuse_overwriting(out, force)
    recording = asyncio.run(_record(target))
    out.write_text(recording.text(name or out.stem), encoding="utf-8")
    click.echo(f"{len(recording.steps)} steps in {out}; replay: handrail run {out}", err=True)


def _refuse_overwriting(out: Path, force: bool) -> None:
    """Before anything is recorded: nobody should lose an hour's work to a wrong folder."""
    if out.exists() and not force:
        raise InvalidAction(f"{out} exists", hint="Give another name, or --force.", path="out")
    if not out.parent.is_dir():
        raise InvalidAction(f"{out.parent} is no folder", hint="Make it first.", path="out")


async def _record(target: DeviceOptions) -> Recording:
    config, clock = Config.from_env(os.environ), SystemClock()
    config.make_home()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with _serial(target, config, clock) as serial, _journal(config, clock) as journal:
        newest = journal.actions(1)
        click.echo(f"recording {serial}; Ctrl-C ends it", err=True)
        return await _watch(journal, serial, newest[0].seq if newest else 0, clock, stop)


@asynccontextmanager
async def _serial(target: DeviceOptions, config: Config, clock: Clock) -> AsyncIterator[str]:
    """The phone as the journal calls it. A simulated one lives here; others reach it by its address."""
    if target.sim:
        async with device_from(target, config, clock) as opened:
            yield opened.device.serial
        return
    if name := browser_meant(target, config):
        yield name
        return
    from handrail.android.choose import pick  # noqa: PLC0415  (sockets that `--help` does not need)

    yield (await pick(target.device, config, clock, os.environ)).serial


@asynccontextmanager
async def _journal(config: Config, clock: Clock) -> AsyncIterator[Journal]:
    from handrail.engine.journal import Journal  # noqa: PLC0415  (sqlite3)

    journal = Journal.open(config.home, clock)
    try:
        yield journal
    finally:
        await journal.close()


async def _watch(journal: Journal, serial: str, seen: int, clock: Clock, stop: asyncio.Event) -> Recording:
    """Everything that ends on this device behind the entry `seen`, until `stop`, whichever process did it."""
    from handrail.flow.recording import Recording, ended_actions  # noqa: PLC0415  (the vocabulary)

    recording = Recording()
    while True:
        is_last = stop.is_set()
        for row, shown in ended_actions(journal, device=serial, after=seen):
            seen = row.seq
            step = recording.take(shown)
            if step is not None:
                _tell(len(recording.steps), step)
        if is_last:
            return recording
        await wait_for_event(clock, stop, POLL_MS)


def _tell(number: int, told: RecordedStep) -> None:
    from handrail.flow.plan import name_of  # noqa: PLC0415
    from handrail.protocol.flow import Step  # noqa: PLC0415

    click.echo(f"{number:>3}  {name_of(Step(action=told.action))}", err=True)
