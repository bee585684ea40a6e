"""One phone's storage: finds nodes by path for a user, links and permissions as on Linux. Changes nothing."""

from __future__ import annotations

import errno
import os
import stat as modes
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from handrail_sim.disk.blobs import EMPTY, Blob

ROOT, SYSTEM, MEDIA_RW, SHELL_GROUP, EVERYBODY = 0, 1000, 1023, 2000, 9997
CAPACITY = 512 << 20
"""Bytes one phone may hold: a full disk is the phone's problem, never the host's memory."""
NAME_MAX = 255
LINKS_MAX = 40
READ_ONLY = ("", "apex", "odm", "product", "system", "system_ext", "vendor")
"""Top folders that are mounted read-only; "" is / itself."""


def failure(number: int, path: str) -> OSError:
    """The error of a system call; Python picks the subclass, such as FileNotFoundError."""
    return OSError(number, os.strerror(number), path)


@dataclass(frozen=True, slots=True)
class User:
    """Who asks. Root may do everything, also where the disk is read-only."""

    uid: int
    gids: frozenset[int]

    def may(self, node: Node, bit: int) -> bool:
        """Read is 4, write 2, enter 1, as in the mode's octal digits."""
        if self.uid == ROOT:
            return True
        if self.uid == node.uid:
            return node.mode >> 6 & bit == bit
        return (node.mode >> 3 if node.gid in self.gids else node.mode) & bit == bit


ROOT_USER = User(ROOT, frozenset({ROOT}))
SHELL_USER = User(
    SHELL_GROUP, frozenset({SHELL_GROUP, MEDIA_RW, EVERYBODY, 1004, 1007, 1011, 1015, 1028, 1078, 1079, 3009})
)


class Place(NamedTuple):
    """Where a path leads: the canonical folders on the way, the last name, and the node if there is one."""

    way: tuple[str, ...]
    folder: Node
    name: str
    node: Node | None

    @property
    def read_only(self) -> bool:
        return (self.way[0] if self.way else "") in READ_ONLY

    @property
    def shared_storage(self) -> bool:
        return self.way[:2] == ("storage", "emulated")

    @property
    def path(self) -> str:
        return "/" + "/".join((*self.way, self.name) if self.name else self.way)


class Disk:
    """The tree of nodes, shared by the views of all users."""

    def __init__(self) -> None:
        self.used = 0
        self.inode = 1
        self.root = Node(0o40755, ROOT, ROOT, 0, 1, entries={})
        self.mounts: dict[str, Callable[[], Node]] = {}
        """Top folders whose content is made when somebody looks, such as /proc."""

    def new_inode(self) -> int:
        self.inode += 1
        return self.inode

    def place(self, path: str, user: User, *, follow: bool = True, own: bool = False) -> Place:
        """Every folder on the way must be there and open to the user; the last name need not exist.

        `own`: the nodes on the way and the last one are to be changed, so they become this disk's own.
        """
        todo = [part for part in reversed(path.split("/")) if part not in ("", ".")]
        if own and self.root.frozen:
            self.root = self.root.thawed()
        way: list[tuple[str, Node]] = [("", self.root)]
        links = 0
        while todo:
            name = todo.pop()
            if name == "..":
                del way[max(1, len(way) - 1) :]
                continue
            folder = self._enter(way[-1][1], name, path, user)
            node = self.mounts[name]() if len(way) == 1 and name in self.mounts else folder.get(name)
            if node is not None and node.target and (todo or follow):
                links += 1
                if links > LINKS_MAX:
                    raise failure(errno.ELOOP, path)
                if node.target.startswith("/"):
                    del way[1:]
                todo += [part for part in reversed(node.target.split("/")) if part not in ("", ".")]
            elif node is None and todo:
                raise failure(errno.ENOENT, path)
            elif node is None:
                return Place(tuple(part for part, _ in way[1:]), way[-1][1], name, None)
            else:
                if own and node.frozen:
                    node = folder[name] = node.thawed()
                way.append((name, node))
        name, node = way[-1]
        return Place(tuple(part for part, _ in way[1:-1]), way[-2][1] if len(way) > 1 else node, name, node)

    def _enter(self, node: Node, name: str, path: str, user: User) -> dict[str, Node]:
        if node.entries is None:
            raise failure(errno.ENOTDIR, path)
        if not user.may(node, 1):
            raise failure(errno.EACCES, path)
        if len(name) * 4 > NAME_MAX and len(name.encode("utf-8", "surrogateescape")) > NAME_MAX:
            raise failure(errno.ENAMETOOLONG, path)
        return node.entries

    def find(self, path: str, user: User, *, follow: bool = True) -> Node:
        node = self.place(path, user, follow=follow).node
        if node is None:
            raise failure(errno.ENOENT, path)
        if path.endswith("/") and node.entries is None and not node.target:
            raise failure(errno.ENOTDIR, path)
        return node

    def charge(self, more: int, path: str) -> None:
        if more > 0 and self.used + more > CAPACITY:
            raise failure(errno.ENOSPC, path)
        self.used += more


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
