"""`handrail doctor`: what is missing on this computer, and the one command that mends each of it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from handrail.cli import checkup, usb
from handrail.cli.checkup import Check
from handrail.cli.output import print_json
from handrail.clock import Clock, SystemClock
from handrail.config import Config
from handrail.errors import FAMILIES, DeviceError, InvalidAction

if TYPE_CHECKING:
    from handrail.android.discovery import Found

MARKS = {"ok": "✓", "note": "·", "warning": "!", "error": "✗"}
COLOURS = {"ok": "green", "note": "bright_black", "warning": "yellow", "error": "red"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def doctor(as_json: bool) -> None:
    """Check this computer and its phones.

    Each line that is not well ends with the one command that mends it. The exit code is 3 when something
    essential is missing, else 0.
    """
    checks = asyncio.run(examine(os.environ, SystemClock()))
    healthy = all(check.state != "error" for check in checks)
    if as_json:
        print_json({"ok": healthy, "checks": [check.to_dict() for check in checks]})
    else:
        _show(checks)
    if not healthy:
        click.get_current_context().exit(FAMILIES["device"].exit_code)


async def examine(env: Mapping[str, str], clock: Clock) -> list[Check]:
    """Every check, in the order of a first installation."""
    checks = [checkup.python(), checkup.sqlite(), *checkup.variables(env)]
    try:
        config = Config.from_env(env)
    except InvalidAction as error:
        name = error.details["path"]
        return [*checks, Check("environment", "error", error.message, f"unset {name}")]
    checks += [checkup.home(config), checkup.disk(config)]
    checks += await _adb(config, clock, env)
    checks += checkup.udev(usb.phones() if sys.platform == "linux" else None)
    checks += await _devices(config, clock, env)
    return [*checks, *checkup.extras(env)]


async def _adb(config: Config, clock: Clock, env: Mapping[str, str]) -> list[Check]:
    """The program and its server. Phones at addresses need neither, so a missing adb is no error."""
    from handrail.adb.binary import find_adb  # noqa: PLC0415  (sockets that `--help` does not need)

    adb = find_adb(env)
    if adb is not None:
        program = Check("adb", "ok", f"{adb}, {await _version(str(adb))}")
    elif config.adb is not None:
        program = Check("adb", "warning", f"HANDRAIL_ADB={config.adb} can't be run", "unset HANDRAIL_ADB")
    else:
        program = Check("adb", "warning", "not found; phones on USB need it", "pip install adbutils")
    return [program, await _server(config, clock, env)]


async def _version(adb: str) -> str:
    process = await asyncio.create_subprocess_exec(
        adb, "version", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    out, _ = await process.communicate()
    lines = [line for line in out.decode("utf-8", "replace").splitlines() if line.startswith("Version ")]
    return lines[0].lower() if lines else "version unknown"


async def _server(config: Config, clock: Clock, env: Mapping[str, str]) -> Check:
    from handrail.android.discovery import server_of  # noqa: PLC0415

    place = f"{config.adb_host}:{config.adb_port}"
    try:
        number = await server_of(config, clock, env).version()
    except DeviceError as error:
        if await _somebody_listens(config):
            fix = f"export ANDROID_ADB_SERVER_PORT={config.adb_port + 1}"
            return Check("adb server", "warning", f"{place} is no adb server: {error.message}", fix)
        return Check("adb server", "ok", f"none at {place} yet; started when it is needed")
    return Check("adb server", "ok", f"{place}, protocol {number}")


async def _somebody_listens(config: Config) -> bool:
    try:
        _, writer = await asyncio.open_connection(config.adb_host, config.adb_port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


async def _devices(config: Config, clock: Clock, env: Mapping[str, str]) -> list[Check]:
    from handrail.android.discovery import discover  # noqa: PLC0415

    listing = await discover(config, clock, env)
    checks = [_device(one) for one in listing.devices]
    if not checks:
        checks = [Check("devices", "note", "none connected", "handrail sim")]
    return checks


def _device(one: Found) -> Check:
    if one.usable:
        return Check("device", "ok", f"{one} by {one.transport}, {one.via}")
    return Check("device", "warning", str(one), _command_in(one.what_to_do) or one.what_to_do)


def _command_in(text: str) -> str:
    """The command that a remedy holds in backquotes, if it holds one."""
    return text.split("`")[1] if text.count("`") >= 2 else ""


def _show(checks: list[Check]) -> None:
    width = max(len(check.name) for check in checks)
    for check in checks:
        mark = click.style(MARKS[check.state], fg=COLOURS[check.state])
        fix = f"  → {check.fix}" if check.fix else ""
        click.echo(f"{mark} {check.name:<{width}}  {check.found}{fix}")
    errors, worries = (sum(check.state == state for check in checks) for state in ("error", "warning"))
    click.echo(_verdict(errors, worries))


def _verdict(errors: int, worries: int) -> str:
    if errors:
        return f"{errors} essential {'thing is' if errors == 1 else 'things are'} missing."
    if worries:
        return f"Ready, with {worries} {'warning' if worries == 1 else 'warnings'}."
    return "Ready."
