"""A phone that can be looked at: its windows, bars, dialogs, what moves, and pictures of it."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from handrail_sim import paint
from handrail_sim.clock import Clock
from handrail_sim.screen import dump
from handrail_sim.screen.dialogs import Dialogs, TextToolbar
from handrail_sim.screen.displays import Displays
from handrail_sim.screen.systemui import SystemUi
from handrail_sim.system import overlays
from handrail_sim.system.activities import Activity
from handrail_sim.system.android import Android
from handrail_sim.system.device import Device
from handrail_sim.system.display import Display
from handrail_sim.system.intents import Intent, StartResult
from handrail_sim.system.notifications import Notification
from handrail_sim.system.users import user_of
from handrail_sim.view import column, text
from handrail_sim.view.memory import name_of
from handrail_sim.view.scrolling import eased, fling, scroll_by, scrollers_above
from handrail_sim.view.units import contains
from handrail_sim.view.view import Rect, Style, View
from handrail_sim.view.windows import Window

T = TypeVar("T")
# Painting holds the interpreter's lock most of the time: more threads would only fight for it.
_PAINTER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="paint")


async def paint_aside(work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(_PAINTER, work)


class Camera:
    """A phone's screenshots; the last PNG is kept with the frame it shows."""

    def __init__(self, look: Callable[[], Any]) -> None:
        self._look = look
        self._frame: Any = None
        self._picture: asyncio.Future[bytes] | None = None

    async def png(self) -> bytes:
        frame = self._look()
        picture = self._picture
        if picture is None or frame != self._frame or self._is_lost(picture):
            self._frame = frame
            self._picture = picture = asyncio.ensure_future(paint_aside(frame.png))
        return picture.result() if picture.done() else await asyncio.shield(picture)

    def _is_lost(self, picture: asyncio.Future[bytes]) -> bool:
        """A painting that failed, or that another event loop began and never ended."""
        if not picture.done():
            return picture.get_loop() is not asyncio.get_running_loop()
        return picture.cancelled() or picture.exception() is not None


@dataclass(slots=True)
class Fling:
    """A scroller on its way: `done` of `distance` px are made."""

    window: Window
    name: str
    distance: int
    started_ms: float
    duration_ms: float
    done: int = 0


class Motion:
    """The phone's running animations."""

    def __init__(self, phone: Android) -> None:
        self.phone = phone
        self.flings: list[Fling] = []
        self.busy_until_ms = 0.0

    def busy(self, duration_ms: float) -> None:
        self.busy_until_ms = max(self.busy_until_ms, self.phone.now_ms() + duration_ms)

    def idle(self) -> bool:
        return not self.flings and self.busy_until_ms <= self.phone.now_ms()

    def drag(self, window: Window, name: str, distance: int) -> None:
        view = window.find(name)
        if view is not None and distance and scroll_by(view, distance, self.phone.units):
            window.relayout()
            self._scrolled(window, view)

    def _scrolled(self, window: Window, view: View) -> None:
        """Say so; a list that shows its last row may ask the app for more."""
        self.phone.emit("TYPE_VIEW_SCROLLED", window.package)
        if view.layout != "list" or view.on_end is None:
            return
        now = window.find(name_of(view)) or view
        last = (now.memory or {}).get("last", 0)
        if (last + 1) * now.columns >= len(now.items) and now.on_end is not None:
            self.phone.run(window, now.on_end)

    def page(self, window: Window, way: int) -> None:
        """Page keys: the first scroller of the window moves by its length."""
        view = next((entry for entry in window.views() if entry.layout in ("scroll", "list")), None)
        if view is not None:
            self.drag(window, name_of(view), way * view.h)

    def step(self, window: Window, view: View, way: int) -> bool:
        """A scroll by accessibility: one length at once; false when it was at its end."""
        name = name_of(view)
        if view.layout == "pager":
            before = view.value
            self.turn(window, name, "left" if way > 0 else "right")
            return (window.find(name) or view).value != before
        size = view.w if view.layout == "hscroll" else view.h
        return view.memory is not None and self._roll(window, view, way * size)

    def fling(self, window: Window, name: str, velocity: float) -> None:
        distance, duration = fling(velocity, self.phone.units)
        if distance:
            self.flings.append(Fling(window, name, distance, self.phone.now_ms(), duration))

    def turn(self, window: Window, name: str, way: str) -> None:
        pager = window.find(name)
        if pager is None:
            return
        page = int(pager.value) + {"left": 1, "right": -1}.get(way, 0)
        if 0 <= page < len(pager.children) and page != int(pager.value) and pager.on_change is not None:
            self.busy(250.0)
            self.phone.run(window, pager.on_change, page)

    def stop(self, window: Window, target: View) -> bool:
        """A finger on a list that is still running stops it; true if it ran."""
        names = {name_of(view) for view in scrollers_above(target)}
        running = [entry for entry in self.flings if entry.window is window and entry.name in names]
        self.flings = [entry for entry in self.flings if entry not in running]
        return bool(running)

    def advance(self, now_ms: float) -> None:
        for entry in list(self.flings):
            fraction = (now_ms - entry.started_ms) / entry.duration_ms
            target = int(entry.distance * eased(fraction))
            step, entry.done = target - entry.done, target
            view = entry.window.find(entry.name)
            ended = fraction >= 1.0 or view is None
            if view is not None and step and not self._roll(entry.window, view, step):
                ended = True
            if ended:
                self.flings.remove(entry)

    def _roll(self, window: Window, view: View, step: int) -> bool:
        name, before = name_of(view), dict(view.memory or {})
        if not scroll_by(view, step, self.phone.units):
            return False
        window.relayout()
        self._scrolled(window, view)
        after = (window.find(name) or view).memory or {}
        return (before.get("first"), before.get("offset")) != (after.get("first"), after.get("offset"))


PACKAGE = "com.example.authenticator"


class Guarded:
    """Marks the window that was asked for, or adds one of its own that floats above the app."""

    def __init__(self, phone: Device) -> None:
        self.phone = phone
        self._card = Window(
            "Authenticator", PACKAGE, "overlay", _card, placement="bottom", focusable=False, secure=True
        )
        self._marked: list[Window] = []

    def among(self, windows: list[Window]) -> list[Window]:
        for window in self._marked:
            window.secure = False
        self._marked = []
        fault = self.phone.faults.active("secure_window")
        if fault is None:
            return windows
        which = str(fault.options["which"])
        if which == "overlay":
            display = self.phone.display
            foot = display.height - display.navigation_px
            self._card.resize((0, display.status_px, display.width, foot), self.phone.units)
            return [*windows, self._card]
        self._marked = [
            entry for entry in windows if which in (entry.type, entry.package) and not entry.secure
        ]
        for window in self._marked:
            window.secure = True
        return windows


def _card() -> View:
    return column(
        text("Your code", "label"),
        text("428 913", "headline", id="code"),
        id="floating_card",
        width="wrap",
        padding=16,
        style=Style(background="surface_container_high", radius=12.0, elevation=6.0),
    )


class Screen:
    """The phone's windows, put together anew whenever somebody looks."""

    def __init__(self, phone: Android, ui: SystemUi, dialogs: Dialogs, toolbar: TextToolbar) -> None:
        self.phone = phone
        self._ui, self._dialogs, self._toolbar = ui, dialogs, toolbar
        self._numbers = 0
        self._guarded = Guarded(phone)

    def windows(self) -> list[Window]:
        matches = [] if self._ui.recents_open else self._app_windows()
        matches += self._toolbar.windows()
        matches += self._ui.below()
        matches += [self._fit(window) for window in self._dialogs.windows()]
        if self.phone.keyboard_shown:
            matches.append(self._fit(self.phone.keyboard()))
        matches = self._guarded.among([*matches, *self._ui.above()])
        focused = next((window for window in reversed(matches) if window.focusable), None)
        for layer, window in enumerate(matches):
            window.layer = layer
            window.has_focus = window is focused
            if not window.number:
                self._numbers += 1
                window.number = self._numbers
            _ = window.root
        return matches

    def _app_windows(self) -> list[Window]:
        windows: list[Window] = []
        for activity in self.shown():
            hung = self.phone.health.is_hung(activity.app.package)
            user = user_of(self.phone, activity.app.package)
            for window in [activity.window, *overlays.windows_of(activity)]:
                window.frozen, window.secure, window.user = hung, activity.secure, user
                windows.append(self._fit(window))
        return windows

    def shown(self) -> list[Activity]:
        stack = [entry for task in self.phone.tasks.tasks for entry in task.activities]
        shown: list[Activity] = []
        for activity in reversed(stack):
            shown.insert(0, activity)
            if not activity.dialog_style:
                break
        return shown

    def _fit(self, window: Window) -> Window:
        window.resize(self._area(window), self.phone.units)
        return window

    def _area(self, window: Window) -> Rect:
        display = self.phone.display
        foot = display.height - display.navigation_px
        if window.type == "application":
            return display.screen
        if window.type == "ime":
            return (0, foot - display.ime_px, display.width, foot)
        if self.phone.keyboard_shown:
            foot -= display.ime_px
        if window.anchor is not None:
            return (0, min(window.anchor[3], foot - display.units.px(48.0)), display.width, foot)
        return (0, display.status_px, display.width, foot)

    def focused(self) -> Window | None:
        return next((window for window in self.windows() if window.has_focus), None)

    def window_at(self, x: float, y: float) -> tuple[Window | None, bool]:
        """The window that gets a touch here; true if it lies outside of a modal one."""
        for window in reversed(self.windows()):
            if not window.touchable:
                continue
            if contains(window.bounds, x, y):
                return window, False
            if window.modal:
                return window, True
        return None, False

    def window_of(self, view: View) -> Window | None:
        root = view
        while root.parent is not None:
            root = root.parent
        return next((window for window in self.windows() if window.tree is root), None)

    def is_still(self) -> bool:
        top = self.phone.tasks.top
        if top is not None and top.animating:
            return False
        return not any(
            view.animating and view.on_screen for window in self.windows() for view in window.views()
        )


class Shown(Android):
    """What the system shows, and what the screen does for it."""

    theme: ClassVar[str] = ""
    """Whose colours it is painted in."""

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
        windows = self.windows()
        active = next((window for window in windows if window.has_focus), None)
        if all_windows:
            return dump.HEADER + dump.all_windows(windows, self.display.rotation, active)
        if active is None:
            return f'{dump.HEADER}<hierarchy rotation="{self.display.rotation}" />'
        return dump.HEADER + dump.hierarchy(active, self.display.rotation, compressed=compressed)

    async def refresh_web(self, *, pictures: bool = False) -> None:
        if self.web is not None:
            await self.web.refresh(pictures=pictures)

    def frame(self) -> Any:
        """What is to be painted now, apart from the phone: its png() and rgba() may run in a thread."""
        windows = self.windows() if self.awake else []
        display = self.display
        size = (display.width, display.height)
        return paint.frame(windows, *size, dark=display.dark, now_ms=self.now_ms(), theme=self.theme)

    async def screenshot(self) -> bytes:
        await self.refresh_web(pictures=True)
        return await self.camera.png()

    async def painted(self, work: Callable[[], T]) -> T:
        """Run a painting, such as `phone.frame().rgba`, in the one thread that paints."""
        return await paint_aside(work)

    def is_idle(self) -> bool:
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
        created = (component or "", action or "", data or "", mime or "", dict(extras or {}))
        return self.tasks.start(Intent(*created, tuple(categories), package or ""))

    def go_home(self) -> None:
        self.systemui.close_shade()
        self.systemui.close_recents()
        self.hide_keyboard()
        self.tasks.home()

    def toast(self, text: str, package: str = "android", long: bool = False) -> None:
        self.systemui.show_toast(text, package, long)

    def ask_permission(self, activity: Activity, name: str, then: Callable[[bool], object]) -> None:
        self.dialogs.ask_permission(activity, name, then)

    def choose_app(self, intent: Intent, matches: Sequence[str], caller: Activity | None) -> None:
        self.dialogs.choose_app(intent, matches, caller)

    def debug_prompt(self, fingerprint: str, answer: Callable[[bool, bool], object]) -> None:
        self.dialogs.debug_prompt(fingerprint, answer)

    def debug_prompt_over(self, fingerprint: str) -> None:
        for entry in [entry for entry in self.dialogs.open if entry.get("fingerprint") == fingerprint]:
            self.dialogs.close(entry["number"])

    def ask_backup(self, answer: Callable[[bool], object]) -> None:
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
