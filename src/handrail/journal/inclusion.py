"""Proofs as files (C2SP tlog-proof): one entry's place in a log, up to a checkpoint that others can check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from handrail.journal.checkpoint import SignedCheckpoint, read_hash, read_number
from handrail.journal.merkle import MOST_HASHES, BadProof, check_inclusion
from handrail.journal.signed_note import BadNote, VerifierKey, to_base64

FIRST_LINE = "c2sp.org/tlog-proof@v1"


@dataclass(frozen=True, slots=True)
class InclusionProof:
    """The leaf itself is not in it: whoever checks makes it from the entry."""

    index: int
    path: tuple[bytes, ...]
    signed: SignedCheckpoint

    def __str__(self) -> str:
        return "\n".join(
            (FIRST_LINE, f"index {self.index}", *map(to_base64, self.path), "", str(self.signed))
        )

    @classmethod
    def parse(cls, text: str) -> InclusionProof:
        """Raises `BadNote`."""
        head, blank, note = text.partition("\n\n")
        first, *lines = head.split("\n")
        if first != FIRST_LINE or not blank:
            raise BadNote(f"it does not begin with {FIRST_LINE}")
        if lines and lines[0].startswith("extra "):  # allowed by the format, and proves nothing
            lines = lines[1:]
        if not lines or not lines[0].startswith("index ") or len(lines) > MOST_HASHES + 1:
            raise BadNote("it does not say where the entry stands")
        index = read_number(lines[0].removeprefix("index "), "number of an entry")
        return cls(index, tuple(map(read_hash, lines[1:])), SignedCheckpoint.parse(note))

    def check(self, leaf: bytes, keys: Iterable[VerifierKey]) -> None:
        """Raises `BadNote` or `BadProof` unless the leaf is in a log that one of these keys signed."""
        self.signed.check(keys)
        checkpoint = self.signed.checkpoint
        check_inclusion(leaf, self.index, checkpoint.size, self.path, checkpoint.root)


def read_path(lines: Iterable[str]) -> tuple[bytes, ...]:
    """The hashes of a proof, one a line."""
    hashes = tuple(map(read_hash, lines))
    if len(hashes) > MOST_HASHES:
        raise BadProof(f"no proof has more than {MOST_HASHES} hashes")
    return hashes
