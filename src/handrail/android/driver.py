"""Driver of one phone: which channel serves which primitive, in the order gRPC, helper, u2, adb.

A read goes on to the next channel after any failure; input only if the channel before provably delivered
nothing. The driver knows no protocol of any channel.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar, get_args

from handrail.adb.device import AdbDevice
from handrail.adb.shell import DeviceShell
from handrail.android.adb_channel import AdbChannel
from handrail.android.channel import Channel, ManagedChannel, Opener, Say
from handrail.android.constants import READ_DEADLINE_MS
from handrail.android.dumpsys import take_fallback_notes
from handrail.android.emulator_console import console_port
from handrail.android.emulator_grpc import open_emulator
from handrail.android.helper_channel import open_handrail
from handrail.android.http_helper import open_helper
from handrail.android.input import key_code
from handrail.android.screenshot import guarded_screenshot
from handrail.android.sync import FrameworkSyncs
from handrail.android.text_entry import TextEntry
from handrail.android.uiautomator2 import open_u2
from handrail.clock import Clock
from handrail.config import Helper, switch
from handrail.errors import DeviceError, SecureScreen, Timeout, Unsupported
from handrail.screen.node import Screen, ScreenPoint
from handrail.screen.windows import has_web_view
from handrail.surface.gesture import Gesture, GestureKind
from handrail.surface.values import Activated, IdleResult

if TYPE_CHECKING:
    from handrail.android.web_views import WebViews

T = TypeVar("T")
TWO_FINGERS = "none: adb's `input` has one finger"
RARE_CLIPBOARD = "adb where the phone's build has `cmd clipboard`, else none"
PRIMITIVES = (
    "foreground", "look", "screenshot", "wait_idle", *get_args(GestureKind), "key", "chord", "type_text",
    "clear_text", "get_clipboard", "set_clipboard",
)  # fmt: skip
LIMITS = {
    "pinch": TWO_FINGERS,
    "rotate": TWO_FINGERS,
    "wait_idle": "none: adb has no event stream",
    "get_clipboard": RARE_CLIPBOARD,
    "set_clipboard": RARE_CLIPBOARD,
}
"""What adb can't do, or only on some phones."""
TEXT_WAYS = {"type_text": {"type_ascii", "set_text", "paste"}, "clear_text": {"clear_field"}}
"""What a channel needs to serve these; `Typed.way` names the method that was used."""


class Driver:
    """One phone through the best channel that works. `doors` are in order of preference."""

    def __init__(
        self,
        adb: AdbChannel,
        doors: Sequence[ManagedChannel],
        clock: Clock,
        lines: deque[str],
        syncs: FrameworkSyncs | None = None,
        open_webs: Callable[[], WebViews] | None = None,
    ) -> None:
        self.adb = adb
        self.syncs = syncs
        self._open_webs = open_webs
        self._webs: WebViews | None = None
        self._shows_web = False
        self.shell: DeviceShell = adb.shell
        self.serial = adb.serial
        self.facts = adb.facts
        self.display = adb.display
        self.foreground = adb.foreground
        self.doors = doors
        self._lines = lines
        self.text = TextEntry(adb.shell, self.look, clock, self.in_use, lines.append)

    @property
    def waits_for_idle(self) -> bool:
        return not any(door.channel and "look" in door.channel.can for door in self.doors)

    @property
    def webs(self) -> WebViews | None:
        """Created at the first web page, because few screens have one and its libraries load slowly."""
        if self._webs is None and self._open_webs is not None:
            self._webs = self._open_webs()
        return self._webs

    def in_use(self) -> list[Channel]:
        """Open channels, the best first."""
        return [door.channel for door in self.doors if door.channel is not None]

    async def look(self) -> Screen:
        screen = await self._route("look", lambda channel: channel.look(), repeatable=True)
        self._shows_web = has_web_view(screen)
        return await self.webs.fill(screen) if self._shows_web and self.webs is not None else screen

    async def screenshot(self) -> bytes:
        def shot(channel: Channel) -> Awaitable[bytes]:
            if channel is self.adb:
                return channel.screenshot()
            return guarded_screenshot(self.shell, channel.screenshot, READ_DEADLINE_MS)

        return await self._route("screenshot", shot, repeatable=True)

    async def wait_idle(self, timeout_ms: float) -> IdleResult | None:
        """None if no channel receives events."""
        try:
            return await self._route(
                "wait_idle", lambda channel: channel.wait_idle(timeout_ms), repeatable=True
            )
        except Unsupported:
            return None

    async def by_keys(self, keys: Sequence[str], field: str = "") -> Activated | None:
        """`Activation`: only web pages tell what they would do."""
        return await self._webs.by_keys(keys, field) if self._webs is not None and self._shows_web else None

    async def by_points(self, points: Sequence[ScreenPoint]) -> Activated | None:
        return await self._webs.by_points(points) if self._webs is not None and self._shows_web else None

    async def by_value(self, native_id: str, value: str) -> Activated | None:  # noqa: ARG002
        return None  # it is set by fingers

    async def perform(self, gesture: Gesture) -> None:
        await self._route(gesture.kind, lambda channel: channel.perform(gesture), repeatable=False)

    async def key(self, key: str | int) -> None:
        code = key_code(key)
        await self._route("key", lambda channel: channel.key(code), repeatable=False)

    async def chord(self, keys: Sequence[str]) -> None:
        await self._route("chord", lambda channel: channel.chord(keys), repeatable=False)

    def channels(self) -> dict[str, str]:
        table = dict.fromkeys(PRIMITIVES, "adb") | LIMITS
        for primitive in table:
            ways = TEXT_WAYS.get(primitive, {primitive})
            table[primitive] = next(
                (channel.name for channel in self.in_use() if channel.can & ways), table[primitive]
            )
        return table | {door.name: door.reason for door in self.doors if door.channel is None}

    def diagnostics(self) -> list[str]:
        lines = list(self._lines)
        self._lines.clear()
        return lines + take_fallback_notes(self.shell)

    async def close(self) -> None:
        if self.syncs is not None:
            await self.syncs.close()
        if self._webs is not None:
            await self._webs.close()
        for door in self.doors:
            await door.close()
        await self.adb.close()

    async def _route(self, primitive: str, call: Callable[[Channel], Awaitable[T]], *, repeatable: bool) -> T:
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
        if primitive not in self.adb.can:
            reasons = [
                f"{door.name} is not in use ({door.reason})" for door in self.doors if not door.channel
            ]
            reasons += [f"{channel.name} has no {primitive}" for channel in self.in_use()]
            raise Unsupported(
                f"{primitive} needs two fingers: {'; '.join([*reasons, 'adb has one'])}",
                hint="Use an emulator (its gRPC channel has two fingers), or the u2 helper for a pinch.",
                delivery="not_delivered",
            )
        return await call(self.adb)


DISABLING = ("HANDRAIL_DISABLE_HELPER", "AGENTEST_DISABLE_HELPER")
KEPT_LINES = 100
"""The oldest lines are dropped first."""


async def connect(
    device: AdbDevice, *, clock: Clock, helper: Helper = "auto", env: Mapping[str, str]
) -> Driver:
    """A channel that does not open becomes a line in the diagnostics, not an error."""
    adb = AdbChannel(device, clock)
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
    no_sync = switch(env, "HANDRAIL_DISABLE_FRAMEWORK_SYNC")
    syncs = None if no_sync else FrameworkSyncs(device, clock, env, lines.append)

    def open_webs() -> WebViews:
        from handrail.android.web_views import WebViews  # noqa: PLC0415

        return WebViews(device, clock, lines.append)

    no_web = switch(env, "HANDRAIL_DISABLE_WEB")
    return Driver(adb, doors, clock, lines, syncs, None if no_web else open_webs)


def _doors(
    device: AdbDevice, adb: AdbChannel, clock: Clock, helper: Helper, env: Mapping[str, str], say: Say
) -> list[ManagedChannel]:
    """gRPC for an emulator's serial; at most one helper, because UiAutomation has one user."""

    async def either(say: Say) -> Channel | None:
        helper_channel = await open_helper(device, env=env, clock=clock, say=say)
        return helper_channel or await open_u2(device, clock=clock, say=say)

    openers: dict[str, Opener] = {
        "grpc": lambda say: open_emulator(adb.serial, env=env, clock=clock, display=adb.display, say=say),
        "handrail": lambda say: open_handrail(device, clock=clock, say=say),
        "http": lambda say: open_helper(device, env=env, clock=clock, say=say),
        "u2": lambda say: open_u2(device, clock=clock, say=say),
        "auto": either,
    }
    doors = [] if console_port(adb.serial) is None else [ManagedChannel("grpc", openers["grpc"], clock, say)]
    if helper != "none":
        name = helper if helper in ("handrail", "u2") else "helper"
        doors.append(ManagedChannel(name, openers[helper], clock, say))
    return doors
