"""One phone: everything that is on it, and the only door for input, looking and the system's commands.

Time comes from the clock it is given; timers run when somebody calls, so an idle phone costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from handrail_sim import paint, state
from handrail_sim.apps import load
from handrail_sim.channels.attach import attach
from handrail_sim.clock import Clock
from handrail_sim.disk.image import fill_libraries
from handrail_sim.input import gestures, keys
from handrail_sim.input.editing import Editing
from handrail_sim.input.ime import Ime
from handrail_sim.input.touch import Touch
from handrail_sim.screen import dump
from handrail_sim.screen.camera import Camera, paint_aside
from handrail_sim.screen.dialogs import Dialogs
from handrail_sim.screen.motion import Motion
from handrail_sim.screen.stack import Screen
from handrail_sim.screen.systemui import SystemUi
from handrail_sim.screen.text_toolbar import TextToolbar
from handrail_sim.system import configuration
from handrail_sim.system.activities import App
from handrail_sim.system.device import Device
from handrail_sim.system.display import Display
from handrail_sim.system.health import Health
from handrail_sim.system.intents import Intent, StartResult
from handrail_sim.system.notifications import Notification
from handrail_sim.system.tasks import Tasks
from handrail_sim.view.view import View
from handrail_sim.view.windows import Window

T = TypeVar("T")
SMS_APP = "com.android.messaging"


class Phone(Device):
    """A simulated Android phone."""

    def __init__(
        self,
        *,
        clock: Clock,
        seed: int = 1,
        serial: str = "handrail-sim",
        width: int = 1080,
        height: int = 2400,
        density: int = 420,
        apps: Sequence[str | type[App]] | None = None,
    ) -> None:
        super().__init__(clock, seed, serial, Display(width, height, density))
        self.motion = Motion(self)
        self.touch = Touch(self)
        self.editing = Editing(self)
        self.text_toolbar = TextToolbar(self)
        self.ime = Ime(self)
        self.dialogs = Dialogs(self)
        self.health = Health(self)
        self.tasks = Tasks(self)
        self.systemui = SystemUi(self)
        self.screen = Screen(self)
        self.camera = Camera(self)
        self._install(apps)
        self.tasks.home()
        attach(self)
        self.boot_apps()

    def _install(self, apps: Sequence[str | type[App]] | None) -> None:
        names = None if apps is None else [name for name in apps if isinstance(name, str)]
        classes = [one for one in apps or () if not isinstance(one, str)]
        for app in [*load(names), *classes]:
            package = self.packages.add_app(app)
            self.files.make_app_data(app.package, package.uid)
            fill_libraries(self.files, app.package, app.libraries)

    def _move(self, now_ms: float) -> None:
        self.motion.advance(now_ms)

    def boot_apps(self) -> None:
        """Tell the apps that the phone came up."""
        for cls in self.apps:
            cls.on_boot(self)

    # input

    def pointer(
        self, action: Literal["down", "move", "up", "cancel"], x: float, y: float, pointer: int = 0
    ) -> None:
        """One event of one finger, in px of the screen as it is turned now."""
        self.catch_up()
        self.record_input(action=action, x=x, y=y, pointer=pointer)
        if self.awake:
            self.touch.pointer(action, x, y, pointer)

    async def tap(self, x: float, y: float) -> None:
        await gestures.tap(self, x, y)

    async def swipe(self, x1: float, y1: float, x2: float, y2: float, duration_ms: float = 300.0) -> None:
        await gestures.swipe(self, (x1, y1), (x2, y2), duration_ms)

    async def long_press(self, x: float, y: float, duration_ms: float = 600.0) -> None:
        await gestures.long_press(self, x, y, duration_ms)

    async def drag(self, x1: float, y1: float, x2: float, y2: float, duration_ms: float = 500.0) -> None:
        await gestures.drag(self, (x1, y1), (x2, y2), duration_ms)

    async def pinch(
        self, x: float, y: float, start_radius: float, end_radius: float, duration_ms: float
    ) -> None:
        await gestures.pinch(self, (x, y), start_radius, end_radius, duration_ms)

    async def rotate_gesture(
        self, x: float, y: float, radius: float, angle: float, duration_ms: float
    ) -> None:
        await gestures.rotate(self, (x, y), radius, angle, duration_ms)

    def key(self, code: int, *, long_press: bool = False, meta: int = 0) -> None:
        """A key, down and up."""
        self.catch_up()
        self.record_input(action="key", code=code, meta=meta, long_press=long_press)
        for _ in range(self.chances()):
            keys.press(self, code, held=long_press, meta=meta)

    def type_ascii(self, text: str) -> None:
        """What `input text` does: key events; a character without a key raises before anything is typed."""
        self.catch_up()
        unknown = next((one for one in text if not " " <= one <= "~" and one not in "\n\t"), None)
        if unknown is not None:
            raise keys.NoKeyFor(unknown)
        self.record_input(action="text", text=text)
        for _ in range(self.chances()):
            for character in text:
                keys.strike(self, character)

    def type_key(self, character: str) -> bool:
        """One character by keyboard; false when no field wanted it."""
        if self.faults.get("ime_swallows") is not None:
            return True
        if character == "\n":
            return self.editing.submit()
        return self.editing.insert(character)

    def commit_text(self, text: str) -> None:
        """What an input method does: any Unicode at the cursor of the focused field."""
        self.catch_up()
        self.record_input(action="commit", text=text)
        kept = "".join(one for one in text if self.faults.get("ime_swallows") is None)
        for _ in range(self.chances()):
            self.editing.insert(kept)

    def set_text(self, view: View, text: str) -> bool:
        """ACTION_SET_TEXT on a field: all of it is replaced; no keyboard needed."""
        self.catch_up()
        window = self.screen.window_of(view)
        if window is None or not view.editable or not view.enabled:
            return False
        for _ in range(self.chances()):
            self.editing.set_text(window, view, text)
        return True

    def scroll(self, view: View, forward: bool = True) -> bool:
        """ACTION_SCROLL_FORWARD or _BACKWARD: by the view's length; false at the end."""
        self.catch_up()
        window = self.screen.window_of(view)
        return window is not None and self.motion.step(window, view, 1 if forward else -1)

    def chances(self) -> int:
        """How often an input really arrives: faults lose it or deliver it twice."""
        if self.faults.get("input_lost") is not None:
            return 0
        return 2 if self.faults.get("input_twice") is not None else 1

    # what input leads to

    def click(self, window: Window, view: View, x: float, y: float) -> None:
        """A tap arrived at an enabled view."""
        self.emit("TYPE_VIEW_CLICKED", view.package or window.package, view.text or view.desc)
        if view.editable:
            self.editing.tap(window, view, x, y)
        if view.on_click is not None:
            self.run(window, view.on_click)

    def run(self, window: Window, handler: Callable[..., object], *args: object) -> None:
        """Call a handler of a view in this window; what may have changed by it is built anew."""
        handler(*args)
        window.invalidate()
        self.touched_app()

    def touched_app(self) -> None:
        """The app in front may have changed."""
        self.layout_changed()
        top = self.tasks.top
        if top is not None:
            self.emit("TYPE_WINDOW_CONTENT_CHANGED", top.app.package)

    def layout_changed(self) -> None:
        """What is in front is built and laid out anew when somebody looks."""
        for activity in self.screen.shown():
            activity.changed()

    # looking

    def windows(self) -> list[Window]:
        """What is on the screen, bottom to top, laid out."""
        self.catch_up()
        return self.screen.windows()

    def focused_window(self) -> Window | None:
        self.catch_up()
        return self.screen.focused()

    def window_of(self, view: View) -> Window | None:
        return self.screen.window_of(view)

    def dump(self, *, compressed: bool = False, all_windows: bool = False) -> str:
        """uiautomator XML of the active window, or of all."""
        windows = self.windows()
        active = next((window for window in windows if window.has_focus), None)
        if all_windows:
            return dump.HEADER + dump.all_windows(windows, self.display.rotation, active)
        if active is None:
            return f'{dump.HEADER}<hierarchy rotation="{self.display.rotation}" />'
        return dump.HEADER + dump.hierarchy(active, self.display.rotation, compressed=compressed)

    def frame(self) -> Any:
        """What is to be painted now, apart from the phone: its png() and rgba() may run in a thread."""
        windows = self.windows() if self.awake else []
        display = self.display
        return paint.frame(windows, display.width, display.height, dark=display.dark, now_ms=self.now_ms())

    async def screenshot(self) -> bytes:
        """A PNG; painted in a thread."""
        return await self.camera.png()

    async def painted(self, work: Callable[[], T]) -> T:
        """Run a painting, such as `phone.frame().rgba`, in the one thread that paints."""
        return await paint_aside(work)

    def is_idle(self) -> bool:
        """Nothing moves and nothing comes in or goes out."""
        self.catch_up()
        return self.motion.idle() and self.screen.is_still()

    # what happened

    def window_opened(self, package: str, duration_ms: float) -> None:
        self.motion.busy(duration_ms)
        self.emit("TYPE_WINDOW_STATE_CHANGED", package)

    def window_closed(self, package: str) -> None:
        self.motion.busy(100.0)
        self.emit("TYPE_WINDOWS_CHANGED", package)
        self.layout_changed()

    # system

    def start_activity(
        self,
        component: str | None = None,
        *,
        action: str | None = None,
        data: str | None = None,
        extras: dict[str, Any] | None = None,
        package: str | None = None,
        mime: str | None = None,
        categories: Sequence[str] = (),
    ) -> StartResult:
        """What `am start` does; a package alone is launched as from its icon."""
        self.catch_up()
        self.systemui.close_shade()
        if package and not component and not action:
            return self.tasks.launch(package)
        made = (component or "", action or "", data or "", mime or "", dict(extras or {}))
        return self.tasks.start(Intent(*made, tuple(categories), package or ""))

    def go_home(self) -> None:
        self.systemui.close_shade()
        self.systemui.close_recents()
        self.ime.hide()
        self.tasks.home()

    def app(self, package: str) -> App | None:
        """An app's process, started if need be; None if the package is no app of the simulator."""
        known = package in self.packages.installed and package in self.packages.classes
        return self.tasks.app(package) if known else None

    def reading(self, package: str) -> App | None:
        """An app to ask for what is on its disk, without starting its process."""
        if package in self.tasks.running:
            return self.tasks.running[package]
        cls = self.packages.classes.get(package) if package in self.packages.installed else None
        return cls(self) if cls is not None else None

    @property
    def apps(self) -> list[type[App]]:
        """The classes of installed apps, in the order of installation."""
        return [cls for name, cls in self.packages.classes.items() if name in self.packages.installed]

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

    def reboot(self) -> None:
        """Everything that runs ends; what is on disk stays."""
        for hook in list(self.reboot_hooks):
            hook()
        state.reboot(self)

    def notify(self, package: str, title: str, text: str, **more: Any) -> Notification:
        """Post a notification. `tap=(activity, extras)` says what it opens; `key` replaces an old one."""
        made = self.notifications.post(package, title, text, self.wall_ms(), **more)
        self.emit("TYPE_NOTIFICATION_STATE_CHANGED", package, text)
        self.systemui.posted(made.number, made.importance)
        return made

    def cancel_notification(self, package: str, key: str | None = None) -> None:
        self.notifications.cancel(package, key)
        self.systemui.invalidate()

    def receive_sms(self, sender: str, text: str) -> None:
        """A message comes in: the SMS app stores it and says so, or the phone itself does."""
        self.catch_up()
        app = self.app(SMS_APP)
        if app is None:
            self.notify("com.android.phone", sender, text)
        else:
            app.on_sms(sender, text)
            self.touched_app()

    def toast(self, text: str, package: str = "android", long: bool = False) -> None:
        self.systemui.show_toast(text, package, long)

    def debug_prompt(self, fingerprint: str, answer: Callable[[bool, bool], object]) -> None:
        """May this computer debug? answer(allowed, always)."""
        self.dialogs.debug_prompt(fingerprint, answer)

    # state

    def state(self) -> dict[str, Any]:
        """All of it as JSON-able data."""
        self.catch_up()
        return state.describe(self)

    def snapshot(self, name: str = "default") -> None:
        self.catch_up()
        self.snapshots[name] = state.take(self)

    def restore(self, name: str = "default") -> None:
        """KeyError if there is no such snapshot."""
        state.put_back(self, self.snapshots[name])
