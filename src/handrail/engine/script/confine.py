"""Landlock: the kernel itself keeps a script's programs inside the run folder, whatever their arguments say.

Needs no rights and holds for everything that a program starts. Says nothing about what merely exists: looking
at a name is no access for Landlock, so the arguments are checked as well (`arguments`).
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""The same numbers on every architecture."""
_PR_SET_NO_NEW_PRIVS = 38
_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_SPECIAL = 1 << 6 | 1 << 11
"""Device files: not even a run folder gets one."""
_FS_BITS = {1: 13, 2: 14, 3: 15, 4: 15}
"""Rights by version; from 5 on there are 16."""
_ABSTRACT_SOCKETS_AND_SIGNALS = 3
"""Nobody outside is spoken to or signalled. From version 6 on."""

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime", "/etc/alternatives")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
BESIDE = ("lib", "lib64", "libexec", "share")
"""What an installed program has near its folder, or in it."""
ALSO = {"adb": ("/dev/bus/usb", "/sys/bus/usb", "/sys/devices", "/etc/hosts", "/etc/resolv.conf")}
"""What one program can't work without."""


class Confinement:
    """What the programs of one run may open. Close it when all have been started."""

    def __init__(self, ruleset: int) -> None:
        self._ruleset = ruleset

    @classmethod
    def of(cls, programs: Iterable[str], inside: Path, readable: Sequence[Path]) -> Confinement | None:
        """None where this kernel has no Landlock."""
        version = _version()
        if version < 1:
            return None
        handled = (1 << _FS_BITS.get(version, 16)) - 1
        scoped = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0
        attributes = struct.pack("QQQ", handled, 0, scoped)
        size = 24 if version >= 6 else 16 if version >= 4 else 8
        ruleset = _call(_CREATE, attributes, size, 0)
        if ruleset < 0:
            return None
        made = cls(ruleset)
        made._allow([inside], handled & ~_SPECIAL)
        made._allow([*readable, *map(Path, (*SYSTEM, *SYSTEM_FILES)), *_installed(programs)], _READ)
        made._allow(map(Path, DEVICES), _READ_FILE | _WRITE_FILE)
        made._allow((Path(one) for name in _names(programs) for one in ALSO.get(name, ())), handled)
        return made

    def _allow(self, places: Iterable[Path], rights: int) -> None:
        """What is not there needs no right."""
        for place in places:
            try:
                opened = os.open(place, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                given = rights if place.is_dir() else rights & _OF_FILES
                _call(_ADD, self._ruleset, _BENEATH, struct.pack("=Qi", given, opened), 0)
            finally:
                os.close(opened)

    def enter(self) -> None:
        """In the forked child, for good. A program that can't be confined is not run."""
        if _libc is None or _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "no_new_privs")
        if _call(_RESTRICT, self._ruleset, 0):
            raise OSError(ctypes.get_errno(), "Landlock")

    def close(self) -> None:
        os.close(self._ruleset)


def _installed(programs: Iterable[str]) -> list[Path]:
    """Each program by its own path and the libraries that stand beside it; never the folder it lies in."""
    found: list[Path] = []
    for program in programs:
        for place in {Path(program), Path(os.path.realpath(program))}:
            found.append(place)
            if place.parent.name == "bin":
                found += [place.parent.parent / one for one in BESIDE]
            found += [place.parent / one for one in BESIDE]
    return found


def _names(programs: Iterable[str]) -> set[str]:
    return {Path(one).name for one in programs}


_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def _call(number: int, *given: bytes | int | None) -> int:
    words = [ctypes.c_char_p(one) if isinstance(one, bytes) else ctypes.c_long(one or 0) for one in given]
    return -1 if _libc is None else int(_libc.syscall(ctypes.c_long(number), *words))


def _version() -> int:
    return _call(_CREATE, None, 0, 1)


def then(*steps: Callable[[], None]) -> Callable[[], None]:
    """One after the other."""

    def all_of_them() -> None:
        for step in steps:
            step()

    return all_of_them
