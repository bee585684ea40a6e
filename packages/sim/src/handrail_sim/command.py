"""`handrail-sim`: phones on TCP ports, until it is told to stop."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from handrail_sim import __version__
from handrail_sim.adbd.ports import DEFAULT_PORT, EMULATOR_PORT
from handrail_sim.errors import SimulatorError

_BAD_USE = 2


def main(argv: Sequence[str] | None = None) -> int:
    """The command itself: 0 after a signal, 2 for words that it does not understand."""
    options = _parser().parse_args(argv)
    try:
        if options.profiles:
            from handrail_sim.system.profiles import PROFILES  # noqa: PLC0415 - `--help` needs no phone

            for name, profile in PROFILES.items():
                print(f"{name:<22}{profile.about}")  # noqa: T201
            return 0
        _run(options)
    except SimulatorError as problem:
        hint = f" {problem.hint}" if problem.hint else ""
        print(f"handrail-sim: {problem.message}.{hint}", file=sys.stderr)  # noqa: T201
        return _BAD_USE
    return 0


def _run(options: argparse.Namespace) -> None:
    from handrail_sim.served import (  # noqa: PLC0415 - `--help` needs no phone
        Kind,
        ease_collection,
        make_phones,
        run,
        run_iphones,
    )

    if options.iphone:
        chosen = {"seed": options.seed, "apps": options.apps, "faults": options.faults}
        asyncio.run(run_iphones(options.phones, options.host, options.port, **chosen))
        return
    first = options.port
    if first is None:
        first = EMULATOR_PORT if options.emulator else DEFAULT_PORT
    phones = make_phones(
        options.phones,
        seed=options.seed,
        apps=options.apps,
        faults=options.faults,
        first_port=first if options.emulator else None,
        userdebug=options.userdebug,
        kind=Kind(options.profile, options.android, options.vendor),
    )
    ease_collection()
    asyncio.run(
        run(phones, options.host, first, auth=options.auth, emulator=options.emulator, web=options.web)
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="handrail-sim",
        description="Android phones that speak ADB; one line of JSON for each that is ready.",
        epilog="Then `adb connect HOST:PORT`, or any other Android tool. SIGTERM and Ctrl-C stop it. "
        "`adb shell sim --help` lists what can be changed on it: messages, calls, faults, snapshots.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument(
        "--port",
        type=_port,
        help=f"ADB port of the first phone, {DEFAULT_PORT} when left out; others take every second port; an "
        "iPhone's WebDriverAgent: 8100, and every port",
    )
    parser.add_argument("--phones", type=_count, default=1, metavar="N", help="how many phones (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="same seed, same phone (%(default)s)")
    parser.add_argument("--apps", type=_names, metavar="NAMES", help="apps, by commas; all when left out")
    parser.add_argument("--faults", type=Path, metavar="FILE", help="what goes wrong, as TOML or JSON")
    parser.add_argument("--profile", metavar="NAME", help="be such a phone; --profiles lists them")
    parser.add_argument("--profiles", action="store_true", help="list the profiles and end")
    parser.add_argument("--android", type=int, metavar="N", help="the version of Android, 8 to 16 (14)")
    parser.add_argument("--vendor", metavar="NAME", help="who made it: google, samsung, xiaomi, …")
    parser.add_argument("--auth", action="store_true", help="ask hosts for their key; SIGUSR1 accepts")
    parser.add_argument("--emulator", action="store_true", help="be found as an emulator: console and gRPC")
    parser.add_argument(
        "--iphone", action="store_true", help="be an iPhone: WebDriverAgent and usbmuxd, no ADB"
    )
    parser.add_argument("--userdebug", action="store_true", help="an engineers' build: adb root works")
    parser.add_argument(
        "--web",
        choices=("own", "chromium"),
        default="own",
        help="who draws web pages: the phone, or Chromium",
    )
    parser.add_argument("--version", action="version", version=f"handrail-sim {__version__}")
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port between 0 and 65535")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a valid number of phones")
    return int(text)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
