"""Files that units leave behind, in the head's folder: each once, named by its SHA-256, and resumable.

A file counts when it is whole and its hash is its name. What is on its way lies beside it.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from handrail.errors import InvalidAction, StoreFull
from handrail.journal.checkpoint import replace_durably, sync_folder
from handrail_fleet.unit_kind import MOST_ARTEFACT

MOST_BYTES = 8 * 1024**3
"""Of all files of one head; the oldest runs' are to be removed by hand beyond that."""
STALE_S = 24 * 3_600
"""A part that nobody went on with for so long is removed."""
_NAME = re.compile(r"[0-9a-f]{64}")


class Artefacts:
    """One folder."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._whole = folder / "files"
        self._parts = folder / "parts"
        for one in (self._whole, self._parts):
            one.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._most = most_bytes
        self._remove_stale()
        self._bytes = sum(one.stat().st_size for one in self._whole.iterdir())
        self._coming = {one.name: one.stat().st_size for one in self._parts.iterdir()}
        """Bytes that are kept free for what has begun to come: all of each file, once its size is known."""
        self._lock = threading.Lock()

    def _remove_stale(self) -> None:
        for one in self._parts.iterdir():
            if time.time() - one.stat().st_mtime > STALE_S:
                one.unlink(missing_ok=True)

    def have(self, names: Iterable[str]) -> dict[str, int]:
        """How many bytes of each are here."""
        return {name: self._have(name) for name in names}

    def _have(self, name: str) -> int:
        for folder in (self._whole, self._parts):
            path = folder / _checked(name)
            if path.exists():
                return path.stat().st_size
        return 0

    def put(self, name: str, offset: int, total: int, chunk: bytes) -> int:
        """The next part; how much is here now. A part that does not fit is answered with what would."""
        if not 0 < total <= MOST_ARTEFACT:
            raise InvalidAction(f"a file of {total:,} bytes is not taken", path="total")
        with self._lock:  # two hosts may bring the same file at the same moment
            return self._put(_checked(name), offset, total, chunk)

    def keep(self, name: str, data: bytes) -> None:
        """A small file, all of it."""
        with self._lock:
            if (self._whole / _checked(name)).exists():
                return
            if hashlib.sha256(data).hexdigest() != name:
                raise _wrong_hash(name)
            self._must_have_room(name, len(data))
            replace_durably(self._whole / name, data)
            self._bytes += len(data)

    def _put(self, name: str, offset: int, total: int, chunk: bytes) -> int:
        if (self._whole / name).exists():
            return total
        self._must_have_room(name, total)
        part = self._parts / name
        have = part.stat().st_size if part.exists() else 0
        self._coming[name] = max(total, have)
        if offset != have or have + len(chunk) > total:
            return have
        with part.open("ab") as file:
            file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        if have + len(chunk) == total:
            self._finish(part, name, total)
        return have + len(chunk)

    def _must_have_room(self, name: str, total: int) -> None:
        """Also for all of what has begun to come."""
        others = sum(self._coming.values()) - self._coming.get(name, 0)
        if self._bytes + others + total > self._most:
            raise StoreFull(
                f"the head's files have more than {self._most:,} bytes",
                hint="Remove old runs from its folder; results count without their pictures.",
            )

    def _finish(self, part: Path, name: str, total: int) -> None:
        self._coming.pop(name, None)
        if hashlib.sha256(part.read_bytes()).hexdigest() != name:
            part.unlink()
            raise _wrong_hash(name)
        part.replace(self._whole / name)
        sync_folder(self._whole)
        self._bytes += total

    def get(self, name: str) -> bytes | None:
        path = self._whole / _checked(name)
        return path.read_bytes() if path.exists() else None


def _wrong_hash(name: str) -> InvalidAction:
    return InvalidAction(f"{name[:12]}… does not have the hash that it is named by", path="file")


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidAction(f"{name!r:.80} is not a SHA-256", path="file")
    return name
