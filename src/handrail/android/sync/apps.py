"""The framework channels of the app in front: opened behind the first wait on it, kept, closed together.

A native app is recognised by its tree alone and costs nothing. Nothing here fails for a channel's sake.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handrail.adb.device import AdbDevice
from handrail.clock import Clock
from handrail.config import metro
from handrail.errors import DeviceError, Timeout
from handrail.surface.values import Framework, Synced
from handrail.tree.node import Node, Screen
from handrail.waiting import Background, cancel, wait_for_end

if TYPE_CHECKING:
    from handrail.android.sync import FrameworkSync

OPEN_MS = 1_000.0
"""How long an answer waits for channels that are being opened, from the moment that was begun."""
AGAIN_FIRST_MS = 2_000.0
"""An app without any channel is asked again after so long: its debugger may only have been slow."""
AGAIN_MOST_MS = 30_000.0
"""The pause doubles up to this: Metro may have been started meanwhile."""
MOST_LOSSES = 3
"""Channels that are lost so often in a row, each before it said anything, are left alone for a while."""
MOST_APPS = 4
"""Channels of that many apps are kept; the one that was opened first goes first."""


@dataclass(slots=True)
class _App:
    """One package's channels, or the attempt to open them."""

    began_ms: float
    again_ms: float = AGAIN_FIRST_MS
    opening: asyncio.Task[None] | None = None
    sync: FrameworkSync | None = None
    had_channels: bool = False
    is_refreshed: bool = False

    @property
    def live(self) -> FrameworkSync | None:
        return self.sync if self.sync is not None and self.sync.has_backend else None


class Syncs:
    """One phone's apps."""

    def __init__(
        self,
        device: AdbDevice,
        clock: Clock,
        env: Mapping[str, str],
        say: Callable[[str], None],
        *,
        open_ms: float = OPEN_MS,
    ) -> None:
        self._open_ms = open_ms
        self._device = device
        self._clock = clock
        self._env = env
        self._metro = metro(env)
        self._say = say
        self._apps: dict[str, _App] = {}
        self._libraries: dict[str, tuple[str, ...]] = {}  # what a command told of a package, once
        self._losses: dict[str, int] = {}  # in a row, by package
        self._native: Screen | None = None  # the last screen that gave nothing away
        self._tasks = Background()
        self._is_closed = False

    def notice(self, screen: Screen) -> None:
        """Begin to open the channels of the app in front, if its screen gives a framework away."""
        app = self._apps.get(screen.package)
        is_known = screen is self._native or (app is not None and not self._is_over(screen.package, app))
        if is_known or self._is_closed:
            return
        if not _gives_away(screen):
            self._native = screen
            return
        made = _App(self._clock.monotonic_ms())
        if app is not None:
            made.again_ms = AGAIN_FIRST_MS if app.had_channels else min(2 * app.again_ms, AGAIN_MOST_MS)
            self._leave(screen.package)
        self._apps[screen.package] = made
        made.opening = self._tasks.start(self._open(made, screen), f"asking {screen.package}")
        while len(self._apps) > MOST_APPS:
            self._leave(next(iter(self._apps)))

    async def wait(self, screen: Screen, timeout_ms: float) -> Synced | None:
        """Until the app in front says that it is at rest; None where nobody can be asked.

        A process that was restarted meanwhile is asked once more, by new channels.
        """
        began = self._clock.monotonic_ms()
        synced = await self._wait(screen, timeout_ms, began)
        app = self._apps.get(screen.package)
        if synced is None and app is not None and app.had_channels:
            synced = await self._wait(screen, timeout_ms, began)
        return synced

    async def labels(self, screen: Screen) -> Mapping[str, str] | None:
        """The framework's names for nameless elements, by node id; None while nobody can be asked."""
        app = await self._ready(screen)
        sync = app.live if app is not None else None
        if sync is None or not sync.has_hermes:
            return None
        names = await sync.snapshot_fiber_labels(screen)
        self._tell(sync)
        return names

    async def refresh(self, screen: Screen) -> bool:
        """Have a canvas without a word tell what is on it; true when the screen should be read again."""
        app = await self._ready(screen)
        return app is not None and await self._refresh(app, screen)

    async def close(self) -> None:
        """Leave every app as it was found."""
        self._is_closed = True
        for package in list(self._apps):
            self._leave(package)
        await self._tasks.wait()

    # one app

    def _is_over(self, package: str, app: _App) -> bool:
        """Its channels are lost, as when its process ended; or there were none, and that is long ago."""
        if app.opening is None or not app.opening.done() or app.live is not None:
            return False
        is_flapping = self._losses.get(package, 0) >= MOST_LOSSES
        if app.had_channels and not is_flapping:
            return True
        pause = AGAIN_MOST_MS if is_flapping else app.again_ms
        return self._clock.monotonic_ms() - app.began_ms >= pause

    async def _open(self, app: _App, screen: Screen) -> None:
        from handrail.android.sync import FrameworkSync, detect  # noqa: PLC0415 - native apps don't pay for it

        clock, package, where = self._clock, screen.package, self._metro
        try:
            found = await detect(
                self._device, package, screen, metro=where, clock=clock, known=self._libraries
            )
            if found.kind == "native":
                return
            app.sync = FrameworkSync(
                found.kind, package, device=self._device, clock=clock, env=self._env, metro=where
            )
            await app.sync.attach()
        except (DeviceError, Timeout) as error:
            self._say(f"sync: {package} could not be asked: {error.message}")
            return
        app.had_channels = app.sync.has_backend
        self._say(f"sync: {package} is {found.kind} ({', '.join(found.signals[:2])})")
        self._tell(app.sync)

    async def _ready(self, screen: Screen) -> _App | None:
        """The app, once its channels are open; those that take their time are left to open by themselves."""
        self.notice(screen)
        app = self._apps.get(screen.package)
        if app is None or app.opening is None:
            return None
        left = app.began_ms + self._open_ms - self._clock.monotonic_ms()
        if not app.opening.done() and left > 0 and not await wait_for_end(self._clock, app.opening, left):
            return None
        return app if app.live is not None else None

    async def _wait(self, screen: Screen, timeout_ms: float, began_ms: float) -> Synced | None:
        app = await self._ready(screen)
        sync = app.live if app is not None else None
        if app is None or sync is None:
            return None
        channels = _channels(sync)
        left = max(1.0, began_ms + timeout_ms - self._clock.monotonic_ms())
        idle = await sync.wait_for_sync(left)
        refreshed = await self._refresh(app, screen)
        self._tell(sync)
        if not sync.has_backend:
            self._losses[screen.package] = self._losses.get(screen.package, 0) + 1
            return None
        self._losses.pop(screen.package, None)
        took = self._clock.monotonic_ms() - began_ms
        return Synced(sync.kind, channels, took, idle, tuple(sync.waited_for), refreshed)

    async def _refresh(self, app: _App, screen: Screen) -> bool:
        """A canvas without a word is asked for its semantics, once in its process's life."""
        sync = app.live
        if sync is None or not sync.has_dart_vm or app.is_refreshed or _has_words(screen):
            return False
        app.is_refreshed = True
        return await sync.refresh_semantics()

    def _tell(self, sync: FrameworkSync) -> None:
        for line in sync.diagnostics:
            self._say(f"sync: {line}")
        sync.diagnostics.clear()

    def _leave(self, package: str) -> None:
        self._tasks.start(_close(self._apps.pop(package)), f"leaving {package}")


async def _close(app: _App) -> None:
    if app.opening is not None:
        await cancel(app.opening)
    if app.sync is not None:
        await app.sync.close()


def _gives_away(screen: Screen) -> bool:
    nodes = _own(screen)
    return bool(class_signals(nodes)) or is_odd(nodes)


def _own(screen: Screen) -> list[Node]:
    """Without what pages have told themselves: no framework of Android's draws it."""
    return [node for node in screen.nodes if node.package_name == screen.package and not node.native_id]


def _has_words(screen: Screen) -> bool:
    return any(node.text or node.description for node in _own(screen))


def _channels(sync: FrameworkSync) -> tuple[str, ...]:
    named = {"hermes": sync.has_hermes, "dart_vm": sync.has_dart_vm, "idling": sync.has_idling_bridge}
    return tuple(name for name, is_there in named.items() if is_there)


CLASSES: dict[Framework, tuple[str, ...]] = {
    "flutter": ("io.flutter.", "FlutterView", "FlutterSurfaceView", "FlutterTextureView"),
    "react_native": (
        "com.facebook.react.",
        "com.horcrux.svg.",
        "com.swmansion.",
        "ReactRootView",
        "ReactViewGroup",
        "RCTView",
    ),
    "compose": ("androidx.compose.", "AndroidComposeView", "ComposeView"),
}
_BARE = frozenset({"android.view.View", "android.view.ViewGroup"})
"""What the views of React Native and Flutter call themselves in an accessibility tree."""
MANY_BARE = 3
"""A few are dividers and spacers."""
FEW_IDS = 2
"""Ids of layout files that every activity may have, such as `action_bar_root`. In recorded screens with bare
views launchers, system apps and browsers had four or more, and what a framework drew had at most one."""


def class_signals(nodes: Iterable[Node]) -> dict[Framework, str]:
    """The first telling class name of each framework."""
    names = {node.class_name for node in nodes}
    found: dict[Framework, str] = {}
    for kind, marks in CLASSES.items():
        if hit := next((name for name in sorted(names) if any(mark in name for mark in marks)), None):
            found[kind] = f"class:{hit}"
    return found


def is_odd(nodes: list[Node]) -> bool:
    """Drawn by something else than layout files: hardly an id of those, but bare views, test ids, silence.

    The window's own frame has ids of the package android, whatever is drawn inside it.
    """
    ids = {node.resource_id for node in nodes} - {""}
    own = [one for one in ids if ":id/" in one and not one.startswith("android:")]
    if len(own) > FEW_IDS or not nodes:
        return False
    bare = sum(1 for node in nodes if node.class_name in _BARE)
    is_silent = not own and not any(node.text or node.description for node in nodes)
    return is_silent or bare >= MANY_BARE or any(":" not in one for one in ids)
