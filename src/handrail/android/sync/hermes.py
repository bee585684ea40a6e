"""An app's JavaScript: at rest when its thread answers, nothing is in flight and no timer is due soon."""

from __future__ import annotations

import json
from collections.abc import Container
from dataclasses import dataclass, field, replace
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.android.sync import scripts
from handrail.android.sync.answers import ChannelLost, Metro, Rest
from handrail.android.sync.calls import Cdp, open_cdp
from handrail.android.sync.metro import find_target
from handrail.clock import Clock
from handrail.errors import Timeout

WINDOW_MS = 500.0
"""A timer due within it is work: debounced input and staged rendering use 100 to 400 ms."""
PAUSE_MS = 25.0
"""Between two looks at work. What came back is drawn a moment later: so long must nothing follow."""
TURN_PAUSE_MS = 2.0
LONG_TURN_MS = 100.0
"""A turn of the thread that takes longer is work, too."""
NO_TURN_MS = 250.0
"""Where no turn ever came so soon, none will: some runtimes run them only together with native calls."""
INSTALL_MS = 1_000.0
REMOVE_MS = 500.0
ANSWER_MS = 120.0
"""The least that a probe gets, however little time is left: a thread at rest answers sooner."""
SCRIPT = "JavaScript"


async def open_hermes(device: AdbDevice, package: str, clock: Clock, metro: Metro) -> Hermes:
    """Finds the app's runtime, connects, and begins to count. `DeviceError` or `Timeout` when it can't."""
    way, target = await find_target(device, package, clock, metro)
    cdp = await open_cdp(way.opens, way.service, way.uri(target), clock)
    hermes = Hermes(cdp, clock, target.title or target.description or package)
    try:
        await hermes.install()
    except BaseException:
        await cdp.close()
        raise
    return hermes


class Hermes:
    """The channel into one JavaScript runtime."""

    def __init__(self, cdp: Cdp, clock: Clock, title: str) -> None:
        self.cdp = cdp
        self.title = title
        self._clock = clock
        self._endless: set[int] = set()
        """Requests that outlived a whole wait: long polls and streams are not waited for again."""
        self._turns: bool | None = None
        """Whether turns of the thread can be waited for here; None until it is known."""

    async def install(self) -> None:
        await self.cdp.evaluate(scripts.install(), timeout_ms=INSTALL_MS)
        self._endless.clear()

    async def wait_idle(self, timeout_ms: float) -> Rest:
        watch = _Watch(self._clock.monotonic_ms())
        end = watch.asked_ms + timeout_ms
        while True:
            try:
                work = await self._look(watch.beat, max(ANSWER_MS, end - self._clock.monotonic_ms()))
            except Timeout:
                return Rest(False, (*watch.waited, SCRIPT))
            now = self._clock.monotonic_ms()
            names = watch.note(work, now, self._has_turned(work, now - watch.asked_ms))
            if watch.is_calm(now):
                return Rest(True, tuple(watch.waited))
            if now >= end:
                self._endless |= work.requests.keys()
                return watch.cut_short()
            await self._clock.sleep_ms(min(PAUSE_MS if names else TURN_PAUSE_MS, end - now))

    def _has_turned(self, work: JsWork, took_ms: float) -> bool:
        if work.turned:
            self._turns = True
        elif self._turns is None and took_ms >= NO_TURN_MS:
            self._turns = False
        return work.turned or self._turns is False

    async def _look(self, beat: int, timeout_ms: float) -> JsWork:
        """Installed again where a reload has made a new context."""
        told = await self.cdp.evaluate(scripts.probe(WINDOW_MS, beat), timeout_ms=timeout_ms)
        if not told:
            await self.install()
            told = await self.cdp.evaluate(scripts.probe(WINDOW_MS, 0), timeout_ms=timeout_ms)
        return read_work(told).without(self._endless)

    async def close(self) -> None:
        """Every replaced function is put back, then the line is closed."""
        try:
            if self.cdp.lost is None:
                await self.cdp.evaluate(scripts.remove(), timeout_ms=REMOVE_MS)
        finally:
            await self.cdp.close()


@dataclass(slots=True)
class _Watch:
    """What one wait has seen so far."""

    asked_ms: float
    """When the present turn of the thread was asked for."""
    beat: int = 0
    waited: dict[str, None] = field(default_factory=dict)
    _has_turned: bool = False
    _busy_ms: float | None = None

    def note(self, work: JsWork, now_ms: float, has_turned: bool) -> list[str]:
        """What went on at this look. After work, the thread has to turn once more."""
        self._has_turned = has_turned
        if work.beat != self.beat:  # the first one, or the first after work or a reload
            self.beat, self.asked_ms = work.beat, now_ms
        names = work.names
        if not has_turned and now_ms - self.asked_ms >= LONG_TURN_MS:
            names = [*names, SCRIPT]
        if work.names:
            self.beat = 0
        if names:
            self.waited |= dict.fromkeys(names)
            self._busy_ms = now_ms
        return names

    def cut_short(self) -> Rest:
        """The time is up."""
        if not self._has_turned:
            self.waited[SCRIPT] = None
        return Rest(False, tuple(self.waited))

    def is_calm(self, now_ms: float) -> bool:
        rested = self._busy_ms is None or now_ms - self._busy_ms >= PAUSE_MS
        return self._has_turned and rested


@dataclass(frozen=True, slots=True)
class JsWork:
    """One answer of a probe."""

    requests: dict[int, str]
    timers: tuple[float, ...] = ()
    """ms until each is due."""
    beat: int = 0
    turned: bool = True
    """Whether the thread has come round since the beat was asked for."""

    @property
    def names(self) -> list[str]:
        """A fetch that is made of a request is one thing."""
        fetched = {what.removeprefix("fetch") for what in self.requests.values()}
        told = [what for what in self.requests.values() if what.removeprefix("request") not in fetched]
        many = f"{len(self.timers)} timers" if len(self.timers) > 1 else "a timer"
        return [*told, *([many] if self.timers else [])]

    def without(self, endless: Container[int]) -> JsWork:
        return replace(self, requests={n: what for n, what in self.requests.items() if n not in endless})


def read_work(told: Any) -> JsWork:
    """`ChannelLost` for anything else, because whoever answers so is not the app."""
    try:
        found = json.loads(told)
        requests = {int(number): str(what) for number, what in found["requests"]}
        timers = tuple(float(left) for left in found["timers"])
        return JsWork(requests, timers, int(found["beat"]), bool(found["turned"]))
    except (TypeError, ValueError, KeyError):
        raise ChannelLost(f"the app answers nonsense: {str(told)[:80]!r}") from None
