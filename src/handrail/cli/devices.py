"""`handrail devices`: which phones there are, their states, who holds them, what to do about the others."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.output import print_json, print_table
from handrail.clock import Clock, SystemClock, ago, iso_time
from handrail.config import Config, canonical, host_port, is_browser
from handrail.device_names import DeviceNames
from handrail.errors import DeviceBusy, DeviceError, InvalidAction, OutcomeError
from handrail.system import IS_POSIX

if TYPE_CHECKING:
    from handrail.android.discovery import Found
    from handrail.engine.leases import Held

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

    found: Found
    model: str = ""
    android: str = ""
    size: str = ""
    held: Held | None = None
    open_in: Mapping[str, Any] | None = None
    """What the Handrail that has it open told of it."""
    name: str = ""
    """That a person gave it."""

    def cells(self, now_ms: int) -> tuple[str, ...]:
        held = self.held
        told = f"{held.holder}, {ago(held.since_ms, now_ms)}" if held else ""
        holder = told or (IN_SERVER if self.open_in else "")
        texts = (self.found.serial, self.found.state, self.model, self.android, self.size, holder)
        return tuple(text or "–" for text in texts)

    def to_dict(self) -> dict[str, Any]:
        known = self.found.to_dict() | {"model": self.model, "android": self.android, "size": self.size}
        known |= {"held": self.held.to_dict() if self.held else None, "open": self.open_in is not None}
        known |= {"name": self.name} if self.name else {}
        return known | ({"channels": self.open_in["channels"]} if self.open_in else {})


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON document; with --watch one per change.")
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
        return
    if releasing:
        _tell_released(asyncio.run(_release(device, config, clock, os.environ)), as_json)
        return
    if watching:
        try:
            asyncio.run(_watch(config, clock, os.environ, as_json))
        except KeyboardInterrupt:  # that is how a watch ends
            sys.exit(130)
        return
    rows, notes = asyncio.run(look_at_devices(config, clock, os.environ))
    if as_json:
        print_json({"devices": [row.to_dict() for row in rows], "notes": list(notes)})
    else:
        _show(rows, notes, clock.now_ms())


async def look_at_devices(
    config: Config, clock: Clock, env: Mapping[str, str]
) -> tuple[list[DeviceRow], Sequence[str]]:
    """Every device with what it says of itself, and notes on why there may be more."""
    from handrail.android.choose import match  # noqa: PLC0415  (sockets that `--help` does not need)
    from handrail.android.discovery import discover, merge  # noqa: PLC0415

    listing, running = await asyncio.gather(discover(config, clock, env), _running(config))
    opened = {canonical(str(one["serial"])): one for one in running}
    known = {one.identity for one in listing.devices}
    others = [await _found(one, clock) for name, one in opened.items() if name not in known]
    found, notes = merge([*listing.devices, *others]), list(listing.notes)
    if config.device and not is_browser(config.device) and not match(found, config.device):
        notes.append(f"HANDRAIL_DEVICE={config.device} is none of these")
    held = await holders(config, clock) if IS_POSIX else {}
    rows = await asyncio.gather(*(describe(one, held, opened, config, clock, env) for one in found))
    names = DeviceNames(config.home)
    return [replace(row, name=names.get(row.found.serial)) for row in rows], notes


async def _running(config: Config) -> Sequence[Mapping[str, Any]]:
    """Phones that a Handrail of this home has open. Where there are no such sockets, none can run."""
    if not IS_POSIX:
        return ()
    from handrail.local.client import phones_of_running  # noqa: PLC0415

    return await phones_of_running(config.home)


def _give_name(text: str, config: Config) -> None:
    """The phone need not be there: it may be named before it is plugged in."""
    serial, mark, name = text.partition("=")
    if not mark or not serial.strip():
        raise InvalidAction(
            f"--name {text} is not SERIAL=NAME",
            path="name",
            hint='For example --name emulator-5554="Kitchen".',
        )
    names = DeviceNames(config.home)
    names.give(serial.strip(), name)
    given = names.get(serial.strip())
    click.echo(f"{serial.strip()} is called {given}." if given else f"{serial.strip()} has no name.")


async def _found(told: Mapping[str, Any], clock: Clock) -> Found:
    """A device that only the Handrail that runs knows: its simulated phone can be asked here too."""
    from handrail.android.discovery import Found, probe  # noqa: PLC0415

    serial = str(told["serial"])
    return await probe(serial, clock) if host_port(serial) else Found(serial, "device", "handrail")


async def describe(
    found: Found,
    held: Mapping[str, Held],
    opened: Mapping[str, Mapping[str, Any]],
    config: Config,
    clock: Clock,
    env: Mapping[str, str],
) -> DeviceRow:
    """What the phone says of itself; one that does not say it in time keeps its line."""
    from handrail.android.choose import open_device  # noqa: PLC0415
    from handrail.android.display import read_display  # noqa: PLC0415
    from handrail.android.facts import read_facts  # noqa: PLC0415

    told = opened.get(found.identity)
    row = DeviceRow(found, found.model, held=held.get(found.identity), open_in=told)
    if found.via == "handrail" and told is not None:
        return replace(row, model=str(told["model"]), android=str(told["android"]))
    if not found.usable:
        return row
    try:
        device = await open_device(found.serial, config, clock, env)
        try:
            facts, display = await asyncio.gather(
                read_facts(device.shell, found.serial, DETAILS_MS), read_display(device.shell, DETAILS_MS)
            )
        finally:
            await device.close()
    except (DeviceError, OutcomeError):
        return row
    size = f"{display.width}x{display.height}"
    return replace(row, model=facts.model, android=facts.android_version, size=size)


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


@dataclass(frozen=True, slots=True)
class Released:
    """What became of the helper on one phone."""

    serial: str
    ended: bool
    why_not: str = ""

    def __str__(self) -> str:
        return f"{self.serial}: {'the helper was ended' if self.ended else self.why_not}"


async def _release(
    wanted: str | None, config: Config, clock: Clock, env: Mapping[str, str]
) -> list[Released]:
    """On the named phone, else on all that can be used. A phone that somebody works on keeps it."""
    from handrail.android.choose import choose  # noqa: PLC0415  (sockets that `--help` does not need)
    from handrail.android.discovery import Found, discover  # noqa: PLC0415

    if wanted and host_port(wanted):
        found: Sequence[Found] = [Found(wanted, via="direct")]
    else:
        listed = (await discover(config, clock, env)).devices
        named = wanted or config.device
        found = [choose(listed, wanted, config.device)] if named else [one for one in listed if one.usable]
    held = await holders(config, clock)
    return [await _release_one(one, held.get(one.identity), config, clock, env) for one in found]


async def _release_one(
    found: Found, held: Held | None, config: Config, clock: Clock, env: Mapping[str, str]
) -> Released:
    from handrail.android.choose import open_device  # noqa: PLC0415
    from handrail.android.u2.server import is_up, release  # noqa: PLC0415

    if held is not None:
        raise DeviceBusy(
            f"{found.serial} is held by {held.holder}, who may need its helper",
            hint="Wait for them, or `handrail take-over` it first.",
            **held.to_dict(),
        )
    device = await open_device(found.serial, config, clock, env)
    try:
        if await release(device):
            return Released(found.serial, ended=True)
        is_theirs = await is_up(device, clock)
    finally:
        await device.close()
    why = "a helper of another program runs, which is left alone" if is_theirs else "no helper was running"
    return Released(found.serial, ended=False, why_not=why)


def _tell_released(done: Sequence[Released], as_json: bool) -> None:
    if as_json:
        print_json({"released": [{"serial": one.serial, "ended": one.ended} for one in done]})
        return
    for one in done:
        click.echo(str(one))
    if not done:
        click.echo("No devices.")


def _show(rows: Sequence[DeviceRow], notes: Sequence[str], now_ms: int) -> None:
    if rows:
        named = any(row.name for row in rows)  # a column that nobody needs is not shown
        cells = [row.cells(now_ms) + ((row.name or "–",) if named else ()) for row in rows]
        print_table("", (*HEADER, "name") if named else HEADER, cells)
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
