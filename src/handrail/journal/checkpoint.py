"""Checkpoints (C2SP tlog-checkpoint): a log's name, its size and its root, as the text of a signed note."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from handrail.journal.merkle import HASH_BYTES
from handrail.journal.signed_note import BadNote, Note, VerifierKey, from_base64, to_base64

NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")


def read_number(text: str, what: str) -> int:
    """Decimal, without leading zeros, small enough for everybody's integers."""
    if not NUMBER.fullmatch(text) or int(text) >= 1 << 63:
        raise BadNote(f"{text[:60]!r} is no {what}")
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
