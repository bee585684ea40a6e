"""A phone that can be looked at: its windows, bars, dialogs, what moves, and pictures of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from handrail_sim import paint
from handrail_sim.clock import Clock
from handrail_sim.screen import dump
from handrail_sim.screen.camera import Camera, paint_aside
from handrail_sim.screen.dialogs import Dialogs
from handrail_sim.screen.displays import Displays
from handrail_sim.screen.motion import Motion
from handrail_sim.screen.stack import Screen
from handrail_sim.screen.systemui import SystemUi
from handrail_sim.screen.text_toolbar import TextToolbar
from handrail_sim.system.activities import Activity
from handrail_sim.system.android import Android
from handrail_sim.system.display import Display
from handrail_sim.system.intents import Intent, StartResult
from handrail_sim.system.notifications import Notification
from handrail_sim.view.view import View
from handrail_sim.view.windows import Window

T = TypeVar("T")


class Shown(Android):
    """What the system shows, and what the screen does for it."""

    def __init__(self, clock: Clock, seed: int, serial: str, display: Display) -> None:
        super().__init__(clock, seed, serial, display)
        self.motion = Motion(self)
        self.text_toolbar = TextToolbar(self)
        self.dialogs = Dialogs(self)
        self.systemui = SystemUi(self)
        self.screen = Screen(self, self.systemui, self.dialogs, self.text_toolbar)
        self.camera = Camera(self.frame)
        self.displays = Displays(self)

    def _move(self, now_ms: float) -> None:
        self.motion.advance(now_ms)

    # looking

    def windows(self) -> list[Window]:
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

    async def refresh_web(self, *, pictures: bool = False) -> None:
        """Fetch what web pages show by now, where something else draws them."""
        if self.web is not None:
            await self.web.refresh(pictures=pictures)

    def frame(self) -> Any:
        """What is to be painted now, apart from the phone: its png() and rgba() may run in a thread."""
        windows = self.windows() if self.awake else []
        display = self.display
        return paint.frame(windows, display.width, display.height, dark=display.dark, now_ms=self.now_ms())

    async def screenshot(self) -> bytes:
        """A PNG; painted in a thread."""
        await self.refresh_web(pictures=True)
        return await self.camera.png()

    async def painted(self, work: Callable[[], T]) -> T:
        """Run a painting, such as `phone.frame().rgba`, in the one thread that paints."""
        return await paint_aside(work)

    def is_idle(self) -> bool:
        """Nothing moves and nothing comes in or goes out."""
        self.catch_up()
        return self.motion.idle() and self.screen.is_still()

    # what happened

    def run(self, window: Window, handler: Callable[..., object], *args: object) -> None:
        handler(*args)
        window.invalidate()
        self.touched_app()

    def touched_app(self) -> None:
        self.layout_changed()
        top = self.tasks.top
        if top is not None:
            self.emit("TYPE_WINDOW_CONTENT_CHANGED", top.app.package)

    def layout_changed(self) -> None:
        for activity in self.screen.shown():
            activity.changed()

    def window_opened(self, package: str, duration_ms: float) -> None:
        self.motion.busy(duration_ms)
        self.emit("TYPE_WINDOW_STATE_CHANGED", package)

    def window_closed(self, package: str) -> None:
        self.motion.busy(100.0)
        self.emit("TYPE_WINDOWS_CHANGED", package)
        self.layout_changed()

    def screen_turned(self) -> None:
        self.motion.busy(300.0)

    # what the system has shown

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
        self.catch_up()
        self.systemui.close_shade()
        if package and not component and not action:
            return self.tasks.launch(package)
        made = (component or "", action or "", data or "", mime or "", dict(extras or {}))
        return self.tasks.start(Intent(*made, tuple(categories), package or ""))

    def go_home(self) -> None:
        self.systemui.close_shade()
        self.systemui.close_recents()
        self.hide_keyboard()
        self.tasks.home()

    def toast(self, text: str, package: str = "android", long: bool = False) -> None:
        self.systemui.show_toast(text, package, long)

    def ask_permission(self, activity: Activity, name: str, then: Callable[[bool], object]) -> None:
        self.dialogs.ask_permission(activity, name, then)

    def choose_app(self, intent: Intent, found: Sequence[str], caller: Activity | None) -> None:
        self.dialogs.choose_app(intent, found, caller)

    def debug_prompt(self, fingerprint: str, answer: Callable[[bool, bool], object]) -> None:
        """May this computer debug? answer(allowed, always)."""
        self.dialogs.debug_prompt(fingerprint, answer)

    def debug_prompt_over(self, fingerprint: str) -> None:
        """Somebody answered elsewhere."""
        for one in [one for one in self.dialogs.open if one.get("fingerprint") == fingerprint]:
            self.dialogs.close(one["number"])

    def ask_backup(self, answer: Callable[[bool], object]) -> None:
        """May this computer have a copy of all data?"""
        self.dialogs.ask_backup(answer)

    def app_crashed(self, package: str, again: bool) -> None:
        self.dialogs.crash(package, again)

    def app_not_responding(self, package: str) -> None:
        self.dialogs.not_responding(package)

    def app_stopped(self, package: str) -> None:
        self.dialogs.close_of(package)
        self.systemui.invalidate()

    def ask_finger(
        self, activity: Activity, title: str, subtitle: str, negative: str, then: Callable[[bool], object]
    ) -> None:
        self.dialogs.ask_finger(activity, title, subtitle, negative, then)

    def touch_finger(self, finger: int = 1) -> str:
        """A finger on the sensor; says what came of it."""
        return self.dialogs.touch_finger(finger)

    def end_heads_up(self) -> None:
        self.systemui.end_heads_up()

    def notification_posted(self, note: Notification) -> None:
        self.systemui.posted(note.number, note.importance)

    def setting_changed(self, name: str) -> None:
        self.systemui.setting_changed(name)

    def bars_changed(self) -> None:
        self.systemui.invalidate()

    # what input asks of those who hold the fields

    @abstractmethod
    def click(self, window: Window, view: View, x: float, y: float) -> None:
        """A tap arrived at an enabled view."""

    @abstractmethod
    def type_key(self, character: str) -> bool:
        """One character by keyboard; false when no field wanted it."""

    @abstractmethod
    def show_keyboard(self, field: View) -> None: ...
    @abstractmethod
    def keyboard_typed(self) -> None:
        """One character came: capitals that hold for one end."""
