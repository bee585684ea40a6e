"""`handrail connect`: a guided first contact: from nothing to a look, a picture, and the line for an agent.

By cable it says what to tap on the phone and follows its state live; without one it pairs by QR code or by
code. Every step is a line, or with `--json` one object a line. Ctrl-C leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from handrail.android.choose import choose
from handrail.android.discovery import server_of
from handrail.android.usb import switch_on, usb_phones
from handrail.android.wireless import (
    Invitation,
    RememberedPhones,
    check_code,
    check_place,
    draw_qr_code,
    no_phone_in_time,
    pair_phone,
    wait_for_invited,
)
from handrail.cli.local_client import error_from
from handrail.cli.options import FILE, command_options, option
from handrail.cli.output import mcp_add_command, print_json
from handrail.clock import Clock, SystemClock
from handrail.config import Config, named_kind
from handrail.devices import watch
from handrail.engine.session import Session
from handrail.errors import AdbConnectionError, InvalidAction
from handrail.invocation import current
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail.screen.node import CLICKABLE
from handrail.surface.listing import DiscoveredDevice
from handrail.waiting import Background, Deadline, Expired

PATIENCE_S = 300
USB_EVERY_MS = 1_000.0
GREY = "bright_black"
MARKS = {"ok": ("✓", "green"), "do": ("→", "yellow"), "waiting": ("…", GREY), "now": (" ", GREY)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectOptions:
    """The command line of `handrail connect` fills these."""

    address: str | None
    wifi: bool = option("Without a cable: pair by QR code, or by the code the phone shows.")
    pair_with: str | None = option(
        "Pair with the address in the phone's dialog.", "--pair", metavar="HOST:PORT"
    )
    code: str | None = option("With --pair: the six digits that the phone shows.", metavar="DIGITS")
    name: str | None = option("The name of a phone without a cable.  [default: its model]", metavar="NAME")
    device: str | None = option("The phone to take, where several are ready.", metavar="SERIAL")
    timeout: int = option(
        "Seconds to wait for it.", type=click.IntRange(1), default=PATIENCE_S, show_default=True
    )
    out: Path | None = option("The file for the picture.", type=FILE)
    as_json: bool = option("One JSON object per step.", "--json")


@click.command()
@click.argument("address", required=False)
@command_options(ConnectOptions)
def connect(options: ConnectOptions) -> None:
    """Connect a phone, step by step, and look at it.

    On a cable nothing needs to be given. ADDRESS is that of a phone with `adb tcpip`, or of one that was
    paired before; ios:UDID, ios:simulator-NAME or ios:http://HOST:8100 is an iPhone. For example:
    handrail connect --wifi
    """
    if options.code and not (options.pair_with or options.wifi):
        raise InvalidAction("--code belongs to --pair", path="code", hint="Give --pair HOST:PORT as well.")
    ConnectionGuide(options, Config.from_env(os.environ), SystemClock(), os.environ).run()


class ConnectionGuide:
    """Leads through one connection. Questions are asked outside of event loops, so that Ctrl-C ends them at
    once."""

    def __init__(self, options: ConnectOptions, config: Config, clock: Clock, env: Mapping[str, str]) -> None:
        self.options = options
        self.config = config
        self.clock = clock
        self.env = env
        self.server = server_of(config, clock, env)

    def run(self) -> None:
        options = self.options
        if options.address and named_kind(options.address):  # nothing of adb's is needed
            asyncio.run(self._look_and_take_picture(options.address))
            return
        for place in (options.address, options.pair_with):
            if place:
                check_place(place)
        asyncio.run(self._start_adb())
        if options.pair_with:
            serial = self._pair_by_code(options.pair_with, options.code)
        elif options.wifi:
            serial = self._pair_by_wifi()
        elif options.address:
            serial = options.address
            asyncio.run(self.server.connect(serial))
            self.print_step("phone", "ok", f"{serial} is connected.", serial=serial)
        else:
            serial = asyncio.run(self._wait_for_cable())
        asyncio.run(self._look_and_take_picture(serial))

    def print_step(self, step: str, state: str, say: str, **more: Any) -> None:
        """Prints one step; `more` is for programs."""
        if self.options.as_json:
            print_json({"step": step, "state": state, "say": say, **more})
            return
        mark, colour = MARKS[state]
        click.echo(f"{click.style(mark, fg=colour)} {say}")

    # the ways to a phone

    async def _start_adb(self) -> None:
        """Phones at addresses need no adb: where some are configured, a missing adb is only noted."""
        try:
            await self.server.start()
        except AdbConnectionError as error:
            if not self.config.device and not self.config.devices:
                raise
            self.print_step("adb", "waiting", f"{error.message}; only addresses are looked at")
        else:
            self.print_step("adb", "ok", f"The adb server answers at {self.server.host}:{self.server.port}.")

    async def _wait_for_cable(self) -> str:
        announced: dict[str, DiscoveredDevice] | None = None
        try:
            async with (
                Deadline(self.clock, self.options.timeout * 1000),
                Background() as looking,
                aclosing(watch(self.config, self.clock, self.env)) as lists,
            ):
                async for devices in lists:
                    if any(phone.usable for phone in devices):
                        return choose(devices, self.options.device, self.config.device).serial
                    if announced is None:
                        looking.start(self._watch_usb(bool(devices)), "phones on a cable")
                    for phone in devices:
                        if announced is None or announced.get(phone.serial) != phone:
                            fields = phone.to_dict()
                            fields["phone_state"] = fields.pop("state")
                            say = f"{phone.serial}: {phone.problem}. {phone.what_to_do}"
                            self.print_step("phone", "do", say, **fields)
                    announced = {phone.serial: phone for phone in devices}
        except Expired:
            pass
        raise no_phone_in_time(self.options.timeout * 1000)

    async def _watch_usb(self, is_known: bool) -> None:
        """Prints what the kernel sees on cables, whether or not adb may open it."""
        before: set[str] = set()
        if not is_known:
            self.print_step("phone", "do", "No phone yet. On the phone:")
        while True:
            phones = await asyncio.to_thread(usb_phones) or []
            shown = {f"{phone.name} {phone.debugging}" for phone in phones}
            for phone in phones:
                if f"{phone.name} {phone.debugging}" not in before and not phone.debugging:
                    say = f"{phone.name} ({phone.vendor.name}) is on a cable, with USB debugging off:"
                    self.print_step("usb", "do", say)
                    self._print_lines(switch_on(phone.vendor))
            if not before and not phones and not is_known:
                self._print_lines(switch_on())
                self._print_lines(
                    [
                        "Without a cable: Ctrl-C, then `handrail connect --wifi`.",
                        "An iPhone: on a cable, trusted, with WebDriverAgent: docs/quickstart/iphone.md.",
                    ]
                )
                self.print_step("phone", "waiting", f"Waiting for up to {self.options.timeout} s …")
            before = shown or {""}
            await self.clock.sleep_ms(USB_EVERY_MS)

    def _print_lines(self, lines: list[str]) -> None:
        for line in lines:
            self.print_step("phone", "now", f"  {line}")

    def _pair_by_code(self, place: str, code: str | None) -> str:
        """Asks for the code where a person is at the terminal; it is never printed."""
        check_place(place)
        if code is None:
            if not sys.stdin.isatty() or self.options.as_json:
                hint = "Read it from the phone's dialog."
                raise InvalidAction("--pair needs --code", path="code", hint=hint)
            code = click.prompt(f"  The six digits that the phone shows beside {place}", err=True)
        return asyncio.run(self._pair(place, check_code(code)))

    def _pair_by_wifi(self) -> str:
        """Shows a QR code for the phone, and listens for every pairing dialog on the network."""
        invitation = Invitation.new()
        settings = "Settings → Developer options → Wireless debugging"
        self.print_step("pair", "do", f"On the phone: {settings}, switch it on.")
        say = "Then “Pair device with QR code”, and let it read this:"
        self.print_step("pair", "do", say, qr=invitation.text)
        if not self.options.as_json:
            click.echo(draw_qr_code(invitation.text))
        self._print_lines(["Or “Pair device with pairing code”, and look here again."])
        # Whoever read our code comes first; another dialog is taken once it is there.
        patience_ms = self.options.timeout * 1000
        announced = asyncio.run(wait_for_invited(invitation, self.clock, patience_ms, others=True))
        if announced.name == invitation.name:
            return asyncio.run(self._pair(announced.address, invitation.password))
        say = f"{announced.name} waits at {announced.address}."
        self.print_step("pair", "ok", say, address=announced.address)
        return self._pair_by_code(announced.address, self.options.code)

    async def _pair(self, place: str, code: str) -> str:
        def on_paired(guid: str) -> None:
            self.print_step("pair", "ok", f"Paired with {guid}.", guid=guid)

        known_phones = RememberedPhones(self.config.make_home())
        serial = await pair_phone(
            place, code, self.server, known_phones, self.clock, name=self.options.name, report=on_paired
        )
        self.print_step("phone", "ok", f"{serial} is connected.", serial=serial)
        return serial

    # the end of it

    async def _look_and_take_picture(self, serial: str) -> None:
        """Reads the screen and takes a screenshot by ordinary actions, then prints what to do next."""
        async with Runtime.open(self.config, env=self.env, caller=Caller.at_terminal()) as runtime:
            session = await runtime.session(serial)
            # Names a phone without a cable after its model, unless another phone has that name.
            known_phones = RememberedPhones(self.config.home)
            for phone in known_phones.named(serial):
                taken = {other.name for other in known_phones.all() if other.guid != phone.guid}
                if phone.name == phone.guid:
                    model = session.facts.model
                    name = model if model and model not in taken else phone.guid
                    known_phones.keep(replace(phone, name=name))
                    say = f"It is remembered as {name!r}: --device {name!r}"
                    self.print_step("phone", "ok", say, name=name)
            model, android = session.facts.model, session.facts.android
            say = f"{model}, {session.facts.system}, is ready as {serial}."
            self.print_step("phone", "ok", say, serial=serial, model=model, android=android)
            began = self.clock.monotonic_ms()
            envelope = await session.get_ui_tree()
            if not envelope.success:
                failure = {"code": envelope.failure_code or "UNKNOWN", "message": envelope.message}
                hint = envelope.hint or "`handrail doctor` tells more."
                raise error_from({**failure, "hint": hint, "retryable": True})
            took = self.clock.monotonic_ms() - began
            channels = session.surface.channels()
            by = channels["look"]
            refs = session.screens.registry.refs
            say = f"A look by {by} took {took:.0f} ms: {len(refs)} elements."
            self.print_step("look", "ok", say, channel=by, ms=round(took), elements=len(refs))
            if "note" in channels:
                self.print_step("look", "waiting", channels["note"])
            screenshot = await session.screenshot()
            if screenshot.success:
                picture = base64.b64decode((screenshot.details or {})["screenshotBase64"])
                out = str(self.options.out) if self.options.out else None
                place = current.get().write_bytes(out, picture)
                self.print_step("picture", "ok", f"A picture: {place}", path=place)
            else:  # a screen that forbids pictures is not an error: it was looked at
                self.print_step("picture", "waiting", f"No picture: {screenshot.message}")
            self._print_next_steps(serial, session)

    def _print_next_steps(self, serial: str, session: Session) -> None:
        named = f" --device {serial}" if self.options.device or self.options.address else ""
        registry, line = session.screens.registry, mcp_add_command(named)
        buttons = [
            (ref, registry.label_of(node))
            for ref, node in registry.refs.items()
            if node.flags & CLICKABLE and node.package_name != "com.android.systemui"
        ]
        ref, label = next((button for button in buttons if button[1]), ("", ""))
        tap = f"handrail tap {ref}{named}" if ref else f"handrail ui{named}"
        say = "Now try, and give the second line to your agent's client:"
        self.print_step("next", "ok", say, tap=tap, mcp=line)
        if not self.options.as_json:
            click.echo(f"    {tap}" + (f"    # {label}" if ref else ""))
            click.echo(f"    {line}")
