"""Gets the HTTP helper running on a phone, or says in one line why not. Never raises: plain adb goes on."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.adb.shell import DeviceShell
from handrail.android.constants import HELPER_PORT, HELPER_PROTOCOL_VERSION, HELPER_STARTUP_TIMEOUT_MS
from handrail.android.helper.answers import HelperStatus
from handrail.android.helper.client import HelperClient
from handrail.android.install import install
from handrail.android.install import uninstall as remove_package
from handrail.android.resident import Resident
from handrail.clock import Clock
from handrail.errors import AdbCommandError, HandrailError
from handrail.waiting import first

MOST_MANIFEST = 16_000_000
_STRINGS, _RESOURCES, _TAG = 0x0001, 0x0180, 0x0102
_UTF8_POOL = 1 << 8
_VERSION_CODE = 0x0101021B
"""android.R.attr.versionCode: shrinkers remove the attribute's name, never its number."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an APK says of itself."""

    package: str
    version_code: int


def read_manifest(apk: Path) -> Manifest | None:
    """None for what is no APK."""
    try:
        with zipfile.ZipFile(apk) as archive:
            if archive.getinfo("AndroidManifest.xml").file_size > MOST_MANIFEST:
                return None  # a few bytes may unpack to more than the memory holds
            data = archive.read("AndroidManifest.xml")
        return _from_text(data) if data.lstrip().startswith(b"<") else _from_binary(data)
    except (OSError, zipfile.BadZipFile, zlib.error, struct.error, LookupError, ValueError, RuntimeError):
        return None


def _from_text(data: bytes) -> Manifest:
    """Phones want a compiled manifest; build trees and simulators have plain ones."""
    text = data.decode()
    package = re.search(r'\bpackage="([^"]*)"', text)
    code = re.search(r'\bversionCode="(\d+)"', text)
    return Manifest(package[1] if package else "", int(code[1]) if code else 1)


def _from_binary(data: bytes) -> Manifest:
    """Chunks of (type, head size, size): strings, resource numbers of the first of them, then tags."""
    strings, numbers, at = list[str](), tuple[int, ...](), 8
    while True:
        kind, _, size = struct.unpack_from("<HHI", data, at)
        chunk = data[at : at + size]
        if kind == _STRINGS:
            strings = _pool(chunk)
        elif kind == _RESOURCES:
            numbers = struct.unpack_from(f"<{(size - 8) // 4}I", chunk, 8)
        elif kind == _TAG:
            return _first_tag(chunk, strings, numbers)
        at += max(size, 8)


def _first_tag(chunk: bytes, strings: list[str], numbers: tuple[int, ...]) -> Manifest:
    """An attribute is five words: namespace, name, raw string, type, value."""
    package, code = "", 1
    start, width, count = struct.unpack_from("<3H", chunk, 24)
    for number in range(count):
        _, name, raw, _, value = struct.unpack_from("<5I", chunk, 16 + start + number * width)
        if name < len(numbers) and numbers[name] == _VERSION_CODE:
            code = value
        elif strings[name] == "package":
            package = strings[raw]
    return Manifest(package, code)


def _pool(chunk: bytes) -> list[str]:
    count, _, flags, start = struct.unpack_from("<4I", chunk, 8)
    read = _utf8 if flags & _UTF8_POOL else _utf16
    return [read(chunk, start + offset) for offset in struct.unpack_from(f"<{count}I", chunk, 28)]


def _utf8(chunk: bytes, at: int) -> str:
    """Two lengths, in characters and in bytes, each of one byte or two, then the text."""
    at += 2 if chunk[at] & 0x80 else 1
    size, at = chunk[at], at + 1
    if size & 0x80:
        size, at = (size & 0x7F) << 8 | chunk[at], at + 1
    return chunk[at : at + size].decode()


def _utf16(chunk: bytes, at: int) -> str:
    """A length in units, of two bytes or four, then the text."""
    (size,) = struct.unpack_from("<H", chunk, at)
    at += 2
    if size & 0x8000:
        size, at = (size & 0x7FFF) << 16 | int(struct.unpack_from("<H", chunk, at)[0]), at + 2
    return chunk[at : at + size * 2].decode("utf-16-le")


PACKAGE = "com.agentest.helper"
PACKAGES = (PACKAGE, f"{PACKAGE}.test")
FOLDERS = ("HANDRAIL_HELPER_DIR", "AGENTEST_HELPER_APK_DIR")
"""Either names the folder; the first that is set counts."""

_VERSION = re.compile(r"\bversionCode=(\d+)")
Apks = dict[str, tuple[Path, Manifest]]
"""By package."""


def find_apks(env: Mapping[str, str]) -> Apks | str:
    """Both APKs, told by their manifests and not by their names; or why they are not to be had."""
    folder = next((env[name] for name in FOLDERS if env.get(name)), "")
    if not folder:
        return f"no helper APKs: {FOLDERS[0]} is not set"
    found: Apks = {}
    for path in sorted(Path(folder).glob("*.apk")):
        manifest = read_manifest(path)
        if manifest is not None and manifest.package in PACKAGES:
            found[manifest.package] = (path, manifest)
    missing = [package for package in PACKAGES if package not in found]
    return found if not missing else f"no helper APKs: {' and '.join(missing)} not found in {folder}"


async def put_apks(device: AdbDevice, apks: Apks) -> None:
    """Install what is missing or older than ours."""
    for package, (path, manifest) in apks.items():
        installed = await _installed_version(device.shell, package)
        if installed is None or installed < manifest.version_code:
            await install(device, path)


async def _installed_version(shell: DeviceShell, package: str) -> int | None:
    told = await shell.run(["dumpsys", "package", package], check=False)
    found = _VERSION.search(told.text)
    return int(found[1]) if found else None


RUNNER = f"{PACKAGES[1]}/androidx.test.runner.AndroidJUnitRunner"
COMMAND = ["am", "instrument", "-w", "-r", RUNNER]
SWITCHES = ("HANDRAIL_DISABLE_HELPER", "AGENTEST_DISABLE_HELPER")
PROBE_TIMEOUT_MS = 500
POLL_MS = 100

Say = Callable[[str], None]


class NoHelper(Exception):
    """Why there is none, in one line."""


@dataclass(frozen=True, slots=True)
class HelperHandle:
    """A helper that answers. `resident` is its instrumentation; None if that was running already."""

    client: HelperClient
    status: HelperStatus
    device: AdbDevice
    resident: Resident | None

    async def shutdown(self, uninstall: bool = False) -> None:
        """Ends it on the phone; a helper or a phone that is gone is no error. As often as one likes."""
        await _quietly(self.client.shutdown())
        if self.resident is not None:
            await self.resident.stop()
        for package in reversed(PACKAGES) if uninstall else ():
            await _quietly(remove_package(self.device.shell, package))


async def ensure_helper(
    device: AdbDevice,
    *,
    env: Mapping[str, str],
    clock: Clock,
    say: Say,
    startup_timeout_ms: float = HELPER_STARTUP_TIMEOUT_MS,
) -> HelperHandle | None:
    """Installed if need be, started if need be, and answering; None, with the reason said, otherwise."""
    try:
        await _installed(device, env)
        client = HelperClient(device, clock)
        status = await _running(device, client, clock, startup_timeout_ms)
        if status is not None:
            return HelperHandle(client, status, device, None)
        return await _started(device, client, startup_timeout_ms)
    except NoHelper as reason:
        say(str(reason))
        return None


async def _installed(device: AdbDevice, env: Mapping[str, str]) -> None:
    if switch := next((name for name in SWITCHES if env.get(name) == "1"), None):
        raise NoHelper(f"the helper is switched off by {switch}=1")
    apks = find_apks(env)
    if isinstance(apks, str):
        raise NoHelper(apks)
    try:
        await put_apks(device, apks)
    except HandrailError as error:
        raise NoHelper(f"the helper could not be installed: {error.message}") from None


async def _running(
    device: AdbDevice, client: HelperClient, clock: Clock, timeout_ms: float
) -> HelperStatus | None:
    """One that an earlier session left, if it speaks our protocol; one that does not is ended."""
    try:
        await (await device.open(f"tcp:{HELPER_PORT}")).close()
    except AdbCommandError:
        return None  # refused: nothing listens
    except HandrailError as error:
        raise NoHelper(f"no stream to port {HELPER_PORT} of the phone: {error.message}") from None
    status = await client.status(PROBE_TIMEOUT_MS)
    if status is None or status.protocol_version == HELPER_PROTOCOL_VERSION:
        return status
    await _quietly(client.shutdown())
    end = clock.monotonic_ms() + timeout_ms
    while await client.status(PROBE_TIMEOUT_MS) is not None and clock.monotonic_ms() < end:
        await clock.sleep_ms(POLL_MS)
    return None


async def _started(device: AdbDevice, client: HelperClient, timeout_ms: float) -> HelperHandle:
    resident = Resident(device.shell, COMMAND)
    try:
        status = await _first_answer(client, resident, timeout_ms)
    except BaseException as error:
        await resident.stop()
        if isinstance(error, HandrailError):
            raise NoHelper(error.message) from None
        raise
    return HelperHandle(client, status, device, resident)


async def _first_answer(client: HelperClient, resident: Resident, timeout_ms: float) -> HelperStatus:
    """Whatever comes first: an answer, the end of the instrumentation, or of the time."""
    ready, _ = await first(client.wait_for_ready(timeout_ms), resident.wait())
    if ready.cancelled():
        raise NoHelper(f"am instrument failed: {resident.last_words}")
    return ready.result()


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    """Clearing up after something that may be gone."""
    try:
        await work
    except HandrailError:
        return
