"""What of the system's own screens is open now: shade, recents, toasts, heads-up, volume; and their windows.

Says when; what each of them shows is drawn in `systemui`, `shade` and `recents`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handrail_sim.system.android import Android
from handrail_sim.timers import Timer
from handrail_sim.view.view import View
from handrail_sim.view.windows import Window

PACKAGE = "com.android.systemui"
RECENTS_PACKAGE = "com.android.launcher3"
RECENTS_COMPONENT = f"{RECENTS_PACKAGE}/com.android.quickstep.RecentsActivity"
TOAST_MS = (2000.0, 3500.0)
HEADS_UP_MS = 5000.0
VOLUME_MS = 3000.0


_IN_THE_BARS = frozenset({
    "airplane_mode_on", "wifi_on", "bluetooth_on", "ui_night_mode_on", "ui_night_mode", "font_scale",
    "user_rotation",
})  # fmt: skip


class Bars:
    """The system's windows, and which of them are open."""

    def __init__(self, phone: Android) -> None:
        self.phone = phone
        self.shade_open = False
        self.quick_settings = False
        self.recents_open = False
        self.toast: dict[str, Any] | None = None
        self.toasts: list[dict[str, Any]] = []  # waiting
        self.last_toast = ""
        self.heads_up: int | None = None  # a notification's number
        self.volume_shown = False
        self._timers: dict[str, Timer] = {}
        self.status = Window("StatusBar", PACKAGE, "status_bar", self._status, focusable=False)
        self.navigation = Window(
            "NavigationBar0", PACKAGE, "navigation_bar", self._navigation, focusable=False
        )
        self.shade = Window("NotificationShade", PACKAGE, "shade", self._shade, dim=0.3)
        self.recents = Window("Recents", RECENTS_PACKAGE, "recents", self._recents)
        self.recents.component = RECENTS_COMPONENT
        self.toast_window = Window(
            "Toast", "android", "toast", self._toast, placement="bottom", focusable=False
        )
        self.toast_window.touchable = False
        self.banner = Window("HeadsUp", PACKAGE, "heads_up", self._banner, placement="top", focusable=False)
        phone.faults.listeners.append(self._fault)
        self.volume = Window(
            "VolumeDialog", PACKAGE, "volume", self._volume, placement="center", focusable=False
        )

    def reset(self) -> None:
        """As after boot: nothing is open."""
        self.shade_open = self.quick_settings = self.recents_open = self.volume_shown = False
        self.toast, self.toasts, self.heads_up = None, [], None
        self._timers.clear()
        self.invalidate()

    def invalidate(self) -> None:
        for window in (
            self.status,
            self.navigation,
            self.shade,
            self.recents,
            self.toast_window,
            self.banner,
        ):
            window.invalidate()

    def setting_changed(self, name: str) -> None:
        """The bars show few settings and are drawn with every screen; the shade may show any."""
        if name in _IN_THE_BARS:
            self.invalidate()
        else:
            self.shade.invalidate()

    # opening and closing

    def open_shade(self, quick_settings: bool = False) -> None:
        self.quick_settings = quick_settings
        self.heads_up = None
        if not self.shade_open:
            self.shade_open = True
            self.phone.window_opened(PACKAGE, 300.0)
        self.shade.invalidate()

    def close_shade(self) -> bool:
        if not self.shade_open:
            return False
        self.shade_open = False
        self.phone.window_closed(PACKAGE)
        return True

    def open_recents(self) -> None:
        self.close_shade()
        self.phone.hide_keyboard()
        self.recents_open = True
        self.recents.memory.clear()
        self.recents.invalidate()
        self.phone.window_opened(RECENTS_PACKAGE, 300.0)

    def close_recents(self) -> bool:
        if not self.recents_open:
            return False
        self.recents_open = False
        self.phone.window_closed(RECENTS_PACKAGE)
        return True

    def show_toast(self, words: str, package: str, long: bool) -> None:
        """One toast at a time; the others wait."""
        self.toasts.append({"text": words, "package": package, "long": long})
        if self.toast is None:
            self._next_toast()

    def _next_toast(self) -> None:
        self.toast = self.toasts.pop(0) if self.toasts else None
        self.toast_window.invalidate()
        if self.toast is None:
            return
        self.last_toast = self.toast["text"]
        self.toast_window.package = self.toast["package"]
        self.phone.emit("TYPE_NOTIFICATION_STATE_CHANGED", self.toast["package"], self.last_toast)
        self._timer("toast", TOAST_MS[self.toast["long"]], self._next_toast)

    def _timer(self, name: str, delay_ms: float, run: Callable[[], object]) -> None:
        old = self._timers.get(name)
        if old is not None:
            old.cancel()
        self._timers[name] = self.phone.later(delay_ms, run)

    def posted(self, number: int, importance: int) -> None:
        """A notification came: the shade and the status bar show it, an important one drops down."""
        self.shade.invalidate()
        self.status.invalidate()
        if importance >= 4 and not self.shade_open:
            self.heads_up = number
            self.banner.invalidate()
            self._timer("heads_up", HEADS_UP_MS, self.end_heads_up)

    def end_heads_up(self) -> None:
        """One that stays, such as a call that rings, comes back until its own screen is in front."""
        top = self.phone.tasks.top
        front = top.app.package if top else ""
        posted = self.phone.notifications.posted
        staying = [one for one in posted if one.importance > 4 and one.package != front]
        self.heads_up = staying[-1].number if staying else None
        self.banner.invalidate()

    def show_volume(self) -> None:
        self.volume_shown = True
        self.volume.invalidate()
        self._timer("volume", VOLUME_MS, self.end_volume)

    def end_volume(self) -> None:
        self.volume_shown = False

    def _fault(self, name: str, _on: bool) -> None:
        if name == "clock_ticks":
            self.status.invalidate()
            self._tick()

    def _tick(self) -> None:
        """The fault `clock_ticks`: the bar's clock shows seconds and never lets the screen be quiet."""
        fault = self.phone.faults.active("clock_ticks")
        if fault is not None:
            self.phone.emit("TYPE_WINDOW_CONTENT_CHANGED", PACKAGE)
            self._timer("clock", float(fault.options["ms"]), self._tick)

    def clock_text(self) -> str:
        """In the phone's own zone; asked at every look at the screen."""
        moment = self.phone.local()
        minute = f"{moment.hour:02d}:{moment.minute:02d}"
        seconds = self.phone.faults.active("clock_ticks") is not None
        return f"{minute}:{moment.second:02d}" if seconds else minute

    # what each window shows

    def _status(self) -> View:
        raise NotImplementedError

    def _navigation(self) -> View:
        raise NotImplementedError

    def _shade(self) -> View:
        raise NotImplementedError

    def _recents(self) -> View:
        raise NotImplementedError

    def _toast(self) -> View:
        raise NotImplementedError

    def _banner(self) -> View:
        raise NotImplementedError

    def _volume(self) -> View:
        raise NotImplementedError
