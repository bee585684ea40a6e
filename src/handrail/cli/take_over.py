"""`handrail take-over`, `hand-back`, `stop`: what a person does about an agent that works on a phone."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import click

from handrail.android.choose import pick
from handrail.cli.options import DeviceOptions, browser_meant
from handrail.clock import SystemClock
from handrail.config import Config, canonical
from handrail.engine.events import Caller
from handrail.engine.hold import Stops
from handrail.engine.journal import Journal
from handrail.engine.journal.journal import witness_of
from handrail.engine.leases import Holder, Leases
from handrail.errors import DeviceError
from handrail.store import Store
from handrail.tree.quote import clean

HEARD_MS = 500.0
"""How long a stop waits to be told what it ended: twice as long as ending may take."""
_DEVICE = click.option("--device", metavar="SERIAL", help="Serial, its start or end, a model, or host:port.")


@dataclass(frozen=True, slots=True)
class Home:
    """What these commands need of it."""

    config: Config
    clock: SystemClock
    store: Store
    journal: Journal
    person: Caller

    async def serial(self, wanted: str | None) -> str:
        """The device that is meant; one that can't be reached now is taken by the name that was given."""
        if name := browser_meant(DeviceOptions(wanted), self.config):
            return name
        try:
            return (await pick(wanted, self.config, self.clock, os.environ)).serial
        except DeviceError:
            if wanted is None:
                raise
            return wanted

    async def write(self, kind: str, device: str | None, **more: Any) -> None:
        """A person's own act is in the journal as theirs."""
        actor = {"kind": "person", "id": self.person.id}
        told = {"kind": kind, "device": device, "actor": actor, "door": self.person.door}
        await self.journal.seal(told | more)


@asynccontextmanager
async def person_at_home() -> AsyncIterator[Home]:
    """For what a person does by a command, and the journal shall tell as theirs."""
    config, clock = Config.from_env(os.environ), SystemClock()
    config.make_home()
    store = Store(config.db)
    journal = Journal.open(config.home, clock, witness=witness_of(config))
    try:
        yield Home(config, clock, store, journal, Caller.at_terminal())
    finally:
        await journal.close()
        store.close()


@click.command("take-over")
@_DEVICE
def take_over(device: str | None) -> None:
    """Take a phone for yourself: agents get DEVICE_BUSY until you hand it back."""
    click.echo(asyncio.run(_take_over(device)))


async def _take_over(wanted: str | None) -> str:
    async with person_at_home() as home:
        serial, person = await home.serial(wanted), home.person
        holder = Holder(person.holder_id, "person", label=person.id, door=person.door)
        leases = Leases(home.store, home.clock)
        held = await leases.holder(serial)
        if held is not None and held.holder.id == person.holder_id:
            return f"{clean(serial)} is yours already."
        await leases.take_over(serial, holder)
        await home.write("taken_over", canonical(serial))
        before = f" {clean(str(held.holder))} waits." if held is not None else ""
        return f"{clean(serial)} is yours until `handrail hand-back`.{before}"


@click.command("hand-back")
@_DEVICE
def hand_back(device: str | None) -> None:
    """Give a phone that was taken over back to whoever worked on it."""
    click.echo(asyncio.run(_hand_back(device)))


async def _hand_back(wanted: str | None) -> str:
    async with person_at_home() as home:
        serial, leases = await home.serial(wanted), Leases(home.store, home.clock)
        held = await leases.holder(serial)
        if held is None or held.holder.kind != "person":
            return f"Nobody has taken {clean(serial)} over."
        now = await leases.hand_back(serial)
        await home.write("handed_back", canonical(serial))
        return f"{clean(serial)} is handed back" + (f" to {clean(str(now.holder))}." if now else ".")


@click.command()
@_DEVICE
def stop(device: str | None) -> None:
    """End what is being done on a phone, by whatever process; without --device on every phone."""
    click.echo(asyncio.run(_stop(device)))


async def _stop(wanted: str | None) -> str:
    async with person_at_home() as home:
        serial = canonical(await home.serial(wanted)) if wanted else None
        stops = Stops(home.store)
        number = await stops.ask(serial, home.person.id, home.clock.now_ms())
        await home.write("stop", serial)
        deadline = home.clock.monotonic_ms() + HEARD_MS
        while not (ended := await stops.ended(number)) and home.clock.monotonic_ms() < deadline:
            await home.clock.sleep_ms(10)
        where = f" on {clean(serial)}" if serial else ""
        if not ended:
            return f"Nothing was being done{where}."
        return f"Stopped {ended} action{'s' if ended > 1 else ''}{where}."
