"""Which packages there are, under which user, with which processes. Starts and changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from handrail.adb.shell import Shell
from handrail.errors import AppNotInstalled, InvalidAction

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*")
FIRST_APP_UID = 10_000
"""Below it are users that many system packages share."""
_LISTED = re.compile(r"package:(?P<name>\S+?)(?:\s+uid:(?P<uid>\d+)\S*)?\s*")


class Package(NamedTuple):
    """An installed package; `uid` is None where the device does not tell."""

    name: str
    uid: int | None


def check_package(name: str) -> str:
    """The name itself; one that could be read as an option or a path never reaches the device."""
    if len(name) > 255 or not NAME.fullmatch(name):
        raise InvalidAction(f"{name!r} is not a package name", path="package")
    return name


def read_packages(text: str) -> list[Package]:
    """The lines of `list packages -U`."""
    found = (_LISTED.fullmatch(line) for line in text.splitlines())
    return [Package(one["name"], int(one["uid"]) if one["uid"] else None) for one in found if one]


async def list_packages(shell: Shell, *, third_party: bool = False) -> list[Package]:
    """All of them, or only those that somebody installed."""
    only = ["-3"] if third_party else []
    return read_packages((await shell.run(["cmd", "package", "list", "packages", "-U", *only])).text)


async def find_package(shell: Shell, name: str) -> Package | None:
    """One package; the device's filter takes parts of names, so that the answer is looked through."""
    check_package(name)
    answer = await shell.run(["cmd", "package", "list", "packages", "-U", name])
    return next((one for one in read_packages(answer.text) if one.name == name), None)


async def is_installed(shell: Shell, name: str) -> bool:
    """For the present user."""
    return await find_package(shell, name) is not None


async def require_package(shell: Shell, name: str) -> Package:
    """The package, or `AppNotInstalled` with the names that are nearest to it."""
    found = await find_package(shell, name)
    if found is None:
        raise not_installed(name, [one.name for one in await list_packages(shell)])
    return found


def not_installed(name: str, known: Iterable[str]) -> AppNotInstalled:
    """The failure, with what may have been meant."""
    near = nearest(name, known)
    hint = f"Did you mean {' or '.join(near)}?" if near else None
    return AppNotInstalled(f"{name} is not installed", hint=hint, package=name, nearest=near)


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """At most three: those that contain its last part first, then those that are spelt alike."""
    names = list(known)
    last = name.rpartition(".")[2].lower()
    inside = sorted((one for one in names if len(last) > 2 and last in one.lower()), key=len)
    alike = get_close_matches(name, names, n=3, cutoff=0.6)
    return list(dict.fromkeys([*inside, *alike]))[:3]


def read_processes(text: str, package: str) -> dict[int, str]:
    """Those of `ps -A -o PID,NAME` that belong to a package: its own name, or `package:part`."""
    rows = (line.split(None, 1) for line in text.splitlines())
    named = {int(row[0]): row[1].strip() for row in rows if len(row) == 2 and row[0].isdigit()}
    return {pid: name for pid, name in named.items() if name.partition(":")[0] == package}


async def processes_of(shell: Shell, package: str) -> dict[int, str]:
    """pid → process name, for all processes of a package."""
    check_package(package)
    return read_processes((await shell.run(["ps", "-A", "-o", "PID,NAME"])).text, package)


async def pid_of(shell: Shell, package: str) -> int | None:
    """The main process."""
    running = await processes_of(shell, package)
    return next((pid for pid, name in running.items() if name == package), None)
