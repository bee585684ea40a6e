"""The agent of a host: owns its phones and its home, pulls units, and stops itself when it is cut off.

Knows nothing of Ray: whoever starts it gives it a way to the head.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from handrail.clock import Clock
from handrail.errors import HandrailError, InvalidAction, StoreFull, Timeout
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail.waiting import Background, first, uninterrupted
from handrail_fleet.attempt_book import AttemptBook
from handrail_fleet.fence import LEASE_MS, RENEW_MS, HostFence, SteadyClock, check_lease
from handrail_fleet.host_identity import signed_hello
from handrail_fleet.host_people import HostPeople
from handrail_fleet.host_phones import HostPhones
from handrail_fleet.ledger import Ended, Fenced, HandedUnit, StaleHost
from handrail_fleet.orders import OrderedHost
from handrail_fleet.outbox import HeadWay, Outbox, Parcel, SealedEnd
from handrail_fleet.transport import FleetTransport, HeadAway, versions
from handrail_fleet.underway import AttemptFence, Underway
from handrail_fleet.unit_kind import UnitResult, UnitStage, kind_of

_log = logging.getLogger(__name__)
CLAIM_WAIT_MS = 2_000.0
"""So long the head may keep a claim until there is something to do. Phones that get free meanwhile wait."""
IDLE_WAIT_MS = 5_000.0
"""The same for a host that does nothing at all."""
IDLE_BEATS = 2.5
"""A host that does nothing beats so much slower: still well within half of the lease."""
PAUSE_MS = 500.0
"""After a call that failed."""
SICK_MS = 10_000.0
"""A host that could not write an attempt down takes no other for so long: it would only use them up."""
CUT_OFF = "the host was cut off from its head, and stopped itself"


class HostAgent:
    """One host in one process."""

    def __init__(
        self,
        name: str,
        runtime: Runtime,
        phones: HostPhones,
        transport: FleetTransport,
        *,
        limit: int,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self.incarnation = secrets.token_hex(16)
        """Known to this process and the head: what is said in this host's name has it."""
        self._runtime = runtime
        self._phones = phones
        self._transport = transport
        self._limit = limit
        self._clock = clock or SteadyClock()
        self._book = AttemptBook(runtime)
        way = HeadWay(self._call, transport.put)
        self.outbox = Outbox(self._book, way, name, runtime.config.home / "fleet", self._clock)
        self.people = HostPeople(OrderedHost(name, self.incarnation), runtime, phones)
        self.people.says_no = self._says_no
        self.people.on_down = self._go_down
        self.is_down = False
        """It was told to end, and not to come back."""
        self._tasks = Background()
        self.fence = HostFence(self._clock, LEASE_MS, self._clock.monotonic_ms())
        self._pause_until_ms = 0.0
        self._renew_ms = RENEW_MS
        self._work: dict[Fenced, Underway] = {}
        self._is_cut_off = False
        self._finishing = asyncio.Event()
        self._begun = asyncio.Event()
        self._told_to_end = asyncio.Event()
        self.stopped_in_ms: float | None = None
        """How long the last stop of everything took."""

    async def run(self) -> None:
        """Until it is cancelled, or a newer process of this host has begun."""
        try:
            await self._hello()
            ended = await first(
                self._beating(),
                self._guarding(),
                self._claiming(),
                self._ending(),
                self.outbox.run(),
                self.people.asking(self._call),
                self.people.obeying(self._call),
            )
            for task in ended:
                if not task.cancelled():
                    task.result()
        except StaleHost as stale:
            _log.warning("%s", stale)
        finally:
            await self._stop_all("cut_off", "the host was asked to end")
            await self._last_words()
            await self.people.close()

    async def _ending(self) -> None:
        await self._told_to_end.wait()
        self.is_down = True
        await self._clock.sleep_ms(PAUSE_MS)  # the answer to the order goes out first

    def _go_down(self) -> None:
        self._told_to_end.set()

    async def _last_words(self) -> None:
        try:
            async with asyncio.timeout(3.0):
                await self.outbox.send()
        except (HandrailError, TimeoutError):
            _log.warning("%s ends, and could not tell its head what it did; the next process will", self.name)

    # the head

    async def _hello(self) -> None:
        """Until the head answers; then what an earlier process of this host left behind is told."""
        while True:
            try:
                answer = await self._show_itself()
                self._renew_ms = float(answer["renew_ms"])
                check_lease(float(answer["lease_ms"]), self._renew_ms)
                self.people.trust(answer["head_key"])
                for one in answer["left"]:
                    report = await self._book.of_predecessor(_handed(one))
                    if report is not None:
                        await self.outbox.tell(Parcel([SealedEnd(report)]))
                return
            except (HeadAway, StoreFull, Timeout) as error:
                _log.info("%s: %s", self.name, error)
                await self._clock.sleep_ms(PAUSE_MS)

    async def _show_itself(self) -> dict[str, Any]:
        key = self._book.key()
        word = (await self._transport.call("challenge", {}))["word"]
        sent = self._clock.monotonic_ms()
        told = {
            "name": self.name,
            "incarnation": self.incarnation,
            "key": str(key.verifier),
            "word": word,
            "proof": signed_hello(key, self.name, self.incarnation, word),
            "about": versions(),
            "phones": [one.to_dict() for one in self._phones.told()],
        }
        answer: dict[str, Any] = await self._transport.call("hello", told)
        self.fence = HostFence(self._clock, float(answer["lease_ms"]), sent)
        return answer

    async def _call(self, name: str, more: Mapping[str, Any], wait_ms: float = 0.0) -> Any:
        data = {"name": self.name, "incarnation": self.incarnation, "wait_ms": wait_ms, **more}
        answer = await self._transport.call(name, data, wait_ms=wait_ms)
        if isinstance(answer, dict) and "stale" in answer:
            raise StaleHost(answer["stale"])
        return answer

    async def _beating(self) -> None:
        while True:
            sent = self._clock.monotonic_ms()
            renewal = self._renewal()
            try:
                self._renewed(sent, renewal, await self._call("beat", renewal))
            except StaleHost:
                raise
            except HandrailError as error:  # also of a head that is there and can't: its disk is full
                _log.info("%s: %s", self.name, error)
            await self._phones.look()
            await self._until_next_beat(sent)

    def _renewal(self) -> dict[str, Any]:
        """What keeps leases: a beat is nothing else, and a claim brings it along."""
        held = [*self._work, *(self.outbox.waiting - self._work.keys())]
        phones = [one.to_dict() for one in self._phones.told()]
        return {"held": [[*one, self._said(one)] for one in held], "phones": phones}

    def _renewed(self, sent: float, renewal: Mapping[str, Any], answer: Any) -> None:
        if not isinstance(answer, dict):
            raise HandrailError("the head answers with nonsense")
        self.fence.renewed(sent)
        self._is_cut_off = False
        for (unit, attempt, _), is_mine in zip(renewal["held"], answer["held"], strict=True):
            if not is_mine:
                self._end((unit, attempt), "accepted", "it was stopped")

    async def _until_next_beat(self, sent: float) -> None:
        """A claim in between counts as one. An idle host that gets something to do beats at once."""
        self._begun.clear()
        is_idle = not self._work and not self.outbox.waiting
        period = self._renew_ms * (IDLE_BEATS if is_idle else 1)
        while (left := max(sent, self.fence.renewed_ms) + period - self._clock.monotonic_ms()) > 0:
            if not is_idle:
                await self._clock.sleep_ms(left)
            elif await _set_within(self._begun, left):
                return

    def _said(self, fenced: Fenced) -> str:
        """How far an attempt is."""
        work = self._work.get(fenced)
        if work is None:
            return "its result is on its way"
        return work.stage.said if work.stage is not None else ""

    async def _guarding(self) -> None:
        """A task of its own: it strikes also while a beat hangs."""
        while True:
            left = self.fence.left_ms
            if left > 0:
                await self._clock.sleep_ms(left)
                continue
            if not self._is_cut_off:
                self._is_cut_off = True
                _log.warning("%s is cut off from its head, and stops everything", self.name)
                await self._stop_all("cut_off", CUT_OFF)
            await self._clock.sleep_ms(self._renew_ms / 4)

    async def _claiming(self) -> None:
        ask = secrets.token_hex(8)
        while True:
            free = self._phones.free()
            room = min(len(free), self._limit - len(self._work))
            is_sick = self._clock.monotonic_ms() < self._pause_until_ms
            if room <= 0 or self.fence.left_ms <= 0 or is_sick:
                self._finishing.clear()
                await _set_within(self._finishing, PAUSE_MS)
                continue
            told = {"ask": ask, "free": [one.to_dict() for one in free], "limit": room}
            try:
                given = await self._claim(told)
            except StaleHost:
                raise
            except HandrailError:
                await self._clock.sleep_ms(PAUSE_MS)
                continue  # with the same ask: what was handed out meanwhile is handed out again
            ask = secrets.token_hex(8)
            for one in given["units"]:
                self._begin(_handed(one))

    async def _claim(self, told: Mapping[str, Any]) -> Any:
        """One call for all that there is to say: what ended, what goes on, what could begin."""
        async with self.outbox.along() as parcel:
            wait_ms = CLAIM_WAIT_MS if self._work else IDLE_WAIT_MS
            sent, renewal = self._clock.monotonic_ms(), self._renewal()
            more = {**told, **renewal, **parcel.to_dict()}
            given = await self._call("claim", more, 0.0 if parcel.ends else wait_ms)
            self._renewed(sent, renewal, given)
            return given

    # attempts

    def _begin(self, one: HandedUnit) -> None:
        try:
            phones = self._phones.take(one.phones, one.unit)
        except InvalidAction as error:
            self.outbox.give_back(one.unit, one.attempt, error.message)
            return
        fence = AttemptFence(self.fence, (one.unit, one.attempt))
        work = Underway(one, phones, fence)
        self._work[work.fenced] = work
        self._begun.set()
        work.task = self._tasks.start(self._attempt(work), f"{one.unit}#{one.attempt}")

    async def _attempt(self, work: Underway) -> None:
        one, id_ = work.handed, f"{work.handed.unit}#{work.handed.attempt}"
        caller = Caller(id_, "flow", "flow", asker=id_, fence=work.fence)
        began = False
        try:
            with tempfile.TemporaryDirectory(prefix="unit-", dir=self._folder()) as folder:
                stage = work.stage = self._stage(work, caller, Path(folder))
                work.fence.check()
                await self._book.begin(one, caller, [phone.session.serial for phone in work.phones])
                began = True
                result = await self._run(work, stage)
                await uninterrupted(self._write_down(work, stage, result))
        except asyncio.CancelledError:
            if not began:
                self.outbox.give_back(one.unit, one.attempt, work.why or "it was stopped before it began")
        except Exception as error:  # of the host itself: its disk is full, its journal can't be written
            _log.exception("%s: %s could not be written down", self.name, id_)
            self._pause_until_ms = self._clock.monotonic_ms() + SICK_MS
            if not began:
                self.outbox.give_back(one.unit, one.attempt, f"{type(error).__name__}: {error}")
        finally:
            self._phones.give_back(work.phones, in_the_middle=work.ended != "accepted" or bool(work.why))
            self._work.pop(work.fenced, None)
            self._finishing.set()
            self.outbox.wake()

    async def _write_down(self, work: Underway, stage: UnitStage, result: UnitResult) -> None:
        ended, why = self._verdict(work, result)
        await self.outbox.keep(stage.artefacts)
        told = {**result.to_dict(), "artefacts": sorted(stage.artefacts)}
        await self._book.end(work.fenced, ended, told, why)
        self.outbox.waiting.add(work.fenced)

    async def _run(self, work: Underway, stage: UnitStage) -> UnitResult:
        """What fails is a result, too: only a kill leaves none."""
        try:
            for phone in work.phones:
                if phone.needs_reset:
                    await phone.reset()
            return await kind_of(work.handed.kind).run(work.handed.body, stage)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            return UnitResult("stopped", work.why)
        except HandrailError as error:
            for phone in work.phones:
                phone.is_away |= error.family == "device"
            return UnitResult("failed", f"{error.code}: {error.message}")
        except Exception as error:
            _log.exception("%s failed unexpectedly", work.handed.unit)
            return UnitResult("failed", f"{type(error).__name__}: {error}")

    def _verdict(self, work: Underway, result: UnitResult) -> tuple[Ended, str]:
        """A flow that passed before the stop reached it has passed, as long as its host counted."""
        if work.fence.is_closed:
            return "cut_off", work.why or CUT_OFF
        if work.ended == "cut_off" and result.outcome in ("passed", "failed") and self.fence.left_ms > 0:
            return "accepted", ""
        return work.ended, work.why

    def _stage(self, work: Underway, caller: Caller, folder: Path) -> UnitStage:
        def renew() -> None:
            for phone in work.phones:
                phone.renew()

        return UnitStage(
            runtime=self._runtime,
            clock=self._runtime.clock,
            sessions=[phone.session for phone in work.phones],
            caller=caller,
            folder=folder,
            own_phones=all(phone.simulated is not None for phone in work.phones),
            renew=renew,
        )

    def _folder(self) -> Path:
        place = self._runtime.config.home / "fleet" / "work"
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place

    # stopping

    def _end(self, fenced: Fenced, ended: Ended, why: str) -> None:
        work = self._work.get(fenced)
        if work is not None and work.task is not None and not work.why:
            work.ended, work.why = ended, why
            work.task.cancel()

    async def _stop_all(self, ended: Ended, why: str) -> None:
        """Every session and every attempt: waits and approvals end with them."""
        began = self._clock.monotonic_ms()
        tasks = [work.task for work in self._work.values() if work.task is not None]
        for fenced in list(self._work):
            self._end(fenced, ended, why)
        await asyncio.gather(
            *(phone.session.end_actions() for phone in self._phones.phones.values() if phone.used_by)
        )
        self.stopped_in_ms = self._clock.monotonic_ms() - began
        if tasks:
            await asyncio.wait(tasks)

    def _says_no(self, asker: str) -> bool:
        """Whether whoever handed the unit in wants every question refused."""
        found = (
            one for one in self._work.values() if asker == f"flow {one.handed.unit}#{one.handed.attempt}"
        )
        return any(one.handed.body.get("refuse") is True for one in found)


async def _set_within(event: asyncio.Event, duration_ms: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(duration_ms / 1000):
            return await event.wait()
    return False


def _handed(data: Mapping[str, Any]) -> HandedUnit:
    return HandedUnit(**{**data, "phones": tuple(data["phones"])})
