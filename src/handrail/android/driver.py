"""What the engine needs of a phone, as one narrow seam. Knows nothing of targets or policy.

Input primitives raise with `delivery` among the error's details: "not_delivered" where it is certain that
nothing reached the phone, "unknown" otherwise. They are never repeated by anybody below the engine once the
first byte of them was sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from handrail.adb.shell import Shell
from handrail.tree.node import Screen

if TYPE_CHECKING:
    from handrail.android.sync.apps import Syncs

Channel = Literal["grpc", "helper", "u2", "adb"]


@dataclass(frozen=True, slots=True)
class Facts:
    """What does not change while a phone is up."""

    serial: str
    model: str
    manufacturer: str
    android_version: str
    sdk: int
    boot_id: str
    """Another one after every boot: refs and volatile nodes end with it."""


@dataclass(frozen=True, slots=True)
class Display:
    """The screen as it is turned now: overrides and rotation are in it."""

    width: int
    height: int
    density: int
    rotation: int
    """Quarter turns, 0 to 3."""


@dataclass(frozen=True, slots=True)
class Foreground:
    """What is in front; empty strings where nothing is."""

    package: str
    activity: str
    """Whole class name."""


@dataclass(frozen=True, slots=True)
class Typed:
    """How a text went in, and what the field said before and after; None where no field could be read."""

    way: str
    before: str | None
    after: str | None
    arrived: bool | None
    """None: nothing to compare with."""
    screen: Screen | None = None
    """The last screen that was read for it, after the typing."""


@dataclass(frozen=True, slots=True)
class IdleResult:
    """A helper's answer to "has it come to rest?" (seed 003)."""

    ok: bool
    idle: bool
    reason: str
    """events_quiet or timeout."""
    events: tuple[str, ...] = ()


class Driver(Protocol):
    """One phone. Every method may raise `DeviceError`; reads are retried inside, input never."""

    @property
    def serial(self) -> str: ...

    @property
    def shell(self) -> Shell:
        """For what is no primitive: apps, state, logs, storage are functions over it."""

    @property
    def waits_for_idle(self) -> bool:
        """True while `look` is served by a channel that itself waits for a quiet screen: plain adb's dump."""

    @property
    def sync(self) -> Syncs | None:
        """What debug builds tell of themselves; None where they are not asked."""

    async def facts(self) -> Facts: ...

    async def display(self) -> Display: ...

    async def look(self) -> Screen:
        """A screen whose reading began after this call. A failed read raises; it is never an empty screen.

        Where not a byte has changed it is the same object as the last one.
        """

    async def screenshot(self) -> bytes:
        """PNG, as the screen is turned now. Raises `SecureScreen`."""

    async def foreground(self) -> Foreground: ...

    async def wait_idle(self, timeout_ms: float) -> IdleResult | None:
        """Until no accessibility event came for 100 ms; None where no channel has an event stream."""

    async def tap(self, x: int, y: int) -> None: ...

    async def double_tap(self, x: int, y: int) -> None: ...

    async def long_press(self, x: int, y: int, duration_ms: int) -> None: ...

    async def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None: ...

    async def drag(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        """Holds long enough to pick up, then moves."""

    async def pinch(self, cx: int, cy: int, start_radius: int, end_radius: int, duration_ms: int) -> None:
        """Raises `Unsupported` where no channel has two fingers."""

    async def rotate(
        self, cx: int, cy: int, radius: int, start_angle_deg: float, end_angle_deg: float, duration_ms: int
    ) -> None: ...

    async def key(self, key: str | int) -> None:
        """Any spelling of `protocol.keys`."""

    async def type_text(self, text: str) -> Typed:
        """Into the focused field, at its cursor: the first way that can and whose result reads back."""

    async def clear_text(self) -> Typed:
        """Empty the focused field, whatever its length."""

    async def get_clipboard(self) -> str: ...

    async def set_clipboard(self, text: str) -> None: ...

    def channels(self) -> dict[str, str]:
        """Which channel serves which primitive at the moment, and why one is out of use."""

    def diagnostics(self) -> list[str]:
        """Lines that the channels wrote since the last call, one event each."""

    async def close(self) -> None: ...
