"""`handrail devices`: which phones there are, their states, who holds them, what to do about the others."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from handrail.android.adb_channel import read_facts
from handrail.android.choose import choose, match, open_device
from handrail.android.discovery import DiscoveredDevice, discover, merge, probe, watch
from handrail.android.dumpsys import read_display
from handrail.android.uiautomator2 import is_up, release
from handrail.cli.options import json_option
from handrail.cli.output import print_json, print_table
from handrail.clock import Clock, SystemClock, ago, iso_time
from handrail.config import Config, canonical, host_port, is_browser
from handrail.device_names import DeviceNames
from handrail.errors import DeviceBusy, DeviceError, InvalidAction, OutcomeError
from handrail.invocation import run
from handrail.system import IS_POSIX

if TYPE_CHECKING:
    from handrail.safety.leases import HeldLease


DETAILS_MS = 5_000
"""How long one phone may take to say what it is; the others are not kept waiting longer."""
HEADER = ("serial", "state", "model", "android", "size", "held by")
IN_SERVER = "nobody; open in a Handrail that runs"
EMPTY = """No devices.
  A real phone:     handrail connect                                       (it says what to do)
  A simulated one:  handrail sim                                           (then --device 127.0.0.1:6555)
  For one command:  add --sim to it
  A browser:        add --device browser"""


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One device with what it says of itself, and its holder."""

    device: DiscoveredDevice
    model: str = ""
    android: str = ""
    size: str = ""
    held: HeldLease | None = None
    open_in: Mapping[str, Any] | None = None
    """What the Handrail that has it open told of it."""
    name: str = ""
    """That a person gave it."""

    def cells(self, now_ms: int) -> tuple[str, ...]:
        held = self.held
        how = "stopped by " if held and held.is_stopped else ""
        holder_text = f"{how}{held.holder}, {ago(held.since_ms, now_ms)}" if held else ""
        holder = holder_text or (IN_SERVER if self.open_in else "")
        texts = (self.device.serial, self.device.state, self.model, self.android, self.size, holder)
        return tuple(text or "–" for text in texts)

    def to_dict(self) -> dict[str, Any]:
        fields = self.device.to_dict() | {"model": self.model, "android": self.android, "size": self.size}
        fields |= {"held": self.held.to_dict() if self.held else None, "open": self.open_in is not None}
        fields |= {"name": self.name} if self.name else {}
        return fields | ({"channels": self.open_in["channels"]} if self.open_in else {})


@click.command()
@json_option("One JSON document; with --watch one per change.")
@click.option("--watch", "watching", is_flag=True, help="Say what comes, goes and changes, until Ctrl-C.")
@click.option("--release", "releasing", is_flag=True, help="End the helper that Handrail left on phones.")
@click.option("--device", metavar="SERIAL", help="With --release: this phone only.")
@click.option("--name", "naming", metavar="SERIAL=NAME", help="Call a phone so; SERIAL= takes its name away.")
def devices(as_json: bool, watching: bool, releasing: bool, device: str | None, naming: str | None) -> None:
    """List phones: those of the adb server, of a Handrail that runs, and at known addresses.

    Addresses are those in HANDRAIL_DEVICES and HANDRAIL_DEVICE. Phones that can't be used are listed with the
    reason and the one thing to do.
    """
    config = Config.from_env(os.environ)
    clock = SystemClock()
    if device and not releasing:
        raise InvalidAction(
            "--device says which phone --release is about", path="device", hint="Add --release."
        )
    if naming is not None:
        _give_name(naming, config)
    elif releasing:
        released = run(_release(device, config, clock, os.environ))
        if as_json:
            ended = [{"serial": serial, "ended": not why_not} for serial, why_not in released]
            print_json({"released": ended})
        else:
            lines = [f"{serial}: {why_not or 'the helper was ended'}" for serial, why_not in released]
            click.echo("\n".join(lines) or "No devices.")
    elif watching:
        try:
            run(_watch(config, clock, os.environ, as_json))
        except KeyboardInterrupt:  # that is how a watch ends
            sys.exit(130)
    else:
        rows, notes = run(look_at_devices(config, clock, os.environ))
        if as_json:
            print_json({"devices": [row.to_dict() for row in rows], "notes": list(notes)})
        else:
            _show(rows, notes, clock.now_ms())


async def look_at_devices(
    config: Config, clock: Clock, env: Mapping[str, str]
) -> tuple[list[DeviceRow], Sequence[str]]:
    """Every device with what it reports about itself, and notes on why there may be more."""
    listing = await discover(config, clock, env)
    running: Sequence[Mapping[str, Any]] = ()
    if IS_POSIX:  # elsewhere there are no such sockets
        from handrail.cli.local_client import phones_of_running  # noqa: PLC0415

        running = await phones_of_running(config.home)
    opened = {canonical(str(served["serial"])): served for served in running}
    identities = {device.identity for device in listing.devices}
    others = []
    for serial in [str(served["serial"]) for name, served in opened.items() if name not in identities]:
        # Only a running Handrail knows it. A simulated phone at an address answers here too.
        is_address = host_port(serial) is not None
        others.append(
            await probe(serial, clock) if is_address else DiscoveredDevice(serial, "device", "handrail")
        )
    devices, notes = merge([*listing.devices, *others]), list(listing.notes)
    if config.device and not is_browser(config.device) and not match(devices, config.device):
        notes.append(f"HANDRAIL_DEVICE={config.device} is none of these")
    held = await holders(devices, config, clock) if IS_POSIX else {}
    rows = await asyncio.gather(*(describe(served, held, opened, config, clock, env) for served in devices))
    names = DeviceNames(config.home)
    return [replace(row, name=names.get(row.device.serial)) for row in rows], notes


def _give_name(text: str, config: Config) -> None:
    """A phone may be named before it is connected."""
    serial, mark, name = text.partition("=")
    serial, names = serial.strip(), DeviceNames(config.home)
    if not mark or not serial:
        hint = 'For example --name emulator-5554="Kitchen".'
        raise InvalidAction(f"--name {text} is not SERIAL=NAME", path="name", hint=hint)
    names.give(serial, name)
    current = names.get(serial)
    click.echo(f"{serial} is called {current}." if current else f"{serial} has no name.")


async def describe(
    device: DiscoveredDevice,
    held: Mapping[str, HeldLease],
    opened: Mapping[str, Mapping[str, Any]],
    config: Config,
    clock: Clock,
    env: Mapping[str, str],
) -> DeviceRow:
    """A phone that does not answer in time keeps its line without details."""
    served = opened.get(device.identity)
    row = DeviceRow(device, device.model, held=held.get(device.identity), open_in=served)
    if device.via == "handrail" and served is not None:
        return replace(row, model=str(served["model"]), android=str(served["android"]))
    if not device.usable:
        return row
    try:
        opened_device = await open_device(device.serial, config, clock, env)
        try:
            facts, display = await asyncio.gather(
                read_facts(opened_device.shell, device.serial, DETAILS_MS),
                read_display(opened_device.shell, DETAILS_MS),
            )
        finally:
            await opened_device.close()
    except (DeviceError, OutcomeError):
        return row
    size = f"{display.width}x{display.height}"
    return replace(row, model=facts.model, android=facts.android_version, size=size)


async def holders(devices: Iterable[DiscoveredDevice], config: Config, clock: Clock) -> dict[str, HeldLease]:
    """Does not create a store that is not there."""
    from handrail.safety.leases import Leases  # noqa: PLC0415
    from handrail.store import Store  # noqa: PLC0415

    if not config.db.exists():
        return {}
    with closing(Store(config.db)) as store:
        leases = await Leases(store, clock).all(device.identity for device in devices)
    return {held.device: held for held in leases}


async def _release(
    wanted: str | None, config: Config, clock: Clock, env: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Ends the helper on the named phone, else on all usable ones. A phone that is in use keeps it."""
    if wanted and host_port(wanted):
        chosen = [DiscoveredDevice(wanted, via="direct")]
    else:
        listed = (await discover(config, clock, env)).devices
        chosen = [device for device in listed if device.usable]
        if wanted or config.device:
            chosen = [choose(listed, wanted, config.device)]
    held = await holders(chosen, config, clock)
    return [await _release_device(device, held.get(device.identity), config, clock, env) for device in chosen]


async def _release_device(
    device: DiscoveredDevice, held: HeldLease | None, config: Config, clock: Clock, env: Mapping[str, str]
) -> tuple[str, str]:
    if held is not None:
        raise DeviceBusy(
            f"{device.serial} is held by {held.holder}, who may need its helper",
            hint="Wait for them, or `handrail take-over` it first.",
            **held.to_dict(),
        )
    opened = await open_device(device.serial, config, clock, env)
    try:
        if await release(opened):
            return device.serial, ""
        is_theirs = await is_up(opened, clock)
    finally:
        await opened.close()
    why = "a helper of another program runs, which is left alone" if is_theirs else "no helper was running"
    return device.serial, why


def _show(rows: Sequence[DeviceRow], notes: Sequence[str], now_ms: int) -> None:
    if rows:
        named = any(row.name for row in rows)  # a column that nobody needs is not shown
        cells = [row.cells(now_ms) + ((row.name or "–",) if named else ()) for row in rows]
        print_table("", (*HEADER, "name") if named else HEADER, cells)
    else:
        click.echo(EMPTY)
    for row in rows:
        if not row.device.usable:
            click.echo(f"\n{row.device.serial}: {row.device.problem}.\n  {row.device.what_to_do}", err=True)
    for note in notes:
        click.echo(f"note: {note}", err=True)


async def _watch(config: Config, clock: Clock, env: Mapping[str, str], as_json: bool) -> None:
    before: dict[str, DiscoveredDevice] = {}
    async with aclosing(watch(config, clock, env)) as lists:
        async for listed in lists:
            now = {device.serial: device for device in listed}
            if as_json:
                devices = [device.to_dict() for device in listed]
                print_json({"time": iso_time(clock.now_ms()), "devices": devices})
            else:
                _say_changes(before, now)
            before = now


def _say_changes(before: Mapping[str, DiscoveredDevice], now: Mapping[str, DiscoveredDevice]) -> None:
    if not before and not now:
        click.echo("No devices yet; watching.")
    for serial in before:
        if serial not in now:
            click.echo(f"- {serial}")
    for serial, device in now.items():
        if before.get(serial) != device:
            click.echo(f"+ {device}" if device.usable else f"! {device}. {device.what_to_do}")
