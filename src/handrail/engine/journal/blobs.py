"""Trees and pictures beside the journal: files named by their SHA-256, and a table that tells their fate.

Text is redacted before it is named. What can't be read as text (a picture) is kept only when the caller says
that no secret is on it; otherwise its name is a random one, so that not even its hash tells what was there.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from handrail.engine.secrets import Redact

Statement = tuple[str, tuple[object, ...]]

KEEP = """
INSERT INTO blobs (name, kind, bytes, at_ms, state) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET at_ms = max(at_ms, excluded.at_ms), state = excluded.state
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """A blob's name, and the row that tells of it."""

    name: str
    bytes: int
    row: Statement


class Blobs:
    """The folder `blobs/`. Safe to use from any thread and from several processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """`ab/abcdef…`: no folder grows too long to list."""
        return self.folder / name[:2] / name

    def put(self, data: bytes, kind: str, at_ms: int, redact: Redact, *, no_secret: bool) -> Stored:
        """Store once whatever the number of times it is given; a blob that was seen again is young again."""
        text = redact_bytes(data, redact)
        if text is None and not no_secret:
            name = secrets.token_hex(32)
            return Stored(name, 0, (KEEP, (name, kind, len(data), at_ms, "withheld")))
        kept = data if text is None else text
        name = hashlib.sha256(kept).hexdigest()
        with self.locked(fcntl.LOCK_SH):
            self._place(self.path(name), kept, at_ms)
        return Stored(name, len(kept), (KEEP, (name, kind, len(kept), at_ms, "kept")))

    def get(self, name: str) -> bytes | None:
        """The bytes; None for what was swept, withheld or never there."""
        if not is_name(name):
            return None
        try:
            return self.path(name).read_bytes()
        except FileNotFoundError:
            return None

    @contextmanager
    def locked(self, how: int) -> Iterator[None]:
        """Shared by those who add, exclusive for the sweeper: nothing is removed while it is found again."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, how)
            yield
        finally:
            os.close(file)

    def touched_since(self, name: str, at_ms: int) -> bool:
        """Whether somebody gave this blob again, and the table does not know it yet."""
        try:
            return self.path(name).stat().st_mtime_ns > at_ms * 1_000_000
        except FileNotFoundError:
            return False

    def _place(self, path: Path, data: bytes, at_ms: int) -> None:
        moment = (at_ms * 1_000_000, at_ms * 1_000_000)
        try:
            os.utime(path, ns=moment)
            return
        except FileNotFoundError:
            path.parent.mkdir(mode=0o700, exist_ok=True)
        part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
            os.utime(part, ns=moment)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def is_name(text: str) -> bool:
    """Whether this could be a blob's name, and not a path that leads elsewhere."""
    return len(text) == 64 and all(letter in "0123456789abcdef" for letter in text)


def redact_bytes(data: bytes, redact: Redact) -> bytes | None:
    """Text without its secrets; None for what is no text."""
    try:
        return redact(data.decode()).encode()
    except UnicodeDecodeError:
        return None
