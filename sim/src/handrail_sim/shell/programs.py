"""/system/bin as a client finds it: a link or a file for every command, there from the first shell on."""

from __future__ import annotations

import stat as modes
from functools import cache
from itertools import count
from typing import TYPE_CHECKING

from handrail_sim.disk.blobs import intern
from handrail_sim.disk.lookup import ROOT, SHELL
from handrail_sim.disk.nodes import Node
from handrail_sim.shell.table import COMMANDS
from handrail_sim.shell.tools.starting import ANDROID_ONLY

if TYPE_CHECKING:
    from handrail_sim.disk.files import Files

FOLDER = "/system/bin"
BUILT = 1230768000
"""The first moment of 2009, which Android's build gives to every file of the system image."""
FIRST_INODE = 1_000_000
"""Of the files that all phones share; far from what a phone counts itself."""
_STUB = b"#!/system/bin/sh\n"


def fill_programs(files: Files) -> None:
    """As on a device: tools are links to toybox, Android's own commands are files."""
    if not files.holds("system", "bin", "sh"):
        files.graft(FOLDER, _programs())


@cache
def _programs() -> Node:
    """One folder for all phones: nobody changes it."""
    inodes, stub = count(FIRST_INODE), intern(_STUB)
    made = Node(modes.S_IFDIR | 0o751, ROOT, SHELL, BUILT, next(inodes), entries={})
    for name in sorted(COMMANDS):
        if name in ANDROID_ONLY or name == "toybox":
            node = Node(modes.S_IFREG | 0o755, ROOT, SHELL, BUILT, next(inodes), stub)
        else:
            node = Node(modes.S_IFLNK | 0o777, ROOT, SHELL, BUILT, next(inodes), target="toybox")
        made.folder[name] = node
    return made.freeze()
