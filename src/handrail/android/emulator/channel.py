"""The emulator as a channel: fingers, keys, clipboard and pictures without anything running on the phone.

It has two fingers, so pinch and rotate are here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from math import cos, radians, sin

from handrail.android.channel import Channel
from handrail.android.constants import (
    CHANNEL_DOUBLE_TAP_GAP_MS,
    GRPC_FRAMES_PER_SEC,
    GRPC_PRESSURE,
    GRPC_RPC_TIMEOUT_MS,
    LONG_PRESS_TIMEOUT_MS,
)
from handrail.android.emulator.client import (
    EmulatorClient,
    Touch,
    clip,
    find_endpoint,
    key_press,
    read_clip,
    read_image,
    touch_event,
    typed,
)
from handrail.android.keys import w3c_name
from handrail.clock import Clock
from handrail.errors import HandrailError, Unsupported
from handrail.surface.values import Display

FRAME_MS = 1000 / GRPC_FRAMES_PER_SEC
PICK_UP_MS = LONG_PRESS_TIMEOUT_MS + 100
"""A drag holds a little longer than the system's long press before it moves."""
LIFT_TIMEOUT_MS = 1_000
KEYS = {"GoBack", "GoHome", "AppSwitch", "Power", "AudioVolumeUp", "AudioVolumeDown"}
KEYS |= {"Enter", "Backspace", "Delete", "Tab", "Escape", "Home", "End", "PageUp", "PageDown"}
KEYS |= {"ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"}
"""Names that emulators are known to take. One that they do not know is dropped without a word."""


class EmulatorChannel(Channel):
    """One emulator. `display` tells how the screen is turned."""

    name = "grpc"

    def __init__(
        self, client: EmulatorClient, *, clock: Clock, display: Callable[[], Awaitable[Display]]
    ) -> None:
        self.client = client
        self._clock = clock
        self._display = display

    async def screenshot(self) -> bytes:
        return await self.client.ask("getScreenshot", b"", read_image)

    async def get_clipboard(self) -> str:
        return await self.client.ask("getClipboard", b"", read_clip)

    async def set_clipboard(self, text: str) -> None:
        await self.client.call("setClipboard", clip(text))

    async def key(self, code: int) -> None:
        name = w3c_name(code)
        if name is None or not (name in KEYS or len(name) == 1):
            reason = f"the emulator has no name for key {code}"
            raise Unsupported(reason, channel=self.name, delivery="not_delivered")
        await self.client.call("sendKey", key_press(name))

    async def type_ascii(self, text: str) -> None:
        self._need_keys(text)
        await self.client.call("sendKey", typed(text))

    async def tap(self, x: int, y: int) -> None:
        await self._play([((x, y),)])

    async def double_tap(self, x: int, y: int) -> None:
        await self._play([((x, y),)])
        try:
            await self._clock.sleep_ms(CHANNEL_DOUBLE_TAP_GAP_MS)
            await self._play([((x, y),)])
        except HandrailError as error:
            error.details["delivery"] = "unknown"
            raise

    async def long_press(self, x: int, y: int, duration_ms: int) -> None:
        await self._play([((x, y),)], hold_ms=duration_ms)

    async def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        await self._play(swipe_frames(x1, y1, x2, y2, duration_ms))

    async def drag(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        await self._play(swipe_frames(x1, y1, x2, y2, duration_ms), hold_ms=PICK_UP_MS)

    async def pinch(self, cx: int, cy: int, start_radius: int, end_radius: int, duration_ms: int) -> None:
        await self._play(pinch_frames(cx, cy, start_radius, end_radius, duration_ms))

    async def rotate(
        self, cx: int, cy: int, radius: int, start_angle_deg: float, end_angle_deg: float, duration_ms: int
    ) -> None:
        await self._play(rotate_frames(cx, cy, radius, start_angle_deg, end_angle_deg, duration_ms))

    async def close(self) -> None:
        await self.client.close()

    async def _play(self, frames: Sequence[Frame], hold_ms: float = 0) -> None:
        """Fingers down at the first frame, held, led through the others, up. They never stay down."""
        frames = await self._natural(frames)
        sent = 0
        try:
            await self._touch(frames[0], GRPC_PRESSURE)
            sent = 1
            await self._clock.sleep_ms(hold_ms)
            start = self._clock.monotonic_ms()
            for frame in frames[1:]:
                await self._clock.sleep_ms(start + sent * FRAME_MS - self._clock.monotonic_ms())
                await self._touch(frame, GRPC_PRESSURE)
                sent += 1
            await self._touch(frames[-1], 0)
        except BaseException as error:
            if isinstance(error, HandrailError) and sent:
                error.details["delivery"] = "unknown"
            await self._let_go(frames[max(0, sent - 1)])
            raise

    async def _let_go(self, frame: Frame) -> None:
        """After a failure or a stop: a finger that stays down would turn the next tap into a drag."""
        try:
            await self._touch(frame, 0, timeout_ms=LIFT_TIMEOUT_MS)
        except HandrailError:
            return

    async def _touch(self, frame: Frame, pressure: int, timeout_ms: float = GRPC_RPC_TIMEOUT_MS) -> None:
        touches = [Touch(x, y, finger, pressure) for finger, (x, y) in enumerate(frame)]
        await self.client.call("sendTouch", touch_event(touches), timeout_ms=timeout_ms)

    async def _natural(self, frames: Sequence[Frame]) -> list[Frame]:
        try:
            display = await self._display()
        except HandrailError as error:
            error.details["delivery"] = "not_delivered"
            raise
        return [tuple(natural(point, display) for point in frame) for frame in frames]


Point = tuple[int, int]
Frame = tuple[Point, ...]
"""One point for each finger."""


def swipe_frames(x1: int, y1: int, x2: int, y2: int, duration_ms: float) -> list[Frame]:
    """One finger along a line."""

    def at(share: float) -> Frame:
        return ((_between(x1, x2, share), _between(y1, y2, share)),)

    return _frames(at, duration_ms)


def pinch_frames(cx: int, cy: int, start_radius: int, end_radius: int, duration_ms: float) -> list[Frame]:
    """Two fingers on a horizontal line, the same distance left and right of the centre."""

    def at(share: float) -> Frame:
        radius = _between(start_radius, end_radius, share)
        return (cx - radius, cy), (cx + radius, cy)

    return _frames(at, duration_ms)


def rotate_frames(
    cx: int, cy: int, radius: int, start_deg: float, end_deg: float, duration_ms: float
) -> list[Frame]:
    """Two fingers opposite each other on a circle; angles grow clockwise, as y grows downwards."""

    def at(share: float) -> Frame:
        angle = radians(start_deg + (end_deg - start_deg) * share)
        dx, dy = round(radius * cos(angle)), round(radius * sin(angle))
        return (cx + dx, cy + dy), (cx - dx, cy - dy)

    return _frames(at, duration_ms)


def natural(point: Point, display: Display) -> Point:
    """The same place on the screen as it was built: touch panels do not know how they are held."""
    x, y = point
    right, bottom = display.width - 1, display.height - 1
    return [(x, y), (bottom - y, x), (right - x, bottom - y), (y, right - x)][display.rotation % 4]


def _frames(at: Callable[[float], Frame], duration_ms: float) -> list[Frame]:
    steps = max(2, round(duration_ms * GRPC_FRAMES_PER_SEC / 1000))
    return [at(number / steps) for number in range(steps + 1)]


def _between(start: int, end: int, share: float) -> int:
    return round(start + (end - start) * share)


async def open_emulator(
    serial: str,
    *,
    env: Mapping[str, str],
    clock: Clock,
    display: Callable[[], Awaitable[Display]],
    say: Callable[[str], None],
) -> EmulatorChannel | None:
    """A channel that answered getStatus; None, with a reason said, where it can't be had."""
    endpoint = find_endpoint(serial, env)
    if endpoint is None:
        say(f"no gRPC: {serial} is not an emulator of this machine")
        return None
    try:
        client = EmulatorClient(endpoint)
    except ImportError:
        say("no gRPC: grpcio is not installed; pip install 'handrail[emulator]'")
        return None
    try:
        await client.status()
    except HandrailError as error:
        await client.close()
        say(f"no gRPC: {error}")
        return None
    return EmulatorChannel(client, clock=clock, display=display)
