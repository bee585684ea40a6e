"""Installed packages by user, their processes and their permissions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple
from weakref import WeakSet

from handrail.adb.shell import DeviceShell
from handrail.android.dumpsys import note_fallback
from handrail.android.input import VENDOR_SWITCHES
from handrail.errors import AdbCommandError, AppNotInstalled, InvalidAction

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*")
FIRST_APP_UID = 10_000
"""Lower uids are shared by many system packages."""
_LISTED = re.compile(r"package:(?P<name>\S+?)(?:\s+uid:(?P<uids>\d+(?:,\d+)*)\S*)?\s*")
UIDS_OF_A_USER = 100_000
"""Each Android user has this many uids: 1010187 is app 10187 of user 10."""
_REFUSED = re.compile(r"SecurityException|Permission Denial|Exception occurred|^Error|^cmd: ", re.MULTILINE)


class Package(NamedTuple):
    """An installed package; `uid` is None if the device does not report it."""

    name: str
    uid: int | None

    @property
    def is_app(self) -> bool:
        return self.uid is not None and self.uid % UIDS_OF_A_USER >= FIRST_APP_UID


def check_package(name: str) -> str:
    """Names that could be read as an option or a path never reach the device."""
    if len(name) > 255 or not NAME.fullmatch(name):
        raise InvalidAction(f"{name!r} is not a package name", path="package")
    return name


async def current_user(shell: DeviceShell, package: str = "android") -> int:
    """The user whose screen is shown; `package` is validated before anything is asked.

    A phone with a work profile or a locked folder has more users than the shell may see, so every command
    names its user.
    """
    check_package(package)
    answer = await shell.run(["am", "get-current-user"], check=False)  # since Android 5
    user = answer.text.strip()
    if answer.ok and user.isascii() and user.isdigit():
        return int(user)
    note_fallback(shell, "packages: the phone does not report its current user; user 0 is used")
    return 0


def read_packages(text: str, user: int = 0) -> list[Package]:
    """Parses `list packages -U`; if several users are listed, `uid` is that of `user`."""
    packages = []
    for match in filter(None, map(_LISTED.fullmatch, text.splitlines())):
        uids = [int(uid) for uid in match["uids"].split(",")] if match["uids"] else []
        own = next((uid for uid in uids if uid // UIDS_OF_A_USER == user), uids[0] if uids else None)
        packages.append(Package(match["name"], own))
    return packages


async def _list(shell: DeviceShell, user: int, *part: str) -> list[Package]:
    """Those whose names contain `part`, else all. Uids are told since Android 8, `cmd` is there since 7."""
    words = ["--user", str(user), *part]
    commands = (["cmd", "package", "list", "packages", "-U", *words], ["pm", "list", "packages", *words])
    for command in commands[shell in _OLD_LISTS :]:
        answer = await shell.run(command, check=False)
        output = answer.complaint + answer.text
        if _TOO_OLD.search(output):
            _OLD_LISTS.add(shell)
        elif answer.ok and not _REFUSED.search(output):
            return read_packages(answer.text, user)
        else:
            break
    raise _refused(user, read_reason(output))


_TOO_OLD = re.compile(r"\bcmd: .*not found|Unknown option:? -U")
_OLD_LISTS: WeakSet[DeviceShell] = WeakSet()
"""Phones whose Android has no `cmd`, or lists no uids."""


def _refused(user: int, reason: str) -> AdbCommandError:
    return AdbCommandError(
        f"the phone did not list the packages of user {user}: {reason[:300]}",
        hint="It is unknown whether an app is installed. A work profile, a locked folder or a device's owner "
        "can hide packages from adb; switch the phone to its main user.",
        command=["cmd", "package", "list", "packages"],
    )


async def _find(shell: DeviceShell, name: str, user: int | None) -> tuple[Package | None, list[Package]]:
    """The package, or all packages: only a list with other entries proves that this one is missing.

    A refusal raises; it never gives an empty list.
    """
    check_package(name)
    who = await current_user(shell, name) if user is None else user
    others: list[Package] = []
    for part in ((name,), ()):
        others = await _list(shell, who, *part)
        if package := next((other for other in others if other.name == name), None):
            return package, others
    if not others:
        raise _refused(who, "it listed none at all")
    return None, others


async def is_installed(shell: DeviceShell, name: str) -> bool:
    """Whether the phone's current user has the app."""
    return (await _find(shell, name, None))[0] is not None


async def require_package(shell: DeviceShell, name: str, user: int | None = None) -> Package:
    """Raises `AppNotInstalled` with the nearest names."""
    package, others = await _find(shell, name, user)
    if package is None:
        near = nearest(name, [other.name for other in others])
        hint = f"Did you mean {' or '.join(near)}?" if near else None
        raise AppNotInstalled(f"{name} is not installed", hint=hint, package=name, nearest=near)
    return package


def nearest(name: str, installed: Iterable[str]) -> list[str]:
    """At most three: those that contain the last part of the name, then those whose last part is similar.

    The parts before say little, because all apps of one maker share them.
    """
    names = list(installed)
    last = name.rpartition(".")[2].lower()
    inside = sorted(
        (candidate for candidate in names if len(last) > 2 and last in candidate.lower()), key=len
    )
    ends = {candidate.rpartition(".")[2].lower(): candidate for candidate in reversed(names)}
    alike = [ends[end] for end in get_close_matches(last, ends, n=3, cutoff=0.75)]
    return list(dict.fromkeys([*inside, *alike]))[:3]


def read_processes(text: str, package: str, user: int | None = None) -> dict[int, str]:
    """Processes in `ps -A -o PID,USER,NAME` that belong to a package: its own name, or `package:part`.

    With `user`, the same app in another user's profile is left out: its processes belong to `u10_a187`.
    """
    rows = [row for line in text.splitlines() if len(row := line.split()) > 1]
    processes = [(int(row[0]), row[1], row[-1]) for row in rows if row[0].isdigit()]
    # Before Android 8: USER PID PPID VSIZE RSS WCHAN PC S NAME.
    processes += [(int(row[1]), row[0], row[-1]) for row in rows if row[1].isdigit() and len(row) == 9]
    foreign = re.compile(r"u(?!%s_)\d+_.*" % ("\\d+" if user is None else user))
    return {
        pid: name
        for pid, owner, name in processes
        if name.partition(":")[0] == package and not foreign.fullmatch(owner)
    }


async def processes_of(shell: DeviceShell, package: str, user: int | None = None) -> dict[int, str]:
    """Process names by pid; of all users without `user`."""
    check_package(package)
    text = (await shell.run(["ps", "-A", "-o", "PID,USER,NAME"], check=False)).text
    if not re.search(r"(?m)^ *\d", text):  # before Android 8 these words are names to filter by
        text = (await shell.run(["ps"])).text
    return read_processes(text, package, user)


async def pid_of(shell: DeviceShell, package: str, user: int | None = None) -> int | None:
    """Pid of the main process."""
    running = await processes_of(shell, package, user)
    return next((pid for pid, name in running.items() if name == package), None)


PREFIX = "android.permission."
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")
_HINTS = {
    "has not requested": "The app does not ask for this permission.",
    "not a changeable permission": "It is given at install time; only runtime permissions change.",
    "not a runtime permission": "It is given at install time; only runtime permissions change.",
    "Unknown permission": "Check the permission's name, such as android.permission.CAMERA.",
    "managed by role": "It comes with a role, such as the default dialler; set the role instead.",
    "GRANT_RUNTIME_PERMISSIONS": VENDOR_SWITCHES,
}
"""Remedies by PackageManager's message."""
ALL = "all"
"""Stands for every permission that an app declares."""


def full_permission_name(permission: str) -> str:
    """`CAMERA` becomes android.permission.CAMERA; a name with dots stays."""
    if len(permission) > 255 or not _NAME.fullmatch(permission):
        raise InvalidAction(f"{permission!r} is not a permission's name", path="permission")
    return permission if "." in permission else PREFIX + permission.upper()


async def grant(shell: DeviceShell, package: str, permission: str) -> str:
    """Returns the full name. `all` grants every permission that the app declares and that can be granted."""
    return await _change(shell, "grant", package, permission)


async def revoke(shell: DeviceShell, package: str, permission: str) -> str:
    """Android ends the app's process if it had the permission. `all` revokes every one that it can."""
    return await _change(shell, "revoke", package, permission)


async def require_changeable_permission(shell: DeviceShell, package: str, permission: str) -> None:
    """Raises for a permission that the app does not ask for, or that Android does not know."""
    user = await current_user(shell, package)
    await require_package(shell, package, user)
    if permission == ALL:
        return
    name, names = full_permission_name(permission), await _requested(shell, package)
    if names and name not in names:
        raise AdbCommandError(
            f"{package} does not ask for {name}, so it can't be granted or revoked",
            hint=f"It asks for {', '.join(names[:8])}{' …' if len(names) > 8 else ''}.",
            permission=name,
            delivery="not_delivered",
        )


async def _requested(shell: DeviceShell, package: str) -> list[str]:
    """The permissions of an app's manifest; empty where the phone does not list them."""
    dump = (await shell.run(["dumpsys", "package", package])).text
    requested = _block(_block(dump, f"Package [{package}]"), "requested permissions:").splitlines()[1:]
    return sorted({name for line in requested if _NAME.fullmatch(name := line.partition(":")[0].strip())})


async def _change(shell: DeviceShell, verb: str, package: str, permission: str) -> str:
    name = permission if permission == ALL else full_permission_name(permission)
    user = await current_user(shell, package)
    command = ["pm", verb, "--user", str(user), package]
    if permission == ALL:
        await require_package(shell, package, user)
        names = await _requested(shell, package)
        # Failures are ignored: most declared permissions were granted at install time.
        done = [(await shell.run([*command, name], check=False)).ok for name in names]
        return f"{sum(done)} of {len(names)} permissions"
    answer = await shell.run([*command, name], check=False)
    output = (answer.complaint + answer.text).strip()
    if answer.ok and not output:
        return name
    await require_package(shell, package, user)
    hint = next((hint for words, hint in _HINTS.items() if words in output), None)
    reason = f"{verb} {name} for {package} failed: {read_reason(output)}"
    raise AdbCommandError(reason, hint=hint, command=[*command, name], permission=name)


def read_reason(output: str) -> str:
    """The message of a Java exception without class and stack."""
    lines = [line.strip() for line in output.splitlines() if line.strip() and not line.startswith("\tat ")]
    thrown = next((line for line in lines if "java.lang." in line), lines[-1] if lines else "no reason given")
    return re.sub(r"^.*?java\.lang\.\w+: *", "", thrown)


def _block(dump: str, title: str) -> str:
    """The first block with this title, up to the next line that is not indented deeper."""
    header = re.search(rf"^( *){re.escape(title)}.*\n", dump, re.MULTILINE)
    if header is None:
        return ""
    end = re.compile(rf"^ {{0,{len(header[1])}}}\S", re.MULTILINE).search(dump, header.end())
    return dump[header.start() : end.start() if end else len(dump)]


def cleared_by(words: Sequence[str], output: str) -> tuple[str, ...]:
    """The app whose data this command deleted; empty if an option restricts it."""
    match list(words):
        case ["pm", "clear" | "uninstall", package] | ["cmd", "package", "clear" | "uninstall", package]:
            return (package,) if output.strip() == "Success" else ()
    return ()
