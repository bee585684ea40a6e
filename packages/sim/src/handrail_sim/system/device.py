"""The part of a phone that no app and no window knows of: its time, its data, its log, its events."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from datetime import datetime, tzinfo
from random import Random
from typing import Any, Protocol
from uuid import NAMESPACE_OID, uuid5

from handrail_sim.clock import Clock, Wall, zone_of
from handrail_sim.disk.files import Files
from handrail_sim.faults import Faults
from handrail_sim.system.display import Display
from handrail_sim.system.logs import LogBuffer, LogLine
from handrail_sim.system.notifications import Notifications
from handrail_sim.system.packages import Packages
from handrail_sim.system.properties import properties, settings
from handrail_sim.system.providers import Providers
from handrail_sim.system.web_engine import WebEngine
from handrail_sim.timers import Timer, Timers
from handrail_sim.view.units import Units

Event = tuple[float, str, str, str]  # monotonic ms, name, package, text
Listener = Callable[[Event], object]
INPUTS_KEPT = 4096
ZONE = "persist.sys.timezone"


class Carrier(Protocol):
    """The network that carries messages between phones."""

    def deliver(self, sender: str, to: str, text: str) -> None: ...


class Device:
    """Plain data and time; `Phone` adds everything that can be seen and touched."""

    def __init__(self, clock: Clock, seed: int, serial: str, display: Display) -> None:
        self.clock: Clock = clock
        self.seed = seed
        self.serial = serial
        self.number = "+15555215554"
        self.cell: Carrier | None = None
        self.random: Random = Random(seed)  # noqa: S311 - repeatable on purpose
        self.display = display
        self.wall = Wall(clock)
        self.files = Files(self.wall)
        self.providers = Providers(self.files, clock.now_ms())
        self.faults = Faults(clock, seed)
        self.props = properties(serial, display.density)
        self.settings = settings()
        self.services: dict[str, dict[str, str]] = {}
        self.packages = Packages()
        self.notifications = Notifications()
        self.log = LogBuffer()
        self.clipboard = ""
        self.volume = 7  # of 15
        self.battery = 84  # per cent
        self.call: dict[str, Any] | None = None
        self.fingers = [1]  # those that the sensor knows
        self.awake = True
        self.keyboard_shown = False
        self.accessibility_requested = False
        self.ui_automation = ""  # the program that holds UiAutomation, which has one user
        self.web: WebEngine | None = None  # draws web pages where they are not the phone's own
        self.boot_ms = 1500.0  # how long a reboot takes for those outside
        self.boots = 0
        self.new_boot()
        self.ports: dict[str, Callable[[Any], Awaitable[None]]] = {}
        self.helper_mains: dict[str, Any] = {}
        self.instrumentations: dict[str, Any] = {}
        self.reboot_hooks: list[Callable[[], None]] = []
        self.snapshots: dict[str, dict[str, Any]] = {}
        self.world: dict[str, Any] = {}
        """By package: what an app was given that no file of its own holds, such as the pages of the web."""
        self.input_log: list[dict[str, Any]] = []
        self.events: deque[Event] = deque(maxlen=256)
        self.last_event_ms = 0.0
        self.timers = Timers()
        self._listeners: list[Listener] = []
        self._now: float | None = None

    def new_boot(self) -> None:
        """The kernel's boot id: another one after every boot, the same for the same seed and time."""
        self.boots += 1
        self.booted_ms = self.clock.monotonic_ms()
        self.boot_id = str(uuid5(NAMESPACE_OID, f"{self.seed} {self.clock.now_ms()} {self.boots}"))

    def service_state(self, service: str) -> dict[str, str]:
        """What a system service was told and tells again; it is saved with the phone."""
        return self.services.setdefault(service, {})

    # time

    @property
    def units(self) -> Units:
        return self.display.units

    def now_ms(self) -> float:
        """Monotonic; inside a timer it is the time at which the timer was due."""
        return self.clock.monotonic_ms() if self._now is None else self._now

    def wall_ms(self) -> int:
        """Milliseconds since 1970, consistent with `now_ms`."""
        late = 0.0 if self._now is None else self.clock.monotonic_ms() - self._now
        return int(self.wall.now_ms() - late)

    @property
    def zone(self) -> tzinfo:
        return zone_of(self.props.get(ZONE, "UTC"))

    def local(self, epoch_ms: int | None = None) -> datetime:
        """A time, or now, as a clock on this phone's wall shows it."""
        moment = self.wall_ms() if epoch_ms is None else epoch_ms
        return datetime.fromtimestamp(moment / 1000, self.zone)

    @property
    def ahead_ms(self) -> int:
        return self.wall.ahead_ms

    @ahead_ms.setter
    def ahead_ms(self, ahead_ms: int) -> None:
        self.wall.ahead_ms = ahead_ms

    def later(self, delay_ms: float, run: Callable[[], object]) -> Timer:
        return self.timers.add(self.now_ms() + delay_ms, run)

    def next_due_ms(self) -> float | None:
        return self.timers.next_due_ms()

    def catch_up(self) -> None:
        if self._now is not None:
            return
        now = self.clock.monotonic_ms()
        while (timer := self.timers.pop_due(now)) is not None:
            self._now = timer.due_ms
            try:
                self._move(timer.due_ms)
                timer.run()
            finally:
                self._now = None
        self._move(now)

    # events

    def emit(self, name: str, package: str, text: str = "") -> None:
        event = (self.now_ms(), name, package, text)
        self.last_event_ms = event[0]
        self.events.append(event)
        for listener in list(self._listeners):
            listener(event)

    def on_event(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def off_event(self, listener: Listener) -> None:
        self._listeners.remove(listener)

    def logcat(self, level: str, tag: str, text: str, package: str = "", buffer: str = "") -> None:
        pid = self.packages.pid_of(package) or 1200  # system_server
        existing = self.packages.installed.get(package)
        where = buffer or ("main" if existing else "system")
        self.log.add(
            LogLine(self.wall_ms(), pid, pid, level, tag, text, where, existing.uid if existing else 1000)
        )

    def read_clipboard(self, package: str) -> str:
        """The clipboard as an app reads it; Android 10 and later refuse who is not in front."""
        if self.faults.get("clipboard_unreadable") is None:
            return self.clipboard
        self.logcat(
            "E",
            "ClipboardService",
            f"Denying clipboard access to {package}, application is not in focus nor is it a system service "
            "for user 0",
        )
        return ""

    def record_input(self, **what: Any) -> None:
        self.input_log.append({"ms": self.now_ms(), **what})
        if len(self.input_log) > INPUTS_KEPT:
            del self.input_log[: INPUTS_KEPT // 4]

    # what the parts above do

    def _move(self, now_ms: float) -> None:
        """Bring what moves by itself to this time."""

    def window_opened(self, package: str, duration_ms: float) -> None:
        """A window of this package comes in for so long."""

    def window_closed(self, package: str) -> None:
        """A window of this package went."""
