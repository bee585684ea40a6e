"""The u2 server's program: found in the `uiautomator2` package without an import, pushed when it differs."""

from __future__ import annotations

import asyncio
import hashlib
from importlib.util import find_spec
from pathlib import Path

from handrail.adb.device import AdbDevice

REMOTE = "/data/local/tmp/u2.jar"
MODE = 0o644


def find_jar() -> Path | None:
    """The jar of the installed package; None when there is none."""
    spec = find_spec("uiautomator2")
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        jar = Path(folder) / "assets" / "u2.jar"
        if jar.is_file():
            return jar
    return None


async def put_jar(device: AdbDevice, jar: Path) -> None:
    """Make the phone's copy this one; sent only when it differs."""
    data = await asyncio.to_thread(jar.read_bytes)
    digest = hashlib.md5(data, usedforsecurity=False).hexdigest()
    found = await device.shell.run(["md5sum", REMOTE], check=False)
    if digest not in found.text:
        await device.files.push(data, REMOTE, mode=MODE)
