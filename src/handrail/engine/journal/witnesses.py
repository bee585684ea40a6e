"""Who keeps the journal's checkpoints elsewhere: a folder, or a witness that countersigns over HTTP.

Both are given what the journal signed and the hashes of its leaves, and both can be asked for them again.
"""

from __future__ import annotations

import contextlib
import fcntl
import http.client
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, urlsplit

from handrail.engine.journal.head import locked
from handrail.engine.journal.kept import KeptCheckpoint, KeptLog
from handrail.engine.journal.log import JournalLog, Rewritten
from handrail.errors import HandrailError, VerificationFailed
from handrail.transparency.checkpoint import SignedCheckpoint
from handrail.transparency.merkle import HASH_BYTES
from handrail.transparency.note import BadNote, Signature, VerifierKey
from handrail.transparency.witness import AddCheckpoint, read_cosignatures

TIMEOUT_SEC = 5.0
MOST_ANSWER_BYTES = 256 * 1024
LEAVES_AT_ONCE = 8192
SLOWEST_BYTES_PER_SEC = 1_000_000
"""The leaves of a journal that is new to the witness are many at once."""


class WitnessAway(HandrailError):
    """It does not answer, or not as a witness. Nothing waits for it."""

    hint = "Start it again; what it missed is sent then."


class WitnessRefused(VerificationFailed):
    """It has another past of this journal."""

    hint = "`handrail journal verify` names the first entry that was changed."


class JournalWitness(Protocol):
    """Where checkpoints go."""

    def add(self, log: JournalLog, signed: SignedCheckpoint) -> list[Signature]:
        """Keep this checkpoint; the signatures of whoever countersigned it."""

    def kept(self, origin: str, log: JournalLog, folder: Path) -> KeptCheckpoint | None:
        """What it has of this journal; None: it never heard of it. What is fetched goes into `folder`."""


def open_witness(place: str, key: VerifierKey | None = None) -> JournalWitness:
    """A folder's path, or an address that begins with http."""
    if place.startswith(("http://", "https://")):
        return HttpWitness(place, key)
    return FolderWitness(Path(place))


def _has(log: JournalLog, size: int, root: bytes) -> bool:
    try:
        return log.root(size) == root
    except Rewritten:
        return False


class FolderWitness:
    """A folder, best on another disk. It signs nothing: it only remembers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, log: JournalLog, signed: SignedCheckpoint) -> list[Signature]:
        """Leaves before the checkpoint: what is counted is there."""
        seen = signed.checkpoint
        kept = KeptLog(self._folder, seen.origin)
        try:
            with self._locked():
                last = kept.last()
                if last is not None and not _has(log, last.size, last.root):
                    raise WitnessRefused(f"{self._folder} has other entries among the first {last.size}")
                if last is not None and last.size > seen.size:
                    return []  # another process was here with a later one
                first = kept.leaf_count(last.size if last else 0)
                kept.add_leaves(first, log.leaf_hashes(first, seen.size))
                kept.keep(signed)
        except OSError as error:
            raise WitnessAway(
                f"{self._folder}: {error.strerror or error}",
                hint=f"Mount the disk, or `mkdir -p {self._folder}`: the folder itself is never made.",
            ) from None
        return []

    def kept(self, origin: str, log: JournalLog, folder: Path) -> KeptCheckpoint | None:  # noqa: ARG002  (it is here)
        return KeptLog(self._folder, origin).last()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """The folder itself is never made: a disk that is not mounted must not look like an empty one."""
        with locked(self._folder / ".lock", os.O_RDWR | os.O_CREAT, fcntl.LOCK_EX):
            yield


class HttpWitness:
    """Speaks C2SP's tlog-witness; what it says beyond that, only a witness of ours understands."""

    def __init__(self, address: str, key: VerifierKey | None) -> None:
        self._address = address.rstrip("/")
        self._key = key

    def add(self, log: JournalLog, signed: SignedCheckpoint) -> list[Signature]:
        answer = self._add_checkpoint(log, signed)
        if self._key is None:
            self._key = self._own_key()
        note = SignedCheckpoint(signed.checkpoint, signed.note.with_signatures(answer)).note
        try:
            signers = note.signers([self._key])
        except BadNote as error:
            raise WitnessAway(f"{self._address}: {error}") from None
        if self._key not in signers:
            raise WitnessAway(f"{self._address} answered without a signature of {self._key.name}")
        self._add_leaves(log, signed)
        return [one for one in answer if (one.name, one.id) == (self._key.name, self._key.id)]

    def _add_checkpoint(self, log: JournalLog, signed: SignedCheckpoint) -> list[Signature]:
        """Asks once for the size that it has, unless that is where we are."""
        old, size = 0, signed.checkpoint.size
        for _ in range(3):
            asked = AddCheckpoint(old, tuple(log.consistency(old, size)), signed)
            status, kind, body = self._ask("POST", "/add-checkpoint", str(asked).encode())
            if status == 200:
                return self._cosignatures(body)
            if status != 409 or not kind.startswith("text/x.tlog.size") or not body.strip().isdigit():
                break
            had, old = old, int(body)
            if old > size and log.size() >= old:
                raise WitnessAway(f"{self._address} was just asked by another process")
            if old > size:
                raise WitnessRefused(f"{self._address} has signed {old} entries, and there are {size}")
            if had == old:
                raise WitnessRefused(f"{self._address} has another root for the first {old} entries")
        why = body[:200].decode("utf-8", "replace").strip()
        if status == 422:
            raise WitnessRefused(f"{self._address} has other entries among the first {old}: {why}")
        raise WitnessAway(f"{self._address} answered {status}: {why}")

    def _cosignatures(self, body: bytes) -> list[Signature]:
        try:
            return read_cosignatures(body.decode())
        except (BadNote, UnicodeError) as error:
            raise WitnessAway(f"{self._address} answered no signature: {error}") from None

    def _own_key(self) -> VerifierKey:
        """A witness of ours tells its key. That of others has to be given."""
        status, _, body = self._ask("GET", "/key")
        try:
            if status == 200:
                return VerifierKey.parse(body.decode())
        except (BadNote, UnicodeError):
            pass
        raise WitnessAway(f"{self._address} does not tell its key", hint="Set HANDRAIL_WITNESS_KEY to it.")

    def _add_leaves(self, log: JournalLog, signed: SignedCheckpoint) -> None:
        """A witness of others has no room for them: then there is only its signature."""
        seen = signed.checkpoint
        place = f"/leaves?origin={quote(seen.origin, safe='')}"
        status, _, body = self._ask("GET", f"{place}&count=1")
        if status != 200 or not body.strip().isdigit() or int(body) >= seen.size:
            return
        data = log.leaf_hashes(int(body), seen.size)
        self._ask("POST", f"{place}&first={int(body)}", data, TIMEOUT_SEC + len(data) / SLOWEST_BYTES_PER_SEC)

    def kept(self, origin: str, log: JournalLog, folder: Path) -> KeptCheckpoint | None:
        """The leaves are fetched only where the checkpoint does not fit what is here."""
        name = quote(origin, safe="")
        status, _, body = self._ask("GET", f"/checkpoint?origin={name}")
        if status == 404:
            return None
        try:
            signed = SignedCheckpoint.parse(body)
        except BadNote as error:
            raise WitnessAway(f"{self._address} answered {status}, no checkpoint: {error}") from None
        kept = KeptCheckpoint(self._address, signed)
        if _has(log, kept.size, kept.root):
            return kept
        return KeptCheckpoint(self._address, signed, self._fetch_leaves(name, folder), vouched=True)

    def _fetch_leaves(self, name: str, folder: Path) -> Path:
        path = folder / "leaves"
        with path.open("wb") as file:
            first = 0
            while True:
                place = f"/leaves?origin={name}&first={first}&most={LEAVES_AT_ONCE}"
                status, _, body = self._ask("GET", place)
                if status != 200 or not body:
                    return path
                file.write(body)
                first += len(body) // HASH_BYTES

    def _ask(
        self, method: str, path: str, body: bytes | None = None, timeout_sec: float = TIMEOUT_SEC
    ) -> tuple[int, str, bytes]:
        """Status, content type and body. It is small, or it is no answer."""
        place = urlsplit(self._address)
        secure = place.scheme == "https"
        make = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        try:
            connection = make(place.hostname or "", place.port, timeout=timeout_sec)
            try:
                kind = {"Content-Type": "application/octet-stream"} if body is not None else {}
                connection.request(method, place.path + path, body, kind)
                answer = connection.getresponse()
                data = answer.read(MOST_ANSWER_BYTES + 1)
                if len(data) > MOST_ANSWER_BYTES:
                    raise WitnessAway(f"{self._address} answers too much")
                return answer.status, answer.getheader("Content-Type", ""), data
            finally:
                connection.close()
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise WitnessAway(f"{self._address}: {str(error) or type(error).__name__}") from None


@contextmanager
def kept_elsewhere(
    home: Path, place: str | None, key: VerifierKey | None
) -> Iterator[tuple[list[KeptCheckpoint], list[str]]]:
    """What this journal's own last checkpoint and its witness say, and what could not be asked."""
    found: list[KeptCheckpoint] = []
    warnings: list[str] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        try:
            log = JournalLog(home)
            stack.callback(log.close)
            if (signer := log.keys.signer()) is not None:
                if (last := log.last_kept()) is not None:
                    found.append(last)
                kept = open_witness(place, key).kept(signer.name, log, Path(folder)) if place else None
                found += [kept] if kept else []
                if place and kept is None:
                    warnings.append(f"the witness {place} has nothing of this journal, {signer.name}")
        except (HandrailError, OSError, sqlite3.Error) as error:
            warnings.append(str(error))
        yield found, warnings
