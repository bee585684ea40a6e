"""The phone's files as system calls see them, for root or for one user. Knows no shell and no protocol.

Failures are OSErrors with Android's texts. Paths are absolute; names that are not UTF-8 travel as surrogates.
"""

from __future__ import annotations

import errno
import re
import stat as modes
from collections.abc import Callable, Hashable, Iterable, Iterator
from fnmatch import translate
from typing import Any, NamedTuple

from handrail_sim.clock import Clock, Wall
from handrail_sim.disk import image as disk_image
from handrail_sim.disk import lookup
from handrail_sim.disk.blobs import EMPTY, Blob, intern

MAGIC = re.compile(r"[*?\[]")


def match_names(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that fit one part of a path; a part without magic fits itself, there or not."""
    if not MAGIC.search(pattern):
        return [pattern]
    fits = re.compile(translate(pattern.replace("[^", "[!"))).match
    return [name for name in names if fits(name) and (pattern[0] == "." or name[0] != ".")]


Names = list[str]
"""Spelled apart because `Files.list` hides the type inside the class."""
FILLED_KEPT = 16


class DiskState(NamedTuple):
    """A disk at one moment; its nodes are frozen."""

    root: lookup.Node
    used: int
    inode: int


_FILLED: dict[tuple[int, Hashable], DiskState] = {}
"""Disks just after they were filled, by the second and by what they were filled with."""


class Files:
    """One user's view of a phone's disk."""

    def __init__(
        self, clock: Clock | Wall, *, disk: lookup.Disk | None = None, user: lookup.User = lookup.ROOT_USER
    ) -> None:
        self._clock = clock
        self.user = user
        self._disk = disk or lookup.Disk()
        self.umask = 0
        """Bits that new files do not get, as a shell may ask for."""
        if disk is None:
            self.fill_once("image", disk_image.fill)

    def as_shell(self) -> Files:
        return Files(self._clock, disk=self._disk, user=lookup.SHELL_USER)

    def as_user(self, uid: int) -> Files:
        user = (
            lookup.ROOT_USER
            if uid == 0
            else lookup.User(uid, frozenset({uid, lookup.MEDIA_RW, lookup.EVERYBODY}))
        )
        return Files(self._clock, disk=self._disk, user=user)

    def mount(self, name: str, content: Callable[[], lookup.Node]) -> None:
        """A top folder that is made when somebody looks."""
        self._disk.mounts[name] = content

    # looking

    def stat(self, path: str, *, follow: bool = True) -> lookup.Stat:
        return lookup.stat_of(self._disk.find(path, self.user, follow=follow))

    def exists(self, path: str) -> bool:
        try:
            self._disk.find(path, self.user)
        except OSError:
            return False
        return True

    def holds(self, *names: str) -> bool:
        """The same for a path without links, without a permission check; cheap enough for every turn."""
        node: lookup.Node | None = self._disk.root
        for name in names:
            node = node.entries.get(name) if node is not None and node.entries is not None else None
        return node is not None

    def is_dir(self, path: str) -> bool:
        return self.exists(path) and self.stat(path).is_dir

    def is_file(self, path: str) -> bool:
        return self.exists(path) and self.stat(path).is_file

    def may(self, path: str, bit: int) -> bool:
        """Read is 4, write 2, execute 1: what `test -r`, `-w` and `-x` ask."""
        try:
            place = self._disk.place(path, self.user)
        except OSError:
            return False
        if place.node is None or (bit == 2 and place.read_only and self.user is not lookup.ROOT_USER):
            return False
        return self.user.may(place.node, bit)

    def canonical(self, path: str) -> str:
        """The path without links and dots; its last name need not exist."""
        return self._disk.place(path, self.user).path

    def read(self, path: str) -> bytes:
        return self.content(path).data

    def content(self, path: str) -> Blob:
        """The file's content without a copy; the blob is shared between phones."""
        node = self._disk.find(path, self.user)
        if node.entries is not None:
            raise lookup.failure(errno.EISDIR, path)
        self._need(node, 4, path)
        return node.blob

    def list(self, path: str) -> Names:
        node = self._disk.find(path, self.user)
        if node.entries is None:
            raise lookup.failure(errno.ENOTDIR, path)
        self._need(node, 4, path)
        return sorted(node.entries)

    def walk(self, path: str) -> Iterator[tuple[str, lookup.Stat]]:
        """The path and all below it, folders before their content, links not followed."""
        stat = self.stat(path, follow=False)
        yield path, stat
        if stat.is_dir:
            for name in self.list(path):
                yield from self.walk(f"{path.rstrip('/')}/{name}")

    def glob(self, pattern: str) -> Names:
        """Absolute paths that match `*`, `?` and `[…]`, sorted; folders that may not be read are skipped."""
        names = [""]
        for part in pattern.strip("/").split("/"):
            names = [f"{base}/{name}" for base in names for name in match_names(part, self._names(base))]
        return [path for path in names if self._is_there(path)]

    def readlink(self, path: str) -> str:
        node = self._disk.find(path, self.user, follow=False)
        if not node.target:
            raise lookup.failure(errno.EINVAL, path)
        return node.target

    @property
    def used(self) -> int:
        return self._disk.used

    # changing

    def write(self, path: str, data: bytes, *, mode: int = 0o644, mtime: int | None = None) -> None:
        """Create or replace a file; an existing one keeps owner and mode, as with O_TRUNC."""
        node = self._open(path, mode)
        if modes.S_ISCHR(node.mode):
            return
        self._disk.charge(len(data) - len(node.blob), path)
        node.blob = intern(data)
        node.mtime = self._now() if mtime is None else mtime

    def place(self, path: str, blob: Blob, *, mode: int = 0o644) -> None:
        node = self._open(path, mode)
        self._disk.charge(len(blob) - len(node.blob), path)
        node.blob = blob
        node.mtime = self._now()

    def append(self, path: str, data: bytes) -> None:
        old = self._open(path, 0o644).blob.data
        self.write(path, old + data)

    def touch(self, path: str, mtime: int | None = None) -> None:
        self._open(path, 0o644, folders=True).mtime = self._now() if mtime is None else mtime

    def mkdir(self, path: str, mode: int = 0o755, *, parents: bool = False) -> None:
        """Make a folder; with `parents`, those on the way too, and none of them need be new."""
        if parents and path.strip("/"):
            parent = path.rstrip("/").rpartition("/")[0]
            if parent and not self.is_dir(parent):
                self.mkdir(parent, mode, parents=True)
            if self.is_dir(path):
                return
        place = self._disk.place(path, self.user, follow=False, own=True)
        if place.node is not None:
            raise lookup.failure(errno.EEXIST, path)
        self._add(place, path, self._new(place, modes.S_IFDIR | mode))

    def symlink(self, target: str, path: str) -> None:
        place = self._disk.place(path, self.user, follow=False, own=True)
        if place.node is not None:
            raise lookup.failure(errno.EEXIST, path)
        if place.shared_storage:
            raise lookup.failure(errno.EPERM, path)
        node = self._new(place, modes.S_IFLNK | 0o777)
        node.target = target
        self._add(place, path, node)

    def device(self, path: str, mode: int = 0o666) -> None:
        place = self._disk.place(path, self.user, own=True)
        self._add(place, path, self._new(place, modes.S_IFCHR | mode))

    def chmod(self, path: str, mode: int) -> None:
        place, node = self._own(path)
        if not place.shared_storage:
            node.mode = modes.S_IFMT(node.mode) | mode & 0o7777

    def chown(self, path: str, uid: int, gid: int) -> None:
        _, node = self._own(path)
        if self.user is not lookup.ROOT_USER and uid != node.uid:
            raise lookup.failure(errno.EPERM, path)
        node.uid, node.gid = uid, gid

    def remove(self, path: str) -> None:
        place = self._existing(path)
        if place.node is not None and place.node.entries is not None:
            raise lookup.failure(errno.EISDIR, path)
        self._drop(place, path)

    def rmdir(self, path: str) -> None:
        place = self._existing(path)
        if place.node is None or place.node.entries is None:
            raise lookup.failure(errno.ENOTDIR, path)
        if place.node.entries:
            raise lookup.failure(errno.ENOTEMPTY, path)
        self._drop(place, path)

    def remove_tree(self, path: str) -> None:
        """A file, link or folder with all below it, as far as the user may."""
        stat = self.stat(path, follow=False)
        if not stat.is_dir:
            self.remove(path)
            return
        for name in self.list(path):
            self.remove_tree(f"{path.rstrip('/')}/{name}")
        self.rmdir(path)

    def rename(self, old: str, new: str) -> None:
        """Move a node; an existing file of that name is replaced, a folder only when it is empty."""
        source, target = self._existing(old), self._disk.place(new, self.user, follow=False, own=True)
        node = source.node
        assert node is not None  # noqa: S101
        if target.node is node:
            return
        if node.entries is not None and f"{target.path}/".startswith(f"{source.path}/"):
            raise lookup.failure(errno.EINVAL, new)
        if target.node is not None:
            (self.rmdir if node.entries is not None else self.remove)(new)
        self._may_change(source, old)
        self._may_change(target, new)
        del source.folder.folder[source.name]
        target.folder.folder[target.name] = node

    def make_app_data(self, package: str, uid: int) -> None:
        disk_image.fill_app_data(self, package, uid)

    # states

    def snapshot(self) -> DiskState:
        """The disk as it is now. It costs nothing, because nodes are copied on write."""
        return DiskState(self._disk.root.freeze(), self._disk.used, self._disk.inode)

    def restore(self, state: DiskState) -> None:
        self._disk.root, self._disk.used = state.root, state.used
        self._disk.inode = max(self._disk.inode, state.inode)

    def fill_once(self, key: Hashable, fill: Callable[[Files], object]) -> None:
        """Disks that are filled alike in the same second share their nodes; `key` says what is alike."""
        existing = _FILLED.get((self._now(), key))
        if existing is not None:
            self.restore(existing)
            return
        fill(self)
        if len(_FILLED) >= FILLED_KEPT:
            _FILLED.clear()
        _FILLED[self._now(), key] = self.snapshot()

    def graft(self, path: str, folder: lookup.Node) -> None:
        """Put what many disks have into a folder that is there; what it holds already stays."""
        place = self._existing(path)
        held = place.node.entries if place.node is not None else None
        if held:
            folder = folder.thawed()
            folder.folder.update(held)
        place.folder.folder[place.name] = folder
        self._disk.charge(folder.weight(), path)

    # inside

    def _now(self) -> int:
        return self._clock.now_ms() // 1000

    def _names(self, path: str) -> Names:
        try:
            return self.list(path or "/")
        except OSError:
            return []

    def _is_there(self, path: str) -> bool:
        try:
            self._disk.find(path, self.user, follow=False)
        except OSError:
            return False
        return True

    def _need(self, node: lookup.Node, bit: int, path: str) -> None:
        if not self.user.may(node, bit):
            raise lookup.failure(errno.EACCES, path)

    def _may_change(self, place: lookup.Place, path: str) -> None:
        if self.user is not lookup.ROOT_USER and place.read_only:
            raise lookup.failure(errno.EROFS, path)
        if place.folder.entries is None:
            raise lookup.failure(errno.ENOTDIR, path)
        self._need(place.folder, 3, path)

    def _existing(self, path: str) -> lookup.Place:
        place = self._disk.place(path, self.user, follow=False, own=True)
        if place.node is None:
            raise lookup.failure(errno.ENOENT, path)
        return place

    def _own(self, path: str) -> tuple[lookup.Place, lookup.Node]:
        place = self._disk.place(path, self.user, own=True)
        if place.node is None:
            raise lookup.failure(errno.ENOENT, path)
        if self.user is not lookup.ROOT_USER:
            if place.read_only:
                raise lookup.failure(errno.EROFS, path)
            if self.user.uid != place.node.uid and not place.shared_storage:
                raise lookup.failure(errno.EPERM, path)
        return place, place.node

    def _open(self, path: str, mode: int, *, folders: bool = False) -> lookup.Node:
        """The file behind a path, to be written; made when it is missing."""
        place = self._disk.place(path, self.user, own=True)
        node = place.node
        if node is None:
            if path.endswith("/"):
                raise lookup.failure(errno.EISDIR, path)
            node = self._new(place, modes.S_IFREG | mode)
            self._add(place, path, node)
            return node
        if node.entries is not None and not folders:
            raise lookup.failure(errno.EISDIR, path)
        if self.user is not lookup.ROOT_USER and place.read_only:
            raise lookup.failure(errno.EROFS, path)
        self._need(node, 2, path)
        return node

    def _new(self, place: lookup.Place, mode: int) -> lookup.Node:
        uid = gid = self.user.uid
        mode &= ~self.umask
        if place.shared_storage:
            uid, gid = place.folder.uid, lookup.MEDIA_RW
            mode = modes.S_IFMT(mode) | (0o2770 if modes.S_ISDIR(mode) else 0o660)
        entries: dict[str, Any] | None = {} if modes.S_ISDIR(mode) else None
        return lookup.Node(mode, uid, gid, self._now(), self._disk.new_inode(), EMPTY, entries)

    def _add(self, place: lookup.Place, path: str, node: lookup.Node) -> None:
        self._may_change(place, path)
        place.folder.folder[place.name] = node
        place.folder.mtime = self._now()

    def _drop(self, place: lookup.Place, path: str) -> None:
        if not place.name:
            raise lookup.failure(errno.EBUSY, path)
        self._may_change(place, path)
        node = place.folder.folder.pop(place.name)
        place.folder.mtime = self._now()
        self._disk.charge(-node.weight(), path)
