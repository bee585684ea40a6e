"""Programs that a person may have beside WebDriverAgent: `simctl` for simulators, go-ios for iPhones.

Both do what XCTest may not: apps, permissions, files, logs. Neither is needed to look and touch.
"""

from __future__ import annotations

import asyncio
import json
import plistlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.clock import Clock
from handrail.errors import AppNotInstalled, InvalidAction, IosCommandError, Timeout, Unsupported
from handrail.surface.values import InstalledApp
from handrail.waiting import Deadline, Expired

RUN_MS = 60_000.0
INSTALL_MS = 300_000.0
SERVICES = (
    "all", "calendar", "camera", "contacts", "contacts-limited", "location", "location-always",
    "media-library", "microphone", "motion", "photos", "photos-add", "reminders", "siri",
)  # fmt: skip
"""What `simctl privacy` grants and revokes."""
_LONGEST = 300
"""Characters of a program's complaint."""
_UNAVAILABLE = frozenset({"(unavailable, runtime profile not found)", "(unavailable)"})


@dataclass(frozen=True, slots=True)
class Simulator:
    """One simulator of this Mac."""

    udid: str
    name: str
    runtime: str
    """`iOS 26.2`."""
    booted: bool
    booted_at: str = ""


async def run_program(
    arguments: Sequence[str],
    clock: Clock,
    *,
    timeout_ms: float = RUN_MS,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
) -> bytes:
    """What the program wrote. Raises `IosCommandError` with what it complained of."""
    process = await asyncio.create_subprocess_exec(
        *arguments,
        stdin=asyncio.subprocess.PIPE if stdin is not None else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=env,
    )
    try:
        async with Deadline(clock, timeout_ms):
            written, complaint = await process.communicate(stdin)
    except BaseException as error:
        if process.returncode is None:
            process.kill()
        if isinstance(error, Expired):
            raise Timeout(f"{arguments[0]} did not end in time", command=list(arguments)) from None
        raise
    if process.returncode:
        says = complaint.decode("utf-8", "replace").strip().splitlines()
        why = _complaint(says) or f"exit code {process.returncode}"
        raise IosCommandError(f"{' '.join(arguments[:4])}: {why}", command=list(arguments))
    return written


def _complaint(lines: Sequence[str]) -> str:
    """What went wrong: go-ios writes a JSON object a line, and Go its panics before all else."""
    panics = [line for line in lines if line.startswith("panic:")]
    for line in panics or lines[::-1]:
        try:
            entry = json.loads(line)
        except ValueError:
            return line[:_LONGEST]
        if isinstance(entry, dict) and str(entry.get("level", "ERROR")).upper() in ("ERROR", "FATAL"):
            parts = (entry.get("msg"), entry.get("err") or entry.get("error"))
            return ": ".join(str(part) for part in parts if part)[:_LONGEST]
    return ""


class Simctl:
    """`xcrun simctl` for one simulator."""

    def __init__(self, udid: str, clock: Clock) -> None:
        self.udid = udid
        self._clock = clock

    async def run(
        self, verb: str, *words: str, timeout_ms: float = RUN_MS, stdin: bytes | None = None
    ) -> bytes:
        command = ["xcrun", "simctl", verb, self.udid, *words]
        return await run_program(command, self._clock, timeout_ms=timeout_ms, stdin=stdin)

    async def installed(self) -> list[InstalledApp]:
        listed = await self.run("listapps")
        plist = await run_program(
            ["plutil", "-convert", "xml1", "-o", "-", "-"], self._clock, stdin=listed
        )  # an old-style property list
        apps = plistlib.loads(plist)
        return [
            InstalledApp(bundle, str(facts.get("CFBundleDisplayName") or facts.get("CFBundleName") or bundle))
            for bundle, facts in apps.items()
        ]

    async def data_folder(self, bundle: str) -> Path:
        """The folder of an app's files. Raises `AppNotInstalled`."""
        try:
            path = (await self.run("get_app_container", bundle, "data")).decode().strip()
        except IosCommandError as error:
            raise AppNotInstalled(f"{bundle} is not on this simulator: {error.message}") from None
        folder = Path(path).resolve()
        if self.udid not in folder.parts or not folder.is_dir():
            raise IosCommandError(f"{path} is not a folder of this simulator", command=["get_app_container"])
        return folder


def service_of(permission: str) -> str:
    """`simctl`'s name of a permission; Android's names are read where they mean the same."""
    name = permission.rpartition(".")[2].lower().replace("_", "-")
    name = {
        "record-audio": "microphone",
        "access-fine-location": "location",
        "read-contacts": "contacts",
    }.get(name, name)
    if name not in SERVICES:
        raise InvalidAction(
            f"An iPhone has no permission {permission[:60]!r}",
            hint=f"It has {', '.join(SERVICES)}.",
            path="permission",
            delivery="not_delivered",
        )
    return name


class GoIos:
    """go-ios' program `ios` for one iPhone, where the person has installed it."""

    def __init__(self, udid: str, env: Mapping[str, str], clock: Clock) -> None:
        self.udid = udid
        self._program = shutil.which("ios", path=env.get("PATH"))
        self._env = env
        self._clock = clock

    async def run(self, *words: str, timeout_ms: float = RUN_MS) -> list[dict[str, Any]]:
        """Returns go-ios's answers, a JSON document each."""
        if self._program is None:
            raise Unsupported(
                f"`ios {words[0]}` of go-ios is needed for this on an iPhone",
                hint="Install go-ios (github.com/danielpaulus/go-ios), or use a simulator.",
                delivery="not_delivered",
            )
        command = [self._program, *words, f"--udid={self.udid}"]
        written = await run_program(command, self._clock, timeout_ms=timeout_ms, env=self._env)
        documents: list[dict[str, Any]] = []
        for line in written.decode("utf-8", "replace").splitlines():
            try:
                document = json.loads(line)
            except ValueError:
                continue
            parts = document if isinstance(document, list) else [document]
            documents += [part for part in parts if isinstance(part, dict)]
        return documents

    async def installed(self) -> list[InstalledApp]:
        documents = await self.run("apps")
        return [
            InstalledApp(
                str(app["CFBundleIdentifier"]),
                str(app.get("CFBundleDisplayName") or app.get("CFBundleName") or app["CFBundleIdentifier"]),
            )
            for app in documents
            if app.get("CFBundleIdentifier")
        ]


def read_simulators(listed: bytes) -> list[Simulator]:
    """The iPhones and iPads of `simctl list devices --json` that can run, booted ones first."""
    try:
        devices = json.loads(listed)["devices"].items()
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
    simulators = []
    for runtime, entries in devices:
        system, _, version = runtime.rpartition(".")[2].partition("-")
        if system != "iOS" and not runtime.startswith("iOS"):
            continue
        name = runtime if runtime.startswith("iOS") else f"{system} {version.replace('-', '.')}"
        for entry in entries if isinstance(entries, list) else ():
            if not isinstance(entry, dict) or not isinstance(udid := entry.get("udid"), str):
                continue
            booted, availability = entry.get("state") == "Booted", entry.get("availability")
            is_available = entry.get("isAvailable", availability == "(available)" or booted)
            if is_available in (True, "YES") and availability not in _UNAVAILABLE:
                started = str(entry.get("lastBootedAt", ""))
                simulators.append(Simulator(udid, str(entry.get("name") or udid), name, booted, started))
    return sorted(simulators, key=lambda simulator: not simulator.booted)


async def list_simulators(clock: Clock, env: Mapping[str, str]) -> list[Simulator]:
    """Those of this Mac; none where there is no Xcode."""
    if shutil.which("xcrun", path=env.get("PATH")) is None:
        return []
    try:
        return read_simulators(await run_program(["xcrun", "simctl", "list", "devices", "--json"], clock))
    except (IosCommandError, Timeout):
        return []
