"""What a host has to tell its head: files first, then the result that names them, with its proof.

Everything lies on the disk before it is sent, and stays there until the head has answered.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from handrail.clock import Clock
from handrail.engine.journal.kept import replace_durably
from handrail.errors import HandrailError
from handrail.fleet.attempt_book import AttemptBook
from handrail.fleet.ledger import AttemptReport, Fenced
from handrail.fleet.transport import CHUNK, FleetTransport, HeadAway

_log = logging.getLogger(__name__)
AT_ONCE = 16
"""Results that share one checkpoint of the journal."""
PAUSE_MS = 500.0


class Outbox:
    """One host's."""

    def __init__(
        self, book: AttemptBook, transport: FleetTransport, host: str, folder: Path, clock: Clock
    ) -> None:
        self._book = book
        self._transport = transport
        self._host = host
        self._files = folder / "files"
        self._clock = clock
        self._news = asyncio.Event()
        self._sending = asyncio.Lock()
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
            except HeadAway:
                await self._clock.sleep_ms(PAUSE_MS)
                continue
            except HandrailError as error:  # a journal that can't be signed, a head whose disk is full
                _log.warning("%s: %s", self._host, error)
                await self._clock.sleep_ms(10 * PAUSE_MS)
                continue
            await self._news.wait()

    async def send(self) -> None:
        """Everything that waits. Raises `HeadAway`."""
        async with self._sending:
            while ends := (await self._book.unreported())[:AT_ONCE]:
                proofs = await self._book.prove(ends)
                for one in ends:
                    report = one.report
                    names = list((report.result or {}).get("artefacts", ()))
                    await self._upload(names)
                    answer = await self.tell(report, proofs[report.unit, report.attempt])
                    _log.info("%s#%s: %s", report.unit, report.attempt, answer)
                    await self._book.reported((report.unit, report.attempt))
                    self.waiting.discard((report.unit, report.attempt))
                    await asyncio.to_thread(self._forget, names)

    async def tell(self, report: AttemptReport, proof: Mapping[str, Any] | None = None) -> str:
        """The head's answer: accepted, again or late. Each of them ends the matter."""
        data = {"name": self._host, "report": asdict(report), "proof": proof}
        try:
            answer: dict[str, str] = await self._transport.call("report", data)
        except HeadAway:
            raise
        except HandrailError as error:  # the head knows nothing of it, and never will
            _log.warning("%s: %s", self._host, error)
            return "late"
        return answer["answer"]

    async def give_back(self, unit: str, attempt: int, why: str) -> None:
        """Nothing of it was done. Where the head does not hear of it, the lease ends it."""
        try:
            await self.tell(AttemptReport(unit, attempt, "given_back", why=why))
        except HeadAway:
            _log.info("%s: could not give %s back", self._host, unit)

    async def _upload(self, names: Sequence[str]) -> None:
        if not names:
            return
        have: dict[str, int] = (
            await self._transport.call("have", {"name": self._host, "files": list(names)})
        )["have"]
        for name in names:
            path = self._files / name
            if not path.exists():
                continue
            size, done = path.stat().st_size, have.get(name, 0)
            while done < size:
                chunk = await asyncio.to_thread(_part, path, done)
                try:
                    done = await self._transport.put(name, done, size, chunk)
                except HeadAway:
                    raise
                except HandrailError as error:  # the run's folder is full: the result counts without it
                    _log.warning("%s: %s", self._host, error)
                    break

    def _forget(self, names: Sequence[str]) -> None:
        for name in names:
            (self._files / name).unlink(missing_ok=True)


def _part(path: Path, offset: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(CHUNK)
