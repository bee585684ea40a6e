"""One Protocol for each capability, and the surface that has some of them.

Input raises with `delivery` among the error's details: "not_delivered" where it is certain that nothing
arrived, "unknown" otherwise. It is never repeated by anybody below the engine once its first byte was sent;
reads are retried below.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from handrail.errors import Unsupported
from handrail.protocol.act import Act
from handrail.protocol.traits import Capability
from handrail.surface.values import (
    CommandOutput,
    Display,
    Facts,
    Foreground,
    IdleResult,
    InstalledApp,
    LastWords,
    NetworkChange,
    SetControl,
    Synced,
    Told,
    Typed,
    VideoUnit,
)
from handrail.tree.node import Screen


class LookCapability(Protocol):
    """Reading what is shown."""

    @property
    def waits_for_idle(self) -> bool:
        """True while a look itself waits for a quiet screen, as plain adb's dump does."""

    async def look(self) -> Screen:
        """A screen whose reading began after this call. A failed read raises; it is never an empty screen.

        Where not a byte has changed it is the same object as the last one.
        """

    async def screenshot(self) -> bytes:
        """PNG, as the screen is turned now. Raises `SecureScreen`."""

    async def display(self) -> Display: ...

    async def foreground(self) -> Foreground: ...


class VideoCapability(Protocol):
    """Showing the screen as it moves, to people."""

    def record(self, renew: asyncio.Event) -> AsyncGenerator[VideoUnit]:
        """From now on and without end, a key picture first. Setting `renew` asks for another one soon.

        Raises `Unsupported` where there is no video, or where it would show what pictures hide.
        """

    async def require_visible(self) -> None:
        """Raises `SecureScreen` while a window in front forbids pictures."""


class TouchCapability(Protocol):
    """Fingers."""

    async def tap(self, x: int, y: int) -> None: ...

    async def double_tap(self, x: int, y: int) -> None: ...

    async def long_press(self, x: int, y: int, duration_ms: int) -> None: ...

    async def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None: ...

    async def drag(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        """Holds long enough to pick up, then moves."""

    async def path(self, points: Sequence[tuple[int, int]], duration_ms: int) -> None:
        """One finger down at the first point, through all others, up at the last."""

    async def pinch(self, cx: int, cy: int, start_radius: int, end_radius: int, duration_ms: int) -> None:
        """Raises `Unsupported` where there is only one finger."""

    async def rotate(
        self, cx: int, cy: int, radius: int, start_angle_deg: float, end_angle_deg: float, duration_ms: int
    ) -> None: ...


class KeysCapability(Protocol):
    """Keys."""

    async def key(self, key: str | int) -> None:
        """Any spelling of `protocol.keys`."""

    async def chord(self, keys: Sequence[str]) -> None:
        """All of them down, in this order, then up. Raises `Unsupported` where keys come one by one."""


class TextCapability(Protocol):
    """Text into the field that has the focus, with what the field said before and after."""

    async def type_text(self, text: str, *, blind: bool = False, into: str | None = None) -> Typed:
        """At its cursor: the first way that can and whose result reads back.

        `into`: the app whose field was looked at. A surface that can tell, in the very moment in which the
        text is inserted, that the field with the focus is another app's, inserts nothing.

        `blind`: by the first way that can, and nothing is read back. What is done, told and how long it takes
        does not depend on what the field holds.
        """

    async def require_way(self, text: str) -> None:
        """Raises `Unsupported` where it is known beforehand that this can't be typed. Nothing is sent."""

    async def clear_text(self) -> Typed:
        """Empty it, whatever its length."""

    def reads_back_as(self, text: str) -> str:
        """What a field would say that holds just this text."""


class ValuesCapability(Protocol):
    """Controls that the surface sets by itself, instead of a finger that opens or moves them."""

    async def set_value(self, native_id: str, value: str) -> SetControl | None:
        """None for a control that only a finger can set: nothing was done."""


class ClipboardCapability(Protocol):
    """What a paste would insert."""

    async def get_clipboard(self) -> str: ...

    async def set_clipboard(self, text: str) -> None: ...


class AppsCapability(Protocol):
    """Programs on the device."""

    async def installed(self) -> Sequence[InstalledApp]:
        """Those that a person can start, with all that each is called."""

    async def start(
        self, package: str, activity: str | None, extras: Mapping[str, bool | float | str] | None = None
    ) -> None: ...

    async def stop(self, package: str) -> str:
        """What is left of it afterwards: "stopped", or what still runs."""

    async def restart(self, package: str) -> None: ...

    async def reset(self, package: str) -> None: ...

    async def install(self, path: Path) -> None: ...

    async def uninstall(self, package: str) -> None: ...

    async def grant(self, package: str, permission: str) -> str:
        """The permission's whole name."""

    async def revoke(self, package: str, permission: str) -> str: ...

    async def open_url(self, url: str) -> str | None:
        """The component that took it, where that is known."""


class SettingsCapability(Protocol):
    """The device around the app."""

    async def state(self) -> Told: ...

    async def set_orientation(self, orientation: Literal["portrait", "landscape", "auto"]) -> str:
        """How it stands afterwards."""

    async def set_network(self, change: NetworkChange) -> Told: ...

    async def set_appearance(self, appearance: Literal["dark", "light"]) -> str:
        """How it looks afterwards."""

    async def set_location(self, latitude: float, longitude: float) -> str:
        """Where the device says it is."""

    async def add_media(self, path: Path) -> str:
        """Where the file lies on the device."""


class DataCapability(Protocol):
    """An app's own files."""

    async def preferences(self, package: str, file: str) -> Mapping[str, Any]: ...

    async def query(self, package: str, database: str, query: str, *, write: bool) -> Mapping[str, Any]: ...


class LogsCapability(Protocol):
    """The device's log."""

    async def log_lines(
        self, package: str | None, level: str | None, since: str | None, max_lines: int
    ) -> Sequence[str]: ...


class HealthCapability(Protocol):
    """Whether an app has died."""

    def app_in_front(self, screen: Screen) -> str:
        """The app in front, or under the system's own dialogs; '' where there is none."""

    async def has_died(self, app: str) -> bool:
        """Its process is gone, and nobody starts it anew as a matter of course."""

    async def is_home(self, screen: Screen) -> bool:
        """Whether this is where the home key leads."""

    async def last_words(self, app: str, within_ms: float | None) -> LastWords | None:
        """What the log says of its end, at most so long ago."""


class RestCapability(Protocol):
    """Something other than looking that can tell whether the screen has come to rest."""

    async def wait_idle(self, timeout_ms: float) -> IdleResult | None:
        """Until no event came for 100 ms; None where nobody hears events."""

    def notice(self, screen: Screen) -> None:
        """This is in front now: whoever can tell more of it may get ready."""

    async def sync(self, screen: Screen, timeout_ms: float) -> Synced | None:
        """Until the app in front says itself that it is at rest; None where it can't be asked."""

    async def labels(self, screen: Screen) -> Mapping[str, str] | None:
        """The framework's names for nameless elements, by node id; None while nobody can be asked."""

    async def refresh(self, screen: Screen) -> bool:
        """Have a canvas without a word tell what is on it; true when the screen should be read again."""


class ShellCapability(Protocol):
    """Commands on the device."""

    async def command(self, tokens: Sequence[str]) -> CommandOutput:
        """Token by token, each quoted."""

    async def script(self, text: str) -> CommandOutput:
        """By the device's own shell: pipes, globs, substitution."""


class WindowsCapability(Protocol):
    """A desktop of windows: the desk."""

    async def apply(self, actions: Sequence[Act], by: str, is_person: bool) -> list[dict[str, Any]]:
        """All of them as one change, or none; the details of each."""

    async def heard(self, agent: str, timeout_ms: float) -> list[dict[str, Any]]:
        """What people did for this agent since it was last told; waits for the first of it."""

    def left(self, agent: str) -> None:
        """An agent has gone: what it had locked is free."""


class Surface(Protocol):
    """One thing that can be acted on."""

    @property
    def name(self) -> str:
        """As `--device` names it."""

    @property
    def is_exclusive(self) -> bool:
        """One action at a time, by one holder. False: everybody acts side by side."""

    @property
    def entry(self) -> str:
        """What a person is asked, once in a session, before anything is read or done; '' for nothing."""

    def capability(self, which: Capability) -> object:
        """What fills the Protocol of this capability. Raises `Unsupported` with the reason."""

    async def facts(self) -> Facts | None:
        """Read anew; None where there is nothing to tell."""

    async def check(self) -> None:
        """Raises `DeviceError` when it can't be reached any more. Cheap: it is asked every second."""

    def diagnostics(self) -> list[str]:
        """Lines that were written since the last call, one event each."""

    def channels(self) -> dict[str, str]:
        """What serves which primitive at the moment, and why something is out of use."""

    async def close(self) -> None: ...


def has(surface: Surface, which: Capability) -> bool:
    """Whether it can."""
    try:
        surface.capability(which)
    except Unsupported:
        return False
    return True
