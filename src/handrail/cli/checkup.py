"""What `handrail doctor` looks at on this computer: each check gives lines, and none stops the others.

Devices are looked at by `doctor` itself; this file opens no connection.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from handrail.cli.usb import UsbPhone
from handrail.config import Config, warnings

State = Literal["ok", "note", "warning", "error"]
PYTHON = (3, 11)
SQLITE = (3, 37, 0)
"""The first with STRICT tables."""
MIB = 1 << 20
LOW_DISK, NO_DISK = 1024 * MIB, 64 * MIB
UDEV = "sudo apt install android-sdk-platform-tools-common"


@dataclass(frozen=True, slots=True)
class Check:
    """One line. `note`: something optional is not there; `error`: nothing works without it."""

    name: str
    state: State
    found: str
    fix: str = ""
    """The one command that mends it."""

    def to_dict(self) -> dict[str, Any]:
        known = {"name": self.name, "state": self.state, "found": self.found}
        return {**known, "fix": self.fix} if self.fix else known


def python(current: tuple[int, ...] = sys.version_info[:3]) -> Check:
    """The interpreter."""
    text = ".".join(map(str, current))
    if current >= PYTHON:
        return Check("python", "ok", text)
    return Check("python", "error", f"{text} is too old; 3.11 is needed", "sudo apt install python3")


def sqlite(current: tuple[int, ...] = sqlite3.sqlite_version_info) -> Check:
    """The embedded store."""
    text = ".".join(map(str, current))
    if current >= SQLITE:
        return Check("sqlite", "ok", text)
    return Check("sqlite", "error", f"{text} is too old; 3.37 is needed", "sudo apt install libsqlite3-0")


def home(config: Config) -> Check:
    """The folder of everything that is kept."""
    path = config.home
    if not path.exists():
        parent = next(one for one in path.parents if one.exists())
        if os.access(parent, os.W_OK):
            return Check("home", "ok", f"{path}, made at first use")
        return Check("home", "error", f"{path} can't be made in {parent}", "export HANDRAIL_HOME=~/handrail")
    if not path.is_dir() or not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return Check("home", "error", f"{path} is no folder to write to", "export HANDRAIL_HOME=~/handrail")
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        return Check("home", "warning", f"{path} is open to others, mode {mode:04o}", f"chmod 700 {path}")
    return Check("home", "ok", f"{path}, mode {mode:04o}")


def disk(config: Config) -> Check:
    """Room for the journal and its pictures."""
    place = next(one for one in (config.home, *config.home.parents) if one.exists())
    free = shutil.disk_usage(place).free
    text = f"{free // MIB} MiB free in {place}"
    if free < LOW_DISK:
        return Check("disk", "error" if free < NO_DISK else "warning", text, f"du -sh {config.home}/*")
    return Check("disk", "ok", text)


def variables(env: Mapping[str, str]) -> Iterator[Check]:
    """Names that look like ours and are not."""
    for line in warnings(env):
        yield Check("environment", "warning", line, f"unset {line.split()[0]}")


def extras(env: Mapping[str, str]) -> Iterator[Check]:
    """What some features need, and nothing else does."""
    yield _package("grpcio", "pinch and rotate on emulators", "pip install 'handrail[emulator]'")
    yield _package("uiautomator2", "the u2 helper: faster reads, any text", "pip install uiautomator2")
    browser = env.get("CHROME_BIN") or _program(env, "chromium", "chromium-browser", "google-chrome")
    yield _optional("chromium", browser, "browser tests", "sudo apt install chromium")
    yield _optional("node", _program(env, "node"), "tests of the web page", "sudo apt install nodejs")


def udev(phones: list[UsbPhone] | None) -> Iterator[Check]:
    """Phones on a cable that this user may not open."""
    if phones is None:
        return
    for one in phones:
        if one.permitted:
            yield Check("usb", "ok", f"{one.name} at {one.node}")
        else:
            yield Check("usb", "warning", f"{one.name}: this user may not open {one.node}", UDEV)
    if not phones:
        yield Check("usb", "note", "no phone with USB debugging on a cable", "handrail sim")


def _package(name: str, purpose: str, fix: str) -> Check:
    try:
        return Check(name, "ok", version(name))
    except PackageNotFoundError:
        return Check(name, "note", f"not installed; only for {purpose}", fix)


def _optional(name: str, found: str | None, purpose: str, fix: str) -> Check:
    if found and Path(found).exists():
        return Check(name, "ok", found)
    return Check(name, "note", f"not found; only for {purpose}", fix)


def _program(env: Mapping[str, str], *names: str) -> str | None:
    return next(filter(None, (shutil.which(name, path=env.get("PATH")) for name in names)), None)
