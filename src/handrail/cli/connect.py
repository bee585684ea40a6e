"""`handrail connect`: a guided first contact: from nothing to a look, a picture, and the line for an agent.

By cable it says what to tap on the phone and follows its state live; without one it pairs by QR code or by
code. Every step is a line, or with `--json` one object a line. Ctrl-C leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import base64
import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.output import own_program, print_json
from handrail.clock import Clock, SystemClock
from handrail.config import Config
from handrail.errors import AdbConnectionError, InvalidAction
from handrail.local.client import error_from
from handrail.tree.node import CLICKABLE

if TYPE_CHECKING:
    from handrail.android.contact.wireless import Announced, Invitation
    from handrail.android.discovery import Found
    from handrail.engine.session import Session
    from handrail.protocol.envelope import Envelope

PATIENCE_S = 300
USB_EVERY_MS = 1_000.0
MARKS = {
    "ok": ("✓", "green"),
    "do": ("→", "yellow"),
    "waiting": ("…", "bright_black"),
    "now": (" ", "bright_black"),
}


@dataclass(frozen=True, slots=True)
class ConnectOptions:
    """What the command line said."""

    address: str | None
    wifi: bool
    pair_with: str | None
    code: str | None
    name: str | None
    device: str | None
    timeout: int
    out: Path | None
    as_json: bool


@click.command()
@click.argument("address", required=False)
@click.option(
    "--wifi", is_flag=True, help="Without a cable: pair by QR code, or by the code the phone shows."
)
@click.option("--pair", "pair_with", metavar="HOST:PORT", help="Pair with the address in the phone's dialog.")
@click.option("--code", metavar="DIGITS", help="With --pair: the six digits that the phone shows.")
@click.option("--name", metavar="NAME", help="What to call a phone without a cable.  [default: its model]")
@click.option("--device", metavar="SERIAL", help="Which one, where several are ready.")
@click.option(
    "--timeout", type=click.IntRange(1), default=PATIENCE_S, show_default=True, help="Seconds to wait for it."
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Where the picture goes.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per step.")
def connect(**given: Any) -> None:
    """Connect a phone, step by step, and look at it.

    On a cable nothing needs to be given. ADDRESS is that of a phone with `adb tcpip`, or of one that was
    paired before. For example: handrail connect --wifi
    """
    options = ConnectOptions(**given)
    if options.code and not (options.pair_with or options.wifi):
        raise InvalidAction("--code belongs to --pair", path="code", hint="Give --pair HOST:PORT as well.")
    FirstContact(options, Config.from_env(os.environ), SystemClock(), os.environ).run()


class FirstContact:
    """One run. Nothing is asked inside an event loop, so that Ctrl-C ends a question at once."""

    def __init__(self, options: ConnectOptions, config: Config, clock: Clock, env: Mapping[str, str]) -> None:
        from handrail.android.discovery import server_of  # noqa: PLC0415  (sockets that `--help` does not need)

        self.options = options
        self.config = config
        self.clock = clock
        self.env = env
        self.server = server_of(config, clock, env)

    def run(self) -> None:
        from handrail.android.contact.wireless import check_place  # noqa: PLC0415

        options = self.options
        for given in (options.address, options.pair_with):
            if given:
                check_place(given)
        asyncio.run(self._start_adb())
        if options.pair_with:
            serial = self._by_code(options.pair_with, options.code)
        elif options.wifi:
            serial = self._by_wifi()
        elif options.address:
            serial = asyncio.run(self._at_address(options.address))
        else:
            serial = asyncio.run(self._by_cable())
        asyncio.run(self._first_look(serial))

    def tell(self, step: str, state: str, say: str, **more: Any) -> None:
        """One step; `more` is for programs."""
        if self.options.as_json:
            print_json({"step": step, "state": state, "say": say, **more})
            return
        mark, colour = MARKS[state]
        click.echo(f"{click.style(mark, fg=colour)} {say}")

    # the ways to a phone

    async def _start_adb(self) -> None:
        """Phones at addresses need no adb: where such are named, its absence ends nothing."""
        try:
            await self.server.start()
        except AdbConnectionError as error:
            if not self.config.device and not self.config.devices:
                raise
            self.tell("adb", "waiting", f"{error.message}; only addresses are looked at")
        else:
            self.tell("adb", "ok", f"The adb server answers at {self.server.host}:{self.server.port}.")

    async def _by_cable(self) -> str:
        """The phone that is ready, or becomes it: everything between is told as it changes."""
        from handrail.android.choose import choose  # noqa: PLC0415
        from handrail.android.contact.pairing import nobody_came  # noqa: PLC0415
        from handrail.android.watch import watch  # noqa: PLC0415
        from handrail.waiting import Background, Deadline, Expired  # noqa: PLC0415

        told: dict[str, Found] | None = None
        try:
            async with (
                Deadline(self.clock, self.options.timeout * 1000),
                Background() as looking,
                aclosing(watch(self.config, self.clock, self.env)) as lists,
            ):
                async for found in lists:
                    if any(one.usable for one in found):
                        return choose(found, self.options.device, self.config.device).serial
                    if told is None:
                        looking.start(self._watch_usb(bool(found)), "phones on a cable")
                    for one in found:
                        if told is None or told.get(one.serial) != one:
                            self._explain(one)
                    told = {one.serial: one for one in found}
        except Expired:
            pass
        raise nobody_came(self.options.timeout * 1000)

    def _explain(self, one: Found) -> None:
        known = {name: value for name, value in one.to_dict().items() if name != "state"}
        say = f"{one.serial}: {one.problem}. {one.what_to_do}"
        self.tell("phone", "do", say, **known, phone_state=one.state)

    async def _watch_usb(self, is_known: bool) -> None:
        """What the kernel sees on cables, whether or not adb may open it."""
        from handrail.android.contact.usb import switch_on, usb_phones  # noqa: PLC0415

        before: set[str] = set()
        if not is_known:
            self.tell("phone", "do", "No phone yet. On the phone:")
        while True:
            phones = await asyncio.to_thread(usb_phones) or []
            seen = {f"{one.name} {one.debugging}" for one in phones}
            for one in phones:
                if f"{one.name} {one.debugging}" in before or one.debugging:
                    continue
                self.tell(
                    "usb", "do", f"{one.name} ({one.vendor.name}) is on a cable, with USB debugging off:"
                )
                self._list(switch_on(one.vendor))
            if not before and not phones and not is_known:
                self._list(switch_on())
                self._list(["Without a cable: Ctrl-C, then `handrail connect --wifi`."])
                self.tell("phone", "waiting", f"Waiting for up to {self.options.timeout} s …")
            before = seen or {""}
            await self.clock.sleep_ms(USB_EVERY_MS)

    def _list(self, lines: list[str]) -> None:
        for line in lines:
            self.tell("phone", "now", f"  {line}")

    async def _at_address(self, address: str) -> str:
        await self.server.connect(address)
        self.tell("phone", "ok", f"{address} is connected.", serial=address)
        return address

    def _by_code(self, place: str, code: str | None) -> str:
        """The code is asked for where somebody sits; it is in no line of ours."""
        from handrail.android.contact.wireless import check_code, check_place  # noqa: PLC0415

        check_place(place)
        if code is None:
            if not sys.stdin.isatty() or self.options.as_json:
                raise InvalidAction(
                    "--pair needs --code", path="code", hint="Read it from the phone's dialog."
                )
            code = click.prompt(f"  The six digits that the phone shows beside {place}", err=True)
        return asyncio.run(self._paired(place, check_code(code)))

    def _by_wifi(self) -> str:
        """A QR code to be read by the phone, while every dialog of a phone on the network is listened for."""
        from handrail.android.contact.wireless import Invitation, draw  # noqa: PLC0415

        invitation = Invitation.new()
        self.tell(
            "pair", "do", "On the phone: Settings → Developer options → Wireless debugging, switch it on."
        )
        self.tell("pair", "do", "Then “Pair device with QR code”, and let it read this:", qr=invitation.text)
        if not self.options.as_json:
            click.echo(draw(invitation.text))
        self._list(["Or “Pair device with pairing code”, and look here again."])
        found = asyncio.run(self._invited(invitation))
        if found.name == invitation.name:
            return asyncio.run(self._paired(found.address, invitation.password))
        self.tell("pair", "ok", f"{found.name} waits at {found.address}.", address=found.address)
        return self._by_code(found.address, self.options.code)

    async def _invited(self, invitation: Invitation) -> Announced:
        """Whoever read our code comes first; another dialog is taken once it is there."""
        from handrail.android.contact.pairing import invited  # noqa: PLC0415

        return await invited(invitation, self.clock, self.options.timeout * 1000, others=True)

    async def _paired(self, place: str, code: str) -> str:
        from handrail.android.contact.known_phones import KnownPhones  # noqa: PLC0415
        from handrail.android.contact.pairing import paired  # noqa: PLC0415

        def told(guid: str) -> None:
            self.tell("pair", "ok", f"Paired with {guid}.", guid=guid)

        known = KnownPhones(self.config.make_home())
        serial = await paired(place, code, self.server, known, self.clock, name=self.options.name, told=told)
        self.tell("phone", "ok", f"{serial} is connected.", serial=serial)
        return serial

    # the end of it

    async def _first_look(self, serial: str) -> None:
        """A look and a picture through the same pipe as every action, then what to do next."""
        from handrail.engine.events import Caller  # noqa: PLC0415
        from handrail.runtime import Runtime  # noqa: PLC0415

        async with Runtime.open(self.config, env=self.env, caller=Caller.at_terminal()) as runtime:
            session = await runtime.session(serial)
            self._remember_name(serial, session.facts.model)
            about = {"serial": serial, "model": session.facts.model, "android": session.facts.android_version}
            say = f"{session.facts.model}, Android {session.facts.android_version}, is ready as {serial}."
            self.tell("phone", "ok", say, **about)
            began = self.clock.monotonic_ms()
            _done(await session.get_ui_tree())
            took = self.clock.monotonic_ms() - began
            by = session.surface.channels()["look"]
            refs = session.looks.registry.refs
            say = f"A look by {by} took {took:.0f} ms: {len(refs)} elements."
            self.tell("look", "ok", say, channel=by, ms=round(took), elements=len(refs))
            await self._picture(session)
            self._next(serial, _first_button(session))

    async def _picture(self, session: Session) -> None:
        """A screen that forbids pictures ends nothing: it was looked at."""
        taken = await session.screenshot()
        if not taken.success:
            self.tell("picture", "waiting", f"No picture: {taken.message}")
            return
        details = taken.details or {}
        place = self.options.out or Path(tempfile.mkstemp(prefix="handrail-", suffix=".png")[1])
        place.write_bytes(base64.b64decode(details["screenshotBase64"]))
        self.tell("picture", "ok", f"A picture: {place}", path=str(place))

    def _remember_name(self, serial: str, model: str) -> None:
        """A phone without a cable is called after its model, unless another one is already."""
        from handrail.android.contact.known_phones import KnownPhones  # noqa: PLC0415

        known = KnownPhones(self.config.home)
        for phone in known.named(serial):
            taken = {one.name for one in known.all() if one.guid != phone.guid}
            if phone.name == phone.guid:
                name = model if model and model not in taken else phone.guid
                known.keep(replace(phone, name=name))
                self.tell("phone", "ok", f"It is remembered as {name!r}: --device {name!r}", name=name)

    def _next(self, serial: str, button: tuple[str, str] | None) -> None:
        named = f" --device {serial}" if self.options.device or self.options.address else ""
        tap = f"handrail tap {button[0]}{named}" if button else f"handrail ui{named}"
        line = mcp_line(named)
        self.tell(
            "next", "ok", "Now try, and give the second line to your agent's client:", tap=tap, mcp=line
        )
        if not self.options.as_json:
            click.echo(f"    {tap}" + (f"    # {button[1]}" if button else ""))
            click.echo(f"    {line}")


def _done(envelope: Envelope) -> Envelope:
    if not envelope.success:
        told = {"code": envelope.failure_code or "UNKNOWN", "message": envelope.message}
        raise error_from(
            {**told, "hint": envelope.hint or "`handrail doctor` tells more.", "retryable": True}
        )
    return envelope


def _first_button(session: Session) -> tuple[str, str] | None:
    """The first element of the app that a finger would press, by ref, and its label."""
    registry = session.looks.registry
    for ref, node in registry.refs.items():
        if node.flags & CLICKABLE and node.package_name != "com.android.systemui" and registry.label_of(node):
            return ref, registry.label_of(node)
    return None


def mcp_line(more: str = "") -> str:
    """What an agent's client is told, with the whole path where the program is not on the PATH."""
    return f"claude mcp add handrail -- {own_program()} mcp{more}"
