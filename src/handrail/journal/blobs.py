"""Trees and pictures beside the journal: files named by their SHA-256, and a table that tells their fate.

Text is redacted before it is named. What can't be read as text (a picture) is kept only when the caller says
that no secret is on it; otherwise its name is a random one, so that not even its hash tells what was there.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from handrail.journal.head import locked
from handrail.journal.redaction import Redact

Statement = tuple[str, tuple[object, ...]]

NAME = re.compile("[0-9a-f]{64}")
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
        """Stores a blob once, however often it comes. Storing it again renews its age."""
        text: bytes | None = None
        with suppress(UnicodeDecodeError):
            text = redact(data.decode()).encode()
        if text is None and not no_secret:
            name = secrets.token_hex(32)
            return Stored(name, 0, (KEEP, (name, kind, len(data), at_ms, "withheld")))
        content = data if text is None else text
        name = hashlib.sha256(content).hexdigest()
        moment = (at_ms * 1_000_000, at_ms * 1_000_000)
        path = self.path(name)
        with self.locked(fcntl.LOCK_SH):
            try:
                os.utime(path, ns=moment)
            except FileNotFoundError:
                path.parent.mkdir(mode=0o700, exist_ok=True)
                handle, part = tempfile.mkstemp(dir=path.parent)
                try:  # the file appears whole, because others may look for it already
                    with open(handle, "wb") as file:
                        file.write(content)
                    os.utime(part, ns=moment)
                    Path(part).replace(path)
                finally:
                    Path(part).unlink(missing_ok=True)
        return Stored(name, len(content), (KEEP, (name, kind, len(content), at_ms, "kept")))

    def get(self, name: str) -> bytes | None:
        """The bytes; None for what was swept, withheld or never there, and for a file that is another one."""
        if NAME.fullmatch(name):  # and no path that leads elsewhere
            with suppress(OSError):
                data = self.path(name).read_bytes()
                return data if hashlib.sha256(data).hexdigest() == name else None
        return None

    @contextmanager
    def locked(self, how: int) -> Iterator[None]:
        """Shared by those who add, exclusive for the sweeper: nothing is removed while it is found again."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        with locked(self.folder / ".lock", os.O_RDWR | os.O_CREAT, how):
            yield

    def touched_since(self, name: str, at_ms: int) -> bool:
        """Whether somebody gave this blob again, and the table does not know it yet."""
        path = self.path(name)
        return path.exists() and path.stat().st_mtime_ns > at_ms * 1_000_000
