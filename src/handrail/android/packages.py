"""Which packages there are, under which user, with which processes. Starts and changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from handrail.adb.shell import DeviceShell
from handrail.android.fallbacks import took_fallback
from handrail.android.input import VENDOR_SWITCHES
from handrail.errors import AdbCommandError, AppNotInstalled, InvalidAction

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*")
FIRST_APP_UID = 10_000
"""Below it are users that many system packages share."""
_LISTED = re.compile(r"package:(?P<name>\S+?)(?:\s+uid:(?P<uids>\d+(?:,\d+)*)\S*)?\s*")
UIDS_OF_A_USER = 100_000
"""Android's users have this many uids each: 1010187 is app 10187 of user 10."""
_REFUSED = re.compile(r"SecurityException|Permission Denial|Exception occurred|^Error|^cmd: ", re.MULTILINE)


class Package(NamedTuple):
    """An installed package; `uid` is None where the device does not tell."""

    name: str
    uid: int | None
    """For the user who was asked for."""
    uids: tuple[int, ...] = ()
    """Of all users who were listed."""

    @property
    def is_app(self) -> bool:
        """Its uid is its own: below are users that many system packages share."""
        return self.uid is not None and self.uid % UIDS_OF_A_USER >= FIRST_APP_UID


def check_package(name: str) -> str:
    """The name itself; one that could be read as an option or a path never reaches the device."""
    if len(name) > 255 or not NAME.fullmatch(name):
        raise InvalidAction(f"{name!r} is not a package name", path="package")
    return name


async def current_user(shell: DeviceShell, package: str = "android") -> int:
    """Whose screen it is; `package` is what the next question is about, and its name is looked at first.

    A phone with a work profile or a locked folder has more users than the shell may see, so every question
    names the one that is meant.
    """
    check_package(package)
    answer = await shell.run(["am", "get-current-user"], check=False)
    said = answer.text.strip()
    if answer.ok and said.isascii() and said.isdigit():
        return int(said)
    took_fallback(shell, "packages: the phone does not tell its current user; user 0 is asked for")
    return 0


def read_packages(text: str, user: int = 0) -> list[Package]:
    """The lines of `list packages -U`; where several users were listed, `uid` is the one of `user`."""
    found = (_LISTED.fullmatch(line) for line in text.splitlines())
    return [_package(one["name"], one["uids"] or "", user) for one in found if one]


def _package(name: str, listed: str, user: int) -> Package:
    uids = tuple(int(one) for one in listed.split(",") if one)
    own = next((uid for uid in uids if uid // UIDS_OF_A_USER == user), uids[0] if uids else None)
    return Package(name, own, uids)


async def list_packages(
    shell: DeviceShell, *, third_party: bool = False, user: int | None = None
) -> list[Package]:
    """All of a user's, or only those that somebody installed. A refusal is an error, never an empty list."""
    who = await current_user(shell) if user is None else user
    found = await _list(shell, who, ["-3"] if third_party else [])
    if not found and (not third_party or not await _list(shell, who, [])):
        raise _refused(who, "it listed none at all")
    return found


async def _list(shell: DeviceShell, user: int, words: list[str]) -> list[Package]:
    command = ["cmd", "package", "list", "packages", "-U", "--user", str(user), *words]
    answer = await shell.run(command, check=False)
    said = answer.stderr.decode("utf-8", "replace") + answer.text
    if not answer.ok or _REFUSED.search(said):
        raise _refused(user, read_reason(said))
    return read_packages(answer.text, user)


def _refused(user: int, reason: str) -> AdbCommandError:
    return AdbCommandError(
        f"the phone did not list the packages of user {user}: {reason[:300]}",
        hint="Whether an app is installed is not known. A work profile, a locked folder or a device's owner "
        "can hide packages from adb; switch the phone to its main user.",
        command=["cmd", "package", "list", "packages"],
    )


async def find_package(shell: DeviceShell, name: str, user: int | None = None) -> Package | None:
    """One package; the device's filter takes parts of names, so that the answer is looked through."""
    found, _ = await _find(shell, name, user)
    return found


async def _find(shell: DeviceShell, name: str, user: int | None) -> tuple[Package | None, list[Package]]:
    """The package, or all that there are: only a list that has others in it says that this one is missing."""
    check_package(name)
    who = await current_user(shell, name) if user is None else user
    filtered = await _list(shell, who, [name])
    if any(one.name == name for one in filtered):
        return next(one for one in filtered if one.name == name), []
    others = await list_packages(shell, user=who)
    return next((one for one in others if one.name == name), None), others


async def is_installed(shell: DeviceShell, name: str) -> bool:
    """For the present user."""
    return await find_package(shell, name) is not None


async def require_package(shell: DeviceShell, name: str, user: int | None = None) -> Package:
    """The package, or `AppNotInstalled` with the names that are nearest to it."""
    found, others = await _find(shell, name, user)
    if found is None:
        raise not_installed(name, [one.name for one in others])
    return found


def not_installed(name: str, known: Iterable[str]) -> AppNotInstalled:
    """The failure, with what may have been meant."""
    near = nearest(name, known)
    hint = f"Did you mean {' or '.join(near)}?" if near else None
    return AppNotInstalled(f"{name} is not installed", hint=hint, package=name, nearest=near)


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """At most three: those that contain its last part first, then those whose last part is spelt alike.

    What comes before says little: all apps of one maker share it.
    """
    names = list(known)
    last = name.rpartition(".")[2].lower()
    inside = sorted((one for one in names if len(last) > 2 and last in one.lower()), key=len)
    ends = {one.rpartition(".")[2].lower(): one for one in reversed(names)}
    alike = [ends[end] for end in get_close_matches(last, ends, n=3, cutoff=0.75)]
    return list(dict.fromkeys([*inside, *alike]))[:3]


def read_processes(text: str, package: str, user: int | None = None) -> dict[int, str]:
    """Those of `ps -A -o PID,USER,NAME` that belong to a package: its own name, or `package:part`.

    With `user`, the same app in another user's profile is left out: its processes belong to `u10_a187`.
    """
    rows = (line.split() for line in text.splitlines())
    known = [(int(row[0]), row[1], row[-1]) for row in rows if len(row) > 1 and row[0].isdigit()]
    foreign = re.compile(r"u(?!%s_)\d+_.*" % ("\\d+" if user is None else user))
    return {
        pid: name
        for pid, owner, name in known
        if name.partition(":")[0] == package and not foreign.fullmatch(owner)
    }


async def processes_of(shell: DeviceShell, package: str, user: int | None = None) -> dict[int, str]:
    """pid → process name, for all processes of a package, or for those of one user."""
    check_package(package)
    return read_processes((await shell.run(["ps", "-A", "-o", "PID,USER,NAME"])).text, package, user)


async def pid_of(shell: DeviceShell, package: str, user: int | None = None) -> int | None:
    """The main process."""
    running = await processes_of(shell, package, user)
    return next((pid for pid, name in running.items() if name == package), None)


PREFIX = "android.permission."
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")
_HINTS = {
    "has not requested": "The app does not ask for this permission; `list_granted` shows those it has.",
    "not a changeable permission": "It is given at install time; only runtime permissions change.",
    "not a runtime permission": "It is given at install time; only runtime permissions change.",
    "Unknown permission": "Check the permission's name, such as android.permission.CAMERA.",
    "managed by role": "It comes with a role, such as the default dialler; set the role instead.",
    "GRANT_RUNTIME_PERMISSIONS": VENDOR_SWITCHES,
}
"""What PackageManager says, and what to do about it."""
ALL = "all"
"""Stands for every permission that an app declares."""
_GRANT = re.compile(r"^\s+(?P<name>[A-Za-z][\w.]*): granted=(?P<granted>true|false)", re.MULTILINE)


def whole_name(permission: str) -> str:
    """`CAMERA` is android.permission.CAMERA; a name with dots stays as it is."""
    if len(permission) > 255 or not _NAME.fullmatch(permission):
        raise InvalidAction(f"{permission!r} is not a permission's name", path="permission")
    return permission if "." in permission else PREFIX + permission.upper()


async def grant(shell: DeviceShell, package: str, permission: str) -> str:
    """Give it; the whole name comes back. `all` is every one that the app declares and can be given."""
    return await (_change_all if permission == ALL else _change)(shell, "grant", package, permission)


async def revoke(shell: DeviceShell, package: str, permission: str) -> str:
    """Take it; Android ends the app's process when it had it. `all` is every one that can be taken."""
    return await (_change_all if permission == ALL else _change)(shell, "revoke", package, permission)


async def _change_all(shell: DeviceShell, verb: str, package: str, _: str) -> str:
    """What can't be changed stays: most of what an app declares was given with its installation."""
    user = await current_user(shell, package)
    await require_package(shell, package, user)
    dump = (await shell.run(["dumpsys", "package", package])).text
    asked = _block(_block(dump, f"Package [{package}]"), "requested permissions:").splitlines()[1:]
    names = sorted({name for line in asked if _NAME.fullmatch(name := line.partition(":")[0].strip())})
    done = 0
    for name in names:
        done += (await shell.run(["pm", verb, "--user", str(user), package, name], check=False)).ok
    return f"{done} of {len(names)} permissions"


async def _change(shell: DeviceShell, verb: str, package: str, permission: str) -> str:
    name = whole_name(permission)
    user = await current_user(shell, package)
    command = ["pm", verb, "--user", str(user), package, name]
    answer = await shell.run(command, check=False)
    said = (answer.stderr.decode("utf-8", "replace") + answer.text).strip()
    if answer.ok and not said:
        return name
    await require_package(shell, package, user)
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
    """The permissions that a package has for the present user, given at install time or later, sorted."""
    user = await current_user(shell, package)
    await require_package(shell, package, user)
    return read_granted((await shell.run(["dumpsys", "package", package])).text, package, user)


def read_granted(dump: str, package: str, user: int = 0) -> list[str]:
    """From the package's own block of `dumpsys package`, and from that of the user id that it shares.

    What stands before the first `User N:` is given to all users, what stands below one to that user alone.
    """
    own = _block(dump, f"Package [{package}]")
    _, mine = _of_user(own, user)
    if "installed=false" in mine.partition("\n")[0]:
        return []
    shared = re.search(r"sharedUser=SharedUserSetting\{\S+ ([\w.]+)/", own)
    blocks = [own, _block(dump, f"SharedUser [{shared[1]}]")] if shared else [own]
    parts = (part for block in blocks for part in _of_user(block, user))
    found = (one for part in parts for one in _GRANT.finditer(part))
    return sorted({one["name"] for one in found if one["granted"] == "true"})


def _block(dump: str, title: str) -> str:
    """The first block of this title, to the next line that is no deeper than its own."""
    found = re.search(rf"^( *){re.escape(title)}.*\n", dump, re.MULTILINE)
    if found is None:
        return ""
    end = re.compile(rf"^ {{0,{len(found[1])}}}\S", re.MULTILINE).search(dump, found.end())
    return dump[found.start() : end.start() if end else len(dump)]


def _of_user(block: str, user: int) -> tuple[str, str]:
    """What is said for all users, and what for this one; it begins with the line of its state."""
    everybody, *parts = re.split(r"^ +User (\d+):", block, flags=re.MULTILINE)
    return everybody, dict(zip(parts[::2], parts[1::2], strict=True)).get(str(user), "")


def cleared_by(words: Sequence[str], said: str) -> tuple[str, ...]:
    """The app whose data is gone after this command; none where an option says for whom or how much."""
    match list(words):
        case ["pm", "clear" | "uninstall", package] | ["cmd", "package", "clear" | "uninstall", package]:
            return (package,) if said.strip() == "Success" else ()
    return ()
