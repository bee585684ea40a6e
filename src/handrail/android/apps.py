"""Apps as a whole: start, stop, restart, reset. Which app is in front is known by `foreground`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from handrail.adb.sending import was_refused
from handrail.adb.shell import DeviceShell
from handrail.android.fallbacks import took_fallback
from handrail.android.packages import check_package, current_user, require_package
from handrail.errors import AdbCommandError, InvalidAction

_ACTIVITY = re.compile(r"[A-Za-z0-9_.$]+")


def component(package: str, activity: str) -> str:
    """`.Main`, `Main` and `com.example.Main` are all understood."""
    if len(activity) > 255 or not _ACTIVITY.fullmatch(activity):
        raise InvalidAction(f"{activity!r} is not an activity's name", path="activity")
    return f"{check_package(package)}/{activity if '.' in activity else '.' + activity}"


async def start(
    shell: DeviceShell,
    package: str,
    activity: str | None = None,
    extras: Mapping[str, bool | float | str] | None = None,
) -> Started:
    """Start an app, or bring it to the front; `AppNotInstalled` names what is spelt alike."""
    named = component(package, activity) if activity else None
    user = await current_user(shell, package)
    target = named or await _launcher_activity(shell, package, user)
    if target is None:
        return await _by_monkey(shell, package, user)
    as_icon = [] if named else ["-a", MAIN, "-c", LAUNCHER, "-f", AS_LAUNCHER]
    try:
        return await start_intent(shell, [*as_icon, "-n", target, *_carried(extras or {})], user)
    except NotStarted as refusal:
        await require_package(shell, package, user)
        raise _not_started(target, refusal) from None


def _carried(extras: Mapping[str, bool | float | str]) -> list[str]:
    """Each value in the intent's own type."""
    words: list[str] = []
    for name, value in extras.items():
        match value:
            case bool():
                words += ["--ez", name, str(value).lower()]
            case int():
                words += ["--ei" if abs(value) < 1 << 31 else "--el", name, str(value)]
            case float():
                words += ["--ef", name, str(value)]
            case _:
                words += ["--es", name, value]
    return words


def _not_started(target: str, refusal: NotStarted) -> AdbCommandError:
    hint = None
    if refusal.missing:
        hint = "Check the activity's name, or leave it out to start the app as its icon does."
    elif refusal.private:
        hint = "This activity is not open to other apps; start the app without an activity and go there."
    return AdbCommandError(f"{target} was not started: {refusal.text}", hint=hint, command=["am", "start"])


async def _launcher_activity(shell: DeviceShell, package: str, user: int) -> str | None:
    """What the icon starts; None when there is none or several, which only the system can choose from."""
    check_package(package)
    resolve = ["cmd", "package", "resolve-activity", "--brief", "--user", str(user)]
    answer = await shell.run([*resolve, "-a", MAIN, "-c", LAUNCHER, "-p", package], check=False)
    return read_resolved(answer.text, package)


def read_resolved(text: str, package: str) -> str | None:
    """The last line of `resolve-activity --brief`; a chooser's own activity is no answer."""
    last = text.strip().rpartition("\n")[2].strip()
    return last if last.startswith(f"{package}/") else None


async def _by_monkey(shell: DeviceShell, package: str, user: int) -> Started:
    """The oldest way, which also chooses among several icons; it knows the present user alone."""
    await require_package(shell, package, user)
    took_fallback(shell, f"apps: the launcher activity of {package} was not told; monkey started it")
    command = ["monkey", "-p", package, "-c", LAUNCHER, "1"]
    answer = await shell.run(command, check=False)
    if not answer.ok or "No activities found" in answer.text:
        was_refused()
        raise AdbCommandError(
            f"{package} has no launcher activity",
            hint="It is a package without an icon; start one of its activities by name.",
            command=command,
        )
    return Started("", "", None, "started by monkey")


async def stop(shell: DeviceShell, package: str) -> int:
    """All its processes of the present user, who is returned; the device itself says nothing when there is no
    such package.
    """
    user = await current_user(shell, package)
    await require_package(shell, package, user)
    await shell.run(["am", "force-stop", "--user", str(user), package])
    return user


async def restart(shell: DeviceShell, package: str) -> Started:
    """Its data stays."""
    await stop(shell, package)
    return await start(shell, package)


async def reset(shell: DeviceShell, package: str) -> None:
    """Delete all its data and permissions, as if newly installed."""
    user = await current_user(shell, package)
    await require_package(shell, package, user)
    command = ["pm", "clear", "--user", str(user), package]
    answer = await shell.run(command, check=False)
    said = (answer.text + answer.stderr.decode("utf-8", "replace")).strip()
    if not answer.ok or "Success" not in said:
        was_refused()
        raise AdbCommandError(
            f"the data of {package} was not cleared: {said or 'no answer'}",
            hint="A device's owner can forbid it (work profile, vendor lock); uninstall and install instead.",
            command=command,
        )


MAIN = "android.intent.action.MAIN"
VIEW = "android.intent.action.VIEW"
LAUNCHER = "android.intent.category.LAUNCHER"
AS_LAUNCHER = "0x10200000"
"""FLAG_ACTIVITY_NEW_TASK and RESET_TASK_IF_NEEDED: what a launcher's icon sends."""

_FIELD = re.compile(r"^(Status|LaunchState|Activity|TotalTime|ThisTime): *(.*)$", re.MULTILINE)
_PROBLEM = re.compile(r"^(?:Error: |Exception occurred |java\.lang\.|Security exception: ).*", re.MULTILINE)


class Started(NamedTuple):
    """An activity that was started or came to the front."""

    component: str
    """package/.Activity as the device names it; empty where it does not."""
    launch: str
    """COLD, WARM, HOT; empty before Android 10 and where nothing had to be launched."""
    took_ms: int | None
    note: str
    """The device's own warning, such as that the task was only brought to the front."""


class NotStarted(Exception):
    """The device said why; the caller knows what was meant."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    @property
    def missing(self) -> bool:
        """No such activity, or nothing that handles the intent."""
        return "does not exist" in self.text or "unable to resolve" in self.text

    @property
    def private(self) -> bool:
        return "Permission Denial" in self.text or "not exported" in self.text


def read_started(text: str) -> Started:
    """The report of `am start -W`; old versions give an exit code of 0 whatever happened."""
    problem = _PROBLEM.search(text)
    if problem:
        was_refused()
        raise NotStarted(" ".join(text[problem.start() :].split()))
    fields = dict(_FIELD.findall(text))
    took = fields.get("TotalTime") or fields.get("ThisTime") or ""
    launch = fields.get("LaunchState", "")
    note = re.search(r"^Warning: *(.+)$", text, re.MULTILINE)
    return Started(
        fields.get("Activity", "").strip(),
        "" if launch.startswith("UNKNOWN") else launch.strip(),
        int(took) if took.strip().isdigit() else None,
        note[1].strip() if note else "",
    )


async def start_intent(shell: DeviceShell, intent: Sequence[str], user: int) -> Started:
    """Raises `NotStarted` with the device's words."""
    command = ["am", "start", "-W", "--user", str(user), *intent]
    answer = await shell.run(command, check=False)
    text = answer.text + "\n" + answer.stderr.decode("utf-8", "replace")
    started = read_started(text)
    if not answer.ok:
        raise AdbCommandError(f"am start ended with {answer.exit_code}: {text.strip()}", command=command)
    return started


_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")


def check_url(url: str) -> str:
    """The address itself; without a scheme Android would read it as a package."""
    if len(url) > 8_192 or not _URL.fullmatch(url):
        raise InvalidAction(f"{url[:200]!r} is not an address with a scheme", path="url")
    return url


async def open_url(shell: DeviceShell, url: str, package: str | None = None) -> Started:
    """Let the device choose the app, or name it."""
    to = ["-p", check_package(package)] if package else []
    try:
        return await start_intent(shell, ["-a", VIEW, "-d", check_url(url), *to], await current_user(shell))
    except NotStarted as refusal:
        if package:
            await require_package(shell, package)
        scheme = url.partition(":")[0]
        hint = f"No installed app handles {scheme}: addresses like this one." if refusal.missing else None
        raise AdbCommandError(
            f"{url[:200]} was not opened: {refusal.text[:500]}", hint=hint, command=["am", "start"]
        ) from None
