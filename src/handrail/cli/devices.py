"""`handrail devices`: which phones there are, their states, who holds them, what to do about the others."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.output import print_json, print_table
from handrail.clock import Clock, SystemClock, iso_time
from handrail.config import Config
from handrail.errors import DeviceError, OutcomeError

if TYPE_CHECKING:
    from handrail.android.discovery import Found, Listing
    from handrail.engine.leases import Held

DETAILS_MS = 5_000
"""How long one phone may take to say what it is; the others are not kept waiting longer."""
HEADER = ("serial", "state", "model", "android", "size", "held by")
EMPTY = """No devices.
  A real phone:     turn on USB debugging, plug it in, accept its prompt   (docs/devices.md)
  A simulated one:  handrail sim                                           (then --device 127.0.0.1:6555)
  For one command:  add --sim to it"""


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One device with what it says of itself, and its holder."""

    found: Found
    model: str = ""
    android: str = ""
    size: str = ""
    held: Held | None = None

    def cells(self) -> tuple[str, ...]:
        holder = str(self.held.holder) if self.held else ""
        texts = (self.found.serial, self.found.state, self.model, self.android, self.size, holder)
        return tuple(text or "–" for text in texts)

    def to_dict(self) -> dict[str, Any]:
        known = self.found.to_dict() | {"model": self.model, "android": self.android, "size": self.size}
        return known | {"held": self.held.to_dict() if self.held else None}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON document; with --watch one per change.")
@click.option("--watch", "watching", is_flag=True, help="Say what comes, goes and changes, until Ctrl-C.")
def devices(as_json: bool, watching: bool) -> None:
    """List phones: those of the adb server, and the addresses in HANDRAIL_DEVICES.

    Phones that can't be used are listed with the reason and the one thing to do.
    """
    config = Config.from_env(os.environ)
    clock = SystemClock()
    if watching:
        try:
            asyncio.run(_watch(config, clock, os.environ, as_json))
        except KeyboardInterrupt:  # that is how a watch ends
            sys.exit(130)
        return
    rows, notes = asyncio.run(_look(config, clock, os.environ))
    if as_json:
        print_json({"devices": [row.to_dict() for row in rows], "notes": list(notes)})
    else:
        _show(rows, notes)


async def _look(
    config: Config, clock: Clock, env: Mapping[str, str]
) -> tuple[list[DeviceRow], Sequence[str]]:
    from handrail.android.discovery import discover  # noqa: PLC0415  (sockets that `--help` does not need)

    listing: Listing = await discover(config, clock, env)
    held = await holders(config, clock)
    rows = (describe(one, held.get(one.identity), config, clock, env) for one in listing.devices)
    return await asyncio.gather(*rows), listing.notes


async def describe(
    found: Found, held: Held | None, config: Config, clock: Clock, env: Mapping[str, str]
) -> DeviceRow:
    """What the phone says of itself; one that does not say it in time keeps its line."""
    from handrail.android.choose import open_device  # noqa: PLC0415
    from handrail.android.display import read_display  # noqa: PLC0415
    from handrail.android.facts import read_facts  # noqa: PLC0415

    if not found.usable:
        return DeviceRow(found, found.model, held=held)
    try:
        device = await open_device(found.serial, config, clock, env)
        try:
            facts, display = await asyncio.gather(
                read_facts(device.shell, found.serial, DETAILS_MS), read_display(device.shell, DETAILS_MS)
            )
        finally:
            await device.close()
    except (DeviceError, OutcomeError):
        return DeviceRow(found, found.model, held=held)
    return DeviceRow(found, facts.model, facts.android_version, f"{display.width}x{display.height}", held)


async def holders(config: Config, clock: Clock) -> dict[str, Held]:
    """Who holds what; a store that was never made is not made for a look."""
    from handrail.engine.leases import Leases  # noqa: PLC0415
    from handrail.store import Store  # noqa: PLC0415

    if not config.db.exists():
        return {}
    store = Store(config.db)
    try:
        return {held.device: held for held in await Leases(store, clock).all()}
    finally:
        store.close()


def _show(rows: Sequence[DeviceRow], notes: Sequence[str]) -> None:
    if rows:
        print_table("", HEADER, [row.cells() for row in rows])
    else:
        click.echo(EMPTY)
    for row in rows:
        if not row.found.usable:
            click.echo(f"\n{row.found.serial}: {row.found.problem}.\n  {row.found.what_to_do}", err=True)
    for note in notes:
        click.echo(f"note: {note}", err=True)


async def _watch(config: Config, clock: Clock, env: Mapping[str, str], as_json: bool) -> None:
    from handrail.android.watch import watch  # noqa: PLC0415

    before: dict[str, Found] = {}
    async with aclosing(watch(config, clock, env)) as lists:
        async for found in lists:
            now = {one.serial: one for one in found}
            if as_json:
                print_json({"time": iso_time(clock.now_ms()), "devices": [one.to_dict() for one in found]})
            else:
                _say_changes(before, now)
            before = now


def _say_changes(before: Mapping[str, Found], now: Mapping[str, Found]) -> None:
    if not before and not now:
        click.echo("No devices yet; watching.")
    for serial in before:
        if serial not in now:
            click.echo(f"- {serial}")
    for serial, one in now.items():
        if before.get(serial) != one:
            click.echo(f"+ {one}" if one.usable else f"! {one}. {one.what_to_do}")
