"""Starts, stops, resets, installs and uninstalls apps, and opens URLs."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from handrail.adb.device import AdbDevice
from handrail.adb.sending import sending, was_refused
from handrail.adb.shell import DeviceShell
from handrail.android.dumpsys import note_fallback
from handrail.android.http_over_adb import Opens
from handrail.android.packages import check_package, current_user, require_package
from handrail.clock import Clock, SystemClock
from handrail.errors import AdbCommandError, InvalidAction, Timeout
from handrail.waiting import Deadline, Expired

_ACTIVITY = re.compile(r"[A-Za-z0-9_.$]+")


def component(package: str, activity: str) -> str:
    """Accepts `.Main`, `Main` and `com.example.Main`."""
    if len(activity) > 255 or not _ACTIVITY.fullmatch(activity):
        raise InvalidAction(f"{activity!r} is not an activity's name", path="activity")
    return f"{check_package(package)}/{activity if '.' in activity else '.' + activity}"


async def start(
    shell: DeviceShell,
    package: str,
    activity: str | None = None,
    extras: Mapping[str, bool | float | str] | None = None,
) -> str:
    """Starts an app or brings it to the front; `AppNotInstalled` names similar packages."""
    named = component(package, activity) if activity else None
    user = await current_user(shell, package)
    target = named
    if target is None:
        resolve = ["cmd", "package", "resolve-activity", "--brief", "--user", str(user)]
        answer = await shell.run([*resolve, "-a", MAIN, "-c", LAUNCHER, "-p", package], check=False)
        last = answer.text.strip().rpartition("\n")[2].strip()
        # If there are several icons, only the system can choose; the chooser's own activity does not count.
        target = last if last.startswith(f"{package}/") else None
    if target is None:
        # `monkey` also chooses among several icons, but only for the current user.
        await require_package(shell, package, user)
        note_fallback(shell, f"apps: the launcher activity of {package} was not reported; monkey started it")
        command = ["monkey", "-p", package, "-c", LAUNCHER, "1"]
        answer = await shell.run(command, check=False)
        if not answer.ok or "No activities found" in answer.text:
            was_refused()
            raise AdbCommandError(
                f"{package} has no launcher activity",
                hint="It is a package without an icon; start one of its activities by name.",
                command=command,
            )
        return ""
    as_icon = [] if named else ["-a", MAIN, "-c", LAUNCHER, "-f", AS_LAUNCHER]
    try:
        return await start_intent(shell, [*as_icon, "-n", target, *_carried(extras or {})], user)
    except NotStarted as refusal:
        await require_package(shell, package, user)
        hint = None
        if refusal.missing:
            hint = "Check the activity's name, or leave it out to start the app as its icon does."
        elif refusal.private:
            hint = "This activity is not open to other apps; start the app without an activity and go there."
        reason = f"{target} was not started: {refusal.text}"
        raise AdbCommandError(reason, hint=hint, command=["am", "start"]) from None


def _carried(extras: Mapping[str, bool | float | str]) -> list[str]:
    """Passes each extra with its own type."""
    flags = {bool: "--ez", int: "--ei", float: "--ef"}
    words: list[str] = []
    for name, extra in extras.items():
        is_long = isinstance(extra, int) and abs(extra) >= 1 << 31
        text = str(extra).lower() if isinstance(extra, bool) else str(extra)
        words += ["--el" if is_long else flags.get(type(extra), "--es"), name, text]
    return words


async def stop(shell: DeviceShell, package: str) -> int:
    """Stops all processes of the current user and returns that user's number. The device does not complain
    about an unknown package."""
    user = await current_user(shell, package)
    await require_package(shell, package, user)
    await shell.run(["am", "force-stop", "--user", str(user), package])
    return user


async def restart(shell: DeviceShell, package: str) -> None:
    await stop(shell, package)
    await start(shell, package)


async def reset(shell: DeviceShell, package: str) -> None:
    """Deletes all data and permissions of the app."""
    user = await current_user(shell, package)
    await require_package(shell, package, user)
    command = ["pm", "clear", "--user", str(user), package]
    answer = await shell.run(command, check=False)
    output = (answer.text + answer.complaint).strip()
    if not answer.ok or "Success" not in output:
        was_refused()
        raise AdbCommandError(
            f"the data of {package} was not cleared: {output or 'no answer'}",
            hint="A device's owner can forbid it (work profile, vendor lock); uninstall and install instead.",
            command=command,
        )


MAIN = "android.intent.action.MAIN"
VIEW = "android.intent.action.VIEW"
LAUNCHER = "android.intent.category.LAUNCHER"
AS_LAUNCHER = "0x10200000"
"""FLAG_ACTIVITY_NEW_TASK and RESET_TASK_IF_NEEDED, as a launcher's icon sends them."""

_STARTED = re.compile(r"^Activity: *(.*)$", re.MULTILINE)
_PROBLEM = re.compile(r"^(?:Error: |Exception occurred |java\.lang\.|Security exception: ).*", re.MULTILINE)


class NotStarted(Exception):
    """The device refused to start the activity."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
        self.missing = "does not exist" in text or "unable to resolve" in text
        """True if there is no such activity, or none that handles the intent."""
        self.private = "Permission Denial" in text or "not exported" in text


def read_started(text: str) -> str:
    """The component that `am start -W` reports; may be empty. Old versions exit with 0 after a failure."""
    if problem := _PROBLEM.search(text):
        was_refused()
        raise NotStarted(" ".join(text[problem.start() :].split()))
    started = _STARTED.search(text)
    return started[1].strip() if started else ""


async def start_intent(shell: DeviceShell, intent: Sequence[str], user: int) -> str:
    """Raises `NotStarted` with the device's message."""
    command = ["am", "start", "-W", "--user", str(user), *intent]
    answer = await shell.run(command, check=False)
    text = f"{answer.text}\n{answer.complaint}"
    started = read_started(text)
    if not answer.ok:
        raise AdbCommandError(f"am start ended with {answer.exit_code}: {text.strip()}", command=command)
    return started


_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")


async def open_url(shell: DeviceShell, url: str) -> str:
    """The device chooses the app. Android reads an address without a scheme as a package."""
    if len(url) > 8_192 or not _URL.fullmatch(url):
        raise InvalidAction(f"{url[:200]!r} is not an address with a scheme", path="url")
    try:
        return await start_intent(shell, ["-a", VIEW, "-d", url], await current_user(shell))
    except NotStarted as refusal:
        scheme = url.partition(":")[0]
        hint = f"No installed app handles {scheme}: addresses like this one." if refusal.missing else None
        raise AdbCommandError(
            f"{url[:200]} was not opened: {refusal.text[:500]}", hint=hint, command=["am", "start"]
        ) from None


CHUNK = 1 << 20
INSTALLED_FROM = "/data/local/tmp/handrail-install.apk"
ANSWER_MS = 120_000
"""The device is silent while it verifies and optimises after the last byte."""
ZIP_MAGIC = b"PK\x03\x04"

_FAILURE = re.compile(r"Failure \[(?P<code>[A-Z_0-9]*)(?:: *)?(?P<text>.*?)\]?\s*$", re.DOTALL)
_HINTS = {
    "INSTALL_FAILED_UPDATE_INCOMPATIBLE": "The one on the device has another signature; uninstall it first.",
    "INSTALL_FAILED_VERSION_DOWNGRADE": "The one on the device is newer; uninstall it, or allow a downgrade.",
    "INSTALL_FAILED_INSUFFICIENT_STORAGE": "The device is full; remove something first.",
    "INSTALL_FAILED_OLDER_SDK": "The APK needs a newer Android than the device has.",
    "INSTALL_FAILED_TEST_ONLY": "It is a test APK, and this device does not install those.",
    "INSTALL_FAILED_NO_MATCHING_ABIS": "The APK has no native code for this device's processor.",
    "INSTALL_FAILED_MISSING_SPLIT": "It is one part of an app bundle; the other parts are needed too.",
    "INSTALL_FAILED_USER_RESTRICTED": "Allow `Install via USB` in the developer options.",
    "INSTALL_FAILED_VERIFICATION_FAILURE": "Turn off `Verify apps over USB` in the developer options.",
    "INSTALL_FAILED_DEPRECATED_SDK_VERSION": "The app targets an Android too old for this device.",
    "INSTALL_PARSE_FAILED_NO_CERTIFICATES": "The APK is not signed; sign it, or build the debug variant.",
    "INSTALL_PARSE_FAILED_NOT_APK": "The file is not an APK.",
}


async def install(device: AdbDevice, path: Path) -> None:
    """Installs a local file; a file that is not an APK is refused before anything is sent."""
    size = await asyncio.to_thread(check_apk, path)
    answer = "cmd: not found"
    if "cmd" in await device.link.features():
        service = f"exec:cmd package install -r -t -S {size}"
        with sending([service]) as answered:
            answer = (await _stream_apk(device, service, path, SystemClock())).decode("utf-8", "replace")
            answered(True)
    if re.search(r"\bcmd: .*not found", answer):  # before Android 7 an APK has to be a file on the phone
        await device.files.push(path, INSTALLED_FROM)
        try:
            command = ["pm", "install", "-r", "-t", INSTALLED_FROM]
            output = await device.shell.run(command, timeout_ms=ANSWER_MS, check=False)
            # It prints the path and progress before its answer.
            answer = re.sub(r"(?m)^\s*pkg: .*$", "", output.text + output.complaint)
        finally:
            await device.shell.run(["rm", "-f", INSTALLED_FROM], check=False)
    check_answer(answer, path.name)


async def _stream_apk(device: Opens, service: str, path: Path, clock: Clock) -> bytes:
    stream = await device.open(service)
    answer = b""
    try:
        with path.open("rb") as file:
            while part := await asyncio.to_thread(file.read, CHUNK):
                try:
                    async with Deadline(clock, ANSWER_MS):
                        await stream.write(part)
                except AdbCommandError:
                    break  # an installer that refuses stops reading; its reason can be read
        async with Deadline(clock, ANSWER_MS):
            while part := await stream.read():
                answer += part
        return answer
    except Expired:
        raise Timeout(
            f"the installer was silent for {ANSWER_MS // 1000} s",
            hint="Look at the phone: it may ask a person to allow the installation.",
            retryable=False,
            command=service,
        ) from None
    finally:
        await stream.close()


def check_apk(path: Path) -> int:
    """The size of a file that starts like a zip."""
    try:
        with path.open("rb") as file:
            start, size = file.read(4), os.fstat(file.fileno()).st_size
    except OSError as problem:
        raise InvalidAction(f"{path} can't be read: {problem.strerror}", path="path") from None
    if start != ZIP_MAGIC:
        raise InvalidAction(
            f"{path.name} is not an APK: it begins with {start!r}",
            hint="Give the .apk file itself; an app bundle (.aab) has to be built into APKs first.",
            path="path",
        )
    return size


def check_answer(answer: str, what: str) -> None:
    """Raises unless the answer starts with `Success`; common failures get a hint."""
    if answer.lstrip().startswith("Success"):
        return
    was_refused()
    failure = _FAILURE.search(answer)
    code = failure["code"] if failure else ""
    text = (failure["text"] if failure else answer).strip()
    raise AdbCommandError(
        f"{what}: {code or 'no success'}{': ' + text if text else ''}",
        hint=_HINTS.get(code),
        command=["cmd", "package"],
        install_code=code or None,
    )


async def uninstall(shell: DeviceShell, package: str) -> None:
    """Removes a package; one of the system stays, and the error says so."""
    await require_package(shell, check_package(package))
    answer = await shell.run(["pm", "uninstall", package], check=False)
    check_answer(answer.text + answer.complaint, package)
