"""One Protocol for each capability, and the surface that has some of them.

Input raises with `delivery` among the error's details: "not_delivered" where it is certain that nothing
arrived, "unknown" otherwise. It is never repeated by anybody below the engine once its first byte was sent;
reads are retried below.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from handrail.errors import Unsupported
from handrail.protocol.act import Act
from handrail.protocol.traits import Capability
from handrail.screen.node import Screen, ScreenPoint
from handrail.surface import values
from handrail.surface.gesture import Gesture

C = TypeVar("C")
TypingWay = Literal["keys", "value", "paste"]
ControlValue = str | Sequence[str]
"""A text, or all labels that shall be selected."""


class ScreenReader(Protocol):
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

    async def display(self) -> values.Display: ...

    async def foreground(self) -> values.Foreground: ...


class Video(Protocol):
    """Showing the screen as it moves, to people."""

    def record(self, renew: asyncio.Event) -> AsyncGenerator[values.VideoUnit]:
        """From now on and without end, a key picture first. Setting `renew` asks for another one soon.

        Raises `Unsupported` where there is no video, or where it would show what pictures hide.
        """

    async def require_visible(self) -> None:
        """Raises `SecureScreen` while a window in front forbids pictures."""


class Touch(Protocol):
    """Fingers touch the screen."""

    async def perform(self, gesture: Gesture) -> None:
        """Raises `Unsupported` where there are too few fingers for it."""


class Mouse(Protocol):
    """A pointer that hovers, with more than one button and keys that are held meanwhile."""

    async def perform(self, gesture: Gesture) -> None: ...

    async def hover(self, point: ScreenPoint) -> None:
        """Moves the pointer there, so that what this brings up can be judged before a press."""


class Scrolling(Protocol):
    """Brings what is scrolled out of sight into view by itself: no finger moves, and nothing is pressed."""

    async def everything(self) -> Screen | None:
        """All that there is, in places that tell order and neighbours and that no finger can reach."""

    async def bring_into_view(self, native_id: str) -> bool:
        """False if it is not there any more."""


class KeyPresses(Protocol):
    """Keys are pressed one by one or together."""

    async def key(self, key: str | int) -> None:
        """Takes any spelling of `protocol.keys`."""

    async def chord(self, keys: Sequence[str]) -> None:
        """All of them down, in this order, then up. Raises `Unsupported` where keys come one by one."""


class Activation(Protocol):
    """Tells what an input would activate; None where the screen is all that is known.

    The next input of these keys or points is refused if the answer is another one when it arrives, where the
    surface can do that.
    """

    @property
    def touched_keys(self) -> frozenset[str]:
        """Keys that this surface has none of and sends as touches, by canonical names: an iPhone's back."""

    async def activated_by_keys(self, keys: Sequence[str], field: str = "") -> values.Activated | None:
        """By canonical names. `field`: the native id of what will have the focus by then."""

    async def activated_by_points(self, points: Sequence[ScreenPoint]) -> values.Activated | None:
        """The points are where fingers come down and lift."""

    async def activated_by_value(self, native_id: str, value: ControlValue) -> values.Activated | None:
        """The control is to be set to this value."""


class TextInput(Protocol):
    """Text into the field that has the focus, with what the field said before and after."""

    @property
    def ways(self) -> frozenset[TypingWay]:
        """What `how` may ask for."""

    async def type_text(
        self, text: str, *, blind: bool = False, into: str | None = None, how: TypingWay | None = None
    ) -> values.Typed:
        """At its cursor: the first way that can and whose result reads back, or the way that is asked for.

        `into`: the app whose field was looked at. A surface that can tell, in the very moment in which the
        text is inserted, that the field with the focus is another app's, inserts nothing.

        `blind`: by the first way that can, and nothing is read back. What is done, told and how long it takes
        does not depend on what the field holds.
        """

    async def require_way(self, text: str) -> None:
        """Raises `Unsupported` where it is known beforehand that this can't be typed. Nothing is sent."""

    async def clear_text(self) -> values.Typed:
        """Empty it, whatever its length."""

    def reads_back_as(self, text: str) -> str:
        """What a field would say that holds just this text."""


class ControlValues(Protocol):
    """Controls that the surface sets by itself, instead of a finger that opens or moves them."""

    async def set_value(self, native_id: str, value: ControlValue) -> values.SetControl | None:
        """Returns None for a control that only a finger can set: nothing was done."""


class ClipboardAccess(Protocol):
    """What a paste would insert."""

    async def get_clipboard(self) -> str: ...

    async def set_clipboard(self, text: str) -> None: ...


class Apps(Protocol):
    """Programs on the device."""

    async def installed(self) -> Sequence[values.InstalledApp]:
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

    async def require_changeable_permission(self, package: str, permission: str) -> None:
        """Raises where it can't be granted or revoked, so that no person is asked about it."""

    async def grant(self, package: str, permission: str) -> str:
        """Grants it and returns the permission's whole name."""

    async def revoke(self, package: str, permission: str) -> str: ...

    async def open_url(self, url: str) -> str | None:
        """The component that took it, where that is known."""


class DeviceSettings(Protocol):
    """The device around the app."""

    async def state(self) -> values.DeviceReport: ...

    async def set_orientation(self, orientation: Literal["portrait", "landscape", "auto"]) -> str:
        """Turns the device and returns how it stands afterwards."""

    async def set_network(self, change: values.NetworkChange) -> values.DeviceReport: ...

    async def set_appearance(self, appearance: Literal["dark", "light"]) -> str:
        """Returns the appearance that the device has afterwards."""

    async def set_location(self, latitude: float, longitude: float) -> str:
        """Where the device says it is."""

    async def add_media(self, path: Path) -> str:
        """Where the file lies on the device."""


class AppData(Protocol):
    """An app's own files."""

    async def preferences(self, package: str, file: str) -> Mapping[str, Any]: ...

    async def query(
        self,
        package: str,
        database: str,
        query: str,
        *,
        write: bool,
        redact: Callable[[str], str] | None = None,
    ) -> Mapping[str, Any]:
        """`redact` is applied to what the statement reads, before it runs."""


class LogAccess(Protocol):
    """The device keeps a log."""

    async def log_lines(
        self, package: str | None, level: str | None, since: str | None, max_lines: int
    ) -> Sequence[str]: ...


class AppHealth(Protocol):
    """Whether an app has died."""

    def app_in_front(self, screen: Screen) -> str:
        """The app in front, or under the system's own dialogs; '' where there is none."""

    async def has_died(self, app: str) -> bool:
        """Whether its process is gone and the system does not restart it by itself."""

    async def is_home(self, screen: Screen) -> bool:
        """Whether this is where the home key leads."""

    async def last_words(self, app: str, within_ms: float | None) -> values.LastWords | None:
        """What the log says of its end, at most so long ago."""


class IdleDetection(Protocol):
    """Something other than looking that can tell whether the screen has come to rest."""

    async def wait_idle(self, timeout_ms: float) -> values.IdleResult | None:
        """Until no event came for 100 ms; None where nobody hears events."""

    def is_rested(self) -> bool:
        """Whether the answer to the last gesture, a moment ago, said that the screen rests. The next look
        may be the one that came with it: it began after the gesture."""

    def notice(self, screen: Screen) -> None:
        """This is in front now: whoever can tell more of it may get ready."""

    async def sync(self, screen: Screen, timeout_ms: float) -> values.Synced | None:
        """Until the app in front says itself that it is at rest; None where it can't be asked."""

    async def labels(self, screen: Screen) -> Mapping[str, str] | None:
        """The framework's names for nameless elements, by node id; None while nobody can be asked."""

    async def refresh(self, screen: Screen) -> bool:
        """Have a canvas without a word tell what is on it; true when the screen should be read again."""


class ShellCommands(Protocol):
    """Commands on the device."""

    async def command(self, tokens: Sequence[str]) -> values.CommandOutput:
        """Passes token by token, each quoted."""

    async def script(self, text: str) -> values.CommandOutput:
        """Runs in the device's own shell: pipes, globs, substitution."""


class DeskWindows(Protocol):
    """A desktop of windows: the desk."""

    async def apply(self, actions: Sequence[Act], by: str, is_person: bool) -> list[dict[str, Any]]:
        """Applies all as one change, or none. Returns the details of each."""

    async def heard(self, agent: str, timeout_ms: float) -> list[dict[str, Any]]:
        """What people did for this agent since it was last told; waits for the first of it."""

    def left(self, agent: str) -> None:
        """An agent has gone: what it had locked is free."""


class Surface(Protocol):
    """One thing that can be acted on."""

    @property
    def name(self) -> str:
        """`--device` takes this name."""

    @property
    def is_exclusive(self) -> bool:
        """One action at a time, by one holder. False: everybody acts side by side."""

    @property
    def entry(self) -> str:
        """What a person is asked, once in a session, before anything is read or done; '' for nothing."""

    def need(self, kind: type[C]) -> C:
        """The object that fills this Protocol. Raises `Unsupported` with the surface's own reason."""

    async def facts(self) -> values.Facts | None:
        """Read anew; None where there is nothing to tell."""

    async def check(self) -> None:
        """Raises `DeviceError` when it can't be reached any more. Cheap: it is asked every second."""

    def diagnostics(self) -> list[str]:
        """Lines that were written since the last call, one event each."""

    def channels(self) -> dict[str, str]:
        """What serves which primitive at the moment, and why something is out of use."""

    async def close(self) -> None: ...


def optional(surface: Surface, kind: type[C]) -> C | None:
    """The object that fills this Protocol; None where the surface has none."""
    try:
        return surface.need(kind)
    except Unsupported:
        return None


PROTOCOLS: Mapping[Capability, type] = {
    Capability.LOOK: ScreenReader,
    Capability.VIDEO: Video,
    Capability.TOUCH: Touch,
    Capability.MOUSE: Mouse,
    Capability.KEYS: KeyPresses,
    Capability.TEXT: TextInput,
    Capability.VALUES: ControlValues,
    Capability.CLIPBOARD: ClipboardAccess,
    Capability.APPS: Apps,
    Capability.SETTINGS: DeviceSettings,
    Capability.DATA: AppData,
    Capability.LOGS: LogAccess,
    Capability.HEALTH: AppHealth,
    Capability.REST: IdleDetection,
    Capability.SHELL: ShellCommands,
    Capability.WINDOWS: DeskWindows,
}
"""What an action's traits call a capability, and the Protocol that a surface fills for it."""
