"""Names for a screen's nameless elements out of a running React app, remembered by screen."""

from __future__ import annotations

from collections.abc import Callable

from handrail.adb.device import AdbDevice
from handrail.android.display import read_display
from handrail.android.sync import scripts
from handrail.android.sync.cdp import Cdp
from handrail.android.sync.hosts import Listing, read_listing
from handrail.android.sync.lost import ChannelLost
from handrail.android.sync.merge import merge, nameless
from handrail.clock import Clock
from handrail.tree.fingerprint import screen_fingerprint
from handrail.tree.node import Bounds, Screen

LIST_MS = 2_000.0
MEASURE_MS, MEASURE_PAUSE_MS = 150.0, 15.0
"""Measurements are answered by the UI thread, between two frames of JavaScript."""
DROP_MS = 500.0
DISPLAY_MS = 2_000.0
KEPT = 32
Key = tuple[int, str, tuple[tuple[str, Bounds], ...]]


class FiberLabels:
    """Asks one app. A screen without nameless elements asks nothing."""

    def __init__(
        self, cdp: Cdp, device: AdbDevice, package: str, clock: Clock, say: Callable[[str], None]
    ) -> None:
        self._cdp = cdp
        self._device = device
        self._package = package
        self._clock = clock
        self._say = say
        self._density = 0
        self._known: dict[Key, dict[str, str]] = {}
        self._partial: Key | None = None
        """A screen on which not all was measured in time: it is asked about once more, and then so be it."""

    async def of(self, screen: Screen) -> dict[str, str]:
        """Node id → name. The fingerprint alone would not do: ids are paths, and boxes can move."""
        wanting = nameless(screen, self._package)
        if not wanting:
            return {}
        places = tuple((node.id, node.bounds) for node in wanting)
        key = (self._cdp.generation, screen_fingerprint(screen), places)
        if key in self._known:
            return dict(self._known[key])
        listing = await self._list()
        names = merge(listing.hosts, wanting, screen, await self._dots())
        self._say(f"fibers: {len(listing.hosts)} hosts name {len(names)} of {len(wanting)} elements")
        if not listing.left or key == self._partial:
            self._remember(key, names)
        self._partial = key if listing.left else None
        return dict(names)

    def _remember(self, key: Key, names: dict[str, str]) -> None:
        if len(self._known) >= KEPT:
            del self._known[next(iter(self._known))]
        self._known[key] = names

    async def _list(self) -> Listing:
        listing = read_listing(await self._evaluate(scripts.list_fibers()))
        if not listing.left:
            return listing
        try:
            return await self._measured(listing)
        finally:
            if self._cdp.lost is None:
                await self._cdp.evaluate(scripts.drop_bag(), timeout_ms=DROP_MS)

    async def _measured(self, listing: Listing) -> Listing:
        """Until all are measured, or long enough: those that are not are left without a place."""
        end = self._clock.monotonic_ms() + MEASURE_MS
        while listing.left and self._clock.monotonic_ms() < end:
            await self._clock.sleep_ms(MEASURE_PAUSE_MS)
            listing = read_listing(await self._evaluate(scripts.read_bag()))
        return listing

    async def _evaluate(self, expression: str) -> object:
        value: object = await self._cdp.evaluate(expression, timeout_ms=LIST_MS)
        return value

    async def _dots(self) -> int:
        """Per inch; asked once."""
        if not self._density:
            self._density = (await read_display(self._device.shell, DISPLAY_MS)).density
        if not self._density:
            raise ChannelLost("the phone does not tell its density")
        return self._density
