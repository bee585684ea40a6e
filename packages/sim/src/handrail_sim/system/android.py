"""The running system: tasks and apps with their health. Screen and input come in higher layers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC
from math import inf
from typing import Any, Literal

from handrail_sim.clock import Clock, zone_of
from handrail_sim.errors import BadSetting
from handrail_sim.system import surroundings, telephony
from handrail_sim.system.activities import App, Context
from handrail_sim.system.device import ZONE
from handrail_sim.system.display import Display
from handrail_sim.system.providers import OWNERS
from handrail_sim.system.surroundings import Place
from handrail_sim.system.tasks import Tasks
from handrail_sim.timers import Timer
from handrail_sim.view.windows import Window

SMS_APP = "com.google.android.apps.messaging"


ANR_MS = 5000.0
OFTEN_MS = 60_000.0  # a second crash within this time: "keeps stopping"


class AppFailures:
    """Which apps are blocked and which crashed of late."""

    def __init__(self, phone: Context) -> None:
        self.phone = phone
        self.hangs: dict[str, float] = {}  # package -> monotonic ms until when its main thread is blocked
        self._waiting: dict[str, Timer] = {}
        self._crashed: dict[str, float] = {}

    def hang(self, package: str, duration_ms: float | None) -> None:
        self.hangs[package] = inf if duration_ms is None else self.phone.now_ms() + duration_ms

    def is_hung(self, package: str) -> bool:
        return bool(self.hangs) and self.hangs.get(package, 0.0) > self.phone.now_ms()

    def ignores_input(self, package: str) -> bool:
        """True if the app is blocked: the input waits, and after five seconds the system says so."""
        if not self.is_hung(package):
            self.hangs.pop(package, None)
            return False
        if package not in self._waiting:
            self._waiting[package] = self.phone.later(ANR_MS, lambda: self._give_up(package))
        return True

    def _give_up(self, package: str) -> None:
        self._waiting.pop(package, None)
        if self.is_hung(package) and package in self.phone.packages.processes:
            self.phone.logcat("E", "ActivityManager", f"ANR in {package}")
            self.phone.logcat("E", "ActivityManager", "Reason: Input dispatching timed out")
            self.phone.app_not_responding(package)

    def wait_longer(self, package: str) -> None:
        """Somebody pressed Wait: the dialog comes again if nothing gets better."""
        self.ignores_input(package)

    def forget(self, package: str) -> None:
        self.hangs.pop(package, None)
        waiting = self._waiting.pop(package, None)
        if waiting is not None:
            waiting.cancel()

    def reset(self) -> None:
        self.hangs.clear()
        self._waiting.clear()
        self._crashed.clear()

    def stop(self, package: str) -> None:
        """Force stop: the process, its prompts and its notifications go."""
        self.forget(package)
        self.phone.notifications.cancel(package)
        self.phone.app_stopped(package)
        self.phone.tasks.end_app(package)

    def clear(self, package: str) -> bool:
        if package in OWNERS:
            self.phone.providers.clear(package)
            return True
        existing = self.phone.packages.installed.get(package)
        if existing is None:
            return False
        self.stop(package)
        folder = f"/data/data/{package}"
        if self.phone.files.exists(folder):
            self.phone.files.remove_tree(folder)
        self.phone.files.make_app_data(package, existing.uid)
        self.phone.packages.reset_permissions(package)
        return True

    def die(self, package: str, reason: str | None) -> None:
        """The process ends; of an exception, when there is a reason."""
        self.forget(package)
        if reason is None:
            self.phone.tasks.end_app(package)
        else:
            self._crash(package, reason)

    def _crash(self, package: str, reason: str) -> None:
        """Write what AndroidRuntime writes, and show the dialog."""
        phone = self.phone
        pid = phone.packages.pid_of(package) or 0
        lines = [
            "FATAL EXCEPTION: main",
            f"Process: {package}, PID: {pid}",
            reason,
            f"\tat {package}.MainActivity.onClick(MainActivity.java:42)",
            "\tat android.view.View.performClick(View.java:7659)",
            "\tat android.os.Looper.loop(Looper.java:317)",
        ]
        for line in lines:
            phone.logcat("E", "AndroidRuntime", line, package, "crash")
        now = phone.now_ms()
        again = now - self._crashed.get(package, -inf) < OFTEN_MS
        self._crashed[package] = now
        phone.tasks.end_app(package)
        phone.app_crashed(package, again)


class Android(Context):
    """What commands do to the system. What is abstract is done where screen and input are known."""

    tasks: Tasks

    def __init__(self, clock: Clock, seed: int, serial: str, display: Display) -> None:
        super().__init__(clock, seed, serial, display)
        self.health = AppFailures(self)
        self.tasks = Tasks(self)

    @property
    def apps(self) -> list[type[App]]:
        existing = self.packages.classes.items()
        return [cls for name, cls in existing if name in self.packages.installed and issubclass(cls, App)]

    def boot_apps(self) -> None:
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
        self.settings.setdefault(table, {})[name] = value
        match table, name:
            case "secure", "ui_night_mode_on":
                self.set_dark(value == "1")
            case "secure", "ui_night_mode":
                self.set_dark(value == "2")
            case "system", "font_scale":
                self.set_font_scale(float(value))
            case "system", "user_rotation":
                self.set_rotation(int(value))
        self.setting_changed(name)
        self.layout_changed()

    def set_date(self, epoch_ms: int) -> None:
        """This phone's time of day; alarms ring by the new one."""
        self.catch_up()
        self.wall.set(epoch_ms)
        self._time_changed()

    def set_zone(self, name: str) -> bool:
        """Sets the IANA zone; false if the name is unknown."""
        if zone_of(name) is UTC:
            return False
        self.props[ZONE] = name
        self._time_changed()
        return True

    def _time_changed(self) -> None:
        self.boot_apps()  # they arm their timers by the wall clock
        self.layout_changed()

    def set_rotation(self, quarter_turns: int) -> None:
        self.settings["system"]["user_rotation"] = str(quarter_turns % 4)
        self.apply_rotation()

    def apply_rotation(self) -> None:
        """Turn the screen as the user wants it, unless the activity in front insists."""
        wanted = int(self.settings["system"].get("user_rotation", "0"))
        top = self.tasks.top
        if top is not None and top.orientation:
            wanted = {"portrait": 0, "landscape": 1}[top.orientation]
        if wanted != self.display.rotation:
            self.display.rotation = wanted
            self.screen_turned()
            self.tasks.recreate()

    def set_dark(self, dark: bool) -> None:
        names = {"ui_night_mode": "2" if dark else "1", "ui_night_mode_on": "1" if dark else "0"}
        self.settings["secure"].update(names)
        if dark != self.display.dark:
            self.display.dark = dark
            self.tasks.recreate()

    def set_font_scale(self, scale: float) -> None:
        """1.0 is the usual size."""
        self.settings["system"]["font_scale"] = str(scale)
        if scale != self.display.font_scale:
            self.display.font_scale = scale
            self.tasks.recreate()

    def set_density(self, density: int | None) -> None:
        """Dots per inch; None is what was built in."""
        self.display.density = density or self.display.physical_density
        self.tasks.recreate()

    def set_size(self, width: int | None = None, height: int | None = None) -> None:
        """px in the natural orientation; None is what was built in."""
        self.display.natural_width = width or self.display.physical_width
        self.display.natural_height = height or self.display.physical_height
        self.tasks.recreate()

    def set_awake(self, awake: bool) -> None:
        self.awake = awake

    @contextmanager
    def held_ui_automation(self, program: str) -> Iterator[bool]:
        """Only one program can hold it: False for the second one."""
        if self.ui_automation:
            yield False
            return
        self.ui_automation = program
        self.request_accessibility()
        try:
            yield True
        finally:
            self.ui_automation = ""

    def request_accessibility(self) -> None:
        """Somebody reads the screen by accessibility: toolkits that wait for that build their tree."""
        if not self.accessibility_requested:
            self.accessibility_requested = True
            self.layout_changed()

    def receive_sms(self, sender: str, text: str) -> None:
        """A message comes in: the SMS app stores it and says so, or the phone itself does."""
        self.catch_up()
        app = self.app(SMS_APP)
        if app is None:
            self.notify("com.android.phone", sender, text)
        else:
            app.on_sms(sender, text)
            self.touched_app()

    def receive_call(self, number: str) -> None:
        """Somebody rings; `answer_call`, `end_call` or the buttons on the screen decide what comes of it."""
        if not telephony.is_number(number):
            raise BadSetting(f"{number!r} is not a phone number", path="number")
        if not telephony.ring(self, number):
            raise BadSetting("there is a call already", path="number")

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
        """Speed and delay as the emulator's console names them; `gone`: nothing comes through."""
        if not surroundings.set_network(self, speed=speed, delay=delay):
            current = ", ".join([*surroundings.SPEEDS] if delay is None else [*surroundings.DELAYS])
            raise BadSetting(f"{speed or delay!r} is neither a number nor one of {current}", path="network")
        if gone is not None:
            surroundings.set_offline(self, gone)
        self.bars_changed()
        self.touched_app()

    def set_location(self, latitude: float, longitude: float, altitude: float = 0.0) -> None:
        if not (abs(latitude) <= 90 and abs(longitude) <= 180):
            raise BadSetting(
                f"{latitude}, {longitude} is not a valid latitude and longitude", path="location"
            )
        surroundings.set_place(self, Place(latitude, longitude, altitude))
        self.touched_app()

    def set_battery(self, level: int | None = None, plug: str | None = None) -> None:
        """Per cent, and what charges it: none, ac, usb or wireless."""
        if level is not None and not 0 <= level <= 100:
            raise BadSetting(f"{level} is not a level between 0 and 100", path="battery")
        if plug is not None and plug not in surroundings.PLUGS:
            raise BadSetting(f"{plug!r} is not one of {', '.join(surroundings.PLUGS)}", path="battery")
        if level is not None:
            self.battery = level
        if plug is not None:
            surroundings.set_plug(self, plug)
        self.bars_changed()
        self.touched_app()

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
