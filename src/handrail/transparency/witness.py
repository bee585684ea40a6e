"""What a witness is asked and answers (C2SP tlog-witness), as values: it signs what a log only ever adds to.

Knows no network and no disk. Whoever uses it keeps the last checkpoint of each log, and lets nobody come
between the look at it and the writing of the next.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from handrail.transparency import merkle
from handrail.transparency.checkpoint import Checkpoint, SignedCheckpoint, read_number
from handrail.transparency.merkle import EMPTY_ROOT, BadProof
from handrail.transparency.note import BadNote, Signature, VerifierKey, to_base64
from handrail.transparency.proof import read_path

SIZE_TYPE = "text/x.tlog.size"
MOST_REQUEST_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class AddCheckpoint:
    """A log asks for a signature below its newest checkpoint."""

    old: int
    """The size of the last one that the witness signed, as the log remembers it."""
    path: tuple[bytes, ...]
    signed: SignedCheckpoint

    def __str__(self) -> str:
        return "\n".join((f"old {self.old}", *map(to_base64, self.path), "", str(self.signed)))

    @classmethod
    def parse(cls, body: bytes) -> AddCheckpoint:
        """Raises `BadNote` or `BadProof`."""
        try:
            head, blank, note = body.decode().partition("\n\n")
        except UnicodeError:
            raise BadNote("it is no UTF-8") from None
        first, *lines = head.split("\n")
        if not blank or not first.startswith("old "):
            raise BadNote("it does not begin with a line `old SIZE`, hashes, and an empty line")
        old = read_number(first.removeprefix("old "), "size of a tree")
        return cls(old, read_path(lines), SignedCheckpoint.parse(note))


@dataclass(frozen=True, slots=True)
class WitnessRefusal:
    """Why nothing is signed, as HTTP says it."""

    status: int
    text: str
    content_type: str = "text/plain; charset=utf-8"


def judge(
    asked: AddCheckpoint, keys: Collection[VerifierKey], last: Checkpoint | None
) -> WitnessRefusal | None:
    """None where a witness that trusts these keys, and signed `last` before, may sign."""
    new = asked.signed.checkpoint
    own = [key for key in keys if key.name == new.origin]
    if not own:
        return WitnessRefusal(404, f"no key of {new.origin} is known here\n")
    try:
        asked.signed.check(own)
    except BadNote as error:
        return WitnessRefusal(403, f"{error}\n")
    if asked.old > new.size:
        return WitnessRefusal(400, "the old size is greater than the new one\n")
    size, root = (last.size, last.root) if last else (0, EMPTY_ROOT)
    if asked.old != size:
        return WitnessRefusal(409, f"{size}\n", SIZE_TYPE)
    if size == new.size and last is not None and root != new.root:
        return WitnessRefusal(409, f"{size}\n", SIZE_TYPE)
    try:
        merkle.check_consistency(size, new.size, asked.path, root, new.root)
    except BadProof as error:
        return WitnessRefusal(422, f"{error}\n")
    return None


def read_cosignatures(body: str) -> list[Signature]:
    """The lines of a witness's answer."""
    return [Signature.parse(line) for line in body.removesuffix("\n").split("\n")]
