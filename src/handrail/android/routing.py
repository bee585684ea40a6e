"""Which channel serves which primitive: gRPC, then helper, then u2, then plain adb, as each is able.

A read goes on to the next channel after any failure; input only when the one before provably delivered
nothing. Knows no protocol of any channel.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Concatenate, Literal, ParamSpec, TypeVar, cast

from handrail.adb.device import AdbDevice
from handrail.adb.shell import DeviceShell
from handrail.android.adb_driver import AdbDriver
from handrail.android.channel import Channel, Door, Opener, Say
from handrail.android.console import console_port
from handrail.android.constants import READ_DEADLINE_MS
from handrail.android.driver import Driver
from handrail.android.keys import key_code
from handrail.android.picture import guarded
from handrail.android.sync.apps import Syncs
from handrail.android.text.typist import Typist
from handrail.android.web.views import WebViews
from handrail.clock import Clock
from handrail.config import switch
from handrail.errors import DeviceError, SecureScreen, Timeout, Unsupported
from handrail.surface.values import Display, Facts, Foreground, IdleResult, Typed
from handrail.tree.node import Screen

T = TypeVar("T")
P = ParamSpec("P")
Call = Callable[[Channel], Awaitable[T]]
Primitive = Callable[Concatenate[Channel, P], Awaitable[T]]
TWO_FINGERS = (Channel.pinch.__name__, Channel.rotate.__name__)
"""Gestures that adb alone does not have."""
TEXT_WAYS = {
    Typist.type_text.__name__: {"type_ascii", "set_text", "paste"},
    Typist.clear_text.__name__: {"clear_field"},
}
"""What a channel must have to serve these; `Typed.way` says which way it was in the end."""


class RoutedDriver:
    """One phone through the best channel that works at the moment. `doors` are in the order of preference."""

    def __init__(
        self,
        adb: Driver,
        doors: Sequence[Door],
        clock: Clock,
        lines: deque[str],
        syncs: Syncs | None = None,
        webs: WebViews | None = None,
    ) -> None:
        self.adb = adb
        self.syncs = syncs
        self.webs = webs
        self.shell: DeviceShell = adb.shell
        self.serial = adb.serial
        self.doors = doors
        self._lines = lines
        self._typist = Typist(adb.shell, self.look, clock, self.in_use, lines.append)

    @property
    def waits_for_idle(self) -> bool:
        return not any(door.channel and "look" in door.channel.can for door in self.doors)

    def in_use(self) -> list[Channel]:
        """The channels that work at the moment, the best first."""
        return [door.channel for door in self.doors if door.channel is not None]

    async def facts(self) -> Facts:
        return await self.adb.facts()

    async def display(self) -> Display:
        return await self.adb.display()

    async def foreground(self) -> Foreground:
        return await self.adb.foreground()

    async def look(self) -> Screen:
        screen = await self._read(Channel.look, lambda channel: channel.look(), self.adb.look)
        return await self.webs.fill(screen) if self.webs is not None else screen

    async def screenshot(self) -> bytes:
        def shot(channel: Channel) -> Awaitable[bytes]:
            return guarded(self.shell, channel.screenshot, READ_DEADLINE_MS)

        return await self._read(Channel.screenshot, shot, self.adb.screenshot)

    async def wait_idle(self, timeout_ms: float) -> IdleResult | None:
        async def idle(channel: Channel) -> IdleResult | None:
            return await channel.wait_idle(timeout_ms)

        return await self._read(Channel.wait_idle, idle, lambda: self.adb.wait_idle(timeout_ms))

    async def tap(self, x: int, y: int) -> None:
        await self._send(Channel.tap, x, y)

    async def double_tap(self, x: int, y: int) -> None:
        await self._send(Channel.double_tap, x, y)

    async def long_press(self, x: int, y: int, duration_ms: int) -> None:
        await self._send(Channel.long_press, x, y, duration_ms)

    async def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        await self._send(Channel.swipe, x1, y1, x2, y2, duration_ms)

    async def drag(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        await self._send(Channel.drag, x1, y1, x2, y2, duration_ms)

    async def path(self, points: Sequence[tuple[int, int]], duration_ms: int) -> None:
        await self._send(Channel.path, points, duration_ms)

    async def pinch(self, cx: int, cy: int, start_radius: int, end_radius: int, duration_ms: int) -> None:
        await self._send(Channel.pinch, cx, cy, start_radius, end_radius, duration_ms)

    async def rotate(
        self, cx: int, cy: int, radius: int, start_angle_deg: float, end_angle_deg: float, duration_ms: int
    ) -> None:
        await self._send(Channel.rotate, cx, cy, radius, start_angle_deg, end_angle_deg, duration_ms)

    async def key(self, key: str | int) -> None:
        await self._send(Channel.key, key_code(key))

    async def chord(self, keys: Sequence[str]) -> None:
        await self._send(Channel.chord, keys)

    async def type_text(self, text: str, *, blind: bool = False) -> Typed:
        return await self._typist.type_text(text, blind=blind)

    async def require_way(self, text: str) -> None:
        await self._typist.require_way(text)

    async def clear_text(self) -> Typed:
        return await self._typist.clear_text()

    async def get_clipboard(self) -> str:
        return await self._typist.get_clipboard()

    async def set_clipboard(self, text: str) -> None:
        await self._typist.set_clipboard(text)

    def channels(self) -> dict[str, str]:
        table = self.adb.channels()
        for primitive in table:
            ways = TEXT_WAYS.get(primitive, {primitive})
            table[primitive] = next((one.name for one in self.in_use() if one.can & ways), table[primitive])
        return table | {door.name: door.reason for door in self.doors if door.channel is None}

    def diagnostics(self) -> list[str]:
        lines = list(self._lines)
        self._lines.clear()
        return lines + self.adb.diagnostics()

    async def close(self) -> None:
        if self.syncs is not None:
            await self.syncs.close()
        if self.webs is not None:
            await self.webs.close()
        for door in self.doors:
            await door.close()
        await self.adb.close()

    async def _read(
        self, primitive: Callable[..., object], call: Call[T], by_adb: Callable[[], Awaitable[T]]
    ) -> T:
        return await self._route(primitive.__name__, call, by_adb, repeatable=True)

    async def _send(self, primitive: Primitive[P, None], *values: P.args, **named: P.kwargs) -> None:
        """This input, by the first channel that has it; it may try the next one only untouched."""
        name = primitive.__name__

        def call(channel: Channel) -> Awaitable[None]:
            return cast("Awaitable[None]", getattr(channel, name)(*values, **named))

        async def by_adb() -> None:
            if name in TWO_FINGERS:
                raise self._nobody_can(name)
            await getattr(self.adb, name)(*values, **named)

        await self._route(name, call, by_adb, repeatable=False)

    async def _route(
        self, primitive: str, call: Call[T], by_adb: Callable[[], Awaitable[T]], *, repeatable: bool
    ) -> T:
        for door in self.doors:
            channel = await door.ready(primitive)
            if channel is None:
                continue
            try:
                result = await call(channel)
            except SecureScreen:
                raise
            except (DeviceError, Timeout, Unsupported) as error:
                if not isinstance(error, Unsupported):
                    await door.put_aside(channel, error)
                if not repeatable and error.details.get("delivery") != "not_delivered":
                    raise
            else:
                door.works()
                return result
        return await by_adb()

    def _nobody_can(self, gesture: str) -> Unsupported:
        reasons = [f"{door.name} is not in use ({door.reason})" for door in self.doors if not door.channel]
        reasons += [f"{channel.name} has no {gesture}" for channel in self.in_use()]
        return Unsupported(
            f"{gesture} needs two fingers: {'; '.join([*reasons, 'adb has one'])}",
            hint="Use an emulator (its gRPC channel has two fingers), or the u2 helper for a pinch.",
            delivery="not_delivered",
        )


Helper = Literal["auto", "u2", "http", "none"]
DISABLING = ("HANDRAIL_DISABLE_HELPER", "AGENTEST_DISABLE_HELPER")
KEPT_LINES = 100
"""Diagnostics that nobody fetched; the oldest are dropped first."""


async def connect(
    device: AdbDevice, *, clock: Clock, helper: Helper = "auto", env: Mapping[str, str]
) -> Driver:
    """The driver of a phone. A channel that does not open is a line in its diagnostics, never an error."""
    adb = AdbDriver(device, clock)
    lines: deque[str] = deque(maxlen=KEPT_LINES)
    if off := next((name for name in DISABLING if env.get(name) == "1"), None):
        if helper != "none":
            lines.append(f"helper: not in use: {off}=1")
        helper = "none"
    doors = _doors(device, adb, clock, helper, env, lines.append)
    try:
        for door in doors:
            await door.open()
    except BaseException:
        for door in doors:
            await door.close()
        raise
    is_off = switch(env, "HANDRAIL_DISABLE_FRAMEWORK_SYNC")
    syncs = None if is_off else Syncs(device, clock, env, lines.append)
    webs = None if switch(env, "HANDRAIL_DISABLE_WEB") else WebViews(device, clock, lines.append)
    return RoutedDriver(adb, doors, clock, lines, syncs, webs)


def _doors(
    device: AdbDevice, adb: AdbDriver, clock: Clock, helper: Helper, env: Mapping[str, str], say: Say
) -> list[Door]:
    """gRPC where the serial is an emulator's; one helper at most, because UiAutomation has one user."""

    # Imported when it is opened: most commands need no channel but adb.
    async def grpc(said: Say) -> Channel | None:
        from handrail.android.emulator import open_emulator  # noqa: PLC0415

        return await open_emulator(adb.serial, env=env, clock=clock, display=adb.display, say=said)

    async def http(said: Say) -> Channel | None:
        from handrail.android.helper import open_helper  # noqa: PLC0415

        return await open_helper(device, env=env, clock=clock, say=said)

    async def u2(said: Say) -> Channel | None:
        from handrail.android.u2 import open_u2  # noqa: PLC0415

        return await open_u2(device, clock=clock, say=said)

    async def either(said: Say) -> Channel | None:
        return await http(said) or await u2(said)

    openers: dict[str, Opener] = {"http": http, "u2": u2, "auto": either}
    doors = [] if console_port(adb.serial) is None else [Door("grpc", grpc, clock, say)]
    if helper != "none":
        doors.append(Door("u2" if helper == "u2" else "helper", openers[helper], clock, say))
    return doors
