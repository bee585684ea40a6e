"""Putting an APK on the device and taking a package off it. The bytes go straight into the installer."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from handrail.adb.link import Stream
from handrail.adb.sending import sending, was_refused
from handrail.adb.shell import DeviceShell
from handrail.android.packages import check_package, require_package
from handrail.clock import Clock, SystemClock
from handrail.errors import AdbCommandError, InvalidAction, Timeout
from handrail.waiting import Deadline, Expired

CHUNK = 1 << 20
ANSWER_MS = 120_000
"""How long the device may be silent: it verifies and optimises after the last byte."""
ZIP_MAGIC = b"PK\x03\x04"
Progress = Callable[[int, int], object]
"""Called with bytes sent and bytes in all."""

_FAILURE = re.compile(r"Failure \[(?P<code>[A-Z_0-9]*)(?:: *)?(?P<text>.*?)\]?\s*$", re.DOTALL)
_HINTS = {
    "INSTALL_FAILED_ALREADY_EXISTS": "It is installed; install with replace=True.",
    "INSTALL_FAILED_UPDATE_INCOMPATIBLE": "The one on the device has another signature; uninstall it first.",
    "INSTALL_FAILED_VERSION_DOWNGRADE": "The one on the device is newer; uninstall it, or allow a downgrade.",
    "INSTALL_FAILED_INSUFFICIENT_STORAGE": "The device is full; remove something first.",
    "INSTALL_FAILED_OLDER_SDK": "The APK needs a newer Android than the device has.",
    "INSTALL_FAILED_TEST_ONLY": "It is a test APK; install with test=True.",
    "INSTALL_FAILED_NO_MATCHING_ABIS": "The APK has no native code for this device's processor.",
    "INSTALL_FAILED_MISSING_SPLIT": "It is one part of an app bundle; the other parts are needed too.",
    "INSTALL_FAILED_USER_RESTRICTED": "Allow `Install via USB` in the developer options.",
    "INSTALL_FAILED_VERIFICATION_FAILURE": "Turn off `Verify apps over USB` in the developer options.",
    "INSTALL_FAILED_DEPRECATED_SDK_VERSION": "The app targets an Android too old for this device.",
    "INSTALL_PARSE_FAILED_NO_CERTIFICATES": "The APK is not signed; sign it, or build the debug variant.",
    "INSTALL_PARSE_FAILED_NOT_APK": "The file is not an APK.",
}


class Installer(Protocol):
    """What installing needs of a device: `AdbDevice` has it."""

    async def open(self, service: str) -> Stream: ...


async def install(
    device: Installer,
    path: Path,
    progress: Progress | None = None,
    *,
    replace: bool = True,
    test: bool = True,
    grant: bool = False,
    downgrade: bool = False,
    clock: Clock | None = None,
) -> None:
    """Install a file of this machine; what is no APK is refused before anything is sent."""
    size = await asyncio.to_thread(check_apk, path)
    flags = [("-r", replace), ("-t", test), ("-g", grant), ("-d", downgrade)]
    chosen = " ".join(flag for flag, wanted in flags if wanted)
    service = f"exec:cmd package install {chosen} -S {size}"
    used = clock or SystemClock()
    with sending([service]) as answered:
        said = await _sent_whole(device, service, path, size, progress, used)
        answered(True)
    check_answer(said.decode("utf-8", "replace"), path.name)


async def _sent_whole(
    device: Installer, service: str, path: Path, size: int, progress: Progress | None, clock: Clock
) -> bytes:
    """What the installer says to the file."""
    stream = await device.open(service)
    try:
        await _send(stream, path, size, progress, clock)
        async with Deadline(clock, ANSWER_MS):
            return await _read_all(stream)
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
    """The file's size, if it begins as every APK does."""
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


async def _send(stream: Stream, path: Path, size: int, progress: Progress | None, clock: Clock) -> None:
    """An installer that has refused reads no further: its reason is then waiting to be read."""
    sent = 0
    with path.open("rb") as file:
        while part := await asyncio.to_thread(file.read, CHUNK):
            try:
                async with Deadline(clock, ANSWER_MS):
                    await stream.write(part)
            except AdbCommandError:
                return
            sent += len(part)
            if progress is not None:
                progress(sent, size)


async def _read_all(stream: Stream) -> bytes:
    parts: list[bytes] = []
    while part := await stream.read():
        parts.append(part)
    return b"".join(parts)


def check_answer(said: str, what: str) -> None:
    """`Success`, or a failure with its code and a hint for those that people meet."""
    if said.lstrip().startswith("Success"):
        return
    was_refused()
    found = _FAILURE.search(said)
    code = found["code"] if found else ""
    text = (found["text"] if found else said).strip()
    raise AdbCommandError(
        f"{what}: {code or 'no success'}{': ' + text if text else ''}",
        hint=_HINTS.get(code),
        command=["cmd", "package"],
        install_code=code or None,
    )


async def uninstall(shell: DeviceShell, package: str, *, keep_data: bool = False) -> None:
    """Take a package off; one that came with the system stays and says so."""
    await require_package(shell, check_package(package))
    keep = ["-k"] if keep_data else []
    answer = await shell.run(["cmd", "package", "uninstall", *keep, package], check=False)
    check_answer(answer.text + answer.stderr.decode("utf-8", "replace"), package)
