"""Runtime permissions of apps: give, take, list."""

from __future__ import annotations

import re

from handrail.adb.shell import Shell
from handrail.android.packages import check_package, require_package
from handrail.errors import AdbCommandError, InvalidAction

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


async def grant(shell: Shell, package: str, permission: str) -> str:
    """Give it; the whole name comes back."""
    return await _change(shell, "grant", package, permission)


async def revoke(shell: Shell, package: str, permission: str) -> str:
    """Take it; Android ends the app's process when it had it."""
    return await _change(shell, "revoke", package, permission)


async def _change(shell: Shell, verb: str, package: str, permission: str) -> str:
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


async def list_granted(shell: Shell, package: str) -> list[str]:
    """The permissions that a package has at the moment, given at install time or later, sorted."""
    await require_package(shell, package)
    return read_granted((await shell.run(["dumpsys", "package", package])).text, package)


def read_granted(dump: str, package: str) -> list[str]:
    """From the package's own block of `dumpsys package`; what it declares for others has no `granted`."""
    start = dump.find(f"Package [{package}]")
    own = dump[max(start, 0) :]
    return sorted({found["name"] for found in _GRANT.finditer(own) if found["granted"] == "true"})
