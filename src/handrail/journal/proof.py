"""The proof of one action: its own entries with their salts, and the place of the last one in a signed tree.

Each leaf holds the leaf of the same action's entry before it. So one path proves all entries of the action,
and that none between them was left out; of other actions there are only hashes.

`InclusionProof` is a file (C2SP tlog-proof): one entry's place in a log, up to a checkpoint that others
check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from handrail.journal.checkpoint import SignedCheckpoint, read_hash, read_number
from handrail.journal.merkle import MOST_HASHES, BadProof, check_inclusion
from handrail.journal.merkle_store import SALT_BYTES, leaf_of
from handrail.journal.query import columns_of
from handrail.journal.signed_note import BadNote, VerifierKey, to_base64

TLOG_LINE = "c2sp.org/tlog-proof@v1"


@dataclass(frozen=True, slots=True)
class InclusionProof:
    """The leaf itself is not in it: whoever checks makes it from the entry."""

    index: int
    path: tuple[bytes, ...]
    signed: SignedCheckpoint

    def __str__(self) -> str:
        return "\n".join((TLOG_LINE, f"index {self.index}", *map(to_base64, self.path), "", str(self.signed)))

    @classmethod
    def parse(cls, text: str) -> InclusionProof:
        """Raises `BadNote`."""
        head, blank, note = text.partition("\n\n")
        first, *lines = head.split("\n")
        if first != TLOG_LINE or not blank:
            raise BadNote(f"it does not begin with {TLOG_LINE}")
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


FIRST_LINE = "handrail journal proof v1"
ENTRY = re.compile(rf"entry ([1-9][0-9]{{0,18}}) (-?[0-9]{{1,19}}) ([0-9a-f]{{{2 * SALT_BYTES}}}) (.+)")
MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SaltedEntry:
    """An entry with the random bytes that its leaf was made with."""

    seq: int
    at_ms: int
    salt: bytes
    body: str

    def __str__(self) -> str:
        return f"entry {self.seq} {self.at_ms} {self.salt.hex()} {self.body}"

    @classmethod
    def parse(cls, line: str) -> SaltedEntry:
        if not (match := ENTRY.fullmatch(line)):
            raise BadNote(f"{line[:60]!r} is not an entry")
        return cls(int(match[1]), int(match[2]), bytes.fromhex(match[3]), match[4])

    @property
    def event(self) -> dict[str, Any]:
        """The journal entry itself, without its salt."""
        try:
            event = json.loads(self.body)
        except ValueError:
            event = None
        if not isinstance(event, dict):
            raise BadNote(f"entry {self.seq} is not an event")
        return event


@dataclass(frozen=True, slots=True)
class ActionProof:
    """What is given to a stranger."""

    entries: tuple[SaltedEntry, ...]
    place: InclusionProof

    def __str__(self) -> str:
        return "\n".join((FIRST_LINE, *map(str, self.entries), "", str(self.place)))

    @classmethod
    def parse(cls, data: bytes) -> ActionProof:
        """Raises `BadNote`. Lines end with a newline and nothing else: entries may have other separators."""
        if len(data) > MOST_BYTES:
            raise BadNote("it is too long for a proof")
        try:
            head, blank, place = data.decode().partition("\n\n")
        except UnicodeError:
            raise BadNote("it is not UTF-8") from None
        first, *lines = head.split("\n")
        if first != FIRST_LINE or not blank or not lines:
            raise BadNote(f"it does not begin with {FIRST_LINE!r} and entries")
        return cls(tuple(map(SaltedEntry.parse, lines)), InclusionProof.parse(place))

    @property
    def action_id(self) -> str | None:
        return columns_of(self.entries[-1].event)[1]

    def leaf(self) -> bytes:
        """The last entry's leaf, made from all of them. Raises `BadNote` if they are not one action's."""
        action_id, prior, last = self.action_id, None, 0
        if action_id is None and len(self.entries) > 1:
            raise BadNote("the entries belong to no action")
        for entry in self.entries:
            if entry.seq <= last:
                raise BadNote("the entries are not in their order")
            if columns_of(entry.event)[1] != action_id:
                raise BadNote("the entries belong to several actions")
            prior = leaf_of((entry.seq, entry.at_ms, action_id, entry.body), entry.salt, prior)
            last = entry.seq
        if last != self.place.index + 1:
            raise BadNote("the last entry does not stand where the proof says")
        assert prior is not None  # noqa: S101  (there is at least one entry)
        return prior

    def check(self, keys: Iterable[VerifierKey]) -> None:
        """Raises `BadNote` or `BadProof` unless all of it is in a journal that one of these keys signed."""
        self.place.check(self.leaf(), keys)
