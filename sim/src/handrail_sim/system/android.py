"""The running system: a phone with tasks and healthy or sick apps, which nobody sees or touches yet."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from datetime import UTC
from typing import Any, Literal

from handrail_sim.clock import Clock, zone_of
from handrail_sim.system import configuration, happenings, telephony
from handrail_sim.system.activities import App, Context
from handrail_sim.system.device import ZONE
from handrail_sim.system.display import Display
from handrail_sim.system.health import Health
from handrail_sim.system.tasks import Tasks
from handrail_sim.view.windows import Window


class Android(Context):
    """What commands do to the system. What is abstract is done where screen and input are known."""

    tasks: Tasks

    def __init__(self, clock: Clock, seed: int, serial: str, display: Display) -> None:
        super().__init__(clock, seed, serial, display)
        self.health = Health(self)
        self.tasks = Tasks(self)

    @property
    def apps(self) -> list[type[App]]:
        """The classes of installed apps, in the order of installation."""
        known = self.packages.classes.items()
        return [cls for name, cls in known if name in self.packages.installed and issubclass(cls, App)]

    def boot_apps(self) -> None:
        """Tell the apps that the phone came up."""
        for cls in self.apps:
            cls.on_boot(self)

    def force_stop(self, package: str) -> None:
        self.catch_up()
        self.health.stop(package)

    def clear_data(self, package: str) -> bool:
        """`pm clear`; false if there is no such package."""
        self.catch_up()
        return self.health.clear(package)

    def kill_process(self, package: str, crash: str | None = None) -> None:
        """The process dies: with a stack trace and a dialog, or without a word."""
        self.catch_up()
        self.health.die(package, crash)

    def hang(self, package: str, duration_ms: float | None = None) -> None:
        """Block an app's main thread; None: for ever."""
        self.health.hang(package, duration_ms)

    def put_setting(self, table: str, name: str, value: str) -> None:
        """A setting, and what it does at once."""
        configuration.put_setting(self, table, name, value)

    def set_date(self, epoch_ms: int) -> None:
        """This phone's time of day; alarms ring by the new one."""
        self.catch_up()
        self.wall.set(epoch_ms)
        self._time_changed()

    def set_zone(self, name: str) -> bool:
        """The zone with this name of the IANA; false if there is none."""
        if zone_of(name) is UTC:
            return False
        self.props[ZONE] = name
        self._time_changed()
        return True

    def _time_changed(self) -> None:
        self.boot_apps()  # they arm their timers by the wall clock
        self.layout_changed()

    def set_rotation(self, quarter_turns: int) -> None:
        configuration.set_rotation(self, quarter_turns)

    def set_dark(self, dark: bool) -> None:
        configuration.set_dark(self, dark)

    def set_font_scale(self, scale: float) -> None:
        configuration.set_font_scale(self, scale)

    def set_density(self, density: int | None) -> None:
        """`wm density`; None is the built-in one."""
        configuration.set_density(self, density)

    def set_size(self, width: int | None = None, height: int | None = None) -> None:
        """`wm size`; without arguments the built-in size."""
        configuration.set_size(self, width, height)

    def set_awake(self, awake: bool) -> None:
        self.awake = awake

    def request_accessibility(self) -> None:
        """Somebody reads the screen by accessibility: toolkits that wait for that build their tree."""
        if not self.accessibility_requested:
            self.accessibility_requested = True
            self.layout_changed()

    def receive_sms(self, sender: str, text: str) -> None:
        """A message comes in: the SMS app stores it and says so, or the phone itself does."""
        happenings.receive_sms(self, sender, text)

    def receive_call(self, number: str) -> None:
        """Somebody rings; `answer_call`, `end_call` or the buttons on the screen decide what comes of it."""
        happenings.receive_call(self, number)

    @property
    def call_log(self) -> list[dict[str, Any]]:
        return telephony.call_log(self)

    def answer_call(self) -> bool:
        return telephony.answer(self)

    def end_call(self, *, here: bool = True) -> bool:
        """Hang up or decline; not `here`: the other side did."""
        return telephony.end(self, here=here)

    def set_network(
        self, *, speed: str | None = None, delay: str | None = None, gone: bool | None = None
    ) -> None:
        """`speed="edge"`, `delay="100:500"` as for the emulator; `gone=True`: nothing comes through."""
        happenings.set_network(self, speed=speed, delay=delay, gone=gone)

    def set_location(self, latitude: float, longitude: float, altitude: float = 0.0) -> None:
        happenings.set_location(self, latitude, longitude, altitude)

    def set_battery(self, level: int | None = None, plug: str | None = None) -> None:
        """Per cent; `plug` is none, ac, usb or wireless."""
        happenings.set_battery(self, level, plug)

    # what the screen asks of those who touch and type

    @abstractmethod
    def run(self, window: Window, handler: Callable[..., object], *args: object) -> None:
        """Call a handler of a view in this window; what may have changed by it is built anew."""

    @abstractmethod
    def key(self, code: int, *, long_press: bool = False, meta: int = 0) -> None:
        """A key, down and up."""

    @abstractmethod
    def edit(self, what: Literal["cut", "copy", "paste", "select_all"]) -> bool:
        """What the little bar above a selection does to the focused field."""

    @abstractmethod
    def keyboard(self) -> Window: ...
    @abstractmethod
    def hide_keyboard(self) -> bool:
        """True if it was there."""
