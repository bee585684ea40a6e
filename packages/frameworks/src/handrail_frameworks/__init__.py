"""Asks an app's framework (React Native, Flutter, idling bridge) whether it is idle, and for labels of icons.

A native app is recognised by its tree alone and costs nothing. Channels are opened in the background at the
first wait on an app and kept; a channel that fails is a line in the diagnostics, never an error.
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
from handrail.screen.node import Node, Screen
from handrail.surface.values import Framework, Synced
from handrail.waiting import Background, cancel, wait_for_end

if TYPE_CHECKING:
    from handrail_frameworks.framework_sync import FrameworkSync

__version__ = "0.2.0"

OPEN_MS = 1_000.0
"""Longest wait for channels that are opening, counted from the start."""
AGAIN_FIRST_MS = 2_000.0
"""Pause before an app without channels is asked again: its debugger may be slow."""
AGAIN_MOST_MS = 30_000.0
"""The pause doubles up to this: Metro may have been started meanwhile."""
MOST_LOSSES = 3
"""After this many losses in a row the app is left alone for a while."""
MOST_APPS = 4
"""Apps whose channels are kept; the oldest is dropped first."""


@dataclass(slots=True)
class _App:
    """Channels of one package, or the attempt to open them."""

    began_ms: float
    again_ms: float = AGAIN_FIRST_MS
    opening: asyncio.Task[None] | None = None
    sync: FrameworkSync | None = None
    had_channels: bool = False
    is_refreshed: bool = False

    @property
    def live(self) -> FrameworkSync | None:
        return self.sync if self.sync is not None and self.sync.has_backend else None


class FrameworkSyncs:
    """Framework channels of all apps of one phone."""

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
        self._libraries: dict[str, tuple[str, ...]] = {}  # by package
        self._losses: dict[str, int] = {}  # in a row, by package
        self._native: Screen | None = None  # the last screen without signs of a framework
        self._tasks = Background()
        self._is_closed = False

    def notice(self, screen: Screen) -> None:
        """Starts to open the channels of the app in front, if its screen indicates a framework."""
        app = self._apps.get(screen.package)
        if self._is_closed or screen is self._native or (app and not self._is_over(screen.package, app)):
            return
        nodes = _own(screen)
        if not class_signals(nodes) and not is_custom_drawn(nodes):
            self._native = screen
            return
        tracked = _App(self._clock.monotonic_ms())
        if app is not None:
            tracked.again_ms = AGAIN_FIRST_MS if app.had_channels else min(2 * app.again_ms, AGAIN_MOST_MS)
            self._leave(screen.package)
        self._apps[screen.package] = tracked
        tracked.opening = self._tasks.start(self._open(tracked, screen), f"asking {screen.package}")
        while len(self._apps) > MOST_APPS:
            self._leave(next(iter(self._apps)))

    async def wait(self, screen: Screen, timeout_ms: float) -> Synced | None:
        """Waits until the app in front is idle; None if it can't be asked.

        A process that was restarted meanwhile is asked once more, by new channels.
        """
        began = self._clock.monotonic_ms()
        synced = await self._wait(screen, timeout_ms, began)
        app = self._apps.get(screen.package)
        if synced is None and app is not None and app.had_channels:
            synced = await self._wait(screen, timeout_ms, began)
        return synced

    async def labels(self, screen: Screen) -> Mapping[str, str] | None:
        """Labels for unnamed elements by node id; None if the app can't be asked."""
        app = await self._ready(screen)
        if app is None or app.live is None or not app.live.has_hermes:
            return None
        sync = app.live
        names = await sync.snapshot_fiber_labels(screen)
        self._tell(sync)
        return names

    async def refresh(self, screen: Screen) -> bool:
        """Makes a canvas without text build its semantics; true if the screen should be read again."""
        app = await self._ready(screen)
        return app is not None and await self._refresh(app, screen)

    async def close(self) -> None:
        """Restores every app."""
        self._is_closed = True
        for package in list(self._apps):
            self._leave(package)
        await self._tasks.wait()

    # one app

    def _is_over(self, package: str, app: _App) -> bool:
        """Whether its channels are lost, as when its process ended, or it had none and the pause is over."""
        if app.opening is None or not app.opening.done() or app.live is not None:
            return False
        is_flapping = self._losses.get(package, 0) >= MOST_LOSSES
        if app.had_channels and not is_flapping:
            return True
        pause = AGAIN_MOST_MS if is_flapping else app.again_ms
        return self._clock.monotonic_ms() - app.began_ms >= pause

    async def _open(self, app: _App, screen: Screen) -> None:
        from handrail_frameworks.framework_sync import FrameworkSync, detect  # noqa: PLC0415

        clock, package, where = self._clock, screen.package, self._metro
        try:
            detection = await detect(
                self._device, package, screen, metro=where, clock=clock, libraries=self._libraries
            )
            if detection.kind == "native":
                return
            app.sync = FrameworkSync(
                detection.kind, package, device=self._device, clock=clock, env=self._env, metro=where
            )
            await app.sync.attach()
        except (DeviceError, Timeout) as error:
            self._say(f"sync: {package} could not be asked: {error.message}")
            return
        app.had_channels = app.sync.has_backend
        self._say(f"sync: {package} is {detection.kind} ({', '.join(detection.signals[:2])})")
        self._tell(app.sync)

    async def _ready(self, screen: Screen) -> _App | None:
        """The app once its channels are open; slow ones go on opening in the background."""
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
        channels = sync.channels
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
        """Asks a canvas without text for its semantics, once per process."""
        sync = app.live
        if sync is None or not sync.has_dart_vm or app.is_refreshed or _has_text(_own(screen)):
            return False
        app.is_refreshed = True
        return await sync.refresh_semantics()

    def _tell(self, sync: FrameworkSync) -> None:
        for line in sync.diagnostics:
            self._say(f"sync: {line}")
        sync.diagnostics.clear()

    def _leave(self, package: str) -> None:
        app = self._apps.pop(package)

        async def close() -> None:
            if app.opening is not None:
                await cancel(app.opening)
            if app.sync is not None:
                await app.sync.close()

        self._tasks.start(close(), f"leaving {package}")


def _own(screen: Screen) -> list[Node]:
    """The nodes that the app in front draws itself: none of other packages, none of web pages."""
    return [node for node in screen.nodes if node.package_name == screen.package and not node.native_id]


def _has_text(nodes: Iterable[Node]) -> bool:
    return any(node.text or node.description for node in nodes)


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
"""Class names of React Native's and Flutter's views in an accessibility tree."""
MANY_BARE = 3
"""A few are dividers and spacers."""
FEW_IDS = 2
"""Ids of layout files that every activity may have, such as `action_bar_root`. In recorded screens with bare
views launchers, system apps and browsers had four or more; frameworks had at most one.
"""


def class_signals(nodes: Iterable[Node]) -> dict[Framework, str]:
    """The first matching class name of each framework."""
    names = sorted({node.class_name for node in nodes})
    signals: dict[Framework, str] = {}
    for kind, marks in CLASSES.items():
        if hit := next((name for name in names if any(mark in name for mark in marks)), None):
            signals[kind] = f"class:{hit}"
    return signals


def is_custom_drawn(nodes: list[Node]) -> bool:
    """Whether something other than layout files drew it: few ids, but bare views, test ids, or no text.

    The window's own frame has ids of the package android, whatever is drawn inside it.
    """
    ids = {node.resource_id for node in nodes} - {""}
    own = [name for name in ids if ":id/" in name and not name.startswith("android:")]
    if len(own) > FEW_IDS or not nodes:
        return False
    bare = sum(1 for node in nodes if node.class_name in _BARE)
    is_silent = not own and not _has_text(nodes)
    return is_silent or bare >= MANY_BARE or any(":" not in name for name in ids)
