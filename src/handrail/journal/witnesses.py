"""Who keeps the journal's checkpoints elsewhere: a folder, or a witness that countersigns over HTTP.

Both are given what the journal signed and the hashes of its leaves, and both can be asked for them again.
"""

from __future__ import annotations

import contextlib
import fcntl
import http.client
import json
import os
import sqlite3
import tempfile
import threading
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, urlsplit

from handrail.clock import Clock
from handrail.errors import HandrailError, VerificationFailed
from handrail.journal import merkle
from handrail.journal.checkpoint import (
    Checkpoint,
    RememberedCheckpoint,
    SignedCheckpoint,
    WitnessedLog,
    read_number,
)
from handrail.journal.head import locked
from handrail.journal.merkle import EMPTY_ROOT, HASH_BYTES, BadProof
from handrail.journal.proof import read_path
from handrail.journal.signed_log import JournalLog, Rewritten
from handrail.journal.signed_note import BadNote, Signature, VerifierKey, to_base64

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
    """Checkpoints go to it, and come back from it."""

    def add(self, log: JournalLog, signed: SignedCheckpoint) -> list[Signature]:
        """Keep this checkpoint; the signatures of whoever countersigned it."""

    def remembered(self, origin: str, log: JournalLog, folder: Path) -> RememberedCheckpoint | None:
        """What it has of this journal; None: it never heard of it. What is fetched goes into `folder`."""


def open_witness(place: str, key: VerifierKey | None = None) -> JournalWitness:
    """A folder's path, or an address that begins with http."""
    if place.startswith(("http://", "https://")):
        return HttpWitness(place, key)
    return FolderWitness(Path(place))


def _had_root_at(log: JournalLog, size: int, root: bytes) -> bool:
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
        checkpoint = signed.checkpoint
        stored = WitnessedLog(self._folder, checkpoint.origin)
        try:
            with self._locked():
                last = stored.last()
                if last is not None and not _had_root_at(log, last.size, last.root):
                    raise WitnessRefused(f"{self._folder} has other entries among the first {last.size}")
                if last is not None and last.size > checkpoint.size:
                    return []  # another process was here with a later one
                first = stored.leaf_count(last.size if last else 0)
                stored.add_leaves(first, log.leaf_hashes(first, checkpoint.size))
                stored.keep(signed)
        except OSError as error:
            raise WitnessAway(
                f"{self._folder}: {error.strerror or error}",
                hint=f"Mount the disk, or `mkdir -p {self._folder}`: the folder itself is never made.",
            ) from None
        return []

    def remembered(self, origin: str, log: JournalLog, folder: Path) -> RememberedCheckpoint | None:  # noqa: ARG002  (it is here)
        return WitnessedLog(self._folder, origin).last()

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
        if self._key is None:  # a witness of ours tells its key; that of others has to be given
            status, _, body = self._ask("GET", "/key")
            with contextlib.suppress(BadNote, UnicodeError):
                self._key = VerifierKey.parse(body.decode()) if status == 200 else None
        if self._key is None:
            why = f"{self._address} does not tell its key"
            raise WitnessAway(why, hint="Set HANDRAIL_WITNESS_KEY to it.")
        note = SignedCheckpoint(signed.checkpoint, signed.note.with_signatures(answer)).note
        try:
            signers = note.signers([self._key])
        except BadNote as error:
            raise WitnessAway(f"{self._address}: {error}") from None
        if self._key not in signers:
            raise WitnessAway(f"{self._address} answered without a signature of {self._key.name}")
        # A witness of others has no room for the leaves: then there is only its signature.
        place, size = f"/leaves?origin={quote(signed.checkpoint.origin, safe='')}", signed.checkpoint.size
        status, _, body = self._ask("GET", f"{place}&count=1")
        if status == 200 and body.strip().isdigit() and int(body) < size:
            data = log.leaf_hashes(int(body), size)
            patience_sec = TIMEOUT_SEC + len(data) / SLOWEST_BYTES_PER_SEC
            self._ask("POST", f"{place}&first={int(body)}", data, patience_sec)
        own = (self._key.name, self._key.id)
        return [signature for signature in answer if (signature.name, signature.id) == own]

    def _add_checkpoint(self, log: JournalLog, signed: SignedCheckpoint) -> list[Signature]:
        """Asks once for the size that it has, unless that is where we are."""
        old, size = 0, signed.checkpoint.size
        for _ in range(3):
            request = AddCheckpoint(old, tuple(log.consistency(old, size)), signed)
            status, kind, body = self._ask("POST", "/add-checkpoint", str(request).encode())
            if status == 200:
                try:
                    return [Signature.parse(line) for line in body.decode().removesuffix("\n").split("\n")]
                except (BadNote, UnicodeError) as error:
                    raise WitnessAway(f"{self._address} answered no signature: {error}") from None
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

    def remembered(self, origin: str, log: JournalLog, folder: Path) -> RememberedCheckpoint | None:
        """The leaves are fetched only where the checkpoint does not fit what is here."""
        name = quote(origin, safe="")
        status, _, body = self._ask("GET", f"/checkpoint?origin={name}")
        if status == 404:
            return None
        try:
            signed = SignedCheckpoint.parse(body)
        except BadNote as error:
            raise WitnessAway(f"{self._address} answered {status}, no checkpoint: {error}") from None
        remembered = RememberedCheckpoint(self._address, signed)
        if _had_root_at(log, remembered.size, remembered.root):
            return remembered
        leaves, first = folder / "leaves", 0
        with leaves.open("wb") as file:
            while status == 200 and body:
                place = f"/leaves?origin={name}&first={first}&most={LEAVES_AT_ONCE}"
                status, _, body = self._ask("GET", place)
                if status == 200:
                    file.write(body)
                    first += len(body) // HASH_BYTES
        return RememberedCheckpoint(self._address, signed, leaves, vouched=True)

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
def remembered_elsewhere(
    home: Path, place: str | None, key: VerifierKey | None
) -> Iterator[tuple[list[RememberedCheckpoint], list[str]]]:
    """What this journal's own last checkpoint and its witness say, and what could not be asked."""
    checkpoints: list[RememberedCheckpoint] = []
    warnings: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            with closing(JournalLog(home)) as log:
                signer = log.keys.signer()
                if signer is not None and (last := log.last_remembered()) is not None:
                    checkpoints.append(last)
                if signer is not None and place:
                    remembered = open_witness(place, key).remembered(signer.name, log, Path(folder))
                    nothing = f"the witness {place} has nothing of this journal, {signer.name}"
                    checkpoints += [remembered] if remembered else []
                    warnings += [] if remembered else [nothing]
        except (HandrailError, OSError, sqlite3.Error) as error:
            warnings.append(str(error))
        yield checkpoints, warnings


PAUSE_SEC = 1.0
"""Between two requests to a witness that answers."""
LONGEST_PAUSE_SEC = 60.0
LAST_WORDS_SEC = 0.2
"""A process that ends waits so long for a witness that answered it before, and for no other."""


@dataclass(frozen=True, slots=True)
class WitnessState:
    """How far a witness has come, as this home last heard of it."""

    place: str
    size: int = 0
    at_ms: int = 0
    """When it signed that size."""
    why: str | None = None
    """What went wrong last; None: nothing."""
    refused: bool = False
    """It says that the past was changed. Trying again does not help."""

    @classmethod
    def read(cls, home: Path, place: str) -> WitnessState:
        """Returns an empty state for another witness than the one that the file names."""
        with contextlib.suppress(OSError, ValueError, TypeError):
            state = cls(**json.loads(_state_path(home).read_text()))
            if state.place == place:
                return state
        return cls(place)

    def write(self, home: Path) -> None:
        path = _state_path(home)
        fresh = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")  # others write theirs meanwhile
        fresh.touch(0o600)
        fresh.write_text(json.dumps(asdict(self)))
        fresh.replace(path)


def _state_path(home: Path) -> Path:
    return home / "witness.json"


def cosign(
    home: Path, log: JournalLog, witness: JournalWitness, place: str, clock: Clock
) -> SignedCheckpoint:
    """Sign what there is and have it countersigned, now. What the witness said against it is written down."""
    before = WitnessState.read(home, place)
    try:
        signed = log.checkpoint()
        more = witness.add(log, signed)
        if more:
            signed = log.add_cosignatures(signed, more)
    except HandrailError as error:
        refused = isinstance(error, WitnessRefused | Rewritten)
        WitnessState(place, before.size, before.at_ms, error.message, refused).write(home)
        raise
    WitnessState(place, signed.checkpoint.size, clock.now_ms()).write(home)
    return signed


class Cosigner:
    """One thread for one journal; it sleeps until there is something new."""

    def __init__(self, home: Path, place: str, key: VerifierKey | None, clock: Clock) -> None:
        self._home = home
        self._place = place
        self._key = key
        self._clock = clock
        self._wake = threading.Condition()
        self._new = False
        self._closing = False
        state = WitnessState.read(home, place)
        self._healthy = state.size > 0 and state.why is None
        self._thread: threading.Thread | None = None

    def tell(self) -> None:
        """Wakes the thread that asks the witness, because there are new entries."""
        with self._wake:
            self._new = True
            if self._thread is None and not self._closing:
                self._thread = threading.Thread(target=self._run, name="handrail-witness", daemon=True)
                self._thread.start()
            self._wake.notify()

    def close(self) -> None:
        """One last try with a witness that answered before."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        if self._thread is not None and self._healthy:
            self._thread.join(LAST_WORDS_SEC)

    def _run(self) -> None:
        witness = open_witness(self._place, self._key)
        pause = 0.0
        while self._wait(pause):
            try:
                lock, how = self._home / ".witness.lock", fcntl.LOCK_EX | fcntl.LOCK_NB
                with locked(lock, os.O_RDWR | os.O_CREAT, how), closing(JournalLog(self._home)) as log:
                    cosign(self._home, log, witness, self._place, self._clock)
                self._healthy, pause = True, PAUSE_SEC
            except BlockingIOError:  # another process asks the witness just now
                self._healthy, pause = True, PAUSE_SEC
                self._again()
            except (HandrailError, OSError, sqlite3.Error):
                self._healthy, pause = False, min(max(2 * pause, PAUSE_SEC), LONGEST_PAUSE_SEC)
                self._again()

    def _again(self) -> None:
        """What was not heard is said once more."""
        with self._wake:
            self._new = True

    def _wait(self, pause_sec: float) -> bool:
        """Until there is something to say and the pause is over; False when it is time to go."""
        with self._wake:
            self._wake.wait_for(lambda: self._closing, pause_sec)
            self._wake.wait_for(lambda: self._new or self._closing)
            go = self._new and (self._healthy or not self._closing)
            self._new = False
            return go


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
            raise BadNote("it is not UTF-8") from None
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


def judge_checkpoint(
    request: AddCheckpoint, keys: Collection[VerifierKey], last: Checkpoint | None
) -> WitnessRefusal | None:
    """Returns None where a witness that trusts these keys, and signed `last` before, may sign."""
    new = request.signed.checkpoint
    own = [key for key in keys if key.name == new.origin]
    if not own:
        return WitnessRefusal(404, f"no key of {new.origin} is known here\n")
    try:
        request.signed.check(own)
    except BadNote as error:
        return WitnessRefusal(403, f"{error}\n")
    if request.old > new.size:
        return WitnessRefusal(400, "the old size is greater than the new one\n")
    size, root = (last.size, last.root) if last else (0, EMPTY_ROOT)
    if request.old != size or (size == new.size and last is not None and root != new.root):
        return WitnessRefusal(409, f"{size}\n", SIZE_TYPE)
    try:
        merkle.check_consistency(size, new.size, request.path, root, new.root)
    except BadProof as error:
        return WitnessRefusal(422, f"{error}\n")
    return None
