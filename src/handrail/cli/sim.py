"""`handrail sim`: simulated phones on TCP ports, until it is told to stop.

`sim state`, `sim sms` and the like call the command `sim` inside a phone that runs already, through ADB.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import click

from handrail.cli.options import EXISTING_FILE, PORT, DeviceOptions, open_device_for_command, phone_option
from handrail.errors import Unsupported
from handrail.simulator import simulator

INSIDE = {
    "state": ("[PATH]", "The phone's state as JSON; PATH is dotted, e.g. apps.com.handrail.notes."),
    "world": ("JSON", "Replace the data of apps, by their short names."),
    "snapshot": ("[NAME]", "Save the whole phone under a name."),
    "restore": ("[NAME]", "Restore a saved phone."),
    "fault": ("add NAME [OPTION=VALUE]... | clear [NAME] | list", "Switch what goes wrong on and off."),
    "profile": ("NAME | android N | vendor NAME | list", "Change the device profile."),
    "fold": ("open|close", "Fold or unfold a foldable phone."),
    "call": ("NUMBER | accept | cancel | list", "An incoming call."),
    "finger": ("touch ID", "A finger on the sensor; finger 1 is enrolled."),
    "battery": ("LEVEL [PLUG]", "Per cent; PLUG is none, ac, usb or wireless."),
    "location": ("LATITUDE LONGITUDE [ALTITUDE]", "Set the phone's location."),
    "network": ("gone | back | speed VALUE | delay VALUE", "Set the network and its speed."),
    "sms": ("FROM TEXT", "A text message arrives."),
    "notify": ("PACKAGE TITLE TEXT", "An app posts a notification."),
    "install": ("PACKAGE", "Add a package without an app."),
    "toast": ("TEXT", "A short message at the bottom."),
    "reboot": ("", "Restart; the disk stays."),
}
"""Name → what follows it, and its line in the help."""

_NOT_FOUND = 127  # a shell's exit code for a command that it does not have


async def _run_inside(words: list[str], device: str | None) -> int:
    async with open_device_for_command(DeviceOptions(device)) as opened:
        done = await opened.device.shell.run(["sim", *words], check=False)
        if done.exit_code == _NOT_FOUND:
            raise Unsupported(
                f"{opened.device.serial} is not a simulated phone", hint="Start one: handrail sim"
            )
    click.echo(done.stdout, nl=False)
    click.echo(done.stderr, nl=False, err=True)
    return done.exit_code or 0


@click.group(invoke_without_command=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=PORT,
    help="ADB port of the first phone; further ones take every second port.  [default: 6555]",
)
@click.option("--phones", type=click.IntRange(1), default=1, show_default=True, help="How many phones.")
@click.option("--seed", type=int, default=1, show_default=True, help="Same seed, same phone.")
@click.option("--apps", metavar="NAMES", help="Apps to install, separated by commas; all when left out.")
@click.option("--faults", type=EXISTING_FILE, metavar="FILE", help="What goes wrong, as TOML or JSON.")
@click.option("--profile", metavar="NAME", help="A device profile; `handrail-sim --profiles` lists all.")
@click.option("--android", type=int, metavar="N", help="The version of Android, 8 to 16.  [default: 14]")
@click.option("--vendor", metavar="NAME", help="The maker: google, samsung, xiaomi, …")
@click.option("--auth", is_flag=True, help="Ask hosts for their key; SIGUSR1 accepts those that wait.")
@click.option("--emulator", is_flag=True, help="Act as an emulator: port 5555, console and gRPC.")
@click.option("--iphone", is_flag=True, help="Act as an iPhone: WebDriverAgent from port 8100, usbmuxd.")
@click.option(
    "--web",
    type=click.Choice(["own", "chromium"]),
    default="own",
    show_default=True,
    help="What draws web pages: the phone itself, or this machine's Chromium.",
)
@click.pass_context
def sim(
    ctx: click.Context, /, *, host: str, port: int | None, phones: int, apps: str | None, **more: Any
) -> None:
    """Run simulated phones that speak ADB; one line of JSON for each that is ready.

    Then `adb connect HOST:PORT`, or any other Android tool. SIGTERM and Ctrl-C stop it.
    With a command: ask or change a phone that runs already.
    """
    if ctx.invoked_subcommand is not None:
        return
    with simulator():
        from handrail_sim.adbd.ports import DEFAULT_PORT, EMULATOR_PORT  # noqa: PLC0415
        from handrail_sim.served import (  # noqa: PLC0415
            Kind,
            ease_collection,
            make_phones,
            run,
            run_iphones,
        )

        is_emulator: bool = more["emulator"]
        first = port if port is not None else EMULATOR_PORT if is_emulator else DEFAULT_PORT
        chosen = {
            "seed": more["seed"],
            "apps": None if apps is None else [name.strip() for name in apps.split(",") if name.strip()],
            "faults": more["faults"],
        }
        if more["iphone"]:
            asyncio.run(run_iphones(phones, host, port, **chosen))
            return
        chosen["kind"] = Kind(more["profile"], more["android"], more["vendor"])
        simulated = make_phones(phones, first_port=first if is_emulator else None, **chosen)
        ease_collection()
        asyncio.run(run(simulated, host, first, auth=more["auth"], emulator=is_emulator, web=more["web"]))


for _name, (_usage, _text) in INSIDE.items():

    @sim.command(_name, help=_text, context_settings={"ignore_unknown_options": True})
    @phone_option
    @click.argument("words", nargs=-1, metavar=_usage)
    @click.pass_context
    def _inside(ctx: click.Context, /, device: str | None, words: tuple[str, ...]) -> None:
        sys.exit(asyncio.run(_run_inside([str(ctx.info_name), *words], device)))
