"""What a fresh phone has on its disk: folders, owners, links and devices as Android lays them out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from handrail_sim import resources
from handrail_sim.disk.lookup import MEDIA_RW, ROOT

if TYPE_CHECKING:
    from handrail_sim.disk.files import Files

MEDIA = 10180
"""The media provider's uid: the owner that FUSE shows for everything in shared storage."""

_FOLDERS = tuple(
    (path, int(mode, 8), int(uid), int(gid)) for path, mode, uid, gid in resources.rows("disk/folders.txt")
)
_SHARED = (
    "Alarms", "Android", "Android/data", "Android/media", "Android/obb", "Audiobooks", "DCIM", "Documents",
    "Download", "Movies", "Music", "Notifications", "Pictures", "Podcasts", "Recordings", "Ringtones",
)  # fmt: skip
_LINKS = (
    ("/storage/emulated/0", "/storage/self/primary"),
    ("/storage/self/primary", "/sdcard"),
    ("/data/data", "/data/user/0"),
    ("/system/bin", "/bin"),
    ("/system/etc", "/etc"),
)
_DEVICES = ("null", "zero", "tty", "full", "random", "urandom")
_CORES = ("online", "possible", "present")
"""Files that say which of the eight there are, as `nproc` does."""
_INPUT = ("event0", "event1", "event2")


def fill(files: Files) -> None:
    """Lay out an empty disk; called once per phone, so it stays a few dozen nodes."""
    for path, mode, uid, gid in _FOLDERS:
        files.mkdir(path, mode)
        files.chown(path, uid, gid)
    files.mkdir("/storage/emulated/0")
    files.chown("/storage/emulated/0", MEDIA, MEDIA_RW)
    for name in _SHARED:
        files.mkdir(f"/storage/emulated/0/{name}")
    for target, path in _LINKS:
        files.symlink(target, path)
    for name in _CORES:
        files.write(f"/sys/devices/system/cpu/{name}", b"0-7\n", mode=0o444)
    for name in _DEVICES:
        files.device(f"/dev/{name}")
    files.mkdir("/dev/input")
    for name in _INPUT:
        files.device(f"/dev/input/{name}", 0o660)
        files.chown(f"/dev/input/{name}", ROOT, 1004)


def fill_app_data(files: Files, package: str, uid: int) -> None:
    base = f"/data/data/{package}"
    for path, mode in ((base, 0o700), (f"{base}/cache", 0o2771), (f"{base}/code_cache", 0o2771)):
        if not files.is_dir(path):
            files.mkdir(path, mode)
            files.chown(path, uid, uid)
    for name in ("files", "shared_prefs", "databases"):
        path = f"{base}/{name}"
        if not files.is_dir(path):
            files.mkdir(path, 0o771)
            files.chown(path, uid, uid)


def fill_libraries(files: Files, package: str, names: Iterable[str]) -> None:
    for name in names:
        folder = f"/data/app/{package}/lib/arm64"
        if not files.is_dir(folder):
            files.mkdir(folder, 0o755, parents=True)
        files.write(f"{folder}/{name}", b"\x7fELF", mode=0o755)
