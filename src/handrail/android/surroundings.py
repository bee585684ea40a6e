"""What an app finds around it: dark or light, the place, pictures in the gallery. Each is read back."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Literal

from handrail.adb.device import AdbDevice
from handrail.adb.sending import sending
from handrail.adb.shell import DeviceShell
from handrail.errors import AdbCommandError, InvalidAction, Unsupported, VerificationFailed

_NIGHT = re.compile(r"Night mode:\s*(\w+)")
_FOLDERS = {
    ".png": "Pictures", ".jpg": "Pictures", ".jpeg": "Pictures", ".gif": "Pictures", ".webp": "Pictures",
    ".mp4": "Movies",
}  # fmt: skip
_SHARED = "/sdcard"
_NAME = re.compile(r"[^A-Za-z0-9._ -]")
_PROVIDER = "gps"
MOCKED_BY = "com.android.shell"
"""The package whose mock locations the phone must accept."""


async def set_appearance(shell: DeviceShell, appearance: Literal["dark", "light"]) -> str:
    """Night mode on or off, as the phone then says it."""
    word = "yes" if appearance == "dark" else "no"
    await _said(shell, ["cmd", "uimode", "night", word])
    found = _NIGHT.search(await _said(shell, ["cmd", "uimode", "night"]))
    now = "" if found is None else "dark" if found[1] == "yes" else "light"
    if now != appearance:
        raise VerificationFailed(
            f"the phone stays {now or 'as it is'}",
            hint="Battery saver and schedules of night mode decide before this does.",
            expected=appearance,
            observed=now,
        )
    return now


async def set_location(shell: DeviceShell, latitude: float, longitude: float) -> str:
    """A provider of mock locations says where the phone is; from Android 12 on."""
    place = f"{latitude:.6f},{longitude:.6f}"
    await shell.run(["appops", "set", MOCKED_BY, "android:mock_location", "allow"], check=False)
    start = ["cmd", "location", "providers"]
    added = await shell.run([*start, "add-test-provider", _PROVIDER], check=False)
    if not added.ok or "Unknown command" in added.text:
        raise Unsupported(
            "this Android takes no mock location by command",
            hint="It needs Android 12; on an emulator use its own location panel.",
        )
    await _said(shell, [*start, "set-test-provider-enabled", _PROVIDER, "true"])
    await _said(shell, [*start, "set-test-provider-location", _PROVIDER, "--location", place])
    known = (await shell.run(["dumpsys", "location"], check=False)).text
    if place not in known:
        raise VerificationFailed("the phone does not say that it is there", expected=place, observed=None)
    return place


async def add_media(device: AdbDevice, shell: DeviceShell, path: Path) -> str:
    """Into the shared folder that galleries show, and known to the media store."""
    folder = _FOLDERS.get(path.suffix.lower())
    if folder is None:
        raise InvalidAction(
            f"{path.name} is neither a picture nor a film",
            path="path",
            hint=f"Give one of {', '.join(_FOLDERS)}.",
        )
    if not path.is_file():
        raise InvalidAction(f"{path} is not a file", path="path", hint="Give a file that exists.")
    remote = posixpath.join(_SHARED, folder, _NAME.sub("_", path.name))
    with sending(["push", remote]) as answered:
        size = await device.files.push(path, remote)
        answered(True)
    scan = ["content", "call", "--uri", "content://media/", "--method", "scan_file", "--arg", remote]
    await shell.run(scan, check=False)  # old versions look by themselves
    found = (await device.files.stat(remote)).size
    if found != size:
        raise VerificationFailed(f"{remote} has {found} bytes", expected=size, observed=found)
    return remote


async def _said(shell: DeviceShell, command: list[str]) -> str:
    answer = await shell.run(command, check=False)
    if not answer.ok:
        said = answer.stderr.decode("utf-8", "replace").strip() or answer.text.strip()
        raise AdbCommandError(f"{' '.join(command[:3])}: {said[:300]}", command=command)
    return answer.text
