"""Which packages there are, under which user, with which processes. Starts and changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from handrail.adb.shell import DeviceShell
from handrail.errors import AdbCommandError, AppNotInstalled, InvalidAction

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


async def list_packages(shell: DeviceShell, *, third_party: bool = False) -> list[Package]:
    """All of them, or only those that somebody installed."""
    only = ["-3"] if third_party else []
    return read_packages((await shell.run(["cmd", "package", "list", "packages", "-U", *only])).text)


async def find_package(shell: DeviceShell, name: str) -> Package | None:
    """One package; the device's filter takes parts of names, so that the answer is looked through."""
    check_package(name)
    answer = await shell.run(["cmd", "package", "list", "packages", "-U", name])
    return next((one for one in read_packages(answer.text) if one.name == name), None)


async def is_installed(shell: DeviceShell, name: str) -> bool:
    """For the present user."""
    return await find_package(shell, name) is not None


async def require_package(shell: DeviceShell, name: str) -> Package:
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


async def processes_of(shell: DeviceShell, package: str) -> dict[int, str]:
    """pid → process name, for all processes of a package."""
    check_package(package)
    return read_processes((await shell.run(["ps", "-A", "-o", "PID,NAME"])).text, package)


async def pid_of(shell: DeviceShell, package: str) -> int | None:
    """The main process."""
    running = await processes_of(shell, package)
    return next((pid for pid, name in running.items() if name == package), None)


PREFIX = "android.permission."
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")
_HINTS = {
    "has not requested": "The app does not ask for this permission; `list_granted` shows those it has.",
    "not a changeable permission": "It is given at install time; only runtime permissions change.",
    "not a runtime permission": "It is given at install time; only runtime permissions change.",
    "Unknown permission": "Check the permission's name, such as android.permission.CAMERA.",
    "managed by role": "It comes with a role, such as the default dialler; set the role instead.",
    "GRANT_RUNTIME_PERMISSIONS": "Turn on `USB debugging (Security settings)` in the developer options.",
}
"""What PackageManager says, and what to do about it."""
_GRANT = re.compile(r"^\s+(?P<name>[A-Za-z][\w.]*): granted=(?P<granted>true|false)", re.MULTILINE)


def whole_name(permission: str) -> str:
    """`CAMERA` is android.permission.CAMERA; a name with dots stays as it is."""
    if len(permission) > 255 or not _NAME.fullmatch(permission):
        raise InvalidAction(f"{permission!r} is not a permission's name", path="permission")
    return permission if "." in permission else PREFIX + permission.upper()


async def grant(shell: DeviceShell, package: str, permission: str) -> str:
    """Give it; the whole name comes back."""
    return await _change(shell, "grant", package, permission)


async def revoke(shell: DeviceShell, package: str, permission: str) -> str:
    """Take it; Android ends the app's process when it had it."""
    return await _change(shell, "revoke", package, permission)


async def _change(shell: DeviceShell, verb: str, package: str, permission: str) -> str:
    name = whole_name(permission)
    command = ["pm", verb, check_package(package), name]
    answer = await shell.run(command, check=False)
    said = (answer.stderr.decode("utf-8", "replace") + answer.text).strip()
    if answer.ok and not said:
        return name
    await require_package(shell, package)
    reason = read_reason(said)
    hint = next((hint for words, hint in _HINTS.items() if words in said), None)
    raise AdbCommandError(
        f"{verb} {name} for {package} failed: {reason}", hint=hint, command=command, permission=name
    )


def read_reason(said: str) -> str:
    """The message of a Java exception without its class and frames; Android 8 says it in another sentence."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith("\tat ")]
    thrown = next((line for line in lines if "java.lang." in line), lines[-1] if lines else "no reason given")
    return re.sub(r"^.*?java\.lang\.\w+: *", "", thrown)


async def list_granted(shell: DeviceShell, package: str) -> list[str]:
    """The permissions that a package has at the moment, given at install time or later, sorted."""
    await require_package(shell, package)
    return read_granted((await shell.run(["dumpsys", "package", package])).text, package)


def read_granted(dump: str, package: str) -> list[str]:
    """From the package's own block of `dumpsys package`; what it declares for others has no `granted`."""
    start = dump.find(f"Package [{package}]")
    own = dump[max(start, 0) :]
    return sorted({found["name"] for found in _GRANT.finditer(own) if found["granted"] == "true"})


def cleared_by(words: Sequence[str], said: str) -> tuple[str, ...]:
    """The app whose data is gone after this command; none where an option says for whom or how much."""
    match list(words):
        case ["pm", "clear" | "uninstall", package] | ["cmd", "package", "clear" | "uninstall", package]:
            return (package,) if said.strip() == "Success" else ()
    return ()
