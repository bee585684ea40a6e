"""`adb backup`: asks on the screen, then writes Android's backup format: a few lines, then a packed archive.

As since Android 12, only apps that can be debugged give their data away. There is no restore.
"""

from __future__ import annotations

import asyncio
import io
import shlex
import tarfile
import zlib
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING

from handrail_sim.stream import Stream
from handrail_sim.waiting import first

if TYPE_CHECKING:
    from handrail_sim.phone import Phone
    from handrail_sim.system.packages import Package

HEADER = b"ANDROID BACKUP\n5\n1\nnone\n"
"""Version of the format, packed, not encrypted."""
PATIENCE_MS = 60_000.0
DOMAINS = {"databases": "db", "files": "f", "shared_prefs": "sp"}
"""Folders of an app, and what they are called in the archive; the rest of its folder is `r`."""


def backup(phone: Phone, rest: str) -> Callable[[Stream], Awaitable[None]]:
    """Nothing is sent when somebody refuses or nobody answers for a minute: adb keeps an empty file."""

    async def run(stream: Stream) -> None:
        answered: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def answer(allowed: bool) -> None:
            if not answered.done():
                answered.set_result(allowed)

        phone.ask_backup(answer)
        waited, _ = await first(_wait(answered), phone.clock.sleep_ms(PATIENCE_MS))
        if waited.cancelled() or not waited.result():
            return
        await stream.write(HEADER + zlib.compress(archive(phone, _words(rest))))

    return run


def _words(rest: str) -> list[str]:
    """adb puts quotes around each."""
    try:
        return shlex.split(rest)
    except ValueError:
        return rest.split()


async def _wait(answered: asyncio.Future[bool]) -> bool:
    return await answered


def archive(phone: Phone, words: list[str]) -> bytes:
    """The data of the named packages, or with -all of every one, as tar."""
    flags = {word for word in words if word.startswith("-")}
    names = [word for word in words if not word.startswith("-")]
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, package in sorted(phone.packages.installed.items()):
            wanted = name in names or ("-all" in flags and not (package.system and "-nosystem" in flags))
            if wanted and package.debuggable:
                for path, data in _entries(phone, package, apk="-apk" in flags):
                    entry = tarfile.TarInfo(f"apps/{name}/{path}")
                    entry.size, entry.mode, entry.uid = len(data), 0o600, package.uid
                    tar.addfile(entry, io.BytesIO(data))
    return made.getvalue()


def _entries(phone: Phone, package: Package, *, apk: bool) -> Iterator[tuple[str, bytes]]:
    sdk = phone.props.get("ro.build.version.sdk", "34")
    facts = ["1", package.name, str(package.version_code), sdk, package.installer, str(int(apk)), "0", ""]
    yield "_manifest", "\n".join(facts).encode()
    if apk and phone.files.is_file(package.path):
        yield "a/base.apk", phone.files.read(package.path)
    home = f"/data/data/{package.name}"
    for path in _files(phone, home):
        folder, _, inner = path.removeprefix(f"{home}/").partition("/")
        if folder in DOMAINS:
            yield f"{DOMAINS[folder]}/{inner}", phone.files.read(path)
        elif folder not in {"cache", "code_cache", "no_backup", "lib"}:
            yield f"r/{path.removeprefix(f'{home}/')}", phone.files.read(path)


def _files(phone: Phone, folder: str) -> Iterator[str]:
    for name in sorted(phone.files.list(folder)) if phone.files.is_dir(folder) else []:
        path = f"{folder}/{name}"
        if phone.files.is_dir(path):
            yield from _files(phone, path)
        elif phone.files.is_file(path):
            yield path
