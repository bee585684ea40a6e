"""`handrail watch`: a phone as it is followed from a terminal: its screen, what changes, and what is done.

Looks and never touches: no hold on the phone, nothing in the journal. It gives no refs either: those belong
to the sessions that act.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import click

from handrail.android.driver import connect
from handrail.android.surface import AndroidSurface
from handrail.cli.options import (
    FILE,
    DeviceOptions,
    OpenedDevice,
    chosen_by_name,
    device_options,
    json_option,
    open_device_for_command,
)
from handrail.clock import Clock, SystemClock
from handrail.config import Config
from handrail.devices import pick
from handrail.engine.snapshot import ScreenTracker
from handrail.errors import InvalidAction
from handrail.flow.plan import step_name
from handrail.flow.recording import Recording, ended_actions
from handrail.invocation import current
from handrail.journal import Journal
from handrail.protocol.flow import Step
from handrail.safety.redacted_surface import RedactedSurface
from handrail.safety.secret_fields import SecretFieldStore
from handrail.safety.secrets import Secrets, system_keyring
from handrail.screen.diff import diff_text
from handrail.screen.refs import Registry
from handrail.store import Store
from handrail.waiting import wait_for_event

WatchEvent = dict[str, Any]
_BULLET = "·"
_UNDER_WAY = ("accepted", "resolved", "dispatched")


_PAUSE = click.IntRange(50, 60_000)


@click.command()
@click.option("--every-ms", type=_PAUSE, default=500, show_default=True, help="Pause between two looks.")
@json_option("One line of JSON for each change.")
@device_options
def watch(*, target: DeviceOptions, every_ms: int, as_json: bool) -> None:
    """Show a phone's screen, then what changes on it and what is done to it, until Ctrl-C."""

    async def follow() -> None:
        config = Config.from_env(os.environ)
        async with open_device_for_command(target, config) as opened:
            async for news in _watch_events(opened, config, every_ms):
                click.echo(json.dumps(news, ensure_ascii=False) if as_json else _event_text(news))

    with suppress(KeyboardInterrupt):
        asyncio.run(follow())


async def _watch_events(opened: OpenedDevice, config: Config, every_ms: int) -> AsyncIterator[WatchEvent]:
    """Yields the screen, then in every round the actions that ended and the changes of the screen."""
    clock = SystemClock()
    driver = await connect(opened.device, clock=clock, helper="none", env=os.environ)
    config.make_home()
    journal, store = Journal.open(config.home, clock), Store(config.db)
    secrets = Secrets(os.environ, config.secrets, system_keyring)
    surface = AndroidSurface(opened.device, driver, clock)
    boot_id = (await surface.facts()).boot_id
    guarded = RedactedSurface.of(surface, SecretFieldStore(store), secrets, boot_id)
    screens, reported, began = ScreenTracker(guarded, clock, Registry()), set[str](), clock.now_ms()
    try:
        old = (await screens.refresh()).screen
        yield {"kind": "screen", "device": driver.serial, "text": secrets.redact(_screen_text(screens))}
        while True:
            await clock.sleep_ms(every_ms)
            new = (await screens.refresh()).screen
            for row in reversed(journal.actions(since=began, device=driver.serial)):
                if row.action_id not in reported and row.state not in _UNDER_WAY:
                    reported.add(row.action_id)
                    yield {"kind": "action", **row.to_dict()}
            if changes := screens.changes(old, new):
                text = _without_refs(diff_text(changes, screen_text=_screen_text(screens)))
                yield {"kind": "changes", "device": driver.serial, "text": secrets.redact(text)}
            old = new
    finally:
        await journal.close()
        store.close()
        await driver.close()


def _screen_text(screens: ScreenTracker) -> str:
    return _without_refs(screens.registry.text)


def _without_refs(text: str) -> str:
    """Refs of this process are not valid in any other."""
    return re.sub(r"(?m)^(\s*)@[a-z]\d+(?= )", rf"\1{_BULLET}", text)


def _event_text(news: WatchEvent) -> str:
    if news["kind"] != "action":
        return f"{news['text']}\n"
    who = news.get("actor") or {}
    end = news.get("failure_code") or news["state"]
    shown = click.style(end, fg="red" if "failure_code" in news else "green")
    by = f"{who.get('kind', '')} {who.get('id', '')}".strip()
    reason = f"  {news['reason']}" if news.get("reason") else ""
    return f"{click.style(news.get('type') or '?', bold=True)} by {by}: {shown}{reason}"


POLL_MS = 200.0


@click.command()
@click.argument("out", type=FILE)
@click.option("--name", help="The flow's name.  [default: that of the file]")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@device_options
def record(*, out: Path, name: str | None, force: bool, target: DeviceOptions) -> None:
    """Record what is done on a phone into OUT, a flow, until Ctrl-C."""
    # Before anything is recorded: nobody should lose an hour's work to a wrong folder.
    if out.exists() and not force:
        raise InvalidAction(f"{out} exists", hint="Give another name, or --force.", path="out")
    if not out.parent.is_dir():
        raise InvalidAction(f"{out.parent} is not a folder", hint="Make it first.", path="out")
    recording = asyncio.run(_record_device(target))
    out.write_text(recording.text(name or out.stem), encoding="utf-8")
    click.echo(f"{len(recording.steps)} steps in {out}; replay: handrail run {out}", err=True)


async def _record_device(target: DeviceOptions) -> Recording:
    config, clock = Config.from_env(os.environ), SystemClock()
    config.make_home()
    stop = asyncio.Event()
    async with AsyncExitStack() as stack:
        stack.enter_context(current.get().on_stop(stop.set, once=False))
        if target.sim:  # it lives here; others reach it by its address
            opened = await stack.enter_async_context(open_device_for_command(target, config, clock))
            serial = opened.device.serial
        else:
            browser = chosen_by_name(target, config)
            serial = browser or (await pick(target.device, config, clock, os.environ)).serial
        journal = Journal.open(config.home, clock)
        stack.push_async_callback(journal.close)
        newest = journal.actions(1)
        click.echo(f"recording {serial}; Ctrl-C ends it", err=True)
        return await _record_until_stopped(journal, serial, newest[0].seq if newest else 0, clock, stop)


async def _record_until_stopped(
    journal: Journal, serial: str, last_id: int, clock: Clock, stop: asyncio.Event
) -> Recording:
    """Records the actions of all processes on this device that end after journal entry `last_id`, until
    `stop`."""
    recording = Recording()
    while True:
        is_last = stop.is_set()
        for row, shown in ended_actions(journal, device=serial, after=last_id):
            last_id = row.seq
            step = recording.add_action(shown)
            if step is not None:
                number = len(recording.steps)
                click.echo(f"{number:>3}  {step_name(Step(action=step.action))}", err=True)
        if is_last:
            return recording
        await wait_for_event(clock, stop, POLL_MS)
