"""Checkpoints (C2SP tlog-checkpoint): a log's name, its size and its root, as the text of a signed note.

Outside a journal its last checkpoint is kept, and beside that the hashes of its leaves. The checkpoint alone
shows that something was changed; the leaves show which entry was the first. They are hashes of salted
entries: whoever keeps them learns nothing of what was done.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from handrail.errors import InvalidAction
from handrail.journal.merkle import HASH_BYTES, frontier_of
from handrail.journal.signed_note import BadNote, Note, VerifierKey, from_base64, to_base64

NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")


def read_number(text: str, what: str) -> int:
    """Decimal, without leading zeros, small enough for everybody's integers."""
    if not NUMBER.fullmatch(text) or int(text) >= 1 << 63:
        raise BadNote(f"{text[:60]!r} is not {what}")
    return int(text)


def read_hash(text: str) -> bytes:
    """32 bytes in base64."""
    data = from_base64(text)
    if len(data) != HASH_BYTES:
        raise BadNote("a hash has 32 bytes")
    return data


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a log looked like when it had so many entries."""

    origin: str
    size: int
    root: bytes
    more: tuple[str, ...] = ()
    """Lines whose meaning only their log knows. Ours have none."""

    @property
    def text(self) -> str:
        return "\n".join((self.origin, str(self.size), to_base64(self.root), *self.more, ""))

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        lines = text.split("\n")
        if len(lines) < 4 or lines[-1] or not all(lines[:-1]):
            raise BadNote("a checkpoint has at least three lines: origin, size and root")
        origin, size, root, *more = lines[:-1]
        return cls(origin, read_number(size, "size of a tree"), read_hash(root), tuple(more))


@dataclass(frozen=True, slots=True)
class SignedCheckpoint:
    """A checkpoint with the note that carries it; who signed it is known only after `check`."""

    checkpoint: Checkpoint
    note: Note

    @classmethod
    def parse(cls, data: str | bytes) -> SignedCheckpoint:
        note = Note.parse(data)
        return cls(Checkpoint.parse(note.text), note)

    def check(self, keys: Iterable[VerifierKey]) -> None:
        """Raises `BadNote` unless a key of this very log signed it."""
        own = [key for key in keys if key.name == self.checkpoint.origin]
        if not own:
            raise BadNote(f"no key of {self.checkpoint.origin} was given")
        self.note.check(own)

    def __str__(self) -> str:
        return str(self.note)


LEAVES = ".leaves"
"""What the file beside a checkpoint ends with."""
BUFFER_BYTES = HASH_BYTES * 4096


def replace_durably(path: Path, data: bytes) -> None:
    """Replaces a file as a whole, also across a power cut. Only its owner may read it."""
    handle, fresh = tempfile.mkstemp(dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(fresh)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Syncs a folder, so that a file name that was just written survives a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@dataclass(frozen=True, slots=True)
class RememberedCheckpoint:
    """A checkpoint, from where it comes, and its leaves where there are any."""

    where: str
    signed: SignedCheckpoint
    leaves: Path | None = None
    vouched: bool = False
    """Whether the leaves come from a witness that checked them itself, as far as they go."""

    @property
    def size(self) -> int:
        return self.signed.checkpoint.size

    @property
    def root(self) -> bytes:
        return self.signed.checkpoint.root

    def read_leaves(self) -> Iterator[bytes]:
        """Yields them in order, not beyond the checkpoint, and fewer where the file is shorter."""
        if self.leaves is None:
            return
        left = self.size
        with contextlib.suppress(FileNotFoundError), self.leaves.open("rb", buffering=BUFFER_BYTES) as file:
            while left and len(leaf := file.read(HASH_BYTES)) == HASH_BYTES:
                yield leaf
                left -= 1

    def has_true_leaves(self) -> bool:
        """Whether they are the ones that the checkpoint was signed for."""
        if self.vouched:
            return True
        tree = frontier_of(self.read_leaves())
        return tree.size == self.size and tree.root() == self.root

    @classmethod
    def read(cls, path: Path) -> RememberedCheckpoint:
        """A file that `journal checkpoint --out` or a witness wrote, with the leaves beside it."""
        try:
            signed = SignedCheckpoint.parse(path.read_bytes())
        except (OSError, BadNote) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise InvalidAction(
                f"{path} is not a checkpoint: {why}",
                hint="Give a file that `handrail journal checkpoint --out FILE` wrote.",
                path="checkpoint",
            ) from None
        return cls(str(path), signed, path.with_name(path.name + LEAVES))


class WitnessedLog:
    """One log's folder at a witness. Whoever writes holds a lock of their own."""

    def __init__(self, folder: Path, origin: str) -> None:
        name = hashlib.sha256(origin.encode()).hexdigest()[:32]
        self.path = folder / name / "checkpoint"
        self.leaves = self.path.with_name(self.path.name + LEAVES)

    def last(self) -> RememberedCheckpoint | None:
        """The last checkpoint; None before the first. Damage is an error: a witness must not start over."""
        return RememberedCheckpoint.read(self.path) if self.path.exists() else None

    def keep(self, signed: SignedCheckpoint) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_durably(self.path, str(signed).encode())

    def leaf_count(self, most: int) -> int:
        """How many leaves are there, not beyond `most`: what an interrupted writer left there is no leaf."""
        try:
            return min(self.leaves.stat().st_size // HASH_BYTES, most)
        except FileNotFoundError:
            return 0

    def add_leaves(self, first: int, data: bytes) -> None:
        """Replaces what stood from leaf `first` on."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(self.leaves, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.ftruncate(file, first * HASH_BYTES)
            os.pwrite(file, data, first * HASH_BYTES)
            os.fsync(file)
        finally:
            os.close(file)
