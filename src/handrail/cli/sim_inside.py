"""`handrail sim state`, `sim sms`, …: the command `sim` inside a simulated phone, called through ADB."""

from __future__ import annotations

import asyncio
import sys

import click

from handrail.cli.device_option import DeviceOptions, device_from
from handrail.errors import Unsupported

INSIDE = {
    "state": ("[PATH]", "The phone's state as JSON; PATH is dotted, e.g. apps.com.handrail.notes."),
    "snapshot": ("[NAME]", "Keep the whole phone under a name."),
    "restore": ("[NAME]", "Bring a kept phone back."),
    "fault": ("add NAME [OPTION=VALUE]... | clear [NAME] | list", "Switch what goes wrong on and off."),
    "sms": ("FROM TEXT", "A text message arrives."),
    "notify": ("PACKAGE TITLE TEXT", "An app posts a notification."),
    "install": ("PACKAGE", "A package without an app behind it is there from now on."),
    "toast": ("TEXT", "A short message at the bottom."),
    "reboot": ("", "Restart; what is on disk stays."),
}
"""Name → what follows it, and its line in the help."""

_NOT_FOUND = 127  # a shell's exit code for a command that it does not have


def commands() -> list[click.Command]:
    """One command for each."""
    return [_command(name, usage, text) for name, (usage, text) in INSIDE.items()]


def _command(name: str, usage: str, text: str) -> click.Command:
    @click.command(name, help=text, context_settings={"ignore_unknown_options": True})
    @click.option("--device", metavar="SERIAL", help="Serial, its start or end, a model, or host:port.")
    @click.argument("words", nargs=-1, metavar=usage)
    def run(device: str | None, words: tuple[str, ...]) -> None:
        sys.exit(asyncio.run(_run([name, *words], device)))

    return run


async def _run(words: list[str], device: str | None) -> int:
    async with device_from(DeviceOptions(device)) as opened:
        done = await opened.device.shell.run(["sim", *words], check=False)
        if done.exit_code == _NOT_FOUND:
            raise Unsupported(f"{opened.device.serial} is no simulated phone", hint="Start one: handrail sim")
    click.echo(done.stdout, nl=False)
    click.echo(done.stderr, nl=False, err=True)
    return done.exit_code or 0
