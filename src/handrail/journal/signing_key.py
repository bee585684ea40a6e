"""The journal's own key: made with the first signature, kept apart from the store, replaced by a hand-over.

A hand-over is a note that the old key and the new one signed. Whoever trusts the old key may trust the new
one from the size on that the note names, and the old one only up to it.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from handrail.errors import InvalidAction
from handrail.journal.checkpoint import Checkpoint, read_hash, read_number, replace_durably, sync_folder
from handrail.journal.signed_note import BadNote, Note, SigningKey, VerifierKey, to_base64

HAND_OVER = "handrail journal hand-over v1"
Trusted = Mapping[VerifierKey, int | None]
"""Keys, and the size of the journal up to which each one counts; None: without end."""


class KeyRefused(InvalidAction):
    """A key that can't be used as it lies there."""


def read_key(path: Path) -> SigningKey:
    """Raises `FileNotFoundError`, or `KeyRefused` for a file that others may read or that is no key."""
    mode = path.stat().st_mode
    if mode & 0o077:
        raise KeyRefused(f"{path} can be read by others, mode {mode & 0o777:04o}", hint=f"chmod 600 {path}")
    try:
        return SigningKey.parse(path.read_text())
    except (BadNote, UnicodeError) as error:
        raise KeyRefused(f"{path}: {error}", hint="Put the key back from a copy.") from None


def make_key(path: Path, kind: int, name: str) -> SigningKey:
    """A new key with a random end of its name. Of two processes that make one, both get the same."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = SigningKey.make(f"{name}/{secrets.token_hex(8)}", kind)
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    replace_durably(fresh, f"{key}\n".encode())
    try:
        with suppress(FileExistsError):
            os.link(fresh, path)
    finally:
        fresh.unlink()
    sync_folder(path.parent)
    return read_key(path)


@dataclass(frozen=True, slots=True)
class HandOver:
    """A key says in it which key signs after it."""

    old: VerifierKey
    new: VerifierKey
    size: int
    root: bytes
    note: Note

    @classmethod
    def make(cls, old: SigningKey, new: SigningKey, checkpoint: Checkpoint) -> HandOver:
        lines = (HAND_OVER, f"old {old.verifier}", f"new {new.verifier}", f"size {checkpoint.size}")
        text = "\n".join((*lines, f"root {to_base64(checkpoint.root)}", ""))
        return cls(old.verifier, new.verifier, checkpoint.size, checkpoint.root, Note.signed(text, old, new))

    @classmethod
    def parse(cls, data: str | bytes) -> HandOver:
        """Raises `BadNote` unless both keys signed it."""
        note = Note.parse(data)
        match = re.fullmatch(rf"{HAND_OVER}\nold (.+)\nnew (.+)\nsize (.+)\nroot (.+)\n", note.text)
        if not match:
            raise BadNote("it does not hand over a journal's key")
        old, new = VerifierKey.parse(match[1]), VerifierKey.parse(match[2])
        if old.name != new.name:
            raise BadNote("a hand-over does not change the journal's name")
        if len(note.signers([old, new])) != 2:
            raise BadNote("the old and the new key must both have signed a hand-over")
        return cls(old, new, read_number(match[3], "size of a tree"), read_hash(match[4]), note)


def keys_trusted_through(anchors: Iterable[VerifierKey], hand_overs: Iterable[HandOver]) -> Trusted:
    """The keys that these anchors lead to. Raises `BadNote` where a key was handed over twice."""
    trusted: dict[VerifierKey, int | None] = dict.fromkeys(anchors)
    waiting = list(hand_overs)
    while usable := [handover for handover in waiting if handover.old in trusted]:
        for handover in usable:
            if trusted[handover.old] is not None:
                raise BadNote(f"the key {handover.old.id.hex()} of {handover.old.name} was handed over twice")
            trusted[handover.old] = handover.size
            trusted.setdefault(handover.new)
        waiting = [handover for handover in waiting if handover not in usable]
    return trusted


def keys_for(trusted: Trusted, size: int) -> list[VerifierKey]:
    """Who may have signed a checkpoint of this size."""
    return [key for key, until in trusted.items() if until is None or size <= until]


class LogKeys:
    """The folder `keys/` of a home."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "keys"
        self.path = self.folder / "journal.key"
        self._next = self.folder / "journal.key.next"

    def signer(self) -> SigningKey | None:
        """Returns None where none was made yet."""
        self._finish_hand_over()
        try:
            return read_key(self.path)
        except FileNotFoundError:
            return None

    def hand_overs(self) -> list[HandOver]:
        """The notes by which each key named the next one, the oldest first."""
        try:
            return [HandOver.parse(path.read_bytes()) for path in self._hand_over_files()]
        except BadNote as error:
            raise KeyRefused(f"{self.folder}: {error}", hint="Put the file back from a copy.") from None

    def trusted(self) -> Trusted:
        """The key in use, and those before it."""
        signer, hand_overs = self.signer(), self.hand_overs()
        first = [hand_overs[0].old] if hand_overs else [signer.verifier] if signer else []
        try:
            return keys_trusted_through(first, hand_overs)
        except BadNote as error:
            raise KeyRefused(str(error), hint=f"Look into {self.folder}.") from None

    def hand_over(self, old: SigningKey, checkpoint: Checkpoint) -> HandOver:
        """A new key from now on. Interrupted anywhere, one of the two keys is whole and in use."""
        new = SigningKey.make(old.name, old.kind)
        handover = HandOver.make(old, new, checkpoint)
        replace_durably(self._next, f"{new}\n".encode())
        number = len(self._hand_over_files()) + 1
        replace_durably(self.folder / f"journal-hand-over-{number:04d}.txt", str(handover.note).encode())
        self._finish_hand_over()
        return handover

    def _finish_hand_over(self) -> None:
        """The next key takes its place as soon as the note that names it is there, and not before."""
        if not self._next.exists():
            return
        files = self._hand_over_files()
        named = bool(files) and HandOver.parse(files[-1].read_bytes()).new == read_key(self._next).verifier
        if named:
            with suppress(FileNotFoundError):  # another process did it
                os.replace(self._next, self.path)
            sync_folder(self.folder)

    def _hand_over_files(self) -> list[Path]:
        return sorted(self.folder.glob("journal-hand-over-*.txt"))
