"""The nodes of a virtual file system: plain data that many disks may share. Knows no paths."""

from __future__ import annotations

import stat as modes
from dataclasses import dataclass

from handrail_sim.disk.blobs import EMPTY, Blob


@dataclass(slots=True)
class Node:
    """A file, folder, link or device. Times are whole seconds since 1970, as sync and toybox show them.

    What is frozen belongs to several disks, with all below it: who wants to change it takes `thawed`.
    """

    mode: int
    uid: int
    gid: int
    mtime: int
    inode: int
    blob: Blob = EMPTY
    entries: dict[str, Node] | None = None
    target: str = ""
    frozen: bool = False

    @property
    def folder(self) -> dict[str, Node]:
        """The entries of a folder; asking this of anything else is a mistake of ours."""
        assert self.entries is not None  # noqa: S101
        return self.entries

    def freeze(self) -> Node:
        """From now on nobody changes it or anything below it."""
        if not self.frozen:
            self.frozen = True
            for node in (self.entries or {}).values():
                node.freeze()
        return self

    def thawed(self) -> Node:
        """The same to change; what is below a folder stays shared."""
        entries = None if self.entries is None else dict(self.entries)
        return Node(self.mode, self.uid, self.gid, self.mtime, self.inode, self.blob, entries, self.target)

    def weight(self) -> int:
        """Bytes held here and below."""
        return len(self.blob) + sum(node.weight() for node in (self.entries or {}).values())


@dataclass(frozen=True, slots=True)
class Stat:
    """What stat(2) tells about a node."""

    mode: int
    size: int
    mtime: int
    uid: int
    gid: int
    inode: int
    links: int
    target: str = ""

    @property
    def is_dir(self) -> bool:
        return modes.S_ISDIR(self.mode)

    @property
    def is_link(self) -> bool:
        return modes.S_ISLNK(self.mode)

    @property
    def is_file(self) -> bool:
        return modes.S_ISREG(self.mode)

    @property
    def permissions(self) -> str:
        """`-rw-rw----`, as ls -l."""
        return modes.filemode(self.mode)


FOLDER_SIZE = 4096


def stat_of(node: Node) -> Stat:
    """A folder weighs one block and counts its subfolders as links, as on f2fs and ext4."""
    if node.entries is not None:
        links = 2 + sum(1 for entry in node.entries.values() if entry.entries is not None)
        size = FOLDER_SIZE
    else:
        links, size = 1, len(node.target) if node.target else len(node.blob)
    return Stat(node.mode, size, node.mtime, node.uid, node.gid, node.inode, links, node.target)
