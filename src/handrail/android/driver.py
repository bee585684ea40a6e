"""Driver of one phone: which channel serves which primitive, in the order gRPC, our helper, u2, adb.

A read goes on to the next channel after any failure; input only if the channel before provably delivered
nothing. The driver knows no protocol of any channel.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, get_args

from handrail import __version__
from handrail.adb.device import AdbDevice
from handrail.adb.shell import DeviceShell, Script
from handrail.android.adb_channel import AdbChannel
from handrail.android.channel import Channel, ChannelMemory, ManagedChannel, Say
from handrail.android.constants import READ_DEADLINE_MS
from handrail.android.dumpsys import take_fallback_notes
from handrail.android.emulator_console import console_port
from handrail.android.helper_channel import (
    DISABLING,
    JAR_SHA256,
    HelperChannel,
    HelperHandle,
    UiAutomationHeld,
    open_helper,
)
from handrail.android.input import key_code
from handrail.android.screenshot import guarded_screenshot
from handrail.android.text_entry import TextEntry
from handrail.android.uiautomator2 import jar_version, open_u2, release
from handrail.clock import Clock
from handrail.config import Helper, switch
from handrail.errors import (
    AdbCommandError,
    DeviceError,
    HandrailError,
    SecureScreen,
    Timeout,
    Unsupported,
)
from handrail.satellites import plugins
from handrail.screen.fingerprint import screen_fingerprint
from handrail.screen.node import Bounds, Node, Screen, ScreenPoint
from handrail.screen.windows import has_web_view
from handrail.surface.capabilities import ControlValue
from handrail.surface.gesture import TWO_FINGERS, Gesture, GestureKind
from handrail.surface.values import Activated, IdleResult, Synced

if TYPE_CHECKING:
    from handrail.android.web_views import WebViews

T = TypeVar("T")
RARE_CLIPBOARD = "adb where the phone's build has `cmd clipboard`, else none"
PRIMITIVES = (
    "foreground", "look", "screenshot", "wait_idle", *get_args(GestureKind), "key", "chord", "type_text",
    "clear_text", "get_clipboard", "set_clipboard",
)  # fmt: skip
LIMITS: dict[str, str] = {
    **dict.fromkeys(map(str, TWO_FINGERS), "none: adb's `input` has one finger"),
    "hover": "none: fingers do not hover",
    "wait_idle": "none: adb has no event stream",
    "get_clipboard": RARE_CLIPBOARD,
    "set_clipboard": RARE_CLIPBOARD,
}
"""What adb can't do, or only on some phones."""
TEXT_WAYS = {"type_text": {"type_ascii", "set_text", "paste"}, "clear_text": {"clear_field"}}
"""What a channel needs to serve these; `Typed.way` names the method that was used."""


class FrameworkSyncs(Protocol):
    """Asks the apps of one phone, by their frameworks, whether they are idle. In handrail-frameworks."""

    def notice(self, screen: Screen) -> None: ...
    async def wait(self, screen: Screen, timeout_ms: float) -> Synced | None: ...
    async def labels(self, screen: Screen) -> Mapping[str, str] | None: ...
    async def refresh(self, screen: Screen) -> bool: ...
    async def close(self) -> None: ...


class Driver:
    """One phone through the best channel that works. `doors` are in order of preference."""

    touched_keys = frozenset[str]()

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
        """Returns None if no channel receives events."""
        try:
            return await self._route(
                "wait_idle", lambda channel: channel.wait_idle(timeout_ms), repeatable=True
            )
        except Unsupported:
            return None

    def is_rested(self) -> bool:
        return any(channel.is_rested() for channel in self.in_use())

    async def activated_by_keys(self, keys: Sequence[str], field: str = "") -> Activated | None:
        """`Activation`: only web pages tell what they would do."""
        webs = self._webs if self._shows_web else None
        return await webs.activated_by_keys(keys, field) if webs is not None else None

    async def activated_by_points(self, points: Sequence[ScreenPoint]) -> Activated | None:
        webs = self._webs if self._shows_web else None
        return await webs.activated_by_points(points) if webs is not None else None

    async def activated_by_value(self, native_id: str, value: ControlValue) -> Activated | None:  # noqa: ARG002
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
        if not repeatable:
            self.adb.first_look = None
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


KEPT_LINES = 100
"""The oldest lines are dropped first."""
MEMORY_FILE = "channels.json"
"""In the home: what `ChannelMemory` keeps."""


async def connect(
    device: AdbDevice,
    *,
    clock: Clock,
    helper: Helper = "auto",
    env: Mapping[str, str],
    home: Path | None = None,
    try_again: bool = False,
) -> Driver:
    """A channel that does not open becomes a line in the diagnostics, not an error.

    `home` is where failed channels are remembered; `try_again` forgets those of this device.
    """
    adb = AdbChannel(device, clock)
    lines: deque[str] = deque(maxlen=KEPT_LINES)
    if off := next((name for name in DISABLING if env.get(name) == "1"), None):
        if helper != "none":
            lines.append(f"helper: not in use: {off}=1")
        helper = "none"
    doors = []
    if console_port(adb.serial) is not None:
        doors.append(ManagedChannel("grpc", partial(open_emulator, adb, env, clock), clock, lines.append))
    if names := HELPERS[helper]:
        memory = home / MEMORY_FILE if home is not None else None
        opener = HelperOpener(adb, clock, names, memory, try_again=try_again)
        doors.append(ManagedChannel("helper", opener.open, clock, lines.append))
    try:
        for door in doors:
            await door.open()
    except BaseException:
        for door in doors:
            await door.close()
        raise
    no_sync = switch(env, "HANDRAIL_DISABLE_FRAMEWORK_SYNC")
    frameworks = None if no_sync else plugins("handrail.runners").get("frameworks")
    syncs = frameworks.load().FrameworkSyncs(device, clock, env, lines.append) if frameworks else None

    def open_webs() -> WebViews:
        from handrail.android.web_views import WebViews  # noqa: PLC0415

        return WebViews(device, clock, lines.append)

    no_web = switch(env, "HANDRAIL_DISABLE_WEB")
    return Driver(adb, doors, clock, lines, syncs, None if no_web else open_webs)


async def open_emulator(adb: AdbChannel, env: Mapping[str, str], clock: Clock, say: Say) -> Channel | None:
    """The emulator's own channel, which handrail-emulator has. None, with the reason, without it."""
    if (point := plugins("handrail.runners").get("emulator")) is None:
        say("no gRPC: handrail-emulator is not installed; pip install 'handrail[emulator]'")
        return None
    opened = point.load().open_emulator(adb.serial, env=env, clock=clock, display=adb.display, say=say)
    channel: Channel | None = await opened
    return channel


HELPERS: dict[Helper, tuple[str, ...]] = {
    "auto": ("helper", "u2"),
    "handrail": ("helper",),
    "http": ("helper",),
    "u2": ("u2",),
    "none": (),
}
"""What is tried, in this order. `http` is the name that the seed's helper had before Handrail brought one."""
CHECK_DUMP_MS = 20_000
"""A dump of a phone at rest takes 2 to 8 s; on a screen that never rests it fails after 10 s. A slow phone
needs as long again to start it."""
MOST_DIFFERENCE = 0.2
"""Part of the labelled nodes that a look may lack: dumps and helpers leave out different hidden nodes."""
SHORT_LIFE_MS, MOST_SHORT_LIVES = 60_000, 3
"""After more short lives in a row, none of them ended by Handrail, the next helper serves."""
HOLDERS = {
    "io.appium.": "Appium",
    "com.wetest.uia2": "a uiautomator2 server",
    "com.github.uiautomator": "a uiautomator2 server",
    "com.mobilenext": "mobilecli",
    "com.callstack": "agent-device",
    "dev.handrail.helper": "another Handrail",
    "AndroidJUnitRunner": "an instrumented test",
}
"""Programs that hold UiAutomation, by a part of their name in the list of processes."""
BUILD_COMMAND = Script(
    "getprop ro.build.fingerprint; getprop ro.build.version.release; getprop ro.build.version.sdk; "
    "getprop sys.boot_completed"
)


class HelperOpener:
    """Opens the first of the helpers that works on this phone; only one can run, because UiAutomation has
    one user. What failed for a lasting reason is remembered and not tried again."""

    def __init__(
        self,
        adb: AdbChannel,
        clock: Clock,
        names: Sequence[str],
        memory_file: Path | None,
        *,
        try_again: bool = False,
    ) -> None:
        self._adb = adb
        self._device = adb.device
        self._clock = clock
        self._names = names
        self._memory_file = memory_file
        self._try_again = try_again
        self._memory: ChannelMemory | None = None
        self._android, self._sdk, self._has_booted = "", 0, False
        self._handle: HelperHandle | None = None
        self._dumped: tuple[float, Screen] | None = None
        self._started_ms, self._short_lives = float("-inf"), 0

    async def open(self, say: Say) -> Channel | None:
        """Returns None if nothing works, after saying all reasons in one line."""
        memory = self._memory or await self._read_build()
        reasons: list[str] = [] if self._has_booted else ["the phone is still booting"]
        for name in self._names:
            remembered = memory.reason(name, self._version(name))
            if remembered:
                reasons.append(f"{name}: {remembered} (remembered; `handrail doctor` tries again)")
                continue
            try:
                if name == "u2":
                    channel: Channel = await open_u2(
                        self._device, self._clock, sdk=self._sdk, android=self._android
                    )
                else:
                    channel = await self._open_helper(memory)
            except HandrailError as error:
                reasons.append(f"{name}: {error.message}")
                if self._is_lasting(error):
                    memory.keep(name, self._version(name), error.message)
            else:
                for reason in reasons:
                    say(f"{name} serves; not in use: {reason}")
                return channel
        say("; ".join(reasons))
        self._adb.first_look, self._dumped = self._dumped, None
        return None

    async def _read_build(self) -> ChannelMemory:
        output = await self._device.shell.run(BUILD_COMMAND, check=False)
        lines = [line.strip() for line in output.text.splitlines()] + [""] * 4
        build, self._android, sdk, booted = lines[:4]
        self._sdk = int(sdk) if sdk.isdigit() else 0
        self._has_booted = booted == "1"
        self._memory = ChannelMemory(self._memory_file, self._device.serial, build)
        if self._try_again:
            self._memory.forget()
        return self._memory

    def _is_lasting(self, error: HandrailError) -> bool:
        """Whether a later try would fail as well: not for a broken connection, nor while the phone boots."""
        is_held = isinstance(error, UiAutomationHeld)
        is_about_program = isinstance(error, (AdbCommandError, Timeout, Unsupported))
        return self._has_booted and is_about_program and not is_held and not error.details.get("passing")

    def _version(self, name: str) -> str:
        """Joins the versions of what runs on the phone and of what talks to it."""
        return f"{JAR_SHA256[:12] if name == 'helper' else jar_version()} {__version__}"

    async def _open_helper(self, memory: ChannelMemory) -> Channel:
        """Checked once per build and version: its look must agree with plain adb's."""
        now = self._clock.monotonic_ms()
        has_died = self._handle is not None and self._handle.process.has_died
        is_short = has_died and now - self._started_ms < SHORT_LIFE_MS
        self._short_lives = self._short_lives + 1 if is_short else 0
        if self._short_lives > MOST_SHORT_LIVES:
            reason = f"it was ended {self._short_lives} times within {SHORT_LIFE_MS // 1000} s of its start"
            raise Unsupported(reason)
        self._started_ms = now
        version = self._version("helper")
        is_checked = memory.reason("helper", version) == ""
        dumped = None if is_checked else await self._dump()
        channel = await self._start_helper()
        if dumped is not None:
            try:
                look = await channel.look()
            except BaseException:
                await channel.close()
                raise
            if not is_same_screen(dumped, look):
                # The screen may have changed before the look; then a dump after it agrees.
                await channel.close()
                dumped = await self._dump()
                if dumped is None or not is_same_screen(dumped, look):
                    reason = "its look differs from plain adb's, so it is not trusted"
                    raise AdbCommandError(reason, command="look", passing=dumped is None)
                channel = await self._start_helper()
            memory.keep("helper", version, "")
        return channel

    async def _dump(self) -> Screen | None:
        """Returns None where plain adb can't read the screen: then nothing is known against the helper."""
        self._dumped = None
        with suppress(DeviceError, Timeout):
            self._dumped = self._clock.monotonic_ms(), await self._adb.look_once(CHECK_DUMP_MS)
        return self._dumped[1] if self._dumped is not None else None

    async def _start_helper(self) -> HelperChannel:
        try:
            self._handle = await open_helper(self._device, self._clock)
        except UiAutomationHeld as error:
            if not await release(self._device):  # no u2 server that Handrail left there
                processes = await self._device.shell.run(Script("ps -A -o ARGS; ps"), check=False)
                holder = next((name for part, name in HOLDERS.items() if part in processes.text), None)
                error.message = f"{holder} on the phone holds UiAutomation" if holder else error.message
                raise
            self._handle = await open_helper(self._device, self._clock)
        return HelperChannel(self._handle)


def is_same_screen(dumped: Screen, look: Screen) -> bool:
    """Whether two channels read one screen: the same app, and nearly all words at the same places."""

    def labels(nodes: Iterable[Node]) -> set[tuple[str, Bounds]]:
        """Dumps cut bounds off at the edge of the screen, helpers don't."""
        texts = ((node.text or node.description, node.bounds.intersect(dumped.bounds)) for node in nodes)
        return {(text, bounds) for text, bounds in texts if text}

    if screen_fingerprint(dumped) == screen_fingerprint(look):
        return True
    wanted = labels(dumped.inside(dumped.windows[0]) if dumped.windows else dumped.nodes)
    lacking = wanted - labels(look.nodes)
    return dumped.package == look.package and len(lacking) <= MOST_DIFFERENCE * len(wanted)
