"""/system/bin as a client finds it: a link or a file for every command, made when the first shell starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handrail_sim.shell.table import COMMANDS
from handrail_sim.shell.tools.starting import ANDROID_ONLY

if TYPE_CHECKING:
    from handrail_sim.disk.files import Files

FOLDER = "/system/bin"
_STUB = b"#!/system/bin/sh\n"


def fill_programs(files: Files) -> None:
    """As on a device: tools are links to toybox, Android's own commands are files."""
    if files.exists(f"{FOLDER}/sh"):
        return
    for name in sorted(COMMANDS):
        path = f"{FOLDER}/{name}"
        if name == "[[" or files.exists(path):
            continue
        if name in ANDROID_ONLY or name == "toybox":
            files.write(path, _STUB, mode=0o755)
        else:
            files.symlink("toybox", path)
