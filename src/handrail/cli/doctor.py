"""`handrail doctor`: what is missing on this computer, and the one command that mends each of it.

Each check gives lines, and none stops the others. Phones on USB are read from the kernel's files: adb says
nothing about a phone that it may not open.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from handrail.android.contact.usb import UsbPhone, usb_phones
from handrail.cli.output import print_json
from handrail.clock import Clock, SystemClock
from handrail.config import VARIABLES, Config
from handrail.errors import FAMILIES, DeviceError, HandrailError, InvalidAction, PolicyUnusable
from handrail.system import IS_POSIX, lacking

if TYPE_CHECKING:
    from handrail.cli.devices import DeviceRow

MARKS = {"ok": "✓", "note": "·", "warning": "!", "error": "✗"}
COLOURS = {"ok": "green", "note": "bright_black", "warning": "yellow", "error": "red"}
COLLECTOR_S = 2.0
"""What a collector gets for its answer."""


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


async def examine(env: Mapping[str, str], clock: Clock) -> list[DoctorCheck]:
    """Every check, in the order of a first installation."""
    checks = [check_python(), check_sqlite(), *check_variables(env)]
    try:
        config = Config.from_env(env)
    except InvalidAction as error:
        name = error.details["path"]
        return [*checks, DoctorCheck("environment", "error", error.message, f"unset {name}")]
    checks += check_system()
    if IS_POSIX:  # the rules and the journal are read with locks that Windows has not
        checks += [check_home(config), check_witness(config, clock.now_ms())]
    checks.append(check_disk(config))
    checks += await asyncio.to_thread(check_collector, env)
    checks += await _adb(config, clock, env)
    checks += check_usb(usb_phones() if sys.platform == "linux" else None)
    checks += await _devices(config, clock, env)
    return [*checks, *check_extras(env), check_http_helper(config)]


async def _adb(config: Config, clock: Clock, env: Mapping[str, str]) -> list[DoctorCheck]:
    """The program and its server. Phones at addresses need neither, so a missing adb is no error."""
    from handrail.adb.server import find_adb  # noqa: PLC0415  (sockets that `--help` does not need)

    adb = find_adb(env)
    if adb is not None:
        program = DoctorCheck("adb", "ok", f"{adb}, {await _version(str(adb))}")
    elif config.adb is not None:
        program = DoctorCheck(
            "adb", "warning", f"HANDRAIL_ADB={config.adb} can't be run", "unset HANDRAIL_ADB"
        )
    else:
        program = DoctorCheck("adb", "warning", "not found; phones on USB need it", "pip install adbutils")
    return [program, await _server(config, clock, env)]


async def _version(adb: str) -> str:
    process = await asyncio.create_subprocess_exec(
        adb, "version", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    out, _ = await process.communicate()
    lines = [line for line in out.decode("utf-8", "replace").splitlines() if line.startswith("Version ")]
    return lines[0].lower() if lines else "version unknown"


async def _server(config: Config, clock: Clock, env: Mapping[str, str]) -> DoctorCheck:
    from handrail.android.discovery import server_of  # noqa: PLC0415

    place = f"{config.adb_host}:{config.adb_port}"
    try:
        number = await server_of(config, clock, env).version()
    except DeviceError as error:
        if await _somebody_listens(config):
            fix = f"export ANDROID_ADB_SERVER_PORT={config.adb_port + 1}"
            return DoctorCheck("adb server", "warning", f"{place} is no adb server: {error.message}", fix)
        return DoctorCheck("adb server", "ok", f"none at {place} yet; started when it is needed")
    return DoctorCheck("adb server", "ok", f"{place}, protocol {number}")


async def _somebody_listens(config: Config) -> bool:
    try:
        _, writer = await asyncio.open_connection(config.adb_host, config.adb_port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


async def _devices(config: Config, clock: Clock, env: Mapping[str, str]) -> list[DoctorCheck]:
    """Each phone, and how it is looked at from here."""
    from handrail.cli.devices import look_at_devices  # noqa: PLC0415

    rows, notes = await look_at_devices(config, clock, env)
    looks = await asyncio.gather(*(_look(row, config, clock, env) for row in rows))
    checks = [one for row, look in zip(rows, looks, strict=True) for one in (_device(row), *look)]
    named = [note for note in notes if note.startswith("HANDRAIL_DEVICE=")]
    checks += [DoctorCheck("devices", "warning", note, "unset HANDRAIL_DEVICE") for note in named]
    return checks or [DoctorCheck("devices", "note", "none connected", "handrail connect")]


def _device(row: DeviceRow) -> DoctorCheck:
    one = row.found
    if not one.usable:
        return DoctorCheck("device", "warning", str(one), _command_in(one.what_to_do) or one.what_to_do)
    how = "in a Handrail that runs" if one.via == "handrail" else f"by {one.transport}, {one.via}"
    return DoctorCheck("device", "ok", f"{one} {how}" + (f", held by {row.held.holder}" if row.held else ""))


async def _look(row: DeviceRow, config: Config, clock: Clock, env: Mapping[str, str]) -> list[DoctorCheck]:
    """By trying it, unless somebody works there: a helper that is started would be in their way."""
    from handrail.android.choose import open_device  # noqa: PLC0415  (sockets that `--help` does not need)
    from handrail.android.first_look import try_look, what_mends  # noqa: PLC0415

    serial = row.found.serial
    if not row.found.usable:
        return []
    if row.open_in is not None:
        by = row.open_in["channels"].get("look", "its own way")
        return [DoctorCheck("looks", "ok", f"{serial}: looks go by {by} in the Handrail that has it open")]
    if row.held is not None:
        return [
            DoctorCheck(
                "looks", "note", f"{serial}: not tried, {row.held.holder} works on it", "handrail devices"
            )
        ]
    try:
        device = await open_device(serial, config, clock, env)
        look = await try_look(device, config.helper, clock, env)
    except HandrailError as error:
        return [DoctorCheck("looks", "warning", f"{serial}: {error.message}", error.hint)]
    if look.ms is None:
        return [DoctorCheck("looks", "warning", f"{serial}: {look}", look.hint)]
    if look.by_helper:
        return [DoctorCheck("looks", "ok", f"{serial}: {look}")]
    return [DoctorCheck("looks", "warning", f"{serial}: {look}", what_mends(look))]


def _command_in(text: str) -> str:
    """The command that a remedy holds in backquotes, if it holds one."""
    return text.split("`")[1] if text.count("`") >= 2 else ""


def _show(checks: list[DoctorCheck]) -> None:
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


State = Literal["ok", "note", "warning", "error"]
PYTHON = (3, 11)
SQLITE = (3, 37, 0)
"""The first with STRICT tables."""
MIB = 1 << 20
LOW_DISK, NO_DISK = 1024 * MIB, 64 * MIB
UDEV = "sudo apt install android-sdk-platform-tools-common"


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One line. `note`: something optional is not there; `error`: nothing works without it."""

    name: str
    state: State
    found: str
    fix: str = ""
    """The one command that mends it."""

    def to_dict(self) -> dict[str, Any]:
        known = {"name": self.name, "state": self.state, "found": self.found}
        return {**known, "fix": self.fix} if self.fix else known


def check_python(current: tuple[int, ...] = sys.version_info[:3]) -> DoctorCheck:
    """The interpreter."""
    text = ".".join(map(str, current))
    if current >= PYTHON:
        return DoctorCheck("python", "ok", text)
    return DoctorCheck("python", "error", f"{text} is too old; 3.11 is needed", "sudo apt install python3")


def check_system() -> Iterator[DoctorCheck]:
    """What is known not to work on this system."""
    fix = "docs/install.md, Systems" if IS_POSIX else "wsl --install"
    for lack in lacking():
        yield DoctorCheck("system", "note" if IS_POSIX else "error", lack, fix)


def check_sqlite(current: tuple[int, ...] = sqlite3.sqlite_version_info) -> DoctorCheck:
    """The embedded store."""
    text = ".".join(map(str, current))
    if current >= SQLITE:
        return DoctorCheck("sqlite", "ok", text)
    return DoctorCheck(
        "sqlite", "error", f"{text} is too old; 3.37 is needed", "sudo apt install libsqlite3-0"
    )


def check_home(config: Config) -> DoctorCheck:
    """The folder of everything that is kept."""
    path = config.home
    if not path.exists():
        parent = next(one for one in path.parents if one.exists())
        if os.access(parent, os.W_OK):
            return DoctorCheck("home", "ok", f"{path}, made at first use")
        return DoctorCheck(
            "home", "error", f"{path} can't be made in {parent}", "export HANDRAIL_HOME=~/handrail"
        )
    if not path.is_dir() or not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return DoctorCheck(
            "home", "error", f"{path} is no folder to write to", "export HANDRAIL_HOME=~/handrail"
        )
    from handrail.engine.policy.live import LivePolicy  # noqa: PLC0415 - help and --json of others do without

    try:
        LivePolicy(path, config.policy, SystemClock())
    except PolicyUnusable as error:
        return DoctorCheck("home", "error", error.message, error.hint.rpartition("do: ")[2])
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        return DoctorCheck(
            "home", "warning", f"{path} is open to others, mode {mode:04o}", f"chmod 700 {path}"
        )
    return DoctorCheck("home", "ok", f"{path}, mode {mode:04o}")


def check_disk(config: Config) -> DoctorCheck:
    """Room for the journal and its pictures."""
    place = next(one for one in (config.home, *config.home.parents) if one.exists())
    free = shutil.disk_usage(place).free
    text = f"{free // MIB} MiB free in {place}"
    if free < LOW_DISK:
        return DoctorCheck("disk", "error" if free < NO_DISK else "warning", text, f"du -sh {config.home}/*")
    return DoctorCheck("disk", "ok", text)


def check_witness(config: Config, now_ms: int) -> DoctorCheck:
    """Whether somebody else keeps what the journal signed, and how far that one has come."""
    from handrail.engine.journal.cosign import WitnessState  # noqa: PLC0415  (HTTP, sqlite3)

    if config.witness is None:
        said = "none: whoever has home and key can rewrite the journal's past"
        return DoctorCheck("witness", "note", said, "export HANDRAIL_WITNESS=/media/other-disk")
    state = WitnessState.read(config.home, config.witness)
    waiting = max(0, _entries(config) - state.size)
    signed = f"{state.size} entries, {(now_ms - state.at_ms) // 1000} s ago" if state.at_ms else "nothing yet"
    found = f"{config.witness} has {signed}; {waiting} wait"
    if state.refused:
        return DoctorCheck("witness", "error", f"{found}. It refuses: {state.why}", "handrail journal verify")
    if state.why is not None:
        return DoctorCheck("witness", "warning", f"{found}. {state.why}", "handrail journal checkpoint")
    return DoctorCheck("witness", "ok", found)


def _entries(config: Config) -> int:
    """How long the journal is, without making one."""
    try:
        with closing(sqlite3.connect(f"{config.db.as_uri()}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT coalesce(max(seq), 0) FROM journal").fetchone()[0])
    except sqlite3.Error:
        return 0


def check_variables(env: Mapping[str, str]) -> Iterator[DoctorCheck]:
    """Names that look like ours and are not."""
    for line in warnings(env):
        yield DoctorCheck("environment", "warning", line, f"unset {line.split()[0]}")


def check_extras(env: Mapping[str, str]) -> Iterator[DoctorCheck]:
    """What some features need, and nothing else does."""
    yield _package("grpcio", "pinch and rotate on emulators", "pip install 'handrail[emulator]'")
    yield _package("uiautomator2", "the u2 helper: faster looks, any text", "pip install uiautomator2")
    browser = env.get("CHROME_BIN") or _program(env, "chromium", "chromium-browser", "google-chrome")
    yield _optional("chromium", browser, "browser tests", "sudo apt install chromium")
    yield _optional("node", _program(env, "node"), "tests of the web page", "sudo apt install nodejs")


def check_http_helper(config: Config) -> DoctorCheck:
    """AgenTest's own helper: nobody publishes its APK, so most people need not look for it."""
    from handrail.android.first_look import has_http_helper  # noqa: PLC0415

    if has_http_helper(config.helper_dir):
        return DoctorCheck("http helper", "ok", f"APKs in {config.helper_dir}")
    said = "its APK is published nowhere; u2 serves instead, without its events of rest"
    if config.helper_dir is None:
        return DoctorCheck("http helper", "ok", f"not in use: {said}")
    found = f"no APK in {config.helper_dir}: {said}"
    return DoctorCheck("http helper", "warning", found, "unset HANDRAIL_HELPER_DIR")


def check_usb(phones: list[UsbPhone] | None) -> Iterator[DoctorCheck]:
    """Phones on a cable that this user may not open."""
    if phones is None:
        return
    for one in phones:
        if not one.debugging:
            said = f"{one.name} ({one.vendor.name}) has USB debugging off, or is no phone"
            yield DoctorCheck("usb", "note", said, "handrail connect")
        elif one.permitted:
            yield DoctorCheck("usb", "ok", f"{one.name} at {one.node}")
        else:
            yield DoctorCheck("usb", "warning", f"{one.name}: this user may not open {one.node}", UDEV)
    if not any(one.debugging for one in phones):
        yield DoctorCheck("usb", "note", "no phone with USB debugging on a cable", "handrail connect")


def check_collector(env: Mapping[str, str]) -> list[DoctorCheck]:
    """Whoever is told of what is done here is named, and asked with an empty request."""
    if not env.get("HANDRAIL_OTLP_ENDPOINT", "").strip():
        return []
    from handrail.telemetry.endpoint import ask_collector  # noqa: PLC0415  (most tell nobody)

    level, words = ask_collector(env, COLLECTOR_S)
    return [DoctorCheck("telemetry", level, words, "" if level == "ok" else "unset HANDRAIL_OTLP_ENDPOINT")]


def _package(name: str, purpose: str, fix: str) -> DoctorCheck:
    try:
        return DoctorCheck(name, "ok", version(name))
    except PackageNotFoundError:
        return DoctorCheck(name, "note", f"not installed; only for {purpose}", fix)


def _optional(name: str, found: str | None, purpose: str, fix: str) -> DoctorCheck:
    if found and Path(found).exists():
        return DoctorCheck(name, "ok", found)
    return DoctorCheck(name, "note", f"not found; only for {purpose}", fix)


def _program(env: Mapping[str, str], *names: str) -> str | None:
    return next(filter(None, (shutil.which(name, path=env.get("PATH")) for name in names)), None)


def warnings(env: Mapping[str, str]) -> list[str]:
    """A line for every variable that looks like ours and is not: a slip of the pen is silent otherwise."""
    known = [name for one in VARIABLES for name in (one.name, one.also) if name]
    prefixes = tuple(name.removesuffix("…") for name in known if name.endswith("…"))
    ours = (name for name in sorted(env) if name.startswith("HANDRAIL_"))
    return [_unknown(name, known) for name in ours if name not in known and not name.startswith(prefixes)]


def _unknown(name: str, known: list[str]) -> str:
    """The common start would make every name look near to every other."""
    import difflib  # noqa: PLC0415  (for slips of the pen)

    tails = {one.removeprefix("HANDRAIL_"): one for one in known}
    near = difflib.get_close_matches(name.removeprefix("HANDRAIL_"), tails, 1)
    return f"{name} means nothing to Handrail" + (f"; did you mean {tails[near[0]]}?" if near else "")
