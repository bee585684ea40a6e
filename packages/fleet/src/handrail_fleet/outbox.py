"""What a host has to tell its head: files first, then the result that names them, with its proof.

Everything lies on the disk before it is sent, and stays there until the head has answered.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from handrail.clock import Clock
from handrail.errors import HandrailError, InvalidAction, StoreFull
from handrail.journal.checkpoint import replace_durably
from handrail_fleet.attempt_book import AttemptBook
from handrail_fleet.ledger import AttemptReport, Fenced, StaleHost
from handrail_fleet.transport import CHUNK, HeadAway

_log = logging.getLogger(__name__)
AT_ONCE = 16
"""Results that share one checkpoint of the journal, and one call."""
MOST_CALL = 4_000_000
"""Bytes of one call, roughly; the head takes twice as many."""
SMALL = 64 * 1024
"""Bytes of a file that goes along with its result; a larger one is sent by itself, and resumed."""
PAUSE_MS = 500.0
LINGER_MS = 100.0
"""What just ended may go along with the claim for the phone that it has freed."""
HASH_LENGTH = 60
"""Bytes of one step of a path in a proof, as JSON, or a little more."""


@dataclass(frozen=True, slots=True)
class HeadWay:
    """To the head, in this host's name."""

    call: Callable[[str, Mapping[str, Any]], Awaitable[Any]]
    put: Callable[[str, int, int, bytes], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class SealedEnd:
    """An attempt's end with what proves it; nothing does where nothing was done."""

    report: AttemptReport
    proof: Mapping[str, Any] | None = None

    @property
    def fenced(self) -> Fenced:
        return self.report.unit, self.report.attempt

    @property
    def files(self) -> list[str]:
        return list((self.report.result or {}).get("artefacts", ()))

    @property
    def size(self) -> int:
        if self.proof is None:
            return 0
        path = sum(map(len, self.proof["places"])) * HASH_LENGTH
        return len(self.proof["ended"]) + len(self.proof["checkpoint"]) + path


@dataclass(slots=True)
class Parcel:
    """What goes in one call."""

    ends: list[SealedEnd] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    size: int = 0

    def to_dict(self) -> dict[str, Any]:
        told = [{"report": asdict(end.report), "proof": end.proof} for end in self.ends]
        return {"reports": told, "files": self.files}

    def takes(self, size: int) -> bool:
        """Whether there is room. One thing alone always has it."""
        if self.ends and self.size + size > MOST_CALL:
            return False
        self.size += size
        return True


class Outbox:
    """One host's."""

    def __init__(self, book: AttemptBook, way: HeadWay, host: str, folder: Path, clock: Clock) -> None:
        self._book = book
        self._way = way
        self._host = host
        self._files = folder / "files"
        self._clock = clock
        self._news = asyncio.Event()
        self._sending = asyncio.Lock()
        self._back: dict[Fenced, AttemptReport] = {}
        """Never begun, and the head has not heard it yet."""
        self.waiting: set[Fenced] = set()
        """Ended here and not told yet: the host goes on naming them, however long their files take."""

    async def keep(self, artefacts: Mapping[str, bytes]) -> None:
        """On the disk, by their hashes."""
        await asyncio.to_thread(self._keep, artefacts)

    def _keep(self, artefacts: Mapping[str, bytes]) -> None:
        self._files.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, data in artefacts.items():
            if not (self._files / name).exists():
                replace_durably(self._files / name, data)

    def wake(self) -> None:
        self._news.set()

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            self._news.clear()
            try:
                await self.send()
            except StaleHost:
                raise
            except HeadAway:
                await self._clock.sleep_ms(PAUSE_MS)
                continue
            except HandrailError as error:  # a journal that can't be signed, a head whose disk is full
                _log.warning("%s: %s", self._host, error)
                await self._clock.sleep_ms(10 * PAUSE_MS)
                continue
            await self._news.wait()
            await self._clock.sleep_ms(LINGER_MS)

    async def send(self) -> None:
        """Everything that waits. Raises `HeadAway`, and what a head says that can't take it now."""
        async with self._sending:
            if self._back:
                sent = list(self._back.values())
                await self.tell(Parcel([SealedEnd(one) for one in sent]))
                for one in sent:
                    self._forget_back((one.unit, one.attempt))
            while (parcel := await self._next()).ends:
                for name in [name for end in parcel.ends for name in end.files if name not in parcel.files]:
                    await self._upload(name)
                await self.tell(parcel)
                await self._told(parcel)

    @asynccontextmanager
    async def along(self) -> AsyncIterator[Parcel]:
        """What can go along with another call, which has told it when this ends without an exception."""
        if self.waiting and not self._back and not self._sending.locked():
            async with self._sending:
                parcel = await self._next()
                # a large file has to go before its result: that is left to `send`
                if parcel.ends and all(name in parcel.files for end in parcel.ends for name in end.files):
                    yield parcel
                    await self._told(parcel)
                    return
        yield Parcel()

    async def _next(self) -> Parcel:
        ends = (await self._book.unreported())[:AT_ONCE]
        if not ends:
            return Parcel()
        proofs = await self._book.prove(ends)
        sealed = [SealedEnd(end.report, proofs[end.report.unit, end.report.attempt]) for end in ends]
        return await asyncio.to_thread(self._parcel, sealed)

    async def _told(self, parcel: Parcel) -> None:
        if parcel.ends:
            await self._book.reported([one.fenced for one in parcel.ends])
            self.waiting.difference_update(end.fenced for end in parcel.ends)
            await asyncio.to_thread(self._forget, parcel)

    def _parcel(self, ends: Sequence[SealedEnd]) -> Parcel:
        """As many as fit into one call, in their order, with their small files."""
        made = Parcel()
        for end in ends:
            small = {name: self._small(name) for name in end.files if name not in made.files}
            found = {name: data for name, data in small.items() if data}
            if not made.takes(end.size + sum(map(len, found.values()))):
                break
            made.ends.append(end)
            made.files |= found
        return made

    def _small(self, name: str) -> str:
        """A small file's bytes, as text; '' for others."""
        path = self._files / name
        if not path.exists() or path.stat().st_size > SMALL:
            return ""
        return base64.b64encode(path.read_bytes()).decode()

    async def tell(self, parcel: Parcel) -> None:
        """Whatever the head says to each ends the matter: accepted, again, late or refused."""
        found = await self._way.call("report", parcel.to_dict())
        for one, answer in zip(parcel.ends, found["answers"], strict=True):
            _log.info("%s#%s: %s", *one.fenced, answer)

    def give_back(self, unit: str, attempt: int, why: str) -> None:
        """Nothing of it was done. It is told as long as the head's lease lasts; then that ends it."""
        self._back[unit, attempt] = AttemptReport(unit, attempt, "given_back", why=why)
        self.waiting.add((unit, attempt))
        self.wake()

    def _forget_back(self, fenced: Fenced) -> None:
        self._back.pop(fenced, None)
        self.waiting.discard(fenced)

    async def _upload(self, name: str) -> None:
        path = self._files / name
        if not path.exists():
            return
        size, done = path.stat().st_size, (await self._way.call("have", {"files": [name]}))["have"][name]
        while done < size:
            chunk = await asyncio.to_thread(_part, path, done)
            try:
                done = await self._way.put(name, done, size, chunk)
            except (StoreFull, InvalidAction) as error:  # the head is full: the result counts without it
                _log.warning("%s: %s", self._host, error)
                return

    def _forget(self, parcel: Parcel) -> None:
        for name in {name for end in parcel.ends for name in end.files}:
            (self._files / name).unlink(missing_ok=True)


def _part(path: Path, offset: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(CHUNK)
