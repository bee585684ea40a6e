"""What a surface says of itself and of what it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from handrail.protocol.envelope import Platform
from handrail.screen.node import Screen

SYSTEMS: Mapping[Platform, str] = {"android": "Android", "ios": "iOS", "web": "Web"}
Framework = Literal["flutter", "react_native", "compose", "native", "web"]


@dataclass(frozen=True, slots=True)
class Facts:
    """What does not change while a device is up."""

    serial: str
    model: str
    manufacturer: str
    os_version: str
    """Of Android or iOS; "" for a browser."""
    api_level: int
    """Android's; 0 elsewhere."""
    boot_id: str
    """Another one after every boot: refs and restless nodes end with it."""
    platform: Platform = "android"

    @property
    def android(self) -> str:
        """The version of Android, which JSON has under this name; "" for every other system."""
        return self.os_version if self.platform == "android" else ""

    @property
    def system(self) -> str:
        """`Android 15` or `iOS 17.4`; "" for a browser."""
        return f"{SYSTEMS[self.platform]} {self.os_version}" if self.os_version else ""


@dataclass(frozen=True, slots=True)
class InstalledApp:
    """A program that a person can start."""

    package: str
    label: str
    """As its icon says in the device's language; its package where nobody could read that."""
    names: tuple[str, ...] = ()
    """The same in every other language that it has."""


@dataclass(frozen=True, slots=True)
class Display:
    """The screen as it is turned now: overrides and rotation are in it."""

    width: int
    height: int
    density: int
    rotation: int
    """Quarter turns, 0 to 3."""


@dataclass(frozen=True, slots=True)
class VideoUnit:
    """One picture of a video as H.264, with start codes (Annex B)."""

    data: bytes
    is_key: bool
    """It needs no earlier one; it has its parameters with it."""
    codec: str
    """As browsers name it: `avc1.` and the profile."""


@dataclass(frozen=True, slots=True)
class Foreground:
    """What is in front; empty strings where nothing is."""

    package: str
    activity: str
    """Whole class name."""


@dataclass(frozen=True, slots=True)
class ActivatedElement:
    """One element that an input would activate. It need not be on the screen that was read."""

    native_id: str
    texts: tuple[str, ...] = ()
    """What it is called and what is drawn on it."""
    resource_id: str = ""
    is_named: bool = False
    """Whether its texts are enough to judge it by."""


@dataclass(frozen=True, slots=True)
class Activated:
    """What an input would activate, as the surface itself tells it."""

    elements: tuple[ActivatedElement, ...] = ()
    is_unknown: bool = False
    """Handlers of the page decide, so it may be anything that can be touched."""
    asks: str = ""
    """What it does that no element stands for; somebody is asked about it."""
    reached: tuple[str, ...] = ()
    """What is at each point, whether it acts or not."""

    @classmethod
    def joined(cls, parts: Sequence[Activated]) -> Activated:
        return cls(
            tuple(element for part in parts for element in part.elements),
            any(part.is_unknown for part in parts),
            next((part.asks for part in parts if part.asks), ""),
            tuple(reached for part in parts for reached in part.reached),
        )

    def includes(self, later: Activated | None) -> bool:
        """Whether a later answer names nothing that this one did not."""
        if later is None or (later.is_unknown and not self.is_unknown) or later.asks not in ("", self.asks):
            return False
        return set(later.elements) <= set(self.elements)


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
    is_hidden: bool = False
    """What the field says may not be told: a placeholder stands for it."""


@dataclass(frozen=True, slots=True)
class SetControl:
    """A control that was asked to take a value."""

    value: str
    """What it says now."""
    is_set: bool
    offers: tuple[str, ...] = ()
    """What it would take, where that is a list."""


@dataclass(frozen=True, slots=True)
class IdleResult:
    """The answer to "has it come to rest?" of something that hears events (seed 003)."""

    ok: bool
    idle: bool
    reason: str
    """events_quiet or timeout."""
    events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Synced:
    """One probe of the app's framework: who was asked, how long it took, what was not at rest at first."""

    framework: Framework
    channels: tuple[str, ...]
    ms: float
    idle: bool
    waited_for: tuple[str, ...] = ()
    refreshed: bool = False
    """A semantics tree is there that was not before."""

    @property
    def has_moved(self) -> bool:
        """The screen may be another one than the one that was read before the probe."""
        return bool(self.waited_for) or self.refreshed


@dataclass(frozen=True, slots=True)
class DeviceReport:
    """Something that was read or set: in words, and as data."""

    text: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NetworkChange:
    """What of the network should be another way; None leaves it as it is."""

    preset: str | None = None
    speed: str | None = None
    delay: str | None = None
    wifi: bool | None = None
    data: bool | None = None
    airplane_mode: bool | None = None


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """How a command on the device ended."""

    exit_code: int | None
    """None where the device did not say."""
    stdout: str
    stderr: str
    cleared: tuple[str, ...] = ()
    """Apps whose data the command has deleted, as far as that is certain."""


@dataclass(frozen=True, slots=True)
class LastWords:
    """What an app left in the log when it died."""

    summary: str
    lines: tuple[str, ...]
