"""Countersigning in the background: a thread that tells the witness of new entries when there are some.

Nothing ever waits for a witness. What it did not hear of yet stands in a small file, for `handrail doctor`.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from handrail.clock import Clock
from handrail.engine.journal.log import JournalLog, Rewritten
from handrail.engine.journal.witnesses import JournalWitness, WitnessRefused, open_witness
from handrail.errors import HandrailError
from handrail.transparency.checkpoint import SignedCheckpoint
from handrail.transparency.note import VerifierKey

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
    """It says that the past was changed. Trying again mends nothing."""

    @classmethod
    def read(cls, home: Path, place: str) -> WitnessState:
        """Nothing is known of another witness than the one that the file names."""
        with contextlib.suppress(OSError, ValueError, TypeError):
            found = cls(**json.loads(_state_path(home).read_text()))
            if found.place == place:
                return found
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
        known = WitnessState.read(home, place)
        self._healthy = known.size > 0 and known.why is None
        self._thread: threading.Thread | None = None

    def tell(self) -> None:
        """There are new entries."""
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
                with _alone(self._home) as free:
                    if free:
                        self._cosign(witness)
                    else:
                        self._again()
                self._healthy, pause = True, PAUSE_SEC
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

    def _cosign(self, witness: JournalWitness) -> None:
        log = JournalLog(self._home)
        try:
            cosign(self._home, log, witness, self._place, self._clock)
        finally:
            log.close()


@contextlib.contextmanager
def _alone(home: Path) -> Iterator[bool]:
    """Whether no other process asks the witness just now."""
    file = os.open(home / ".witness.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            free = True
        except BlockingIOError:
            free = False
        yield free
    finally:
        os.close(file)
