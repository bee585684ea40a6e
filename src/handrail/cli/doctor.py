"""`handrail doctor`: what is missing on this computer, and the one command that mends each of it.

Each check gives lines, and none stops the others. Phones on USB are read from the kernel's files: adb says
nothing about a phone that it may not open. Also `handrail devices`: which phones there are, their states, who
holds them, what to do about the others.
"""

from __future__ import annotations

import asyncio
import difflib
import json
import os
import shutil
import sqlite3
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from handrail.adb.server import find_adb
from handrail.android.adb_channel import read_facts
from handrail.android.channel_probe import probe_look, remedy_for
from handrail.android.choose import choose, match, open_device
from handrail.android.discovery import discover as list_android
from handrail.android.discovery import merge, probe, server_of
from handrail.android.dumpsys import read_display
from handrail.android.uiautomator2 import is_up, release
from handrail.android.usb import UsbPhone, usb_phones
from handrail.cli.options import FILE, json_option
from handrail.cli.output import print_json, print_table
from handrail.clock import Clock, SystemClock, ago, iso_time
from handrail.config import VARIABLES, Config, canonical, host_port, named_kind
from handrail.device_names import DeviceNames
from handrail.devices import discover, list_open_phones, watch
from handrail.errors import (
    FAMILIES,
    DeviceBusy,
    DeviceError,
    HandrailError,
    InvalidAction,
    OutcomeError,
    PolicyUnusable,
    Unsupported,
)
from handrail.invocation import current, run
from handrail.ios.examine import check_iphones
from handrail.satellites import load_plugin
from handrail.surface.listing import DiscoveredDevice
from handrail.system import IS_POSIX, lacking

if TYPE_CHECKING:
    from handrail.safety.leases import HeldLease

MARKS = {"ok": "✓", "note": "·", "warning": "!", "error": "✗"}
COLOURS = {"ok": "green", "note": "bright_black", "warning": "yellow", "error": "red"}
COLLECTOR_S = 2.0  # what a collector gets for its answer


@click.command()
@click.argument("part", required=False, type=click.Choice(["ios"]))
@click.option(
    "--record", metavar="FILE", type=FILE, help="With ios: harmless calls to an iPhone, for a report."
)
@click.option("--device", metavar="NAME", help="With --record: which iPhone, such as ios:UDID.")
@json_option()
def doctor(part: str | None, record: Path | None, device: str | None, as_json: bool) -> None:
    """Check this computer and its phones.

    Each line with a problem ends with the command that fixes it. The exit code is 3 when something
    essential is missing, else 0.

    `doctor ios --record FILE` asks an iPhone for its screens and settings and swipes in its Settings app. The
    file has times and shapes, and no texts. iPhones are experimental: we have not run this on Apple hardware.
    """
    if record is not None or part is not None or device is not None:
        _record_iphone(part, record, device or "ios")
        return
    checks = asyncio.run(run_checks(os.environ, SystemClock()))
    healthy = all(check.state != "error" for check in checks)
    if as_json:
        print_json({"ok": healthy, "checks": [check.to_dict() for check in checks]})
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            mark = click.style(MARKS[check.state], fg=COLOURS[check.state])
            fix = f"  → {check.fix}" if check.fix else ""
            click.echo(f"{mark} {check.name:<{width}}  {check.text}{fix}")
        errors, worries = (sum(check.state == state for check in checks) for state in ("error", "warning"))
        if errors:
            click.echo(f"{errors} essential {'thing is' if errors == 1 else 'things are'} missing.")
        else:
            suffix = f", with {worries} {'warning' if worries == 1 else 'warnings'}" if worries else ""
            click.echo(f"Ready{suffix}.")
    if not healthy:
        click.get_current_context().exit(FAMILIES["device"].exit_code)


def _record_iphone(part: str | None, record: Path | None, device: str) -> None:
    if part != "ios" or record is None:
        raise InvalidAction("`doctor ios` needs --record FILE", path="record", hint="Name the file to write.")
    from handrail.ios.examine import record_iphone  # noqa: PLC0415  (only for those who have an iPhone)

    recording = run(record_iphone(device, SystemClock(), os.environ, partial(click.echo, err=True)))
    path = current.get().path(record)
    path.write_text(json.dumps(recording, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    click.echo(f"{len(recording['calls'])} calls in {record}. Read it before you send it in.")


async def run_checks(env: Mapping[str, str], clock: Clock) -> list[DoctorCheck]:
    """All checks, in the order of a first installation."""
    checks = [check_version(*needed) for needed in VERSIONS]
    checks += [
        DoctorCheck("environment", "warning", line, f"unset {line.split()[0]}")
        for line in warn_of_unknown_variables(env)
    ]
    try:
        config = Config.from_env(env)
    except InvalidAction as error:
        name = error.details["path"]
        return [*checks, DoctorCheck("environment", "error", error.message, f"unset {name}")]
    fix = "docs/install.md, Systems" if IS_POSIX else "wsl --install"
    checks += [DoctorCheck("system", "note" if IS_POSIX else "error", lack, fix) for lack in lacking()]
    if IS_POSIX:  # the rules and the journal are read with locks that Windows has not
        checks += [check_home(config), check_witness(config, clock.now_ms())]
    checks.append(check_disk(config))
    checks += await asyncio.to_thread(check_collector, env)
    checks += await _check_adb(config, clock, env)
    checks += check_usb(usb_phones() if sys.platform == "linux" else None)
    checks += [DoctorCheck("iphones", *line) for line in await check_iphones(clock, env)]
    checks += await _check_devices(config, clock, env)
    return [*checks, *check_extras(env)]


async def _check_adb(config: Config, clock: Clock, env: Mapping[str, str]) -> list[DoctorCheck]:
    """A missing adb is only a warning: phones at addresses need none."""
    adb = find_adb(env)
    if adb is not None:
        process = await asyncio.create_subprocess_exec(
            str(adb), "version", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        lines = (await process.communicate())[0].decode("utf-8", "replace").splitlines()
        versions = [line.lower() for line in lines if line.startswith("Version ")] or ["version unknown"]
        program = DoctorCheck("adb", "ok", f"{adb}, {versions[0]}")
    elif config.adb is not None:
        text = f"HANDRAIL_ADB={config.adb} can't be run"
        program = DoctorCheck("adb", "warning", text, "unset HANDRAIL_ADB")
    else:
        program = DoctorCheck("adb", "warning", "not found; phones on USB need it", "pip install adbutils")
    return [program, await _check_adb_server(config, clock, env)]


async def _check_adb_server(config: Config, clock: Clock, env: Mapping[str, str]) -> DoctorCheck:
    place = f"{config.adb_host}:{config.adb_port}"
    try:
        number = await server_of(config, clock, env).version()
    except DeviceError as error:
        try:
            _, writer = await asyncio.open_connection(config.adb_host, config.adb_port)
        except OSError:
            return DoctorCheck("adb server", "ok", f"none at {place} yet; started when it is needed")
        writer.close()
        await writer.wait_closed()
        fix = f"export ANDROID_ADB_SERVER_PORT={config.adb_port + 1}"
        return DoctorCheck("adb server", "warning", f"{place} is not an adb server: {error.message}", fix)
    return DoctorCheck("adb server", "ok", f"{place}, protocol {number}")


async def _check_devices(config: Config, clock: Clock, env: Mapping[str, str]) -> list[DoctorCheck]:
    rows, notes = await list_devices(config, clock, env)
    looks = await asyncio.gather(*(_check_look(row, config, clock, env) for row in rows))
    checks = [check for row, look in zip(rows, looks, strict=True) for check in (_check_device(row), *look)]
    named = [note for note in notes if note.startswith("HANDRAIL_DEVICE=")]
    checks += [DoctorCheck("devices", "warning", note, "unset HANDRAIL_DEVICE") for note in named]
    return checks or [DoctorCheck("devices", "note", "none connected", "handrail connect")]


def _check_device(row: DeviceRow) -> DoctorCheck:
    device = row.device
    if not device.usable:  # the fix is the command that a remedy holds in backquotes, if it holds one
        quoted = device.what_to_do.split("`")[1] if device.what_to_do.count("`") >= 2 else ""
        return DoctorCheck("device", "warning", str(device), quoted or device.what_to_do)
    how = "in a Handrail that runs" if device.via == "handrail" else f"by {device.transport}, {device.via}"
    holder = f", held by {row.held.holder}" if row.held else ""
    return DoctorCheck("device", "ok", f"{device} {how}{holder}")


async def _check_look(
    row: DeviceRow, config: Config, clock: Clock, env: Mapping[str, str]
) -> list[DoctorCheck]:
    """Reads the phone's screen, unless somebody works on it: starting the helper would disturb them."""
    serial = row.device.serial
    if not row.device.usable or named_kind(serial):
        return []
    if row.open_in is not None:
        by = row.open_in["channels"].get("look", "its own way")
        return [DoctorCheck("looks", "ok", f"{serial}: looks go by {by} in the Handrail that has it open")]
    if row.held is not None:
        text = f"{serial}: not tried, {row.held.holder} works on it"
        return [DoctorCheck("looks", "note", text, "handrail devices")]
    try:
        device = await open_device(serial, config, clock, env)
        look = await probe_look(device, config.helper, clock, env, config.home)
    except HandrailError as error:
        return [DoctorCheck("looks", "warning", f"{serial}: {error.message}", error.hint)]
    if look.ms is not None and look.by_helper:
        return [DoctorCheck("looks", "ok", f"{serial}: {look}")]
    fix = look.hint if look.ms is None else remedy_for(look)
    return [DoctorCheck("looks", "warning", f"{serial}: {look}", fix)]


State = Literal["ok", "note", "warning", "error"]
MIB = 1 << 20
LOW_DISK, NO_DISK = 1024 * MIB, 64 * MIB
UDEV = "sudo apt install android-sdk-platform-tools-common"


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One line of the answer. `note`: something optional is missing; `error`: nothing works without it."""

    name: str
    state: State
    text: str
    fix: str = ""
    """The command that fixes it."""

    def to_dict(self) -> dict[str, Any]:
        fields = {"name": self.name, "state": self.state, "found": self.text}
        return {**fields, "fix": self.fix} if self.fix else fields


VERSIONS = (
    ("python", sys.version_info[:3], (3, 11), "sudo apt install python3"),
    ("sqlite", sqlite3.sqlite_version_info, (3, 37), "sudo apt install libsqlite3-0"),  # STRICT tables
)


def check_version(name: str, current: tuple[int, ...], least: tuple[int, ...], fix: str) -> DoctorCheck:
    text, needed = (".".join(map(str, version)) for version in (current, least))
    if current >= least:
        return DoctorCheck(name, "ok", text)
    return DoctorCheck(name, "error", f"{text} is too old; {needed} is needed", fix)


def check_home(config: Config) -> DoctorCheck:
    path, elsewhere = config.home, "export HANDRAIL_HOME=~/handrail"
    if not path.exists():
        parent = next(folder for folder in path.parents if folder.exists())
        if os.access(parent, os.W_OK):
            return DoctorCheck("home", "ok", f"{path}, made at first use")
        return DoctorCheck("home", "error", f"{path} can't be made in {parent}", elsewhere)
    if not path.is_dir() or not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return DoctorCheck("home", "error", f"{path} is not a writable folder", elsewhere)
    from handrail.safety.policy_file import LivePolicy  # noqa: PLC0415

    try:
        LivePolicy(path, config.policy, SystemClock())
    except PolicyUnusable as error:
        return DoctorCheck("home", "error", error.message, error.hint.rpartition("do: ")[2])
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        text = f"{path} is open to others, mode {mode:04o}"
        return DoctorCheck("home", "warning", text, f"chmod 700 {path}")
    return DoctorCheck("home", "ok", f"{path}, mode {mode:04o}")


def check_disk(config: Config) -> DoctorCheck:
    place = next(folder for folder in (config.home, *config.home.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    text = f"{free // MIB} MiB free in {place}"
    if free < LOW_DISK:
        return DoctorCheck("disk", "error" if free < NO_DISK else "warning", text, f"du -sh {config.home}/*")
    return DoctorCheck("disk", "ok", text)


def check_witness(config: Config, now_ms: int) -> DoctorCheck:
    """Whether another place keeps what the journal signed, and how far it has come."""
    from handrail.journal.witnesses import WitnessState  # noqa: PLC0415  (HTTP, sqlite3)

    if config.witness is None:
        warning = "none: anyone with the home and the key can rewrite the journal's past"
        return DoctorCheck("witness", "note", warning, "export HANDRAIL_WITNESS=/media/other-disk")
    try:  # the journal's length, without creating one
        with closing(sqlite3.connect(f"{config.db.as_uri()}?mode=ro", uri=True)) as db:
            length = int(db.execute("SELECT coalesce(max(seq), 0) FROM journal").fetchone()[0])
    except sqlite3.Error:
        length = 0
    state = WitnessState.read(config.home, config.witness)
    waiting = max(0, length - state.size)
    signed = f"{state.size} entries, {(now_ms - state.at_ms) // 1000} s ago" if state.at_ms else "nothing yet"
    text = f"{config.witness} has {signed}; {waiting} wait"
    if state.refused:
        return DoctorCheck("witness", "error", f"{text}. It refuses: {state.why}", "handrail journal verify")
    if state.why is not None:
        return DoctorCheck("witness", "warning", f"{text}. {state.why}", "handrail journal checkpoint")
    return DoctorCheck("witness", "ok", text)


PACKAGES = (
    ("grpcio", "pinch and rotate on emulators", "pip install 'handrail[emulator]'"),
    ("uiautomator2", "the u2 helper, where ours does not run", "pip install uiautomator2"),
)
PROGRAMS = (
    (("chromium", "chromium-browser", "google-chrome"), "browser tests", "sudo apt install chromium"),
    (("node",), "tests of the web page", "sudo apt install nodejs"),
)
"""Any of the names will do."""


def check_extras(env: Mapping[str, str]) -> Iterator[DoctorCheck]:
    for name, purpose, fix in PACKAGES:
        try:
            yield DoctorCheck(name, "ok", version(name))
        except PackageNotFoundError:
            yield DoctorCheck(name, "note", f"not installed; only for {purpose}", fix)
    for names, purpose, fix in PROGRAMS:
        chosen = env.get("CHROME_BIN", "") if names[0] == "chromium" else ""
        path = chosen or next(filter(None, (shutil.which(name, path=env.get("PATH")) for name in names)), "")
        if path and Path(path).exists():
            yield DoctorCheck(names[0], "ok", path)
        else:
            yield DoctorCheck(names[0], "note", f"not found; only for {purpose}", fix)


def check_usb(phones: list[UsbPhone] | None) -> Iterator[DoctorCheck]:
    if phones is None:
        return
    for usb_phone in phones:
        if not usb_phone.debugging:
            text = f"{usb_phone.name} ({usb_phone.vendor.name}) has USB debugging off, or is not a phone"
            yield DoctorCheck("usb", "note", text, "handrail connect")
        elif usb_phone.permitted:
            yield DoctorCheck("usb", "ok", f"{usb_phone.name} at {usb_phone.node}")
        else:
            text = f"{usb_phone.name}: this user may not open {usb_phone.node}"
            yield DoctorCheck("usb", "warning", text, UDEV)
    if not any(phone.debugging for phone in phones):
        yield DoctorCheck("usb", "note", "no phone with USB debugging on a cable", "handrail connect")


def check_collector(env: Mapping[str, str]) -> list[DoctorCheck]:
    """Names the collector and sends it an empty request."""
    if not env.get("HANDRAIL_OTLP_ENDPOINT", "").strip():
        return []
    try:
        module = load_plugin("handrail.runners", "telemetry", "telemetry", "HANDRAIL_OTLP_ENDPOINT")
    except Unsupported as error:
        return [DoctorCheck("telemetry", "error", error.message, error.hint)]
    level, words = module.check_collector(env, COLLECTOR_S)
    return [DoctorCheck("telemetry", level, words, "" if level == "ok" else "unset HANDRAIL_OTLP_ENDPOINT")]


def warn_of_unknown_variables(env: Mapping[str, str]) -> Iterator[str]:
    names = [name for variable in VARIABLES for name in (variable.name, variable.also) if name]
    prefixes = tuple(name.removesuffix("…") for name in names if name.endswith("…"))
    # Without the common prefix, which would make every name close to every other.
    tails = {variable.removeprefix("HANDRAIL_"): variable for variable in names}
    for name in sorted(env):
        if name.startswith("HANDRAIL_") and name not in names and not name.startswith(prefixes):
            near = difflib.get_close_matches(name.removeprefix("HANDRAIL_"), tails, 1)
            suggestion = f"; did you mean {tails[near[0]]}?" if near else ""
            yield f"{name} means nothing to Handrail{suggestion}"


DETAILS_MS = 5_000
"""How long one phone may take to say what it is; the others are not kept waiting longer."""
HEADER = ("serial", "state", "model", "android", "size", "held by")
IN_SERVER = "no one; open in a running Handrail"
EMPTY = """No devices.
  A real phone:     handrail connect                                       (it says what to do)
  A simulated one:  handrail sim                                           (then --device 127.0.0.1:6555)
  For one command:  add --sim to it
  A browser:        add --device browser"""


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One line of `handrail devices`."""

    device: DiscoveredDevice
    model: str = ""
    android: str = ""
    size: str = ""
    held: HeldLease | None = None
    open_in: Mapping[str, Any] | None = None
    """What the running server that has the device open says about it."""
    name: str = ""
    """The name that a person gave the device."""

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
@click.option("--watch", "watching", is_flag=True, help="Report changes until Ctrl-C.")
@click.option("--release", "releasing", is_flag=True, help="End the helper that Handrail left on phones.")
@click.option("--device", metavar="SERIAL", help="With --release: this phone only.")
@click.option("--name", "naming", metavar="SERIAL=NAME", help="Name a phone; SERIAL= removes the name.")
def devices(as_json: bool, watching: bool, releasing: bool, device: str | None, naming: str | None) -> None:
    """List phones: those of the adb server, of a running Handrail, and at known addresses.

    Addresses are those in HANDRAIL_DEVICES and HANDRAIL_DEVICE. Phones that can't be used are listed with the
    reason and what to do.
    """
    config = Config.from_env(os.environ)
    clock = SystemClock()
    if device and not releasing:
        raise InvalidAction(
            "--device says which phone --release is about", path="device", hint="Add --release."
        )
    if naming is not None:
        _name_device(naming, config)
    elif releasing:
        released = run(_release_helpers(device, config, clock, os.environ))
        if as_json:
            ended = [{"serial": serial, "ended": not why_not} for serial, why_not in released]
            print_json({"released": ended})
        else:
            lines = [f"{serial}: {why_not or 'the helper was ended'}" for serial, why_not in released]
            click.echo("\n".join(lines) or "No devices.")
    elif watching:
        try:
            run(_watch_devices(config, clock, os.environ, as_json))
        except KeyboardInterrupt:  # that is how a watch ends
            sys.exit(130)
    else:
        rows, notes = run(list_devices(config, clock, os.environ))
        if as_json:
            print_json({"devices": [row.to_dict() for row in rows], "notes": list(notes)})
        else:
            _print_devices(rows, notes, clock.now_ms())


async def list_devices(
    config: Config, clock: Clock, env: Mapping[str, str]
) -> tuple[list[DeviceRow], Sequence[str]]:
    """Every device with what it reports about itself, and notes on why there may be more."""
    listing = await discover(config, clock, env)
    opened = {canonical(serial): phone for serial, phone in (await list_open_phones(config)).items()}
    # A simulated phone at an address answers here too.
    reached = [
        await probe(device.serial, clock)
        if device.via == "handrail" and host_port(device.serial) is not None
        else device
        for device in listing.devices
    ]
    devices, notes = merge(reached), list(listing.notes)
    if config.device and not named_kind(config.device) and not match(devices, config.device):
        notes.append(f"HANDRAIL_DEVICE={config.device} matches none of these")
    held = await lease_holders(devices, config, clock) if IS_POSIX else {}
    rows = await asyncio.gather(
        *(describe_device(served, held, opened, config, clock, env) for served in devices)
    )
    names = DeviceNames(config.home)
    return [replace(row, name=names.get(row.device.serial)) for row in rows], notes


def _name_device(text: str, config: Config) -> None:
    """A phone may be named before it is connected."""
    serial, mark, name = text.partition("=")
    serial, names = serial.strip(), DeviceNames(config.home)
    if not mark or not serial:
        hint = 'For example --name emulator-5554="Kitchen".'
        raise InvalidAction(f"--name {text} is not SERIAL=NAME", path="name", hint=hint)
    names.give(serial, name)
    current = names.get(serial)
    click.echo(f"{serial} is called {current}." if current else f"{serial} has no name.")


async def describe_device(
    device: DiscoveredDevice,
    held: Mapping[str, HeldLease],
    opened: Mapping[str, Mapping[str, Any]],
    config: Config,
    clock: Clock,
    env: Mapping[str, str],
) -> DeviceRow:
    """The row of a device; without details if the device does not answer in time."""
    served = opened.get(device.identity)
    row = DeviceRow(device, device.model, held=held.get(device.identity), open_in=served)
    if device.via == "handrail" and served is not None:
        return replace(row, model=str(served["model"]), android=str(served["android"]))
    if not device.usable or named_kind(device.serial):
        return row  # what is reached by its name tells its model and version in the listing
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
    return replace(row, model=facts.model, android=facts.android, size=size)


async def lease_holders(
    devices: Iterable[DiscoveredDevice], config: Config, clock: Clock
) -> dict[str, HeldLease]:
    """Device → the lease that somebody has on it. A store that does not exist is not created."""
    from handrail.safety.leases import Leases  # noqa: PLC0415
    from handrail.store import Store  # noqa: PLC0415

    if not config.db.exists():
        return {}
    with closing(Store(config.db)) as store:
        leases = await Leases(store, clock).all(device.identity for device in devices)
    return {held.device: held for held in leases}


async def _release_helpers(
    wanted: str | None, config: Config, clock: Clock, env: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Ends the helper on the named phone, else on all usable ones. A phone that is in use keeps it."""
    if wanted and host_port(wanted):
        chosen = [DiscoveredDevice(wanted, via="direct")]
    else:
        listed = (await list_android(config, clock, env)).devices
        chosen = [device for device in listed if device.usable]
        if wanted or config.device:
            chosen = [choose(listed, wanted, config.device)]
    held = await lease_holders(chosen, config, clock)
    return [await _release_helper(device, held.get(device.identity), config, clock, env) for device in chosen]


async def _release_helper(
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


def _print_devices(rows: Sequence[DeviceRow], notes: Sequence[str], now_ms: int) -> None:
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


async def _watch_devices(config: Config, clock: Clock, env: Mapping[str, str], as_json: bool) -> None:
    before: dict[str, DiscoveredDevice] = {}
    async with aclosing(watch(config, clock, env)) as lists:
        async for listed in lists:
            now = {device.serial: device for device in listed}
            if as_json:
                devices = [device.to_dict() for device in listed]
                print_json({"time": iso_time(clock.now_ms()), "devices": devices})
            else:
                _print_changes(before, now)
            before = now


def _print_changes(before: Mapping[str, DiscoveredDevice], now: Mapping[str, DiscoveredDevice]) -> None:
    if not before and not now:
        click.echo("No devices yet; watching.")
    for serial in before:
        if serial not in now:
            click.echo(f"- {serial}")
    for serial, device in now.items():
        if before.get(serial) != device:
            click.echo(f"+ {device}" if device.usable else f"! {device}. {device.what_to_do}")
