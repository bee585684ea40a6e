"""The proof of one action: its own entries with their salts, and the place of the last one in a signed tree.

Each leaf holds the leaf of the same action's entry before it. So one path proves all entries of the action,
and that none between them was left out; of other actions there are only hashes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from handrail.journal.inclusion import InclusionProof
from handrail.journal.merkle_store import SALT_BYTES, leaf_of
from handrail.journal.query import columns_of
from handrail.journal.signed_note import BadNote, VerifierKey

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
            raise BadNote(f"{line[:60]!r} is no entry")
        return cls(int(match[1]), int(match[2]), bytes.fromhex(match[3]), match[4])

    @property
    def event(self) -> dict[str, Any]:
        """What it says."""
        try:
            event = json.loads(self.body)
        except ValueError:
            event = None
        if not isinstance(event, dict):
            raise BadNote(f"entry {self.seq} is no event")
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
            raise BadNote("it is no UTF-8") from None
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
