"""The head: one ledger, the files of its runs, and what hosts and callers may ask of it. Knows no door."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from handrail.clock import Clock
from handrail.errors import InvalidAction, StoreFull
from handrail.journal.checkpoint import replace_durably
from handrail_fleet.artefacts import Artefacts
from handrail_fleet.fence import RENEW_MS
from handrail_fleet.hand_out import spread
from handrail_fleet.head_people import HeadPeople
from handrail_fleet.host_identity import HostIdentities
from handrail_fleet.ledger import AttemptReport, FleetPhone, HostHello, Ledger, StaleHost, UnitSpec
from handrail_fleet.transport import check_versions
from handrail_fleet.unit_kind import KINDS

T = TypeVar("T")
_log = logging.getLogger(__name__)
SWEEP_MS = 500.0
MOST_UNITS = 100_000
MOST_PARTIAL = 8
"""Runs that are on their way in parts; the oldest is forgotten for another one."""
MOST_WAIT_MS = 20_000.0
_UNIT_KEYS = frozenset({"kind", "name", "body", "where", "pins", "phones", "attempts", "retry_lost", "once"})


class _News:
    """Tells everybody who waits that something is new; nobody misses it between looking and waiting."""

    def __init__(self) -> None:
        self.count = 0
        self._event = asyncio.Event()

    def tell(self) -> None:
        self.count += 1
        self._event.set()
        self._event = asyncio.Event()

    async def beyond(self, count: int, wait_ms: float) -> bool:
        """Whether something came that whoever has seen `count` does not know."""
        try:
            async with asyncio.timeout(min(wait_ms, MOST_WAIT_MS) / 1000):
                while self.count == count:
                    await self._event.wait()
        except TimeoutError:
            return False
        return True


class FleetHead:
    """One fleet's. Calls of hosts are in `calls`; each may be repeated."""

    def __init__(
        self,
        ledger: Ledger,
        folder: Path,
        people: HeadPeople,
        clock: Clock,
        *,
        lease_ms: float,
        renew_ms: float = RENEW_MS,
    ) -> None:
        self.ledger = ledger
        self.people = people
        self.folder = folder
        self.artefacts = Artefacts(folder)
        self._clock = clock
        self._lease_ms = lease_ms
        self._renew_ms = renew_ms
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="fleet-ledger")
        self._news = _News()
        self._identities = HostIdentities(people.heard)
        self._heard_ms: dict[str, float] = {}
        self._parts: dict[tuple[str, str], list[Any]] = {}
        """Of runs whose last part has not come: by caller and part."""
        self.progress: dict[tuple[str, int], str] = {}
        """What hosts said of their attempts last."""

    @property
    def calls(self) -> dict[str, Callable[[Mapping[str, Any]], Any]]:
        return {
            "challenge": self._challenge,
            "hello": self._hello,
            "claim": self._claim,
            "beat": self._beat,
            "report": self._report,
            "have": self._have,
            "asked": self._asked,
            "closed": self._closed,
            "orders": self._orders,
            "obeyed": self._obeyed,
        }

    async def answer(self, name: str, data: Mapping[str, Any]) -> Any:
        """One call of a host, in its own name. A process that another one has replaced is told so."""
        if name not in self.calls:
            raise InvalidAction(f"hosts can't ask {name!r:.60}")
        try:
            if name not in ("challenge", "hello"):
                await self._must_be(str(data["name"]), str(data["incarnation"]))
            return await self.calls[name](data)
        except StaleHost as stale:
            return {"stale": stale.message}
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidAction(f"{name}: {type(error).__name__}: {error}") from None

    async def _must_be(self, name: str, incarnation: str) -> None:
        """Raises `StaleHost` for whoever did not say hello as this host."""
        if not self._identities.is_known(name, incarnation):
            await self.do(lambda ledger: ledger.check(name, incarnation))
            self._identities.believe(name, incarnation)

    async def do(self, work: Callable[[Ledger], T]) -> T:
        """On the ledger, one after the other, beside the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, work, self.ledger)

    async def run(self) -> None:
        """Until it is cancelled: gives up what no host names any more."""
        while True:
            for fenced in await self.do(lambda ledger: ledger.sweep()):
                self.progress.pop(fenced, None)
                self._news.tell()
            await self._clock.sleep_ms(SWEEP_MS)

    async def close(self) -> None:
        await self.people.close()
        self._worker.submit(self.ledger.close).result()
        self._worker.shutdown()

    # hosts

    async def _challenge(self, data: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        return {"word": self._identities.challenge()}

    async def _hello(self, data: Mapping[str, Any]) -> dict[str, Any]:
        check_versions(data["about"])
        phones = tuple(FleetPhone(**one) for one in data["phones"])
        who = (str(data["name"]), str(data["incarnation"]), str(data["key"]))
        host = HostHello(*who, data["about"], phones)
        if not host.name or not host.name.replace("-", "").replace(".", "").replace("_", "").isalnum():
            raise InvalidAction(f"{host.name!r:.60} is not a valid host", hint="Use letters, digits, - . _")
        shown = (str(data["word"]), str(data["proof"]))
        self._identities.check_hello(host.name, host.incarnation, host.key, *shown)
        left = await self.do(lambda ledger: ledger.hello(host))
        self._identities.believe(host.name, host.incarnation)
        return {
            "lease_ms": self._lease_ms,
            "renew_ms": self._renew_ms,
            "head_key": self.people.head_key,
            "left": [one.to_dict() for one in left],
        }

    async def _claim(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """What the host says along with it counts first. Waits a little where there is nothing to do."""
        if data["reports"]:
            await self._report(data)
        renewed = await self._beat(data)
        free = [FleetPhone(**one) for one in data["free"]]
        name = data["name"]
        asked = (name, data["incarnation"], data["ask"], free, int(data["limit"]))
        wait_until = self._clock.monotonic_ms() + float(data.get("wait_ms", 0))
        while True:
            seen = self._news.count
            given = await self.do(lambda ledger: ledger.claim(*asked)) if self._is_there(name) else []
            left = wait_until - self._clock.monotonic_ms()
            if given or left <= 0 or not await self._news.beyond(seen, left):
                break
        if given:
            self._news.tell()
        return {"units": [one.to_dict() for one in given], **renewed}

    def _is_there(self, host: str) -> bool:
        """Nothing is handed to a claim whose host has fallen silent while it waited: nobody would hear it."""
        return self._clock.monotonic_ms() - self._heard_ms.get(host, 0.0) < self._lease_ms / 2

    async def _beat(self, data: Mapping[str, Any]) -> dict[str, Any]:
        held = [(str(unit), int(attempt)) for unit, attempt, _ in data["held"]]
        phones = [FleetPhone(**one) for one in data["phones"]]
        kept = await self.do(lambda ledger: ledger.beat(data["name"], data["incarnation"], held, phones))
        self._heard_ms[data["name"]] = self._clock.monotonic_ms()
        for (unit, attempt, said), is_kept in zip(data["held"], kept, strict=True):
            if is_kept:
                self.progress[unit, attempt] = str(said)[:200]
        return {"held": kept}

    async def _report(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Files and proofs are on the disk before a result counts."""
        name, told = str(data["name"]), data["reports"]
        reports = [AttemptReport(**one["report"]) for one in told]
        await asyncio.to_thread(self._keep_files, data["files"])
        open_ = await self.do(lambda ledger: [_is_open(ledger, name, one) for one in reports])
        proofs = [one["proof"] if is_open else None for one, is_open in zip(told, open_, strict=True)]
        await asyncio.to_thread(self._keep_proofs, name, reports, proofs)
        answers = await self.do(lambda ledger: [_answer(ledger, name, report) for report in reports])
        for one in reports:
            self.progress.pop((one.unit, one.attempt), None)
        self._news.tell()
        return {"answers": answers}

    def _keep_files(self, files: Mapping[str, str]) -> None:
        for name, data in files.items():
            try:
                self.artefacts.keep(name, base64.b64decode(data, validate=True))
            except (StoreFull, InvalidAction) as error:  # results count without their pictures
                _log.warning("%s", error)

    def _keep_proofs(self, host: str, reports: Sequence[AttemptReport], proofs: Sequence[Any]) -> None:
        for report, proof in zip(reports, proofs, strict=True):
            if proof is not None:
                folder = self.folder / "runs" / report.unit.partition(".")[0] / "proofs"
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                path = folder / f"{report.unit}-{report.attempt}.json"
                replace_durably(path, json.dumps({"host": host, **proof}).encode())

    def proof(self, unit: str, attempt: int) -> dict[str, Any] | None:
        path = self.folder / "runs" / unit.partition(".")[0] / "proofs" / f"{unit}-{attempt}.json"
        return dict(json.loads(path.read_bytes())) if path.exists() else None

    async def _have(self, data: Mapping[str, Any]) -> dict[str, Any]:
        return {"have": await asyncio.to_thread(self.artefacts.have, data["files"])}

    async def put(self, name: str, offset: int, total: int, chunk: bytes) -> int:
        return await asyncio.to_thread(self.artefacts.put, name, offset, total, chunk)

    async def _asked(self, data: Mapping[str, Any]) -> dict[str, Any]:
        self.people.asked(data["name"], data["question"])
        return {}

    async def _closed(self, data: Mapping[str, Any]) -> dict[str, Any]:
        await self.people.closed(data["name"], data["id"])
        return {}

    async def _orders(self, data: Mapping[str, Any]) -> dict[str, Any]:
        wait_ms = min(float(data.get("wait_ms", 0)), MOST_WAIT_MS)
        who = (str(data["name"]), str(data["incarnation"]))
        return {"orders": await self.people.wait_for_orders(*who, int(data["after"]), wait_ms)}

    async def _obeyed(self, data: Mapping[str, Any]) -> dict[str, Any]:
        self.people.obeyed(data["name"], int(data["number"]), data["told"])
        return {}

    # callers

    async def submit(self, given: Mapping[str, Any], by: str) -> dict[str, Any]:
        """Hand a run in: units as data, nothing else. Raises `InvalidAction` where none could run them.

        A run that is larger than a request comes in parts; nothing of it begins before the last one.
        """
        wanted = given.get("units")
        if not isinstance(wanted, list) or not wanted:
            raise InvalidAction("units: a list of at least one is needed", path="units")
        wanted = self._with_earlier(wanted, by, str(given.get("part") or ""))
        if given.get("more") is True:
            return {"part": self._keep_part(wanted, by)}
        hosts = await self.do(lambda ledger: ledger.hosts())
        specs: list[UnitSpec] = []
        for one in wanted:
            specs += spread(_spec(one), hosts, each_device=bool(given.get("each_device")))
            if len(specs) > MOST_UNITS:
                raise InvalidAction(f"a run has at most {MOST_UNITS:,} units", path="units")
        about = {"title": str(given.get("title", ""))[:200], "files": [spec.name for spec in specs][:20]}
        run = await self.do(lambda ledger: ledger.add_run(about, specs, by))
        self._news.tell()
        return {"run": run, "units": len(specs)}

    def _with_earlier(self, wanted: list[Any], by: str, part: str) -> list[Any]:
        if not part:
            return wanted
        earlier = self._parts.pop((by, part), None)
        if earlier is None:
            hint = "Hand the whole run in again."
            raise InvalidAction("What was handed in before is not here any more", path="part", hint=hint)
        if len(earlier) + len(wanted) > MOST_UNITS:
            raise InvalidAction(f"a run has at most {MOST_UNITS:,} units", path="units")
        return [*earlier, *wanted]

    def _keep_part(self, wanted: list[Any], by: str) -> str:
        """In memory only: whoever hands in is still there, and begins anew with another head."""
        part = secrets.token_hex(8)
        self._parts[by, part] = wanted
        while len(self._parts) > MOST_PARTIAL:
            self._parts.pop(next(iter(self._parts)))
        return part

    async def watch(self, run: str, wait_ms: float) -> dict[str, Any]:
        """How it stands; waits until something changes."""
        seen = self._news.count
        told = await self.do(lambda ledger: ledger.run(run))
        if told["state"] != "done" and wait_ms > 0 and await self._news.beyond(seen, wait_ms):
            told = await self.do(lambda ledger: ledger.run(run))
        return told

    async def forget(self, host: str) -> None:
        await self.do(lambda ledger: ledger.forget(host))
        self._identities.forget(host)

    async def stop(self, run: str) -> int:
        stopped = await self.do(lambda ledger: ledger.stop(run))
        self._news.tell()
        return stopped


def _is_open(ledger: Ledger, host: str, report: AttemptReport) -> bool:
    """Whether this host was given it, so that its name is one of ours, and no result of it counts yet."""
    own = (attempt for attempt in ledger.attempts(report.unit) if attempt["attempt"] == report.attempt)
    return any(one["host"] == host and one["state"] != "accepted" for one in own)


def _answer(ledger: Ledger, host: str, report: AttemptReport) -> str:
    if report.ended not in ("accepted", "lost", "cut_off", "given_back"):
        raise InvalidAction(f"an attempt can't end as {report.ended!r:.60}")
    try:
        return ledger.report(host, report)
    except InvalidAction as refused:  # the ledger knows nothing of it, and never will
        _log.warning("%s", refused)
        return "refused"


def _spec(given: Any) -> UnitSpec:
    """Data from a stranger."""
    if not isinstance(given, Mapping) or set(given) - _UNIT_KEYS:
        raise InvalidAction("a unit has kind, name, body and how it may run, and nothing else", path="units")
    if given.get("kind") not in KINDS or not isinstance(given.get("body"), Mapping):
        raise InvalidAction(f"a unit is one of {', '.join(KINDS)}, with a body", path="units")
    phones, attempts = given.get("phones", 1), given.get("attempts", 1)
    if not all(isinstance(one, int) and 1 <= one <= 32 for one in (phones, attempts)):
        raise InvalidAction("phones and attempts are numbers from 1 to 32", path="units")
    return UnitSpec(
        str(given["kind"]),
        str(given.get("name", ""))[:200],
        dict(given["body"]),
        str(given.get("where", "")),
        tuple(map(str, given.get("pins", ()))),
        phones,
        attempts,
        given.get("retry_lost") is True,
        given.get("once") is True,
    )
