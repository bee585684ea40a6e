"""The HTTP helper as a channel. It alone hears accessibility events, so it alone can wait for quiet."""

from __future__ import annotations

from collections.abc import Mapping

from handrail.adb.device import AdbDevice
from handrail.adb.shell import DeviceShell
from handrail.android.channel import Channel
from handrail.android.constants import CHANNEL_DOUBLE_TAP_GAP_MS, HELPER_STARTUP_TIMEOUT_MS, READ_DEADLINE_MS
from handrail.android.display import read_display
from handrail.android.helper.client import HelperClient
from handrail.android.helper.ensure import HelperHandle, Say, ensure_helper
from handrail.android.input import read_again
from handrail.android.screen import SIZE_GUESSED, LastScreen, fit
from handrail.clock import Clock
from handrail.errors import HandrailError
from handrail.surface.values import IdleResult
from handrail.tree.node import Screen


class HelperChannel(Channel):
    """The shell is asked when a tree does not tell the screen's size: it holds the active window only."""

    name = "helper"

    def __init__(self, handle: HelperHandle, shell: DeviceShell, clock: Clock) -> None:
        self.client: HelperClient = handle.client
        self._handle = handle
        self._clock = clock
        self._shell = shell
        self._last = LastScreen()

    async def look(self) -> Screen:
        """The active window. Between two screens there may be none for a frame: it looks again."""
        return await read_again(self._look, self._clock)

    async def _look(self, _left_ms: float) -> Screen:
        screen = await self._last.read(await self.client.tree())
        if any(warning.startswith(SIZE_GUESSED) for warning in screen.warnings):
            display = await read_display(self._shell, READ_DEADLINE_MS)
            fit(screen, (display.width, display.height))
            screen.rotation = display.rotation
        return screen

    async def wait_idle(self, timeout_ms: float) -> IdleResult:
        return await self.client.wait_idle(timeout_ms)

    async def screenshot(self) -> bytes:
        return await self.client.screenshot()

    async def tap(self, x: int, y: int) -> None:
        await self.client.tap(x, y)

    async def double_tap(self, x: int, y: int) -> None:
        await self.client.tap(x, y)
        try:
            await self._clock.sleep_ms(CHANNEL_DOUBLE_TAP_GAP_MS)
            await self.client.tap(x, y)
        except HandrailError as error:
            error.details["delivery"] = "unknown"
            raise

    async def long_press(self, x: int, y: int, duration_ms: int) -> None:
        await self.client.long_press(x, y, duration_ms)

    async def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        await self.client.swipe(x1, y1, x2, y2, duration_ms)

    async def key(self, code: int) -> None:
        await self.client.key(code)

    async def type_ascii(self, text: str) -> None:
        self._need_keys(text)
        await self.client.text(text)

    async def close(self) -> None:
        await self._handle.shutdown()


async def open_helper(
    device: AdbDevice,
    *,
    env: Mapping[str, str],
    clock: Clock,
    say: Say,
    startup_timeout_ms: float = HELPER_STARTUP_TIMEOUT_MS,
) -> HelperChannel | None:
    """A channel whose helper answers; None, with a reason said, where it can't be had."""
    handle = await ensure_helper(device, env=env, clock=clock, say=say, startup_timeout_ms=startup_timeout_ms)
    return None if handle is None else HelperChannel(handle, device.shell, clock)
