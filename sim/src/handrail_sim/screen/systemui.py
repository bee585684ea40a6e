"""The system's own windows: status bar, navigation bar, shade, heads-up, toasts, recents, volume.

Everything is drawn from the phone's data; only what is open or how far it is pulled is kept here.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from handrail_sim.screen import recents, shade
from handrail_sim.timers import Timer
from handrail_sim.view import View, column, frame, icon, icon_button, row, slider, text
from handrail_sim.view.view import Rect, Style
from handrail_sim.view.widgets import styled
from handrail_sim.view.windows import Window

if TYPE_CHECKING:
    from handrail_sim.phone import Phone

PACKAGE = "com.android.systemui"
TOAST_MS = (2000.0, 3500.0)
HEADS_UP_MS = 5000.0
VOLUME_MS = 3000.0


_IN_THE_BARS = frozenset({
    "airplane_mode_on", "wifi_on", "bluetooth_on", "ui_night_mode_on", "ui_night_mode", "font_scale",
    "user_rotation",
})  # fmt: skip


class SystemUi:
    """What of the system is open now."""

    def __init__(self, phone: Phone) -> None:
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
        self.shade = Window("NotificationShade", PACKAGE, "shade", lambda: shade.build(phone), dim=0.3)
        self.recents = Window("Recents", recents.PACKAGE, "recents", lambda: recents.build(phone))
        self.recents.component = recents.COMPONENT
        self.toast_window = Window(
            "Toast", "android", "toast", self._toast, placement="bottom", focusable=False
        )
        self.toast_window.touchable = False
        self.banner = Window(
            "HeadsUp", PACKAGE, "heads_up", lambda: shade.banner(phone), placement="top", focusable=False
        )
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
        self.phone.ime.hide()
        self.recents_open = True
        self.recents.memory.clear()
        self.recents.invalidate()
        self.phone.window_opened(recents.PACKAGE, 300.0)

    def close_recents(self) -> bool:
        if not self.recents_open:
            return False
        self.recents_open = False
        self.phone.window_closed(recents.PACKAGE)
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

    def _timer(self, name: str, delay_ms: float, run: Any) -> None:
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
        self.heads_up = None

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

    # touch that starts at an edge

    def may_pull(self, start: tuple[float, float], y: float) -> bool:
        return start[1] < self.phone.display.status_px and y > start[1]

    def pulled(self) -> None:
        """A finger came down from the top edge: the shade follows, a second time the quick settings."""
        self.open_shade(quick_settings=self.shade_open)

    # windows

    def below(self) -> list[Window]:
        """Windows that stand above the app and below the keyboard: nothing but recents."""
        return [self._fit(self.recents, self.phone.display.screen)] if self.recents_open else []

    def above(self) -> list[Window]:
        """Windows above everything, bottom to top."""
        display = self.phone.display
        width, height = display.width, display.height
        foot = height - display.navigation_px
        found = []
        if self.toast is not None:
            found.append(self._fit(self.toast_window, (0, 0, width, foot - display.units.px(64.0))))
        if self.volume_shown:
            found.append(self._fit(self.volume, (width - display.units.px(80.0), 0, width, height)))
        if self.shade_open:
            found.append(self._fit(self.shade, (0, 0, width, height)))
        elif self.heads_up is not None:
            found.append(self._fit(self.banner, (0, display.status_px, width, height)))
        self.status_text()
        found.append(self._fit(self.status, (0, 0, width, display.status_px)))
        found.append(self._fit(self.navigation, (0, foot, width, height)))
        return found

    def _fit(self, window: Window, area: Rect) -> Window:
        window.resize(area, self.phone.display.units)
        return window

    # views

    def clock_text(self) -> str:
        moment = datetime.fromtimestamp(self.phone.wall_ms() // 1000, UTC)
        seconds = self.phone.faults.active("clock_ticks") is not None
        minute = f"{moment.hour:02d}:{moment.minute:02d}"
        return f"{minute}:{moment.second:02d}" if seconds else minute

    def status_text(self) -> str:
        """The bar is built again when its clock shows another time."""
        now = self.clock_text()
        if self.status.tree is not None and self.status.tree.tag != now:
            self.status.invalidate()
        return now

    def _status(self) -> View:
        now = self.clock_text()
        small = styled("text", "label", 13.0, bold=True)
        hints = [icon(name, desc, 16.0, id=name) for name, desc in self._signs()]
        notes = [
            icon("dot", f"{one.title} notification", 14.0) for one in self.phone.notifications.posted[-4:]
        ]
        bar = row(
            text(now, id="clock", style=small, desc=now, cls="android.widget.TextView"),
            row(*notes, id="notificationIcons", width="wrap", weight=1.0, gap=4.0),
            row(*hints, id="statusIcons", width="wrap", gap=4.0),
            id="status_bar_contents",
            height="fill",
            padding=(16.0, 0.0),
            gap=8.0,
        )
        made = frame(bar, id="status_bar", height="fill", style=styled("status"))
        made.tag = now
        return made

    def _signs(self) -> list[tuple[str, str]]:
        settings = self.phone.settings["global"]
        if settings.get("airplane_mode_on") == "1":
            signs = [("airplane", "Airplane mode")]
        else:
            signs = [("signal", "Phone signal full.")]
        if settings.get("wifi_on") == "1":
            signs.insert(0, ("wifi", "Wifi signal full."))
        if settings.get("bluetooth_on") == "1":
            signs.insert(0, ("bluetooth", "Bluetooth on."))
        return [*signs, ("battery", f"Battery {self.phone.battery} per cent.")]

    def _navigation(self) -> View:
        phone = self.phone
        keys = [
            ("back", "nav_back", "Back", lambda: phone.key(4), None),
            ("home", "nav_home", "Home", lambda: phone.key(3), None),
            ("recent_apps", "nav_recents", "Overview", lambda: phone.key(187), None),
        ]
        parts = [
            icon_button(name, desc, run, id=own, weight=1.0, height="fill", on_long_click=held)
            for own, name, desc, run, held in keys
        ]
        return frame(
            row(*parts, id="nav_buttons", height="fill", padding=(24.0, 0.0)),
            id="navigation_bar_view",
            height="fill",
            style=styled("nav"),
        )

    def _toast(self) -> View:
        style = Style(kind="toast", background="inverse_surface", radius=24.0, elevation=4.0)
        words = self.toast["text"] if self.toast else ""
        inner = text(
            words,
            "label",
            id="android:id/message",
            style=Style(
                kind="text", role="label", size=14.0, color="inverse_on_surface", align="center", max_lines=2
            ),
        )
        box = frame(inner, width="wrap", padding=(24.0, 12.0), style=style, align="center_h")
        return frame(box, padding=(32.0, 0.0))

    def _volume(self) -> View:
        level = self.phone.volume
        return column(
            text(str(level), "label", align="center_h"),
            slider(level, 0, 15, self._set_volume, 1, id="volume_row_slider", desc="Media volume"),
            style=Style(kind="card", background="surface_container", radius=24.0),
            padding=8.0,
        )

    def _set_volume(self, value: float) -> None:
        self.phone.volume = int(value)
        self.show_volume()
